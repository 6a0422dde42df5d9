// Texts: what the runtime does with them (string.*), and of constants what it does not.
// TensorFlow's texts are bytes; those of modules are UTF-8.
#include <algorithm>
#include <functional>
#include <string>

#include "compiler/import/onnx/strings.h"
#include "compiler/import/regex.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

bool IsText(NodeContext& n, size_t i) {
  if (n.Input(i).is_tensor() && n.Input(i).dtype() == DType::kString) return true;
  n.Fail("{}: expected texts", n.InputText(i, "input"));
  return false;
}

// Texts one behind the other, which broadcast.
Outputs Join(NodeContext& n) {
  TypedBuilder& b = n.b();
  const std::string separator = n.String("separator", "");
  Value all;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    if (!IsText(n, i)) return {};
    const Value next = n.Input(i);
    if (all && !separator.empty()) all = b.Op("string.concat", {all, Texts(b, {separator}, {})});
    all = all ? b.Op("string.concat", {all, next}) : next;
  }
  return {all};
}

Outputs MatchesOf(NodeContext& n, const std::string& pattern) {
  if (!IsText(n, 0)) return {};
  const auto program = CompileRegex(pattern);
  if (!program.ok()) return n.Unsupported("pattern '{}': {}", pattern, program.status().message());
  std::vector<int64_t> rows(3 * program->size());
  if (!rows.empty()) std::memcpy(rows.data(), program->data(), rows.size() * sizeof(int64_t));
  TypedBuilder& b = n.b();
  const Value steps = b.Reshape(b.Ints(rows), {static_cast<int64_t>(program->size()), 3});
  return {b.Op("string.full_match", {n.Input(0), steps})};
}
Outputs StaticMatch(NodeContext& n) { return MatchesOf(n, n.String("pattern", "")); }
Outputs Match(NodeContext& n) {
  const auto pattern = n.ConstantStrings(1);
  if (!pattern || pattern->size() != 1) return n.Unsupported("a pattern that is no constant");
  return MatchesOf(n, (*pattern)[0]);
}

Outputs ToNumber(NodeContext& n) {
  if (!IsText(n, 0)) return {};
  const std::string dtype(DTypeName(n.Type("out_type", DType::kFloat32)));
  return {n.b().Op("string.to_number", {n.Input(0)}, {{"dtype", dtype}})};
}

// Whole numbers as they are written; others depend on how many digits are asked for.
Outputs FromNumber(NodeContext& n) {
  const Value x = n.Input(0);
  if (IsComplex(x) || !x.is_tensor() || IsFloat(x.dtype()) || x.dtype() == DType::kBool ||
      x.dtype() == DType::kString || n.Int("width", -1) > 0 || !n.String("fill", "").empty()) {
    return n.Unsupported("texts of other than whole numbers, or of a given width");
  }
  return {n.b().Op("string.from_number", {x})};
}

// --- Of constants ---

// Nothing with an error where the texts are none.
std::optional<std::vector<std::string>> Known(NodeContext& n) {
  if (!IsText(n, 0)) return std::nullopt;
  auto texts = n.ConstantStrings(0);
  if (!texts) return n.Unsupported("texts that are no constant");
  return texts;
}
std::vector<int64_t> StaticShape(const Value& v) {
  std::vector<int64_t> shape;
  for (const Dim& d : v.shape()) shape.push_back(d.is_const() ? d.value() : 0);
  return shape;
}
Outputs Changed(NodeContext& n, const std::function<std::string(std::string)>& change) {
  auto texts = Known(n);
  if (!texts) return {};
  for (std::string& text : *texts) text = change(text);
  return {Texts(n, *texts, StaticShape(n.Input(0)))};
}

// Without an encoding only ASCII's letters change.
Outputs CaseChanged(NodeContext& n, int64_t change) {
  TypedBuilder& b = n.b();
  if (!IsText(n, 0)) return {};
  const bool ascii = n.String("encoding", "") != "utf-8";
  return {Term(b, b.Op("string.normalize", {b.Reshape(n.Input(0), {-1}), Texts(b, {})},
                       {{"change_case", change}, {"case_sensitive", false}, {"ascii", ascii}}))
              .Call("reshape_like", n.Input(0))};
}
Outputs Lower(NodeContext& n) { return CaseChanged(n, 1); }
Outputs Upper(NodeContext& n) { return CaseChanged(n, 2); }

Outputs Stripped(NodeContext& n) {
  return Changed(n, [](const std::string& text) {
    constexpr std::string_view kSpaces = " \t\n\v\f\r";
    const size_t first = text.find_first_not_of(kSpaces);
    return first == std::string::npos
               ? std::string()
               : text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
  });
}

Outputs LengthOf(NodeContext& n) {
  const auto texts = Known(n);
  if (!texts) return {};
  const bool characters = n.String("unit", "BYTE") == "UTF8_CHAR";
  std::vector<int64_t> lengths;
  for (const std::string& text : *texts) {
    lengths.push_back(std::ranges::count_if(text, [&](char c) {
      return !characters || (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
  }
  return {n.b().Reshape(n.b().Ints(lengths, DType::kInt32), StaticShape(n.Input(0)))};
}

constexpr OperatorDef kStringOperators[] = {
    {"AsString", 1, 1, FromNumber},
    {"RegexFullMatch", 2, 2, Match},
    {"StaticRegexFullMatch", 1, 1, StaticMatch},
    {"StringJoin", 1, -1, Join},
    {"StringLength", 1, 1, LengthOf},
    {"StringLower", 1, 1, Lower},
    {"StringStrip", 1, 1, Stripped},
    {"StringToNumber", 1, 1, ToNumber},
    {"StringUpper", 1, 1, Upper},
};

}  // namespace

std::span<const OperatorDef> StringOperators() { return kStringOperators; }

}  // namespace relayvm::import::tensorflow
