// Products of matrices.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/import/checked.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

namespace {

// Both in one dtype that products are made in; the result is cast back.
struct Operands {
  Value x, y;
  DType dtype;
};
DType ProductType(DType t) {
  if (t == DType::kFloat16 || t == DType::kBFloat16) return DType::kFloat32;
  return t;
}
Operands Both(const Call& n, size_t i, size_t j) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(i), y = n.Input(j);
  const DType t = ResultType(std::array<Argument, 2>{x, y}), wide = ProductType(t);
  return {b.Cast(x, wide), b.Cast(y, wide), t};
}

// Integers, which the products of floats do not take: sums of products.
Value IntegerProduct(TypedBuilder& b, const Value& x, const Value& y, bool is_batch) {
  const int rank = is_batch ? 3 : 2;
  const Term left(b, b.ExpandDims(x, rank));       // (.., m, k, 1)
  const Term right(b, b.ExpandDims(y, rank - 2));  // (.., 1, k, n)
  return (left * right).Over("sum", {rank - 1}, false);
}
Value MatMul(TypedBuilder& b, const Operands& o) {
  if (IsFloat(o.x.dtype())) return b.Cast(MatMulOf(b, o.x, o.y), o.dtype);
  const ProductFn product = [&b](const Value& x, const Value& y, bool is_batch) {
    return IntegerProduct(b, x, y, is_batch);
  };
  return b.Cast(MatMulOf(b, o.x, o.y, product), o.dtype);
}

Results Product(Call& n) {
  const Operands o = Both(n, 0, 1);
  if (o.x.rank() == 1 && o.y.rank() == 1)
    return {Term(n, (Term(n, o.x) * Term(n, o.y)).Over("sum", {0}, false)).As(o.dtype)};
  return {MatMul(n, o)};
}

// x times the transposed weight (out, in), plus the bias.
Results LinearLayer(Call& n) {
  TypedBuilder& b = n.b();
  const Operands o = Both(n, 0, 1);
  Value y;
  if (!IsFloat(o.x.dtype())) {
    y = MatMul(b, {o.x, b.Transpose(o.y, {1, 0}), o.dtype});
  } else if (o.y.rank() == 1) {
    y = MatMulOf(b, o.x, o.y);
  } else if (o.x.rank() == 2) {
    y = b.Op("nn.dense", {o.x, o.y});
  } else {
    Value rows =
        o.x.rank() == 1 ? b.ExpandDims(o.x, 0) : ShapedAs(b, o.x, {b.Ints({-1}), b.DimOf(o.x, -1)});
    y = b.Op("nn.dense", {rows, o.y});
    std::vector<Value> dims = DimsOf(b, o.x);
    if (!dims.empty()) dims.back() = b.DimOf(o.y, 0);
    y = o.x.rank() == 1 ? b.Squeeze(y, {0}) : ShapedAs(b, y, dims);
  }
  if (n.Has("bias")) y = b.Op("add", {y, b.Cast(n.Tensor("bias"), y.dtype())});
  return {b.Cast(y, o.dtype)};
}

// beta * self + alpha * product.
Results Plus(const Call& n, const Value& product, DType dtype) {
  TypedBuilder& b = n.b();
  const auto scaled = [&](const Term& x, const char* name) {
    const Argument& a = n.Arg(name);
    if (a.is_none() || (a.is_known_number() && a.number() == 1)) return x;
    return x * Term(b, n.Number(name, x.dtype()));
  };
  const Argument& beta = n.Arg("beta");
  const Term y = scaled(Term(b, product), "alpha");
  if (beta.is_known_number() && beta.number() == 0) return {y.As(dtype)};
  return {(y + scaled(Term(b, b.Cast(n.Input(0), y.dtype())), "beta")).As(dtype)};
}
// addmm, addbmm, baddbmm, addmv.
Results PlusProduct(Call& n) {
  TypedBuilder& b = n.b();
  const Operands o = Both(n, 1, 2);
  const Value y = MatMul(b, {o.x, o.y, o.x.dtype()});
  if (n.name() == "aten::addbmm") return Plus(n, Term(b, y).Over("sum", {0}, false), o.dtype);
  return Plus(n, y, o.dtype);
}
Results AddOuter(Call& n) {
  const Operands o = Both(n, 1, 2);
  return Plus(n, Term(n, o.x).Expand(1) * Term(n, o.y).Expand(0), o.dtype);
}
// Of bools: both.
Term BothTimes(const Term& x, const Term& y) {
  return x.dtype() == DType::kBool ? And(x, y) : x * y;
}
Results Outer(Call& n) {
  const Operands o = Both(n, 0, 1);
  return {BothTimes(Term(n, o.x).Expand(1), Term(n, o.y).Expand(0)).As(o.dtype)};
}
Results Inner(Call& n) {
  TypedBuilder& b = n.b();
  const Operands o = Both(n, 0, 1);
  if (o.x.rank() == 0 || o.y.rank() == 0) return {(Term(b, o.x) * Term(b, o.y)).As(o.dtype)};
  return {
      Term(b, n.ValueAs("aten::tensordot", {o.x, o.y, Argument::Ints({-1}), Argument::Ints({-1})}))
          .As(o.dtype)};
}

// --- Sums over shared axes ---

// Operands of an einsum: one letter for each axis. Axes that neither the other nor the result has
// are summed first; then both are (batch, own, shared) matrices.
struct Lettered {
  Value value;
  std::string axes;
};

Lettered Reordered(TypedBuilder& b, const Lettered& v, const std::string& order) {
  std::vector<int64_t> axes;
  for (const char c : order) axes.push_back(static_cast<int64_t>(v.axes.find(c)));
  return {b.Transpose(v.value, axes), order};
}
Lettered SummedTo(TypedBuilder& b, const Lettered& v, const std::string& kept) {
  std::vector<int64_t> gone;
  std::string left;
  for (size_t i = 0; i < v.axes.size(); ++i) {
    if (kept.find(v.axes[i]) == std::string::npos) {
      gone.push_back(static_cast<int64_t>(i));
    } else {
      left += v.axes[i];
    }
  }
  if (gone.empty()) return v;
  return {Term(b, v.value).Over("sum", gone, false), left};
}
// A letter that stands twice: the diagonal.
Lettered WithoutTwins(const Call& n, Lettered v) {
  for (size_t i = 0; i < v.axes.size(); ++i) {
    const size_t other = v.axes.find(v.axes[i], i + 1);
    if (other == std::string::npos) continue;
    const char letter = v.axes[i];
    v.value = n.ValueAs("aten::diagonal",
                        {v.value, Argument::Int(0), Argument::Int(static_cast<int64_t>(i)),
                         Argument::Int(static_cast<int64_t>(other))});
    v.axes.erase(other, 1);
    v.axes.erase(i, 1);
    v.axes += letter;
    return WithoutTwins(n, std::move(v));
  }
  return v;
}

Lettered Contracted(TypedBuilder& b, Lettered x, Lettered y, const std::string& kept) {
  x = SummedTo(b, x, y.axes + kept);
  y = SummedTo(b, y, x.axes + kept);
  std::string batch, own_x, own_y, shared;
  for (const char c : x.axes) {
    const bool in_y = y.axes.find(c) != std::string::npos;
    const bool stays = kept.find(c) != std::string::npos;
    (in_y ? (stays ? batch : shared) : own_x) += c;
  }
  for (const char c : y.axes) {
    if (x.axes.find(c) == std::string::npos) own_y += c;
  }
  const std::string axes = batch + own_x + own_y;
  // Extents of 1 broadcast.
  x = Reordered(b, x, batch + own_x + shared);
  y = Reordered(b, y, batch + own_y + shared);
  const auto at = [](const Lettered& v, char c) { return static_cast<int>(v.axes.find(c)); };
  bool broadcasts = false;
  for (const char c : batch + shared)
    broadcasts = broadcasts || !(x.value.dim(at(x, c)) == y.value.dim(at(y, c)));
  if (shared.empty() || !IsFloat(x.value.dtype()) || broadcasts) {
    const auto nb = static_cast<int>(batch.size()), nx = static_cast<int>(own_x.size()),
               ny = static_cast<int>(own_y.size()), ns = static_cast<int>(shared.size());
    const Term left(b, b.ExpandDims(x.value, nb + nx, ny));
    const Term right(b, b.ExpandDims(y.value, nb, nx));
    return {(left * right).Over("sum", Iota(ns, nb + nx + ny), false), axes};
  }
  const auto product = [&](const Lettered& v, const std::string& letters) {
    Value p;
    for (const char c : letters) {
      const Value d = b.DimOf(v.value, at(v, c));
      p = p ? b.Op("multiply", {p, d}) : d;
    }
    return p ? p : b.Ints({1});
  };
  const Value k = product(x, shared);
  const Value left = ShapedAs(b, x.value, {product(x, batch), product(x, own_x), k});
  const Value right = ShapedAs(b, y.value, {product(y, batch), product(y, own_y), k});
  Value z;
  if (batch.empty()) {
    z = b.Op("nn.dense", {b.Squeeze(left, {0}), b.Squeeze(right, {0})});
  } else {
    z = b.Op("nn.batch_matmul", {left, right}, {{"transpose_b", true}});
  }
  std::vector<Value> dims;
  for (const char c : batch + own_x) dims.push_back(b.DimOf(x.value, at(x, c)));
  for (const char c : own_y) dims.push_back(b.DimOf(y.value, at(y, c)));
  return {ShapedAs(b, z, dims), axes};
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};
// Letters of "..." are '\1' and on, the last axis the first of them.
std::optional<Equation> ParseEquation(const Call& n, const std::vector<Value>& operands) {
  const std::string text = n.String("equation");
  Equation e;
  std::string::size_type arrow = text.find("->");
  std::vector<std::string> sides = {""};
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      sides.emplace_back();
    } else if (c != ' ') {
      sides.back() += c;
    }
  }
  if (sides.size() != operands.size()) {
    n.Fail("the equation '{}' has {} operands, {} are given", text, sides.size(), operands.size());
    return std::nullopt;
  }
  int most = 0;
  const auto spelled = [&](std::string side, int dots) {
    const size_t at = side.find("...");
    if (at == std::string::npos) return side;
    std::string letters;
    for (int i = dots; i > 0; --i) letters += static_cast<char>(i);
    return side.replace(at, 3, letters);
  };
  for (size_t i = 0; i < sides.size(); ++i) {
    const bool has_dots = sides[i].find("...") != std::string::npos;
    const int dots = operands[i].rank() - static_cast<int>(sides[i].size()) + (has_dots ? 3 : 0);
    if (dots < 0 || dots > 16 || (dots > 0 && !has_dots)) {
      n.Fail("'{}' of the equation is given a tensor of rank {}", sides[i], operands[i].rank());
      return std::nullopt;
    }
    most = std::max(most, dots);
    e.inputs.push_back(spelled(sides[i], dots));
  }
  if (arrow != std::string::npos) {
    std::string out;
    for (const char c : text.substr(arrow + 2)) {
      if (c != ' ') out += c;
    }
    e.output = spelled(out, most);
    return e;
  }
  // Letters that stand once, in order; "..." first.
  std::map<char, int> times;
  for (const std::string& side : e.inputs) {
    for (const char c : side) ++times[c];
  }
  for (int i = most; i > 0; --i) e.output += static_cast<char>(i);
  for (const auto& [c, count] : times) {
    if (count == 1 && c > 16) e.output += c;
  }
  return e;
}

Results Einsum(Call& n) {
  TypedBuilder& b = n.b();
  std::vector<Value> operands = n.Tensors("tensors");
  if (operands.empty()) return n.Fail("expected operands");
  const auto equation = ParseEquation(n, operands);
  if (!equation) return {};
  const DType t = ResultType(std::vector<Argument>(operands.begin(), operands.end()));
  // Sums of integers by themselves are int64; those of products are not.
  bool sums = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string others = equation->output;
    for (size_t k = 0; k < operands.size(); ++k) others += k == i ? "" : equation->inputs[k];
    sums = sums || equation->inputs[i].find_first_not_of(others) != std::string::npos;
  }
  const DType given = sums && !IsFloat(t) ? DType::kInt64 : t;
  std::vector<Lettered> all;
  for (size_t i = 0; i < operands.size(); ++i)
    all.push_back(WithoutTwins(n, {b.Cast(operands[i], ProductType(given)), equation->inputs[i]}));
  Lettered result = all[0];
  for (size_t i = 1; i < all.size() && b.status().ok(); ++i) {
    std::string kept = equation->output;
    for (size_t k = i + 1; k < all.size(); ++k) kept += all[k].axes;
    result = Contracted(b, result, all[i], kept);
  }
  if (!b.status().ok()) return {};
  result = SummedTo(b, result, equation->output);
  if (result.axes.size() != equation->output.size())
    return n.Fail("the result of the equation has a letter that no operand has");
  return {b.Cast(Reordered(b, result, equation->output).value, given)};
}

Results TensorDot(Call& n) {
  TypedBuilder& b = n.b();
  const Operands o = Both(n, 0, 1);
  const std::vector<int64_t> first = n.Ints("dims_self"), second = n.Ints("dims_other");
  if (first.size() != second.size()) return n.Fail("the dims differ in length");
  if (o.x.rank() + o.y.rank() > 52) return n.Unsupported("of so many dims");
  Lettered x{o.x, ""}, y{o.y, ""};
  char letter = 'A';
  for (int i = 0; i < o.x.rank(); ++i) x.axes += letter++;
  for (int i = 0; i < o.y.rank(); ++i) y.axes += letter++;
  std::string kept = x.axes + y.axes;
  for (size_t i = 0; i < first.size(); ++i) {
    const int at = AxisIn(b, first[i], o.x.rank()), to = AxisIn(b, second[i], o.y.rank());
    if (!b.status().ok()) return {};
    std::erase(kept, x.axes[static_cast<size_t>(at)]);
    std::erase(kept, y.axes[static_cast<size_t>(to)]);
    y.axes[static_cast<size_t>(to)] = x.axes[static_cast<size_t>(at)];
  }
  return {b.Cast(Reordered(b, Contracted(b, x, y, kept), kept).value, o.dtype)};
}

Results ChainOfProducts(Call& n) {
  const char* name = n.schema().arguments[0].name == "matrices" ? "matrices" : "tensors";
  const std::vector<Value> all = n.Tensors(name);
  if (all.empty()) return n.Fail("expected matrices");
  Value y = all[0];
  for (size_t i = 1; i < all.size(); ++i) y = n.ValueAs("aten::matmul", {y, all[i]});
  return {y};
}

Results Kronecker(Call& n) {
  TypedBuilder& b = n.b();
  const Operands o = Both(n, 0, 1);
  const int rank = std::max(o.x.rank(), o.y.rank());
  const Value x = b.ExpandDims(o.x, 0, rank - o.x.rank()),
              y = b.ExpandDims(o.y, 0, rank - o.y.rank());
  Term left(b, x), right(b, y);
  for (int i = 0; i < rank; ++i) {
    left = left.Expand(2 * i + 1);
    right = right.Expand(2 * i);
  }
  std::vector<Value> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(b.Op("multiply", {b.DimOf(x, i), b.DimOf(y, i)}));
  return {b.Cast(ShapedAs(b, BothTimes(left, right), dims), o.dtype)};
}

// Three factors, each with dims of extent 1 where it says, summed.
Results Trilinear(Call& n) {
  std::optional<Term> product;
  for (size_t i = 0; i < 3; ++i) {
    Argument factor = n.Arg(i);
    std::vector<int64_t> places = n.Ints(n.schema().arguments[i + 3].name);
    std::sort(places.begin(), places.end());
    for (const int64_t place : places)
      factor = n.ValueAs("aten::unsqueeze", {factor, Argument::Int(place)});
    if (!n.b().status().ok() || !factor.is_tensor()) return {};
    const Term f(n, factor.value);
    product = product ? *product * f : f;
  }
  const std::vector<int64_t> axes = n.Axes("sumdim", product->rank(), true);
  if (!n.b().status().ok()) return {};
  return {product->Over("sum", axes, false)};
}

// y[.., k] = x1[.., i] w[k, i, j] x2[.., j] + bias[k].
Results Bilinear(Call& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0), y(n, 1), w(n, 2);
  const Term left = x.Expand(x.rank() - 1).Expand(x.rank() + 1);   // (.., 1, i, 1)
  const Term right = y.Expand(y.rank() - 1).Expand(y.rank() - 1);  // (.., 1, 1, j)
  Term z = (left * w * right).Over("sum", {x.rank(), x.rank() + 1}, false);
  if (n.Has("bias")) z = z + Term(b, n.Tensor("bias"));
  return {z};
}

Results Cross(Call& n) {
  TypedBuilder& b = n.b();
  const auto [x, y] = Pair(n, PairType(n));
  const int rank = std::max(x.rank(), y.rank());
  int axis = -1;
  if (n.Has("dim")) {
    axis = n.Axis("dim", rank, -1);
  } else {
    // The first of extent 3, in either that is not of extent 1.
    std::vector<int> open;
    for (int i = 0; i < rank && axis < 0; ++i) {
      const auto extent = [&](const Term& v) {
        const int at = i - (rank - v.rank());
        return at < 0 ? Dim(1) : v.value().dim(at);
      };
      const Dim p = extent(x), q = extent(y);
      if (p.is_const(3) || q.is_const(3)) axis = i;
      if (axis < 0 && (!p.is_const() || !q.is_const())) open.push_back(i);
    }
    if (open.size() > (axis < 0 ? 1U : 0U))
      return n.Unsupported(
          "the first axis of extent 3, which only running tells: dim=, or the extents by --shape, "
          "say it");
    if (axis < 0 && !open.empty()) axis = open[0];
  }
  if (axis < 0 || !b.status().ok()) return n.Fail("expected a dim of 3");
  const auto part = [&](const Term& v, int64_t i) {
    const int at = axis - (rank - v.rank());
    return v.Slice(at, i, i + 1);
  };
  const auto of = [&](int64_t i, int64_t k) {
    return part(x, i) * part(y, k) - part(x, k) * part(y, i);
  };
  return {b.Concat({of(1, 2), of(2, 0), of(0, 1)}, axis)};
}

// Products in groups: group g ends at ends[g], the one before it where it begins. Of rows (s, k) of
// x each group has a matrix of its own (g, k, n); likewise of columns of y; of what is summed over,
// each group gives a matrix.
Results GroupedProduct(Call& n) {
  TypedBuilder& b = n.b();
  const Operands o = Both(n, 0, 1);
  const bool by_rows = o.x.rank() == 2, by_columns = o.y.rank() == 2;
  Value product;
  if (!n.Has("offs")) {
    if (o.x.rank() != 3 || o.y.rank() != 3) return n.Fail("offs: expected for tensors of rank 2");
    product = MatMul(b, o);
  } else {
    const Value ends = b.Cast(n.Tensor("offs"), DType::kInt64);
    if (o.x.rank() < 2 || o.x.rank() > 3 || o.y.rank() < 2 || o.y.rank() > 3 ||
        (!by_rows && !by_columns) || ends.rank() != 1)
      return n.Fail("expected matrices, one of them in groups, and where each group ends");
    Dim groups = ends.dim(0);
    if (!groups.is_const()) groups = by_rows && by_columns ? groups : (by_rows ? o.y : o.x).dim(0);
    if (!groups.is_const())
      return n.Unsupported("a number of groups that only running tells: --shape says it");
    const auto matrix = [&](const Value& v, int64_t g) {
      return b.Op("take", {v, b.Int(g)}, {{"axis", 0}});
    };
    std::vector<Value> parts;
    Value from = b.Int(0);
    for (int64_t g = 0; g < groups.value() && b.status().ok(); ++g) {
      const Value to = b.Op("take", {ends, b.Int(g)}, {{"axis", 0}});
      const Value x = by_rows ? Sliced(b, o.x, by_columns ? 1 : 0, from, to) : matrix(o.x, g);
      const Value y = by_columns ? Sliced(b, o.y, by_rows ? 0 : 1, from, to) : matrix(o.y, g);
      const Value part = MatMul(b, {x, y, o.dtype});
      parts.push_back(by_rows && by_columns ? b.ExpandDims(part, 0) : part);
      from = to;
    }
    // What is in no group is 0.
    const int axis = by_rows ? 0 : 1;
    if (by_rows != by_columns) {
      const Value of = by_rows ? o.x : o.y;
      const Value rest = Sliced(b, of, axis, from, b.Int(INT64_MAX));
      const Value other = b.DimOf(by_rows ? o.y : o.x, by_rows ? 2 : 1);
      const Value count = b.DimOf(rest, axis);
      parts.push_back(
          b.Op("dyn.full", {b.Scalar(0, o.dtype),
                            by_rows ? b.Concat({count, other}, 0) : b.Concat({other, count}, 0)}));
    }
    if (parts.empty()) return n.Fail("no groups");
    product = b.Concat(parts, axis);
    if (by_rows && !by_columns) product = b.WithDimsOf(product, o.x, 0, 1);
  }
  if (n.Has("bias")) product = Term(n, product) + Term(n, n.Tensor("bias")).As(o.dtype);
  if (const auto dtype = n.Dtype("out_dtype")) product = b.Cast(product, *dtype);
  return {product};
}

constexpr OperatorDef kProductOperators[] = {
    {"aten::matmul(Tensor self, Tensor other) -> Tensor", Product},
    {"aten::mm(Tensor self, Tensor mat2) -> Tensor", Product},
    {"aten::bmm(Tensor self, Tensor mat2) -> Tensor", Product},
    {"aten::mv(Tensor self, Tensor vec) -> Tensor", Product},
    {"aten::dot(Tensor self, Tensor tensor) -> Tensor", Product},
    {"aten::vdot(Tensor self, Tensor other) -> Tensor", Product},
    {"aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", LinearLayer},
    {"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     PlusProduct},
    {"aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     PlusProduct},
    {"aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) "
     "-> Tensor",
     PlusProduct},
    {"aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     PlusProduct},
    {"aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     AddOuter},
    {"aten::outer(Tensor self, Tensor vec2) -> Tensor", Outer},
    {"aten::ger(Tensor self, Tensor vec2) -> Tensor", Outer},
    {"aten::inner(Tensor self, Tensor other) -> Tensor", Inner},
    {"aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", Einsum},
    {"aten::einsum.sublist(Tensor a, ...) -> Tensor", Einsum},
    {"aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
     TensorDot},
    {"aten::chain_matmul(Tensor[] matrices) -> Tensor", ChainOfProducts},
    {"aten::kron(Tensor self, Tensor other) -> Tensor", Kronecker},
    {"aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] "
     "expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
     Trilinear},
    {"aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
     Bilinear},
    {"aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
     "ScalarType? "
     "out_dtype=None) -> Tensor",
     GroupedProduct},
    {"transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
     GroupedProduct},
    {"aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", Cross},
    {"aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", Cross},
};

}  // namespace

OperatorTable ProductOperators() { return kProductOperators; }

}  // namespace relayvm::import::torch
