#!/bin/sh
# Puts a program from a Debian package in place for tests: install_program.sh PROGRAM PACKAGE TESTS
# Does nothing where there is one, and says so where there is no apt.
set -eu
program="$1"
package="$2"
tests="$3"

if command -v "$program" >/dev/null 2>&1; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "There is neither $program nor apt-get here: the $tests tests will be skipped." >&2
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Installing $package needs root: run 'apt-get install $package' once. The $tests tests need it." >&2
        exit 0
    fi
    as_root="sudo"
fi
echo "Installing $package for the $tests tests …"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null
