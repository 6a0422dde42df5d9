// Calls on scalars: the operator's own tensor expression as scalar instructions.
//
// One table says which instruction an operator of an expression is, for each class of dtypes. What
// a scalar means is thus said once, by kernels/te: the same call on tensors becomes a kernel from
// the same expression, and the reference evaluates it.
#include <array>
#include <bit>
#include <span>
#include <unordered_map>

#include "compiler/ir/primitive.h"
#include "compiler/lowering/function_lowering.h"
#include "kernels/te/scalar.h"
#include "kernels/te/scalar_expression.h"

namespace relayvm::lower {
namespace {

constexpr Opcode kNone = Opcode::kJump;  // never arithmetic
constexpr Opcode kFn2 = Opcode::kCall2F32;

// In the order of te::BinaryOp, up to the comparisons. kFn2: the function, in the operands' width.
struct BinaryRow {
  te::BinaryOp op;
  Opcode signed_int, unsigned_int;  // on 64-bit registers; bool is unsigned
  Opcode f32, f64;
  ScalarFunction function{};
  bool wraps = false;  // the result may leave the range of a narrow integer
};
constexpr std::array kBinary = {
    BinaryRow{te::BinaryOp::kAdd,
              Opcode::kAddI,
              Opcode::kAddI,
              Opcode::kAddF32,
              Opcode::kAddF64,
              {},
              true},
    BinaryRow{te::BinaryOp::kSubtract,
              Opcode::kSubI,
              Opcode::kSubI,
              Opcode::kSubF32,
              Opcode::kSubF64,
              {},
              true},
    BinaryRow{te::BinaryOp::kMultiply,
              Opcode::kMulI,
              Opcode::kMulI,
              Opcode::kMulF32,
              Opcode::kMulF64,
              {},
              true},
    BinaryRow{te::BinaryOp::kDivide,
              Opcode::kDivI,
              Opcode::kDivU,
              Opcode::kDivF32,
              Opcode::kDivF64,
              {},
              true},
    BinaryRow{te::BinaryOp::kFloorDivide, Opcode::kFloorDivI, Opcode::kDivU, kFn2, kFn2,
              ScalarFunction::kFloorDiv, true},
    BinaryRow{te::BinaryOp::kMod, Opcode::kModI, Opcode::kModU, kFn2, kFn2, ScalarFunction::kMod},
    BinaryRow{te::BinaryOp::kFloorMod, Opcode::kFloorModI, Opcode::kModU, kFn2, kFn2,
              ScalarFunction::kFloorMod},
    BinaryRow{te::BinaryOp::kMin, Opcode::kMinI, Opcode::kMinU, kFn2, kFn2, ScalarFunction::kMin},
    BinaryRow{te::BinaryOp::kMax, Opcode::kMaxI, Opcode::kMaxU, kFn2, kFn2, ScalarFunction::kMax},
    BinaryRow{te::BinaryOp::kPower, Opcode::kPowI, Opcode::kPowU, kFn2, kFn2,
              ScalarFunction::kPower, true},
    BinaryRow{te::BinaryOp::kAtan2, kNone, kNone, kFn2, kFn2, ScalarFunction::kAtan2},
    BinaryRow{te::BinaryOp::kAnd, Opcode::kAndI, Opcode::kAndI, kNone, kNone},
    BinaryRow{te::BinaryOp::kOr, Opcode::kOrI, Opcode::kOrI, kNone, kNone},
    BinaryRow{te::BinaryOp::kXor, Opcode::kXorI, Opcode::kXorI, kNone, kNone},
    BinaryRow{te::BinaryOp::kShiftLeft, Opcode::kShlI, Opcode::kShlI, kNone, kNone, {}, true},
    BinaryRow{te::BinaryOp::kShiftRight, Opcode::kShrI, Opcode::kShrU, kNone, kNone},
};
constexpr bool InOrder() {
  for (size_t i = 0; i < kBinary.size(); ++i) {
    if (kBinary[i].op != static_cast<te::BinaryOp>(i)) return false;
  }
  return kBinary.size() == static_cast<size_t>(te::BinaryOp::kEqual);
}
static_assert(InOrder());

Comparison ComparisonOf(te::BinaryOp op) {
  static_assert(static_cast<int>(te::BinaryOp::kGreaterEqual) -
                    static_cast<int>(te::BinaryOp::kEqual) ==
                static_cast<int>(Comparison::kGe));
  return static_cast<Comparison>(static_cast<int>(op) - static_cast<int>(te::BinaryOp::kEqual));
}

// Of a float. te::UnaryOp::kNot and kSoftmaxExp have none.
ScalarFunction FunctionOf(te::UnaryOp op) {
  static_assert(static_cast<int>(ScalarFunction::kExp) + 1 == static_cast<int>(te::UnaryOp::kExp));
  static_assert(static_cast<int>(ScalarFunction::kIsFinite) + 2 ==
                static_cast<int>(te::UnaryOp::kIsFinite));
  const int before = (op > te::UnaryOp::kNot ? 1 : 0) + (op > te::UnaryOp::kSoftmaxExp ? 1 : 0);
  return static_cast<ScalarFunction>(static_cast<int>(op) - before);
}

bool IsNarrow(DType t) { return !IsFloat(t) && DTypeBytes(t) < 8; }
bool IsF32(DType t) { return t == DType::kFloat32; }

bool FitsAddImm(int64_t v) { return v > INT16_MIN && v <= INT16_MAX; }

}  // namespace

// Compiles one expression; parts that it shares are computed once.
class FunctionLowering::ScalarCompiler {
 public:
  ScalarCompiler(FunctionLowering& out, std::span<const Value> inputs)
      : out_(out), inputs_(inputs) {}

  // REQUIRES: part of an expression that te::IsScalarExpression takes.
  Reg Run(const te::Expr& e) {
    if (auto at = done_.find(e.get()); at != done_.end()) return at->second;
    Reg reg = Compile(*e);
    done_[e.get()] = reg;
    return reg;
  }

 private:
  Reg Emit(Opcode op, std::vector<MOperand> operands) {
    Reg reg = out_.NewScalar();
    operands.insert(operands.begin(), MOperand(reg));
    out_.Emit(op, std::move(operands));
    return reg;
  }
  Reg Wrap(Reg x, DType t) {
    return IsNarrow(t) ? Emit(Opcode::kWrap, {x, static_cast<int64_t>(t)}) : x;
  }
  Reg Convert(Reg x, DType from, DType to) {
    if (from == to) return x;
    return Emit(Opcode::kConvert, {x, static_cast<int64_t>(from), static_cast<int64_t>(to)});
  }

  Reg Compile(const te::ExprNode& e) {
    switch (e.kind) {
      case te::ExprKind::kIntImm:
        return out_.ConstI(e.int_value);
      case te::ExprKind::kFloatImm:
        return out_.ConstI(IsF32(e.dtype)
                               ? std::bit_cast<uint32_t>(static_cast<float>(e.float_value))
                               : std::bit_cast<int64_t>(e.float_value));
      case te::ExprKind::kDim:
        return out_.EmitDim(e.dim);
      case te::ExprKind::kLoad:
        if (!e.tensor->is_placeholder()) return Run(e.tensor->body);
        return out_.ScalarOf(inputs_[static_cast<size_t>(e.tensor->input_index)]);
      case te::ExprKind::kUnary:
        return Unary(e.unary, e.operands[0]->dtype, Run(e.operands[0]));
      case te::ExprKind::kBinary:
        return Binary(e);
      case te::ExprKind::kCast:
        return Convert(Run(e.operands[0]), e.operands[0]->dtype, e.dtype);
      case te::ExprKind::kReinterpret:
        // The low bits, extended as the dtype has them.
        return Wrap(Run(e.operands[0]), IsF32(e.dtype) ? DType::kUInt32 : e.dtype);
      case te::ExprKind::kSelect: {
        Reg condition = Run(e.operands[0]);
        Reg if_true = Run(e.operands[1]);
        return Emit(Opcode::kSelectI, {condition, if_true, Run(e.operands[2])});
      }
      case te::ExprKind::kChecked: {
        const Reg index = Run(e.operands[0]), least = Run(e.operands[1]);
        out_.Emit(Opcode::kRangeCheck,
                  {index, least, Run(e.operands[2]), out_.module_.MessageIndex(out_.dim_owner_)});
        return index;
      }
      case te::ExprKind::kAxis:
      case te::ExprKind::kReduce:
        break;  // no scalar expression
    }
    return out_.ConstI(0);
  }

  Reg Unary(te::UnaryOp op, DType t, Reg x) {
    if (IsFloat(t)) {
      return Emit(IsF32(t) ? Opcode::kCallF32 : Opcode::kCallF64,
                  {static_cast<int64_t>(FunctionOf(op)), x});
    }
    switch (op) {
      case te::UnaryOp::kNegative:
        return Wrap(Emit(Opcode::kSubI, {out_.ConstI(0), x}), t);
      case te::UnaryOp::kAbs:
        if (!IsSignedInt(t)) return x;
        return Wrap(Emit(Opcode::kMaxI, {x, Emit(Opcode::kSubI, {out_.ConstI(0), x})}), t);
      case te::UnaryOp::kSign:
        if (!IsSignedInt(t)) return Emit(Opcode::kMinU, {x, out_.ConstI(1)});
        return Emit(Opcode::kMaxI, {Emit(Opcode::kMinI, {x, out_.ConstI(1)}), out_.ConstI(-1)});
      case te::UnaryOp::kNot:
        if (t == DType::kBool) {  // which a branch takes in
          return Emit(Opcode::kCompareI,
                      {static_cast<int64_t>(Comparison::kEq), x, out_.ConstI(0)});
        }
        return Wrap(Emit(Opcode::kXorI, {x, out_.ConstI(-1)}), t);
      case te::UnaryOp::kFloor:
      case te::UnaryOp::kCeil:
      case te::UnaryOp::kTrunc:
      case te::UnaryOp::kRound:
      case te::UnaryOp::kRoundEven:
        return x;
      case te::UnaryOp::kIsNan:
      case te::UnaryOp::kIsInf:
        return out_.ConstI(0);
      case te::UnaryOp::kIsFinite:
        return out_.ConstI(1);
      default:  // a function of floats
        return Convert(Unary(op, DType::kFloat64, Convert(x, t, DType::kFloat64)), DType::kFloat64,
                       t);
    }
  }

  // The value when `e` is an integer that an instruction may hold, in a constant of rank 0 too.
  static std::optional<int64_t> Immediate(const te::Expr& e) {
    if (e->kind == te::ExprKind::kLoad && !e->tensor->is_placeholder()) {
      return Immediate(e->tensor->body);
    }
    if (e->kind != te::ExprKind::kIntImm || !FitsAddImm(e->int_value)) return std::nullopt;
    return e->int_value;
  }

  Reg Binary(const te::ExprNode& e) {
    const te::Expr& a = e.operands[0];
    const te::Expr& b = e.operands[1];
    const DType t = a->dtype;
    if (e.binary >= te::BinaryOp::kEqual) {
      Opcode op = IsF32(t)         ? Opcode::kCompareF32
                  : IsFloat(t)     ? Opcode::kCompareF64
                  : IsSignedInt(t) ? Opcode::kCompareI
                                   : Opcode::kCompareU;
      Reg x = Run(a);
      return Emit(op, {static_cast<int64_t>(ComparisonOf(e.binary)), x, Run(b)});
    }
    if (!IsFloat(t) && (e.binary == te::BinaryOp::kAdd || e.binary == te::BinaryOp::kSubtract)) {
      bool add = e.binary == te::BinaryOp::kAdd;
      if (auto imm = Immediate(b)) {
        return Wrap(Emit(Opcode::kAddImm, {Run(a), add ? *imm : -*imm}), t);
      }
      if (auto imm = Immediate(a); imm && add) {
        return Wrap(Emit(Opcode::kAddImm, {Run(b), *imm}), t);
      }
    }
    Reg x = Run(a);
    Reg y = Run(b);
    const BinaryRow& row = kBinary[static_cast<size_t>(e.binary)];
    if (IsFloat(t)) return FloatBinary(row, t, x, y);
    Opcode op = IsSignedInt(t) ? row.signed_int : row.unsigned_int;
    if (op == kNone) {  // a function of floats
      x = Convert(x, t, DType::kFloat64);
      y = Convert(y, t, DType::kFloat64);
      return Convert(FloatBinary(row, DType::kFloat64, x, y), DType::kFloat64, t);
    }
    Reg reg = Emit(op, {x, y});
    return row.wraps ? Wrap(reg, t) : reg;
  }

  Reg FloatBinary(const BinaryRow& row, DType t, Reg x, Reg y) {
    Opcode op = IsF32(t) ? row.f32 : row.f64;
    if (op != kFn2) return Emit(op, {x, y});
    return Emit(IsF32(t) ? Opcode::kCall2F32 : Opcode::kCall2F64,
                {static_cast<int64_t>(row.function), x, y});
  }

  FunctionLowering& out_;
  std::span<const Value> inputs_;
  std::unordered_map<const te::ExprNode*, Reg> done_;
};

std::optional<Reg> FunctionLowering::LowerScalarOp(const ir::OpCall& call,
                                                   const std::vector<Value>& inputs,
                                                   const ir::Type& type) {
  if (!module_.IsScalar(type) || !call.op->compute || call.op->builtin) return std::nullopt;
  std::vector<te::Tensor> tensors;
  for (const Value& v : inputs) {
    const auto& t = *v.type->As<TensorType>();
    bool immediate = v.location->constant != nullptr && t.shape.empty();
    tensors.push_back(
        immediate ? ir::ImmediateTensor(v.location->constant->value)
                  : te::Placeholder("s", t.shape, t.dtype, static_cast<int>(tensors.size())));
  }
  const TensorType& out = *type->As<TensorType>();
  te::Tensor result = call.op->compute({call.attrs, tensors, std::span(&out, 1)}).at(0);
  if (!te::IsScalarExpression(result)) return std::nullopt;
  return ScalarCompiler(*this, inputs).Run(result->body);
}

}  // namespace relayvm::lower
