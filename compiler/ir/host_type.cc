#include "compiler/ir/host_type.h"

#include <set>
#include <vector>

namespace relayvm::ir {

std::string WhatCannotCross(const Module& m, const Type& type) {
  // The type, and the fields of the data types that it mentions, whose parameters stand for its
  // arguments.
  std::set<const TypeNode*> seen;
  std::set<std::string> definitions;
  std::vector<std::pair<Type, bool>> work = {{type, false}};  // in a definition
  while (!work.empty()) {
    const auto [part, in_definition] = work.back();
    work.pop_back();
    if (part == nullptr || part->As<InferVar>() != nullptr) return "values of an open type";
    if (part->As<FunctionType>() != nullptr) return "functions";
    if (part->As<RefType>() != nullptr) return "references";
    if (part->As<TypeVar>() != nullptr && !in_definition) return "values of an open type";
    if (!seen.insert(part.get()).second) continue;
    const bool inside = in_definition;
    ForEachChild(*part, [&](const Type& child) { work.emplace_back(child, inside); });
    const auto* adt = part->As<AdtType>();
    const auto def = adt == nullptr ? m.types.end() : m.types.find(adt->name);
    if (def == m.types.end() || !definitions.insert(adt->name).second) continue;
    for (const Constructor* c : def->second.constructors) {
      for (const Type& field : c->fields) work.emplace_back(field, true);
    }
  }
  return "";
}

}  // namespace relayvm::ir
