// Functions of single elements.
#include <cmath>
#include <numbers>

#include "compiler/import/torch/complex.h"
#include "compiler/import/torch/quantised.h"

namespace relayvm::import::torch {

namespace {

template <OpName kName>
Results OfReal(Call& n) {
  return {Real(n).Call(kName.chars)};
}
// Of integers it is the integer.
template <OpName kName>
Results Rounded(Call& n) {
  const Term x(n, 0);
  return {IsFloat(x.dtype()) ? x.Call(kName.chars) : x};
}
Results Round(Call& n) {
  const Term x(n, 0);
  const int64_t decimals = n.Int("decimals");
  if (!IsFloat(x.dtype())) return {x};
  if (decimals == 0) return {x.Call("round_even")};
  const double by = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  if (decimals > 0) return {(x * by).Call("round_even") / by};
  return {(x / by).Call("round_even") * by};
}
Results Identity(Call& n) { return {n.Arg(size_t{0})}; }

Results Absolute(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (a.complex) {
    const Parts p = PartsOf(n, 0, a.value.dtype());
    return {n.ValueAs("aten::hypot", {p.re, p.im})};  // of large parts too
  }
  return {Term(n, 0).Call("abs")};
}
Results Negative(Call& n) {
  Argument out = -Term(n, n.Arg(size_t{0}).value);
  out.complex = n.Arg(size_t{0}).complex;
  return {out};
}
Results Conjugate(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (!a.complex) return {a};
  const Parts p = PartsOf(n, 0, a.value.dtype());
  return {Complex(p.re, -p.im)};
}
Results RealPart(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (!a.complex) return {a};
  return {PartsOf(n, 0, a.value.dtype()).re};
}
Results ImaginaryPart(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (!a.complex) return n.Fail("expected a complex tensor");
  return {PartsOf(n, 0, a.value.dtype()).im};
}
Results Angle(Call& n) {
  const Argument& a = n.Arg(size_t{0});
  if (!a.complex) {
    const Term x = Real(n);
    const Term angle = Select(x < 0, x.Number(std::numbers::pi), x.Number(0));
    return {Select(x.Call("isnan"), x, angle)};
  }
  const Parts p = PartsOf(n, 0, a.value.dtype());
  return {n.ValueAs("aten::atan2", {p.im, p.re})};
}
Results MakeComplex(Call& n) { return {Complex(Term(n, 0), Term(n, 1))}; }
Results Polar(Call& n) {
  const Term length(n, 0), angle(n, 1);
  return {Complex(length * Cos(angle), length * Sin(angle))};
}
Results ViewAsReal(Call& n) {
  Argument a = n.Arg(size_t{0});
  if (!a.complex) return n.Fail("expected a complex tensor");
  a.complex = false;
  return {a};
}
Results ViewAsComplex(Call& n) {
  Argument a = n.Arg(size_t{0});
  if (a.value.rank() == 0 || !a.value.dim(-1).is_const(2))
    return n.Fail("expected a last dim of 2");
  a.complex = true;
  return {a};
}

Results Reciprocal(Call& n) { return {1 / Real(n)}; }
Results Square(Call& n) {
  const Term x(n, 0);
  return {x * x};
}
Results Exp2(Call& n) {
  const Term x = Real(n);
  return {x.Number(2).Call("power", x)};
}
// Without the loss that e^x - 1 has near 0 (Kahan).
Results Expm1(Call& n) {
  const Term given = Real(n);
  const Term x = given.dtype() == DType::kFloat16 || given.dtype() == DType::kBFloat16
                     ? given.As(DType::kFloat32)
                     : given;
  const Term u = Exp(x), less = u - 1.0;
  const Term near = less * x / u.Call("log");
  const Term y =
      Select(Equal(u, 1.0), x, Select(Or(Equal(less, -1.0), u.Call("isinf")), less, near));
  return {y.As(given.dtype())};
}
Term LogOnePlus(const Term& x) {
  const Term u = x + 1.0, less = u - 1.0;
  const Term log = u.Call("log");
  return Select(Equal(less, 0.0), x, Select(u.Call("isinf"), log, log * x / less));
}
Results Log1pOf(Call& n) { return {LogOnePlus(Real(n))}; }
// e^(x^2) erfc(x) of x >= 0: Chebyshev's polynomial in 2 / (2 + x) (Numerical Recipes, erfccheb).
Term ScaledErfc(const Term& x) {
  constexpr double kCoefficients[] = {-1.3026537197817094,
                                      6.4196979235649026e-1,
                                      1.9476473204185836e-2,
                                      -9.561514786808631e-3,
                                      -9.46595344482036e-4,
                                      3.66839497852761e-4,
                                      4.2523324806907e-5,
                                      -2.0278578112534e-5,
                                      -1.624290004647e-6,
                                      1.303655835580e-6,
                                      1.5626441722e-8,
                                      -8.5238095915e-8,
                                      6.529054439e-9,
                                      5.059343495e-9,
                                      -9.91364156e-10,
                                      -2.27365122e-10,
                                      9.6467911e-11,
                                      2.394038e-12,
                                      -6.886027e-12,
                                      8.94487e-13,
                                      3.13092e-13,
                                      -1.12708e-13,
                                      3.81e-16,
                                      7.106e-15,
                                      -1.523e-15,
                                      -9.4e-17,
                                      1.21e-16,
                                      -2.8e-17};
  const Term t = 2.0 / (x + 2.0), turn = t * 4 - 2;
  Term now = x.Number(0), before = now;
  for (size_t i = std::size(kCoefficients) - 1; i > 0; --i) {
    const Term next = turn * now - before + kCoefficients[i];
    before = now;
    now = next;
  }
  return t * Exp((turn * now + kCoefficients[0]) * 0.5 - before);
}
Results Erfc(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64), size = Abs(x);
  const Term far = ScaledErfc(size) * Exp(-(size * size));
  return {Select(x < 0, 2.0 - far, far).As(given.dtype())};
}
Results ErfcScaled(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64), size = Abs(x);
  const Term y = ScaledErfc(size);
  return {Select(x < 0, 2.0 * Exp(x * x) - y, y).As(given.dtype())};
}
// The normal distribution up to x, and its logarithm.
Results NormalBelow(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64) * (1 / std::numbers::sqrt2);
  const Term size = Abs(x), half = ScaledErfc(size) * 0.5, tail = half * Exp(-(size * size));
  if (n.name() == "aten::special_ndtr") return {Select(x < 0, tail, 1.0 - tail).As(given.dtype())};
  const Term low = Select(x.Call("isinf"), -size, half.Call("log") - size * size);
  return {Select(x < 0, low, LogOnePlus(-tail)).As(given.dtype())};
}
Results Sign(Call& n) {
  const Term x(n, 0);
  if (x.dtype() == DType::kBool) return {x};
  const Term sign = x.Call("sign");
  return {IsFloat(x.dtype()) ? Select(x.Call("isnan"), x.Number(0), sign) : sign};
}
Results SignBit(Call& n) {
  const Term x(n, 0);
  if (!IsFloat(x.dtype())) return {x < 0};
  return {Or(x < 0, And(Equal(x, 0.0), 1 / x < 0))};
}
Results Fraction(Call& n) {
  const Term x(n, 0);
  return {x - x.Call("trunc")};
}
Results Sinc(Call& n) {
  const Term x = Real(n) * std::numbers::pi;
  return {Select(Equal(x, 0.0), x.Number(1), Sin(x) / x)};
}
Results Logit(Call& n) {
  Term x = Real(n);
  if (n.Has("eps")) {
    const double eps = n.Float("eps");
    const Term low = x.Number(eps), high = x.Number(1 - eps);
    x = Select(x < low, low, Select(x > high, high, x));
  }
  return {(x / (1 - x)).Call("log")};
}
Results IsFinite(Call& n) {
  const Term x(n, 0);
  if (IsFloat(x.dtype())) return {x.Call("isfinite")};
  return {x.Call("ones_like").As(DType::kBool)};
}
template <OpName kName>
Results FloatTest(Call& n) {
  const Term x(n, 0);
  if (IsFloat(x.dtype())) return {x.Call(kName.chars)};
  return {x.Call("zeros_like").As(DType::kBool)};
}
template <int kSign>
Results IsInfinity(Call& n) {
  const Term x(n, 0);
  if (!IsFloat(x.dtype())) return {x.Call("zeros_like").As(DType::kBool)};
  return {Equal(x, kSign * HUGE_VAL)};
}
Results NanToNum(Call& n) {
  const Term x(n, 0);
  if (!IsFloat(x.dtype())) return {x};
  const double most = x.dtype() == DType::kFloat64   ? 1.7976931348623157e308
                      : x.dtype() == DType::kFloat16 ? 65504
                      : x.dtype() == DType::kFloat32 ? 3.4028234663852886e38
                                                     : 3.3895313892515355e38;
  Term y = Select(x.Call("isnan"), x.Number(n.Float("nan", 0)), x);
  y = Select(Equal(x, HUGE_VAL), x.Number(n.Float("posinf", most)), y);
  return {Select(Equal(x, -HUGE_VAL), x.Number(n.Float("neginf", -most)), y)};
}
// -x log x.
Results Entropy(Call& n) {
  const Term x = Real(n);
  const Term y = -x * x.Call("log");
  return {Select(Equal(x, 0.0), x.Number(0), Select(x < 0, x.Number(-HUGE_VAL), y))};
}
Results Degrees(Call& n) { return {Real(n) * (180 / std::numbers::pi)}; }
Results Radians(Call& n) { return {Real(n) * (std::numbers::pi / 180)}; }

// log |gamma(x)|: Lanczos' sum, by reflection where x is below 1/2.
Results LogGamma(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64);
  constexpr double kSum[] = {676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                             -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                             9.9843695780195716e-6, 1.5056327351493116e-7};
  const Term reflected = x < 0.5, z = Select(reflected, 1 - x, x) - 1.0;
  Term sum = z.Number(0.99999999999980993);
  for (int i = 0; i < 8; ++i) sum = sum + z.Number(kSum[i]) / (z + static_cast<double>(i + 1));
  const Term t = z + 7.5;
  const double half_log = 0.5 * std::log(2 * std::numbers::pi);
  const Term log = (z + 0.5) * t.Call("log") - t + sum.Call("log") + half_log;
  const Term sine = Abs(Sin(x * std::numbers::pi));
  const Term other = (1 / sine).Call("log") + std::log(std::numbers::pi) - log;
  const Term y = Select(reflected, other, log);
  const Term pole = Or(And(Equal(x, Floor(x)), x <= 0), x.Call("isinf"));
  return {Select(pole, x.Number(HUGE_VAL), y).As(given.dtype())};
}
// The logarithmic derivative of gamma: recurrence up to 6, then its asymptotic series.
Results Digamma(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64);
  const Term reflected = x < 0;
  Term z = Select(reflected, 1 - x, x), sum = z.Number(0);
  for (int i = 0; i < 8; ++i) {
    sum = sum - 1 / z;
    z = z + 1.0;
  }
  const Term w = 1 / (z * z);
  const Term series =
      w * (1.0 / 12 - w * (1.0 / 120 - w * (1.0 / 252 - w * (1.0 / 240 - w * (1.0 / 132)))));
  const Term y = sum + z.Call("log") - 0.5 / z - series;
  const Term turn = x * std::numbers::pi;
  const Term other = y - Cos(turn) / Sin(turn) * std::numbers::pi;
  // At 0 it is infinite, at whole numbers below it is none.
  const Term pole = Select(x < 0, x.Number(NAN), -1 / x);
  const Term at_pole = And(Equal(x, Floor(x)), x <= 0);
  return {Select(at_pole, pole, Select(reflected, other, y)).As(given.dtype())};
}
// The inverse of erf: Giles' polynomials, then two of Newton's steps.
Results ErfInverse(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64);
  const Term w = -((1 - x) * (1 + x)).Call("log");
  constexpr double kNear[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                              -4.39150654e-06, 0.00021858087,  -0.00125372503,
                              -0.00417768164,  0.246640727,    1.50140941};
  constexpr double kFar[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                             -0.00367342844,  0.00573950773,  -0.0076224613,
                             0.00943887047,   1.00167406,     2.83297682};
  const auto poly = [](const Term& at, const double(&c)[9]) {
    Term p = at.Number(c[0]);
    for (int i = 1; i < 9; ++i) p = p * at + c[i];
    return p;
  };
  const Term near = poly(w - 2.5, kNear), far = poly(Sqrt(Maximum(w, w.Number(0))) - 3.0, kFar);
  Term y = Select(w < 5, near, far) * x;
  for (int i = 0; i < 2; ++i) {
    const Term slope = Exp(-(y * y)) * (2 / std::sqrt(std::numbers::pi));
    y = y - (y.Call("erf") - x) / slope;
  }
  y = Select(Equal(Abs(x), 1.0), x * HUGE_VAL, y);
  return {Select(Abs(x) > 1, x.Number(NAN), y).As(given.dtype())};
}

constexpr OperatorDef kUnaryOperators[] = {
    {"aten::abs(Tensor self) -> Tensor", Absolute, Takes::kComplex},
    {"aten::absolute(Tensor self) -> Tensor", Absolute, Takes::kComplex},
    {"aten::neg(Tensor self) -> Tensor", Negative, Takes::kComplex},
    {"aten::negative(Tensor self) -> Tensor", Negative, Takes::kComplex},
    {"aten::conj(Tensor(a) self) -> Tensor(a)", Conjugate, Takes::kComplex},
    {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)", Identity, Takes::kAll},
    {"aten::conj_physical(Tensor self) -> Tensor", Conjugate, Takes::kComplex},
    {"aten::_conj(Tensor(a) self) -> Tensor(a)", Conjugate, Takes::kComplex},
    {"aten::resolve_neg(Tensor(a) self) -> Tensor(a)", Identity, Takes::kAll},
    {"aten::positive(Tensor(a) self) -> Tensor(a)", Identity, Takes::kAll},
    {"aten::real(Tensor(a) self) -> Tensor(a)", RealPart, Takes::kComplex},
    {"aten::imag(Tensor(a) self) -> Tensor(a)", ImaginaryPart, Takes::kComplex},
    {"aten::angle(Tensor self) -> Tensor", Angle, Takes::kComplex},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", MakeComplex},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", Polar},
    {"aten::view_as_real(Tensor(a) self) -> Tensor(a)", ViewAsReal, Takes::kComplex},
    {"aten::view_as_complex(Tensor(a) self) -> Tensor(a)", ViewAsComplex},
    {"aten::ceil(Tensor self) -> Tensor", Rounded<"ceil">},
    {"aten::floor(Tensor self) -> Tensor", Rounded<"floor">},
    {"aten::trunc(Tensor self) -> Tensor", Rounded<"trunc">},
    {"aten::fix(Tensor self) -> Tensor", Rounded<"trunc">},
    {"aten::round(Tensor self) -> Tensor", Round},
    {"aten::round.decimals(Tensor self, *, int decimals) -> Tensor", Round},
    {"aten::exp(Tensor self) -> Tensor", OfReal<"exp">},
    {"aten::exp2(Tensor self) -> Tensor", Exp2},
    {"aten::special_exp2(Tensor self) -> Tensor", Exp2},
    {"aten::expm1(Tensor self) -> Tensor", Expm1},
    {"aten::special_expm1(Tensor self) -> Tensor", Expm1},
    {"aten::log(Tensor self) -> Tensor", OfReal<"log">},
    {"aten::log2(Tensor self) -> Tensor", OfReal<"log2">},
    {"aten::log10(Tensor self) -> Tensor", OfReal<"log10">},
    {"aten::log1p(Tensor self) -> Tensor", Log1pOf},
    {"aten::special_log1p(Tensor self) -> Tensor", Log1pOf},
    {"aten::sqrt(Tensor self) -> Tensor", OfReal<"sqrt">},
    {"aten::rsqrt(Tensor self) -> Tensor", OfReal<"rsqrt">},
    {"aten::sin(Tensor self) -> Tensor", OfReal<"sin">},
    {"aten::cos(Tensor self) -> Tensor", OfReal<"cos">},
    {"aten::tan(Tensor self) -> Tensor", OfReal<"tan">},
    {"aten::asin(Tensor self) -> Tensor", OfReal<"asin">},
    {"aten::arcsin(Tensor self) -> Tensor", OfReal<"asin">},
    {"aten::acos(Tensor self) -> Tensor", OfReal<"acos">},
    {"aten::arccos(Tensor self) -> Tensor", OfReal<"acos">},
    {"aten::atan(Tensor self) -> Tensor", OfReal<"atan">},
    {"aten::arctan(Tensor self) -> Tensor", OfReal<"atan">},
    {"aten::sinh(Tensor self) -> Tensor", OfReal<"sinh">},
    {"aten::cosh(Tensor self) -> Tensor", OfReal<"cosh">},
    {"aten::tanh(Tensor self) -> Tensor", QuantisedToRange<OfReal<"tanh">, 2, true>,
     Takes::kQuantised},
    {"aten::asinh(Tensor self) -> Tensor", OfReal<"asinh">},
    {"aten::arcsinh(Tensor self) -> Tensor", OfReal<"asinh">},
    {"aten::acosh(Tensor self) -> Tensor", OfReal<"acosh">},
    {"aten::arccosh(Tensor self) -> Tensor", OfReal<"acosh">},
    {"aten::atanh(Tensor self) -> Tensor", OfReal<"atanh">},
    {"aten::arctanh(Tensor self) -> Tensor", OfReal<"atanh">},
    {"aten::erf(Tensor self) -> Tensor", OfReal<"erf">},
    {"aten::special_erf(Tensor self) -> Tensor", OfReal<"erf">},
    {"aten::erfc(Tensor self) -> Tensor", Erfc},
    {"aten::special_erfc(Tensor self) -> Tensor", Erfc},
    {"aten::special_erfcx(Tensor self) -> Tensor", ErfcScaled},
    {"aten::special_ndtr(Tensor self) -> Tensor", NormalBelow},
    {"aten::special_log_ndtr(Tensor self) -> Tensor", NormalBelow},
    {"aten::special_entr(Tensor self) -> Tensor", Entropy},
    {"aten::erfinv(Tensor self) -> Tensor", ErfInverse},
    {"aten::special_erfinv(Tensor self) -> Tensor", ErfInverse},
    {"aten::lgamma(Tensor self) -> Tensor", LogGamma},
    {"aten::special_gammaln(Tensor self) -> Tensor", LogGamma},
    {"aten::digamma(Tensor self) -> Tensor", Digamma},
    {"aten::special_digamma(Tensor self) -> Tensor", Digamma},
    {"aten::special_psi(Tensor self) -> Tensor", Digamma},
    {"aten::sigmoid(Tensor self) -> Tensor", QuantisedToRange<OfReal<"sigmoid">, 1, false>,
     Takes::kQuantised},
    {"aten::special_expit(Tensor self) -> Tensor", OfReal<"sigmoid">},
    {"aten::reciprocal(Tensor self) -> Tensor", Reciprocal},
    {"aten::square(Tensor self) -> Tensor", Square},
    {"aten::sign(Tensor self) -> Tensor", Sign},
    {"aten::sgn(Tensor self) -> Tensor", Sign},
    {"aten::signbit(Tensor self) -> Tensor", SignBit},
    {"aten::frac(Tensor self) -> Tensor", Fraction},
    {"aten::sinc(Tensor self) -> Tensor", Sinc},
    {"aten::special_sinc(Tensor self) -> Tensor", Sinc},
    {"aten::logit(Tensor self, float? eps=None) -> Tensor", Logit},
    {"aten::special_logit(Tensor self, float? eps=None) -> Tensor", Logit},
    {"aten::isnan(Tensor self) -> Tensor", FloatTest<"isnan">},
    {"aten::isinf(Tensor self) -> Tensor", FloatTest<"isinf">},
    {"aten::isfinite(Tensor self) -> Tensor", IsFinite},
    {"aten::isposinf(Tensor self) -> Tensor", IsInfinity<1>},
    {"aten::isneginf(Tensor self) -> Tensor", IsInfinity<-1>},
    {"aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> "
     "Tensor",
     NanToNum},
    {"aten::rad2deg(Tensor self) -> Tensor", Degrees},
    {"aten::deg2rad(Tensor self) -> Tensor", Radians},
};

}  // namespace

OperatorTable UnaryOperators() { return kUnaryOperators; }

}  // namespace relayvm::import::torch
