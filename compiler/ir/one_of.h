// Results of one of several types, of which only running tells which: values of the type
//
//   type OneOf[A, B] { First(A), Second(B) }
//
// which nest in B. A module's entry with the attribute kOneOfResults (true) whose result is such a
// value, or a tuple with such fields, gives hosts what the values hold in their places, of an open
// type: the import of models makes them where branches differ in rank.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

inline constexpr const char* kOneOfResults = "one_of_results";
inline constexpr const char* kOneOf = "OneOf";

inline bool HasOneOfResults(const Function& function) {
  const auto found = function.attrs.find(kOneOfResults);
  return found != function.attrs.end() && found->second == AttrValue(true);
}

}  // namespace relayvm::ir
