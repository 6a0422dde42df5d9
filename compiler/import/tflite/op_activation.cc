// Activations, softmax and what divides by a norm.
#include <cmath>

#include "compiler/import/tflite/fixed_point.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

// Between `low` and `high`, on codes in the scale of the result.
Outputs Limited(NodeContext& n, double low, double high) {
  const Term x(n, 0);
  if (!IsQuantised(n.In(0)) || !IsQuantised(n.Out())) {
    if (std::isinf(high)) return {Maximum(x.Number(low), x)};  // NaN stays
    return {Maximum(x.Number(low), Minimum(x.Number(high), x))};
  }
  const Quantisation& q = n.Out().quantisation;
  const CodeLimits limits = LimitsOf(n.Out());
  const auto code = [&](double real) {
    const double at = std::round(real / q.scale()) + static_cast<double>(q.zero());
    return std::clamp(at, static_cast<double>(limits.low), static_cast<double>(limits.high));
  };
  const double least = code(low),
               most = std::isinf(high) ? static_cast<double>(limits.high) : code(high);
  const bool same = n.In(0).quantisation.scales == q.scales;
  Term y = Centred(n, 0);
  if (!same) y = Times(y, FactorOf(FloatRatio(n.In(0), n.Out())));
  y = y + static_cast<double>(q.zero());
  return {y.Call("clip", {{"a_min", least}, {"a_max", std::max(least, most)}}).As(x.dtype())};
}

Outputs Relu(NodeContext& n) { return Limited(n, 0, INFINITY); }
Outputs Relu6(NodeContext& n) { return Limited(n, 0, 6); }
Outputs ReluN1To1(NodeContext& n) { return Limited(n, -1, 1); }
Outputs Relu0To1(NodeContext& n) { return Limited(n, 0, 1); }

Outputs LeakyRelu(NodeContext& n) {
  const double alpha = static_cast<double>(n.Get<fb::LeakyReluOptions>().alpha());
  const Term x(n, 0);
  if (!IsQuantised(n.In(0))) {
    if (alpha >= 0) return {x.Call("nn.leaky_relu", {{"alpha", alpha}})};
    return {Select(x > 0, x, x * alpha)};
  }
  const Term c = Centred(n, 0);
  const double ratio = FloatRatio(n.In(0), n.Out());
  const Term below = Times(c, FactorOf(ratio * std::abs(alpha)));
  return {CodesOf(Select(c >= 0, Times(c, FactorOf(ratio)), alpha < 0 ? -below : below), n.Out())};
}

Outputs Prelu(NodeContext& n) {
  if (!IsQuantised(n.In(0)) || !IsQuantised(n.In(1))) {
    const Term x(n, 0);
    return {Select(x >= 0, x, x * Term(n, 1))};
  }
  const Term x = Centred(n, 0), alpha = Centred(n, 1);
  const double ratio = FloatRatio(n.In(0), n.Out());
  const Term below = Times(x * alpha, FactorOf(ratio * n.In(1).quantisation.scale()));
  return {CodesOf(Select(x >= 0, Times(x, FactorOf(ratio)), below), n.Out())};
}

Outputs Elu(NodeContext& n) {
  const Term x(n, 0);
  if (IsQuantised(n.In(0))) return {ByTable(n, [](double v) { return v < 0 ? std::expm1(v) : v; })};
  const Term below = Exp(Minimum(x, x.Number(0))) - 1;
  return {Select(x < 0, below, x)};
}

Outputs HardSwish(NodeContext& n) {
  const Term x(n, 0);
  const Quantisation &in = n.In(0).quantisation, &out = n.Out().quantisation;
  if (!IsQuantised(n.In(0))) {
    const Term gate = (x + 3).Call("clip", {{"a_min", 0.0}, {"a_max", 6.0}});
    return {x * gate / 6};
  }
  if (DTypeBytes(x.dtype()) == 1) {
    const CodeLimits limits = LimitsOf(n.Out());
    return {ByCodes(n, [&](int64_t code) { return HardSwishCode(code, in, out, limits); })};
  }
  return {ByTable(n, [](double v) { return v * std::clamp(v + 3, 0.0, 6.0) / 6; })};
}

// --- The logistic function and tanh ---

// 2^16 / (1 + e^-x) for x in steps of 1/24, each moved so that lines between them are off by
// little.
std::vector<int64_t> LogisticLines() {
  constexpr int kEntries = 256;
  const auto at = [](double i) { return 65536 / (1 + std::exp(-i / 24)); };
  std::vector<int64_t> table;
  for (int i = 0; i < kEntries; ++i) {
    const double off = (at(i) + at(i + 1)) / 2 - at(i + 0.5);
    table.push_back(static_cast<int64_t>(std::floor(at(i) - off / 2 + 0.5)));
  }
  table.back() = 65535;
  return table;
}

// Codes of 16 bits, as 1/12288 in int32.
Term InTwelfths(NodeContext& n) {
  const Term x = Term(n, 0).As(DType::kInt32);
  int exponent = 0;
  const double scale = n.In(0).quantisation.scale();
  const bool is_power = std::frexp(scale, &exponent) == 0.5;
  const int left = 12 + exponent - 1;
  if (is_power && (left == 0 || left == 1)) return x * (3 << left);
  double factor = scale * 4096 * 3;
  int shift = 0;
  while (factor <= 32767.0 / 2 && shift <= 30) {
    ++shift;
    factor *= 2;
  }
  const double half = shift > 0 ? std::exp2(shift - 1) : 0;
  return (x * std::floor(factor) + half).Call("right_shift", x.b().Int(shift, DType::kInt32));
}

// The logistic function of |x| / 2^`bits` steps of the table, times 2^(16 + bits).
Term LogisticOfMagnitude(const Term& x, int bits) {
  TypedBuilder& b = x.b();
  const Term magnitude = Abs(x), table(b, b.Ints(LogisticLines(), DType::kInt32));
  const Term index = magnitude.Call("right_shift", b.Int(bits, DType::kInt32));
  const Term rest = magnitude.Call("bitwise_and", b.Int((1 << bits) - 1, DType::kInt32));
  const Term here = table.Take(Minimum(index, index.Number(254)), 0);
  const Term next = table.Take(Minimum(index + 1, index.Number(255)), 0);
  const Term most = here.Number(bits == 9 ? 0x7FFF << 10 : 0xFFFF << 8);
  return Select(index >= 255, most, here * std::exp2(bits) + rest * (next - here));
}

Outputs Logistic(NodeContext& n) {
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  if (!IsQuantised(n.In(0))) return {Term(n, 0).Call("sigmoid")};
  if (DTypeBytes(n.Input(0).dtype()) == 1) return {ByTable(n, logistic)};
  const Term x = InTwelfths(n), y = LogisticOfMagnitude(x, 9);
  const Term both = Select(x >= 0, y + (1 << 9), y.Number((1 << 25) + (1 << 9) - 1) - y);
  return {both.Call("right_shift", n.b().Int(10, DType::kInt32)).As(DType::kInt16)};
}

Outputs HyperbolicTangent(NodeContext& n) {
  if (!IsQuantised(n.In(0))) return {Term(n, 0).Call("tanh")};
  if (DTypeBytes(n.Input(0).dtype()) == 1)
    return {ByTable(n, [](double x) { return std::tanh(x); })};
  const Term x = InTwelfths(n), y = LogisticOfMagnitude(x, 8);
  const Term both =
      Select(x >= 0, y - ((1 << 23) - (1 << 7)), y.Number((1 << 23) + (1 << 7) - 1) - y);
  return {both.Call("right_shift", n.b().Int(8, DType::kInt32)).As(DType::kInt16)};
}

// --- Softmax ---

// Exponentials by lines, their sum by its bits and a table of reciprocals.
Value SoftmaxOfWords(NodeContext& n, double beta) {
  TypedBuilder& b = n.b();
  const Term x = Term(n, 0).As(DType::kInt32);
  const std::vector<int64_t> last = {x.rank() - 1};
  const Term below = x - Max(x, last);
  const Term scaled =
      Times(below, FactorOf(n.In(0).quantisation.scale() * beta / (10.0 / 65535.0)));
  const Term at = (scaled + 32767).Call("clip", {{"a_min", -32768.0}, {"a_max", 32767.0}});
  const Term exp =
      OnLines(b, at, LinesOf<double>([](double v) { return std::exp(v); }, -10, 0, 32768));
  const Term sum = import::Sum(exp, last);
  const Term zeros = LeadingZeros(sum);
  const Term wide = sum.As(DType::kInt64).Call("left_shift", (zeros - 1).As(DType::kInt64));
  const Term shifted = (wide + (1 << 13)).Call("right_shift", b.Int(14)).As(DType::kInt32);
  const Term place =
      (shifted - ((1 << 15) + (1 << 16))).Call("clip", {{"a_min", -32768.0}, {"a_max", 32767.0}});
  const Term reciprocal =
      OnLines(b, place, LinesOf<double>([](double v) { return 1 / (1 + v); }, 0, 1, 32768));
  const Term shift = (zeros.Number(31) - zeros).As(DType::kInt64);
  const Term half = Term(b, b.Int(1)).Call("left_shift", shift - 1);
  const Term product = exp.As(DType::kInt64) * reciprocal.As(DType::kInt64) + half;
  return product.Call("right_shift", shift)
      .Call("clip", {{"a_min", 0.0}, {"a_max", 32767.0}})
      .As(DType::kInt16);
}

Outputs Softmax(NodeContext& n) {
  const auto beta = static_cast<double>(n.Get<fb::SoftmaxOptions>().beta());
  const Term x(n, 0);
  if (!IsQuantised(n.In(0))) {
    const Term scaled = beta == 1 ? x : x * beta;
    return {scaled.Call("nn.softmax", {{"axis", -1}})};
  }
  if (x.dtype() == DType::kInt16) return {SoftmaxOfWords(n, beta)};
  const Term whole = x.As(DType::kInt32);
  const std::vector<int64_t> last = {x.rank() - 1};
  const Term below = (whole - Max(whole, last)).As(DType::kFloat32);
  const Term exp = Exp(below * (n.In(0).quantisation.scale() * beta));
  const Term inverse = exp.Number(1) / (import::Sum(exp, last) * n.Out().quantisation.scale());
  return {CodesOf((exp * inverse).Call("round_even").As(DType::kInt32), n.Out())};
}

Outputs LogSoftmax(NodeContext& n) {
  const Term x(n, 0);
  if (!IsQuantised(n.In(0))) return {x.Call("nn.log_softmax", {{"axis", -1}})};
  const std::vector<int64_t> last = {x.rank() - 1};
  const double in = n.In(0).quantisation.scale(), out = n.Out().quantisation.scale();
  const Term whole = x.As(DType::kInt32), most = Max(whole, last);
  const Term sum = import::Sum(Exp((whole - most).As(DType::kFloat32) * in), last);
  const Term shift = (most.As(DType::kFloat32) * in + sum.Call("log")) / out;
  const Term steps = whole.As(DType::kFloat32) * (in / out) - shift;
  return {CodesOf(steps.Call("round_even").As(DType::kInt32), n.Out())};
}

// --- Norms ---

Outputs L2Normalization(NodeContext& n) {
  const Term x(n, 0);
  const std::vector<int64_t> last = {x.rank() - 1};
  if (!IsQuantised(n.In(0))) {
    constexpr double kLeast = 1e-6;
    const Term norm = Sqrt(import::Sum(x * x, last));
    return {x / Maximum(norm.Number(kLeast), norm)};  // NaN stays
  }
  constexpr int kBits = 7;  // of the result, whose scale is 1/128
  const Term c = Centred(n, 0);
  const ComputedFactor inverse = InverseSquareRootOf(import::Sum(c * c, last));
  // Bytes without a sign are moved before they are scaled, others with it.
  if (IsUnsignedInt(n.Input(0).dtype()))
    return {CodesOf(TimesComputed(c * (1 << kBits), inverse.significand, inverse.shift), n.Out())};
  return {CodesOf(TimesComputed(c, inverse.significand, inverse.shift + kBits), n.Out())};
}

Outputs LocalResponse(NodeContext& n) {
  const auto& o = n.Get<fb::LocalResponseNormalizationOptions>();
  const int64_t size = 2 * int64_t{o.radius()} + 1;
  if (o.radius() < 0) return n.Fail("its radius is {}", o.radius());
  const Term x(n, 0);
  return {x.Call("nn.lrn", {{"size", size},
                            {"axis", x.rank() - 1},
                            {"bias", static_cast<double>(o.bias())},
                            {"alpha", static_cast<double>(o.alpha()) * static_cast<double>(size)},
                            {"beta", static_cast<double>(o.beta())}})};
}

}  // namespace

std::span<const OperatorDef> ActivationOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::RELU, 1, 1, Relu},
      {Code::RELU6, 1, 1, Relu6},
      {Code::RELU_N1_TO_1, 1, 1, ReluN1To1},
      {Code::RELU_0_TO_1, 1, 1, Relu0To1},
      {Code::LEAKY_RELU, 1, 1, LeakyRelu, Options::LeakyReluOptions},
      {Code::PRELU, 2, 2, Prelu},
      {Code::ELU, 1, 1, Elu},
      {Code::HARD_SWISH, 1, 1, HardSwish},
      {Code::LOGISTIC, 1, 1, Logistic},
      {Code::TANH, 1, 1, HyperbolicTangent},
      {Code::SOFTMAX, 1, 1, Softmax, Options::SoftmaxOptions},
      {Code::LOG_SOFTMAX, 1, 1, LogSoftmax},
      {Code::L2_NORMALIZATION, 1, 1, L2Normalization},
      {Code::LOCAL_RESPONSE_NORMALIZATION, 1, 1, LocalResponse,
       Options::LocalResponseNormalizationOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
