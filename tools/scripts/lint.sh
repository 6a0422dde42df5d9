#!/bin/sh
# Lints the sources and headers that changed since a commit, or the whole tree, with the checks of .clang-tidy. Exit status 1 when
# there are findings.
#
#   lint.sh [--fast] [COMMIT] [-- FILE...]      JOBS=2 lint.sh    as many at once (default: 1)
#
# --fast: by clangd (Debian's clangd-19), which checks a file without its headers: 2 seconds a file, but not the static analyzer's
# checks nor the slowest of the others (use-after-move, unchecked-optional-access). Else by clang-tidy-19: 20 seconds a file.
# Takes the compile commands of build/release: `cmake --preset release` and a build (of generated headers) come first.
set -eu
cd "$(dirname "$0")/../.."
fast=
[ "${1:-}" != --fast ] || { fast=1; shift; }
tool=clang-tidy-19
[ -z "$fast" ] || tool=clangd-19
command -v $tool >/dev/null || { echo "lint: $tool is not there: apt-get install $tool" >&2; exit 2; }
[ -f build/release/compile_commands.json ] || { echo "lint: no build/release: cmake --preset release" >&2; exit 2; }

commit=
if [ $# -gt 0 ] && [ "$1" != -- ]; then commit=$1; shift; fi
[ "${1:-}" != -- ] || shift
if [ $# -gt 0 ]; then
  files=$(printf '%s\n' "$@")
elif [ -n "$commit" ]; then
  files=$(git diff --name-only --diff-filter=d "$commit" -- '*.cc' '*.h')
else
  files=$(git ls-files '*.cc' '*.h')
fi
# clang-tidy reads a header through a source: that beside it, or else the first that includes it.
files=$(printf '%s\n' "$files" | while read -r file; do
  case $file in
    *.h) if [ -n "$fast" ]; then echo "$file"
         elif [ -f "${file%.h}.cc" ]; then echo "${file%.h}.cc"
         else git grep -l "\"$file\"" -- '*.cc' | head -n 1; fi ;;
    # What the build does not compile (a benchmark's peer) has no compile command.
    *.cc) ! grep -q "/$file\"" build/release/compile_commands.json || echo "$file" ;;
  esac
done | sort -u)
[ -n "$files" ] || { echo "lint: nothing changed"; exit 0; }
config=$(mktemp -d)
trap 'rm -r "$config"' EXIT
# Without the options that GCC alone knows.
sed 's/-fno-gcse//g; s/-fno-crossjumping//g' build/release/compile_commands.json >"$config/compile_commands.json"
if [ -z "$fast" ]; then
  printf '%s\n' "$files" | xargs -n 1 -P "${JOBS:-1}" nice clang-tidy-19 --quiet -p "$config" || exit 1
  exit 0
fi
mkdir "$config/clangd"
echo '{Diagnostics: {ClangTidy: {FastCheckFilter: None}}}' >"$config/clangd/config.yaml"
export XDG_CONFIG_HOME="$config"
# A line of clangd's log that starts with E is a finding: E[time] [check] Line N: text.
printf '%s\n' "$files" | xargs -n 1 -P "${JOBS:-1}" sh -c '
  found=$(nice -n 5 clangd-19 --check="$1" --check-lines=1-1 --check-completion=0 --compile-commands-dir="$0" 2>&1 |
          sed -n "s|^E\[[0-9:.]*\] \(\[.*\]\) Line \([0-9]*\)|$1:\2: \1|p")
  [ -z "$found" ] || { printf "%s\n" "$found"; exit 1; }' "$config" || exit 1
