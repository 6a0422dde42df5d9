#include "compiler/ir/walk.h"

#include "compiler/ir/region.h"
#include "compiler/ir/stop_scope.h"

namespace relayvm::ir {
namespace {

// Only tensors (and tuples of them) are allocated by their type; dims inside other types are not
// needed to run.
void ForEachSizeSymbol(const Type& t, const std::function<void(const Dim&)>& fn) {
  if (t == nullptr) return;
  if (const auto* tensor = t->As<TensorType>()) {
    for (const Dim& d : tensor->shape) d.ForEachSymbol(fn);
  } else if (const auto* tuple = t->As<TupleType>()) {
    for (const Type& f : tuple->fields) ForEachSizeSymbol(f, fn);
  }
}

}  // namespace

void ForEachAtom(const Expr& e, const std::function<void(const Atom&)>& fn) {
  std::visit(
      [&](const auto& node) {
        VisitParts(node, Overloaded{[&](const Atom& a) { fn(a); }, kIgnoreRest});
      },
      e.node);
}

void ForEachBlock(const Expr& e, const std::function<void(const Block&)>& fn) {
  if (const auto* literal = e.As<FunctionExpr>()) {
    fn(*literal->function->body);
    return;
  }
  std::visit(
      [&](const auto& node) {
        VisitParts(node, Overloaded{[&](const Block* const& b) { fn(*b); }, kIgnoreRest});
      },
      e.node);
}

void ForEachBinding(const Block& block, const std::function<void(const Binding&)>& fn) {
  PollStop();
  for (const Binding& b : block.bindings) {
    fn(b);
    ForEachBlock(*b.value, [&](const Block& inner) { ForEachBinding(inner, fn); });
  }
}

void ForEachGlobal(const Block& block,
                   const std::function<void(const GlobalVar&, const CallExpr* call)>& fn) {
  PollStop();
  auto mention = [&](const Atom& a) {
    if (const auto* g = std::get_if<const GlobalVar*>(&a)) fn(**g, nullptr);
  };
  for (const Binding& b : block.bindings) {
    if (const auto* call = b.value->As<CallExpr>()) {
      if (const auto* g = std::get_if<const GlobalVar*>(&call->callee)) fn(**g, call);
      for (const Atom& a : call->args) mention(a);
    } else {
      ForEachAtom(*b.value, mention);
    }
    if (const auto* closure = b.value->As<MakeClosure>()) fn(*closure->function, nullptr);
    ForEachBlock(*b.value, [&](const Block& inner) { ForEachGlobal(inner, fn); });
  }
  mention(block.result);
}

void ForEachVar(const Pattern& pattern, const std::function<void(const Var*)>& fn) {
  if (pattern.kind == Pattern::Kind::kVar) fn(pattern.var);
  for (const Pattern& f : pattern.fields) ForEachVar(f, fn);
}

void ForEachSymbol(const Binding& binding, const std::function<void(const Dim&)>& fn) {
  // A kernel's extents are those of its result, its operands and what it computes on the way.
  auto operands = [&](const std::vector<Atom>& args) {
    ForEachSizeSymbol(binding.var->type, fn);
    for (const Atom& a : args) {
      if (const Var* v = AsVar(a)) ForEachSizeSymbol(v->type, fn);
    }
  };
  const Expr& e = *binding.value;
  if (const auto* x = e.As<OpCall>()) operands(x->args);
  if (const auto* x = e.As<PrimitiveCall>()) {
    operands(x->args);
    if (IsRegion(*x->function)) return;  // its symbols are its own
    for (const Binding& b : x->function->body->bindings) {
      ForEachSizeSymbol(b.var->type, fn);
      if (const auto* shape = b.value->As<ShapeValue>()) {
        for (const Dim& d : shape->elements) d.ForEachSymbol(fn);
      }
    }
  }
  std::visit(
      [&](const auto& node) {
        VisitParts(node, Overloaded{[&](const Dim& d) { d.ForEachSymbol(fn); }, kIgnoreRest});
      },
      e.node);
}

void ForEachUse(const Module& m, const Binding& binding,
                const std::function<void(const Var*)>& fn) {
  PollStop();
  ForEachAtom(*binding.value, [&](const Atom& a) {
    if (const Var* v = AsVar(a)) fn(v);
  });
  ForEachSymbol(binding, [&](const Dim& symbol) {
    auto at = m.symbols.find(symbol.symbol_id());
    if (at != m.symbols.end() && at->second.source->id != binding.var->id) fn(at->second.value);
  });
}

void ForEachUseInside(const Module& m, const Block& block,
                      const std::function<void(const Var*)>& fn) {
  for (const Binding& b : block.bindings) {
    ForEachUse(m, b, fn);
    ForEachBlock(*b.value, [&](const Block& inner) { ForEachUseInside(m, inner, fn); });
  }
  if (const Var* v = AsVar(block.result)) fn(v);
}

const Expr* MapAtoms(const Module& m, const Expr* e, const std::function<Atom(const Atom&)>& fn) {
  PollStop();
  bool changed = false;
  ForEachAtom(*e, [&](const Atom& a) { changed = changed || !(fn(a) == a); });
  if (!changed) return e;
  ExprVariant node = e->node;
  std::visit(
      [&](auto& n) {
        VisitParts(n, Overloaded{[&](Atom& a) { a = fn(a); }, kIgnoreRest});
      },
      node);
  return m.arena->New<Expr>(Expr{std::move(node), e->span});
}

const Expr* MapBlocks(const Module& m, const Expr* e,
                      const std::function<const Block*(const Block&)>& fn) {
  PollStop();
  if (const auto* x = e->As<FunctionExpr>()) {
    const Block* b = fn(*x->function->body);
    if (b == x->function->body) return e;
    return MakeExpr(m, FunctionExpr{WithBody(m, *x->function, b)}, e->span);
  }
  if (e->As<IfExpr>() == nullptr && e->As<MatchExpr>() == nullptr) return e;
  bool changed = false;
  ExprVariant node = e->node;
  std::visit(
      [&](auto& n) {
        VisitParts(n, Overloaded{[&](const Block*& b) {
                                   const Block* to = fn(*b);
                                   changed = changed || to != b;
                                   b = to;
                                 },
                                 kIgnoreRest});
      },
      node);
  return changed ? m.arena->New<Expr>(Expr{std::move(node), e->span}) : e;
}

const Function* WithBody(const Module& m, const Function& f, const Block* body) {
  Function copy = f;
  copy.body = body;
  return m.arena->New<Function>(std::move(copy));
}

}  // namespace relayvm::ir
