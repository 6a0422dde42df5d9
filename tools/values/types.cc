#include "tools/values/types.h"

#include <fmt/format.h>

#include "bytecode/disassembler.h"

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
  return Add(std::move(node));
}

TypeTable::Id TypeTable::Add(Node node) {
  const ValueType& type = node.shallow;
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

TypeTable::Id TypeTable::InternOf(const ExportInfo& function, const ValueType& type) {
  while (parameters_.size() < function.num_type_params) {
    Id variable = NewVariable();
    nodes_[variable].shallow.index = static_cast<uint32_t>(parameters_.size());
    parameters_.push_back(variable);
  }
  return Intern(type, parameters_);
}

TypeTable::Id TypeTable::NewVariable() {
  Node node;
  node.shallow.kind = ValueType::Kind::kTypeVar;
  nodes_.push_back(std::move(node));
  return static_cast<Id>(nodes_.size() - 1);
}

void TypeTable::Bind(Id variable, Id type) {
  Id from = Resolve(variable), to = Resolve(type);
  if (from != to) nodes_[from].bound = to;
}

TypeTable::Id TypeTable::NewAdt(uint32_t adt) {
  Node node;
  node.shallow.kind = ValueType::Kind::kAdt;
  node.shallow.index = adt;
  for (uint32_t i = 0; i < program_.adts[adt].num_type_params; ++i) {
    node.args.push_back(NewVariable());
    nodes_.back().shallow.index = i;
  }
  return Add(std::move(node));
}

TypeTable::Id TypeTable::NewTuple(const std::vector<Id>& fields) {
  Node node;
  node.shallow.kind = ValueType::Kind::kTuple;
  node.args = fields;
  return Add(std::move(node));
}

const std::vector<TypeTable::Id>& TypeTable::ConstructorFields(Id type, uint32_t tag) {
  Node& node = nodes_[Resolve(type)];
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
  const Node& node = At(type);
  ValueType out = node.shallow;
  for (Id a : node.args) out.args.push_back(ToValueType(a));
  return out;
}

std::string TypeTable::ToString(Id type) const { return TypeToString(program_, ToValueType(type)); }

}  // namespace relayvm::tools
