// The lock of the little that a process has one of: its address space (address_space.h), and what
// native programs in its image keep (aot/native_program.h).
//
// A child of fork() finds it free, whatever other threads did meanwhile: a fork waits until nobody
// has it. REQUIRES: who holds it calls nothing that takes it, and ends soon. Tested by
// tests/faults.
#pragma once

#include "bytecode/base/threads.h"

namespace relayvm::vm {

Mutex& ProcessMutex();

}  // namespace relayvm::vm
