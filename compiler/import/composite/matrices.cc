#include "compiler/import/composite/matrices.h"

#include <algorithm>

#include "compiler/import/checked.h"

namespace relayvm::import {

std::optional<Term> DeterminantOf(const Term& x) {
  TypedBuilder& b = x.b();
  const int rank = x.rank();
  if (rank < 2 || !x.value().dim(-1).is_const() || x.value().dim(-1) != x.value().dim(-2))
    return b.Fail(StatusCode::kUnsupported,
                  "expected square matrices whose extent is known when compiling");
  const int64_t size = x.value().dim(-1).value();
  if (size > 64)
    return b.Fail(StatusCode::kUnsupported, "matrices of more than 64 rows are not supported");
  Term m(b, ShapedAs(b, x, {ProductOfDims(b, x, 0, rank - 2), b.Ints({size, size})}));
  Term det = m.Over("prod", {1, 2}, false).Call("ones_like");
  for (int64_t k = size; k >= 1; --k) {
    const Term column = m.Slice(2, 0, 1);  // (n, k, 1)
    const Term pivot =
        Abs(column).Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
    const Term is_pivot = Equal(Term(b, b.Ints(Iota(k))).Expand(1), pivot);  // (n, k, 1)
    const Term row = Sum(Select(is_pivot, m, m.Number(0)), {1});             // (n, 1, k)
    const Term head = row.Slice(2, 0, 1);                                    // (n, 1, 1)
    const Term flips = Select(pivot > 0, head.Number(-1), head.Number(1));
    det = det * (head * flips).Reshape({-1});
    if (k == 1) break;
    const Term first = m.Slice(1, 0, 1);
    const Term rest = Select(is_pivot, first, m).Slice(1, 1, INT64_MAX);
    const Term factor = rest.Slice(2, 0, 1) / Select(Equal(head, 0), head.Number(1), head);
    m = (rest - factor * row).Slice(2, 1, INT64_MAX);
  }
  std::vector<Value> dims;
  for (int i = 0; i + 2 < rank; ++i) dims.push_back(b.DimOf(x, i));
  return Term(b, ShapedAs(b, det, dims));
}

std::optional<Term> InverseOf(const Term& x) {
  TypedBuilder& b = x.b();
  const int rank = x.rank();
  if (rank < 2 || Dim::ProvablyDifferent(x.value().dim(-1), x.value().dim(-2)))
    return b.Fail("expected square matrices");
  const Value size = b.DimOf(x, -1);
  const Term m(b, ShapedAs(b, x, {ProductOfDims(b, x, 0, rank - 2), size, size}));
  const Term row = RangeOf(b, m, 1).Expand(1);                             // (s, 1)
  const Term unit = Equal(row, RangeOf(b, m, 1)).As(m.dtype()).Expand(0);  // (1, s, s)
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term k(b, s[0]), now(b, s[1]);
    const Term column = now.Take(k, 2).Expand(2);  // (n, s, 1)
    const Term left = Select(row >= k, Abs(column), column.Number(-1));
    const Term pivot =
        left.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
    const Term is_pivot = Equal(row, pivot), is_here = Equal(row, k);
    const Term found = Sum(Select(is_pivot, now, now.Number(0)), {1});  // (n, 1, 2s)
    const Term scaled = found / found.Take(k, 2).Expand(2);
    const Term moved = Select(is_pivot, now.Take(k, 1).Expand(1), now);
    const Term rest = moved - moved.Take(k, 2).Expand(2) * scaled;
    return {k + 1, Select(is_here, scaled, rest)};
  };
  const Value both = b.Concat({m, m * 0.0 + unit}, 2);
  const TypedBuilder::State last = b.While(
      {b.Int(0), both},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, m, 1); }, step);
  if (!b.status().ok() || last.size() != 2) return std::nullopt;
  const Term y = Term(b, last[1]).Take(RangeOf(b, m, 1) + Extent(b, m, 1), 2);
  return Term(b, ShapedAs(b, y, {b.ShapeOf(x)}));
}

}  // namespace relayvm::import
