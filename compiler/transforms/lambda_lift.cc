#include "compiler/transforms/lambda_lift.h"

#include <fmt/core.h>

#include <unordered_map>
#include <unordered_set>

#include "compiler/transforms/rewrite.h"

namespace relayvm::ir {
namespace {

struct Lifted {
  const GlobalVar* global;
  std::vector<const Var*> captured;
};

class Lifter {
 public:
  explicit Lifter(const Module& m) : in_(m), out_(m) {}

  Module Run() {
    for (const auto& [name, f] : in_.functions) {
      SymbolOwners owners(in_);
      owners.AddFunction(*f);
      owners_ = &owners;
      parent_ = name;
      const Block* body = LiftBlock(*f->body);
      if (body != f->body) out_.functions[name] = WithBody(in_, *f, body);
    }
    return std::move(out_);
  }

 private:
  // Free variables of a function whose nested literals are lifted already, in order of first use.
  std::vector<const Var*> FreeVars(const Function& f, const Var* self) {
    std::unordered_set<uint32_t> bound;
    std::unordered_set<uint32_t> seen;
    std::vector<const Var*> free;
    std::function<void(const Pattern&)> bind_pattern = [&](const Pattern& p) {
      if (p.kind == Pattern::Kind::kVar) bound.insert(p.var->id);
      for (const Pattern& x : p.fields) bind_pattern(x);
    };
    auto use = [&](const Var* v) {
      if (v == self || bound.contains(v->id) || !seen.insert(v->id).second) return;
      free.push_back(v);
    };
    auto use_atom = [&](const Atom& a) {
      if (const Var* v = AsVar(a)) use(v);
    };
    std::function<void(const Block&)> walk = [&](const Block& block) {
      for (const Binding& b : block.bindings) {
        ForEachAtom(*b.value, use_atom);
        if (const auto* match = b.value->As<MatchExpr>()) {
          for (const MatchClause& c : match->clauses) bind_pattern(c.pattern);
        }
        ForEachBlock(*b.value, walk);
        bound.insert(b.var->id);
        ForEachSymbol(b, [&](uint32_t id) {
          if (const Var* v = owners_->Find(id)) use(v);
        });
      }
      use_atom(block.result);
    };
    for (const Var* p : f.params) bound.insert(p->id);
    walk(*f.body);
    // Symbols whose owner is bound inside (or is a parameter) were skipped by `bound`; what is left
    // is outside.
    std::erase_if(free, [&](const Var* v) { return bound.contains(v->id); });
    return free;
  }

  // Calls of literals known by variable become direct calls. Uses of `self` as a value are counted.
  const Block* LiftBlock(const Block& block) {
    Block out;
    out.result = block.result;
    bool changed = false;
    for (const Binding& b : block.bindings) {
      if (const auto* literal = b.value->As<FunctionExpr>()) {
        changed = true;
        LiftLiteral(b, *literal->function, out.bindings);
        continue;
      }
      const Expr* e = MapBlocks(in_, b.value, [&](const Block& inner) { return LiftBlock(inner); });
      e = DirectCall(e);
      changed = changed || e != b.value;
      if (const auto* alias = e->As<AtomExpr>()) {
        const Var* source = AsVar(alias->atom);
        auto known = source == nullptr ? known_.end() : known_.find(source->id);
        if (known != known_.end()) known_.emplace(b.var->id, known->second);
      }
      out.bindings.push_back({b.var, e});
    }
    return changed ? in_.arena->New<Block>(std::move(out)) : &block;
  }

  const Expr* DirectCall(const Expr* e) {
    const auto* call = e->As<CallExpr>();
    const Var* callee = call == nullptr ? nullptr : AsVar(call->callee);
    if (callee == nullptr) return e;
    auto known = known_.find(callee->id);
    if (known == known_.end()) return e;
    CallExpr direct = *call;
    direct.callee = known->second.global;
    direct.args.assign(known->second.captured.begin(), known->second.captured.end());
    direct.args.insert(direct.args.end(), call->args.begin(), call->args.end());
    return MakeExpr(in_, std::move(direct), e->span);
  }

  void LiftLiteral(const Binding& b, const Function& literal, std::vector<Binding>& out) {
    std::string name =
        fmt::format("{}.{}{}", parent_, b.var->name.empty() ? "fn" : b.var->name, b.var->id);
    const auto* global = in_.arena->New<GlobalVar>(GlobalVar{name});
    Function f = literal;
    // Nested literals first; self calls stay calls of the variable until the captures are known.
    f.body = LiftBlock(*literal.body);
    std::vector<const Var*> captured = FreeVars(f, b.var);
    known_[b.var->id] = {global, captured};
    f.body = LiftBlock(*f.body);  // now self calls
    f.params.assign(captured.begin(), captured.end());
    f.params.insert(f.params.end(), literal.params.begin(), literal.params.end());
    f.attrs["Closure"] = Dim(static_cast<int64_t>(captured.size()));
    std::vector<Atom> atoms(captured.begin(), captured.end());
    const Expr* closure = MakeExpr(in_, MakeClosure{global, atoms}, b.value->span);
    if (UsesAsValue(*f.body, b.var)) {
      Block body;
      body.bindings.push_back({b.var, closure});
      body.bindings.insert(body.bindings.end(), f.body->bindings.begin(), f.body->bindings.end());
      body.result = f.body->result;
      f.body = in_.arena->New<Block>(std::move(body));
    }
    f.name = name;
    out_.functions[name] = in_.arena->New<Function>(std::move(f));
    out.push_back({b.var, closure});
  }

  static bool UsesAsValue(const Block& block, const Var* var) {
    bool used = AsVar(block.result) == var;
    for (const Binding& b : block.bindings) {
      ForEachAtom(*b.value, [&](const Atom& a) { used = used || AsVar(a) == var; });
      ForEachBlock(*b.value, [&](const Block& inner) { used = used || UsesAsValue(inner, var); });
    }
    return used;
  }

  const Module& in_;
  Module out_;
  const SymbolOwners* owners_ = nullptr;
  std::string parent_;
  std::unordered_map<uint32_t, Lifted> known_;
};

}  // namespace

Module LambdaLift(const Module& m) { return Lifter(m).Run(); }

}  // namespace relayvm::ir
