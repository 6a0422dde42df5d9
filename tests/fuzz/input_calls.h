// Programs of one expression that are run on hostile inputs: every operator stands in one, with
// open dims.
#pragma once

#include <string_view>
#include <vector>

namespace relayvm::fuzz {

struct InputCall {
  std::string_view params;  // as in `def @main(...)`
  std::string_view body;
};

std::vector<InputCall> InputCalls();

}  // namespace relayvm::fuzz
