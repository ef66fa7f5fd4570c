#!/bin/sh
# Puts Debian's Chromium in place for the browser tests. Does nothing where there is one, and says so where there is no apt.
set -eu

if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "There is neither chromium nor apt-get here: the browser tests will be skipped." >&2
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Installing chromium needs root: run 'apt-get install chromium' once. The browser tests will fail without it." >&2
        exit 0
    fi
    as_root="sudo"
fi
echo "Installing chromium for the browser tests …"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
