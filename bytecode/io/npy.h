// numpy's .npy files: one tensor. Formats 1.0 to 3.0, any byte order, C or Fortran order; written
// as 1.0 (2.0 when the header is long), little endian, C order.
//
//   0  "\x93NUMPY"   6  major, minor   8  u16 (1.0) or u32 (2.0, 3.0) length of the header
//   then a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } padded to 64
//   bytes, then the data
//
// Texts ('<U5', '|S5') become packed strings (bytecode/base/string_table.h), and those '<U'.
// bfloat16 has no .npy form. The format has no checksum: a flipped bit of the data is another
// value. Reading is safe on any bytes. Thread-safe. Tested by npy_test.cc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"

namespace relayvm {

// The tensor of numbers shares `bytes` where they are as it holds them (row-major, little endian).
Result<HostTensor> ParseNpy(const SharedBytes& bytes);
Result<std::vector<std::byte>> SerializeNpy(const HostTensor& tensor);

// Maps the file, which must not change while the tensor lives. Errors name the file.
Result<HostTensor> ReadNpyFile(const std::string& path);
Status WriteNpyFile(const std::string& path, const HostTensor& tensor);

}  // namespace relayvm
