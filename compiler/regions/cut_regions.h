// What parted a light region from a heavy one beside it, for --explain: a value that would leave
// the region and come back, a guard or an effect between them, or a branch. Private to
// compiler/regions. Tested by explain_test.cc.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/effects.h"
#include "compiler/ir/ir.h"

namespace relayvm::regions {

struct Cut {
  std::string why, recipe;
};

// Of a module after PruneRegions, which outlives it. Not thread-safe.
class CutRegions {
 public:
  explicit CutRegions(const ir::Module& m);

  // Of a function that is no region of the engine any more, by its first call; none: no region of
  // the engine is beside that. Linear in the size of the block that calls it.
  std::optional<Cut> Of(const std::string& name, const std::string& engine);

 private:
  struct Site {
    const ir::Block* block;
    size_t index;
  };
  // What binds what in a block.
  struct Graph {
    const ir::Block* block = nullptr;
    std::unordered_map<uint32_t, size_t> index;  // by Var::id
    std::vector<std::vector<size_t>> needs, readers;
  };
  using Edges = std::vector<std::vector<size_t>>;

  void FindCalls(const ir::Block& block);
  void MakeGraph(const ir::Block& block);
  // The name of the region of the engine that a binding's value calls; empty: none.
  std::string RegionOf(const ir::Expr& e, const std::string& engine) const;
  // Regions that a binding has beside it, along the edges, through tuples and other names.
  std::vector<size_t> Beside(size_t from, const Edges& edges, const std::string& engine) const;
  static std::vector<bool> Reach(size_t from, const Edges& edges);
  std::string Describe(const ir::Binding& b) const;
  // What reads `first` and feeds `last`, but for tuples; size_t max: nothing.
  size_t Between(size_t first, size_t last) const;
  // A guard, a stated type or an effect between two bindings; the same.
  size_t BarrierBetween(size_t first, size_t last) const;
  std::optional<Cut> AcrossBranches(size_t at, const std::string& engine) const;

  const ir::Module& m_;
  const ir::Effects effects_;
  std::map<std::string, Site> calls_;                    // the first of each function
  std::unordered_map<uint32_t, const ir::Expr*> bound_;  // by Var::id, of all functions
  Graph graph_;                                          // of the block that was asked for last
};

}  // namespace relayvm::regions
