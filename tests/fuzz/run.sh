#!/bin/sh
# usage: sh tests/fuzz/run.sh SECONDS [TARGET ...]
# Builds the targets under libFuzzer and runs each for SECONDS, on what tests/fuzz/corpora has and what it makes of the programs of the
# tree. A finding ends the script; its input stays in build/fuzz/findings. Inputs that reach new code stay in build/fuzz/corpora.
set -eu
seconds=$1
shift
cd "$(dirname "$0")/../.."
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz
ninja -C build/fuzz coverage_fuzz
targets=${*:-text metadata types onnx onnx_graph params npy npz vmx assembly inputs graph rules calls models json infer http}
mkdir -p build/fuzz/findings
# Fibers have stacks of their own; weights of damaged models may be large.
export ASAN_OPTIONS=use_sigaltstack=0:allocator_may_return_null=1:detect_leaks=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for target in $targets; do
  work=build/fuzz/corpora/$target
  kept=tests/fuzz/corpora/$target
  mkdir -p "$work" "$kept"
  fuzz="build/fuzz/bin/coverage_fuzz --target=$target --programs=tests/importers --programs=tests/programs --programs=tools/examples"
  [ "$(ls "$work")" ] || $fuzz --write-seeds="$work"
  echo "== $target"
  $fuzz -max_total_time="$seconds" -timeout=30 -rss_limit_mb=6144 -max_len=16384 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build/fuzz/findings/$target-" "$work" "$kept"
done
