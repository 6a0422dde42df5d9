// Whether two values are the same bit for bit.
#pragma once

#include <algorithm>
#include <cstring>

#include "vm/border/value.h"

namespace relayvm::testing {

// Recursive: for values that are not deep. Closures are the same when their functions are.
inline bool SameBits(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kNone:
      return true;
    case Value::Kind::kTensor:
      return a.dtype() == b.dtype() && std::ranges::equal(a.dims(), b.dims()) &&
             (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
    case Value::Kind::kClosure:
      return a.function() == b.function();
    case Value::Kind::kRef:
      return SameBits(a.field(0), b.field(0));
    case Value::Kind::kAdt:
      break;
  }
  if (a.tag() != b.tag() || a.num_fields() != b.num_fields()) return false;
  for (size_t i = 0; i < a.num_fields(); ++i) {
    if (!SameBits(a.field(i), b.field(i))) return false;
  }
  return true;
}

}  // namespace relayvm::testing
