// Building blocks of passes that rewrite blocks, over the walks of ir/walk.h. Tested by
// rewrite_test.cc.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/ir.h"
#include "compiler/ir/substitute.h"
#include "compiler/ir/walk.h"

namespace relayvm::ir {

// Null where `t` is null or no tensor's type.
inline const TensorType* TensorOf(const Type& t) {
  return t == nullptr ? nullptr : t->As<TensorType>();
}

// The block with each binding handed to `fn`, innermost blocks first; `fn` appends what stands in
// its place to `out`.
using BindingFn = std::function<void(const Binding& binding, std::vector<Binding>& out)>;
const Block* RewriteBlock(const Module& m, const Block& block, const BindingFn& fn);
// Every function of the module with its blocks rewritten.
Module RewriteModule(const Module& m, const BindingFn& fn);

// The walk of a pass that finds variables to be other atoms: over bindings in order, operands
// replaced and nested blocks done.
class Substitution {
 public:
  explicit Substitution(const Module& m);
  virtual ~Substitution() = default;

  // The module after the walk over all its functions. What symbols stand for is still bound, or
  // they stand for what took its place.
  Module Run();

 protected:
  // True when the binding is not needed any more: `var` was mapped, and what the value needs was
  // appended to `out`.
  virtual bool Consume(const Var* var, const Expr& value, Block& out) = 0;
  virtual void EnterBlock() {}
  virtual void LeaveBlock() {}
  void Map(const Var* var, Atom image) { map_[var->id] = image; }
  // The atom that stands for `a` by now.
  Atom Image(const Atom& a) const { return ir::Image(map_, a); }

  const Module& m_;

 private:
  const Block* Run(const Block& block);

  AtomMap map_;
  std::unordered_set<uint32_t> symbol_values_;
};

}  // namespace relayvm::ir
