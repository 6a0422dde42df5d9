// Custom operators that files of detection and of MediaPipe have.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/nms.h"
#include "compiler/import/composite/window.h"
#include "compiler/import/tflite/flexbuffer.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

// --- TFLite_Detection_PostProcess: (boxes as offsets, scores, anchors) ---

struct Detections {
  int64_t most, per_class, classes, per_box;
  double score_threshold, iou_threshold;
  std::array<double, 4> scales;  // of y, x, height, width
  bool regular;
};

std::optional<Detections> DetectionOptions(NodeContext& n) {
  const auto map = FlexMap::Read(n.CustomOptions());
  if (!map.ok()) return n.Fail(map.status().message());
  Detections d{map->Int("max_detections", 0),
               map->Int("detections_per_class", 100),
               map->Int("num_classes", 0),
               map->Int("max_classes_per_detection", 1),
               map->Float("nms_score_threshold", 0),
               map->Float("nms_iou_threshold", 0),
               {map->Float("y_scale", 1), map->Float("x_scale", 1), map->Float("h_scale", 1),
                map->Float("w_scale", 1)},
               map->Bool("use_regular_nms", false)};
  constexpr int64_t kMost = 1 << 20;
  if (d.most < 1 || d.most > kMost || d.classes < 1 || d.classes > kMost || d.per_class < 1 ||
      d.per_box < 1) {
    return n.Fail("max_detections {}, num_classes {}, detections_per_class {}", d.most, d.classes,
                  d.per_class);
  }
  return d;
}

// Corners (boxes, 4): y and x of the least, then of the greatest.
Value DecodedBoxes(NodeContext& n, const Detections& d) {
  TypedBuilder& b = n.b();
  const Term offsets(b, b.Squeeze(RealOf(b, n.Input(0), n.In(0)), {0}));
  const Term anchors = RealOf(b, n.Input(2), n.In(2));
  const auto column = [](const Term& v, int64_t i) { return v.Slice(1, i, i + 1); };
  std::vector<Value> low, high;
  for (int64_t i = 0; i < 2; ++i) {
    const auto k = static_cast<size_t>(i);
    const Term size = column(anchors, i + 2);
    const Term centre = column(offsets, i) / d.scales[k] * size + column(anchors, i);
    const Term half = Exp(column(offsets, i + 2) / d.scales[k + 2]) * size * 0.5;
    low.push_back(centre - half);
    high.push_back(centre + half);
  }
  return b.Concat({low[0], low[1], high[0], high[1]}, 1);
}

// The first rows of what was found, zeros behind them: `rows` of each, in one order.
struct Chosen {
  Term boxes, classes, scores, count;
};
Outputs PaddedRows(NodeContext& n, const Chosen& c, int64_t most) {
  TypedBuilder& b = n.b();
  const Term places(b, b.Ints(Iota(most)));
  const Term found = c.count, inside = places < found;
  // Where nothing was found there is a row that is not taken.
  const auto rows = [&](const Term& v) {
    std::vector<Value> dims = {b.Ints({1})};
    for (int i = 1; i < v.rank(); ++i) dims.push_back(b.DimOf(v, i));
    const Value zeros = Filled(b, 0, v.dtype(), b.Concat(dims, 0));
    const Term more(b, b.Concat({v, zeros}, 0));
    const Term taken = more.Take(Minimum(places, Extent(b, v, 0)), 0);
    return Select(inside.Expand(1, v.rank() - 1), taken, taken.Number(0)).Expand(0);
  };
  const Term count = Minimum(found, found.Number(static_cast<double>(most)));
  return {rows(c.boxes), rows(c.classes.As(DType::kFloat32)), rows(c.scores),
          AsVector(count.As(DType::kFloat32))};
}

Outputs DetectionPostProcess(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto options = DetectionOptions(n);
  if (!options) return {};
  const Detections& d = *options;
  for (size_t i = 0; i < 2; ++i) {
    if (n.Input(i).rank() != 3 || !n.Input(i).dim(0).is_const(1))
      return n.Unsupported("expected boxes and scores of 3 dims, of one picture");
  }
  if (n.Input(2).rank() != 2 || !n.Input(1).dim(2).is_const() ||
      n.Input(1).dim(2).value() < d.classes) {
    return n.Fail("anchors or scores do not fit {} classes", d.classes);
  }
  const Term boxes(b, DecodedBoxes(n, d));
  const int64_t background = n.Input(1).dim(2).value() - d.classes;
  const Term scores =
      Term(b, b.Squeeze(RealOf(b, n.Input(1), n.In(1)), {0})).Slice(1, background, INT64_MAX);
  NmsSpec spec;
  spec.iou_threshold = b.Scalar(d.iou_threshold, DType::kFloat32);
  // Scores that are it count too.
  const auto threshold = static_cast<float>(d.score_threshold);
  spec.score_threshold =
      b.Scalar(static_cast<double>(std::nextafter(threshold, -INFINITY)), DType::kFloat32);
  if (!d.regular) {
    const Term best = scores.Over("max", {1}, false);
    spec.boxes = boxes;
    spec.scores = best;
    spec.most = b.Int(d.most);
    const Term kept(b, KeptBoxes(b, spec));
    const int64_t each = std::min(d.per_box, d.classes);
    Attrs attrs;
    attrs.Set("axis", 1);
    attrs.Set("k", AttrList{each});
    attrs.Set("ret_type", "both");
    attrs.Set("is_ascend", false);
    attrs.Set("dtype", "int64");
    const std::vector<Value> top = b.Fields(b.Op("topk", {scores.Take(kept, 0)}, attrs));
    if (top.size() != 2) return {};
    const Term repeated = each == 1 ? kept : kept.Call("repeat", {{"repeats", each}, {"axis", 0}});
    return PaddedRows(
        n,
        {boxes.Take(repeated, 0), Term(b, top[1]).Reshape({-1}), Term(b, top[0]).Reshape({-1}),
         Extent(b, kept, 0) * static_cast<double>(each)},
        d.most * each);
  }
  spec.boxes = boxes.Expand(0);
  spec.scores = scores.Transpose({1, 0}).Expand(0);
  spec.most = b.Int(d.per_class);
  const Term found(b, NonMaxSuppressed(b, spec));  // (found, 3)
  const auto column = [&](int64_t i) { return Term(b, b.Squeeze(found.Slice(1, i, i + 1), {1})); };
  const Term classes = column(1), places = column(2);
  const Term flat = scores.Reshape({-1});
  const Term of_found = flat.Take(places * static_cast<double>(d.classes) + classes, 0);
  const Term order =
      (-of_found).Call("argsort", {{"axis", 0}, {"is_ascend", true}, {"dtype", "int64"}});
  return PaddedRows(n,
                    {boxes.Take(places.Take(order, 0), 0), classes.Take(order, 0),
                     of_found.Take(order, 0), Extent(b, found, 0)},
                    d.most);
}

// --- MediaPipe's: their options are numbers of 32 bits one behind the other ---

std::optional<std::vector<int64_t>> RawNumbers(NodeContext& n, size_t count) {
  const std::string_view bytes = n.CustomOptions();
  if (bytes.size() < count * sizeof(int32_t)) {
    n.Fail("expected options of {} bytes or more, found {}", count * 4, bytes.size());
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    int32_t number = 0;
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
    numbers.push_back(number);
  }
  return numbers;
}

constexpr int64_t kSame = 1;  // of TensorFlow Lite's paddings there

// Padding, strides and extents of windows (width before height), activation.
std::optional<PoolSpec> RawPool(NodeContext& n) {
  const auto o = RawNumbers(n, 6);
  if (!o || n.Input(0).rank() != 4) return o ? n.Fail("expected 4 dims") : Failed();
  PoolSpec spec;
  spec.window.kernel = {(*o)[4], (*o)[3]};
  spec.window.strides = {(*o)[2], (*o)[1]};
  spec.window.dilations = {1, 1};
  spec.window.padding = (*o)[0] == kSame ? WindowPadding::kSameUpper : WindowPadding::kGiven;
  return spec;
}

// The greatest of each window, and its place in the window, and a tenth.
Outputs MaxPoolingWithArgmax(NodeContext& n) {
  TypedBuilder& b = n.b();
  auto spec = RawPool(n);
  if (!spec) return {};
  Value x = Term(n, 0).Transpose({0, 3, 1, 2});
  constexpr double kLeast = -3.4028234663852886e38;
  const auto window = Fitted(b, x, spec->window, kLeast);
  if (!window || !FewTaps(b, *window)) return {};
  spec->window = *window;
  const Term all = WindowsOf(Term(b, x), *spec, kLeast).values;  // (n, c, oh, ow, kh, kw)
  std::vector<Value> dims;
  for (int i = 0; i < 4; ++i) dims.push_back(b.DimOf(all, i));
  dims.push_back(b.Ints({window->kernel[0] * window->kernel[1]}));
  const Term taps(b, ShapedAs(b, all, dims));
  const std::vector<int64_t> back = {0, 2, 3, 1};
  const Term place = taps.Call("argmax", {{"axis", AttrList{4}}, {"keepdims", false}});
  return {taps.Over("max", {4}, false).Transpose(back),
          (place.As(DType::kFloat32) + 0.1).Transpose(back)};
}

Outputs MaxUnpooling(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto spec = RawPool(n);
  if (!spec) return {};
  const std::vector<int64_t>& k = spec->window.kernel;
  if (k != spec->window.strides || k[0] < 1 || k[1] < 1 || k[0] > 1024 || k[1] > 1024)
    return n.Unsupported("windows of {} by {} that are not one beside the other", k[0], k[1]);
  const Term x(n, 0), place = Term(n, 1).As(DType::kInt32);
  const Term taps(b, b.Ints(Iota(k[0] * k[1]), DType::kInt32));
  const Term spread = Select(Equal(place.Expand(4), taps), x.Expand(4), x.Number(0));
  std::vector<Value> d;
  for (int i = 0; i < 4; ++i) d.push_back(b.DimOf(x, i));
  const Value high = b.Ints({k[0]}), wide = b.Ints({k[1]});
  const Term split(b, ShapedAs(b, spread, {d[0], d[1], d[2], d[3], high, wide}));
  const Value turned = split.Transpose({0, 1, 4, 2, 5, 3});
  return {ShapedAs(b, turned,
                   {d[0], Term(b, d[1]) * static_cast<double>(k[0]),
                    Term(b, d[2]) * static_cast<double>(k[1]), d[3]})};
}

// (data, weights, bias)
Outputs TransposeConvBias(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto o = RawNumbers(n, 3);
  if (!o) return {};
  const Value x = n.Input(0), w = n.Input(1);
  if (x.rank() != 4 || w.rank() != 4) return n.Fail("expected data and weights of 4 dims");
  TransposedConvSpec spec;
  spec.window.strides = {(*o)[2], (*o)[1]};
  spec.window.dilations = {1, 1};
  spec.window.channels_last = true;
  std::array<int64_t, 2> total{};
  for (int i = 0; i < 2; ++i) {
    const Dim kernel = w.dim(1 + i), extent = x.dim(1 + i);
    const int64_t stride = spec.window.strides[static_cast<size_t>(i)];
    if (!kernel.is_const() || !extent.is_const() || stride < 1)
      return n.Unsupported("extents that are open");
    spec.window.kernel.push_back(kernel.value());
    if ((*o)[0] == kSame)
      total[static_cast<size_t>(i)] =
          std::max<int64_t>(0, kernel.value() - (extent.value() - 1) % stride - 1);
  }
  spec.window.pads = {total[0] / 2, total[1] / 2, total[0] - total[0] / 2, total[1] - total[1] / 2};
  const auto y = TransposedConv(b, x, b.Transpose(w, {3, 0, 1, 2}), spec);
  return y ? Outputs{b.Op("add", {*y, n.Input(2)})} : Outputs{};
}

}  // namespace

std::span<const OperatorDef> CustomOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::CUSTOM, 3, 3, DetectionPostProcess, Options::NONE, Options2::NONE,
       "TFLite_Detection_PostProcess"},
      {Code::CUSTOM, 1, 1, MaxPoolingWithArgmax, Options::NONE, Options2::NONE,
       "MaxPoolingWithArgmax2D"},
      {Code::CUSTOM, 2, 2, MaxUnpooling, Options::NONE, Options2::NONE, "MaxUnpooling2D"},
      {Code::CUSTOM, 3, 3, TransposeConvBias, Options::NONE, Options2::NONE,
       "Convolution2DTransposeBias"},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
