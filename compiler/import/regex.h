// Regular expressions in the syntax of RE2 (github.com/google/re2/wiki/Syntax) as programs for the builtin
// string_full_match: whether all of a text matches. Classes of Unicode (\p{Greek}) and \C are refused by
// name. Tested by regex_test.cc.
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
