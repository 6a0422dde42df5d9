#include "compiler/ir/rewrite.h"

namespace relayvm::ir {

const Block* RewriteBlock(const Module& m, const Block& block, const BindingFn& fn) {
  Block out;
  out.bindings.reserve(block.bindings.size());
  out.result = block.result;
  bool changed = false;
  for (const Binding& b : block.bindings) {
    const Expr* e =
        MapBlocks(m, b.value, [&](const Block& inner) { return RewriteBlock(m, inner, fn); });
    size_t before = out.bindings.size();
    fn({b.var, e}, out.bindings);
    bool same = out.bindings.size() == before + 1 && out.bindings.back().var == b.var &&
                out.bindings.back().value == b.value;
    changed = changed || !same;
  }
  return changed ? m.arena->New<Block>(std::move(out)) : &block;
}

Module RewriteModule(const Module& m, const BindingFn& fn) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    const Block* body = RewriteBlock(m, *f->body, fn);
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

const Block* Substitution::Run(const Block& block) {
  Block out;
  out.bindings.reserve(block.bindings.size());
  bool changed = false;
  EnterBlock();
  for (const Binding& b : block.bindings) {
    const Expr* e = MapAtoms(m_, b.value, [&](const Atom& a) { return Image(a); });
    e = MapBlocks(m_, e, [&](const Block& inner) { return Run(inner); });
    if (Consume(b.var, *e, out)) {
      changed = true;
      // What a symbol stands for stays a variable.
      Atom image = Image(Atom(b.var));
      if (AsVar(image) == nullptr && symbol_values_.contains(b.var->id)) {
        out.bindings.push_back({b.var, MakeExpr(m_, AtomExpr{image}, e->span)});
      }
      continue;
    }
    changed = changed || e != b.value;
    out.bindings.push_back({b.var, e});
  }
  out.result = Image(block.result);
  changed = changed || !(out.result == block.result);
  LeaveBlock();
  return changed ? m_.arena->New<Block>(std::move(out)) : &block;
}

Substitution::Substitution(const Module& m) : m_(m) {
  for (const auto& [id, symbol] : m.symbols) symbol_values_.insert(symbol.value->id);
}

Module Substitution::Run() {
  Module out = m_;
  for (auto& [name, f] : out.functions) {
    const Block* body = Run(*f->body);
    if (body != f->body) f = WithBody(m_, *f, body);
  }
  auto image = [&](const Var* v) {
    const Var* to = AsVar(Image(Atom(v)));
    return to == nullptr ? v : to;
  };
  for (auto& [id, symbol] : out.symbols) symbol = {image(symbol.value), image(symbol.source)};
  return out;
}

}  // namespace relayvm::ir
