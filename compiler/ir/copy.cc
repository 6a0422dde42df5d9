#include "compiler/ir/copy.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace relayvm::ir {

namespace {

bool IsKeptGuard(const Expr& e) {
  const auto* guard = e.As<Guard>();
  return guard != nullptr && guard->is_kept;
}

class Copier {
 public:
  Copier(const Module& m, AtomMap& map, const std::map<uint32_t, Type>& type_args,
         SymbolTable& symbols)
      : m_(m), map_(map), type_args_(type_args), symbols_(symbols) {}

  const Block* Copy(const Block& block) {
    Block out;
    out.bindings.reserve(block.bindings.size());
    for (const Binding& b : block.bindings) {
      if (MadeByInference(b)) continue;
      // A function literal may mention its own variable.
      const Var* var = b.value->As<FunctionExpr>() != nullptr ? Fresh(b.var) : nullptr;
      const Expr* e = CopyExpr(b.value);
      out.bindings.push_back({var != nullptr ? var : Fresh(b.var), e});
    }
    out.result = Image(block.result);
    return m_.arena->New<Block>(std::move(out));
  }

  // Notes what the block uses, nested blocks included. Before Copy.
  void FindUses(const Block& block) {
    ForEachBinding(block, [&](const Binding& b) {
      ForEachAtom(*b.value, [&](const Atom& a) { Use(a); });
      if (b.value->As<ShapeByRule>() != nullptr || IsKeptGuard(*b.value)) {
        ForEachUse(m_, b, [&](const Var* v) { used_.insert(v->id); });
      }
      ForEachBlock(*b.value, [&](const Block& inner) { Use(inner.result); });
    });
    Use(block.result);
  }

 private:
  void Use(const Atom& a) {
    if (const Var* v = AsVar(a)) used_.insert(v->id);
  }

  // Guards, and numbers that only name a dim, speak of the original's symbols. Inference makes
  // those of the copy.
  bool MadeByInference(const Binding& b) const {
    if (b.value->As<Guard>() != nullptr) return !IsKeptGuard(*b.value);
    return b.value->As<ShapeValue>() != nullptr && !used_.contains(b.var->id);
  }

  // Symbols of the original mean nothing to the copy.
  Type Annotation(const Type& t) const {
    return MapDims(SubstituteTypeVars(t, type_args_),
                   [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
  }

  const Var* Fresh(const Var* v) {
    Type type = Annotation(v->type);
    const Var* fresh = MakeVar(m_, v->name, std::move(type), v->span);
    map_[v->id] = fresh;
    return fresh;
  }

  Atom Image(const Atom& a) const {
    const Var* v = AsVar(a);
    if (v == nullptr) return a;
    auto at = map_.find(v->id);
    return at == map_.end() ? a : at->second;
  }

  Pattern CopyPattern(const Pattern& p) {
    Pattern out = p;
    if (p.var != nullptr) out.var = Fresh(p.var);
    for (Pattern& f : out.fields) f = CopyPattern(f);
    return out;
  }

  // The copy's symbol for what the variable of an original's symbol became.
  std::optional<Dim> CopySymbol(const Dim& symbol) {
    auto original = m_.symbols.find(symbol.symbol_id());
    if (original == m_.symbols.end()) return std::nullopt;
    const Var* value = AsVar(Image(original->second.value));
    if (value == nullptr || value == original->second.value) return std::nullopt;
    auto [at, inserted] = copied_symbols_.try_emplace(symbol.symbol_id());
    if (inserted) {
      const Var* source = AsVar(Image(original->second.source));
      at->second = Dim::Symbol(m_.ids->Next(), symbol.symbol_name(), symbol.symbol_nonnegative());
      symbols_[at->second.symbol_id()] = {value, source == nullptr ? value : source};
    }
    return at->second;
  }

  const Expr* CopyExpr(const Expr* e) {
    if (e->As<ShapeValue>() != nullptr || e->As<ShapeByRule>() != nullptr || IsKeptGuard(*e)) {
      ExprVariant node = e->node;
      auto copy = [&](Dim& d) {
        d = d.Substitute([&](const Dim& symbol) { return CopySymbol(symbol); });
      };
      std::visit([&](auto& n) { VisitParts(n, Overloaded{copy, kIgnoreRest}); }, node);
      return m_.arena->New<Expr>(Expr{std::move(node), e->span});
    }
    e = MapAtoms(m_, e, [&](const Atom& a) { return Image(a); });
    if (const auto* x = e->As<Stated>()) {
      Type type = SubstituteTypeVars(x->type, type_args_);  // its symbols are its own
      return MakeExpr(m_, Stated{x->value, std::move(type), x->what}, e->span);
    }
    if (const auto* x = e->As<IfExpr>()) {
      return MakeExpr(m_, IfExpr{x->condition, Copy(*x->then_block), Copy(*x->else_block)},
                      e->span);
    }
    if (const auto* x = e->As<MatchExpr>()) {
      MatchExpr copy = *x;
      for (MatchClause& c : copy.clauses) {
        c.pattern = CopyPattern(c.pattern);
        c.body = Copy(*c.body);
      }
      return MakeExpr(m_, std::move(copy), e->span);
    }
    if (const auto* x = e->As<FunctionExpr>()) {
      Function f = *x->function;
      for (const Var*& p : f.params) p = Fresh(p);
      f.result_type = Annotation(f.result_type);
      f.body = Copy(*f.body);
      return MakeExpr(m_, FunctionExpr{m_.arena->New<Function>(std::move(f))}, e->span);
    }
    return e;
  }

  const Module& m_;
  AtomMap& map_;
  const std::map<uint32_t, Type>& type_args_;
  SymbolTable& symbols_;
  std::unordered_map<uint32_t, Dim> copied_symbols_;
  std::unordered_set<uint32_t> used_;
};

}  // namespace

const Block* CopyBlock(const Module& m, const Block& block, AtomMap& map,
                       const std::map<uint32_t, Type>& type_args, SymbolTable& symbols) {
  Copier copier(m, map, type_args, symbols);
  copier.FindUses(block);
  return copier.Copy(block);
}

}  // namespace relayvm::ir
