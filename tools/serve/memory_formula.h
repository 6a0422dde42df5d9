// MemoryFormula: what a run of a function holds at most, by the dims of its inputs, as the file
// says it (bytecode/memory_report.h): "max(x.0*96, n*4 + 64)".
//
// What the file cannot say (how deep a recursion goes, dims that are known when it runs) counts as
// nothing: a run may need more. Immutable. Tested by memory_formula_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bytecode/size_formula.h"
#include "vm/api/relayvm.h"

namespace relayvm::serve {

class MemoryFormula {
 public:
  // Of a text, where dims have the names that the function's inputs have, or are "x.shape[0]". None
  // of one that is no formula, or too long.
  static std::optional<MemoryFormula> Parse(std::string_view text,
                                            const FunctionSignature& function);
  // Of a function of a program; takes up to a third of a second.
  static std::optional<MemoryFormula> Of(const Executable& executable,
                                         const FunctionSignature& function);

  // In bytes; of sizes beyond int64, INT64_MAX. REQUIRES: inputs that the function takes.
  int64_t Evaluate(std::span<const Value> inputs) const;

 private:
  friend class FormulaParser;
  struct Place {  // of a dim
    size_t input, dim;
  };
  SizeFormula steps_;
  std::vector<Place> places_;  // of its scalars
};

}  // namespace relayvm::serve
