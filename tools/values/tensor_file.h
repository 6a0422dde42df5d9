// Tensors of the program's border and tensor files.
// Tested by tensor_file_test.cc.
#pragma once

#include <string>

#include "bytecode/base/status.h"
#include "kernels/te/evaluate.h"
#include "vm/value.h"

namespace relayvm::tools {

// A .npy file. A large one in numpy's usual form (C order, this machine's byte order) is mapped, not read: it must not
// change while the value lives. Errors name the file.
Result<Value> LoadNpy(const std::string& path);
// The same from memory.
Result<Value> ValueFromNpy(std::span<const std::byte> bytes);

Result<Value> ToValue(const te::HostTensor& tensor);
// REQUIRES: value.is_tensor().
te::HostTensor ToHostTensor(const Value& value);

// "Tensor[(2, 3), float32]", "float32" for a scalar. REQUIRES: value.is_tensor().
std::string TensorTypeOf(const Value& value);

}  // namespace relayvm::tools
