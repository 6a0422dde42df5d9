// TraceContext: which trace a request belongs to, as the header traceparent of the W3C says it
// (Trace Context, level 1):
//
//   00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//   version, trace id, the caller's span id, flags: 1 is sampled
//
// Plain data; the functions are thread-safe. Tested by trace_context_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relayvm::serve {

struct TraceContext {
  uint64_t trace_high = 0, trace_low = 0;  // both 0: none
  uint64_t span = 0;                       // of this request here
  uint64_t parent = 0;                     // of who asked; 0: nobody that said so
  bool is_sampled = false;

  // What the VM's traces call the request's runs (InvocationOptions::tag).
  uint64_t tag() const { return trace_low; }
};

// What the header says, its span as the parent and a new span; nothing where it is malformed: the
// standard has it ignored then. Of later versions it takes what this one knows.
std::optional<TraceContext> ParseTraceparent(std::string_view header);
// A trace that begins here.
TraceContext NewTrace(bool is_sampled);
// The header that says what this server has done: 55 characters.
using Traceparent = std::array<char, 55>;
Traceparent FormatTraceparent(const TraceContext& context);
// In 16 digits.
void AppendHex(uint64_t number, std::string* out);

}  // namespace relayvm::serve
