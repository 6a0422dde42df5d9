// Shapes, and operators that arrange elements by them. Parts of tensors: op_slice.cc.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/tensorflow/complex.h"

namespace relayvm::import::tensorflow {

namespace {

// Of complex numbers that of their parts.
Value RealOf(NodeContext& n, size_t i) {
  const Value v = n.Input(i);
  return IsComplex(v) ? n.b().Field(v, 0) : v;
}

Value ShapeAs(NodeContext& n, size_t i) {
  return n.b().Cast(n.b().ShapeOf(RealOf(n, i)), n.Type("out_type", DType::kInt32));
}
Outputs ShapeOf(NodeContext& n) { return {ShapeAs(n, 0)}; }
Outputs ShapesOf(NodeContext& n) {
  Outputs all;
  for (size_t i = 0; i < n.num_inputs(); ++i) all.push_back(ShapeAs(n, i));
  return all;
}
Outputs SizeOf(NodeContext& n) {
  const std::string dtype(DTypeName(n.Type("out_type", DType::kInt32)));
  return {n.b().Op("ndarray_size", {RealOf(n, 0)}, {{"dtype", dtype}})};
}
Outputs RankOf(NodeContext& n) { return {n.b().Int(RealOf(n, 0).rank(), DType::kInt32)}; }

Outputs Reshape(NodeContext& n) {
  if (!CountOf(n, n.Input(1), "shape")) return {};
  return {ShapedAs(n, n.Input(0), {n.b().Cast(n.Input(1), DType::kInt64)})};
}

// Without axes the dims of 1 go. A dim that is open stays, and must not be 1 when it runs.
Outputs Squeeze(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const std::vector<int64_t> given = n.Ints("squeeze_dims", n.Ints("axis"));
  std::vector<int64_t> gone = n.Axes(given, x.rank());
  if (!Ok(n)) return {};
  for (const int64_t axis : gone) {
    const Dim extent = x.dim(static_cast<int>(axis));
    if (extent.is_const() && !extent.is_const(1)) {
      return n.Fail("{}: the extent of axis {} is {}, expected 1", n.InputText(0, "input"), axis,
                    extent.value());
    }
    x = Stating(n, x, static_cast<int>(axis), 1, n.InputText(0, "input"));
  }
  for (int i = 0; given.empty() && i < x.rank(); ++i) {
    if (x.dim(i).is_const(1)) gone.push_back(i);
    const auto least = x.dim(i).LowerBound();
    if (x.dim(i).is_const() || (least && *least > 1)) continue;
    const Term extent(b, b.DimOf(x, i));
    const std::string what = fmt::format(
        "how many dims of 1, beside those known when compiling (fix them with --shape), at axis {} "
        "of",
        i);
    const Term none(
        b, CheckedEnd({n, 0, what}, Equal(extent, 1).As(DType::kInt64), b.Ints({0}), b.Ints({1})));
    x = WithExtent(b, x, i, extent + none - 1);
  }
  return {gone.empty() ? x : b.Squeeze(x, gone)};
}

Outputs ExpandDims(NodeContext& n) {
  const auto axis = n.ConstantInt(1, "axis");
  if (!axis) return {};
  const int at = n.Axis(*axis, n.Input(0).rank() + 1, n.InputText(1, "axis"));
  return {n.b().ExpandDims(n.Input(0), at)};
}

Outputs Transpose(NodeContext& n) {
  const auto axes = n.ConstantInts(1, "perm");
  if (!axes) return {};
  return {n.b().Transpose(n.Input(0), n.Axes(*axes, n.Input(0).rank(), n.InputText(1, "perm")))};
}
Outputs ConjugateTranspose(NodeContext& n) {
  const Outputs y = OfParts<Transpose>(n);
  return y.empty() ? y : n.As("Conj", {y[0]});
}

Outputs InvertPermutation(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto known = b.ConstantInts(n.Input(0));
  if (!known) return Same<"invert_permutation">(n);
  std::vector<int64_t> inverse(known->size(), -1);
  for (size_t i = 0; i < known->size(); ++i) {
    const int64_t at = (*known)[i];
    if (at < 0 || at >= static_cast<int64_t>(known->size()) ||
        inverse[static_cast<size_t>(at)] != -1)
      return n.Fail("{}: expected each of 0 to {} once", n.InputText(0, "x"), known->size() - 1);
    inverse[static_cast<size_t>(at)] = static_cast<int64_t>(i);
  }
  return {b.Ints(inverse, n.Input(0).dtype())};
}

// --- Broadcasting ---

Outputs BroadcastTo(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), shape = b.Cast(n.Input(1), DType::kInt64);
  const auto count = CountOf(n, shape, "shape");
  if (!count) return {};
  if (x.rank() > *count) {
    return n.Fail("{} has rank {}, more than the {} numbers of {}", n.InputText(0, "input"),
                  x.rank(), *count, n.InputText(1, "shape"));
  }
  const auto known = b.ConstantInts(shape);
  const Value y = known ? b.Op("broadcast_to", {x}, {{"shape", ListOf(*known)}})
                        : b.Op("dyn.broadcast_to", {x, shape});
  return {y.is_tensor() && y.shape() == x.shape() ? x : y};
}

// Shape `s` with dims of 1 in front, so that it has so many.
Value PaddedShape(NodeContext& n, const Value& s, int64_t have, int64_t want) {
  if (have == want) return s;
  const std::vector<int64_t> ones(static_cast<size_t>(want - have), 1);
  return n.b().Concat({n.b().Ints(ones, s.dtype()), s}, 0);
}

Outputs BroadcastArgs(NodeContext& n) {
  const auto x = CountOf(n, n.Input(0), "s0"), y = CountOf(n, n.Input(1), "s1");
  if (!x || !y) return {};
  const int64_t rank = std::max(*x, *y);
  const Term a(n, PaddedShape(n, n.Input(0), *x, rank)), c(n, PaddedShape(n, n.Input(1), *y, rank));
  return {Select(Equal(a, 1), c, a)};
}

// The axes along which each of two shapes is broadcast: known now, where dims are 1 or are not.
Outputs BroadcastGradientArgs(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto x = b.Elements(n.Input(0)), y = b.Elements(n.Input(1));
  if (!x || !y) return n.Unsupported("shapes that only running tells");
  const size_t rank = std::max(x->size(), y->size());
  const auto at = [&](const std::vector<Dim>& s, size_t i) {
    return i + s.size() < rank ? Dim(1) : s[i + s.size() - rank];
  };
  std::vector<int64_t> of_x, of_y;
  for (size_t i = 0; i < rank; ++i) {
    const Dim dx = at(*x, i), dy = at(*y, i);
    if (dx == dy && !dx.is_const(1)) continue;
    if (dx.is_const(1)) of_x.push_back(static_cast<int64_t>(i));
    if (dy.is_const(1)) of_y.push_back(static_cast<int64_t>(i));
    if (!dx.is_const() && !dy.is_const())
      return n.Unsupported("whether dims are 1 must be known; fix them with --shape");
  }
  const DType dtype = n.Type("T", DType::kInt32);
  return {b.Ints(of_x, dtype), b.Ints(of_y, dtype)};
}

Outputs Fill(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value fill = AsScalar(Term(n, 1));
  const std::string dtype(DTypeName(fill.dtype()));
  if (const auto shape = b.ConstantInts(n.Input(0)))
    return {b.Op("full", {fill}, {{"shape", ListOf(*shape)}, {"dtype", dtype}})};
  if (!CountOf(n, n.Input(0), "dims")) return {};
  return {b.Op("dyn.full", {fill, b.Cast(n.Input(0), DType::kInt64)}, {{"dtype", dtype}})};
}
Outputs Empty(NodeContext& n) {
  return n.As("Fill", {n.Input(0), n.b().Scalar(0, n.Type("dtype", DType::kFloat32))});
}

Outputs Tile(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value times = NotNegative({n, 1, "multiples"});
  if (const auto reps = b.ConstantInts(times))
    return {b.Op("tile", {n.Input(0)}, {{"reps", ListOf(*reps)}})};
  return {b.Op("dyn.tile", {n.Input(0), b.Cast(times, DType::kInt64)})};
}

// --- Ranges ---

Outputs RangeFrom(NodeContext& n) {
  std::vector<Value> args;
  for (const Value& v : n.inputs()) args.push_back(AsScalar(Term(n, v)));
  const std::string dtype(DTypeName(n.Input(0).dtype()));
  return {n.b().Op("arange", args, {{"dtype", dtype}})};
}

Outputs LinSpace(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term start = AsScalar(Term(n, 0)), stop = AsScalar(Term(n, 1));
  const Term count = AtLeast({n, 2, "num"}, AsScalar(Term(n, 2)).As(DType::kInt64), 1);
  const Term steps = Maximum(count - 1, Term(b, b.Int(1))).As(start.dtype());
  const Term at = ::relayvm::import::Range(count);
  const Term y = start + at.As(start.dtype()) * ((stop - start) / steps);
  return {Select(And(Equal(at, count - 1), at > 0), stop, y)};
}

// --- Joining and splitting ---

Outputs Pack(NodeContext& n) {
  const int axis = n.Axis(n.Int("axis", 0), n.Input(0).rank() + 1);
  std::vector<Value> parts;
  for (const Value& v : n.inputs()) parts.push_back(n.b().ExpandDims(v, axis));
  return {n.b().Concat(parts, axis)};
}

Outputs Unpack(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const int axis = n.Axis(n.Int("axis", 0), x.rank());
  const int64_t count = n.Count("num", 0);
  if (!Ok(n)) return {};
  if (x.dim(axis).is_const() && x.dim(axis).value() != count)
    return n.Fail("num: {}, but the extent of axis {} is {}", count, axis, x.dim(axis).value());
  if (count > 1 << 16) return n.Unsupported("more than 2^16 outputs");
  x = Stating(n, x, axis, count, n.InputText(0, "value"));
  Outputs out;
  if (count == 1) return {b.Squeeze(x, {axis})};
  if (x.rank() == 1) {
    for (int64_t i = 0; i < count; ++i) out.push_back(Term(b, x).Take(b.Int(i), 0));
    return out;
  }
  if (count == 0) return {};
  for (const Value& part : b.Ops("split", {x}, {{"indices_or_sections", count}, {"axis", axis}}))
    out.push_back(b.Squeeze(part, {axis}));
  return out;
}

Outputs Joined(NodeContext& n, size_t axis_input, size_t first, size_t count) {
  const auto axis = n.ConstantInt(axis_input, "axis");
  if (!axis) return {};
  const auto begin = n.inputs().begin() + static_cast<ptrdiff_t>(first);
  const std::vector<Value> parts(begin, begin + static_cast<ptrdiff_t>(count));
  return {n.b().Concat(parts, n.Axis(*axis, parts[0].rank(), n.InputText(axis_input, "axis")))};
}
Outputs ConcatOld(NodeContext& n) { return Joined(n, 0, 1, n.num_inputs() - 1); }
Outputs ConcatV2(NodeContext& n) { return Joined(n, n.num_inputs() - 1, 0, n.num_inputs() - 1); }

// Where each of the joined tensors begins.
Outputs ConcatOffset(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto at = n.ConstantInt(0, "concat_dim");
  const auto rank = CountOf(n, n.Input(1), "shape");
  if (!at || !rank) return {};
  const int axis = n.Axis(*at, static_cast<int>(*rank), n.InputText(0, "concat_dim"));
  Term sum(b, b.Ints({0}, n.Input(1).dtype()));
  Outputs out;
  for (size_t i = 1; i < n.num_inputs(); ++i) {
    std::vector<Value> parts;
    for (int64_t k = 0; k < *rank; ++k)
      parts.push_back(k == axis ? sum.value() : b.Ints({0}, sum.dtype()));
    out.push_back(b.Concat(parts, 0));
    sum = sum + Part(Term(n, i), axis, axis + 1);
  }
  return out;
}

// Slices [from, to) of an axis, where these are vectors of one.
Value SliceBetween(TypedBuilder& b, const Value& x, int axis, const Value& from, const Value& to) {
  std::vector<Value> begin, end;
  for (int k = 0; k < axis; ++k) {
    begin.push_back(b.Ints({0}));
    end.push_back(b.Ints({INT64_MAX}));
  }
  begin.push_back(from);
  end.push_back(to);
  const std::vector<int64_t> ones(static_cast<size_t>(axis) + 1, 1);
  return b.Op("dyn.strided_slice", {x, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(ones)});
}

Outputs Split(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto at = n.ConstantInt(0, "axis");
  if (!at) return {};
  const Value x = n.Input(1);
  const int axis = n.Axis(*at, x.rank(), n.InputText(0, "axis"));
  const int64_t count = n.Count("num_split", 1);
  if (!Ok(n)) return {};
  if (count < 1 || count > 1 << 16)
    return n.Fail("num_split: expected 1 to 65536, found {}", count);
  if (count == 1) return {x};
  const Dim extent = x.dim(axis);
  if (extent.is_const()) {
    if (extent.value() % count != 0)
      return n.Fail("num_split: {}, but the extent of axis {} is {}", count, axis, extent.value());
    return b.Ops("split", {x}, {{"indices_or_sections", count}, {"axis", axis}});
  }
  const Term whole(b, b.DimOf(x, axis)), parts = whole.Number(static_cast<double>(count));
  const Term rest = whole.Call("floor_mod", parts);
  const Term checked(
      b, CheckedEnd({n, 1, "what num_split leaves of value"}, rest, b.Ints({0}), b.Ints({1})));
  const Term size = whole.Call("floor_divide", parts) * checked;
  Outputs out;
  for (int64_t i = 0; i < count; ++i) {
    out.push_back(
        SliceBetween(b, x, axis, size * static_cast<double>(i), size * static_cast<double>(i + 1)));
  }
  return out;
}

Outputs SplitV(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto at = n.ConstantInt(2, "axis");
  if (!at) return {};
  const Value x = n.Input(0);
  const int axis = n.Axis(*at, x.rank(), n.InputText(2, "axis"));
  const auto count = CountOf(n, n.Input(1), "size_splits");
  if (!count || !Ok(n)) return {};
  Outputs out;
  const auto sizes = b.ConstantInts(n.Input(1));
  if (!sizes) {
    // Sizes that are computed; one of -1 takes the rest.
    const Term given = Term(n, 1).As(DType::kInt64), whole(b, b.DimOf(x, axis));
    const Term rest = whole - Select(given > 0, given, given.Number(0)).Over("sum", {0});
    const Term size = Select(given < 0, rest, given);
    Term from = whole * 0.0;
    for (int64_t i = 0; i < *count; ++i) {
      const Term to = from + Part(size, i, i + 1);
      out.push_back(SliceBetween(b, x, axis, from, to));
      from = to;
    }
    return out;
  }
  // What is behind the part that takes the rest is counted from the end.
  int64_t total = 0, after = 0;
  bool open = false;
  for (const int64_t size : *sizes) {
    if (size < -1 || size > INT64_MAX / 65536 || (size == -1 && open))
      return n.Fail("{}: expected sizes, and at most one -1", n.InputText(1, "size_splits"));
    open |= size == -1;
    total += std::max<int64_t>(size, 0);
    if (open) after += std::max<int64_t>(size, 0);
  }
  if (!open || x.dim(axis).is_const()) {
    const Dim extent = x.dim(axis);
    if (extent.is_const() && (open ? extent.value() < total : extent.value() != total)) {
      return n.Fail("the sum of {}: {}, expected {}, the extent of axis {}",
                    n.InputText(1, "size_splits"), total, extent.value(), axis);
    }
    const Value whole = open ? x : Stating(n, x, axis, total, n.InputText(0, "value"));
    if (*count == 1) return {whole};
    AttrList places;
    int64_t place = 0;
    for (size_t i = 0; i + 1 < sizes->size(); ++i) {
      const int64_t size = (*sizes)[i];
      places.emplace_back(place += size < 0 ? extent.value() - total : size);
    }
    return b.Ops("split", {whole}, {{"indices_or_sections", places}, {"axis", axis}});
  }
  int64_t from = 0;
  bool behind = false;
  for (const int64_t size : *sizes) {
    if (size == -1) {
      out.push_back(Term(b, x).Slice(axis, from, after == 0 ? INT64_MAX : -after));
      behind = true;
      from = -after;
      continue;
    }
    const int64_t to = from + size;
    out.push_back(Term(b, x).Slice(axis, from, behind && to == 0 ? INT64_MAX : to));
    from = to;
  }
  return out;
}

// --- Order ---

Value ReversedAlong(TypedBuilder& b, const Value& x, int64_t axis) {
  return b.Op("reverse", {x}, {{"axis", axis}});
}
Outputs ReverseV2(NodeContext& n) {
  const auto axes = n.ConstantInts(1, "axis");
  if (!axes) return {};
  Value x = n.Input(0);
  for (const int64_t axis : n.Axes(*axes, x.rank(), n.InputText(1, "axis")))
    x = ReversedAlong(n, x, axis);
  return {x};
}
Outputs ReverseOld(NodeContext& n) {
  const auto flags = n.ConstantInts(1, "dims");
  if (!flags) return {};
  Value x = n.Input(0);
  for (size_t i = 0; i < flags->size(); ++i) {
    if ((*flags)[i] != 0) x = ReversedAlong(n, x, static_cast<int64_t>(i));
  }
  return {x};
}
Outputs ReverseSequence(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int time = n.Axis(n.Int("seq_dim", 0), n.Input(0).rank());
  if (!Ok(n)) return {};
  const Term lengths =
      Checked({n, 1, "seq_lengths"}, n.Input(1), 0, Term(b, b.DimOf(n.Input(0), time)) + 1);
  return {b.Op("reverse_sequence", {n.Input(0), lengths},
               {{"seq_axis", time}, {"batch_axis", n.Int("batch_dim", 0)}})};
}

Outputs Roll(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto axes = n.ConstantInts(2, "axis");
  if (!axes) return {};
  Term x(n, 0);
  const Term shifts = AsVector(Term(n, 1)).As(DType::kInt64);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int axis = n.Axis((*axes)[i], x.rank(), n.InputText(2, "axis"));
    const Term extent = Extent(b, x, axis);
    const Term at = ::relayvm::import::Range(extent) - ElementOf(shifts, static_cast<int64_t>(i));
    x = x.Take(at.Call("floor_mod", extent), axis);
  }
  return {x};
}

// --- Bits ---

DType UnsignedOf(int bits) {
  return bits == 8    ? DType::kUInt8
         : bits == 16 ? DType::kUInt16
         : bits == 32 ? DType::kUInt32
                      : DType::kUInt64;
}
Term AsBits(const Term& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.Call("reinterpret", {{"dtype", std::string(DTypeName(dtype))}});
}

// Larger elements become smaller ones along a new last axis, the lowest bits first; and back.
Outputs Bitcast(NodeContext& n) {
  TypedBuilder& b = n.b();
  const DType to = n.Type("type", DType::kFloat32);
  const Term x(n, 0);
  if (!Ok(n)) return {};
  if (HasComplex(n) || n.IsComplexType("type")) return n.Unsupported("bits of complex numbers");
  const int from_bits = DTypeBits(x.dtype()), to_bits = DTypeBits(to);
  if (from_bits == to_bits) return {AsBits(x, to)};
  if (from_bits > to_bits) {
    const Term bits = AsBits(x, UnsignedOf(from_bits)).As(DType::kUInt64);
    std::vector<Value> parts;
    for (int at = 0; at < from_bits; at += to_bits) {
      const Term part = bits.Call("right_shift", bits.Number(at));
      const Term low =
          part.Call("bitwise_and", Term(b, b.Int((int64_t{1} << to_bits) - 1)).As(DType::kUInt64));
      parts.push_back(AsBits(low.As(UnsignedOf(to_bits)), to).Expand(x.rank()));
    }
    return {b.Concat(parts, x.rank())};
  }
  const int64_t ratio = to_bits / from_bits;
  if (x.rank() < 1 || !x.value().dim(-1).is_const(ratio))
    return n.Fail("{}: expected a last dim of {}", n.InputText(0, "input"), ratio);
  std::vector<int64_t> shifts;
  for (int64_t i = 0; i < ratio; ++i) shifts.push_back(i * from_bits);
  const Term bits = AsBits(x, UnsignedOf(from_bits)).As(DType::kUInt64);
  const Term moved = bits.Call("left_shift", Term(b, b.Ints(shifts)).As(DType::kUInt64));
  return {AsBits(moved.Over("sum", {x.rank() - 1}, false).As(UnsignedOf(to_bits)), to)};
}

Outputs EnsureShape(NodeContext& n) {
  const auto shape = n.Shape("shape");
  if (!shape) return {n.Input(0)};
  return OneOf(OfShape({n, 0, "input"}, *shape));
}
Outputs FirstInput(NodeContext& n) { return {n.Input(0)}; }

Outputs OnesLike(NodeContext& n) {
  if (HasComplex(n)) return {PairOf(n, OneLike(ComplexOf(n, n.Input(0))))};
  return Same<"ones_like">(n);
}

constexpr OperatorDef kShapeOperators[] = {
    {"Bitcast", 1, 1, Bitcast},
    {"BroadcastArgs", 2, 2, BroadcastArgs},
    {"BroadcastGradientArgs", 2, 2, BroadcastGradientArgs, "r0 r1"},
    {"BroadcastTo", 2, 2, OfParts<BroadcastTo>},
    {"Concat", 2, -1, OfParts<ConcatOld>},
    {"ConcatOffset", 2, -1, ConcatOffset},
    {"ConcatV2", 2, -1, OfParts<ConcatV2>},
    {"ConjugateTranspose", 2, 2, ConjugateTranspose},
    {"Copy", 1, 1, FirstInput},
    {"CopyHost", 1, 1, FirstInput},
    {"DebugGradientIdentity", 1, 1, FirstInput},
    {"DebugIdentity", 1, 1, FirstInput},
    {"DeepCopy", 1, 1, FirstInput},
    {"Empty", 1, 1, Empty},
    {"EnsureShape", 1, 1, EnsureShape},
    {"ExpandDims", 2, 2, OfParts<ExpandDims>},
    {"Fill", 2, 2, OfParts<Fill>},
    {"GuaranteeConst", 1, 1, FirstInput},
    {"InvertPermutation", 1, 1, InvertPermutation, {}, "1"},
    {"LinSpace", 3, 3, LinSpace},
    {"OnesLike", 1, 1, OnesLike},
    {"Pack", 1, -1, OfParts<Pack>},
    {"ParallelConcat", 1, -1,
     [](NodeContext& n) -> Outputs { return {n.b().Concat(n.inputs(), 0)}; }},
    {"Print", 1, -1, FirstInput},
    {"Range", 3, 3, RangeFrom},
    {"Rank", 1, 1, RankOf},
    {"Reshape", 2, 2, OfParts<Reshape>},
    {"Reverse", 2, 2, OfParts<ReverseOld>},
    {"ReverseSequence", 2, 2, ReverseSequence, {}, "?1"},
    {"ReverseV2", 2, 2, OfParts<ReverseV2>},
    {"Roll", 3, 3, OfParts<Roll>},
    {"Shape", 1, 1, ShapeOf},
    {"ShapeN", 1, -1, ShapesOf},
    {"Size", 1, 1, SizeOf},
    {"Split", 2, 2, OfParts<Split>},
    {"SplitV", 3, 3, OfParts<SplitV>},
    {"Squeeze", 1, 1, OfParts<Squeeze>},
    {"Tile", 2, 2, OfParts<Tile>},
    {"Transpose", 2, 2, OfParts<Transpose>},
    {"Unpack", 1, 1, OfParts<Unpack>},
    {"ZerosLike", 1, 1, OfParts<Same<"zeros_like">>},
};

}  // namespace

std::span<const OperatorDef> ShapeOperators() { return kShapeOperators; }

}  // namespace relayvm::import::tensorflow
