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

inline std::string_view HttpReason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

}  // namespace relayvm::serve
