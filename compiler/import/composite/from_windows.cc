#include "compiler/import/composite/from_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/padding.h"

namespace relayvm::import {

namespace {

constexpr std::string_view kTransposedLayouts[] = {"IOW", "IOHW", "IODHW"};

// The pads that take `total` of each dim; negative ones widen the result.
std::vector<int64_t> SplitPads(const std::vector<int64_t>& total, bool upper) {
  std::vector<int64_t> pads(2 * total.size());
  for (size_t i = 0; i < total.size(); ++i) {
    const int64_t half = std::max<int64_t>(total[i], 0) / 2, rest = total[i] - half;
    // What is missing is added at the end.
    if (total[i] < 0) {
      pads[i + total.size()] = total[i];
      continue;
    }
    pads[i] = upper ? half : rest;
    pads[i + total.size()] = upper ? rest : half;
  }
  return pads;
}

// The extents that are asked for where the data's are open: what is too much goes from both ends as
// pads would take it, and what is missing is added at the end. 0: as it is.
Value WithExtents(TypedBuilder& b, Value y, const std::vector<int64_t>& wanted, const Window& w) {
  const bool upper = w.padding == WindowPadding::kSameUpper;
  const Value none = b.Ints({0});
  const auto rank = static_cast<size_t>(y.rank());
  std::vector<Value> begin(rank, none), end(rank, b.Ints({INT64_MAX})), after(rank, none);
  std::vector<Dim> shape = y.shape();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0) continue;
    const auto axis = static_cast<size_t>(w.axis(i));
    const Term extent(b, b.DimOf(y, w.axis(i))), asked(b, b.Ints({wanted[i]}));
    const Term cut = Maximum(extent - asked, extent.Number(0));
    const Term half = cut.Call("floor_divide", cut.Number(2));
    const Term from = upper ? half : cut - half;
    begin[axis] = from;
    end[axis] = from + asked;
    after[axis] = Maximum(asked - extent, extent.Number(0));
    shape[axis] = Dim(wanted[i]);
  }
  y = PaddedBehind(b, y, {b, b.Concat(after, 0)});
  const std::vector<int64_t> ones(rank, 1);
  y = b.Op("dyn.strided_slice", {y, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(ones)});
  std::vector<Value> dims;
  for (int i = 0; i < y.rank(); ++i) {
    const Dim& d = shape[static_cast<size_t>(i)];
    dims.push_back(d.is_const() ? b.Ints({d.value()}) : b.DimOf(y, i));
  }
  return ShapedAs(b, y, dims);
}

// What must go of each spatial dim so that the result has the extents of `spec.shape`; `open`:
// those that are asked for of dims that are open. False with an error.
bool TotalPads(TypedBuilder& b, const Value& x, const TransposedConvSpec& spec,
               std::vector<int64_t>* total, std::vector<int64_t>* open) {
  const Window& w = spec.window;
  for (size_t i = 0; i < w.spatial(); ++i) {
    const int64_t asked = spec.shape[i];
    const Dim extent = x.dim(w.axis(i));
    if (asked < 1 || asked > INT32_MAX) {
      b.Fail("output_shape: expected 1 to {}, found {}", INT32_MAX, asked);
      return false;
    }
    if (!extent.is_const()) {
      (*open)[i] = asked;
      continue;
    }
    int64_t last = 0;
    if (__builtin_mul_overflow(w.strides[i], extent.value() - 1, &last) ||
        __builtin_add_overflow(last, spec.extra[i] - asked, &last) ||
        __builtin_add_overflow(last, w.reach(i), &(*total)[i])) {
      b.Fail("output_shape: the extents are too large");
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Value> TransposedConv(TypedBuilder& b, const Value& x, const Value& w,
                                    const TransposedConvSpec& given) {
  TransposedConvSpec spec = given;
  Window& window = spec.window;
  const auto spatial = static_cast<size_t>(std::max(0, x.rank() - 2));
  if (!IsSane(b, window, spatial)) return std::nullopt;
  if (w.rank() != x.rank())
    return b.Fail(StatusCode::kUnsupported, "expected a weight of the input's rank");
  if (spec.extra.empty()) spec.extra.assign(spatial, 0);
  if (window.pads.empty()) window.pads.assign(2 * spatial, 0);
  if (spec.extra.size() != spatial || window.pads.size() != 2 * spatial ||
      (!spec.shape.empty() && spec.shape.size() != spatial)) {
    return b.Fail("expected attributes for {} spatial dims", spatial);
  }
  for (const int64_t extra : spec.extra) {
    if (extra < -INT32_MAX || extra > INT32_MAX) return b.Fail("output_padding: out of range");
  }
  const bool upper = window.padding == WindowPadding::kSameUpper;
  std::vector<int64_t> total(spatial), open(spatial);
  if (!spec.shape.empty()) {
    if (!TotalPads(b, x, spec, &total, &open)) return std::nullopt;
    window.pads = SplitPads(total, upper);
  } else if (window.padding != WindowPadding::kGiven) {
    for (size_t i = 0; i < spatial; ++i)
      total[i] = window.reach(i) + spec.extra[i] - window.strides[i];
    window.pads = SplitPads(total, upper);
  }
  std::vector<std::pair<int64_t, int64_t>> widen(spatial + 2);
  bool widens = false;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t &before = window.pads[i], &after = window.pads[i + spatial];
    widens |= before < 0 || after < 0;
    widen[static_cast<size_t>(window.axis(i))] = {std::max<int64_t>(-before, 0),
                                                  std::max<int64_t>(-after, 0)};
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
  }
  if (spec.kernel_layout.empty()) spec.kernel_layout = kTransposedLayouts[spatial - 1];
  const Dim group = w.dim(static_cast<int>(spec.kernel_layout.find('O')));
  int64_t channels = 0;
  if (spec.groups < 1 || spec.groups > INT32_MAX ||
      (group.is_const() && __builtin_mul_overflow(group.value(), spec.groups, &channels))) {
    return b.Fail("group: expected 1 or more, found {}", spec.groups);
  }
  Value y = b.Op(fmt::format("nn.conv{}d_transpose", spatial), {x, w},
                 {{"strides", ListOf(window.strides)},
                  {"padding", ListOf(window.pads)},
                  {"dilation", ListOf(window.dilations)},
                  {"output_padding", ListOf(spec.extra)},
                  {"groups", spec.groups},
                  {"channels", channels},
                  {"kernel_size", ListOf(window.kernel)},
                  {"data_layout", window.layout()},
                  {"kernel_layout", spec.kernel_layout}});
  if (widens) y = *Padded(b, y, widen, {.fill = Like(b, y, 0)});
  const bool any_open = std::any_of(open.begin(), open.end(), [](int64_t e) { return e != 0; });
  return any_open ? WithExtents(b, y, open, window) : y;
}

std::optional<Unpooled> UnpooledMax(const InputName& places, const Term& x, const Window& window) {
  TypedBuilder& b = x.b();
  Value data = x;
  const auto w = Fitted(b, data, window);
  if (!w) return std::nullopt;
  std::vector<Value> dims = {b.DimOf(x, 0), b.DimOf(x, 1)};
  for (size_t i = 0; i < w->spatial(); ++i) {
    const Term extent(b, b.DimOf(x, w->axis(i)));
    dims.push_back((extent - 1) * static_cast<double>(w->strides[i]) +
                   static_cast<double>(w->kernel[i] - w->pads[i] - w->pads[i + w->spatial()]));
  }
  const Term shape(b, b.Concat(dims, 0));
  const Value size = shape.Over("prod", {0});
  const Value flat = Filled(b, 0, x.dtype(), size);
  const Value at = Below(places, b.Reshape(places.value, {-1}), size);
  const Value all = b.Op("scatter_elements", {flat, at, b.Reshape(x, {-1})}, {{"axis", 0}});
  return Unpooled{ShapedAs(b, all, {shape}), shape};
}

std::optional<Value> Folded(const Term& x, const InputName& image_shape,
                            const InputName& block_shape, const FoldSpec& spec) {
  TypedBuilder& b = x.b();
  const auto axes = CountOf(b, image_shape.value, "image_shape");
  const auto block_axes = CountOf(b, block_shape.value, "block_shape");
  if (!axes || !block_axes) return std::nullopt;
  const auto spatial = static_cast<size_t>(*axes);
  const auto& [strides, dilations, pads] = spec;
  if (x.rank() != 3 || spatial < 1 || *block_axes != *axes || strides.size() != spatial ||
      dilations.size() != spatial || pads.size() != 2 * spatial) {
    return b.Fail("image_shape, block_shape, strides, dilations and pads differ in length");
  }
  // Extents are so small that the number of elements is a number.
  const int64_t most = int64_t{1} << std::min<int64_t>(24, 48 / *axes);
  std::vector<int64_t> around;
  for (size_t i = 0; i < spatial; ++i) {
    for (const int64_t v : {strides[i] - 1, dilations[i] - 1, pads[i], pads[i + spatial]}) {
      if (v < 0 || v > most) return b.Fail("a stride, dilation or pad is out of range");
    }
    around.push_back(pads[i] + pads[i + spatial]);
  }
  const auto each = [&](int64_t v) { return b.Ints(std::vector<int64_t>(spatial, v)); };
  const Term block = Checked(block_shape, b.Cast(block_shape.value, DType::kInt64), 1, each(most));
  const Term reach = (block - 1) * Term(b, b.Ints(dilations)) + 1;
  const Term image =
      Checked(image_shape, b.Cast(image_shape.value, DType::kInt64),
              Maximum(reach - Term(b, b.Ints(around)), Term(b, each(0))), each(most));
  const auto at = [&](const Term& v, size_t i) {
    return v.Take(b.Int(static_cast<int64_t>(i)), 0);
  };
  // Where each tap of each window lies in the padded picture, (taps, windows).
  std::optional<Term> place;
  Term taps(b, b.Ints({1})), windows = taps, size = taps;
  std::vector<Value> dims;
  for (size_t i = 0; i < spatial; ++i) {
    const auto stride = static_cast<double>(strides[i]);
    const Term extent = at(image, i) + static_cast<double>(around[i]);
    const Term count = (extent - at(reach, i)) / stride + 1;
    const Term tap = Range(at(block, i)) * static_cast<double>(dilations[i]);
    const Term here = tap.Expand(1) + Range(count) * stride;
    taps = taps * at(block, i);
    windows = windows * count;
    size = size * extent;
    if (place) {
      const Term outer = (*place * extent).Expand(1).Expand(3);
      place = Term(b, ShapedAs(b, outer + here.Expand(0).Expand(2), {taps, windows}));
    } else {
      place = here;
    }
    dims.push_back(extent.Reshape({1}));
  }
  const Term rows(b, b.DimOf(x, 0)), channels = Term(b, b.DimOf(x, 1)) / taps;
  const Term lines = rows * channels;
  const Term data(b, ShapedAs(b, x, {lines, Term(b, b.DimOf(x, 2)) * taps}));
  const Value index =
      b.Op("dyn.broadcast_to", {place->Reshape({1, -1}), b.Concat({lines, b.DimOf(data, 1)}, 0)});
  const Value zeros = Filled(b, 0, x.dtype(), b.Concat({lines, size}, 0));
  const Value sum =
      b.Op("scatter_elements", {zeros, index, data}, {{"axis", 1}, {"reduction", "add"}});
  dims.insert(dims.begin(), {rows.value(), channels.value()});
  Term y(b, ShapedAs(b, sum, dims));
  // Without the pads.
  for (size_t i = 0; i < spatial; ++i) {
    const auto axis = static_cast<int>(i) + 2;
    if (const auto extent = b.ConstantInts(at(image, i))) {
      y = y.Slice(axis, pads[i], pads[i] + (*extent)[0]);
    } else if (around[i] != 0) {
      y = y.Take(Range(at(image, i)) + static_cast<double>(pads[i]), axis);
    }
  }
  return y;
}

}  // namespace relayvm::import
