// Operators: those of the language itself (script_builtins.cc), then those of the tables.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/script_evaluator.h"
#include "compiler/import/torch/user_converter.h"

namespace relayvm::import::torch {

// --- Operators ---

// What may be None, or one of two, is decided before the operator is called.
std::optional<Item> Evaluator::ForEachAlternative(const std::string& name, const Args& a) {
  const auto decide =
      [&](const Item& item,
          const std::function<void(Args&, const Item&)>& put) -> std::optional<Item> {
    if (!item.is(Item::Kind::kEither) && !item.is(Item::Kind::kMaybe)) return std::nullopt;
    const auto with = [&, put](Item chosen) {
      return [this, &name, &a, put, chosen = std::move(chosen)] {
        Args own = a;
        put(own, chosen);
        return CallOperator(name, std::move(own));
      };
    };
    if (item.is(Item::Kind::kEither))
      return Fork(item.condition, with(item.items[0]), with(item.items[1]));
    return Fork(item.condition, [&] { return with(shapes_.HeldItem(item))(); }, with(Item::None()));
  };
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (auto done =
            decide(a.items[i], [i](Args& own, const Item& chosen) { own.items[i] = chosen; }))
      return done;
    const std::vector<Item>* parts = a.items[i].is(Item::Kind::kList) &&
                                             a.items[i].cell->content().columns == nullptr &&
                                             a.items[i].cell->content().growing == nullptr
                                         ? &a.items[i].cell->content().items
                                     : a.items[i].is(Item::Kind::kTuple) ? &a.items[i].items
                                                                         : nullptr;
    if (parts == nullptr || name == "aten::append" || name == "aten::__getitem__" ||
        name == "aten::len")
      continue;
    for (size_t k = 0; k < parts->size(); ++k) {
      if (!(*parts)[k].is(Item::Kind::kEither) && !(*parts)[k].is(Item::Kind::kMaybe)) continue;
      const Item part = (*parts)[k];
      std::vector<Item> all = *parts;
      const bool is_list = a.items[i].is(Item::Kind::kList);
      return decide(part, [i, k, all, is_list, this](Args& own, const Item& chosen) {
        std::vector<Item> chosen_items = all;
        chosen_items[k] = chosen;
        Item whole = is_list ? NewList(std::move(chosen_items), own.items[i].type)
                             : Item::Tuple(std::move(chosen_items));
        own.items[i] = std::move(whole);
      });
    }
  }
  for (size_t i = 0; i < a.keywords.size(); ++i) {
    if (auto done = decide(a.keywords[i].second,
                           [i](Args& own, const Item& chosen) { own.keywords[i].second = chosen; }))
      return done;
  }
  return std::nullopt;
}

Item Evaluator::CallOperator(std::string name, Args a) {
  if (!Step()) return Item::Unknown();
  a.name = name;
  SetPlace(name);
  const auto builtin = Builtins().find(name);
  // Those that ask what an item is take it as it is.
  static const std::set<std::string_view> kAsTheyAre = {"aten::__is__",
                                                        "aten::__isnot__",
                                                        "aten::append",
                                                        "aten::_set_item",
                                                        "prim::unchecked_unwrap_optional",
                                                        "aten::_unwrap_optional",
                                                        "aten::insert",
                                                        "aten::wait",
                                                        "prim::awaitable_wait"};
  const bool as_they_are = kAsTheyAre.contains(name);
  const auto is_unknown = [](const Item& item) { return item.is(Item::Kind::kUnknown); };
  const bool unknown =
      std::ranges::any_of(a.items, is_unknown) ||
      std::ranges::any_of(a.keywords, [&](const auto& k) { return is_unknown(k.second); });
  if (unknown && !(as_they_are && name == "aten::append")) return Item::Unknown();
  if (FindUserConverter(user_operators_, name) != nullptr) return CallUserConverter(name, a);
  if (!as_they_are) {
    if (auto done = ForEachAlternative(name, a)) return *std::move(done);
  }
  if (auto upgraded = Upgraded(name, a)) return *std::move(upgraded);
  if (builtin != Builtins().end()) {
    if (auto done = (this->*builtin->second)(a)) {
      TakeError();
      return *std::move(done);
    }
    if (Stopped()) return Item::Unknown();
  }
  return CallTable(name, a);
}

Item Evaluator::CallTable(const std::string& name, Args& a) {
  operator_ = name;
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  std::optional<Argument> out;
  for (const Item& item : a.items) {
    auto argument = AsArgument(item);
    if (!argument) return Item::Unknown();
    positional.push_back(*std::move(argument));
  }
  for (const auto& [keyword, value] : a.keywords) {
    auto argument = AsArgument(value);
    if (!argument) return Item::Unknown();
    if (keyword == "out") {
      out = *std::move(argument);
    } else {
      keywords.push_back({keyword, *std::move(argument)});
    }
  }
  if (TakeError()) return Item::Unknown();
  if (Overloads(name).empty())
    return Fail(StatusCode::kUnsupported, fmt::format("{} is not supported", name));
  auto bound = ChooseOverload(name, positional, keywords);
  if (TakeError()) return Item::Unknown();
  if (!bound.ok()) return Fail(bound.status().code(), std::string(bound.status().message()));
  const bool in_place = (out || (IsInPlace(name) && bound->op->schema.name != name));
  Results results =
      aliases_.Run(*bound->op, std::move(bound->arguments), in_place, out ? &*out : nullptr);
  if (TakeError()) return Item::Unknown();
  if (in_place) NoteWrites(out ? *out : positional.empty() ? Argument() : positional[0]);
  for (size_t i = 0; i < bound->op->schema.arguments.size() && i < positional.size(); ++i) {
    if (bound->op->schema.arguments[i].written) NoteWrites(positional[i]);
  }
  if (results.empty()) return Item::None();
  if (results.size() == 1) return OfArgument(results[0]);
  std::vector<Item> items;
  const auto& declared = bound->op->schema.results;
  for (size_t i = 0; i < results.size(); ++i) {
    // One that there is no operator for may not be asked for.
    const bool missing = results[i].is_none() && i < declared.size() &&
                         declared[i].type.base == SchemaType::Base::kTensor &&
                         !declared[i].type.optional;
    items.push_back(missing ? Item::Unknown() : OfArgument(results[i]));
  }
  return Item::Tuple(std::move(items));
}

void Evaluator::NoteWrites(const Argument& a) {
  for (const Argument& item : a.items) NoteWrites(item);
  if (a.alias == nullptr) return;
  const auto stored = stored_tensors_.find(a.alias->storage().get());
  if (stored != stored_tensors_.end()) written_.insert(stored->second);
  if (a.alias->storage()->perhaps == nullptr) return;
  for (const std::weak_ptr<Storage>& other : *a.alias->storage()->perhaps) {
    const auto perhaps = stored_tensors_.find(other.lock().get());
    if (perhaps != stored_tensors_.end()) written_.insert(perhaps->second);
  }
}

std::optional<Argument> Evaluator::AsArgument(const Item& item) {
  switch (item.kind) {
    case Item::Kind::kPlain:
      if (item.is_tensor()) ReadTensor(item);
      return item.plain;
    case Item::Kind::kTuple: {
      std::vector<Argument> items;
      for (const Item& part : item.items) {
        auto argument = AsArgument(part);
        if (!argument) return std::nullopt;
        items.push_back(*std::move(argument));
      }
      return Argument::Tuple(std::move(items));
    }
    case Item::Kind::kList: {
      if (!Readable(item)) return std::nullopt;
      if (const std::vector<Item>* known = KnownItems(item)) {
        const std::vector<Item> parts = *known;
        std::vector<Argument> items;
        for (const Item& part : parts) {
          auto argument = AsArgument(part);
          if (!argument) return std::nullopt;
          items.push_back(*std::move(argument));
        }
        return Argument::List(std::move(items));
      }
      if (item.cell->content().columns == nullptr ||
          item.cell->content().columns->values.size() != 1) {
        Unsupported(
            "a list, of a length that only running tells, of what is no tensor is given to {}",
            operator_);
        return std::nullopt;
      }
      const Value v = item.cell->content().columns->values[0];
      if (!v.is_tensor()) return Argument::Sequence(v);
      // Rows: what takes a list of numbers takes a tensor of them in few cases, which have their
      // own way.
      if (v.rank() == 1) {
        if (v.dim(0).is_const()) {
          std::vector<Argument> items;
          for (int64_t i = 0; i < v.dim(0).value(); ++i)
            items.push_back(Number(b_.Op("take", {v, b_.Int(i)}, {{"axis", 0}})).plain);
          return Argument::List(std::move(items));
        }
        Unsupported("a list of numbers, of a length that only running tells, is given to {}",
                    operator_);
        return std::nullopt;
      }
      std::vector<Value> columns = {v};
      const Value count = Extent(b_, v, 0);
      static_cast<void>(count);
      TypedBuilder::State flat;
      Item shape;
      shape.kind = Item::Kind::kList;
      shape.form = Item::Form::kColumns;
      shape.items = {item.cell->content().columns->element};
      shapes_.Flatten(shape, item, &flat);
      if (TakeError() || flat.size() != 1) return std::nullopt;
      return Argument::Sequence(flat[0]);
    }
    case Item::Kind::kUninitialised:
      return Argument();
    case Item::Kind::kUnknown:
      return std::nullopt;
    case Item::Kind::kClass:
      return Argument::String(TypeText(item.type));
    default:
      Unsupported("{} is given to {}", ObjectTypeText(item), operator_);
      return std::nullopt;
  }
}

Item Evaluator::OfArgument(const Argument& a) {
  if (a.is(Argument::Kind::kSequence)) {
    if (const auto* tuple = a.value.type == nullptr ? nullptr : a.value.type->As<ir::TupleType>();
        tuple != nullptr) {
      std::vector<Item> items;
      for (const Value& v : b_.Fields(a.value)) items.push_back(Item(aliases_.Fresh(v)));
      return NewList(std::move(items), ListOfType(SimpleType(ScriptType::Kind::kTensor)));
    }
    auto columns = std::make_shared<Columns>();
    columns->element.form = Item::Form::kValue;
    columns->element.plain.kind = Argument::Kind::kTensor;
    columns->element.leaf_type = import::ElementType(a.value.type, "Sequence");
    columns->values = {a.value};
    return shapes_.ListOf(std::move(columns), ListOfType(SimpleType(ScriptType::Kind::kTensor)));
  }
  if (!a.is_list()) return a;
  std::vector<Item> items;
  for (const Argument& part : a.items) items.push_back(OfArgument(part));
  return a.is(Argument::Kind::kTuple) ? Item::Tuple(std::move(items)) : NewList(std::move(items));
}

// What operators meant in older versions of the file format.
std::optional<Item> Evaluator::Upgraded(const std::string& name, Args& a) {
  constexpr int64_t kTrueDivision = 4, kFullByType = 5, kLinspace = 8, kLogspace = 9;
  const int64_t version = code_.version();
  if (version < kTrueDivision && (name == "aten::div" || name == "aten::div_") &&
      a.keywords.empty() && a.size() == 2) {
    const auto is_float = [&](const Item& x) {
      return x.is_tensor() ? IsFloat(ReadTensor(x).dtype()) : x.plain.is_float();
    };
    if (is_float(a[0]) || is_float(a[1]) || !(a[0].is_tensor() || a[1].is_tensor()))
      return std::nullopt;
    a.keywords.emplace_back("rounding_mode", Item::String("trunc"));
    return CallTable(name, a);
  }
  const auto given = [&](std::string_view keyword) {
    return std::ranges::any_of(
        a.keywords, [&](const auto& k) { return k.first == keyword && !k.second.is_none(); });
  };
  if (version < kFullByType && name == "aten::full" && !given("dtype") && a.size() == 2) {
    std::erase_if(a.keywords, [](const auto& k) { return k.first == "dtype"; });
    a.keywords.emplace_back("dtype", Item::Int(TorchOfDType(DType::kFloat32)));
    return CallTable(name, a);
  }
  const bool linspace = version < kLinspace && name == "aten::linspace",
             logspace = version < kLogspace && name == "aten::logspace";
  constexpr int64_t kSteps = 100;
  if ((linspace || logspace) && a.size() >= 3 && a[2].is_none()) {
    a.items[2] = Item::Int(kSteps);
    return CallTable(name, a);
  }
  if ((linspace || logspace) && a.size() == 2) {
    a.items.push_back(Item::Int(kSteps));
    return CallTable(name, a);
  }
  return std::nullopt;
}

}  // namespace relayvm::import::torch
