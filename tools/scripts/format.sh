#!/bin/sh
# Formats the sources in place; with --check, only says which are not formatted.
set -eu
cd "$(dirname "$0")/../.."
mode="-i"
[ "${1:-}" = "--check" ] && mode="--dry-run --Werror"
# shellcheck disable=SC2086
git ls-files '*.cc' '*.h' | xargs clang-format $mode
