// Regions of pictures and pictures sampled between pixels: pools of regions, proposals of them,
// grids, deformable convolutions, correlations, windows as columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/resize.h"
#include "compiler/import/mxnet/boxes.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"
#include "compiler/import/mxnet/window.h"

namespace relayvm::import::mxnet {

namespace {

// --- Regions ---

// (picture, left, top, right, bottom) of each region.
bool AreRegions(Node& n) {
  return n.ExpectRank(n.Input(0), 4, "data") && n.ExpectRank(n.Input(1), 2, "rois");
}
std::optional<std::vector<int64_t>> PooledSize(Node& n) {
  std::vector<int64_t> size = n.Counts("pooled_size");
  if (size.size() == 1) size.push_back(size[0]);
  if (size.size() == 2 && size[0] > 0 && size[1] > 0) return size;
  return n.Fail("attribute pooled_size: expected two numbers above 0");
}

// Of channels c * height * width, of which each place of the result takes its own: (regions, c *
// height * width, height, width) as (regions, c, height, width).
Value OwnChannels(TypedBuilder& b, const Value& all, const std::vector<int64_t>& size) {
  const int64_t places = size[0] * size[1];
  const Term split(b, ShapedAs(b, all, {b.DimOf(all, 0), b.Ints({-1}), b.Ints({places, places})}));
  const Term own = Diagonal(split, 0, 2, 3);  // (regions, c, places)
  return ShapedAs(b, own, {b.DimOf(own, 0), b.DimOf(own, 1), b.Ints(size)});
}

Outputs RoiAlign(Node& n) {
  const auto size = AreRegions(n) ? PooledSize(n) : std::nullopt;
  if (!size) return {};
  const Value all = n.b().Op("vision.roi_align", {n.Input(0), n.Input(1)},
                             {{"pooled_size", ListOf(*size)},
                              {"spatial_scale", n.Float("spatial_scale", 1)},
                              {"sample_ratio", n.Counts("sample_ratio", {-1})[0]},
                              {"layout", "NCHW"},
                              {"mode", "avg"},
                              {"aligned", n.Bool("aligned", false)}});
  if (!n.b().status().ok()) return {};
  return {n.Bool("position_sensitive", false) ? OwnChannels(n, all, *size) : all};
}
Outputs RoiPooling(Node& n) {
  const auto size = AreRegions(n) ? PooledSize(n) : std::nullopt;
  if (!size) return {};
  return {
      n.b().Op("vision.roi_pool", {n.Input(0), n.Input(1)},
               {{"pooled_size", ListOf(*size)}, {"spatial_scale", n.Float("spatial_scale", 1)}})};
}

// Sums of the data up to each row and column: a sum over a rectangle is four of them.
Term SumsUpTo(const Term& x) {
  TypedBuilder& b = x.b();
  Term sums = x.As(DType::kFloat64);
  for (const int axis : {2, 3}) {
    const Term zero = sums.Slice(axis, 0, 1) * 0.0;
    sums = Term(b, b.Concat({zero, sums.Call("cumsum", {{"axis", axis}})}, axis));
  }
  return sums;
}
// Averages over parts of regions, each of its own channels.
Outputs PsRoiPooling(Node& n) {
  TypedBuilder& b = n.b();
  if (!AreRegions(n)) return {};
  const Term x(n, 0), rois(n, 1);
  const int64_t pooled = n.Count("pooled_size", 1), given = n.Count("group_size", 0),
                groups = given == 0 ? pooled : given, channels = n.Count("output_dim", 1);
  constexpr int64_t kMost = 1 << 10;
  if (pooled < 1 || pooled > kMost || groups < 1 || groups > kMost || channels < 1)
    return n.Fail("expected pooled_size, group_size and output_dim above 0");
  const double scale = n.Float("spatial_scale", 1);
  const auto bound = [&](int64_t k, double more) {
    return ((rois.Slice(1, k, k + 1).Call("round") + more) * scale).Reshape({-1});
  };
  const Term part(b, b.Ints(Iota(pooled)));
  // First and last of the rows (or columns) of each part: (regions, parts).
  const auto bins = [&](int64_t low, int64_t high, int axis) {
    const Term start = bound(low, 0), end = bound(high, 1);
    const Term size = Maximum(end - start, start.Number(0.1)) / static_cast<double>(pooled);
    const Term at = part.As(rois.dtype()).Expand(0);
    const Term limit = Extent(b, x, axis).As(rois.dtype());
    const auto inside = [&](const Term& v) {
      return Minimum(Maximum(v, v.Number(0)), limit).As(DType::kInt64);
    };
    return std::pair{inside(Floor(at * size.Expand(1) + start.Expand(1))),
                     inside(((at + 1) * size.Expand(1) + start.Expand(1)).Call("ceil"))};
  };
  const auto [top, bottom] = bins(2, 4, 2);
  const auto [left, right] = bins(1, 3, 3);
  const Term sums = SumsUpTo(x);
  // (regions, channels, rows, columns): indices into all of the sums.
  const Term picture = rois.Slice(1, 0, 1).As(DType::kInt64).Expand(2, 2);
  const Term group = (part * static_cast<double>(groups))
                         .Call("floor_divide", part.Number(static_cast<double>(pooled)));
  const Term channel = (Term(b, b.Ints(Iota(channels))).Expand(1, 2) * static_cast<double>(groups) +
                        group.Expand(1)) *
                           static_cast<double>(groups) +
                       group;
  const Term height = Extent(b, sums, 2), width = Extent(b, sums, 3);
  const Term plane = (picture * Extent(b, x, 1) + channel.Expand(0)) * height;
  const Term flat = sums.Reshape({-1});
  const auto at = [&](const Term& row, const Term& column) {
    return flat.Take((plane + row.Expand(2).Expand(1)) * width + column.Expand(1, 2), 0);
  };
  const Term sum = at(bottom, right) - at(top, right) - at(bottom, left) + at(top, left);
  const Term area = ((bottom - top).Expand(2) * (right - left).Expand(1)).Expand(1).As(sum.dtype());
  const Term some = area > 0;
  return {Select(some, sum / Select(some, area, area.Number(1)), sum.Number(0)).As(x.dtype())};
}

// --- Proposals ---

// Corners of the boxes around a picture's first pixel, 4 numbers each.
std::vector<double> BaseAnchors(double stride, const std::vector<double>& ratios,
                                const std::vector<double>& scales) {
  std::vector<double> out;
  for (const double ratio : ratios) {
    for (const double scale : scales) {
      const double width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5) * scale;
      const double height = std::floor(width / scale * ratio + 0.5) * scale;
      const double centre = 0.5 * (stride - 1);
      out.insert(out.end(), {centre - 0.5 * (width - 1), centre - 0.5 * (height - 1),
                             centre + 0.5 * (width - 1), centre + 0.5 * (height - 1)});
    }
  }
  return out;
}
Term Edge(const Term& v, int64_t k) { return v.Slice(v.rank() - 1, k, k + 1); }
Term Edges(const Term& left, const Term& top, const Term& right, const Term& bottom) {
  TypedBuilder& b = left.b();
  return {b, b.Concat({left, top, right, bottom}, left.rank() - 1)};
}

struct ProposalSpec {
  std::vector<double> scales, ratios;
  double stride, least, threshold;
  int64_t before, after;  // so many boxes are looked at, and given
  bool iou_loss;

  int64_t anchors() const { return static_cast<int64_t>(scales.size() * ratios.size()); }
};

// (batch, rows * columns * anchors, 4): anchors moved by the predictions and cut at the picture.
Term ProposedBoxes(Node& n, const ProposalSpec& spec, const Term& info) {
  TypedBuilder& b = n.b();
  const Term moves(n, 1);
  const int64_t anchors = spec.anchors();
  const Term base = Table(b, BaseAnchors(spec.stride, spec.ratios, spec.scales), {anchors, 4});
  const Term zero = base.Number(0);
  const auto shift = [&](int axis) {
    return RangeOf(b, moves, axis).As(DType::kFloat32) * spec.stride;
  };
  const Term y = shift(2).Expand(1, 3), x = shift(3).Expand(1, 2);  // (h, 1, 1, 1), (w, 1, 1)
  const Term offset = Edges(zero * y + x, y + zero * x, zero * y + x, y + zero * x);
  const Term anchor = (base + offset).Expand(0);  // (1, h, w, anchors, 4)
  const Term split(
      b, ShapedAs(b, moves,
                  {b.DimOf(moves, 0), b.Ints({anchors, 4}), b.DimOf(moves, 2), b.DimOf(moves, 3)}));
  const Term move = split.Transpose({0, 3, 4, 1, 2});
  Term boxes = anchor;
  if (spec.iou_loss) {
    boxes = anchor + move;
  } else {
    const Term w = Edge(anchor, 2) - Edge(anchor, 0) + 1, h = Edge(anchor, 3) - Edge(anchor, 1) + 1;
    const Term cx = Edge(anchor, 0) + (w - 1) * 0.5 + Edge(move, 0) * w,
               cy = Edge(anchor, 1) + (h - 1) * 0.5 + Edge(move, 1) * h;
    const Term rx = (Exp(Edge(move, 2)) * w - 1) * 0.5, ry = (Exp(Edge(move, 3)) * h - 1) * 0.5;
    boxes = Edges(cx - rx, cy - ry, cx + rx, cy + ry);
  }
  const Term height = info.Slice(1, 0, 1).Expand(1, 3) - 1,
             width = info.Slice(1, 1, 2).Expand(1, 3) - 1;
  const Term most = Edges(width, height, width, height);
  boxes = Maximum(Minimum(boxes, most), boxes.Number(0));
  return {b, ShapedAs(b, boxes, {b.DimOf(moves, 0), b.Ints({-1, 4})})};
}

std::optional<ProposalSpec> ReadProposal(Node& n) {
  ProposalSpec spec{n.Floats("scales", {4, 8, 16, 32}),
                    n.Floats("ratios", {0.5, 1, 2}),
                    static_cast<double>(n.Count("feature_stride", 16)),
                    static_cast<double>(n.Int("rpn_min_size", 16)),
                    n.Float("threshold", 0.7),
                    n.Counts("rpn_pre_nms_top_n", {6000})[0],
                    n.Count("rpn_post_nms_top_n", 300),
                    n.Bool("iou_loss", false)};
  constexpr size_t kMost = 1000;
  if (spec.scales.empty() || spec.ratios.empty() || spec.scales.size() > kMost ||
      spec.ratios.size() > kMost || spec.stride < 1 || spec.after < 1) {
    return n.Fail("expected scales, ratios, a stride and a number of boxes above 0");
  }
  if (!n.ExpectRank(n.Input(0), 4, "cls_prob") || !n.ExpectRank(n.Input(1), 4, "bbox_pred") ||
      !n.ExpectRank(n.Input(2), 2, "im_info") ||
      !n.FitsShape(n.Input(1), {Dim::Any(), Dim(4 * spec.anchors()), Dim::Any(), Dim::Any()},
                   "bbox_pred")) {
    return std::nullopt;
  }
  return spec;
}

// The best boxes of each picture that do not overlap better ones much, and their scores. Where
// there are fewer than asked for they come again.
Outputs Proposal(Node& n) {
  TypedBuilder& b = n.b();
  const auto spec = ReadProposal(n);
  if (!spec) return {};
  const Term info(n, 2), probabilities(n, 0);
  Term boxes = ProposedBoxes(n, *spec, info);
  const Term front = probabilities.Slice(1, spec->anchors(), INT64_MAX).Transpose({0, 2, 3, 1});
  // What lies in the padding of the picture does not count.
  const auto within = [&](int64_t k, int axis) {
    const Term real = Floor(info.Slice(1, k, k + 1) / spec->stride);
    return RangeOf(b, probabilities, axis).As(DType::kFloat32).Expand(0) < real;
  };
  const Term inside = And(within(0, 2).Expand(2), within(1, 3).Expand(1)).Expand(3);
  const Term spread = Select(inside, front, front.Number(-1));
  Term scores(b, ShapedAs(b, spread, {b.DimOf(spread, 0), b.Ints({-1})}));
  const Term least = info.Slice(1, 2, 3).Expand(1) * spec->least;
  const Term small =
      Or(Edge(boxes, 2) - Edge(boxes, 0) + 1 < least, Edge(boxes, 3) - Edge(boxes, 1) + 1 < least);
  const Term grown = Edges(-least, -least, least, least) * 0.5;
  boxes = Select(small, boxes + grown, boxes);
  scores = Select(small.Call("squeeze", {{"axis", AttrList{2}}}), scores.Number(-1), scores);
  Term order = BestFirst(scores);
  if (spec->before > 0) order = order.Slice(1, 0, spec->before);
  const Term sorted = RowsAt(boxes, order), ranked = RowsAt(scores.Expand(2), order);
  const Term all = (Edge(sorted, 0) * 0.0 + 1.0).Over("sum", {1, 2}, false);
  // Of pixels: a box's last one is part of it.
  const Term one = Table(b, {0, 0, 1, 1}, {4});
  const Term kept = KeptInOrder({sorted + one, std::nullopt, all, JustAbove(spec->threshold)});
  const Term first = BestFirst(kept.As(DType::kFloat32));
  const Term found = Maximum(kept.As(DType::kInt64).Over("sum", {1}), Term(b, b.Int(1)));
  const Term place = Term(b, b.Ints(Iota(spec->after))).Expand(0).Call("floor_mod", found);
  const Term at = first.Call("gather", place, {{"axis", 1}});
  const Term chosen = RowsAt(sorted, at);
  const Term picture =
      RangeOf(b, chosen, 0).As(DType::kFloat32).Expand(1, 2) + Edge(chosen, 0) * 0.0;
  const Term rois(b, b.Concat({picture, chosen}, 2));
  return {ShapedAs(b, rois, {b.Ints({-1, 5})}), ShapedAs(b, RowsAt(ranked, at), {b.Ints({-1, 1})})};
}

// --- Grids ---

// Positions from -1 to 1, (batch, 2, height, width), x first.
Outputs GridGenerator(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (n.Choice("transform_type", "affine", {"affine", "warp"}) == "affine") {
    const std::vector<int64_t> size = n.Counts("target_shape", {0, 0});
    if (size.size() != 2 || size[0] < 1 || size[1] < 1)
      return n.Fail("attribute target_shape: expected two numbers above 0");
    const Value theta = ShapedAs(b, x, {b.Ints({-1, 2, 3})});
    return {b.Op("image.affine_grid", {theta}, {{"target_shape", ListOf(size)}})};
  }
  // Pixels moved by the data.
  if (!n.ExpectRank(x, 4, "data")) return {};
  const auto along = [&](int64_t k, int axis) {
    const Term at = Along(RangeOf(b, x, axis).As(x.dtype()), axis, 4);
    const Term half = (Extent(b, x, axis).As(x.dtype()) - 1) / 2;
    return (x.Slice(1, k, k + 1) + at) / half - 1;
  };
  return {b.Concat({along(0, 3), along(1, 2)}, 1)};
}
Value SampledAt(TypedBuilder& b, const Value& x, const Value& grid) {
  return b.Op("image.grid_sample", {x, grid},
              {{"method", "bilinear"},
               {"layout", "NCHW"},
               {"padding_mode", "zeros"},
               {"align_corners", true}});
}
Outputs BilinearSampler(Node& n) {
  if (!n.ExpectRank(n.Input(0), 4, "data") || !n.ExpectRank(n.Input(1), 4, "grid")) return {};
  return {SampledAt(n, n.Input(0), n.Input(1))};
}
Outputs SpatialTransformer(Node& n) {
  if (!n.ExpectRank(n.Input(0), 4, "data")) return {};
  const Outputs grid = n.As("GridGenerator", {n.Input(1)});
  return grid.empty() ? grid : Outputs{SampledAt(n, n.Input(0), grid[0])};
}

// --- Deformable convolutions ---

// The data at each tap of each place, moved by the offsets (rows and columns in turn): (batch,
// channels, taps, height, width). What lies outside is 0; `sharp`: from the edge pixel's centre
// on at the start, and behind the last one's it is that one up to a pixel further.
Term Taps(Node& n, const Term& x, const Term& offset, const Window& w, int64_t sets, bool sharp) {
  TypedBuilder& b = n.b();
  const int64_t taps = w.kernel[0] * w.kernel[1];
  const Term moved(
      b, ShapedAs(b, offset, {b.Ints({-1, taps, 2}), b.DimOf(offset, 2), b.DimOf(offset, 3)}));
  // Along one spatial dim: where a tap is without its offset, (taps, height, width), and relative
  // to the picture from -1 to 1.
  const auto along = [&](size_t i) {
    const int axis = static_cast<int>(i) + 2;
    std::vector<double> steps;
    for (int64_t t = 0; t < taps; ++t)
      steps.push_back(
          static_cast<double>((i == 0 ? t / w.kernel[1] : t % w.kernel[1]) * w.dilations[i]));
    const Term tap = Table(b, steps, {taps, 1, 1}) - static_cast<double>(w.pads[i]);
    const Term place =
        RangeOf(b, offset, axis).As(DType::kFloat32) * static_cast<double>(w.strides[i]);
    const Term at = tap + (i == 0 ? place.Expand(1) : place) +
                    moved.Slice(2, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1)
                        .Call("squeeze", {{"axis", AttrList{2}}});
    const Term last = Extent(b, x, axis).As(DType::kFloat32) - 1;
    const Term half = Maximum(last, at.Number(1)) / 2;
    if (!sharp) return at / half - 1;
    const Term outside = Or(at < 0, at >= last + 1);
    return Select(outside, at.Number(-9), Minimum(at, last) / half - 1);
  };
  const Term rows = along(0), columns = along(1);  // (batch * sets, taps, height, width)
  const auto flat = [&](const Term& v) {
    return ShapedAs(b, v, {b.DimOf(v, 0), b.Ints({1, -1}), b.DimOf(v, 3)});
  };
  const Value grid = b.Concat({flat(columns), flat(rows)}, 1);
  const Value planes = ShapedAs(b, x,
                                {Term(b, b.DimOf(x, 0)) * static_cast<double>(sets), b.Ints({-1}),
                                 b.DimOf(x, 2), b.DimOf(x, 3)});
  return {b, ShapedAs(b, SampledAt(b, planes, grid),
                      {b.DimOf(x, 0), b.DimOf(x, 1), b.Ints({taps}), b.DimOf(offset, 2),
                       b.DimOf(offset, 3)})};
}
// `mask`: which input weighs the taps, 0: none.
Outputs DeformableConv(Node& n, size_t mask) {
  TypedBuilder& b = n.b();
  const size_t weight = mask == 0 ? 2 : 3;
  const Term x(n, 0), offset(n, 1), w(n, weight);
  const auto window = ReadWindow(n);
  if (!window || !n.ExpectRank(x, 4, "data") || !n.ExpectRank(offset, 4, "offset") ||
      !n.ExpectRank(w, 4, "weight")) {
    return {};
  }
  if (!FewTaps(n, *window)) return {};
  const int64_t sets = n.Count("num_deformable_group", 1), groups = n.Count("num_group", 1),
                taps = window->kernel[0] * window->kernel[1];
  const Dim outs = w.value().dim(0), ins = x.value().dim(1);
  if (sets < 1 || groups < 1 || !outs.is_const() || outs.value() % groups != 0 ||
      (ins.is_const() && ins.value() % sets != 0)) {
    return n.Fail("expected groups that divide the channels, which must be known");
  }
  Term sampled = Taps(n, x, offset, *window, sets, mask == 0);
  if (mask != 0) {
    const Term weights(b, ShapedAs(b, n.Input(mask),
                                   {b.DimOf(x, 0), b.Ints({sets, 1, taps}), b.DimOf(offset, 2),
                                    b.DimOf(offset, 3)}));
    const Term split(b, ShapedAs(b, sampled,
                                 {b.DimOf(x, 0), b.Ints({sets, -1, taps}), b.DimOf(offset, 2),
                                  b.DimOf(offset, 3)}));
    sampled = split * weights;
  }
  // A product for each group: (batch, groups, outputs, places).
  const Term columns(b,
                     ShapedAs(b, sampled,
                              {b.DimOf(x, 0), b.Ints({groups}),
                               Term(b, b.DimOf(w, 1)) * static_cast<double>(taps), b.Ints({-1})}));
  const Term matrix(b, ShapedAs(b, w, {b.Ints({1, groups, outs.value() / groups, -1})}));
  const Value product = MatMulOf(b, matrix, columns);
  const Value y = ShapedAs(
      b, product, {b.DimOf(x, 0), b.Ints({outs.value()}), b.DimOf(offset, 2), b.DimOf(offset, 3)});
  return {WithBias(n, y, weight + 1, *window)};
}
Outputs Deformable(Node& n) { return DeformableConv(n, 0); }
Outputs Modulated(Node& n) { return DeformableConv(n, 2); }

// --- Windows ---

Outputs Correlation(Node& n) {
  if (!n.ExpectRank(n.Input(0), 4, "data1") || !n.ExpectRank(n.Input(1), 4, "data2")) return {};
  const int64_t pad = n.Count("pad_size", 0);
  return {n.b().Op("nn.correlation", n.inputs(),
                   {{"kernel_size", n.Count("kernel_size", 1)},
                    {"max_displacement", n.Count("max_displacement", 1)},
                    {"stride1", n.Count("stride1", 1)},
                    {"stride2", n.Count("stride2", 1)},
                    {"padding", AttrList{pad, pad, pad, pad}},
                    {"is_multiply", n.Bool("is_multiply", true)},
                    {"layout", "NCHW"}})};
}
// Each window as a column: (batch, channels * taps, windows).
Outputs Im2Col(Node& n) {
  TypedBuilder& b = n.b();
  const auto window = ReadWindow(n);
  if (!window || !FewTaps(n, *window)) return {};
  const Term x(n, 0);
  const int spatial = static_cast<int>(window->spatial());
  const Term windows = WindowsOf(x, {.window = *window}, 0).values;  // (n, c, o.., k..)
  std::vector<int64_t> axes = {0, 1};
  for (int i = 0; i < spatial; ++i) axes.push_back(2 + spatial + i);
  for (int i = 0; i < spatial; ++i) axes.push_back(2 + i);
  const Term moved = windows.Transpose(axes);
  return {
      ShapedAs(b, moved, {b.DimOf(x, 0), ProductOfDims(b, moved, 1, 2 + spatial), b.Ints({-1})})};
}
// The picture whose windows are the columns: what overlaps is added.
Outputs Col2Im(Node& n) {
  TypedBuilder& b = n.b();
  const std::vector<int64_t> image = n.Counts("output_size"), kernel = n.Counts("kernel");
  const std::vector<int64_t> ones(kernel.size(), 1), zeros(kernel.size(), 0);
  const auto each = [&](std::string_view name, const std::vector<int64_t>& fallback) {
    const std::vector<int64_t> v = n.Counts(name, fallback);
    return v.empty() ? fallback : v;
  };
  FoldSpec spec{each("stride", ones), each("dilate", ones), each("pad", zeros)};
  const std::vector<int64_t> pads = spec.pads;
  spec.pads.insert(spec.pads.end(), pads.begin(), pads.end());
  const auto y = Folded(Term(n, 0), InputName(b, b.Ints(image), "output_size"),
                        InputName(b, b.Ints(kernel), "kernel"), spec);
  return y ? Outputs{*y} : Outputs{};
}

constexpr OperatorDef kRegionOperators[] = {
    {"BilinearSampler", 2, 2, BilinearSampler},
    {"Correlation", 2, 2, Correlation},
    {"GridGenerator", 1, 1, GridGenerator},
    {"ROIPooling _npx_roi_pooling", 2, 2, RoiPooling},
    {"SpatialTransformer", 2, 2, SpatialTransformer},
    {"_contrib_DeformableConvolution", 3, 4, Deformable},
    {"_contrib_ModulatedDeformableConvolution", 4, 5, Modulated},
    {"_contrib_PSROIPooling", 2, 2, PsRoiPooling},
    {"_contrib_Proposal _contrib_MultiProposal", 3, 3, Proposal},
    {"_contrib_ROIAlign", 2, 2, RoiAlign},
    {"col2im", 1, 1, Col2Im},
    {"im2col", 1, 1, Im2Col},
};

}  // namespace

std::span<const OperatorDef> RegionOperators() { return kRegionOperators; }

}  // namespace relayvm::import::mxnet
