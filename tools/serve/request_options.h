// What requests ask for beside their tensors, by headers and parameters. Tested by routes_test.cc.
#pragma once

#include <chrono>
#include <string_view>

#include "bytecode/base/status.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/http_server.h"
#include "tools/serve/protocol/inference.h"
#include "tools/serve/protocol/protocol.h"

namespace relayvm::serve {

// Larger requests are read by a worker: it would take the connections' thread a millisecond.
inline constexpr size_t kReadHere = 128 << 10;

// What may be made of a request's body. Borrows both.
ReadLimits LimitsOf(const Dispatcher& dispatcher, HttpExchange& exchange);

// The whole number that a header has. kInvalidArgument names it.
Result<uint64_t> HeaderNumber(std::string_view name, std::string_view text);

// The time by which a request must be answered: what its header X-Request-Timeout-Ms says, in
// milliseconds, else its parameter timeout, in microseconds, else `none`.
Result<std::chrono::steady_clock::time_point> DeadlineOf(const HttpExchange& exchange,
                                                         const InferRequest& request,
                                                         std::chrono::nanoseconds none);

}  // namespace relayvm::serve
