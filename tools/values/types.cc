#include "tools/values/types.h"

#include <fmt/format.h>

#include "vm/executable.h"

namespace relayvm::tools {

TypeTable::Id TypeTable::Intern(const ValueType& type, std::span<const Id> args) {
  if (type.kind == ValueType::Kind::kTypeVar && type.index < args.size()) return args[type.index];
  Node node;
  for (const ValueType& a : type.args) node.args.push_back(Intern(a, args));
  node.shallow.kind = type.kind;
  node.shallow.dtype = type.dtype;
  node.shallow.dims = type.dims;
  node.shallow.dim_names = type.dim_names;
  node.shallow.index = type.index;
  std::string key = fmt::format("{} {} {} [{}] [{}] ({})", static_cast<int>(type.kind),
                                static_cast<int>(type.dtype), type.index, fmt::join(type.dims, ","),
                                fmt::join(type.dim_names, "\x01"), fmt::join(node.args, ","));
  auto [at, inserted] = ids_.emplace(std::move(key), static_cast<Id>(nodes_.size()));
  if (inserted) {
    if (type.kind == ValueType::Kind::kAdt) {
      node.constructors.resize(program_.adts[type.index].constructors.size());
    }
    nodes_.push_back(std::move(node));
  }
  return at->second;
}

const std::vector<TypeTable::Id>& TypeTable::ConstructorFields(Id type, uint32_t tag) {
  Node& node = nodes_[type];
  std::optional<std::vector<Id>>& fields = node.constructors[tag];
  if (!fields) {
    std::vector<Id> made;
    for (const ValueType& f : adt(type).constructors[tag].fields) {
      made.push_back(Intern(f, node.args));
    }
    fields = std::move(made);
  }
  return *fields;
}

ValueType TypeTable::ToValueType(Id type) const {
  const Node& node = nodes_[type];
  ValueType out = node.shallow;
  for (Id a : node.args) out.args.push_back(ToValueType(a));
  return out;
}

std::string TypeTable::ToString(Id type) const {
  return RelayTypeToString(program_, ToValueType(type));
}

}  // namespace relayvm::tools
