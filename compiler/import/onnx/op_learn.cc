// ai.onnx.ml: what scikit-learn's exporter writes, but for trees (op_trees.cc) and support vectors
// (op_vectors.cc). Features are float32, as there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/learn.h"

namespace relayvm::import {

std::optional<Term> Rows(NodeContext& n, size_t numbers, int64_t lines) {
  Term x = Term(n, 0).As(DType::kFloat32);
  if (x.rank() == 1) x = x.Expand(0);
  if (x.rank() == 2 && x.value().dim(1).is_const()) return x;
  const auto count = static_cast<int64_t>(numbers);
  if (x.rank() == 2 && lines > 0 && count > 0 && count % lines == 0) {
    return x.Reshape({0, count / lines});
  }
  return n.Unsupported("expected rows of features whose number is known; fix it with --shape");
}

// --- Scores ---

namespace {

// Winitzki's approximation of the inverse of erf, as ONNX Runtime computes it.
Term InverseErf(const Term& x) {
  const Term log = ((1.0 - x) * (x + 1)).Call("log");
  const Term v = log * 0.5 + 2 / (3.14159 * 0.147);
  const Term root = Sqrt(Sqrt(v * v - log * (1 / 0.147)) - v);
  return Select(x < 0, -root, root);
}

}  // namespace

Term Transformed(NodeContext& n, const Term& scores, const std::string& how) {
  if (how == "NONE" || how.empty()) return scores;
  if (scores.value().dim(1).is_const(1) && how != "PROBIT") return scores;
  if (how == "LOGISTIC") return scores.Call("sigmoid");
  if (how == "SOFTMAX") return scores.Call("nn.softmax", {{"axis", 1}});
  if (how == "PROBIT") return InverseErf(scores * 2 - 1) * std::sqrt(2.0);
  if (how == "SOFTMAX_ZERO") {  // of scores that are not 0
    const Term top = Max(scores, {1});
    const Term counts = Abs(scores) > 1e-7;
    const Term power = Select(counts, Exp(scores - top), scores.Number(0));
    return Select(counts, power, scores * Exp(-top)) / Sum(power, {1});
  }
  n.Unsupported("post_transform '{}' is not supported", how);
  return scores;
}

Term LabelsOf(NodeContext& n, const Term& places, const Labels& labels) {
  TypedBuilder& b = n.b();
  return Term(b, labels.texts.empty() ? b.Ints(labels.numbers) : Texts(b, labels.texts))
      .Take(places, 0);
}

Labels ClassLabels(NodeContext& n, const char* ints, const char* strings) {
  return {n.Ints(ints), n.Strings(strings)};
}

namespace {

// --- Features ---

// A row of numbers, or one for all.
Term RowOf(NodeContext& n, const Term& x, const char* attr, double fallback) {
  const std::vector<double> values = n.Floats(attr, {fallback});
  const Dim width = x.value().dim(-1);
  const auto count = static_cast<int64_t>(values.size());
  if (count != 1 && Dim::ProvablyDifferent(width, count)) {
    n.Fail("{}: expected a number for each feature, found {}", attr, count);
  }
  return Table(n.b(), values, {count});
}

Outputs Scaler(NodeContext& n) {
  const Term x = Term(n, 0).As(DType::kFloat32);
  return {(x - RowOf(n, x, "offset", 0)) * RowOf(n, x, "scale", 1)};
}

Outputs Normalizer(NodeContext& n) {
  Term x = Term(n, 0).As(DType::kFloat32);
  const std::string norm = n.String("norm", "MAX");
  const std::vector<int64_t> last = {x.rank() - 1};
  if (x.rank() < 1) return n.Fail("expected rows of features");
  const auto by = [&](const Term& d) { return x / Select(Equal(d, 0), d.Number(1), d); };
  if (norm == "MAX") return {by(Max(x, last))};
  if (norm == "L1") return {by(Sum(Abs(x), last))};
  if (norm == "L2") return {by(Sqrt(Sum(x * x, last)))};
  return n.Unsupported("norm '{}' is not supported", norm);
}

Outputs Imputer(NodeContext& n) {
  const Term x(n, 0);
  TypedBuilder& b = n.b();
  if (IsFloat(x.dtype())) {
    const double missing = n.Float("replaced_value_float", 0);
    const Term value = RowOf(n, x, "imputed_value_floats", 0).As(x.dtype());
    return {Select(std::isnan(missing) ? x.Call("isnan") : Equal(x, missing), value, x)};
  }
  const std::vector<int64_t> values = n.Ints("imputed_value_int64s");
  const auto count = static_cast<int64_t>(values.size());
  if (count == 0 || (count != 1 && Dim::ProvablyDifferent(x.value().dim(-1), count)))
    return n.Fail("imputed_value_int64s: expected a number for each feature");
  const Value missing = b.Int(n.Int("replaced_value_int64", 0), x.dtype());
  return {Select(x.Call("equal", missing), Term(b, b.Ints(values, x.dtype())), x)};
}

Outputs Binarizer(NodeContext& n) {
  const Term x(n, 0);
  return {(x > n.Float("threshold", 0)).As(x.dtype())};
}

Outputs ArrayFeatureExtractor(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 1) return n.Fail("expected an input of rank 1 or more");
  const Term places(n.b(),
                    Below({n, 1, "places"}, n.b().Reshape(n.Input(1), {-1}), n.b().DimOf(x, -1)));
  if (x.rank() == 1) return {x.Take(places, 0).Expand(0)};
  return {x.Take(places, x.rank() - 1)};
}

Outputs FeatureVectorizer(NodeContext& n) {
  const std::vector<int64_t> widths = n.Ints("inputdimensions");
  std::vector<Value> parts;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    Term x = Term(n, i).As(DType::kFloat32);
    if (x.rank() == 1) x = x.Expand(1);
    if (x.rank() != 2) return n.Fail("expected rows of features");
    parts.push_back(i < widths.size() ? x.Slice(1, 0, widths[i]) : x);
  }
  return {n.b().Concat(parts, 1)};
}

// --- Categories ---

// For each element of `x` the place of the key that it is (with_nan: NaN is NaN), and whether there
// is one.
struct Found {
  Term place, any;
};
Found Find(const Term& x, const Term& keys, bool with_nan) {
  const Term wide = x.Expand(x.rank());
  Term same = Equal(wide, keys);
  if (with_nan && IsFloat(x.dtype())) same = Or(same, And(wide.Call("isnan"), keys.Call("isnan")));
  const std::vector<int64_t> last = {x.rank()};
  const Term hit = same.As(DType::kInt32);
  return {hit.Call("argmax", {{"axis", AttrList{x.rank()}}}), hit.Over("max", last, false) > 0};
}

Outputs OneHotEncoder(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const bool of_texts = x.dtype() == DType::kString;
  const std::vector<int64_t> categories =
      of_texts ? IdsOf(b, n.Strings("cats_strings")) : n.Ints("cats_int64s");
  if (categories.empty()) {
    return n.Fail(of_texts ? "cats_strings: expected categories, as the input is of strings"
                           : "cats_int64s: expected categories");
  }
  const auto count = static_cast<int64_t>(categories.size());
  Term place = PlaceAmong(of_texts ? Ids(x) : x.As(DType::kInt64), categories);
  if (n.Int("zeros", 1) == 0)
    place = Checked({n, 0, "place among the categories"}, place, 0, b.Ints({count}));
  // Of categories that are the same the last has the column, as in ONNX Runtime.
  std::map<int64_t, int64_t> firsts, lasts;
  for (int64_t i = 0; i < count; ++i) {
    firsts.emplace(categories[static_cast<size_t>(i)], i);
    lasts[categories[static_cast<size_t>(i)]] = i;
  }
  std::vector<int64_t> places(static_cast<size_t>(count), -1);
  for (const auto& [category, last] : lasts) places[static_cast<size_t>(last)] = firsts[category];
  return {Equal(place.Expand(place.rank()), Term(b, b.Ints(places))).As(DType::kFloat32)};
}

// Keys or values of a LabelEncoder: keys_tensor, keys_int64s, keys_floats, keys_strings. No value
// where there are none.
Value LabelsIn(NodeContext& n, const std::string& what) {
  TypedBuilder& b = n.b();
  if (const Value tensor = n.Tensor(what + "_tensor")) return b.Reshape(tensor, {-1});
  if (n.HasAttr(what + "_int64s")) return b.Ints(n.Ints(what + "_int64s"));
  if (n.HasAttr(what + "_strings")) return Texts(b, n.Strings(what + "_strings"));
  if (n.HasAttr(what + "_floats")) {
    const std::vector<double> values = n.Floats(what + "_floats");
    return Table(b, values, {static_cast<int64_t>(values.size())});
  }
  n.Fail("expected {0}_tensor, {0}_int64s, {0}_floats or {0}_strings", what);
  return {};
}

// What stands for an element that is no key.
Value DefaultLabel(NodeContext& n, DType dtype) {
  TypedBuilder& b = n.b();
  if (const Value tensor = n.Tensor("default_tensor")) return AsScalar({b, tensor});
  if (dtype == DType::kString) return Texts(b, {n.String("default_string", "_Unused")}, {});
  if (IsFloat(dtype)) return b.Scalar(n.Float("default_float", -0.0), dtype);
  return b.Int(n.Int("default_int64", -1), dtype);
}

// Of each element the value beside its key.
Outputs Encoded(NodeContext& n, const Value& keys, const Value& values) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (!keys.dim(0).is_const() || keys.dim(0) != values.dim(0) || keys.dim(0).is_const(0))
    return n.Fail("expected as many values as keys, and one or more");
  if ((keys.dtype() == DType::kString) != (x.dtype() == DType::kString)) {
    return n.Fail("expected an input of the keys' type, {}, found {}", DTypeName(keys.dtype()),
                  DTypeName(x.dtype()));
  }
  const Term fallback(b, DefaultLabel(n, values.dtype()));
  if (fallback.dtype() != values.dtype())
    return n.Fail("default_tensor: expected an element of the values' type");
  if (IsFloat(keys.dtype()) || keys.constant == nullptr) {
    // NaN is a key from version 4 on.
    const Found found = Find(x.As(keys.dtype()), {b, keys}, n.opset() >= 4);
    return {Select(found.any, Term(b, values).Take(found.place, 0), fallback)};
  }
  std::vector<int64_t> numbers(static_cast<size_t>(keys.dim(0).value()));
  const bool of_texts = keys.dtype() == DType::kString;
  if (of_texts) {
    std::memcpy(numbers.data(), keys.constant->data.data(), 8 * numbers.size());
  } else {
    numbers = typing::IntegerElements(*keys.constant);
  }
  const Term place = PlaceAmong(of_texts ? Ids(x) : x.As(DType::kInt64), numbers);
  const Value all = b.Concat({values, fallback.Reshape({1})}, 0);
  return {Term(b, all).Take(place, 0)};
}

Outputs LabelEncoder(NodeContext& n) {
  TypedBuilder& b = n.b();
  if (const std::vector<std::string> classes = n.Strings("classes_strings"); !classes.empty()) {
    // The first form: from strings to their places, and back.
    const Value texts = Texts(b, classes);
    const Value places = b.Ints(Iota(static_cast<int64_t>(classes.size())));
    const bool of_texts = n.Input(0).dtype() == DType::kString;
    return of_texts ? Encoded(n, texts, places) : Encoded(n, places, texts);
  }
  const Value keys = LabelsIn(n, "keys"), values = LabelsIn(n, "values");
  if (!b.status().ok()) return {};
  return Encoded(n, keys, values);
}

// The first form of a LabelEncoder, with numbers of the model's own.
Outputs CategoryMapper(NodeContext& n) {
  TypedBuilder& b = n.b();
  std::vector<std::string> categories = n.Strings("cats_strings");
  std::vector<int64_t> ints = n.Ints("cats_int64s");
  // Of the same ones the last counts, as in ONNX Runtime.
  std::ranges::reverse(categories);
  std::ranges::reverse(ints);
  const Value texts = Texts(b, categories), numbers = b.Ints(ints);
  return n.Input(0).dtype() == DType::kString ? Encoded(n, texts, numbers)
                                              : Encoded(n, numbers, texts);
}

// --- Linear models ---

// x (rows, features) times the coefficients of each target, a row each, and its intercept.
std::optional<Term> Linear(NodeContext& n, const Term& x, int64_t targets) {
  std::vector<double> weights = n.Floats("coefficients");
  std::vector<double> intercepts = n.Floats("intercepts");
  const int64_t features = x.value().dim(1).value();
  const auto needed = static_cast<size_t>(features * std::max<int64_t>(targets, 0));
  if (targets < 1 || weights.size() < needed) {
    return n.Fail("coefficients: expected {} for each of {} targets, found {}", features, targets,
                  weights.size());
  }
  if (weights.size() > needed) {  // as ONNX Runtime, whose example logreg_iris.onnx is so
    n.Warn(fmt::format("has {} coefficients, of which {} inputs and {} targets use the first {}",
                       weights.size(), features, targets, needed));
    weights.resize(needed);
  }
  const Term w = Table(n.b(), weights, {targets, features});
  Term y(n.b(), MatMulOf(n, x, w.Transpose({1, 0})));
  if (intercepts.empty()) return y;
  if (static_cast<int64_t>(intercepts.size()) != targets)
    return n.Fail("intercepts: expected {}, found {}", targets, intercepts.size());
  return y + Table(n.b(), intercepts, {targets});
}

Outputs LinearRegressor(NodeContext& n) {
  const auto x = Rows(n, n.Floats("coefficients").size(), n.Count("targets", 1));
  if (!x) return {};
  const auto y = Linear(n, *x, n.Count("targets", 1));
  if (!y) return {};
  return {Transformed(n, *y, n.String("post_transform", "NONE"))};
}

Outputs LinearClassifier(NodeContext& n) {
  const auto x =
      Rows(n, n.Floats("coefficients").size(), static_cast<int64_t>(n.Floats("intercepts").size()));
  const Labels labels = ClassLabels(n, "classlabels_ints", "classlabels_strings");
  if (!x || !n.b().status().ok()) return {};
  const auto features = x->value().dim(1).value();
  const auto numbers = static_cast<int64_t>(n.Floats("coefficients").size());
  const auto intercepts = static_cast<int64_t>(n.Floats("intercepts").size());
  const int64_t rows = intercepts > 0 ? intercepts : features > 0 ? numbers / features : 0;
  const auto scores = Linear(n, *x, rows);
  if (!scores) return {};
  const int64_t targets = scores->value().dim(1).value();
  const std::string how = n.String("post_transform", "NONE");
  const auto classes = static_cast<int64_t>(labels.size());
  if (targets == 1) {
    // One row of two classes: the second where it is positive.
    if (classes > 2) return n.Fail("coefficients: expected a row for each class");
    const Term positive = scores->Reshape({-1}) > 0;
    const Term label =
        LabelsOf(n, positive.As(DType::kInt64), classes == 2 ? labels : Labels{{0, 1}, {}});
    if (classes != 2) return {label, Transformed(n, *scores, how)};
    if (how == "PROBIT") {  // as of trees: the first class alone has a number
      return {label, n.b().Concat({Transformed(n, *scores, how), *scores * 0.0}, 1)};
    }
    const Term score = how == "LOGISTIC" ? scores->Call("sigmoid") : *scores;
    return {label, n.b().Concat({1.0 - score, score}, 1)};
  }
  if (classes != targets)
    return n.Fail("classlabels_ints: expected {} labels, found {}", targets, classes);
  const Term label = LabelsOf(n, scores->Call("argmax", {{"axis", AttrList{1}}}), labels);
  return {label, Transformed(n, *scores, how)};
}

// --- Maps ---

// A map from labels to scores for each row, which there is no type for: the scores as they are, as
// exporters write them without this node (skl2onnx: options={'zipmap': False}).
Outputs ZipMap(NodeContext& n) {
  const size_t labels =
      std::max(n.Ints("classlabels_int64s").size(), n.Strings("classlabels_strings").size());
  const Value scores = n.Input(0);
  const Dim columns = scores.dim(-1);
  if (columns.is_const() && !columns.is_const(static_cast<int64_t>(labels))) {
    return n.Fail("expected {} scores a row, one for each label, found {}", labels,
                  columns.ToString());
  }
  n.Warn(
      "gives a tensor of scores, a column for each label in their order, in place of a sequence "
      "of maps");
  return {scores};
}
Outputs OfMap(NodeContext& n) {
  return n.Unsupported("maps are not supported: take features as a tensor");
}

constexpr OperatorDef kLearnOperators[] = {
    {"ArrayFeatureExtractor", 2, 2, ArrayFeatureExtractor, 1, kLearning},
    {"Binarizer", 1, 1, Binarizer, 1, kLearning},
    {"CastMap", 1, 1, OfMap, 1, kLearning},
    {"CategoryMapper", 1, 1, CategoryMapper, 1, kLearning},
    {"DictVectorizer", 1, 1, OfMap, 1, kLearning},
    {"FeatureVectorizer", 1, -1, FeatureVectorizer, 1, kLearning},
    {"Imputer", 1, 1, Imputer, 1, kLearning},
    {"LabelEncoder", 1, 1, LabelEncoder, 1, kLearning},
    {"LinearClassifier", 1, 1, LinearClassifier, 1, kLearning},
    {"LinearRegressor", 1, 1, LinearRegressor, 1, kLearning},
    {"Normalizer", 1, 1, Normalizer, 1, kLearning},
    {"OneHotEncoder", 1, 1, OneHotEncoder, 1, kLearning},
    {"Scaler", 1, 1, Scaler, 1, kLearning},
    {"ZipMap", 1, 1, ZipMap, 1, kLearning},
};

}  // namespace

std::span<const OperatorDef> LearningOperators() { return kLearnOperators; }

}  // namespace relayvm::import
