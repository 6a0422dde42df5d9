// Changes of lists and dictionaries.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/torch/script_evaluator.h"
#include "compiler/import/torch/script_lists.h"

namespace relayvm::import::torch {

// --- Changes ---

void Evaluator::AppendTo(const Item& list, const Item& element) {
  if (!Writable(list)) return;
  const CellContent& content = list.cell->content();
  if (content.columns == nullptr) {
    ChangeCell(list).items.push_back(element);
    return;
  }
  auto joined = shapes_.Joined(*content.columns, element);
  if (const std::string problem = shapes_.TakeProblem(); !problem.empty())
    Unsupported("append: {}", problem);
  if (!TakeError()) ChangeCell(list).columns = std::move(joined);
}

std::optional<Item> Evaluator::Append(Args& a) {
  if (a.size() != 2 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  AppendTo(a[0], a[1]);
  return a[0];
}

std::optional<Item> Evaluator::Extend(Args& a) {
  if (a.size() != 2 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  if (!Writable(a[0])) return Item::Unknown();
  if (const std::vector<Item>* known = KnownItems(a[1])) {
    const std::vector<Item> items = *known;
    for (const Item& item : items) AppendTo(a[0], item);
    return a[0];
  }
  Args both{"aten::add", {a[0], a[1]}, {}, nullptr};
  const auto sum = AddLists(both);
  if (sum && sum->is(Item::Kind::kList)) {
    CellContent content = sum->cell->content();
    ChangeCell(a[0]) = std::move(content);
  }
  return a[0];
}

std::optional<Item> Evaluator::Insert(Args& a) {
  if (a.size() != 3 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  if (!Writable(a[0])) return Item::Unknown();
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known != nullptr && a[1].is_known_int()) {
    const auto count = static_cast<int64_t>(known->size());
    int64_t i = a[1].plain.integer < 0 ? a[1].plain.integer + count : a[1].plain.integer;
    i = std::clamp<int64_t>(i, 0, count);
    auto& items = ChangeCell(a[0]).items;
    items.insert(items.begin() + i, a[2]);
    return Item::None();
  }
  const Columns* columns = ColumnsIn(a[0]);
  if (columns == nullptr || columns->values.size() != 1 || columns->values[0].is_tensor() ||
      !a[2].is_tensor())
    return Unsupported(
        "insert into a list of numbers, at a place or of a length that only running tells");
  auto joined = std::make_shared<Columns>(*columns);
  joined->values[0] = SequenceInsert(b_, columns->values[0], ReadTensor(a[2]),
                                     InputName(b_, ScalarOf(a[1], DType::kInt64), "insert"));
  if (!TakeError()) ChangeCell(a[0]).columns = std::move(joined);
  return Item::None();
}

// pop(i), del l[i], of lists and dictionaries.
std::optional<Item> Evaluator::Pop(Args& a) {
  if (a.size() < 1) return std::nullopt;
  if (a[0].is(Item::Kind::kDict)) {
    if (!Writable(a[0])) return Item::Unknown();
    const auto key = a.size() > 1 ? KeyIn(a[0], a[1]) : std::nullopt;
    if (a.size() > 1 && IsOpenKey(a[1])) return Item::Unknown();
    if (!key)
      return a.size() > 2 ? a[2]
                          : Raise("KeyError: " + (a.size() > 1 ? TextOf(a[1]) : std::string()));
    Item value = a[0].cell->content().entries[*key].second;
    auto& entries = ChangeCell(a[0]).entries;
    entries.erase(entries.begin() + static_cast<ptrdiff_t>(*key));
    return value;
  }
  if (!a[0].is(Item::Kind::kList)) return std::nullopt;
  if (!Writable(a[0])) return Item::Unknown();
  const Item index = a.size() > 1 ? a[1] : Item::Int(-1);
  Item value = ElementAt(a[0], index);
  if (Stopped() || value.is(Item::Kind::kUnknown)) return Item::Unknown();
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known != nullptr && index.is_known_int()) {
    const auto count = static_cast<int64_t>(known->size());
    auto& items = ChangeCell(a[0]).items;
    items.erase(items.begin() +
                (index.plain.integer < 0 ? index.plain.integer + count : index.plain.integer));
    return value;
  }
  auto left = std::make_shared<Columns>(*shapes_.ColumnsOf(a[0]));
  const Value at = ScalarOf(index, DType::kInt64);
  for (Value& v : left->values) {
    if (!v.is_tensor()) {
      v = SequenceErase(v, {b_, at, "pop"});
      continue;
    }
    const Value count = b_.DimOf(v, 0);
    const Value place = FromFront({b_, b_.Reshape(at, {1}), "pop"}, b_.Reshape(at, {1}), count),
                one = b_.Ints({1});
    const Value before = b_.Op("dyn.strided_slice", {v, b_.Ints({0}), place, one});
    const Value after = b_.Op("dyn.strided_slice", {v, b_.Op("add", {place, one}), count, one});
    v = b_.Concat({before, after}, 0);
  }
  if (TakeError()) return Item::Unknown();
  CellContent content;
  content.columns = std::move(left);
  ChangeCell(a[0]) = std::move(content);
  return value;
}

std::optional<Item> Evaluator::DeleteItem(Args& a) {
  auto popped = Pop(a);
  return popped ? std::optional(Item::None()) : std::nullopt;
}

std::optional<Item> Evaluator::RemoveOf(Args& a) {
  if (a.size() != 2 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  const auto at = IndexOf(a);
  if (!at || !at->is_known_int())
    return Stopped() ? Item::Unknown()
                     : Unsupported("remove of an element that only running tells");
  Args pop{"aten::pop", {a[0], *at}, {}, nullptr};
  Pop(pop);
  return Item::None();
}

std::optional<Item> Evaluator::SetItem(Args& a) {
  if (a.size() != 3) return std::nullopt;
  if (a[0].is(Item::Kind::kDict)) {
    if (!Writable(a[0])) return Item::Unknown();
    const auto key = KeyIn(a[0], a[1]);
    if (Stopped() || IsOpenKey(a[1])) return Item::Unknown();
    auto& entries = ChangeCell(a[0]).entries;
    if (key) {
      entries[*key].second = a[2];
    } else {
      entries.emplace_back(a[1], a[2]);
    }
    return Item::None();
  }
  if (!a[0].is(Item::Kind::kList)) return std::nullopt;
  if (!Writable(a[0])) return Item::Unknown();
  const std::vector<Item>* known = KnownItems(a[0]);
  if (known != nullptr && a[1].is_known_int()) {
    const auto count = static_cast<int64_t>(known->size());
    const int64_t i = a[1].plain.integer < 0 ? a[1].plain.integer + count : a[1].plain.integer;
    if (i < 0 || i >= count) return Raise("IndexError: list index out of range");
    ChangeCell(a[0]).items[static_cast<size_t>(i)] = a[2];
    return a[0];
  }
  if (IsGrowing(a[0])) return Unsupported("an element of a list that grows in this loop is set");
  auto columns = std::make_shared<Columns>(*shapes_.ColumnsOf(a[0]));
  TypedBuilder::State own;
  shapes_.Flatten(columns->element, a[2], &own);
  const Value at = ScalarOf(a[1], DType::kInt64);
  for (size_t i = 0; i < own.size() && i < columns->values.size(); ++i) {
    Value& v = columns->values[i];
    if (v.is_tensor()) {
      const Value place = FromFront({b_, b_.Reshape(at, {1}), "index of a list"},
                                    b_.Reshape(at, {1}), b_.DimOf(v, 0));
      v = b_.Op("scatter_nd", {v, b_.Reshape(place, {1, 1}), b_.ExpandDims(own[i], 0)});
      continue;
    }
    const Value length = SequenceLength(b_, v);
    const Value front = FromFront({b_, b_.Reshape(at, {1}), "index of a list"}, b_.Reshape(at, {1}),
                                  b_.Reshape(length, {1}));
    const InputName place(b_, b_.Reshape(front, {}), "index of a list");
    v = SequenceInsert(b_, SequenceErase(v, place), own[i], place);
  }
  if (const std::string problem = shapes_.TakeProblem(); !problem.empty())
    return Unsupported("an element of a list is set: {}", problem);
  if (TakeError()) return Item::Unknown();
  CellContent content;
  content.columns = std::move(columns);
  ChangeCell(a[0]) = std::move(content);
  return a[0];
}

std::optional<Item> Evaluator::Clear(Args& a) {
  if (a.size() != 1 || a[0].cell == nullptr) return std::nullopt;
  if (Writable(a[0])) ChangeCell(a[0]) = CellContent();
  return Item::None();
}

std::optional<Item> Evaluator::Reversed(Args& a) {
  if (a.size() != 1 || !a[0].is(Item::Kind::kList)) return std::nullopt;
  if (!Writable(a[0])) return Item::Unknown();
  if (KnownItems(a[0]) != nullptr) {
    auto& items = ChangeCell(a[0]).items;
    std::ranges::reverse(items);
    return Item::None();
  }
  const Columns* columns = ColumnsIn(a[0]);
  if (columns == nullptr) return Unsupported("reverse of a list that grows in this loop");
  auto back = std::make_shared<Columns>(*columns);
  const Value length = shapes_.LengthOf(*back);
  for (Value& v : back->values) {
    v = v.is_tensor() ? b_.Op("reverse", {v}, {{"axis", 0}})
                      : shapes_.PartOf(v, b_.Op("subtract", {length, b_.Int(1)}), length, -1);
  }
  if (!TakeError()) ChangeCell(a[0]).columns = std::move(back);
  return Item::None();
}

}  // namespace relayvm::import::torch
