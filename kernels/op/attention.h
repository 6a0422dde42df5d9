// nn.attention (attention.cc), for a pass that writes calls of it.
#pragma once

#include <string>

#include "kernels/op/problem.h"

namespace relayvm {

struct AttentionForm {
  std::string queries, keys, values, out;  // the orders of their dims, of the letters BHSD
  std::string score;                       // its steps
};
NamedCall AttentionCall(const AttentionForm& form);

}  // namespace relayvm
