#!/bin/sh
# usage: check_graph_library.sh LIBRARY LIMIT_BYTES
# The graph executor's library exports its API alone, takes the runtime from its own library, links neither LLVM nor protobuf, and is
# small when stripped.
set -eu
library=$1
limit=$2
needed=$(readelf -d "$library" | grep NEEDED)
echo "$needed"
if ! echo "$needed" | grep -q 'librelayvm\.so'; then
  echo "the graph executor's library must link the runtime's"
  exit 1
fi
if echo "$needed" | grep -qiE 'llvm|lld|protobuf|libzip'; then
  echo "the graph executor's library must not link these"
  exit 1
fi
exported=$(nm -DC --defined-only "$library" | sed -n 's/\[abi:cxx11\]//; s/^[0-9a-f]* [A-Z] //p')
echo "exported: $(echo "$exported" | wc -l)"
if echo "$exported" | grep -vE '^(relayvm_graph_[a-z_]+$|relayvm::(GraphModule::[~A-Za-z_]+|graph::(LinkGraph|LoadGraph))[(])'; then
  echo "these are exported and are not the API"
  exit 1
fi
for name in 'relayvm::GraphModule::Load(' 'relayvm::GraphModule::Run(' relayvm_graph_load_for relayvm_graph_run; do
  echo "$exported" | grep -qF "$name" || { echo "$name is not exported"; exit 1; }
done
if nm -C --defined-only "$library" | grep -qE 'relayvm::(Invocation|Runtime|Scheduler|vm::(Heap::Allocate|Interpreter::|ScratchBuffers::))'; then
  echo "there is a second runtime"
  exit 1
fi
# relayvm_status_free tells the status without memory by its address: there must be one.
if nm -C --defined-only "$library" | grep -E 'relayvm::c_api::NoMemory|[Tt] relayvm_(status|value)_'; then
  echo "the C API's statuses and values must be the runtime library's"
  exit 1
fi
stripped=$(mktemp)
strip -o "$stripped" "$library"
size=$(stat -c %s "$stripped")
rm -f "$stripped"
echo "stripped: $size bytes, at most $limit"
[ "$size" -le "$limit" ]
