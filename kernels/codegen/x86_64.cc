// x86-64: the levels of its psABI, a processor with AMX, and the instructions that kernels use by
// name.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

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

  // Lanes of a register at a time.
  Value* TakeByBytes(Builder& b, Value* table, Value* bytes) const override {
    const bool permutes = !b.machine().byte_tables.empty();
    // Of a few lanes, each is loaded by itself sooner.
    if (!permutes && LanesOf(bytes) < 16) return nullptr;
    return InUnits(b, bytes, b.machine().vector_bytes, [&](Value* some) {
      return permutes ? ByPermutations(b, table, some) : ByRows(b, table, some);
    });
  }

  Value* MultiplyPairs(Builder& b, Value* x, Value* y) const override {
    const ID id = ByLanes(LanesOf(x) / 2, intrinsic::x86_sse2_pmadd_wd,
                          intrinsic::x86_avx2_pmadd_wd, intrinsic::x86_avx512_pmaddw_d_512);
    return id != intrinsic::not_intrinsic ? b.CreateIntrinsic(id, {}, {x, y})
                                          : Instructions::MultiplyPairs(b, x, y);
  }

  // Of AVX2: others have instructions for quads, or are not tuned.
  bool has_byte_pairs(const Machine& machine) const override { return machine.vector_bytes == 32; }
  Value* MultiplyBytePairs(Builder& b, Value* x, Value* y) const override {
    const ID id = ByLanes(LanesOf(x) / 4, intrinsic::x86_ssse3_pmadd_ub_sw_128,
                          intrinsic::x86_avx2_pmadd_ub_sw, intrinsic::x86_avx512_pmaddubs_w_512);
    return id != intrinsic::not_intrinsic ? b.CreateIntrinsic(id, {}, {x, y})
                                          : Instructions::MultiplyBytePairs(b, x, y);
  }

 private:
  // `bytes` of a table, from byte `first` on.
  static Value* Part(Builder& b, Value* table, unsigned first, unsigned bytes) {
    Value* at = b.CreateGEP(b.getInt8Ty(), table, b.getInt64(first));
    llvm::LoadInst* part = b.CreateAlignedLoad(VectorOf(b.getInt8Ty(), bytes), at, llvm::Align(16));
    part->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    return part;
  }

  // VPERMI2B picks of 128 bytes by 7 bits; the eighth says which half.
  static Value* ByPermutations(Builder& b, Value* table, Value* bytes) {
    constexpr unsigned kLanes = 64;
    Value* halves[2];
    for (unsigned half = 0; half < 2; ++half) {
      halves[half] = b.CreateIntrinsic(intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                       {Part(b, table, 2 * half * kLanes, kLanes), bytes,
                                        Part(b, table, (2 * half + 1) * kLanes, kLanes)});
    }
    Value* is_high = b.CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType()));
    return b.CreateSelect(is_high, halves[1], halves[0]);
  }

  // PSHUFB picks of 16 bytes by 4 bits, and gives 0 where the eighth is set. Of rows of 16 that
  // hold the difference (xor) to the row before, the picks of all rows up to a byte's own add up to
  // the byte's: 16 less for each row, and below 0 the eighth bit is set. Bytes from 128 on have it
  // set at first, and pick of the last rows of the lower half on the way, which their rows take
  // back; then a saturated difference keeps it set for the others. After XNNPACK's x8-lut kernels.
  static Value* ByRows(Builder& b, Value* table, Value* bytes) {
    constexpr unsigned kRow = 16, kRows = 16, kHalf = 8;
    const unsigned lanes = LanesOf(bytes);
    std::vector<int> again;
    for (unsigned i = 0; i < lanes; ++i) again.push_back(static_cast<int>(i % kRow));
    std::vector<Value*> rows;
    for (unsigned i = 0; i < kRows; ++i)
      rows.push_back(b.CreateShuffleVector(Part(b, table, i * kRow, kRow), again));
    Value* step = llvm::ConstantInt::get(bytes->getType(), kRow);
    Value* sum = nullptr;
    for (unsigned i = 0; i < kRows; ++i) {
      Value* row = rows[i];
      if (i > 0) row = b.CreateXor(row, rows[i - 1]);
      if (i >= kHalf) row = b.CreateXor(row, rows[i - kHalf]);
      if (i > kHalf) row = b.CreateXor(row, rows[i - kHalf - 1]);
      if (i > 0) {
        bytes = i < kHalf + 1 ? b.CreateSub(bytes, step)
                              : b.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, bytes, step);
      }
      Value* picked = Shuffled(b, row, bytes);
      sum = sum == nullptr ? picked : b.CreateXor(sum, picked);
    }
    return sum;
  }
  static Value* Shuffled(Builder& b, Value* row, Value* picks) {
    const unsigned lanes = LanesOf(row);
    const ID id = lanes == 64   ? ID{intrinsic::x86_avx512_pshuf_b_512}
                  : lanes == 32 ? ID{intrinsic::x86_avx2_pshuf_b}
                                : ID{intrinsic::x86_ssse3_pshuf_b_128};
    return b.CreateIntrinsic(id, {}, {row, picks});
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

// What a processor has beyond its level. Tiles where vectors do the same: they serve few rows.
void TakeExtensions(const CpuFeatures& cpu, Machine* m) {
  constexpr std::string_view kByteTables = "avx512vbmi";
  if (m->vector_bytes == 64 && cpu.Missing(kByteTables).empty()) m->byte_tables = kByteTables;
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
  // The generic timing is that of processors without FMA: it starts loads early, and where a tile's
  // sums and operands fill the registers LLVM then moves all of them at each step.
  m.tune = "haswell";
  add("x86-64-v3");
  m.vector_bytes = 64;
  m.vector_registers = 32;
  m.tune = "generic";
  m.l2_bytes = 1 << 20;
  m.masks = true;
  add("x86-64-v4");
  m.target = m.tune = "sapphirerapids";
  TakeExtensions(
      CpuFeatures({"avx512vbmi", "avx512bf16", "avx512vnni", "amx-tile", "amx-bf16", "amx-int8"}),
      &m);
  machines.push_back(m);
  return machines;
}

// A level's, where the system says none, or what no processor has.
void TakeCaches(Machine* m) {
  const auto take = [](int name, int64_t least, int64_t most, int64_t* bytes) {
    const int64_t found = ::sysconf(name);
    if (found >= least && found <= most) *bytes = found;
  };
  take(_SC_LEVEL1_DCACHE_SIZE, 16 << 10, 128 << 10, &m->l1_bytes);
  take(_SC_LEVEL2_CACHE_SIZE, 256 << 10, 4 << 20, &m->l2_bytes);
}

// The highest level that this processor has. AMX is part of it where Linux permits it.
Result<Machine> FindHost(std::span<const Machine> machines) {
  const CpuFeatures host = CpuFeatures::OfThisMachine();
  const Machine* best = nullptr;
  for (const Machine& m : machines) {
    if (m.target == m.level && host.Missing(m.level).empty()) best = &m;
  }
  if (best == nullptr)
    return {StatusCode::kUnsupported, "this machine is older than x86-64-v2, the lowest target"};
  Machine m = *best;
  m.target = "native";
  if (const llvm::StringRef name = llvm::sys::getHostCPUName(); name != "generic") m.tune = name;
  TakeExtensions(host, &m);
  TakeCaches(&m);
  return m;
}

// Looked for once for each level that the environment allows: options of all kinds ask, and in a
// virtual machine each of its 60 CPUIDs takes some microseconds.
Result<Machine> HostOf(std::span<const Machine> machines) {
  static std::mutex mutex;
  static std::map<std::string, Result<Machine>> found;
  const char* most = std::getenv(kMaxCpuLevelVariable);  // NOLINT(concurrency-mt-unsafe)
  const std::lock_guard lock(mutex);
  auto at = found.find(most == nullptr ? "" : most);
  if (at == found.end()) at = found.emplace(most == nullptr ? "" : most, FindHost(machines)).first;
  return at->second;
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
