// Which tensors of a module are one tensor under several names: what a loop carries, a tuple holds,
// a branch or a call gives on. For passes that change how a tensor is kept, everywhere at once.
//
// A value is as many leaves as its type has parts that are no tuples, in order. Leaves are joined
// where one is handed on as it is: aliases, tuples and their fields, statements, results of
// branches and clauses, arguments and results of functions that are only ever called by name.
// Operators, references, constructors, closures and the entry function's own parameters and result
// join nothing: those are borders. Tested by append_outermost_test.cc.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

// The leaves of a value, in a row.
struct Leaves {
  uint32_t first = 0;
  uint32_t count = 0;
};

// The number of leaves of a type. A large tuple (TypeNode::is_large) is one leaf.
uint32_t CountLeaves(const Type& t);
// The leaves of field `index` of a tuple that has `leaves`. REQUIRES: more than that one.
Leaves FieldLeaves(const Type& tuple, const Leaves& leaves, uint32_t index);

class ValueFlow {
 public:
  explicit ValueFlow(const Module& m);

  Leaves Of(const Var* var);
  // Of the results of a function that is only called by name; nothing for others.
  std::optional<Leaves> ResultOf(const Function* f) const;
  // The function that a callee always is, if it is only called by name.
  const Function* Callee(const Atom& callee) const;

  // The representative of a leaf: that of two leaves is the same where they are one tensor.
  uint32_t Find(uint32_t leaf) const;
  // Whether a leaf may be kept in another way: every use is a binding, a parameter or a result.
  bool IsFree(uint32_t leaf) const { return !fixed_[Find(leaf)]; }

 private:
  uint32_t NewLeaves(uint32_t count);
  void Fix(const Leaves& leaves);
  void Join(uint32_t a, uint32_t b);
  void Join(const Leaves& a, const Leaves& b);
  void Join(const Leaves& to, const Atom& from);
  void FindCallees();
  void Visit(const Function& f);
  void Visit(const Block& block, const std::optional<Leaves>& result);
  void Visit(const Binding& binding);
  void Visit(const Pattern& pattern, const Type& type, const std::optional<Leaves>& data);

  const Module& m_;
  mutable std::vector<uint32_t> parent_;
  std::vector<bool> fixed_;                                   // of representatives
  std::unordered_map<uint32_t, Leaves> leaves_;               // by Var::id
  std::unordered_map<std::string, const Function*> globals_;  // only called
  std::unordered_map<uint32_t, const Function*> literals_;    // by the variable that is called
  std::unordered_map<const Function*, Leaves> results_;
};

}  // namespace relayvm::ir
