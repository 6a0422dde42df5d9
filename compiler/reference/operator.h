// One operator call on values: the meaning of an OpDef, by plain loops.
//
// The type relation runs again, on the shapes and elements at hand: every dimension is a number
// here, so that nothing of the compiler's symbolic reasoning is relied upon. Then te::Evaluate
// computes, or the builtin of the runtime library does. Tested by operator_test.cc.
#pragma once

#include <span>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/base/string_table.h"
#include "kernels/op/op.h"
#include "kernels/te/evaluate.h"

namespace relayvm::reference {

struct OperatorArg {
  bool is_tuple = false;
  std::vector<const HostTensor*> tensors;  // one, unless is_tuple
};
struct OperatorResult {
  bool is_tuple = false;
  std::vector<HostTensor> tensors;
};

// Strings are ids of `strings` (null: operators on texts fail). Errors name the operator.
// kFailedPrecondition: shapes or data that it does not accept; kUnsupported: it has no meaning of
// its own here.
Result<OperatorResult> RunOperator(const OpDef& op, const Attrs& attrs,
                                   std::span<const OperatorArg> args,
                                   StringTable* strings = nullptr);

}  // namespace relayvm::reference
