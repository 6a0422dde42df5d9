// Elementwise operators of one input.
#include <cmath>
#include <numbers>

#include "compiler/import/composite/activations.h"
#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

// Of whole numbers in float32, which lose their fractions again.
template <typename Formula>
Outputs InReal(Node& n, Formula formula) {
  const Term x(n, 0);
  if (x.dtype() == DType::kFloat16 || x.dtype() == DType::kBFloat16)
    return {formula(x.As(DType::kFloat32)).As(x.dtype())};
  if (!IsFloat(x.dtype())) return {CutTo(formula(x.As(DType::kFloat32)), x.dtype())};
  return {formula(x)};
}
template <OpName kName>
Outputs Real(Node& n) {
  return InReal(n, [](const Term& x) { return x.Call(kName.chars); });
}
// Rounds: whole numbers are as they are.
template <OpName kName>
Outputs Round(Node& n) {
  const Term x(n, 0);
  return {IsFloat(x.dtype()) ? x.Call(kName.chars) : x};
}
// bool of each element.
template <OpName kName>
Outputs Test(Node& n) {
  return {AsReal(Term(n, 0)).Call(kName.chars)};
}

// To the nearest; what lies in the middle goes down.
Outputs Rint(Node& n) {
  const Term x(n, 0);
  if (!IsFloat(x.dtype())) return {x};
  const Term floor = Floor(x), ceil = x.Call("ceil");
  return {Select((x - floor) <= (ceil - x), floor, ceil)};
}

Outputs Absolute(Node& n) {
  const Term x(n, 0);
  return {x.dtype() == DType::kBool || IsUnsignedInt(x.dtype()) ? x : Abs(x)};
}
Outputs Negative(Node& n) { return {-Term(n, 0)}; }
Outputs Square(Node& n) {
  const Term x(n, 0);
  return {x * x};
}
Outputs Reciprocal(Node& n) {
  return InReal(n, [](const Term& x) { return 1 / x; });
}
Term CubeRoot(const Term& x) {
  const Term root = Abs(x).Call("power", x.Number(1.0 / 3));
  // One step of Newton's: the exponent is not a third.
  const Term safe = Select(root > 0, root, root.Number(1));
  const Term better = safe - (safe * safe * safe - Abs(x)) / (safe * safe * 3.0);
  const Term value = Select(root > 0, Select(root.Call("isfinite"), better, root), root);
  return Select(x < 0, -value, value);
}
Outputs Cbrt(Node& n) { return InReal(n, CubeRoot); }
Outputs Rcbrt(Node& n) {
  return InReal(n, [](const Term& x) { return 1 / CubeRoot(x); });
}
// NaN stays.
Outputs Relu(Node& n) {
  const Term x(n, 0);
  return {Maximum(x.Number(0), x)};
}
Outputs Softsign(Node& n) {
  return InReal(n, [](const Term& x) { return x / (1 + Abs(x)); });
}
Outputs SignOf(Node& n) {
  const Term x(n, 0), sign = x.Call("sign");
  return {IsFloat(x.dtype()) ? Select(x.Call("isnan"), x.Number(0), sign) : sign};
}

// log(1 + x) and e^x - 1, also for small x.
Outputs Log1pOf(Node& n) {
  return InReal(n, [](const Term& x) {
    // u = 1 + x as it is rounded: log(u) * x / (u - 1).
    const Term u = 1 + x, lost = u - 1;
    const Term exact = u.Call("log") * (x / Select(Equal(lost, 0), lost.Number(1), lost));
    return Select(Equal(lost, 0), x, Select(u.Call("isfinite"), exact, u.Call("log")));
  });
}
Outputs Expm1(Node& n) {
  return InReal(n, [](const Term& x) {
    // (e^x - 1) x / log(e^x)
    const Term u = Exp(x), less = u - 1, back = u.Call("log");
    const Term safe = Select(Equal(less, 0), less.Number(1), back);
    const Term exact = Select(And(Abs(x) < 1, u > 0), less * (x / safe), less);
    return Select(Equal(less, 0), x, exact);
  });
}

Outputs Degrees(Node& n) {
  return InReal(n, [](const Term& x) { return x * (180 / std::numbers::pi); });
}
Outputs Radians(Node& n) {
  return InReal(n, [](const Term& x) { return x * (std::numbers::pi / 180); });
}

// The one that is exact lies between this one and its neighbour.
Outputs Around(Node& n) {
  const Term x(n, 0);
  const int64_t decimals = n.Int("decimals", 0);
  if (decimals < -300 || decimals > 300) return n.Fail("attribute decimals: out of range");
  if (!IsFloat(x.dtype()) && decimals >= 0) return {x};
  const Term wide = x.As(DType::kFloat64);
  const double scale = std::pow(10.0, static_cast<double>(decimals));
  return {((wide * scale).Call("round_even") / scale).As(x.dtype())};
}

Outputs LogicalNot(Node& n) {
  const Term x(n, 0);
  return {Truth(Not(IsTrue(x)), x.dtype())};
}
Outputs NumpyLogicalNot(Node& n) { return {Not(IsTrue(Term(n, 0)))}; }
Outputs IsPositiveInfinity(Node& n) { return {Equal(AsReal(Term(n, 0)), HUGE_VAL)}; }
Outputs IsNegativeInfinity(Node& n) { return {Equal(AsReal(Term(n, 0)), -HUGE_VAL)}; }
Outputs BitwiseNot(Node& n) {
  const Term x(n, 0);
  return {x.dtype() == DType::kBool ? Not(x) : x.Call("bitwise_not")};
}

Outputs NanToNum(Node& n) {
  const Term x(n, 0);
  if (!IsFloat(x.dtype())) return {x};
  const double most = x.dtype() == DType::kFloat64   ? std::numeric_limits<double>::max()
                      : x.dtype() == DType::kFloat16 ? 65504.0
                      : x.dtype() == DType::kBFloat16
                          ? 3.3895313892515355e38
                          : static_cast<double>(std::numeric_limits<float>::max());
  const double above = n.MaybeFloat("posinf").value_or(most),
               below = n.MaybeFloat("neginf").value_or(-most);
  const Term finite =
      Select(Equal(x, HUGE_VAL), x.Number(above), Select(Equal(x, -HUGE_VAL), x.Number(below), x));
  return {Select(x.Call("isnan"), x.Number(n.Float("nan", 0)), finite)};
}

// --- Special functions, in float64 ---

// log |gamma(x)| by Lanczos' series (g = 7, nine terms); what lies left of 1/2 by reflection.
Term LogGamma(const Term& in) {
  constexpr double kTerms[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                               771.32342877765313,   -176.61502916214059,   12.507343278686905,
                               -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  constexpr double kG = 7;
  const Term left = in < 0.5, x = Select(left, 1 - in, in) - 1;
  Term sum = x.Number(kTerms[0]);
  for (int i = 1; i < 9; ++i) sum = sum + kTerms[i] / (x + static_cast<double>(i));
  const Term t = x + (kG + 0.5);
  const Term right =
      (x + 0.5) * t.Call("log") - t + sum.Call("log") + 0.5 * std::log(2 * std::numbers::pi);
  // x of sin(pi x) is what lies beyond a whole number.
  const Term rest = in - Floor(in);
  const Term sine = Abs(Sin(rest * std::numbers::pi));
  return Select(left, std::log(std::numbers::pi) - sine.Call("log") - right, right);
}
// Its sign: gamma is negative between an odd number and the next below 0.
Outputs Gamma(Node& n) {
  const Term x(n, 0), wide = x.As(DType::kFloat64);
  const Term floor = Floor(wide);
  const Term odd = Not(Equal(floor.Call("floor_mod", floor.Number(2)), 0));
  const Term size = Exp(LogGamma(wide));
  const Term whole = And(wide <= 0, Equal(floor, wide));
  const Term value = Select(And(wide < 0, odd), -size, size);
  // Of whole numbers it is whole; the series is next to it.
  const Term near = IsFloat(x.dtype()) ? value : value.Call("round");
  const Term edge = Select(Equal(wide, 0), 1 / wide, wide.Number(NAN));
  const Term up = Select(Equal(wide, HUGE_VAL), wide, near);
  return {CutTo(Select(whole, edge, up), x.dtype())};
}
Outputs GammaLn(Node& n) {
  const Term x(n, 0), wide = x.As(DType::kFloat64);
  return {CutTo(Select(wide.Call("isinf"), wide.Number(HUGE_VAL), LogGamma(wide)), x.dtype())};
}

// Derivative of log gamma: by recurrence up to 6, from there by its asymptotic series.
Outputs Digamma(Node& n) {
  const Term in(n, 0), wide = in.As(DType::kFloat64);
  const Term left = wide < 0.5;
  Term x = Select(left, 1 - wide, wide), sum = x.Number(0);
  for (int i = 0; i < 6; ++i) {
    sum = sum - 1 / x;
    x = x + 1;
  }
  const Term inverse = 1 / (x * x);
  const Term series =
      inverse *
      (1.0 / 12 -
       inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse * (1.0 / 240 - inverse / 132))));
  const Term right = sum + x.Call("log") - 0.5 / x - series;
  const Term angle = wide * std::numbers::pi;
  const Term reflected = right - std::numbers::pi * Cos(angle) / Sin(angle);
  return {CutTo(Select(left, reflected, right), in.dtype())};
}

// A first guess (Winitzki's), then Newton's steps.
Outputs ErfInv(Node& n) {
  const Term in(n, 0), y = in.As(DType::kFloat64);
  constexpr double kA = 0.147;
  const Term log = (1 - y * y).Call("log");
  const Term half = log * 0.5 + 2 / (std::numbers::pi * kA);
  Term x = Sqrt(Maximum(Sqrt(half * half - log / kA) - half, y.Number(0)));
  x = Select(y < 0, -x, x);
  for (int i = 0; i < 3; ++i) {
    const Term slope = Exp(-(x * x)) * (2 / std::sqrt(std::numbers::pi));
    const Term error = x.Call("erf") - y;
    // Halley's, which needs fewer.
    const Term step = error / Select(slope > 0, slope, slope.Number(1));
    x = Select(slope > 0, x - step / (1 + x * step), x);
  }
  const Term edge = Select(Equal(Abs(y), 1), y * HUGE_VAL, x);
  const Term none = y.Number(IsFloat(in.dtype()) ? NAN : 0);
  return {CutTo(Select(Abs(y) > 1, none, edge), in.dtype())};
}

// --- With attributes ---

Outputs Clip(Node& n) {
  const Term x(n, 0);
  const double low = n.MaybeFloat("a_min").value_or(-HUGE_VAL),
               high = n.MaybeFloat("a_max").value_or(HUGE_VAL);
  // NaN stays.
  if (IsFloat(x.dtype())) return {Maximum(x.Number(low), Minimum(x.Number(high), x))};
  // Limits lose their fractions as the numbers have none.
  Term y = x;
  const double least = IsUnsignedInt(x.dtype()) ? 0 : -9e18;
  const auto inside = [&](double v) { return std::abs(v) < 9e18 && v >= least; };
  if (high < least) return {x.Call("zeros_like")};
  if (inside(low)) y = Maximum(y, y.Number(std::trunc(low)));
  if (inside(high)) y = Minimum(y, y.Number(std::trunc(high)));
  return {y};
}

Outputs SmoothL1(Node& n) {
  const Term x(n, 0);
  const double sigma = n.Float("scalar", 1), square = sigma * sigma;
  if (square == 0) return n.Fail("attribute scalar: expected a number that is not 0");
  return InReal(n, [&](const Term& y) {
    return Select(Abs(y) < 1 / square, y * y * (0.5 * square), Abs(y) - 0.5 / square);
  });
}
Outputs Quadratic(Node& n) {
  const Term x(n, 0);
  return {x * x * n.Float("a", 0) + x * n.Float("b", 0) + n.Float("c", 0)};
}

Outputs Cast(Node& n) {
  const Term x(n, 0);
  const DType to = n.Type("dtype", x.dtype());
  if (to == DType::kBool && x.dtype() != DType::kBool) return {IsTrue(x)};
  return {CutTo(x, to)};
}
// Floats become all of one type: the widest, or the narrowest.
Outputs AmpMulticast(Node& n) {
  const bool narrow = n.Bool("cast_narrow", false);
  std::optional<DType> chosen;
  for (const Value& v : n.inputs()) {
    if (!v.is_tensor()) return n.Fail("an input is no tensor");
    if (!IsFloat(v.dtype())) continue;
    const bool wider = !chosen || DTypeBytes(v.dtype()) > DTypeBytes(*chosen);
    const bool narrower = !chosen || DTypeBytes(v.dtype()) < DTypeBytes(*chosen);
    if (narrow ? narrower : wider) chosen = v.dtype();
  }
  Outputs out;
  for (const Value& v : n.inputs())
    out.push_back(chosen && IsFloat(v.dtype()) ? n.b().Cast(v, *chosen) : v);
  return out;
}
Outputs AmpCast(Node& n) { return IsFloat(n.Input(0).dtype()) ? Cast(n) : Copy(n); }

Outputs DivSqrtDim(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() < 1) return n.Fail("expected data of rank 1 or more");
  return {x / Sqrt(Extent(b, x, -1).As(x.dtype()))};
}

constexpr OperatorDef kMathOperators[] = {
    {"BlockGrad stop_gradient make_loss MakeLoss", 1, 1, Copy},
    {"Cast cast _npx_cast _npi_cast", 1, 1, Cast},
    {"_contrib_div_sqrt_dim", 1, 1, DivSqrtDim},
    {"_contrib_gradientmultiplier", 1, 1, Copy},
    {"_contrib_quadratic", 1, 1, Quadratic},
    {"_contrib_round_ste", 1, 1, Round<"round">},
    {"_contrib_sign_ste", 1, 1, SignOf},
    {"_copy identity _np_copy _npi_copy _copyto _npi_copyto _CrossDeviceCopy _npi_share_memory", 1,
     1, Copy},
    {"_identity_with_attr_like_rhs", 2, 2, Copy},
    {"_npi_around", 1, 1, Around},
    {"_npi_bitwise_not", 1, 1, BitwiseNot},
    {"_npi_isfinite", 1, 1, Test<"isfinite">},
    {"_npi_isinf", 1, 1, Test<"isinf">},
    {"_npi_isnan", 1, 1, Test<"isnan">},
    {"_npi_isneginf", 1, 1, IsNegativeInfinity},
    {"_npi_isposinf", 1, 1, IsPositiveInfinity},
    {"_npi_logical_not", 1, 1, NumpyLogicalNot},
    {"_npi_nan_to_num", 1, 1, NanToNum},
    {"abs _npi_absolute _npi_abs", 1, 1, Absolute},
    {"amp_cast", 1, 1, AmpCast},
    {"amp_multicast", 1, -1, AmpMulticast},
    {"arccos _npi_arccos", 1, 1, Real<"acos">},
    {"arccosh _npi_arccosh", 1, 1, Real<"acosh">},
    {"arcsin _npi_arcsin", 1, 1, Real<"asin">},
    {"arcsinh _npi_arcsinh", 1, 1, Real<"asinh">},
    {"arctan _npi_arctan", 1, 1, Real<"atan">},
    {"arctanh _npi_arctanh", 1, 1, Real<"atanh">},
    {"cbrt _npi_cbrt", 1, 1, Cbrt},
    {"ceil _npi_ceil", 1, 1, Round<"ceil">},
    {"clip _npi_clip", 1, 1, Clip},
    {"cos _npi_cos", 1, 1, Real<"cos">},
    {"cosh _npi_cosh", 1, 1, Real<"cosh">},
    {"degrees _npi_degrees _npi_rad2deg", 1, 1, Degrees},
    {"digamma _npx_digamma", 1, 1, Digamma},
    {"erf _npx_erf", 1, 1, Real<"erf">},
    {"erfinv _npx_erfinv", 1, 1, ErfInv},
    {"exp _npi_exp", 1, 1, Real<"exp">},
    {"expm1 _npi_expm1", 1, 1, Expm1},
    {"fix trunc _npi_fix _npi_trunc", 1, 1, Round<"trunc">},
    {"floor _npi_floor", 1, 1, Round<"floor">},
    {"gamma _npx_gamma", 1, 1, Gamma},
    {"gammaln _npx_gammaln", 1, 1, GammaLn},
    {"log _npi_log", 1, 1, Real<"log">},
    {"log10 _npi_log10", 1, 1, Real<"log10">},
    {"log1p _npi_log1p", 1, 1, Log1pOf},
    {"log2 _npi_log2", 1, 1, Real<"log2">},
    {"logical_not", 1, 1, LogicalNot},
    {"negative _npi_negative", 1, 1, Negative},
    {"radians _npi_radians _npi_deg2rad", 1, 1, Radians},
    {"rcbrt", 1, 1, Rcbrt},
    {"reciprocal _npi_reciprocal", 1, 1, Reciprocal},
    {"relu _npx_relu", 1, 1, Relu},
    {"rint _npi_rint", 1, 1, Rint},
    {"round", 1, 1, Round<"round">},
    {"rsqrt", 1, 1, Real<"rsqrt">},
    {"sigmoid _npx_sigmoid", 1, 1, Real<"sigmoid">},
    {"sign _npi_sign", 1, 1, SignOf},
    {"sin _npi_sin", 1, 1, Real<"sin">},
    {"sinh _npi_sinh", 1, 1, Real<"sinh">},
    {"smooth_l1 _npx_smooth_l1", 1, 1, SmoothL1},
    {"softsign", 1, 1, Softsign},
    {"sqrt _npi_sqrt", 1, 1, Real<"sqrt">},
    {"square _npi_square", 1, 1, Square},
    {"tan _npi_tan", 1, 1, Real<"tan">},
    {"tanh _npi_tanh", 1, 1, Real<"tanh">},
};

}  // namespace

std::span<const OperatorDef> MathOperators() { return kMathOperators; }

}  // namespace relayvm::import::mxnet
