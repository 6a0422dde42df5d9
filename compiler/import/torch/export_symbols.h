// Symbolic sizes as torch.export writes them: sympy's srepr text, or plain text in older files. It
// is parsed, never evaluated.
//
//   Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(1))      2*s77 + 1
//
// Thread-safe. Tested by export_symbols_test.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bytecode/base/dim.h"
#include "bytecode/base/status.h"

namespace relayvm::import::torch {

// `symbol` gives the dim that is called so ("s77"). What is no expression over sizes (floats,
// relations) is Any; kInvalidInput for what is no expression at all.
Result<Dim> ParseSymbolic(std::string_view text,
                          const std::function<Dim(const std::string& name)>& symbol);

}  // namespace relayvm::import::torch
