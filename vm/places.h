// Where an instruction comes from, of a program's tables. Thread-safe. Tested by executable_test.cc.
#pragma once

#include <cstdint>

#include "bytecode/base/status_detail.h"
#include "bytecode/program.h"

namespace relayvm::vm {

// As Executable::PlaceOf, which calls it.
StatusPlace PlaceIn(const Program& program, uint32_t function, uint32_t pc);

}  // namespace relayvm::vm
