// Pools over (n, height, width, channels).
#include <cmath>

#include "compiler/import/composite/window.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

PoolSpec PlanePool(const fb::Pool2DOptions& o, bool average) {
  PoolSpec spec;
  spec.average = average;
  spec.window.kernel = {o.filter_height(), o.filter_width()};
  spec.window.strides = {o.stride_h(), o.stride_w()};
  spec.window.dilations = {1, 1};
  spec.window.padding =
      o.padding() == fb::Padding::SAME ? WindowPadding::kSameUpper : WindowPadding::kGiven;
  spec.window.channels_last = true;
  return spec;
}

bool IsPlane(NodeContext& n) {
  if (n.Input(0).rank() == 4) return true;
  n.Fail("expected 4 dims, found {}", n.Input(0).rank());
  return false;
}

// The mean of codes as they are, halves away from zero; padding does not count.
std::optional<Value> MeanOfCodes(NodeContext& n, PoolSpec spec) {
  TypedBuilder& b = n.b();
  const Term x = Term(n, 0).As(DType::kFloat32);
  spec.counts_padding = true;
  double taps = 1;
  for (const int64_t k : spec.window.kernel) taps *= static_cast<double>(k);
  const auto sum_of = [&](const Value& of) -> std::optional<Term> {
    const auto mean = Pooled(b, of, spec);
    if (!mean) return std::nullopt;
    return (Term(b, *mean) * taps).Call("round").As(DType::kInt32);
  };
  const auto sum = sum_of(x);
  if (!sum) return std::nullopt;
  Term count = sum->Number(taps);
  if (spec.window.padding != WindowPadding::kGiven) {
    const Term one = x.Slice(0, 0, 1).Slice(3, 0, 1);
    const auto counted = sum_of(b.Op("ones_like", {one}));
    if (!counted) return std::nullopt;
    count = *counted;
  }
  const Term half = count.Call("right_shift", b.Int(1, DType::kInt32));
  const Term mean = Select(*sum > 0, *sum + half, *sum - half) / count;
  const CodeLimits limits = LimitsOf(n.Out(), n.Get<fb::Pool2DOptions>().activation());
  return mean
      .Call("clip", {{"a_min", static_cast<double>(limits.low)},
                     {"a_max", static_cast<double>(limits.high)}})
      .As(n.Input(0).dtype());
}

Outputs AveragePool(NodeContext& n) {
  const auto& o = n.Get<fb::Pool2DOptions>();
  if (!IsPlane(n)) return {};
  const PoolSpec spec = PlanePool(o, true);
  if (IsQuantised(n.In(0))) {
    const auto y = MeanOfCodes(n, spec);
    return y ? Outputs{*y} : Outputs{};
  }
  const auto y = Pooled(n, n.Input(0), spec);
  return y ? Outputs{Activated(Term(n.b(), *y), o.activation())} : Outputs{};
}

Outputs MaxPool(NodeContext& n) {
  const auto& o = n.Get<fb::Pool2DOptions>();
  if (!IsPlane(n)) return {};
  const auto y = Pooled(n, n.Input(0), PlanePool(o, false));
  if (!y) return {};
  const Term most(n.b(), *y);
  if (!IsQuantised(n.In(0))) return {Activated(most, o.activation())};
  const CodeLimits all = LimitsOf(n.Out()), limits = LimitsOf(n.Out(), o.activation());
  if (all.low == limits.low && all.high == limits.high) return {most};
  return {most.Call("clip", {{"a_min", static_cast<double>(limits.low)},
                             {"a_max", static_cast<double>(limits.high)}})};
}

Outputs L2Pool(NodeContext& n) {
  const auto& o = n.Get<fb::Pool2DOptions>();
  if (!IsPlane(n)) return {};
  const Term x(n, 0);
  const auto mean = Pooled(n, x * x, PlanePool(o, true));
  return mean ? Outputs{Activated(Sqrt(Term(n.b(), *mean)), o.activation())} : Outputs{};
}

}  // namespace

std::span<const OperatorDef> PoolOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::AVERAGE_POOL_2D, 1, 1, AveragePool, Options::Pool2DOptions},
      {Code::MAX_POOL_2D, 1, 1, MaxPool, Options::Pool2DOptions},
      {Code::L2_POOL_2D, 1, 1, L2Pool, Options::Pool2DOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
