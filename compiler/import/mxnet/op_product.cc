// Products of vectors, matrices and tensors; attention by products.
#include <algorithm>
#include <cmath>

#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/products.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

std::vector<int64_t> Without(int rank, const std::vector<int64_t>& axes) {
  std::vector<int64_t> rest;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(axes, i) == axes.end()) rest.push_back(i);
  }
  return rest;
}
Value ProductOf(TypedBuilder& b, const std::vector<Value>& dims) {
  Value product = b.Ints({1});
  for (const Value& d : dims) product = b.Op("multiply", {product, d});
  return product;
}
std::vector<Value> DimsAt(TypedBuilder& b, const Value& v, const std::vector<int64_t>& axes) {
  std::vector<Value> dims;
  for (const int64_t axis : axes) dims.push_back(b.DimOf(v, static_cast<int>(axis)));
  return dims;
}
Term Ordered(TypedBuilder& b, const Value& v, std::vector<int64_t> first,
             const std::vector<int64_t>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return {b, first == Iota(v.rank()) ? v : b.Transpose(v, first)};
}

}  // namespace

Value TensorDot(TypedBuilder& b, const Value& x, const std::vector<int64_t>& x_axes, const Value& y,
                const std::vector<int64_t>& y_axes) {
  if (x_axes.size() != y_axes.size()) return b.Fail("expected as many axes of both operands"), x;
  const std::vector<int64_t> x_rest = Without(x.rank(), x_axes), y_rest = Without(y.rank(), y_axes);
  if (x_rest.size() + x_axes.size() != static_cast<size_t>(x.rank()) ||
      y_rest.size() + y_axes.size() != static_cast<size_t>(y.rank())) {
    return b.Fail("an axis is named twice"), x;
  }
  std::vector<Value> dims = DimsAt(b, x, x_rest);
  const std::vector<Value> more = DimsAt(b, y, y_rest);
  const Value shared = ProductOf(b, DimsAt(b, x, x_axes));
  const Value left = ShapedAs(b, Ordered(b, x, x_rest, x_axes), {ProductOf(b, dims), shared});
  const Value right = ShapedAs(b, Ordered(b, y, y_axes, y_rest), {shared, ProductOf(b, more)});
  dims.insert(dims.end(), more.begin(), more.end());
  return ShapedAs(b, b.Op("nn.matmul", {left, right}), dims);
}

Term MatrixProduct(const Term& x, const Term& y, bool transpose_x, bool transpose_y) {
  TypedBuilder& b = x.b();
  const int rank = x.rank();
  if (rank != y.rank() || rank < 2)
    return b.Fail("expected matrices of equal ranks, found {} and {}", rank, y.rank()), x;
  const auto flat = [&](const Term& v) {
    return Term(b, ShapedAs(b, v, {b.Ints({-1}), b.DimOf(v, -2), b.DimOf(v, -1)}));
  };
  if (rank == 2) {
    return {
        b, b.Op("nn.matmul", {x, y}, {{"transpose_a", transpose_x}, {"transpose_b", transpose_y}})};
  }
  const AttrInit ways = {{"transpose_a", transpose_x}, {"transpose_b", transpose_y}};
  if (rank == 3) return {b, b.Op("nn.batch_matmul", {x, y}, ways)};
  const Value product = b.Op("nn.batch_matmul", {flat(x), flat(y)}, ways);
  std::vector<Value> dims = DimsOf(b, x, 0, rank - 2);
  dims.push_back(b.DimOf(product, 1));
  dims.push_back(b.DimOf(product, 2));
  return {b, ShapedAs(b, product, dims)};
}

namespace {

// --- dot ---

// Over the last axis of the first and the first axis of the second, or where they are transposed
// the other way round.
Outputs Dot(Node& n) {
  const Term x(n, 0), y(n, 1);
  if (x.rank() == 0 || y.rank() == 0) return {x * y};
  const bool transpose_x = n.Bool("transpose_a", false) && x.rank() > 1,
             transpose_y = n.Bool("transpose_b", false) && y.rank() > 1;
  if (x.rank() == 2 && y.rank() == 2) return {MatrixProduct(x, y, transpose_x, transpose_y)};
  const Term product(n.b(), TensorDot(n, x, {transpose_x ? 0 : x.rank() - 1}, y,
                                      {transpose_y ? y.rank() - 1 : 0}));
  return {AtLeastVector(product)};
}
Outputs BatchDot(Node& n) {
  const Term x(n, 0), y(n, 1);
  if (x.rank() < 3) return n.Fail("expected inputs of rank 3 or more");
  return {MatrixProduct(x, y, n.Bool("transpose_a", false), n.Bool("transpose_b", false))};
}
// Over the last axis of the first and the last but one of the second.
Outputs NumpyDot(Node& n) {
  const Term x(n, 0), y(n, 1);
  if (x.rank() == 0 || y.rank() == 0) return {x * y};
  return {TensorDot(n, x, {x.rank() - 1}, y, {std::max(y.rank() - 2, 0)})};
}
Outputs MatMul(Node& n) { return {MatMulOf(n, n.Input(0), n.Input(1))}; }

Outputs TensorDotAxes(Node& n) {
  const Value x = n.Input(0), y = n.Input(1);
  const auto x_axes = n.Axes(n.Ints("a_axes_summed"), x.rank()),
             y_axes = n.Axes(n.Ints("b_axes_summed"), y.rank());
  if (!n.b().status().ok()) return {};
  return {TensorDot(n, x, x_axes, y, y_axes)};
}
Outputs TensorDotCount(Node& n) {
  const Value x = n.Input(0), y = n.Input(1);
  const int64_t count = n.Count("axes", 2);
  if (count > x.rank() || count > y.rank())
    return n.Fail("{} axes of tensors of rank {} and {}", count, x.rank(), y.rank());
  return {TensorDot(n, x, Iota(count, x.rank() - count), y, Iota(count))};
}

// A label that an operand has twice stands for its diagonal.
Value WithoutRepeats(Node& n, Value v, std::string* labels) {
  TypedBuilder& b = n.b();
  for (size_t i = 0; i < labels->size(); ++i) {
    const size_t again = labels->find((*labels)[i], i + 1);
    if (again == std::string::npos || (*labels)[i] == '.') continue;
    v = Diagonal(Term(b, v), 0, static_cast<int>(i), static_cast<int>(again));
    const char label = (*labels)[i];
    labels->erase(again, 1);
    labels->erase(i, 1);
    labels->push_back(label);
    i = static_cast<size_t>(-1);
  }
  return v;
}
Outputs Einsum(Node& n) {
  TypedBuilder& b = n.b();
  std::string equation = n.Text("subscripts", "");
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  std::string right = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
  if (arrow == std::string::npos) {
    // What occurs once, in the alphabet's order.
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::ranges::count(left, c) == 1 && std::isalpha(static_cast<unsigned char>(c)))
        right += c;
  }
  std::vector<Value> operands;
  std::string all;
  for (size_t i = 0, at = 0; i < n.num_inputs(); ++i) {
    const size_t end = std::min(left.find(',', at), left.size());
    std::string labels = left.substr(std::min(at, left.size()), end - std::min(at, left.size()));
    if (labels.find('.') == std::string::npos &&
        labels.size() != static_cast<size_t>(n.Input(i).rank()))
      return n.Fail("attribute subscripts: '{}' is of an operand of rank {}", labels,
                    n.Input(i).rank());
    operands.push_back(labels.find('.') == std::string::npos
                           ? WithoutRepeats(n, n.Input(i), &labels)
                           : n.Input(i));
    all += (i == 0 ? "" : ",") + labels;
    at = end + 1;
  }
  if (!b.status().ok()) return {};
  return {b.Op("einsum", {b.Tuple(operands)}, {{"equation", all + "->" + right}})};
}

// Kronecker products of columns.
Outputs KhatriRao(Node& n) {
  TypedBuilder& b = n.b();
  Term y(n, 0);
  for (size_t i = 0; i < n.num_inputs(); ++i)
    if (!n.ExpectRank(n.Input(i), 2, "a matrix")) return {};
  for (size_t i = 1; i < n.num_inputs(); ++i) {
    const Term product = y.Expand(1) * Term(n, i).Expand(0);
    y = Term(b, ShapedAs(b, product, {b.Ints({-1}), b.DimOf(y, 1)}));
  }
  return {y};
}

// --- Attention over interleaved projections ---

// (length, batch, heads * parts * size): part `k` as (batch * heads, length, size).
std::optional<Term> Projection(Node& n, const Term& x, int64_t parts, int64_t k) {
  TypedBuilder& b = n.b();
  const int64_t heads = n.Count("heads", 1);
  if (!n.ExpectRank(x, 3, "projections")) return std::nullopt;
  if (heads < 1) return n.Fail("attribute heads: expected 1 or more");
  const Term split(
      b, ShapedAs(b, x,
                  {b.DimOf(x, 0), b.DimOf(x, 1), b.Ints({heads}), b.Ints({parts}), b.Ints({-1})}));
  const Term own = split.Slice(3, k, k + 1).Call("squeeze", {{"axis", AttrList{3}}});
  const Term moved = own.Transpose({1, 2, 0, 3});
  return Term(b, ShapedAs(b, moved, {b.Ints({-1}), b.DimOf(moved, 2), b.DimOf(moved, 3)}));
}
// Queries times keys, by 1 / sqrt(size).
Outputs Scores(const std::optional<Term>& q, const std::optional<Term>& k) {
  if (!q || !k) return {};
  const Dim size = q->value().dim(2);
  const Term scaled = size.is_const() ? *q * (1 / std::sqrt(static_cast<double>(size.value())))
                                      : *q / Sqrt(Extent(q->b(), *q, 2).As(q->dtype()));
  return {MatrixProduct(scaled, *k, false, true)};
}
// Weights (batch * heads, length, keys) times values: (length, batch, heads * size).
Outputs Attended(Node& n, const std::optional<Term>& v, size_t weights) {
  TypedBuilder& b = n.b();
  if (!v) return {};
  const Term y = MatrixProduct(Term(n, weights), *v, false, false);
  const Term split(
      b,
      ShapedAs(b, y, {b.Ints({-1}), b.Ints({n.Count("heads", 1)}), b.DimOf(y, 1), b.DimOf(y, 2)}));
  const Term moved = split.Transpose({2, 0, 1, 3});
  return {ShapedAs(b, moved, {b.DimOf(moved, 0), b.DimOf(moved, 1), b.Ints({-1})})};
}
Outputs SelfScores(Node& n) {
  return Scores(Projection(n, Term(n, 0), 3, 0), Projection(n, Term(n, 0), 3, 1));
}
Outputs SelfAttended(Node& n) { return Attended(n, Projection(n, Term(n, 0), 3, 2), 1); }
Outputs CrossScores(Node& n) {
  return Scores(Projection(n, Term(n, 0), 1, 0), Projection(n, Term(n, 1), 2, 0));
}
Outputs CrossAttended(Node& n) { return Attended(n, Projection(n, Term(n, 0), 2, 1), 1); }

constexpr OperatorDef kProductOperators[] = {
    {"_contrib_interleaved_matmul_encdec_qk", 2, 2, CrossScores},
    {"_contrib_interleaved_matmul_encdec_valatt", 2, 2, CrossAttended},
    {"_contrib_interleaved_matmul_selfatt_qk", 1, 1, SelfScores},
    {"_contrib_interleaved_matmul_selfatt_valatt", 2, 2, SelfAttended},
    {"_np_dot", 2, 2, NumpyDot},
    {"_npi_einsum", 1, -1, Einsum},
    {"_npi_matmul", 2, 2, MatMul},
    {"_npi_tensordot", 2, 2, TensorDotAxes},
    {"_npi_tensordot_int_axes", 2, 2, TensorDotCount},
    {"batch_dot _npx_batch_dot", 2, 2, BatchDot},
    {"dot", 2, 2, Dot},
    {"khatri_rao", 1, -1, KhatriRao},
};

}  // namespace

std::span<const OperatorDef> ProductOperators() { return kProductOperators; }

}  // namespace relayvm::import::mxnet
