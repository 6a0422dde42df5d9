// TVM's serialised tensor (NDArray::Save): in parameter files, and as base64 in the metadata
// section of Relay text.
//
//   0   u64  magic 0xDD5E40F096B4A13F       24  i32  rank
//   8   u64  reserved, 0                    28  u8   dtype code: 0 int, 1 uint, 2 float, 4 bfloat
//   16  i32  device type, 1                 29  u8   bits (bool: uint 1)
//   20  i32  device id                      30  u16  lanes, 1
//   32  i64[rank]  shape, then i64 bytes of data, then the data (row-major). Little endian.
//
// Reading is safe on any bytes. Tested by ndarray_blob_test.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"

namespace relayvm {

// Reads one blob from the front of `bytes`, which the tensor shares, and sets `*size` to its length
// in bytes.
Result<HostTensor> ReadNdarrayBlob(const SharedBytes& bytes, size_t* size);
std::vector<std::byte> WriteNdarrayBlob(const HostTensor& tensor);
// What stands before the data of a tensor of that rank.
constexpr size_t NdarrayBlobHeaderBytes(size_t rank) { return 32 + 8 * (rank + 1); }

std::string Base64Encode(std::span<const std::byte> bytes);
// Standard alphabet with padding; white space may follow.
Result<std::vector<std::byte>> Base64Decode(std::string_view text);

}  // namespace relayvm
