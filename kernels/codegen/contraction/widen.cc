#include "kernels/codegen/contraction/widen.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <vector>

#include "kernels/codegen/ops.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;
using te::BinaryOp;
using te::Expr;
using te::ExprKind;

// A number that is known but for a multiple of `align`, a power of two: base + at, at < align. No base: at.
struct Index {
  Value* base = nullptr;
  int64_t align = 1, at = 0;
};

class Widener {
 public:
  Widener(Builder& b, const WeightForm& form, const WidenedStep& step, unsigned lanes,
          const std::function<Value*(Value* row)>& load)
      : b_(b),
        ops_(b, TargetTraits::Of(*b.GetInsertBlock()->getParent())),
        lanes_(lanes),
        step_{step.from, step.align, step.at},
        words_(te::Placeholder("words", {1}, form.has_parts() ? DType::kUInt32 : form.stored, 0)),
        zeros_(te::Placeholder("zeros", {}, DType::kFloat32, 1)),
        load_(load) {
    if (IsConst(step.from, 0)) step_.base = nullptr;
  }

  // The number, or, with 4 bits or fewer, its integer, above which other bits may stay.
  Value* Number(const WeightForm& form, int64_t block, Value* zeros) {
    zero_values_ = zeros;
    const Expr zero = zeros ? te::Load(zeros_, {}) : nullptr;
    return Emit(NumberOf(form, k_, block, row_of_, zero));
  }
  Value* LowBits(const WeightForm& form, int64_t block) {
    const Expr bits = BitsOf(form, k_, block, row_of_);
    return Emit(bits->kind == ExprKind::kBinary && bits->binary == BinaryOp::kAnd
                    ? bits->operands[0]
                    : bits);
  }

 private:
  Value* Splat(Value* scalar) { return b_.CreateVectorSplat(lanes_, scalar); }

  Value* Emit(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kLoad:
        if (e->tensor == zeros_) return zero_values_;
        return ops_.FromMemory(load_(ValueOf(IndexOf(e->operands[0]))), e->dtype);
      case ExprKind::kIntImm:
        return Splat(ops_.Constant(te::IntScalar(e->int_value), e->dtype));
      case ExprKind::kFloatImm:
        return Splat(ops_.Constant(te::FloatScalar(e->float_value), e->dtype));
      case ExprKind::kCast:
        return ops_.Cast(e->operands[0]->dtype, e->dtype, Emit(e->operands[0]));
      case ExprKind::kReinterpret:
        return ops_.Reinterpret(e->operands[0]->dtype, e->dtype, Emit(e->operands[0]));
      case ExprKind::kBinary:
        if (e->binary == BinaryOp::kShiftLeft) return Shift(e, llvm::Instruction::Shl);
        if (e->binary == BinaryOp::kShiftRight) return Shift(e, llvm::Instruction::LShr);
        return ops_.Binary(e->binary, e->dtype, Emit(e->operands[0]), Emit(e->operands[1]));
      default:
        llvm_unreachable("what a form's numbers are made of");
    }
  }

  // By less than a word: what only running tells first, which neighbours share.
  Value* Shift(const Expr& e, llvm::Instruction::BinaryOps op) {
    Value* words = Emit(e->operands[0]);
    const Index amount = IndexOf(e->operands[1]);
    if (amount.base)
      words = b_.CreateBinOp(op, words, Splat(b_.CreateTrunc(amount.base, b_.getInt32Ty())));
    if (amount.at == 0) return words;
    return b_.CreateBinOp(op, words, Splat(b_.getInt32(static_cast<uint32_t>(amount.at))));
  }

  Value* ValueOf(const Index& i) { return i.base ? Add(b_, i.base, i.at) : I64(b_, i.at); }

  // Of k: sums with constants, products, quotients and rests of powers of two.
  Index IndexOf(const Expr& e) {
    if (e->kind == ExprKind::kIntImm) return {nullptr, 1, e->int_value};
    if (e->kind == ExprKind::kAxis) return step_;
    Index x = IndexOf(e->operands[0]);
    if (e->kind == ExprKind::kCast) return x;
    const int64_t n = e->operands[1]->int_value;
    switch (e->binary) {
      case BinaryOp::kAdd:
        x.at += n;
        return x;
      case BinaryOp::kMultiply:
        return {x.base ? Mul(b_, x.base, n) : nullptr, x.align * n, x.at * n};
      case BinaryOp::kFloorDivide:
        return {x.base ? Div(b_, x.base, I64(b_, n)) : nullptr, std::max<int64_t>(x.align / n, 1),
                x.at / n};
      case BinaryOp::kFloorMod:
        if (x.base && x.align % n != 0) return {Rem(b_, x.base, I64(b_, n)), x.align, x.at % n};
        return {nullptr, 1, x.at % n};
      default:
        llvm_unreachable("an index of words");
    }
  }

  Builder& b_;
  Ops ops_;
  unsigned lanes_;
  Index step_;
  const Expr k_ = te::AxisValue(te::MakeAxis("k", 1 << 20));
  te::Tensor words_, zeros_;
  const std::function<Value*(Value* row)>& load_;
  const std::function<Expr(const Expr&)> row_of_ = [this](const Expr& row) {
    return te::Load(words_, {row});
  };
  Value* zero_values_ = nullptr;
};

}  // namespace

Value* EmitNumbers(Builder& b, const WeightForm& form, const WidenedStep& step, int64_t block,
                   unsigned lanes, Value* zeros, const std::function<Value*(Value* row)>& load) {
  Widener widener(b, form, step, lanes, load);
  constexpr unsigned kTable = 16;
  if (zeros || lanes != kTable || form.bits() > 4 || form.decode != nullptr)
    return widener.Number(form, block, zeros);
  // A table by the lowest 4 bits: one instruction.
  std::vector<llvm::Constant*> table;
  for (unsigned i = 0; i < kTable; ++i) {
    const auto integer = static_cast<double>(i % (1U << form.bits()));
    table.push_back(llvm::ConstantFP::get(b.getFloatTy(), integer - form.zero_point()));
  }
  return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                           {llvm::ConstantVector::get(table), widener.LowBits(form, block)});
}

}  // namespace relayvm::codegen
