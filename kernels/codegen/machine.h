// The machine that kernels are for: one value, made once from what --target says, which whoever
// plans, packs, schedules or emits asks. A level is a row of its backend's table (x86_64.cc,
// aarch64.cc) and stands nowhere else; what the loader looks for at run time is
// bytecode/cpu_features.cc's. Immutable; thread-safe. Tested by machine_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm {

namespace codegen {
class KernelBackend;
class Instructions;
struct DotProduct;

// The best ones that a machine has; null: none.
struct DotProducts {
  const DotProduct* pairs = nullptr;  // of two bfloat16, summed as float32
  const DotProduct* quads = nullptr;  // of four bytes, summed as int32
};
}  // namespace codegen

// Its texts live as long as the process.
struct Machine {
  std::string_view target;  // as --target names it: "x86-64-v3", "sapphirerapids", "native"
  std::string_view level;   // what images for it ask for at least: "x86-64-v3"
  std::string_view triple;  // the rest of what LLVM is told
  std::string_view cpu;
  std::string_view features;  // beyond cpu's: "+dotprod"
  std::string_view tune;      // the processor whose timing guides scheduling

  unsigned vector_bytes = 16;
  unsigned vector_registers = 16;
  // Data caches of a core: of a level, the smallest that its machines usually have; of "native",
  // what this machine has.
  int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10;
  bool masks = false;  // masked loads and stores of any width are cheap
  bool fma = false;
  bool half = false;  // converts float16; without it integer arithmetic does
  // What permutes 128 bytes by bytes: "avx512vbmi"; "": it has none.
  std::string_view byte_tables;
  codegen::DotProducts dots;   // by vectors
  codegen::DotProducts tiles;  // by registers of rows and columns (contraction/amx.h)

  const codegen::KernelBackend* backend = nullptr;
  const codegen::Instructions* instructions = nullptr;

  bool is_native() const { return target == "native"; }
  // The highest level that the processor of this process has, with what it has besides. Of one
  // below every level, the lowest.
  static Machine Native();
};

// kInvalidArgument names the targets that there are; kUnsupported: "native", of a processor below
// every level.
Result<Machine> MachineFor(std::string_view target);
// REQUIRES: `target` is one of TargetNames().
Machine MachineNamed(std::string_view target);
// "native" first.
std::vector<std::string_view> TargetNames();
// Why no program is made for it; empty: programs are.
std::string_view WhyNoPrograms(const Machine& machine);
// Its level with the features beyond it that kernels may use: "x86-64-v4,amx-tile".
std::string FeaturesOf(const Machine& machine);

}  // namespace relayvm
