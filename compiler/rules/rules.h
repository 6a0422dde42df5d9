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
// are free; axis=$a gives it a name, and the same name twice is the same value; %t.$i does so for
// the number of a tuple's field. What follows `if` must hold: formulas over names, numbers and the
// types of holes (formula.cc lists the functions).
//
//   part @bound(%x, %b) { nn.relu(%x) or clip(%x) or minimum(%x, %b) as least }
//   pattern @dense(%x, const %w) { @bound*(nn.dense(%x, %w)) }
//
// A part is a piece of patterns with a name: several ways to match, each of which may have
// conditions of its own, in which @bound is the value that it matches, and a label. @bound(A) is
// one of its ways, with A where it has its first parameter; @bound?(A) is that or A alone;
// @bound*(A) and @bound+(A) are a chain: any number of steps, from 0 or 1 to kMaxSteps, one upon
// the other, down to A. Parameters without an argument are each step's own operands, and so are
// $names. A way may lack a parameter whose argument is a hole, which then stands for nothing. As
// many steps as there are go first, then the ways in order; if the rest of the pattern does not
// match, fewer and others do. A part uses only parts above itself, so none is endless.
//
// What a file may ask for is bounded: a rule, part or pattern has kMaxNodes nodes and holes, and
// kMaxSize of all that its alternatives are made of. A place where a rule may match in too many
// ways is left as it is; a program's places share a number of such ways (match.h).
//
// A pattern has no replacement: passes look for it and say what stands in its place. A tuple of
// several values, as a pattern or a way of a part, is its first value, which the others are inside
// of: these may be used elsewhere too, as further results.
//
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
// Tested by rules_test.cc, formulas_test.cc, chains_test.cc and results_test.cc.
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

// Nodes and holes of a rule at most, and steps of a chain.
inline constexpr size_t kMaxNodes = 1000;
inline constexpr int kMaxSteps = 32;
// Of a rule's alternatives, the replacement with each: nodes, operands, formulas and operators that
// they may start with, at most.
inline constexpr size_t kMaxSize = 8 * kMaxNodes;

struct Part;

struct PartUse {
  std::shared_ptr<const Part> part;
  int least = 1, most = 1;     // steps; a chain (most > 1) has one argument
  std::vector<ir::Atom> args;  // of the first parameters
};
// The operators that a pattern's root may be, or any value.
struct Roots {
  std::set<const OpDef*> ops;
  bool any = false;
};

// What the alternatives of a rule, or the ways of a part, share.
struct Graph {
  std::map<uint32_t, const ir::Expr*> nodes;  // of all sides, by Var::id
  std::map<uint32_t, const ir::Var*> holes;   // by Var::id
  std::vector<const ir::Var*> params;         // the holes, as written
  std::map<uint32_t, PartUse> parts;          // nodes that are uses of parts, by Var::id
  std::set<const ir::Var*> constants;         // holes that only match constants
  std::vector<frontend::Formula> formulas;    // that attributes are
  std::vector<frontend::Formula> conditions;  // that must hold in each
};

// A pattern with its replacement; of a rule with alternatives one of them. Patterns and ways of
// parts have no replacement.
struct Rule {
  std::string name;
  std::string place;  // file:line:column
  int64_t benefit = 0;
  std::shared_ptr<const Graph> graph;
  Roots roots;  // of the pattern
  // Of each set, what the pattern matches has one operator.
  std::vector<std::set<const OpDef*>> needs;
  std::string label;  // `as`, or the root's operator
  bool is_pattern = false;
  ir::Atom pattern, replacement;
  std::vector<ir::Atom> results;              // nodes of the pattern that may be read elsewhere
  std::vector<frontend::Formula> conditions;  // of its own, before the graph's
  size_t num_formulas = 0;                    // of all conditions
  std::vector<const ir::Var*> new_nodes;      // of the replacement alone, operands first
  std::set<uint32_t> kept;  // nodes of the pattern that the replacement uses, by Var::id
  // Of calls that the replacement makes: the pattern's outermost one of that operator, by Var::id.
  std::map<uint32_t, const ir::Var*> like;
  // Whether what matches would be computed twice, where something else uses it.
  bool computes() const { return is_pattern || !new_nodes.empty(); }
};

struct Part {
  std::string name;
  std::vector<Rule> ways;
  Roots roots;                            // of all ways
  std::map<size_t, std::string> lacking;  // parameters, by position -> the way that may lack it
};

// Immutable and shared by copies. Thread-safe.
struct RuleSet {
  std::vector<Rule> rules;  // or patterns
  std::map<std::string, std::shared_ptr<const Part>> parts;
  std::vector<ir::Module> owners;                       // that keep the rules' nodes
  std::map<const OpDef*, std::vector<size_t>> by_root;  // the order to try
};

// Errors have file, line and column, the source line, and what was expected and found.
// `check_types`: of both sides (see above), which takes most of the time.
Result<std::shared_ptr<const RuleSet>> ReadRules(const std::string& name, std::string text,
                                                 const CustomOperators& operators = {},
                                                 bool check_types = true);
// Patterns, for a pass: of a text that holds no rules.
Result<std::shared_ptr<const RuleSet>> ReadPatterns(const std::string& name, std::string text);
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
