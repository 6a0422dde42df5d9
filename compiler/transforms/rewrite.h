// Building blocks of passes: rebuild expressions with other operands or nested blocks, and find
// what gives a symbol its value. Tested by rewrite_test.cc.
#pragma once

#include <functional>
#include <unordered_map>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// The expression with each operand replaced; the same node when nothing changes. Not into nested
// blocks.
const Expr* MapAtoms(const Module& m, const Expr* e, const std::function<Atom(const Atom&)>& fn);
// The expression with each nested block replaced (branches, clauses, the body of a FunctionExpr).
const Expr* MapBlocks(const Module& m, const Expr* e,
                      const std::function<const Block*(const Block&)>& fn);
// The block with each binding handed to `fn`, innermost blocks first; `fn` appends what stands in
// its place to `out`.
using BindingFn = std::function<void(const Binding& binding, std::vector<Binding>& out)>;
const Block* RewriteBlock(const Module& m, const Block& block, const BindingFn& fn);
// The function with another body.
const Function* WithBody(const Module& m, const Function& f, const Block* body);
// Every function of the module with its blocks rewritten.
Module RewriteModule(const Module& m, const BindingFn& fn);

// What stands for a variable, by Var::id.
using AtomMap = std::unordered_map<uint32_t, Atom>;

// The walk of a pass that finds variables to be other atoms: over bindings in order, operands
// replaced and nested blocks done.
class Substitution {
 public:
  explicit Substitution(const Module& m) : m_(m) {}
  virtual ~Substitution() = default;

  const Block* Run(const Block& block);
  // The atom that stands for `a` now.
  Atom Image(const Atom& a) const;

 protected:
  // True when the binding is not needed any more: `var` was mapped, and what the value needs was
  // appended to `out`.
  virtual bool Consume(const Var* var, const Expr& value, Block& out) = 0;
  virtual void EnterBlock() {}
  virtual void LeaveBlock() {}
  void Map(const Var* var, Atom image) { map_[var->id] = image; }

  const Module& m_;

 private:
  AtomMap map_;
};

inline const Var* AsVar(const Atom& a) {
  const auto* v = std::get_if<const Var*>(&a);
  return v == nullptr ? nullptr : *v;
}

// For each dimension symbol, the variable that gives its value at run time: the one whose element
// it is, or the first in scope that has it as a dim. `Add` is called on variables in the order of
// their binding.
class SymbolOwners {
 public:
  explicit SymbolOwners(const Module& m) : module_(m) {}
  void Add(const Var* var);
  void AddFunction(
      const Function& f);  // its params and everything bound in its body, nested functions included
  const Var* Find(uint32_t symbol_id) const;

 private:
  const Module& module_;
  std::unordered_map<uint32_t, const Var*> owners_;
};

// Calls fn on every symbol that running `binding` needs: those of its type, of its operator's
// operands and of the dims in its expression.
void ForEachSymbol(const Binding& binding, const std::function<void(uint32_t symbol_id)>& fn);

}  // namespace relayvm::ir
