// What data.pkl and constants.pkl hold, as items: modules, their attributes, tensors.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/torch/quantised.h"
#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

std::optional<ScriptCode::Found> Evaluator::FindName(const std::string& name) {
  auto found = code_.Find(name);
  if (!found.ok()) {
    Is(found.status());
    return std::nullopt;
  }
  return *found;
}

Item Evaluator::Root() {
  Item root = Load(code_.root(), {}, "");
  return root;
}

Item Evaluator::LoadCell(Item::Kind kind, const ScriptType& type, CellContent content,
                         const std::string& path) {
  Item item;
  item.kind = kind;
  item.type = type;
  item.cell = heap_.New(std::move(content));
  item.cell->path = path;
  item.cell->id = 0;  // older than any branch that first looks at it
  return item;
}

Item Evaluator::Load(const PickleValue& tagged, const ScriptType& type, const std::string& path) {
  using K = PickleValue::Kind;
  const PickleValue& v = Untagged(tagged);
  switch (v.kind) {
    case K::kNone:
      return Item::None();
    case K::kBool:
      return Item::Bool(v.integer != 0);
    case K::kInt:
      return type.is(ScriptType::Kind::kFloat) ? Item::Float(static_cast<double>(v.integer))
                                               : Item::Int(v.integer);
    case K::kFloat:
      return Item::Float(v.real);
    case K::kText:
    case K::kBytes:
      return Item::String(v.text);
    default:
      break;
  }
  // What is shared is one item, as it is in PyTorch.
  if (const auto known = loaded_.find(&v); known != loaded_.end() && !v.is(K::kTuple))
    return known->second;
  if (depth_ > Pickle::kDepth) return Unsupported("the attributes are nested too deep");
  const ScriptType& own = type.is(ScriptType::Kind::kOptional) ? type.element() : type;
  Item item;
  switch (v.kind) {
    case K::kTuple:
    case K::kList:
    case K::kSet: {
      std::vector<Item> items;
      for (size_t i = 0; i < v.items.size(); ++i) {
        const ScriptType inner = own.is(ScriptType::Kind::kTuple) && i < own.arguments.size()
                                     ? own.arguments[i]
                                     : own.element();
        items.push_back(Load(*v.items[i], inner, fmt::format("{}.{}", path, i)));
      }
      if (v.is(K::kTuple)) {
        item = Item::Tuple(std::move(items));
        if (own.is(ScriptType::Kind::kClass)) item.type = own;
        return item;
      }
      CellContent content;
      content.items = std::move(items);
      item = LoadCell(Item::Kind::kList, own, std::move(content), path);
      break;
    }
    case K::kDict: {
      CellContent content;
      const ScriptType value = own.arguments.size() == 2 ? own.arguments[1] : ScriptType();
      for (size_t i = 0; i + 1 < v.items.size(); i += 2) {
        Item key = Load(*v.items[i], {}, path);
        std::string inner = key.is_string() ? key.plain.text : fmt::format("{}", i / 2);
        content.entries.emplace_back(
            std::move(key), Load(*v.items[i + 1], value, fmt::format("{}.{}", path, inner)));
      }
      item = LoadCell(Item::Kind::kDict, own, std::move(content), path);
      break;
    }
    case K::kCall:
      if (IsTensor(v)) {
        item = LoadTensor(v, path);
        break;
      }
      return LoadObject(v, path);
    default:
      return Fail("{}: {} is not understood", path, Describe(v));
  }
  loaded_[&v] = item;
  return item;
}

Item Evaluator::LoadTensor(const PickleValue& v, const std::string& path) {
  auto read = code_.ReadTensor(v, path);
  if (!read.ok()) {
    Is(read.status());
    return Item::Unknown();
  }
  Argument tensor = TensorArgument(b_, *std::move(read), path);
  if (TakeError()) return Item::Unknown();
  Item item(aliases_.Fresh(std::move(tensor)));
  item.plain.alias->storage()->id = 0;
  stored_tensors_[item.plain.alias->storage().get()] = path;
  tangled_.push_back(item.plain.alias->storage());
  return item;
}

namespace {

// A state of __setstate__ as an argument: numbers, tensors, lists of them.
bool IsPacked(std::string_view type) { return type.starts_with("__torch__.torch.classes."); }

}  // namespace

Item Evaluator::LoadObject(const PickleValue& v, const std::string& path) {
  const std::string& name = v.callee->text;
  if (name.ends_with("OrderedDict")) {
    Item dict = LoadCell(Item::Kind::kDict, SimpleType(ScriptType::Kind::kDict), {}, path);
    return loaded_[&v] = dict;
  }
  if (name == "torch.device" || name.ends_with(".device")) {
    const auto arguments = v.arguments();
    return Argument::Device(arguments.empty() ? "cpu" : arguments[0]->text);
  }
  if (IsPacked(name)) {
    auto object = std::make_shared<Object>();
    object->type = name;
    if (v.state != nullptr) {
      auto state = AsArgument(Load(*v.state, {}, path));
      if (!state) return Item::Unknown();
      object->state = *std::move(state);
    }
    return loaded_[&v] = Item(Argument::OfObject(std::move(object)));
  }
  const auto found = FindName(name);
  if (Stopped()) return Item::Unknown();
  if (!found || found->type == nullptr)
    return Fail("{}: the class {} is not in the archive", path.empty() ? "the module" : path, name);
  if (found->type->base == "Enum") {
    const auto arguments = v.arguments();
    for (const ClassAttribute& member : found->type->attributes) {
      const Item item = EnumMember(*found, name, member.name);
      if (arguments.size() == 1 && item.cell != nullptr &&
          Shapes::AreSame(item.cell->content().attributes.at("value"),
                          Load(*arguments[0], {}, path)))
        return item;
    }
    return Fail("{}: no such value of {}", path, name);
  }
  ScriptType type = SimpleType(ScriptType::Kind::kClass);
  type.name = name;
  Item object = LoadCell(Item::Kind::kObject, type, {}, path);
  loaded_[&v] = object;
  if (v.state == nullptr) return object;
  if (const FunctionDef* set = found->type->FindMethod("__setstate__")) {
    Item state =
        Load(*v.state,
             set->parameters.size() > 1 ? TypeOfExpr(set->parameters[1].type) : ScriptType(), path);
    CallFunction({set, found->file, nullptr}, {object, std::move(state)}, {});
    return object;
  }
  CellContent& content = heap_.Refine(*object.cell);
  const PickleValue& state = Untagged(*v.state);
  if (!state.is(PickleValue::Kind::kDict))
    return Fail("{}: expected attributes, found {}", path, Describe(state));
  for (size_t i = 0; i + 1 < state.items.size(); i += 2) {
    Item stored;
    stored.kind = Item::Kind::kStored;
    stored.stored = state.items[i + 1];
    content.attributes[state.items[i]->text] = std::move(stored);
  }
  return object;
}

Item Evaluator::EnumMember(const ScriptCode::Found& found, const std::string& type,
                           std::string_view name) {
  const std::string full = fmt::format("{}.{}", type, name);
  if (const auto known = enums_.find(full); known != enums_.end()) return known->second;
  for (const ClassAttribute& member : found.type->attributes) {
    if (member.name != name || !member.has_value) continue;
    Frame f;
    f.file = found.file;
    CellContent content;
    content.attributes["value"] = Evaluate(member.value, f);
    content.attributes["name"] = Item::String(std::string(name));
    ScriptType of = SimpleType(ScriptType::Kind::kClass);
    of.name = type;
    return enums_[full] = LoadCell(Item::Kind::kObject, of, std::move(content), "");
  }
  return Fail("{} has no member {}", type, name);
}

Item Evaluator::AttributeOf(const Item& object, const std::string& name) {
  if (object.is(Item::Kind::kUnknown)) return object;
  if (object.is(Item::Kind::kEither)) {
    const auto of = [&](size_t i) { return [&, i] { return AttributeOf(object.items[i], name); }; };
    return Fork(object.condition, of(0), of(1));
  }
  if (object.is(Item::Kind::kTuple) && object.type.is(ScriptType::Kind::kClass)) {
    const auto found = FindName(object.type.name);
    if (found && found->type != nullptr) {
      for (size_t i = 0; i < found->type->attributes.size() && i < object.items.size(); ++i) {
        if (found->type->attributes[i].name == name) return object.items[i];
      }
    }
  }
  if (object.is_tensor()) return CallOperator("prim::" + name, {"", {object}, {}, nullptr});
  if (!object.is(Item::Kind::kObject)) return Fail("'{}' is asked of what has no attributes", name);
  if (!Readable(object)) return Item::Unknown();
  const auto& attributes = object.cell->content().attributes;
  const auto at = attributes.find(name);
  const auto found = FindName(object.type.name);
  const ClassAttribute* declared = nullptr;
  if (found && found->type != nullptr) {
    const auto d = std::ranges::find(found->type->attributes, name, &ClassAttribute::name);
    if (d != found->type->attributes.end()) declared = &*d;
  }
  if (at == attributes.end()) {
    if (declared != nullptr && declared->has_value) {
      Frame f;
      f.file = found->file;
      return Evaluate(declared->value, f);
    }
    if (found && found->type != nullptr) {
      if (const FunctionDef* method = found->type->FindMethod(name)) {
        Item function;
        function.kind = Item::Kind::kFunction;
        function.callable = {method, found->file, nullptr};
        return function;
      }
    }
    return Fail("{} has no attribute '{}'", object.type.name, name);
  }
  if (!at->second.is(Item::Kind::kStored)) return at->second;
  const std::string path = object.cell->path.empty() ? name : object.cell->path + "." + name;
  Item item = Load(*at->second.stored,
                   declared == nullptr ? ScriptType() : TypeOfExpr(declared->type), path);
  holders_[path] = {object.cell, name};
  sources_of_[path] = {at->second.stored,
                       declared == nullptr ? ScriptType() : TypeOfExpr(declared->type)};
  if (given_) {
    if (auto given = given_(path, item)) {
      item = *std::move(given);
      if (item.cell != nullptr) item.cell->path = path;
      if (item.cell != nullptr) item.cell->id = 0;
      if (item.is_tensor()) {
        item.plain.alias->storage()->id = 0;
        stored_tensors_[item.plain.alias->storage().get()] = path;
        tangled_.push_back(item.plain.alias->storage());
      }
    }
  }
  heap_.Refine(*object.cell).attributes[name] = item;
  resolved_[path] = item;
  return item;
}

Item Evaluator::Resolved(const Cell& object, const std::string& name, const Item& item) const {
  if (!item.is(Item::Kind::kStored)) return item;
  const auto known = resolved_.find(object.path.empty() ? name : object.path + "." + name);
  return known == resolved_.end() ? item : known->second;
}

void Evaluator::SetAttribute(const Item& object, const std::string& name, Item value) {
  if (object.is(Item::Kind::kUnknown)) return;
  if (!object.is(Item::Kind::kObject)) {
    Unsupported("the attribute '{}' is set of what only running tells", name);
    return;
  }
  if (!Writable(object)) return;
  // Attributes of the file are read before they are written: what they were first is part of the
  // state.
  const auto at = object.cell->content().attributes.find(name);
  if (at != object.cell->content().attributes.end() && at->second.is(Item::Kind::kStored))
    AttributeOf(object, name);
  const bool of_file = loaded_.end() != std::ranges::find_if(loaded_, [&](const auto& l) {
                         return l.second.cell == object.cell;
                       });
  if (of_file) {
    const std::string path = object.cell->path.empty() ? name : object.cell->path + "." + name;
    if (holders_.contains(path)) written_.insert(path);
  }
  const auto found = FindName(object.type.name);
  if (found && found->type != nullptr) {
    const auto d = std::ranges::find(found->type->attributes, name, &ClassAttribute::name);
    if (d != found->type->attributes.end()) value = Typed(TypeOfExpr(d->type), std::move(value));
  }
  heap_.Change(*object.cell).attributes[name] = std::move(value);
}

Item Evaluator::AtPath(const std::string& path) {
  const auto holder = holders_.find(path);
  if (holder == holders_.end()) return Fail("the state '{}' is not found", path);
  const auto& attributes = holder->second.first->content().attributes;
  const auto at = attributes.find(holder->second.second);
  return at == attributes.end() ? Item::Unknown() : at->second;
}

Item Evaluator::FirstAt(const std::string& path) {
  const auto source = sources_of_.find(path);
  if (source == sources_of_.end()) return Fail("the state '{}' is not found", path);
  loaded_.clear();
  return Load(*source->second.first, source->second.second, path);
}

// Modules of a list of them, by a number that may be known; of a dictionary by its key.
Item Evaluator::ModuleAt(const Item& container, const Item& index) {
  const auto& attributes = container.cell->content().attributes;
  if (index.is_string()) return AttributeOf(container, index.plain.text);
  std::vector<std::string> names;
  for (int64_t i = 0; attributes.contains(fmt::format("{}", i)); ++i)
    names.push_back(fmt::format("{}", i));
  const auto count = static_cast<int64_t>(names.size());
  if (index.is_known_int()) {
    const int64_t i = index.plain.integer < 0 ? index.plain.integer + count : index.plain.integer;
    if (i < 0 || i >= count) return Raise("IndexError: list index out of range");
    return AttributeOf(container, names[static_cast<size_t>(i)]);
  }
  if (names.empty() || !index.is_number()) return Fail("an index of modules that is no number");
  Item chosen = AttributeOf(container, names.back());
  for (size_t i = names.size() - 1; i-- > 0;) {
    Item either;
    either.kind = Item::Kind::kEither;
    const auto at = static_cast<int64_t>(i);
    const Value value = ScalarOf(index, DType::kInt64);
    either.condition = b_.Op("logical_or", {b_.Op("equal", {value, b_.Int(at)}),
                                            b_.Op("equal", {value, b_.Int(at - count)})});
    either.items = {AttributeOf(container, names[i]), std::move(chosen)};
    chosen = std::move(either);
  }
  const Value value = ScalarOf(index, DType::kInt64);
  AddGuard(b_.Op("logical_and", {b_.Op("less", {value, b_.Int(count)}),
                                 b_.Op("greater_equal", {value, b_.Int(-count)})}),
           {"IndexError: list index out of range", b_.span()});
  return chosen;
}

}  // namespace relayvm::import::torch
