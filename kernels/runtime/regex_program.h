// A regular expression as the rows of a table, which the compiler makes (compiler/import/regex.h)
// and the builtins string_full_match and string_tokens run: (op, a, b), int64 each.
//
//   kMatch            the text matches, where it ends here
//   kRange   low high a character of low..high, then the next row
//   kSet     row n    a character of the ranges in n rows of kData from `row` on, which are in order and
//                     apart; then the next row
//   kSplit   a b      goes on at both rows
//   kAssert  kind     goes on at the next row where this holds here (RegexAssert)
//   kData    low high
#pragma once

#include <cstdint>

namespace relayvm {

enum class RegexOp : int64_t { kMatch, kRange, kSet, kSplit, kAssert, kData };
enum class RegexAssert : int64_t {
  kBeginText,
  kEndText,
  kBeginLine,
  kEndLine,
  kWordBoundary,
  kNoWordBoundary
};

struct RegexStep {
  int64_t op, a, b;
};
static_assert(sizeof(RegexStep) == 24);

// Programs that texts are split by in turn: each is a call inside the one before.
inline constexpr int64_t kMostTokenPrograms = 100;

}  // namespace relayvm
