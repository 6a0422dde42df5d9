// The operators of a block that engines run, and what must stand before what: for the passes that
// mark them, join them and cut them out.
//
// A binding is an engine's where an operand comes through compiler_begin, its value goes through
// compiler_end, or it has no marker between it and one that is. What engine's bindings have between
// them without a marker makes them one region; tuples and their fields belong to it. Private to
// compiler/regions. Tested by regions_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/effects.h"
#include "compiler/ir/ir.h"

namespace relayvm::regions {

// The body of a composite that a call is of, in a block with these bindings before it; null: none.
class Composites {
 public:
  void Note(const ir::Binding& b);
  const ir::Function* Of(const ir::Expr& e) const;
  // The binding of the literal that is called.
  const ir::Binding* BindingOf(const ir::Expr& e) const;

 private:
  std::unordered_map<uint32_t, ir::Binding> literals_;  // by Var::id
};

// Each block of the module replaced, the innermost first, but for those of regions and composites.
// `fn` gives the block itself where it changes nothing.
using BlockFn = std::function<const ir::Block*(const std::string& function, const ir::Block&)>;
ir::Module MapEachBlock(const ir::Module& m, const BlockFn& fn);

class RegionGraph {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  RegionGraph(const ir::Module& m, const ir::Effects& effects, const ir::Block& block);

  size_t size() const { return engines_.size(); }
  const std::string& engine(size_t i) const { return engines_[i]; }  // empty: none
  bool is_marker(size_t i) const { return markers_[i]; }
  bool has_regions() const { return has_regions_; }
  // The group of binding i, by one of its bindings: of those of no engine, itself.
  size_t Find(size_t i) const;
  void Join(size_t a, size_t b) { parent_[Find(a)] = Find(b); }
  // Bindings that binding i needs before it, through markers.
  const std::vector<size_t>& needs(size_t i) const { return needs_[i]; }
  // kNone: not bound in the block.
  size_t IndexOf(const ir::Atom& a) const;
  // What an operand is, through markers.
  ir::Atom Through(const ir::Atom& a) const;
  const Composites& composites() const { return composites_; }
  // Groups without markers, each behind what it needs, as near to the block's order as that lets.
  // `cyclic`: groups that are left out, since they need each other.
  std::vector<size_t> Order(std::vector<size_t>* cyclic) const;

 private:
  void FindEngines();
  void FindNeeds(const ir::Module& m, const ir::Effects& effects);
  bool MayBelong(const ir::Expr& e) const;

  const ir::Block& block_;
  Composites composites_;
  std::vector<std::string> engines_;
  std::vector<bool> markers_;
  bool has_regions_ = false;
  mutable std::vector<size_t> parent_;
  std::vector<std::vector<size_t>> needs_;
  std::unordered_map<uint32_t, size_t> index_;  // by Var::id
};

}  // namespace relayvm::regions
