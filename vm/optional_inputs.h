// Inputs that may be left out: a parameter whose type holds nothing or a value of its type argument, as
// Optional[A] { None, Some(A) } of imported models. The host gives a tensor as it is, or nothing.
// Tested by optional_inputs_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bytecode/program.h"
#include "vm/value.h"

namespace relayvm::vm {

struct OptionalForm {
  uint32_t none, some;  // tags
};
// Nullopt for all other types. REQUIRES: the program is verified.
std::optional<OptionalForm> OptionalFormOf(const Program& program, const ValueType& type);

// Of such parameters: what is left out (Value(), or beyond the end of `inputs`) becomes the constructor
// that holds nothing, a tensor becomes the other one. All else stays as it is.
void CompleteInputs(const Program& program, const ExportInfo& function, std::vector<Value>* inputs);

}  // namespace relayvm::vm
