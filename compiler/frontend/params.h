// Weights: reading parameter files and binding them to a program.
//
// TVM's parameter file (relay.save_param_dict), little endian:
//   u64 magic 0xF7E58D4F05049CB7, u64 reserved, u64 N, N x (u64 length, name), u64 N, N x tensor
//   blob (compiler/ir/ndarray_blob.h)
//
// The format has no checksum: a flipped bit of the data is another value. An .npz has one.
//
// Tested by params_test.cc.
#pragma once

#include <map>
#include <string>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm::frontend {

using Params = std::map<std::string, HostTensor>;

// A TVM parameter file or a .npz, told by its content. The tensors are parts of the mapped file,
// which must not change while they live. Safe on any bytes.
Result<Params> ReadParams(const std::string& path);
// The same for bytes in memory, which errors call `name`.
Result<Params> ReadParams(const std::string& name, const SharedBytes& bytes);
Result<Params> ParseTvmParams(const SharedBytes& bytes);

// The module with each named parameter of its entry function gone and its uses replaced by a
// constant. A name may also be the one that TVM's printer changed: "1" prints as %v1, a second
// "weight" as %weight1. An error if a name matches no parameter, if the tensor does not fit the
// declared type, or if the entry function is called in the module.
Result<ir::Module> BindParams(const ir::Module& m, const Params& params);

}  // namespace relayvm::frontend
