// Lists of parts of a tensor, and tensors made of several.
#include <fmt/format.h>

#include "compiler/import/checked.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

// More parts than any model has.
constexpr int64_t kMostParts = 4096;

// The parts that end at `ends` (int64 scalars), the first beginning at 0.
std::vector<Value> PartsTo(TypedBuilder& b, const Value& x, int axis,
                           const std::vector<Value>& ends) {
  std::vector<Value> parts;
  AttrList cuts;
  bool known = x.dim(axis).is_const();
  for (size_t i = 0; i + 1 < ends.size() && known; ++i) {
    const auto cut = b.ConstantInts(ends[i]);
    known = cut.has_value();
    if (known) cuts.emplace_back((*cut)[0]);
  }
  const auto last = ends.empty() ? std::nullopt : b.ConstantInts(ends.back());
  if (known && last && x.dim(axis).is_const((*last)[0]))
    return ends.size() == 1 ? std::vector<Value>{x}
                            : b.Ops("split", {x}, {{"indices_or_sections", cuts}, {"axis", axis}});
  Value from = b.Int(0);
  for (const Value& to : ends) {
    parts.push_back(Sliced(b, x, axis, from, to));
    from = to;
  }
  return parts;
}

Argument OfSequence(TypedBuilder& b, const Value& sequence) {
  if (sequence.type != nullptr && sequence.type->As<ir::TupleType>() != nullptr)
    return Argument::Tensors(b.Fields(sequence));
  return Argument::Sequence(sequence);
}

// Parts of `size` along an axis, the last one smaller.
Argument Parts(Call& n, const Value& x, int axis, const Term& size) {
  TypedBuilder& b = n.b();
  const auto known = b.ConstantInts(size);
  if (known && (*known)[0] < 1 && !x.dim(axis).is_const(0)) {
    n.Fail("a part of {}, expected 1 or more", (*known)[0]);
    return {};
  }
  std::optional<int64_t> count;
  if (n.expected().items) count = static_cast<int64_t>(*n.expected().items);
  if (known && x.dim(axis).is_const()) {
    const int64_t extent = x.dim(axis).value();
    count = (*known)[0] == 0 ? 1 : std::max<int64_t>((extent + (*known)[0] - 1) / (*known)[0], 1);
  }
  if (!count) {
    return OfSequence(b, SequenceOfParts(b, {x, axis, InputName(b, size, "the size of a part")}));
  }
  if (*count > kMostParts) {
    n.Unsupported("{} parts; at most {} are supported", *count, kMostParts);
    return {};
  }
  const Term extent = Extent(b, x, axis);
  std::vector<Value> ends;
  for (int64_t i = 1; i < *count; ++i) ends.push_back(size * static_cast<double>(i));
  ends.push_back(extent);
  return Argument::Tensors(PartsTo(b, x, axis, ends));
}

Argument PartsOf(Call& n, const Value& x, int axis, const std::vector<Value>& sizes) {
  TypedBuilder& b = n.b();
  std::vector<Value> ends;
  Term end(b, b.Int(0));
  for (const Value& size : sizes) ends.push_back(end = end + Term(b, size));
  return Argument::Tensors(PartsTo(b, x, axis, ends));
}

Results Split(Call& n) {
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  if (!n.b().status().ok()) return {};
  const std::string name = n.schema().arguments[1].name;
  if (n.Arg(size_t{1}).is_list()) return {PartsOf(n, x, axis, n.SymInts(name))};
  return {Parts(n, x, axis, Term(n, n.SymInt(name)))};
}

// Of as many parts: equal ones, but for the last; there may be fewer.
Results Chunk(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  const int64_t count = n.Int("chunks", 1);
  if (count < 1 || count > kMostParts) return n.Fail("chunks: {}, expected 1 or more", count);
  if (!b.status().ok()) return {};
  const Term extent = Extent(b, x, axis);
  const auto by = static_cast<double>(count);
  const Term size = (extent + (by - 1)).Call("floor_divide", extent.Number(by));
  if (x.dim(axis).is_const() || n.expected().items) return {Parts(n, x, axis, size)};
  n.Expect({static_cast<size_t>(count), {}});
  return {Parts(n, x, axis, size)};
}

Results TensorSplit(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  const Term extent = Extent(b, x, axis);
  std::vector<Value> ends;
  std::optional<std::vector<Value>> cuts;
  if (n.Has("indices")) cuts = n.SymInts("indices");
  if (n.Has("tensor_indices_or_sections")) {
    const Value given = n.Tensor("tensor_indices_or_sections");
    const auto known = b.ConstantInts(given);
    if (!known) return n.Unsupported("places must be known when compiling");
    if (given.rank() == 1) {
      cuts.emplace();
      for (const int64_t at : *known) cuts->push_back(b.Int(at));
    } else {
      return n.As("aten::tensor_split.sections",
                  {x, Argument::Int((*known)[0]), Argument::Int(axis)});
    }
  }
  if (cuts) {
    Value from = b.Int(0);
    std::vector<Value> parts;
    cuts->push_back(extent);
    for (const Value& to : *cuts) {
      parts.push_back(Sliced(b, x, axis, from, to));
      from = to;
    }
    return {Argument::Tensors(parts)};
  }
  const int64_t count = n.Int("sections", 1);
  if (count < 1 || count > kMostParts) return n.Fail("sections: {}, expected 1 or more", count);
  const auto by = static_cast<double>(count);
  const Term size = extent.Call("floor_divide", extent.Number(by));
  const Term more = extent.Call("floor_mod", extent.Number(by));
  for (int64_t i = 1; i <= count; ++i) {
    const auto at = static_cast<double>(i);
    ends.push_back(size * at + Minimum(more, more.Number(at)));
  }
  ends.back() = extent;
  return {Argument::Tensors(PartsTo(b, x, axis, ends))};
}
// hsplit, vsplit, dsplit: along axis 1 (0 of a vector), 0, 2.
template <int kAxis>
Results SplitAlong(Call& n) {
  const Argument& by = n.Arg(size_t{1});
  const int axis = kAxis == 1 && n.Input(0).rank() == 1 ? 0 : kAxis;
  return n.As(by.is_list() ? "aten::tensor_split.indices" : "aten::tensor_split.sections",
              {n.Arg(size_t{0}), by, Argument::Int(axis)});
}

Results Unbind(Call& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const int axis = n.Axis("dim", x.rank());
  if (!b.status().ok()) return {};
  if (x.rank() == 0) return n.Fail("expected a tensor of rank 1 or more");
  std::optional<int64_t> count;
  if (n.expected().items) count = static_cast<int64_t>(*n.expected().items);
  if (x.dim(axis).is_const()) count = x.dim(axis).value();
  if (!count) {
    return {OfSequence(b, SequenceOfParts(b, {x, axis, InputName(b, b.Int(1), "one"),
                                              /*keeps_axis=*/false}))};
  }
  if (*count > kMostParts)
    return n.Unsupported("{} parts; at most {} are supported", *count, kMostParts);
  std::vector<Value> parts;
  for (int64_t i = 0; i < *count; ++i)
    parts.push_back(b.Squeeze(Term(b, x).Slice(axis, i, i + 1), {axis}));
  return {Argument::Tensors(parts)};
}

// --- Several as one ---

// All in one dtype.
std::vector<Value> Promoted(Call& n, const char* name) {
  const Argument& list = n.Arg(name);
  std::vector<Value> values = n.Tensors(name);
  std::vector<Argument> operands(values.begin(), values.end());
  const DType t = operands.empty() ? DType::kFloat32 : ResultType(operands);
  for (Value& v : values) v = n.b().Cast(v, t);
  static_cast<void>(list);
  return values;
}

Argument Kept(const Call& n, const char* name, const Value& v) {
  Argument out = v;
  const Argument& list = n.Arg(name);
  out.complex = !list.items.empty() && list.items[0].complex;
  return out;
}

Results Concatenate(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& list = n.Arg("tensors");
  if (list.is(Argument::Kind::kSequence) && !list.value.type->As<ir::TupleType>())
    return {SequenceJoin(b, list.value, n.Int("dim"), false)};
  std::vector<Value> parts = Promoted(n, "tensors");
  if (parts.empty()) return n.Fail("expected tensors");
  // Tensors of shape (0) are left out.
  const bool all_vectors =
      std::all_of(parts.begin(), parts.end(), [](const Value& v) { return v.rank() == 1; });
  if (!all_vectors) {
    std::erase_if(parts, [](const Value& v) { return v.rank() == 1 && v.dim(0).is_const(0); });
  }
  const int rank = parts[0].rank() - (Kept(n, "tensors", parts[0]).complex ? 1 : 0);
  const int axis = n.Axis("dim", rank);
  return {Kept(n, "tensors", b.Concat(parts, axis))};
}
Results StackParts(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& list = n.Arg("tensors");
  if (list.is(Argument::Kind::kSequence) && !list.value.type->As<ir::TupleType>())
    return {SequenceJoin(b, list.value, n.Int("dim"), true)};
  std::vector<Value> parts = Promoted(n, "tensors");
  if (parts.empty()) return n.Fail("expected tensors");
  const int rank = parts[0].rank() - (Kept(n, "tensors", parts[0]).complex ? 1 : 0);
  const int axis = n.Axis("dim", rank + 1);
  for (Value& v : parts) v = b.ExpandDims(v, axis);
  return {Kept(n, "tensors", b.Concat(parts, axis))};
}
template <int kAxis, int kRank>
Results StackAlong(Call& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> parts = Promoted(n, "tensors");
  if (parts.empty()) return n.Fail("expected tensors");
  int axis = kAxis;
  for (Value& v : parts) {
    if (kRank >= 1 && v.rank() == 0) v = b.Reshape(v, {1});
    if (kRank == 1 && v.rank() == 1 && kAxis == 1) axis = 0;
    if (kRank >= 2 && v.rank() == 1) v = b.ExpandDims(v, 0);
    if (kRank == 3 && v.rank() == 2) v = b.ExpandDims(v, 2);
  }
  return {b.Concat(parts, axis)};
}
Results ColumnStack(Call& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> parts = Promoted(n, "tensors");
  if (parts.empty()) return n.Fail("expected tensors");
  for (Value& v : parts) {
    if (v.rank() == 0) v = b.Reshape(v, {1, 1});
    if (v.rank() == 1) v = b.ExpandDims(v, 1);
  }
  return {b.Concat(parts, 1)};
}
// Matrices along the diagonal of one.
Results BlockDiagonal(Call& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> parts = Promoted(n, "tensors"), rows;
  if (parts.empty()) return n.Fail("expected tensors");
  for (Value& v : parts) {
    if (v.rank() == 0) v = b.Reshape(v, {1, 1});
    if (v.rank() == 1) v = b.ExpandDims(v, 0);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<Value> row;
    for (size_t k = 0; k < parts.size(); ++k) {
      const Value shape = b.Concat({b.DimOf(parts[i], 0), b.DimOf(parts[k], 1)}, 0);
      row.push_back(i == k ? parts[i] : Filled(b, 0, parts[i].dtype(), shape));
    }
    rows.push_back(b.Concat(row, 1));
  }
  return {b.Concat(rows, 0)};
}

// --- Copies ---

Results Repeat(Call& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const std::string name = n.schema().arguments[1].name;
  Value times = n.Sizes(name);
  if (!times.dim(0).is_const()) return n.Unsupported("the number of {} must be known", name);
  const auto count = static_cast<int>(times.dim(0).value());
  if (count < x.rank()) {
    if (name == "repeats") return n.Fail("fewer repeats than dims");
    times = b.Concat(
        {b.Ints(std::vector<int64_t>(static_cast<size_t>(x.rank() - count), 1)), times}, 0);
  }
  if (count > x.rank()) x = b.ExpandDims(x, 0, count - x.rank());
  if (x.rank() == 0) return {x};
  if (const auto known = b.ConstantInts(times)) {
    if (std::all_of(known->begin(), known->end(), [](int64_t k) { return k == 1; })) return {x};
    return {b.Op("tile", {x}, {{"reps", ListOf(*known)}})};
  }
  return {b.Op("dyn.tile", {x, times})};
}

// Places that stand as often as `counts` says.
Term Repeated(TypedBuilder& b, const Value& counts) {
  const Term ends = Term(b, b.Cast(counts, DType::kInt64)).Call("cumsum", {{"axis", 0}});
  const Term total = AsScalar(ends.Slice(0, -1, INT64_MAX));
  return {b, b.Op("searchsorted", {ends, Range(total)}, {{"right", true}, {"dtype", "int64"}})};
}
Results RepeatInterleave(Call& n) {
  TypedBuilder& b = n.b();
  const Argument& repeats = n.Arg("repeats");
  if (n.schema().arguments[0].name == "repeats") return {Repeated(b, n.Input(0))};
  Value x = n.Input(0);
  if (!n.Has("dim")) x = b.Reshape(x, {-1});
  const int axis = n.Axis("dim", x.rank());
  x = AtLeastVector(b, x);
  if (!b.status().ok()) return {};
  const bool one =
      !repeats.is_tensor() || repeats.value.rank() == 0 || repeats.value.dim(0).is_const(1);
  if (one) {
    const Term times(b, n.SymInt("repeats"));
    if (const auto known = b.ConstantInts(times))
      return {b.Op("repeat", {x}, {{"repeats", (*known)[0]}, {"axis", axis}})};
    const Term places = Range(Extent(b, x, axis) * times).Call("floor_divide", times);
    return {Term(b, x).Take(places, axis)};
  }
  return {Term(b, x).Take(Repeated(b, repeats.value), axis)};
}

Results Flip(Call& n) {
  Term x(n, 0);
  std::vector<int64_t> axes;
  if (n.name() == "aten::fliplr") axes = {1};
  if (n.name() == "aten::flipud") axes = {0};
  if (n.Has("dims")) axes = n.Axes("dims", x.rank(), true);
  for (const int64_t axis : axes) x = x.Call("reverse", {{"axis", axis}});
  return {x};
}
Results Roll(Call& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const std::vector<Value> shifts = n.SymInts("shifts");
  std::vector<int64_t> axes = n.Ints("dims");
  const Value given = x;
  const bool flat = axes.empty();
  if (flat) {
    x = x.Reshape({-1});
    axes = {0};
  }
  if (axes.size() != shifts.size()) return n.Fail("shifts and dims differ in length");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = AxisIn(b, axes[i], x.rank());
    const Term extent = Extent(b, x, axis), shift(b, shifts[i]);
    const auto known = b.ConstantInts(shift);
    if (known && x.value().dim(axis).is_const() && x.value().dim(axis).value() > 0) {
      const int64_t size = x.value().dim(axis).value();
      const int64_t by = (((*known)[0] % size) + size) % size;
      if (by == 0) continue;
      x = Term(b, b.Concat({x.Slice(axis, size - by, size), x.Slice(axis, 0, size - by)}, axis));
      continue;
    }
    x = x.Take((Range(extent) - shift).Call("floor_mod", extent), axis);
  }
  return {flat ? ShapedLike(b, x, given) : x.value()};
}
Results Rotate90(Call& n) {
  Term x(n, 0);
  const std::vector<int64_t> dims = n.Ints("dims");
  const int64_t turns = ((n.Int("k", 1) % 4) + 4) % 4;
  if (dims.size() != 2) return n.Fail("expected two dims");
  const int first = AxisIn(n, dims[0], x.rank()), second = AxisIn(n, dims[1], x.rank());
  std::vector<int64_t> axes = Iota(x.rank());
  if (!n.b().status().ok()) return {};
  std::swap(axes[static_cast<size_t>(first)], axes[static_cast<size_t>(second)]);
  const auto flip = [](const Term& v, int axis) { return v.Call("reverse", {{"axis", axis}}); };
  if (turns == 1) return {flip(x, second).Transpose(axes)};
  if (turns == 2) return {flip(flip(x, first), second)};
  return {turns == 0 ? x : flip(x, first).Transpose(axes)};
}

constexpr OperatorDef kPartOperators[] = {
    {"aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", Split,
     Takes::kMoves},
    {"aten::split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]", Split,
     Takes::kMoves},
    {"aten::split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]", Split,
     Takes::kMoves},
    {"aten::split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
     Split, Takes::kMoves},
    {"aten::unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", Split,
     Takes::kMoves},
    {"aten::unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", Split,
     Takes::kMoves},
    {"aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", Chunk,
     Takes::kMoves},
    {"aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", Chunk, Takes::kMoves},
    {"aten::tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]",
     TensorSplit, Takes::kMoves},
    {"aten::tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[]",
     TensorSplit, Takes::kMoves},
    {"aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
     "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
     TensorSplit, Takes::kMoves},
    {"aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", SplitAlong<1>,
     Takes::kMoves},
    {"aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", SplitAlong<1>,
     Takes::kMoves},
    {"aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", SplitAlong<0>,
     Takes::kMoves},
    {"aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", SplitAlong<0>,
     Takes::kMoves},
    {"aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", SplitAlong<2>,
     Takes::kMoves},
    {"aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", SplitAlong<2>,
     Takes::kMoves},
    {"aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", Unbind, Takes::kMoves},
    {"aten::cat(Tensor[] tensors, int dim=0) -> Tensor", Concatenate, Takes::kComplex},
    {"aten::concat(Tensor[] tensors, int dim=0) -> Tensor", Concatenate, Takes::kComplex},
    {"aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", Concatenate, Takes::kComplex},
    {"aten::stack(Tensor[] tensors, int dim=0) -> Tensor", StackParts, Takes::kComplex},
    {"aten::hstack(Tensor[] tensors) -> Tensor", StackAlong<1, 1>},
    {"aten::vstack(Tensor[] tensors) -> Tensor", StackAlong<0, 2>},
    {"aten::row_stack(Tensor[] tensors) -> Tensor", StackAlong<0, 2>},
    {"aten::dstack(Tensor[] tensors) -> Tensor", StackAlong<2, 3>},
    {"aten::column_stack(Tensor[] tensors) -> Tensor", ColumnStack},
    {"aten::block_diag(Tensor[] tensors) -> Tensor", BlockDiagonal},
    {"aten::repeat(Tensor self, int[] repeats) -> Tensor", Repeat, Takes::kMoves},
    {"aten::tile(Tensor self, int[] dims) -> Tensor", Repeat, Takes::kMoves},
    {"aten::repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
     RepeatInterleave},
    {"aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? "
     "output_size=None) -> Tensor",
     RepeatInterleave},
    {"aten::repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? "
     "output_size=None) -> Tensor",
     RepeatInterleave},
    {"aten::flip(Tensor self, int[] dims) -> Tensor", Flip, Takes::kMoves},
    {"aten::fliplr(Tensor self) -> Tensor", Flip, Takes::kMoves},
    {"aten::flipud(Tensor self) -> Tensor", Flip, Takes::kMoves},
    {"aten::roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", Roll, Takes::kMoves},
    {"aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", Rotate90, Takes::kMoves},
};

}  // namespace

OperatorTable PartOperators() { return kPartOperators; }

}  // namespace relayvm::import::torch
