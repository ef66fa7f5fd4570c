#!/bin/sh
# Puts the packages of a package.json in place for tests: install_npm.sh FOLDER BUILD
# They are installed into BUILD, from the lock beside the package.json; nothing is done when they are there already.
set -eu
folder="$1"
build="$2"

if ! command -v npm >/dev/null 2>&1; then
    echo "There is no npm here: tests that need Node's packages will be skipped." >&2
    exit 0
fi
mkdir -p "$build"
stamp="$build/.installed"
if [ -f "$stamp" ] && cmp -s "$folder/package-lock.json" "$stamp"; then
    exit 0
fi
cp "$folder/package.json" "$folder/package-lock.json" "$build/"
cd "$build"
npm ci --silent --no-audit --no-fund --ignore-scripts
cp package-lock.json .installed
