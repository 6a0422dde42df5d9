// 64-bit Arm: NEON, and the dot products of later levels. Kernels compile for it; nothing loads
// them yet.
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/Support/TargetSelect.h>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/instructions.h"
#include "kernels/codegen/llvm_backend.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;

Value* Dot(Builder& b, llvm::Intrinsic::ID id, Value* x, Value* y, Value* sum) {
  llvm::Type* bytes = VectorOf(b.getInt8Ty(), 4 * LanesOf(sum));
  return b.CreateIntrinsic(id, {sum->getType(), bytes},
                           {sum, b.CreateBitCast(x, bytes), b.CreateBitCast(y, bytes)});
}

bool IsWhole(const Value* sum) { return LanesOf(sum) == 2 || LanesOf(sum) == 4; }

// SDOT takes signed bytes: x * y = (x - 128) * y + 128 * y.
Value* AddSigned(Builder& b, Value* x, Value* y, Value* sum) {
  if (!IsWhole(sum)) return nullptr;
  constexpr auto kSdot = llvm::Intrinsic::aarch64_neon_sdot;
  const auto splat = [&](uint32_t bytes) {
    return b.CreateVectorSplat(LanesOf(sum), b.getInt32(bytes));
  };
  Value* of_y = Dot(b, kSdot, splat(0x01010101), y, llvm::Constant::getNullValue(sum->getType()));
  sum = Dot(b, kSdot, b.CreateXor(x, splat(0x80808080)), y, sum);
  return b.CreateAdd(sum, b.CreateShl(of_y, 7));
}

// USDOT.
Value* AddMixed(Builder& b, Value* x, Value* y, Value* sum) {
  return IsWhole(sum) ? Dot(b, llvm::Intrinsic::aarch64_neon_usdot, x, y, sum) : nullptr;
}

constexpr DotProduct kSigned = {"dotprod", 16, AddSigned}, kMixed = {"i8mm", 16, AddMixed};

std::vector<Machine> Machines() {
  static const Instructions instructions;
  Machine m;
  m.triple = "aarch64-unknown-linux-gnu";
  m.cpu = m.tune = "generic";
  m.vector_registers = 32;
  m.fma = m.half = true;
  m.instructions = &instructions;
  std::vector<Machine> machines;
  const auto add = [&](std::string_view target, std::string_view features,
                       const DotProduct* quads) {
    m.target = m.level = target;
    m.features = features;
    m.dots.quads = quads;
    machines.push_back(m);
  };
  add("aarch64", "+neon", nullptr);
  add("aarch64-v8.2", "+v8.2a,+dotprod", &kSigned);
  add("aarch64-v8.6", "+v8.6a", &kMixed);
  return machines;
}

Result<Machine> NoHost(std::span<const Machine> /*machines*/) {
  return {StatusCode::kUnsupported, "this program runs on no aarch64"};
}

}  // namespace

const KernelBackend& Aarch64Backend() {
  static const LlvmBackend backend = [] {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    return LlvmBackend(Machines(), NoHost,
                       "kernels are compiled for it (--emit llvm, --emit asm), but no program is "
                       "made: images and features of its processors are not loaded yet");
  }();
  return backend;
}

}  // namespace relayvm::codegen
