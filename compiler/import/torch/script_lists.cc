// Lists: those of known length are items by themselves; others are columns (script_item.h).
#include "compiler/import/torch/script_lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

// Whether what the cell holds is seen whole: an error where it is not.
bool Evaluator::Readable(const Item& item) {
  for (const auto& [other, version] : item.cell->made_of) {
    const auto cell = other.lock();
    if (cell == nullptr || cell->version == version) continue;
    Unsupported("a list or an object is read that a branch chose, of which one was changed since");
    return false;
  }
  return true;
}

bool Evaluator::Writable(const Item& item) {
  if (item.cell->is_copy) {
    Unsupported(
        "a list or an object is changed that is held by an optional value, or by a list, of which "
        "only running tells");
    return false;
  }
  if (!item.cell->made_of.empty()) {
    Unsupported("a list or an object is changed of which a branch chose which it is");
    return false;
  }
  return true;
}

CellContent& Evaluator::ChangeCell(const Item& item) {
  if (!item.cell->path.empty()) {
    // The attribute that holds it, or what holds that, is state.
    std::string path = item.cell->path;
    while (!path.empty() && !holders_.contains(path))
      path = path.substr(0, path.rfind('.') == std::string::npos ? 0 : path.rfind('.'));
    if (!path.empty()) written_.insert(path);
  }
  return heap_.Change(*item.cell);
}

const std::vector<Item>* Evaluator::KnownItems(const Item& list) {
  if (list.is(Item::Kind::kTuple)) return &list.items;
  if (!list.is(Item::Kind::kList)) return nullptr;
  ++list.cell->reads;
  const CellContent& content = list.cell->content();
  return content.columns == nullptr && content.growing == nullptr ? &content.items : nullptr;
}

Item Evaluator::NewList(std::vector<Item> items, ScriptType type) {
  Item list;
  list.kind = Item::Kind::kList;
  list.type =
      type.kind == ScriptType::Kind::kAny ? SimpleType(ScriptType::Kind::kList) : std::move(type);
  CellContent content;
  content.items = std::move(items);
  list.cell = heap_.New(std::move(content));
  return list;
}

Item Evaluator::LengthOf(const Item& item) {
  if (item.is(Item::Kind::kTuple)) return Item::Int(static_cast<int64_t>(item.items.size()));
  if (item.is_string()) return Item::Int(static_cast<int64_t>(item.plain.text.size()));
  if (item.is_text()) return Unsupported("the length of a string that only running tells");
  if (item.is(Item::Kind::kDict))
    return Item::Int(static_cast<int64_t>(item.cell->content().entries.size()));
  if (item.is_tensor()) {
    const Value v = ReadTensor(item);
    return v.rank() == 0 ? Raise("TypeError: len() of a 0-d tensor")
                         : Number(Extent(b_, v, 0).value());
  }
  if (item.is(Item::Kind::kObject)) {
    const ScriptFile* file = nullptr;
    if (MethodOf(item, "__len__", &file) != nullptr) return CallMethod(item, "__len__", {});
    int64_t count = 0;
    while (item.cell->content().attributes.contains(fmt::format("{}", count))) ++count;
    return Item::Int(count);
  }
  if (!item.is(Item::Kind::kList)) return Unsupported("the length of what is no list");
  if (!Readable(item)) return Item::Unknown();
  const CellContent& content = item.cell->content();
  if (content.growing != nullptr) {
    const auto fixed = static_cast<int64_t>(content.growing->before.size() + content.items.size());
    return Number(b_.Op("add", {content.growing->turns, b_.Int(fixed)}));
  }
  if (content.columns != nullptr) return Number(shapes_.LengthOf(*content.columns));
  return Item::Int(static_cast<int64_t>(content.items.size()));
}

std::optional<Item> Evaluator::Length(Args& a) {
  if (a.size() != 1) return std::nullopt;
  return LengthOf(a[0]);
}

Item Evaluator::ElementAt(const Item& list, const Item& index) {
  const std::vector<Item>* known = KnownItems(list);
  if (list.is(Item::Kind::kList) && !Readable(list)) return Item::Unknown();
  if (IsGrowing(list)) return Unsupported("an element of a list that grows in this loop");
  if (known != nullptr && index.is_known_int()) {
    const auto count = static_cast<int64_t>(known->size());
    const int64_t i = index.plain.integer < 0 ? index.plain.integer + count : index.plain.integer;
    if (i < 0 || i >= count) return Raise("IndexError: list index out of range");
    return (*known)[static_cast<size_t>(i)];
  }
  if (!index.is_number()) return Fail("an index of a list that is no number");
  if (known != nullptr) {
    if (known->empty()) return Raise("IndexError: list index out of range");
    if (known->size() == 1) return (*known)[0];
  }
  if (const Value texts = known != nullptr ? TextsOf(*known) : Value{}) {
    const Value at =
        FromFront({b_, b_.Reshape(ScalarOf(index, DType::kInt64), {1}), "index of a list"},
                  b_.Reshape(ScalarOf(index, DType::kInt64), {1}), b_.DimOf(texts, 0));
    return TextItem(b_.Op("take", {texts, b_.Reshape(at, {})}, {{"axis", 0}}));
  }
  const auto columns = shapes_.ColumnsOf(list);
  if (const std::string problem = shapes_.TakeProblem();
      !problem.empty() || columns->values.empty()) {
    // Elements that have no type in common: one after the other.
    if (known == nullptr || known->size() > 64)
      return Unsupported(
          "an element, of which only running tells which it is, of a list whose elements differ: "
          "{}",
          problem);
    static_cast<void>(TakeError());
    const std::vector<Item> items = *known;
    const Value value = ScalarOf(index, DType::kInt64);
    Item chosen = items.back();
    const auto count = static_cast<int64_t>(items.size());
    for (int64_t i = count - 1; i-- > 0;) {
      Item either;
      either.kind = Item::Kind::kEither;
      either.condition = b_.Op("logical_or", {b_.Op("equal", {value, b_.Int(i)}),
                                              b_.Op("equal", {value, b_.Int(i - count)})});
      either.items = {items[static_cast<size_t>(i)], std::move(chosen)};
      chosen = std::move(either);
    }
    return chosen;
  }
  Item element = shapes_.ElementAt(*columns, ScalarOf(index, DType::kInt64));
  if (TakeError()) return Item::Unknown();
  return element;
}

std::optional<Item> Evaluator::GetItem(Args& a) {
  if (a.size() != 2) return std::nullopt;
  const Item &x = a[0], &index = a[1];
  if (x.is(Item::Kind::kTuple) || x.is(Item::Kind::kList)) return ElementAt(x, index);
  if (x.is_string() && index.is_known_int()) {
    const auto count = static_cast<int64_t>(x.plain.text.size());
    const int64_t i = index.plain.integer < 0 ? index.plain.integer + count : index.plain.integer;
    if (i < 0 || i >= count) return Raise("string index out of range");
    return Item::String(std::string(1, x.plain.text[static_cast<size_t>(i)]));
  }
  if (x.is(Item::Kind::kDict)) {
    if (!Readable(x)) return Item::Unknown();
    if (IsOpenKey(index))
      return EntryAt(x, index, [&] { return Raise(fmt::format("KeyError: {}", TextOf(index))); });
    const auto key = KeyIn(x, index);
    if (Stopped()) return Item::Unknown();
    if (!key)
      return index.is_known_number() || index.is_string() || index.is_tensor()
                 ? Raise(fmt::format("KeyError: {}", TextOf(index)))
                 : Item::Unknown();
    return x.cell->content().entries[*key].second;
  }
  if (x.is(Item::Kind::kObject)) return ModuleAt(x, index);
  return std::nullopt;
}

std::optional<Item> Evaluator::TupleIndex(Args& a) { return GetItem(a); }

// --- New lists ---

// slice(l, start, end, step), of lists, tuples and strings.
std::optional<Item> Evaluator::SliceOf(Args& a) {
  if (a.size() < 1 || a[0].is_tensor() || a[0].is_number()) return std::nullopt;
  const auto number = [&](size_t i, int64_t fallback) -> std::optional<int64_t> {
    if (a.size() <= i || a[i].is_none()) return fallback;
    return a[i].is_known_int() ? std::optional(a[i].plain.integer) : std::nullopt;
  };
  constexpr int64_t kFar = int64_t{1} << 62;
  const auto step = number(3, 1);
  if (step && *step == 0) return Raise("slice step cannot be zero");
  const auto start = step && *step < 0 ? number(1, kFar) : number(1, 0),
             end = step && *step < 0 ? number(2, -kFar) : number(2, kFar);
  const std::vector<Item>* known = KnownItems(a[0]);
  if (a[0].is_string() || (known != nullptr && start && end && step)) {
    if (!start || !end || !step) return Unsupported("a part of a string that only running tells");
    const auto count =
        static_cast<int64_t>(a[0].is_string() ? a[0].plain.text.size() : known->size());
    const auto place = [&](int64_t i) {
      if (i < 0) i += count;
      return *step > 0 ? std::clamp<int64_t>(i, 0, count) : std::clamp<int64_t>(i, -1, count - 1);
    };
    std::string text;
    std::vector<Item> items;
    const int64_t last = *end <= -kFar ? -1 : place(*end);
    for (int64_t i = place(*start); *step > 0 ? i < last : i > last; i += *step) {
      if (a[0].is_string()) {
        text += a[0].plain.text[static_cast<size_t>(i)];
      } else {
        items.push_back((*known)[static_cast<size_t>(i)]);
      }
    }
    if (a[0].is_string()) return Item::String(std::move(text));
    return a[0].is(Item::Kind::kTuple) ? Item::Tuple(std::move(items))
                                       : NewList(std::move(items), a[0].type);
  }
  if (a[0].is_text()) return Unsupported("a part of a string that only running tells");
  if (!a[0].is(Item::Kind::kList)) return std::nullopt;
  if (IsGrowing(a[0])) return Unsupported("a part of a list that grows in this loop");
  auto part = std::make_shared<Columns>(*shapes_.ColumnsOf(a[0]));
  if (!step) return Unsupported("a part of a list by a step that only running tells");
  // Places are cut to the list.
  const Value length = shapes_.LengthOf(*part), zero = b_.Int(0),
              last = b_.Op("subtract", {length, b_.Int(1)});
  const bool up = *step > 0;
  const auto limit = [&](size_t i, const Value& fallback) {
    if (a.size() <= i || a[i].is_none()) return fallback;
    const Value given = ScalarOf(a[i], DType::kInt64);
    const Value front =
        b_.Op("where", {b_.Op("less", {given, zero}), b_.Op("add", {given, length}), given});
    return b_.Op("minimum",
                 {b_.Op("maximum", {front, up ? zero : b_.Int(-1)}), up ? length : last});
  };
  const Value from = limit(1, up ? zero : last), to = limit(2, up ? length : b_.Int(-1));
  const Value span = up ? b_.Op("subtract", {to, from}) : b_.Op("subtract", {from, to});
  const int64_t size = up ? *step : -*step;
  const Value count =
      b_.Op("maximum",
            {b_.Op("floor_divide", {b_.Op("add", {span, b_.Int(size - 1)}), b_.Int(size)}), zero});
  for (Value& v : part->values) v = shapes_.PartOf(v, from, count, *step);
  if (TakeError()) return Item::Unknown();
  return shapes_.ListOf(std::move(part), a[0].type);
}

std::optional<Item> Evaluator::ListCopy(Args& a) {
  if (a.size() == 0) return NewList({});
  if (a[0].is_string()) {
    std::vector<Item> letters;
    for (const char c : a[0].plain.text) letters.push_back(Item::String(std::string(1, c)));
    return NewList(std::move(letters), ListOfType(SimpleType(ScriptType::Kind::kString)));
  }
  if (a[0].is(Item::Kind::kTuple)) return NewList(a[0].items);
  if (!a[0].is(Item::Kind::kList)) return std::nullopt;
  Item copy = a[0];
  KnownItems(a[0]);
  copy.cell = heap_.New(a[0].cell->content());
  return copy;
}

// l + m, l * n, l += m, and strings.
std::optional<Item> Evaluator::AddLists(Args& a) {
  const bool times = a.name.ends_with("mul") || a.name.ends_with("mul_");
  if (!times && a[0].is_text() && a[1].is_text()) return ConcatTexts(a[0], a[1]);
  if (times && (a[0].is(Item::Kind::kList) || a[1].is(Item::Kind::kList))) {
    const Item& list = a[0].is(Item::Kind::kList) ? a[0] : a[1];
    const Item& count = a[0].is(Item::Kind::kList) ? a[1] : a[0];
    const std::vector<Item>* known = KnownItems(list);
    constexpr int64_t kMostElements = 1 << 20;
    if (!IsGrowing(list) && count.is_number() && (known == nullptr || !count.is_known_int())) {
      auto columns = std::make_shared<Columns>(*shapes_.ColumnsOf(list));
      const bool rows = std::ranges::all_of(
          columns->values, [](const Value& v) { return v.is_tensor() && v.rank() == 1; });
      if (rows && !columns->values.empty()) {
        const Value times = b_.Op("maximum", {ScalarOf(count, DType::kInt64), b_.Int(0)});
        for (Value& v : columns->values) {
          const Value length = Extent(b_, v, 0).value();
          const Term all = Range(Term(b_, b_.Op("multiply", {times, length})));
          v = b_.Op("take", {v, b_.Op("floor_mod", {all.value(), length})}, {{"axis", 0}});
        }
        if (TakeError()) return Item::Unknown();
        return shapes_.ListOf(std::move(columns), list.type);
      }
    }
    if (known == nullptr || !count.is_known_int())
      return Unsupported("a list repeated a number of times that only running tells");
    if (count.plain.integer > 0 &&
        static_cast<int64_t>(known->size()) > kMostElements / count.plain.integer)
      return Unsupported("a list of more than {} elements", kMostElements);
    std::vector<Item> items;
    for (int64_t i = 0; i < count.plain.integer; ++i)
      items.insert(items.end(), known->begin(), known->end());
    return NewList(std::move(items), list.type);
  }
  if (!a[0].is(Item::Kind::kList) || !a[1].is(Item::Kind::kList)) return std::nullopt;
  if (a.name.ends_with("add_")) {
    Args extend{"aten::extend", {a[0], a[1]}, {}, nullptr};
    return Extend(extend);
  }
  const std::vector<Item>*p = KnownItems(a[0]), *q = KnownItems(a[1]);
  if (p != nullptr && q != nullptr) {
    std::vector<Item> items = *p;
    items.insert(items.end(), q->begin(), q->end());
    return NewList(std::move(items), a[0].type.arguments.empty() ? a[1].type : a[0].type);
  }
  if (IsGrowing(a[0]) || IsGrowing(a[1]))
    return Unsupported("a sum of lists of which one grows in this loop");
  if (q != nullptr) {
    auto columns = shapes_.ColumnsOf(a[0]);
    const std::vector<Item> items = *q;
    for (const Item& item : items) columns = shapes_.Joined(*columns, item);
    return shapes_.ListOf(std::move(columns), a[0].type);
  }
  auto x = shapes_.ColumnsOf(a[0]), y = shapes_.ColumnsOf(a[1]);
  if (x->values.empty()) return shapes_.ListOf(y, a[1].type);
  auto joined = std::make_shared<Columns>(*x);
  joined->element = shapes_.Widen(x->element, y->element);
  for (size_t i = 0; i < joined->values.size() && i < y->values.size(); ++i) {
    joined->values[i] = shapes_.ConcatColumns(joined->values[i], y->values[i]);
  }
  if (TakeError()) return Item::Unknown();
  return shapes_.ListOf(std::move(joined), a[0].type);
}

// sorted(l), l.sort(reverse).
std::optional<Item> Evaluator::Sorted(Args& a) {
  if (a.size() < 1 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  const bool in_place = a.name == "aten::sort";
  const bool descending = (a.size() > 1 && a[1].is_known_number() && a[1].plain.number() != 0) ||
                          (a.keywords.size() == 1 && a.keywords[0].second.is_known_number() &&
                           a.keywords[0].second.plain.number() != 0);
  if (in_place && !Writable(a[0])) return Item::Unknown();
  CellContent content;
  if (const std::vector<Item>* known = KnownItems(a[0])) {
    content.items = *known;
    const bool numbers = std::ranges::all_of(content.items, &Item::is_known_number),
               strings = std::ranges::all_of(content.items, &Item::is_string);
    if (numbers || strings) {
      std::ranges::stable_sort(content.items, [&](const Item& x, const Item& y) {
        const Item &p = descending ? y : x, &q = descending ? x : y;
        return strings ? p.plain.text < q.plain.text : p.plain.number() < q.plain.number();
      });
    } else if (!std::ranges::all_of(content.items, &Item::is_number)) {
      return Unsupported("sort of a list of what are no numbers or known strings");
    }
    if (!numbers && !strings) content.columns = shapes_.ColumnsOf(a[0]);
    if (content.columns != nullptr) content.items.clear();
  } else {
    content.columns = a[0].cell->content().columns;
  }
  if (content.columns != nullptr) {
    if (content.columns->values.size() != 1 || !content.columns->values[0].is_tensor())
      return Unsupported("sort of a list of tensors");
    auto sorted = std::make_shared<Columns>(*content.columns);
    sorted->values[0] =
        b_.Op("sort", {sorted->values[0]}, {{"axis", 0}, {"is_ascend", !descending}});
    content.columns = std::move(sorted);
  }
  if (TakeError()) return Item::Unknown();
  if (in_place) {
    ChangeCell(a[0]) = std::move(content);
    return Item::None();
  }
  Item list = a[0];
  list.cell = heap_.New(std::move(content));
  return list;
}

// --- Questions ---

std::optional<Item> Evaluator::Contains(Args& a) {
  if (a.size() != 2) return std::nullopt;
  if (a[0].is_string() && a[1].is_string())
    return Item::Bool(a[0].plain.text.find(a[1].plain.text) != std::string::npos);
  if (a[0].is_text()) return TextMethod(a);
  if (a[0].is(Item::Kind::kDict) && IsOpenKey(a[1])) return EntryPresence(a[0], a[1]);
  if (a[0].is(Item::Kind::kDict)) {
    const auto key = KeyIn(a[0], a[1]);
    return Stopped() ? Item::Unknown() : Item::Bool(key.has_value());
  }
  if (a[0].is(Item::Kind::kObject))
    return a[1].is_string() ? Item::Bool(a[0].cell->content().attributes.contains(a[1].plain.text))
                            : Unsupported("whether a module has what only running tells");
  if (!a[0].is(Item::Kind::kList)) return std::nullopt;
  if (const Value* numbers = NumbersIn(a[0]))
    return Number(b_.Op("any", {b_.Op("equal", {*numbers, ScalarOf(a[1], numbers->dtype())})}));
  if (const Columns* columns = ColumnsIn(a[0]);
      columns != nullptr && columns->element.is_text() && a[1].is_text()) {
    const Value text = TextValue(a[1]);
    if (!text) return Item::Unknown();
    return Number(b_.Op("any", {b_.Op("equal", {b_.Op("string.id", {columns->values[0]}),
                                                b_.Op("string.id", {text})})}));
  }
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known == nullptr)
    return Unsupported("whether a list of a length that only running tells has an element");
  const std::vector<Item> items = *known;
  Item any = Item::Bool(false);
  for (const Item& item : items)
    any = CallOperator("aten::__or__", {"", {any, EqualItems(item, a[1])}, {}, nullptr});
  return any;
}

std::optional<Item> Evaluator::IndexOf(Args& a) {
  if (a.size() != 2 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known == nullptr)
    return Unsupported("the place of an element in a list of a length that only running tells");
  const std::vector<Item> items = *known;
  for (size_t i = 0; i < items.size(); ++i) {
    const Item same = EqualItems(items[i], a[1]);
    if (!same.is_known_number())
      return Unsupported("the place of an element that only running tells");
    if (same.plain.integer != 0) return Item::Int(static_cast<int64_t>(i));
  }
  return Raise(fmt::format("ValueError: {} is not in list", TextOf(a[1])));
}

std::optional<Item> Evaluator::CountOf(Args& a) {
  if (a.size() != 2) return std::nullopt;
  if (a[0].is_string()) return StringMethod(a);
  if (!a[0].is(Item::Kind::kList)) return std::nullopt;
  if (const Value* numbers = NumbersIn(a[0]))
    return Number(b_.Op(
        "sum",
        {b_.Cast(b_.Op("equal", {*numbers, ScalarOf(a[1], numbers->dtype())}), DType::kInt64)}));
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known == nullptr)
    return Unsupported("how often a list of a length that only running tells has an element");
  const std::vector<Item> items = *known;
  Item count = Item::Int(0);
  for (const Item& item : items)
    count = CallOperator(
        "aten::add",
        {"", {count, NumberAs(EqualItems(item, a[1]), ScriptType::Kind::kInt)}, {}, nullptr});
  return count;
}

std::optional<Item> Evaluator::SumOf(Args& a) {
  if (a.size() != 1 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  if (const Value* numbers = NumbersIn(a[0]))
    return Number(b_.Op(
        "sum", {numbers->dtype() == DType::kBool ? b_.Cast(*numbers, DType::kInt64) : *numbers}));
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known == nullptr) return std::nullopt;
  const std::vector<Item> items = *known;
  Item sum = Item::Int(0);
  for (const Item& item : items) sum = CallOperator("aten::add", {"", {sum, item}, {}, nullptr});
  return sum;
}

std::optional<Item> Evaluator::AnyAll(Args& a) {
  if (a.size() != 1 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  const bool any = a.name.ends_with("any");
  if (const Value* numbers = NumbersIn(a[0]))
    return Number(b_.Op(any ? "any" : "all", {b_.Cast(*numbers, DType::kBool)}));
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known == nullptr) return std::nullopt;
  const std::vector<Item> items = *known;
  Item result = Item::Bool(!any);
  for (const Item& item : items)
    result = CallOperator(any ? "aten::__or__" : "aten::__and__",
                          {"", {result, NumberAs(item, ScriptType::Kind::kBool)}, {}, nullptr});
  return result;
}

}  // namespace relayvm::import::torch
