// TVM's parameter file (relay.save_param_dict), little endian:
//
//   u64 magic 0xF7E58D4F05049CB7, u64 reserved, u64 N, N x (u64 length, name), u64 N, N x tensor
//   blob (ndarray_blob.h)
//
// The format has no checksum: a flipped bit of the data is another value. Reading is safe on any
// bytes. Data that is to be used where the file is mapped has to be aligned: between large tensors
// stand small ones of bytes, whose names begin as kAlignmentName, which TVM's graph executor leaves
// out, as it does all that a graph has no input for. Thread-safe. Tested by tvm_params_test.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"

namespace relayvm {

using TensorsByName = std::map<std::string, HostTensor>;

// Whether the file starts as one does.
bool IsTvmParams(const SharedBytes& bytes);
inline constexpr std::string_view kAlignmentName = "__relayvm_align_";
// The tensors are parts of `bytes`, without those for alignment.
Result<TensorsByName> ParseTvmParams(const SharedBytes& bytes);
// Replaces the file. The same tensors give the same file. Data of 4 KiB and more is 64-byte
// aligned. kInvalidArgument for a name that begins as kAlignmentName.
Status WriteTvmParams(const std::string& path, const TensorsByName& tensors);

}  // namespace relayvm
