// What follows a binding of a block: the variables that it needs, and copies of it that are made a
// part at a time. Both take time linear in the block however many bindings of it are asked about.
// Tested by compiler/typing/specialise_ranks_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/rewrite.h"

namespace relayvm::ir {

// The bindings from `first` on, and the result. The block is the arena's.
struct Rest {
  const Block* block;
  size_t first;
};

// The number of bindings, nested ones included.
size_t CountBindings(const Block& block);

// What a block uses and doesn't bind, in order of first use.
std::vector<const Var*> UsesOf(const Block& block);

// What rests use and don't bind.
class RestUses {
 public:
  // In order of first use. REQUIRES: the binding before `rest` is an `if` or a `match`.
  const std::vector<const Var*>& Of(const Rest& rest);

 private:
  using Lists = std::unordered_map<size_t, std::vector<const Var*>>;  // by Rest::first
  static Lists Find(const Block& block);

  std::unordered_map<const Block*, Lists> blocks_;
};

// A copy of a rest, with variables of its own, that ends for now behind an `if` or a `match`, whose
// variable is its result then.
class RestCopy {
 public:
  // `map`: what stands for the variables that the rest uses.
  RestCopy(const Rest& rest, AtomMap map)
      : block_(rest.block), next_(rest.first), map_(std::move(map)) {}

  // Adds bindings to `block`, up to and with twice as many `if`s and `match`es as the time before,
  // and sets its result. Gives the originals of what was added. `prepare` sees these before, and
  // may add bindings of its own to the block and map what they stand for.
  using PrepareFn = std::function<void(const Block& part, AtomMap& map)>;
  Block Extend(Module& m, Block& block, const PrepareFn& prepare);
  bool done() const { return done_; }

  // What follows the binding of the copy that `var` is bound to, an `if` or a `match`: in the
  // original; null when the copy has no such binding.
  const Rest* After(const Var* var) const;
  // What stands for a variable that the original uses.
  Atom ImageOf(const Var* v) const {
    auto at = map_.find(v->id);
    return at == map_.end() ? v : at->second;
  }
  const AtomMap& map() const { return map_; }

 private:
  const Block* block_;
  size_t next_;
  AtomMap map_;  // from the original's variables to the copy's
  std::unordered_map<const Var*, Rest> rests_;
  size_t ends_ = 1;
  bool done_ = false;
};

}  // namespace relayvm::ir
