// Scalar operators and dimension expressions as scalar instructions.
#include <array>
#include <bit>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "compiler/lowering/function_lowering.h"
#include "compiler/lowering/scalar_operators.h"

namespace relayvm::lower {
namespace {

// How an operator works on scalars of each class; kJump (never an arithmetic opcode) says that it
// does not.
struct BinaryRow {
  std::string_view name;
  Opcode signed_int, unsigned_int;
  Opcode f32, f64;  // or kCall2F32, kCall2F64 with `function`
  ScalarFunction function{};
  bool on_bool = false;
};
constexpr Opcode kNone = Opcode::kJump;

constexpr std::array kBinary = {
    BinaryRow{"add", Opcode::kAddI, Opcode::kAddI, Opcode::kAddF32, Opcode::kAddF64},
    BinaryRow{"subtract", Opcode::kSubI, Opcode::kSubI, Opcode::kSubF32, Opcode::kSubF64},
    BinaryRow{"multiply", Opcode::kMulI, Opcode::kMulI, Opcode::kMulF32, Opcode::kMulF64},
    BinaryRow{"divide", Opcode::kDivI, Opcode::kDivU, Opcode::kDivF32, Opcode::kDivF64},
    BinaryRow{"trunc_divide", Opcode::kDivI, Opcode::kDivU, Opcode::kCall2F32, Opcode::kCall2F64,
              ScalarFunction::kTruncDiv},
    BinaryRow{"floor_divide", Opcode::kFloorDivI, Opcode::kDivU, Opcode::kCall2F32,
              Opcode::kCall2F64, ScalarFunction::kFloorDiv},
    BinaryRow{"mod", Opcode::kModI, Opcode::kModU, Opcode::kCall2F32, Opcode::kCall2F64,
              ScalarFunction::kMod},
    BinaryRow{"trunc_mod", Opcode::kModI, Opcode::kModU, Opcode::kCall2F32, Opcode::kCall2F64,
              ScalarFunction::kMod},
    BinaryRow{"floor_mod", Opcode::kFloorModI, Opcode::kModU, Opcode::kCall2F32, Opcode::kCall2F64,
              ScalarFunction::kFloorMod},
    BinaryRow{"minimum", Opcode::kMinI, Opcode::kMinU, Opcode::kCall2F32, Opcode::kCall2F64,
              ScalarFunction::kMin},
    BinaryRow{"maximum", Opcode::kMaxI, Opcode::kMaxU, Opcode::kCall2F32, Opcode::kCall2F64,
              ScalarFunction::kMax},
    BinaryRow{"power", kNone, kNone, Opcode::kCall2F32, Opcode::kCall2F64, ScalarFunction::kPower},
    BinaryRow{"bitwise_and", Opcode::kAndI, Opcode::kAndI, kNone, kNone, {}, true},
    BinaryRow{"bitwise_or", Opcode::kOrI, Opcode::kOrI, kNone, kNone, {}, true},
    BinaryRow{"bitwise_xor", Opcode::kXorI, Opcode::kXorI, kNone, kNone, {}, true},
    BinaryRow{"logical_and", kNone, kNone, kNone, kNone, {}, true},
    BinaryRow{"logical_or", kNone, kNone, kNone, kNone, {}, true},
    BinaryRow{"logical_xor", kNone, kNone, kNone, kNone, {}, true},
};

Opcode BoolOpcode(std::string_view name) {
  if (name.ends_with("_and")) return Opcode::kAndI;
  return name.ends_with("_xor") ? Opcode::kXorI : Opcode::kOrI;
}

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons = {{
    {"equal", Comparison::kEq},
    {"not_equal", Comparison::kNe},
    {"less", Comparison::kLt},
    {"less_equal", Comparison::kLe},
    {"greater", Comparison::kGt},
    {"greater_equal", Comparison::kGe},
}};

// Float functions of one argument. Those that also mean something on integers are handled before.
constexpr std::array<std::pair<std::string_view, ScalarFunction>, 30> kUnary = {{
    {"negative", ScalarFunction::kNegate}, {"abs", ScalarFunction::kAbs},
    {"sign", ScalarFunction::kSign},       {"exp", ScalarFunction::kExp},
    {"log", ScalarFunction::kLog},         {"log2", ScalarFunction::kLog2},
    {"log10", ScalarFunction::kLog10},     {"sqrt", ScalarFunction::kSqrt},
    {"rsqrt", ScalarFunction::kRsqrt},     {"sigmoid", ScalarFunction::kSigmoid},
    {"tanh", ScalarFunction::kTanh},       {"erf", ScalarFunction::kErf},
    {"sin", ScalarFunction::kSin},         {"cos", ScalarFunction::kCos},
    {"tan", ScalarFunction::kTan},         {"asin", ScalarFunction::kAsin},
    {"acos", ScalarFunction::kAcos},       {"atan", ScalarFunction::kAtan},
    {"sinh", ScalarFunction::kSinh},       {"cosh", ScalarFunction::kCosh},
    {"asinh", ScalarFunction::kAsinh},     {"acosh", ScalarFunction::kAcosh},
    {"atanh", ScalarFunction::kAtanh},     {"floor", ScalarFunction::kFloor},
    {"ceil", ScalarFunction::kCeil},       {"trunc", ScalarFunction::kTrunc},
    {"round", ScalarFunction::kRound},     {"isnan", ScalarFunction::kIsNan},
    {"isinf", ScalarFunction::kIsInf},     {"isfinite", ScalarFunction::kIsFinite},
}};

bool NeedsWrap(DType t) { return IsInt(t) && DTypeBytes(t) < 8; }

bool FitsImm16(int64_t v) {
  return v >= std::numeric_limits<int16_t>::min() && v <= std::numeric_limits<int16_t>::max();
}

// The value of an integer scalar constant, if `atom` is one.
std::optional<int64_t> IntConstant(const ir::Atom& atom) {
  const auto* c = std::get_if<const ir::Constant*>(&atom);
  if (c == nullptr) return std::nullopt;
  const HostTensor& v = (*c)->value;
  if (!v.shape.empty() || !IsSignedInt(v.dtype)) return std::nullopt;
  uint64_t bits = 0;
  int bytes = DTypeBytes(v.dtype);
  for (int i = 0; i < bytes; ++i) {
    bits |= static_cast<uint64_t>(std::to_integer<uint8_t>(v.data[static_cast<size_t>(i)]))
            << (8 * i);
  }
  int shift = 64 - 8 * bytes;
  return static_cast<int64_t>(bits << shift) >> shift;
}

}  // namespace

bool IsScalarOperator(const ir::OpCall& call, const std::vector<ir::Type>& arg_types,
                      const ir::Type& result) {
  if (!ir::IsScalarType(result)) return false;
  for (const ir::Type& t : arg_types) {
    if (!ir::IsScalarType(t)) return false;
  }
  std::string_view name = call.op->name;
  if (name == "where" || name == "cast" || name == "copy" || name == "clip") return true;
  if (arg_types.empty()) return false;
  DType t = arg_types[0]->As<TensorType>()->dtype;
  for (const auto& [n, c] : kComparisons) {
    if (n == name) return true;
  }
  for (const BinaryRow& row : kBinary) {
    if (row.name != name) continue;
    if (t == DType::kBool) return row.on_bool;
    if (IsFloat(t)) return (t == DType::kFloat32 ? row.f32 : row.f64) != kNone;
    return (IsUnsignedInt(t) ? row.unsigned_int : row.signed_int) != kNone;
  }
  if (name == "logical_not") return t == DType::kBool;
  if (name == "negative" || name == "abs") return IsFloat(t) || IsSignedInt(t);
  if (!IsFloat(t)) return false;
  for (const auto& [n, f] : kUnary) {
    if (n == name) return true;
  }
  return false;
}

Reg FunctionLowering::ConstI(int64_t value) {
  auto [at, inserted] = dim_registers_.try_emplace(Dim(value), 0);
  if (!inserted) return at->second;
  Reg reg = NewScalar();
  at->second = reg;
  undo_.push_back({nullptr, Dim(value)});
  Emit(FitsImm16(value) ? Opcode::kConstI16 : Opcode::kConstI64, {reg, value});
  return reg;
}

Reg FunctionLowering::EmitDim(const Dim& dim) {
  if (dim.is_const()) return ConstI(dim.value());
  if (auto at = dim_registers_.find(dim); at != dim_registers_.end()) return at->second;
  Reg reg = 0;
  if (dim.is_symbol()) {
    const ir::SymbolTable& symbols = module_.module().symbols;
    auto symbol = symbols.find(dim.symbol_id());
    auto value = symbol == symbols.end() ? vars_.end() : vars_.find(symbol->second.value->id);
    if (value != vars_.end()) {
      reg = ScalarOf(value->second);
    } else {
      // Type inference never leaves a symbol without a meaning in scope.
      reg = NewScalar();
      Emit(Opcode::kTrap, {module_.MessageIndex("the dimension " + dim.symbol_name() +
                                                " has no value here (a defect of the compiler)")});
    }
  } else {
    auto operands = dim.operands();
    if (dim.kind() == Dim::Kind::kAdd && operands.size() == 2 && operands[1].is_const() &&
        FitsImm16(operands[1].value())) {
      Reg left = EmitDim(operands[0]);
      reg = NewScalar();
      Emit(Opcode::kAddImm, {reg, left, operands[1].value()});
    } else {
      Opcode op = Opcode::kMaxI;
      switch (dim.kind()) {
        case Dim::Kind::kAdd:
          op = Opcode::kAddI;
          break;
        case Dim::Kind::kMul:
          op = Opcode::kMulI;
          break;
        case Dim::Kind::kFloorDiv:
          op = Opcode::kFloorDivI;
          break;
        case Dim::Kind::kFloorMod:
          op = Opcode::kFloorModI;
          break;
        case Dim::Kind::kMin:
          op = Opcode::kMinI;
          break;
        default:
          break;
      }
      reg = EmitDim(operands[0]);
      for (size_t i = 1; i < operands.size(); ++i) {
        Reg right = EmitDim(operands[i]);
        Reg result = NewScalar();
        Emit(op, {result, reg, right});
        reg = result;
      }
    }
  }
  dim_registers_[dim] = reg;
  undo_.push_back({nullptr, dim});
  return reg;
}

std::vector<uint32_t> FunctionLowering::EmitDims(const std::vector<Dim>& dims) {
  std::vector<uint32_t> regs;
  regs.reserve(dims.size());
  for (const Dim& d : dims) regs.push_back(EmitDim(d));
  return regs;
}

std::optional<Reg> FunctionLowering::LowerScalarOp(const ir::OpCall& call, const ir::Type& type) {
  std::vector<ir::Type> arg_types;
  for (const ir::Atom& a : call.args) arg_types.push_back(AtomValue(a).type);
  if (!IsScalarOperator(call, arg_types, type)) return std::nullopt;
  std::string_view name = call.op->name;
  DType out = type->As<TensorType>()->dtype;
  DType t = arg_types[0]->As<TensorType>()->dtype;
  auto arg = [&](size_t i) { return ScalarOf(AtomValue(call.args[i])); };
  if (name == "copy") return arg(0);
  if (name == "cast") {
    if (t == out) return arg(0);
    Reg x = arg(0);
    Reg reg = NewScalar();
    Emit(Opcode::kConvert, {reg, x, static_cast<int64_t>(t), static_cast<int64_t>(out)});
    return reg;
  }
  if (name == "where") {
    Reg c = arg(0);
    Reg x = arg(1);
    Reg y = arg(2);
    Reg reg = NewScalar();
    Emit(Opcode::kSelectI, {reg, c, x, y});
    return reg;
  }
  if (name == "clip") {
    // As the tensor operator: max(min(x, hi), lo) in the value's own dtype.
    Reg x = arg(0);
    auto bound = [&](std::string_view attr) {
      double v = call.attrs.Float(attr);
      if (t == DType::kFloat64) return ConstI(std::bit_cast<int64_t>(v));
      if (t == DType::kFloat32) {
        return ConstI(static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(v))));
      }
      constexpr double kBig = 9.2e18;
      return ConstI(static_cast<int64_t>(v < -kBig ? -kBig : (v > kBig ? kBig : v)));
    };
    Reg high = bound("a_max");
    Reg low = bound("a_min");
    Reg y = NewScalar();
    Reg z = NewScalar();
    if (IsFloat(t)) {
      Opcode op = t == DType::kFloat32 ? Opcode::kCall2F32 : Opcode::kCall2F64;
      Emit(op, {y, static_cast<int64_t>(ScalarFunction::kMin), x, high});
      Emit(op, {z, static_cast<int64_t>(ScalarFunction::kMax), y, low});
    } else {
      bool u = IsUnsignedInt(t);
      Emit(u ? Opcode::kMinU : Opcode::kMinI, {y, x, high});
      Emit(u ? Opcode::kMaxU : Opcode::kMaxI, {z, y, low});
    }
    return z;
  }
  for (const auto& [n, c] : kComparisons) {
    if (n != name) continue;
    Reg a = arg(0);
    Reg b = arg(1);
    Reg reg = NewScalar();
    Opcode op = t == DType::kFloat32   ? Opcode::kCompareF32
                : t == DType::kFloat64 ? Opcode::kCompareF64
                : IsSignedInt(t)       ? Opcode::kCompareI
                                       : Opcode::kCompareU;
    Emit(op, {reg, static_cast<int64_t>(c), a, b});
    return reg;
  }
  for (const BinaryRow& row : kBinary) {
    if (row.name != name) continue;
    Opcode op = t == DType::kBool      ? BoolOpcode(name)
                : t == DType::kFloat32 ? row.f32
                : t == DType::kFloat64 ? row.f64
                : IsUnsignedInt(t)     ? row.unsigned_int
                                       : row.signed_int;
    Reg reg = NewScalar();
    if (op == Opcode::kCall2F32 || op == Opcode::kCall2F64) {
      Reg a = arg(0);
      Reg b = arg(1);
      Emit(op, {reg, static_cast<int64_t>(row.function), a, b});
      return reg;
    }
    std::optional<int64_t> imm = IntConstant(call.args[1]);
    if (imm && op == Opcode::kSubI && *imm > -30000 && *imm < 30000) {
      Emit(Opcode::kAddImm, {reg, arg(0), -*imm});
    } else if (imm && op == Opcode::kAddI && FitsImm16(*imm)) {
      Emit(Opcode::kAddImm, {reg, arg(0), *imm});
    } else {
      Reg a = arg(0);
      Reg b = arg(1);
      Emit(op, {reg, a, b});
    }
    bool arithmetic = op == Opcode::kAddI || op == Opcode::kSubI || op == Opcode::kMulI ||
                      op == Opcode::kDivI || op == Opcode::kFloorDivI;
    if (!arithmetic || !NeedsWrap(out)) return reg;
    Reg wrapped = NewScalar();
    Emit(Opcode::kWrap, {wrapped, reg, static_cast<int64_t>(out)});
    return wrapped;
  }
  Reg x = arg(0);
  Reg reg = NewScalar();
  if (name == "logical_not") {
    Emit(Opcode::kCompareI, {reg, static_cast<int64_t>(Comparison::kEq), x, ConstI(0)});
    return reg;
  }
  if (!IsFloat(t)) {  // negative, abs of a signed integer
    Emit(Opcode::kSubI, {reg, ConstI(0), x});
    if (name == "abs") {
      Reg larger = NewScalar();
      Emit(Opcode::kMaxI, {larger, x, reg});
      reg = larger;
    }
    if (!NeedsWrap(out)) return reg;
    Reg wrapped = NewScalar();
    Emit(Opcode::kWrap, {wrapped, reg, static_cast<int64_t>(out)});
    return wrapped;
  }
  for (const auto& [n, f] : kUnary) {
    if (n != name) continue;
    Emit(t == DType::kFloat32 ? Opcode::kCallF32 : Opcode::kCallF64,
         {reg, static_cast<int64_t>(f), x});
    return reg;
  }
  return std::nullopt;
}

}  // namespace relayvm::lower
