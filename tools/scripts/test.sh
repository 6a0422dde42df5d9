#!/bin/sh
# Installs what is missing, builds everything and runs all tests. Run from anywhere, as root.
set -eu
cd "$(dirname "$0")/../.."
sh tools/scripts/install_dependencies.sh
cmake --preset release
cmake --build build/release
# Tests make each kernel anew.
RELAYVM_CACHE=off ctest --test-dir build/release --output-on-failure -j "$(nproc)"
