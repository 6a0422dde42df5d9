#include "compiler/import/torch/script_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/onnx/strings.h"

namespace relayvm::import::torch {

using State = TypedBuilder::State;
using ItemKind = Item::Kind;
using ArgumentKind = Argument::Kind;

namespace {

bool IsOptional(const ir::Type& type) {
  return type != nullptr && import::ElementType(type, "Optional") != nullptr;
}
bool IsNoneType(const ir::Type& type) {
  const auto* adt = type == nullptr ? nullptr : type->As<ir::AdtType>();
  return adt != nullptr && adt->name == "None";
}

// Known numbers, or the same value of the graph.
bool ArePlainSame(const Argument& x, const Argument& y) {
  if (x.kind != y.kind) return false;
  switch (x.kind) {
    case ArgumentKind::kNone:
    case ArgumentKind::kDevice:
      return true;
    case ArgumentKind::kBool:
    case ArgumentKind::kInt:
      return x.integer == y.integer;
    case ArgumentKind::kFloat:
      return std::bit_cast<uint64_t>(x.real) == std::bit_cast<uint64_t>(y.real);
    case ArgumentKind::kComplex:
      return x.real == y.real && x.imaginary == y.imaginary;
    case ArgumentKind::kString:
      return x.text == y.text;
    case ArgumentKind::kObject:
      return x.object == y.object;
    case ArgumentKind::kTensor:
      return x.alias != nullptr && x.alias == y.alias;
    default:
      return x.value && x.value.node == y.value.node;
  }
}

// A string, or one of several.
bool IsTextual(const Item& x) {
  if (x.is(ItemKind::kEither)) return std::ranges::all_of(x.items, IsTextual);
  return x.is_text();
}

bool IsFixedList(const Item& x) {
  return x.is(ItemKind::kList) && (x.form == Item::Form::kParts ||
                                   (x.cell != nullptr && x.cell->content().columns == nullptr &&
                                    x.cell->content().growing == nullptr));
}

const std::vector<Item>& PartsOf(const Item& list) {
  return list.cell == nullptr ? list.items : list.cell->content().items;
}

ir::Type ScalarTypeOf(const Argument& a) {
  if (a.is_text()) return ir::MakeScalarType(DType::kString);
  if (a.is_bool()) return ir::MakeScalarType(DType::kBool);
  return ir::MakeScalarType(a.is_float() ? DType::kFloat64 : DType::kInt64);
}

}  // namespace

Item Shapes::Problem(std::string text) {
  if (problem_.empty()) problem_ = std::move(text);
  return Item::Unknown();
}

bool Shapes::AreSame(const Item& x, const Item& y) {
  if (x.form != Item::Form::kItself || y.form != Item::Form::kItself) return false;
  if (x.kind != y.kind || x.cell != y.cell || x.items.size() != y.items.size() ||
      x.condition.node != y.condition.node || x.stored != y.stored)
    return false;
  switch (x.kind) {
    case ItemKind::kPlain:
      return ArePlainSame(x.plain, y.plain);
    case ItemKind::kFunction:
      return x.callable.function == y.callable.function && x.callable.closure == y.callable.closure;
    case ItemKind::kClass:
      return x.type == y.type;
    default:
      break;
  }
  for (size_t i = 0; i < x.items.size(); ++i) {
    if (!AreSame(x.items[i], y.items[i])) return false;
  }
  return true;
}

// --- What two have in common ---

Item Shapes::Widen(const Item& x, const Item& y, const Value& condition) {
  if (AreSame(x, y)) return x;
  if (x.is(ItemKind::kUnknown) || y.is(ItemKind::kUnknown)) return Item::Unknown();
  if (IsTextual(x) && IsTextual(y) && !(condition && x.is_string() && y.is_string())) {
    Item shape;
    shape.form = Item::Form::kValue;
    shape.plain.kind = ArgumentKind::kSymString;
    shape.leaf_type = ScalarTypeOf(shape.plain);
    return shape;
  }
  if (!condition && (x.is(ItemKind::kEither) || y.is(ItemKind::kEither)))
    return Widen(AllValues(x), AllValues(y));
  if (x.is(ItemKind::kUninitialised)) return condition ? y : AllValues(y);
  if (y.is(ItemKind::kUninitialised)) return condition ? x : AllValues(x);
  if (x.is(ItemKind::kMaybe) || y.is(ItemKind::kMaybe) || x.is_none() != y.is_none())
    return WidenMaybe(x, y);
  if (x.kind != y.kind) return Either(x, y, condition);
  switch (x.kind) {
    case ItemKind::kPlain:
      return WidenPlain(x, y, condition);
    case ItemKind::kTuple: {
      if (x.items.size() != y.items.size()) return Either(x, y, condition);
      Item shape = x;
      shape.form = Item::Form::kParts;
      for (size_t i = 0; i < x.items.size(); ++i)
        shape.items[i] = Widen(x.items[i], y.items[i], condition);
      return shape;
    }
    case ItemKind::kList:
      return WidenLists(x, y, condition);
    case ItemKind::kDict:
    case ItemKind::kObject:
      return WidenCells(x, y, condition);
    default:
      return Either(x, y, condition);
  }
}

Item Shapes::Either(const Item& x, const Item& y, const Value& condition) {
  if (!condition || x.form != Item::Form::kItself || y.form != Item::Form::kItself)
    return Problem(
        "what it holds differs from turn to turn in a way that has no type: ranks and element "
        "types must be known when compiling");
  Item either;
  either.kind = ItemKind::kEither;
  either.condition = condition;
  either.items = {x, y};
  return either;
}

Item Shapes::WidenPlain(const Item& x, const Item& y, const Value& condition) {
  const Argument &p = x.plain, &q = y.plain;
  Item shape;
  shape.form = Item::Form::kValue;
  if (p.is_number() && q.is_number() && !p.is(ArgumentKind::kComplex) &&
      !q.is(ArgumentKind::kComplex)) {
    const bool both_bool = p.is_bool() && q.is_bool(), floats = p.is_float() || q.is_float();
    shape.plain.kind = both_bool ? ArgumentKind::kSymBool
                       : floats  ? ArgumentKind::kSymFloat
                                 : ArgumentKind::kSymInt;
    shape.leaf_type = ScalarTypeOf(shape.plain);
    return shape;
  }
  if (!p.is_tensor() || !q.is_tensor() || p.complex != q.complex || p.quantised != q.quantised)
    return Either(x, y, condition);
  const ir::Type s = x.form == Item::Form::kValue ? x.leaf_type : aliases_.Read(p).type;
  const ir::Type t = y.form == Item::Form::kValue ? y.leaf_type : aliases_.Read(q).type;
  shape.leaf_type = JoinTypes(s, t);
  if (shape.leaf_type == nullptr) return Either(x, y, condition);
  shape.plain.kind = ArgumentKind::kTensor;
  shape.plain.complex = p.complex;
  shape.plain.quantised = p.quantised;
  return shape;
}

Item Shapes::WidenLists(const Item& x, const Item& y, const Value& condition) {
  Item shape;
  shape.kind = ItemKind::kList;
  shape.type = x.type.arguments.empty() ? y.type : x.type;
  if (IsFixedList(x) && IsFixedList(y) && PartsOf(x).size() == PartsOf(y).size()) {
    shape.form = Item::Form::kParts;
    for (size_t i = 0; i < PartsOf(x).size(); ++i)
      shape.items.push_back(Widen(PartsOf(x)[i], PartsOf(y)[i], condition));
    return shape;
  }
  // Sizes of tensors that differ in rank stay what they are.
  const auto sizes = [](const Item& list) {
    return IsFixedList(list) && list.cell != nullptr && !PartsOf(list).empty() &&
           std::ranges::all_of(PartsOf(list), &Item::is_number);
  };
  if (condition && sizes(x) && sizes(y) && x.cell != nullptr && y.cell != nullptr &&
      x.cell->id != 0 && y.cell->id != 0 && !x.content_only && !y.content_only) {
    return Either(x, y, condition);
  }
  Item p = ElementShape(x), q = ElementShape(y);
  shape.form = Item::Form::kColumns;
  const bool none_x = p.is(ItemKind::kUninitialised), none_y = q.is(ItemKind::kUninitialised);
  shape.items.push_back(none_x ? q : none_y ? p : Widen(p, q));
  return shape;
}

// All values; uninitialised where it has none.
Item Shapes::ElementShape(const Item& list) {
  if (list.form == Item::Form::kColumns) return list.items[0];
  if (list.cell != nullptr && list.cell->content().columns != nullptr) {
    const Columns& columns = *list.cell->content().columns;
    return columns.element;
  }
  Item element;
  element.kind = ItemKind::kUninitialised;
  for (const Item& part : PartsOf(list)) {
    const Item own = AllValues(part);
    element = element.is(ItemKind::kUninitialised) ? own : Widen(element, own);
  }
  return element;
}

Item Shapes::AllValues(const Item& x) {
  if (x.form == Item::Form::kValue || x.form == Item::Form::kColumns) return x;
  Item shape = x;
  switch (x.kind) {
    case ItemKind::kPlain: {
      if (x.is_number() && !x.plain_is(ArgumentKind::kComplex)) {
        shape.plain = {};
        shape.plain.kind = x.plain.is_bool()    ? ArgumentKind::kSymBool
                           : x.plain.is_float() ? ArgumentKind::kSymFloat
                                                : ArgumentKind::kSymInt;
        shape.leaf_type = ScalarTypeOf(x.plain);
        shape.form = Item::Form::kValue;
      } else if (x.is_text() && !x.is_string()) {
        shape.plain = {};
        shape.plain.kind = ArgumentKind::kSymString;
        shape.leaf_type = ScalarTypeOf(x.plain);
        shape.form = Item::Form::kValue;
      } else if (x.is_tensor()) {
        const Value now = aliases_.Read(x.plain);
        shape.leaf_type = now.type;
        shape.plain = {};
        shape.plain.kind = ArgumentKind::kTensor;
        shape.plain.complex = x.plain.complex;
        shape.plain.quantised = x.plain.quantised;
        shape.form = Item::Form::kValue;
      }
      return shape;
    }
    case ItemKind::kEither: {
      const Item first = AllValues(x.items[0]), second = AllValues(x.items[1]);
      if (first.is(ItemKind::kEither) || second.is(ItemKind::kEither)) return first;
      return Widen(first, second);
    }
    case ItemKind::kTuple:
    case ItemKind::kMaybe:
      shape.form = Item::Form::kParts;
      for (Item& part : shape.items) part = AllValues(part);
      return shape;
    case ItemKind::kList: {
      if (!IsFixedList(x)) {
        shape.items = {ElementShape(x)};
        shape.form = Item::Form::kColumns;
        shape.cell = nullptr;
        return shape;
      }
      const std::vector<Item> parts = PartsOf(x);
      shape.items.clear();
      for (const Item& part : parts) shape.items.push_back(AllValues(part));
      shape.form = Item::Form::kParts;
      shape.cell = nullptr;
      return shape;
    }
    case ItemKind::kDict:
    case ItemKind::kObject: {
      Item whole = WidenCells(x, x, {});
      for (Item& part : whole.items) part = AllValues(part);
      return whole;
    }
    default:
      return shape;
  }
}

Item Shapes::WidenCells(const Item& x, const Item& y, const Value& condition) {
  Item shape;
  shape.kind = x.kind;
  shape.type = x.type;
  shape.form = Item::Form::kParts;
  const auto take = [&](const Item& of, std::vector<Item>* keys, std::vector<std::string>* names,
                        std::vector<Item>* parts) {
    if (of.cell == nullptr) {
      *keys = of.keys;
      *names = of.names;
      *parts = of.items;
      return;
    }
    for (const auto& [key, value] : of.cell->content().entries) {
      keys->push_back(key);
      parts->push_back(value);
    }
    for (const auto& [name, value] : of.cell->content().attributes) {
      names->push_back(name);
      parts->push_back(value);
    }
  };
  std::vector<Item> keys, other_keys, parts, other_parts;
  std::vector<std::string> names, other_names;
  take(x, &keys, &names, &parts);
  take(y, &other_keys, &other_names, &other_parts);
  const bool same_keys = std::ranges::equal(keys, other_keys, &Shapes::AreSame);
  if (x.type != y.type && x.is(ItemKind::kObject)) return Either(x, y, condition);
  if (!same_keys || names != other_names || parts.size() != other_parts.size()) {
    if (condition) return Either(x, y, condition);
    return Problem("a dictionary whose keys only running tells");
  }
  for (size_t i = 0; i < parts.size(); ++i)
    shape.items.push_back(Widen(parts[i], other_parts[i], condition));
  shape.keys = std::move(keys);
  shape.names = std::move(names);
  return shape;
}

// Values that may be left out.
Item Shapes::OptionalLeaves(Item shape) {
  if (shape.form == Item::Form::kValue) {
    if (shape.plain.is_tensor() && !IsOptional(shape.leaf_type)) {
      const ir::Type joined = JoinTypes(shape.leaf_type, NoneType());
      if (joined != nullptr) shape.leaf_type = joined;
    }
    return shape;
  }
  for (Item& part : shape.items) part = OptionalLeaves(std::move(part));
  return shape;
}

Item Shapes::WidenMaybe(const Item& x, const Item& y) {
  Item shape;
  shape.kind = ItemKind::kMaybe;
  shape.form = Item::Form::kParts;
  const auto held = [&](const Item& item) {
    return OptionalLeaves(AllValues(item.is(ItemKind::kMaybe) ? item.items[0] : item));
  };
  if (x.is_none()) {
    shape.items = {held(y)};
  } else if (y.is_none()) {
    shape.items = {held(x)};
  } else {
    shape.items = {Widen(held(x), held(y))};
  }
  return shape;
}

bool Shapes::HasValues(const Item& shape) {
  if (shape.form == Item::Form::kValue || shape.form == Item::Form::kColumns) return true;
  if (shape.form == Item::Form::kParts && shape.is(ItemKind::kMaybe)) return true;
  return shape.form == Item::Form::kParts && std::ranges::any_of(shape.items, &Shapes::HasValues);
}

// --- Values of items ---

Value Shapes::NoneValue() { return b_.Wrap(b_.Tuple({}).node, NoneType()); }

// In the place of what is not there, or not yet, and is never read.
Value Shapes::Filler(const Item& leaf) {
  ir::Type type = leaf.leaf_type;
  if (IsOptional(type) || IsNoneType(type)) return Coerce(b_, NoneValue(), type);
  const auto* tensor = type == nullptr ? nullptr : type->As<TensorType>();
  if (tensor == nullptr) return NoneValue();
  if (tensor->dtype == DType::kString && tensor->rank() == 0) return Texts(b_, {""}, {});
  std::vector<int64_t> dims;
  for (const Dim& d : tensor->shape) dims.push_back(d.is_const() ? d.value() : 1);
  return b_.Full(dims, 0, tensor->dtype);
}

void Shapes::FlattenNone(const Item& shape, State* out) {
  if (shape.form == Item::Form::kValue) {
    out->push_back(Filler(shape));
  } else if (shape.form == Item::Form::kColumns) {
    Item empty;
    empty.kind = ItemKind::kList;
    empty.cell = heap_.New({});
    FlattenColumns(shape, empty, out);
  } else if (shape.form == Item::Form::kParts) {
    if (shape.is(ItemKind::kMaybe)) out->push_back(b_.Scalar(0, DType::kBool));
    for (const Item& part : shape.items) FlattenNone(part, out);
  }
}

void Shapes::FlattenValue(const Item& shape, const Item& item, State* out) {
  if (item.is_none() || item.is(ItemKind::kUninitialised) || !item.is(ItemKind::kPlain)) {
    out->push_back(Filler(shape));
    return;
  }
  if (shape.plain.is_text()) {
    if (item.is_string()) {
      out->push_back(Texts(b_, {item.plain.text}, {}));
    } else if (item.is_text() && item.plain.value) {
      out->push_back(item.plain.value);
    } else {
      Problem("a string with what only running tells, for which there is no operator");
      out->push_back(Filler(shape));
    }
    return;
  }
  if (!shape.plain.is_tensor()) {
    const DType dtype = shape.leaf_type->As<TensorType>()->dtype;
    out->push_back(ScalarValue(b_, item.plain, dtype));
    return;
  }
  if (!item.plain.is_tensor()) {
    out->push_back(Filler(shape));
    return;
  }
  Value v = IsOptional(item.plain.value.type) || IsNoneType(item.plain.value.type)
                ? item.plain.value
                : aliases_.Read(item.plain);
  if (IsOptional(shape.leaf_type) && !IsOptional(v.type)) v = Coerce(b_, v, shape.leaf_type);
  out->push_back(std::move(v));
}

void Shapes::Flatten(const Item& shape, const Item& item, State* out) {
  if (item.is(ItemKind::kEither) && shape.form != Item::Form::kItself) {
    State yes, no;
    Flatten(shape, item.items[0], &yes);
    Flatten(shape, item.items[1], &no);
    const auto joined = Branches(b_, item.condition, std::move(yes), std::move(no));
    if (!joined) Problem("what a branch chose has no one type");
    if (joined) out->insert(out->end(), joined->begin(), joined->end());
    return;
  }
  switch (shape.form) {
    case Item::Form::kItself:
      return;
    case Item::Form::kValue:
      FlattenValue(shape, item, out);
      return;
    case Item::Form::kColumns:
      FlattenColumns(shape, item, out);
      return;
    case Item::Form::kParts:
      break;
  }
  if (shape.is(ItemKind::kMaybe)) {
    if (item.is_none() || item.is(ItemKind::kUninitialised)) return FlattenNone(shape, out);
    const bool maybe = item.is(ItemKind::kMaybe);
    out->push_back(maybe ? item.condition : b_.Scalar(1, DType::kBool));
    return Flatten(shape.items[0], maybe ? item.items[0] : item, out);
  }
  std::vector<Item> parts;
  if (item.cell == nullptr) {
    parts = item.items;
  } else if (item.is(ItemKind::kList)) {
    parts = item.cell->content().items;
  } else {
    for (const auto& [key, value] : item.cell->content().entries) parts.push_back(value);
    for (const auto& [name, value] : item.cell->content().attributes) parts.push_back(value);
  }
  if (parts.size() != shape.items.size()) return FlattenNone(shape, out);
  for (size_t i = 0; i < parts.size(); ++i) Flatten(shape.items[i], parts[i], out);
}

void Shapes::Types(const Item& shape, std::vector<ir::Type>* out) {
  if (shape.form == Item::Form::kValue) out->push_back(shape.leaf_type);
  if (shape.form == Item::Form::kParts && shape.is(ItemKind::kMaybe))
    out->push_back(ir::MakeScalarType(DType::kBool));
  if (shape.form == Item::Form::kParts) {
    for (const Item& part : shape.items) Types(part, out);
  }
  if (shape.form != Item::Form::kColumns) return;
  std::vector<ir::Type> elements;
  Types(shape.items[0], &elements);
  const auto open = [](const Dim& d) { return d.is_const() ? d : Dim::Any(); };
  for (const ir::Type& t : elements) {
    if (t == nullptr) {
      out->push_back(nullptr);
    } else if (IsNumberType(t)) {
      out->push_back(ir::MakeTensorType({Dim::Any()}, t->As<TensorType>()->dtype));
    } else {
      out->push_back(SequenceType(ir::MapDims(t, open)));
    }
  }
}

// --- Items of values ---

Item Shapes::Build(const Item& shape, std::span<const Value> values, size_t* at) {
  if (shape.form == Item::Form::kItself) return shape;
  if (shape.form == Item::Form::kValue) {
    const Value& v = values[(*at)++];
    if (!shape.plain.is_tensor()) return ScalarArgument(b_, v);
    Argument tensor = shape.plain;
    tensor.value = v;
    return v.is_tensor() ? aliases_.Fresh(std::move(tensor)) : tensor;
  }
  Item item = shape;
  item.form = Item::Form::kItself;
  item.leaf_type = nullptr;
  if (shape.form == Item::Form::kColumns) {
    auto columns = std::make_shared<Columns>();
    columns->element = shape.items[0];
    std::vector<ir::Type> types;
    Types(shape.items[0], &types);
    for (size_t i = 0; i < types.size(); ++i) columns->values.push_back(values[(*at)++]);
    return ListOf(std::move(columns), shape.type);
  }
  if (shape.is(ItemKind::kMaybe)) {
    item.condition = values[(*at)++];
    item.items[0] = Build(shape.items[0], values, at);
    if (const auto known = KnownNumber(b_, item.condition))
      return *known != 0 ? HeldItem(item) : Item::None();
    return item;
  }
  for (Item& part : item.items) part = Build(part, values, at);
  if (shape.is(ItemKind::kTuple)) return item;
  CellContent content;
  if (shape.is(ItemKind::kList)) content.items = item.items;
  for (size_t i = 0; i < shape.keys.size(); ++i)
    content.entries.emplace_back(shape.keys[i], item.items[i]);
  for (size_t i = 0; i < shape.names.size(); ++i)
    content.attributes[shape.names[i]] = item.items[i];
  item.items.clear();
  item.keys.clear();
  item.names.clear();
  item.cell = heap_.New(std::move(content));
  return item;
}

Item Shapes::HeldItem(const Item& maybe) {
  const std::function<Item(const Item&)> held = [&](const Item& item) -> Item {
    Item own = item;
    if (item.is_tensor()) {
      if (IsOptional(item.plain.value.type)) own.plain.value = import::Held(b_, item.plain.value);
      if (IsNoneType(item.plain.value.type)) return Item::Unknown();
      if (own.plain.alias == nullptr) own = Item(aliases_.Fresh(own.plain));
      return own;
    }
    for (Item& part : own.items) part = held(part);
    if (item.cell == nullptr) return own;
    CellContent content = item.cell->content();
    for (Item& part : content.items) part = held(part);
    for (auto& [key, value] : content.entries) value = held(value);
    for (auto& [name, value] : content.attributes) value = held(value);
    own.cell = heap_.New(std::move(content));
    own.cell->is_copy = true;
    return own;
  };
  return held(maybe.items[0]);
}

}  // namespace relayvm::import::torch
