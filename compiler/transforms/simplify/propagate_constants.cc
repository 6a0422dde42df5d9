#include "compiler/transforms/simplify/propagate_constants.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/copy.h"
#include "compiler/ir/rewrite.h"

namespace relayvm::ir {
namespace {

// What is known of a parameter: nothing yet, one constant, or several values.
struct Knowledge {
  const Constant* constant = nullptr;
  bool varies = false;
  std::vector<Knowledge*> goes_to;  // parameters that calls give this one
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
    std::string callee;
    const CallExpr* call;
  };

  void CollectCalls() {
    fixed_.insert(m_.entry);
    for (const auto& [name, f] : m_.functions) {
      if (IsHostFunction(*f)) fixed_.insert(name);  // stays as it is declared
      std::vector<Knowledge>& params = knowledge_[name];
      params.resize(f->params.size());
      for (size_t i = 0; i < f->params.size(); ++i) {
        // A constant of one type is no value of a type parameter.
        params[i].varies = f->params[i]->type->has_type_var;
        param_of_[f->params[i]->id] = &params[i];
      }
      ForEachGlobal(*f->body, [&](const GlobalVar& g, const CallExpr* call) {
        if (call == nullptr) {
          fixed_.insert(g.name);
        } else {
          calls_.push_back({g.name, call});
        }
      });
    }
  }

  void Solve() {
    for (const std::string& name : fixed_) {
      for (Knowledge& k : knowledge_[name]) k.varies = true;
    }
    for (const Call& c : calls_) {
      auto callee = knowledge_.find(c.callee);
      if (callee == knowledge_.end()) continue;
      for (size_t i = 0; i < callee->second.size() && i < c.call->args.size(); ++i) {
        Give(callee->second[i], c.call->args[i]);
      }
    }
    // What is known of a parameter changes twice at most.
    std::vector<const Knowledge*> work;
    for (const auto& [name, params] : knowledge_) {
      for (const Knowledge& k : params) {
        if (k.varies || k.constant != nullptr) work.push_back(&k);
      }
    }
    while (!work.empty()) {
      const Knowledge* from = work.back();
      work.pop_back();
      for (Knowledge* to : from->goes_to) {
        if (from->varies ? Vary(*to) : Meet(*to, from->constant)) work.push_back(to);
      }
    }
  }

  void Give(Knowledge& k, const Atom& arg) {
    const Var* v = AsVar(arg);
    const auto param = v == nullptr ? param_of_.end() : param_of_.find(v->id);
    if (param != param_of_.end()) {
      param->second->goes_to.push_back(&k);
    } else if (const auto* c = std::get_if<const Constant*>(&arg)) {
      Meet(k, *c);
    } else {
      Vary(k);
    }
  }

  // Whether that is news.
  static bool Vary(Knowledge& k) { return !std::exchange(k.varies, true); }
  static bool Meet(Knowledge& k, const Constant* constant) {
    if (k.varies || k.constant == constant) return false;
    if (k.constant != nullptr) return Vary(k);
    k.constant = constant;
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
  std::unordered_map<uint32_t, Knowledge*> param_of_;  // by Var::id
  std::unordered_map<std::string, std::vector<Knowledge>> knowledge_;
};

}  // namespace

Module PropagateConstants(const Module& m) { return Propagator(m).Run(); }

}  // namespace relayvm::ir
