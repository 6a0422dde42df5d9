// Support vector machines of ai.onnx.ml.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/onnx/learn.h"

namespace relayvm::import {

namespace {

constexpr const char* kLinear = "LINEAR";

// The kernel of each row of x (rows, features) with each of `vectors` (count, features).
std::optional<Term> Kernel(NodeContext& n, const Term& x, const Term& vectors,
                           const std::string& type) {
  TypedBuilder& b = n.b();
  std::vector<double> params = n.Floats("kernel_params");
  params.resize(3, 0);  // gamma, coef0, degree
  Term product(b, MatMulOf(n, x, vectors.Transpose({1, 0})));
  if (type == kLinear) return product;
  if (type == "POLY") {
    return (product * params[0] + params[1]).Call("power", b.Scalar(params[2], DType::kFloat32));
  }
  if (type == "SIGMOID") return (product * params[0] + params[1]).Call("tanh");
  if (type == "RBF") {
    const Term apart = x.Expand(1) - vectors;
    return Exp((apart * apart).Over("sum", {2}, false) * -params[0]);
  }
  return n.Unsupported("kernel_type '{}' is not supported", type);
}

// The attribute as `rows` rows as long as x's, or an error.
std::optional<Term> Vectors(NodeContext& n, const Term& x, const char* attr, int64_t rows) {
  const std::vector<double> values = n.Floats(attr);
  const int64_t features = x.value().dim(1).value();
  if (rows >= 1 && static_cast<int64_t>(values.size()) / rows == features &&
      static_cast<int64_t>(values.size()) % rows == 0) {
    return Table(n.b(), values, {rows, features});
  }
  return n.Fail("{}: expected {} rows of {} numbers, found {}", attr, rows, features,
                values.size());
}

Outputs SVMRegressor(NodeContext& n) {
  const int64_t supports = n.Count("n_supports", 0);
  const auto x = Rows(n, n.Floats(supports > 0 ? "support_vectors" : "coefficients").size(),
                      std::max<int64_t>(supports, 1));
  if (!x) return {};
  const std::string type = supports > 0 ? n.String("kernel_type", kLinear) : kLinear;
  const std::vector<double> coefficients = n.Floats("coefficients"), rho = n.Floats("rho", {0});
  if (rho.size() != 1) return n.Fail("rho: expected a number");
  const auto vectors = Vectors(n, *x, supports > 0 ? "support_vectors" : "coefficients",
                               std::max<int64_t>(supports, 1));
  const auto kernel = vectors ? Kernel(n, *x, *vectors, type) : std::nullopt;
  if (!kernel) return {};
  Term y = *kernel;
  if (supports > 0) {
    if (static_cast<int64_t>(coefficients.size()) != supports)
      return n.Fail("coefficients: expected {}, found {}", supports, coefficients.size());
    y = Term(n.b(), MatMulOf(n, y, Table(n.b(), coefficients, {supports, 1})));
  }
  y = y + rho[0];
  if (n.Int("one_class", 0) != 0) return {Select(y > 0, y.Number(1), y.Number(-1))};
  return {Transformed(n, y, n.String("post_transform", "NONE"))};
}

Term Column(const Term& v, size_t i) {
  return v.Slice(1, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1);
}

// Calls fn(i, j, pair) for all pairs of classes, in order.
template <typename Fn>
void ForEachPair(size_t classes, const Fn& fn) {
  size_t pair = 0;
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j) fn(i, j, pair++);
  }
}

// Probabilities of classes (rows, classes) that fit those of pairs best, pairs[i][j] (rows, 1) that
// of i against j (Wu, Lin and Weng 2004, as libsvm iterates it).
Term Coupled(NodeContext& n, const std::vector<std::vector<Term>>& pairs) {
  TypedBuilder& b = n.b();
  const size_t classes = pairs.size();
  const auto count = static_cast<int64_t>(classes);
  std::vector<Term> q;  // rows of the matrix: (rows, classes) each
  for (size_t t = 0; t < classes; ++t) {
    std::vector<Value> row;
    for (size_t j = 0; j < classes; ++j) {
      Term cell = pairs[t][j] * 0.0;
      if (j != t) cell = -(pairs[j][t] * pairs[t][j]);
      for (size_t k = 0; j == t && k < classes; ++k) {
        if (k != t) cell = cell + pairs[k][t] * pairs[k][t];
      }
      row.push_back(cell);
    }
    q.emplace_back(b, b.Concat(row, 1));
  }
  const auto one_of = [&](size_t t) {
    std::vector<double> row(classes, 0);
    row[t] = 1;
    return Table(b, row, {1, count});
  };
  const double exact = 0.005 / static_cast<double>(classes);
  const auto turn = [&](const TypedBuilder::State& s) -> TypedBuilder::State {
    Term p(b, s[1]);
    const Term before = p;
    std::vector<Value> products;
    for (const Term& row : q) products.push_back(Sum(row * p, {1}));
    Term qp(b, b.Concat(products, 1));
    Term whole = Sum(p * qp, {1});
    const Term done = Max(Abs(qp - whole), {1}) < exact;
    for (size_t t = 0; t < classes; ++t) {
      const Term at = Column(qp, t), own = Column(q[t], t);
      const Term diff = (whole - at) / own, scale = diff + 1;
      whole = (whole + diff * (diff * own + at * 2)) / scale / scale;
      qp = (qp + diff * q[t]) / scale;
      p = (p + diff * one_of(t)) / scale;
    }
    return {Term(b, s[0]) + 1, Select(done, before, p), Not(done).As(DType::kInt32).Call("max")};
  };
  const Term even = (pairs[0][0] * 0.0 + 1.0 / static_cast<double>(classes)) *
                    Table(b, std::vector<double>(classes, 1), {1, count});
  const double most = static_cast<double>(std::max<size_t>(100, classes));
  const TypedBuilder::State last = b.While(
      {b.Int(0), even, b.Int(1, DType::kInt32)},
      [&](const TypedBuilder::State& s) { return And(Term(b, s[0]) < most, Term(b, s[2]) > 0); },
      turn);
  return last.size() == 3 ? Term(b, last[1]) : even;
}

// A column for each pair of classes: the vectors of both count, each with its weight against the
// other. `coefficients`: (classes - 1, vectors).
std::vector<double> PairColumns(const std::vector<int64_t>& per_class, size_t pairs,
                                const std::vector<double>& coefficients) {
  std::vector<size_t> first(1, 0);  // vector of each class
  for (const int64_t count : per_class) first.push_back(first.back() + static_cast<size_t>(count));
  const size_t count = first.back();
  std::vector<double> columns(count * pairs, 0);
  ForEachPair(per_class.size(), [&](size_t i, size_t j, size_t pair) {
    for (const auto& [own, row] : {std::pair(i, j - 1), std::pair(j, i)}) {
      for (size_t v = first[own]; v < first[own + 1]; ++v)
        columns[v * pairs + pair] = coefficients[row * count + v];
    }
  });
  return columns;
}

// How many pairs each class wins, (rows, classes), by their scores.
Term Votes(const Term& scores, size_t classes) {
  std::vector<Term> sums(classes, (Column(scores, 0) * 0.0).As(DType::kInt32));
  ForEachPair(classes, [&](size_t i, size_t j, size_t pair) {
    const Term wins = (Column(scores, pair) > 0).As(DType::kInt32);
    sums[i] = sums[i] + wins;
    sums[j] = sums[j] + (1.0 - wins);
  });
  return {scores.b(), scores.b().Concat({sums.begin(), sums.end()}, 1)};
}

// Probabilities of classes by those of pairs, sigmoids of their scores.
Term Chances(NodeContext& n, const Term& scores, const Term& a, const Term& b, size_t classes) {
  const Term against = (-(scores * a + b)).Call("sigmoid");
  const Term bounded = Clamp(against, against.Number(1e-7), against.Number(1 - 1e-7));
  std::vector<std::vector<Term>> matrix(classes, std::vector<Term>(classes, Column(bounded, 0)));
  ForEachPair(classes, [&](size_t i, size_t j, size_t pair) {
    matrix[i][j] = Column(bounded, pair);
    matrix[j][i] = 1.0 - matrix[i][j];
  });
  return Coupled(n, matrix);
}

Outputs SVMClassifier(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Labels labels = ClassLabels(n, "classlabels_ints", "classlabels_strings");
  const std::vector<int64_t> per_class = n.Ints("vectors_per_class");
  int64_t supports = 0;  // an overflow of hostile counts wraps, and fits no rows
  for (const int64_t count : per_class) {
    supports = static_cast<int64_t>(static_cast<uint64_t>(supports) + static_cast<uint64_t>(count));
  }
  const auto classes = static_cast<int64_t>(labels.size());
  const auto x = Rows(n, n.Floats(supports > 0 ? "support_vectors" : "coefficients").size(),
                      supports > 0 ? supports : classes);
  if (!x || !b.status().ok()) return {};
  const std::vector<double> rho = n.Floats("rho"), prob_a = n.Floats("prob_a"),
                            prob_b = n.Floats("prob_b");
  if (classes < 1 || rho.empty()) return n.Fail("expected classlabels_ints and rho");
  const auto outputs = [&](const Term& ranks, const Term& scores) -> Outputs {
    const Term best = ranks.Call("argmax", {{"axis", AttrList{1}}});
    return {LabelsOf(n, best, labels), Transformed(n, scores, n.String("post_transform", "NONE"))};
  };
  if (per_class.empty()) {  // a row of coefficients for each class
    const auto rows = Vectors(n, *x, "coefficients", classes);
    const auto kernel = rows ? Kernel(n, *x, *rows, kLinear) : std::nullopt;
    if (!kernel) return {};
    const Term scores = *kernel + rho[0];
    return outputs(scores, scores);
  }
  if (per_class.size() != labels.size() || classes < 2 ||
      std::ranges::any_of(per_class, [](int64_t v) { return v < 0 || v > INT32_MAX; })) {
    return n.Fail("vectors_per_class: expected a number for each of two classes or more");
  }
  const int64_t pairs = classes * (classes - 1) / 2;
  const std::vector<double> coefficients = n.Floats("coefficients");
  const auto one_a_pair = [&](const std::vector<double>& list) {
    return static_cast<int64_t>(list.size()) == pairs;
  };
  if (static_cast<int64_t>(coefficients.size()) != (classes - 1) * supports || !one_a_pair(rho) ||
      (!prob_a.empty() && !(one_a_pair(prob_a) && one_a_pair(prob_b)))) {
    return n.Fail("expected {} coefficients and {} numbers in rho, prob_a and prob_b",
                  (classes - 1) * supports, pairs);
  }
  const auto vectors = Vectors(n, *x, "support_vectors", supports);
  const auto kernel =
      vectors ? Kernel(n, *x, *vectors, n.String("kernel_type", kLinear)) : std::nullopt;
  if (!kernel) return {};
  constexpr int64_t kMostWeights = 1 << 26;
  if (supports > kMostWeights / pairs)
    return n.Unsupported("more than 2^26 support vectors of pairs of classes are not supported");
  const Term columns =
      Table(b, PairColumns(per_class, static_cast<size_t>(pairs), coefficients), {supports, pairs});
  const Term scores = Term(b, MatMulOf(n, *kernel, columns)) + Table(b, rho, {pairs});
  const Term votes = Votes(scores, labels.size());
  if (!prob_a.empty()) {
    const Term a = Table(b, prob_a, {pairs}), z = Table(b, prob_b, {pairs});
    return outputs(votes, Chances(n, scores, a, z, labels.size()));
  }
  return outputs(votes, classes == 2 ? Term(b, b.Concat({-scores, scores}, 1)) : scores);
}

constexpr OperatorDef kVectorsOperators[] = {
    {"SVMClassifier", 1, 1, SVMClassifier, 1, kLearning},
    {"SVMRegressor", 1, 1, SVMRegressor, 1, kLearning},
};

}  // namespace

std::span<const OperatorDef> VectorMachineOperators() { return kVectorsOperators; }

}  // namespace relayvm::import
