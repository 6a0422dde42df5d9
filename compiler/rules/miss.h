// Why a pattern does not match at a place, and what would change that, as texts for people. Recipes
// are made of the form of what does not hold (the formula, its functions, the operand it speaks
// of), and of nothing that a certain operator or engine has. Private to compiler/rules. Pure
// functions. Tested by compiler/regions/explain_test.cc.
#pragma once

#include <string>

#include "compiler/rules/formula.h"
#include "compiler/rules/match.h"

namespace relayvm::rules {

struct Why {
  std::string reason, recipe;
  bool is_condition = false;  // as in Miss
};

// "%x", "a value".
std::string NameOf(const ir::Atom& a);
// "nn.conv2d", "a tuple"; null: of a value that nothing in the program defines.
std::string WhatIs(const ir::Expr* e);

// A condition that does not hold, or has no value (then `reason` says so already).
Why ConditionMiss(const frontend::Formula& condition, const FormulaScope& scope,
                  const Surroundings& around, std::string reason);
// An attribute that is not `COMPARISON value`; `found` may be null.
Why AttributeMiss(const std::string& op, const std::string& name, const std::string& comparison,
                  const AttrValue& value, const AttrValue* found);
// A value that is no constant, or not the one of the pattern. `who`: "operand 2 of add".
Why ConstantMiss(const std::string& who, const ir::Atom& found, const Surroundings& around);
Why NumberMiss(const HostTensor& number, const ir::Atom& found, bool is_constant);
Why TypeMiss(const std::string& who, const ir::Type& expected, const ir::Type& found);
// Another operator, or none, than those of the text stands there.
Why OperatorMiss(const ir::Atom& at, const std::string& expected, const ir::Expr* found);

// "operand 2 of add", of a hole; "the result of add", of what the rule itself matches ("@name").
std::string WhoIs(const Rule& rule, const std::string& hole);

}  // namespace relayvm::rules
