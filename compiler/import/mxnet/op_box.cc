// Boxes: overlaps, suppression, encodings, detections.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/mxnet/boxes.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

Term KeptInOrder(const Candidates& c) {
  TypedBuilder& b = c.boxes.b();
  const Term rows = RangeOf(b, c.boxes, 1);
  // What is best has the greatest score; all are above 0.
  const Term rank = (Extent(b, c.boxes, 1) - rows).As(DType::kFloat32).Expand(0).Expand(2);
  const Term scores = rank + c.boxes.As(DType::kFloat32).Slice(2, 0, 1) * 0.0;
  std::vector<Value> columns = {scores, c.boxes.As(DType::kFloat32)};
  if (c.ids) columns.insert(columns.begin(), c.ids->As(DType::kFloat32).Expand(2));
  const Value data = b.Concat(columns, 2);
  const int64_t first = c.ids ? 1 : 0;
  const Value kept = b.Op("vision.non_max_suppression",
                          {data, c.count.As(DType::kInt32), rows.As(DType::kInt32).Expand(0),
                           b.Int(-1, DType::kInt32), b.Scalar(c.threshold, DType::kFloat32)},
                          {{"force_suppress", !c.ids.has_value()},
                           {"top_k", -1},
                           {"coord_start", first + 1},
                           {"score_index", first},
                           {"id_index", c.ids ? 0 : -1},
                           {"return_indices", false},
                           {"invalid_to_bottom", false}});
  return Term(b, kept).Slice(2, first, first + 1).Call("squeeze", {{"axis", AttrList{2}}}) > 0;
}

Term RowsAt(const Term& data, const Term& at) {
  return data.Call("take", at, {{"axis", 1}, {"batch_dims", 1}, {"mode", "clip"}});
}

Term BestFirst(const Term& scores) {
  return scores.Call("argsort",
                     {{"axis", -1}, {"is_ascend", false}, {"dtype", TypeName(DType::kInt64)}});
}

double JustAbove(double threshold) {
  return std::nextafter(std::max(static_cast<float>(threshold), 0.0F), HUGE_VALF);
}

namespace {

// Column `k` of the last axis, which stays.
Term Column(const Term& v, int64_t k) { return v.Slice(v.rank() - 1, k, k + 1); }
Term Columns(const Term& first, const Term& second, const Term& third, const Term& fourth) {
  TypedBuilder& b = first.b();
  return {b, b.Concat({first, second, third, fourth}, first.rank() - 1)};
}
// (.., 4) of centre, width and height as corners, and back.
Term CornersOf(const Term& v) {
  const Term x = Column(v, 0), y = Column(v, 1), w = Column(v, 2) / 2, h = Column(v, 3) / 2;
  return Columns(x - w, y - h, x + w, y + h);
}
Term CentresOf(const Term& v) {
  const Term left = Column(v, 0), top = Column(v, 1), w = Column(v, 2) - left,
             h = Column(v, 3) - top;
  return Columns(left + w / 2, top + h / 2, w, h);
}
bool IsCentre(Node& n, std::string_view attr, std::string_view fallback) {
  return n.Choice(attr, fallback, {"corner", "center"}) == "center";
}

// --- Overlaps ---

// Of corners that broadcast: (.., 1).
Term Overlaps(const Term& x, const Term& y) {
  const Term zero = x.Number(0);
  const auto shared = [&](int64_t k) {
    return Maximum(
        Minimum(Column(x, k + 2), Column(y, k + 2)) - Maximum(Column(x, k), Column(y, k)), zero);
  };
  const auto area = [&](const Term& v) {
    return (Column(v, 2) - Column(v, 0)) * (Column(v, 3) - Column(v, 1));
  };
  const Term both = shared(0) * shared(1), either = area(x) + area(y) - both;
  return Select(both > 0, both / Select(both > 0, either, either.Number(1)), zero);
}

// The boxes of the one as rows, those of the other as columns.
Outputs BoxIou(Node& n) {
  TypedBuilder& b = n.b();
  const bool centres = IsCentre(n, "format", "corner");
  const auto boxes = [&](size_t i) {
    const Term v(b, ShapedAs(b, n.Input(i), {b.Ints({-1, 4})}));
    return centres ? CornersOf(v) : v;
  };
  if (n.Input(0).rank() < 1 || n.Input(1).rank() < 1) return n.Fail("expected boxes of (.., 4)");
  const Term iou = Overlaps(boxes(0).Expand(1), boxes(1).Expand(0));
  std::vector<Value> dims = DimsOf(b, n.Input(0), 0, n.Input(0).rank() - 1);
  const std::vector<Value> more = DimsOf(b, n.Input(1), 0, n.Input(1).rank() - 1);
  dims.insert(dims.end(), more.begin(), more.end());
  return {ShapedAs(b, iou, dims)};
}

struct Pairs {
  Term column_of, row_of;  // (batch, rows), (batch, columns): float, -1 where there is none
};
// The best pairs of scores (batch, rows, columns) above a threshold, each row and each column once;
// of `most` pairs at most, where that is above 0.
std::optional<Pairs> BestPairs(const Term& scores, double threshold, int64_t most) {
  TypedBuilder& b = scores.b();
  const Term row = RangeOf(b, scores, 1), column = RangeOf(b, scores, 2);
  const auto none = [&](int axis) {
    const Term line = scores.Slice(axis, 0, 1).Call("squeeze", {{"axis", AttrList{axis}}});
    return line.Call("zeros_like") - 1;
  };
  Term turns = Minimum(Extent(b, scores, 1), Extent(b, scores, 2));
  if (most > 0) turns = Minimum(turns, Term(b, b.Int(most)));
  const auto more = [&](const TypedBuilder::State& s) -> Value { return Term(b, s[0]) < turns; };
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term left(b, s[1]), column_of(b, s[2]), row_of(b, s[3]);
    const Term flat(b, ShapedAs(b, left, {b.DimOf(left, 0), b.Ints({-1})}));
    const Term best =
        flat.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
    const Term found = Max(flat, {1}) > threshold;  // (batch, 1)
    const Term width = Extent(b, left, 2);
    const Term r = best.Call("floor_divide", width), c = best.Call("floor_mod", width);
    const Term at_row = And(Equal(row.Expand(0), r), found),
               at_column = And(Equal(column.Expand(0), c), found);
    const Term gone = Or(at_row.Expand(2), at_column.Expand(1));
    return {Term(b, s[0]) + 1, Select(gone, left.Number(-HUGE_VAL), left),
            Select(at_row, c.As(column_of.dtype()), column_of),
            Select(at_column, r.As(row_of.dtype()), row_of)};
  };
  const TypedBuilder::State last = b.While({b.Int(0), scores, none(2), none(1)}, more, step);
  if (!b.status().ok() || last.size() != 4) return std::nullopt;
  return Pairs{{b, last[2]}, {b, last[3]}};
}

Outputs BipartiteMatching(Node& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  if (given.rank() < 2) return n.Fail("expected scores of rank 2 or more");
  const bool up = n.Bool("is_ascend", false);
  const int64_t most = n.Counts("topk", {-1})[0];
  const Value rows = b.DimOf(given, -2), columns = b.DimOf(given, -1);
  const Term flat(b, ShapedAs(b, up ? -given : given, {b.Ints({-1}), rows, columns}));
  // MXNet counts one pair more than it is asked for.
  const auto pairs =
      BestPairs(flat, n.Float("threshold", 0) * (up ? -1 : 1), most > 0 ? most + 1 : most);
  if (!pairs) return {};
  std::vector<Value> row_dims = DimsOf(b, given, 0, given.rank() - 2), column_dims = row_dims;
  row_dims.push_back(rows);
  column_dims.push_back(columns);
  return {ShapedAs(b, pairs->column_of, row_dims), ShapedAs(b, pairs->row_of, column_dims)};
}

// --- Suppression ---

// Rows with a score, a box and perhaps an id: the best first, those that overlap gone, -1 behind.
Outputs BoxNms(Node& n) {
  TypedBuilder& b = n.b();
  const Value given = n.Input(0);
  const int64_t most = n.Counts("topk", {-1})[0], coordinates = n.Count("coord_start", 2),
                score = n.Count("score_index", 1), id = n.Counts("id_index", {-1})[0];
  if (given.rank() < 2) return n.Fail("expected data of rank 2 or more");
  if (most == 0) return {given};
  const bool from_centres = IsCentre(n, "in_format", "corner"),
             to_centres = IsCentre(n, "out_format", "corner");
  const Term data(b, ShapedAs(b, given, {b.Ints({-1}), b.DimOf(given, -2), b.DimOf(given, -1)}));
  const auto column = [&](const Term& v, int64_t k) {
    return Column(v, k).Call("squeeze", {{"axis", AttrList{2}}});
  };
  Term valid = column(data, score) > n.Float("valid_thresh", 0);
  if (id >= 0)
    valid =
        And(valid, Not(Equal(column(data, id), static_cast<double>(n.Int("background_id", -1)))));
  const Term scores = column(data, score);
  const Term sorted = RowsAt(data, BestFirst(Select(valid, scores, scores.Number(-HUGE_VAL))));
  Term count = valid.As(DType::kInt64).Over("sum", {1}, false);
  if (most > 0) count = Minimum(count, count.Number(static_cast<double>(most)));
  const Term boxes = sorted.Slice(2, coordinates, coordinates + 4);
  Candidates of{from_centres ? CornersOf(boxes) : boxes, std::nullopt, count,
                JustAbove(n.Float("overlap_thresh", 0.5))};
  if (id >= 0 && !n.Bool("force_suppress", false)) {
    // Ids are whole; negative ones are ids too.
    const Term ids = column(sorted, id).Call("trunc");
    of.ids = Select(ids < 0, 1e6 - ids, ids);
  }
  const Term kept = KeptInOrder(of);
  const Term order = BestFirst(kept.As(DType::kFloat32));
  Term rows = RowsAt(sorted, order);
  if (from_centres != to_centres) {
    const Term own = rows.Slice(2, coordinates, coordinates + 4);
    rows = Term(
        b, b.Concat({rows.Slice(2, 0, coordinates), from_centres ? CornersOf(own) : CentresOf(own),
                     rows.Slice(2, coordinates + 4, INT64_MAX)},
                    2));
  }
  const Term stays = RowsAt(kept.Expand(2), order);
  return {ShapedAs(b, Select(stays, rows, rows.Number(-1)), {b.ShapeOf(given)})};
}

// --- Encodings ---

// Offsets by anchors as boxes.
Outputs BoxDecode(Node& n) {
  const Term x(n, 0);
  const Term anchor = IsCentre(n, "format", "center") ? Term(n, 1) : CentresOf(Term(n, 1));
  const Term w = Column(anchor, 2), h = Column(anchor, 3);
  const auto scaled = [&](int64_t k, const char* attr) { return Column(x, k) * n.Float(attr, 1); };
  Term dw = scaled(2, "std2"), dh = scaled(3, "std3");
  if (const double limit = n.Float("clip", -1); limit > 0) {
    dw = Minimum(dw, dw.Number(limit));
    dh = Minimum(dh, dh.Number(limit));
  }
  return {CornersOf(Columns(scaled(0, "std0") * w + Column(anchor, 0),
                            scaled(1, "std1") * h + Column(anchor, 1), Exp(dw) * w, Exp(dh) * h))};
}
// Boxes that anchors match as offsets, and where there are any.
Outputs BoxEncode(Node& n) {
  TypedBuilder& b = n.b();
  const Term samples(n, 0), matches = Term(n, 1).As(DType::kInt64);
  const Term anchor = CentresOf(Term(n, 2)), means(n, 4), deviations(n, 5);
  const Term ref = CentresOf(RowsAt(Term(n, 3), matches));
  const auto offset = [&](int64_t k) {
    return (Column(ref, k) - Column(anchor, k)) / Column(anchor, k + 2);
  };
  const auto size = [&](int64_t k) { return (Column(ref, k) / Column(anchor, k)).Call("log"); };
  const Term targets = (Columns(offset(0), offset(1), size(2), size(3)) - means) / deviations;
  const Term mask = (samples > 0.5).Expand(2);
  const Value ones = BroadcastTo(b, mask.As(targets.dtype()), DimsOf(b, targets, 0, 3));
  return {Select(mask, targets, targets.Number(0)), ones};
}

// --- MultiBox ---

// Boxes around each pixel of a picture, as parts of its extents.
Outputs MultiBoxPrior(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (!n.ExpectRank(x, 4, "data")) return {};
  const std::vector<double> sizes = n.Floats("sizes", {1}), ratios = n.Floats("ratios", {1}),
                            steps = n.Floats("steps", {-1, -1}),
                            offsets = n.Floats("offsets", {0.5, 0.5});
  if (sizes.empty() || ratios.empty() || steps.size() != 2 || offsets.size() != 2)
    return n.Fail("expected sizes, ratios, and two steps and offsets");
  // Each size under the first ratio, then the first size under each other one.
  std::vector<double> half_width, half_height;
  const auto add = [&](double size, double ratio) {
    half_width.push_back(size * std::sqrt(ratio) / 2);
    half_height.push_back(size / std::sqrt(ratio) / 2);
  };
  for (const double size : sizes) add(size, ratios[0]);
  for (size_t i = 1; i < ratios.size(); ++i) add(sizes[0], ratios[i]);
  const auto count = static_cast<int64_t>(half_width.size());
  const Term height = Extent(b, x, 2).As(DType::kFloat32),
             width = Extent(b, x, 3).As(DType::kFloat32);
  const auto centre = [&](int axis, const Term& extent, size_t k) {
    const Term at = RangeOf(b, x, axis).As(DType::kFloat32) + offsets[k];
    return steps[k] > 0 ? at * steps[k] : at / extent;
  };
  // (rows, columns, boxes, 1)
  const Term y = centre(2, height, 0).Expand(1, 3),
             at_x = centre(3, width, 1).Expand(0).Expand(2, 2);
  const Term half_w = Table(b, half_width, {1, 1, count, 1}) * height / width,
             half_h = Table(b, half_height, {1, 1, count, 1});
  const Term zero = (y + at_x) * 0.0;
  Term boxes =
      Columns(zero + at_x - half_w, zero + y - half_h, zero + at_x + half_w, zero + y + half_h);
  if (n.Bool("clip", false)) boxes = Clamp(boxes, boxes.Number(0), boxes.Number(1));
  return {ShapedAs(b, boxes.As(x.dtype()), {b.Ints({1, -1, 4})})};
}

// Anchors (1, n, 4) moved by (batch, n * 4).
Term MovedAnchors(Node& n, const Term& moves, const Term& anchors, bool clip,
                  const std::vector<double>& variances) {
  TypedBuilder& b = n.b();
  const Term offset(b, ShapedAs(b, moves, {b.DimOf(moves, 0), b.Ints({-1, 4})}));
  const Term anchor = CentresOf(anchors);
  const auto move = [&](int64_t k) {
    return Column(offset, k) * variances[static_cast<size_t>(k)];
  };
  const Term w = Column(anchor, 2), h = Column(anchor, 3);
  const Term boxes =
      CornersOf(Columns(move(0) * w + Column(anchor, 0), move(1) * h + Column(anchor, 1),
                        Exp(move(2)) * w, Exp(move(3)) * h));
  return clip ? Clamp(boxes, boxes.Number(0), boxes.Number(1)) : boxes;
}

// (id, score, box) of each anchor whose best class is not the background: the best first, ids of
// those that are suppressed -1.
Outputs MultiBoxDetection(Node& n) {
  TypedBuilder& b = n.b();
  const Term probabilities(n, 0), anchors(n, 2);
  const std::vector<double> variances = n.Floats("variances", {0.1, 0.1, 0.2, 0.2});
  if (!n.ExpectRank(probabilities, 3, "cls_prob") || !n.ExpectRank(anchors, 3, "anchor")) return {};
  if (variances.size() != 4) return n.Fail("attribute variances: expected four numbers");
  const Term classes = probabilities.Slice(1, 1, INT64_MAX);
  const Term score = Max(classes, {1}).Call("squeeze", {{"axis", AttrList{1}}});  // (batch, n)
  const Term best = classes.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", false}});
  const Term valid = score >= n.Float("threshold", 0.01);
  const Term id = Select(valid, best.As(score.dtype()), score.Number(-1));
  const Term boxes = MovedAnchors(n, Term(n, 1), anchors, n.Bool("clip", true), variances);
  const Term rows(b, b.Concat({id.Expand(2), score.Expand(2), boxes}, 2));
  const Term count = valid.As(DType::kInt64).Over("sum", {1}, false);
  const Term place = RangeOf(b, rows, 1).Expand(0);  // (1, n)
  const Term there = place < count.Expand(1);
  const Term least = rows.Number(-1);
  // Those that count, in the anchors' order.
  const Term packed = RowsAt(rows, BestFirst(valid.As(DType::kFloat32)));
  const double threshold = n.Float("nms_threshold", 0.5);
  if (threshold <= 0 || threshold > 1) return {Select(there.Expand(2), packed, least)};
  const Term order = BestFirst(Select(valid, score, score.Number(-HUGE_VAL)));
  const Term sorted = RowsAt(rows, order);
  const int64_t most = n.Counts("nms_topk", {-1})[0];
  const Term taken = most > 0 ? Minimum(count, count.Number(static_cast<double>(most))) : count;
  Candidates of{sorted.Slice(2, 2, 6), std::nullopt, taken, threshold};
  if (!n.Bool("force_suppress", false))
    of.ids = Column(sorted, 0).Call("squeeze", {{"axis", AttrList{2}}});
  const Term kept = KeptInOrder(of);
  const Term among = place < taken.Expand(1);
  // Behind the best stand others where they were.
  const Term chosen = Select(among.Expand(2), sorted, packed);
  const Term ids = Select(kept.Expand(2), Column(chosen, 0), chosen.Number(-1));
  const Term all(b, b.Concat({ids, chosen.Slice(2, 1, INT64_MAX)}, 2));
  return {Select(there.Expand(2), all, least)};
}

// Which anchors are examples of no class: all that match none, or, mined, those that are least seen
// as background, so many for each that matches one.
Term Negatives(Node& n, const Term& positive, const Term& overlap) {
  const double ratio = n.Float("negative_mining_ratio", -1);
  const Term rest = Not(positive);
  if (ratio <= 0) return rest;
  const Term background = Term(n, 2)
                              .Call("nn.softmax", {{"axis", 1}})
                              .Slice(1, 0, 1)
                              .Call("squeeze", {{"axis", AttrList{1}}});
  const Term may = And(rest, overlap < n.Float("negative_mining_thresh", 0.5));
  const Term found = positive.As(DType::kInt64).Over("sum", {1}),
             others = rest.As(DType::kInt64).Over("sum", {1});
  const Term wanted =
      Minimum((found.As(DType::kFloat32) * ratio).As(DType::kInt64), others);  // (batch, 1)
  // The place of each in the order of these scores.
  const Term order = BestFirst(Select(may, -background, background.Number(-HUGE_VAL)));
  const Term place = order.Call(
      "argsort", {{"axis", -1}, {"is_ascend", true}, {"dtype", TypeName(DType::kInt64)}});
  return And(may, place < wanted);
}

// What training asks of each anchor: offsets to the box that it matches and whether there is one
// (batch, n * 4), and a class (batch, n): 0 is the background.
Outputs MultiBoxTarget(Node& n) {
  TypedBuilder& b = n.b();
  const Term labels(n, 1);
  const std::vector<double> variances = n.Floats("variances", {0.1, 0.1, 0.2, 0.2});
  if (!n.ExpectRank(n.Input(0), 3, "anchor") || !n.ExpectRank(labels, 3, "label") ||
      !n.ExpectRank(n.Input(2), 3, "cls_pred")) {
    return {};
  }
  if (variances.size() != 4) return n.Fail("attribute variances: expected four numbers");
  const Term anchors(n, 0), boxes = labels.Slice(2, 1, 5);
  // Labels end at the first -1.
  const auto line = [](const Term& v) { return v.Call("squeeze", {{"axis", AttrList{2}}}); };
  const Term ended = Equal(line(Column(labels, 0)), -1).As(DType::kInt64);
  const Term real = Equal(ended.Call("cumsum", {{"axis", 1}}), 0);  // (batch, labels)
  const Term iou =
      Overlaps(anchors.Expand(2), boxes.Expand(1)).Call("squeeze", {{"axis", AttrList{3}}});
  const Term overlaps = Select(real.Expand(1), iou, iou.Number(-1));  // (batch, n, labels)
  const auto pairs = BestPairs(overlaps, 1e-6, -1);
  if (!pairs) return {};
  const Term best = line(Max(overlaps, {2}));
  const Term closest = overlaps.Call("argmax", {{"axis", AttrList{2}}, {"keepdims", false}});
  const Term paired = pairs->column_of >= 0;
  const double threshold = n.Float("overlap_threshold", 0.5);
  const Term positive = threshold > 0 ? Or(paired, best > threshold) : paired;
  const Term match =
      Maximum(Select(paired, pairs->column_of.As(DType::kInt64), closest.As(DType::kInt64)),
              Term(b, b.Int(0)));
  const Term anchor = CentresOf(anchors), box = CentresOf(RowsAt(boxes, match));
  const auto offset = [&](int64_t k) {
    const Term size = Column(anchor, k % 2 + 2);
    const Term v =
        k < 2 ? (Column(box, k) - Column(anchor, k)) / size : (Column(box, k) / size).Call("log");
    return v / variances[static_cast<size_t>(k)];
  };
  const Term moves = Columns(offset(0), offset(1), offset(2), offset(3));
  const Term zero = moves.Number(0), mask = positive.Expand(2);
  const Value ones = BroadcastTo(b, mask.As(moves.dtype()), DimsOf(b, moves, 0, 3));
  const auto flat = [&](const Value& v) { return ShapedAs(b, v, {b.DimOf(v, 0), b.Ints({-1})}); };
  const Term own = line(RowsAt(Column(labels, 0), match)) + 1;
  const Term ignored = own.Number(n.Float("ignore_label", -1));
  // A picture without labels teaches nothing.
  const Term any = real.As(DType::kInt8).Over("max", {1}) > 0;
  const Term background = And(Negatives(n, positive, best), any);
  return {flat(Select(mask, moves, zero)), flat(ones),
          Select(positive, own, Select(background, own.Number(0), ignored))};
}

constexpr OperatorDef kBoxOperators[] = {
    {"_contrib_MultiBoxDetection _npx_multibox_detection", 3, 3, MultiBoxDetection},
    {"_contrib_MultiBoxPrior _npx_multibox_prior", 1, 1, MultiBoxPrior},
    {"_contrib_MultiBoxTarget _npx_multibox_target", 3, 3, MultiBoxTarget},
    {"_contrib_bipartite_matching", 1, 1, BipartiteMatching},
    {"_contrib_box_decode", 2, 2, BoxDecode},
    {"_contrib_box_encode", 6, 6, BoxEncode},
    {"_contrib_box_iou", 2, 2, BoxIou},
    {"_contrib_box_nms _contrib_box_non_maximum_suppression", 1, 1, BoxNms},
};

}  // namespace

std::span<const OperatorDef> BoxOperators() { return kBoxOperators; }

}  // namespace relayvm::import::mxnet
