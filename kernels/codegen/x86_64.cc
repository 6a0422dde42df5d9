// x86-64: the levels of its psABI, a processor with AMX, and the instructions that kernels use by
// name.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "bytecode/image_loader.h"
#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/instructions.h"
#include "kernels/codegen/llvm_backend.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;
using ID = llvm::Intrinsic::ID;
namespace intrinsic = llvm::Intrinsic;

// An instruction's form for 4, 8 or 16 lanes; there is none for others.
ID ByLanes(unsigned lanes, ID of_4, ID of_8, ID of_16) {
  return lanes == 4 ? of_4 : lanes == 8 ? of_8 : lanes == 16 ? of_16 : ID{intrinsic::not_intrinsic};
}

class X86Instructions final : public Instructions {
 public:
  Value* FloatsToInt32(Builder& b, Value* x, bool rounds) const override {
    const unsigned lanes = LanesOf(x);
    if (lanes * 4 > b.machine().vector_bytes) return nullptr;
    const ID id =
        rounds ? ByLanes(lanes, intrinsic::x86_sse2_cvtps2dq, intrinsic::x86_avx_cvt_ps2dq_256,
                         intrinsic::x86_avx512_mask_cvtps2dq_512)
               : ByLanes(lanes, intrinsic::x86_sse2_cvttps2dq, intrinsic::x86_avx_cvtt_ps2dq_256,
                         intrinsic::x86_avx512_mask_cvttps2dq_512);
    if (id == intrinsic::not_intrinsic) return nullptr;
    if (lanes < 16) return b.CreateIntrinsic(id, {}, {x});
    constexpr int kRoundingOfTheMachine = 4;
    Value* none = llvm::Constant::getNullValue(VectorOf(b.getInt32Ty(), lanes));
    return b.CreateIntrinsic(id, {},
                             {x, none, b.getInt16(0xffff), b.getInt32(kRoundingOfTheMachine)});
  }

  // An fptrunc would invite LLVM to narrow the operation before it to half, which has no vector
  // form.
  Value* FloatToHalf(Builder& b, Value* x) const override {
    Value* nearest_even = b.getInt32(0);
    if (!x->getType()->isVectorTy()) {
      Value* zero = llvm::Constant::getNullValue(VectorOf(b.getFloatTy(), 4));
      Value* vector = b.CreateInsertElement(zero, x, uint64_t{0});
      Value* half = b.CreateIntrinsic(intrinsic::x86_vcvtps2ph_128, {}, {vector, nearest_even});
      return b.CreateExtractElement(half, uint64_t{0});
    }
    if (b.machine().vector_bytes == 64 && LanesOf(x) > 8) {
      return InUnits(b, x, 16, [&](Value* v) {
        return b.CreateIntrinsic(
            intrinsic::x86_avx512_mask_vcvtps2ph_512, {},
            {v, nearest_even, llvm::Constant::getNullValue(VectorOf(b.getInt16Ty(), 16)),
             b.getInt16(0xffff)});
      });
    }
    return InUnits(b, x, 8, [&](Value* v) {
      return b.CreateIntrinsic(intrinsic::x86_vcvtps2ph_256, {}, {v, nearest_even});
    });
  }

  // In that order where the instruction has it: what is picked of, then the picks.
  Value* Pick(Builder& b, Value* from, Value* picks) const override {
    const unsigned lanes = LanesOf(from);
    const unsigned bits = from->getType()->getScalarSizeInBits();
    ID id = intrinsic::not_intrinsic;
    if (bits == 8 && lanes == 64) id = intrinsic::x86_avx512_pshuf_b_512;
    if (bits == 32 && lanes == 8) id = intrinsic::x86_avx2_permd;
    if (bits == 32 && lanes == 16) {
      id = from->getType()->isFPOrFPVectorTy() ? ID{intrinsic::x86_avx512_permvar_sf_512}
                                               : ID{intrinsic::x86_avx512_permvar_si_512};
    }
    const bool has = bits * lanes / 8 <= b.machine().vector_bytes;
    return has && id != intrinsic::not_intrinsic ? b.CreateIntrinsic(id, {}, {from, picks})
                                                 : Instructions::Pick(b, from, picks);
  }

  Value* MultiplyPairs(Builder& b, Value* x, Value* y) const override {
    const ID id = ByLanes(LanesOf(x) / 2, intrinsic::x86_sse2_pmadd_wd,
                          intrinsic::x86_avx2_pmadd_wd, intrinsic::x86_avx512_pmaddw_d_512);
    return id != intrinsic::not_intrinsic ? b.CreateIntrinsic(id, {}, {x, y})
                                          : Instructions::MultiplyPairs(b, x, y);
  }
};

// VDPBF16PS: denormals count as 0.
Value* AddPairs(Builder& b, Value* x, Value* y, Value* sum) {
  const unsigned lanes = LanesOf(sum);
  const ID id =
      ByLanes(lanes, intrinsic::x86_avx512bf16_dpbf16ps_128, intrinsic::x86_avx512bf16_dpbf16ps_256,
              intrinsic::x86_avx512bf16_dpbf16ps_512);
  llvm::Type* pairs = VectorOf(b.getBFloatTy(), 2 * lanes);
  return b.CreateIntrinsic(id, {}, {sum, b.CreateBitCast(x, pairs), b.CreateBitCast(y, pairs)});
}

// VPDPBUSD.
Value* AddQuads(Builder& b, Value* x, Value* y, Value* sum) {
  const ID id = ByLanes(LanesOf(sum), intrinsic::x86_avx512_vpdpbusd_128,
                        intrinsic::x86_avx512_vpdpbusd_256, intrinsic::x86_avx512_vpdpbusd_512);
  return id == intrinsic::not_intrinsic ? nullptr : b.CreateIntrinsic(id, {}, {sum, x, y});
}

constexpr DotProduct kPairs = {"avx512bf16", 64, AddPairs};
constexpr DotProduct kQuads = {"avx512vnni", 64, AddQuads}, kQuadsOf32 = {"avxvnni", 32, AddQuads};
constexpr DotProduct kPairTiles = {"amx-tile,amx-bf16", 64}, kQuadTiles = {"amx-tile,amx-int8", 64};

// Tiles where vectors do the same: they serve few rows.
void TakeDots(const CpuFeatures& cpu, Machine* m) {
  const auto best = [&](std::initializer_list<const DotProduct*> forms) -> const DotProduct* {
    for (const DotProduct* form : forms) {
      if (form->vector_bytes == m->vector_bytes && cpu.Missing(form->features).empty()) return form;
    }
    return nullptr;
  };
  m->dots = {best({&kPairs}), best({&kQuads, &kQuadsOf32})};
  if (m->dots.pairs != nullptr) m->tiles.pairs = best({&kPairTiles});
  if (m->dots.quads != nullptr) m->tiles.quads = best({&kQuadTiles});
  // Every processor with AMX has 2 MB for a core.
  if (m->tiles.pairs != nullptr || m->tiles.quads != nullptr) m->l2_bytes = 2 << 20;
}

std::vector<Machine> Machines() {
  static const X86Instructions instructions;
  Machine m;
  m.triple = "x86_64-unknown-linux-gnu";
  m.tune = "generic";
  m.instructions = &instructions;
  std::vector<Machine> machines;
  const auto add = [&](std::string_view level) {
    m.target = m.level = m.cpu = level;
    machines.push_back(m);
  };
  add("x86-64-v2");
  m.vector_bytes = 32;
  m.fma = m.half = true;
  add("x86-64-v3");
  m.vector_bytes = 64;
  m.vector_registers = 32;
  m.l2_bytes = 1 << 20;
  m.masks = true;
  add("x86-64-v4");
  m.target = m.tune = "sapphirerapids";
  TakeDots(CpuFeatures({"avx512bf16", "avx512vnni", "amx-tile", "amx-bf16", "amx-int8"}), &m);
  machines.push_back(m);
  return machines;
}

// The highest level that this processor has. AMX is part of it where Linux permits it.
Result<Machine> HostOf(std::span<const Machine> machines) {
  const CpuFeatures host = CpuFeatures::OfThisMachine();
  const Machine* best = nullptr;
  for (const Machine& m : machines) {
    if (m.target == m.level && host.Missing(m.level).empty()) best = &m;
  }
  if (best == nullptr)
    return {StatusCode::kUnsupported, "this machine is older than x86-64-v2, the lowest target"};
  Machine m = *best;
  m.target = "native";
  m.tune = llvm::sys::getHostCPUName();
  TakeDots(host, &m);
  return m;
}

}  // namespace

const KernelBackend& X86Backend() {
  static const LlvmBackend backend = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    return LlvmBackend(Machines(), HostOf);
  }();
  return backend;
}

}  // namespace relayvm::codegen
