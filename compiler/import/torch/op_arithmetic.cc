// Arithmetic and comparisons of two tensors or more.
#include <cmath>
#include <numbers>

#include "compiler/import/torch/complex.h"

namespace relayvm::import::torch {

namespace {

// --- Two operands ---

Term Scaled(const Call& n, const Term& y) {
  const Argument& alpha = n.Arg("alpha");
  if (alpha.is_none() || (alpha.is_known_number() && alpha.number() == 1)) return y;
  return y * Term(n, n.Number("alpha", y.dtype()));
}

Results Add(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  if (x.dtype() == DType::kBool) return {Or(x, y)};
  return {x + Scaled(n, y)};
}
Results Subtract(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  if (x.dtype() == DType::kBool) return n.Fail("bools are not subtracted");
  return {x - Scaled(n, y)};
}
Results ReverseSubtract(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  return {y - Scaled(n, x)};
}

Results Multiply(Call& n) {
  if (IsComplex(n)) {
    const DType t = FloatPairType(n);
    const auto [a, b] = PartsOf(n, 0, t);
    const auto [c, d] = PartsOf(n, 1, t);
    return {Complex(a * c - b * d, a * d + b * c)};
  }
  const auto [x, y] = Pair(n, PairType(n));
  if (x.dtype() == DType::kBool) return {And(x, y)};
  return {x * y};
}

// Of floats in float64, so that quotients of float32 are whole; what is divided by infinity stays.
Term Remaining(const Term& x, const Term& y, std::string_view op) {
  if (!IsFloat(x.dtype())) return x.Call(op, y);
  const Term a = x.As(DType::kFloat64), c = y.As(DType::kFloat64);
  const Term finite = And(c.Call("isinf"), a.Call("isfinite"));
  Term stays = a;
  if (op == "floor_mod") {
    // Of the other sign it is infinity.
    const Term differs = Or(And(a < 0, c > 0), And(a > 0, c < 0));
    stays = Select(differs, c, a);
  }
  return Select(finite, stays, a.Call(op, c)).As(x.dtype());
}

Term FloorQuotient(const Term& x, const Term& y) {
  if (!IsFloat(x.dtype())) return x.Call("floor_divide", y);
  // As Python has it: the quotient of what the remainder leaves.
  const Term a = x.As(DType::kFloat64), c = y.As(DType::kFloat64);
  const Term quotient = a / c;
  // What is finite leaves itself of infinity, infinity leaves nothing that is a number.
  const Term differs = Or(And(a < 0, c > 0), And(a > 0, c < 0));
  const Term of_infinity = Select(differs, a.Number(-1), quotient);
  const Term whole = Select(c.Call("isinf"), of_infinity, Floor(quotient));
  const Term lost = And(a.Call("isinf"), Not(Equal(c, 0.0)));
  return Select(lost, a.Number(NAN), whole).As(x.dtype());
}

Results Divide(Call& n) {
  const std::string rounding = n.String("rounding_mode");
  if (rounding.empty()) {
    if (IsComplex(n)) {
      const DType t = FloatPairType(n);
      const auto [a, b] = PartsOf(n, 0, t);
      const auto [c, d] = PartsOf(n, 1, t);
      const Term norm = c * c + d * d;
      return {Complex((a * c + b * d) / norm, (b * c - a * d) / norm)};
    }
    const auto [x, y] = Pair(n, FloatPairType(n));
    return {x / y};
  }
  const auto [x, y] = Pair(n, PairType(n));
  if (rounding == "floor") return {FloorQuotient(x, y)};
  if (rounding != "trunc") return n.Fail("rounding_mode '{}' is not known", rounding);
  return {IsFloat(x.dtype()) ? (x / y).Call("trunc") : x.Call("trunc_divide", y)};
}
Results FloorDivide(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  return {FloorQuotient(x, y)};
}
Results Remainder(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  return {Remaining(x, y, "floor_mod")};
}
Results Fmod(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  return {Remaining(x, y, "trunc_mod")};
}

// Powers of integers wrap: squares and products, by the bits of the exponent. Negative exponents
// leave what 1 and -1 give; 0 of others.
Term WholePower(const Call& n, const Term& x, const Argument& exponent, const Term& y) {
  TypedBuilder& b = n.b();
  const Term one = x.Number(1);
  if (exponent.is_known_number() && exponent.number() >= 0 && exponent.number() < 64) {
    std::optional<Term> product;
    Term square = x;
    for (auto bits = static_cast<int64_t>(exponent.number()); bits > 0; bits /= 2) {
      if (bits % 2 != 0) product = product ? *product * square : square;
      if (bits > 1) square = square * square;
    }
    return product ? *product : Select(Equal(x, 0.0), one, one);
  }
  const Value shape = b.ShapeOf(x * y);
  const auto whole = [&](const Term& v) { return BroadcastTo(b, v, shape); };
  const auto last = b.While(
      {whole(x), whole(Maximum(y, y.Number(0))), whole(one)},
      [&](const TypedBuilder::State& s) {
        const Term left = Truth(Term(b, s[1]));
        return left.rank() == 0 ? left.value() : left.Over("any", Iota(left.rank()), false).value();
      },
      [&](const TypedBuilder::State& s) {
        const Term square(b, s[0]), bits(b, s[1]), product(b, s[2]);
        const Term odd = Equal(bits.Call("bitwise_and", bits.Number(1)), 1.0);
        return TypedBuilder::State{square * square, bits.Call("right_shift", bits.Number(1)),
                                   Select(odd, product * square, product)};
      });
  if (last.size() != 3) return x;
  const Term odd = Equal(y.Call("bitwise_and", y.Number(1)), 1.0);
  const Term unit = Select(Equal(x, 1.0), one, Select(odd, x.Number(-1), one));
  const Term small = Select(Equal(Abs(x), 1.0), unit, x.Number(0));
  return Select(y < 0, small, Term(b, last[2]));
}
Term Raised(const Call& n, const Term& x, const Argument& exponent, DType dtype) {
  if (exponent.is_known_number() && IsFloat(dtype)) {
    const double e = exponent.number();
    if (e == 1) return x;
    if (e == 2) return x * x;
    if (e == 3) return x * x * x;
    if (e == 0.5) return Sqrt(x);
    if (e == -0.5) return x.Call("rsqrt");
    if (e == -1) return 1 / x;
  }
  const Term y = exponent.is_number() ? Term(n, ScalarValue(n, exponent, dtype))
                                      : Term(n, n.b().Cast(exponent.value, dtype));
  if (IsFloat(dtype)) return x.Call("power", y);
  return WholePower(n, x.As(DType::kInt64), exponent, y.As(DType::kInt64)).As(dtype);
}
Results Power(Call& n) {
  const DType t = PairType(n);
  return {Raised(n, Operand(n, 0, t), n.Arg(size_t{1}), t)};
}
Results FloatPower(Call& n) {
  const auto [x, y] = Pair(n, DType::kFloat64);
  return {x.Call("power", y)};
}

// NaN stays NaN, of either operand: maximum and minimum give it where the second operand is.
Term Greater(const Term& x, const Term& y, std::string_view op) {
  const Term chosen = x.Call(op, y);
  return IsFloat(x.dtype()) ? Select(x.Call("isnan"), x, chosen) : chosen;
}
template <OpName kName>
Results Extreme(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  return {Greater(x, y, kName.chars)};
}
// The other one where one is NaN.
template <OpName kName>
Results NumberExtreme(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  if (!IsFloat(x.dtype())) return {x.Call(kName.chars, y)};
  const Term chosen = x.Call(kName.chars, y);
  return {Select(x.Call("isnan"), y, Select(y.Call("isnan"), x, chosen))};
}

template <OpName kName>
Results Compare(Call& n) {
  DType t = PairType(n);
  if (t == DType::kBool) t = DType::kInt8;
  const auto [x, y] = Pair(n, t);
  return {x.Call(kName.chars, y)};
}

template <OpName kName>
Results Logical(Call& n) {
  return {Truth(Term(n, 0)).Call(kName.chars, Truth(Term(n, 1)))};
}
Results LogicalNot(Call& n) { return {Not(Truth(Term(n, 0)))}; }

template <OpName kName, OpName kLogical>
Results Bitwise(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  return {x.Call(x.dtype() == DType::kBool ? kLogical.chars : kName.chars, y)};
}
Results BitwiseNot(Call& n) {
  const Term x(n, 0);
  return {x.dtype() == DType::kBool ? Not(x) : x.Call("bitwise_not")};
}
template <OpName kName>
Results Shift(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  if (!IsFloat(x.dtype())) return {x.Call(kName.chars, y)};
  const Term by = y.Number(2).Call("power", y);
  return {std::string_view(kName.chars) == "left_shift" ? x * by : x / by};
}

// Angles in all quadrants.
Results Atan2(Call& n) {
  const auto [y, x] = Pair(n, FloatPairType(n));
  const double pi = std::numbers::pi;
  const Term base = (y / x).Call("atan");
  const Term negative = Or(y < 0, And(Equal(y, 0.0), 1 / y < 0));
  const Term left = Select(negative, base - pi, base + pi);
  const Term zero_x =
      Select(y > 0, y.Number(pi / 2), Select(y < 0, y.Number(-pi / 2), y * y.Number(0))) + x;
  const Term minus_zero = And(Equal(x, 0.0), 1 / x < 0);
  const Term zero_y = Select(minus_zero, Select(negative, y.Number(-pi), y.Number(pi)), y);
  const Term on_axis = Select(Equal(y, 0.0), zero_y, zero_x);
  const Term infinite = And(x.Call("isinf"), y.Call("isinf"));
  const Term diagonal = Select(x > 0, y.Number(pi / 4), y.Number(3 * pi / 4));
  const Term corner = Select(y > 0, diagonal, -diagonal);
  return {Select(infinite, corner, Select(x > 0, base, Select(x < 0, left, on_axis)))};
}
Results Hypot(Call& n) {
  const auto [x, y] = Pair(n, FloatPairType(n));
  const Term a = Abs(x), c = Abs(y), most = Maximum(a, c), least = Minimum(a, c);
  const Term ratio = least / Select(Equal(most, 0.0), most.Number(1), most);
  const Term far = Or(a.Call("isinf"), c.Call("isinf"));
  const Term bad = Or(a.Call("isnan"), c.Call("isnan"));
  const Term length = most * Sqrt(ratio * ratio + 1.0);
  return {Select(far, a.Number(HUGE_VAL), Select(bad, a.Number(NAN), length))};
}
Results CopySign(Call& n) {
  const auto [x, y] = Pair(n, FloatPairType(n));
  const Term negative = Or(y < 0, And(Equal(y, 0.0), 1 / y < 0));
  return {Select(negative, -Abs(x), Abs(x))};
}
Results LogAddExp(Call& n) {
  const auto [x, y] = Pair(n, FloatPairType(n));
  const Term most = Maximum(x, y);
  return {Select(Equal(x, y), x + std::numbers::ln2, most + Log1p(Exp(-Abs(x - y))))};
}
Results LogAddExp2(Call& n) {
  const auto [x, y] = Pair(n, FloatPairType(n));
  const Term most = Maximum(x, y);
  const Term gap = -Abs(x - y) * std::numbers::ln2;
  return {Select(Equal(x, y), x + 1.0, most + Log1p(Exp(gap)) * std::numbers::log2e)};
}
Results XLogY(Call& n) {
  const auto [x, y] = Pair(n, FloatPairType(n));
  const Term product = Select(Equal(x, 0.0), x.Number(0) * y, x * y.Call("log"));
  return {Select(And(Equal(x, 0.0), Not(y.Call("isnan"))), x.Number(0), product)};
}
Results XLog1pY(Call& n) {
  return n.As("aten::xlogy.Tensor", {n.Arg(size_t{0}), Operand(n, 1, FloatPairType(n)) + 1.0});
}
// Euclid's, until nothing is left of any element.
Term Divisor(TypedBuilder& b, const Term& x, const Term& y) {
  const Term sum = x + y;
  const Value shape = b.ShapeOf(sum);
  const auto whole = [&](const Term& v) { return BroadcastTo(b, Abs(v), shape); };
  const auto last = b.While(
      {whole(x), whole(y)},
      [&](const TypedBuilder::State& s) {
        const Term left = Truth(Term(b, s[1]));
        return left.rank() == 0 ? left.value() : left.Over("any", Iota(left.rank()), false).value();
      },
      [&](const TypedBuilder::State& s) {
        const Term a(b, s[0]), c(b, s[1]), done = Equal(c, 0.0);
        const Term rest = a.Call("floor_mod", Select(done, c.Number(1), c));
        return TypedBuilder::State{Select(done, a, c), Select(done, c.Number(0), rest)};
      });
  return {b, last[0]};
}
template <bool kMultiple>
Results CommonDivisor(Call& n) {
  TypedBuilder& b = n.b();
  const auto [x, y] = Pair(n, PairType(n));
  if (IsFloat(x.dtype()) || x.dtype() == DType::kBool) return n.Fail("expected integers");
  const Term divisor = Divisor(b, x, y);
  if (!kMultiple || !b.status().ok()) return {divisor};
  const Term by = Select(Equal(divisor, 0.0), divisor.Number(1), divisor);
  return {Abs(x.Call("floor_divide", by) * y)};
}
Results Heaviside(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  return {Select(Equal(x, 0.0), y, (x > 0).As(x.dtype()))};
}
Results Ldexp(Call& n) {
  const auto [x, y] = Pair(n, FloatPairType(n));
  return {x * y.Number(2).Call("power", y)};
}

// --- Three operands and bounds ---

Results ClampTo(Call& n) {
  // A bound's dtype counts.
  std::vector<Argument> operands = {n.Arg(size_t{0})};
  for (const char* bound : {"min", "max"}) {
    if (n.Has(bound)) operands.push_back(n.Arg(bound));
  }
  const DType t = ResultType(operands);
  Term x = Operand(n, 0, t);
  const auto bound = [&](const char* name) {
    const Argument& a = n.Arg(name);
    return a.is_tensor() ? Term(n, n.b().Cast(a.value, t)) : Term(n, n.Number(name, t));
  };
  // NaN stays: maximum and minimum give it where the second operand is. That of a bound counts too.
  const auto limit = [&](const char* name, std::string_view op) {
    const Argument& a = n.Arg(name);
    const Term by = bound(name);
    if (a.is_known_number() && std::isnan(a.number()) && IsFloat(t)) return x * a.number();
    return a.is_known_number() ? by.Call(op, x) : Greater(by, x, op);
  };
  if (n.Has("min")) x = limit("min", "maximum");
  if (n.Has("max")) x = limit("max", "minimum");
  return {x};
}

Results Where(Call& n) {
  const Argument &x = n.Arg("self"), &y = n.Arg("other");
  const DType t = ResultType(std::array<Argument, 2>{x, y});
  const auto operand = [&](const Argument& a, const char* name) {
    return a.is_tensor() ? Term(n, n.b().Cast(a.value, t)) : Term(n, n.Number(name, t));
  };
  const Term condition = Truth(Term(n, n.Tensor("condition")));
  return {Select(condition, operand(x, "self"), operand(y, "other"))};
}

Results Lerp(Call& n) {
  const Term x(n, 0), y(n, 1);
  const Argument& w = n.Arg("weight");
  const Term weight = w.is_tensor() ? Term(n, w.value) : Term(n, n.Number("weight", x.dtype()));
  // From the nearer end.
  const Term gap = y - x;
  return {Select(Abs(weight) < 0.5, x + weight * gap, y - gap * (1.0 - weight))};
}
template <bool kDivide>
Results AddProduct(Call& n) {
  const DType t =
      ResultType(std::array<Argument, 3>{n.Arg(size_t{0}), n.Arg(size_t{1}), n.Arg(size_t{2})});
  const DType own = kDivide && !IsFloat(t) ? DType::kFloat32 : t;
  const Term x = Operand(n, 0, own), y = Operand(n, 1, own), z = Operand(n, 2, own);
  const Term product = kDivide ? y / z : y * z;
  const Argument& value = n.Arg("value");
  if (value.is_known_number() && value.number() == 1) return {x + product};
  return {x + product * Term(n, n.Number("value", own))};
}

Results IsClose(Call& n) {
  const auto [x, y] = Pair(n, PairType(n));
  if (!IsFloat(x.dtype())) {
    const Term a = x.As(DType::kFloat64), c = y.As(DType::kFloat64);
    const Term bound = Abs(c) * n.Float("rtol", 1e-5) + n.Float("atol", 1e-8);
    return {Abs(a - c) <= bound};
  }
  const Term bound = Abs(y) * n.Float("rtol", 1e-5) + n.Float("atol", 1e-8);
  Term close = Or(Equal(x, y), And(Abs(x - y) <= bound, y.Call("isfinite")));
  if (n.Bool("equal_nan")) close = Or(close, And(x.Call("isnan"), y.Call("isnan")));
  return {close};
}

constexpr OperatorDef kArithmeticOperators[] = {
    {"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", Add},
    {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", Add},
    {"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", Subtract},
    {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", Subtract},
    {"aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", Subtract},
    {"aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", Subtract},
    {"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", ReverseSubtract},
    {"aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ReverseSubtract},
    {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", Multiply, Takes::kComplex},
    {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", Multiply, Takes::kComplex},
    {"aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", Multiply, Takes::kComplex},
    {"aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", Multiply, Takes::kComplex},
    {"aten::div.Scalar(Tensor self, Scalar other) -> Tensor", Divide, Takes::kComplex},
    {"aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", Divide,
     Takes::kComplex},
    {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", Divide, Takes::kComplex},
    {"aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", Divide,
     Takes::kComplex},
    {"aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", Divide, Takes::kComplex},
    {"aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", Divide,
     Takes::kComplex},
    {"aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", Divide, Takes::kComplex},
    {"aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", Divide,
     Takes::kComplex},
    {"aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", Divide, Takes::kComplex},
    {"aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", Divide, Takes::kComplex},
    {"aten::floor_divide(Tensor self, Tensor other) -> Tensor", FloorDivide},
    {"aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", FloorDivide},
    {"aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", Remainder},
    {"aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", Remainder},
    {"aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", Remainder},
    {"aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", Fmod},
    {"aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", Fmod},
    {"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", Power},
    {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", Power},
    {"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", Power},
    {"aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", FloatPower},
    {"aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", FloatPower},
    {"aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", FloatPower},
    {"aten::maximum(Tensor self, Tensor other) -> Tensor", Extreme<"maximum">},
    {"aten::minimum(Tensor self, Tensor other) -> Tensor", Extreme<"minimum">},
    {"aten::max.other(Tensor self, Tensor other) -> Tensor", Extreme<"maximum">},
    {"aten::min.other(Tensor self, Tensor other) -> Tensor", Extreme<"minimum">},
    {"aten::fmax(Tensor self, Tensor other) -> Tensor", NumberExtreme<"maximum">},
    {"aten::fmin(Tensor self, Tensor other) -> Tensor", NumberExtreme<"minimum">},
    {"aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"equal">},
    {"aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"equal">},
    {"aten::eq.Tensor_list(Tensor[] a, Tensor[] b) -> bool", Compare<"equal">},
    {"aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"not_equal">},
    {"aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"not_equal">},
    {"aten::ne.Tensor_list(Tensor[] a, Tensor[] b) -> bool", Compare<"not_equal">},
    {"aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"not_equal">},
    {"aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"not_equal">},
    {"aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"less">},
    {"aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"less">},
    {"aten::less.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"less">},
    {"aten::less.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"less">},
    {"aten::le.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"less_equal">},
    {"aten::le.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"less_equal">},
    {"aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"less_equal">},
    {"aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"less_equal">},
    {"aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"greater">},
    {"aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"greater">},
    {"aten::greater.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"greater">},
    {"aten::greater.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"greater">},
    {"aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"greater_equal">},
    {"aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"greater_equal">},
    {"aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", Compare<"greater_equal">},
    {"aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", Compare<"greater_equal">},
    {"aten::logical_and(Tensor self, Tensor other) -> Tensor", Logical<"logical_and">},
    {"aten::logical_or(Tensor self, Tensor other) -> Tensor", Logical<"logical_or">},
    {"aten::logical_xor(Tensor self, Tensor other) -> Tensor", Logical<"logical_xor">},
    {"aten::logical_not(Tensor self) -> Tensor", LogicalNot},
    {"aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor",
     Bitwise<"bitwise_and", "logical_and">},
    {"aten::bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
     Bitwise<"bitwise_and", "logical_and">},
    {"aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
     Bitwise<"bitwise_and", "logical_and">},
    {"aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor",
     Bitwise<"bitwise_and", "logical_and">},
    {"aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor",
     Bitwise<"bitwise_and", "logical_and">},
    {"aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor",
     Bitwise<"bitwise_or", "logical_or">},
    {"aten::bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
     Bitwise<"bitwise_or", "logical_or">},
    {"aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor",
     Bitwise<"bitwise_or", "logical_or">},
    {"aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor",
     Bitwise<"bitwise_or", "logical_or">},
    {"aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor",
     Bitwise<"bitwise_or", "logical_or">},
    {"aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor",
     Bitwise<"bitwise_xor", "logical_xor">},
    {"aten::bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
     Bitwise<"bitwise_xor", "logical_xor">},
    {"aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
     Bitwise<"bitwise_xor", "logical_xor">},
    {"aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor",
     Bitwise<"bitwise_xor", "logical_xor">},
    {"aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor",
     Bitwise<"bitwise_xor", "logical_xor">},
    {"aten::bitwise_not(Tensor self) -> Tensor", BitwiseNot},
    {"aten::bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
     Shift<"left_shift">},
    {"aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", Shift<"left_shift">},
    {"aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
     Shift<"left_shift">},
    {"aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", Shift<"left_shift">},
    {"aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", Shift<"left_shift">},
    {"aten::bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
     Shift<"right_shift">},
    {"aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", Shift<"right_shift">},
    {"aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
     Shift<"right_shift">},
    {"aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", Shift<"right_shift">},
    {"aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", Shift<"right_shift">},
    {"aten::atan2(Tensor self, Tensor other) -> Tensor", Atan2},
    {"aten::arctan2(Tensor self, Tensor other) -> Tensor", Atan2},
    {"aten::hypot(Tensor self, Tensor other) -> Tensor", Hypot},
    {"aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", CopySign},
    {"aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", CopySign},
    {"aten::logaddexp(Tensor self, Tensor other) -> Tensor", LogAddExp},
    {"aten::logaddexp2(Tensor self, Tensor other) -> Tensor", LogAddExp2},
    {"aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", XLogY},
    {"aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", XLogY},
    {"aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", XLogY},
    {"aten::special_xlogy(Tensor self, Tensor other) -> Tensor", XLogY},
    {"aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", XLogY},
    {"aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", XLogY},
    {"aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", XLog1pY},
    {"aten::gcd(Tensor self, Tensor other) -> Tensor", CommonDivisor<false>},
    {"aten::lcm(Tensor self, Tensor other) -> Tensor", CommonDivisor<true>},
    {"aten::heaviside(Tensor self, Tensor values) -> Tensor", Heaviside},
    {"aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", Ldexp},
    {"aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", ClampTo},
    {"aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", ClampTo},
    {"aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", ClampTo},
    {"aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", ClampTo},
    {"aten::clamp_min(Tensor self, Scalar min) -> Tensor", ClampTo},
    {"aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", ClampTo},
    {"aten::clamp_max(Tensor self, Scalar max) -> Tensor", ClampTo},
    {"aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", ClampTo},
    {"aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", Where},
    {"aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", Where},
    {"aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", Where},
    {"aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", Where},
    {"aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", Lerp},
    {"aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", Lerp},
    {"aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     AddProduct<false>},
    {"aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     AddProduct<true>},
    {"aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
     "atol=1e-08, bool equal_nan=False) -> Tensor",
     IsClose},
};

}  // namespace

OperatorTable ArithmeticOperators() { return kArithmeticOperators; }

}  // namespace relayvm::import::torch
