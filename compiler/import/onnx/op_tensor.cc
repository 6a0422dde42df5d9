// Shapes, casts, constants: operators that move elements. Slices: op_slice.cc.
#include <fmt/format.h>

#include <cstring>

#include "compiler/import/composite/axes.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/quantised.h"
#include "compiler/import/onnx/random.h"
#include "compiler/import/onnx/small_floats.h"
#include "compiler/import/onnx/strings.h"

namespace relayvm::import {

namespace {

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

Outputs Squeeze(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  if (n.Has(1) && !b.ConstantInts(n.Input(1))) {
    const auto count = CountOf(n, n.Input(1), "axes");
    if (!count) return {};
    return {SqueezeBy({n, 0, "data"}, CheckedAxes({n, 1, "axes"}, x.rank(), *count), *count)};
  }
  if (auto axes = n.AxesOf("axes", 1)) {
    const std::vector<int64_t> gone = n.Axes(*axes, x.rank(), AxesText(n));
    if (!b.status().ok()) return {};
    Value y = x;
    for (const int64_t axis : gone) {
      const Dim extent = x.dim(static_cast<int>(axis));
      if (extent.is_const() && !extent.is_const(1)) {
        return n.Fail("{}: the extent of axis {} is {}, expected 1", n.InputText(0, "data"), axis,
                      extent.value());
      }
      y = Stating(n, y, static_cast<int>(axis), 1, n.InputText(0, "data"));
    }
    return {b.Squeeze(y, gone)};
  }
  // Which dims go decides the rank: those of 1. What follows is imported for an open dim that is 1
  // and for one that is not; where that would be too often, such a dim stays, and must not be 1
  // when it runs.
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
    return {UnsqueezeBy(n, x, CheckedAxes({n, 1, "axes"}, x.rank() + *count, *count), *count)};
  }
  const auto axes = n.AxesOf("axes", 1);
  if (!axes) return n.Fail("expected axes");
  std::vector<int64_t> sorted =
      n.Axes(*axes, x.rank() + static_cast<int>(axes->size()), AxesText(n));
  if (!b.status().ok()) return {};
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return n.Fail("an axis is given twice");
  for (int64_t axis : sorted) x = b.ExpandDims(x, static_cast<int>(axis));
  return {x};
}

Outputs Concat(NodeContext& n) {
  const int axis = n.Axis(n.Int("axis", 1), n.Input(0).rank());
  return {n.b().Concat(n.inputs(), axis)};
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
        if (known().value() < 0)
          return n.Fail("{}: {} is negative", n.InputText(1, "shape"), known().value());
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
    {"Range", 3, 3, Range},
    {"Reshape", 1, 2, Reshape},
    {"Shape", 1, 1, Shape},
    {"Size", 1, 1, Size},
    {"Squeeze", 1, 2, Squeeze},
    {"Tile", 2, 2, Tile},
    {"Transpose", 1, 1, Transpose},
    {"Unsqueeze", 1, 2, Unsqueeze},
    {"Where", 3, 3, Same<"where">},
};

}  // namespace

std::span<const OperatorDef> TensorOperators() { return kTensorOperators; }

}  // namespace relayvm::import
