#include "bytecode/dim_names.h"

#include <fmt/format.h>

#include <unordered_set>

namespace relayvm {
namespace {

// Of tensors inside of data types, or of others.
void Collect(const ValueType& type, bool inside, bool is_inside,
             std::unordered_set<std::string_view>* seen, std::vector<std::string_view>* names) {
  if (type.kind == ValueType::Kind::kTensor) {
    for (size_t i = 0; i < type.dims.size() && inside == is_inside; ++i) {
      if (IsDimName(type, i) && seen->insert(type.dim_names[i]).second)
        names->push_back(type.dim_names[i]);
    }
  } else if (type.kind == ValueType::Kind::kTuple ||
             (inside && type.kind == ValueType::Kind::kAdt)) {
    is_inside = is_inside || type.kind == ValueType::Kind::kAdt;
    for (const ValueType& arg : type.args) Collect(arg, inside, is_inside, seen, names);
  }
}

Status CheckFormulas(const ValueType& type, size_t num_names) {
  for (size_t i = 0; i < type.dim_formulas.size(); ++i) {
    if (type.dim_formulas[i].empty()) continue;
    const Status status = type.dims[i] >= 0
                              ? Status(StatusCode::kInvalidInput, "a dim with a size has a formula")
                              : CheckSizeFormula(type.dim_formulas[i], num_names, /*shape=*/false);
    if (!status.ok()) return status.WithContext(fmt::format("dim {} of a tensor type", i));
  }
  for (const ValueType& arg : type.args) RELAYVM_RETURN_IF_ERROR(CheckFormulas(arg, num_names));
  return OkStatus();
}

}  // namespace

bool IsDimFormula(const ValueType& tensor, size_t i) {
  return tensor.dims[i] < 0 && i < tensor.dim_formulas.size() && !tensor.dim_formulas[i].empty();
}

bool IsDimName(const ValueType& tensor, size_t i) {
  return tensor.dims[i] < 0 && i < tensor.dim_names.size() && !tensor.dim_names[i].empty() &&
         !IsDimFormula(tensor, i);
}

std::vector<std::string_view> DimNames(std::span<const ValueType> params) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string_view> names;
  for (const bool inside : {false, true}) {
    for (const ValueType& type : params) Collect(type, inside, /*is_inside=*/false, &seen, &names);
  }
  return names;
}

Status CheckDimFormulas(std::span<const ValueType> params, const ValueType& result) {
  const size_t num_names = DimNames(params).size();
  for (const ValueType& type : params) RELAYVM_RETURN_IF_ERROR(CheckFormulas(type, num_names));
  return CheckFormulas(result, num_names);
}

}  // namespace relayvm
