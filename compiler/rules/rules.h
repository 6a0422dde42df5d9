// Rewrites without code: rules of a pattern and a replacement, written in Relay's own syntax.
//
//   rule @relu_twice(%x) { nn.relu(nn.relu(%x)) => nn.relu(%x) }
//   rule @add_zero(%x) { add(%x, 0f) or add(0f, %x) => %x }
//   rule @one_group(%x, const %w, benefit=2) { nn.conv2d(%x, %w, groups > 1) => ... }
//   rule @reverses(%x) { reverse(reverse(%x, axis=$a), axis=$b) if axis($a, %x) == axis($b, %x) => %x }
//
// A pattern is made of operator calls, tuples, their fields, numbers and holes. A hole matches any
// value; one with a type, values of that type, where `?` is any dim; `const` ones, constants. The
// same hole twice is the same value. A number matches a constant of its dtype that is made of it
// alone. An attribute that is written must be equal, one with a comparison must hold, all others
// are free; axis=$a gives it a name, and the same name twice is the same value. What follows `if`
// must hold: formulas over names, numbers and the types of holes (formula.cc lists the functions).
// In a replacement an attribute may be a formula; those that are not written are those of the
// pattern's outermost call of that operator; where it has none, the defaults.
//
// A pattern is looked for along definitions and uses, through lets, statements of types and
// enclosing blocks, not into or out of function literals. A value of its inside that something else
// uses would have to be computed twice: then the rule is left, but for replacements that compute
// nothing (a hole, or a part of the pattern), or that use that very value. Where several rules
// match, the one of the highest `benefit` (0 unless said), then the first.
//
// Types: both sides are checked when a file is read, where types of holes are not written for
// float32 (or the dtype of the rule's first number) tensors of ranks 0 to 5, all holes alike; open
// dims may turn out to be equal; not where an attribute is free that has no default. And again
// wherever a rule is about to be applied, which it is only if the replacement has the very type
// that was there, proved, not guarded.
//
// Tested by rules_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/frontend/rules.h"
#include "compiler/ir/ir.h"

namespace relayvm::rules {

// Nodes of a rule at most.
inline constexpr size_t kMaxNodes = 1000;

// A pattern with its replacement; of a rule with alternatives one of them.
struct Rule {
  std::string name;
  std::string place;  // file:line:column
  int64_t benefit = 0;
  std::map<uint32_t, const ir::Expr*> nodes;  // of both sides, by Var::id
  std::vector<const ir::Var*> order;          // of `nodes`, operands first
  std::map<uint32_t, const ir::Var*> holes;   // by Var::id
  std::set<const ir::Var*> constants;         // holes that only match constants
  ir::Atom pattern, replacement;
  std::shared_ptr<const std::vector<frontend::Formula>> formulas;  // that attributes are
  std::vector<frontend::Formula> conditions;                       // that must hold
  std::vector<const ir::Var*> new_nodes;  // of the replacement alone, operands first
  std::set<uint32_t> kept;  // nodes of the pattern that the replacement uses, by Var::id
  // Of calls that the replacement makes: the pattern's outermost one of that operator, by Var::id.
  std::map<uint32_t, const ir::Var*> like;
  bool computes() const { return !new_nodes.empty(); }
};

// Immutable and shared by copies. Thread-safe.
struct RuleSet {
  std::vector<Rule> rules;
  std::vector<ir::Module> owners;                       // that keep the rules' nodes
  std::map<const OpDef*, std::vector<size_t>> by_root;  // the order to try
};

// Errors have file, line and column, the source line, and what was expected and found.
// `check_types`: of both sides (see above), which takes most of the time.
Result<std::shared_ptr<const RuleSet>> ReadRules(const std::string& name, std::string text,
                                                 const CustomOperators& operators = {},
                                                 bool check_types = true);
// All rules of several sets, in order.
std::shared_ptr<const RuleSet> Join(const std::vector<std::shared_ptr<const RuleSet>>& sets);

struct Report {
  std::map<std::string, size_t> applied;  // rule -> how often
  // Near misses, where asked for: a pattern's root was there, the rest was not.
  std::vector<std::string> misses;
};
struct ApplyOptions {
  bool explain = false;
  std::stop_token stop;
};

// Applies rules until none does. Before: typed, not fused. After: typed; what nothing uses is left
// to EliminateDeadCode. An error of code kInvalidArgument names the rules that go on for ever.
Result<ir::Module> ApplyRules(const ir::Module& m, const RuleSet& rules,
                              const ApplyOptions& options = {}, Report* report = nullptr);

}  // namespace relayvm::rules
