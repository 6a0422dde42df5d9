// Tensors of the program's border and tensor files.
// Tested by tensor_file_test.cc.
#pragma once

#include <string>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "vm/border/value.h"

namespace relayvm::tools {

// A .npy file. A large one in numpy's usual form (C order, this machine's byte order) is mapped,
// not read: it must not change while the value lives. Errors name the file.
Result<Value> LoadNpy(const std::string& path);
// The same from memory.
Result<Value> ValueFromNpy(const SharedBytes& bytes);

// Shares the elements if they are many and aligned as the VM's.
Result<Value> ToValue(const HostTensor& tensor);
// REQUIRES: value.is_tensor().
HostTensor ToHostTensor(const Value& value);
// The same for a file, which has no bfloat16: its bits, as uint16.
HostTensor ToFileTensor(const Value& value);

// The tensor in another dtype, where that loses nothing but digits of floats: integers must be in
// range, and a float that becomes an integer must be one. uint16 is taken as the bits of bfloat16.
// Fails with kInvalidInput, naming the element.
Result<Value> ConvertTensor(const Value& tensor, DType dtype);

// "Tensor[(2, 3), float32]", "float32" for a scalar. REQUIRES: value.is_tensor().
std::string TensorTypeOf(const Value& value);

}  // namespace relayvm::tools
