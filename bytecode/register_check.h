// A check of the compiler's work, stricter than the verifier: every register that is read was
// written on every path that leads there, and not taken since. The interpreter does not rely on it
// (an empty register is an error when it is used), so loading does not pay for it; the compiler's
// tests and debug builds do. Thread-safe. Tested by register_check_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

// Fails with kInternal: "ret.r: register r3 may be empty (main+0x1c)". REQUIRES: the program passed
// the verifier.
Status CheckRegisterUse(const Program& program);

}  // namespace relayvm
