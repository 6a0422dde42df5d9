// Shapes, slices, joins: operators that move elements.
#include <fmt/format.h>

#include <cstring>

#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/quantised.h"
#include "compiler/import/onnx/random.h"
#include "compiler/import/onnx/runtime_axes.h"
#include "compiler/import/onnx/small_floats.h"
#include "compiler/import/onnx/strings.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

Outputs Identity(NodeContext& n) { return {n.Input(0)}; }

Outputs Constant(NodeContext& n) {
  TypedBuilder& b = n.b();
  if (n.HasAttr("value_int")) return {b.Int(n.Int("value_int", 0))};
  if (n.HasAttr("value_ints")) return {b.Ints(n.Ints("value_ints"))};
  if (n.HasAttr("value_float")) return {b.Scalar(n.Float("value_float", 0), DType::kFloat32)};
  if (n.HasAttr("value_floats")) {
    std::vector<float> values;
    for (double v : n.Floats("value_floats")) values.push_back(static_cast<float>(v));
    HostTensor t{DType::kFloat32, {static_cast<int64_t>(values.size())}, {}};
    t.data = SharedBytes::Copy(std::as_bytes(std::span(values)));
    return {b.Constant(std::move(t))};
  }
  if (n.HasAttr("value_string")) return {Texts(b, {n.String("value_string", "")}, {})};
  if (n.HasAttr("value_strings")) return {Texts(b, n.Strings("value_strings"))};
  if (const Value value = n.Tensor("value")) return {value};
  if (const Value value = n.SparseTensor("sparse_value")) return {value};
  return n.Unsupported("expected a value of numbers or strings");
}

Outputs ConstantOfShape(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value fill = n.Tensor("value");
  if (!fill) fill = b.Scalar(0, DType::kFloat32);
  const int bits = fill.bits;
  if (fill.rank() != 0) fill = b.Reshape(fill, {});
  const std::string dtype(DTypeName(fill.dtype()));
  const auto shape = b.ConstantInts(n.Input(0));
  Value y = shape ? b.Op("full", {fill}, {{"shape", ListOf(*shape)}, {"dtype", dtype}})
                  : b.Op("dyn.full", {fill, n.Input(0)}, {{"dtype", dtype}});
  y.bits = bits;
  return {y};
}

// To integers of a few bits: floats to the nearest of them, of integers the lowest bits.
Outputs CastTo(NodeContext& n, ElementKind kind) {
  Term x(n, 0);
  if (const SmallFloat* from = SmallFloatOf(x.value().bits)) {
    if (kind.bits == x.value().bits) return {x};
    x = Decoded(x, *from);
  }
  if (const SmallFloat* to = SmallFloatOf(kind.bits)) {
    if (x.dtype() == DType::kString) x = Term(n.b(), CastOfStrings(n, x, DType::kFloat32));
    return {Encoded(x, *to, n.Int("saturate", 1) != 0)};
  }
  if (x.dtype() == DType::kString || kind.dtype == DType::kString) {
    if (kind.bits != 0) return n.Unsupported("strings become no integers of fewer than 8 bits");
    return {CastOfStrings(n, x, kind.dtype)};
  }
  if (kind.bits != 0 && IsFloat(x.dtype())) return {Saturate(x.Call("round_even"), kind)};
  Value y = x;
  if (kind.bits != 0) {
    const double count = 1 << kind.bits;
    const Term low =
        x.As(DType::kInt32).Call("bitwise_and", n.b().Scalar(count - 1, DType::kInt32));
    y = IsSignedInt(kind.dtype) ? Select(low >= count / 2, low - count, low) : low;
  }
  y = n.b().Cast(y, kind.dtype);
  y.bits = kind.bits;
  return {y};
}
Outputs Cast(NodeContext& n) { return CastTo(n, n.Kind("to", DType::kFloat32)); }
Outputs CastLike(NodeContext& n) { return CastTo(n, KindOf(n.Input(1))); }

Outputs Shape(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int64_t rank = x.rank();
  const auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamp(n.Int("start", 0)), end = clamp(n.Int("end", rank));
  if (start == 0 && end == rank) return {b.ShapeOf(x)};
  if (start >= end) return {b.Ints({})};
  std::vector<Value> dims;
  for (int64_t i = start; i < end; ++i) dims.push_back(b.DimOf(x, static_cast<int>(i)));
  return {b.Concat(dims, 0)};
}

Outputs Size(NodeContext& n) {
  return {n.b().Op("ndarray_size", {n.Input(0)}, {{"dtype", "int64"}})};
}

Outputs Reshape(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  if (n.opset() < 5) return {b.Reshape(x, n.Ints("shape"))};
  const Value shape = n.Input(1);
  const bool allow_zero = n.Int("allowzero", 0) != 0;
  if (auto known = b.ConstantInts(shape)) {
    return {b.Op("reshape", {x}, {{"newshape", ListOf(*known)}, {"allowzero", allow_zero}})};
  }
  return {b.Op("dyn.reshape", {x, shape}, {{"allowzero", allow_zero}})};
}

Outputs Flatten(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int rank = x.rank();
  int64_t axis = n.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return n.Fail("axis is out of range");
  std::vector<Value> dims;
  if (axis == 0) return {b.Reshape(x, {1, -1})};
  if (axis == rank) return {b.Reshape(x, {-1, 1})};
  Value front = b.DimOf(x, 0);
  for (int i = 1; i < axis; ++i) front = b.Op("multiply", {front, b.DimOf(x, i)});
  Value back = b.DimOf(x, static_cast<int>(axis));
  for (int i = static_cast<int>(axis) + 1; i < rank; ++i)
    back = b.Op("multiply", {back, b.DimOf(x, i)});
  return {b.ReshapeTo(x, b.Concat({front, back}, 0))};
}

Outputs Transpose(NodeContext& n) {
  const Value x = n.Input(0);
  std::vector<int64_t> axes = n.Ints("perm");
  if (!n.HasAttr("perm")) {
    for (int i = x.rank(); i-- > 0;) axes.push_back(i);
  }
  return {n.b().Transpose(x, axes)};
}

// `x` as a view that says when it runs that the extent is this one.
Value WithExtent(TypedBuilder& b, const Value& x, int axis, const Value& extent) {
  std::vector<Value> dims;
  for (int i = 0; i < x.rank(); ++i) dims.push_back(i == axis ? extent : b.DimOf(x, i));
  return ShapedAs(b, x, dims);
}

// `x`, whose axis has that extent, or the program fails; `what` is `x` in errors.
Value Stating(NodeContext& n, const Value& x, int axis, int64_t extent, std::string what) {
  if (x.dim(axis).is_const() || !n.b().status().ok()) return x;
  std::vector<Dim> shape(static_cast<size_t>(x.rank()), Dim::Any());
  shape[static_cast<size_t>(axis)] = Dim(extent);
  return n.b().Stated({x, ir::MakeTensorType(shape, x.dtype())}, {}, std::move(what));
}

Outputs Squeeze(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  if (n.Has(1) && !b.ConstantInts(n.Input(1))) {
    const auto count = CountOf(n, n.Input(1), "axes");
    if (!count) return {};
    return {SqueezeBy(n, x, CheckedAxes(n, 1, x.rank(), *count), *count)};
  }
  if (auto axes = n.AxesOf("axes", 1)) {
    const std::vector<int64_t> gone = n.Axes(*axes, x.rank(), AxesText(n));
    if (!b.status().ok()) return {};
    Value y = x;
    for (const int64_t axis : gone) {
      const Dim extent = x.dim(static_cast<int>(axis));
      if (extent.is_const() && !extent.is_const(1)) {
        return n.Fail(fmt::format("{}: the extent of axis {} is {}, expected 1",
                                  n.InputText(0, "data"), axis, extent.value()));
      }
      y = Stating(n, y, static_cast<int>(axis), 1, n.InputText(0, "data"));
    }
    return {b.Squeeze(y, gone)};
  }
  // Which dims go decides the rank: those of 1. What follows is imported for an open dim that is 1 and
  // for one that is not; where that would be too often, such a dim stays, and must not be 1 when it runs.
  std::vector<int64_t> ones;
  Value y = x;
  for (int i = 0; i < x.rank(); ++i) {
    if (x.dim(i).is_const(1)) ones.push_back(i);
    const auto least = x.dim(i).LowerBound();
    if (x.dim(i).is_const() || (least && *least > 1)) continue;
    const Term extent(b, b.DimOf(x, i));
    if (const auto is_one = n.IsOne(x.dim(i))) {
      if (*is_one) y = WithExtent(b, y, i, b.Ints({1}));
      if (*is_one) ones.push_back(i);
      continue;
    }
    if (n.ForkByOne(x.dim(i), extent)) return {};
    const Term is_one = Equal(extent, 1).As(DType::kInt64);
    const Value none = CheckedEnd(
        {n, 0,
         fmt::format("how many dims of 1, beside those known when compiling (fix them with "
                     "--shape), at axis {} of",
                     i)},
        is_one, b.Ints({0}), b.Ints({1}));
    y = WithExtent(b, y, i, extent + Term(b, none) - 1);
  }
  return {b.Squeeze(y, ones)};
}

Outputs Unsqueeze(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  if (n.Has(1) && !b.ConstantInts(n.Input(1))) {
    const auto count = CountOf(n, n.Input(1), "axes");
    if (!count) return {};
    return {UnsqueezeBy(n, x, CheckedAxes(n, 1, x.rank() + *count, *count), *count)};
  }
  const auto axes = n.AxesOf("axes", 1);
  if (!axes) return n.Fail("expected axes");
  std::vector<int64_t> sorted =
      n.Axes(*axes, x.rank() + static_cast<int>(axes->size()), AxesText(n));
  if (!b.status().ok()) return {};
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return n.Fail("an axis is given twice");
  }
  for (int64_t axis : sorted) x = b.ExpandDims(x, static_cast<int>(axis));
  return {x};
}

Outputs Concat(NodeContext& n) {
  const int axis = n.Axis(n.Int("axis", 1), n.Input(0).rank());
  return {n.b().Concat(n.inputs(), axis)};
}

// Parts whose sizes are computed. `whole`: they are not negative and sum to the extent, which is
// checked; what is larger than any tensor counts as that, so that sums do not wrap (those of formulas
// over dims never do).
Outputs SplitBy(NodeContext& n, Value x, int axis, const std::vector<Term>& sizes, bool whole) {
  TypedBuilder& b = n.b();
  std::vector<Term> ends = {{b, b.Ints({0})}};
  for (const Term& size : sizes) {
    const bool bounded = !whole || FollowsFromDims(b, size.value());
    ends.push_back(ends.back() + (bounded ? size : Minimum(size, size.Number(0x1p48))));
  }
  if (whole) {
    const Term extent(b, b.DimOf(x, axis));
    ends.back() = Checked({n, 1, "the sum of split"}, ends.back(), extent, extent + 1);
    x = WithExtent(b, x, axis, ends.back());
  }
  const std::vector<int64_t> ones(static_cast<size_t>(axis) + 1, 1);
  Outputs parts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<Value> from, to;
    for (int k = 0; k < axis; ++k) {
      from.push_back(b.Ints({0}));
      to.push_back(b.Ints({INT64_MAX}));
    }
    from.push_back(ends[i]);
    to.push_back(ends[i + 1]);
    parts.push_back(
        b.Op("dyn.strided_slice", {x, b.Concat(from, 0), b.Concat(to, 0), b.Ints(ones)}));
  }
  return parts;
}

Outputs Split(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!b.status().ok()) return {};
  std::vector<int64_t> sizes;
  const auto outputs = static_cast<int64_t>(n.num_outputs());
  if (n.HasAttr("num_outputs") && n.Int("num_outputs", 0) != outputs) {
    return n.Fail(fmt::format("num_outputs: {}, expected {}, as many as the node's outputs",
                              n.Int("num_outputs", 0), outputs));
  }
  const auto has_count = [&](int64_t count) {
    if (count != outputs) {
      n.Fail(fmt::format("{}: {} sizes, expected {}, as many as the node's outputs",
                         n.InputText(1, "split"), count, outputs));
    }
    return count == outputs;
  };
  if (n.HasAttr("split")) {
    sizes = n.Ints("split");
    if (!has_count(static_cast<int64_t>(sizes.size()))) return {};
  } else if (n.Has(1)) {
    const auto given = b.ConstantInts(n.Input(1));
    if (!given) {
      const auto count = CountOf(n, n.Input(1), "split");
      if (!count || !has_count(*count)) return {};
      const Term split = Term(b, NotNegative({n, 1, "split"})).As(DType::kInt64);
      std::vector<Term> all;
      for (int64_t i = 0; i < *count; ++i) all.push_back(split.Slice(0, i, i + 1));
      return SplitBy(n, x, axis, all, /*whole=*/true);
    }
    sizes = *given;
    if (!has_count(static_cast<int64_t>(sizes.size()))) return {};
  }
  const size_t parts = sizes.empty() ? n.num_outputs() : sizes.size();
  if (sizes.empty()) {
    const auto count = static_cast<int64_t>(parts);
    if (parts <= 1) return {x};
    if (!x.dim(axis).is_const()) {
      // Equal parts, the last one smaller; which is what a slice beyond the end gives.
      const Term size =
          (Term(b, b.DimOf(x, axis)) + static_cast<double>(count - 1)) / static_cast<double>(count);
      return SplitBy(n, x, axis, std::vector<Term>(parts, size), /*whole=*/false);
    }
    const int64_t extent = x.dim(axis).value(), size = extent / count + (extent % count != 0);
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * size, 0, size));
  }
  for (const int64_t size : sizes) {
    if (size < 0) {
      return n.Fail(fmt::format("{}: {}, expected 0 or more", n.InputText(1, "split"), size));
    }
  }
  int64_t total = 0;
  for (int64_t size : sizes) {
    if (__builtin_add_overflow(total, size, &total)) return n.Fail("split: the sizes overflow");
  }
  if (x.dim(axis).is_const() && x.dim(axis).value() != total) {
    return n.Fail(fmt::format("the sum of {}: {}, expected {}, the extent of axis {}",
                              n.InputText(1, "split"), total, x.dim(axis).value(), axis));
  }
  const Value whole =
      Stating(n, x, axis, total,
              fmt::format("{}, that {} fills,", n.InputText(0, "input"), n.InputText(1, "split")));
  if (sizes.size() == 1) return {whole};
  AttrList at;
  int64_t position = 0;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) at.emplace_back(position += sizes[i]);
  return b.Ops("split", {whole}, {{"indices_or_sections", at}, {"axis", axis}});
}

// The steps of a slice, none of which may be 0: what is below 2^63 as an unsigned number but for 0.
Term NotZero(NodeContext& n) {
  const Term steps = Term(n, 4).As(DType::kInt64);
  const Term size = AtLeast({n, 4, "steps, by their sizes,"}, Abs(steps), 1);
  return Select(steps < 0, -size, size);
}

// starts, ends, axes and steps that are all computed.
Outputs SliceBy(NodeContext& n, const Value& x, const Value& starts, const Value& ends,
                int64_t count) {
  TypedBuilder& b = n.b();
  const int64_t rank = x.rank();
  if (count > rank) return n.Fail("more starts than dims");
  const Term axes = n.Has(3) ? CheckedAxes(n, 3, rank, count) : Term(b, b.Ints(Iota(count)));
  const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
  const std::vector<int64_t> last(static_cast<size_t>(rank), INT64_MAX);
  const Value begin = ByAxis(b.Ints(std::vector<int64_t>(ones.size(), 0)), axes, {b, starts});
  const Value end = ByAxis(b.Ints(last), axes, {b, ends});
  const Value steps = n.Has(4) ? ByAxis(b.Ints(ones), axes, NotZero(n)).value() : b.Ints(ones);
  return {b.Op("dyn.strided_slice", {x, begin, end, steps})};
}

// One index per axis; the ends of ONNX's slices lie where numpy's do.
Outputs Slice(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  std::vector<int64_t> axes, steps;
  Value starts, ends;
  size_t count = 0;
  if (n.opset() < 10) {
    starts = b.Ints(n.Ints("starts"));
    ends = b.Ints(n.Ints("ends"));
    axes = n.Ints("axes");
  } else {
    starts = n.Input(1);
    ends = n.Input(2);
    if ((n.Has(3) && !b.ConstantInts(n.Input(3))) || (n.Has(4) && !b.ConstantInts(n.Input(4)))) {
      const auto given = CountOf(n, starts, "starts");
      if (!given) return {};
      return SliceBy(n, x, starts, ends, *given);
    }
    if (n.Has(3)) {
      auto given = n.ConstantInts(3, "axes");
      if (!given) return {};
      axes = *given;
    }
    if (n.Has(4)) {
      auto given = n.ConstantInts(4, "steps");
      if (!given) return {};
      steps = *given;
    }
  }
  const auto known = CountOf(n, starts, "starts");
  if (!known || !CountOf(n, ends, "ends")) return {};
  count = static_cast<size_t>(*known);
  if (axes.empty()) {
    for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  axes = n.Axes(axes, x.rank(), n.Has(3) ? n.InputText(3, "axes") : "");
  if (steps.empty()) steps.assign(count, 1);
  const auto first = b.ConstantInts(starts), last = b.ConstantInts(ends);
  if (axes.size() != count || steps.size() != count)
    return n.Fail("starts, axes and steps differ in length");
  if (ends.dim(0) != starts.dim(0)) return n.Fail("starts and ends differ in length");
  if (std::find(steps.begin(), steps.end(), 0) != steps.end())
    return n.Fail(fmt::format("{}: 0, expected another number", n.InputText(4, "steps")));
  if (count == 0) return {x};
  if (first && last) {
    if (last->size() != count) return n.Fail("starts and ends differ in length");
    const Value y = b.Op("strided_slice", {x},
                         {{"begin", ListOf(*first)},
                          {"end", ListOf(*last)},
                          {"strides", ListOf(steps)},
                          {"axes", ListOf(axes)}});
    const bool forward = std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; });
    return {forward && y.shape() == x.shape() ? x : y};  // all of it
  }
  // dyn.strided_slice takes all axes from the first on.
  const int64_t covered = *std::max_element(axes.begin(), axes.end()) + 1;
  std::vector<Value> begin, end;
  std::vector<int64_t> strides;
  const Value starts64 = b.Cast(starts, DType::kInt64), ends64 = b.Cast(ends, DType::kInt64);
  const auto at = [&](const Value& v, int64_t i) {
    return b.Op("strided_slice", {v},
                {{"begin", AttrList{i}}, {"end", AttrList{i + 1}}, {"strides", AttrList{1}}});
  };
  for (int64_t axis = 0; axis < covered; ++axis) {
    const auto found = std::find(axes.begin(), axes.end(), axis);
    if (found == axes.end()) {
      begin.push_back(b.Ints({0}));
      end.push_back(b.DimOf(x, static_cast<int>(axis)));
      strides.push_back(1);
    } else {
      const int64_t i = found - axes.begin();
      begin.push_back(at(starts64, i));
      end.push_back(at(ends64, i));
      strides.push_back(steps[static_cast<size_t>(i)]);
    }
  }
  return {b.Op("dyn.strided_slice", {x, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(strides)})};
}

// A constant whose bytes are all 0.
bool IsZero(const Value& v) {
  if (v.constant == nullptr) return false;
  const std::span<const std::byte> bytes(v.constant->data.data(), v.constant->data.size());
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// The numbers are this compiler's own: ONNX leaves the generator open.
Outputs Dropout(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto training = n.Has(2) ? b.ConstantInts(n.Input(2)) : std::vector<int64_t>{0};
  const DType mask_dtype = n.opset() < 10 ? x.dtype() : DType::kBool;
  const Term all = x.Call("ones_like").As(mask_dtype);
  // A ratio that is no ratio is an error where it is not used, too.
  const bool is_known = n.Has(1) && n.Input(1).constant != nullptr;
  const auto given = [&] {
    return Fraction({n, 1, "ratio"}, AsScalar(Term(n, 1)), /*below_one=*/true);
  };
  if (is_known) given();
  if (!b.status().ok()) return {};
  if (training && training->size() == 1 && (*training)[0] == 0) return {x, all};
  if (n.Has(1) && IsZero(n.Input(1))) return {x, all};
  const Term ratio = n.Has(1) ? given() : x.Number(0.5);
  const Term mask = Uniform(n, b.ShapeOf(x)) >= ratio.As(DType::kFloat32);
  if (!b.status().ok()) return {};
  const Term kept = Select(mask, x / (1.0 - ratio).As(x.dtype()), x.Number(0));
  const Term on = AsScalar(Term(n, 2));
  return {Select(on, kept, x), Or(mask, Not(on))};
}

Outputs Gather(NodeContext& n) {
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!n.b().status().ok()) return {};
  const Value at = FromFront({n, 1, "indices"}, n.Input(1), n.b().DimOf(x, axis));
  return {n.b().Op("take", {x, at}, {{"axis", axis}})};
}

Outputs GatherElements(NodeContext& n) {
  const Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!n.b().status().ok()) return {};
  const Value at = FromFront({n, 1, "indices"}, n.Input(1), n.b().DimOf(x, axis));
  return {n.b().Op("gather", {x, at}, {{"axis", axis}})};
}

Outputs Expand(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), shape = n.Input(1);
  const auto count = CountOf(n, shape, "shape");
  if (!count) return {};
  const int want = static_cast<int>(*count), rank = std::max(want, x.rank());
  const auto elements = b.Elements(shape);
  // Each dim is the broadcast of both.
  std::vector<Value> dims;
  for (int i = 0; i < rank; ++i) {
    const int in_shape = i - (rank - want), in_x = i - (rank - x.rank());
    const auto known = [&] { return (*elements)[static_cast<size_t>(in_shape)]; };
    if (in_shape < 0) {
      dims.push_back(b.DimOf(x, in_x));
    } else if (in_x < 0 || x.dim(in_x).is_const(1)) {
      if (elements && known().is_const()) {
        if (known().value() < 0) {
          return n.Fail(
              fmt::format("{}: {} is negative", n.InputText(1, "shape"), known().value()));
        }
        dims.push_back(b.Ints({known().value()}));
        continue;
      }
      dims.push_back(b.Op("strided_slice", {b.Cast(shape, DType::kInt64)},
                          {{"begin", AttrList{in_shape}},
                           {"end", AttrList{in_shape + 1}},
                           {"strides", AttrList{1}}}));
    } else if (elements && (known().is_const(1) || known() == x.dim(in_x))) {
      dims.push_back(b.DimOf(x, in_x));
    } else {
      // Which of both is 1, if either, is told when it runs: as where other operators broadcast.
      const Value like = Filled(b, 0, x.dtype(), shape);
      return {b.Op("where", {b.Full({}, 1, DType::kBool), x, like})};
    }
  }
  if (dims.empty()) return {x};
  const Value target = b.Concat(dims, 0);
  const auto known = b.ConstantInts(target);
  const Value y = known ? b.Op("broadcast_to", {x}, {{"shape", ListOf(*known)}})
                        : b.Op("dyn.broadcast_to", {x, target});
  return {y.shape() == x.shape() ? x : y};
}

Outputs Tile(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value times = NotNegative({n, 1, "repeats"});
  if (auto reps = b.ConstantInts(times)) {
    return {b.Op("tile", {n.Input(0)}, {{"reps", ListOf(*reps)}})};
  }
  return {b.Op("dyn.tile", {n.Input(0), times})};
}

Outputs Where(NodeContext& n) { return {n.b().Op("where", n.inputs())}; }

Outputs Range(NodeContext& n) {
  TypedBuilder& b = n.b();
  const DType dtype = n.Input(0).dtype();
  std::vector<Value> args;
  for (const Value& v : n.inputs()) args.push_back(v.rank() == 0 ? v : b.Reshape(v, {}));
  if (!IsFloat(dtype)) {
    // 0 is of neither sign: the step by its size is 1 or more.
    const Term step(b, args[2]);
    if (IsSignedInt(dtype)) {
      if (!FollowsFromDims(b, step) || b.ConstantInts(step)) {
        const Term size = AtLeast({n, 2, "delta, by its size,"}, Abs(step.As(DType::kInt64)), 1);
        args[2] = b.ConstantInts(step) ? args[2] : Select(step < 0, -size, size).As(dtype).value();
      }
    } else {
      args[2] = AtLeast({n, 2, "delta"}, step, 1);
    }
  }
  return {b.Op("arange", args, {{"dtype", std::string(DTypeName(dtype))}})};
}

// Pads that are computed; or what wraps around.
Outputs PadBy(NodeContext& n, const Value& x, const Value& fill, const std::string& mode) {
  TypedBuilder& b = n.b();
  const int64_t rank = x.rank();
  const Term pads = Term(n, 1).As(DType::kInt64);
  const auto count = CountOf(n, pads, "pads");
  if (!count) return {};
  const int64_t half = *count / 2;
  if (*count != 2 * half || half > rank || (half < rank && !n.Has(3))) {
    return n.Fail("pads: expected a start and an end for each axis");
  }
  Term before = pads.Slice(0, 0, half), after = pads.Slice(0, half, *count);
  if (n.Has(3)) {
    const auto axes = CountOf(n, n.Input(3), "axes");
    if (!axes) return {};
    if (*axes != half) return n.Fail("pads: expected a start and an end for each axis");
    const Value zeros = b.Ints(std::vector<int64_t>(static_cast<size_t>(rank), 0));
    const Term places = CheckedAxes(n, 3, rank, half);
    before = ByAxis(zeros, places, before);
    after = ByAxis(zeros, places, after);
  }
  if (mode != "wrap") {
    // What is negative cuts off first. Pads that follow from dims are sizes: none is negative.
    std::vector<Value> begin, end;
    bool crops = false;
    for (int axis = 0; axis < rank; ++axis) {
      const Term front = before.Slice(0, axis, axis + 1), back = after.Slice(0, axis, axis + 1);
      const auto is_size = [&](const Term& pad) {
        const auto number = b.ConstantInts(pad);
        return number ? (*number)[0] >= 0 : FollowsFromDims(b, pad);
      };
      if (is_size(front) && is_size(back)) {
        begin.push_back(b.Ints({0}));
        end.push_back(b.Ints({INT64_MAX}));
        continue;
      }
      crops = true;
      const Term first = -Minimum(front, front.Number(0));
      const Term lost = first - Minimum(back, back.Number(0));
      const Term left = AtLeast({n, 1, "what stays of an axis by the negative pads"},
                                Term(b, b.DimOf(x, axis)) - lost, 0);
      begin.push_back(first);
      end.push_back(first + left);
    }
    Value source = x;
    if (crops) {
      source =
          b.Op("dyn.strided_slice", {x, b.Concat(begin, 0), b.Concat(end, 0),
                                     b.Ints(std::vector<int64_t>(static_cast<size_t>(rank), 1))});
      before = Maximum(before, before.Number(0));
      after = Maximum(after, after.Number(0));
    }
    // A pair for each axis.
    std::vector<int64_t> places;
    for (int64_t i = 0; i < rank; ++i) places.insert(places.end(), {i, rank + i});
    const Term ends(b, b.Concat({before, after}, 0));
    const Term pairs = ends.Take(b.Ints(places), 0).Reshape({-1, 2});
    return {b.Op("dyn.nn.pad", {source, pairs, fill}, {{"pad_mode", mode}})};
  }
  Term y(b, x);
  for (int axis = 0; axis < rank; ++axis) {
    const Term from = AsScalar(before.Slice(0, axis, axis + 1));
    const Term extent = Extent(b, x, axis);
    const Term places = Range(extent + from + AsScalar(after.Slice(0, axis, axis + 1))) - from;
    y = y.Take(places.Call("floor_mod", extent), axis);
  }
  return {y};
}

Outputs Pad(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const std::string mode = n.String("mode", "constant");
  Value fill = Like(n, x, n.Float("value", 0));
  std::vector<int64_t> pads;
  if (n.opset() < 11) {
    pads = n.HasAttr("pads") ? n.Ints("pads") : n.Ints("paddings");
  } else {
    if (n.Has(2)) fill = AsScalar(Term(n, 2));
    if (!n.Has(1)) return n.Fail("expected pads");
    if (mode == "wrap" || !b.ConstantInts(n.Input(1)) ||
        (n.Has(3) && !b.ConstantInts(n.Input(3)))) {
      return PadBy(n, x, fill, mode);
    }
    pads = *b.ConstantInts(n.Input(1));
  }
  std::vector<int64_t> axes;
  if (n.Has(3)) {
    auto given = n.ConstantInts(3, "axes");
    if (!given) return {};
    axes = n.Axes(*given, x.rank(), n.InputText(3, "axes"));
  } else {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  if (pads.size() != 2 * axes.size())
    return n.Fail("pads: expected a start and an end for each axis");
  std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
  bool crops = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    widths[static_cast<size_t>(axes[i])] = {pads[i], pads[i + axes.size()]};
    crops |= pads[i] < 0 || pads[i + axes.size()] < 0;
  }
  Value source = x;
  if (crops) {
    std::vector<int64_t> begin, end, strides;
    for (int axis = 0; axis < x.rank(); ++axis) {
      auto& [before, after] = widths[static_cast<size_t>(axis)];
      // Negated, each fits for sure; and what is cut off a dim that is known is no more than it has.
      const int64_t front = std::min<int64_t>(before, 0), back = std::min<int64_t>(after, 0);
      const int64_t room = x.dim(axis).is_const() ? x.dim(axis).value() : INT64_MAX;
      if (front < -room || back < -room - front) {
        return n.Fail(fmt::format("pads: axis {} has {} elements, and loses more", axis, room));
      }
      begin.push_back(-front);
      end.push_back(after < 0 ? after : INT64_MAX);
      strides.push_back(1);
      before = std::max<int64_t>(before, 0);
      after = std::max<int64_t>(after, 0);
    }
    source = b.Op("strided_slice", {x},
                  {{"begin", ListOf(begin)}, {"end", ListOf(end)}, {"strides", ListOf(strides)}});
  }
  AttrList pairs;
  for (const auto& [before, after] : widths) pairs.emplace_back(AttrList{before, after});
  return {b.Op("nn.pad", {source, fill}, {{"pad_width", pairs}, {"pad_mode", mode}})};
}

constexpr OperatorDef kTensorOperators[] = {
    {"Cast", 1, 1, Cast},
    {"CastLike", 2, 2, CastLike},
    {"Concat", 1, -1, Concat},
    {"Constant", 0, 0, Constant},
    {"ConstantOfShape", 1, 1, ConstantOfShape},
    {"Dropout", 1, 3, Dropout},
    {"Expand", 2, 2, Expand},
    {"Flatten", 1, 1, Flatten},
    {"Gather", 2, 2, Gather},
    {"GatherElements", 2, 2, GatherElements},
    {"Identity", 1, 1, Identity},
    {"Pad", 1, 4, Pad},
    {"Range", 3, 3, Range},
    {"Reshape", 1, 2, Reshape},
    {"Shape", 1, 1, Shape},
    {"Size", 1, 1, Size},
    {"Slice", 1, 5, Slice},
    {"Split", 1, 2, Split},
    {"Squeeze", 1, 2, Squeeze},
    {"Tile", 2, 2, Tile},
    {"Transpose", 1, 1, Transpose},
    {"Unsqueeze", 1, 2, Unsqueeze},
    {"Where", 3, 3, Where},
};

}  // namespace

std::span<const OperatorDef> TensorOperators() { return kTensorOperators; }

}  // namespace relayvm::import
