// What must hold of every module between two passes; the pipeline checks it in debug builds, in
// tests and with --verify-ir, so that a pass's defect shows at the pass.
//
// Every variable is bound once and used where it is in scope; callees exist and get as many
// operands as they take; fields, tags and captured values exist. After type inference (`typed`):
// every variable and function has its type, without InferVars; operands, branches and results have
// the types that their places say (dims apart, which guards may equate); every symbol
// that a binding reads stands for a variable that is bound before it. After lambda lifting
// (`lifted`): no function literals. Tested by verify_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm::ir {

struct VerifyOptions {
  bool typed = false;
  bool lifted = false;
};

// An error of code kInternal that names the function, the place and what is wrong; the first found.
Status VerifyModule(const Module& module, const VerifyOptions& options);

}  // namespace relayvm::ir
