#include "compiler/import/torch/script_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/control_flow.h"

namespace relayvm::import::torch {

using State = TypedBuilder::State;

// A value that comes from the host, as what the program takes it for.
Item ScriptInputs::ItemOf(const Value& v, const ScriptType& type) {
  using K = ScriptType::Kind;
  const ScriptType& own = type.is(K::kOptional) ? type.element() : type;
  if (v.is_tensor()) {
    if (own.is(K::kInt) || own.is(K::kFloat) || own.is(K::kBool) || own.is(K::kNumber)) {
      const DType dtype = own.is(K::kInt)     ? DType::kInt64
                          : own.is(K::kBool)  ? DType::kBool
                          : own.is(K::kFloat) ? DType::kFloat64
                                              : v.dtype();
      return ScalarArgument(b_, b_.Cast(b_.Reshape(v, {}), dtype));
    }
    if (own.is(K::kString) && v.dtype() == DType::kString)
      return ScalarArgument(b_, b_.Reshape(v, {}));
    return evaluator_.aliases().Fresh(v);
  }
  if (v.type == nullptr) return Item::Unknown();
  if (own.is(K::kDict)) {
    b_.Fail(StatusCode::kUnsupported,
            "an input holds a dict in a list, a tuple or a dict: its keys are not known");
    return Item::Unknown();
  }
  if (v.type->As<ir::TupleType>() != nullptr) {
    std::vector<Item> items;
    const std::vector<Value> fields = b_.Fields(v);
    for (size_t i = 0; i < fields.size(); ++i) {
      const ScriptType inner = own.is(K::kTuple) && i < own.arguments.size() ? own.arguments[i]
                               : own.is(K::kList)                            ? own.element()
                                                                             : ScriptType();
      items.push_back(ItemOf(fields[i], inner));
    }
    if (!own.is(K::kList)) {
      Item tuple = Item::Tuple(std::move(items));
      if (own.is(K::kClass)) tuple.type = own;
      return tuple;
    }
    Item list;
    list.kind = Item::Kind::kList;
    list.type = own;
    CellContent content;
    content.items = std::move(items);
    list.cell = evaluator_.heap().New(std::move(content));
    return list;
  }
  if (const ir::Type held = import::ElementType(v.type, "Optional")) {
    Item maybe;
    maybe.kind = Item::Kind::kMaybe;
    maybe.condition = CallPrelude(b_, "optional_has", {v}, ir::MakeScalarType(DType::kBool));
    Argument tensor(v);
    maybe.items = {Item(tensor)};
    return maybe;
  }
  if (const ir::Type element = import::ElementType(v.type, "List"))
    return ListItem(v, element, own);
  return Item::Unknown();
}

// A List of the host: numbers become the rows of a tensor.
Item ScriptInputs::ListItem(const Value& v, const ir::Type& element, const ScriptType& type) {
  const Value sequence = OfList(b_, v);
  auto columns = std::make_shared<Columns>();
  Item& shape = columns->element;
  shape.form = Item::Form::kValue;
  shape.plain.kind = Argument::Kind::kTensor;
  shape.leaf_type = element;
  columns->values = {sequence};
  using K = ScriptType::Kind;
  const ScriptType& inner = type.element();
  if (inner.is(K::kString)) {
    shape.plain.kind = Argument::Kind::kSymString;
    shape.leaf_type = ir::MakeScalarType(DType::kString);
    columns->values = {SequenceJoin(b_, sequence, 0, true)};
  } else if (inner.is(K::kInt) || inner.is(K::kFloat) || inner.is(K::kBool)) {
    const DType dtype = inner.is(K::kInt)    ? DType::kInt64
                        : inner.is(K::kBool) ? DType::kBool
                                             : DType::kFloat64;
    shape.plain.kind = inner.is(K::kInt)    ? Argument::Kind::kSymInt
                       : inner.is(K::kBool) ? Argument::Kind::kSymBool
                                            : Argument::Kind::kSymFloat;
    shape.leaf_type = ir::MakeScalarType(dtype);
    columns->values = {b_.Cast(SequenceJoin(b_, sequence, 0, true), dtype)};
  } else if (element->As<TensorType>() == nullptr) {
    const Item of = ItemOf(SequenceAt(sequence, {b_, b_.Int(0), "an input"}), inner);
    shape = evaluator_.shapes().AllValues(of);
    // Each by itself becomes what the program works with.
    const Value count = SequenceLength(b_, sequence);
    std::vector<ir::Type> types;
    Shapes::Types(shape, &types);
    const State none(types.size(), b_.Tuple({}));
    columns->values = RunLoop(b_, {count, {}, none, [&](const Value& i, const State& state) {
                                     State own;
                                     const Item one =
                                         ItemOf(SequenceAt(sequence, {b_, i, "an input"}), inner);
                                     evaluator_.shapes().Flatten(shape, one, &own);
                                     Turn turn{{}, state, {}};
                                     for (size_t k = 0; k < own.size() && k < state.size(); ++k) {
                                       turn.next[k] = Append(b_, state[k], own[k]);
                                     }
                                     return turn;
                                   }});
  }
  return evaluator_.shapes().ListOf(std::move(columns), type);
}

Item ScriptInputs::DictOf(const ScriptType& type, const std::vector<Expr>& keys,
                          std::vector<Item> values) {
  CellContent content;
  for (size_t i = 0; i < keys.size(); ++i) {
    Item key = keys[i].kind == Expr::Kind::kString ? Item::String(keys[i].text)
                                                   : Item::Int(keys[i].integer);
    content.entries.emplace_back(std::move(key), std::move(values[i]));
  }
  Item dict;
  dict.kind = Item::Kind::kDict;
  dict.type = type;
  dict.cell = evaluator_.heap().New(std::move(content));
  return dict;
}

// --- Keys ---

bool HasKey(const std::vector<Expr>& keys, const Expr& key) {
  return std::ranges::any_of(keys, [&](const Expr& k) {
    return k.kind == key.kind && k.text == key.text && k.integer == key.integer;
  });
}
std::string TextOfKey(const Expr& key) {
  return key.kind == Expr::Kind::kString ? key.text : fmt::format("{}", key.integer);
}

namespace {

void ReadIn(const Expr& e, std::string_view name, KeysRead* read) {
  const auto is_dict = [&](const Expr& x) { return x.kind == Expr::Kind::kName && x.text == name; };
  const auto add = [](const Expr& key, std::vector<Expr>* keys) {
    if (key.kind != Expr::Kind::kString && key.kind != Expr::Kind::kInt) return false;
    if (!HasKey(*keys, key)) keys->push_back(key);
    return true;
  };
  if (is_dict(e)) read->all = false;
  size_t first = 0;
  if (e.kind == Expr::Kind::kIndex && e.children.size() == 2 && is_dict(e.children[0])) {
    first = 1;
    if (!add(e.children[1], &read->keys)) read->all = false;
  }
  if (e.kind == Expr::Kind::kCall && e.children.size() >= 2 && is_dict(e.children[1])) {
    const std::string& function = e.children[0].text;
    const bool asks = function == "__contains__";
    if (function == "len") first = 2;
    if ((asks || function == "get" || function == "__getitem__") && e.children.size() > 2 &&
        add(e.children[2], asks ? &read->asked : &read->keys))
      first = 2;
  }
  for (size_t i = first; i < e.children.size(); ++i) ReadIn(e.children[i], name, read);
  for (const auto& [keyword, value] : e.keywords) ReadIn(value, name, read);
}

}  // namespace

void ReadKeys(const std::vector<Stmt>& body, std::string_view name, KeysRead* read) {
  for (const Stmt& s : body) {
    ReadIn(s.value, name, read);
    for (const Expr& target : s.targets) ReadIn(target, name, read);
    ReadKeys(s.body, name, read);
    ReadKeys(s.orelse, name, read);
  }
}

}  // namespace relayvm::import::torch
