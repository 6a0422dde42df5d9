// Factors of matrices, and what is made by them: inverses of any, ranks, exponentials. See
// composite/matrices.h.
#include <cmath>

#include "compiler/import/composite/matrices.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/norms.h"

namespace relayvm::import::torch {

namespace {

// The matrices of argument 0 (composite/matrices.h).
std::optional<Term> StackOf(const Call& n, const Term& x) {
  if (!AreMatrices(n, x)) return std::nullopt;
  return StackedMatrices(x);
}
Value NoElements(const Call& n, DType dtype) { return n.b().Full({0}, 0, dtype); }

Results Qr(Call& n) {
  const Term given = Real(n);
  const auto x = StackOf(n, given);
  const std::string mode = n.String("mode", n.Bool("some", true) ? "reduced" : "complete");
  if (!x) return {};
  if (mode != "reduced" && mode != "complete" && mode != "r")
    return n.Fail("mode: expected reduced, complete or r, found '{}'", mode);
  const auto found = QrOf(*x, mode == "complete");
  if (!found) return {};
  const Value r = Unstacked(given, found->r, 2);
  if (mode == "r") return {NoElements(n, given.dtype()), r};
  return {Unstacked(given, found->q, 2), r};
}

// The triangle that counts, on both sides.
Term SymmetricBy(const Term& x, bool upper) {
  TypedBuilder& b = x.b();
  const Term half(b, b.Op("trilu", {x, b.Int(0)}, {{"upper", upper}}));
  return half + half.Transpose({0, 2, 1}) * (1.0 - UnitMatrix(Extent(b, x, 1)));
}
Results SymmetricEigen(Call& n) {
  const Term given = Real(n);
  const auto x = StackOf(n, given);
  if (!x) return {};
  if (Dim::ProvablyDifferent(x->value().dim(1), x->value().dim(2)))
    return n.Fail("expected square matrices");
  const std::string side = n.String("UPLO", "L");
  const auto found = EigenOf(SymmetricBy(*x, side == "U" || side == "u"), false);
  if (!found) return {};
  const Value values = Unstacked(given, found->values, 1);
  if (n.schema().results.size() == 1) return {values};
  return {values, Unstacked(given, found->vectors, 2)};
}

// Columns (n, m, k) and those that make a basis of them.
std::optional<Term> WholeBasis(const Term& columns) {
  TypedBuilder& b = columns.b();
  const auto all = QrOf(columns, true);
  if (!all) return std::nullopt;
  const Term more = all->q.Slice(2, columns.value().dim(2).value(), INT64_MAX);
  return Term(b, b.Concat({columns, more}, 2));
}
Results Svd(Call& n) {
  const Term given = Real(n);
  const auto x = StackOf(n, given);
  if (!x) return {};
  auto found = SingularOf(*x);
  if (!found) return {};
  const Value s = Unstacked(given, found->s, 1);
  if (n.schema().results.size() == 1) return {s};
  const bool old = n.name() == "aten::svd";
  if (!n.Bool("compute_uv", true) && !old)
    return {NoElements(n, given.dtype()), s, NoElements(n, given.dtype())};
  if (old ? !n.Bool("some", true) : n.Bool("full_matrices", true)) {
    const auto u = WholeBasis(found->u), v = WholeBasis(found->v);
    if (!u || !v) return {};
    found->u = *u;
    found->v = *v;
  }
  const Term v = old ? found->v : found->v.Transpose({0, 2, 1});
  return {Unstacked(given, found->u, 2), s, Unstacked(given, v, 2)};
}

// Singular values at or below this are nothing (n, 1): the larger of atol and rtol times the
// greatest. `names` of both arguments.
Term LeastValue(const Call& n, const Term& given, const Term& s, const char* atol,
                const char* rtol) {
  TypedBuilder& b = n.b();
  const auto tolerance = [&](const char* name) {
    const Value v = n.Number(name, DType::kFloat64);
    return Term(b, v);
  };
  const Term most = s.Over("max", {1});
  const bool has_atol = n.Has(atol), has_rtol = n.Has(rtol);
  Term own(b, b.Scalar(0, DType::kFloat64));
  if (has_atol) own = tolerance(atol);
  const Term side = Maximum(Extent(b, given, given.rank() - 1), Extent(b, given, given.rank() - 2));
  const double epsilon = given.dtype() == DType::kFloat64 ? std::exp2(-52) : std::exp2(-23);
  Term part = side.As(DType::kFloat64) * epsilon;
  if (has_rtol) {
    part = tolerance(rtol);
  } else if (has_atol) {
    part = Select(own > 0, part.Number(0), part);
  }
  return Maximum(own, part * most);
}
// The inverse of what is not nothing.
std::optional<Term> PseudoInverse(const Call& n, const Term& given, const char* atol,
                                  const char* rtol) {
  const auto x = StackOf(n, given);
  if (!x) return std::nullopt;
  const auto found = SingularOf(*x);
  if (!found) return std::nullopt;
  const Term& s = found->s;
  const Term kept = s > LeastValue(n, given, s, atol, rtol);
  const Term inverse = Select(kept, 1.0 / Select(kept, s, s.Number(1)), s.Number(0));
  return MatrixProduct(found->v * inverse.Expand(1), found->u.Transpose({0, 2, 1}));
}
Results PseudoInverseOf(Call& n) {
  const Term given = Real(n);
  const auto y = PseudoInverse(n, given, "atol", n.Has("rcond") ? "rcond" : "rtol");
  if (!y) return {};
  return {Unstacked(given, *y, 2)};
}
Results MatrixRank(Call& n) {
  const Term given = Real(n);
  const auto x = StackOf(n, given);
  if (!x) return {};
  const auto found = SingularOf(*x);
  if (!found) return {};
  const Term kept = found->s > LeastValue(n, given, found->s, n.Has("tol") ? "tol" : "atol",
                                          n.Has("tol") ? "" : "rtol");
  const Term rank = kept.As(DType::kInt64).Over("sum", {1}, false);
  return {n.b().Cast(Unstacked(given.As(DType::kInt64), rank, 0), DType::kInt64)};
}
// By the pseudoinverse: of all that is nearest, the smallest.
Results LeastSquares(Call& n) {
  TypedBuilder& b = n.b();
  const Term given = Real(n), right(n, n.Tensor("b"));
  const auto y = PseudoInverse(n, given, "", "rcond");
  if (!y) return {};
  const Term inverse(b, Unstacked(given, *y, 2));
  const bool vector = right.rank() == given.rank() - 1;
  const Term c = vector ? right.Expand(right.rank()) : right;
  const Term x = MatrixProduct(inverse, c), gap = MatrixProduct(given, x) - c;
  const Dim rows = given.value().dim(-2), columns = given.value().dim(-1);
  const bool tall = rows.is_const() && columns.is_const() && rows.value() > columns.value();
  const auto without = [&](const Term& v, int axis) {
    return vector ? b.Squeeze(v, {axis}) : v.value();
  };
  // Which of the further results there are is the driver's.
  const std::string driver = n.String("driver", "gelsy");
  const bool residuals = tall && driver != "gelsy", values = driver == "gelsd" || driver == "gelss";
  const Value none = NoElements(n, given.dtype());
  const Term squares = (gap * gap).Over("sum", {gap.rank() - 2}, false);
  return {without(x, x.rank() - 1), residuals ? without(squares, squares.rank() - 1) : none,
          driver == "gels" ? NoElements(n, DType::kInt64)
                           : n.ValueAs("aten::linalg_matrix_rank.atol_rtol_float", {given.value()}),
          values ? n.ValueAs("aten::linalg_svdvals", {given.value()}) : none};
}

// Rows in the order `rows` (n, m) as a matrix: what l and u are multiplied with.
Term MoveOf(const Term& rows) {
  const Term at = RangeOf(rows.b(), rows, 1);
  return Equal(at.Expand(1), rows.Expand(1)).As(DType::kFloat64);
}
struct Triangles {
  Term lower, upper;
};
Triangles TrianglesOf(const Term& both) {
  TypedBuilder& b = both.b();
  const Term rows = Extent(b, both, 1), columns = Extent(b, both, 2);
  const Term least = Minimum(rows, columns), zero = both.Number(0);
  const Term down = Range(rows).Expand(1), across = Range(columns);
  const Term lower = Select(down > across, both, Select(Equal(down, across), zero + 1, zero));
  const Term upper = Select(down <= across, both, zero);
  return {lower.Take(Range(least), 2), upper.Take(Range(least), 1)};
}
Results LuFactor(Call& n) {
  const Term given = Real(n);
  const auto x = StackOf(n, given);
  if (!x) return {};
  const auto found = LuOf(*x, n.Bool("pivot", true));
  if (!found) return {};
  const Term ones = (found->swaps + 1).As(DType::kInt32);
  if (n.name() == "aten::linalg_lu") {
    const Triangles t = TrianglesOf(found->both);
    const Value p = n.Bool("pivot", true) ? Unstacked(given, MoveOf(found->rows), 2)
                                          : NoElements(n, given.dtype());
    return {p, Unstacked(given, t.lower, 2), Unstacked(given, t.upper, 2)};
  }
  Results out = {Unstacked(given, found->both, 2), Unstacked(given.As(DType::kInt32), ones, 1)};
  if (n.schema().results.size() > 2) out.emplace_back(NoInfo(n, given));
  return out;
}
// The order that swaps make (n, m).
std::optional<Term> OrderOfSwaps(const Call& n, const Term& both, const Term& given) {
  TypedBuilder& b = n.b();
  const Term swaps(b, ShapedAs(b, given.As(DType::kInt64), {b.Ints({-1}), b.DimOf(given, -1)}));
  const Term row = RangeOf(b, both, 1);
  const Term none = Term(b, b.Squeeze(both.Slice(2, 0, 1), {2})).As(DType::kInt64) * 0;
  const TypedBuilder::State last = b.While(
      {b.Int(0), none + row},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, swaps, 1); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term k(b, s[0]), order(b, s[1]);
        const Term found = (swaps.Take(k, 1) - 1).Expand(1);  // (n, 1)
        const Term there = Equal(row, found), here = Equal(row, k);
        const Term best = Sum(Select(there, order, order.Number(0)), {1});
        const Term now = order.Take(k, 1).Expand(1);
        return {k + 1, Select(here, best, Select(there, now, order))};
      });
  if (!b.status().ok() || last.size() != 2) return std::nullopt;
  return Term(b, last[1]);
}
Results LuUnpack(Call& n) {
  const Term given = Real(n), swaps(n, 1);
  const auto both = StackOf(n, given);
  if (!both) return {};
  const auto order = OrderOfSwaps(n, *both, swaps);
  if (!order) return {};
  const Triangles t = TrianglesOf(*both);
  const Value none = NoElements(n, given.dtype());
  const bool data = n.Bool("unpack_data", true);
  return {n.Bool("unpack_pivots", true) ? Unstacked(given, MoveOf(*order), 2) : none,
          data ? Unstacked(given, t.lower, 2) : none, data ? Unstacked(given, t.upper, 2) : none};
}
Results LuSolve(Call& n) {
  const bool old = n.name() == "aten::lu_solve";
  const Term given = Real(n, old ? 1 : 0), swaps(n, old ? 2 : 1), right = Real(n, old ? 0 : 2);
  const auto both = StackOf(n, given);
  if (!both || !AreMatrices(n, right)) return {};
  const auto order = OrderOfSwaps(n, *both, swaps);
  if (!order) return {};
  const Triangles t = TrianglesOf(*both);
  const Term whole = MatrixProduct(MoveOf(*order), MatrixProduct(t.lower, t.upper));
  Term a(n, Unstacked(given.As(DType::kFloat64), whole, 2));
  const Term c = right.As(DType::kFloat64);
  if (n.Bool("adjoint")) a = Turned(a);
  const auto inverse = InverseOf(a);
  if (!inverse) return {};
  const Term y = n.Bool("left", true) ? MatrixProduct(*inverse, c) : MatrixProduct(c, *inverse);
  return {y.As(given.dtype())};
}

// e^x: Taylor's series of a part that is small, squared as often as it was halved.
Results MatrixExponential(Call& n) {
  TypedBuilder& b = n.b();
  constexpr int kTerms = 18;
  constexpr double kMostHalves = 1000;
  const Term given = Real(n);
  const auto x = StackOf(n, given);
  if (!x) return {};
  const Term norm = AsScalar(Abs(*x).Over("sum", {1}, false).Over("max", {0, 1}, false));
  const Term halves = Clamp((Maximum(norm, norm.Number(1e-9)).Call("log2") + 1.0).Call("ceil"),
                            norm.Number(0), norm.Number(kMostHalves));
  const Term small = *x / norm.Number(2).Call("power", halves);
  const Term unit = *x * 0.0 + UnitMatrix(Extent(b, *x, 1));
  Term sum = unit;
  for (int k = kTerms; k >= 1; --k) sum = unit + MatrixProduct(small, sum) / k;
  const TypedBuilder::State last = b.While(
      {b.Int(0), sum},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < halves.As(DType::kInt64); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term y(b, s[1]);
        return {Term(b, s[0]) + 1, MatrixProduct(y, y)};
      });
  if (!b.status().ok() || last.size() != 2) return {};
  return {Unstacked(given, Term(b, last[1]), 2)};
}
// The norm of a matrix times that of its inverse; of order 2 by singular values.
Results ConditionNumber(Call& n) {
  const Term given = Real(n);
  const bool named = n.Arg("p").is(Argument::Kind::kString);
  const double p = named ? 0 : n.Float("p", 2);
  if (!named && std::abs(p) == 2) {
    const auto x = StackOf(n, given);
    if (!x) return {};
    const auto found = SingularOf(*x);
    if (!found) return {};
    const Term most = found->s.Over("max", {1}, false), least = found->s.Over("min", {1}, false);
    return {Unstacked(given, p > 0 ? most / least : least / most, 0)};
  }
  if (!AreMatrices(n, given)) return {};
  const auto inverse = InverseOf(given);
  if (!inverse) return {};
  const char* row = named ? "aten::linalg_matrix_norm.str_ord" : "aten::linalg_matrix_norm";
  const Term x(n, n.ValueAs(row, {given.value(), n.Arg("p")}));
  const Term y(n, n.ValueAs(row, {inverse->value(), n.Arg("p")}));
  return {x * y};
}

constexpr OperatorDef kFactorOperators[] = {
    {"aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", Qr},
    {"aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", Qr},
    {"aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor "
     "eigenvectors)",
     SymmetricEigen},
    {"aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, "
     "Tensor eigenvectors)",
     SymmetricEigen},
    {"aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor", SymmetricEigen},
    {"aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, "
     "Tensor S, Tensor Vh)",
     Svd},
    {"aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? "
     "driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
     Svd},
    {"aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", Svd},
    {"aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor "
     "V)",
     Svd},
    {"aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
     PseudoInverseOf},
    {"aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
     PseudoInverseOf},
    {"aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
     "hermitian=False) -> Tensor",
     PseudoInverseOf},
    {"aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
     "bool hermitian=False) -> Tensor",
     PseudoInverseOf},
    {"aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor", PseudoInverseOf},
    {"aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
     MatrixRank},
    {"aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> "
     "Tensor",
     MatrixRank},
    {"aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
     "bool hermitian=False) -> Tensor",
     MatrixRank},
    {"aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? "
     "rtol=None, bool hermitian=False) -> Tensor",
     MatrixRank},
    {"aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor "
     "solution, Tensor residuals, Tensor rank, Tensor singular_values)",
     LeastSquares},
    {"aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", LuFactor},
    {"aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
     LuFactor},
    {"aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor "
     "LU, Tensor pivots, Tensor info)",
     LuFactor},
    {"aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, "
     "Tensor pivots, Tensor info)",
     LuFactor},
    {"aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
     "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
     LuUnpack},
    {"aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool "
     "adjoint=False) -> Tensor",
     LuSolve},
    {"aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", LuSolve},
    {"aten::linalg_matrix_exp(Tensor self) -> Tensor", MatrixExponential},
    {"aten::matrix_exp(Tensor self) -> Tensor", MatrixExponential},
    {"aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor", ConditionNumber},
    {"aten::linalg_cond.p_str(Tensor self, str p) -> Tensor", ConditionNumber},
};

}  // namespace

OperatorTable FactorOperators() { return kFactorOperators; }

}  // namespace relayvm::import::torch
