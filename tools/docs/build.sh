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
mkdir -p "$out/source"
# Pages that are no more go; what stays keeps its time, so that Sphinx reads what changed.
$python "$here/generate.py" "$build" "$out/source"
PYTHONPATH="$build/python" $python -m sphinx -b html -W --keep-going -q -j auto -c "$here" -d "$out/doctrees" "$out/source" "$out/html"
$python "$here/check_links.py" "$out/html"
