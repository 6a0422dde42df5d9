#include "compiler/import/torch/script_outputs.h"

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/strings.h"

namespace relayvm::import::torch {

using State = TypedBuilder::State;

size_t ScriptOutputs::CountOf(const ir::Type& t) {
  const auto* tuple = t == nullptr ? nullptr : t->As<ir::TupleType>();
  if (tuple == nullptr) return 1;
  size_t count = 0;
  for (const ir::Type& f : tuple->fields) count += CountOf(f);
  return count;
}

std::vector<Item> ScriptOutputs::PartsOf(const Item& item) {
  if (item.is(Item::Kind::kTuple)) return item.items;
  std::vector<Item> parts;
  for (const auto& [key, value] : item.cell->content().entries) parts.push_back(value);
  for (const auto& [name, value] : item.cell->content().attributes) parts.push_back(value);
  return parts;
}

// Nullopt: None.
std::optional<Value> ScriptOutputs::Of(const Item& item) {
  switch (item.kind) {
    case Item::Kind::kPlain:
      return OutputOf(item);
    case Item::Kind::kTuple:
    case Item::Kind::kDict:
    case Item::Kind::kObject:
      return OutputTuple(PartsOf(item));
    case Item::Kind::kList:
      return OutputList(item);
    case Item::Kind::kMaybe: {
      State own;
      evaluator_.shapes().Flatten(evaluator_.shapes().AllValues(item.items[0]), item.items[0],
                                  &own);
      if (own.size() == 1 && import::ElementType(own[0].type, "Optional") != nullptr) return own[0];
      b_.Fail(StatusCode::kUnsupported,
              "a result of which only running tells whether it is None, and that is no tensor");
      return std::nullopt;
    }
    case Item::Kind::kEither: {
      const auto yes = Of(item.items[0]), no = Of(item.items[1]);
      if (!yes || !no || !b_.status().ok()) {
        b_.Fail(StatusCode::kUnsupported,
                "a result of which only running tells whether it is there");
        return std::nullopt;
      }
      const ir::Type joined = JoinAny(yes->type, no->type);
      if (joined == nullptr) {
        b_.Fail(StatusCode::kUnsupported, "a result that is {} or {}", ir::TypeToString(yes->type),
                ir::TypeToString(no->type));
        return std::nullopt;
      }
      return b_.If(item.condition, CoerceAny(b_, *yes, joined), CoerceAny(b_, *no, joined),
                   b_.Open(joined));
    }
    case Item::Kind::kUninitialised:
      return std::nullopt;
    default:
      b_.Fail(StatusCode::kUnsupported, "a result that is no tensor, number, list or tuple");
      return std::nullopt;
  }
}

std::optional<Value> ScriptOutputs::OutputOf(const Item& item) {
  const Argument& a = item.plain;
  using K = Argument::Kind;
  switch (a.kind) {
    case K::kNone:
      return std::nullopt;
    case K::kTensor:
      return evaluator_.ReadTensor(item);
    case K::kBool:
    case K::kSymBool:
      return ScalarValue(b_, a, DType::kBool);
    case K::kInt:
    case K::kSymInt:
      return ScalarValue(b_, a, DType::kInt64);
    case K::kFloat:
    case K::kSymFloat:
      return ScalarValue(b_, a, DType::kFloat64);
    case K::kComplex:
      return b_.Concat(
          {b_.Full({1}, a.real, DType::kFloat64), b_.Full({1}, a.imaginary, DType::kFloat64)}, 0);
    case K::kString:
      return Texts(b_, {a.text}, {});
    case K::kSymString:
      if (a.value) return a.value;
      b_.Fail(StatusCode::kUnsupported,
              "a result with the text of what only running tells, for which there is no operator");
      return std::nullopt;
    case K::kDevice:
      return std::nullopt;
    default:
      b_.Fail(StatusCode::kUnsupported, "a result that is no tensor, number, list or tuple");
      return std::nullopt;
  }
}

Value ScriptOutputs::OutputTuple(const std::vector<Item>& parts) {
  std::vector<Value> fields;
  for (const Item& part : parts) {
    if (auto v = Of(part)) fields.push_back(*v);
  }
  return b_.Tuple(fields);
}

// A List of what each element by itself is to the host, from the last one on.
std::optional<Value> ScriptOutputs::OutputColumns(const Columns& columns) {
  const auto element = [&](const Value& i) {
    const auto v = Of(evaluator_.shapes().ElementAt(columns, i));
    return v ? *v : b_.Tuple({});
  };
  const Value sample = element(b_.Int(0)), length = evaluator_.shapes().LengthOf(columns);
  if (!b_.status().ok()) return std::nullopt;
  const auto open = [](const Dim& d) { return d.is_const() ? d : Dim::Any(); };
  const ir::Type type = ListType(ir::MapDims(sample.type, open));
  const Value last = b_.Op("subtract", {length, b_.Int(1)});
  const State made =
      RunLoop(b_, {length, {}, {Made("Nil", {}, type)}, [&](const Value& i, const State& state) {
                     const Value v = element(b_.Op("subtract", {last, i}));
                     return Turn{{}, {Made("Cons", {v, state[0]}, type)}, {}};
                   }});
  return made.empty() ? std::nullopt : std::optional(made[0]);
}
// What a constructor of List makes.
Value ScriptOutputs::Made(std::string_view name, const std::vector<Value>& arguments,
                          const ir::Type& type) {
  b_.UsePrelude();
  for (const ir::Constructor* c : module_.types.at("List").constructors) {
    if (c->name != name) continue;
    std::vector<ir::NodeId> nodes;
    for (const Value& v : arguments) nodes.push_back(v.node);
    const ir::NodeId callee = b_.graph().Use(c, b_.span());
    return b_.Wrap(b_.graph().Call(callee, std::move(nodes), b_.span()), type);
  }
  return {};
}

// A List of the host where the elements have one type, else a tuple.
std::optional<Value> ScriptOutputs::OutputList(const Item& list) {
  const CellContent& content = list.cell->content();
  if (content.columns == nullptr) {
    const std::vector<Item> items = content.items;
    const Value tuple = OutputTuple(items);
    if (!b_.status().ok()) return std::nullopt;
    ir::Type joined;
    for (const Value& v : b_.Fields(tuple)) {
      if (!v.is_tensor()) return tuple;
      joined = joined == nullptr ? v.type : JoinTypes(joined, v.type);
      if (joined == nullptr) return tuple;
    }
    if (joined == nullptr) return tuple;
    const ir::Type type =
        ListType(ir::MapDims(joined, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); }));
    return Coerce(b_, tuple, type);
  }
  const Columns& columns = *content.columns;
  if (columns.values.empty()) return b_.Tuple({});
  Value v = columns.values[0];
  if (columns.element.form != Item::Form::kValue) {
    return OutputColumns(columns);
  } else if (v.is_tensor()) {
    v = SequenceOfParts(b_, {v, 0, {b_, b_.Int(1), "rows"}, false});
  }
  v = AsSequence(b_, v);
  if (!b_.status().ok()) return std::nullopt;
  return Coerce(b_, v, ListType(import::ElementType(v.type, "Sequence")));
}

}  // namespace relayvm::import::torch
