// AnnotateTarget: what engines run goes between compiler_begin and compiler_end, TVM's markers.
//
// That are the composites of an engine (MergeComposite) and the single operators that a pattern of
// the engine's rule file matches alone; fields of their tuples, and tuples that are made for them.
// Of several engines the first that has an operator gets it; what is marked already stays. Before:
// typed. After: typed. Tested by regions_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/rules/rules.h"

namespace relayvm::regions {

struct EnginePattern {
  std::string engine;
  std::shared_ptr<const rules::RuleSet> patterns;
};

ir::Module AnnotateTarget(const ir::Module& m, const std::vector<EnginePattern>& engines);

}  // namespace relayvm::regions
