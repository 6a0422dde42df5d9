#!/bin/sh
# usage: check_compiler_library.sh LIBRARY
# The compiler's library exports its API alone, and takes the runtime from its own library.
set -eu
library=$1
needed=$(readelf -d "$library" | grep NEEDED)
echo "$needed"
if ! echo "$needed" | grep -q 'librelayvm\.so'; then
  echo "the compiler's library must link the runtime's"
  exit 1
fi
# Small letters are symbols that stay inside.
exported=$(nm -DC --defined-only "$library" | sed -n 's/\[abi:cxx11\]//; s/^[0-9a-f]* [A-Z] //p')
echo "exported: $(echo "$exported" | wc -l)"
if echo "$exported" | grep -vE '^(relayvm_compile[a-z_]*$|relayvm::CompileModel[(]|relayvm::(CompiledModel|CompilerOptions)::[A-Za-z_]+[(])'; then
  echo "these are exported and are not the API"
  exit 1
fi
for name in relayvm_compile_file 'relayvm::CompileModel(' 'relayvm::CompiledModel::Load('; do
  echo "$exported" | grep -qF "$name" || { echo "$name is not exported"; exit 1; }
done
if nm -DC --defined-only "$library" | grep -q 'relayvm::Invocation'; then
  echo "there is a second runtime"
  exit 1
fi
