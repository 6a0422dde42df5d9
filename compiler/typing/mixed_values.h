// What one round of SpecialiseRanks has found: values that have several ranks. Private to that
// pass.
#pragma once

#include <functional>

#include "compiler/ir/walk.h"
#include "compiler/typing/infer.h"

namespace relayvm::ir {

struct MixedValues {
  MixedRanks ranks;

  bool Has(const Var* v) const { return ranks.vars.contains(v); }

  // Null where it is not known.
  Type TypeOf(const Atom& a) const {
    if (const auto* c = std::get_if<const Constant*>(&a)) return ConstantType(**c);
    const Var* v = AsVar(a);
    if (v == nullptr) return nullptr;
    auto at = ranks.types.find(v);
    return at == ranks.types.end() ? nullptr : at->second;
  }

  // The binding that gives the block's result a mixed value, or null.
  const Binding* Tail(const Block& block) const {
    if (block.bindings.empty()) return nullptr;
    const Binding& last = block.bindings.back();
    return AsVar(block.result) == last.var && Has(last.var) ? &last : nullptr;
  }

  // Calls fn with each block that gives one of the values that the block's branches give.
  void ForEachLeaf(const Block& block, const std::function<void(const Block&)>& fn) const {
    if (const Binding* tail = Tail(block)) {
      ForEachBlock(*tail->value, [&](const Block& branch) { ForEachLeaf(branch, fn); });
    } else {
      fn(block);
    }
  }
};

}  // namespace relayvm::ir
