// What rules are made of. Private to compiler/rules. Pure functions. Tested by rules_test.cc,
// chains_test.cc and results_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "compiler/rules/rules.h"

namespace relayvm::rules {

// What a part of a rule is, where it is a variable bound to another one.
ir::Atom Resolve(const Rule& rule, ir::Atom a);
// The operators that a part of a pattern may be.
void AddRoots(const Rule& rule, const ir::Atom& a, Roots& roots);
// Of each set, what the pattern matches has one operator.
void AddNeeds(const Rule& rule, const ir::Atom& a, std::vector<std::set<const OpDef*>>& needs);
// The operands of a node that match whenever it does: not those of steps that may be left out.
void ForEachOperand(const Rule& rule, const ir::Var& node,
                    const std::function<void(const ir::Atom&)>& fn);
// Ids of what `a` is made of wherever it matches, itself included.
std::set<uint32_t> Parts(const Rule& rule, const ir::Atom& a);
// Of a call of the replacement: OperatorAttrs like what the pattern says.
Attrs AttrsOf(const Rule& rule, const ir::OpCall& call, uint32_t id);
// The name of the field that a pattern's expression reads, where its number is open; or null.
const frontend::Formula* OpenField(const Rule& rule, const ir::Expr& e);
// Whether a hole of this type takes values of the other: `?` is any dim.
bool Takes(const ir::Type& hole, const ir::Type& type);

}  // namespace relayvm::rules
