#include "compiler/transforms/dead_code.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/transforms/rewrite.h"

namespace relayvm::ir {
namespace {

// Functions whose call may write a reference, call an unknown function or the host, or fail on purpose.
class Effects {
 public:
  explicit Effects(const Module& m) {
    // Direct effects, then their callers until nothing changes.
    std::unordered_map<std::string, std::vector<std::string>> callers;
    std::vector<std::string> work;
    for (const auto& [name, f] : m.functions) {
      bool direct = false;
      Scan(*f->body, direct, [&](const std::string& callee) { callers[callee].push_back(name); });
      if (direct && effectful_.insert(name).second) work.push_back(name);
    }
    while (!work.empty()) {
      std::string name = std::move(work.back());
      work.pop_back();
      for (const std::string& caller : callers[name]) {
        if (effectful_.insert(caller).second) work.push_back(caller);
      }
    }
  }

  bool HasEffect(const Expr& e) const {
    bool effect = false;
    ScanExpr(e, effect,
             [&](const std::string& callee) { effect = effect || effectful_.contains(callee); });
    return effect;
  }

 private:
  template <typename Fn>
  static void ScanExpr(const Expr& e, bool& effect, const Fn& on_call) {
    if (e.As<RefWrite>() != nullptr || e.As<HostCall>() != nullptr || e.As<Guard>() != nullptr ||
        e.As<Stated>() != nullptr || e.As<Trap>() != nullptr) {
      effect = true;
    }
    if (const auto* match = e.As<MatchExpr>(); match != nullptr && !match->complete) effect = true;
    if (const auto* call = e.As<CallExpr>()) {
      if (const auto* g = std::get_if<const GlobalVar*>(&call->callee)) {
        on_call((*g)->name);
      } else if (std::holds_alternative<const Var*>(call->callee)) {
        effect = true;
      }
    }
    if (e.As<FunctionExpr>() != nullptr) return;  // making a closure runs nothing
    ForEachBlock(e, [&](const Block& b) { Scan(b, effect, on_call); });
  }
  template <typename Fn>
  static void Scan(const Block& block, bool& effect, const Fn& on_call) {
    for (const Binding& b : block.bindings) ScanExpr(*b.value, effect, on_call);
  }

  std::unordered_set<std::string> effectful_;
};

class Eliminator {
 public:
  Eliminator(const Module& m, const Effects& effects) : m_(m), effects_(effects) {}

  const Function* Run(const Function& f) {
    const Block* body = Sweep(*f.body);
    return body == f.body ? &f : WithBody(m_, f, body);
  }

 private:
  void Need(const Var* v) { needed_.insert(v->id); }

  // Last binding first: whatever needs a variable stands behind it.
  const Block* Sweep(const Block& block) {
    if (const Var* v = AsVar(block.result)) Need(v);
    Block out;
    out.result = block.result;
    bool changed = false;
    for (size_t i = block.bindings.size(); i-- > 0;) {
      const Binding& b = block.bindings[i];
      if (!needed_.contains(b.var->id) && !effects_.HasEffect(*b.value)) {
        changed = true;
        continue;
      }
      ForEachUse(m_, b, [&](const Var* v) { Need(v); });
      const Expr* e = MapBlocks(m_, b.value, [&](const Block& inner) { return Sweep(inner); });
      changed = changed || e != b.value;
      out.bindings.push_back({b.var, e});
    }
    if (!changed) return &block;
    std::reverse(out.bindings.begin(), out.bindings.end());
    return m_.arena->New<Block>(std::move(out));
  }

  const Module& m_;
  const Effects& effects_;
  std::unordered_set<uint32_t> needed_;
};

void Reach(const Module& m, const std::string& entry, std::set<std::string>& reached) {
  std::vector<std::string> work{entry};
  auto visit = [&](const std::string& name) {
    if (m.functions.contains(name) && reached.insert(name).second) work.push_back(name);
  };
  reached.insert(entry);
  auto scan = [&](const Block& block) {
    ForEachGlobal(block, [&](const GlobalVar& g, const CallExpr*) { visit(g.name); });
  };
  while (!work.empty()) {
    std::string name = std::move(work.back());
    work.pop_back();
    auto at = m.functions.find(name);
    if (at != m.functions.end()) scan(*at->second->body);
  }
}

}  // namespace

Module EliminateDeadCode(const Module& m) {
  Effects effects(m);
  Module out = m;
  for (auto& [name, f] : out.functions) f = Eliminator(m, effects).Run(*f);
  std::set<std::string> reached;
  Reach(out, out.entry, reached);
  std::erase_if(out.functions, [&](const auto& entry) { return !reached.contains(entry.first); });
  return out;
}

}  // namespace relayvm::ir
