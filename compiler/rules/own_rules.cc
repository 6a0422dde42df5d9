#include "compiler/rules/own_rules.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace relayvm::rules {
namespace {

std::shared_ptr<const RuleSet> Own(Result<std::shared_ptr<const RuleSet>> read) {
  if (!read.ok()) {
    fmt::print(stderr, "{}\n", read.status().message());
    std::abort();
  }
  return *std::move(read);
}

}  // namespace

const RuleSet& SimplifyRules() {
  // Their types are for simplify_test.cc to check.
  static const auto rules =
      Own(ReadRules("simplify.relay", kSimplifyText, {}, /*check_types=*/false));
  return *rules;
}

const RuleSet& AttentionPatterns() {
  static const auto patterns = Own(ReadPatterns("attention.relay", kAttentionText));
  return *patterns;
}

}  // namespace relayvm::rules
