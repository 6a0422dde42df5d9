// The locks of the little that a process has one of: what native programs in its image keep
// (aot/native_program.h), and its address space (address_space.h).
//
// A child of fork() finds them free, whatever other threads did meanwhile: a fork waits until
// nobody has them. REQUIRES: who holds one calls nothing that takes it, and ends soon; AddressMutex
// is the last that is taken. Tested by tests/faults.
#pragma once

#include "bytecode/base/threads.h"

namespace relayvm::vm {

Mutex& ProcessMutex();
Mutex& AddressMutex();

}  // namespace relayvm::vm
