// Functions that are more than a formula, by their series and approximations; and the gradients of
// elementwise operators, which models hold that train while they run.
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "compiler/import/tensorflow/complex.h"

namespace relayvm::import::tensorflow {

namespace {

using State = TypedBuilder::State;

// --- Gamma ---

// Lanczos' approximation, g = 7, of nine terms (Numerical Recipes, 6.1).
constexpr double kLanczosG = 7;
constexpr std::array kLanczos = {
    0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
    771.32342877765313,   -176.61502916214059,   12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};

Term LgammaAbove(const Term& x) {  // x >= 0.5
  const Term z = x - 1;
  Term sum = z.Number(kLanczos[0]);
  for (size_t i = 1; i < kLanczos.size(); ++i)
    sum = sum + kLanczos[i] / (z + static_cast<double>(i));
  const Term t = z + (kLanczosG + 0.5);
  return Log(sum) + (z + 0.5) * Log(t) - t + 0.5 * std::log(2 * M_PI);
}
// Reflected where x is below 1/2; infinite at 0, -1, ...
Term LgammaOf(const Term& x) {
  const Term low = x < 0.5;
  const Term above = LgammaAbove(Select(low, 1.0 - x, x));
  const Term part = x - Floor(x);
  const Term reflected = Log(x.Number(M_PI) / Abs(Sin(part * M_PI))) - above;
  const Term y = Select(low, Select(Equal(part, 0), x.Number(HUGE_VAL), reflected), above);
  return Select(x.Call("isinf"), x.Number(HUGE_VAL), y);
}
Outputs Lgamma(NodeContext& n) { return {InDoubles(Term(n, 0), LgammaOf)}; }

// Six steps up, then the asymptotic series.
Term DigammaAbove(const Term& x) {
  Term steps = x.Number(0);
  for (int i = 0; i < 6; ++i) steps = steps + 1.0 / (x + static_cast<double>(i));
  const Term z = x + 6, r = 1.0 / (z * z);
  const Term series =
      r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132)))));
  return Log(z) - 0.5 / z - series - steps;
}
Term DigammaOf(const Term& x) {
  const Term low = x < 0.5;
  const Term above = DigammaAbove(Select(low, 1.0 - x, x));
  const Term part = (x - Floor(x)) * M_PI;
  const Term reflected = above - M_PI * Cos(part) / Sin(part);
  return Select(low, Select(Equal(part, 0), x.Number(NAN), reflected), above);
}
Outputs Digamma(NodeContext& n) { return {InDoubles(Term(n, 0), DigammaOf)}; }

// --- The error function ---

Outputs Erfc(NodeContext& n) { return {1.0 - Term(n, 0).Call("erf")}; }

// Giles' approximation of float accuracy ("Approximating the erfinv function"), then one step of
// Newton's method.
Term ErfinvOf(const Term& x) {
  const auto polynomial = [](const Term& w, std::initializer_list<double> from_highest) {
    Term sum = w.Number(*from_highest.begin());
    for (const double* c = from_highest.begin() + 1; c != from_highest.end(); ++c)
      sum = sum * w + *c;
    return sum;
  };
  const Term w = -Log((1.0 - x) * (x + 1));
  const Term middle =
      polynomial(w - 2.5, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
                           0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  const Term tail = polynomial(
      Sqrt(w) - 3, {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  const Term y = Select(w < 5, middle, tail) * x;
  const Term step = (y.Call("erf") - x) * (std::sqrt(M_PI) / 2) * Exp(y * y);
  const Term edge = Equal(Abs(x), 1);
  return Select(edge, x * HUGE_VAL, y - Select(step.Call("isfinite"), step, step.Number(0)));
}
Outputs Erfinv(NodeContext& n) { return {InDoubles(Term(n, 0), ErfinvOf)}; }
Outputs Ndtri(NodeContext& n) {
  return {InDoubles(Term(n, 0), [](const Term& p) { return ErfinvOf(p * 2 - 1) * M_SQRT2; })};
}

// --- 0 where the factor is ---

template <Term (*kApply)(const Term&, const Term&),
          Complex (*kComplex)(const Complex&, const Complex&)>
Outputs ZeroWhereZero(NodeContext& n) {
  if (HasComplex(n)) {
    const Complex x = ComplexOf(n, n.Input(0)), y = ComplexOf(n, n.Input(1));
    return {PairOf(n, ZeroWhere(IsZero(x), kComplex(x, y)))};
  }
  const Term x(n, 0), y(n, 1);
  return {Select(Equal(x, 0), x.Number(0), kApply(x, y))};
}
Term TimesLog(const Term& x, const Term& y) { return x * Log(y); }
Term TimesLogOnePlus(const Term& x, const Term& y) {
  return x.As(DType::kFloat64).Call("multiply", Log(y.As(DType::kFloat64) + 1)).As(x.dtype());
}
Term Over(const Term& x, const Term& y) { return x / y; }
Complex TimesLogOf(const Complex& x, const Complex& y) { return Product(x, LogOf(y)); }
Complex TimesLogOfMore(const Complex& x, const Complex& y) {
  return Product(x, LogOf({y.re + 1, y.im}));
}

// --- Bessel functions of the first kind, modified ---

// Sums of Chebyshev polynomials (Cephes' i0.c and i1.c): of x / 2 - 2 up to 8, then of 32 / x - 2.
Term Chebyshev(const Term& x, std::initializer_list<double> coefficients) {
  Term b0 = x.Number(*coefficients.begin()), b1 = x.Number(0), b2 = x.Number(0);
  for (const double* c = coefficients.begin() + 1; c != coefficients.end(); ++c) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + *c;
  }
  return (b0 - b2) * 0.5;
}
Term ScaledI0(const Term& given) {
  const Term x = Abs(given);
  const Term low =
      Chebyshev(x / 2 - 2,
                {-1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7,
                 1.11738753912010371815e-6, -4.41673835845875056359e-6, 1.64484480707288970893e-5,
                 -5.75419501008210370398e-5, 1.88502885095841655729e-4, -5.76375574538582365885e-4,
                 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
                 -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2,
                 1.71620901522208775349e-1, -3.04682672343198398683e-1, 6.76795274409476084995e-1});
  const Term far = Maximum(x.Number(8), x);  // NaN stays
  const Term high = Chebyshev(32.0 / far - 2, {3.39623202570838634515e-9, 2.26666899049817806459e-8,
                                               2.04891858946906374183e-7, 2.89137052083475648297e-6,
                                               6.88975834691682398426e-5, 3.36911647825569408990e-3,
                                               8.04490411014108831608e-1});
  return Select(x <= 8, low, high / Sqrt(far));
}
Term ScaledI1(const Term& given) {
  const Term x = Abs(given);
  const Term low =
      x *
      Chebyshev(x / 2 - 2,
                {9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7,
                 -8.56872026469545474066e-7, 3.47025130813767847674e-6, -1.32731636560394358279e-5,
                 4.78156510755005422638e-5, -1.61760815825896745588e-4, 5.12285956168575772895e-4,
                 -1.51357245063125314899e-3, 4.15642294431288815669e-3, -1.05640848946261981558e-2,
                 2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1,
                 -1.76416518357834055153e-1, 2.52587186443633654823e-1});
  const Term far = Maximum(x.Number(8), x);  // NaN stays
  const Term high =
      Chebyshev(32.0 / far - 2,
                {-3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7,
                 -3.88256480887769039346e-6, -1.10588938762623716291e-4, -9.76109749136146840777e-3,
                 7.78576235018280120474e-1}) /
      Sqrt(far);
  const Term y = Select(x <= 8, low, high);
  return Select(given < 0, -y, y);
}
template <Term (*kScaled)(const Term&), bool kIsScaled>
Outputs Bessel(NodeContext& n) {
  return {InDoubles(Term(n, 0), [](const Term& x) {
    const Term y = kScaled(x);
    return kIsScaled ? y : y * Exp(Abs(x));
  })};
}

// --- Gradients: of the output or the input, and what comes from above ---

template <Term (*kApply)(const Term&, const Term&)>
Outputs Binary(NodeContext& n) {
  return {kApply(Term(n, 0), Term(n, 1))};
}
// A factor of 0 or 1: what is no number or infinite gives NaN.
Term ReluGrad(const Term& g, const Term& x) { return g * (x > 0).As(g.dtype()); }
Term Relu6Grad(const Term& g, const Term& x) { return g * And(x > 0, x < 6).As(g.dtype()); }
// 0 where the gradient is.
Term OrZero(const Term& g, const Term& y) { return Select(Equal(g, 0), g.Number(0), y); }
Term EluGrad(const Term& g, const Term& y) { return Select(y < 0, g * (y + 1), g); }
Term SeluGrad(const Term& g, const Term& y) {
  constexpr double kScale = 1.05070098735548, kAlpha = 1.67326324235438;
  return Select(y < 0, g * (y + kScale * kAlpha), g * kScale);
}
Term SoftplusGrad(const Term& g, const Term& x) { return g * Sigmoid(x); }
Term SoftsignGrad(const Term& g, const Term& x) {
  const Term size = Abs(x) + 1;
  return g / (size * size);
}
Term SigmoidGrad(const Term& y, const Term& g) { return g * (y * (1.0 - y)); }
Term TanhGrad(const Term& y, const Term& g) { return g * (1.0 - y * y); }
Term SqrtGrad(const Term& y, const Term& g) { return OrZero(g, g * 0.5 / y); }
Term RsqrtGrad(const Term& y, const Term& g) { return OrZero(g, g * -0.5 * (y * y * y)); }
Term ReciprocalGrad(const Term& y, const Term& g) { return OrZero(g, -g * (y * y)); }

Outputs LeakyReluGrad(NodeContext& n) {
  const Term g(n, 0), x(n, 1);
  return {Select(x > 0, g, g * n.Float("alpha", 0.2))};
}
Outputs BiasAddGrad(NodeContext& n) {
  const Term g(n, 0);
  const int channels = n.String("data_format", "NHWC").starts_with("NC") ? 1 : g.rank() - 1;
  std::vector<int64_t> axes;
  for (int i = 0; i < g.rank(); ++i) {
    if (i != channels) axes.push_back(i);
  }
  return {g.Over("sum", axes, false)};
}

// --- Incomplete functions, and zeta ---

// Steps of doubles until the last of the state is small, or so many.
State Iterated(TypedBuilder& b, State state, const std::function<State(const State&)>& step) {
  constexpr double kSteps = 2000;
  state.insert(state.begin(), b.Int(0));
  const auto goes_on = [&](const State& s) {
    const Term change(b, s.back());
    return Term(
        b, And(Term(b, s[0]) < kSteps, (change > 1e-16).Over("any", Iota(change.rank()), false)));
  };
  const auto body = [&](const State& s) {
    State next = step(State(s.begin() + 1, s.end()));
    next.insert(next.begin(), Term(b, s[0]) + 1);
    return next;
  };
  State last = b.While(state, goes_on, body);
  if (!b.status().ok() || last.size() < 2) return {};
  last.erase(last.begin());
  return last;
}
// The inputs in doubles, each of the shape of all.
std::vector<Term> Doubles(NodeContext& n) {
  std::vector<Term> all = Terms(n);
  Term shape = all[0].As(DType::kFloat64).Call("zeros_like");
  for (Term& x : all) {
    x = x.As(DType::kFloat64);
    shape = shape + x.Call("zeros_like");
  }
  for (Term& x : all) x = x + shape;
  return all;
}

// The incomplete gamma function by its series where x is at most 1 or a, else by its continued
// fraction (Cephes' igam.c).
Outputs IncompleteGamma(NodeContext& n, bool upper) {
  TypedBuilder& b = n.b();
  const std::vector<Term> all = Doubles(n);
  const Term &a = all[0], &x = all[1];
  const Term far = And(x > 1, And(x > a, x.Call("isfinite")));
  const Term bad = Not(And(a > 0, x >= 0));
  const Term one = a.Call("ones_like");
  const Term alpha = Select(bad, one, a);
  const Term low = Select(Or(bad, x > Maximum(one, alpha)), one * 0.5, x);
  const Term high = Select(And(far, Not(bad)), x, alpha + 2);
  const State series = Iterated(b, {one, one, alpha, one}, [&](const State& s) -> State {
    const Term r = Term(b, s[2]) + 1, c = Term(b, s[0]) * low / r, sum = Term(b, s[1]) + c;
    return {c, sum, r, c / sum};
  });
  const Term y0 = 1.0 - alpha, z0 = high + y0 + 1;
  const Term p1 = high + 1, q1 = z0 * high;
  const State start = {one, high, p1, q1, p1 / q1, y0, z0, one * 0.0, one};
  const State fraction = Iterated(b, start, [&](const State& s) -> State {
    const Term p2(b, s[0]), q2(b, s[1]), p(b, s[2]), q(b, s[3]), before(b, s[4]);
    const Term y = Term(b, s[5]) + 1, z = Term(b, s[6]) + 2, c = Term(b, s[7]) + 1;
    const Term pk = p * z - p2 * (y * c), qk = q * z - q2 * (y * c);
    const Term ratio = pk / qk;
    const Term scale = Select(Abs(pk) > 0x1p52, one * 0x1p-52, one);
    return {p * scale,  q * scale, pk * scale,
            qk * scale, ratio,     y,
            z,          c,         Abs((before - ratio) / ratio)};
  });
  if (series.size() < 2 || fraction.size() < 5) return {};
  const auto scale = [&](const Term& v) { return Exp(alpha * Log(v) - v - LgammaOf(alpha)); };
  const Term below = Term(b, series[1]) * scale(low) / alpha;
  const Term above = Term(b, fraction[4]) * scale(high);
  Term y = Select(far, upper ? above : 1.0 - above, upper ? 1.0 - below : below);
  y = Select(Equal(x, 0), one * (upper ? 1.0 : 0.0), y);
  y = Select(Equal(x, HUGE_VAL), one * (upper ? 0.0 : 1.0), y);
  return {Select(bad, one * NAN, y).As(n.Input(0).dtype())};
}
Outputs Igamma(NodeContext& n) { return IncompleteGamma(n, false); }
Outputs Igammac(NodeContext& n) { return IncompleteGamma(n, true); }

// By its continued fraction (Numerical Recipes, 6.4).
Outputs Betainc(NodeContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<Term> all = Doubles(n);
  const Term one = all[0].Call("ones_like"), zero = one * 0.0;
  const Term& given = all[2];
  const Term bad = Not(And(And(all[0] > 0, all[1] > 0), And(given >= 0, given <= 1)));
  const Term turned = given > (all[0] + 1) / (all[0] + all[1] + 2);
  const Term a = Select(bad, one, Select(turned, all[1], all[0]));
  const Term c = Select(bad, one, Select(turned, all[0], all[1]));
  const Term x = Select(bad, zero, Select(turned, 1.0 - given, given));
  const auto safe = [&](const Term& v) { return Select(Abs(v) < 1e-300, one * 1e-300, v); };
  const Term d0 = 1.0 / safe(1.0 - (a + c) * x / (a + 1));
  const State last = Iterated(b, {one, d0, d0, one, one}, [&](const State& s) -> State {
    const Term m(b, s[3]), twice = m * 2;
    const Term even = m * (c - m) * x / ((a + twice - 1) * (a + twice));
    const Term odd = -((a + m) * (a + c + m) * x) / ((a + twice) * (a + twice + 1));
    Term d = 1.0 / safe(even * Term(b, s[1]) + 1), up = safe(even / Term(b, s[0]) + 1);
    const Term h = Term(b, s[2]) * d * up;
    d = 1.0 / safe(odd * d + 1);
    up = safe(odd / up + 1);
    return {up, d, h * d * up, m + 1, Abs(d * up - 1)};
  });
  if (last.size() < 3) return {};
  const Term front =
      Exp(LgammaOf(a + c) - LgammaOf(a) - LgammaOf(c) + a * Log(x) + c * Log(1.0 - x));
  const Term part = Select(Equal(x, 0), zero, front * Term(b, last[2]) / a);
  return {Select(bad, one * NAN, Select(turned, 1.0 - part, part)).As(n.Input(0).dtype())};
}

// Hurwitz' zeta function: terms until q is 10, then Euler and Maclaurin's formula.
std::optional<Term> HurwitzZeta(TypedBuilder& b, const Term& x, const Term& q) {
  constexpr double kFrom = 10;
  // (2k)! / B2k
  constexpr std::array kFactors = {12.0,          -720.0,
                                   30240.0,       -1209600.0,
                                   47900160.0,    -1.8924375803183791606e9,
                                   7.47242496e10, -2.950130727918164224e12};
  const Term zero = q.Call("zeros_like");
  const State last = Iterated(b, {q, zero, zero + 1}, [&](const State& s) -> State {
    const Term at(b, s[0]), sum(b, s[1]);
    const Term below = at < kFrom;
    const Term next = Select(below, at + 1, at);
    return {next, sum + Select(below, at.Call("power", -x), zero), (next < kFrom).As(q.dtype())};
  });
  if (last.size() < 2) return std::nullopt;
  const Term a(b, last[0]);
  Term power = a.Call("power", -x);
  Term sum = Term(b, last[1]) + power * a / (x - 1) + power * 0.5;
  Term factor = zero + 1;
  for (size_t i = 0; i < kFactors.size(); ++i) {
    factor = factor * (x + 2.0 * static_cast<double>(i));
    power = power / a;
    sum = sum + factor * power / kFactors[i];
    factor = factor * (x + (2.0 * static_cast<double>(i) + 1));
    power = power / a;
  }
  const Term whole = Equal(x, Floor(x));
  const Term pole = And(q <= 0, Equal(q, Floor(q)));
  sum = Select(And(q <= 0, Not(whole)), zero + NAN, sum);
  sum = Select(Or(pole, Equal(x, 1)), zero + HUGE_VAL, sum);
  return Select(x < 1, zero + NAN, sum);
}
Outputs Zeta(NodeContext& n) {
  const std::vector<Term> all = Doubles(n);
  const auto y = HurwitzZeta(n, all[0], all[1]);
  return y ? Outputs{y->As(n.Input(0).dtype())} : Outputs{};
}
// The derivatives of digamma: (-1)^(a + 1) a! zeta(a + 1, x).
Outputs Polygamma(NodeContext& n) {
  const std::vector<Term> all = Doubles(n);
  const Term &a = all[0], &x = all[1];
  const Term first = Equal(a, 0);
  const auto zeta = HurwitzZeta(n, Select(first, a + 2, a + 1), x);
  if (!zeta) return {};
  const Term odd = Equal(a.Call("floor_mod", a.Number(2)), 1);
  const Term size = Exp(LgammaOf(a + 1)) * *zeta;
  const Term y = Select(first, DigammaOf(x), Select(odd, size, -size));
  const Term bad = Or(a < 0, Not(Equal(a, Floor(a))));
  return {Select(bad, a.Number(NAN), y).As(n.Input(0).dtype())};
}

// The next number of the dtype after x in the direction of y.
Outputs NextAfter(NodeContext& n) {
  const Term x(n, 0), y(n, 1);
  const bool wide = x.dtype() == DType::kFloat64;
  const std::string whole = wide ? "int64" : "int32", real(DTypeName(x.dtype()));
  const Term start = x + y.Call("zeros_like");
  const Term bits = start.Call("reinterpret", {{"dtype", whole}});
  const Term away = Equal((y > x).As(DType::kUInt8), (x > 0).As(DType::kUInt8));
  const Term next = Select(away, bits + 1, bits - 1).Call("reinterpret", {{"dtype", real}});
  const Term least = Term(n, n.b().Int(1, wide ? DType::kInt64 : DType::kInt32))
                         .Call("reinterpret", {{"dtype", real}});
  const Term moved = Select(Equal(x, 0), Select(y > 0, least, -least), next);
  const Term nan = Or(x.Call("isnan"), y.Call("isnan"));
  return {Select(nan, x + y, Select(Equal(x, y), y, moved))};
}

constexpr OperatorDef kSpecialOperators[] = {
    {"BesselI0", 1, 1, Bessel<ScaledI0, false>},
    {"BesselI0e", 1, 1, Bessel<ScaledI0, true>},
    {"BesselI1", 1, 1, Bessel<ScaledI1, false>},
    {"BesselI1e", 1, 1, Bessel<ScaledI1, true>},
    {"Betainc", 3, 3, Betainc},
    {"BiasAddGrad", 1, 1, BiasAddGrad},
    {"Digamma", 1, 1, Digamma},
    {"EluGrad", 2, 2, Binary<EluGrad>},
    {"Erfc", 1, 1, Erfc},
    {"Erfinv", 1, 1, Erfinv},
    {"Igamma", 2, 2, Igamma},
    {"Igammac", 2, 2, Igammac},
    {"InvGrad", 2, 2, Binary<ReciprocalGrad>},
    {"LeakyReluGrad", 2, 2, LeakyReluGrad},
    {"Lgamma", 1, 1, Lgamma},
    {"Ndtri", 1, 1, Ndtri},
    {"NextAfter", 2, 2, NextAfter},
    {"Polygamma", 2, 2, Polygamma},
    {"ReciprocalGrad", 2, 2, Binary<ReciprocalGrad>},
    {"Relu6Grad", 2, 2, Binary<Relu6Grad>},
    {"ReluGrad", 2, 2, Binary<ReluGrad>},
    {"RsqrtGrad", 2, 2, Binary<RsqrtGrad>},
    {"SeluGrad", 2, 2, Binary<SeluGrad>},
    {"SigmoidGrad", 2, 2, Binary<SigmoidGrad>},
    {"SoftplusGrad", 2, 2, Binary<SoftplusGrad>},
    {"SoftsignGrad", 2, 2, Binary<SoftsignGrad>},
    {"SqrtGrad", 2, 2, Binary<SqrtGrad>},
    {"TanhGrad", 2, 2, Binary<TanhGrad>},
    {"Xdivy", 2, 2, ZeroWhereZero<Over, Quotient>},
    {"Xlog1py", 2, 2, ZeroWhereZero<TimesLogOnePlus, TimesLogOfMore>},
    {"Xlogy", 2, 2, ZeroWhereZero<TimesLog, TimesLogOf>},
    {"Zeta", 2, 2, Zeta},
};

}  // namespace

std::span<const OperatorDef> SpecialOperators() { return kSpecialOperators; }

}  // namespace relayvm::import::tensorflow
