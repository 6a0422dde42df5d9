// Support vector machines of ai.onnx.ml.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/import/onnx/learn.h"

namespace relayvm::import {

namespace {

constexpr const char* kLinear = "LINEAR";

using Outputs = std::vector<Value>;

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
  n.Unsupported(fmt::format("kernel_type '{}' is not supported", type));
  return std::nullopt;
}

// The attribute as `rows` rows as long as x's, or an error.
std::optional<Term> Vectors(NodeContext& n, const Term& x, const char* attr, int64_t rows) {
  const std::vector<double> values = n.Floats(attr);
  const int64_t features = x.value().dim(1).value();
  if (rows >= 1 && static_cast<int64_t>(values.size()) / rows == features &&
      static_cast<int64_t>(values.size()) % rows == 0) {
    return Table(n.b(), values, {rows, features});
  }
  n.Fail(fmt::format("{}: expected {} rows of {} numbers, found {}", attr, rows, features,
                     values.size()));
  return std::nullopt;
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
    if (static_cast<int64_t>(coefficients.size()) != supports) {
      return n.Fail(
          fmt::format("coefficients: expected {}, found {}", supports, coefficients.size()));
    }
    y = Term(n.b(), MatMulOf(n, y, Table(n.b(), coefficients, {supports, 1})));
  }
  y = y + rho[0];
  if (n.Int("one_class", 0) != 0) return {Select(y > 0, y.Number(1), y.Number(-1))};
  return {Transformed(n, y, n.String("post_transform", "NONE"))};
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
      const Term at = qp.Slice(1, static_cast<int64_t>(t), static_cast<int64_t>(t) + 1);
      const Term own = q[t].Slice(1, static_cast<int64_t>(t), static_cast<int64_t>(t) + 1);
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

Outputs SVMClassifier(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Labels labels = ClassLabels(n, "classlabels_ints", "classlabels_strings");
  const std::vector<int64_t> per_class = n.Ints("vectors_per_class");
  int64_t supports = 0;  // an overflow of hostile counts wraps, and fits no rows
  for (const int64_t count : per_class) {
    supports = static_cast<int64_t>(static_cast<uint64_t>(supports) + static_cast<uint64_t>(count));
  }
  const auto x = Rows(n, n.Floats(supports > 0 ? "support_vectors" : "coefficients").size(),
                      supports > 0 ? supports : static_cast<int64_t>(labels.size()));
  if (!x || !b.status().ok()) return {};
  const std::vector<double> rho = n.Floats("rho"), a = n.Floats("prob_a"), z = n.Floats("prob_b");
  const std::string how = n.String("post_transform", "NONE");
  const auto classes = static_cast<int64_t>(labels.size());
  if (classes < 1 || rho.empty()) return n.Fail("expected classlabels_ints and rho");
  const auto argmax = [](const Term& v) { return v.Call("argmax", {{"axis", AttrList{1}}}); };
  if (per_class.empty()) {  // a row of coefficients for each class
    const auto rows = Vectors(n, *x, "coefficients", classes);
    const auto kernel = rows ? Kernel(n, *x, *rows, kLinear) : std::nullopt;
    if (!kernel) return {};
    const Term scores = *kernel + rho[0];
    return {LabelsOf(n, argmax(scores), labels), Transformed(n, scores, how)};
  }
  if (static_cast<int64_t>(per_class.size()) != classes || classes < 2 ||
      std::any_of(
          per_class.begin(), per_class.end(), [](int64_t v) { return v < 0 || v > INT32_MAX; })) {
    return n.Fail("vectors_per_class: expected a number for each of two classes or more");
  }
  const int64_t count = std::accumulate(per_class.begin(), per_class.end(), int64_t{0});
  const auto pairs = static_cast<size_t>(classes * (classes - 1) / 2);
  const std::vector<double> coefficients = n.Floats("coefficients");
  const bool probable = !a.empty();
  if (static_cast<int64_t>(coefficients.size()) != (classes - 1) * count || rho.size() != pairs ||
      (probable && (a.size() != pairs || z.size() != pairs))) {
    return n.Fail(fmt::format("expected {} coefficients and {} numbers in rho, prob_a and prob_b",
                              (classes - 1) * count, pairs));
  }
  const auto vectors = Vectors(n, *x, "support_vectors", count);
  const auto kernel =
      vectors ? Kernel(n, *x, *vectors, n.String("kernel_type", kLinear)) : std::nullopt;
  if (!kernel) return {};
  // A column for each pair of classes: the vectors of both count, each with its weight against the
  // other.
  constexpr int64_t kMostWeights = 1 << 26;
  if (count > kMostWeights / static_cast<int64_t>(pairs)) {
    return n.Unsupported("more than 2^26 support vectors of pairs of classes are not supported");
  }
  std::vector<double> columns(static_cast<size_t>(count) * pairs, 0);
  std::vector<int64_t> first(1, 0);
  for (const int64_t v : per_class) first.push_back(first.back() + v);
  size_t pair = 0;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      const auto put = [&](int64_t own, int64_t row) {
        for (int64_t v = first[static_cast<size_t>(own)]; v < first[static_cast<size_t>(own) + 1];
             ++v) {
          columns[static_cast<size_t>(v) * pairs + pair] =
              coefficients[static_cast<size_t>(row * count + v)];
        }
      };
      put(i, j - 1);
      put(j, i);
    }
  }
  const auto pair_count = static_cast<int64_t>(pairs);
  const Term scores = Term(b, MatMulOf(n, *kernel, Table(b, columns, {count, pair_count}))) +
                      Table(b, rho, {pair_count});
  const auto column = [&](const Term& v, size_t i) {
    return v.Slice(1, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1);
  };
  // Each pair votes for one of its classes.
  std::vector<Value> votes;
  std::vector<Term> sums(static_cast<size_t>(classes), (column(scores, 0) * 0.0).As(DType::kInt32));
  pair = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t j = i + 1; j < sums.size(); ++j, ++pair) {
      const Term wins = (column(scores, pair) > 0).As(DType::kInt32);
      sums[i] = sums[i] + wins;
      sums[j] = sums[j] + (1.0 - wins);
    }
  }
  for (const Term& v : sums) votes.push_back(v);
  const Term label = LabelsOf(n, argmax({b, b.Concat(votes, 1)}), labels);
  if (probable) {
    const Term against =
        (-(scores * Table(b, a, {pair_count}) + Table(b, z, {pair_count}))).Call("sigmoid");
    const Term bounded = Clamp(against, against.Number(1e-7), against.Number(1 - 1e-7));
    std::vector<std::vector<Term>> matrix(
        static_cast<size_t>(classes),
        std::vector<Term>(static_cast<size_t>(classes), column(bounded, 0)));
    pair = 0;
    for (size_t i = 0; i < matrix.size(); ++i) {
      for (size_t j = i + 1; j < matrix.size(); ++j, ++pair) {
        matrix[i][j] = column(bounded, pair);
        matrix[j][i] = 1.0 - matrix[i][j];
      }
    }
    const Term chances = Coupled(n, matrix);
    return {label, Transformed(n, chances, how)};
  }
  if (classes != 2) return {label, Transformed(n, scores, how)};
  const Term both(b, b.Concat({-scores, scores}, 1));
  return {label, Transformed(n, both, how)};
}

constexpr OperatorDef kVectorsOperators[] = {
    {"SVMClassifier", 1, 1, SVMClassifier, 1, kLearning},
    {"SVMRegressor", 1, 1, SVMRegressor, 1, kLearning},
};

}  // namespace

std::span<const OperatorDef> VectorMachineOperators() { return kVectorsOperators; }

}  // namespace relayvm::import
