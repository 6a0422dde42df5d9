// Tensors as both protocols send them: little-endian and row-major; strings each with its length
// before it (4 bytes). Pure functions; thread-safe. Tested by protocol_test.cc and
// tools/serve/grpc/message_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/protocol/inference.h"

namespace relayvm::serve {

// The number of elements; none where that leaves int64.
std::optional<int64_t> NumElements(std::span<const int64_t> dims);

// `count` strings, which are all of `bytes`. kInvalidArgument, said of `label`, where they are not.
Result<Value> UnpackTexts(const std::string& label, std::span<const int64_t> dims, size_t count,
                          std::string_view bytes);
// kUnsupported: a string above 4 GiB.
Result<std::string> PackTexts(const InferTensor& output);

}  // namespace relayvm::serve
