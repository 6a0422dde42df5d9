// Convolution, pooling, softmax.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/onnx/quantised.h"
#include "compiler/import/onnx/window.h"
#include "kernels/op/qnn.h"

namespace relayvm::import {

// The data with what auto_pad adds to the spatial dims that are `open`: one window begins at each
// stride.
static Value PaddedToWindows(NodeContext& n, const Value& x, const Window& w,
                             const std::vector<bool>& open, bool upper, double fill) {
  TypedBuilder& b = n.b();
  const Value zero = b.Ints({0, 0});
  std::vector<Value> rows = {b.ExpandDims(zero, 0), b.ExpandDims(zero, 0)};
  for (size_t i = 0; i < open.size(); ++i) {
    rows.push_back(rows[0]);
    if (!open[i]) continue;
    const Term extent(b, b.DimOf(x, static_cast<int>(i) + 2));
    const auto stride = static_cast<double>(w.strides[i]);
    const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const Term steps = (extent - 1).Call("floor_divide", extent.Number(stride));
    Term total = steps * stride + static_cast<double>(reach) - extent;
    if (reach < w.strides[i]) total = Maximum(total, total.Number(0));
    const Term half = total.Call("floor_divide", total.Number(2)), rest = total - half;
    rows.back() = b.ExpandDims(b.Concat({upper ? half : rest, upper ? rest : half}, 0), 0);
  }
  return b.Op("dyn.nn.pad", {x, b.Concat(rows, 0), Like(n, x, fill)}, {{"pad_mode", "constant"}});
}

// Reads strides, dilations and pads of a node with `spatial` dims. `kernel` is the window's size.
std::optional<Window> ReadWindow(NodeContext& n, Value& x, std::vector<int64_t> kernel,
                                 std::optional<double> fill) {
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
  const auto sane = [](int64_t v) { return v >= 1 && v <= INT32_MAX; };
  for (int64_t pad : w.pads) {
    if (pad < -INT32_MAX || pad > INT32_MAX) return n.Fail("pads: out of range"), std::nullopt;
  }
  if (!std::all_of(w.strides.begin(), w.strides.end(), sane) ||
      !std::all_of(w.dilations.begin(), w.dilations.end(), sane) ||
      !std::all_of(w.kernel.begin(), w.kernel.end(), sane)) {
    n.Fail(
        "expected strides, dilations and kernel_shape that are positive, and known: by "
        "kernel_shape or --shape where the weight's extents are open");
    return std::nullopt;
  }
  const std::string mode = n.String("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) {
    if (w.pads.empty()) w.pads.assign(2 * spatial, 0);
  } else if (mode == "VALID") {
    w.pads.assign(2 * spatial, 0);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    w.pads.assign(2 * spatial, 0);
    std::vector<bool> open(spatial, false);
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
      const Dim extent = x.dim(static_cast<int>(i) + 2);
      int64_t total = std::max<int64_t>(reach - 1, 0);
      if (extent.is_const()) {
        // The last window starts at the last multiple of the stride before the end.
        const int64_t rest = extent.value() % w.strides[i];
        total = std::max<int64_t>(reach - (rest == 0 ? w.strides[i] : rest), 0);
      } else if (w.strides[i] != 1) {
        if (!fill) {
          n.Unsupported(
              "auto_pad with a stride needs the extent when compiling; fix it with --shape");
          return std::nullopt;
        }
        open[i] = reach > 1;
        continue;
      }
      const int64_t small = total / 2;
      w.pads[i] = mode == "SAME_UPPER" ? small : total - small;
      w.pads[i + spatial] = total - w.pads[i];
    }
    if (std::find(open.begin(), open.end(), true) != open.end()) {
      x = PaddedToWindows(n, x, w, open, mode == "SAME_UPPER", *fill);
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

namespace {

using Outputs = std::vector<Value>;

constexpr std::string_view kKernelLayouts[] = {"OIW", "OIHW", "OIDHW"};

// How many windows there are along a dim: rank 0.
Term CountWindows(NodeContext& n, const Term& extent, const Window& w, size_t i) {
  const size_t spatial = w.kernel.size();
  const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
  const auto stride = static_cast<double>(w.strides[i]);
  const Term room = extent + static_cast<double>(w.pads[i] + w.pads[i + spatial] - reach);
  if (n.Int("ceil_mode", 0) == 0) return room.Call("floor_divide", room.Number(stride)) + 1;
  // A window must start inside the input or the padding before it.
  const Term all = (room + (stride - 1)).Call("floor_divide", room.Number(stride)) + 1;
  const Term most =
      (extent + static_cast<double>(w.pads[i] - 1)).Call("floor_divide", room.Number(stride)) + 1;
  return Minimum(all, most);
}

}  // namespace

bool FewTaps(NodeContext& n, const Window& w) {
  int64_t taps = 1;
  for (int64_t k : w.kernel) {
    taps *= std::min<int64_t>(k, 1 << 20);
    if (taps > (1 << 20)) return n.Unsupported("kernel_shape: more than 2^20 elements"), false;
  }
  return true;
}

Windows WindowsOf(NodeContext& n, const Term& x, const Window& w, double fill) {
  TypedBuilder& b = n.b();
  const int spatial = static_cast<int>(w.kernel.size());
  Term y = x;
  std::optional<Term> position, inside;
  // From the last dim on, so that the axes before keep their places.
  for (int i = spatial; i-- > 0;) {
    const auto k = static_cast<size_t>(i);
    const Term extent = Extent(b, x, i + 2);
    const Term start = Range(CountWindows(n, extent, w, k)) * static_cast<double>(w.strides[k]) -
                       static_cast<double>(w.pads[k]);
    const Term tap(b, b.Ints(Iota(w.kernel[k])));
    const Term at = start.Expand(1) + tap * static_cast<double>(w.dilations[k]);  // (o, k)
    y = y.Take(at, i + 2);
    // Among all of o.. and kernel..
    const Term spread =
        at.Expand(1, spatial - 1).Expand(0, i).Expand(spatial + i + 1, spatial - 1 - i);
    const Term here = And(spread >= 0, spread < extent);
    inside = inside ? And(*inside, here) : here;
    Term step(b, b.Int(1));
    for (int j = i + 1; j < spatial; ++j) step = step * Extent(b, x, j + 2);
    position = position ? *position + spread * step : spread * step;
  }
  // (n, c, o0, k0, o1, k1 ..) to (n, c, o.., k..).
  std::vector<int64_t> axes = {0, 1};
  for (int i = 0; i < spatial; ++i) axes.push_back(2 + 2 * i);
  for (int i = 0; i < spatial; ++i) axes.push_back(3 + 2 * i);
  y = y.Transpose(axes);
  const Term values = Select(inside->Expand(0, 2), y, y.Number(fill));
  return {values, Select(*inside, *position, position->Number(-1))};
}

namespace {

// A convolution by the node's attributes, `prefix` naming the operator's family; `more` are arguments
// behind data and weight. Nullopt where the node has an error.
std::optional<Value> ConvOf(NodeContext& n, const std::string& prefix, Value x, const Value& w,
                            std::vector<Value> more, double fill) {
  const auto window = ReadWindow(n, x, n.Ints("kernel_shape", KernelOf(w)), fill);
  if (!window) return std::nullopt;
  const size_t spatial = window->kernel.size();
  more.insert(more.begin(), {x, w});
  return n.b().Op(fmt::format("{}conv{}d", prefix, spatial), more,
                  {{"strides", ListOf(window->strides)},
                   {"padding", ListOf(window->pads)},
                   {"dilation", ListOf(window->dilations)},
                   {"groups", n.Int("group", 1)},
                   {"channels", w.dim(0).is_const() ? w.dim(0).value() : 0},
                   {"kernel_size", ListOf(window->kernel)},
                   {"data_layout", std::string(kLayouts[spatial - 1])},
                   {"kernel_layout", std::string(kKernelLayouts[spatial - 1])}});
}

Outputs Conv(NodeContext& n) {
  if (auto y = DequantisedProduct(n)) return {*y};
  const auto y = ConvOf(n, "nn.", n.Input(0), n.Input(1), {}, 0);
  if (!y) return {};
  return {AddBias(n, *y, 2)};
}

}  // namespace

std::optional<Value> ByteConvOf(NodeContext& n, const ByteProduct& p) {
  TypedBuilder& b = n.b();
  const Value& w = p.w;
  const int64_t groups = n.Int("group", 1);
  if (p.x.rank() < 3 || p.x.rank() > 5 || w.rank() != p.x.rank() || groups < 1) return std::nullopt;
  for (int i = 0; i < w.rank(); ++i) {
    if (!w.dim(i).is_const()) return std::nullopt;
  }
  if (w.constant == nullptr || !p.x.dim(1).is_const() || p.x.dim(1).value() % groups != 0 ||
      p.x.dim(1).value() / groups != w.dim(1).value() || w.dim(0).value() % groups != 0 ||
      !qnn::TakesByteConvolution(w.dim(1).value(), w.dim(0).value() / groups, groups)) {
    return std::nullopt;
  }
  // Padding that depends on sizes is made here, of a number.
  const std::string mode = n.String("auto_pad", "NOTSET");
  double fill = 0;
  if (p.x_zero.constant != nullptr) {
    fill = static_cast<double>(typing::IntegerElements(*p.x_zero.constant)[0]);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    return std::nullopt;
  }
  const Value one = b.Scalar(1, DType::kFloat32);
  return ConvOf(n, "qnn.", p.x, w, {p.x_zero, p.w_zero, one, one}, fill);
}

namespace {

// What is less than all numbers of a dtype that pools take.
double LeastOf(DType dtype) {
  return IsFloat(dtype) ? -HUGE_VAL : dtype == DType::kUInt8 ? 0 : -128;
}

Outputs Pool(NodeContext& n, std::string_view kind) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const bool average = kind == "avg", all = n.Int("count_include_pad", 0) != 0;
  const auto window = ReadWindow(n, x, n.Ints("kernel_shape"), average ? 0 : LeastOf(x.dtype()));
  if (!window) return {};
  const bool padded = x.node != n.Input(0).node;
  const size_t spatial = window->kernel.size();
  Attrs attrs;
  attrs.Set("pool_size", ListOf(window->kernel));
  attrs.Set("strides", ListOf(window->strides));
  attrs.Set("dilation", ListOf(window->dilations));
  attrs.Set("padding", ListOf(window->pads));
  attrs.Set("layout", std::string(kLayouts[spatial - 1]));
  attrs.Set("ceil_mode", n.Int("ceil_mode", 0) != 0);
  if (average) attrs.Set("count_include_pad", all || padded);
  const std::string op = fmt::format("nn.{}_pool{}d", kind, spatial);
  Term y(b, b.Op(op, {x}, attrs));
  if (average && padded && !all) {
    // The share of each window that is no padding.
    Value ones = b.Op("ones_like", {Term(n, 0).Slice(0, 0, 1).Slice(1, 0, 1)});
    if (!ReadWindow(n, ones, window->kernel, 0)) return {};
    y = y / Term(b, b.Op(op, {ones}, attrs));
  }
  if (n.Int("ceil_mode", 0) == 0) return {y};
  // A window must start inside the input or the padding before it.
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t reach = (window->kernel[i] - 1) * window->dilations[i] + 1;
    if (window->pads[i + spatial] + window->strides[i] <= reach) continue;
    const int axis = static_cast<int>(i) + 2;
    const Term count = CountWindows(n, Extent(b, x, axis), *window, i);
    const auto known = b.ConstantInts(count);
    if (!known) {
      y = y.Take(Range(count), axis);
    } else if (!y.value().dim(axis).is_const((*known)[0])) {
      y = y.Slice(axis, 0, (*known)[0]);
    }
  }
  return {y};
}
// Flat positions in the spatial dims of `padded` as those in `x`; -1 of what auto_pad added.
Term Unpadded(NodeContext& n, const Term& position, const Term& x, const Value& padded) {
  TypedBuilder& b = n.b();
  const bool upper = n.String("auto_pad", "") == "SAME_UPPER";
  Term rest = position, flat = position.Number(0), inside = position >= 0, step(b, b.Int(1));
  for (int i = x.rank() - 1; i >= 2; --i) {
    const Term extent = Extent(b, x, i), full = Extent(b, padded, i), total = full - extent;
    const Term half = total.Call("floor_divide", total.Number(2));
    const Term at = rest.Call("floor_mod", full) - (upper ? half : total - half);
    rest = rest.Call("floor_divide", full);
    inside = And(inside, And(at >= 0, at < extent));
    flat = flat + at * step;
    step = step * extent;
  }
  return Select(inside, flat, flat.Number(-1));
}

// With the flat position of each maximum in the whole input.
Outputs MaxPoolIndices(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  Value data = x;
  const auto window = ReadWindow(n, data, n.Ints("kernel_shape"), LeastOf(x.dtype()));
  if (!window || !FewTaps(n, *window)) return {};
  Windows w = WindowsOf(n, Term(b, data), *window, LeastOf(x.dtype()));
  if (data.node != x.value().node) w.positions = Unpadded(n, w.positions, x, data);
  const auto spatial = static_cast<int64_t>(window->kernel.size());
  int64_t taps = 1;
  for (int64_t k : window->kernel) taps *= k;
  std::vector<Value> dims, places;
  for (int i = 0; i < 2 + spatial; ++i) dims.push_back(b.DimOf(w.values, i));
  for (int i = 0; i < spatial; ++i) places.push_back(b.DimOf(w.positions, i));
  dims.push_back(b.Ints({taps}));
  places.push_back(b.Ints({taps}));
  Term position(b, ShapedAs(b, w.positions, places));
  const Term all(b, ShapedAs(b, w.values, dims));
  const auto last = static_cast<int64_t>(all.rank()) - 1;
  // Padding is no maximum, whatever stands there.
  const Term inside = position >= 0;
  const Term best = Max(all, {last});
  const Term tap =
      Select(And(inside, Equal(all, best)), Term(b, b.Ints(Iota(taps))), Term(b, b.Int(taps - 1)));
  const Term first = tap.Over("min", {last});
  const Term hit = Equal(Term(b, b.Ints(Iota(taps))), first);
  if (n.Int("storage_order", 0) != 0) {  // columns before rows
    Term swapped = position.Number(0), rest = position;
    Term step(b, b.Int(1));
    std::vector<Term> at;
    for (int i = 1 + static_cast<int>(spatial); i >= 2; --i) {
      const Term extent = Extent(b, x, i);
      at.insert(at.begin(), rest.Call("floor_mod", extent));
      rest = rest.Call("floor_divide", extent);
    }
    for (int i = 0; i < spatial; ++i) {
      swapped = swapped + at[static_cast<size_t>(i)] * step;
      step = step * Extent(b, x, i + 2);
    }
    position = swapped;
  }
  const Term place = Sum(Select(hit, position, position.Number(0)), {last});
  const Term plane(b, b.Reshape(ProductOfDims(b, x, 2, x.rank()), {}));
  const Term channel = (RangeOf(b, x, 0).Expand(1) * Extent(b, x, 1) + RangeOf(b, x, 1)) * plane;
  const Term index =
      Term(b, b.Squeeze(place, {last})) + channel.Expand(2, static_cast<int>(spatial));
  return {b.Squeeze(best, {last}), index};
}

Outputs MaxPool(NodeContext& n) { return n.WantsOutput(1) ? MaxPoolIndices(n) : Pool(n, "max"); }
Outputs AveragePool(NodeContext& n) { return Pool(n, "avg"); }

Outputs Global(NodeContext& n, const char* op) {
  AttrList axes;
  for (int i = 2; i < n.Input(0).rank(); ++i) axes.emplace_back(i);
  return {n.b().Op(op, {n.Input(0)}, {{"axis", axes}, {"keepdims", true}})};
}
Outputs GlobalAveragePool(NodeContext& n) { return Global(n, "mean"); }
Outputs GlobalMaxPool(NodeContext& n) { return Global(n, "max"); }

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

constexpr OperatorDef kNnOperators[] = {
    {"AveragePool", 1, 1, AveragePool},
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

std::span<const OperatorDef> NnOperators() { return kNnOperators; }

}  // namespace relayvm::import
