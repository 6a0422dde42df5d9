// Matrices: norms, inverses, determinants, systems, factors.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/matrices.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/norms.h"

namespace relayvm::import::torch {

namespace {

// The unit matrix of x's last dim, (n, n).
Term UnitOf(const Term& x) {
  const Term place = RangeOf(x.b(), x, x.rank() - 1);
  return Equal(place.Expand(1), place).As(x.dtype());
}

// --- Norms ---

Term AsNormType(const Call& n, const Term& x) {
  const auto dtype = n.Dtype();
  return dtype ? x.As(*dtype) : x;
}
Results NormResult(const Call& n, const Term& norm, const std::vector<int64_t>& axes) {
  return {n.Bool("keepdim") ? norm : WithoutDims(norm, axes)};
}

Results VectorNorm(Call& n) {
  const Term x = AsNormType(n, Real(n));
  const std::vector<int64_t> axes = n.Axes("dim", x.rank());
  if (!n.b().status().ok()) return {};
  return NormResult(n, NormOver(x, n.Float("ord", 2), axes), axes);
}

// A loop of a known number of steps over tensors of fixed types.
TypedBuilder::State Repeated(
    TypedBuilder& b, int64_t steps, TypedBuilder::State first,
    const std::function<TypedBuilder::State(const TypedBuilder::State&)>& step) {
  first.insert(first.begin(), b.Int(0));
  TypedBuilder::State last = b.While(
      first,
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < static_cast<double>(steps); },
      [&](const TypedBuilder::State& s) {
        TypedBuilder::State next = step({s.begin() + 1, s.end()});
        next.insert(next.begin(), Term(b, s[0]) + 1);
        return next;
      });
  if (!last.empty()) last.erase(last.begin());
  return last;
}

// The sum of the singular values: that of the diagonal of u' x, u being the nearest matrix of
// orthonormal rows or columns, by Newton and Schulz' iteration.
std::optional<Term> NuclearNormOf(const Term& x) {
  TypedBuilder& b = x.b();
  constexpr int64_t kSteps = 48;  // what is 1e-7 of the norm grows to 1
  const std::vector<int64_t> axes = {x.rank() - 2, x.rank() - 1};
  const Term norm = Sqrt(Sum(x * x, axes)), safe = Select(norm > 0, norm, norm.Number(1));
  const TypedBuilder::State last =
      Repeated(b, kSteps, {x / safe}, [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term u(b, s[0]);
        return {u * 1.5 - MatrixProduct(MatrixProduct(u, Turned(u)), u) * 0.5};
      });
  if (!b.status().ok() || last.size() != 1) return std::nullopt;
  return Sum(Term(b, last[0]) * x, axes);
}

// The largest singular value: the root of the largest eigenvalue of x'x, whose powers outgrow those
// of all others.
std::optional<Term> SpectralNormOf(const Term& x) {
  TypedBuilder& b = x.b();
  constexpr int64_t kSteps = 26;
  const std::vector<int64_t> axes = {x.rank() - 2, x.rank() - 1};
  const Term gram = MatrixProduct(Turned(x), x);
  const Term none = Sum(gram, axes) * 0.0;
  const TypedBuilder::State last = Repeated(
      b, kSteps, {gram, none, none + 1}, [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term g(b, s[0]), log(b, s[1]), share(b, s[2]);
        const Term norm = Sqrt(Sum(g * g, axes)), safe = Maximum(norm, norm.Number(1e-30));
        const Term next = g / safe;
        return {MatrixProduct(next, next), log + safe.Call("log") * share, share / 2};
      });
  if (!b.status().ok() || last.size() != 3) return std::nullopt;
  const Term zero = Sum(x * x, axes) <= 0;
  return Select(zero, none, Exp(Term(b, last[1]) / 2));
}

// `x` with two axes last, and a norm of matrices over them; nullopt with an error.
std::optional<Term> MatrixNormOf(const Call& n, const Term& x, const std::string& order,
                                 double number) {
  const int last = x.rank() - 1;
  if (order == "fro") return Sqrt(Sum(x * x, {last - 1, last}));
  if (order == "nuc") return NuclearNormOf(x);
  if (number == 2) return SpectralNormOf(x);
  const int along = std::isinf(number) ? last : last - 1;
  if (!std::isinf(number) && std::abs(number) != 1)
    return n.Unsupported("the order {} of matrices is not supported", number);
  return Sum(Abs(x), {along}).Over(number > 0 ? "max" : "min", {along == last ? last - 1 : last});
}

Results MatrixNormOver(const Call& n, const Term& x, const std::vector<int64_t>& dims,
                       const std::string& order, double number) {
  const int rank = x.rank();
  const int row = AxisIn(n, dims[0], rank), column = AxisIn(n, dims[1], rank);
  if (!n.b().status().ok()) return {};
  if (row == column) return n.Fail("dim: an axis is given twice");
  std::vector<int64_t> order_of;
  for (int i = 0; i < rank; ++i) {
    if (i != row && i != column) order_of.push_back(i);
  }
  order_of.insert(order_of.end(), {row, column});
  const auto norm = MatrixNormOf(n, x.Transpose(order_of), order, number);
  if (!norm) return {};
  Term y = WithoutDims(*norm, {rank - 2, rank - 1});
  if (n.Bool("keepdim")) {
    y = y.Expand(std::min(row, column));
    y = y.Expand(std::max(row, column));
  }
  return {y};
}

Results MatrixNorm(Call& n) {
  const Term x = AsNormType(n, Real(n));
  if (!AreMatrices(n, x)) return {};
  const bool named = n.Arg("ord").is(Argument::Kind::kString);
  return MatrixNormOver(n, x, n.Ints("dim", 2, -1), named ? n.String("ord", "fro") : "",
                        named ? 0 : n.Float("ord", 2));
}
Results NuclearNorm(Call& n) {
  const Term x = Real(n);
  if (!AreMatrices(n, x)) return {};
  const std::vector<int64_t> dims = n.Has("dim") ? n.Ints("dim") : std::vector<int64_t>{-2, -1};
  if (dims.size() != 2) return n.Fail("dim: expected two axes");
  return MatrixNormOver(n, x, dims, "nuc", 0);
}
// Of vectors by one axis, of matrices by two; without either of all elements.
Results AnyNorm(Call& n) {
  const Term x = AsNormType(n, Real(n));
  const bool named = n.Arg("ord").is(Argument::Kind::kString);
  std::vector<int64_t> dims = n.Ints("dim");
  if (!n.Has("ord") || (!named && dims.size() == 1)) {
    const std::vector<int64_t> axes = n.Axes("dim", x.rank());
    return NormResult(n, NormOver(x, n.Has("ord") ? n.Float("ord", 2) : 2, axes), axes);
  }
  if (dims.empty()) dims = Iota(x.rank());
  if (dims.size() == 1) return NormResult(n, NormOver(x, n.Float("ord", 2), dims), dims);
  if (dims.size() != 2) return n.Fail("expected one or two axes");
  return MatrixNormOver(n, x, dims, named ? n.String("ord", "fro") : "",
                        named ? 0 : n.Float("ord", 2));
}

// --- Inverses and determinants ---

Results InverseMatrix(Call& n) {
  const Term x = Real(n);
  const auto y = InverseOf(x);
  if (!y) return {};
  if (n.schema().results.size() > 1) return {*y, NoInfo(n, x)};
  return {*y};
}
Results Determinant(Call& n) {
  const Term x = Real(n);
  const auto y = DeterminantOf(x.As(DType::kFloat64));
  if (!y) return {};
  Results out = {y->As(x.dtype())};
  while (out.size() < n.schema().results.size()) out.emplace_back();  // factors, for gradients
  return out;
}
Results SignAndLogDeterminant(Call& n) {
  const Term x = Real(n);
  const auto y = DeterminantOf(x.As(DType::kFloat64));
  if (!y) return {};
  Results out = {y->Call("sign").As(x.dtype()), Abs(*y).Call("log").As(x.dtype())};
  while (out.size() < n.schema().results.size()) out.emplace_back();  // factors, for gradients
  return out;
}
Results LogDeterminant(Call& n) {
  const Term x = Real(n);
  const auto y = DeterminantOf(x.As(DType::kFloat64));
  if (!y) return {};
  return {y->Call("log").As(x.dtype())};
}

// --- Systems ---

// x of `a` x = `c`, where `c` may be a vector for each matrix.
std::optional<Term> SolutionOf(const Term& a, const Term& c, bool left) {
  const auto inverse = InverseOf(a);
  if (!inverse) return std::nullopt;
  const bool vector = c.rank() == 1 || (c.rank() == a.rank() - 1 && a.rank() > 2);
  if (vector) {
    const Term y = MatrixProduct(*inverse, c.Expand(c.rank()));
    return Term(y.b(), y.b().Squeeze(y, {y.rank() - 1}));
  }
  return left ? MatrixProduct(*inverse, c) : MatrixProduct(c, *inverse);
}
Results Solve(Call& n) {
  const Term a = Real(n), c(n, 1);
  if (!AreMatrices(n, a)) return {};
  const auto y = SolutionOf(a, c, n.Bool("left", true));
  if (!y) return {};
  if (n.schema().results.size() > 1) return {*y, NoInfo(n, a)};
  return {*y};
}
Results SolveTriangular(Call& n) {
  TypedBuilder& b = n.b();
  Term a = Real(n);
  const Term c(n, 1);
  if (!AreMatrices(n, a)) return {};
  const bool upper = n.Bool("upper");
  a = Term(b, b.Op("trilu", {a, b.Int(0)}, {{"upper", upper}}));
  if (n.Bool("unitriangular")) {
    const Term unit = UnitOf(a);
    a = a * (1.0 - unit) + unit;
  }
  const auto y = SolutionOf(a, c, n.Bool("left", true));
  if (!y) return {};
  return {*y};
}

// b, a: the matrix comes second; beside the solution a copy of it.
Results OldSolveTriangular(Call& n) {
  const Term c = Real(n), a = Real(n, 1);
  if (!AreMatrices(n, a) || !AreMatrices(n, c)) return {};
  const bool turned = n.Bool("transpose");
  Term m(n, n.b().Op("trilu", {a, n.b().Int(0)}, {{"upper", n.Bool("upper", true)}}));
  if (n.Bool("unitriangular")) m = m * (1.0 - UnitOf(m)) + UnitOf(m);
  const auto inverse = InverseOf(turned ? Turned(m) : m);
  if (!inverse) return {};
  return {MatrixProduct(*inverse, c), a};
}

// The lower factor, column by column: each from what the columns before it leave.
std::optional<Term> CholeskyOf(const Term& x) {
  TypedBuilder& b = x.b();
  const int rank = x.rank();
  const Term row = RangeOf(b, x, rank - 1);
  const TypedBuilder::State last = b.While(
      {b.Int(0), x, x * 0.0},
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < Extent(b, x, rank - 1); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        const Term k(b, s[0]), rest(b, s[1]), made(b, s[2]);
        const Term column = rest.Take(k, rank - 1);  // (.., n)
        const Term pivot = column.Take(k, rank - 2).Expand(rank - 2);
        const Term own = Select(row >= k, column / Sqrt(pivot), column.Number(0));
        const Term here = Equal(row, k);
        const Term outer = own.Expand(rank - 1) * own.Expand(rank - 2);
        return {k + 1, rest - outer, Select(here, own.Expand(rank - 1), made)};
      });
  if (!b.status().ok() || last.size() != 3) return std::nullopt;
  return Term(b, last[2]);
}
Results Cholesky(Call& n) {
  const Term x = Real(n);
  if (!AreMatrices(n, x)) return {};
  const auto lower = CholeskyOf(x);
  if (!lower) return {};
  const Term y = n.Bool("upper") ? Turned(*lower) : *lower;
  if (n.schema().results.size() > 1) return {y, NoInfo(n, x)};
  return {y};
}
// Of a factor: the inverse of what it is a factor of, and the solution of its systems.
std::optional<Term> InverseOfFactor(const Call& n, const Term& factor) {
  if (!AreMatrices(n, factor)) return std::nullopt;
  const bool upper = n.Bool("upper");
  return InverseOf(upper ? MatrixProduct(Turned(factor), factor)
                         : MatrixProduct(factor, Turned(factor)));
}
Results CholeskyInverse(Call& n) {
  const auto y = InverseOfFactor(n, Real(n));
  if (!y) return {};
  return {*y};
}
Results CholeskySolve(Call& n) {
  if (!AreMatrices(n, Real(n)) || !AreMatrices(n, Real(n, 1))) return {};
  const auto y = InverseOfFactor(n, Real(n, 1));
  if (!y) return {};
  return {MatrixProduct(*y, Real(n))};
}

// --- Products ---

Results MatrixPower(Call& n) {
  const Term x(n, 0);
  int64_t power = n.Int("n");
  if (!AreMatrices(n, x)) return {};
  if (power < -1024 || power > 1024) return n.Fail("n: {} is out of -1024..1024", power);
  std::optional<Term> base = x;
  if (power < 0) base = InverseOf(Real(n));
  if (!base) return {};
  std::optional<Term> y;
  for (power = std::abs(power); power > 0; power /= 2) {
    if (power % 2 != 0) y = y ? MatrixProduct(*y, *base) : *base;
    if (power > 1) base = MatrixProduct(*base, *base);
  }
  return {y ? *y : x * 0.0 + UnitOf(x)};
}
Results ChainOfMatrices(Call& n) {
  std::vector<Value> parts = n.Tensors(n.schema().arguments[0].name);
  if (parts.empty()) return n.Fail("expected matrices");
  Term y(n, parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) y = MatrixProduct(y, Term(n, parts[i]));
  return {y};
}
Results VectorProducts(Call& n) {
  const Term x(n, 0), y(n, 1);
  const int axis = n.Axis("dim", std::max(x.rank(), y.rank()), -1);
  return {(x * y).Over("sum", {axis}, false)};
}

constexpr OperatorDef kLinalgOperators[] = {
    {"aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool "
     "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     VectorNorm},
    {"aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool "
     "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     MatrixNorm},
    {"aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], "
     "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     MatrixNorm},
    {"aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool "
     "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     AnyNorm},
    {"aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool "
     "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     AnyNorm},
    {"aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", NuclearNorm},
    {"aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", NuclearNorm},
    {"aten::inverse(Tensor self) -> Tensor", InverseMatrix},
    {"aten::linalg_inv(Tensor A) -> Tensor", InverseMatrix},
    {"aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, "
     "Tensor info)",
     InverseMatrix},
    {"aten::det(Tensor self) -> Tensor", Determinant},
    {"aten::linalg_det(Tensor A) -> Tensor", Determinant},
    {"aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", Determinant},
    {"aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", SignAndLogDeterminant},
    {"aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", SignAndLogDeterminant},
    {"aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
     SignAndLogDeterminant},
    {"aten::logdet(Tensor self) -> Tensor", LogDeterminant},
    {"aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", Solve},
    {"aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool "
     "check_errors=False) -> (Tensor result, Tensor info)",
     Solve},
    {"aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
     "bool unitriangular=False) -> Tensor",
     SolveTriangular},
    {"aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
     "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
     OldSolveTriangular},
    {"aten::cholesky(Tensor self, bool upper=False) -> Tensor", Cholesky},
    {"aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", Cholesky},
    {"aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) "
     "-> (Tensor L, Tensor info)",
     Cholesky},
    {"aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", CholeskyInverse},
    {"aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", CholeskySolve},
    {"aten::matrix_power(Tensor self, int n) -> Tensor", MatrixPower},
    {"aten::linalg_matrix_power(Tensor self, int n) -> Tensor", MatrixPower},
    {"aten::linalg_multi_dot(Tensor[] tensors) -> Tensor", ChainOfMatrices},
    {"aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", VectorProducts},
};

}  // namespace

OperatorTable LinalgOperators() { return kLinalgOperators; }

}  // namespace relayvm::import::torch
