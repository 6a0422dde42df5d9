#!/bin/sh
# usage: check_debs.sh BUILD_FOLDER
# Makes the Debian packages, little compressed, and installs, uses and purges them in a copy of this machine (check_debs.py). Exit status
# 77: there is no dpkg-dev here.
set -eu
command -v dpkg-shlibdeps >/dev/null || { echo "skipped: there is no dpkg-dev"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
debs=$(mktemp -d)
trap 'rm -rf "$debs"' EXIT
sh "$here/make_debs.sh" "$1" "$debs" -Zgzip -z1
/usr/bin/python3 "$here/check_debs.py" "$debs"
