// One pattern against one place of a program. Private to compiler/rules. Not thread-safe.
// Tested by rules_test.cc and chains_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/rules/pattern.h"
#include "compiler/rules/rules.h"

namespace relayvm::rules {

// Goals, which are parts of patterns to match with values. From a rule's first use of a part on it
// has kMaxGoals at a place: the first kFreeGoals, whatever others need, and more while there are of
// kMaxProgramGoals, for all rules and places of a program.
inline constexpr int64_t kMaxGoals = 4 * kMaxNodes, kFreeGoals = 64, kMaxProgramGoals = 2'000'000;

// What is known of the program around the place.
struct Definition {
  const ir::Var* var;
  const ir::Expr* value;
  uint32_t function;  // the function literal that it stands in, by a number
};
struct Surroundings {
  std::unordered_map<uint32_t, Definition> definitions;  // by Var::id
  std::unordered_map<uint32_t, int64_t> uses;            // by Var::id
  int64_t goals_left = kMaxProgramGoals;
};

// A way of a part that matched.
struct Step {
  std::shared_ptr<const Part> part;
  const Rule* way;                             // of the part
  const ir::Var* var;                          // what it matched
  const ir::Expr* value;                       // its definition
  std::map<uint32_t, ir::Atom> images;         // as in Match
  std::map<std::string, AttrValue> variables;  // the same
  // Who uses the part: 0: the pattern itself; n: the n-th of the match's steps, from 1.
  uint32_t caller = 0;
  // What parameters from `first` on stand for: 1 in a chain, whose steps have them as operands.
  std::vector<ir::Atom> Operands(size_t first = 1) const;
};

struct Match {
  // What pattern variables (holes too) stand for, by Var::id.
  std::map<uint32_t, ir::Atom> images;
  std::map<std::string, AttrValue> variables;  // $name
  std::vector<Step> steps;                     // the outermost first
  std::vector<const ir::Expr*> values;         // that were matched, the root first
  std::vector<const ir::Var*> inside;          // what the root is made of and the pattern computes
  // Those of them that a pattern has as further results (rules.h), in its order.
  std::vector<const ir::Var*> results;

  // The steps that the pattern itself uses, the outermost first: others are pieces of them.
  std::vector<const Step*> OwnSteps() const;
};

// Why a pattern does not match: of all ways that were tried, where most nodes matched before.
struct Miss {
  size_t reached = 0;   // such nodes
  size_t required = 0;  // those of them that the pattern cannot do without
  std::string reason;
  const ir::Expr* at = nullptr;  // the last of those nodes
  // What would change it, for people.
  std::string recipe;
  // It is a condition on an operand or an attribute of what stands there, not what stands where.
  bool is_condition = false;
  bool is_whole = false;  // no operator is left to be found; told where conditions are preferred
  // Given: conditions count before all others, and of those the ones of whole patterns, and of
  // those the ones behind a node that the pattern cannot do without.
  bool prefers_conditions = false;

  bool IsNearerThan(const Miss& other) const;
};

// Adds the near miss to the report, unless there are many.
void NoteMiss(const ir::Module& m, const Rule& rule, const ir::Binding& at, const Miss& miss,
              Report* report);

// Of the pattern's own parts that may be left out: as many steps as there are, or as few as may be.
enum class Extent : uint8_t { kLongest, kShortest };

// `miss` may be null. Takes from around.goals_left.
std::optional<Match> MatchRule(const ir::Module& m, const Rule& rule, const Definition& root,
                               Surroundings& around, Miss* miss, Extent extent = Extent::kLongest);

// Follows `%x = %y` (and statements of types).
ir::Atom Follow(const Surroundings& around, ir::Atom a, bool through_statements);

}  // namespace relayvm::rules
