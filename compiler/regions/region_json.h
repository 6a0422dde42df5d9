// A region as the JSON that its provider gets: TVM's, with names for open sizes and with what
// follows a composite's operator (tools/examples/engines/README.md has all of it).
//
// Tested by regions_test.cc.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/rules/rules.h"

namespace relayvm::regions {

struct RegionJson {
  std::string text;
  std::vector<Dim> symbols;  // over the function's
  std::vector<const ir::Constant*> constants;
  // What must hold when it runs: made by type inference for what is inside, over the function's
  // symbols.
  std::vector<ir::Guard> guards;
};

// `patterns`: of the engine; null: composites have no post_ops. Fails where the function holds what
// no node stands for (an `if`, a call of another function). Before: typed.
Result<RegionJson> MakeRegionJson(const ir::Module& m, const ir::Function& region,
                                  const rules::RuleSet* patterns);

}  // namespace relayvm::regions
