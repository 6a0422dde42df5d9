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

void TypeTable::Write(Id type, int depth, std::string* out) const {
  // P[(A, A)] of P[A], and so on, is twice as long with each constructor around it.
  constexpr int kMaxDepth = 16;
  constexpr size_t kMaxLength = 500;
  const Node& node = At(type);
  if (node.args.empty() || node.shallow.kind == ValueType::Kind::kFunction) {
    *out += TypeToString(program_, node.shallow);
    return;
  }
  if (depth == kMaxDepth || out->size() > kMaxLength) {
    *out += "...";
    return;
  }
  const bool is_adt = node.shallow.kind == ValueType::Kind::kAdt;
  if (is_adt) *out += TypeToString(program_, node.shallow);
  if (node.shallow.kind == ValueType::Kind::kRef) *out += "ref";
  *out += is_adt ? '[' : '(';
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (i > 0) *out += ", ";
    Write(node.args[i], depth + 1, out);
  }
  if (node.shallow.kind == ValueType::Kind::kTuple && node.args.size() == 1) *out += ',';
  *out += is_adt ? ']' : ')';
}

std::string TypeTable::ToString(Id type) const {
  std::string out;
  Write(type, 0, &out);
  return out;
}

}  // namespace relayvm::tools
