#include "kernels/codegen/contraction/widen.h"

#include <numeric>
#include <vector>

#include "kernels/codegen/instructions.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;
using te::BinaryOp;
using te::Expr;
using te::ExprKind;

// A number that is known but for a multiple of `align`: base * scale + at. No base: at. Scales stay
// apart, so that quotients of products fold.
struct Index {
  Value* base = nullptr;
  int64_t align = 1, at = 0, scale = 1;
};

class Widener {
 public:
  Widener(Builder& b, const WeightForm& form, const WidenedStep& step, unsigned lanes,
          const std::function<Value*(Value* row)>& load)
      : b_(b),
        ops_(b),
        lanes_(lanes),
        step_{step.from, step.align, step.at},
        words_(te::Placeholder("words", {1}, form.in_words() ? DType::kUInt32 : form.stored, 0)),
        zeros_(te::Placeholder("zeros", {}, DType::kFloat32, 1)),
        load_(load) {
    if (IsConst(step.from, 0)) step_.base = nullptr;
  }

  // The number, or, with 4 bits or fewer, its integer, above which other bits may stay.
  Value* Number(const WeightForm& form, Value* zeros) {
    zero_values_ = zeros;
    const Expr zero = zeros ? te::Load(zeros_, {}) : nullptr;
    return Emit(NumberOf(form, k_, row_of_, zero));
  }
  Value* LowBits(const WeightForm& form) {
    const Expr bits = BitsOf(form, k_, row_of_);
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

  // By less than a word.
  Value* Shift(const Expr& e, llvm::Instruction::BinaryOps op) {
    Value* words = Emit(e->operands[0]);
    Value* amount = ValueOf(IndexOf(e->operands[1]));
    return b_.CreateBinOp(op, words, Splat(b_.CreateTrunc(amount, b_.getInt32Ty())));
  }

  Value* ValueOf(const Index& i) {
    return i.base ? Add(b_, Mul(b_, i.base, i.scale), i.at) : I64(b_, i.at);
  }

  // Of k: sums and differences with constants, products, quotients and rests.
  Index IndexOf(const Expr& e) {
    if (e->kind == ExprKind::kIntImm) return {nullptr, 1, e->int_value};
    if (e->kind == ExprKind::kAxis) return step_;
    if (e->kind == ExprKind::kCast) return IndexOf(e->operands[0]);
    Index x = IndexOf(e->operands[0]);
    const Index y = IndexOf(e->operands[1]);
    const int64_t n = y.at;
    switch (e->binary) {
      case BinaryOp::kAdd:
        return {x.base, x.align, x.at + n, x.scale};
      case BinaryOp::kSubtract:  // from a constant
        return y.base ? Index{Sub(b_, I64(b_, x.at), ValueOf(y))} : Index{nullptr, 1, x.at - n};
      case BinaryOp::kMultiply:
        return {x.base, x.align * n, x.at * n, x.scale * n};
      case BinaryOp::kFloorDivide:
        if (!x.base) return {nullptr, 1, x.at / n};
        if (x.align % n != 0) return {Div(b_, ValueOf(x), I64(b_, n))};
        // A multiple of n: what of n the scale does not hold, the base does.
        return {Div(b_, x.base, I64(b_, n / std::gcd(x.scale, n))), x.align / n, x.at / n,
                x.scale / std::gcd(x.scale, n)};
      case BinaryOp::kFloorMod:
        if (x.base && x.align % n != 0) return {Rem(b_, ValueOf(x), I64(b_, n))};
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

Value* EmitNumbers(Builder& b, const WeightForm& form, const WidenedStep& step, unsigned lanes,
                   Value* zeros, const std::function<Value*(Value* row)>& load) {
  Widener widener(b, form, step, lanes, load);
  constexpr unsigned kTable = 16;
  if (zeros || lanes != kTable || form.bits() > 4 || form.decode != nullptr)
    return widener.Number(form, zeros);
  // A table by the lowest 4 bits: one instruction.
  std::vector<llvm::Constant*> table;
  for (unsigned i = 0; i < kTable; ++i) {
    const auto integer = static_cast<double>(i % (1U << form.bits()));
    table.push_back(llvm::ConstantFP::get(b.getFloatTy(), integer - form.zero_point()));
  }
  return b.machine().instructions->Pick(b, llvm::ConstantVector::get(table), widener.LowBits(form));
}

}  // namespace relayvm::codegen
