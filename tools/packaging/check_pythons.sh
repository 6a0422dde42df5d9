#!/bin/sh
# usage: check_pythons.sh BUILD_FOLDER PYBIND11_HEADERS PYTHON...       (by hand: it takes many minutes, and a registry of packages)
# The wheels as users get them: their sizes, and for each Python in a fresh virtual environment, which has what pip brings alone, the
# tests of the package. TESTS: which of tools/python/tests to run (all). WHEELS: a folder of wheels, where none are to be made. A Python
# whose tests fail is named at the end.
set -eu
build=$(cd "$1" && pwd) pybind11=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
tests=$here/../python/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wheels=${WHEELS:-$work/wheels}
wheels=$(realpath "$wheels")

# Python's headers differ, so that each has modules of its own; that of the build comes with them.
options=""
for python in "$@"; do
  [ "$("$python" -c 'import sys; print(sys.version_info[:2])')" = "$(/usr/bin/python3 -c 'import sys; print(sys.version_info[:2])')" ] ||
    options="$options --python $python"
done
# shellcheck disable=SC2086
[ -n "${WHEELS:-}" ] || /usr/bin/python3 "$here/make_wheels.py" --build "$build" --out "$wheels" --pybind11 "$pybind11" $options

check_size() {  # NAME BYTES
  for wheel in "$wheels"/"$1"-*.whl; do
    [ "$(stat -c %s "$wheel")" -le "$2" ] || { echo "$(basename "$wheel"): expected at most $2 bytes, found $(stat -c %s "$wheel")"; exit 1; }
  done
}
check_size relayvm 2500000
check_size relayvm_compiler 45000000

failed=""
for python in "$@"; do
  "$python" -m venv "$work/venv"
  pip="$work/venv/bin/pip --disable-pip-version-check -q"
  begin=$(date +%s)
  $pip install --find-links "$wheels" relayvm relayvm-compiler relayvm-serve
  "$work/venv/bin/python" "$here/first_result.py"
  echo "$("$python" --version): a first result after $(($(date +%s) - begin)) s"
  $pip install pytest onnx
  "$work/venv/bin/relayvm" doctor >"$work/doctor" || { cat "$work/doctor"; exit 1; }
  # shellcheck disable=SC2086
  (cd "$work" && venv/bin/python -m pytest -q -p no:cacheprovider ${TESTS:-"$tests"}) || failed="$failed $python"
  rm -rf "$work/venv"
done
[ -z "$failed" ] || { echo "tests failed with$failed"; exit 1; }
