// MergeComposite: what an engine runs as one node becomes one call of a function literal with the
// attribute Composite="ENGINE.NAME", where NAME are the labels of the pattern's steps, from the
// inside ("dnnl.conv2d_bias_relu").
//
// The largest match counts, and of several patterns the first (rules/replace.h). The literal's
// parameters are the operands of the innermost step, then those that the others bring; numbers that
// are part of the pattern stay inside. Matches of one operator are left to AnnotateTarget. One step
// of several operators (a cell of a recurrent network) is a composite of that step's label, whose
// operands are the step's parameters. A match of several results (rules.h) gives a tuple of them.
//
// Before: typed. After: typed. Tested by regions_test.cc.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/rules/match.h"

namespace relayvm::regions {

// Of a composite's literal: for each step upon the innermost operator, which is the first of the
// body, a list of its label, its operands (numbers of parameters), and its $names with values.
inline constexpr const char* kStepsAttr = "composite_steps";
// Of one that is a single step: a list of its label, the names of its parameters that are there,
// the operands that they stand for (numbers of parameters), and its $names with values.
inline constexpr const char* kWholeAttr = "composite_whole";

ir::Module MergeComposite(const ir::Module& m, const std::string& engine,
                          const rules::RuleSet& patterns, rules::Report* report = nullptr);

// Whether it is of more than one operator.
bool IsComposite(const rules::Match& match);
// Of a composite that is a single step: that step; else null.
const rules::Step* WholeStep(const rules::Match& match);
// The parameters of the step that stand for something here: their names and what that is.
std::vector<std::pair<std::string, ir::Atom>> NamedOperands(const rules::Step& step);

// "conv2d_bias_relu", of the steps of a match.
std::string CompositeName(const rules::Match& match);

}  // namespace relayvm::regions
