// What a pattern's operators say of a place before it is matched.
#include <algorithm>

#include "compiler/ir/walk.h"
#include "compiler/rules/match.h"

namespace relayvm::rules {
namespace {

using ir::Atom;

class Needs {
 public:
  Needs(const Rule& rule, std::vector<std::set<const OpDef*>>& needs)
      : rule_(rule), needs_(needs) {}

  // Recurses with the depth of the pattern.
  void Add(const Atom& a) {
    const ir::Var* v = ir::AsVar(Resolve(rule_, a));
    if (v == nullptr || !seen_.insert(v->id).second) return;
    if (const auto found = rule_.graph->parts.find(v->id); found != rule_.graph->parts.end()) {
      const PartUse& use = found->second;
      if (use.least == 0) {
        Add(use.args[0]);
        return;
      }
      AddOneOf(use.part->roots.ops);
      // No way lacks a parameter that has an argument.
      for (const Atom& argument : use.args) Add(argument);
    } else if (const auto node = rule_.graph->nodes.find(v->id); node != rule_.graph->nodes.end()) {
      if (const auto* call = node->second->As<ir::OpCall>()) AddOneOf({call->op});
      ir::ForEachAtom(*node->second, [&](const Atom& operand) { Add(operand); });
    }
  }

 private:
  void AddOneOf(const std::set<const OpDef*>& ops) {
    if (std::ranges::find(needs_, ops) == needs_.end()) needs_.push_back(ops);
  }

  const Rule& rule_;
  std::vector<std::set<const OpDef*>>& needs_;
  std::set<uint32_t> seen_;  // nodes, by Var::id
};

}  // namespace

void AddRoots(const Rule& rule, const Atom& a, Roots& roots) {
  const ir::Var* v = ir::AsVar(Resolve(rule, a));
  const auto node = v == nullptr ? rule.graph->nodes.end() : rule.graph->nodes.find(v->id);
  const auto* call = node == rule.graph->nodes.end() ? nullptr : node->second->As<ir::OpCall>();
  if (call != nullptr) {
    roots.ops.insert(call->op);
  } else if (const auto use =
                 v == nullptr ? rule.graph->parts.end() : rule.graph->parts.find(v->id);
             use != rule.graph->parts.end()) {
    const Roots& all = use->second.part->roots;
    roots.ops.insert(all.ops.begin(), all.ops.end());
    if (use->second.least == 0) AddRoots(rule, use->second.args[0], roots);
  } else {
    roots.any = true;
  }
}

void AddNeeds(const Rule& rule, const Atom& a, std::vector<std::set<const OpDef*>>& needs) {
  Needs(rule, needs).Add(a);
}

}  // namespace relayvm::rules
