// Boxes, crops, colours, pictures seen through a projection.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/nms.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

Outputs CropAndResize(NodeContext& n) {
  const auto size = n.ConstantInts(3, "crop_size");
  if (!size) return {};
  if (n.Input(0).rank() != 4 || size->size() != 2 || (*size)[0] < 1 || (*size)[1] < 1)
    return n.Fail("expected pictures of rank 4 and a crop_size of two positive numbers");
  const Term pictures = Checked({n, 2, "box_ind"}, n.Input(2), 0, n.b().DimOf(n.Input(0), 0));
  const std::string method = n.String("method", "bilinear");
  return {n.b().Op("image.crop_and_resize", {Term(n, 0).As(DType::kFloat32), n.Input(1), pictures},
                   {{"crop_size", ListOf(*size)},
                    {"layout", "NHWC"},
                    {"method", method == "nearest" ? "nearest_neighbor" : method},
                    {"extrapolation_value", n.Float("extrapolation_value", 0)}})};
}

// --- Boxes that overlap better ones ---

// Those that ChosenOneByOne defines.
std::optional<ChosenBoxes> ChooseBest(
    NodeContext& n, const Term& scores, const Term& most, const Term& threshold,
    const std::function<Term(const Term&, const Term&)>& lowered) {
  const auto all = ChosenOneByOne(n.b(), scores, most, threshold, lowered);
  if (!all) return std::nullopt;
  const Term at = Range(all->count);
  return ChosenBoxes{all->places.Take(at, 0), all->scores.Take(at, 0), all->count};
}

Term Real(NodeContext& n, size_t i, double fallback) {
  if (!n.Has(i)) return {n.b(), n.b().Scalar(fallback, DType::kFloat32)};
  return AsScalar(Term(n, i)).As(DType::kFloat32);
}

// The chosen ones, and zeros up to the most that are asked for.
Term PaddedTo(const Term& v, const Term& most) {
  TypedBuilder& b = v.b();
  const Term rest = AsVector(most.As(DType::kInt64)) - Term(b, b.DimOf(v, 0));
  const Term y(b, PaddedBehind(b, v, Maximum(rest, rest.Number(0))));
  const auto known = b.ConstantInts(most);
  return known ? y.Reshape({(*known)[0]}) : y;
}

Outputs Suppressed(NodeContext& n, const Term& overlap, bool pads) {
  TypedBuilder& b = n.b();
  const Term boxes = Term(n, 0).As(DType::kFloat32), scores = Term(n, 1).As(DType::kFloat32);
  const Term most = AsScalar(Term(n, 2)), threshold = Real(n, 4, -HUGE_VAL);
  const auto sigma = n.Has(5) ? n.ConstantFloats(5, "soft_nms_sigma") : std::vector<double>{0};
  if (!sigma || sigma->size() != 1) return {};
  const bool soft = (*sigma)[0] > 0;
  std::optional<Term> places, chosen;
  if (soft) {
    const auto all = ChooseBest(n, scores, most, threshold, [&](const Term& at, const Term& now) {
      const Term common = OverlapsWith(boxes, at);
      return now * Exp(common * common * (-0.5 / (*sigma)[0]));
    });
    if (!all) return {};
    places = all->places;
    chosen = all->scores;
  } else {
    places = Term(b, KeptBoxes(n, {.boxes = boxes,
                                   .scores = scores,
                                   .most = most,
                                   .iou_threshold = overlap,
                                   .score_threshold = threshold}));
    if (!Ok(n)) return {};
    chosen = scores.Take(*places, 0);
  }
  const Term count = Extent(b, *places, 0).As(DType::kInt32);
  if (pads) {
    places = PaddedTo(*places, most);
    chosen = PaddedTo(*chosen, most);
  }
  return {places->As(DType::kInt32), chosen->As(n.Input(1).dtype()), count};
}
Outputs NmsOld(NodeContext& n) {
  const Term overlap(n, n.b().Scalar(n.Float("iou_threshold", 0.5), DType::kFloat32));
  const Outputs y = Suppressed(n, overlap, false);
  return y.empty() ? y : Outputs{y[0]};
}
Outputs Nms(NodeContext& n) {
  const Outputs y = Suppressed(n, Real(n, 3, 0.5), false);
  return y.empty() ? y : Outputs{y[0]};
}
Outputs NmsV4(NodeContext& n) {
  const Outputs y = Suppressed(n, Real(n, 3, 0.5), n.Bool("pad_to_max_output_size", false));
  return y.empty() ? y : Outputs{y[0], y[2]};
}
Outputs NmsV5(NodeContext& n) {
  return Suppressed(n, Real(n, 3, 0.5), n.Bool("pad_to_max_output_size", false));
}
Outputs NmsWithOverlaps(NodeContext& n) {
  const Term overlaps = Term(n, 0).As(DType::kFloat32), scores = Term(n, 1).As(DType::kFloat32),
             most = AsScalar(Term(n, 2)), limit = Real(n, 3, 0.5);
  const auto all =
      ChooseBest(n, scores, most, Real(n, 4, -HUGE_VAL), [&](const Term& at, const Term& now) {
        return Select(overlaps.Take(at, 1) > limit, now.Number(-HUGE_VAL), now);
      });
  return all ? Outputs{all->places.As(DType::kInt32)} : Outputs{};
}

// boxes (n, boxes, 1 or classes, 4), scores (n, boxes, classes): of all classes' boxes that are
// left the best.
Outputs CombinedNms(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term boxes(n, 0), scores(n, 1);
  const auto total = n.ConstantInt(3, "max_total_size");
  if (!total) return {};
  if (boxes.rank() != 4 || scores.rank() != 3 || *total < 1 || *total > INT32_MAX)
    return n.Fail("expected boxes of rank 4, scores of rank 3 and a max_total_size above 0");
  const bool shared = boxes.value().dim(2).is_const(1);
  if (!shared && Dim::ProvablyDifferent(boxes.value().dim(2), scores.value().dim(2)))
    return n.Fail("boxes: expected one for all classes, or one for each");
  const Value batch = b.DimOf(scores, 0), count = b.DimOf(scores, 1), classes = b.DimOf(scores, 2);
  const Term by_class = scores.Transpose({0, 2, 1});  // (n, classes, boxes)
  const Term all = boxes.Transpose({0, 2, 1, 3});     // (n, 1 or classes, boxes, 4)
  NmsSpec spec{.most = AsScalar(Term(n, 2)),
               .iou_threshold = Real(n, 4, 0.5),
               .score_threshold = Real(n, 5, -HUGE_VAL)};
  const Value merged = Term(b, batch) * Term(b, classes);
  spec.boxes =
      shared ? To(all, {batch, count, b.Ints({4})}) : To(all, {merged, count, b.Ints({4})});
  spec.scores = shared ? by_class : To(by_class, {merged, b.Ints({1}), count});
  const Value found = NonMaxSuppressed(n, spec);  // (found, 3)
  if (!Ok(n)) return {};
  // Those that are left keep their scores; the best of a picture are the results.
  const Term width(b, b.Reshape(count, {}));
  const auto column = [&](int64_t i) {
    return Term(b, b.Squeeze(Term(b, found).Slice(1, i, i + 1), {1})).As(DType::kInt64);
  };
  const Term kinds(b, b.Reshape(classes, {}));
  const Term row = column(0) * (shared ? kinds : Term(b, b.Int(1))) + column(1);
  const Term place = row * width + column(2);
  const Term flat = by_class.Reshape({-1});
  const Term none(b, b.Op("full_like", {flat, flat.Number(-HUGE_VAL)}));
  const Term left(b, b.Op("scatter_elements", {none, place, flat.Take(place, 0)}, {{"axis", 0}}));
  const Value per_picture = Term(b, classes) * Term(b, count);
  int64_t size = *total;
  const auto per_class = b.ConstantInts(n.Input(2));
  const auto known_classes = b.ConstantInts(classes);
  if (n.Bool("pad_per_class", false) && per_class && known_classes)
    size = std::min(size, (*per_class)[0] * (*known_classes)[0]);
  // There are enough to take from.
  Term table = To(left, {batch, per_picture});
  const Term missing =
      Maximum(Term(b, b.Ints({size})) - Term(b, per_picture), Term(b, b.Ints({0})));
  const Value zeros = b.Ints({0, 0, 0});
  table = Term(
      b, b.Op("dyn.nn.pad",
              {table, b.Reshape(b.Concat({zeros, missing}, 0), {2, 2}), table.Number(-HUGE_VAL)},
              {{"pad_mode", "constant"}}));
  const std::vector<Value> top = b.Fields(b.Op("topk", {table},
                                               {{"k", AttrList{size}},
                                                {"axis", 1},
                                                {"ret_type", "both"},
                                                {"is_ascend", false},
                                                {"dtype", "int64"}}));
  if (top.size() != 2) return {};
  const Term best(b, top[0]), at(b, top[1]);
  const Term valid = best > -HUGE_VAL;
  const Term kind = Select(valid, at.Call("floor_divide", width), at.Number(0));
  const Term box = Select(valid, at.Call("floor_mod", width), at.Number(0));
  const Term picture = RangeOf(b, best, 0).Expand(1);
  const Term rows =
      (picture * (shared ? Term(b, b.Int(1)) : kinds) + (shared ? kind * 0.0 : kind)) * width + box;
  Term out = all.Reshape({-1, 4}).Take(rows, 0);
  if (n.Bool("clip_boxes", true)) out = Clamp(out, out.Number(0), out.Number(1));
  return {Select(valid.Expand(2), out, out.Number(0)), Select(valid, best, best.Number(0)),
          kind.As(DType::kFloat32), valid.As(DType::kInt32).Over("sum", {1}, false)};
}

// --- Colours, along the last axis ---

std::vector<Term> Channels(const Term& x) {
  std::vector<Term> out;
  const int last = x.rank() - 1;
  for (int64_t i = 0; i < 3; ++i) out.push_back(x.Slice(last, i, i + 1));

  return out;
}
std::vector<Term> HsvOf(const Term& x) {
  const std::vector<Term> rgb = Channels(x);
  const Term &r = rgb[0], &g = rgb[1], &b = rgb[2];
  const Term v = Maximum(r, Maximum(g, b)), range = v - Minimum(r, Minimum(g, b));
  const Term zero = v.Number(0);
  const Term s = Select(v > 0, range / v, zero);
  const Term norm = 1.0 / (range * 6);
  const Term hue = Select(Equal(r, v), norm * (g - b),
                          Select(Equal(g, v), norm * (b - r) + 2.0 / 6, norm * (r - g) + 4.0 / 6));
  const Term h = Select(range > 0, hue, zero);
  return {Select(h < 0, h + 1, h), s, v};
}
Value RgbOf(NodeContext& n, const std::vector<Term>& hsv) {
  const Term six = hsv[0] * 6;
  const auto channel = [&](const Term& d) {
    const Term part = Clamp(d, d.Number(0), d.Number(1));
    return ((1.0 - hsv[1]) + hsv[1] * part) * hsv[2];
  };
  return n.b().Concat(
      {channel(Abs(six - 3) - 1), channel(2.0 - Abs(six - 2)), channel(2.0 - Abs(six - 4))},
      hsv[0].rank() - 1);
}
Outputs RgbToHsv(NodeContext& n) {
  const std::vector<Term> hsv = HsvOf(Term(n, 0));
  return {n.b().Concat({hsv[0], hsv[1], hsv[2]}, n.Input(0).rank() - 1)};
}
Outputs HsvToRgb(NodeContext& n) { return {RgbOf(n, Channels(Term(n, 0)))}; }
Outputs AdjustSaturation(NodeContext& n) {
  std::vector<Term> hsv = HsvOf(Term(n, 0));
  const Term s = hsv[1] * Term(n, 1).As(hsv[1].dtype());
  hsv[1] = Clamp(s, s.Number(0), s.Number(1));
  return {RgbOf(n, hsv)};
}
Outputs AdjustHue(NodeContext& n) {
  std::vector<Term> hsv = HsvOf(Term(n, 0));
  const Term h = hsv[0] + Term(n, 1).As(hsv[0].dtype());
  hsv[0] = h - Floor(h);
  return {RgbOf(n, hsv)};
}
Outputs AdjustContrast(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 3) return n.Fail("expected pictures of rank 3 or more");
  const Term mean = Mean(x, {x.rank() - 3, x.rank() - 2});
  return {(x - mean) * Term(n, 1).As(x.dtype()) + mean};
}

// --- Projections ---

// A coordinate that lies outside of an extent as one inside of it, or as it is (CONSTANT).
Term Mapped(const Term& x, const Term& extent, std::string_view mode) {
  const Term last = extent - 1;
  if (mode == "CONSTANT") return x;
  Term y = x;
  if (mode == "REFLECT") {
    const Term twice = extent * 2;
    const Term m = x - Floor(x / twice) * twice;
    y = Select(m >= extent, twice - m - 1, m);
  } else if (mode == "WRAP") {
    const Term size = Maximum(last, last.Number(1));
    const Term below = x + extent * ((-x / size).Call("trunc") + 1);
    const Term above = x - extent * (x / size).Call("trunc");
    y = Select(x < 0, below, Select(x > last, above, x));
  }
  return Clamp(y, last.Number(0), last);
}

Outputs Projected(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), transforms(n, 1);
  const auto size = n.ConstantInts(2, "output_shape");
  if (!size) return {};
  const std::string mode = n.String("fill_mode", "CONSTANT"),
                    method = n.String("interpolation", "NEAREST");
  if (x.rank() != 4 || transforms.rank() != 2 || size->size() != 2)
    return n.Fail("expected pictures of rank 4, transforms of rank 2 and an output_shape of two");
  if (mode != "CONSTANT" && mode != "REFLECT" && mode != "WRAP" && mode != "NEAREST")
    return n.Unsupported("fill_mode {}", mode);
  const Term height = Extent(b, x, 1), width = Extent(b, x, 2);
  const auto real = [](const Term& v) { return v.As(DType::kFloat32); };
  const Term row = real(Range(Term(b, b.Int((*size)[0])))).Expand(1);  // (h, 1)
  const Term column = real(Range(Term(b, b.Int((*size)[1]))));
  const auto t = [&](int64_t i) { return transforms.Slice(1, i, i + 1).Expand(2); };  // (n, 1, 1)
  const Term scale = t(6) * column + t(7) * row + 1;
  const Term at_x = Mapped((t(0) * column + t(1) * row + t(2)) / scale, real(width), mode);
  const Term at_y = Mapped((t(3) * column + t(4) * row + t(5)) / scale, real(height), mode);
  const Term fill = n.Has(3) ? AsScalar(Term(n, 3)).As(x.dtype()) : x.Number(0);
  const Term flat = To(x, {ProductOfDims(b, x, 0, 3), b.DimOf(x, 3)});
  const Term picture = RangeOf(b, x, 0).Expand(1, 2);  // (n, 1, 1)
  // Whole numbers; those outside give what fills.
  const auto pixel = [&](const Term& py, const Term& px) {
    const Term inside =
        And(And(py >= 0, py <= real(height - 1)), And(px >= 0, px <= real(width - 1)));
    const Term y = Select(inside, py, py.Number(0)).As(DType::kInt64),
               z = Select(inside, px, px.Number(0)).As(DType::kInt64);
    return Select(inside.Expand(3), flat.Take((picture * height + y) * width + z, 0), fill);
  };
  if (method == "NEAREST") {
    const auto nearest = [](const Term& v) { return v.Call("round"); };
    return {pixel(nearest(at_y), nearest(at_x))};
  }
  if (method != "BILINEAR") return n.Unsupported("interpolation {}", method);
  const Term y0 = Floor(at_y), x0 = Floor(at_x);
  const Term dy = (at_y - y0).Expand(3), dx = (at_x - x0).Expand(3);
  const auto line = [&](const Term& y) {
    return real(pixel(y, x0)) * (1.0 - dx) + real(pixel(y, x0 + 1)) * dx;
  };
  return {(line(y0) * (1.0 - dy) + line(y0 + 1) * dy).As(x.dtype())};
}

constexpr OperatorDef kImageOperators[] = {
    {"AdjustContrastv2", 2, 2, AdjustContrast},
    {"AdjustHue", 2, 2, AdjustHue},
    {"AdjustSaturation", 2, 2, AdjustSaturation},
    {"CombinedNonMaxSuppression", 6, 6, CombinedNms,
     "nmsed_boxes nmsed_scores nmsed_classes valid_detections", "430000"},
    {"CropAndResize", 4, 4, CropAndResize, {}, "4211"},
    {"HSVToRGB", 1, 1, HsvToRgb},
    {"ImageProjectiveTransformV2", 3, 3, Projected, {}, "421"},
    {"ImageProjectiveTransformV3", 4, 4, Projected, {}, "4210"},
    {"NonMaxSuppression", 3, 3, NmsOld, {}, "210"},
    {"NonMaxSuppressionV2", 4, 4, Nms, {}, "2100"},
    {"NonMaxSuppressionV3", 5, 5, Nms, {}, "21000"},
    {"NonMaxSuppressionV4", 5, 5, NmsV4, "selected_indices valid_outputs", "21000"},
    {"NonMaxSuppressionV5", 6, 6, NmsV5, "selected_indices selected_scores valid_outputs",
     "210000"},
    {"NonMaxSuppressionWithOverlaps", 5, 5, NmsWithOverlaps, {}, "21000"},
    {"RGBToHSV", 1, 1, RgbToHsv},
};

}  // namespace

std::span<const OperatorDef> ImageOperators() { return kImageOperators; }

}  // namespace relayvm::import::tensorflow
