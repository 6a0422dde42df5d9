// Messages of run-time errors with places for numbers: "the size {0} x {1} does not equal {2}".
// Tested by message_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace relayvm {

// `text` with "{N}" replaced by the N-th value and "{{" by a brace. A place beyond the values stays
// as it is.
std::string FillMessage(std::string_view text, std::span<const int64_t> values);
// `text` such that FillMessage gives it back.
std::string EscapeMessage(std::string_view text);

}  // namespace relayvm
