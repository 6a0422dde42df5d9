// MergeComposite: what an engine runs as one node becomes one call of a function literal with the
// attribute Composite="ENGINE.NAME", where NAME are the labels of the pattern's steps, from the
// inside ("dnnl.conv2d_bias_relu").
//
// The largest match counts, and of several patterns the first (rules/replace.h). The literal's
// parameters are the operands of the innermost step, then those that the others bring; numbers that
// are part of the pattern stay inside. Matches of one operator are left to AnnotateTarget.
//
// Before: typed. After: typed. Tested by regions_test.cc.
#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "compiler/rules/match.h"

namespace relayvm::regions {

// Of a composite's literal: for each step upon the innermost operator, which is the first of the
// body, a list of its label, its operands (numbers of parameters), and its $names with values.
inline constexpr const char* kStepsAttr = "composite_steps";

ir::Module MergeComposite(const ir::Module& m, const std::string& engine,
                          const rules::RuleSet& patterns, rules::Report* report = nullptr);

// "conv2d_bias_relu", of the steps of a match.
std::string CompositeName(const rules::Match& match);

}  // namespace relayvm::regions
