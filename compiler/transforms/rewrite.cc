#include "compiler/transforms/rewrite.h"

namespace relayvm::ir {
namespace {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

bool SameBlock(const Block* a, const Block& b) { return a == &b; }

}  // namespace

const Expr* MapAtoms(const Module& m, const Expr* e, const std::function<Atom(const Atom&)>& fn) {
  bool changed = false;
  auto map = [&](Atom& a) {
    Atom b = fn(a);
    changed = changed || !(b == a);
    a = b;
  };
  auto map_all = [&](std::vector<Atom>& atoms) {
    for (Atom& a : atoms) map(a);
  };
  ExprVariant node = e->node;
  std::visit(Overloaded{
                 [&](AtomExpr& x) { map(x.atom); },
                 [&](OpCall& x) { map_all(x.args); },
                 [&](CallExpr& x) {
                   map(x.callee);
                   map_all(x.args);
                 },
                 [&](PrimitiveCall& x) { map_all(x.args); },
                 [&](ShapeValue&) {},
                 [&](MakeTuple& x) { map_all(x.fields); },
                 [&](TupleGet& x) { map(x.tuple); },
                 [&](FunctionExpr&) {},
                 [&](MakeClosure& x) { map_all(x.captured); },
                 [&](IfExpr& x) { map(x.condition); },
                 [&](MatchExpr& x) { map(x.data); },
                 [&](RefCreate& x) { map(x.value); },
                 [&](RefRead& x) { map(x.ref); },
                 [&](RefWrite& x) {
                   map(x.ref);
                   map(x.value);
                 },
                 [&](Guard&) {},
             },
             node);
  return changed ? m.arena->New<Expr>(Expr{std::move(node), e->span}) : e;
}

const Expr* MapBlocks(const Module& m, const Expr* e,
                      const std::function<const Block*(const Block&)>& fn) {
  if (const auto* x = e->As<IfExpr>()) {
    const Block* t = fn(*x->then_block);
    const Block* f = fn(*x->else_block);
    if (SameBlock(t, *x->then_block) && SameBlock(f, *x->else_block)) return e;
    return MakeExpr(m, IfExpr{x->condition, t, f}, e->span);
  }
  if (const auto* x = e->As<MatchExpr>()) {
    MatchExpr copy = *x;
    bool changed = false;
    for (MatchClause& c : copy.clauses) {
      const Block* b = fn(*c.body);
      changed = changed || b != c.body;
      c.body = b;
    }
    return changed ? MakeExpr(m, std::move(copy), e->span) : e;
  }
  if (const auto* x = e->As<FunctionExpr>()) {
    const Block* b = fn(*x->function->body);
    if (b == x->function->body) return e;
    return MakeExpr(m, FunctionExpr{WithBody(m, *x->function, b)}, e->span);
  }
  return e;
}

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

const Function* WithBody(const Module& m, const Function& f, const Block* body) {
  Function copy = f;
  copy.body = body;
  return m.arena->New<Function>(std::move(copy));
}

Module RewriteModule(const Module& m, const BindingFn& fn) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    const Block* body = RewriteBlock(m, *f->body, fn);
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

void SymbolOwners::Add(const Var* var) {
  const Type& type = var->type;
  if (type == nullptr) return;
  if (const auto* tensor = type->As<TensorType>()) {
    for (const Dim& d : tensor->shape) {
      if (d.is_symbol()) owners_.try_emplace(d.symbol_id(), var);
    }
    return;
  }
  // A tuple gives its fields' dims through the variables that its projections are bound to; failing
  // those, through itself.
  if (const auto* tuple = type->As<TupleType>()) {
    for (const Type& f : tuple->fields) {
      ForEachDim(f, [&](const Dim& d) {
        if (d.is_symbol()) owners_.try_emplace(d.symbol_id(), var);
      });
    }
  }
}

void SymbolOwners::AddFunction(const Function& f) {
  for (const Var* p : f.params) Add(p);
  std::function<void(const Block&)> walk = [&](const Block& block) {
    for (const Binding& b : block.bindings) {
      if (const auto* fn = b.value->As<FunctionExpr>()) {
        for (const Var* p : fn->function->params) Add(p);
      }
      if (const auto* match = b.value->As<MatchExpr>()) {
        std::function<void(const Pattern&)> pattern = [&](const Pattern& p) {
          if (p.kind == Pattern::Kind::kVar) Add(p.var);
          for (const Pattern& field : p.fields) pattern(field);
        };
        for (const MatchClause& c : match->clauses) pattern(c.pattern);
      }
      ForEachBlock(*b.value, walk);
      Add(b.var);
    }
  };
  walk(*f.body);
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

Atom Substitution::Image(const Atom& a) const {
  const Var* v = AsVar(a);
  auto at = v == nullptr ? map_.end() : map_.find(v->id);
  return at == map_.end() ? a : at->second;
}

const Var* SymbolOwners::Find(uint32_t symbol_id) const {
  auto element = module_.symbols.find(symbol_id);
  if (element != module_.symbols.end()) return element->second.var;
  auto at = owners_.find(symbol_id);
  return at == owners_.end() ? nullptr : at->second;
}

void ForEachSymbol(const Binding& binding, const std::function<void(uint32_t)>& fn) {
  auto dim = [&](const Dim& d) { d.ForEachSymbol([&](const Dim& s) { fn(s.symbol_id()); }); };
  // Only tensors (and tuples of them) are allocated by their type; dims inside other types are not
  // needed to run.
  std::function<void(const Type&)> type = [&](const Type& t) {
    if (t == nullptr) return;
    if (const auto* tensor = t->As<TensorType>()) {
      for (const Dim& d : tensor->shape) dim(d);
    } else if (const auto* tuple = t->As<TupleType>()) {
      for (const Type& f : tuple->fields) type(f);
    }
  };
  const Expr& e = *binding.value;
  // A kernel's extents are those of its operands too.
  auto operands = [&](const std::vector<Atom>& args) {
    for (const Atom& a : args) {
      if (const Var* v = AsVar(a)) type(v->type);
    }
  };
  if (const auto* x = e.As<OpCall>()) {
    type(binding.var->type);
    operands(x->args);
  }
  if (const auto* x = e.As<PrimitiveCall>()) {
    type(binding.var->type);
    operands(x->args);
    for (const Binding& b : x->function->body->bindings) type(b.var->type);
  }
  if (const auto* x = e.As<ShapeValue>()) {
    for (const Dim& d : x->elements) dim(d);
  }
  if (const auto* x = e.As<Guard>()) {
    dim(x->left);
    dim(x->right);
  }
}

}  // namespace relayvm::ir
