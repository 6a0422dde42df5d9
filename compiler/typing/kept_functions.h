// What a retyping leaves as it is: the functions that no pass has changed since the last one, as
// long as the types of what they call stay the same. Types of other code may still mention symbols
// that belong to such a function; they are not taken over. Thread-compatible. Tested by
// kept_functions_test.cc.
#pragma once

#include <string>
#include <unordered_set>

#include "compiler/ir/ir.h"

namespace relayvm::typing {

class KeptFunctions {
 public:
  // Keeps nothing.
  KeptFunctions() = default;
  // Keeps what is the same in `module` as its last type inference left it.
  explicit KeptFunctions(const ir::Module& module);

  // Whether no pass has changed anything.
  static bool AreAllOf(const ir::Module& module);

  bool any() const { return !kept_.empty(); }
  bool Contains(const ir::Function* f) const { return kept_.contains(f); }
  // The function of this name as it was, null when there was none.
  static const ir::Function* Before(const ir::Module& module, const std::string& name);
  // `f` is typed again after all.
  void Release(const ir::Function* f);
  // Whether a symbol of the last run may stand for something in this one.
  bool IsFree(uint32_t symbol) const { return !any() || free_symbols_.contains(symbol); }
  // The variables of functions that are typed again, as they were and as they are, by id.
  bool IsReleased(uint32_t var_id) const { return released_vars_.contains(var_id); }

 private:
  void Walk(const ir::Function& f);
  void Add(const ir::Var* var);

  std::unordered_set<const ir::Function*> kept_;
  std::unordered_set<uint32_t> free_symbols_;
  std::unordered_set<uint32_t> released_vars_;
};

}  // namespace relayvm::typing
