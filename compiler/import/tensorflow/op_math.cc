// Elementwise arithmetic, comparisons, logic and activations. Special functions and gradients:
// op_special.cc.
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/tensorflow/complex.h"
#include "compiler/ir/scalar.h"

namespace relayvm::import::tensorflow {

namespace {

// --- Arithmetic ---

Outputs AddAll(NodeContext& n) {
  Value sum = n.Input(0);
  for (size_t i = 1; i < n.num_inputs(); ++i) sum = n.b().Op("add", {sum, n.Input(i)});
  return {sum};
}

template <Complex (*kApply)(const Complex&, const Complex&), OpName kReal>
Outputs OfPairs(NodeContext& n) {
  if (!HasComplex(n)) return {n.b().Op(kReal.chars, n.inputs())};
  return {PairOf(n, kApply(ComplexOf(n, n.Input(0)), ComplexOf(n, n.Input(1))))};
}

// Whole numbers lose their fraction.
Outputs Divide(NodeContext& n) {
  if (HasComplex(n)) return OfPairs<Quotient, "divide">(n);
  return {n.b().Op(IsFloat(n.Input(0).dtype()) ? "divide" : "trunc_divide", n.inputs())};
}

// 0 where the divisor (factor) is, whatever the other one is.
Outputs DivNoNan(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0)), y = ComplexOf(n, n.Input(1));
    return {PairOf(n, ZeroWhere(IsZero(y), Quotient(x, y)))};
  }
  const Term x(n, 0), y(n, 1);
  return {Select(Equal(y, 0), x.Number(0), x / y)};
}
Outputs MulNoNan(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0)), y = ComplexOf(n, n.Input(1));
    return {PairOf(n, ZeroWhere(IsZero(y), Product(x, y)))};
  }
  const Term x(n, 0), y(n, 1);
  return {Select(Equal(y, 0), x.Number(0), x * y)};
}

// Whether it is a constant none of whose elements is a number that `is`.
bool IsConstantWithout(const Value& v, bool (*is)(double)) {
  if (v.constant == nullptr) return false;
  for (int64_t i = 0; i < v.constant->size(); ++i) {
    if (is(ir::NumberAt(*v.constant, i))) return false;
  }
  return true;
}

// NaN stays, of either operand: Relay's operators give it where the second one is.
template <OpName kName>
Outputs NotNanOf(NodeContext& n) {
  const auto is_nan = [](double v) { return std::isnan(v); };
  const Term x(n, 0), y(n, 1);
  if (!IsFloat(x.dtype()) || IsConstantWithout(x, is_nan)) return {x.Call(kName.chars, y)};
  if (IsConstantWithout(y, is_nan)) return {y.Call(kName.chars, x)};
  return {Select(x.Call("isnan"), x, x.Call(kName.chars, y))};
}
Outputs SignOf(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0));
    const Term size = SizeOf(x);
    return {PairOf(n, ZeroWhere(IsZero(x), {x.re / size, x.im / size}))};
  }
  const Term x(n, 0);
  const Term sign = x.Call("sign");
  return {IsFloat(x.dtype()) ? Select(x.Call("isnan"), x, sign) : sign};
}

// In float64, so that quotients of float32 are whole.
template <OpName kName>
Outputs Remainder(NodeContext& n) {
  const Term x(n, 0), y(n, 1);
  if (!IsFloat(x.dtype())) return {x.Call(kName.chars, y)};
  const Term rest = x.As(DType::kFloat64).Call(kName.chars, y.As(DType::kFloat64)).As(x.dtype());
  if (IsConstantWithout(y, [](double v) { return std::isinf(v); })) return {rest};
  // By infinity a number is its own remainder, or one turn away.
  const bool floors = std::string_view(kName.chars) == "floor_mod";
  const Term same = Or(Equal(x, 0), Equal(x < 0, y < 0));
  const Term turned = floors ? Select(same, x, y) : x;
  return {Select(And(y.Call("isinf"), x.Call("isfinite")), turned, rest)};
}
Outputs FloorDivide(NodeContext& n) {
  const Term x(n, 0), y(n, 1);
  if (!IsFloat(x.dtype())) return {x.Call("floor_divide", y)};
  return {Floor(x / y)};
}

Outputs Raise(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0)), y = ComplexOf(n, n.Input(1));
    const Complex power = PowerOf(Product(y, LogOf(x)));
    const Term unit = And(IsZero(x), IsZero(y));
    const Complex held = ZeroWhere(IsZero(x), power);
    return {PairOf(n, {Select(unit, held.re.Number(1), held.re), held.im})};
  }
  const Term x(n, 0), y(n, 1);
  if (IsFloat(x.dtype())) return {x.Call("power", y)};
  // By squares, so that what leaves the dtype wraps.
  Term result = (x + y).Call("ones_like"), square = x;
  constexpr int kBits = 6;  // of the exponent: beyond 63 all but 0, 1 and -1 have left every dtype
  for (int i = 0; i < kBits; ++i) {
    if (i > 0) square = square * square;
    const Term bit = y.Call("right_shift", y.Number(i)).Call("bitwise_and", y.Number(1));
    result = Select(Equal(bit, 1), result * square, result);
  }
  return {result};
}

Complex Squared(const Complex& x) { return Product(x, x); }
Outputs Square(NodeContext& n) {
  if (HasComplex(n)) return {PairOf(n, Squared(ComplexOf(n, n.Input(0))))};
  const Term x(n, 0);
  return {x * x};
}
Outputs SquaredDifference(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0)), y = ComplexOf(n, n.Input(1));
    const Term re = x.re - y.re, im = x.im - y.im;
    const Term size = re * re + im * im;
    return {PairOf(n, {size, size.Call("zeros_like")})};
  }
  const Term difference = Term(n, 0) - Term(n, 1);
  return {difference * difference};
}
Outputs Reciprocal(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0));
    const Complex one = {x.re.Call("ones_like"), x.re.Call("zeros_like")};
    return {PairOf(n, Quotient(one, x))};
  }
  const Term x(n, 0);
  return {x.Number(1) / x};
}

// A function of real numbers as Relay has it, of complex ones as complex.h does.
template <OpName kReal, Complex (*kApply)(const Complex&)>
Outputs Of(NodeContext& n) {
  if (!HasComplex(n)) return Same<kReal>(n);
  return {PairOf(n, kApply(ComplexOf(n, n.Input(0))))};
}

// Of whole numbers themselves.
template <OpName kName>
Outputs Rounded(NodeContext& n) {
  if (!IsFloat(n.Input(0).dtype())) return {n.Input(0)};
  return Same<kName>(n);
}

// e^x - 1, also where that is next to 0: tanh(x / 2) (e^x + 1).
Outputs ExpMinusOne(NodeContext& n) {
  if (HasComplex(n)) {
    // e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y / 2)
    const Complex x = ComplexOf(n, n.Input(0));
    const Outputs less = n.As("Expm1", {x.re});
    if (less.empty()) return {};
    const Term half = Sin(x.im * 0.5);
    return {PairOf(n, {Term(n, less[0]) * Cos(x.im) - half * half * 2.0, Exp(x.re) * Sin(x.im)})};
  }
  const Term x(n, 0);
  const Term power = Exp(x);
  return {Select(Abs(x) < 1, Tanh(x * 0.5) * (power + 1), power - 1)};
}
// log(1 + x), also where 1 + x is 1 or nearly (Kahan's formula).
Outputs LogOnePlus(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0));
    return {PairOf(n, LogOf({x.re + 1, x.im}))};
  }
  const Term x(n, 0);
  const Term u = x + 1;
  const Term scaled = Log(u) * (x / (u - 1));
  return {Select(Or(Equal(u, 1), Equal(u, HUGE_VAL)), x, scaled)};
}

Outputs AbsOf(NodeContext& n) {
  if (!HasComplex(n)) return Same<"abs">(n);
  return n.As("ComplexAbs", n.inputs());
}

// Of two infinities the angle is that of their signs.
Outputs Atan2Of(NodeContext& n) {
  const Term y(n, 0), x(n, 1);
  const Term both = And(y.Call("isinf"), x.Call("isinf"));
  return {AngleOf(Select(both, y.Call("sign"), y), Select(both, x.Call("sign"), x))};
}

// --- Comparisons ---

template <bool kEqual>
Outputs Compare(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0)), y = ComplexOf(n, n.Input(1));
    const Term same = And(Equal(x.re, y.re), Equal(x.im, y.im));
    return {kEqual ? same : Not(same)};
  }
  return {n.b().Op(kEqual ? "equal" : "not_equal", n.inputs())};
}

Outputs ApproximateEqual(NodeContext& n) {
  return {Abs(Term(n, 0) - Term(n, 1)) < n.Float("tolerance", 1e-5)};
}

// A vector as condition chooses rows.
Outputs SelectOf(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value condition = n.Input(0);
  const int rank = n.Input(1).rank();
  if (condition.rank() == 1 && rank > 1) condition = b.ExpandDims(condition, 1, rank - 1);
  return {b.Op("where", {condition, n.Input(1), n.Input(2)})};
}

Outputs ClipByValue(NodeContext& n) {
  // NaN stays; limits that cross give the lower one.
  const Term x(n, 0), low(n, 1), high(n, 2);
  return {Maximum(low, Minimum(high, x))};
}

// --- Bits ---

// A shift by as many bits as there are, or more, leaves nothing but the sign.
template <OpName kName>
Outputs Shift(NodeContext& n) {
  const Term x(n, 0), by(n, 1);
  const double most = DTypeBits(x.dtype()) - 1;
  return {x.Call(kName.chars, Clamp(by, by.Number(0), by.Number(most)))};
}

// By pairs of bits, then of sums (Hacker's Delight, 5-1).
Outputs PopulationCount(NodeContext& n) {
  const Term given(n, 0);
  const int bits = DTypeBits(given.dtype());
  Term x = given.As(DType::kInt64);
  if (bits < 64) x = x.Call("bitwise_and", Term(n, n.b().Int((int64_t{1} << bits) - 1)));
  Term count = x.Number(0);
  // Bytes, each through a table.
  std::vector<int64_t> ones;
  for (unsigned i = 0; i < 256; ++i) ones.push_back(__builtin_popcount(i));
  const Term table(n, n.b().Ints(ones));
  for (int at = 0; at < bits; at += 8) {
    const Term byte = x.Call("right_shift", x.Number(at)).Call("bitwise_and", x.Number(255));
    count = count + table.Take(byte, 0);
  }
  return {count.As(DType::kUInt8)};
}

// --- Activations ---

template <OpName kName>
Outputs Activated(NodeContext& n) {
  const ActivationDef& def = *FindActivation(kName.chars);
  return {def.apply(Term(n, 0), def.alpha, def.beta)};
}
Outputs LeakyRelu(NodeContext& n) {
  return {FindActivation("leakyrelu")->apply(Term(n, 0), n.Float("alpha", 0.2), 0)};
}
Outputs ReluSix(NodeContext& n) {
  const Term x(n, 0);
  return {Minimum(x.Number(6), Maximum(x.Number(0), x))};  // NaN stays
}

// --- Types ---

// NaN and what int32 and int64 do not hold become their least number. (Of smaller integers that
// depends on how many elements there are.) Sizes are none of these.
Term AsWhole(const Term& x, DType to) {
  if (!IsFloat(x.dtype()) || (to != DType::kInt32 && to != DType::kInt64) ||
      x.value().constant != nullptr || x.b().ScalarsOf(x))
    return x.As(to);
  const bool narrow = to == DType::kInt32;
  if (x.dtype() == DType::kFloat16) {
    const Term wide = x.As(DType::kFloat32);
    return AsWhole(wide, to);
  }
  const Term least = Term(x.b(), x.b().Int(narrow ? INT32_MIN : INT64_MIN, to));
  return Select(x < std::ldexp(1, narrow ? 31 : 63), x.As(to), least);
}

Outputs CastOf(NodeContext& n) {
  TypedBuilder& b = n.b();
  const DType to = n.Type("DstT", DType::kFloat32);
  const Value x = n.Input(0);
  if (n.IsComplexType("DstT")) {
    const Complex c = ComplexOf(b, x);
    return {PairOf(b, {c.re.As(to), c.im.As(to)})};
  }
  const Term real = IsComplex(x) ? ComplexOf(b, x).re : Term(b, x);
  if (to == DType::kBool && real.dtype() != DType::kBool)
    return {b.Op("not_equal", {real, real.Number(0)})};
  return {AsWhole(real, to)};
}

Outputs ComplexFrom(NodeContext& n) {
  const DType own = n.Input(0).dtype();
  const Term re(n, 0), im(n, 1);
  // Both have the shape of both.
  if (re.value().shape() == im.value().shape()) return {PairOf(n, {re.As(own), im.As(own)})};
  return {PairOf(n, {re + im * 0.0, im + re * 0.0})};
}
Outputs RealPart(NodeContext& n) { return {ComplexOf(n, n.Input(0)).re}; }
Outputs ImaginaryPart(NodeContext& n) { return {ComplexOf(n, n.Input(0)).im}; }
Outputs Conjugate(NodeContext& n) {
  if (!HasComplex(n)) return {n.Input(0)};
  const Complex x = ComplexOf(n, n.Input(0));
  return {PairOf(n, {x.re, -x.im})};
}
Outputs ComplexAbs(NodeContext& n) { return {SizeOf(ComplexOf(n, n.Input(0)))}; }
Outputs Angle(NodeContext& n) {
  const Complex x = ComplexOf(n, n.Input(0));
  return n.As("Atan2", {x.im, x.re});
}

constexpr OperatorDef kMathOperators[] = {
    {"Abs", 1, 1, AbsOf},
    {"AccumulateNV2", 1, -1, OfParts<AddAll>},
    {"Acos", 1, 1, Of<"acos", AcosOf>},
    {"Acosh", 1, 1, Of<"acosh", AcoshOf>},
    {"Add", 2, 2, OfParts<Same<"add">>},
    {"AddN", 1, -1, OfParts<AddAll>},
    {"AddV2", 2, 2, OfParts<Same<"add">>},
    {"Angle", 1, 1, Angle},
    {"ApproximateEqual", 2, 2, ApproximateEqual},
    {"Asin", 1, 1, Of<"asin", AsinOf>},
    {"Asinh", 1, 1, Of<"asinh", AsinhOf>},
    {"Atan", 1, 1, Of<"atan", AtanOf>},
    {"Atan2", 2, 2, Atan2Of},
    {"Atanh", 1, 1, Of<"atanh", AtanhOf>},
    {"BitwiseAnd", 2, 2, Same<"bitwise_and">},
    {"BitwiseOr", 2, 2, Same<"bitwise_or">},
    {"BitwiseXor", 2, 2, Same<"bitwise_xor">},
    {"Cast", 1, 1, CastOf},
    {"Ceil", 1, 1, Rounded<"ceil">},
    {"ClipByValue", 3, 3, ClipByValue},
    {"Complex", 2, 2, ComplexFrom},
    {"ComplexAbs", 1, 1, ComplexAbs},
    {"Conj", 1, 1, Conjugate},
    {"Cos", 1, 1, Of<"cos", CosOf>},
    {"Cosh", 1, 1, Of<"cosh", CoshOf>},
    {"Div", 2, 2, Divide},
    {"DivNoNan", 2, 2, DivNoNan},
    {"Elu", 1, 1, Activated<"elu">},
    {"Equal", 2, 2, Compare<true>},
    {"Erf", 1, 1, Same<"erf">},
    {"Exp", 1, 1, Of<"exp", PowerOf>},
    {"Expm1", 1, 1, ExpMinusOne},
    {"Floor", 1, 1, Rounded<"floor">},
    {"FloorDiv", 2, 2, FloorDivide},
    {"FloorMod", 2, 2, Remainder<"floor_mod">},
    {"Greater", 2, 2, Same<"greater">},
    {"GreaterEqual", 2, 2, Same<"greater_equal">},
    {"Imag", 1, 1, ImaginaryPart},
    {"Inv", 1, 1, Reciprocal},
    {"Invert", 1, 1, Same<"bitwise_not">},
    {"IsFinite", 1, 1, Same<"isfinite">},
    {"IsInf", 1, 1, Same<"isinf">},
    {"IsNan", 1, 1, Same<"isnan">},
    {"LeakyRelu", 1, 1, LeakyRelu},
    {"LeftShift", 2, 2, Shift<"left_shift">},
    {"Less", 2, 2, Same<"less">},
    {"LessEqual", 2, 2, Same<"less_equal">},
    {"Log", 1, 1, Of<"log", LogOf>},
    {"Log1p", 1, 1, LogOnePlus},
    {"LogicalAnd", 2, 2, Same<"logical_and">},
    {"LogicalNot", 1, 1, Same<"logical_not">},
    {"LogicalOr", 2, 2, Same<"logical_or">},
    {"Maximum", 2, 2, NotNanOf<"maximum">},
    {"Minimum", 2, 2, NotNanOf<"minimum">},
    {"Mod", 2, 2, Remainder<"trunc_mod">},
    {"Mul", 2, 2, OfPairs<Product, "multiply">},
    {"MulNoNan", 2, 2, MulNoNan},
    {"Neg", 1, 1, OfParts<Same<"negative">>},
    {"NotEqual", 2, 2, Compare<false>},
    {"PopulationCount", 1, 1, PopulationCount},
    {"Pow", 2, 2, Raise},
    {"Real", 1, 1, RealPart},
    {"RealDiv", 2, 2, Divide},
    {"Reciprocal", 1, 1, Reciprocal},
    {"Relu", 1, 1, Activated<"relu">},
    {"Relu6", 1, 1, ReluSix},
    {"RightShift", 2, 2, Shift<"right_shift">},
    {"Rint", 1, 1, Rounded<"round_even">},
    {"Round", 1, 1, Rounded<"round_even">},
    {"Rsqrt", 1, 1, Of<"rsqrt", RsqrtOf>},
    {"Select", 3, 3, OfParts<SelectOf>},
    {"SelectV2", 3, 3, OfParts<Same<"where">>},
    {"Selu", 1, 1, Activated<"selu">},
    {"Sigmoid", 1, 1, Of<"sigmoid", SigmoidOf>},
    {"Sign", 1, 1, SignOf},
    {"Sin", 1, 1, Of<"sin", SinOf>},
    {"Sinh", 1, 1, Of<"sinh", SinhOf>},
    {"Softplus", 1, 1, Activated<"softplus">},
    {"Softsign", 1, 1, Activated<"softsign">},
    {"Sqrt", 1, 1, Of<"sqrt", SqrtOf>},
    {"Square", 1, 1, Square},
    {"SquaredDifference", 2, 2, SquaredDifference},
    {"Sub", 2, 2, OfParts<Same<"subtract">>},
    {"Tan", 1, 1, Of<"tan", TanOf>},
    {"Tanh", 1, 1, Of<"tanh", TanhOf>},
    {"TruncateDiv", 2, 2, Same<"trunc_divide">},
    {"TruncateMod", 2, 2, Remainder<"trunc_mod">},
};

}  // namespace

std::span<const OperatorDef> MathOperators() { return kMathOperators; }

}  // namespace relayvm::import::tensorflow
