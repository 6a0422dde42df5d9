#include "compiler/import/composite/axes.h"

#include <fmt/format.h>

#include <utility>

namespace relayvm::import {

namespace {

InputName Measured(InputName of, std::string what) {
  of.measured = std::move(what);
  return of;
}

// 1 for each of `rank` axes that is among `axes`, else 0.
Term Flags(const Term& axes, int64_t rank) {
  TypedBuilder& b = axes.b();
  const Term hits = Equal(Select(axes < 0, axes + static_cast<double>(rank), axes).Expand(1),
                          Term(b, b.Ints(Iota(rank))));
  const Term any = Max(hits.As(DType::kInt64), {0}).Reshape({rank});
  return Maximum(any, any.Number(0));  // there may be no axes
}

}  // namespace

Value WithExtent(TypedBuilder& b, const Value& x, int axis, const Value& extent) {
  std::vector<Value> dims;
  for (int i = 0; i < x.rank(); ++i) dims.push_back(i == axis ? extent : b.DimOf(x, i));
  return ShapedAs(b, x, dims);
}

Value Stating(TypedBuilder& b, const Value& x, int axis, int64_t extent, std::string what) {
  if (x.dim(axis).is_const() || !b.status().ok()) return x;
  std::vector<Dim> shape(static_cast<size_t>(x.rank()), Dim::Any());
  shape[static_cast<size_t>(axis)] = Dim(extent);
  return b.Stated({x, ir::MakeTensorType(shape, x.dtype())}, {}, std::move(what));
}

Term CheckedAxes(const InputName& of, int64_t rank, int64_t count) {
  TypedBuilder& b = of.b;
  const Term axes = Checked(of, of.value, -rank, b.Ints({rank})).As(DType::kInt64);
  if (count < 2 || b.ConstantInts(axes)) return axes;
  // How often each is there; the axes follow from what is checked.
  const Term front = Select(axes < 0, axes + static_cast<double>(rank), axes);
  const Term times =
      Equal(front.Expand(1), front.Expand(0)).As(DType::kInt64).Over("sum", {1}, false);
  const Term once =
      Checked(Measured(of, "the times that an axis stands in "), times, 1, b.Ints({2}));
  return front * once;
}

namespace {

// The elements of `shape` whose flag is 0, in order. `kept`: how many.
Term Kept(const Term& shape, const Term& flags, int64_t rank, int64_t kept) {
  TypedBuilder& b = shape.b();
  const Term places = Term(b, b.Ints(Iota(rank))) + flags * static_cast<double>(rank);
  const Term order = places.Call("argsort", {{"axis", 0}, {"dtype", "int64"}});
  return shape.Take(order.Slice(0, 0, kept), 0);
}

}  // namespace

Term ByAxis(const Value& rest, const Term& axes, const Term& values) {
  TypedBuilder& b = axes.b();
  return {b, b.Op("scatter_elements", {rest, axes.As(DType::kInt64), values.As(DType::kInt64)},
                  {{"axis", 0}})};
}

std::optional<int64_t> CountOf(TypedBuilder& b, const Value& v, std::string_view what) {
  if (v.rank() == 1 && v.dim(0).is_const() && v.dim(0).value() <= 64) return v.dim(0).value();
  return b.Fail(StatusCode::kUnsupported,
                "the number of elements of {} decides a rank and must be known when compiling",
                what);
}

Value SqueezeBy(const InputName& of, const Term& axes, int64_t count) {
  TypedBuilder& b = of.b;
  const Value& x = of.value;
  const int64_t rank = x.rank();
  if (count > rank) return b.Fail("more axes than dims"), x;
  const Term shape(b, b.ShapeOf(x)), all = axes.As(DType::kInt64);
  const Term front = Select(all < 0, all + static_cast<double>(rank), all);
  const Term two(b, CheckedEnd(Measured(of, "an extent that axes take away, of "),
                               shape.Take(front, 0), b.Ints({1}), b.Ints({2})));
  return ShapedAs(b, x, {Kept(shape, Flags(front + (two - 2), rank), rank, rank - count)});
}

Value UnsqueezeBy(TypedBuilder& b, const Value& x, const Term& axes, int64_t count) {
  const int64_t rank = x.rank() + count;
  const Term flags = Flags(axes.As(DType::kInt64), rank);
  // The place in x of each dim that is not new.
  const Term before = flags.Call("cumsum", {{"axis", 0}});
  const Term padded(b, b.Concat({b.ShapeOf(x), b.Ints({1})}, 0));
  const Term dims = padded.Take(Maximum(Term(b, b.Ints(Iota(rank))) - before, flags.Number(0)), 0);
  return ShapedAs(b, x, {Select(flags > 0, flags.Number(1), dims)});
}

// Axis by axis: the result stands before the line that it is of, and a slice takes the one or the
// other.
Value ReduceBy(const InputName& of, std::string_view op, const Term& axes, bool keep,
               bool none_is_all) {
  TypedBuilder& b = of.b;
  const Value& x = of.value;
  const int64_t rank = x.rank();
  if (rank == 0) return x;
  Term flags = Flags(axes.As(DType::kInt64), rank);
  if (!axes.value().dim(0).is_const() && none_is_all) {
    flags = Select(Equal(Extent(b, axes, 0), 0), flags.Number(1), flags);
  }
  const Term shape(b, b.ShapeOf(x));
  Term y(b, x);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const Term flag = flags.Slice(0, axis, axis + 1);
    const Term begin = 1.0 - flag;
    const Term end = Select(flag > 0, flag, shape.Slice(0, axis, axis + 1) + 1);
    std::vector<Value> from, to;
    for (int64_t i = 0; i < axis; ++i) {
      from.push_back(b.Ints({0}));
      to.push_back(b.Ints({INT64_MAX}));
    }
    from.push_back(begin);
    to.push_back(end);
    const Value joined = b.Concat({y.Over(op, {axis}), y}, static_cast<int>(axis));
    y = Term(b, b.Op("dyn.strided_slice",
                     {joined, b.Concat(from, 0), b.Concat(to, 0),
                      b.Ints(std::vector<int64_t>(static_cast<size_t>(axis) + 1, 1))}));
  }
  if (keep) return y;
  const auto count = CountOf(b, axes, "axes");
  if (!count) return x;
  InputName reduced = of;
  reduced.value = y;
  return SqueezeBy(reduced, axes, *count);
}

}  // namespace relayvm::import
