// Shapes, and tensors made of others' elements in another order.
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/composite/resize.h"
#include "compiler/import/tflite/quantised.h"
#include "compiler/import/tflite/spread.h"

namespace relayvm::import::tflite {

namespace {

Term Longs(NodeContext& n, size_t i) { return Term(n, i).As(DType::kInt64); }

// --- Shapes ---

Value ReshapedTo(NodeContext& n, const Value& x, const Value& shape) {
  TypedBuilder& b = n.b();
  const auto known = b.ConstantInts(shape);
  const bool has_zero = known && std::ranges::find(*known, 0) != known->end();
  return has_zero ? ShapedAs(b, x, {shape}) : b.ReshapeTo(x, shape);
}

Outputs Reshape(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value shape;
  if (n.Has(1) && n.Input(1).rank() <= 1) {
    shape = AsVector(Longs(n, 1));
  } else if (const auto* dims = n.Get<fb::ReshapeOptions>().new_shape()) {
    shape = b.Ints({dims->begin(), dims->end()});
  } else {
    return n.Fail("expected a shape");
  }
  if (n.In(0).is_complex()) shape = b.Concat({shape, b.Ints({2})}, 0);
  return {ReshapedTo(n, n.Input(0), shape)};
}

Outputs Squeeze(NodeContext& n) {
  const auto* dims = n.Get<fb::SqueezeOptions>().squeeze_dims();
  const Value x = n.Input(0);
  std::vector<int64_t> axes;
  for (uint32_t i = 0; dims != nullptr && i < dims->size(); ++i)
    axes.push_back(n.Axis(dims->Get(i), x.rank()));
  if (axes.empty()) {
    for (int i = 0; i < x.rank(); ++i)
      if (x.dim(i).is_const(1)) axes.push_back(i);
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return {axes.empty() ? x : n.b().Squeeze(x, axes)};
}

Outputs ExpandDims(NodeContext& n) {
  const auto axis = n.ConstantInts(1, "axis");
  if (!axis || axis->size() != 1)
    return n.b().status().ok() ? n.Fail("expected one axis") : Outputs{};
  return {Term(n, 0).Expand(n.Axis((*axis)[0], n.Input(0).rank() + 1))};
}

Outputs Transpose(NodeContext& n) {
  const auto axes = n.ConstantInts(1, "axes");
  if (!axes) return {};
  const int rank = n.Input(0).rank();
  if (static_cast<int>(axes->size()) != rank)
    return n.Fail("{} axes, expected {}", axes->size(), rank);
  std::vector<int64_t> order;
  for (const int64_t a : *axes) {
    order.push_back(n.Axis(a, rank));
    if (std::ranges::count(order, order.back()) > 1) return n.Fail("axis {} twice", a);
  }
  return {order == Iota(rank) ? n.Input(0) : n.b().Transpose(n.Input(0), order)};
}

Outputs ShapeOf(NodeContext& n) {
  const bool wide = n.Get<fb::ShapeOptions>().out_type() == fb::TensorType::INT64;
  return {n.b().Cast(n.b().ShapeOf(n.Input(0)), wide ? DType::kInt64 : DType::kInt32)};
}

Outputs Rank(NodeContext& n) { return {n.b().Int(n.Input(0).rank(), DType::kInt32)}; }

Outputs Fill(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term value = AsScalar(Term(n, 1)), shape = Longs(n, 0);
  const std::string dtype(DTypeName(value.dtype()));
  if (const auto known = b.ConstantInts(shape))
    return {b.Op("full", {value}, {{"shape", ListOf(*known)}, {"dtype", dtype}})};
  return {b.Op("dyn.full", {value, NotNegative({b, shape, n.InputText(0, "shape")})},
               {{"dtype", dtype}})};
}

Outputs ZerosLike(NodeContext& n) { return {Term(n, 0).Call("zeros_like")}; }

Outputs RangeOfNumbers(NodeContext& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> ends;
  for (size_t i = 0; i < 3; ++i) ends.push_back(AsScalar(Term(n, i)));
  return {b.Op("arange", ends, {{"dtype", std::string(DTypeName(ends[0].dtype()))}})};
}

// The broadcast of two shapes, int64.
std::optional<Value> BroadcastShape(NodeContext& n, const Term& x, const Term& y) {
  TypedBuilder& b = n.b();
  const auto of_x = CountOf(b, x, "shape"), of_y = CountOf(b, y, "shape");
  if (!of_x || !of_y) return std::nullopt;
  const auto filled = [&](const Term& v, int64_t count, int64_t rank) {
    if (count == rank) return v;
    const std::vector<int64_t> ones(static_cast<size_t>(rank - count), 1);
    return Term(b, b.Concat({b.Ints(ones), v}, 0));
  };
  const int64_t rank = std::max(*of_x, *of_y);
  const Term a = filled(x, *of_x, rank), c = filled(y, *of_y, rank);
  return Select(Equal(a, 1), c, a);
}

Outputs BroadcastTo(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto shape = BroadcastShape(n, Term(b, b.ShapeOf(n.Input(0))), AsVector(Longs(n, 1)));
  if (!shape) return {};
  const std::string dtype(DTypeName(n.Input(0).dtype()));
  if (const auto known = b.ConstantInts(*shape))
    return {b.Op("broadcast_to", {n.Input(0)}, {{"shape", ListOf(*known)}, {"dtype", dtype}})};
  return {b.Op("dyn.broadcast_to", {n.Input(0), *shape}, {{"dtype", dtype}})};
}

Outputs BroadcastArgs(NodeContext& n) {
  const auto shape = BroadcastShape(n, Longs(n, 0), Longs(n, 1));
  return shape ? Outputs{n.b().Cast(*shape, n.Input(0).dtype())} : Outputs{};
}

// --- Joins ---

Outputs Concatenate(NodeContext& n) {
  const auto& o = n.Get<fb::ConcatenationOptions>();
  if (n.num_inputs() == 0) return n.Fail("there is nothing to join");
  std::vector<Value> parts;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    // Those of 16 bits stay what they are.
    const bool codes =
        IsQuantised(n.In(i)) && IsQuantised(n.Out()) && DTypeBytes(n.Input(i).dtype()) == 1;
    parts.push_back(codes ? Rescaled(n, n.Input(i), n.In(i), n.Out()) : n.Input(i));
  }
  const Value y = n.b().Concat(parts, n.Axis(o.axis(), parts[0].rank()));
  return {IsQuantised(n.Out()) ? y : Activated(Term(n.b(), y), o.activation()).value()};
}

Outputs Pack(NodeContext& n) {
  if (n.num_inputs() == 0) return n.Fail("there is nothing to join");
  const int axis = n.Axis(n.Get<fb::PackOptions>().axis(), n.Input(0).rank() + 1);
  std::vector<Value> parts;
  for (const Value& v : n.inputs()) parts.push_back(n.b().ExpandDims(v, axis));
  return {n.b().Concat(parts, axis)};
}

Outputs Tile(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value times = NotNegative({b, Longs(n, 1), n.InputText(1, "multiples")});
  if (const auto known = b.ConstantInts(times))
    return {b.Op("tile", {n.Input(0)}, {{"reps", ListOf(*known)}})};
  return {b.Op("dyn.tile", {n.Input(0), times})};
}

// --- Padding ---

AttrList Pairs(const std::vector<int64_t>& numbers) {
  AttrList pairs;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2)
    pairs.emplace_back(AttrList{numbers[i], numbers[i + 1]});
  return pairs;
}

Outputs PaddedWith(NodeContext& n, const PadSpec& spec) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  if (n.Input(1).rank() != 2) return n.Fail("expected paddings of 2 dims");
  if (const auto known = b.ConstantInts(n.Input(1))) {
    std::vector<std::pair<int64_t, int64_t>> widths;
    for (size_t i = 0; i + 1 < known->size(); i += 2)
      widths.emplace_back((*known)[i], (*known)[i + 1]);
    if (static_cast<int>(widths.size()) != x.rank())
      return n.Fail("paddings of {} axes, the input has {}", widths.size(), x.rank());
    const auto y = Padded(b, x, std::move(widths), spec);
    return y ? Outputs{*y} : Outputs{};
  }
  const Term pads = Longs(n, 1);
  const Term before(b, b.Squeeze(pads.Slice(1, 0, 1), {1}));
  const Term after(b, b.Squeeze(pads.Slice(1, 1, 2), {1}));
  return {PaddedBy({n, 1, "paddings"}, x, before, after, spec)};
}

Outputs Pad(NodeContext& n) {
  const double zero = static_cast<double>(n.In(0).quantisation.zero());
  const Value fill = n.Has(2) ? AsScalar(Term(n, 2)).As(n.Input(0).dtype()).value()
                              : n.b().Scalar(zero, n.Input(0).dtype());
  return PaddedWith(n, {.fill = fill});
}

Outputs MirrorPad(NodeContext& n) {
  const bool symmetric = n.Get<fb::MirrorPadOptions>().mode() == 1;
  const auto known = n.b().ConstantInts(n.Input(1));
  if (known && symmetric && n.Input(1).rank() == 2) {
    return {
        Term(n, 0).Call("nn.mirror_pad", {{"mode", "SYMMETRIC"}, {"pad_width", Pairs(*known)}})};
  }
  return PaddedWith(n, {.fill = n.b().Scalar(0, n.Input(0).dtype()),
                        .mode = symmetric ? "symmetric" : "reflect"});
}

// --- Order ---

Outputs Reverse(NodeContext& n) {
  const auto axes = n.ConstantInts(1, "axes");
  if (!axes) return {};
  Term y(n, 0);
  const int rank = y.rank();
  for (const int64_t a : *axes) y = y.Call("reverse", {{"axis", n.Axis(a, rank)}});
  return {y};
}

Outputs ReverseSequence(NodeContext& n) {
  const auto& o = n.Get<fb::ReverseSequenceOptions>();
  TypedBuilder& b = n.b();
  const int axis = n.Axis(o.seq_dim(), n.Input(0).rank());
  const int batch = n.Axis(o.batch_dim(), n.Input(0).rank());
  if (!b.status().ok()) return {};
  const Term end = Term(b, b.DimOf(n.Input(0), axis)) + 1;
  const Term lengths = Checked({n, 1, "lengths"}, Longs(n, 1), 0, end);
  return {b.Op("reverse_sequence", {n.Input(0), lengths.As(DType::kInt32)},
               {{"seq_axis", axis}, {"batch_axis", batch}})};
}

Outputs DepthToSpace(NodeContext& n) {
  const int64_t size = n.Get<fb::DepthToSpaceOptions>().block_size();
  if (size < 1) return n.Fail("blocks of {}", size);
  return {Term(n, 0).Call("nn.depth_to_space", {{"block_size", size}, {"layout", "NHWC"}})};
}
Outputs SpaceToDepth(NodeContext& n) {
  const int64_t size = n.Get<fb::SpaceToDepthOptions>().block_size();
  if (size < 1) return n.Fail("blocks of {}", size);
  return {Term(n, 0).Call("nn.space_to_depth", {{"block_size", size}, {"layout", "NHWC"}})};
}

// A column (int64, rank 1) of the paddings, with a zero in front for the batch and behind for the
// axes that have none.
Term PaddingColumn(NodeContext& n, int64_t column, int64_t blocks, int rank) {
  TypedBuilder& b = n.b();
  const Term all = Longs(n, 2);
  const Value own = b.Squeeze(all.Slice(1, column, column + 1), {1});
  const std::vector<int64_t> rest(static_cast<size_t>(rank - 1 - blocks), 0);
  return {b, b.Concat({b.Ints({0}), own, b.Ints(rest)}, 0)};
}

Outputs SpaceToBatchBy(NodeContext& n, const std::vector<int64_t>& block) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto count = static_cast<int64_t>(block.size());
  const Value fill = b.Scalar(static_cast<double>(n.In(0).quantisation.zero()), x.dtype());
  const Value y = PaddedBy({n, 2, "paddings"}, x, PaddingColumn(n, 0, count, x.rank()),
                           PaddingColumn(n, 1, count, x.rank()), {.fill = fill});
  // (n, o0, b0, o1, b1 .., rest) to (b0, b1 .., n, o0, o1 .., rest).
  std::vector<Value> split = {b.DimOf(y, 0)}, joined;
  std::vector<int64_t> order;
  Term batch(b, b.DimOf(y, 0));
  for (int64_t i = 0; i < count; ++i) {
    const double size = static_cast<double>(block[static_cast<size_t>(i)]);
    const Term extent(b, b.DimOf(y, static_cast<int>(i) + 1));
    split.push_back(extent.Call("floor_divide", extent.Number(size)));
    split.push_back(b.Ints({block[static_cast<size_t>(i)]}));
    order.push_back(2 + 2 * i);
    batch = batch * size;
    joined.push_back(split[split.size() - 2]);
  }
  order.push_back(0);
  for (int64_t i = 0; i < count; ++i) order.push_back(1 + 2 * i);
  joined.insert(joined.begin(), batch);
  for (int i = static_cast<int>(count) + 1; i < x.rank(); ++i) {
    split.push_back(b.DimOf(y, i));
    joined.push_back(b.DimOf(y, i));
    order.push_back(static_cast<int64_t>(order.size()));
  }
  return {ShapedAs(b, b.Transpose(ShapedAs(b, y, split), order), joined)};
}

Outputs BatchToSpaceBy(NodeContext& n, const std::vector<int64_t>& block) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto count = static_cast<int64_t>(block.size());
  double all = 1;
  std::vector<Value> split, joined;
  std::vector<int64_t> order = {count};
  for (const int64_t size : block) {
    all *= static_cast<double>(size);
    split.push_back(b.Ints({size}));
  }
  const Term batch(b, b.DimOf(x, 0));
  split.push_back(batch.Call("floor_divide", batch.Number(all)));
  joined.push_back(split.back());
  for (int i = 1; i < x.rank(); ++i) {
    const Value extent = b.DimOf(x, i);
    split.push_back(extent);
    order.push_back(count + i);
    if (i > count) {
      joined.push_back(extent);
      continue;
    }
    order.push_back(i - 1);
    joined.push_back(Term(b, extent) * static_cast<double>(block[static_cast<size_t>(i - 1)]));
  }
  const Value y = ShapedAs(b, b.Transpose(ShapedAs(b, x, split), order), joined);
  const Term begin = PaddingColumn(n, 0, count, x.rank());
  const Term end = Term(b, b.ShapeOf(y)) - PaddingColumn(n, 1, count, x.rank());
  const std::vector<int64_t> ones(static_cast<size_t>(x.rank()), 1);
  return {b.Op("dyn.strided_slice", {y, begin, end, b.Ints(ones)})};
}

Outputs Blocks(NodeContext& n, bool to_batch) {
  const auto block = n.ConstantInts(1, "block_shape");
  if (!block) return {};
  const Value x = n.Input(0), widths = n.Input(2);
  const auto count = static_cast<int64_t>(block->size());
  if (count < 1 || count >= x.rank() || widths.rank() != 2 || !widths.dim(0).is_const(count) ||
      !widths.dim(1).is_const(2)) {
    return n.Fail("blocks and paddings do not fit an input of rank {}", x.rank());
  }
  for (const int64_t size : *block)
    if (size < 1 || size > INT32_MAX) return n.Fail("a block of {}", size);
  const auto pads = n.b().ConstantInts(widths);
  if (!pads) return to_batch ? SpaceToBatchBy(n, *block) : BatchToSpaceBy(n, *block);
  if (to_batch) {
    return {n.b().Op("nn.space_to_batch_nd", {x},
                     {{"block_shape", ListOf(*block)},
                      {"paddings", Pairs(*pads)},
                      {"pad_value", static_cast<double>(n.In(0).quantisation.zero())}})};
  }
  return {n.b().Op("nn.batch_to_space_nd", {x},
                   {{"block_shape", ListOf(*block)}, {"crops", Pairs(*pads)}})};
}
Outputs SpaceToBatch(NodeContext& n) { return Blocks(n, true); }
Outputs BatchToSpace(NodeContext& n) { return Blocks(n, false); }

// --- Resizes ---

Term SizesOfPicture(NodeContext& n) { return AsVector(Longs(n, 1)); }

// Codes: positions and weights are whole numbers of 1/1024, and what they sum is rounded, halves
// away from zero.
Value LinearOfCodes(NodeContext& n, bool corners, bool half_pixel) {
  TypedBuilder& b = n.b();
  const Term sizes = SizesOfPicture(n);
  Term y = Term(n, 0).As(DType::kInt32);
  constexpr double kOne = 1 << 10;
  // Both axes are sums of two elements; after the first, numbers are codes * 2^10.
  for (int axis = 1; axis <= 2; ++axis) {
    const Term in = Extent(b, n.Input(0), axis);
    const Term out = AsScalar(sizes.Slice(0, axis - 1, axis));
    const Term shrunk_in = in - 1, shrunk_out = out - 1;
    const auto scale_of = [&](const Term& from, const Term& to) {
      return (from * kOne + to.Call("floor_divide", to.Number(2))).Call("floor_divide", to);
    };
    Term scale = scale_of(in, out);
    if (corners)
      scale = Select(out > 1, scale_of(shrunk_in, Maximum(shrunk_out, out.Number(1))), scale);
    Term at = Range(out) * scale;
    if (half_pixel) at = at + scale.Call("floor_divide", scale.Number(2)) - kOne / 2;
    const Term low = Maximum((at / at.Number(kOne)), at.Number(0));
    const Term high = Minimum((at + (kOne - 1)) / at.Number(kOne), shrunk_in);
    const Term part = (at - low * kOne).As(DType::kInt32);
    const auto along = [&](const Term& v) { return v.Expand(1, 3 - axis); };
    const Term first = y.Take(low, axis), second = y.Take(high, axis);
    if (axis == 2) {
      const Term wide =
          first.As(DType::kInt64) * along(part.Number(kOne) - part).As(DType::kInt64) +
          second.As(DType::kInt64) * along(part).As(DType::kInt64);
      const Term round = Select(wide > 0, wide.Number(1 << 19), wide.Number(-(1 << 19)));
      return ((wide + round) / wide.Number(1 << 20)).As(n.Input(0).dtype());
    }
    y = first * along(part.Number(kOne) - part) + second * along(part);
  }
  return y;
}

Outputs ResizeBilinear(NodeContext& n) {
  const auto& o = n.Get<fb::ResizeBilinearOptions>();
  if (n.Input(0).rank() != 4) return n.Fail("expected 4 dims, found {}", n.Input(0).rank());
  const DType dtype = n.Input(0).dtype();
  if (!IsFloat(dtype) && dtype != DType::kUInt8)
    return {LinearOfCodes(n, o.align_corners(), o.half_pixel_centers())};
  ResizeSpec spec;
  spec.x = IsFloat(dtype) ? n.Input(0) : Term(n, 0).As(DType::kFloat32).value();
  spec.axes = {1, 2};
  spec.method = ResizeMethod::kLinear;
  spec.coordinates = o.half_pixel_centers() ? ResizeCoordinates::kHalfPixel
                     : o.align_corners()    ? ResizeCoordinates::kAlignCorners
                                            : ResizeCoordinates::kAsymmetric;
  spec.sizes = SizesOfPicture(n);
  const Term y(n.b(), Resized(n, spec));
  if (IsFloat(dtype)) return {y};
  return {Floor(y + 0.5).As(dtype)};  // bytes without a sign are floats in between
}

Outputs ResizeNearest(NodeContext& n) {
  const auto& o = n.Get<fb::ResizeNearestNeighborOptions>();
  if (n.Input(0).rank() != 4) return n.Fail("expected 4 dims, found {}", n.Input(0).rank());
  ResizeSpec spec;
  spec.x = n.Input(0);
  spec.axes = {1, 2};
  spec.rounding = ResizeRounding::kFloor;
  spec.coordinates =
      o.half_pixel_centers() ? ResizeCoordinates::kCentre : ResizeCoordinates::kAsymmetric;
  if (o.align_corners()) {
    spec.coordinates = ResizeCoordinates::kAlignCorners;
    spec.rounding = ResizeRounding::kPreferCeil;
  }
  spec.sizes = SizesOfPicture(n);
  return {Resized(n, spec)};
}

// --- Diagonals ---

Outputs MatrixDiag(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 1) return n.Fail("expected 1 dim or more");
  TypedBuilder& b = n.b();
  const Term places = RangeOf(b, x, -1);
  return {Select(Equal(places.Expand(1), places.Expand(0)), x.Expand(x.rank()), x.Number(0))};
}

Outputs MatrixSetDiag(NodeContext& n) {
  const Term x(n, 0), diagonal(n, 1);
  if (x.rank() < 2 || diagonal.rank() != x.rank() - 1)
    return n.Fail("ranks {} and {} do not fit", x.rank(), diagonal.rank());
  return {x.Call(
      "matrix_set_diag", diagonal,
      {{"k1", 0}, {"k2", 0}, {"super_diag_right_align", false}, {"sub_diag_right_align", false}})};
}

Outputs Dilate(NodeContext& n) {
  const auto steps = n.ConstantInts(1, "dilations");
  if (!steps) return {};
  Term y(n, 0);
  if (static_cast<int>(steps->size()) != y.rank()) return n.Fail("expected a number for each axis");
  const Term fill = AsScalar(Term(n, 2));
  for (int axis = 0; axis < y.rank(); ++axis) {
    const int64_t step = (*steps)[static_cast<size_t>(axis)];
    if (step < 1) return n.Fail("a dilation of {}", step);
    y = Spread(y, axis, step, fill);
  }
  return {y};
}

}  // namespace

Term Spread(const Term& x, int axis, int64_t step, const Term& fill) {
  if (step == 1) return x;
  const auto each = static_cast<double>(step);
  const Term size = Maximum((Extent(x.b(), x, axis) - 1) * each + 1, Term(x.b(), x.b().Int(0)));
  const Term at = Range(size), place = at.Call("floor_divide", at.Number(each));
  return Select(Along(Equal(place * each, at), axis, x.rank()), x.Take(place, axis), fill);
}

std::span<const OperatorDef> TensorOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::RESHAPE, 1, 2, Reshape, Options::ReshapeOptions},
      {Code::SQUEEZE, 1, 1, Squeeze, Options::SqueezeOptions},
      {Code::EXPAND_DIMS, 2, 2, ExpandDims},
      {Code::TRANSPOSE, 2, 2, Transpose},
      {Code::SHAPE, 1, 1, ShapeOf, Options::ShapeOptions},
      {Code::RANK, 1, 1, Rank},
      {Code::FILL, 2, 2, Fill},
      {Code::ZEROS_LIKE, 1, 1, ZerosLike},
      {Code::RANGE, 3, 3, RangeOfNumbers},
      {Code::BROADCAST_TO, 2, 2, BroadcastTo},
      {Code::BROADCAST_ARGS, 2, 2, BroadcastArgs},
      {Code::CONCATENATION, 1, -1, Concatenate, Options::ConcatenationOptions},
      {Code::PACK, 1, -1, Pack, Options::PackOptions},
      {Code::TILE, 2, 2, Tile},
      {Code::PAD, 2, 2, Pad},
      {Code::PADV2, 3, 3, Pad},
      {Code::MIRROR_PAD, 2, 2, MirrorPad, Options::MirrorPadOptions},
      {Code::REVERSE_V2, 2, 2, Reverse},
      {Code::REVERSE_SEQUENCE, 2, 2, ReverseSequence, Options::ReverseSequenceOptions},
      {Code::DEPTH_TO_SPACE, 1, 1, DepthToSpace, Options::DepthToSpaceOptions},
      {Code::SPACE_TO_DEPTH, 1, 1, SpaceToDepth, Options::SpaceToDepthOptions},
      {Code::SPACE_TO_BATCH_ND, 3, 3, SpaceToBatch},
      {Code::BATCH_TO_SPACE_ND, 3, 3, BatchToSpace},
      {Code::RESIZE_BILINEAR, 2, 2, ResizeBilinear, Options::ResizeBilinearOptions},
      {Code::RESIZE_NEAREST_NEIGHBOR, 2, 2, ResizeNearest, Options::ResizeNearestNeighborOptions},
      {Code::MATRIX_DIAG, 1, 1, MatrixDiag},
      {Code::MATRIX_SET_DIAG, 2, 2, MatrixSetDiag},
      {Code::DILATE, 3, 3, Dilate},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
