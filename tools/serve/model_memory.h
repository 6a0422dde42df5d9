// How much memory a program takes while it is loaded, whether it runs or not. Tested by
// model_profile_test.cc.
#pragma once

#include <cstdint>

#include "vm/run/executable.h"

namespace relayvm::serve {

struct ModelMemory {
  // Of constants, what lies in the file and is mapped, shared by all processes; of kernels, the
  // images.
  uint64_t constants = 0, images = 0;
};
ModelMemory MemoryOf(const Executable& executable);

}  // namespace relayvm::serve
