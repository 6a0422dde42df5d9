// Lists and tensors of each other, and dictionaries.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/torch/script_evaluator.h"
#include "compiler/import/torch/script_lists.h"

namespace relayvm::import::torch {

// --- Lists and tensors ---

// torch.tensor(l), as_tensor(l) of numbers whose number only running tells.
std::optional<Item> Evaluator::TensorOfList(Args& a) {
  if (a.size() < 1) return std::nullopt;
  const Value* numbers = NumbersIn(a[0]);
  if (numbers == nullptr) return std::nullopt;
  DType dtype = numbers->dtype() == DType::kFloat64 ? DType::kFloat32 : numbers->dtype();
  for (const auto& [name, value] : a.keywords) {
    if (name == "dtype" && value.is_known_int())
      dtype = DTypeOfTorch(value.plain.integer).value_or(dtype);
  }
  if (a.size() > 1 && a[1].is_known_int()) dtype = DTypeOfTorch(a[1].plain.integer).value_or(dtype);
  return Item(aliases_.Fresh(b_.Cast(*numbers, dtype)));
}

// stack and cat of what a loop has collected: its rows as they are.
std::optional<Item> Evaluator::StackOfRows(Args& a) {
  if (a.size() < 1) return std::nullopt;
  const Columns* columns = ColumnsIn(a[0]);
  if (columns == nullptr || columns->values.size() != 1 || !columns->element.plain.is_tensor() ||
      !columns->values[0].is_tensor())
    return std::nullopt;
  const Value& rows = columns->values[0];
  Item axis_item = a.size() > 1 ? a[1] : Item::Int(0);
  for (const auto& [name, value] : a.keywords) {
    if (name == "dim") axis_item = value;
  }
  if (!axis_item.is_known_int() || columns->element.plain.complex ||
      columns->element.plain.quantised != nullptr)
    return std::nullopt;
  const bool stacks = a.name.ends_with("stack");
  const int rank = stacks ? rows.rank() : rows.rank() - 1;
  const int axis = AxisIn(b_, axis_item.plain.integer, rank);
  if (TakeError()) return Item::Unknown();
  Value moved = b_.Transpose(rows, AxisMoved(rows.rank(), 0, axis));
  if (!stacks) {
    std::vector<Value> dims;
    for (int i = 0; i < moved.rank(); ++i) {
      if (i == axis) {
        dims.push_back(b_.Op("multiply", {b_.DimOf(moved, i), b_.DimOf(moved, i + 1)}));
        ++i;
      } else {
        dims.push_back(b_.DimOf(moved, i));
      }
    }
    moved = ShapedAs(b_, moved, dims);
  }
  return Item(aliases_.Fresh(moved));
}

Item Evaluator::ToList(const Item& tensor, const ScriptType& type) {
  if (!tensor.is_tensor()) return Unsupported("tolist of what is no tensor");
  const Value v = ReadTensor(tensor);
  const bool is_float = IsFloat(v.dtype());
  const DType dtype = v.dtype() == DType::kBool ? DType::kBool
                      : is_float                ? DType::kFloat64
                                                : DType::kInt64;
  SetPlace("tolist");
  if (v.rank() == 0) return Number(b_.Cast(v, dtype));
  const ScriptType inner = type.is(ScriptType::Kind::kList) ? type.element() : ScriptType();
  if (v.rank() == 1) {
    auto columns = std::make_shared<Columns>();
    columns->element.form = Item::Form::kValue;
    columns->element.plain.kind = dtype == DType::kBool ? Argument::Kind::kSymBool
                                  : is_float            ? Argument::Kind::kSymFloat
                                                        : Argument::Kind::kSymInt;
    columns->element.leaf_type = ir::MakeScalarType(dtype);
    const Value cast = b_.Cast(v, dtype);
    // Few that are known one by one are.
    constexpr int64_t kFew = 16;
    if (const auto scalars = v.dim(0).is_const() && v.dim(0).value() <= kFew && !is_float
                                 ? b_.ScalarsOf(cast)
                                 : std::nullopt) {
      std::vector<Item> items;
      for (const Value& s : *scalars) items.push_back(Number(s));
      return NewList(std::move(items), type);
    }
    columns->values = {cast};
    if (TakeError()) return Item::Unknown();
    return shapes_.ListOf(std::move(columns), type);
  }
  if (!v.dim(0).is_const())
    return Unsupported("tolist of a tensor of rank {} whose first extent only running tells",
                       v.rank());
  std::vector<Item> rows;
  for (int64_t i = 0; i < v.dim(0).value() && !Stopped(); ++i) {
    Item row = Item(aliases_.Fresh(b_.Op("take", {v, b_.Int(i)}, {{"axis", 0}})));
    rows.push_back(ToList(row, inner));
  }
  return NewList(std::move(rows), type);
}

// --- Dictionaries ---

// A key that only running tells.
bool Evaluator::IsOpenKey(const Item& key) {
  return (key.is_number() && !key.is_known_number()) || (key.is_text() && !key.is_string());
}

// The place of a key; nullopt: it has none, or, with an error, only running tells.
std::optional<size_t> Evaluator::KeyIn(const Item& dict, const Item& key) {
  const auto& entries = dict.cell->content().entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Item& known = entries[i].first;
    if (IsOpenKey(key)) {
      Unsupported("a key of a dictionary that only running tells");
      return std::nullopt;
    }
    if (known.is_known_number() && key.is_known_number()
            ? known.plain.number() == key.plain.number()
            : Shapes::AreSame(known, key))
      return i;
  }
  return std::nullopt;
}

std::optional<Item> Evaluator::DictKeys(Args& a) {
  // dict([(key, value), ...]).
  if (a.name.ends_with("dict") &&
      (a.size() == 0 || (a.size() == 1 && !a[0].is(Item::Kind::kDict)))) {
    const std::vector<Item>* pairs = a.size() == 1 ? KnownItems(a[0]) : nullptr;
    if (a.size() == 1 && pairs == nullptr) return std::nullopt;
    Item dict;
    dict.kind = Item::Kind::kDict;
    dict.type = SimpleType(ScriptType::Kind::kDict);
    dict.cell = heap_.New({});
    const std::vector<Item> items = pairs == nullptr ? std::vector<Item>() : *pairs;
    for (const Item& pair : items) {
      if (!pair.is(Item::Kind::kTuple) || pair.items.size() != 2) return std::nullopt;
      Args set{"aten::_set_item", {dict, pair.items[0], pair.items[1]}, {}, nullptr};
      SetItem(set);
    }
    return dict;
  }
  if (a.size() == 1 && a[0].is(Item::Kind::kList) && a.name.ends_with("copy")) return ListCopy(a);
  if (a.size() != 1 || !a[0].is(Item::Kind::kDict)) return std::nullopt;
  if (!Readable(a[0])) return Item::Unknown();
  std::vector<Item> items;
  for (const auto& [key, value] : a[0].cell->content().entries) {
    if (a.name.ends_with("keys")) items.push_back(key);
    if (a.name.ends_with("values")) items.push_back(value);
    if (a.name.ends_with("items")) items.push_back(Item::Tuple({key, value}));
  }
  if (a.name.ends_with("copy") || a.name.ends_with("dict")) {
    Item copy = a[0];
    copy.cell = heap_.New(a[0].cell->content());
    return copy;
  }
  return NewList(std::move(items));
}

std::optional<Item> Evaluator::DictGet(Args& a) {
  if (a.size() < 2 || !a[0].is(Item::Kind::kDict)) return std::nullopt;
  if (IsOpenKey(a[1]) && a.name.ends_with("get"))
    return EntryAt(a[0], a[1], [&] { return a.size() > 2 ? a[2] : Item::None(); });
  const auto key = KeyIn(a[0], a[1]);
  if (key) return a[0].cell->content().entries[*key].second;
  if (Stopped() || IsOpenKey(a[1])) return Item::Unknown();
  const Item fallback = a.size() > 2 ? a[2] : Item::None();
  if (a.name.ends_with("setdefault") && Writable(a[0]))
    ChangeCell(a[0]).entries.emplace_back(a[1], fallback);
  return fallback;
}

std::optional<Item> Evaluator::DictUpdate(Args& a) {
  if (a.size() != 2 || !a[0].is(Item::Kind::kDict) || !a[1].is(Item::Kind::kDict))
    return std::nullopt;
  const auto entries = a[1].cell->content().entries;
  for (const auto& [key, value] : entries) {
    Args set{"aten::_set_item", {a[0], key, value}, {}, nullptr};
    SetItem(set);
  }
  return Item::None();
}

}  // namespace relayvm::import::torch
