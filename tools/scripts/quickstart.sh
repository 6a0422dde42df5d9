#!/bin/sh
# From a fresh Debian 12 to a result: installs what is missing, builds, compiles a shipped example with recursion and dynamic shapes,
# and runs it on a shipped .npy. Run from anywhere, as root. What it builds reads Relay text and ONNX models; the other formats are two
# fifths of the time, and are built with the rest by test.sh, or by `cmake --preset release && cmake --build build/release`.
set -eu
cd "$(dirname "$0")/../.."
sh tools/scripts/install_dependencies.sh
cmake --preset release -DRELAYVM_FORMATS=none
cmake --build build/release --target relayc vmrun
bin=build/release/bin
example=tools/examples
"$bin/relayc" "$example/lstm.relay" --params "$example/lstm.npz" -o build/lstm.vmx
for sentence in "$example/lstm_sentence1.npy" "$example/lstm_sentence2.npy"; do
  echo "vmrun lstm.vmx --input $(basename "$sentence")"
  "$bin/vmrun" build/lstm.vmx --input "$sentence"
done
