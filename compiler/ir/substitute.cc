#include "compiler/ir/substitute.h"

#include "compiler/ir/walk.h"

namespace relayvm::ir {

Atom Image(const AtomMap& by, const Atom& a) {
  const Var* v = AsVar(a);
  auto at = v == nullptr ? by.end() : by.find(v->id);
  return at == by.end() ? a : at->second;
}

const Expr* Substitute(const Module& m, const Expr& e, const AtomMap& by) {
  const Expr* replaced = MapAtoms(m, &e, [&](const Atom& a) { return Image(by, a); });
  return MapBlocks(m, replaced, [&](const Block& inner) { return Substitute(m, inner, by); });
}

const Block* Substitute(const Module& m, const Block& b, const AtomMap& by) {
  Block out{{}, Image(by, b.result)};
  bool changed = !(out.result == b.result);
  out.bindings.reserve(b.bindings.size());
  for (const Binding& binding : b.bindings) {
    const Expr* value = Substitute(m, *binding.value, by);
    changed = changed || value != binding.value;
    out.bindings.push_back({binding.var, value});
  }
  return changed ? m.arena->New(std::move(out)) : &b;
}

}  // namespace relayvm::ir
