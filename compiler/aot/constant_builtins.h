// The builtins that make constants as code without a runtime: freestanding/builtins.cc, which is a
// part of this library as an object file. Thread-safe. Tested by constant_builtins_test.cc and
// tests/aot.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/aot/function_emitter.h"

namespace relayvm::aot {

// An image (bytecode/image.h) with a function of each such builtin's name.
Result<std::vector<uint8_t>> LinkConstantBuiltins(const std::stop_token& stop = {});

// A function without arguments that makes the object's constants that have recipes, which are null
// so far, by that image: in the first call, in memory of the object's that a process takes as it is
// written. Several threads may do it at once: they write the same bits. `symbol`: of the image in
// the object. In GuardLlvm.
Result<llvm::Function*> EmitConstantMaker(ObjectModule* object, const std::vector<uint8_t>& image,
                                          const std::string& symbol);

}  // namespace relayvm::aot
