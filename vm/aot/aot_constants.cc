// A file of its own, as aot_builtins.cc: for programs that have constants to make.
#include "bytecode/base/guarded.h"
#include "vm/aot/aot_runtime.h"
#include "vm/kernels/recipes.h"

void relayvm_aot_make_constants(relayvm::Program* program, relayvm::Status* status) {
  *status = relayvm::Guarded(
      [&] { return relayvm::vm::MakeByRecipes(program, /*share=*/true, /*verify=*/false); });
}
