// Elementwise operators of two inputs, and of an input and a number. Those of MXNet's own interface
// take inputs of one dtype and say what is true by 1 and 0 of that dtype; those of its numpy
// interface (_npi_) mix dtypes and give bool.
#include <cmath>
#include <numbers>

#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

struct Operands {
  Term x, y;
};
using Formula = Term (*)(const Term& x, const Term& y);

// --- Formulas: of two of one dtype ---

template <OpName kName>
Term Plain(const Term& x, const Term& y) {
  return x.Call(kName.chars, y);
}
Term Divided(const Term& x, const Term& y) {
  return IsFloat(x.dtype()) ? x / y : x.Call("trunc_divide", y);
}
// Of the divisor's sign; 0 by 0.
Term Modulo(const Term& x, const Term& y) {
  if (!IsFloat(x.dtype())) {
    const Term safe = Select(Equal(y, 0), y.Number(1), y);
    return x.Call("floor_mod", safe);
  }
  const Term wide = y.As(DType::kFloat64), none = Equal(wide, 0);
  const Term rest = x.As(DType::kFloat64).Call("mod", Select(none, wide.Number(1), wide));
  const Term moved =
      Select(Equal((rest < 0).As(DType::kInt8), (wide < 0).As(DType::kInt8)), rest, rest + wide);
  return Select(none, rest.Number(0), Select(Equal(rest, 0), rest, moved)).As(x.dtype());
}
Term Power(const Term& x, const Term& y) {
  if (IsFloat(x.dtype())) return x.Call("power", y);
  return x.As(DType::kFloat64).Call("power", y.As(DType::kFloat64)).As(x.dtype());
}
Term InReals(const Term& x, const Term& y, Formula formula) {
  if (IsFloat(x.dtype())) return formula(x, y);
  return CutTo(formula(x.As(DType::kFloat64), y.As(DType::kFloat64)), x.dtype());
}
Term Hypot(const Term& x, const Term& y) {
  if (x.dtype() == DType::kFloat16)
    return Hypot(x.As(DType::kFloat32), y.As(DType::kFloat32)).As(DType::kFloat16);
  return InReals(x, y, [](const Term& a, const Term& b) {
    const Term length = Sqrt(a * a + b * b);
    return Select(Or(a.Call("isinf"), b.Call("isinf")), length.Number(HUGE_VAL), length);
  });
}
Term Ldexp(const Term& x, const Term& y) {
  return InReals(x, y,
                 [](const Term& a, const Term& b) { return a * b.Number(2).Call("power", b); });
}
Term CopySign(const Term& x, const Term& y) {
  const Term is_below = Or(y < 0, 1 / y < 0);  // zeros have signs
  return Select(is_below, -Abs(x), Abs(x));
}
// The angle of (x, y): y comes first.
Term Atan2(const Term& y, const Term& x) {
  return InReals(y, x, [](const Term& a, const Term& b) {
    const Term angle = (a / b).Call("atan");
    const Term half = Select(a < 0, a.Number(-std::numbers::pi), a.Number(std::numbers::pi));
    const Term upright = Select(a > 0, half * 0.5, Select(a < 0, half * 0.5, a.Number(0)));
    return Select(b > 0, angle, Select(b < 0, angle + half, Select(Equal(b, 0), upright, angle)));
  });
}
template <OpName kName>
Term Extreme(const Term& x, const Term& y) {
  const Term chosen = x.Call(kName.chars, y);
  return IsFloat(x.dtype()) ? Select(x.Call("isnan"), x, chosen) : chosen;
}
template <OpName kName>
Term Logical(const Term& x, const Term& y) {
  return IsTrue(x).Call(kName.chars, IsTrue(y));
}
template <OpName kName>
Term Bitwise(const Term& x, const Term& y) {
  if (x.dtype() != DType::kBool) return x.Call(kName.chars, y);
  return IsTrue(x.As(DType::kUInt8).Call(kName.chars, y.As(DType::kUInt8)));
}
// By Euclid's algorithm.
Term CommonMultiple(const Term& x, const Term& y) {
  TypedBuilder& b = x.b();
  const Term zero = (x - x) * y, first = Abs(x) + zero, second = Abs(y) + zero;
  const auto more = [&](const TypedBuilder::State& s) -> Value {
    return IsTrue(Term(b, s[1])).Call("any");
  };
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term a(b, s[0]), rest(b, s[1]), none = Equal(rest, 0);
    const Term safe = Select(none, rest.Number(1), rest);
    return {Select(none, a, rest), Select(none, rest, a.Call("floor_mod", safe))};
  };
  const TypedBuilder::State last = b.While({first, second}, more, step);
  if (!b.status().ok() || last.empty()) return x;
  const Term common(b, last[0]), none = Equal(common, 0);
  return Select(none, first,
                first.Call("trunc_divide", Select(none, common.Number(1), common)) * second);
}
// Of another operand's places.
template <Formula kFormula>
Term Swapped(const Term& x, const Term& y) {
  return kFormula(y, x);
}

// --- Operators ---

// Both inputs of one dtype, as files have them; an input that differs is brought to the first's.
Operands SameTypes(Node& n) {
  const Term x(n, 0), y(n, 1);
  return {x, y.As(x.dtype())};
}
// The more precise of two dtypes: any float before any whole number.
DType MorePrecise(DType x, DType y) {
  if (x == y) return x;
  if (IsFloat(x) != IsFloat(y)) return IsFloat(x) ? x : y;
  if (IsFloat(x)) {
    if (DTypeBytes(x) == DTypeBytes(y)) return DType::kFloat32;  // float16 and bfloat16
    return DTypeBytes(x) > DTypeBytes(y) ? x : y;
  }
  if (x == DType::kBool || y == DType::kBool) return x == DType::kBool ? y : x;
  if (DTypeBytes(x) == DTypeBytes(y)) return DType::kInt32;  // int8 and uint8
  return DTypeBytes(x) > DTypeBytes(y) ? x : y;
}
Operands Promoted(Node& n) {
  const Term x(n, 0), y(n, 1);
  const DType dtype = MorePrecise(x.dtype(), y.dtype());
  return {x.As(dtype), y.As(dtype)};
}
// The number as it meets the input: a whole number takes part in its dtype, another one makes
// whole numbers float64.
Operands WithScalar(Node& n) {
  const Term x(n, 0);
  const bool is_whole = n.Bool("is_int", true);
  DType dtype = x.dtype();
  if (dtype == DType::kBool) {
    dtype = is_whole ? DType::kInt64 : DType::kFloat64;
  } else if (!IsFloat(dtype) && !is_whole) {
    dtype = DType::kFloat64;
  }
  const double scalar = n.Float("scalar", 1);
  const Term wide = x.As(dtype);
  if (!IsFloat(dtype) && !(std::abs(scalar) < 9e18))
    return n.Fail("attribute scalar: {} is no whole number", scalar), Operands{wide, wide};
  return {wide, wide.Number(IsFloat(dtype) ? scalar : std::trunc(scalar))};
}
// The same for comparisons, which compare whole numbers with what is written.
Operands ComparedScalar(Node& n) {
  Term x(n, 0);
  double scalar = n.Float("scalar", 1);
  if (x.dtype() == DType::kBool && scalar != 0) scalar = 1;
  if (!IsFloat(x.dtype()) && (x.dtype() == DType::kBool || scalar != std::trunc(scalar)))
    x = x.As(DType::kFloat64);
  return {x, x.Number(scalar)};
}
// For bits: in the input's own dtype.
Operands ScalarOfBits(Node& n) {
  const Term x(n, 0);
  const double scalar = n.Float("scalar", 1);
  if (!(std::abs(scalar) < 9e18))
    return n.Fail("attribute scalar: {} is no whole number", scalar), Operands{x, x};
  if (x.dtype() == DType::kBool) return {x, Term(n.b(), n.b().Scalar(scalar != 0, DType::kBool))};
  return {x, x.Number(std::trunc(scalar))};
}

// Those of MXNet's own interface: a whole number is asked for, and bool is int64.
Operands WholeScalar(Node& n) {
  const Term x(n, 0);
  const double scalar = n.Float("scalar", 1);
  if (IsFloat(x.dtype()) || !n.Bool("is_int", true) || !(std::abs(scalar) < 9e18))
    return ComparedScalar(n);
  const Term wide = x.dtype() == DType::kBool ? x.As(DType::kInt64) : x;
  return {wide, wide.Number(std::trunc(scalar))};
}

template <Formula kFormula, Operands (*kOperands)(Node&) = SameTypes>
Outputs Binary(Node& n) {
  const Operands of = kOperands(n);
  return {kFormula(of.x, of.y)};
}
// What is true, as 1 and 0 of the input's dtype.
template <Formula kFormula, Operands (*kOperands)(Node&) = SameTypes>
Outputs Truths(Node& n) {
  const Operands of = kOperands(n);
  const DType dtype = n.Input(0).dtype();
  const bool widens = dtype == DType::kBool && of.x.dtype() == DType::kInt64;
  return {Truth(kFormula(of.x, of.y), widens ? DType::kInt64 : dtype)};
}
// Sums and products of bool are bool.
template <Formula kFormula>
Outputs Numpy(Node& n) {
  const Operands of = Promoted(n);
  if (of.x.dtype() != DType::kBool) return {kFormula(of.x, of.y)};
  return {IsTrue(kFormula(of.x.As(DType::kInt32), of.y.As(DType::kInt32)))};
}
// Of whole numbers in float32.
DType Quotient(DType x, DType y) {
  const DType dtype = MorePrecise(x, y);
  return IsFloat(dtype) ? dtype : DType::kFloat32;
}
Outputs TrueDivide(Node& n) {
  const Term x(n, 0), y(n, 1);
  const DType dtype = Quotient(x.dtype(), y.dtype());
  return {x.As(dtype) / y.As(dtype)};
}
template <bool kSwapped>
Outputs TrueDivideScalar(Node& n) {
  const Term x(n, 0), real = x.As(Quotient(x.dtype(), x.dtype()));
  const double scalar = n.Float("scalar", 1);
  return {kSwapped ? scalar / real : real / scalar};
}
// Of whole numbers as floats, which lose their fractions.
Term RealDivided(const Term& x, const Term& y) {
  return InReals(x, y, [](const Term& a, const Term& b) { return a / b; });
}
// Of whole numbers float32 or wider.
template <Formula kFormula>
Outputs NumpyReal(Node& n) {
  const Operands of = Promoted(n);
  return {kFormula(AsReal(of.x), AsReal(of.y))};
}

Outputs AddN(Node& n) {
  // Halves are added in float32.
  const DType dtype = n.Input(0).dtype();
  Term sum = dtype == DType::kFloat16 ? Term(n, 0).As(DType::kFloat32) : Term(n, 0);
  for (size_t i = 1; i < n.num_inputs(); ++i) sum = sum + Term(n, i).As(sum.dtype());
  return {sum.As(dtype)};
}

// 1 where all elements are close to those of the other.
Outputs AllClose(Node& n) {
  const Term x(n, 0), y(n, 1);
  const Term close = Abs(x - y) <= Abs(y) * n.Float("rtol", 1e-5) + n.Float("atol", 1e-8);
  Term same = Or(Equal(x, y), close);
  if (n.Bool("equal_nan", true)) same = Or(same, And(x.Call("isnan"), y.Call("isnan")));
  return {same.Call("all").As(DType::kUInt8)};
}

constexpr OperatorDef kBinaryOperators[] = {
    {"_contrib_allclose", 2, 2, AllClose},
    {"_div_scalar _DivScalar __div_scalar__", 1, 1, Binary<Divided, WithScalar>},
    {"_equal _Equal broadcast_equal", 2, 2, Truths<Plain<"equal">>},
    {"_equal_scalar _EqualScalar", 1, 1, Truths<Plain<"equal">, WholeScalar>},
    {"_greater _Greater broadcast_greater", 2, 2, Truths<Plain<"greater">>},
    {"_greater_equal _Greater_Equal broadcast_greater_equal", 2, 2, Truths<Plain<"greater_equal">>},
    {"_greater_equal_scalar _GreaterEqualScalar", 1, 1,
     Truths<Plain<"greater_equal">, WholeScalar>},
    {"_greater_scalar _GreaterScalar", 1, 1, Truths<Plain<"greater">, WholeScalar>},
    {"_hypot _Hypot broadcast_hypot", 2, 2, Binary<Hypot>},
    {"_hypot_scalar _HypotScalar", 1, 1, Binary<Hypot, WithScalar>},
    {"_lesser _Lesser broadcast_lesser", 2, 2, Truths<Plain<"less">>},
    {"_lesser_equal _Lesser_Equal broadcast_lesser_equal", 2, 2, Truths<Plain<"less_equal">>},
    {"_lesser_equal_scalar _LesserEqualScalar", 1, 1, Truths<Plain<"less_equal">, WholeScalar>},
    {"_lesser_scalar _LesserScalar", 1, 1, Truths<Plain<"less">, WholeScalar>},
    {"_logical_and _Logical_And broadcast_logical_and", 2, 2, Truths<Logical<"logical_and">>},
    {"_logical_and_scalar _LogicalAndScalar", 1, 1, Truths<Logical<"logical_and">, WholeScalar>},
    {"_logical_or _Logical_Or broadcast_logical_or", 2, 2, Truths<Logical<"logical_or">>},
    {"_logical_or_scalar _LogicalOrScalar", 1, 1, Truths<Logical<"logical_or">, WholeScalar>},
    {"_logical_xor _Logical_Xor broadcast_logical_xor", 2, 2, Truths<Logical<"logical_xor">>},
    {"_logical_xor_scalar _LogicalXorScalar", 1, 1, Truths<Logical<"logical_xor">, WholeScalar>},
    {"_maximum _Maximum broadcast_maximum _npi_maximum", 2, 2,
     Binary<Extreme<"maximum">, Promoted>},
    {"_maximum_scalar _MaximumScalar _npi_maximum_scalar", 1, 1,
     Binary<Extreme<"maximum">, WithScalar>},
    {"_minimum _Minimum broadcast_minimum _npi_minimum", 2, 2,
     Binary<Extreme<"minimum">, Promoted>},
    {"_minimum_scalar _MinimumScalar _npi_minimum_scalar", 1, 1,
     Binary<Extreme<"minimum">, WithScalar>},
    {"_minus_scalar _MinusScalar _scatter_minus_scalar __sub_scalar__", 1, 1,
     Binary<Plain<"subtract">, WithScalar>},
    {"_mod _Mod broadcast_mod", 2, 2, Binary<Modulo>},
    {"_mod_scalar _ModScalar", 1, 1, Binary<Modulo, WithScalar>},
    {"_mul_scalar _MulScalar __mul_scalar__", 1, 1, Binary<Plain<"multiply">, WithScalar>},
    {"_not_equal _Not_Equal broadcast_not_equal", 2, 2, Truths<Plain<"not_equal">>},
    {"_not_equal_scalar _NotEqualScalar", 1, 1, Truths<Plain<"not_equal">, WholeScalar>},
    {"_npi_add", 2, 2, Numpy<Plain<"add">>},
    {"_npi_add_scalar", 1, 1, Binary<Plain<"add">, WithScalar>},
    {"_npi_arctan2", 2, 2, NumpyReal<Atan2>},
    {"_npi_arctan2_scalar", 1, 1, Binary<Atan2, WithScalar>},
    {"_npi_bitwise_and", 2, 2, Binary<Bitwise<"bitwise_and">, Promoted>},
    {"_npi_bitwise_and_scalar", 1, 1, Binary<Bitwise<"bitwise_and">, ScalarOfBits>},
    {"_npi_bitwise_or", 2, 2, Binary<Bitwise<"bitwise_or">, Promoted>},
    {"_npi_bitwise_or_scalar", 1, 1, Binary<Bitwise<"bitwise_or">, ScalarOfBits>},
    {"_npi_bitwise_xor", 2, 2, Binary<Bitwise<"bitwise_xor">, Promoted>},
    {"_npi_bitwise_xor_scalar", 1, 1, Binary<Bitwise<"bitwise_xor">, ScalarOfBits>},
    {"_npi_copysign", 2, 2, Binary<CopySign, Promoted>},
    {"_npi_copysign_scalar", 1, 1, Binary<CopySign, WithScalar>},
    {"_npi_equal", 2, 2, Binary<Plain<"equal">, Promoted>},
    {"_npi_equal_scalar", 1, 1, Binary<Plain<"equal">, ComparedScalar>},
    {"_npi_greater", 2, 2, Binary<Plain<"greater">, Promoted>},
    {"_npi_greater_equal", 2, 2, Binary<Plain<"greater_equal">, Promoted>},
    {"_npi_greater_equal_scalar", 1, 1, Binary<Plain<"greater_equal">, ComparedScalar>},
    {"_npi_greater_scalar", 1, 1, Binary<Plain<"greater">, ComparedScalar>},
    {"_npi_hypot", 2, 2, NumpyReal<Hypot>},
    {"_npi_hypot_scalar", 1, 1, Binary<Hypot, WithScalar>},
    {"_npi_lcm", 2, 2, Binary<CommonMultiple, Promoted>},
    {"_npi_lcm_scalar", 1, 1, Binary<CommonMultiple, WithScalar>},
    {"_npi_ldexp", 2, 2, Binary<Ldexp, Promoted>},
    {"_npi_ldexp_scalar", 1, 1, Binary<Ldexp, WithScalar>},
    {"_npi_less", 2, 2, Binary<Plain<"less">, Promoted>},
    {"_npi_less_equal", 2, 2, Binary<Plain<"less_equal">, Promoted>},
    {"_npi_less_equal_scalar", 1, 1, Binary<Plain<"less_equal">, ComparedScalar>},
    {"_npi_less_scalar", 1, 1, Binary<Plain<"less">, ComparedScalar>},
    {"_npi_logical_and", 2, 2, Binary<Logical<"logical_and">, Promoted>},
    {"_npi_logical_and_scalar", 1, 1, Binary<Logical<"logical_and">, ComparedScalar>},
    {"_npi_logical_or", 2, 2, Binary<Logical<"logical_or">, Promoted>},
    {"_npi_logical_or_scalar", 1, 1, Binary<Logical<"logical_or">, ComparedScalar>},
    {"_npi_logical_xor", 2, 2, Binary<Logical<"logical_xor">, Promoted>},
    {"_npi_logical_xor_scalar", 1, 1, Binary<Logical<"logical_xor">, ComparedScalar>},
    {"_npi_mod", 2, 2, Binary<Modulo, Promoted>},
    {"_npi_mod_scalar", 1, 1, Binary<Modulo, WithScalar>},
    {"_npi_multiply", 2, 2, Numpy<Plain<"multiply">>},
    {"_npi_multiply_scalar", 1, 1, Binary<Plain<"multiply">, WithScalar>},
    {"_npi_not_equal", 2, 2, Binary<Plain<"not_equal">, Promoted>},
    {"_npi_not_equal_scalar", 1, 1, Binary<Plain<"not_equal">, ComparedScalar>},
    {"_npi_power", 2, 2, Binary<Power, Promoted>},
    {"_npi_power_scalar", 1, 1, Binary<Power, WithScalar>},
    {"_npi_rarctan2_scalar", 1, 1, Binary<Swapped<Atan2>, WithScalar>},
    {"_npi_rcopysign_scalar", 1, 1, Binary<Swapped<CopySign>, WithScalar>},
    {"_npi_rldexp_scalar", 1, 1, Binary<Swapped<Ldexp>, WithScalar>},
    {"_npi_rmod_scalar", 1, 1, Binary<Swapped<Modulo>, WithScalar>},
    {"_npi_rpower_scalar", 1, 1, Binary<Swapped<Power>, WithScalar>},
    {"_npi_rsubtract_scalar", 1, 1, Binary<Swapped<Plain<"subtract">>, WithScalar>},
    {"_npi_rtrue_divide_scalar", 1, 1, TrueDivideScalar<true>},
    {"_npi_subtract", 2, 2, Numpy<Plain<"subtract">>},
    {"_npi_subtract_scalar", 1, 1, Binary<Plain<"subtract">, WithScalar>},
    {"_npi_true_divide", 2, 2, TrueDivide},
    {"_npi_true_divide_scalar", 1, 1, TrueDivideScalar<false>},
    {"_plus_scalar _PlusScalar _scatter_plus_scalar __add_scalar__", 1, 1,
     Binary<Plain<"add">, WithScalar>},
    {"_power _Power broadcast_power", 2, 2, Binary<Power>},
    {"_power_scalar _PowerScalar __pow_scalar__", 1, 1, Binary<Power, WithScalar>},
    {"_rdiv_scalar _RDivScalar __rdiv_scalar__", 1, 1, Binary<Swapped<RealDivided>, WithScalar>},
    {"_rminus_scalar _RMinusScalar __rsub_scalar__", 1, 1,
     Binary<Swapped<Plain<"subtract">>, WithScalar>},
    {"_rmod_scalar _RModScalar", 1, 1, Binary<Swapped<Modulo>, WithScalar>},
    {"_rpower_scalar _RPowerScalar __rpow_scalar__", 1, 1, Binary<Swapped<Power>, WithScalar>},
    {"add_n ElementWiseSum _sum", 1, -1, AddN},
    {"elemwise_add _add _plus _Plus _grad_add broadcast_add broadcast_plus", 2, 2,
     Binary<Plain<"add">>},
    {"elemwise_div _div _Div _scatter_elemwise_div broadcast_div", 2, 2, Binary<Divided>},
    {"elemwise_mul _mul _Mul broadcast_mul", 2, 2, Binary<Plain<"multiply">>},
    {"elemwise_sub _sub _minus _Minus broadcast_sub broadcast_minus", 2, 2,
     Binary<Plain<"subtract">>},
};

}  // namespace

std::span<const OperatorDef> BinaryOperators() { return kBinaryOperators; }

}  // namespace relayvm::import::mxnet
