// What a converter reads of its node.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bytecode/base/printable.h"
#include "compiler/import/checked.h"
#include "compiler/import/mxnet/attributes.h"
#include "compiler/import/mxnet/graph_importer.h"

namespace relayvm::import::mxnet {

namespace {

template <typename T>
std::optional<std::vector<T>> NumbersOf(std::string_view text,
                                        std::optional<T> (*parse)(std::string_view)) {
  const auto parts = ParseTuple(text);
  if (!parts) return std::nullopt;
  std::vector<T> out;
  for (const std::string_view part : *parts) {
    const auto number = parse(part);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

std::optional<std::vector<int64_t>> IntsOf(std::string_view text) {
  return NumbersOf<int64_t>(text, ParseInt);
}
std::optional<std::vector<double>> FloatsOf(std::string_view text) {
  return NumbersOf<double>(text, ParseFloat);
}

}  // namespace

TypedBuilder& Node::b() const { return importer_.b(); }
bool Node::np_shape() const { return importer_.np_shape(); }

const std::string* Node::Find(std::string_view name) const {
  const auto at = node_.attrs.find(name);
  return at == node_.attrs.end() ? nullptr : &at->second;
}

template <typename T>
T Node::Read(std::string_view name, T fallback, std::optional<T> (*parse)(std::string_view),
             std::string_view expected) {
  const std::string* text = Find(name);
  if (text == nullptr || IsNoneText(*text)) return fallback;
  if (auto value = parse(*text)) return *std::move(value);
  constexpr size_t kShown = 80;
  Fail("attribute {}: expected {}, found '{}'", name, expected, Printable(text->substr(0, kShown)));
  return fallback;
}

bool Node::HasAttr(std::string_view name) const {
  const std::string* text = Find(name);
  return text != nullptr && !IsNoneText(*text);
}
bool Node::IsNone(std::string_view name) const {
  const std::string* text = Find(name);
  return text != nullptr && IsNoneText(*text);
}
std::string Node::Text(std::string_view name, std::string_view fallback) {
  const std::string* text = Find(name);
  return text == nullptr || IsNoneText(*text) ? std::string(fallback) : *text;
}
bool Node::Bool(std::string_view name, bool fallback) {
  return Read(name, fallback, ParseBool, "True or False");
}
int64_t Node::Int(std::string_view name, int64_t fallback) {
  return Read(name, fallback, ParseInt, "a whole number");
}
int64_t Node::Count(std::string_view name, int64_t fallback) {
  const int64_t count = Int(name, fallback);
  if (count >= 0 && count <= INT32_MAX) return count;
  Fail("attribute {}: expected 0 to 2^31 - 1, found {}", name, count);
  return 0;
}
double Node::Float(std::string_view name, double fallback) {
  return Read(name, fallback, ParseFloat, "a number");
}
std::optional<int64_t> Node::MaybeInt(std::string_view name) {
  return HasAttr(name) ? std::optional(Int(name, 0)) : std::nullopt;
}
std::optional<double> Node::MaybeFloat(std::string_view name) {
  return HasAttr(name) ? std::optional(Float(name, 0)) : std::nullopt;
}
std::vector<int64_t> Node::Ints(std::string_view name, std::vector<int64_t> fallback) {
  return Read(name, std::move(fallback), IntsOf, "whole numbers such as (1, 2)");
}
std::vector<int64_t> Node::Counts(std::string_view name, std::vector<int64_t> fallback) {
  std::vector<int64_t> counts = Ints(name, std::move(fallback));
  for (int64_t& c : counts) {
    if (c >= INT32_MIN && c <= INT32_MAX) continue;
    Fail("attribute {}: {} is out of range", name, c);
    c = 1;
  }
  return counts;
}
std::optional<std::vector<int64_t>> Node::MaybeInts(std::string_view name) {
  return HasAttr(name) ? std::optional(Ints(name)) : std::nullopt;
}
std::vector<std::optional<int64_t>> Node::IntsOrNone(std::string_view name) {
  using MaybeInts = std::vector<std::optional<int64_t>>;
  const auto parse = [](std::string_view text) -> std::optional<MaybeInts> {
    const auto parts = ParseTuple(text);
    if (!parts) return std::nullopt;
    MaybeInts out;
    for (const std::string_view part : *parts) {
      out.push_back(ParseInt(part));
      if (!out.back() && !IsNoneText(part)) return std::nullopt;
    }
    return out;
  };
  return Read<MaybeInts>(name, {}, parse, "numbers or None");
}
std::vector<double> Node::Floats(std::string_view name, std::vector<double> fallback) {
  return Read(name, std::move(fallback), FloatsOf, "numbers such as (0.5, 1)");
}
DType Node::Type(std::string_view name, DType fallback) {
  return Read(name, fallback, ParseType, "a dtype such as float32");
}

std::string Node::Choice(std::string_view name, std::string_view fallback,
                         std::initializer_list<std::string_view> choices) {
  const std::string text = Text(name, fallback);
  if (std::ranges::find(choices, text) != choices.end()) return text;
  Unsupported("attribute {}: expected {}, found '{}'", name, fmt::join(choices, ", "),
              Printable(text));
  return std::string(fallback);
}

int Node::Axis(int64_t axis, int rank) { return AxisIn(b(), axis, rank); }
std::vector<int64_t> Node::Axes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int64_t> out;
  for (const int64_t axis : axes) out.push_back(Axis(axis, rank));
  return out;
}

// --- Subgraphs ---

size_t Node::NumSubgraphInputs(size_t i) const {
  return i >= node_.subgraphs.size() ? 0
                                     : static_cast<size_t>(std::ranges::count_if(
                                           node_.subgraphs[i].nodes, &SymbolNode::is_variable));
}
size_t Node::NumSubgraphNodes(size_t i) const {
  return i >= node_.subgraphs.size() ? 0 : node_.subgraphs[i].num_nodes();
}
std::vector<Value> Node::Subgraph(size_t i, const std::vector<Value>& variables,
                                  const std::map<size_t, Value>& known) {
  const std::vector<Value> out = importer_.ConvertSubgraph(node_.subgraphs[i], variables, known);
  return b().status().ok() ? out : std::vector<Value>();
}

std::vector<Value> Node::As(std::string_view op, std::vector<Value> inputs) {
  Node other(importer_, node_, std::move(inputs));
  return FindOperator(op)->convert(other);
}

// --- Checks ---

bool Node::ExpectRank(const Value& v, int rank, std::string_view what) {
  if (v.is_tensor() && v.rank() == rank) return true;
  Fail("{}: expected rank {}, found {}", what, rank, v.rank());
  return false;
}
bool Node::FitsShape(const Value& v, const std::vector<Dim>& shape, std::string_view what) {
  return import::FitsShape(b(), v, shape, what);
}

void Node::NoteOrigins(const Value& v, std::vector<Value> origins) {
  importer_.NoteOrigins(v, std::move(origins));
}
std::vector<Value> Node::OriginsOf(const Value& v) const { return importer_.OriginsOf(v); }
void Node::Warn(std::string_view what) { importer_.Warn(what); }

std::string Node::InputText(size_t i, std::string_view what) const {
  const std::string name = i < node_.inputs.size() ? importer_.NameOf(node_.inputs[i]) : "";
  return name.empty() ? std::string(what) : fmt::format("{} '{}'", what, Printable(name));
}
ir::Span Node::InputSpan(size_t, std::string_view what) const {
  return importer_.SpanOf(node_, what);
}

}  // namespace relayvm::import::mxnet
