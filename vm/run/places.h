// Where an instruction comes from, of a program's tables. Thread-safe. Tested by
// executable_test.cc.
#pragma once

#include <cstdint>

#include "bytecode/base/status_detail.h"
#include "bytecode/program.h"

namespace relayvm::vm {

// As Executable::PlaceOf, which calls it. `check`: of which of a kernel's checks, from 1 on
// (RelayvmKernelFault::given); those that the compiler has not written down are of the instruction.
StatusPlace PlaceIn(const Program& program, uint32_t function, uint32_t pc, int64_t check = 0);

}  // namespace relayvm::vm
