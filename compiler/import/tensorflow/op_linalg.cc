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
    {"Diag", 1, 1, Diag},
    {"DiagPart", 1, 1, DiagPart},
    {"Einsum", 1, -1, Einsum},
    {"LogMatrixDeterminant", 1, 1, LogMatrixDeterminant, "sign log_abs_determinant"},
    {"MatrixBandPart", 3, 3, MatrixBandPart},
    {"MatrixDeterminant", 1, 1, MatrixDeterminant},
    {"MatrixDiag", 1, 1, MatrixDiag},
    {"MatrixDiagPart", 1, 1, MatrixDiagPart},
    {"MatrixDiagPartV2", 3, 3, MatrixDiagPartBand},
    {"MatrixDiagPartV3", 3, 3, MatrixDiagPartBand},
    {"MatrixDiagV2", 5, 5, MatrixDiagBand},
    {"MatrixDiagV3", 5, 5, MatrixDiagBand},
    {"MatrixInverse", 1, 1, MatrixInverse},
    {"MatrixSetDiag", 2, 2, MatrixSetDiag},
    {"MatrixSetDiagV2", 3, 3, MatrixSetDiagBand},
    {"MatrixSetDiagV3", 3, 3, MatrixSetDiagBand},
    {"MatrixSolve", 2, 2, MatrixSolve},
    {"MatrixTriangularSolve", 2, 2, MatrixTriangularSolve},
};

}  // namespace

std::span<const OperatorDef> LinalgOperators() { return kLinalgOperators; }

}  // namespace relayvm::import::tensorflow
