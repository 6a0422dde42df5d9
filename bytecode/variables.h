// Variables of a function: states (ExportInfo::states) whose input and output have one name. An
// importer makes them of what a model keeps by itself, after all other inputs and outputs. Who runs
// functions as their users see them (vmrun, Python) gives their inputs, and does not show their
// outputs: a run without a State begins with their first values. Tested by tools/tools_test.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "bytecode/program.h"

namespace relayvm {

// How many of the result's last fields are variables.
inline size_t NumVariables(const ExportInfo& function) {
  const auto is_variable = [&](const StateInfo& s) {
    return s.input < function.param_names.size() && s.output < function.output_names.size() &&
           function.param_names[s.input] == function.output_names[s.output];
  };
  const auto count = static_cast<size_t>(std::ranges::count_if(function.states, is_variable));
  const bool is_tuple = function.result.kind == ValueType::Kind::kTuple;
  return is_tuple && count <= function.result.args.size() ? count : 0;
}

// The function with the result that users see: one tensor is no tuple.
inline ExportInfo WithoutVariables(ExportInfo function) {
  const size_t count = NumVariables(function);
  if (count == 0) return function;
  function.output_names.resize(function.output_names.size() - count);
  std::vector<ValueType>& fields = function.result.args;
  fields.resize(fields.size() - count);
  if (fields.size() == 1) {
    ValueType only = std::move(fields[0]);
    function.result = std::move(only);
  }
  return function;
}

// Of its result: a tuple without its last fields; one that is left is no tuple. `Value` is a handle
// with fields.
template <typename Value>
Value WithoutVariables(const Value& result, const ExportInfo& function) {
  const size_t count = NumVariables(function);
  if (count == 0) return result;
  std::vector<Value> fields;
  for (size_t i = 0; i + count < result.num_fields(); ++i) fields.push_back(result.field(i));
  return fields.size() == 1 ? fields[0] : Value::Tuple(std::move(fields));
}

}  // namespace relayvm
