#!/bin/sh
# usage: sh tools/python/make_wheels.sh PYTHON BUILD_FOLDER VERSION OUT_FOLDER
# Makes the wheels relayvm (the runtime) and relayvm-compiler of what is built, without a network.
set -eu
python=$1 build=$2 version=$3 out=$4
source=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component python --strip --prefix "$work/package" > "$work/log" || { cat "$work/log"; exit 1; }
# A wheel has no links: the library goes by its soname alone.
find "$work/package" -type l | while read -r link; do mv -f "$(readlink -f "$link")" "$link"; done
for part in relayvm relayvm-compiler; do
  (cd "$work/package" && "$python" "$source/setup.py" "$part" "$version" -q bdist_wheel --dist-dir "$out" --bdist-dir "$work/$part" \
    > "$work/log" 2>&1) || { cat "$work/log"; exit 1; }
  rm -rf "$work"/package/build "$work"/package/*.egg-info
done
