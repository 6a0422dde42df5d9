// Special functions: Bessel's, Hurwitz' zeta and the derivatives of gamma, incomplete gamma, the
// inverse of the normal distribution. In float64: integrals by the trapezoidal rule, which for
// periodic and for quickly falling functions is as exact as the numbers; series; and Hankel's
// expansions far from 0 (Abramowitz and Stegun, 9.2, 9.6, 9.7, 9.8).
#include <cmath>
#include <functional>
#include <numbers>

#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/norms.h"

namespace relayvm::import::torch {

namespace {

constexpr double kPi = std::numbers::pi;

Term Polynomial(const Term& x, std::initializer_list<double> from_first) {
  Term y = x.Number(0);
  for (auto c = std::rbegin(from_first); c != std::rend(from_first); ++c) y = y * x + *c;
  return y;
}
Term Log(const Term& x) { return x.Call("log"); }
Term Power(const Term& x, const Term& y) { return x.Call("power", y); }

// The sum over points of a constant vector, beside the axes of x: f(x, point) * weight.
Term SumOfPoints(const Term& x, const std::vector<double>& points,
                 const std::function<Term(const Term&, const Term&)>& f) {
  const Term p =
      import::Table(x.b(), points, {static_cast<int64_t>(points.size())}, DType::kFloat64);
  return f(x.Expand(x.rank()), p).Over("sum", {x.rank()}, false);
}
std::vector<double> Points(int count, double step, double first = 0) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(first + step * i);
  return out;
}

// --- Bessel functions ---

// Hankel's P and Q of order n, of 8 x.
struct Phases {
  Term p, q;
};
Phases HankelPhases(const Term& x, int n, bool alternates) {
  const double mu = 4.0 * n * n;
  const Term y = 1.0 / (x * 8);
  Term p = y.Number(1), q = y.Number(0), term = y.Number(1);
  for (int k = 1; k <= 12; ++k) {
    const double odd = 2.0 * k - 1;
    term = term * y * ((mu - odd * odd) / k);
    const double sign = alternates ? (k / 2 % 2 == 0 ? 1 : -1) : 1;
    (k % 2 == 0 ? p : q) = (k % 2 == 0 ? p : q) + term * sign;
  }
  return {p, q};
}

constexpr double kFar = 25;

// J of order 0 and 1 at |x|: the integral of cos(n t - x sin t).
Term BesselJ(const Term& x, int n) {
  constexpr int kPoints = 64;
  const Term size = Abs(x), near = Minimum(size, size.Number(kFar)),
             far = Maximum(size, size.Number(kFar));
  const Term sum = SumOfPoints(
      near, Points(kPoints, kPi / kPoints, kPi / kPoints / 2),
      [n](const Term& v, const Term& t) { return Cos(t * static_cast<double>(n) - v * Sin(t)); });
  const auto [p, q] = HankelPhases(far, n, true);
  const Term angle = far - (0.5 * n + 0.25) * kPi;
  const Term wave = Sqrt(2 / (far * kPi)) * (p * Cos(angle) - q * Sin(angle));
  const Term y = Select(size < kFar, sum / kPoints, wave);
  const Term odd = n == 1 ? Select(x < 0, -y, y) : y;
  return odd + x * 0.0;  // NaN far away, as PyTorch has it
}
// Half the sum over k of square^k / (k! (k + n)!) (psi(k + 1) + psi(k + n + 1)), without gamma.
Term HarmonicSeries(const Term& square, int n, int terms) {
  Term term = square.Number(1), sum = square.Number(0);
  double harmonic = 0;
  for (int k = 0; k <= terms; ++k) {
    const double next = harmonic + 1.0 / (k + 1);
    sum = sum + term * (n == 0 ? harmonic : 0.5 * (harmonic + next));
    term = term * square / (static_cast<double>(k + 1) * (k + 1 + n));
    harmonic = next;
  }
  return sum;
}
// Y of order 0 and 1: a series near 0.
Term BesselY(const Term& x, int n) {
  constexpr double kNear = 12, kGamma = std::numbers::egamma;
  constexpr int kTerms = 40;
  const Term near = Minimum(x, x.Number(kNear)), far = Maximum(x, x.Number(kNear));
  const Term square = near * near * -0.25;
  const Term sum = HarmonicSeries(square, n, kTerms);
  const Term log = (Log(near * 0.5) + kGamma) * BesselJ(near, n);
  const Term part = n == 0 ? log - sum : log - near * 0.5 * sum - 1.0 / near;
  const auto [p, q] = HankelPhases(far, n, true);
  const Term angle = far - (0.5 * n + 0.25) * kPi;
  const Term wave = Sqrt(2 / (far * kPi)) * (p * Sin(angle) + q * Cos(angle));
  const Term y = Select(x < kNear, part * (2 / kPi), wave);
  const Term at_zero = Select(Equal(x, 0.0), x.Number(-HUGE_VAL), y);
  const Term none = Or(x < 0, Not(x.Call("isfinite")));
  return Select(none, x.Number(NAN), at_zero);
}
// e^-|x| I of order 0 and 1: the integral of e^(x (cos t - 1)) cos(n t).
Term ScaledBesselI(const Term& x, int n) {
  constexpr int kPoints = 64;
  const Term size = Abs(x), near = Minimum(size, size.Number(kFar)),
             far = Maximum(size, size.Number(kFar));
  const Term sum = SumOfPoints(near, Points(kPoints, kPi / kPoints, kPi / kPoints / 2),
                               [n](const Term& v, const Term& t) {
                                 return Exp(v * (Cos(t) - 1)) * Cos(t * static_cast<double>(n));
                               });
  const auto [p, q] = HankelPhases(far, n, false);
  const Term y = Select(size < kFar, sum / kPoints, (p - q) / Sqrt(far * (2 * kPi)));
  return (n == 1 ? Select(x < 0, -y, y) : y) + Select(x.Call("isnan"), x, x.Number(0));
}
// e^x K of order 0 and 1: the integral of e^(x (1 - cosh t)) cosh(n t); near 0 a series.
Term ScaledBesselK(const Term& x, int n) {
  constexpr double kNear = 2, kStep = 0.0625, kGamma = std::numbers::egamma;
  constexpr int kTerms = 16, kPoints = 70;
  const Term near = Minimum(x, x.Number(kNear)), far = Maximum(x, x.Number(kFar));
  const Term middle = Minimum(Maximum(x, x.Number(kNear)), x.Number(kFar));
  const Term square = near * near * 0.25;
  const Term sum = HarmonicSeries(square, n, kTerms);
  const Term log = (Log(near * 0.5) + kGamma) * ScaledBesselI(near, n) * Exp(near);
  const Term series = n == 0 ? sum - log : 1.0 / near + log - near * 0.5 * sum;
  const Term whole = SumOfPoints(middle, Points(kPoints, kStep), [n](const Term& v, const Term& t) {
    const Term e = Exp(t), cosh = (e + 1.0 / e) * 0.5;
    const Term y = Exp(v * (1.0 - cosh));
    return n == 0 ? y : y * cosh;
  });
  const auto [p, q] = HankelPhases(far, n, false);
  const Term wave = (p + q) * Sqrt(kPi / (far * 2));
  const Term y =
      Select(x <= kNear, series * Exp(near), Select(x < kFar, (whole - 0.5) * kStep, wave));
  const Term at_zero = Select(Equal(x, 0.0), x.Number(HUGE_VAL), y);
  return Select(Or(x < 0, x.Call("isnan")), x.Number(NAN), at_zero);
}

template <Term (*kFunction)(const Term&, int), int kOrder>
Results Bessel(Call& n) {
  const Term given = Real(n);
  return {kFunction(given.As(DType::kFloat64), kOrder).As(given.dtype())};
}
template <int kOrder>
Results BesselI(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64);
  return {(ScaledBesselI(x, kOrder) * Exp(Abs(x))).As(given.dtype())};
}
template <int kOrder>
Results BesselK(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64);
  const Term y = ScaledBesselK(x, kOrder) * Exp(-x);
  return {Select(Equal(x, HUGE_VAL), x.Number(0), y).As(given.dtype())};
}
Results SphericalBessel(Call& n) {
  const Term given = Real(n), x = given.As(DType::kFloat64);
  const Term y = Select(Equal(x, 0.0), x.Number(1), Sin(x) / x);
  return {Select(x.Call("isinf"), x.Number(0), y).As(given.dtype())};
}

// --- Zeta and derivatives of gamma ---

// The sum of (q + k)^-s over k from 0: terms until q + k is above 9, then Euler and Maclaurin's.
Term HurwitzZeta(const Term& s, const Term& q) {
  TypedBuilder& b = s.b();
  constexpr double kLeast = 9;
  constexpr double kBernoulli[] = {1.0 / 12,           -1.0 / 720,     1.0 / 30240,
                                   -1.0 / 1209600,     1.0 / 47900160, -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0};
  const Value shape = b.ShapeOf(s * q);
  const Term all_s(b, BroadcastTo(b, s, shape)), all_q(b, BroadcastTo(b, q, shape));
  const Term start = Maximum(all_q, all_q.Number(-1e6));
  const auto last = b.While(
      {start, all_q * 0.0},
      [&](const TypedBuilder::State& state) {
        const Term left = Term(b, state[0]) <= kLeast;
        return left.rank() == 0 ? left.value() : left.Over("any", Iota(left.rank()), false).value();
      },
      [&](const TypedBuilder::State& state) -> TypedBuilder::State {
        const Term a(b, state[0]), sum(b, state[1]), left = a <= kLeast;
        const Term base = Select(Equal(a, 0.0), a.Number(1), a);
        return {Select(left, a + 1, a), Select(left, sum + Power(base, -all_s), sum)};
      });
  if (last.size() != 2) return s;
  const Term a(b, last[0]), first(b, last[1]);
  const Term power = Power(a, -all_s);
  Term rest = power * a / (all_s - 1) + power * 0.5, factor = all_s * power / a;
  for (size_t k = 0; k < std::size(kBernoulli); ++k) {
    rest = rest + factor * kBernoulli[k];
    const auto at = static_cast<double>(2 * k + 1);
    factor = factor * (all_s + at) * (all_s + (at + 1)) / (a * a);
  }
  const Term whole = Equal(all_q, Floor(all_q)), low = all_q <= 0;
  const Term pole = And(low, whole), none = And(low, Not(Equal(all_s, Floor(all_s))));
  const Term y = Select(Equal(all_s, HUGE_VAL), a * 0.0, first + rest);
  const Term inside = Select(pole, y.Number(HUGE_VAL), Select(none, y.Number(NAN), y));
  const Term one = Select(Equal(all_s, 1.0), y.Number(HUGE_VAL), inside);
  const Term bad = Or(all_s.Call("isnan"), all_q.Call("isnan"));
  return Select(Or(all_s < 1, bad), y.Number(NAN), one);
}
Results Zeta(Call& n) {
  const DType t = FloatPairType(n);
  const Term s = Operand(n, 0, t).As(DType::kFloat64), q = Operand(n, 1, t).As(DType::kFloat64);
  return {HurwitzZeta(s, q).As(t)};
}
Results PolyGamma(Call& n) {
  const Argument& self = n.Arg("self");
  const int64_t order = n.Int("n");
  if (order < 0 || order > 170) return n.Fail("n: {}, expected 0 to 170", order);
  if (order == 0) return n.As("aten::digamma", {self});
  const Term given(n, self.value);
  const DType t = IsFloat(given.dtype()) ? given.dtype() : DType::kFloat32;
  const Term x = given.As(DType::kFloat64);
  const double factor = std::tgamma(static_cast<double>(order) + 1) * (order % 2 == 0 ? -1 : 1);
  const Term y = HurwitzZeta(x.Number(static_cast<double>(order) + 1), x) * factor;
  return {y.As(t)};
}
// The sum of log gamma(x - j / 2) over j < p.
Results MultiLogGamma(Call& n) {
  const int64_t p = n.Int("p", 1);
  if (p < 1 || p > 64) return n.Fail("p: {}, expected 1 to 64", p);
  const Term given = Real(n), x = given.As(DType::kFloat64);
  const auto count = static_cast<double>(p);
  Term sum = x.Number(count * (count - 1) / 4 * std::log(kPi));
  for (int64_t j = 0; j < p; ++j)
    sum = sum + Term(n, n.ValueAs("aten::lgamma", {x - 0.5 * static_cast<double>(j)}));
  return {sum.As(given.dtype())};
}

// --- Incomplete gamma ---

// Its lower part over the whole, by a series for x below a + 1, else by a continued fraction.
template <bool kUpper>
Results IncompleteGamma(Call& n) {
  TypedBuilder& b = n.b();
  constexpr double kSteps = 400, kTiny = 1e-300;
  const DType t = FloatPairType(n);
  const Value shape = b.ShapeOf(Operand(n, 0, t) + Operand(n, 1, t));
  const auto operand = [&](size_t i) {
    return Term(b, BroadcastTo(b, Operand(n, i, t).As(DType::kFloat64), shape));
  };
  const Term a = operand(0), x = operand(1);
  const Term safe_a = Select(a > 0, a, a.Number(1)),
             finite = Select(And(x > 0, x.Call("isfinite")), x, x.Number(1));
  const Term log_gamma(b, n.ValueAs("aten::lgamma", {safe_a}));
  const Term front = Exp(safe_a * Log(finite) - finite - log_gamma);
  const Term one = finite * 0.0 + 1, begin = finite + 1.0 - safe_a;
  const auto off_zero = [&](const Term& v) { return Select(Abs(v) < kTiny, v.Number(kTiny), v); };
  const Term d0 = 1.0 / off_zero(begin);
  const auto last = b.While(
      {b.Scalar(1, DType::kFloat64), one / safe_a, one / safe_a, one / kTiny, d0, d0},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < kSteps; },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term k(b, s[0]), term(b, s[1]), sum(b, s[2]), c(b, s[3]), d(b, s[4]), h(b, s[5]);
        const Term next = term * finite / (safe_a + k);
        const Term an = -k * (k - safe_a), bn = begin + k * 2;
        const Term d1 = 1.0 / off_zero(an * d + bn), c1 = off_zero(bn + an / c);
        return {k + 1, next, sum + next, c1, d1, h * d1 * c1};
      });
  if (last.size() != 6) return {};
  const Term lower = front * Term(b, last[2]), upper = front * Term(b, last[5]);
  const Term small = finite < safe_a + 1;
  Term y = kUpper ? Select(small, 1.0 - lower, upper) : Select(small, lower, 1.0 - upper);
  const double at_zero = kUpper ? 1 : 0;
  y = Select(Equal(x, 0.0), y.Number(at_zero), y);
  y = Select(Or(Equal(x, HUGE_VAL), And(Equal(a, 0.0), x > 0)), y.Number(1 - at_zero), y);
  y = Select(Equal(a, HUGE_VAL), Select(Equal(x, HUGE_VAL), y.Number(NAN), y.Number(at_zero)), y);
  const Term none = Or(Or(x < 0, a < 0), And(Equal(x, 0.0), Equal(a, 0.0)));
  const Term bad = Or(none, Or(x.Call("isnan"), a.Call("isnan")));
  return {Select(bad, y.Number(NAN), y).As(t)};
}

// --- The inverse of the normal distribution (Wichura's AS 241) ---

Results NormalInverse(Call& n) {
  const Term given = Real(n), p = given.As(DType::kFloat64), q = p - 0.5;
  const Term r = 0.180625 - q * q;
  const Term near =
      q *
      Polynomial(r, {3.3871328727963666080, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                     3.3430575583588128105e+4, 2.5090809287301226727e+3}) /
      Polynomial(r, {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
                     5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                     2.8729085735721942674e+4, 5.2264952788528545610e+3});
  const Term tail = Minimum(p, 1.0 - p);
  const Term root = Sqrt(-Log(Select(tail > 0, tail, tail.Number(0.25))));
  const Term s = root - 1.6, u = root - 5.0;
  const Term middle =
      Polynomial(s, {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
                     3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
                     2.27238449892691845833e-2, 7.74545014278341407640e-4}) /
      Polynomial(s, {1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
                     1.48103976427480074590e-1, 1.51986665636164571966e-2,
                     5.47593808499534494600e-4, 1.05075007164441684324e-9});
  const Term outer = Polynomial(u, {6.65790464350110377720, 5.46378491116411436990,
                                    1.78482653991729133580, 2.96560571828504891230e-1,
                                    2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                    2.71155556874348757815e-5, 2.01033439929228813265e-7}) /
                     Polynomial(u, {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                                    1.48753612908506148525e-2, 7.86869131145613259100e-4,
                                    1.84631831751005468180e-5, 1.42151175831644588870e-7,
                                    2.04426310338993978564e-15});
  const Term far = Select(root <= 5.0, middle, outer);
  Term y = Select(Abs(q) <= 0.425, near, Select(q < 0, -far, far));
  y = Select(Equal(p, 0.0), y.Number(-HUGE_VAL), Select(Equal(p, 1.0), y.Number(HUGE_VAL), y));
  return {Select(And(p >= 0, p <= 1), y, y.Number(NAN)).As(given.dtype())};
}

constexpr OperatorDef kSpecialOperators[] = {
    {"aten::special_bessel_j0(Tensor self) -> Tensor", Bessel<BesselJ, 0>},
    {"aten::special_bessel_j1(Tensor self) -> Tensor", Bessel<BesselJ, 1>},
    {"aten::special_bessel_y0(Tensor self) -> Tensor", Bessel<BesselY, 0>},
    {"aten::special_bessel_y1(Tensor self) -> Tensor", Bessel<BesselY, 1>},
    {"aten::i0(Tensor self) -> Tensor", BesselI<0>},
    {"aten::special_i0(Tensor self) -> Tensor", BesselI<0>},
    {"aten::special_i1(Tensor self) -> Tensor", BesselI<1>},
    {"aten::special_i0e(Tensor self) -> Tensor", Bessel<ScaledBesselI, 0>},
    {"aten::special_i1e(Tensor self) -> Tensor", Bessel<ScaledBesselI, 1>},
    {"aten::special_modified_bessel_i0(Tensor self) -> Tensor", BesselI<0>},
    {"aten::special_modified_bessel_i1(Tensor self) -> Tensor", BesselI<1>},
    {"aten::special_modified_bessel_k0(Tensor self) -> Tensor", BesselK<0>},
    {"aten::special_modified_bessel_k1(Tensor self) -> Tensor", BesselK<1>},
    {"aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor", Bessel<ScaledBesselK, 0>},
    {"aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor", Bessel<ScaledBesselK, 1>},
    {"aten::special_spherical_bessel_j0(Tensor x) -> Tensor", SphericalBessel},
    {"aten::special_zeta(Tensor self, Tensor other) -> Tensor", Zeta},
    {"aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", Zeta},
    {"aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", Zeta},
    {"aten::polygamma(int n, Tensor self) -> Tensor", PolyGamma},
    {"aten::special_polygamma(int n, Tensor self) -> Tensor", PolyGamma},
    {"aten::mvlgamma(Tensor self, int p) -> Tensor", MultiLogGamma},
    {"aten::special_multigammaln(Tensor self, int p) -> Tensor", MultiLogGamma},
    {"aten::igamma(Tensor self, Tensor other) -> Tensor", IncompleteGamma<false>},
    {"aten::special_gammainc(Tensor self, Tensor other) -> Tensor", IncompleteGamma<false>},
    {"aten::igammac(Tensor self, Tensor other) -> Tensor", IncompleteGamma<true>},
    {"aten::special_gammaincc(Tensor self, Tensor other) -> Tensor", IncompleteGamma<true>},
    {"aten::special_ndtri(Tensor self) -> Tensor", NormalInverse},
};

}  // namespace

OperatorTable SpecialOperators() { return kSpecialOperators; }

}  // namespace relayvm::import::torch
