#pragma once

#include "kernels/codegen/machine.h"

namespace llvm {
class Function;
}

namespace relayvm::codegen {

// Vectors that registers do not hold are kept on the stack, whose alignment is that of the ABI, 16
// bytes: wider ones would lie across two lines of the cache, on some threads and not on others. A
// function that may keep vectors of 32 or 64 bytes there aligns the stack itself ("stackrealign");
// others are left as they are, since that costs each call some instructions. To be called when the
// function is optimised and has the attributes of its target. Returns whether the function aligns
// its stack.
bool AlignStackOfVectors(llvm::Function& function, const Machine& machine);

}  // namespace relayvm::codegen
