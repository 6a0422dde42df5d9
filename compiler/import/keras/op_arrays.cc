// Operations of Keras 3 and functions of TensorFlow: shapes, places, products, pictures.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/padding.h"
#include "compiler/import/composite/resize.h"
#include "compiler/import/keras/model_builder.h"
#include "compiler/import/keras/operands.h"

namespace relayvm::import::keras {

namespace {

// --- Shapes ---

Outputs ReshapeTo(LayerContext& n) {
  const auto shape = IntsOrTensors(n, "newshape");
  if (!shape) return n.Fail("expected a shape");
  return {ShapedAs(n, n.Input(0), {*shape})};
}
Outputs Ravel(LayerContext& n) { return {n.b().Reshape(n.Input(0), {-1})}; }
Outputs BroadcastTo(LayerContext& n) {
  const auto shape = IntsOrTensors(n, "shape");
  if (!shape) return n.Fail("expected a shape");
  if (const auto known = n.b().ConstantInts(*shape))
    return {n.b().Op("broadcast_to", {n.Input(0)}, {{"shape", ListOf(*known)}})};
  return {n.b().Op("dyn.broadcast_to", {n.Input(0), *shape})};
}
Outputs ShapeOf(LayerContext& n) { return {n.b().Cast(n.b().ShapeOf(n.Input(0)), DType::kInt32)}; }
Outputs MoveAxis(LayerContext& n) {
  const Value x = n.Input(0);
  const std::vector<int64_t> from = n.Ints("source"), to = n.Ints("destination");
  if (from.size() != to.size()) return n.Fail("expected as many sources as destinations");
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()), -1);
  std::vector<bool> used(axes.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const int source = n.Axis(from[i], x.rank()), target = n.Axis(to[i], x.rank());
    if (!n.b().status().ok()) return {};
    axes[static_cast<size_t>(target)] = source;
    used[static_cast<size_t>(source)] = true;
  }
  size_t next = 0;
  for (int64_t& axis : axes) {
    while (axis < 0 && next < used.size() && used[next]) ++next;
    if (axis < 0 && next < used.size()) axis = static_cast<int64_t>(next++);
  }
  return {n.b().Transpose(x, axes)};
}
Outputs SwapAxes(LayerContext& n) {
  const Value x = n.Input(0);
  const int first = n.Axis(n.Int("axis1", 0), x.rank());
  const int second = n.Axis(n.Int("axis2", 0), x.rank());
  std::vector<int64_t> axes = Iota(x.rank());
  if (!n.b().status().ok()) return {};
  std::swap(axes[static_cast<size_t>(first)], axes[static_cast<size_t>(second)]);
  return {n.b().Transpose(x, axes)};
}
Outputs Flip(LayerContext& n) {
  Value x = n.Input(0);
  std::vector<int64_t> axes = n.Ints("axis", Iota(x.rank()));
  for (int64_t& axis : axes) x = n.b().Op("reverse", {x}, {{"axis", n.Axis(axis, x.rank())}});
  return {x};
}
Outputs Tile(LayerContext& n) {
  const std::vector<int64_t> times = n.Ints("repeats");
  return {n.b().Op("tile", {n.Input(0)}, {{"reps", ListOf(times)}})};
}
Outputs Repeat(LayerContext& n) {
  Value x = n.Input(0);
  if (n.IsNull("axis")) x = n.b().Reshape(x, {-1});
  const std::vector<int64_t> times = n.Ints("repeats");
  const int axis = n.IsNull("axis") ? 0 : n.Axis(n.Int("axis", 0), x.rank());
  if (times.size() != 1) return n.Unsupported("repeats: expected one number");
  return {n.b().Op("repeat", {x}, {{"repeats", times[0]}, {"axis", axis}})};
}
Outputs Roll(LayerContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, n.Input(0));
  const std::vector<int64_t> shifts = n.Ints("shift"), axes = n.Ints("axis");
  const bool flat = n.IsNull("axis");
  if (flat ? shifts.size() != 1 : shifts.size() != axes.size())
    return n.Unsupported("shift: expected one number for each axis");
  const Value shape = b.ShapeOf(x);
  if (flat) x = x.Reshape({-1});
  for (size_t i = 0; i < shifts.size(); ++i) {
    const int axis = flat ? 0 : n.Axis(axes[i], x.rank());
    const Term extent = Extent(b, x, axis);
    const Term at = Range(extent) - Term(b, b.Int(shifts[i]));
    x = x.Take(at.Call("floor_mod", extent), axis);
  }
  return {flat ? ShapedAs(b, x, {shape}) : x.value()};
}
Outputs Join(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.empty()) return n.Fail("expected tensors");
  const int axis = n.Axis(n.Int("axis", 0), all[0].rank());
  std::vector<Value> parts(all.begin(), all.end());
  return {n.b().Concat(parts, axis)};
}
Outputs Unstack(LayerContext& n) {
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!x.dim(axis).is_const() || x.dim(axis).value() < 1)
    return n.Unsupported("the number of parts must be known");
  Outputs parts =
      n.b().Ops("split", {x}, {{"indices_or_sections", x.dim(axis).value()}, {"axis", axis}});
  for (Value& part : parts) part = n.b().Squeeze(part, {axis});
  return parts;
}
template <bool kUpper>
Outputs Triangle(LayerContext& n) {
  return {n.b().Op("trilu", {n.Input(0), n.b().Int(n.Int("k", 0))}, {{"upper", kUpper}})};
}
Outputs DepthToSpace(LayerContext& n) {
  return {n.b().Op("nn.depth_to_space", {n.Input(0)},
                   {{"block_size", n.Int("block_size", 2)},
                    {"layout", n.ChannelsLast() ? "NHWC" : "NCHW"},
                    {"mode", "DCR"}})};
}
Outputs SpaceToDepth(LayerContext& n) {
  return {n.b().Op(
      "nn.space_to_depth", {n.Input(0)},
      {{"block_size", n.Int("block_size", 2)}, {"layout", n.ChannelsLast() ? "NHWC" : "NCHW"}})};
}
Outputs Difference(LayerContext& n) {
  Term x(n, n.Input(0));
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  const int64_t times = n.Int("n", 1);
  if (times < 0 || times > 64) return n.Unsupported("n: expected 0 to 64");
  for (int64_t i = 0; i < times; ++i) x = x.Slice(axis, 1, INT64_MAX) - x.Slice(axis, 0, -1);
  return {x};
}

// --- Filled ---

template <int kFill>
Outputs FilledLike(LayerContext& n) {
  Value like = n.Input(0);
  if (!n.IsNull("dtype")) {
    const auto dtype = ParseDType(n.String("dtype", ""));
    if (!dtype) return n.Unsupported("dtype '{}'", n.String("dtype", ""));
    like = n.b().Cast(like, *dtype);
  }
  return {n.b().Op(kFill == 0 ? "zeros_like" : "ones_like", {like})};
}
Outputs FullLike(LayerContext& n) {
  const std::vector<Operand> all = OperandsOf(n);
  if (all.size() != 2 || !all[0].tensor || all[1].tensor)
    return n.Unsupported("expected a tensor and a number");
  const Value fill = n.b().Scalar(all[1].number, all[0].tensor.dtype());
  return {n.b().Op("full_like", {all[0].tensor, fill})};
}
Outputs OneHot(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Term ids = Term(n, n.Input(0)).As(DType::kInt32);
  const int64_t count = n.Int("num_classes", 1);
  if (count < 1 || count > 1 << 24) return n.Fail("num_classes: expected 1 to 2^24");
  const Json* axis_given = n.Setting("axis");
  const int axis = axis_given == nullptr || axis_given->is_null()
                       ? ids.rank()
                       : n.Axis(n.Int("axis", -1), ids.rank() + 1);
  const DType dtype = n.IsNull("dtype")
                          ? DType::kFloat32
                          : ParseDType(n.String("dtype", "float32")).value_or(DType::kFloat32);
  const Term places(b, b.Ints(Iota(count), DType::kInt32));
  const Term hits = Equal(ids.Expand(axis), Along(places, axis, ids.rank() + 1)).As(dtype);
  const double on = n.Float("on_value", 1), off = n.Float("off_value", 0);
  return {on == 1 && off == 0 ? hits : hits * (on - off) + off};
}

// --- Places ---

// Keras counts from the end too.
Outputs Take(LayerContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<Term> all = Operands(n, false);
  if (all.size() != 2) return n.Unsupported("expected a tensor and indices");
  if (n.Int("batch_dims", 0) != 0) return n.Unsupported("batch_dims: expected 0");
  const bool flat = n.IsNull("axis") && n.site.parameters.empty();
  const Term x = flat ? all[0].Reshape({-1}) : all[0];
  const int axis = n.IsNull("axis") ? 0 : n.Axis(n.Int("axis", 0), x.rank());
  const Term at = all[1].As(DType::kInt64);
  const Term from_start = Select(at < 0, at + Extent(b, x, axis), at);
  return {x.Take(from_start, axis)};
}
Outputs TakeAlong(LayerContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<Term> all = Operands(n, false);
  if (all.size() != 2) return n.Unsupported("expected a tensor and indices");
  const bool flat = n.IsNull("axis");
  const Term x = flat ? all[0].Reshape({-1}) : all[0];
  const Term at = (flat ? all[1].Reshape({-1}) : all[1]).As(DType::kInt64);
  const int axis = flat ? 0 : n.Axis(n.Int("axis", -1), x.rank());
  if (!b.status().ok()) return {};
  return {b.Op("gather", {x, Select(at < 0, at + Extent(b, x, axis), at)}, {{"axis", axis}})};
}
template <bool kMax>
Outputs Place(LayerContext& n) {
  Value x = n.Input(0);
  const bool function = !n.site.parameters.empty();
  const bool flat = n.IsNull("axis") && !function;
  if (flat) x = n.b().Reshape(x, {-1});
  const int axis = n.IsNull("axis") ? 0 : n.Axis(n.Int("axis", -1), x.rank());
  const bool keep = n.Bool("keepdims", false);
  Value y = n.b().Op(kMax ? "argmax" : "argmin", {x},
                     {{"axis", AttrList{axis}}, {"keepdims", keep && !flat}});
  if (flat && keep) y = n.b().ExpandDims(y, 0, n.Input(0).rank());
  const std::string wide = function ? n.String("output_type", "int64") : "int32";
  return {n.b().Cast(y, wide == "int32" ? DType::kInt32 : DType::kInt64)};
}
Outputs Sort(LayerContext& n) {
  const bool flat = n.IsNull("axis") && n.Setting("axis") != nullptr;
  const Value x = flat ? n.b().Reshape(n.Input(0), {-1}) : n.Input(0);
  const int axis = flat ? 0 : n.Axis(n.Int("axis", -1), x.rank());
  return {n.b().Op("sort", {x}, {{"axis", axis}, {"is_ascend", true}})};
}
Outputs ArgSort(LayerContext& n) {
  const bool flat = n.IsNull("axis") && n.Setting("axis") != nullptr;
  const Value x = flat ? n.b().Reshape(n.Input(0), {-1}) : n.Input(0);
  const int axis = flat ? 0 : n.Axis(n.Int("axis", -1), x.rank());
  return {n.b().Op("argsort", {x}, {{"axis", axis}, {"is_ascend", true}, {"dtype", "int32"}})};
}
Outputs TopK(LayerContext& n) {
  return n.b().Ops("topk", {n.Input(0)},
                   {{"k", n.Int("k", 1)},
                    {"axis", -1},
                    {"ret_type", "both"},
                    {"is_ascend", false},
                    {"dtype", "int32"}});
}
template <bool kProduct>
Outputs Cumulative(LayerContext& n) {
  Value x = n.Input(0);
  if (n.IsNull("axis") && n.site.parameters.empty()) x = n.b().Reshape(x, {-1});
  const int axis = n.IsNull("axis") ? 0 : n.Axis(n.Int("axis", 0), x.rank());
  if (n.Bool("reverse", false)) return n.Unsupported("reverse");
  return {n.b().Op(kProduct ? "cumprod" : "cumsum", {x},
                   {{"axis", axis}, {"exclusive", n.Bool("exclusive", false)}})};
}
Outputs SliceOf(LayerContext& n) {
  TypedBuilder& b = n.b();
  std::vector<int64_t> begin = n.Ints("begin"), size = n.Ints("size");
  if (n.site.parameters.empty()) {
    size = n.Ints("shape");
    const Json* given = n.site.positional;
    begin.clear();
    if (given != nullptr && given->is_array() && given->size() > 1 && (*given)[1].is_array()) {
      for (const Json& v : (*given)[1]) {
        if (v.is_number_integer()) begin.push_back(v.get<int64_t>());
      }
    }
  }
  Term x(n, n.Input(0));
  if (begin.size() != size.size() || static_cast<int>(size.size()) != x.rank())
    return n.Unsupported("expected starts and sizes as numbers, one for each axis");
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<size_t>(i);
    if (begin[k] < 0 || begin[k] > INT32_MAX || size[k] < -1 || size[k] > INT32_MAX)
      return n.Fail("a slice that cannot be");
    if (begin[k] != 0 || size[k] != -1)
      x = x.Slice(i, begin[k], size[k] == -1 ? INT64_MAX : begin[k] + size[k]);
  }
  return {Term(b, x)};
}

// --- Products ---

Outputs Matmul(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Unsupported("expected two operands, found {}", all.size());
  const auto turned = [&](const Term& v, const char* key) {
    if (!n.Bool(key, false) || v.rank() < 2) return v;
    std::vector<int64_t> axes = Iota(v.rank());
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return v.Transpose(axes);
  };
  return {MatMulOf(n, turned(all[0], "transpose_a"), turned(all[1], "transpose_b"))};
}
Outputs EinsumOf(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  const std::vector<Value> values(all.begin(), all.end());
  if (values.empty()) return n.Fail("expected operands");
  return {n.b().Op("einsum", {n.b().Tuple(values)}, {{"equation", n.String("subscripts", "")}})};
}
// The last axis of x with the last but one of y.
Outputs DotOf(LayerContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Unsupported("expected two operands, found {}", all.size());
  const Term x = all[0], y = all[1];
  if (x.rank() == 0 || y.rank() == 0) return {x * y};
  if (y.rank() <= 2) return {MatMulOf(b, x, y)};
  return n.Unsupported("a second operand of rank {}", y.rank());
}
Outputs Outer(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Unsupported("expected two operands, found {}", all.size());
  return {all[0].Reshape({-1, 1}) * all[1].Reshape({1, -1})};
}
// Sums over the last axes of x and the first of y, or over axes that are said.
Outputs TensorDot(LayerContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Unsupported("expected two operands, found {}", all.size());
  const int rx = all[0].rank(), ry = all[1].rank();
  const Json* given = n.Setting("axes");
  std::vector<int64_t> of_x, of_y;
  if (given != nullptr && given->is_array()) {
    const std::vector<int64_t> flat = n.Ints("axes");
    for (size_t i = 0; i < flat.size(); ++i) (i < flat.size() / 2 ? of_x : of_y).push_back(flat[i]);
  } else {
    const int64_t count = n.Int("axes", 2);
    if (count < 0 || count > rx || count > ry) return n.Fail("axes: out of range");
    of_x = Iota(count, rx - count), of_y = Iota(count);
  }
  if (of_x.size() != of_y.size()) return n.Fail("axes: expected as many of each");
  for (int64_t& axis : of_x) axis = n.Axis(axis, rx);
  for (int64_t& axis : of_y) axis = n.Axis(axis, ry);
  if (!b.status().ok()) return {};
  std::vector<int64_t> left, right = of_y;
  std::vector<Value> dims;
  for (int i = 0; i < rx; ++i) {
    if (std::ranges::count(of_x, i) == 0) left.push_back(i), dims.push_back(b.DimOf(all[0], i));
  }
  const auto kept = static_cast<int>(left.size());
  left.insert(left.end(), of_x.begin(), of_x.end());
  for (int i = 0; i < ry; ++i) {
    if (std::ranges::count(of_y, i) == 0) right.push_back(i), dims.push_back(b.DimOf(all[1], i));
  }
  const Term x = all[0].Transpose(left), y = all[1].Transpose(right);
  const auto count = static_cast<int>(of_y.size());
  const Value l = ShapedAs(b, x, {ProductOfDims(b, x, 0, kept), ProductOfDims(b, x, kept, rx)});
  const Value r = ShapedAs(b, y, {ProductOfDims(b, y, 0, count), ProductOfDims(b, y, count, ry)});
  return {ShapedAs(b, MatMulOf(b, l, r), dims)};
}

Outputs Transpose(LayerContext& n) {
  std::vector<int64_t> axes = n.Ints("axes");
  for (int i = n.Input(0).rank(); n.IsNull("axes") && i-- > 0;) axes.push_back(i);
  return {n.b().Transpose(n.Input(0), axes)};
}
Outputs ExpandDims(LayerContext& n) {
  Value x = n.Input(0);
  std::vector<int64_t> axes = n.Ints("axis", {0});
  const int rank = x.rank() + static_cast<int>(axes.size());
  for (int64_t& axis : axes) axis = n.Axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  for (const int64_t axis : axes) x = n.b().ExpandDims(x, static_cast<int>(axis));
  return {x};
}
Outputs Squeeze(LayerContext& n) {
  const Value x = n.Input(0);
  std::vector<int64_t> axes = n.Ints("axis");
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  for (int i = 0; n.IsNull("axis") && i < x.rank(); ++i) {
    if (x.dim(i).is_const(1)) axes.push_back(i);
  }
  return {n.b().Squeeze(x, axes)};
}
Outputs Stack(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.empty()) return n.Fail("expected tensors");
  const int axis = n.Axis(n.Int("axis", 0), all[0].rank() + 1);
  std::vector<Value> parts;
  for (const Term& v : all) parts.push_back(n.b().ExpandDims(v, axis));
  return {n.b().Concat(parts, axis)};
}
Outputs Split(LayerContext& n) {
  const int axis = n.Axis(n.Int("axis", 0), n.Input(0).rank());
  std::vector<int64_t> at = n.Ints("indices_or_sections");
  const Json* given = n.Setting("indices_or_sections");
  // TensorFlow says sizes.
  if (!n.site.parameters.empty() && given != nullptr && given->is_array()) {
    if (std::ranges::any_of(at, [](int64_t v) { return v < 0 || v > INT32_MAX; }))
      return n.Unsupported("sizes that are not said");
    for (size_t i = 1; i < at.size(); ++i) at[i] += at[i - 1];
    if (!at.empty()) at.pop_back();
  }
  if (given != nullptr && given->is_number_integer() && at.size() == 1)
    return n.b().Ops("split", {n.Input(0)}, {{"indices_or_sections", at[0]}, {"axis", axis}});
  return n.b().Ops("split", {n.Input(0)}, {{"indices_or_sections", ListOf(at)}, {"axis", axis}});
}
Outputs Pad(LayerContext& n) {
  const std::vector<int64_t> given = n.Ints("pad_width");
  const Value x = n.Input(0);
  std::vector<std::pair<int64_t, int64_t>> widths;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<size_t>(given.size() == 2 ? 0 : 2 * i);
    if (k + 1 >= given.size() && given.size() != 1)
      return n.Fail("pad_width: expected a pair for each axis");
    widths.emplace_back(given.size() == 1 ? given[0] : given[k],
                        given.size() == 1 ? given[0] : given[k + 1]);
  }
  const double value = n.Float("constant_values", 0);
  std::string mode = n.String("mode", "constant");
  std::ranges::transform(mode, mode.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto y =
      Padded(n, x, std::move(widths), {.fill = Like(n, x, value), .mode = std::move(mode)});
  return y ? Outputs{*y} : Outputs{};
}

// x[...]: numbers, slices, new axes and an ellipsis.
Outputs GetItem(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Json* by_place = n.site.positional;
  const bool placed = by_place != nullptr && by_place->is_array() && by_place->size() > 1;
  const Json* given = placed ? &(*by_place)[1] : n.Setting("key");
  if (given == nullptr) return n.Fail("expected a key");
  const Json key = given->is_array() ? *given : Json::array({*given});
  Term x(n, n.Input(0));
  int64_t named = 0;
  const auto is_ellipsis = [](const Json& k) {
    return TextAt(k, "class_name") == "__ellipsis__" || (k.is_string() && k == "...");
  };
  for (const Json& k : key) named += k.is_null() || is_ellipsis(k) ? 0 : 1;
  int axis = 0;
  for (const Json& k : key) {
    if (k.is_null()) {
      x = x.Expand(axis++);
    } else if (is_ellipsis(k)) {
      axis += n.Input(0).rank() - static_cast<int>(named);
    } else if (k.is_number_integer()) {
      const auto at = k.get<int64_t>();
      if (axis >= x.rank()) return n.Fail("too many indices");
      x = Term(b, b.Squeeze(x.Slice(axis, at, at == -1 ? INT64_MAX : at + 1), {axis}));
    } else if (const Json* slice = k.contains("step") ? &k : Member(k, "config");
               slice != nullptr && slice->contains("step")) {
      for (const char* part : {"start", "stop", "step"}) {
        const Json* v = Member(*slice, part);
        if (v != nullptr && !v->is_null() && !v->is_number_integer())
          return n.Unsupported("slices whose ends are tensors");
      }
      const auto number = [&](const char* of, int64_t fallback) {
        const Json* v = Member(*slice, of);
        return v != nullptr && v->is_number_integer() ? v->get<int64_t>() : fallback;
      };
      const int64_t step = number("step", 1);
      if (axis >= x.rank() || step == 0) return n.Fail("a slice that cannot be");
      x = x.Slice(axis, number("start", step > 0 ? 0 : INT64_MAX),
                  number("stop", step > 0 ? INT64_MAX : INT64_MIN + 1), step);
      ++axis;
    } else {
      return n.Unsupported("indices that are tensors");
    }
  }
  return {x};
}

constexpr LayerDef kArrayOperations[] = {
    {"Append", 2, 2, Join},
    {"Argmax", 1, 1, Place<true>},
    {"Argmin", 1, 1, Place<false>},
    {"Argsort", 1, 1, ArgSort},
    {"BroadcastTo", 1, -1, BroadcastTo},
    {"Concatenate", 1, -1, Join},
    {"Cumprod", 1, 1, Cumulative<true>},
    {"Cumsum", 1, 1, Cumulative<false>},
    {"DepthToSpace", 1, 1, DepthToSpace},
    {"Diff", 1, 1, Difference},
    {"Dot", 1, 2, DotOf},
    {"Einsum", 1, -1, EinsumOf},
    {"ExpandDims", 1, 1, ExpandDims},
    {"Flip", 1, 1, Flip},
    {"FullLike", 1, 1, FullLike},
    {"GetItem", 1, -1, GetItem},
    {"Matmul", 1, 2, Matmul},
    {"Moveaxis", 1, 1, MoveAxis},
    {"OneHot", 1, 1, OneHot},
    {"OnesLike", 1, 1, FilledLike<1>},
    {"Outer", 1, 2, Outer},
    {"Pad", 1, 1, Pad},
    {"Ravel", 1, 1, Ravel},
    {"Repeat", 1, 1, Repeat},
    {"Reshape", 1, -1, ReshapeTo},
    {"Roll", 1, 1, Roll},
    {"Shape", 1, 1, ShapeOf},
    {"Slice", 1, 1, SliceOf},
    {"Sort", 1, 1, Sort},
    {"SpaceToDepth", 1, 1, SpaceToDepth},
    {"Split", 1, 1, Split},
    {"Squeeze", 1, 1, Squeeze},
    {"Stack", 1, -1, Stack},
    {"Swapaxes", 1, 1, SwapAxes},
    {"Take", 1, 2, Take},
    {"TakeAlongAxis", 1, 2, TakeAlong},
    {"Tensordot", 1, 2, TensorDot},
    {"Tile", 1, 1, Tile},
    {"TopK", 1, 1, TopK},
    {"Transpose", 1, 1, Transpose},
    {"Tril", 1, 1, Triangle<false>},
    {"Triu", 1, 1, Triangle<true>},
    {"Unstack", 1, 1, Unstack},
    {"ZerosLike", 1, 1, FilledLike<0>},
};

}  // namespace

std::span<const LayerDef> ArrayOperations() { return kArrayOperations; }

}  // namespace relayvm::import::keras
