#include "tools/serve/trace_context.h"

#include <random>

namespace relayvm::serve {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr size_t kVersionAt = 0, kTraceAt = 3, kSpanAt = 36, kFlagsAt = 53, kEnd = 55;

// Not 0. Ids need to differ, and not to be secret.
uint64_t NewId() {
  thread_local uint64_t state = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  for (;;) {
    uint64_t bits = state += 0x9E3779B97F4A7C15;  // SplitMix64, Steele et al. 2014
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    bits ^= bits >> 31;
    if (bits != 0) return bits;
  }
}

// Lower case alone, as the standard has it.
std::optional<uint64_t> ParseHex(std::string_view text) {
  uint64_t number = 0;
  for (const char c : text) {
    const size_t digit = kHexDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    number = number << 4 | digit;
  }
  return number;
}

void PutHex(uint64_t number, size_t digits, char* to) {
  for (size_t i = digits; i > 0; --i, number >>= 4) to[i - 1] = kHexDigits[number & 15];
}

}  // namespace

std::optional<TraceContext> ParseTraceparent(std::string_view header) {
  if (header.size() < kEnd) return std::nullopt;
  if (header[kTraceAt - 1] != '-' || header[kSpanAt - 1] != '-' || header[kFlagsAt - 1] != '-')
    return std::nullopt;
  const auto version = ParseHex(header.substr(kVersionAt, 2));
  const auto high = ParseHex(header.substr(kTraceAt, 16));
  const auto low = ParseHex(header.substr(kTraceAt + 16, 16));
  const auto span = ParseHex(header.substr(kSpanAt, 16));
  const auto flags = ParseHex(header.substr(kFlagsAt, 2));
  if (!version || !high || !low || !span || !flags || *version == 0xFF) return std::nullopt;
  // Later versions may have more behind it.
  if (header.size() > kEnd && (*version == 0 || header[kEnd] != '-')) return std::nullopt;
  if ((*high == 0 && *low == 0) || *span == 0) return std::nullopt;
  return TraceContext{*high, *low, NewId(), *span, (*flags & 1) != 0};
}

TraceContext NewTrace(bool is_sampled) { return {NewId(), NewId(), NewId(), 0, is_sampled}; }

Traceparent FormatTraceparent(const TraceContext& context) {
  Traceparent text;
  text.fill('-');
  PutHex(0, 2, text.data() + kVersionAt);
  PutHex(context.trace_high, 16, text.data() + kTraceAt);
  PutHex(context.trace_low, 16, text.data() + kTraceAt + 16);
  PutHex(context.span, 16, text.data() + kSpanAt);
  PutHex(context.is_sampled ? 1 : 0, 2, text.data() + kFlagsAt);
  return text;
}

void AppendHex(uint64_t number, std::string* out) {
  char digits[16];
  PutHex(number, 16, digits);
  out->append(digits, sizeof digits);
}

}  // namespace relayvm::serve
