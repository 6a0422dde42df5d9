// Convolution, pooling, normalisation.
#include <fmt/format.h>

#include "compiler/import/onnx/convert.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

// Windows over the spatial dims of data in NC... layout.
struct Window {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> pads;  // all starts, then all ends
};

constexpr std::string_view kLayouts[] = {"NCW", "NCHW", "NCDHW"};
constexpr std::string_view kKernelLayouts[] = {"OIW", "OIHW", "OIDHW"};

// Reads strides, dilations and pads of a node with `spatial` dims. `kernel` is the window's size.
std::optional<Window> ReadWindow(NodeContext& n, const Value& x, std::vector<int64_t> kernel) {
  const size_t spatial = static_cast<size_t>(std::max(0, x.rank() - 2));
  if (spatial < 1 || spatial > 3) {
    n.Unsupported(fmt::format("expected 1 to 3 spatial dims, found {}", spatial));
    return std::nullopt;
  }
  const std::vector<int64_t> ones(spatial, 1);
  Window w{std::move(kernel), n.Ints("strides", ones), n.Ints("dilations", ones), n.Ints("pads")};
  if (w.strides.size() != spatial || w.dilations.size() != spatial || w.kernel.size() != spatial) {
    n.Fail(fmt::format("expected strides, dilations and kernel_shape of {} numbers", spatial));
    return std::nullopt;
  }
  const std::string mode = n.String("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) {
    if (w.pads.empty()) w.pads.assign(2 * spatial, 0);
  } else if (mode == "VALID") {
    w.pads.assign(2 * spatial, 0);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    w.pads.assign(2 * spatial, 0);
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
      const Dim extent = x.dim(static_cast<int>(i) + 2);
      int64_t total = std::max<int64_t>(reach - 1, 0);
      if (extent.is_const()) {
        const int64_t out = (extent.value() + w.strides[i] - 1) / w.strides[i];
        total = std::max<int64_t>((out - 1) * w.strides[i] + reach - extent.value(), 0);
      } else if (w.strides[i] != 1) {
        n.Unsupported(
            "auto_pad with a stride needs the extent when compiling; fix it with --shape");
        return std::nullopt;
      }
      const int64_t small = total / 2;
      w.pads[i] = mode == "SAME_UPPER" ? small : total - small;
      w.pads[i + spatial] = total - w.pads[i];
    }
  } else {
    n.Fail(fmt::format("auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found '{}'",
                       mode));
    return std::nullopt;
  }
  if (w.pads.size() != 2 * spatial) {
    n.Fail(fmt::format("pads: expected {} numbers, found {}", 2 * spatial, w.pads.size()));
    return std::nullopt;
  }
  return w;
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

Outputs Conv(NodeContext& n) {
  const Value x = n.Input(0), w = n.Input(1);
  const auto window = ReadWindow(n, x, n.Ints("kernel_shape", KernelOf(w)));
  if (!window) return {};
  const size_t spatial = window->kernel.size();
  const int64_t groups = n.Int("group", 1);
  const Value y = n.b().Op(fmt::format("nn.conv{}d", spatial), {x, w},
                           {{"strides", ListOf(window->strides)},
                            {"padding", ListOf(window->pads)},
                            {"dilation", ListOf(window->dilations)},
                            {"groups", groups},
                            {"channels", w.dim(0)},
                            {"kernel_size", ListOf(window->kernel)},
                            {"data_layout", std::string(kLayouts[spatial - 1])},
                            {"kernel_layout", std::string(kKernelLayouts[spatial - 1])}});
  return {AddBias(n, y, 2)};
}

Outputs Pool(NodeContext& n, std::string_view kind) {
  const Value x = n.Input(0);
  const auto window = ReadWindow(n, x, n.Ints("kernel_shape"));
  if (!window) return {};
  const size_t spatial = window->kernel.size();
  Attrs attrs;
  attrs.Set("pool_size", ListOf(window->kernel));
  attrs.Set("strides", ListOf(window->strides));
  attrs.Set("dilation", ListOf(window->dilations));
  attrs.Set("padding", ListOf(window->pads));
  attrs.Set("layout", std::string(kLayouts[spatial - 1]));
  attrs.Set("ceil_mode", n.Int("ceil_mode", 0) != 0);
  if (kind == "avg") attrs.Set("count_include_pad", n.Int("count_include_pad", 0) != 0);
  return {n.b().Op(fmt::format("nn.{}_pool{}d", kind, spatial), {x}, attrs)};
}
Outputs MaxPool(NodeContext& n) {
  if (n.WantsOutput(1)) return n.Unsupported("output Indices is not supported");
  return Pool(n, "max");
}
Outputs AveragePool(NodeContext& n) { return Pool(n, "avg"); }

Outputs Global(NodeContext& n, const char* op) {
  AttrList axes;
  for (int i = 2; i < n.Input(0).rank(); ++i) axes.emplace_back(i);
  return {n.b().Op(op, {n.Input(0)}, {{"axis", axes}, {"keepdims", true}})};
}
Outputs GlobalAveragePool(NodeContext& n) { return Global(n, "mean"); }
Outputs GlobalMaxPool(NodeContext& n) { return Global(n, "max"); }

Outputs BatchNormalization(NodeContext& n) {
  if (n.Int("training_mode", 0) != 0) return n.Unsupported("training_mode is not supported");
  const Value all =
      n.b().Op("nn.batch_norm", n.inputs(), {{"axis", 1}, {"epsilon", n.Float("epsilon", 1e-5)}});
  return {n.b().Field(all, 0)};
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
Outputs SoftmaxLike(NodeContext& n, const char* op) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", n.opset() < 13 ? 1 : -1), x.rank());
  if (n.opset() >= 13 || axis == x.rank() - 1) return {b.Op(op, {x}, {{"axis", axis}})};
  std::vector<Value> dims;
  for (int i = 0; i < axis; ++i) dims.push_back(b.DimOf(x, i));
  dims.push_back(b.Ints({-1}));
  const Value y = b.Op(op, {b.ReshapeTo(x, b.Concat(dims, 0))}, {{"axis", axis}});
  return {b.ReshapeTo(y, b.ShapeOf(x))};
}
Outputs Softmax(NodeContext& n) { return SoftmaxLike(n, "nn.softmax"); }
Outputs LogSoftmax(NodeContext& n) { return SoftmaxLike(n, "nn.log_softmax"); }

constexpr OperatorDef kOperators[] = {
    {"AveragePool", 1, 1, AveragePool},
    {"BatchNormalization", 5, 5, BatchNormalization},
    {"Conv", 2, 3, Conv},
    {"GlobalAveragePool", 1, 1, GlobalAveragePool},
    {"GlobalMaxPool", 1, 1, GlobalMaxPool},
    {"InstanceNormalization", 3, 3, InstanceNormalization},
    {"LRN", 1, 1, LRN},
    {"LogSoftmax", 1, 1, LogSoftmax},
    {"MaxPool", 1, 1, MaxPool},
    {"Softmax", 1, 1, Softmax},
};

}  // namespace

std::span<const OperatorDef> NnOperators() { return kOperators; }

}  // namespace relayvm::import
