// Requests and answers of HTTP as the server hands them over; nothing of sockets. Plain data.
#pragma once

#include <cstddef>
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

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "application/json";        // a literal
  std::vector<std::pair<std::string, std::string>> headers;  // more of them: no line breaks
  std::string body;
  std::vector<HttpPiece> pieces;  // behind it, in order
};

// "Not Found"
std::string_view HttpReason(int status);

}  // namespace relayvm::serve
