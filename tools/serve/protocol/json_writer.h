// JSON texts and numbers, appended to a string. Tested by json_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "vm/border/value.h"

namespace relayvm::serve {

// In quotation marks; bytes that are not UTF-8 become U+FFFD.
void AppendJsonText(std::string_view text, std::string* out);
// The elements as one flat array: floats as the shortest decimals that read back as they are, and
// What JSON has no numbers for are the strings "NaN", "Infinity" and "-Infinity", as Protobuf's
// mapping to JSON has them: NumPy and JavaScript make floats of these.
// REQUIRES: a tensor on the host that is not of float16 or bfloat16.
void AppendJsonElements(const Value& tensor, std::string* out);
// {"error": text}
std::string JsonError(std::string_view text);

}  // namespace relayvm::serve
