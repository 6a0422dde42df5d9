// Tensors as Triton has them, and Values: their types, and strings, which Triton lays out as their
// lengths (32 bits, little-endian) and bytes one after the other. Tested by backend_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "tools/serve/triton/triton_abi.h"
#include "vm/border/value.h"

namespace relayvm::triton {

TRITONSERVER_DataType TypeOf(DType dtype);
std::optional<DType> DTypeOf(TRITONSERVER_DataType type);
// "FP32"; a configuration writes "TYPE_FP32", for BYTES "TYPE_STRING".
std::string_view TypeName(TRITONSERVER_DataType type);
std::string ConfigType(DType dtype);

// An input of a request, checked: its dims are not negative, and its bytes are as many as they say
// (of strings: are as many texts). Points into the request, which must not be released before it.
struct InputTensor {
  std::string_view name;
  DType dtype = DType::kFloat32;
  std::span<const int64_t> dims;
  uint64_t bytes = 0;
  struct Piece {
    const uint8_t* data;
    size_t bytes;
  };
  std::vector<Piece> pieces;
  std::vector<std::string_view> texts;  // of strings
  // What the texts lie in, where there are several pieces: stays where it is when this moves, which
  // a string does not.
  std::vector<char> joined;
};
Result<InputTensor> ReadInput(TRITONBACKEND_Input* input);

// The tensors of several requests one below the other: a Value of the sum of their first dims; of
// one request its own. Uses the memory of a single aligned piece as it is. REQUIRES: those of
// several have the same dtype, a rank above 0 and the same other dims, and `rows` is the sum.
Result<Value> JoinRows(std::span<const InputTensor* const> tensors, int64_t rows);

// What a response holds of rows [begin, begin + count) of a tensor; all of it where `count` is
// negative. `dims` is what it has then.
struct OutputRows {
  Value value;
  int64_t begin = 0, count = -1;
};
Status WriteOutput(TRITONBACKEND_Response* response, const std::string& name,
                   const OutputRows& rows);

}  // namespace relayvm::triton
