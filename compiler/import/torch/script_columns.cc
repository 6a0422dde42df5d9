// Lists whose length only running tells, by columns (script_item.h).
#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/onnx/strings.h"
#include "compiler/import/torch/script_shapes.h"

namespace relayvm::import::torch {

using State = TypedBuilder::State;
using ItemKind = Item::Kind;

namespace {

// Whether rows have those extents, as far as it is known when compiling.
bool AreRows(const Value& rows, std::span<const Dim> extents) {
  return rows.is_tensor() && rows.rank() == static_cast<int>(extents.size()) + 1 &&
         std::ranges::equal(rows.shape().begin() + 1, rows.shape().end(), extents.begin(),
                            extents.end(),
                            [](const Dim& x, const Dim& y) { return !x.is_any() && x == y; });
}

}  // namespace

// Rows that may differ in their sizes are a sequence.
Value Shapes::AsElements(const Value& rows) {
  return rows.is_tensor() ? SequenceOfParts(b_, {rows, 0, {b_, b_.Int(1), "rows"}, false}) : rows;
}

Item Shapes::ListOf(std::shared_ptr<const Columns> columns, const ScriptType& type) {
  Item list;
  list.kind = ItemKind::kList;
  list.type = type;
  CellContent content;
  content.columns = std::move(columns);
  list.cell = heap_.New(std::move(content));
  return list;
}

std::shared_ptr<const Columns> Shapes::ColumnsOf(const Item& list) {
  if (list.cell != nullptr && list.cell->content().columns != nullptr)
    return list.cell->content().columns;
  auto columns = std::make_shared<Columns>();
  columns->element = ElementShape(list);
  if (columns->element.is(ItemKind::kUninitialised)) return columns;
  Item shape;
  shape.kind = ItemKind::kList;
  shape.form = Item::Form::kColumns;
  shape.items = {columns->element};
  FlattenColumns(shape, list, &columns->values);
  return columns;
}

// One value of each element as a column: numbers are rows of a tensor.
Value Shapes::ColumnOf(const ir::Type& type, const std::vector<Value>& elements) {
  if (!IsNumberType(type)) return b_.Tuple(elements);
  if (elements.empty() && type->As<TensorType>()->dtype == DType::kString) return Texts(b_, {});
  if (elements.empty()) return b_.Full({0}, 0, type->As<TensorType>()->dtype);
  std::vector<Value> rows;
  for (const Value& v : elements) rows.push_back(b_.Reshape(v, {1}));
  return b_.Concat(rows, 0);
}

void Shapes::FlattenColumns(const Item& shape, const Item& list, State* out) {
  std::vector<ir::Type> types;
  Types(shape.items[0], &types);
  if (list.cell != nullptr && list.cell->content().columns != nullptr) {
    const Columns& columns = *list.cell->content().columns;
    if (columns.values.size() != types.size()) {
      Problem("a list whose elements differ");
      return;
    }
    for (size_t i = 0; i < types.size(); ++i) {
      Value v = columns.values[i];
      if (!IsNumberType(types[i])) v = AsElements(v);
      out->push_back(std::move(v));
    }
    return;
  }
  std::vector<std::vector<Value>> elements(types.size());
  if (list.is(ItemKind::kList)) {
    const std::vector<Item> parts = list.cell == nullptr ? list.items : list.cell->content().items;
    for (const Item& part : parts) {
      State own;
      Flatten(shape.items[0], part, &own);
      if (own.size() != types.size()) {
        Problem("a list whose elements differ");
        return;
      }
      for (size_t i = 0; i < own.size(); ++i) elements[i].push_back(own[i]);
    }
  }
  for (size_t i = 0; i < types.size(); ++i) out->push_back(ColumnOf(types[i], elements[i]));
}

Value Shapes::LengthOf(const Columns& columns) {
  if (columns.values.empty()) return b_.Int(0);
  const Value& v = columns.values[0];
  return v.is_tensor() ? Extent(b_, v, 0).value() : SequenceLength(b_, v);
}

Item Shapes::ElementAt(const Columns& columns, const Value& i) {
  State own;
  for (const Value& v : columns.values) {
    if (!v.is_tensor()) {
      own.push_back(SequenceAt(v, {b_, i, "index of a list"}));
      continue;
    }
    const Value extent = b_.DimOf(v, 0);
    const Value at =
        FromFront({b_, b_.Reshape(i, {1}), "index of a list"}, b_.Reshape(i, {1}), extent);
    own.push_back(b_.Op("take", {v, b_.Reshape(at, {})}, {{"axis", 0}}));
  }
  size_t at = 0;
  Item item = Build(columns.element, own, &at);
  if (item.cell != nullptr) item.cell->is_copy = true;
  return item;
}

Value Shapes::PartOf(const Value& column, const Value& start, const Value& count, int64_t step) {
  const auto place = [&](const Value& i) {
    return b_.Op("add", {start, b_.Op("multiply", {i, b_.Int(step)})});
  };
  if (column.is_tensor()) {
    const Value places = place(Range(Term(b_, count)).value());
    return b_.Op("take", {column, places}, {{"axis", 0}});
  }
  const State made =
      RunLoop(b_, {count, {}, {b_.Tuple({})}, [&](const Value& i, const State& state) {
                     const Value element = SequenceAt(column, {b_, place(i), "a part of a list"});
                     return Turn{{}, {Append(b_, state[0], element)}, {}};
                   }});
  return made.empty() ? Value{} : made[0];
}

Value Shapes::ConcatColumns(const Value& x, const Value& y) {
  if (x.is_tensor() && y.is_tensor() && AreRows(x, std::span(y.shape()).subspan(1)))
    return b_.Concat({x, y}, 0);
  // A list without elements may not know their type yet.
  const auto is_empty = [](const Value& v) {
    const auto* tuple = v.type == nullptr ? nullptr : v.type->As<ir::TupleType>();
    return tuple != nullptr && tuple->fields.empty();
  };
  if (is_empty(y)) return x;
  if (is_empty(x)) return y;
  const Value first = AsElements(x), second = AsElements(y);
  const State made = RunLoop(
      b_, {SequenceLength(b_, second), {}, {first}, [&](const Value& i, const State& state) {
             return Turn{{}, {Append(b_, state[0], SequenceAt(second, {b_, i, "a list"}))}, {}};
           }});
  return made.empty() ? Value{} : made[0];
}

std::shared_ptr<const Columns> Shapes::Joined(const Columns& x, const Item& element) {
  auto joined = std::make_shared<Columns>(x);
  if (x.values.empty()) {
    Item one;
    one.kind = ItemKind::kList;
    CellContent content;
    content.items = {element};
    one.cell = heap_.New(std::move(content));
    return ColumnsOf(one);
  }
  joined->element = Widen(x.element, AllValues(element));
  State own;
  Flatten(joined->element, element, &own);
  for (size_t i = 0; i < own.size() && i < joined->values.size(); ++i) {
    Value& v = joined->values[i];
    v = own[i].is_tensor() && AreRows(v, own[i].shape())
            ? b_.Concat({v, b_.ExpandDims(own[i], 0)}, 0)
            : Append(b_, AsElements(v), own[i]);
  }
  return joined;
}

}  // namespace relayvm::import::torch
