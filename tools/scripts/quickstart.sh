#!/bin/sh
# From a fresh Debian 12 to a result: installs what is missing, builds, compiles a shipped example with recursion and dynamic shapes,
# and runs it on a shipped .npy. Run from anywhere, as root. What it builds is for a first look, in build/quick: relayc and vmrun, for
# Relay text and ONNX models, less optimised (kernels are the same). test.sh builds all of it, as it is meant to be, in build/release.
set -eu
cd "$(dirname "$0")/../.."
sh tools/scripts/install_dependencies.sh --quick
cmake --preset quick
# As many at a time as there are processors: each takes a gigabyte of memory.
cmake --build --preset quick --parallel "$(nproc)"
bin=build/quick/bin
example=tools/examples
"$bin/relayc" "$example/lstm.relay" --params "$example/lstm.npz" -o build/lstm.vmx
for sentence in "$example/lstm_sentence1.npy" "$example/lstm_sentence2.npy"; do
  echo "vmrun lstm.vmx --input $(basename "$sentence")"
  "$bin/vmrun" build/lstm.vmx --input "$sentence"
done
