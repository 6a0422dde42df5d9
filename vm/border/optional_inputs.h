// Inputs that may be left out: a parameter whose type holds nothing or a value of its type
// argument, as Optional[A] { None, Some(A) } of imported models. The host gives a tensor as it is,
// or nothing. Inline: modules of Python, which see of the runtime what its library exports, read
// them too. Tested by optional_inputs_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bytecode/optional_form.h"
#include "bytecode/program.h"
#include "vm/border/value.h"

namespace relayvm::vm {

using relayvm::OptionalForm;
using relayvm::OptionalFormOf;

// Of such parameters: what is left out (Value(), or beyond the end of `inputs`) becomes the
// constructor that holds nothing, a tensor becomes the other one. All else stays as it is.
inline void CompleteInputs(const Program& program, const ExportInfo& function,
                           std::vector<Value>* inputs) {
  const size_t count = function.params.size();
  for (size_t i = 0; i < count && i <= inputs->size(); ++i) {
    if (function.params[i].kind != ValueType::Kind::kAdt) continue;
    const bool given = i < inputs->size() && (*inputs)[i];
    if (given && !(*inputs)[i].is_tensor()) continue;
    const std::optional<OptionalForm> form = OptionalFormOf(program, function.params[i]);
    if (!form) continue;
    if (i == inputs->size()) inputs->emplace_back();
    Value& input = (*inputs)[i];
    input = given ? Value::Adt(form->some, {std::move(input)}) : Value::Adt(form->none, {});
  }
}

}  // namespace relayvm::vm
