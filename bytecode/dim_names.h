// The names of a signature's dims: what expressions over them refer to by number, and what the
// border binds when values come in (vm/border/signature_dims.h). Tested by dim_names_test.cc.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

// Whether dim `i` of a tensor's type is a name alone, or an expression over names.
bool IsDimName(const ValueType& tensor, size_t i);
bool IsDimFormula(const ValueType& tensor, size_t i);

// The distinct names that are dims of parameters, and of tensors in tuples there, in the order in
// which they occur; then those of tensors inside of data types. Every one that stands in a formula
// is among them.
std::vector<std::string_view> DimNames(std::span<const ValueType> params);

// Whether the formulas of a signature's types are numbers over those names.
Status CheckDimFormulas(std::span<const ValueType> params, const ValueType& result);

}  // namespace relayvm
