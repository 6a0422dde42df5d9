#!/bin/sh
# Runs clang-tidy (Debian's clang-tidy-19; checks: .clang-tidy) over the sources that changed since a commit, with those that
# include a changed header, or over the whole tree. Slow: seconds to a minute a file. Exit status 1 when there are findings.
#
#   lint.sh [COMMIT] [-- FILE...]      JOBS=2 lint.sh    as many at once (default: 1)
#
# Takes the compile commands of build/release: `cmake --preset release` and a build (of generated headers) come first.
set -eu
cd "$(dirname "$0")/../.."
TIDY=${CLANG_TIDY:-clang-tidy-19}
command -v "$TIDY" >/dev/null || { echo "lint: $TIDY is not there: apt-get install clang-tidy-19" >&2; exit 2; }
[ -f build/release/compile_commands.json ] || { echo "lint: no build/release: cmake --preset release" >&2; exit 2; }

commit=
if [ $# -gt 0 ] && [ "$1" != -- ]; then commit=$1; shift; fi
[ "${1:-}" != -- ] || shift
if [ $# -gt 0 ]; then
  files=$(printf '%s\n' "$@")
elif [ -n "$commit" ]; then
  changed=$(git diff --name-only --diff-filter=d "$commit" -- '*.cc' '*.h')
  headers=$(printf '%s\n' "$changed" | grep '\.h$' || true)
  # One source of each changed header is enough: that beside it, or else the first that includes it.
  files=$(
    printf '%s\n' "$changed" | grep '\.cc$' || true
    for header in $headers; do
      if [ -f "${header%.h}.cc" ]; then echo "${header%.h}.cc"; else git grep -l "\"$header\"" -- '*.cc' | head -n 1; fi
    done
  )
else
  files=$(git ls-files '*.cc')
fi
# What the build does not compile (a benchmark's peer) has no compile command.
files=$(printf '%s\n' "$files" | sort -u | while read -r file; do
  [ -z "$file" ] || ! grep -q "/$file\"" build/release/compile_commands.json || printf '%s\n' "$file"
done)
[ -n "$files" ] || { echo "lint: nothing changed"; exit 0; }
printf '%s\n' "$files" | xargs -n 1 -P "${JOBS:-1}" nice "$TIDY" --quiet -p build/release || exit 1
