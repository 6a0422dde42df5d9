#include "compiler/transforms/layouts/layout_costs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "compiler/transforms/layouts/layout_rules.h"
#include "kernels/codegen/contraction/winograd.h"

namespace relayvm::ir {
namespace {

constexpr int64_t kNominalExtent = 56;
constexpr double kNanosecondsPerByte =
    0.06;  // of a transform, and of what no longer follows in the kernel before
constexpr double kFlopsPerNanosecond = 110;
constexpr double kLanes = 16;
// A depthwise window's tap, in nanoseconds.
constexpr double kTapFirst = 0.028, kTapFirstStrided = 0.043;
constexpr double kTapLast = 0.019, kTapLastStrided = 0.03;

double Nominal(const Dim& d, int64_t unknown = kNominalExtent) {
  return static_cast<double>(d.is_const() ? d.value() : unknown);
}
double Nominal(const std::vector<Dim>& shape) {
  double size = 1;
  for (const Dim& d : shape) size *= Nominal(d);
  return size;
}

// How much faster Winograd's transforms make it; 1 where there are none.
double WinogradSpeed(const ConvProblem& conv, const LayoutCosts& costs) {
  const auto shape = costs.exact ? std::nullopt : codegen::WinogradShapeOf(conv);
  switch (shape ? codegen::PreferredWinograd(costs.machine, *shape).tile : 0) {
    case 4:
      return 2.5;
    case 2:
      return 1.5;
    default:
      return 1;
  }
}

}  // namespace

double NominalBytes(const TensorType& t) {
  double size = static_cast<double>(DTypeBytes(t.dtype));
  for (size_t i = 0; i < t.shape.size(); ++i)
    size *= Nominal(t.shape[i], i == 0 ? 1 : kNominalExtent);
  return size;
}

double TransformCost(double bytes) { return bytes * kNanosecondsPerByte; }

double ConvCost(const ConvProblem& conv, bool channels_first, const LayoutCosts& costs) {
  const double taps =
      Nominal(conv.kernel_extent) * (conv.has_multiplier ? 1 : Nominal(conv.kernel_in));
  const double image = Nominal(conv.out_extent);
  const double outputs = Nominal(conv.batch, 1) * image * Nominal(conv.out_channels);
  if (conv.is_depthwise()) {
    const bool strided = std::ranges::any_of(conv.strides, [](int64_t s) { return s > 1; });
    if (channels_first) return outputs * taps * (strided ? kTapFirstStrided : kTapFirst);
    return outputs * taps * (strided ? kTapLastStrided : kTapLast);
  }
  const bool few = conv.kernel_in.is_const() && conv.kernel_in.value() <= 4;
  double share = few ? 0.75 : 0.88;
  if (channels_first) {
    // Vectors run along the pixels.
    share = Nominal(conv.batch) * image < kLanes ? 0.45 : few ? 0.85 : 0.9;
    share *= WinogradSpeed(conv, costs);
  } else if (conv.kernel_out.is_const()) {
    // Vectors run along the channels.
    const auto channels = static_cast<double>(std::max<int64_t>(conv.kernel_out.value(), 1));
    share *= channels / (std::ceil(channels / kLanes) * kLanes);
  }
  return outputs * taps * 2 / (kFlopsPerNanosecond * share);
}

}  // namespace relayvm::ir
