#include "compiler/transforms/propagate_constants.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/transforms/copy.h"
#include "compiler/transforms/rewrite.h"

namespace relayvm::ir {
namespace {

// An alias may be looked through when it does not sharpen the type: constants always, variables
// when no type is written.
class AliasResolver final : public Substitution {
 public:
  using Substitution::Substitution;

 private:
  bool Consume(const Var* var, const Expr& value, Block&) override {
    const auto* alias = value.As<AtomExpr>();
    if (alias == nullptr) return false;
    bool constant = std::holds_alternative<const Constant*>(alias->atom);
    const Var* source = AsVar(alias->atom);
    bool same =
        source != nullptr &&
        (var->type == nullptr || (source->type != nullptr && TypeEquals(var->type, source->type)));
    if (!constant && !same) return false;
    Map(var, alias->atom);
    return true;
  }
};

// What is known of a parameter: nothing yet, one constant, or several values.
struct Knowledge {
  const Constant* constant = nullptr;
  bool varies = false;
};

class Propagator {
 public:
  explicit Propagator(const Module& m) : m_(m) {}

  Module Run() {
    CollectCalls();
    Solve();
    return Apply();
  }

 private:
  struct Call {
    std::string caller;
    std::string callee;
    const CallExpr* call;
  };

  void CollectCalls() {
    fixed_.insert(m_.entry);
    for (const auto& [name, f] : m_.functions) {
      if (IsHostFunction(*f)) fixed_.insert(name);  // stays as it is declared
      for (size_t i = 0; i < f->params.size(); ++i) {
        param_of_[f->params[i]->id] = {name, i};
      }
      knowledge_[name].resize(f->params.size());
      for (size_t i = 0; i < f->params.size(); ++i) {
        // A constant of one type is no value of a type parameter.
        knowledge_[name][i].varies = f->params[i]->type->has_type_var;
      }
      ForEachGlobal(*f->body, [&, caller = name](const GlobalVar& g, const CallExpr* call) {
        if (call == nullptr) {
          fixed_.insert(g.name);
        } else {
          calls_.push_back({caller, g.name, call});
        }
      });
    }
  }

  void Solve() {
    for (const std::string& name : fixed_) {
      for (Knowledge& k : knowledge_[name]) k.varies = true;
    }
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Call& c : calls_) {
        auto callee = knowledge_.find(c.callee);
        if (callee == knowledge_.end()) continue;
        for (size_t i = 0; i < callee->second.size() && i < c.call->args.size(); ++i) {
          changed = Merge(callee->second[i], c.call->args[i]) || changed;
        }
      }
    }
  }

  bool Merge(Knowledge& k, const Atom& arg) {
    if (k.varies) return false;
    const Constant* constant = nullptr;
    if (const auto* c = std::get_if<const Constant*>(&arg)) {
      constant = *c;
    } else if (const Var* v = AsVar(arg)) {
      auto param = param_of_.find(v->id);
      if (param == param_of_.end()) {
        k.varies = true;
        return true;
      }
      const Knowledge& source = knowledge_[param->second.first][param->second.second];
      if (source.varies) {
        k.varies = true;
        return true;
      }
      constant = source.constant;
      if (constant == nullptr) return false;  // nothing known yet
    } else {
      k.varies = true;
      return true;
    }
    if (k.constant == nullptr) {
      k.constant = constant;
      return true;
    }
    if (k.constant == constant) return false;
    k.varies = true;
    return true;
  }

  bool IsKnown(const std::string& function, size_t i) const {
    auto at = knowledge_.find(function);
    return at != knowledge_.end() && i < at->second.size() && !at->second[i].varies &&
           at->second[i].constant != nullptr;
  }

  Module Apply() {
    for (auto& [name, f] : m_.functions) {
      Function copy = *f;
      copy.params.clear();
      Block body;
      for (size_t i = 0; i < f->params.size(); ++i) {
        if (!IsKnown(name, i)) {
          copy.params.push_back(f->params[i]);
          continue;
        }
        // A binding keeps the declared type in force; aliases are resolved below.
        body.bindings.push_back(
            {f->params[i], MakeExpr(m_, AtomExpr{knowledge_[name][i].constant}, f->span)});
      }
      body.bindings.insert(body.bindings.end(), f->body->bindings.begin(), f->body->bindings.end());
      body.result = f->body->result;
      copy.body = RewriteBlock(m_, body, [&](const Binding& b, std::vector<Binding>& out) {
        out.push_back({b.var, DropArguments(b.value)});
      });
      if (copy.body == &body) copy.body = m_.arena->New<Block>(std::move(body));
      f = m_.arena->New<Function>(std::move(copy));
    }
    return std::move(m_);
  }

  const Expr* DropArguments(const Expr* e) {
    const auto* call = e->As<CallExpr>();
    const auto* g = call == nullptr ? nullptr : std::get_if<const GlobalVar*>(&call->callee);
    if (g == nullptr) return e;
    CallExpr copy = *call;
    copy.args.clear();
    for (size_t i = 0; i < call->args.size(); ++i) {
      if (!IsKnown((*g)->name, i)) copy.args.push_back(call->args[i]);
    }
    if (copy.args.size() == call->args.size()) return e;
    return MakeExpr(m_, std::move(copy), e->span);
  }

  Module m_;
  std::vector<Call> calls_;
  std::unordered_set<std::string> fixed_;
  std::unordered_map<uint32_t, std::pair<std::string, size_t>> param_of_;
  std::unordered_map<std::string, std::vector<Knowledge>> knowledge_;
};

}  // namespace

Module ResolveAliases(const Module& m) { return AliasResolver(m).Run(); }

Module PropagateConstants(const Module& m) { return Propagator(m).Run(); }

}  // namespace relayvm::ir
