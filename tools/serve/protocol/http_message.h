// Requests and answers of HTTP as the server hands them over; nothing of sockets. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relayvm::serve {

// Bytes behind a body that something else owns.
struct HttpPiece {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps them
};

// What was run for an answer, for the access log and traces; -1: nothing.
struct RunNotes {
  std::string_view model, version;
  std::shared_ptr<const void> owner;  // keeps these
  int64_t queued_ns = -1, run_ns = -1;
};

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "application/json";        // a literal
  std::vector<std::pair<std::string, std::string>> headers;  // more of them: no line breaks
  std::string body;
  std::vector<HttpPiece> pieces;  // behind it, in order
  RunNotes run;
};

// "Not Found"
std::string_view HttpReason(int status);

}  // namespace relayvm::serve
