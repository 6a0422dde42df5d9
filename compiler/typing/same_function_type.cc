#include "compiler/typing/same_function_type.h"

#include <optional>

namespace relayvm::typing {

using ir::FunctionType;
using ir::Type;
using ir::TypeNode;

bool FunctionTypeEquality::operator()(const Type& a, const Type& b) { return Types(a, b, {}); }

bool FunctionTypeEquality::Functions(const FunctionType& a, const FunctionType& b,
                                     const Names& around) {
  if (a.params.size() != b.params.size() || a.type_params.size() != b.type_params.size())
    return false;
  std::vector<uint32_t> of_a, of_b;
  ForEachBoundSymbol(a.params, [&](uint32_t id) { of_a.push_back(id); });
  ForEachBoundSymbol(b.params, [&](uint32_t id) { of_b.push_back(id); });
  if (of_a.size() != of_b.size()) return false;
  if (of_a.empty() && a.type_params.empty()) return Signatures(a, b, around);
  Names names = around;
  names.id = ++last_names_;
  // What is bound here hides what its name means around.
  for (const uint32_t id : of_a) names.symbols_of_b.erase(id);
  for (const uint32_t id : of_b) names.symbols_of_a.erase(id);
  for (size_t i = 0; i < of_a.size(); ++i) {
    // One to one.
    if (names.symbols_of_a.emplace(of_b[i], of_a[i]).first->second != of_a[i]) return false;
    if (names.symbols_of_b.emplace(of_a[i], of_b[i]).first->second != of_b[i]) return false;
  }
  for (size_t i = 0; i < a.type_params.size(); ++i)
    names.type_vars_of_b[a.type_params[i]->As<ir::TypeVar>()->id] =
        b.type_params[i]->As<ir::TypeVar>()->id;
  return Signatures(a, b, names);
}

bool FunctionTypeEquality::Signatures(const FunctionType& a, const FunctionType& b,
                                      const Names& names) {
  return All(a.params, b.params, names) && Types(a.result, b.result, names);
}

bool FunctionTypeEquality::All(const std::vector<Type>& a, const std::vector<Type>& b,
                               const Names& names) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Types(a[i], b[i], names)) return false;
  }
  return true;
}

bool FunctionTypeEquality::Types(const Type& a, const Type& b, const Names& names) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a == b && (names.empty() || (!a->has_open_dim && !a->has_type_var))) return true;
  if (a->node.index() != b->node.index() || a->size != b->size) return false;
  if (!a->is_large()) return Nodes(*a, *b, names);
  std::tuple key(a, b, names.id);
  if (auto known = known_.find(key); known != known_.end()) return known->second;
  const bool equal = Nodes(*a, *b, names);
  known_.emplace(std::move(key), equal);
  return equal;
}

bool FunctionTypeEquality::Nodes(const TypeNode& a, const TypeNode& b, const Names& names) {
  if (auto* t = a.As<TensorType>()) return Tensors(*t, *b.As<TensorType>(), names);
  if (auto* t = a.As<ir::TupleType>()) return All(t->fields, b.As<ir::TupleType>()->fields, names);
  if (auto* t = a.As<FunctionType>()) return Functions(*t, *b.As<FunctionType>(), names);
  if (auto* t = a.As<ir::RefType>()) return Types(t->value, b.As<ir::RefType>()->value, names);
  if (auto* t = a.As<ir::AdtType>()) {
    auto* u = b.As<ir::AdtType>();
    return t->name == u->name && All(t->args, u->args, names);
  }
  if (auto* t = a.As<ir::TypeVar>()) {
    auto bound = names.type_vars_of_b.find(t->id);
    return (bound == names.type_vars_of_b.end() ? t->id : bound->second) == b.As<ir::TypeVar>()->id;
  }
  return a.As<ir::InferVar>()->id == b.As<ir::InferVar>()->id;
}

bool FunctionTypeEquality::Tensors(const TensorType& a, const TensorType& b, const Names& names) {
  if (a.dtype != b.dtype || a.shape.size() != b.shape.size()) return false;
  for (size_t i = 0; i < a.shape.size(); ++i) {
    bool hidden_in_a = false;
    const Dim in_names_of_a = b.shape[i].Substitute([&](const Dim& s) -> std::optional<Dim> {
      auto bound = names.symbols_of_a.find(s.symbol_id());
      if (bound != names.symbols_of_a.end())
        return Dim::Symbol(bound->second, s.symbol_name(), s.symbol_nonnegative());
      hidden_in_a = hidden_in_a || names.symbols_of_b.contains(s.symbol_id());
      return std::nullopt;
    });
    if (hidden_in_a || !(a.shape[i] == in_names_of_a)) return false;
  }
  return true;
}

}  // namespace relayvm::typing
