#include "tools/serve/request_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bytecode/base/printable.h"

namespace relayvm::serve {

ReadLimits LimitsOf(const Dispatcher& dispatcher, HttpExchange& exchange) {
  return {dispatcher.max_tensor_bytes(), [&](size_t n) { return exchange.CountMemory(n); }};
}

Result<uint64_t> HeaderNumber(std::string_view name, std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: expected a number, found {}", name, Printable(text)));
  }
  return number;
}

Result<std::chrono::steady_clock::time_point> DeadlineOf(const HttpExchange& exchange,
                                                         const InferRequest& request,
                                                         std::chrono::nanoseconds none) {
  constexpr uint64_t kDay = 86'400'000;  // milliseconds
  std::chrono::nanoseconds timeout = none;
  if (const std::string_view text = exchange.header("X-Request-Timeout-Ms"); !text.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(const uint64_t ms, HeaderNumber("X-Request-Timeout-Ms", text));
    timeout = std::chrono::milliseconds(std::min(ms, kDay));
    if (ms == 0) timeout = std::chrono::nanoseconds(1);
  } else {
    RELAYVM_ASSIGN_OR_RETURN(const auto asked, TimeoutOf(request));
    if (asked && asked->count() > 0) timeout = *asked;
  }
  if (timeout.count() == 0) return std::chrono::steady_clock::time_point::max();
  return std::chrono::steady_clock::now() + timeout;
}

}  // namespace relayvm::serve
