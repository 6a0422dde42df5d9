// Linear algebra on matrices, the last two axes of a tensor.
#include <cmath>

#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/products.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

bool IsMatrix(Node& n, size_t i) {
  if (n.Input(i).rank() >= 2) return true;
  n.Fail("input {}: expected matrices, found rank {}", i, n.Input(i).rank());
  return false;
}
bool IsSquare(Node& n, size_t i) {
  if (!IsMatrix(n, i)) return false;
  if (!Dim::ProvablyDifferent(n.Input(i).dim(-1), n.Input(i).dim(-2))) return true;
  n.Fail("input {}: expected square matrices", i);
  return false;
}
Term Turned(const Term& x) {
  std::vector<int64_t> axes = Iota(x.rank());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return x.Transpose(axes);
}
// (batch, rows, columns) of any matrices, and back.
Term Stacked(TypedBuilder& b, const Value& x) {
  return {b, ShapedAs(b, x, {b.Ints({-1}), b.DimOf(x, -2), b.DimOf(x, -1)})};
}
Value Unstacked(TypedBuilder& b, const Value& y, const Value& like) {
  std::vector<Value> dims = DimsOf(b, like, 0, like.rank() - 2);
  for (int i = 1; i < y.rank(); ++i) dims.push_back(b.DimOf(y, i));
  return ShapedAs(b, y, dims);
}
// The unit matrix of x's size, (1, n, n).
Term UnitOf(const Term& x) {
  const Term at = RangeOf(x.b(), x, x.rank() - 1);
  return Equal(at.Expand(1), at).As(x.dtype()).Expand(0);
}

// --- Products ---

// With `axis` as the axis of the rows.
Term RowsMoved(const Term& x, int axis, bool back) {
  const int rank = x.rank();
  return axis == rank - 2 ? x
                          : x.Transpose(back ? AxisMoved(rank, rank - 2, axis)
                                             : AxisMoved(rank, axis, rank - 2));
}
std::optional<Term> Gemm(Node& n) {
  if (!IsMatrix(n, 0) || !IsMatrix(n, 1)) return std::nullopt;
  const Term x(n, 0), y(n, 1);
  const int axis = n.Axis(n.Int("axis", -2), x.rank());
  if (!n.b().status().ok()) return std::nullopt;
  const Term product = MatrixProduct(RowsMoved(x, axis, false), RowsMoved(y, axis, false),
                                     n.Bool("transpose_a", false), n.Bool("transpose_b", false));
  return RowsMoved(product * n.Float("alpha", 1), axis, true);
}
Outputs Gemm2(Node& n) {
  const auto product = Gemm(n);
  return product ? Outputs{*product} : Outputs{};
}
Outputs GemmAdd(Node& n) {
  const auto product = Gemm(n);
  return product ? Outputs{*product + Term(n, 2) * n.Float("beta", 1)} : Outputs{};
}
Outputs Syrk(Node& n) {
  if (!IsMatrix(n, 0)) return {};
  const Term x(n, 0);
  const bool transposed = n.Bool("transpose", false);
  return {MatrixProduct(x, x, transposed, !transposed) * n.Float("alpha", 1)};
}

// --- Elimination ---

struct Eliminated {
  Term inverse, sign, log;  // (batch, n, n); (batch): of the determinant
};
// By elimination of each column in turn from all other rows, beside the unit matrix; the pivot is
// the greatest element of the rows that are left.
std::optional<Eliminated> Eliminate(TypedBuilder& b, const Term& x) {
  const Term m = Stacked(b, x);
  const Term row = RangeOf(b, m, 1).Expand(1);  // (n, 1)
  const Term size = Extent(b, m, 1);
  const Value both = b.Concat({m, m * 0.0 + UnitOf(m)}, 2);
  const Term ones = (m * 0.0).Over("sum", {1, 2}, false) + 1.0;
  const auto more = [&](const TypedBuilder::State& s) -> Value { return Term(b, s[0]) < size; };
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term k(b, s[0]), now(b, s[1]), sign(b, s[2]), log(b, s[3]);
    const Term column = now.Take(k, 2).Expand(2);  // (batch, n, 1)
    const Term left = Select(row >= k, Abs(column), column.Number(-1));
    const Term pivot =
        left.Call("argmax", {{"axis", AttrList{1}}, {"keepdims", true}}).As(DType::kInt64);
    const Term is_pivot = Equal(row, pivot), is_here = Equal(row, k);
    const Term found = Sum(Select(is_pivot, now, now.Number(0)), {1});  // (batch, 1, 2n)
    const Term head = found.Take(k, 2).Expand(2);                       // (batch, 1, 1)
    const Term scaled = found / head;
    const Term moved = Select(is_pivot, now.Take(k, 1).Expand(1), now);
    const Term rest = moved - moved.Take(k, 2).Expand(2) * scaled;
    const Term value = head.Reshape({-1});
    const Term turns = Select(Equal(pivot.Reshape({-1}), k), value.Number(1), value.Number(-1));
    return {k + 1, Select(is_here, scaled, rest), sign * turns * value.Call("sign"),
            log + Abs(value).Call("log")};
  };
  const TypedBuilder::State last = b.While({b.Int(0), both, ones, ones - 1.0}, more, step);
  if (!b.status().ok() || last.size() != 4) return std::nullopt;
  const Term inverse = Term(b, last[1]).Take(RangeOf(b, m, 1) + size, 2);
  return Eliminated{inverse, {b, last[2]}, {b, last[3]}};
}
std::optional<Term> InverseOf(Node& n, const Term& x) {
  const auto done = Eliminate(n, x);
  return done ? std::optional(Term(n.b(), Unstacked(n, done->inverse, x))) : std::nullopt;
}
Outputs Inverse(Node& n) {
  if (!IsSquare(n, 0)) return {};
  const auto y = InverseOf(n, Term(n, 0));
  return y ? Outputs{*y} : Outputs{};
}
// A number for each matrix.
Value ForEach(Node& n, const Term& v, const Value& like) {
  TypedBuilder& b = n.b();
  const Term y(b, ShapedAs(b, v, DimsOf(b, like, 0, like.rank() - 2)));
  return n.np_shape() ? y : AtLeastVector(y);
}
// NaN comes of a matrix whose elimination ends early: its determinant is 0.
Outputs Det(Node& n) {
  if (!IsSquare(n, 0)) return {};
  const auto done = Eliminate(n, Term(n, 0));
  if (!done) return {};
  const Term value = done->sign * Exp(done->log);
  return {ForEach(n, Select(value.Call("isnan"), value.Number(0), value), n.Input(0))};
}
Outputs SLogDet(Node& n) {
  if (!IsSquare(n, 0)) return {};
  const auto done = Eliminate(n, Term(n, 0));
  if (!done) return {};
  const Term none = Or(done->log.Call("isnan"), done->sign.Call("isnan"));
  return {ForEach(n, Select(none, done->sign.Number(0), done->sign), n.Input(0)),
          ForEach(n, Select(none, done->log.Number(-HUGE_VAL), done->log), n.Input(0))};
}
// x with matrix * x = y; vectors are columns.
Outputs Solve(Node& n) {
  if (!IsSquare(n, 0)) return {};
  const auto inverse = InverseOf(n, Term(n, 0));
  if (!inverse) return {};
  const Term y(n, 1);
  if (y.rank() == inverse->rank() - 1) {
    const Term x(n.b(), MatMulOf(n, *inverse, y.Expand(y.rank())));
    return {x.Call("squeeze", {{"axis", AttrList{-1}}})};
  }
  return {MatMulOf(n, *inverse, y)};
}

// --- Triangular matrices ---

// One side of the diagonal, which stays.
Term Triangle(const Term& x, bool lower) {
  return x.Call("trilu", x.b().Int(0), {{"upper", !lower}});
}
// lower * lower^T = x, column by column.
std::optional<Term> CholeskyOf(TypedBuilder& b, const Term& x) {
  const Term m = Stacked(b, x), row = RangeOf(b, m, 1);
  const Term size = Extent(b, m, 1);
  const auto more = [&](const TypedBuilder::State& s) -> Value { return Term(b, s[0]) < size; };
  const auto step = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    const Term k(b, s[0]), left(b, s[1]), done(b, s[2]);
    const Term column = left.Take(k, 2);                  // (batch, n)
    const Term head = Sqrt(column.Take(k, 1).Expand(1));  // (batch, 1)
    const Term own = Select(row >= k, column / head, column.Number(0));
    const Term rest = left - own.Expand(2) * own.Expand(1);
    return {k + 1, rest, Select(Equal(row, k).Expand(0).Expand(0), own.Expand(2), done)};
  };
  const TypedBuilder::State last = b.While({b.Int(0), m, m * 0.0}, more, step);
  if (!b.status().ok() || last.size() != 3) return std::nullopt;
  return Term(b, Unstacked(b, last[2], x));
}
Outputs Cholesky(Node& n) {
  if (!IsSquare(n, 0)) return {};
  const auto lower = CholeskyOf(n, Term(n, 0));
  if (!lower) return {};
  return {n.Bool("lower", true) ? *lower : Turned(*lower)};
}
// The inverse of what this triangular matrix is the root of.
Outputs Potri(Node& n) {
  if (!IsSquare(n, 0)) return {};
  const bool lower = n.Bool("lower", true);
  const auto inverse = InverseOf(n, Triangle(Term(n, 0), lower));
  return inverse ? Outputs{MatrixProduct(*inverse, *inverse, lower, !lower)} : Outputs{};
}
// A triangular matrix (or its inverse) times another one, from the left or the right.
Outputs TriangularProduct(Node& n, bool inverse) {
  if (!IsSquare(n, 0) || !IsMatrix(n, 1)) return {};
  Term x = Triangle(Term(n, 0), n.Bool("lower", true));
  if (inverse) {
    const auto y = InverseOf(n, x);
    if (!y) return {};
    x = *y;
  }
  const bool transposed = n.Bool("transpose", false);
  const Term y = Term(n, 1) * n.Float("alpha", 1);
  return {n.Bool("rightside", false) ? MatrixProduct(y, x, false, transposed)
                                     : MatrixProduct(x, y, transposed, false)};
}
Outputs Trmm(Node& n) { return TriangularProduct(n, false); }
Outputs Trsm(Node& n) { return TriangularProduct(n, true); }

// --- Diagonals and triangles as vectors ---

Outputs ExtractDiag(Node& n) {
  if (!IsMatrix(n, 0)) return {};
  const Term x(n, 0);
  return {Diagonal(x, n.Counts("offset", {0})[0], x.rank() - 2, x.rank() - 1)};
}
Outputs SumLogDiag(Node& n) {
  if (!IsSquare(n, 0)) return {};
  const Term x(n, 0);
  const Term sum = Diagonal(x, 0, x.rank() - 2, x.rank() - 1).Call("log").Over("sum", {-1}, false);
  return {n.np_shape() ? sum : AtLeastVector(sum)};
}
Outputs MakeDiag(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t offset = n.Counts("offset", {0})[0];
  if (x.rank() < 1) return n.Fail("expected vectors");
  const auto down = static_cast<double>(std::max<int64_t>(-offset, 0));
  const Term at = Range(Extent(b, x, -1) + static_cast<double>(std::abs(offset)));
  const Term last = Extent(b, x, -1) - 1;
  const Term place = Maximum(Minimum(at - down, last), at.Number(0));
  const Term rows = x.Take(place, x.rank() - 1).Expand(x.rank());
  const Term here = Equal(at - at.Expand(1), static_cast<double>(offset));
  return {Select(here, rows, rows.Number(0))};
}
// Places (row * size + column) of the triangle that starts `offset` diagonals away from the middle.
std::vector<int64_t> TriangleOf(int64_t size, int64_t offset, bool lower) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      const bool is_lower = offset == 0 ? lower : offset < 0;
      if (is_lower ? j - i <= offset : j - i >= offset) at.push_back(i * size + j);
    }
  }
  return at;
}
constexpr int64_t kMostRows = 1 << 10;  // places are listed

Outputs ExtractTriangle(Node& n) {
  TypedBuilder& b = n.b();
  if (!IsSquare(n, 0)) return {};
  const Term x(n, 0);
  const Dim size = x.value().dim(-1);
  if (!size.is_const() || size.value() > kMostRows)
    return n.Unsupported("the size of the matrices must be known, and at most {}", kMostRows);
  std::vector<Value> dims = DimsOf(b, x, 0, x.rank() - 2);
  dims.push_back(b.Ints({-1}));
  const auto at = TriangleOf(size.value(), n.Counts("offset", {0})[0], n.Bool("lower", true));
  return {Term(b, ShapedAs(b, x, dims)).Take(b.Ints(at), x.rank() - 2)};
}
Outputs MakeTriangle(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t offset = n.Counts("offset", {0})[0];
  if (x.rank() < 1 || !x.value().dim(-1).is_const())
    return n.Unsupported("the number of elements must be known");
  const int64_t count = x.value().dim(-1).value();
  const auto inner = static_cast<int64_t>(std::sqrt(2.0 * static_cast<double>(count)));
  if (inner * (inner + 1) / 2 != count || inner + std::abs(offset) > kMostRows)
    return n.Fail("{} elements are no triangle", count);
  const int64_t size = inner + std::abs(offset);
  std::vector<int64_t> from(static_cast<size_t>(size * size), count);  // behind the elements: 0
  const auto at = TriangleOf(size, offset, n.Bool("lower", true));
  for (size_t i = 0; i < at.size(); ++i) from[static_cast<size_t>(at[i])] = static_cast<int64_t>(i);
  const int last = x.rank() - 1;
  const Term more(b, b.Concat({x, x.Slice(last, 0, 1) * 0.0}, last));
  std::vector<Value> dims = DimsOf(b, x, 0, last);
  dims.push_back(b.Ints({size, size}));
  return {ShapedAs(b, more.Take(b.Ints(from), last), dims)};
}

constexpr OperatorDef kLinalgOperators[] = {
    {"_linalg_det linalg_det _npi_det", 1, 1, Det},
    {"_linalg_extractdiag linalg_extractdiag", 1, 1, ExtractDiag},
    {"_linalg_extracttrian linalg_extracttrian", 1, 1, ExtractTriangle},
    {"_linalg_gemm linalg_gemm", 3, 3, GemmAdd},
    {"_linalg_gemm2 linalg_gemm2", 2, 2, Gemm2},
    {"_linalg_inverse linalg_inverse _npi_inv", 1, 1, Inverse},
    {"_linalg_makediag linalg_makediag", 1, 1, MakeDiag},
    {"_linalg_maketrian linalg_maketrian", 1, 1, MakeTriangle},
    {"_linalg_potrf linalg_potrf _npi_cholesky", 1, 1, Cholesky},
    {"_linalg_potri linalg_potri", 1, 1, Potri},
    {"_linalg_slogdet linalg_slogdet _npi_slogdet", 1, 1, SLogDet},
    {"_linalg_sumlogdiag linalg_sumlogdiag", 1, 1, SumLogDiag},
    {"_linalg_syrk linalg_syrk", 1, 1, Syrk},
    {"_linalg_trmm linalg_trmm", 2, 2, Trmm},
    {"_linalg_trsm linalg_trsm", 2, 2, Trsm},
    {"_npi_solve", 2, 2, Solve},
};

}  // namespace

std::span<const OperatorDef> LinalgOperators() { return kLinalgOperators; }

}  // namespace relayvm::import::mxnet
