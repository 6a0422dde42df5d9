#include "tools/serve/protocol/inference.h"

#include <algorithm>
#include <array>

namespace relayvm::serve {
namespace {

// By DType.
constexpr std::array<std::string_view, 14> kNames = {"BOOL",  "INT8",   "INT16",  "INT32",  "INT64",
                                                     "UINT8", "UINT16", "UINT32", "UINT64", "FP16",
                                                     "BF16",  "FP32",   "FP64",   "BYTES"};
static_assert(static_cast<size_t>(DType::kString) + 1 == kNames.size());

}  // namespace

Result<std::optional<std::chrono::nanoseconds>> TimeoutOf(const InferRequest& request) {
  constexpr int64_t kDay = 86'400'000'000;  // microseconds
  std::optional<std::chrono::nanoseconds> timeout;
  const Parameter* parameter = request.FindParameter("timeout");
  if (parameter == nullptr) return timeout;
  const int64_t* us = std::get_if<int64_t>(parameter);
  if (us == nullptr || *us < 0) {
    return Status(StatusCode::kInvalidArgument,
                  "parameter timeout: expected microseconds, a whole number");
  }
  timeout = std::chrono::microseconds(std::min(*us, kDay));
  return timeout;
}

std::string_view DatatypeName(DType dtype) { return kNames[static_cast<size_t>(dtype)]; }

std::optional<DType> ParseDatatype(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace relayvm::serve
