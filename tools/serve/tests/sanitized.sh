#!/bin/sh
# The server's tests over a vmserve that is built with sanitizers; all else is of build/release, so that neither compiler nor LLVM is built so.
#
#   cmake --preset tsan && cmake --build build/tsan -t vmserve     (or asan)
#   sanitized.sh tsan [TEST...]     run_serve run_client run_grpc run_grpc_calls run_observed run_generate run_openapi run_stress fuzz_serve
#
# What is found ends a server with a code that its test fails by, and is below the folder that is printed.
set -eu
cd "$(dirname "$0")/../../.."
preset=$1
shift
[ $# -gt 0 ] || set -- run_serve run_client run_grpc run_grpc_calls run_observed run_generate run_stress
work=$(mktemp -d)
bin=$work/bin
mkdir "$bin"
# A copy: it looks for relayc beside itself.
cp "build/$preset/bin/vmserve" "$bin"
for tool in relayc vmrun vmbench; do ln -s "$PWD/build/release/bin/$tool" "$bin"; done
export RELAYVM_CACHE=off
export ASAN_OPTIONS="use_sigaltstack=0:log_path=$work/report" UBSAN_OPTIONS="print_stacktrace=1:log_path=$work/report"
export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp:history_size=5:log_path=$work/report"
echo "reports: $work"
failed=0
for test in "$@"; do
  echo "== $test"
  script=tools/serve/tests/$test.py
  case $test in
    fuzz_serve) /usr/bin/python3 "$script" --count 5000 "$bin" tools/examples ;;
    run_stress) /usr/bin/python3 "$script" --server "$bin/vmserve" --seconds 30 --idle 1000 "$bin" tools/examples ;;
    run_grpc | run_openapi) /usr/bin/python3 "$script" "$bin" tools/examples build/release/clients ;;
    run_generate) /usr/bin/python3 "$script" "$bin" tools/examples ../shared/models ;;
    *) /usr/bin/python3 "$script" "$bin" tools/examples ;;
  esac || [ $? = 77 ] || failed=1
done
for report in "$work"/report*; do
  [ ! -e "$report" ] || { failed=1; grep SUMMARY "$report" | sort | uniq -c; }
done
exit $failed
