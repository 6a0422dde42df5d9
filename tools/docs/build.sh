#!/bin/sh
# Builds the site: BUILD_FOLDER/docs/html/index.html, of the pages here and of what generate.py makes with the tools that are built.
# Warnings are errors; so are links and anchors that lead nowhere.
#
# usage: build.sh [BUILD_FOLDER]    (build/release)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
build=$(cd "${1:-$tree/build/release}" && pwd)
out=$build/docs
python=/usr/bin/python3  # Debian's, which has Sphinx
rm -rf "$out/html"
mkdir -p "$out/source"
$python "$here/generate.py" "$build" "$out/source"
# -E: all pages are read; of those that it does not read anew Sphinx 5.3 forgets the entries of the index, which the search needs.
PYTHONPATH="$build/python" $python -m sphinx -b html -E -W --keep-going -q -j auto -c "$here" -d "$out/doctrees" "$out/source" "$out/html"
$python "$here/check_links.py" "$out/html"
