// What a guard says when it fails. Tested by guard_text_test.cc.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// "dyn.reshape: the number of elements: {0} x {1} does not equal {2}", to be filled in with the
// values of the dims (bytecode/base/message.h). A product that is short is shown as one, any other
// formula as its value.
struct GuardText {
  std::string text;
  std::vector<Dim> values;
};
GuardText TextOf(const Guard& guard);

// Whether the guard holds of these numbers.
bool Holds(Guard::Kind kind, int64_t left, int64_t right);

}  // namespace relayvm::ir
