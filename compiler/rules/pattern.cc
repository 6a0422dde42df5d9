#include "compiler/rules/pattern.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/walk.h"
#include "compiler/rules/formula.h"

namespace relayvm::rules {

using ir::Atom;

Atom Resolve(const Rule& rule, Atom a) {
  while (const ir::Var* v = ir::AsVar(a)) {
    const auto at = rule.graph->nodes.find(v->id);
    if (at == rule.graph->nodes.end()) break;
    const auto* alias = at->second->As<ir::AtomExpr>();
    if (alias == nullptr) break;
    a = alias->atom;
  }
  return a;
}

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

void ForEachOperand(const Rule& rule, const ir::Var& node,
                    const std::function<void(const Atom&)>& fn) {
  const auto use = rule.graph->parts.find(node.id);
  if (use != rule.graph->parts.end()) {
    const PartUse& part = use->second;
    for (size_t i = 0; i < (part.least == 0 ? 1 : part.args.size()); ++i) {
      if (!part.part->lacking.contains(i)) fn(part.args[i]);
    }
  } else {
    ir::ForEachAtom(*rule.graph->nodes.at(node.id), fn);
  }
}

std::set<uint32_t> Parts(const Rule& rule, const Atom& a) {
  std::set<uint32_t> found;
  std::vector<Atom> open = {a};
  while (!open.empty()) {
    const ir::Var* v = ir::AsVar(Resolve(rule, open.back()));
    open.pop_back();
    if (v == nullptr || !found.insert(v->id).second) continue;
    const auto at = rule.graph->nodes.find(v->id);
    if (at == rule.graph->nodes.end()) continue;
    ForEachOperand(rule, *v, [&](const Atom& part) { open.push_back(part); });
  }
  return found;
}

void AddNeeds(const Rule& rule, const Atom& a, std::vector<std::set<const OpDef*>>& needs) {
  const auto add = [&](const std::set<const OpDef*>& ops) {
    if (std::ranges::find(needs, ops) == needs.end()) needs.push_back(ops);
  };
  for (const uint32_t id : Parts(rule, a)) {
    if (const auto use = rule.graph->parts.find(id); use != rule.graph->parts.end()) {
      if (use->second.least > 0) add(use->second.part->roots.ops);
    } else if (const auto node = rule.graph->nodes.find(id); node != rule.graph->nodes.end()) {
      if (const auto* call = node->second->As<ir::OpCall>()) add({call->op});
    }
  }
}

Attrs AttrsOf(const Rule& rule, const ir::OpCall& call, uint32_t id) {
  const auto like = rule.like.find(id);
  if (like == rule.like.end()) return OperatorAttrs(call, nullptr);
  return OperatorAttrs(call, &rule.graph->nodes.at(like->second->id)->As<ir::OpCall>()->attrs);
}

const frontend::Formula* OpenField(const Rule& rule, const ir::Expr& e) {
  const auto* field = e.As<ir::TupleGet>();
  if (field == nullptr || field->index < frontend::kOpenField) return nullptr;
  return &rule.graph->formulas.at(field->index - frontend::kOpenField);
}

bool Takes(const ir::Type& hole, const ir::Type& type) {
  if (const auto* tensor = hole->As<TensorType>()) {
    const auto* found = type->As<TensorType>();
    if (found == nullptr || found->dtype != tensor->dtype ||
        found->shape.size() != tensor->shape.size())
      return false;
    for (size_t i = 0; i < found->shape.size(); ++i) {
      if (tensor->shape[i].is_const() && !(tensor->shape[i] == found->shape[i])) return false;
    }
    return true;
  }
  const auto* tuple = hole->As<ir::TupleType>();
  const auto* found = type->As<ir::TupleType>();
  if (tuple == nullptr || found == nullptr || tuple->fields.size() != found->fields.size())
    return tuple == nullptr && found == nullptr && ir::TypeEquals(hole, type);
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    if (!Takes(tuple->fields[i], found->fields[i])) return false;
  }
  return true;
}

}  // namespace relayvm::rules
