// Transposed convolution, unpooling, pools by a norm, Col2Im.
#include <fmt/format.h>

#include <numeric>

#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/runtime_axes.h"
#include "compiler/import/onnx/window.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

constexpr std::string_view kTransposedLayouts[] = {"IOW", "IOHW", "IODHW"};

// The pads of ConvTranspose; negative ones widen the result. `total` is what must go of each dim.
std::vector<int64_t> SplitPads(NodeContext& n, const std::vector<int64_t>& total) {
  const bool upper = n.String("auto_pad", "NOTSET") == "SAME_UPPER";
  std::vector<int64_t> pads(2 * total.size());
  for (size_t i = 0; i < total.size(); ++i) {
    // What is missing is added at the end.
    const int64_t half = std::max<int64_t>(total[i], 0) / 2, rest = total[i] - half;
    if (total[i] < 0) {
      pads[i + total.size()] = total[i];
      continue;
    }
    // The odd one at the end for SAME_UPPER; else at the start.
    pads[i] = upper ? half : rest;
    pads[i + total.size()] = upper ? rest : half;
  }
  return pads;
}

// The extents that output_shape asks for where the input's are open: what is too much goes from
// both ends as pads would take it, and what is missing is added at the end. 0: as it is.
Value WithExtents(NodeContext& n, Value y, const std::vector<int64_t>& wanted) {
  TypedBuilder& b = n.b();
  const bool upper = n.String("auto_pad", "NOTSET") == "SAME_UPPER";
  const Value none = b.Ints({0});
  std::vector<Value> begin = {none, none}, end = {b.Ints({INT64_MAX}), b.Ints({INT64_MAX})},
                     after = {none, none};
  std::vector<Dim> shape = y.shape();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0) {
      begin.push_back(none);
      end.push_back(b.Ints({INT64_MAX}));
      after.push_back(none);
      continue;
    }
    const Term extent(b, b.DimOf(y, static_cast<int>(i) + 2)), asked(b, b.Ints({wanted[i]}));
    const Term cut = Maximum(extent - asked, extent.Number(0));
    const Term half = cut.Call("floor_divide", cut.Number(2));
    const Term from = upper ? half : cut - half;
    begin.push_back(from);
    end.push_back(from + asked);
    after.push_back(Maximum(asked - extent, extent.Number(0)));
    shape[i + 2] = Dim(wanted[i]);
  }
  const Term behind(b, b.Concat(after, 0));
  const Value width = b.Concat({(behind * 0.0).Expand(1), behind.Expand(1)}, 1);
  y = b.Op("dyn.nn.pad", {y, width, Like(n, y, 0)}, {{"pad_mode", "constant"}});
  const std::vector<int64_t> ones(begin.size(), 1);
  y = b.Op("dyn.strided_slice", {y, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(ones)});
  std::vector<Value> dims;
  for (int i = 0; i < y.rank(); ++i) {
    const Dim& d = shape[static_cast<size_t>(i)];
    dims.push_back(d.is_const() ? b.Ints({d.value()}) : b.DimOf(y, i));
  }
  return ShapedAs(b, y, dims);
}

Outputs ConvTranspose(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), w = n.Input(1);
  const auto spatial = static_cast<size_t>(std::max(0, x.rank() - 2));
  if (spatial < 1 || spatial > 3 || w.rank() != x.rank()) {
    return n.Unsupported("expected 1 to 3 spatial dims and a weight of the input's rank");
  }
  std::vector<int64_t> kernel = n.Ints("kernel_shape", KernelOf(w));
  const std::vector<int64_t> ones(spatial, 1), zeros(spatial, 0);
  const std::vector<int64_t> strides = n.Ints("strides", ones),
                             dilations = n.Ints("dilations", ones);
  std::vector<int64_t> extra = n.Ints("output_padding", zeros);
  std::vector<int64_t> pads = n.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  std::vector<int64_t> shape = n.Ints("output_shape");
  if (shape.size() == spatial + 2) shape.erase(shape.begin(), shape.begin() + 2);
  if (kernel.size() != spatial || strides.size() != spatial || dilations.size() != spatial ||
      extra.size() != spatial || pads.size() != 2 * spatial ||
      (!shape.empty() && shape.size() != spatial)) {
    return n.Fail(fmt::format("expected attributes for {} spatial dims", spatial));
  }
  if (std::find_if(kernel.begin(), kernel.end(), [](int64_t k) { return k < 1; }) != kernel.end()) {
    return n.Fail(
        "expected a kernel_shape that is positive, and known: by kernel_shape or --shape "
        "where the weight's extents are open");
  }
  using Numbers = const std::vector<int64_t>*;
  for (Numbers numbers : {Numbers{&kernel}, Numbers{&strides}, Numbers{&dilations}, Numbers{&extra},
                          Numbers{&pads}, Numbers{&shape}}) {
    for (int64_t v : *numbers) {
      if (v < -INT32_MAX || v > INT32_MAX) return n.Fail("an attribute is out of range");
    }
  }
  const std::string mode = n.String("auto_pad", "NOTSET");
  std::vector<int64_t> total(spatial);
  const auto reach = [&](size_t i) { return (kernel[i] - 1) * dilations[i] + 1; };
  std::vector<int64_t> open_to(spatial);  // the extents asked for where the input's are open
  if (!shape.empty()) {
    for (size_t i = 0; i < spatial; ++i) {
      const Dim extent = x.dim(static_cast<int>(i) + 2);
      if (shape[i] < 1)
        return n.Fail(fmt::format("output_shape: expected 1 or more, found {}", shape[i]));
      if (!extent.is_const()) {
        open_to[i] = shape[i];
        continue;
      }
      int64_t last = 0;
      if (__builtin_mul_overflow(strides[i], extent.value() - 1, &last) ||
          __builtin_add_overflow(last, extra[i] - shape[i], &last) ||
          __builtin_add_overflow(last, reach(i), &total[i])) {
        return n.Fail("output_shape: the extents are too large");
      }
    }
    pads = SplitPads(n, total);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    // The result is the input times the stride, whatever that is.
    for (size_t i = 0; i < spatial; ++i) total[i] = reach(i) + extra[i] - strides[i];
    pads = SplitPads(n, total);
  } else if (mode == "VALID") {
    pads.assign(2 * spatial, 0);
  }
  AttrList widen = {AttrList{0, 0}, AttrList{0, 0}};
  bool widens = false;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t& before = pads[i];
    int64_t& after = pads[i + spatial];
    widen.emplace_back(AttrList{std::max<int64_t>(-before, 0), std::max<int64_t>(-after, 0)});
    widens |= before < 0 || after < 0;
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
  }
  const int64_t groups = n.Int("group", 1);
  int64_t channels = 0;
  if (groups < 1 || groups > INT32_MAX ||
      (w.dim(1).is_const() && __builtin_mul_overflow(w.dim(1).value(), groups, &channels))) {
    return n.Fail(fmt::format("group: expected 1 or more, found {}", groups));
  }
  Value y = b.Op(fmt::format("nn.conv{}d_transpose", spatial), {x, w},
                 {{"strides", ListOf(strides)},
                  {"padding", ListOf(pads)},
                  {"dilation", ListOf(dilations)},
                  {"output_padding", ListOf(extra)},
                  {"groups", groups},
                  {"channels", channels},
                  {"kernel_size", ListOf(kernel)},
                  {"data_layout", std::string(kLayouts[spatial - 1])},
                  {"kernel_layout", std::string(kTransposedLayouts[spatial - 1])}});
  if (widens) y = b.Op("nn.pad", {y, Like(n, y, 0)}, {{"pad_width", widen}});
  if (std::any_of(open_to.begin(), open_to.end(), [](int64_t e) { return e != 0; }))
    y = WithExtents(n, y, open_to);
  return {AddBias(n, y, 2)};
}

// Zeros but for the values, which go where a MaxPool took them from.
Outputs MaxUnpool(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  Value data = x;
  auto window = ReadWindow(n, data, n.Ints("kernel_shape"));
  if (window) window = Fitted(b, data, *window);
  if (!window) return {};
  const size_t spatial = window->kernel.size();
  std::vector<Value> dims = {b.DimOf(x, 0), b.DimOf(x, 1)};
  for (size_t i = 0; i < spatial; ++i) {
    const Term extent(b, b.DimOf(x, static_cast<int>(i) + 2));
    dims.push_back(
        (extent - 1) * static_cast<double>(window->strides[i]) +
        static_cast<double>(window->kernel[i] - window->pads[i] - window->pads[i + spatial]));
  }
  const Term shape(b, b.Concat(dims, 0));
  const Value size = shape.Over("prod", {0});
  const Value flat = Filled(b, 0, x.dtype(), size);
  const Value places = Below({n, 1, "indices"}, b.Reshape(n.Input(1), {-1}), size);
  const Value all = b.Op("scatter_elements", {flat, places, b.Reshape(x, {-1})}, {{"axis", 0}});
  const Value y = ShapedAs(b, all, {shape});
  if (!n.Has(2)) return {y};
  // Positions are those of the smallest shape; the rest is at the end.
  const Term wanted = Term(n, 2).As(DType::kInt64);
  const Term after = wanted - shape;
  const Value width = b.Concat({(after * 0.0).Expand(1), after.Expand(1)}, 1);
  return {b.Op("dyn.nn.pad", {y, width, Like(n, y, 0)}, {{"pad_mode", "constant"}})};
}

// (sum |x|^p)^(1/p) over axes.
Term Norm(const Term& x, double p, const std::vector<int64_t>& axes, bool keep) {
  if (p == 1) return Abs(x).Over("sum", axes, keep);
  if (p == 2) return Sqrt((x * x).Over("sum", axes, keep));
  const Term sum = Abs(x).Call("power", x.Number(p)).Over("sum", axes, keep);
  return sum.Call("power", sum.Number(1 / p));
}

Outputs LpPool(NodeContext& n) {
  Value x = n.Input(0);
  auto window = ReadWindow(n, x, n.Ints("kernel_shape"));
  if (window) window = Fitted(n, x, *window, 0);
  if (!window || !FewTaps(n, *window)) return {};
  const auto spatial = static_cast<int64_t>(window->kernel.size());
  const PoolSpec spec{.window = *window, .ceil = n.Int("ceil_mode", 0) != 0};
  return {Norm(WindowsOf({n.b(), x}, spec, 0).values, static_cast<double>(n.Int("p", 2)),
               Iota(spatial, 2 + spatial), false)};
}

Outputs GlobalLpPool(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 3) return n.Fail("expected an input of rank 3 or more");
  return {Norm(x, static_cast<double>(n.Int("p", 2)), Iota(x.rank() - 2, 2), true)};
}

// Col2Im where the extents of the picture or of the blocks are computed.
Outputs Col2ImBy(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto axes = CountOf(n, n.Input(1), "image_shape");
  const auto block_axes = CountOf(n, n.Input(2), "block_shape");
  if (!axes || !block_axes) return {};
  const auto spatial = static_cast<size_t>(*axes);
  const std::vector<int64_t> ones(spatial, 1);
  const std::vector<int64_t> strides = n.Ints("strides", ones),
                             dilations = n.Ints("dilations", ones);
  const std::vector<int64_t> pads = n.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  if (x.rank() != 3 || spatial < 1 || *block_axes != *axes || strides.size() != spatial ||
      dilations.size() != spatial || pads.size() != 2 * spatial) {
    return n.Fail("image_shape, block_shape, strides, dilations and pads differ in length");
  }
  // Extents are so small that the number of elements is a number.
  const int64_t most = int64_t{1} << std::min<int64_t>(24, 48 / *axes);
  std::vector<int64_t> around;
  for (size_t i = 0; i < spatial; ++i) {
    for (const int64_t v : {strides[i] - 1, dilations[i] - 1, pads[i], pads[i + spatial]}) {
      if (v < 0 || v > most) return n.Fail("a stride, dilation or pad is out of range");
    }
    around.push_back(pads[i] + pads[i + spatial]);
  }
  const auto each = [&](int64_t v) { return b.Ints(std::vector<int64_t>(spatial, v)); };
  const Term block =
      Checked({n, 2, "block_shape"}, b.Cast(n.Input(2), DType::kInt64), 1, each(most));
  const Term reach = (block - 1) * Term(b, b.Ints(dilations)) + 1;
  const Term image =
      Checked({n, 1, "image_shape"}, b.Cast(n.Input(1), DType::kInt64),
              Maximum(reach - Term(b, b.Ints(around)), Term(b, each(0))), each(most));
  const auto at = [&](const Term& v, size_t i) {
    return v.Take(b.Int(static_cast<int64_t>(i)), 0);
  };
  // Where each tap of each window lies in the padded picture, (taps, windows).
  std::optional<Term> place;
  Term taps(b, b.Ints({1})), windows = taps, size = taps;
  std::vector<Value> begins = {b.Ints({0, 0})}, ends = {b.Ints({INT64_MAX, INT64_MAX})}, dims;
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
    begins.push_back(b.Ints({pads[i]}));
    ends.push_back((at(image, i) + static_cast<double>(pads[i])).Reshape({1}));
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
  const Value y = ShapedAs(b, sum, dims);
  const Value steps = b.Ints(std::vector<int64_t>(spatial + 2, 1));
  return {b.Op("dyn.strided_slice", {y, b.Concat(begins, 0), b.Concat(ends, 0), steps})};
}

// The picture whose windows are the columns: what overlaps is added.
Outputs Col2Im(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (!b.ConstantInts(n.Input(1)) || !b.ConstantInts(n.Input(2))) return Col2ImBy(n);
  const auto image = n.ConstantInts(1, "image_shape"), block = n.ConstantInts(2, "block_shape");
  if (!image || !block) return {};
  const size_t spatial = image->size();
  const std::vector<int64_t> ones(spatial, 1);
  const std::vector<int64_t> strides = n.Ints("strides", ones),
                             dilations = n.Ints("dilations", ones);
  const std::vector<int64_t> pads = n.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  if (x.rank() != 3 || spatial < 1 || block->size() != spatial || strides.size() != spatial ||
      dilations.size() != spatial || pads.size() != 2 * spatial) {
    return n.Fail("image_shape, block_shape, strides, dilations and pads differ in length");
  }
  // Where each tap of each window lies in the padded picture, (taps, windows).
  std::optional<Term> place;
  std::vector<int64_t> padded;
  int64_t taps = 1, size = 1;
  for (const auto* numbers : {&*image, &*block, &strides, &dilations, &pads}) {
    for (int64_t v : *numbers) {
      if (v < 0 || v > (1 << 24))
        return n.Fail("an extent, stride, dilation or pad is out of range");
    }
  }
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t extent = (*image)[i] + pads[i] + pads[i + spatial];
    const int64_t room = extent - ((*block)[i] - 1) * dilations[i] - 1;
    if ((*block)[i] < 1 || strides[i] < 1 || dilations[i] < 1 || pads[i] < 0 ||
        pads[i + spatial] < 0 || room < 0 || extent > (1 << 24) || size > (1 << 28)) {
      return n.Fail("the blocks do not fit the image");
    }
    padded.push_back(extent);
    taps *= (*block)[i];
    size *= extent;
    const Term tap = Term(b, b.Ints(Iota((*block)[i]))) * static_cast<double>(dilations[i]);
    const Term window =
        Term(b, b.Ints(Iota(room / strides[i] + 1))) * static_cast<double>(strides[i]);
    Term here = tap.Expand(1) + window;
    if (place) {
      // (t, w) with (t', w'): row-major in both.
      const Term outer = (*place * static_cast<double>(extent)).Expand(1).Expand(3);
      const Term both = outer + here.Expand(0).Expand(2);
      here = both.Reshape({taps, -1});
    }
    place = here;
  }
  const Value rows = ProductOfDims(b, x, 0, 1);
  const Term channels = Term(b, b.DimOf(x, 1)) / static_cast<double>(taps);
  const Term lines(b, b.Op("multiply", {rows, channels}));
  const Term data(b, ShapedAs(b, x, {lines, Term(b, b.DimOf(x, 2)) * static_cast<double>(taps)}));
  const Value index =
      b.Op("dyn.broadcast_to", {place->Reshape({1, -1}), b.Concat({lines, b.DimOf(data, 1)}, 0)});
  const Value zeros = Filled(b, 0, x.dtype(), b.Concat({lines, b.Ints({size})}, 0));
  const Value sum =
      b.Op("scatter_elements", {zeros, index, data}, {{"axis", 1}, {"reduction", "add"}});
  Term y(b, ShapedAs(b, sum, {rows, channels, b.Ints(padded)}));
  for (size_t i = 0; i < spatial; ++i) {
    y = y.Slice(static_cast<int64_t>(i) + 2, pads[i], pads[i] + (*image)[i]);
  }
  return {y};
}

constexpr OperatorDef kPoolOperators[] = {
    {"Col2Im", 3, 3, Col2Im, 18},         {"ConvTranspose", 2, 3, ConvTranspose},
    {"GlobalLpPool", 1, 1, GlobalLpPool}, {"LpPool", 1, 1, LpPool},
    {"MaxUnpool", 2, 3, MaxUnpool, 9},
};

}  // namespace

std::span<const OperatorDef> PoolOperators() { return kPoolOperators; }

}  // namespace relayvm::import
