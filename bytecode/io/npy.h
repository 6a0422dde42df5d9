// numpy's .npy files: one tensor. Formats 1.0 to 3.0, any byte order, C or Fortran order; written
// as 1.0 (2.0 when the header is long), little endian, C order.
//
//   0  "\x93NUMPY"   6  major, minor   8  u16 (1.0) or u32 (2.0, 3.0) length of the header
//   then a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } padded to 64
//   bytes, then the data
//
// bfloat16 has no .npy form. The format has no checksum: a flipped bit of the data is another value.
// Reading is safe on any bytes. Thread-safe. Tested by npy_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"

namespace relayvm {

Result<HostTensor> ParseNpy(std::span<const std::byte> bytes);
Result<std::vector<std::byte>> SerializeNpy(const HostTensor& tensor);

// Errors name the file.
Result<HostTensor> ReadNpyFile(const std::string& path);
Status WriteNpyFile(const std::string& path, const HostTensor& tensor);

// Reads a .npy of `size` bytes from a stream. `read` fills all of a buffer or fails.
using ReadExactly = std::function<Status(std::span<std::byte> buffer)>;
Result<HostTensor> ReadNpyStream(uint64_t size, const ReadExactly& read);

}  // namespace relayvm
