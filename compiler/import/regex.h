// Regular expressions in the syntax of RE2 (github.com/google/re2/wiki/Syntax) as programs for the
// builtin string_full_match: whether all of a text matches. It is not RE2 itself as a run must be
// able to end in the middle of a text and all memory of it is counted, which RE2's matcher has no
// means for. RE2 would also come into the runtime, which is to stay small, or matching into the
// compiler. What is taken, and what matches, is as in RE2 of Unicode 15, but for \C, which is
// refused, and for groups that nest deeper than 200; repetitions in repetitions may be more than
// RE2's 1000. Tested by regex_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/runtime/regex_program.h"

namespace relayvm::import {

// Rows of the most that a pattern may become.
inline constexpr size_t kMostRegexSteps = 20000;

// Errors name the place in the pattern.
Result<std::vector<RegexStep>> CompileRegex(std::string_view pattern);

}  // namespace relayvm::import
