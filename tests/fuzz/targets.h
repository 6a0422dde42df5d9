// What is fuzzed: readers of anything that comes from outside.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

struct Target {
  std::string name;
  bool is_text;
  std::vector<std::string> seeds;
  // Reads the input, and uses it as far as it goes. Any Status will do but kInternal.
  std::function<Status(const std::string& input)> run;
};

// Seeds come from the .relay programs of `folders`, and from files made of them. Those that take
// long to make are there for the target `only`.
Result<std::vector<Target>> MakeTargets(const std::string& only,
                                        const std::vector<std::string>& folders);

}  // namespace relayvm::fuzz
