// Arrays of MXNet by name: what mx.nd.save writes ("prefix-0000.params"), of all versions.
//
//   u64 0x112   u64 0   u64 n   n arrays   u64 n   n names: u64 length, bytes
//
// An array:
//   V3  u32 0xF993FACA   i32 storage (0: dense)   i32 rank   i64 extents   then as all
//   V2  u32 0xF993FAC9   the same; rank 0: no array
//   V1  u32 0xF993FAC8   i32 rank   i64 extents   rank 0: no array
//   V0  u32 rank   u32 extents                    rank 0: no array
//       i32 device   i32 its number   i32 dtype   elements, row by row
//
// Numbers are little-endian. Elements stay where they are, parts of the file. Any bytes are safe:
// what is counted is compared with what there is before it is believed. Tested by arrays_test.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"

namespace relayvm::import::mxnet {

using Arrays = std::map<std::string, HostTensor, std::less<>>;

// Whether the file begins as such arrays do.
bool AreArrays(std::string_view start);

// `path` is what errors call the file. Names are without "arg:" and "aux:"; sparse arrays are an
// error.
Result<Arrays> ReadArrays(const std::string& path, const SharedBytes& file);

}  // namespace relayvm::import::mxnet
