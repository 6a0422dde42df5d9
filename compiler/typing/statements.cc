#include "compiler/typing/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/typing/solver.h"

namespace relayvm::typing {
namespace {

using ir::Type;

bool AnyStated(const Type& t, std::set<uint32_t>& symbols, ir::TypeMemo<bool>& known) {
  if (const bool* before = known.Find(t)) return *before;
  if (auto* tensor = t->As<TensorType>()) {
    return std::any_of(tensor->shape.begin(), tensor->shape.end(), [&](const Dim& d) {
      return d.is_const() || (d.is_symbol() && !symbols.insert(d.symbol_id()).second);
    });
  }
  auto* tuple = t->As<ir::TupleType>();
  bool states = tuple != nullptr &&
                std::any_of(tuple->fields.begin(), tuple->fields.end(),
                            [&](const Type& field) { return AnyStated(field, symbols, known); });
  known.Add(t, states);
  return states;
}

class Stater {
 public:
  explicit Stater(const ir::Module& m) : m_(m) {}

  const ir::Function* State(const ir::Function& f, const std::string& name) {
    if (f.body == nullptr) return &f;
    const ir::Block* body = State(*f.body);
    if (ir::IsHostFunction(f)) {
      body = StateHostResult(f, *body, "result of " + name);
    } else if (StatesDims(f.result_type)) {
      body = StateResult(*body, f.result_type, "result of " + name, f.span);
    }
    if (body == f.body) return &f;
    ir::Function out = f;
    out.body = body;
    return m_.arena->New<ir::Function>(std::move(out));
  }

 private:
  const ir::Block* State(const ir::Block& block) {
    ir::Block out{{}, block.result};
    out.bindings.reserve(block.bindings.size());
    bool changed = false;
    for (const ir::Binding& b : block.bindings) {
      const ir::Expr* value = State(b);
      changed = changed || value != b.value;
      // A function may mention the variable that it is bound to; a shape is made by its type.
      bool plain = value->As<ir::FunctionExpr>() == nullptr &&
                   value->As<ir::ShapeValue>() == nullptr &&
                   value->As<ir::ShapeByRule>() == nullptr && value->As<ir::Stated>() == nullptr;
      if (!plain || !StatesDims(b.var->type)) {
        out.bindings.push_back({b.var, value});
        continue;
      }
      changed = true;
      const ir::Var* made = ir::MakeVar(m_, b.var->name, nullptr, b.var->span);
      out.bindings.push_back({made, value});
      std::string what = b.var->name.empty() ? "a value" : "%" + b.var->name;
      out.bindings.push_back(Statement(b.var, made, std::move(what), value->span));
    }
    return changed ? m_.arena->New<ir::Block>(std::move(out)) : &block;
  }

  ir::Binding Statement(const ir::Var* var, ir::Atom value, std::string what, ir::Span span) {
    return {var, ir::MakeExpr(m_, ir::Stated{value, var->type, std::move(what)}, span)};
  }

  const ir::Expr* State(const ir::Binding& b) {
    const ir::Expr& e = *b.value;
    if (auto* f = e.As<ir::FunctionExpr>()) {
      const ir::Function* out =
          State(*f->function, b.var->name.empty() ? "a closure" : "%" + b.var->name);
      return out == f->function ? &e : ir::MakeExpr(m_, ir::FunctionExpr{out}, e.span);
    }
    if (auto* branch = e.As<ir::IfExpr>()) {
      ir::IfExpr out{branch->condition, State(*branch->then_block), State(*branch->else_block)};
      bool same = out.then_block == branch->then_block && out.else_block == branch->else_block;
      return same ? &e : ir::MakeExpr(m_, out, e.span);
    }
    if (auto* match = e.As<ir::MatchExpr>()) {
      ir::MatchExpr out = *match;
      bool changed = false;
      for (ir::MatchClause& clause : out.clauses) {
        const ir::Block* before = clause.body;
        clause.body = State(*clause.body);
        std::vector<ir::Binding> stated;
        clause.pattern = State(clause.pattern, stated);
        if (!stated.empty()) {
          ir::Block body{std::move(stated), clause.body->result};
          body.bindings.insert(body.bindings.end(), clause.body->bindings.begin(),
                               clause.body->bindings.end());
          clause.body = m_.arena->New<ir::Block>(std::move(body));
        }
        changed = changed || clause.body != before;
      }
      return changed ? ir::MakeExpr(m_, std::move(out), e.span) : &e;
    }
    return &e;
  }

  ir::Pattern State(const ir::Pattern& p, std::vector<ir::Binding>& stated) {
    ir::Pattern out = p;
    if (p.kind == ir::Pattern::Kind::kVar && StatesDims(p.var->type)) {
      out.var = ir::MakeVar(m_, p.var->name, nullptr, p.var->span);
      stated.push_back(Statement(p.var, out.var, "%" + p.var->name, p.span));
    }
    for (ir::Pattern& field : out.fields) field = State(field, stated);
    return out;
  }

  // Stated where the result is made, so that a call in tail position stays there when its own type
  // says as much.
  const ir::Block* StateResult(const ir::Block& block, const Type& type, const std::string& what,
                               ir::Span span) {
    ir::Block out = block;
    auto* var = std::get_if<const ir::Var*>(&block.result);
    if (!out.bindings.empty() && var != nullptr && out.bindings.back().var == *var) {
      ir::Binding& last = out.bindings.back();
      span = last.value->span;
      if (auto* branch = last.value->As<ir::IfExpr>()) {
        ir::IfExpr inner{branch->condition, StateResult(*branch->then_block, type, what, span),
                         StateResult(*branch->else_block, type, what, span)};
        last.value = ir::MakeExpr(m_, inner, span);
        return m_.arena->New<ir::Block>(std::move(out));
      }
      if (auto* match = last.value->As<ir::MatchExpr>()) {
        ir::MatchExpr inner = *match;
        for (ir::MatchClause& clause : inner.clauses) {
          clause.body = StateResult(*clause.body, type, what, span);
        }
        last.value = ir::MakeExpr(m_, std::move(inner), span);
        return m_.arena->New<ir::Block>(std::move(out));
      }
    }
    const ir::Var* result = ir::MakeVar(m_, "", type, span);
    out.bindings.push_back(Statement(result, block.result, what, span));
    out.result = result;
    return m_.arena->New<ir::Block>(std::move(out));
  }

  // What comes back from the host has the numbers that its type says: the runtime has checked them.
  // A size that it shares with parameters is stated of all of them.
  const ir::Block* StateHostResult(const ir::Function& f, const ir::Block& block,
                                   const std::string& what) {
    std::set<uint32_t> symbols;
    bool shares = false;
    ir::TupleType types;
    ir::MakeTuple values;
    for (const ir::Var* p : f.params) {
      ir::ForEachDim(p->type, [&](const Dim& d) {
        d.ForEachSymbol([&](const Dim& s) { symbols.insert(s.symbol_id()); });
      });
      types.fields.push_back(p->type);
      values.fields.emplace_back(p);
    }
    ir::ForEachDim(f.result_type, [&](const Dim& d) {
      d.ForEachSymbol([&](const Dim& s) { shares = shares || symbols.contains(s.symbol_id()); });
    });
    if (!shares) return &block;
    types.fields.push_back(f.result_type);
    values.fields.push_back(block.result);
    ir::Block out = block;
    const auto last = static_cast<uint32_t>(f.params.size());
    const ir::Var* all = ir::MakeVar(m_, "", nullptr, f.span);
    const ir::Var* stated = ir::MakeVar(m_, "", ir::MakeType(std::move(types)), f.span);
    const ir::Var* result = ir::MakeVar(m_, "", nullptr, f.span);
    out.bindings.push_back({all, ir::MakeExpr(m_, std::move(values), f.span)});
    out.bindings.push_back(Statement(stated, all, what, f.span));
    out.bindings.push_back({result, ir::MakeExpr(m_, ir::TupleGet{stated, last}, f.span)});
    out.result = result;
    return m_.arena->New<ir::Block>(std::move(out));
  }

  const ir::Module& m_;
};

}  // namespace

bool StatesDims(const Type& t) {
  std::set<uint32_t> symbols;
  ir::TypeMemo<bool> known;
  return t != nullptr && AnyStated(t, symbols, known);
}

ir::Module StateTypes(const ir::Module& module) {
  ir::Module out = module;
  for (auto& [name, function] : out.functions) {
    if (function != nullptr) function = Stater(module).State(*function, "@" + name);
  }
  return out;
}

}  // namespace relayvm::typing
