// Messages of run-time errors with places for numbers: "the size {0} x {1} does not equal {2}".
// Tested by message_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bytecode/kernel_abi.h"

namespace relayvm {

// `text` with "{N}" replaced by the N-th value and "{{" by a brace. A place beyond the values stays
// as it is.
std::string FillMessage(std::string_view text, std::span<const int64_t> values);
// ": 85, expected -3 to 2", of a number that must be in least..end-1; empty where a kernel gave
// none.
std::string OutOfRangeText(int64_t found, int64_t least, int64_t end);
std::string OutOfRangeText(const RelayvmKernelFault& fault);
// `text` such that FillMessage gives it back.
std::string EscapeMessage(std::string_view text);

// "2, 3". Not fmt::join: what that is made of is 50 KB in each library that uses it.
std::string Joined(std::span<const int64_t> numbers, std::string_view between = ", ");
std::string Joined(std::span<const std::string> texts, std::string_view between = ", ");

}  // namespace relayvm
