#include "compiler/import/composite/matrices.h"

#include <algorithm>
#include <functional>

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

// --- Factors ---

namespace {

using State = TypedBuilder::State;

Term Times(const Term& x, const Term& y) { return {x.b(), MatMulOf(x.b(), x, y)}; }

// All pairs of columns, in turn.
struct ColumnPairs {
  Term place, first, second;
  int64_t count;
};
std::optional<ColumnPairs> PairsOfColumns(TypedBuilder& b, const Dim& extent) {
  constexpr int64_t kMost = 256;
  if (!extent.is_const() || extent.value() < 1 || extent.value() > kMost) {
    b.Fail(StatusCode::kUnsupported,
           "matrices whose smaller extent is not known or above {} are not supported", kMost);
    return std::nullopt;
  }
  std::vector<int64_t> firsts, seconds;
  for (int64_t p = 0; p < extent.value(); ++p) {
    for (int64_t q = p + 1; q < extent.value(); ++q) {
      firsts.push_back(p);
      seconds.push_back(q);
    }
  }
  const auto count = static_cast<int64_t>(firsts.size());
  return ColumnPairs{
      {b, b.Ints(Iota(extent.value()))}, {b, b.Ints(firsts)}, {b, b.Ints(seconds)}, count};
}
constexpr int64_t kSweeps = 12;

// Rows or columns p and q turned.
Term Turned(const ColumnPairs& pairs, const Term& m, int axis, const Term& p, const Term& q,
            const Term& cosine, const Term& sine) {
  const Term own = m.Take(p, axis), other = m.Take(q, axis);
  const Term at = Along(pairs.place, axis, 3);
  return Select(Equal(at, p), (own * cosine - other * sine).Expand(axis),
                Select(Equal(at, q), (own * sine + other * cosine).Expand(axis), m));
}
// The tangent of the angle that makes a symmetric matrix of two rows diagonal.
Term TangentOf(const Term& first, const Term& off, const Term& second) {
  const Term none = Equal(off, 0);
  const Term tau = (second - first) / (Select(none, off.Number(1), off) * 2.0);
  const Term size = Abs(tau) + Sqrt(tau * tau + 1);
  return Select(none, off, Select(tau < 0, tau.Number(-1), tau.Number(1)) / size);
}
// Jacobi's sweeps: for each pair in turn, columns p and q of `a` and of `v` turned by the angle
// whose tangent is that of (a, p, q); with `both_sides`, rows of `a` too. {step, a, v}.
using TangentFn = std::function<Term(const Term& a, const Term& p, const Term& q)>;
State Swept(const ColumnPairs& pairs, const Term& start, const Term& unit, const TangentFn& tangent,
            bool both_sides) {
  TypedBuilder& b = start.b();
  const State first = {b.Int(0), start, unit};
  if (pairs.count == 0) return first;
  return b.While(
      first,
      [&](const State& s) { return Term(b, s[0]) < static_cast<double>(pairs.count * kSweeps); },
      [&](const State& s) -> State {
        const Term step(b, s[0]), a(b, s[1]), v(b, s[2]);
        const Term at = step.Call("floor_mod", Term(b, b.Int(pairs.count)));
        const Term p = pairs.first.Take(at, 0), q = pairs.second.Take(at, 0);
        const Term t = tangent(a, p, q);
        const Term c = (1.0 / Sqrt(t * t + 1)).Expand(1), sine = c * t.Expand(1);
        const Term rows = both_sides ? Turned(pairs, a, 1, p, q, c, sine) : a;
        return {step + 1, Turned(pairs, rows, 2, p, q, c, sine),
                Turned(pairs, v, 2, p, q, c, sine)};
      });
}
// (n, s, s): what moves columns to the order of `values` (n, s).
Term OrderOf(const ColumnPairs& pairs, const Term& values, bool descending) {
  const Term order =
      values.Call("argsort", {{"axis", 1}, {"is_ascend", !descending}, {"dtype", "int64"}});
  return Equal(pairs.place.Expand(1), order.Expand(1)).As(DType::kFloat64);
}

}  // namespace

Term StackedMatrices(const Term& x) {
  TypedBuilder& b = x.b();
  return {b, ShapedAs(b, x.As(DType::kFloat64),
                      {ProductOfDims(b, x, 0, x.rank() - 2), b.DimOf(x, -2), b.DimOf(x, -1)})};
}
Value Unstacked(const Term& x, const Term& y, int axes) {
  TypedBuilder& b = x.b();
  std::vector<Value> dims;
  for (int i = 0; i + 2 < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  for (int i = 0; i < axes; ++i) dims.push_back(b.DimOf(y, 1 + i));
  return ShapedAs(b, y.As(x.dtype()), dims);
}
Term UnitMatrix(const Term& size) {
  return Equal(Range(size).Expand(1), Range(size)).As(DType::kFloat64);
}

std::optional<QrFactors> QrOf(const Term& x, bool full) {
  TypedBuilder& b = x.b();
  const Term rows = Extent(b, x, 1), columns = Extent(b, x, 2), least = Minimum(rows, columns);
  const Term place = Range(rows);
  const Term start = UnitMatrix(rows) + x.Slice(2, 0, 1) * 0.0;  // (n, m, m)
  const State last = b.While(
      {b.Int(0), x, start}, [&](const State& s) { return Term(b, s[0]) < least; },
      [&](const State& s) -> State {
        const Term k(b, s[0]), r(b, s[1]), q(b, s[2]);
        const Term column = r.Take(k, 2);                // (n, m)
        const Term first = column.Take(k, 1).Expand(1);  // (n, 1)
        const Term below = Select(place > k, column, column.Number(0));
        const Term tail = Sum(below * below, {1});
        const Term norm = Sqrt(first * first + tail);
        const Term end = Select(tail > 0, Select(first >= 0, -norm, norm), first);
        const Term v = Select(Equal(place, k), first - end, below);
        const Term size = Sum(v * v, {1});
        const Term factor = Select(size > 0, size.Number(2) / size, size.Number(0)).Expand(2);
        const Term down = v.Expand(2), across = v.Expand(1);
        return {k + 1, r - factor * down * Sum(down * r, {1}),
                q - factor * Sum(q * across, {2}) * across};
      });
  if (!b.status().ok() || last.size() != 3) return std::nullopt;
  Term r(b, last[1]), q(b, last[2]);
  r = Select(place.Expand(1) <= Range(columns), r, r.Number(0));
  if (full) return QrFactors{q, r};
  return QrFactors{q.Take(Range(least), 2), r.Take(Range(least), 1)};
}

std::optional<EigenFactors> EigenOf(const Term& x, bool descending) {
  TypedBuilder& b = x.b();
  const auto pairs = PairsOfColumns(b, x.value().dim(1));
  if (!pairs) return std::nullopt;
  const Term unit = UnitMatrix(Extent(b, x, 1));
  const auto tangent = [](const Term& a, const Term& p, const Term& q) {
    const Term row = a.Take(p, 1);
    return TangentOf(row.Take(p, 1), row.Take(q, 1), a.Take(q, 1).Take(q, 1));
  };
  const State last = Swept(*pairs, x, x * 0.0 + unit, tangent, /*both_sides=*/true);
  if (!b.status().ok() || last.size() != 3) return std::nullopt;
  const Term values = (Term(b, last[1]) * unit).Over("sum", {2}, false);
  const Term moved = OrderOf(*pairs, values, descending);
  return EigenFactors{(values.Expand(2) * moved).Over("sum", {1}, false),
                      Times(Term(b, last[2]), moved)};
}

std::optional<SingularFactors> SingularOf(const Term& x) {
  TypedBuilder& b = x.b();
  const Dim rows = x.value().dim(1), columns = x.value().dim(2);
  if (!rows.is_const() || !columns.is_const())
    return b.Fail(StatusCode::kUnsupported, "matrices whose extents are not known");
  if (rows.value() < columns.value()) {
    auto flipped = SingularOf(x.Transpose({0, 2, 1}));
    if (flipped) std::swap(flipped->u, flipped->v);
    return flipped;
  }
  const auto pairs = PairsOfColumns(b, columns);
  if (!pairs) return std::nullopt;
  const Term unit = UnitMatrix(Extent(b, x, 2)) + Sum(x, {1}) * 0.0;
  const auto tangent = [](const Term& a, const Term& p, const Term& q) {
    const Term own = a.Take(p, 2), other = a.Take(q, 2);
    const auto dot = [](const Term& y, const Term& z) { return (y * z).Over("sum", {1}, false); };
    return TangentOf(dot(own, own), dot(own, other), dot(other, other));
  };
  const State last = Swept(*pairs, x, unit, tangent, /*both_sides=*/false);
  if (!b.status().ok() || last.size() != 3) return std::nullopt;
  const Term a(b, last[1]), v(b, last[2]);
  const Term values = Sqrt((a * a).Over("sum", {1}, false));  // (n, k)
  const Term moved = OrderOf(*pairs, values, true);
  const Term divisor = Select(values > 0, values, values.Number(1)).Expand(1);
  return SingularFactors{Times(a / divisor, moved),
                         (values.Expand(2) * moved).Over("sum", {1}, false), Times(v, moved)};
}

std::optional<LuFactors> LuOf(const Term& x, bool pivot) {
  TypedBuilder& b = x.b();
  const Term rows = Extent(b, x, 1), columns = Extent(b, x, 2), least = Minimum(rows, columns);
  const Term row = Range(rows), column = Range(columns), turn = Range(least);
  const Term none = x.Slice(2, 0, 1) * 0.0;  // (n, m, 1)
  const Term order = Term(b, b.Squeeze(none, {2})).As(DType::kInt64) + row;
  const Term swaps = Sum(none, {1, 2}).Reshape({-1, 1}).As(DType::kInt64) + turn;
  const State last = b.While(
      {b.Int(0), x, order, swaps}, [&](const State& s) { return Term(b, s[0]) < least; },
      [&](const State& s) -> State {
        const Term k(b, s[0]), m(b, s[1]), rank(b, s[2]), taken(b, s[3]);
        Term found = Sum(none, {1, 2}).Reshape({-1, 1}).As(DType::kInt64) + k;  // (n, 1)
        if (pivot) {
          const Term size = m.Take(k, 2);
          const Term left = Select(row >= k, Abs(size), size.Number(-1));
          found =
              left.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
        }
        const Term is_pivot = Equal(row, found), is_here = Equal(row, k);  // (n, m), (m)
        const auto swapped = [&](const Term& v, const Term& there, const Term& here) {
          const Term best = Sum(Select(there, v, v.Number(0)), {1});
          const Term now = v.Take(k, 1).Expand(1);
          return Select(here, best, Select(there, now, v));
        };
        const Term order_now = swapped(rank, is_pivot, is_here);
        const Term moved = swapped(m, is_pivot.Expand(2), is_here.Expand(1));
        const Term head = moved.Take(k, 1).Expand(1);   // (n, 1, columns)
        const Term corner = head.Take(k, 2).Expand(2);  // (n, 1, 1)
        const Term safe = Select(Equal(corner, 0), corner.Number(1), corner);
        const Term below = (row > k).Expand(1);  // (m, 1)
        const Term factor = Select(below, moved.Take(k, 2).Expand(2) / safe, none);
        const Term rest = moved - factor * Select(column > k, head, head.Number(0));
        const Term made = Select(And(below, Equal(column, k)), factor, rest);
        return {k + 1, made, order_now, Select(Equal(turn, k), found, taken)};
      });
  if (!b.status().ok() || last.size() != 4) return std::nullopt;
  return LuFactors{{b, last[1]}, {b, last[2]}, {b, last[3]}};
}

}  // namespace relayvm::import
