// What MXNet writes for attributes of nodes: texts as Python prints them: "(3, 3)", "[0, 1]",
// "True", "None", "1e-05", "float32". Tested by attributes_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "bytecode/base/dtype.h"

namespace relayvm::import::mxnet {

// Each nullopt where the text is something else.
std::optional<bool> ParseBool(std::string_view text);     // True, False, 1, 0
std::optional<int64_t> ParseInt(std::string_view text);   // 3, -1, 2L
std::optional<double> ParseFloat(std::string_view text);  // 1e-05, inf, 3
std::optional<DType> ParseType(std::string_view text);    // float32
std::optional<DType> TypeOfFlag(int64_t flag);            // as arrays and __dtype__ number them

// The elements of a tuple or list, from left to right; what is nested is laid flat. One number is a
// tuple of one.
std::optional<std::vector<std::string_view>> ParseTuple(std::string_view text);
inline bool IsNoneText(std::string_view text) { return text == "None"; }

}  // namespace relayvm::import::mxnet
