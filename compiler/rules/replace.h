// A pass puts something in the place of what patterns match: one operator for attention that is
// spelled out, or one call for the operators of an engine's composite. Private to compiler/rules
// and passes. Tested by replace_test.cc and results_test.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/rules/match.h"

namespace relayvm::rules {

// Where a pattern matches.
struct Place {
  const ir::Module& module;
  const RuleSet& patterns;
  const Rule& pattern;
  const Match& match;
  const Definition& root;
  Surroundings& around;

  // What the pattern's parameter i stands for. REQUIRES: it is not only in a step that may be left
  // out.
  const ir::Atom& hole(size_t i) const { return match.images.at(pattern.graph->params[i]->id); }
  // The operator calls that matched, operands first.
  std::vector<const ir::OpCall*> Calls() const;
  // The call of the root's block that defines a value, where a part of that name matches it (with
  // any operands), or null.
  const ir::OpCall* CallOf(const ir::Atom& a, const std::string& part) const;
};

// Appends bindings that compute the root's value and the match's results, and bind their variables.
// False, and nothing is replaced, where the pass declines: then *reason says why.
using MakeFn =
    std::function<bool(const Place& place, std::vector<ir::Binding>& out, std::string* reason)>;

// In each block from the last root to the first, so that of matches inside one another the largest
// counts; first patterns of the highest benefit, and then the others in what those left. A value
// has a place in one match at most. What further results (rules.h) are read by stands behind the
// root, or there is no match. Patterns match within a block, and not in composites. Misses of the
// report are of patterns of whose parts that must be there two matched. Before: typed. After:
// typed, but for what `make` left open; what nothing uses is left to EliminateDeadCode.
ir::Module ReplacePatterns(const ir::Module& m, const RuleSet& patterns, const MakeFn& make,
                           Report* report = nullptr, Extent extent = Extent::kLongest);

}  // namespace relayvm::rules
