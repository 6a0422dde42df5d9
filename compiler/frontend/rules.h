// The text of a rule file, parsed: patterns and replacements of rewrites, in Relay's syntax, and
// parts of patterns that have a name and may repeat.
//
//   rule @relu_twice(%x) { nn.relu(nn.relu(%x)) => nn.relu(%x) }
//   rule @scale(%x, const %w: Tensor[(?, ?), float32], benefit=2) {
//     nn.dense(%x, %w, units=None) or nn.dense(%x, %w, units > 0) => ...
//   }
//   rule @slices(%x) { take(%x, axis=$a) if $a < rank(%x) and $a != 0 => ...  }
//   part @bounds(%x) { nn.relu(%x) or clip(%x) as bounded } if dtype(%x) == "float32"
//   rule @dense(%x, %w) { @bounds*(nn.dense(%x, %w)) => ... }
//   pattern @wide(%x, %w) { @bounds?(nn.dense(%x, %w)) if rank(@wide) == 2 }
//   part @sorted(%x) { %0 = split(%x, axis=0); (multiply(%0.$a, tanh(%0.$b)), %0) }
//
//   file        := {definition}
//   definition  := "rule" NAME params "{" ways "=>" expression "}" [conditions]
//                | ("part" | "pattern") NAME params "{" ways "}" [conditions]
//   ways        := way {"or" way}
//   way         := expression ["as" word] [conditions]
//   conditions  := "if" condition {"and" condition}
//   condition   := formula [comparison formula]
//   expression  := NAME ["?" | "*" | "+"] "(" expression {"," expression} ")" | ...
//
// What the rules mean is compiler/rules/rules.h's to say. Any bytes are safe. Tested by
// compiler/rules/rules_test.cc and compiler/rules/chains_test.cc.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::frontend {

// Attributes that calls in rules have besides their operator's: the names of those that were
// written as values, conditions as lists of name, comparison and value, and those that are formulas
// as lists of name and position in ParsedRule::formulas.
inline constexpr const char* kWrittenAttr = "rule.written";
inline constexpr const char* kConditionsAttr = "rule.conditions";
inline constexpr const char* kFormulasAttr = "rule.formulas";
// Fields of tuples that a pattern leaves open, %t.$name, have this and a position in
// ParsedRule::formulas as their number.
inline constexpr uint32_t kOpenField = uint32_t{1} << 31U;

// What an attribute or a condition of a rule is computed from: $a + 2 * size($p), dim(%x, 0) == 4.
struct Formula {
  enum class Kind : uint8_t { kValue, kVariable, kHole, kCall };
  Kind kind = Kind::kValue;
  AttrValue value;  // kValue
  // Of a variable, a hole (or @name: what the definition itself matches), a function; or an
  // operator: + - * == [] list
  std::string name;
  std::vector<Formula> args;  // kCall
  ir::Span span;
};

struct ParsedRule {
  enum class Kind : uint8_t { kRule, kPattern, kPart };
  Kind kind = Kind::kRule;
  std::string name;
  ir::Span span;
  // Its parameters are the holes; its result is a tuple of the patterns, which are alternatives,
  // and, of a rule, the replacement. Uses of parts are calls of them, the mark behind the name;
  // a part is defined above its uses.
  const ir::Function* function = nullptr;
  std::set<const ir::Var*> constants;            // holes that only match constants
  std::vector<ir::Span> sides;                   // of the fields of the result
  std::vector<Formula> formulas;                 // that attributes of calls are
  std::vector<std::vector<Formula>> conditions;  // of each pattern: all must hold
  std::vector<Formula> common;                   // conditions of all of them
  std::vector<std::string> labels;               // of each pattern: what `as` calls it, or ""
};

struct ParsedRules {
  ir::Module module;  // arena and sources; no functions
  std::vector<ParsedRule> rules;
};

Result<ParsedRules> ParseRules(std::string name, std::string text,
                               const CustomOperators& operators = {});

}  // namespace relayvm::frontend
