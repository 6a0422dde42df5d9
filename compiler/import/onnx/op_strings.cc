// Operators on strings: StringConcat, StringNormalizer, StringSplit, RegexFullMatch, Tokenizer,
// MurmurHash3; and TfIdfVectorizer, whose n-grams are strings or whole numbers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/import/onnx/strings.h"
#include "compiler/import/regex.h"

namespace relayvm::import {

namespace {

Value Int64s(TypedBuilder& b, std::span<const int64_t> values, std::vector<int64_t> shape) {
  HostTensor t{DType::kInt64, std::move(shape), SharedBytes::Copy(std::as_bytes(values))};
  return b.Constant(std::move(t));
}

}  // namespace

std::vector<int64_t> IdsOf(TypedBuilder& b, const std::vector<std::string>& texts) {
  std::vector<int64_t> ids;
  for (const std::string& text : texts) {
    if (!IsUtf8(text)) b.Fail("a string of the model is not UTF-8");
    ids.push_back(b.module().strings->Intern(text));
    if (ids.back() < 0) b.Fail(StatusCode::kResourceExhausted, "no memory for the model's strings");
  }
  return ids;
}

Value Texts(TypedBuilder& b, const std::vector<std::string>& texts, std::vector<int64_t> shape) {
  HostTensor t{DType::kString, std::move(shape), {}};
  const std::vector<int64_t> ids = IdsOf(b, texts);
  t.data = SharedBytes::Copy(std::as_bytes(std::span(ids)));
  return b.Constant(std::move(t));
}

Term Ids(const Term& strings) { return strings.Call("string.id"); }

Term PlaceAmong(const Term& x, const std::vector<int64_t>& keys) {
  TypedBuilder& b = x.b();
  const auto count = static_cast<int64_t>(keys.size());
  std::map<int64_t, int64_t> places;  // the first of equal keys counts
  for (size_t i = 0; i < keys.size(); ++i) places.emplace(keys[i], static_cast<int64_t>(i));
  const int64_t least = places.begin()->first, most = places.rbegin()->first;
  int64_t span = 0;
  const bool is_dense = !__builtin_sub_overflow(most, least, &span) && span / 8 <= count + 64;
  if (is_dense) {
    // A table from the least key to the most; behind it, what is beyond.
    std::vector<int64_t> table(static_cast<size_t>(span) + 2, count);
    for (const auto& [key, place] : places) table[static_cast<size_t>(key - least)] = place;
    const Term low(b, b.Int(least)), high(b, b.Int(most));
    const Term at = Select(And(x >= low, x <= high), x - low, Term(b, b.Int(span + 1)));
    return Term(b, b.Ints(table)).Take(at, 0);
  }
  std::vector<int64_t> sorted, order;
  for (const auto& [key, place] : places) {
    sorted.push_back(key);
    order.push_back(place);
  }
  const Term all(b, b.Ints(sorted));
  const Term found = all.Call("searchsorted", x, {{"dtype", "int64"}});
  const Term at = Minimum(found, Term(b, b.Int(static_cast<int64_t>(sorted.size()) - 1)));
  return Select(Equal(all.Take(at, 0), x), Term(b, b.Ints(order)).Take(at, 0),
                Term(b, b.Int(count)));
}

Value CastOfStrings(NodeContext& n, const Value& v, DType dtype) {
  TypedBuilder& b = n.b();
  if (v.dtype() == dtype) return v;
  if (dtype == DType::kString) return b.Op("string.from_number", {v});
  return b.Op("string.to_number", {v}, {{"dtype", std::string(DTypeName(dtype))}});
}

std::vector<Value> UniqueStrings(NodeContext& n, const Term& x, bool sorted) {
  TypedBuilder& b = n.b();
  const std::vector<Value> all = b.Ops("unique", {sorted ? x.Call("string.rank") : Ids(x)},
                                       {{"sorted", sorted}, {"return_counts", true}});
  if (all.size() < 5) return {};
  const auto found = [&](size_t i) {
    const Value part = b.Op("dyn.strided_slice",
                            {all[i], b.Ints({0}), b.Cast(all[3], DType::kInt64), b.Ints({1})});
    return Term(b, part).As(DType::kInt64);
  };
  const Term first = found(1);
  return {x.Take(first, 0), first, b.Cast(all[2], DType::kInt64), found(4)};
}

namespace {

Outputs StringNormalizer(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const bool rows = x.rank() == 2;
  if (x.rank() != 1 && !rows) return n.Fail("expected a vector of strings, or one row of them");
  if (rows && Dim::ProvablyDifferent(x.value().dim(0), 1))
    return n.Fail("expected one row of strings, found {}", x.value().dim(0).ToString());
  const std::string change = n.String("case_change_action", "NONE");
  const int64_t action = change == "NONE" ? 0 : change == "LOWER" ? 1 : change == "UPPER" ? 2 : -1;
  if (action < 0)
    return n.Fail("case_change_action: expected NONE, LOWER or UPPER, found '{}'", change);
  const bool case_sensitive = n.Int("is_case_sensitive", 0) != 0;
  // Of other locales the alphabets are the same here: Unicode's.
  const std::string locale = n.String("locale", "");
  const bool ascii = locale == "C" || locale == "POSIX";
  // A row of which there is not one is told when it runs.
  if (rows) x = Term(b, b.Squeeze(x, {0}));
  const Value words = Texts(b, n.Strings("stopwords"));
  const Value y =
      b.Op("string.normalize", {x, words},
           {{"change_case", action}, {"case_sensitive", case_sensitive}, {"ascii", ascii}});
  return {rows ? b.ExpandDims(y, 0) : y};
}

Outputs StringSplit(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const Value delimiter = Texts(b, {n.String("delimiter", "")});
  const AttrInit most = {{"maxsplit", n.Int("maxsplit", -1)}};
  const Value counts = b.Op("string.split_count", {x, delimiter}, most);
  // The most parts that a text has: of no texts none.
  const Value all = b.Concat({b.Reshape(counts, {-1}), b.Ints({0})}, 0);
  const Value parts = Term(b, all).Over("max", {0});
  return {b.Op("string.split", {x, delimiter, parts}, most), counts};
}

// The rows of a pattern's program; none with an error. `name` is the attribute that it stands in.
std::vector<RegexStep> ProgramOf(NodeContext& n, std::string_view name,
                                 const std::string& pattern) {
  auto program = CompileRegex(pattern);
  if (program.ok()) return *std::move(program);
  const std::string text = fmt::format("{} '{}': {}", name, pattern, program.status().message());
  if (program.status().code() == StatusCode::kUnsupported) {
    n.Unsupported(text);
  } else {
    n.Fail(text);
  }
  return {};
}
Value Program(TypedBuilder& b, const std::vector<RegexStep>& steps) {
  const std::span<const int64_t> rows(reinterpret_cast<const int64_t*>(steps.data()),
                                      3 * steps.size());
  return Int64s(b, rows, {static_cast<int64_t>(steps.size()), 3});
}

Outputs RegexFullMatch(NodeContext& n) {
  const auto program = ProgramOf(n, "pattern", n.String("pattern", ""));
  if (program.empty()) return {};
  return {n.b().Op("string.full_match", {n.Input(0), Program(n.b(), program)})};
}

// Programs one behind the other.
void Append(std::vector<RegexStep>& all, std::vector<RegexStep> program) {
  const auto start = static_cast<int64_t>(all.size());
  for (RegexStep& step : program) {
    const auto op = static_cast<RegexOp>(step.op);
    if (op == RegexOp::kSplit || op == RegexOp::kSet) step.a += start;
    if (op == RegexOp::kSplit) step.b += start;
    all.push_back(step);
  }
}

// Of com.microsoft. What its regular expressions find is the longest of the first, as in RE2 with
// longest_match.
Outputs Tokenizer(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() != 1 && x.rank() != 2) return n.Fail("expected a vector or a matrix of strings");
  const int64_t least = n.Int("mincharnum", 0);
  if (least < 1) return n.Fail("mincharnum: expected 1 or more characters, found {}", least);
  std::vector<std::string> patterns = n.Strings("separators");
  const bool of_matches = patterns.empty();
  if (of_matches) patterns = {n.String("tokenexp", "")};
  // Either is all characters, new lines too.
  const bool of_characters = patterns.size() == 1 && patterns[0] == (of_matches ? "." : "");
  if (of_matches && patterns[0].empty()) return n.Fail("expected separators, or tokenexp");
  if (of_characters) patterns = {"(?s)."};
  if (of_characters && least > 1)
    return n.Fail("mincharnum: tokens of one character have no {}", least);
  if (patterns.size() > static_cast<size_t>(kMostTokenPrograms))
    return n.Unsupported("separators: more than {}", kMostTokenPrograms);
  std::vector<RegexStep> all;
  std::vector<int64_t> starts;
  for (const std::string& pattern : patterns) {
    starts.push_back(static_cast<int64_t>(all.size()));
    Append(all, ProgramOf(n, of_matches ? "tokenexp" : "separators", pattern));
    if (!b.status().ok()) return {};
    if (all.size() > kMostRegexSteps)
      return n.Unsupported("separators: they need more than {} steps", kMostRegexSteps);
  }
  const Value programs = Program(b, all), begins = b.Ints(starts);
  const bool are_matches = of_matches || of_characters, mark = n.Int("mark", 0) != 0;
  const Value counts = b.Op("string.count_tokens", {x, programs, begins},
                            {{"are_matches", are_matches}, {"least", least}});
  // The most tokens that a text has, and marks where there is any.
  const Term most = Term(b, b.Concat({b.Reshape(counts, {-1}), b.Ints({0})}, 0)).Over("max", {0});
  const Term room = mark ? Select(most > 0, most + 2, most) : most;
  const Value around = Texts(b, {"\x02", "\x03", n.String("pad_value", "")});
  return {b.Op("string.tokens", {x, programs, begins, around, room},
               {{"are_matches", are_matches}, {"least", least}, {"mark", mark}})};
}

// Of com.microsoft: of the bytes of each text, or of each number.
Outputs MurmurHash3(NodeContext& n) {
  const std::string dtype = n.Int("positive", 1) != 0 ? "uint32" : "int32";
  return {n.b().Op("murmur3", {n.Input(0)}, {{"seed", n.Int("seed", 0)}, {"dtype", dtype}})};
}

// --- n-grams ---

// n-grams of one length in order, each once, and the columns that they count in.
struct Grams {
  std::vector<int64_t> words, columns;
};
Grams InOrder(std::span<const int64_t> words, std::span<const int64_t> columns, int64_t length) {
  const auto width = static_cast<size_t>(length);
  const auto gram = [&](size_t g) { return words.subspan(g * width, width); };
  std::vector<size_t> order(columns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t c) {
    return std::ranges::lexicographical_compare(gram(a), gram(c));
  });
  Grams grams;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && std::ranges::equal(gram(order[i]), gram(order[i - 1]))) continue;
    const auto w = gram(order[i]);
    grams.words.insert(grams.words.end(), w.begin(), w.end());
    grams.columns.push_back(columns[order[i]]);
  }
  return grams;
}

// How often each n-gram of the pool occurs in each row, by its index in the output.
Outputs TfIdfVectorizer(NodeContext& n) {
  TypedBuilder& b = n.b();
  const bool of_texts = n.Input(0).dtype() == DType::kString;
  const std::vector<int64_t> pool =
      of_texts ? IdsOf(b, n.Strings("pool_strings")) : n.Ints("pool_int64s");
  const std::vector<int64_t> starts = n.Ints("ngram_counts"), indexes = n.Ints("ngram_indexes");
  const int64_t shortest = n.Int("min_gram_length", 1), longest = n.Int("max_gram_length", 1),
                skips = n.Int("max_skip_count", 0);
  const std::string mode = n.String("mode", "TF");
  const std::vector<double> weights = n.Floats("weights", std::vector<double>(indexes.size(), 1.0));
  if (pool.empty()) {
    return n.Fail(of_texts ? "pool_strings: expected the n-grams of strings"
                           : "pool_int64s: expected the n-grams of whole numbers");
  }
  if (indexes.empty() || weights.size() != indexes.size() || skips < 0 || skips > 1000 ||
      longest > static_cast<int64_t>(starts.size())) {
    return n.Fail("ngram_counts, ngram_indexes, weights and max_gram_length do not fit");
  }
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return n.Fail("mode: expected TF, IDF or TFIDF, found '{}'", mode);
  const auto [least, most] = std::minmax_element(indexes.begin(), indexes.end());
  if (*least < 0 || *most >= (1 << 24)) return n.Fail("ngram_indexes: an index is out of range");
  const int64_t width = *most + 1;
  const bool row = n.Input(0).rank() == 1;
  Term x = of_texts ? Ids({n, 0}) : Term(n, 0).As(DType::kInt64);
  if (row) x = x.Expand(0);
  if (x.rank() != 2) return n.Fail("expected an input of rank 1 or 2");

  std::optional<Term> counts;  // (rows, width)
  size_t used = 0;
  for (int64_t length = 1; length <= static_cast<int64_t>(starts.size()); ++length) {
    const auto k = static_cast<size_t>(length - 1);
    const int64_t begin = starts[k];
    const int64_t end = k + 1 < starts.size() ? starts[k + 1] : static_cast<int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) ||
        (end - begin) % length != 0) {
      return n.Fail("ngram_counts: a start lies outside the pool");
    }
    const auto count = static_cast<size_t>((end - begin) / length);
    if (count > indexes.size() - used) break;
    const std::span<const int64_t> columns = std::span(indexes).subspan(used, count);
    used += count;
    if (count == 0 || length < shortest || length > longest) continue;
    const Grams grams = InOrder(
        std::span(pool).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
        columns, length);
    const auto rows = static_cast<int64_t>(grams.columns.size());
    const Term found(
        b, b.Op("count_grams",
                {x, Int64s(b, grams.words, {rows, length}), Int64s(b, grams.columns, {rows})},
                {{"width", width}, {"skips", skips}}));
    counts = counts ? *counts + found : found;
  }
  if (used != indexes.size())
    return n.Fail("ngram_indexes: expected one index for each n-gram of the pool");
  if (!counts) {
    counts = Term(b, Filled(b, 0, DType::kInt64, b.Concat({b.DimOf(x, 0), b.Ints({width})}, 0)));
  }
  std::vector<float> by_column(static_cast<size_t>(width));
  for (size_t i = 0; i < indexes.size(); ++i)
    by_column[static_cast<size_t>(indexes[i])] = static_cast<float>(weights[i]);
  HostTensor scale{
      DType::kFloat32, {width}, SharedBytes::Copy(std::as_bytes(std::span(by_column)))};
  const Term weight(b, b.Constant(std::move(scale)));
  Term y = counts->As(DType::kFloat32);
  if (mode == "IDF") y = Select(y > 0, weight, y.Number(0));
  if (mode == "TFIDF") y = y * weight;
  return {row ? b.Squeeze(y, {0}) : y.value()};
}

constexpr OperatorDef kStringOperators[] = {
    {"MurmurHash3", 1, 1, MurmurHash3, 1, kMicrosoft},
    {"RegexFullMatch", 1, 1, RegexFullMatch, 20},
    {"StringConcat", 2, 2, Same<"string.concat">, 20},
    {"StringNormalizer", 1, 1, StringNormalizer, 10},
    {"StringSplit", 1, 1, StringSplit, 20},
    {"TfIdfVectorizer", 1, 1, TfIdfVectorizer, 9},
    {"Tokenizer", 1, 1, Tokenizer, 1, kMicrosoft},
};

}  // namespace

std::span<const OperatorDef> StringOperators() { return kStringOperators; }

}  // namespace relayvm::import
