// What the tiles of contractions are fitted to, by the name of the processor.
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>

#include "bytecode/image_loader.h"
#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::codegen {

ContractionTarget ContractionTargetFor(const std::string& cpu) {
  ContractionTarget target;
  bool avx2 = cpu == "x86-64-v3" || cpu == "haswell" || cpu == "znver1" || cpu == "znver2" ||
              cpu == "znver3";
  bool avx512 = cpu == "x86-64-v4" || cpu == "znver4" || cpu == "znver5" ||
                cpu.starts_with("skylake-avx512") || cpu.starts_with("icelake") ||
                cpu == kSapphireRapids || cpu.starts_with("cascadelake");
  if (cpu == "native") {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    avx2 = features.lookup("avx2") && features.lookup("fma");
    avx512 = avx2 && features.lookup("avx512f") && features.lookup("avx512vl") &&
             features.lookup("avx512bw") && features.lookup("avx512dq");
    target.bfloat16_dots = avx512 && features.lookup("avx512bf16");
    target.byte_dots = features.lookup(avx512 ? "avx512vnni" : "avxvnni") && avx2;
    // LLVM knows what the processor has, not what Linux permits.
    auto tiles = [&](const char* feature) {
      return features.lookup("amx-tile") && features.lookup(feature) &&
             CpuFeatures::OfThisMachine().Has(feature);
    };
    target.bfloat16_tiles = target.bfloat16_dots && tiles("amx-bf16");
    target.byte_tiles = avx512 && target.byte_dots && tiles("amx-int8");
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
