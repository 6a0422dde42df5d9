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

double Nominal(const std::vector<Dim>& shape) {
  double size = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t unknown = i == 0 ? 1 : kNominalExtent;
    size *= static_cast<double>(shape[i].is_const() ? shape[i].value() : unknown);
  }
  return size;
}

std::optional<int64_t> Known(const Dim& d) {
  return d.is_const() ? std::optional(d.value()) : std::nullopt;
}

// How much faster Winograd's transforms make it; 1 where there are none.
double WinogradSpeed(const OpCall& conv, const TensorType& weight, const TensorType& result,
                     const std::string& written, const std::string& kernel,
                     const LayoutCosts& costs) {
  const auto all = [&](const char* name, int64_t value) {
    for (const int64_t v : conv.attrs.Ints(name)) {
      if (v != value) return false;
    }
    return true;
  };
  const auto extent = [&](char axis) { return weight.shape[kernel.find(axis)]; };
  if (costs.exact || conv.attrs.Int("groups") != 1 || !extent('H').is_const(3) ||
      !extent('W').is_const(3) || !extent('I').is_const() || !extent('O').is_const() ||
      !all("strides", 1) || !all("dilation", 1) || result.dtype != DType::kFloat32) {
    return 1;
  }
  const auto out = [&](char axis) { return Known(result.shape[written.find(axis)]); };
  const codegen::WinogradShape shape{extent('I').value(), extent('O').value(), out('N'), out('H'),
                                     out('W')};
  switch (codegen::PreferredWinograd(costs.machine, shape).tile) {
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
  return Nominal(t.shape) * static_cast<double>(DTypeBytes(t.dtype));
}

double TransformCost(double bytes) { return bytes * kNanosecondsPerByte; }

double ConvCost(const OpCall& conv, const TensorType& weight, const TensorType& result,
                const std::string& written, const std::string& layout, const LayoutCosts& costs) {
  const std::string kernel = conv.attrs.String("kernel_layout");
  double taps = 1;
  for (size_t i = 0; i < weight.shape.size(); ++i) {
    if (kernel[i] == 'O') continue;
    const Dim& d = weight.shape[i];
    taps *= static_cast<double>(d.is_const() ? d.value() : kNominalExtent);
  }
  const double outputs = Nominal(result.shape);
  const bool is_first = layout == "NCHW";
  if (IsDepthwise(conv, weight, kernel)) {
    bool strided = false;
    for (const int64_t s : conv.attrs.Ints("strides")) strided = strided || s > 1;
    if (is_first) return outputs * taps * (strided ? kTapFirstStrided : kTapFirst);
    return outputs * taps * (strided ? kTapLastStrided : kTapLast);
  }
  const Dim& in = weight.shape[kernel.find('I')];
  const bool few = in.is_const() && in.value() <= 4;
  double share = few ? 0.75 : 0.88;
  if (is_first) {
    // Vectors run along the pixels.
    double pixels = 1;
    for (const char axis : {'N', 'H', 'W'}) {
      const Dim& d = result.shape[written.find(axis)];
      pixels *= static_cast<double>(d.is_const() ? d.value() : kNominalExtent);
    }
    share = pixels < kLanes ? 0.45 : few ? 0.85 : 0.9;
    share *= WinogradSpeed(conv, weight, result, written, kernel, costs);
  } else if (const Dim& out = weight.shape[kernel.find('O')]; out.is_const()) {
    // Vectors run along the channels.
    const auto channels = static_cast<double>(std::max<int64_t>(out.value(), 1));
    share *= channels / (std::ceil(channels / kLanes) * kLanes);
  }
  return outputs * taps * 2 / (kFlopsPerNanosecond * share);
}

}  // namespace relayvm::ir
