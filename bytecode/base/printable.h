// Names and messages out of files for a terminal, where control characters could forge lines, hide
// text or move the cursor. Tested by printable_test.cc.
#pragma once

#include <string>
#include <string_view>

namespace relayvm {

// `text` with `?` for each control character: C0 and DEL, C1 in UTF-8 or as a byte of its own, and
// those of Unicode that end lines or turn the direction of text.
std::string Printable(std::string_view text);
// The same of text that has lines: newlines and tabs stay.
std::string PrintableLines(std::string_view text);

}  // namespace relayvm
