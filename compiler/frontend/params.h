// Weights: reading parameter files and binding them to a program.
//
// Tested by params_test.cc.
#pragma once

#include <string>

#include "bytecode/base/status.h"
#include "bytecode/io/tvm_params.h"
#include "compiler/ir/ir.h"

namespace relayvm::frontend {

using Params = TensorsByName;

// A TVM parameter file (bytecode/io/tvm_params.h) or a .npz, told by its content. The tensors are
// parts of the mapped file, which must not change while they live. Safe on any bytes.
Result<Params> ReadParams(const std::string& path);
// The same for bytes in memory, which errors call `name`.
Result<Params> ReadParams(const std::string& name, const SharedBytes& bytes);

// The module with each named parameter of its entry function gone and its uses replaced by a
// constant. A name may also be the one that TVM's printer changed: "1" prints as %v1, a second
// "weight" as %weight1. An error if a name matches no parameter, if the tensor does not fit the
// declared type, or if the entry function is called in the module.
Result<ir::Module> BindParams(const ir::Module& m, const Params& params);

}  // namespace relayvm::frontend
