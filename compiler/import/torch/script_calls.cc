// Calls: forms of the language, functions, methods, operators.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/script_evaluator.h"
#include "compiler/import/torch/user_converter.h"

namespace relayvm::import::torch {

namespace {

constexpr int kMostCalls = 300;  // inside of each other

std::string ObjectTypeText(const Item& item) {
  switch (item.kind) {
    case Item::Kind::kPlain:
      return KindText(item.plain);
    case Item::Kind::kTuple:
      return "a tuple";
    case Item::Kind::kList:
      return "a list";
    case Item::Kind::kDict:
      return "a dictionary";
    case Item::Kind::kObject:
      return item.type.name;
    case Item::Kind::kMaybe:
      return "an optional value";
    case Item::Kind::kClass:
      return TypeText(item.type);
    default:
      return "a value";
  }
}

}  // namespace

Item Evaluator::EvaluateCall(const Expr& e, Frame& f) {
  if (auto special = SpecialForm(e, f)) return *std::move(special);
  const Expr& callee = e.children[0];
  std::string name = DottedName(callee);
  // A name of the program's own comes before the language's.
  const std::string root = name.substr(0, name.find('.'));
  bool own = name.empty();
  for (Frame* frame = &f; frame != nullptr && !own; frame = frame->outer.get())
    own = frame->names.contains(root);
  Args a;
  a.call = &e;
  Item object;
  const bool is_method = own && callee.kind == Expr::Kind::kAttribute;
  if (own) object = Evaluate(is_method ? callee.children[0] : callee, f);
  for (size_t i = 1; i < e.children.size(); ++i) a.items.push_back(Evaluate(e.children[i], f));
  for (const auto& [keyword, value] : e.keywords)
    a.keywords.emplace_back(keyword, Evaluate(value, f));
  if (Stopped()) return Item::Unknown();
  here_ = {f.file, e.offset};
  if (is_method) return CallItemMethod(object, callee.text, std::move(a), e);
  if (own) {
    if (object.is(Item::Kind::kFunction))
      return CallFunction(object.callable, std::move(a.items), std::move(a.keywords));
    return object.is(Item::Kind::kUnknown)
               ? object
               : Fail("{} is called, which is no function", ObjectTypeText(object));
  }
  return CallNamed(name, std::move(a));
}

Item Evaluator::CallNamed(const std::string& name, Args a) {
  if (name.starts_with("torch.")) {
    const std::string own = name.substr(6);
    return CallOperator("aten::" + own, std::move(a));
  }
  if (name.starts_with("ops.")) {
    const size_t dot = name.find('.', 4);
    if (dot == std::string::npos) return Fail("'{}' is no operator", name);
    return CallOperator(name.substr(4, dot - 4) + "::" + name.substr(dot + 1), std::move(a));
  }
  if (name.starts_with("__torch__.")) {
    const auto found = FindName(name);
    if (Stopped()) return Item::Unknown();
    if (!found) return CallOperator(name, std::move(a));
    if (found->type == nullptr)
      return CallFunction({found->function, found->file, nullptr}, std::move(a.items),
                          std::move(a.keywords));
    if (found->rest.empty() || found->rest == "__new__") return Construct(*found, std::move(a));
    if (const FunctionDef* method = found->type->FindMethod(found->rest))
      return CallFunction({method, found->file, nullptr}, std::move(a.items),
                          std::move(a.keywords));
    return Fail("'{}' is not in the archive", name);
  }
  return CallOperator(name.find('.') == std::string::npos ? "aten::" + name : name, std::move(a));
}

// Those that are no operators: types as arguments, attributes by name.
std::optional<Item> Evaluator::SpecialForm(const Expr& e, Frame& f) {
  if (e.children[0].kind != Expr::Kind::kName) return std::nullopt;
  const std::string& name = e.children[0].text;
  const size_t count = e.children.size() - 1;
  if (f.names.contains(name)) return std::nullopt;
  if ((name == "annotate" || name == "unchecked_cast") && count == 2) {
    const ScriptType type = TypeOfExpr(e.children[1]);
    const Expr& inner = e.children[2];
    // x.tolist() by the type that is wanted.
    if (inner.kind == Expr::Kind::kCall && inner.children[0].kind == Expr::Kind::kAttribute &&
        inner.children[0].text == "tolist") {
      const Item tensor = Evaluate(inner.children[0].children[0], f);
      here_ = {f.file, e.offset};
      return Stopped() ? Item::Unknown() : ToList(tensor, type);
    }
    Item value = Evaluate(inner, f);
    if (Stopped()) return Item::Unknown();
    here_ = {f.file, e.offset};
    return name == "annotate" ? Typed(type, std::move(value)) : CastTo(type, std::move(value));
  }
  if (name == "uninitialized") {
    Item item;
    item.kind = Item::Kind::kUninitialised;
    return item;
  }
  if (name == "getattr" && count == 2 && e.children[2].kind == Expr::Kind::kString) {
    const Item object = Evaluate(e.children[1], f);
    here_ = {f.file, e.offset};
    return Stopped() ? Item::Unknown() : AttributeOf(object, e.children[2].text);
  }
  if (name == "hasattr" && count == 2 && e.children[2].kind == Expr::Kind::kString) {
    const Item object = Evaluate(e.children[1], f);
    return object.cell == nullptr
               ? Item::Bool(false)
               : Item::Bool(object.cell->content().attributes.contains(e.children[2].text));
  }
  if (name == "isinstance" && count == 2) {
    const Item item = Evaluate(e.children[1], f);
    if (Stopped()) return Item::Unknown();
    std::vector<const Expr*> types = {&e.children[2]};
    if (types[0]->kind == Expr::Kind::kList || types[0]->kind == Expr::Kind::kTuple) {
      types.clear();
      for (const Expr& t : e.children[2].children) types.push_back(&t);
    }
    bool any = false;
    for (const Expr* t : types) {
      ScriptType wanted = TypeOfExpr(*t);
      if (t->kind == Expr::Kind::kNone) wanted = SimpleType(ScriptType::Kind::kNone);
      const auto is = IsInstance(item, wanted);
      if (!is) return Unsupported("isinstance of what only running tells");
      any = any || *is;
    }
    return Item::Bool(any);
  }
  if ((name == "fork" || name == "awaitable") && count >= 1) {
    const Item function = Evaluate(e.children[1], f);
    std::vector<Item> arguments;
    for (size_t i = 2; i < e.children.size(); ++i) arguments.push_back(Evaluate(e.children[i], f));
    if (Stopped()) return Item::Unknown();
    if (function.is(Item::Kind::kFunction))
      return CallFunction(function.callable, std::move(arguments), {});
    return Fail("{} is forked, which is no function", ObjectTypeText(function));
  }
  return std::nullopt;
}

// A value that is said to be of that type: lists and dictionaries that are empty know it from here.
Item Evaluator::Typed(const ScriptType& type, Item item) {
  using K = ScriptType::Kind;
  if (type.is(K::kOptional)) return item.is_none() ? item : Typed(type.element(), std::move(item));
  if ((item.is(Item::Kind::kList) || item.is(Item::Kind::kDict)) &&
      (type.is(K::kList) || type.is(K::kDict)))
    item.type = type;
  // A tensor stands for its number: what traces call an int.
  if (item.is_tensor() && (type.is(K::kInt) || type.is(K::kFloat) || type.is(K::kBool)))
    return NumberAs(item, type.kind);
  return item;
}

// What the program has found it to be.
Item Evaluator::CastTo(const ScriptType& type, Item item) {
  if (item.is(Item::Kind::kMaybe) && !type.is(ScriptType::Kind::kOptional))
    return shapes_.HeldItem(item);
  if (item.is(Item::Kind::kEither) && !type.is(ScriptType::Kind::kOptional)) {
    // Of two that differ in their types, the one that it is.
    const auto first = IsInstance(item.items[0], type), second = IsInstance(item.items[1], type);
    if (first && second && *first != *second) return CastTo(type, item.items[*first ? 0 : 1]);
  }
  return Typed(type, std::move(item));
}

std::optional<bool> Evaluator::IsInstance(const Item& item, const ScriptType& type) {
  using K = ScriptType::Kind;
  if (item.is(Item::Kind::kUnknown) || item.is(Item::Kind::kMaybe) || item.is(Item::Kind::kEither))
    return std::nullopt;
  switch (type.kind) {
    case K::kAny:
      return true;
    case K::kTensor:
      return item.is_tensor();
    case K::kInt:
      return item.is_number() && item.plain.is_int();
    case K::kFloat:
      return item.is_number() && item.plain.is_float();
    case K::kBool:
      return item.is_number() && item.plain.is_bool();
    case K::kNumber:
      return item.is_number();
    case K::kComplex:
      return item.plain_is(Argument::Kind::kComplex);
    case K::kString:
      return item.is_string();
    case K::kNone:
      return item.is_none();
    case K::kDevice:
      return item.plain_is(Argument::Kind::kDevice);
    case K::kOptional: {
      const auto inner = IsInstance(item, type.element());
      return item.is_none() ? std::optional(true) : inner;
    }
    case K::kUnion: {
      bool any = false;
      for (const ScriptType& t : type.arguments) any = any || IsInstance(item, t).value_or(false);
      return any;
    }
    case K::kTuple:
      return item.is(Item::Kind::kTuple) &&
             (type.arguments.empty() || type.arguments.size() == item.items.size());
    case K::kDict:
      return item.is(Item::Kind::kDict);
    case K::kList: {
      if (!item.is(Item::Kind::kList) || type.arguments.empty()) return item.is(Item::Kind::kList);
      if (!item.type.arguments.empty()) return item.type.element() == type.element();
      const std::vector<Item>* items = KnownItems(item);
      return items == nullptr || items->empty() ? std::optional(true)
                                                : IsInstance((*items)[0], type.element());
    }
    case K::kFuture:
      return true;
    case K::kClass:
      return (item.is(Item::Kind::kObject) || item.is(Item::Kind::kTuple)) &&
             item.type.name == type.name;
  }
  return std::nullopt;
}

// --- Functions ---

Item Evaluator::CallFunction(const Callable& c, std::vector<Item> arguments,
                             std::vector<std::pair<std::string, Item>> keywords) {
  const FunctionDef& function = *c.function;
  if (depth_ >= kMostCalls) {
    return Unsupported(
        "{} calls itself more than {} times, or without an end that is known when compiling; write "
        "it as a loop",
        function.name, kMostCalls);
  }
  if (arguments.size() > function.parameters.size())
    return Fail("{} takes {} arguments, {} are given", function.name, function.parameters.size(),
                arguments.size());
  Frame f;
  f.file = c.file;
  f.outer = c.closure;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& p = function.parameters[i];
    const auto named = std::ranges::find(keywords, p.name, &std::pair<std::string, Item>::first);
    Item value;
    if (i < arguments.size()) {
      value = std::move(arguments[i]);
    } else if (named != keywords.end()) {
      value = std::move(named->second);
    } else if (p.has_default) {
      value = Evaluate(p.fallback, f);
    } else {
      return Fail("{}: the argument {} is missing", function.name, p.name);
    }
    f.names[p.name] = p.type.kind == Expr::Kind::kNone
                          ? std::move(value)
                          : Typed(TypeOfExpr(p.type), std::move(value));
  }
  const Here caller = here_;
  ++depth_;
  Run(function.body, f);
  --depth_;
  if (!raised_) here_ = caller;
  return std::move(f.result);
}

// An instance of a class, of a named tuple.
Item Evaluator::Construct(const ScriptCode::Found& found, Args a) {
  const std::string name = found.file->module + "." + found.type->name;
  ScriptType type = SimpleType(ScriptType::Kind::kClass);
  type.name = name;
  if (found.type->base == "NamedTuple") {
    std::vector<Item> fields = std::move(a.items);
    for (size_t i = fields.size(); i < found.type->attributes.size(); ++i) {
      const std::string& field = found.type->attributes[i].name;
      const auto named = std::ranges::find(a.keywords, field, &std::pair<std::string, Item>::first);
      if (named == a.keywords.end()) return Fail("{}: the field {} is missing", name, field);
      fields.push_back(named->second);
    }
    Item tuple = Item::Tuple(std::move(fields));
    tuple.type = std::move(type);
    return tuple;
  }
  if (found.type->base == "Enum" && a.size() == 1) {
    for (const ClassAttribute& member : found.type->attributes) {
      const Item item = EnumMember(found, name, member.name);
      if (item.cell != nullptr &&
          Shapes::AreSame(item.cell->content().attributes.at("value"), a[0]))
        return item;
    }
    return Raise("there is no such value of " + name);
  }
  Item object;
  object.kind = Item::Kind::kObject;
  object.type = std::move(type);
  object.cell = heap_.New({});
  // X.__new__(X) makes one that __init__ fills.
  if (found.rest == "__new__") return object;
  if (const FunctionDef* init = found.type->FindMethod("__init__")) {
    std::vector<Item> arguments = {object};
    for (Item& item : a.items) arguments.push_back(std::move(item));
    CallFunction({init, found.file, nullptr}, std::move(arguments), std::move(a.keywords));
  }
  return object;
}

const FunctionDef* Evaluator::MethodOf(const Item& object, std::string_view name,
                                       const ScriptFile** file) {
  if (object.type.kind != ScriptType::Kind::kClass) return nullptr;
  const auto found = FindName(object.type.name);
  if (!found || found->type == nullptr) return nullptr;
  *file = found->file;
  return found->type->FindMethod(name);
}

Item Evaluator::CallMethod(const Item& object, std::string_view name, std::vector<Item> arguments) {
  const ScriptFile* file = nullptr;
  const FunctionDef* method = MethodOf(object, name, &file);
  if (method == nullptr) return Fail("{} has no method {}", object.type.name, name);
  arguments.insert(arguments.begin(), object);
  return CallFunction({method, file, nullptr}, std::move(arguments), {});
}

Item Evaluator::CallItemMethod(const Item& object, std::string_view name, Args a, const Expr& e) {
  if (object.is(Item::Kind::kUnknown)) return object;
  if (object.is(Item::Kind::kEither)) {
    const auto call = [&](size_t i) {
      return [&, i] { return CallItemMethod(object.items[i], name, a, e); };
    };
    return Fork(object.condition, call(0), call(1));
  }
  const ScriptFile* file = nullptr;
  if (const FunctionDef* method = MethodOf(object, name, &file)) {
    a.items.insert(a.items.begin(), object);
    return CallFunction({method, file, nullptr}, std::move(a.items), std::move(a.keywords));
  }
  if (object.is(Item::Kind::kObject) && object.cell->content().attributes.contains(name)) {
    const Item attribute = AttributeOf(object, std::string(name));
    if (attribute.is(Item::Kind::kFunction))
      return CallFunction(attribute.callable, std::move(a.items), std::move(a.keywords));
  }
  if (object.is_tensor() && name == "tolist") return ToList(object, {});
  if (object.is(Item::Kind::kFunction) && name == "forward")
    return CallFunction(object.callable, std::move(a.items), std::move(a.keywords));
  a.items.insert(a.items.begin(), object);
  if (object.plain_is(Argument::Kind::kObject))
    return CallOperator(fmt::format("{}.{}", object.plain.object->type, name), std::move(a));
  return CallOperator(fmt::format("aten::{}", name), std::move(a));
}

Item Evaluator::DefaultOf(const ScriptFile& file, const Parameter& parameter) {
  Frame f;
  f.file = &file;
  here_ = {&file, parameter.fallback.offset};
  return Evaluate(parameter.fallback, f);
}

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
  for (const Argument& r : results) items.push_back(OfArgument(r));
  return Item::Tuple(std::move(items));
}

void Evaluator::NoteWrites(const Argument& a) {
  for (const Argument& item : a.items) NoteWrites(item);
  if (a.alias == nullptr) return;
  const auto stored = stored_tensors_.find(a.alias->storage().get());
  if (stored != stored_tensors_.end()) written_.insert(stored->second);
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
      // Rows: what takes a list of numbers takes a tensor of them in few cases, which have their own way.
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
