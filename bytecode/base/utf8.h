// Characters of text that may be any bytes. Tested by printable_test.cc and, with JSON,
// vm/trace/trace_test.cc.
#pragma once

#include <cstddef>
#include <string_view>

namespace relayvm {

// The bytes of the character that `text` begins with, as RFC 3629 has it; 0 where that is none: cut
// off, longer than need be, a surrogate, beyond the last one. REQUIRES: text is not empty.
size_t Utf8Length(std::string_view text);

}  // namespace relayvm
