#include "compiler/import/composite/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/checked.h"
#include "kernels/op/qnn.h"

namespace relayvm::import {

namespace {

constexpr std::string_view kSpatialDims[] = {"W", "HW", "DHW"};

// The data with what is added to the spatial dims that are `open`: one window begins at each
// stride.
Value PaddedToWindows(TypedBuilder& b, const Value& x, const Window& w,
                      const std::vector<bool>& open, double fill) {
  const bool upper = w.padding == WindowPadding::kSameUpper;
  std::vector<Value> rows(static_cast<size_t>(x.rank()), b.ExpandDims(b.Ints({0, 0}), 0));
  for (size_t i = 0; i < open.size(); ++i) {
    if (!open[i]) continue;
    const Term extent(b, b.DimOf(x, w.axis(i)));
    const auto stride = static_cast<double>(w.strides[i]);
    const int64_t reach = w.reach(i);
    const Term steps = (extent - 1).Call("floor_divide", extent.Number(stride));
    Term total = steps * stride + static_cast<double>(reach) - extent;
    if (reach < w.strides[i]) total = Maximum(total, total.Number(0));
    const Term half = total.Call("floor_divide", total.Number(2)), rest = total - half;
    rows[static_cast<size_t>(w.axis(i))] =
        b.ExpandDims(b.Concat({upper ? half : rest, upper ? rest : half}, 0), 0);
  }
  return b.Op("dyn.nn.pad", {x, b.Concat(rows, 0), Like(b, x, fill)}, {{"pad_mode", "constant"}});
}

// What must be padded along a dim of a known extent, or with a stride of 1.
int64_t SamePadding(const Window& w, const Dim& extent, size_t i) {
  if (!extent.is_const()) return w.reach(i) - 1;
  // The last window starts at the last multiple of the stride before the end.
  const int64_t rest = extent.value() % w.strides[i];
  return std::max<int64_t>(w.reach(i) - (rest == 0 ? w.strides[i] : rest), 0);
}

// How many windows there are along a dim: rank 0.
Term CountWindows(const Term& extent, const PoolSpec& spec, size_t i) {
  const Window& w = spec.window;
  const auto stride = static_cast<double>(w.strides[i]);
  const Term room = extent + static_cast<double>(w.pads[i] + w.pads[i + w.spatial()] - w.reach(i));
  if (!spec.ceil) return room.Call("floor_divide", room.Number(stride)) + 1;
  // A window must start inside the input or the padding before it.
  const Term all = (room + (stride - 1)).Call("floor_divide", room.Number(stride)) + 1;
  const Term most =
      (extent + static_cast<double>(w.pads[i] - 1)).Call("floor_divide", room.Number(stride)) + 1;
  return Minimum(all, most);
}

}  // namespace

bool IsSane(TypedBuilder& b, const Window& w, size_t spatial) {
  if (spatial < 1 || spatial > 3) {
    b.Fail(StatusCode::kUnsupported, "expected 1 to 3 spatial dims, found {}", spatial);
    return false;
  }
  if (w.strides.size() != spatial || w.dilations.size() != spatial || w.kernel.size() != spatial) {
    b.Fail("expected strides, dilations and kernel_shape of {} numbers", spatial);
    return false;
  }
  const auto sane = [](int64_t v) { return v >= 1 && v <= INT32_MAX; };
  for (int64_t pad : w.pads) {
    if (pad < -INT32_MAX || pad > INT32_MAX) return b.Fail("pads: out of range"), false;
  }
  if (!std::all_of(w.strides.begin(), w.strides.end(), sane) ||
      !std::all_of(w.dilations.begin(), w.dilations.end(), sane) ||
      !std::all_of(w.kernel.begin(), w.kernel.end(), sane)) {
    b.Fail(
        "expected strides, dilations and kernel_shape that are positive, and known: by "
        "kernel_shape or --shape where the weight's extents are open");
    return false;
  }
  return true;
}

std::string Window::layout() const {
  const std::string dims(kSpatialDims[spatial() - 1]);
  return channels_last ? "N" + dims + "C" : "NC" + dims;
}

std::optional<Window> Fitted(TypedBuilder& b, Value& x, Window w, std::optional<double> fill) {
  const auto spatial = static_cast<size_t>(std::max(0, x.rank() - 2));
  if (!IsSane(b, w, spatial)) return std::nullopt;
  if (w.pads.empty() || w.padding != WindowPadding::kGiven) w.pads.assign(2 * spatial, 0);
  if (w.pads.size() != 2 * spatial)
    return b.Fail("pads: expected {} numbers, found {}", 2 * spatial, w.pads.size());
  if (w.padding == WindowPadding::kGiven) return w;
  std::vector<bool> open(spatial, false);
  for (size_t i = 0; i < spatial; ++i) {
    const Dim extent = x.dim(w.axis(i));
    if (!extent.is_const() && w.strides[i] != 1) {
      if (!fill) {
        return b.Fail(
            StatusCode::kUnsupported,
            "auto_pad with a stride needs the extent when compiling; fix it with --shape");
      }
      open[i] = w.reach(i) > 1;
      continue;
    }
    const int64_t total = SamePadding(w, extent, i), small = total / 2;
    w.pads[i] = w.padding == WindowPadding::kSameUpper ? small : total - small;
    w.pads[i + spatial] = total - w.pads[i];
  }
  if (std::find(open.begin(), open.end(), true) != open.end())
    x = PaddedToWindows(b, x, w, open, *fill);
  return w;
}

bool FewTaps(TypedBuilder& b, const Window& w) {
  int64_t taps = 1;
  for (int64_t k : w.kernel) {
    taps *= std::min<int64_t>(k, 1 << 20);
    if (taps > (1 << 20)) {
      b.Fail(StatusCode::kUnsupported, "kernel_shape: more than 2^20 elements");
      return false;
    }
  }
  return true;
}

Windows WindowsOf(const Term& x, const PoolSpec& spec, double fill) {
  TypedBuilder& b = x.b();
  const Window& w = spec.window;
  const int spatial = static_cast<int>(w.kernel.size());
  Term y = x;
  std::optional<Term> position, inside;
  // From the last dim on, so that the axes before keep their places.
  for (int i = spatial; i-- > 0;) {
    const auto k = static_cast<size_t>(i);
    const Term extent = Extent(b, x, i + 2);
    const Term start = Range(CountWindows(extent, spec, k)) * static_cast<double>(w.strides[k]) -
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

// A convolution of the operator's family `prefix`; `more` are arguments behind data and weight.
std::optional<Value> ConvOf(TypedBuilder& b, const std::string& prefix, Value x, const Value& w,
                            std::vector<Value> more, double fill, const ConvSpec& spec) {
  const auto window = Fitted(b, x, spec.window, fill);
  if (!window) return std::nullopt;
  const size_t spatial = window->spatial();
  const std::string kernel_layout = spec.kernel_layout.empty()
                                        ? "OI" + std::string(kSpatialDims[spatial - 1])
                                        : spec.kernel_layout;
  const Dim channels = w.dim(static_cast<int>(kernel_layout.find('O')));
  more.insert(more.begin(), {x, w});
  return b.Op(fmt::format("{}conv{}d", prefix, spatial), more,
              {{"strides", ListOf(window->strides)},
               {"padding", ListOf(window->pads)},
               {"dilation", ListOf(window->dilations)},
               {"groups", spec.groups},
               {"channels", channels.is_const() ? channels.value() : 0},
               {"kernel_size", ListOf(window->kernel)},
               {"data_layout", window->layout()},
               {"kernel_layout", kernel_layout}});
}

}  // namespace

std::optional<Value> Convolved(TypedBuilder& b, const Value& x, const Value& w,
                               const ConvSpec& spec) {
  return ConvOf(b, "nn.", x, w, {}, 0, spec);
}

std::optional<Value> ByteConvOf(TypedBuilder& b, const ByteProduct& p, const ConvSpec& spec) {
  const Value& w = p.w;
  const int64_t groups = spec.groups;
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
  double fill = 0;
  if (p.x_zero.constant != nullptr) {
    fill = static_cast<double>(typing::IntegerElements(*p.x_zero.constant)[0]);
  } else if (spec.window.padding != WindowPadding::kGiven) {
    return std::nullopt;
  }
  const Value one = b.Scalar(1, DType::kFloat32);
  return ConvOf(b, "qnn.", p.x, w, {p.x_zero, p.w_zero, one, one}, fill, spec);
}

std::optional<Value> IntegerConv(TypedBuilder& b, const Value& x, const Value& x_zero,
                                 const Value& w, const Value& w_zero, const ConvSpec& spec) {
  if (const auto p = ByteProductOf(b, x, x_zero, w, w_zero)) {
    if (auto product = ByteConvOf(b, *p, spec)) return product;
  }
  return Convolved(b, ShiftedBy(b, x, x_zero, 1), ShiftedBy(b, w, w_zero, 0), spec);
}

namespace {

// What is less than all numbers of a dtype that pools take.
double LeastOf(DType dtype) {
  if (IsFloat(dtype)) return -HUGE_VAL;
  return IsUnsignedInt(dtype) ? 0 : -std::exp2(DTypeBits(dtype) - 1);
}

// Of pools by ceil: without the windows that start in the padding behind the data.
Term WithoutOutside(const Term& pooled, const Value& x, const PoolSpec& spec) {
  TypedBuilder& b = pooled.b();
  const Window& w = spec.window;
  Term y = pooled;
  for (size_t i = 0; i < w.spatial(); ++i) {
    if (w.pads[i + w.spatial()] + w.strides[i] <= w.reach(i)) continue;
    const int axis = w.axis(i);
    const Term count = CountWindows(Extent(b, x, axis), spec, i);
    const auto known = b.ConstantInts(count);
    if (!known) {
      y = y.Take(Range(count), axis);
    } else if (!y.value().dim(axis).is_const((*known)[0])) {
      y = y.Slice(axis, 0, (*known)[0]);
    }
  }
  return y;
}

// Flat positions in the spatial dims of `padded` as those in `x`; -1 of what was added.
Term Unpadded(const Term& position, const Term& x, const Value& padded, bool upper) {
  TypedBuilder& b = x.b();
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

}  // namespace

std::optional<Value> Pooled(TypedBuilder& b, const Value& data, const PoolSpec& spec) {
  Value x = data;
  PoolSpec fitted = spec;
  const auto window = Fitted(b, x, spec.window, spec.average ? 0 : LeastOf(x.dtype()));
  if (!window) return std::nullopt;
  fitted.window = *window;
  const bool padded = x.node != data.node;
  Attrs attrs;
  attrs.Set("pool_size", ListOf(window->kernel));
  attrs.Set("strides", ListOf(window->strides));
  attrs.Set("dilation", ListOf(window->dilations));
  attrs.Set("padding", ListOf(window->pads));
  attrs.Set("layout", window->layout());
  attrs.Set("ceil_mode", spec.ceil);
  if (spec.average) attrs.Set("count_include_pad", spec.counts_padding || padded);
  const std::string op =
      fmt::format("nn.{}_pool{}d", spec.average ? "avg" : "max", window->spatial());
  Term y(b, b.Op(op, {x}, attrs));
  if (spec.average && padded && !spec.counts_padding) {
    // The share of each window that is no padding.
    const int channels = window->channels_last ? x.rank() - 1 : 1;
    Value ones = b.Op("ones_like", {Term(b, data).Slice(0, 0, 1).Slice(channels, 0, 1)});
    if (!Fitted(b, ones, spec.window, 0)) return std::nullopt;
    y = y / Term(b, b.Op(op, {ones}, attrs));
  }
  if (spec.ceil && spec.inside) y = WithoutOutside(y, x, fitted);
  return y;
}

std::optional<MaxAndPlace> PooledWithPlaces(TypedBuilder& b, const Value& in, const PoolSpec& spec,
                                            bool columns_first) {
  const Term x(b, in);
  Value data = x;
  PoolSpec fitted = spec;
  const auto window = Fitted(b, data, spec.window, LeastOf(x.dtype()));
  if (!window || !FewTaps(b, *window)) return std::nullopt;
  fitted.window = *window;
  Windows w = WindowsOf(Term(b, data), fitted, LeastOf(x.dtype()));
  if (data.node != in.node) {
    w.positions = Unpadded(w.positions, x, data, spec.window.padding == WindowPadding::kSameUpper);
  }
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
  if (columns_first) {
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
  return MaxAndPlace{b.Squeeze(best, {last}), b.Squeeze(place, {last})};
}

}  // namespace relayvm::import
