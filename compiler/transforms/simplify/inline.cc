#include "compiler/transforms/simplify/inline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/copy.h"
#include "compiler/ir/rest.h"
#include "compiler/ir/rewrite.h"
#include "compiler/typing/call_graph.h"
#include "compiler/typing/statements.h"

namespace relayvm::ir {
namespace {

// The module may grow to so many bindings, or to this multiple of its size, by inlining.
constexpr size_t kFreeGrowth = 4000;
constexpr size_t kGrowthFactor = 4;

// How often a variable that is bound to a function literal is used.
struct LiteralUse {
  size_t calls = 0;
  size_t others = 0;
  bool inside = false;  // its own literal is being walked
  bool recursive = false;
};

// What is called and mentioned where.
struct Usage {
  std::unordered_map<std::string, size_t> calls;
  std::unordered_set<std::string> values;             // globals used other than by calling
  std::unordered_map<uint32_t, LiteralUse> literals;  // by Var::id
};

void CollectLiterals(const Block& block, Usage& usage) {
  auto find = [&](const Atom& a) -> LiteralUse* {
    const Var* v = AsVar(a);
    auto at = v == nullptr ? usage.literals.end() : usage.literals.find(v->id);
    if (at == usage.literals.end()) return nullptr;
    at->second.recursive = at->second.recursive || at->second.inside;
    return &at->second;
  };
  auto mention = [&](const Atom& a) {
    if (LiteralUse* use = find(a)) ++use->others;
  };
  for (const Binding& b : block.bindings) {
    if (const auto* call = b.value->As<CallExpr>()) {
      if (LiteralUse* use = find(call->callee)) ++use->calls;
      for (const Atom& a : call->args) mention(a);
    } else {
      ForEachAtom(*b.value, mention);
    }
    bool is_literal = b.value->As<FunctionExpr>() != nullptr;
    if (is_literal) usage.literals[b.var->id].inside = true;
    ForEachBlock(*b.value, [&](const Block& inner) { CollectLiterals(inner, usage); });
    if (is_literal) usage.literals[b.var->id].inside = false;
  }
  mention(block.result);
}

void Collect(const Module& m, Usage& usage) {
  for (const auto& [name, f] : m.functions) {
    ForEachGlobal(*f->body, [&](const GlobalVar& g, const CallExpr* call) {
      if (call != nullptr) {
        ++usage.calls[g.name];
      } else {
        usage.values.insert(g.name);
      }
    });
    CollectLiterals(*f->body, usage);
  }
}

class Inliner {
 public:
  Inliner(const Module& m, size_t most_bindings) : m_(m), most_bindings_(most_bindings) {}

  Module Run() {
    Collect(m_, usage_);
    size_t total = 0;
    for (const auto& [name, f] : m_.functions) total += CountBindings(*f->body);
    budget_ = std::max(kFreeGrowth, total * kGrowthFactor);
    // Callees first: what is inlined has its own calls inlined already.
    for (const typing::Component& component : typing::ComponentsCalleesFirst(m_)) {
      for (const std::string* name : component.functions) {
        RewriteFunction(*name, component.recursive);
      }
    }
    return std::move(m_);
  }

 private:
  void RewriteFunction(const std::string& name, bool recursive) {
    const Function*& f = m_.functions.at(name);
    const Block* body = Rewrite(*f->body);
    if (body != f->body) f = WithBody(m_, *f, body);
    bool once = usage_.calls[name] == 1 && !usage_.values.contains(name);
    // A function of the host stays as it is declared.
    if (!recursive && name != m_.entry && !IsHostFunction(*f) &&
        (once || CountBindings(*f->body) <= most_bindings_)) {
      candidates_[name] = f;
    }
  }

  const Block* Rewrite(const Block& block) {
    Block out;
    out.result = block.result;
    bool changed = false;
    for (const Binding& b : block.bindings) {
      if (const auto* literal = b.value->As<FunctionExpr>()) NoteLiteral(b, *literal);
      const Expr* e = MapBlocks(m_, b.value, [&](const Block& inner) { return Rewrite(inner); });
      const Function* callee = Callee(*e);
      if (callee != nullptr && CanExpand(*e->As<CallExpr>(), *callee)) {
        changed = true;
        Expand(b.var, *e, *callee, out.bindings);
        continue;
      }
      changed = changed || e != b.value;
      if (const auto* literal = e->As<FunctionExpr>();
          literal != nullptr && literals_.contains(b.var->id)) {
        literals_[b.var->id] = literal->function;
      }
      out.bindings.push_back({b.var, e});
    }
    return changed ? m_.arena->New<Block>(std::move(out)) : &block;
  }

  // Literals that are only called, not by themselves, and small or called once.
  void NoteLiteral(const Binding& b, const FunctionExpr& literal) {
    const LiteralUse& use = usage_.literals.at(b.var->id);
    if (use.recursive || use.others > 0) return;
    if (use.calls == 1 || CountBindings(*literal.function->body) <= most_bindings_) {
      literals_[b.var->id] = literal.function;
    }
  }

  const Function* Callee(const Expr& e) const {
    const auto* call = e.As<CallExpr>();
    if (call == nullptr) return nullptr;
    if (const auto* g = std::get_if<const GlobalVar*>(&call->callee)) {
      auto at = candidates_.find((*g)->name);
      return at == candidates_.end() ? nullptr : at->second;
    }
    const Var* v = AsVar(call->callee);
    auto at = v == nullptr ? literals_.end() : literals_.find(v->id);
    return at == literals_.end() ? nullptr : at->second;
  }

  static bool CanExpand(const CallExpr& call, const Function& callee) {
    return call.args.size() == callee.params.size() &&
           call.type_args.size() == callee.type_params.size();
  }

  void Expand(const Var* result, const Expr& e, const Function& callee, std::vector<Binding>& out) {
    size_t size = CountBindings(*callee.body);
    if (size > budget_) {
      out.push_back({result, m_.arena->New<Expr>(e)});
      return;
    }
    budget_ -= size;
    const auto& call = *e.As<CallExpr>();
    std::map<uint32_t, Type> type_args;
    for (size_t i = 0; i < call.type_args.size(); ++i) {
      type_args[callee.type_params[i]->As<TypeVar>()->id] = call.type_args[i];
    }
    AtomMap map;
    std::vector<Atom> args = StateParams(callee, call, type_args, e.span, out);
    for (size_t i = 0; i < args.size(); ++i) map[callee.params[i]->id] = args[i];
    const Block* body = CopyBlock(m_, *callee.body, map, type_args, m_.symbols);
    out.insert(out.end(), body->bindings.begin(), body->bindings.end());
    out.push_back({result, MakeExpr(m_, AtomExpr{body->result}, e.span)});
  }

  // The arguments with what the parameters' types say of them. Where parameters share a symbol, the
  // statement is one over all.
  std::vector<Atom> StateParams(const Function& callee, const CallExpr& call,
                                const std::map<uint32_t, Type>& type_args, Span span,
                                std::vector<Binding>& out) {
    auto bind = [&](std::string name, Span at, auto node) {
      const Var* v = MakeVar(m_, std::move(name), nullptr, at);
      out.push_back({v, MakeExpr(m_, std::move(node), span)});
      return v;
    };
    std::vector<Atom> args = call.args;
    const Var* literal = AsVar(call.callee);
    std::string of = literal == nullptr      ? "@" + std::get<const GlobalVar*>(call.callee)->name
                     : literal->name.empty() ? "a closure"
                                             : "%" + literal->name;
    if (SharesSymbols(callee)) {
      TupleType all;
      for (const Var* p : callee.params) {
        all.fields.push_back(SubstituteTypeVars(p->type, type_args));
      }
      const Var* tuple = bind("", span, MakeTuple{args});
      const Var* stated =
          bind("", span, Stated{tuple, MakeType(std::move(all)), "arguments of " + of});
      for (uint32_t i = 0; i < args.size(); ++i) {
        const Var* p = callee.params[i];
        args[i] = bind(p->name, p->span, TupleGet{stated, i});
      }
      return args;
    }
    for (size_t i = 0; i < args.size(); ++i) {
      const Var* p = callee.params[i];
      std::string what = p->name.empty() ? fmt::format("argument {} of {}", i, of)
                                         : fmt::format("argument %{} of {}", p->name, of);
      Type type = SubstituteTypeVars(p->type, type_args);
      args[i] = typing::StatesDims(type)
                    ? bind(p->name, p->span, Stated{args[i], std::move(type), std::move(what)})
                    : bind(p->name, p->span, AtomExpr{args[i]});
    }
    return args;
  }

  static bool SharesSymbols(const Function& callee) {
    std::set<uint32_t> seen;
    bool shared = false;
    for (const Var* p : callee.params) {
      ForEachDim(p->type, [&](const Dim& d) {
        if (!d.is_symbol()) return;
        shared = shared || !seen.insert(d.symbol_id()).second;
      });
    }
    return shared;
  }

  Module m_;
  size_t most_bindings_;
  Usage usage_;
  size_t budget_ = 0;
  std::unordered_map<std::string, const Function*> candidates_;
  std::unordered_map<uint32_t, const Function*> literals_;
};

}  // namespace

Module Inline(const Module& m, size_t most_bindings) { return Inliner(m, most_bindings).Run(); }

}  // namespace relayvm::ir
