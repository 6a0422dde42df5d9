// Results as text: as Relay values, or as one JSON value. Any depth.
//
//   Relay   Cons(Tensor[(2, 3), float32] [[1., 2., 3.], [4., 5., 6.]], Nil)    (1f, True, 3i64) fn
//   @main_f    ref(2)
//           Floats have at most 8 digits after the point; above 1000 elements, the first and last 3
//           of each axis show, as numpy does.
//   JSON    {"dtype": "float32", "shape": [2], "data": [1, "NaN"]}    {"tuple": [...]}
//   {"constructor": "Cons", "fields": [...]}
//           {"function": "main_f"}    {"ref": ...}
//           `data` nests as the shape does, is null above 1000 elements; NaN and infinities are
//           "NaN", "Infinity", "-Infinity".
//
// Tested by print_test.cc.
#pragma once

#include <string>

#include "tools/values/flat_value.h"

namespace relayvm::tools {

std::string PrintRelay(const FlatValue& value);
std::string PrintJson(const FlatValue& value);

// `text` as a JSON string; what is not UTF-8 is replaced.
std::string JsonString(std::string_view text);

}  // namespace relayvm::tools
