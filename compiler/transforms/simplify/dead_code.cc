#include "compiler/transforms/simplify/dead_code.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "compiler/ir/effects.h"
#include "compiler/ir/rewrite.h"

namespace relayvm::ir {
namespace {

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
