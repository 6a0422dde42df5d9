#include "compiler/transforms/loops/lambda_lift.h"

#include <fmt/core.h>

#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/rewrite.h"

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
    auto use = [&](const Var* v) {
      if (v != self && seen.insert(v->id).second) free.push_back(v);
    };
    for (const Var* p : f.params) bound.insert(p->id);
    ForEachBinding(*f.body, [&](const Binding& b) {
      bound.insert(b.var->id);
      if (const auto* match = b.value->As<MatchExpr>()) {
        for (const MatchClause& c : match->clauses) {
          ForEachVar(c.pattern, [&](const Var* v) { bound.insert(v->id); });
        }
      }
    });
    ForEachUseInside(in_, *f.body, use);
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

  bool UsesAsValue(const Block& block, const Var* var) const {
    bool used = false;
    ForEachUseInside(in_, block, [&](const Var* v) { used = used || v == var; });
    return used;
  }

  const Module& in_;
  Module out_;
  std::string parent_;
  std::unordered_map<uint32_t, Lifted> known_;
};

}  // namespace

Module LambdaLift(const Module& m) { return Lifter(m).Run(); }

}  // namespace relayvm::ir
