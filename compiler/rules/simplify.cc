#include "compiler/rules/simplify.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace relayvm::rules {

const RuleSet& SimplifyRules() {
  static const std::shared_ptr<const RuleSet> rules = [] {
    // Their types are for simplify_test.cc to check.
    auto read = ReadRules("simplify.relay", kSimplifyText, {}, /*check_types=*/false);
    if (!read.ok()) {
      fmt::print(stderr, "{}\n", read.status().message());
      std::abort();
    }
    return *std::move(read);
  }();
  return *rules;
}

}  // namespace relayvm::rules
