// Matrices: einsum, diagonals, determinants, systems of equations.
#include <fmt/format.h>

#include "compiler/import/checked.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

Outputs Einsum(NodeContext& n) {
  const std::string equation = n.String("equation", "");
  return {n.b().Op("einsum", {n.b().Tuple(n.inputs())}, {{"equation", equation}})};
}

// --- Diagonals ---

// Diagonals first..last (k's numbers: 0 is the main one, above it more).
struct Band {
  int64_t first = 0, last = 0;
  bool super_right = false, sub_right = false;  // where shorter ones stand in their row
};
std::optional<Band> BandOf(NodeContext& n, size_t input) {
  const auto k = n.ConstantInts(input, "k");
  if (!k) return std::nullopt;
  if (k->empty() || k->size() > 2 || k->front() > k->back() || k->front() < -INT32_MAX ||
      k->back() > INT32_MAX) {
    return n.Fail("{}: expected one diagonal, or the first and the last one",
                  n.InputText(input, "k"));
  }
  Band band{k->front(), k->back()};
  const std::string align = n.String("align", n.op().ends_with("V3") ? "RIGHT_LEFT" : "LEFT_LEFT");
  band.super_right = align.starts_with("RIGHT");
  band.sub_right = align.ends_with("RIGHT");
  return band;
}

Value WithDiagonals(NodeContext& n, const Value& matrix, const Value& diagonals, const Band& band) {
  return n.b().Op("matrix_set_diag", {matrix, diagonals},
                  {{"k1", band.first},
                   {"k2", band.last},
                   {"super_diag_right_align", band.super_right},
                   {"sub_diag_right_align", band.sub_right}});
}

// A matrix of those diagonals. `rows` and `columns` (rank 0): none is what just holds them.
Outputs MatrixOf(NodeContext& n, const Band& band, std::optional<Term> rows,
                 std::optional<Term> columns, const Value& fill) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const bool several = band.first != band.last;
  if (x.rank() < (several ? 2 : 1)) return n.Fail("diagonal: expected rank {}", several ? 2 : 1);
  const Term length = Extent(b, x, -1);
  const Term least_rows = length + static_cast<double>(std::max<int64_t>(-band.last, 0));
  const Term least_columns = length + static_cast<double>(std::max<int64_t>(band.first, 0));
  if (!rows && !columns) {
    rows = columns = Maximum(least_rows, least_columns);
  } else if (!rows) {
    rows = least_rows;
  } else if (!columns) {
    columns = least_columns;
  }
  std::vector<Value> dims = DimsOf(b, x, 0, x.rank() - (several ? 2 : 1));
  dims.push_back(AsVector(*rows));
  dims.push_back(AsVector(*columns));
  const Value shape = b.Concat(dims, 0);
  const std::string dtype(DTypeName(x.dtype()));
  const auto known = b.ConstantInts(shape);
  const Value start = known ? b.Op("full", {fill}, {{"shape", ListOf(*known)}, {"dtype", dtype}})
                            : b.Op("dyn.full", {fill, shape}, {{"dtype", dtype}});
  return {WithDiagonals(n, start, x, band)};
}
Outputs MatrixDiag(NodeContext& n) {
  return MatrixOf(n, {}, std::nullopt, std::nullopt, Like(n, n.Input(0), 0));
}
Outputs MatrixDiagBand(NodeContext& n) {
  const auto band = BandOf(n, 1);
  if (!band) return {};
  const auto extent = [&](size_t i) -> std::optional<Term> {
    const auto known = n.b().ConstantInts(n.Input(i));
    if (known && known->size() == 1 && (*known)[0] == -1) return std::nullopt;
    return AsScalar(Term(n, i)).As(DType::kInt64);
  };
  return MatrixOf(n, *band, extent(2), extent(3), AsScalar(Term(n, 4)));
}

Outputs DiagonalsOf(NodeContext& n, const Band& band, const Term& fill) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int rank = x.rank();
  if (rank < 2) return n.Fail("expected matrices");
  const Term rows = Extent(b, x, -2), columns = Extent(b, x, -1);
  // Of diagonal d of the result row `last - d`: element p, which is there below its length.
  const auto count = band.last - band.first + 1;
  if (count > 1 << 20) return n.Unsupported("more than 2^20 diagonals");
  std::vector<int64_t> numbers;
  for (int64_t d = band.last; d >= band.first; --d) numbers.push_back(d);
  const Term d = Term(b, b.Ints(numbers)).Expand(1);
  const Term zero = d.Number(0), below = Maximum(-d, zero), above = Maximum(d, zero);
  const Term length = Minimum(rows - below, columns - above);
  const Term longest = length.Over("max", {0, 1}, false);
  const Term shift = longest - length;
  const Term none = shift * 0.0;
  const Term moved = Select(d > 0, band.super_right ? shift : none,
                            Select(d < 0, band.sub_right ? shift : none, none));
  const Term p = Range(longest) - moved;
  const Term inside = And(p >= 0, p < length);
  const Term place = Select(inside, (p + below) * columns + p + above, p * 0.0);
  std::vector<Value> dims = DimsOf(b, x, 0, rank - 2);
  dims.push_back(ProductOfDims(b, x, rank - 2, rank));
  const Term taken = To(x, dims).Take(place, rank - 2);
  const Term y = Select(inside, taken, fill);
  return {band.first == band.last ? b.Squeeze(y, {rank - 2}) : y.value()};
}
Outputs MatrixDiagPart(NodeContext& n) { return DiagonalsOf(n, {}, Term(n, 0).Number(0)); }
Outputs MatrixDiagPartBand(NodeContext& n) {
  const auto band = BandOf(n, 1);
  return band ? DiagonalsOf(n, *band, AsScalar(Term(n, 2))) : Outputs{};
}
Outputs MatrixSetDiag(NodeContext& n) { return {WithDiagonals(n, n.Input(0), n.Input(1), {})}; }
Outputs MatrixSetDiagBand(NodeContext& n) {
  const auto band = BandOf(n, 2);
  return band ? Outputs{WithDiagonals(n, n.Input(0), n.Input(1), *band)} : Outputs{};
}

// How far each element is right of the diagonal.
Term OffsetsOf(const Term& x) { return RangeOf(x.b(), x, -1) - RangeOf(x.b(), x, -2).Expand(1); }
Outputs MatrixBandPart(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 2) return n.Fail("expected matrices");
  const Term offset = OffsetsOf(x);
  const auto limit = [&](size_t i) { return AsScalar(Term(n, i)).As(DType::kInt64); };
  const Term lower = limit(1), upper = limit(2);
  const Term kept = And(Or(lower < 0, -offset <= lower), Or(upper < 0, offset <= upper));
  return {Select(kept, x, x.Number(0))};
}

// Of any rank: the diagonal of the matrix that all axes are of.
Outputs Diag(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value flat = b.Reshape(n.Input(0), {-1});
  const Outputs matrix = n.As("MatrixDiag", {flat});
  if (matrix.empty()) return {};
  std::vector<Value> dims = DimsOf(b, n.Input(0), 0, n.Input(0).rank());
  const std::vector<Value> again = dims;
  dims.insert(dims.end(), again.begin(), again.end());
  return {ShapedAs(b, matrix[0], dims)};
}
Outputs DiagPart(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int half = x.rank() / 2;
  if (x.rank() != 2 * half || half == 0) return n.Fail("expected an even rank");
  const Value size = ProductOfDims(b, x, 0, half);
  const Outputs diagonal = n.As("MatrixDiagPart", {To(x, {size, size})});
  if (diagonal.empty()) return {};
  return {ShapedAs(b, diagonal[0], DimsOf(b, x, 0, half))};
}

Outputs Cross(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), y(n, 1);
  const int last = x.rank() - 1;
  const auto part = [&](const Term& v, int64_t i) { return v.Slice(last, i % 3, i % 3 + 1); };
  std::vector<Value> parts;
  for (int64_t i = 0; i < 3; ++i)
    parts.push_back(part(x, i + 1) * part(y, i + 2) - part(x, i + 2) * part(y, i + 1));
  return {b.Concat(parts, last)};
}

// --- By elimination ---

// Matrices (.., rows, columns) as (n, rows, columns).
Term Stacked(const Term& x) {
  TypedBuilder& b = x.b();
  const int rank = x.rank();
  return To(x, {ProductOfDims(b, x, 0, rank - 2), b.DimOf(x, -2), b.DimOf(x, -1)});
}
bool AreSquare(NodeContext& n, const Value& v) {
  if (v.rank() >= 2 && !Dim::ProvablyDifferent(v.dim(-1), v.dim(-2))) return true;
  n.Fail("expected square matrices");
  return false;
}

// (.., 1, s) as (.., s, 1).
Term ShapedColumn(const Term& v) {
  std::vector<int64_t> axes = Iota(v.rank());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return v.Transpose(axes);
}

// a (n, s, s), right (n, s, m): x of a x = right; the sign and the logarithm of the determinant's
// size; the determinant. The pivot of each column is its largest element (Gauss and Jordan).
struct Solved {
  Term x, sign, log, determinant;
};
std::optional<Solved> Solve(NodeContext& n, const Term& a, const Term& right) {
  TypedBuilder& b = n.b();
  const Term row = RangeOf(b, a, 1).Expand(1);  // (s, 1)
  const Term one = a.Over("sum", {1, 2}, false) * 0.0 + 1;
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term k(b, s[0]), now(b, s[1]);
    const Term column = now.Take(k, 2).Expand(2);  // (n, s, 1)
    const Term left = Select(row >= k, Abs(column), column.Number(-1));
    const Term pivot =
        left.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
    const Term is_pivot = Equal(row, pivot), is_here = Equal(row, k);
    const Term found = Sum(Select(is_pivot, now, now.Number(0)), {1});  // (n, 1, s + m)
    const Term head = found.Take(k, 2).Expand(2);
    const Term scaled = found / Select(Equal(head, 0), head.Number(1), head);
    const Term moved = Select(is_pivot, now.Take(k, 1).Expand(1), now);
    const Term rest = moved - moved.Take(k, 2).Expand(2) * scaled;
    const Term flips = Select(Equal(pivot, k), head.Number(1), head.Number(-1)).Reshape({-1});
    const Term flat = head.Reshape({-1});
    return {k + 1, Select(is_here, scaled, rest), Term(b, s[2]) * flips * flat.Call("sign"),
            Term(b, s[3]) + Log(Abs(flat)), Term(b, s[4]) * flips * flat};
  };
  const auto last = b.While(
      {b.Int(0), b.Concat({a, right}, 2), one, one * 0.0, one},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, a, 1); }, step);
  if (!Ok(n) || last.size() != 5) return std::nullopt;
  const Term x = Term(b, last[1]).Take(RangeOf(b, right, 2) + Extent(b, a, 1), 2);
  return Solved{x, {b, last[2]}, {b, last[3]}, {b, last[4]}};
}

Term Transposed(const Term& x) {
  std::vector<int64_t> axes = Iota(x.rank());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return x.Transpose(axes);
}
Term UnitLike(const Term& a) { return a * 0.0 + Equal(OffsetsOf(a), 0).As(a.dtype()); }

// A complex matrix as a real one twice as large: (re, -im; im, re); and back.
Term Embedded(NodeContext& n, const Value& v) {
  TypedBuilder& b = n.b();
  const Complex x = ComplexOf(b, v);
  const int last = x.re.rank() - 1;
  const Value left = b.Concat({x.re, x.im}, last - 1), right = b.Concat({-x.im, x.re}, last - 1);
  return {b, b.Concat({left, right}, last)};
}
// The left half's rows, of a result that has so many.
Outputs FromEmbedded(NodeContext& n, const Value& whole, const Value& like) {
  TypedBuilder& b = n.b();
  const Term y(b, whole);
  const Value shape = b.ShapeOf(b.Field(like, 0));
  const Value part = b.Field(like, 0);
  const int rank = part.rank();
  const Term rows = Extent(b, part, rank - 2), columns = Extent(b, part, rank - 1);
  const Term left = y.Take(Range(columns), rank - 1);
  const Term re = left.Take(Range(rows), rank - 2);
  const Term im = left.Take(Range(rows) + rows, rank - 2);
  return {PairOf(b, {{b, ShapedAs(b, re, {shape})}, {b, ShapedAs(b, im, {shape})}})};
}
// What of complex matrices is the same of these. Their adjoints are transposed.
template <Converter kConvert>
Outputs OfEmbedded(NodeContext& n) {
  if (!HasComplex(n)) return kConvert(n);
  std::vector<Value> inputs;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    const Value& v = n.Input(i);
    if (!IsComplex(v) || n.b().Field(v, 0).rank() < 2) return n.Fail("expected complex matrices");
    inputs.push_back(Embedded(n, v));
  }
  NodeContext part(n.importer(), n.node(), std::move(inputs));
  const Outputs y = kConvert(part);
  if (y.size() != 1 || !Ok(n)) return {};
  return FromEmbedded(n, y[0], n.Input(n.num_inputs() - 1));
}

Outputs MatrixInverse(NodeContext& n) {
  const Term given(n, 0);
  if (!AreSquare(n, given)) return {};
  const Term a = Stacked(n.Bool("adjoint", false) ? Transposed(given) : given);
  const auto solved = Solve(n, a, UnitLike(a));
  return solved ? Outputs{ShapedAs(n, solved->x, {n.b().ShapeOf(given)})} : Outputs{};
}
Outputs SolveFor(NodeContext& n, const Term& a) {
  const Term right(n, 1);
  if (!AreSquare(n, a) || right.rank() != a.rank())
    return n.Fail("expected matrices and right-hand sides of one rank");
  const auto solved = Solve(n, Stacked(a), Stacked(right));
  return solved ? Outputs{ShapedAs(n, solved->x, {n.b().ShapeOf(right)})} : Outputs{};
}
Outputs MatrixSolve(NodeContext& n) {
  const Term a(n, 0);
  if (!AreSquare(n, a)) return {};
  return SolveFor(n, n.Bool("adjoint", false) ? Transposed(a) : a);
}
Outputs MatrixTriangularSolve(NodeContext& n) {
  const Term a(n, 0);
  if (!AreSquare(n, a)) return {};
  const Term offset = OffsetsOf(a);
  const Term half = Select(n.Bool("lower", true) ? offset <= 0 : offset >= 0, a, a.Number(0));
  return SolveFor(n, n.Bool("adjoint", false) ? Transposed(half) : half);
}
Outputs Determinants(NodeContext& n, bool logarithm) {
  TypedBuilder& b = n.b();
  const Term a(n, 0);
  if (!AreSquare(n, a)) return {};
  const Term stacked = Stacked(a);
  const auto solved = Solve(n, stacked, stacked.Slice(2, 0, 1));
  if (!solved) return {};
  const std::vector<Value> dims = DimsOf(b, a, 0, a.rank() - 2);
  if (!logarithm) return {ShapedAs(b, solved->determinant, dims)};
  return {ShapedAs(b, solved->sign, dims), ShapedAs(b, solved->log, dims)};
}
Outputs MatrixDeterminant(NodeContext& n) { return Determinants(n, false); }
Outputs LogMatrixDeterminant(NodeContext& n) { return Determinants(n, true); }

// --- Of diagonals ---

// (.., s, s) of rows of diagonals: row i of `rows` stands so far right of the main one, each
// element in its own row of the matrix.
Term FromBands(const Term& rows, const std::vector<int64_t>& right) {
  const int axis = rows.rank() - 2;
  const Term at = RangeOf(rows.b(), rows, -1);
  const Term offset = at - at.Expand(1);
  Term y = rows.Number(0);
  for (size_t i = 0; i < right.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    const Term band = rows.Slice(axis, k, k + 1);  // (.., 1, s)
    const Term column = ShapedColumn(band);        // (.., s, 1)
    const Term here = Equal(offset, static_cast<double>(right[i]));
    y = Select(here, column, y);
  }
  return y;
}
Outputs TridiagonalSolve(NodeContext& n) {
  const Term bands(n, 0);
  if (bands.rank() < 2 || bands.rank() != n.Input(1).rank())
    return n.Fail("expected diagonals and right-hand sides of one rank, 2 or more");
  if (Dim::ProvablyDifferent(bands.value().dim(-2), Dim(3)))
    return n.Fail("expected three diagonals");
  return SolveFor(n, FromBands(bands, {1, 0, -1}));
}
Outputs TridiagonalProduct(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term right(n, 3);
  const int axis = right.rank() - 2;
  if (axis < 0) return n.Fail("expected matrices");
  std::vector<Value> dims = DimsOf(b, right, 0, right.rank());
  dims[static_cast<size_t>(axis)] = b.Ints({1});
  const Value none = Filled(b, 0, right.dtype(), b.Concat(dims, 0));
  const Term up(b, b.Concat({right.Slice(axis, 1, INT64_MAX), none}, axis));
  const Term down(b, b.Concat({none, right.Slice(axis, 0, -1)}, axis));
  const auto column = [&](size_t i) { return ShapedColumn(Term(n, i)); };
  for (size_t i = 0; i < 3; ++i) {
    if (n.Input(i).rank() != right.rank()) return n.Fail("expected inputs of one rank");
  }
  return {column(0) * up + column(1) * right + column(2) * down};
}
Outputs BandedTriangularSolve(NodeContext& n) {
  const Term bands(n, 0);
  const bool lower = n.Bool("lower", true);
  if (bands.rank() < 2 || bands.rank() != n.Input(1).rank() || !bands.value().dim(-2).is_const())
    return n.Fail("expected a known number of diagonals, and right-hand sides of their rank");
  const int64_t count = bands.value().dim(-2).value();
  if (count > 1 << 10) return n.Unsupported("more than 2^10 diagonals");
  std::vector<int64_t> right;
  for (int64_t i = 0; i < count; ++i) right.push_back(lower ? -i : count - 1 - i);
  const Term a = FromBands(bands, right);
  return SolveFor(n, n.Bool("adjoint", false) ? Transposed(a) : a);
}

// Least squares by the normal equations, in doubles.
Outputs LeastSquares(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term a = Term(n, 0).As(DType::kFloat64), right = Term(n, 1).As(DType::kFloat64);
  if (a.rank() < 2 || right.rank() != a.rank())
    return n.Fail("expected matrices and right-hand sides of one rank");
  const Dim rows = a.value().dim(-2), columns = a.value().dim(-1);
  if (!rows.is_const() || !columns.is_const())
    return n.Unsupported("matrices whose extents are not known");
  const auto product = [&](const Term& x, const Term& y) { return Term(b, MatMulOf(b, x, y)); };
  const Term flipped = Transposed(a);
  const bool tall = rows.value() >= columns.value();
  const Term square = tall ? product(flipped, a) : product(a, flipped);
  const Term held = square + UnitLike(square) * AsScalar(Term(n, 2)).As(DType::kFloat64);
  const Term side = tall ? product(flipped, right) : right;
  const auto solved = Solve(n, Stacked(held), Stacked(side));
  if (!solved) return {};
  const Term x(b, ShapedAs(b, solved->x, {b.ShapeOf(side)}));
  return {(tall ? x : product(flipped, x)).As(n.Input(0).dtype())};
}

// With rows swapped so that each pivot is its column's largest; which row each one was.
Outputs Lu(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  if (HasComplex(n)) return n.Unsupported("complex matrices");
  if (!AreSquare(n, given)) return {};
  const Term a = Stacked(given);
  const Term place = RangeOf(b, a, 1), row = place.Expand(1);
  const Term rows = a.Slice(2, 0, 1).Call("zeros_like").As(DType::kInt64) + row;  // (n, s, 1)
  const auto last = b.While(
      {b.Int(0), a, rows},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, a, 1); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term k(b, s[0]), now(b, s[1]), from(b, s[2]);
        const Term column = now.Take(k, 2).Expand(2);
        const Term left = Select(row >= k, Abs(column), column.Number(-1));
        const Term pivot =
            left.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
        const Term is_pivot = Equal(row, pivot), is_here = Equal(row, k);
        const auto swapped = [&](const Term& v) {
          const Term found = Sum(Select(is_pivot, v, v.Number(0)), {1});
          return Select(is_here, found, Select(is_pivot, v.Take(k, 1).Expand(1), v));
        };
        const Term moved = swapped(now);
        const Term head = moved.Take(k, 1).Expand(1);          // (n, 1, s)
        const Term top = head.Take(k, 2).Expand(2);            // (n, 1, 1)
        const Term factor = moved.Take(k, 2).Expand(2) / top;  // (n, s, 1)
        const Term below = row > k;
        const Term next = Select(
            below, Select(place > k, moved - factor * head, Select(Equal(place, k), factor, moved)),
            moved);
        return {k + 1, next, swapped(from)};
      });
  if (!Ok(n) || last.size() != 3) return {};
  const Value shape = b.ShapeOf(given);
  const Term sizes(b, shape);
  return {ShapedAs(b, last[1], {shape}), b.Cast(ShapedAs(b, last[2], {sizes.Slice(0, 0, -1)}),
                                                n.Type("output_idx_type", DType::kInt32))};
}

// Column by column; what is done is taken off the rest.
Outputs Cholesky(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term given(n, 0);
  if (!AreSquare(n, given)) return {};
  const Term a = Stacked(given);
  const Term place = RangeOf(b, a, 1);  // (s)
  const auto last = b.While(
      {b.Int(0), a, a * 0.0},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, a, 1); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term k(b, s[0]), rest(b, s[1]);
        const Term column = rest.Take(k, 2);                  // (n, s)
        const Term root = Sqrt(column.Take(k, 1)).Expand(1);  // (n, 1)
        const Term done = Select(place >= k, column / root, column.Number(0));
        const Term here = Equal(place, k);
        return {k + 1, rest - done.Expand(2) * done.Expand(1),
                Select(here, done.Expand(2), Term(b, s[2]))};
      });
  if (!Ok(n) || last.size() != 3) return {};
  return {ShapedAs(b, last[2], {b.ShapeOf(given)})};
}

constexpr OperatorDef kLinalgOperators[] = {
    {"BandedTriangularSolve", 2, 2, BandedTriangularSolve},
    {"BatchCholesky", 1, 1, Cholesky},
    {"BatchMatrixBandPart", 3, 3, MatrixBandPart},
    {"BatchMatrixDeterminant", 1, 1, MatrixDeterminant},
    {"BatchMatrixDiag", 1, 1, MatrixDiag},
    {"BatchMatrixDiagPart", 1, 1, MatrixDiagPart},
    {"BatchMatrixInverse", 1, 1, MatrixInverse},
    {"BatchMatrixSetDiag", 2, 2, MatrixSetDiag},
    {"BatchMatrixSolve", 2, 2, MatrixSolve},
    {"BatchMatrixTriangularSolve", 2, 2, MatrixTriangularSolve},
    {"Cholesky", 1, 1, Cholesky},
    {"Cross", 2, 2, Cross},
    {"Diag", 1, 1, OfParts<Diag>},
    {"DiagPart", 1, 1, OfParts<DiagPart>},
    {"Einsum", 1, -1, Einsum},
    {"LogMatrixDeterminant", 1, 1, LogMatrixDeterminant, "sign log_abs_determinant"},
    {"Lu", 1, 1, Lu, "lu p"},
    {"MatrixBandPart", 3, 3, OfParts<MatrixBandPart>},
    {"MatrixDeterminant", 1, 1, MatrixDeterminant},
    {"MatrixDiag", 1, 1, OfParts<MatrixDiag>},
    {"MatrixDiagPart", 1, 1, OfParts<MatrixDiagPart>},
    {"MatrixDiagPartV2", 3, 3, OfParts<MatrixDiagPartBand>},
    {"MatrixDiagPartV3", 3, 3, OfParts<MatrixDiagPartBand>},
    {"MatrixDiagV2", 5, 5, OfParts<MatrixDiagBand>},
    {"MatrixDiagV3", 5, 5, OfParts<MatrixDiagBand>},
    {"MatrixInverse", 1, 1, OfEmbedded<MatrixInverse>},
    {"MatrixSetDiag", 2, 2, OfParts<MatrixSetDiag>},
    {"MatrixSetDiagV2", 3, 3, OfParts<MatrixSetDiagBand>},
    {"MatrixSetDiagV3", 3, 3, OfParts<MatrixSetDiagBand>},
    {"MatrixSolve", 2, 2, OfEmbedded<MatrixSolve>},
    {"MatrixSolveLs", 3, 3, LeastSquares},
    {"MatrixTriangularSolve", 2, 2, MatrixTriangularSolve},
    {"TridiagonalMatMul", 4, 4, TridiagonalProduct},
    {"TridiagonalSolve", 2, 2, TridiagonalSolve},
};

}  // namespace

std::span<const OperatorDef> LinalgOperators() { return kLinalgOperators; }

}  // namespace relayvm::import::tensorflow
