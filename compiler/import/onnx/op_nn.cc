// Convolution, pooling, softmax. See composite/window.h.
#include <fmt/format.h>

#include "compiler/import/onnx/quantised.h"
#include "compiler/import/onnx/window.h"

namespace relayvm::import {

std::optional<Window> ReadWindow(NodeContext& n, const Value& x, std::vector<int64_t> kernel) {
  const auto spatial = static_cast<size_t>(std::max(0, x.rank() - 2));
  const std::vector<int64_t> ones(spatial, 1);
  Window w{std::move(kernel), n.Ints("strides", ones), n.Ints("dilations", ones), n.Ints("pads")};
  const std::string mode = n.String("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return w;
  w.pads.clear();
  if (mode == "VALID") return w;
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    w.padding = mode == "SAME_UPPER" ? WindowPadding::kSameUpper : WindowPadding::kSameLower;
    return w;
  }
  return n.Fail("auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found '{}'", mode);
}

std::vector<int64_t> KernelOf(const Value& weight) {
  std::vector<int64_t> kernel;
  for (int i = 2; i < weight.rank(); ++i) {
    kernel.push_back(weight.dim(i).is_const() ? weight.dim(i).value() : 0);
  }
  return kernel;
}

Value AddBias(NodeContext& n, const Value& y, size_t input) {
  return n.Has(input) ? n.b().Op("nn.bias_add", {y, n.Input(input)}, {{"axis", 1}}) : y;
}

namespace {

std::optional<ConvSpec> ReadConv(NodeContext& n, const Value& x, const Value& w) {
  auto window = ReadWindow(n, x, n.Ints("kernel_shape", KernelOf(w)));
  if (!window) return std::nullopt;
  return ConvSpec{.window = *std::move(window), .groups = n.Int("group", 1), .kernel_layout = ""};
}

Outputs Conv(NodeContext& n) {
  if (auto y = DequantisedProduct(n)) return {*y};
  const auto spec = ReadConv(n, n.Input(0), n.Input(1));
  const auto y = spec ? Convolved(n, n.Input(0), n.Input(1), *spec) : std::nullopt;
  if (!y) return {};
  return {AddBias(n, *y, 2)};
}

}  // namespace

std::optional<Value> ByteConvOf(NodeContext& n, const ByteProduct& p) {
  const auto spec = ReadConv(n, p.x, p.w);
  return spec ? ByteConvOf(n, p, *spec) : std::nullopt;
}

std::optional<Value> IntegerConv(NodeContext& n, const Value& x, const Value& x_zero,
                                 const Value& w, const Value& w_zero) {
  const auto spec = ReadConv(n, x, w);
  return spec ? IntegerConv(n, x, x_zero, w, w_zero, *spec) : std::nullopt;
}

namespace {

std::optional<PoolSpec> ReadPool(NodeContext& n) {
  auto window = ReadWindow(n, n.Input(0), n.Ints("kernel_shape"));
  if (!window) return std::nullopt;
  PoolSpec spec{.window = *std::move(window)};
  spec.counts_padding = n.Int("count_include_pad", 0) != 0;
  spec.ceil = n.Int("ceil_mode", 0) != 0;
  return spec;
}

Outputs Pool(NodeContext& n, bool average) {
  auto spec = ReadPool(n);
  if (!spec) return {};
  spec->average = average;
  const auto y = Pooled(n, n.Input(0), *spec);
  return y ? Outputs{*y} : Outputs{};
}

// With the flat position of each maximum in the whole input.
Outputs MaxPoolIndices(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto spec = ReadPool(n);
  const auto y =
      spec ? PooledWithPlaces(b, x, *spec, n.Int("storage_order", 0) != 0) : std::nullopt;
  if (!y) return {};
  const Term plane(b, b.Reshape(ProductOfDims(b, x, 2, x.rank()), {}));
  const Term channel = (RangeOf(b, x, 0).Expand(1) * Extent(b, x, 1) + RangeOf(b, x, 1)) * plane;
  return {y->max, Term(b, y->place) + channel.Expand(2, x.rank() - 2)};
}

Outputs MaxPool(NodeContext& n) {
  return n.WantsOutput(1) ? MaxPoolIndices(n) : Pool(n, /*average=*/false);
}
Outputs AveragePool(NodeContext& n) { return Pool(n, /*average=*/true); }

template <OpName kName>
Outputs Global(NodeContext& n) {
  AttrList axes;
  for (int i = 2; i < n.Input(0).rank(); ++i) axes.emplace_back(i);
  return {n.b().Op(kName.chars, {n.Input(0)}, {{"axis", axes}, {"keepdims", true}})};
}

Outputs InstanceNormalization(NodeContext& n) {
  return {n.b().Op("nn.instance_norm", n.inputs(),
                   {{"axis", 1}, {"epsilon", n.Float("epsilon", 1e-5)}})};
}

Outputs LRN(NodeContext& n) {
  return {n.b().Op("nn.lrn", {n.Input(0)},
                   {{"size", n.Int("size", 1)},
                    {"axis", 1},
                    {"bias", n.Float("bias", 1)},
                    {"alpha", n.Float("alpha", 1e-4)},
                    {"beta", n.Float("beta", 0.75)}})};
}

// Before opset 13 the dims from `axis` on are one.
template <OpName kName>
Outputs SoftmaxLike(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", n.opset() < 13 ? 1 : -1), x.rank());
  if (n.opset() >= 13 || axis == x.rank() - 1) return {b.Op(kName.chars, {x}, {{"axis", axis}})};
  std::vector<Value> dims;
  for (int i = 0; i < axis; ++i) dims.push_back(b.DimOf(x, i));
  dims.push_back(b.Ints({-1}));
  const Value y = b.Op(kName.chars, {b.ReshapeTo(x, b.Concat(dims, 0))}, {{"axis", axis}});
  return {b.ReshapeTo(y, b.ShapeOf(x))};
}

constexpr OperatorDef kNnOperators[] = {
    {"AveragePool", 1, 1, AveragePool},
    {"Conv", 2, 3, Conv},
    {"GlobalAveragePool", 1, 1, Global<"mean">},
    {"GlobalMaxPool", 1, 1, Global<"max">},
    {"InstanceNormalization", 3, 3, InstanceNormalization},
    {"LRN", 1, 1, LRN},
    {"LogSoftmax", 1, 1, SoftmaxLike<"nn.log_softmax">},
    {"MaxPool", 1, 1, MaxPool},
    {"Softmax", 1, 1, SoftmaxLike<"nn.softmax">},
};

}  // namespace

std::span<const OperatorDef> NnOperators() { return kNnOperators; }

}  // namespace relayvm::import
