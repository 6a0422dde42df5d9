// TVM's parameter file (relay.save_param_dict), little endian:
//
//   u64 magic 0xF7E58D4F05049CB7, u64 reserved, u64 N, N x (u64 length, name), u64 N, N x tensor
//   blob (ndarray_blob.h)
//
// The format has no checksum: a flipped bit of the data is another value. Reading is safe on any
// bytes. Thread-safe. Tested by tvm_params_test.cc.
#pragma once

#include <map>
#include <string>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"

namespace relayvm {

using TensorsByName = std::map<std::string, HostTensor>;

// Whether the file starts as one does.
bool IsTvmParams(const SharedBytes& bytes);
// The tensors are parts of `bytes`.
Result<TensorsByName> ParseTvmParams(const SharedBytes& bytes);
// Replaces the file. The same tensors give the same file.
Status WriteTvmParams(const std::string& path, const TensorsByName& tensors);

}  // namespace relayvm
