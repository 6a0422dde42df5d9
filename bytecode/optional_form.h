// Types whose values hold one of their type argument or nothing, as Optional[A] { None, Some(A) }
// of imported models: inputs of them may be left out. Inline: modules of Python read it too. Tested
// by vm/border/optional_inputs_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bytecode/program.h"

namespace relayvm {

struct OptionalForm {
  uint32_t none, some;  // tags
};
// Nullopt for all other types. REQUIRES: the type is verified.
inline std::optional<OptionalForm> OptionalFormOf(const Program& program, const ValueType& type) {
  if (type.kind != ValueType::Kind::kAdt || type.args.size() != 1) return std::nullopt;
  const std::vector<ConstructorInfo>& constructors = program.adts[type.index].constructors;
  if (constructors.size() != 2) return std::nullopt;
  for (const uint32_t none : {0U, 1U}) {
    const std::vector<ValueType>& held = constructors[1 - none].fields;
    if (constructors[none].fields.empty() && held.size() == 1 &&
        held[0].kind == ValueType::Kind::kTypeVar) {
      return OptionalForm{none, 1 - none};
    }
  }
  return std::nullopt;
}

}  // namespace relayvm
