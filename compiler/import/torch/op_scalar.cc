// Python's numbers: arithmetic on those that are known and on those that only running tells, sizes
// of tensors, numbers of tensors.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

using Kind = Argument::Kind;

bool AreInts(const Argument& x, const Argument& y) {
  return (x.is_int() || x.is_bool()) && (y.is_int() || y.is_bool());
}
bool AreKnown(const Argument& x, const Argument& y) {
  return x.is_known_number() && y.is_known_number();
}
// A tensor that stands for a number, as one.
Argument AsNumber(const Call& n, size_t i) {
  const Argument& a = n.Arg(i);
  return a.is_tensor() ? ScalarArgument(n, a.value) : a;
}

enum class Two : uint8_t { kAdd, kSub, kMul, kFloorDiv, kMod, kMin, kMax };

std::optional<int64_t> Exact(Two op, int64_t x, int64_t y) {
  int64_t out = 0;
  switch (op) {
    case Two::kAdd:
      return __builtin_add_overflow(x, y, &out) ? std::nullopt : std::optional(out);
    case Two::kSub:
      return __builtin_sub_overflow(x, y, &out) ? std::nullopt : std::optional(out);
    case Two::kMul:
      return __builtin_mul_overflow(x, y, &out) ? std::nullopt : std::optional(out);
    case Two::kMin:
      return std::min(x, y);
    case Two::kMax:
      return std::max(x, y);
    default:
      break;
  }
  if (y == 0 || (y == -1 && x == INT64_MIN)) return std::nullopt;
  const int64_t quotient = x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  return op == Two::kFloorDiv ? quotient : x - quotient * y;
}
double Real(Two op, double x, double y) {
  switch (op) {
    case Two::kAdd:
      return x + y;
    case Two::kSub:
      return x - y;
    case Two::kMul:
      return x * y;
    case Two::kMin:
      return std::min(x, y);
    case Two::kMax:
      return std::max(x, y);
    case Two::kFloorDiv:
      return std::floor(x / y);
    case Two::kMod:
      return x - std::floor(x / y) * y;
  }
  return 0;
}
constexpr std::string_view kRelayOf[] = {"add",       "subtract", "multiply", "floor_divide",
                                         "floor_mod", "minimum",  "maximum"};

template <Two kOp>
Results Binary(Call& n) {
  const Argument x = AsNumber(n, 0), y = AsNumber(n, 1);
  if (!x.is_number() || !y.is_number() || x.is(Kind::kComplex) || y.is(Kind::kComplex))
    return n.Unsupported("of {} and {}", KindText(x), KindText(y));
  const bool ints = AreInts(x, y);
  if (AreKnown(x, y)) {
    if (!ints) return {Argument::Float(Real(kOp, x.number(), y.number()))};
    const auto exact = Exact(kOp, x.integer, y.integer);
    if (!exact) return n.Fail("{} and {}: the result is no 64-bit integer", x.integer, y.integer);
    return {Argument::Int(*exact)};
  }
  const DType t = ints ? DType::kInt64 : DType::kFloat64;
  const Term a(n, ScalarValue(n, x, t)), c(n, ScalarValue(n, y, t));
  return {ScalarArgument(n, a.Call(kRelayOf[static_cast<size_t>(kOp)], c))};
}
Results TrueDivide(Call& n) {
  const Argument x = AsNumber(n, 0), y = AsNumber(n, 1);
  if (AreKnown(x, y)) {
    if (y.number() == 0) return n.Fail("division by zero");
    return {Argument::Float(x.number() / y.number())};
  }
  const Term a(n, ScalarValue(n, x, DType::kFloat64)), c(n, ScalarValue(n, y, DType::kFloat64));
  return {ScalarArgument(n, a / c)};
}
Argument RaisedNumber(const Call& n, const Argument& x, const Argument& y, bool to_int) {
  if (AreKnown(x, y)) {
    const double power = std::pow(x.number(), y.number());
    return to_int ? Argument::Int(static_cast<int64_t>(power)) : Argument::Float(power);
  }
  if (to_int && y.is_known_number() && y.integer >= 0 && y.integer <= 8) {
    // Of a size: a product.
    Term p(n, n.b().Int(1));
    const Term v(n, ScalarValue(n, x, DType::kInt64));
    for (int64_t i = 0; i < y.integer; ++i) p = p * v;
    return ScalarArgument(n, p);
  }
  const Term a(n, ScalarValue(n, x, DType::kFloat64)), c(n, ScalarValue(n, y, DType::kFloat64));
  const Term power = a.Call("power", c);
  return ScalarArgument(n, to_int ? power.As(DType::kInt64) : power);
}
Results PowerOfNumbers(Call& n) {
  const Argument x = AsNumber(n, 0), y = AsNumber(n, 1);
  return {RaisedNumber(n, x, y, n.overload() == "int_to_int" && AreInts(x, y))};
}

enum class Relation : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
constexpr std::string_view kRelayOfRelation[] = {"equal",      "not_equal", "less",
                                                 "less_equal", "greater",   "greater_equal"};
template <Relation kOp>
Results CompareNumbers(Call& n) {
  const Argument x = AsNumber(n, 0), y = AsNumber(n, 1);
  const auto holds = [](const auto& a, const auto& c) {
    switch (kOp) {
      case Relation::kEq:
        return a == c;
      case Relation::kNe:
        return a != c;
      case Relation::kLt:
        return a < c;
      case Relation::kLe:
        return a <= c;
      case Relation::kGt:
        return a > c;
      case Relation::kGe:
        return a >= c;
    }
    return false;
  };
  const bool texts =
      (x.is(Kind::kString) || x.is(Kind::kDevice)) && (y.is(Kind::kString) || y.is(Kind::kDevice));
  if (texts) return {Argument::Bool(holds(x.text, y.text))};
  if (!x.is_number() || !y.is_number() || x.is(Kind::kComplex) || y.is(Kind::kComplex))
    return n.Unsupported("of {} and {}", KindText(x), KindText(y));
  if (AreKnown(x, y)) {
    if (AreInts(x, y)) return {Argument::Bool(holds(x.integer, y.integer))};
    return {Argument::Bool(holds(x.number(), y.number()))};
  }
  const DType t = AreInts(x, y) ? DType::kInt64 : DType::kFloat64;
  const Term a(n, ScalarValue(n, x, t)), c(n, ScalarValue(n, y, t));
  return {ScalarArgument(n, a.Call(kRelayOfRelation[static_cast<size_t>(kOp)], c))};
}

template <OpName kBool, OpName kInt>
Results Bits(Call& n) {
  const Argument x = AsNumber(n, 0), y = AsNumber(n, 1);
  const bool bools = x.is_bool() && y.is_bool();
  const std::string_view name = kInt.chars;
  if (AreKnown(x, y)) {
    const int64_t a = x.integer, c = y.integer;
    const bool shifts = name.ends_with("shift");
    if (shifts && (c < 0 || c > 62)) return n.Fail("a shift by {}", c);
    const int64_t out = name == "bitwise_and"   ? a & c
                        : name == "bitwise_or"  ? a | c
                        : name == "bitwise_xor" ? a ^ c
                        : name == "left_shift" ? static_cast<int64_t>(static_cast<uint64_t>(a) << c)
                                               : a >> c;
    return {bools && !shifts ? Argument::Bool(out != 0) : Argument::Int(out)};
  }
  const DType t = bools ? DType::kBool : DType::kInt64;
  const Term a(n, ScalarValue(n, x, t)), c(n, ScalarValue(n, y, t));
  return {ScalarArgument(n, a.Call(bools ? kBool.chars : kInt.chars, c))};
}

Results NotNumber(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is_known_number()) return {Argument::Bool(x.number() == 0)};
  return {ScalarArgument(n, Not(Term(n, ScalarValue(n, x, DType::kBool))))};
}
Results Negate(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is(Kind::kInt) || x.is(Kind::kBool)) return {Argument::Int(-x.integer)};
  if (x.is(Kind::kFloat)) return {Argument::Float(-x.real)};
  return {ScalarArgument(n, -Term(n, x.value))};
}
Results AbsoluteNumber(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is(Kind::kInt) || x.is(Kind::kBool)) return {Argument::Int(std::abs(x.integer))};
  if (x.is(Kind::kFloat)) return {Argument::Float(std::abs(x.real))};
  return {ScalarArgument(n, Abs(Term(n, x.value)))};
}

// To integers.
template <OpName kName>
Results Whole(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is_int()) return {x};
  const std::string_view name = kName.chars;
  if (x.is_known_number()) {
    const double v = x.number();
    const double whole = name == "floor"   ? std::floor(v)
                         : name == "ceil"  ? std::ceil(v)
                         : name == "trunc" ? std::trunc(v)
                                           : std::nearbyint(v);
    return {Argument::Int(static_cast<int64_t>(whole))};
  }
  const Term v(n, ScalarValue(n, x, DType::kFloat64));
  return {ScalarArgument(n, v.Call(name).As(DType::kInt64))};
}
Results RoundFloat(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is_known_number()) return {Argument::Float(std::nearbyint(x.number()))};
  return {ScalarArgument(n, Term(n, ScalarValue(n, x, DType::kFloat64)).Call("round_even"))};
}

template <OpName kName>
Results OfFloat(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (!x.is_known_number())
    return {ScalarArgument(n, Term(n, ScalarValue(n, x, DType::kFloat64)).Call(kName.chars))};
  const double v = x.number();
  const std::string_view name = kName.chars;
  const double y = name == "sqrt"    ? std::sqrt(v)
                   : name == "exp"   ? std::exp(v)
                   : name == "log"   ? std::log(v)
                   : name == "log2"  ? std::log2(v)
                   : name == "log10" ? std::log10(v)
                   : name == "sin"   ? std::sin(v)
                   : name == "cos"   ? std::cos(v)
                   : name == "tan"   ? std::tan(v)
                   : name == "tanh"  ? std::tanh(v)
                   : name == "asin"  ? std::asin(v)
                   : name == "acos"  ? std::acos(v)
                   : name == "atan"  ? std::atan(v)
                   : name == "sinh"  ? std::sinh(v)
                                     : std::cosh(v);
  return {Argument::Float(y)};
}

// --- Conversions ---

Results ToInt(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is(Kind::kSymInt)) return {x};
  if (x.is_known_number()) {
    const double v = x.number();
    if (!(std::abs(v) < 0x1p63)) return n.Fail("{} is no 64-bit integer", v);
    return {Argument::Int(x.is(Kind::kFloat) ? static_cast<int64_t>(v) : x.integer)};
  }
  return {ScalarArgument(n, n.b().Cast(x.value, DType::kInt64))};
}
Results ToFloat(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is_known_number()) return {Argument::Float(x.number())};
  return {ScalarArgument(n, ScalarValue(n, x, DType::kFloat64))};
}
Results ToBool(Call& n) {
  const Argument x = AsNumber(n, 0);
  if (x.is_known_number()) return {Argument::Bool(x.number() != 0)};
  if (x.is(Kind::kSymBool)) return {x};
  return {ScalarArgument(n, Truth(Term(n, x.value)))};
}
Results Item(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (!a.is_tensor()) return {a};
  for (int i = 0; i < a.value.rank(); ++i) {
    if (a.value.dim(i).is_const() && !a.value.dim(i).is_const(1))
      return n.Fail("expected a tensor of one element, found {}", KindText(a));
  }
  return {ScalarArgument(n, a.value)};
}
// A number as a tensor of rank 0.
Results NumToTensor(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (a.is_tensor()) return {a};
  return {ScalarValue(n, a, DTypeOfNumber(a))};
}
Results IfElse(Call& n) {
  const Argument& c = n.Arg(size_t{0});
  const Argument x = AsNumber(n, 1), y = AsNumber(n, 2);
  if (c.is_known_number()) return {c.number() != 0 ? x : y};
  const DType t = AreInts(x, y) ? DType::kInt64 : DType::kFloat64;
  return {ScalarArgument(n, Select(Term(n, ScalarValue(n, c, DType::kBool)),
                                   Term(n, ScalarValue(n, x, t)), Term(n, ScalarValue(n, y, t))))};
}

// --- What is known of tensors ---

int PlainRank(const Argument& a) { return a.value.rank() - (a.complex ? 1 : 0); }
Argument SizeOf(const Call& n, int axis) {
  return ScalarArgument(n, Extent(n, n.Arg(size_t{0}).value, axis));
}
Results Size(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  const int rank = PlainRank(a);
  if (n.name() == "aten::len" && rank > 0) return {SizeOf(n, 0)};
  if (n.Has("dim")) {
    if (rank == 0) return n.Fail("a tensor of rank 0 has no dims");
    const int axis = n.Axis("dim", rank);
    if (!n.b().status().ok()) return {};
    return {SizeOf(n, axis)};
  }
  std::vector<Argument> sizes;
  for (int i = 0; i < rank; ++i) sizes.push_back(SizeOf(n, i));
  return {Argument::List(std::move(sizes))};
}
Results Numel(Call& n) {
  return {ScalarArgument(n, n.b().Reshape(CountOfElements(n, n.Arg(size_t{0}).value), {}))};
}
// As if its elements lay in order.
Results Stride(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Arg(size_t{0}).value;
  std::vector<Argument> strides(static_cast<size_t>(x.rank()));
  for (int i = 0; i < x.rank(); ++i)
    strides[static_cast<size_t>(i)] =
        ScalarArgument(b, b.Reshape(ProductOfDims(b, x, i + 1, x.rank()), {}));
  if (!n.Has("dim")) return {Argument::List(std::move(strides))};
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok() || strides.empty()) return {};
  return {strides[static_cast<size_t>(axis)]};
}
Results Rank(Call& n) { return {Argument::Int(PlainRank(n.Arg(size_t{0})))}; }
Results ShapeAsTensor(Call& n) { return {n.b().ShapeOf(n.Arg(size_t{0}).value)}; }
Results ZeroNumber(Call& /*n*/) { return {Argument::Int(0)}; }
Results True(Call& /*n*/) { return {Argument::Bool(true)}; }
Results False(Call& /*n*/) { return {Argument::Bool(false)}; }
Results IsFloatingPoint(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  return {Argument::Bool(IsFloat(a.value.dtype()) && !a.complex)};
}
Results IsComplex(Call& n) { return {Argument::Bool(n.Arg(size_t{0}).complex)}; }
Results IsSigned(Call& n) {
  const DType t = n.Arg(size_t{0}).value.dtype();
  return {Argument::Bool(IsFloat(t) || IsSignedInt(t))};
}
Results IsSameSize(Call& n) { return {Argument::Bool(n.Input(0).shape() == n.Input(1).shape())}; }
Results DtypeOf(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (a.complex) return {Argument::Int(a.value.dtype() == DType::kFloat64 ? 10 : 9)};
  if (a.quantised != nullptr) {
    const DType t = a.quantised->dtype;
    return {Argument::Int(t == DType::kInt8 ? 12 : t == DType::kUInt8 ? 13 : 14)};
  }
  return {Argument::Int(TorchOfDType(a.value.dtype()))};
}
Results DeviceOf(Call& /*n*/) { return {Argument::Device("cpu")}; }
Results LayoutOf(Call& /*n*/) { return {Argument::Int(0)}; }
Results ResultTypeOf(Call& n) {
  std::vector<Argument> operands;
  for (size_t i = 0; i < n.size(); ++i) operands.push_back(n.Arg(i));
  return {Argument::Int(TorchOfDType(ResultType(operands)))};
}
// What is asserted held when the model was exported, or is checked elsewhere.
Results Nothing(Call& /*n*/) { return {}; }

constexpr OperatorDef kScalarOperators[] = {
    {"aten::add(Scalar a, Scalar b) -> Scalar", Binary<Two::kAdd>},
    {"aten::sub(Scalar a, Scalar b) -> Scalar", Binary<Two::kSub>},
    {"aten::mul(Scalar a, Scalar b) -> Scalar", Binary<Two::kMul>},
    {"aten::floordiv(Scalar a, Scalar b) -> Scalar", Binary<Two::kFloorDiv>},
    {"aten::__round_to_zero_floordiv.int(int a, int b) -> int", Binary<Two::kFloorDiv>},
    {"aten::remainder(Scalar a, Scalar b) -> Scalar", Binary<Two::kMod>},
    {"aten::div(Scalar a, Scalar b) -> Scalar", TrueDivide},
    {"aten::truediv(Scalar a, Scalar b) -> Scalar", TrueDivide},
    {"aten::pow(Scalar a, Scalar b) -> Scalar", PowerOfNumbers},
    {"aten::pow.int_to_int(int a, int b) -> int", PowerOfNumbers},
    {"aten::eq(Scalar a, Scalar b) -> bool", CompareNumbers<Relation::kEq>},
    {"aten::ne(Scalar a, Scalar b) -> bool", CompareNumbers<Relation::kNe>},
    {"aten::lt(Scalar a, Scalar b) -> bool", CompareNumbers<Relation::kLt>},
    {"aten::le(Scalar a, Scalar b) -> bool", CompareNumbers<Relation::kLe>},
    {"aten::gt(Scalar a, Scalar b) -> bool", CompareNumbers<Relation::kGt>},
    {"aten::ge(Scalar a, Scalar b) -> bool", CompareNumbers<Relation::kGe>},
    {"aten::eq.str(str a, str b) -> bool", CompareNumbers<Relation::kEq>},
    {"aten::ne.str(str a, str b) -> bool", CompareNumbers<Relation::kNe>},
    {"aten::eq.device(Device a, Device b) -> bool", CompareNumbers<Relation::kEq>},
    {"aten::ne.device(Device a, Device b) -> bool", CompareNumbers<Relation::kNe>},
    {"aten::__and__.int(Scalar a, Scalar b) -> Scalar", Bits<"logical_and", "bitwise_and">},
    {"aten::__or__.int(Scalar a, Scalar b) -> Scalar", Bits<"logical_or", "bitwise_or">},
    {"aten::__xor__.int(Scalar a, Scalar b) -> Scalar", Bits<"logical_xor", "bitwise_xor">},
    {"aten::__lshift__.int(int a, int b) -> int", Bits<"left_shift", "left_shift">},
    {"aten::__rshift__.int(int a, int b) -> int", Bits<"right_shift", "right_shift">},
    {"aten::__not__(Scalar self) -> bool", NotNumber},
    {"aten::neg.int(Scalar a) -> Scalar", Negate},
    {"aten::floor.float(Scalar a) -> int", Whole<"floor">},
    {"aten::ceil.float(Scalar a) -> int", Whole<"ceil">},
    {"aten::round.float(Scalar a) -> float", RoundFloat},
    {"aten::sqrt.float(Scalar a) -> float", OfFloat<"sqrt">},
    {"aten::exp.float(Scalar a) -> float", OfFloat<"exp">},
    {"aten::log.float(Scalar a) -> float", OfFloat<"log">},
    {"aten::log2.float(Scalar a) -> float", OfFloat<"log2">},
    {"aten::log10.float(Scalar a) -> float", OfFloat<"log10">},
    {"aten::sin.float(Scalar a) -> float", OfFloat<"sin">},
    {"aten::cos.float(Scalar a) -> float", OfFloat<"cos">},
    {"aten::tan.float(Scalar a) -> float", OfFloat<"tan">},
    {"aten::tanh.float(Scalar a) -> float", OfFloat<"tanh">},
    {"aten::asin.float(Scalar a) -> float", OfFloat<"asin">},
    {"aten::acos.float(Scalar a) -> float", OfFloat<"acos">},
    {"aten::atan.float(Scalar a) -> float", OfFloat<"atan">},
    {"aten::sinh.float(Scalar a) -> float", OfFloat<"sinh">},
    {"aten::cosh.float(Scalar a) -> float", OfFloat<"cosh">},
    {"prim::min.int(Scalar a, Scalar b) -> Scalar", Binary<Two::kMin>},
    {"prim::max.int(Scalar a, Scalar b) -> Scalar", Binary<Two::kMax>},
    {"prim::abs.int(Scalar a) -> Scalar", AbsoluteNumber},
    {"aten::trunc.float(Scalar a) -> int", Whole<"trunc">},
    {"aten::Int.Scalar(Scalar a) -> int", ToInt},
    {"aten::Int.Tensor(Tensor a) -> int", ToInt},
    {"aten::IntImplicit(Tensor a) -> int", ToInt},
    {"aten::Float.Scalar(Scalar a) -> float", ToFloat},
    {"aten::Float.Tensor(Tensor a) -> float", ToFloat},
    {"aten::FloatImplicit(Tensor a) -> float", ToFloat},
    {"aten::Bool.int(Scalar a) -> bool", ToBool},
    {"aten::Bool.Tensor(Tensor a) -> bool", ToBool},
    {"aten::is_nonzero(Tensor self) -> bool", ToBool},
    {"aten::ScalarImplicit(Tensor a) -> Scalar", Item},
    {"aten::item(Tensor self) -> Scalar", Item},
    {"aten::_local_scalar_dense(Tensor self) -> Scalar", Item},
    {"prim::NumToTensor.Scalar(Scalar a) -> Tensor", NumToTensor},
    {"prim::ImplicitTensorToNum(Tensor a) -> Scalar", Item},
    {"aten::sym_ite(bool c, Scalar a, Scalar b) -> Scalar", IfElse},
    {"aten::sym_float(Scalar a) -> Scalar", ToFloat},
    {"aten::sym_int(Scalar a) -> Scalar", ToInt},
    {"aten::sym_not(Scalar a) -> bool", NotNumber},
    {"aten::size.int(Tensor self, int dim) -> int", Size, Takes::kAll},
    {"aten::size(Tensor self) -> int[]", Size, Takes::kAll},
    {"aten::sym_size.int(Tensor self, int dim) -> int", Size, Takes::kAll},
    {"aten::sym_size(Tensor self) -> int[]", Size, Takes::kAll},
    {"aten::numel(Tensor self) -> int", Numel, Takes::kQuantised},
    {"aten::sym_numel(Tensor self) -> int", Numel, Takes::kQuantised},
    {"aten::stride.int(Tensor self, int dim) -> int", Stride, Takes::kQuantised},
    {"aten::stride(Tensor self) -> int[]", Stride, Takes::kQuantised},
    {"aten::sym_stride.int(Tensor self, int dim) -> int", Stride, Takes::kQuantised},
    {"aten::sym_storage_offset(Tensor self) -> int", ZeroNumber, Takes::kAll},
    {"aten::storage_offset(Tensor self) -> int", ZeroNumber, Takes::kAll},
    {"aten::dim(Tensor self) -> int", Rank, Takes::kAll},
    {"aten::len.Tensor(Tensor t) -> int", Size, Takes::kAll},
    {"aten::_shape_as_tensor(Tensor self) -> Tensor", ShapeAsTensor, Takes::kQuantised},
    {"aten::is_contiguous(Tensor self) -> bool", True, Takes::kAll},
    {"aten::is_contiguous.memory_format(Tensor self, int memory_format) -> bool", True,
     Takes::kAll},
    {"aten::is_floating_point(Tensor self) -> bool", IsFloatingPoint, Takes::kAll},
    {"aten::is_complex(Tensor self) -> bool", IsComplex, Takes::kAll},
    {"aten::is_signed(Tensor self) -> bool", IsSigned, Takes::kAll},
    {"aten::is_same_size(Tensor self, Tensor other) -> bool", IsSameSize},
    {"aten::is_conj(Tensor self) -> bool", False, Takes::kAll},
    {"aten::is_neg(Tensor self) -> bool", False, Takes::kAll},
    {"aten::is_inference(Tensor self) -> bool", True, Takes::kAll},
    {"aten::result_type.Tensor(Tensor tensor, Tensor other) -> int", ResultTypeOf},
    {"aten::result_type.Scalar(Tensor tensor, Scalar other) -> int", ResultTypeOf},
    {"prim::dtype(Tensor a) -> int", DtypeOf, Takes::kAll},
    {"prim::device(Tensor a) -> Device", DeviceOf, Takes::kAll},
    {"prim::layout(Tensor a) -> int", LayoutOf, Takes::kAll},
    {"prim::is_cuda(Tensor a) -> bool", False, Takes::kAll},
    {"prim::is_quantized(Tensor a) -> bool",
     [](Call& n) -> Results { return {Argument::Bool(n.Arg(size_t{0}).quantised != nullptr)}; },
     Takes::kAll},
    {"prim::is_sparse(Tensor a) -> bool", False, Takes::kAll},
    {"prim::is_mkldnn(Tensor a) -> bool", False, Takes::kAll},
    {"prim::requires_grad(Tensor a) -> bool", False, Takes::kAll},
    {"aten::_assert_scalar(Scalar self, str assert_msg) -> ()", Nothing},
    {"aten::_assert_async(Tensor self) -> ()", Nothing},
    {"aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", Nothing},
    {"aten::_assert_tensor_metadata(Tensor a, Any size=None, Any stride=None, Any dtype=None, *, "
     "Any device=None, Any layout=None) -> ()",
     Nothing, Takes::kAll},
    {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()", Nothing},
    {"aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()",
     Nothing},
    {"aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Any",
     Nothing},
    {"aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Any",
     Nothing},
    {"aten::_make_dep_token() -> Any", Nothing},
    {"aten::_print(str s) -> ()", Nothing},
};

}  // namespace

OperatorTable ScalarOperators() { return kScalarOperators; }

}  // namespace relayvm::import::torch
