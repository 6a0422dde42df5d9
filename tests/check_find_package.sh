#!/bin/sh
# usage: check_find_package.sh BUILD_FOLDER SOURCE_FOLDER MODEL.vmx [options of cmake ...]
# Installs the runtime to a folder of its own, builds SOURCE_FOLDER with find_package(relayvm), and runs what comes out.
# No header may lead back to the sources.
set -eu
build=$1
source=$2
model=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --component runtime --prefix "$scratch/prefix" >"$scratch/install.txt"
if grep -rn '#include "' "$scratch/prefix/include"; then
  echo "installed headers include what is not installed"
  exit 1
fi
cmake -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DRELAYVM_INSTALLED="$scratch/prefix" "$@" >"$scratch/configure.txt"
cmake --build "$scratch/build" >"$scratch/build.txt" || { cat "$scratch/build.txt"; exit 1; }
"$scratch/build/c_host" "$model"
"$scratch/build/embedding" "$model"
