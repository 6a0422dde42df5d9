// Strings that only running tells: values of the graph of rank 0, or, where the graph has no such
// operator, unknown texts that only messages of errors may hold.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/onnx/strings.h"
#include "compiler/import/regex.h"
#include "compiler/import/torch/script_evaluator.h"
#include "compiler/import/torch/script_lists.h"

namespace relayvm::import::torch {

namespace {

// A regular expression of exactly these letters.
std::string Quoted(const std::string& text) {
  constexpr std::string_view kSpecial = "\\^$.|?*+()[]{}/-";
  std::string quoted;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

}  // namespace

// No value where it is none, or with an error.
Value Evaluator::TextValue(const Item& item) {
  if (item.is_string()) return Texts(b_, {item.plain.text}, {});
  if (item.is_text()) {
    if (item.plain.value) return item.plain.value;
    Unsupported("a string with what only running tells, for which there is no operator");
    return {};
  }
  if (item.is_tensor() && ReadTensor(item).dtype() == DType::kString) return ReadTensor(item);
  return {};
}

// Of no value: a text for messages.
Item Evaluator::TextItem(const Value& v) {
  if (TakeError()) return Item::Unknown();
  Argument a;
  a.kind = Argument::Kind::kSymString;
  a.value = v;
  return a;
}

// A number as Python writes it. Of floats there is no text but in messages.
Item Evaluator::TextOfNumber(const Item& item) {
  if (item.is_text()) return item;
  if (IsKnownText(item)) return Item::String(TextOf(item));
  if (!item.is_number()) return TextItem({});
  if (item.plain.is_int())
    return TextItem(b_.Op("string.from_number", {ScalarOf(item, DType::kInt64)}));
  if (item.plain.is_bool())
    return TextItem(b_.If(ScalarOf(item, DType::kBool), Texts(b_, {"True"}, {}),
                          Texts(b_, {"False"}, {}), ir::MakeScalarType(DType::kString)));
  return TextItem({});
}

Item Evaluator::ConcatTexts(const Item& x, const Item& y) {
  if (x.is_string() && y.is_string()) return Item::String(x.plain.text + y.plain.text);
  if (x.is_string() && x.plain.text.empty()) return y;
  if (y.is_string() && y.plain.text.empty()) return x;
  const auto is_message = [](const Item& item) {
    return item.is_text() && !item.is_string() && !item.plain.value;
  };
  if (is_message(x) || is_message(y)) return TextItem({});
  const Value p = TextValue(x), q = TextValue(y);
  if (!p || !q) return Item::Unknown();
  return TextItem(b_.Op("string.concat", {p, q}));
}

Item Evaluator::EqualTexts(const Item& x, const Item& y) {
  const Value p = TextValue(x), q = TextValue(y);
  if (!p || !q) return Item::Unknown();
  return Number(b_.Op("equal", {Ids(Term(b_, p)).value(), Ids(Term(b_, q)).value()}));
}

// A list of known strings as a vector of them; no value: it is none.
Value Evaluator::TextsOf(const std::vector<Item>& items) {
  if (items.empty() || !std::ranges::all_of(items, &Item::is_string)) return {};
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(item.plain.text);
  return Texts(b_, texts);
}

// What the dictionary holds under a key that only running tells, one after the other; `otherwise`
// makes what there is where there is no such key.
Item Evaluator::EntryAt(const Item& dict, const Item& key, const std::function<Item()>& otherwise) {
  const auto entries = dict.cell->content().entries;
  constexpr size_t kMost = 4096;
  if (entries.size() > kMost)
    return Unsupported("a dictionary of more than {} entries, by a key that only running tells",
                       kMost);
  // Numbers of known keys are a table.
  std::vector<Item> keys, values;
  for (const auto& [k, v] : entries) {
    keys.push_back(k);
    values.push_back(v);
  }
  const Value place = PlaceOfKey(keys, key);
  if (!place) return Item::Unknown();
  const Value last = b_.Int(static_cast<int64_t>(entries.size()));
  const Item found = Number(b_.Op("less", {place, last}));
  if (found.is(Item::Kind::kUnknown) || entries.empty()) return otherwise();
  if (!found.is_known_number()) {
    const Value safe = b_.Op("minimum", {place, b_.Int(static_cast<int64_t>(entries.size()) - 1)});
    const Item list = NewList(std::move(values));
    return Fork(found.plain.value, [&] { return ElementAt(list, Number(safe)); }, otherwise);
  }
  return found.plain.integer != 0 ? ElementAt(NewList(std::move(values)), Number(place))
                                  : otherwise();
}

Item Evaluator::EntryPresence(const Item& dict, const Item& key) {
  std::vector<Item> keys;
  for (const auto& [k, v] : dict.cell->content().entries) keys.push_back(k);
  const Value place = PlaceOfKey(keys, key);
  if (!place) return Item::Unknown();
  return Number(b_.Op("less", {place, b_.Int(static_cast<int64_t>(keys.size()))}));
}

// The place of a key among known ones (int64), and their number where it is none of them.
Value Evaluator::PlaceOfKey(const std::vector<Item>& keys, const Item& key) {
  std::vector<int64_t> ids;
  const bool texts = std::ranges::all_of(keys, &Item::is_string);
  const bool numbers = std::ranges::all_of(keys, &Item::is_known_int);
  if (keys.empty()) return b_.Int(0);
  if (texts && key.is_text()) {
    std::vector<std::string> all;
    for (const Item& k : keys) all.push_back(k.plain.text);
    const Value text = TextValue(key);
    if (!text) return {};
    return PlaceAmong(Ids(Term(b_, text)), IdsOf(b_, all)).value();
  }
  if (numbers && key.is_number() && !key.plain.is_float()) {
    for (const Item& k : keys) ids.push_back(k.plain.integer);
    return PlaceAmong(Term(b_, ScalarOf(key, DType::kInt64)), ids).value();
  }
  Unsupported("a key of a dictionary that only running tells");
  return {};
}

// Methods of strings that only running tells.
std::optional<Item> Evaluator::TextMethod(Args& a) {
  const std::string_view op = OwnScriptName(a.name);
  if (op == "join") return JoinTexts(a);
  if (a.size() < 1 || !a[0].is_text()) return std::nullopt;
  const Value x = TextValue(a[0]);
  if (!x) return Item::Unknown();
  const auto is_one_of = [&](const std::string& pattern) -> std::optional<Item> {
    const auto program = CompileRegex(pattern);
    if (!program.ok()) return Unsupported("{} of a string that only running tells", a.name);
    std::vector<int64_t> rows;
    for (const RegexStep& step : *program) rows.insert(rows.end(), {step.op, step.a, step.b});
    const Value steps = b_.Reshape(b_.Ints(rows), {static_cast<int64_t>(program->size()), 3});
    return Number(b_.Op("string.full_match", {x, steps}));
  };
  if (op == "lower" || op == "upper") {
    const Value words = b_.Op("string.normalize", {b_.Reshape(x, {1}), Texts(b_, {}, {0})},
                              {{"change_case", op == "lower" ? 1 : 2}, {"case_sensitive", true}});
    return TextItem(b_.Op("take", {words, b_.Int(0)}, {{"axis", 0}}));
  }
  const bool by_known = a.size() == 2 && a[1].is_string();
  if (op == "startswith" && by_known) return is_one_of(Quoted(a[1].plain.text) + "(.|\\n)*");
  if (op == "endswith" && by_known) return is_one_of("(.|\\n)*" + Quoted(a[1].plain.text));
  if (op == "__contains__" && by_known)
    return is_one_of("(.|\\n)*" + Quoted(a[1].plain.text) + "(.|\\n)*");
  if (op == "isdigit") return is_one_of("[0-9]+");
  if (op == "split" && a.size() >= 2 && a[1].is_string() && !a[1].plain.text.empty() &&
      (a.size() == 2 || a[2].is_known_int())) {
    const AttrInit most = {{"maxsplit", a.size() > 2 ? a[2].plain.integer : int64_t{-1}}};
    const Value by = Texts(b_, {a[1].plain.text}), row = b_.Reshape(x, {1});
    const Value count = b_.Op("string.split_count", {row, by}, most);
    auto columns = std::make_shared<Columns>();
    columns->element.form = Item::Form::kValue;
    columns->element.plain.kind = Argument::Kind::kSymString;
    columns->element.leaf_type = ir::MakeScalarType(DType::kString);
    columns->values = {b_.Reshape(b_.Op("string.split", {row, by, count}, most), {-1})};
    if (TakeError()) return Item::Unknown();
    return shapes_.ListOf(std::move(columns), ListOfType(SimpleType(ScriptType::Kind::kString)));
  }
  return Unsupported("{} of a string that only running tells", a.name);
}

// ",".join(l) where the elements, or how many there are, only running tells.
std::optional<Item> Evaluator::JoinTexts(Args& a) {
  if (a.size() != 2 || !a[0].is_text() || !a[1].is(Item::Kind::kList)) return std::nullopt;
  if (const std::vector<Item>* known = KnownItems(a[1])) {
    const std::vector<Item> items = *known;
    Item text = Item::String("");
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text = ConcatTexts(text, a[0]);
      text = ConcatTexts(text, TextOfNumber(items[i]));
    }
    return text;
  }
  const Columns* columns = ColumnsIn(a[1]);
  const Value between = TextValue(a[0]);
  if (columns == nullptr || columns->values.size() != 1 || !columns->values[0].is_tensor() ||
      columns->values[0].dtype() != DType::kString || columns->values[0].rank() != 1 || !between)
    return Unsupported("join of a list of what are no strings");
  const Value all = columns->values[0];
  const TypedBuilder::State made = RunLoop(
      b_, {Extent(b_, all, 0).value(),
           {},
           {Texts(b_, {""}, {})},
           [&](const Value& i, const TypedBuilder::State& state) {
             const Value next = b_.Op("take", {all, i}, {{"axis", 0}});
             const Value joined =
                 b_.Op("string.concat", {b_.Op("string.concat", {state[0], between}), next});
             return Turn{{}, {b_.If(b_.Op("less", {i, b_.Int(1)}), next, joined, next.type)}, {}};
           }});
  if (made.empty()) return Item::Unknown();
  return TextItem(made[0]);
}

}  // namespace relayvm::import::torch
