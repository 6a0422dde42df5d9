// Which device has each tensor of a program that is compiled for one besides the host: kernels that
// the compiler makes run there, all or some; all else is the host's: calls between functions, data,
// references, builtins, what is read to scalar registers.
//
// A tensor lies where the kernel runs that makes it, views of it too; where it is read on another
// side, it is copied there before, once in a stretch of code without jumps to it. Tensors have no
// slots in arenas then, and no kernel writes over its operands. Tested by place_test.cc and
// tests/device.
#pragma once

#include <cstdint>
#include <string>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/lowering/mir.h"
#include "compiler/transforms/pass_option.h"

namespace relayvm::lower {

class ModuleLowering;

struct Placement {
  std::string device;  // by its name; empty: everything is the host's
  int64_t seed = 0;    // 0: all kernels are placed there; else about half of them, as it says
};
// --device, --device-seed.
const OptionOf<std::string>& DeviceOption();
const OptionOf<int64_t>& DeviceSeedOption();
Placement PlacementOf(const PassOptionValues& options);

// The device of the kernel that is number `index` of its program. Strings are the host's.
uint8_t DeviceOf(const Placement& placement, const KernelInfo& kernel, size_t index);

// Before: kernels have their devices, MarkLastUses was not run. After: each instruction finds its
// tensors where it needs them.
Status PlaceTensors(MFunction& function, ModuleLowering& module);

}  // namespace relayvm::lower
