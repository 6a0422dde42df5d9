// A file of its own: a linker takes it, and all builtin kernels with it, for programs that have
// some.
#include "kernels/runtime/builtin.h"
#include "vm/aot/aot_runtime.h"

RelayvmKernelFn relayvm_aot_find_builtin(const char* name) {
  const relayvm::Builtin* builtin = relayvm::FindBuiltin(name);
  return builtin == nullptr ? nullptr : builtin->fn;
}
