// What the tiles of contractions are fitted to, by the name of the processor.
#include <algorithm>

#include "bytecode/image_loader.h"
#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::codegen {

ContractionTarget ContractionTargetFor(const std::string& cpu) {
  ContractionTarget target;
  bool avx2 = cpu == "x86-64-v3";
  bool avx512 = cpu == "x86-64-v4" || cpu == kSapphireRapids;
  if (cpu == "native") {
    const CpuFeatures machine = CpuFeatures::OfThisMachine();
    avx2 = machine.Missing("x86-64-v3").empty();
    avx512 = machine.Missing("x86-64-v4").empty();
    target.bfloat16_dots = avx512 && machine.Has("avx512bf16");
    target.byte_dots = avx2 && machine.Has(avx512 ? "avx512vnni" : "avxvnni");
    target.bfloat16_tiles =
        target.bfloat16_dots && machine.Has("amx-tile") && machine.Has("amx-bf16");
    target.byte_tiles =
        avx512 && target.byte_dots && machine.Has("amx-tile") && machine.Has("amx-int8");
  } else if (cpu == kSapphireRapids) {
    target.bfloat16_dots = target.byte_dots = true;
    target.bfloat16_tiles = target.byte_tiles = true;
  }
  if (avx2) target.vector_bytes = 32;
  if (avx512) {
    target.vector_bytes = 64;
    target.vector_registers = 32;
    // Every processor with AMX has 2 MB for a core.
    target.l2_bytes = target.bfloat16_tiles || target.byte_tiles ? 2 << 20 : 1 << 20;
  }
  return target;
}

int64_t PreferredPanelWidth(const std::string& cpu, DType dtype) {
  return 2 * ContractionTargetFor(cpu).vector_bytes / std::max(DTypeBytes(dtype), 4);
}

int64_t PreferredKernelRows(const std::string& cpu) {
  // Usual numbers of channels are multiples of it, and rows by two vectors fill the registers.
  return ContractionTargetFor(cpu).vector_registers == 32 ? 8 : 0;
}

}  // namespace relayvm::codegen
