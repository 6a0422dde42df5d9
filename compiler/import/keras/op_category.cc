// Numbers and texts as categories: encodings, bins, vocabularies.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/import/keras/model_builder.h"
#include "compiler/import/onnx/strings.h"

namespace relayvm::import::keras {

namespace {

// Which of `count` categories an element of x (int64) is, or how often they are among the last
// axis, by `mode`; none below 0 counts. Nullopt with an error.
std::optional<Value> Encoded(LayerContext& n, Term x, int64_t count, const std::string& mode,
                             const Value& weights = {}) {
  TypedBuilder& b = n.b();
  if (count < 1 || count > 1 << 24) return n.Fail("expected 1 to 2^24 categories");
  n.keeps_mask = false;
  const Term places(b, b.Ints(Iota(count)));
  const bool one_hot = mode == "one_hot";
  if (one_hot && x.rank() > 0 && x.value().dim(-1).is_const(1)) x = Term(b, b.Squeeze(x, {-1}));
  const Term hits = Equal(x.Expand(x.rank()), places).As(DType::kFloat32);
  if (one_hot || x.rank() == 0) return hits;
  // Keras 3 takes together what stands along axis 1, also of tensors of rank 3.
  const int axis = n.model().version >= 3 ? std::min(1, x.rank() - 1) : x.rank() - 1;
  if (mode == "multi_hot") return hits.Over("max", {axis}, false);
  if (mode != "count") return n.Unsupported("output_mode '{}' is not supported", mode);
  if (!weights) return hits.Over("sum", {axis}, false);
  return (hits * Term(n, weights).As(DType::kFloat32).Expand(x.rank())).Over("sum", {axis}, false);
}

Outputs CategoryEncoding(LayerContext& n) {
  const Value weights = n.Named("count_weights");
  const auto y = Encoded(n, Term(n, n.Input(0)).As(DType::kInt64), n.Int("num_tokens", 0),
                         n.String("output_mode", "multi_hot"), weights ? weights : n.Input(1));
  return y ? Outputs{*y} : Outputs{};
}

// --- Bins ---

// What Keras 2 learnt is a summary (2, n): values, and how much each weighs. Bounds are where equal
// parts of the weight end.
std::vector<double> BoundsOf(const HostTensor& summary, int64_t bins) {
  const auto n = static_cast<size_t>(summary.shape[1]);
  std::vector<float> all(2 * n);
  std::memcpy(all.data(), summary.data.data(), 4 * all.size());
  std::vector<double> sums;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sums.push_back(sum += all[n + i]);
  std::vector<double> bounds;
  if (n < static_cast<size_t>(bins))
    return {all.begin(), all.begin() + static_cast<int64_t>(n) - 1};
  for (int64_t k = 1; k < bins; ++k) {
    const double part = static_cast<double>(k) / static_cast<double>(bins) * sum;
    const auto at = static_cast<size_t>(std::ranges::lower_bound(sums, part) - sums.begin());
    if (at == 0 || at >= n) {
      bounds.push_back(at == 0 ? all[0] : all[n - 1]);
      continue;
    }
    const double share = (part - sums[at - 1]) / (sums[at] - sums[at - 1]);
    bounds.push_back(all[at - 1] + share * (static_cast<double>(all[at]) - all[at - 1]));
  }
  return bounds;
}

Outputs Discretization(LayerContext& n) {
  TypedBuilder& b = n.b();
  std::vector<double> bounds = n.Floats("bin_boundaries");
  if (bounds.empty() && n.HasWeight()) {
    const Value summary = n.Weight();
    const int64_t bins = n.Int("num_bins", 2);
    if (summary.constant == nullptr || summary.rank() != 2 || !summary.dim(0).is_const(2) ||
        summary.dtype() != DType::kFloat32 || summary.constant->shape[1] < 1 || bins < 2 ||
        bins > 1 << 20)
      return n.Fail("expected a summary of what was learnt, and num_bins from 2 on");
    bounds = BoundsOf(*summary.constant, bins);
  }
  if (bounds.empty()) return n.Unsupported("bin_boundaries: none are given or learnt");
  if (!std::ranges::is_sorted(bounds)) return n.Fail("bin_boundaries: expected them in order");
  const Value input = n.Input(0);
  const Term x(b, IsFloat(input.dtype()) ? input : b.Cast(input, DType::kFloat32));
  const Value all = Term(b, Table(b, bounds, {static_cast<int64_t>(bounds.size())})).As(x.dtype());
  const std::string mode = n.String("output_mode", "int");
  const bool wide = n.model().version < 3 || mode != "int";
  const Value bins =
      b.Op("searchsorted", {all, x}, {{"right", true}, {"dtype", wide ? "int64" : "int32"}});
  if (mode == "int") return {bins};
  const auto y = Encoded(n, {b, bins}, static_cast<int64_t>(bounds.size()) + 1, mode);
  return y ? Outputs{*y} : Outputs{};
}

// --- Vocabularies ---

// Indices are: of the mask (with the mode "int"), of what is unknown, of the words in order.
template <bool kTexts>
Outputs Lookup(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Json* given = n.Setting("vocabulary");
  const auto is_word = [](const Json& v) { return kTexts ? v.is_string() : v.is_number_integer(); };
  if (given == nullptr || !given->is_array() || given->empty() ||
      !std::ranges::all_of(*given, is_word))
    return n.Unsupported("vocabulary: expected a list in the configuration");
  const std::string mode = n.String("output_mode", "int");
  const int64_t unknown = n.Int("num_oov_indices", 1);
  const bool masks = mode == "int" && !n.IsNull("mask_token");
  // Several for unknown numbers go by their remainders; those for unknown texts by hashes.
  if (unknown < 0 || unknown > (kTexts ? 1 : 1 << 20))
    return n.Unsupported("num_oov_indices: words that are unknown are hashed; expected 0 or 1");
  if (unknown > 1 && n.String("oov_method", "floormod") != "floormod")
    return n.Unsupported("oov_method '{}' is not supported", n.String("oov_method", ""));
  std::vector<int64_t> keys;
  std::vector<std::string> words;
  const auto add = [&](const Json& v) {
    if constexpr (kTexts) {
      words.push_back(v.get<std::string>());
    } else {
      keys.push_back(v.get<int64_t>());
    }
  };
  const Json* mask = n.Setting("mask_token");
  const Json other = kTexts ? Json("[UNK]") : Json(-1);
  const Json* named = n.Setting("oov_token");
  const Json& rest = named != nullptr && is_word(*named) ? *named : other;
  if (masks && !is_word(*mask)) return n.Fail("mask_token: expected a word");
  const int64_t first = (masks ? 1 : 0) + unknown;
  if (n.Bool("invert", false)) {
    if (masks) add(*mask);
    for (int64_t i = 0; i < unknown; ++i) add(rest);
    for (const Json& v : *given) add(v);
    const auto count = static_cast<int64_t>(kTexts ? words.size() : keys.size());
    add(rest);
    const Term x = Term(n, n.Input(0)).As(DType::kInt64);
    const Term last = x.Number(static_cast<double>(count));
    const Value table = kTexts ? Texts(b, words) : b.Ints(keys);
    return {Term(b, table).Take(Select(And(x >= 0, x < last), x, last), 0)};
  }
  for (const Json& v : *given) add(v);
  if (masks) add(*mask);
  const Value input = n.Input(0);
  if (kTexts != (input.dtype() == DType::kString))
    return n.Fail("expected {}", kTexts ? "strings" : "whole numbers");
  const Term ids = kTexts ? Ids({b, input}) : Term(b, input).As(DType::kInt64);
  if (kTexts) keys = IdsOf(b, words);
  const Term place = PlaceAmong(ids, keys);
  const auto size = static_cast<double>(given->size());
  const auto all = static_cast<double>(keys.size());
  // Of unknown words that may not be: -1, as TensorFlow's table gives.
  const double none = unknown == 1 ? static_cast<double>(first - 1) : -1;
  Term other_index = place.Number(none);
  if (unknown > 1) {
    other_index = ids.Call("floor_mod", ids.Number(static_cast<double>(unknown))) +
                  static_cast<double>(first - unknown);
  }
  Term index = Select(place < size, place + static_cast<double>(first), other_index);
  if (masks) index = Select(And(place >= size, place < all), place.Number(0), index);
  if (mode == "int") return {index};
  const bool weighs = mode == "tf_idf" || mode == "tf-idf";
  const auto y =
      Encoded(n, index, static_cast<int64_t>(given->size()) + first, weighs ? "count" : mode);
  if (!y) return {};
  if (weighs) {
    // Of what is unknown the mean of the words' weights.
    std::vector<double> weights = n.Floats("idf_weights");
    if (weights.size() != given->size())
      return n.Unsupported("idf_weights: expected one for each word in the configuration");
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    weights.insert(weights.begin(), static_cast<size_t>(first),
                   sum / static_cast<double>(weights.size()));
    const Value table = Table(b, weights, {static_cast<int64_t>(weights.size())});
    return {Term(b, *y) * Term(b, table)};
  }
  return {n.model().version >= 3 ? b.Cast(*y, DType::kInt64) : *y};
}

constexpr LayerDef kCategoryLayers[] = {
    {"CategoryEncoding", 1, 2, CategoryEncoding},
    {"Discretization", 1, 1, Discretization},
    {"IntegerLookup", 1, 1, Lookup<false>},
    {"StringLookup", 1, 1, Lookup<true>},
};

}  // namespace

std::span<const LayerDef> CategoryLayers() { return kCategoryLayers; }

}  // namespace relayvm::import::keras
