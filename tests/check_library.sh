#!/bin/sh
# usage: check_library.sh LIBRARY LIMIT_BYTES
# The runtime library links neither LLVM nor protobuf, leaves no symbol of them undefined, exports its API alone, and is small
# when stripped.
set -eu
library=$1
limit=$2
needed=$(readelf -d "$library" | grep NEEDED || true)
echo "$needed"
if echo "$needed" | grep -qiE 'llvm|lld|protobuf|libzip'; then
  echo "the runtime library must not link these"
  exit 1
fi
if nm -DC --undefined-only "$library" | grep -qE 'llvm::|google::protobuf'; then
  echo "the runtime library must not use these"
  exit 1
fi
# C functions, and members of the public classes; no internals, no library that it is made of.
exported=$(nm -DC --defined-only "$library" | sed 's/^[0-9a-f]* . //; s/\[abi:cxx11\]//')
api='^(relayvm_[a-z_]+$|relayvm::(Builtins|DTypeName|FindBuiltin|FromDLPack|LoadOperatorLibrary|MakeHostDevice|ParseDType)[(]'
api="$api|relayvm::(StatusCodeName|ToDLPack|ToLegacyDLPack)[(]|relayvm::(ChromeTrace|Executable|FunctionSignature|HostCall|Invocation|ModelInfo|OperatorLibrary|Profile|Runtime|Scheduler|Scheduler::Awaitable|Scheduler::Handle|SharedBytes|State|Status|Value|Waker)::[~A-Za-z_0-9]+[(]"
api="$api|typeinfo for relayvm::(ChromeTrace|Profile)$|relayvm::Value::operator=|relayvm::c_api::(CheckStructSize|Fail|NullArgument|ReadLoadOptions|ReadStruct)[(]|relayvm::vm::Heap::kClassBytes$|relayvm::vm::(MakeByRecipes|OpenEngine|(ArenaStack|Heap|ScratchBuffers|StackRegion|Workspace)::[~A-Za-z_0-9]+)[(])"
echo "exported: $(echo "$exported" | wc -l)"
if echo "$exported" | grep -vE "$api"; then
  echo "these are exported and are not the API"
  exit 1
fi
for name in relayvm_invocation_run relayvm_value_from_dlpack 'relayvm::Invocation::Run(' 'relayvm::Executable::Load('; do
  echo "$exported" | grep -qF "$name" || { echo "$name is not exported"; exit 1; }
done
stripped=$(mktemp)
strip -o "$stripped" "$library"
size=$(stat -c %s "$stripped")
rm -f "$stripped"
echo "stripped: $size bytes, at most $limit"
[ "$size" -le "$limit" ]
