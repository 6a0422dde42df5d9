// Calls: forms of the language, functions, methods, operators.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/composite/loops.h"
#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

namespace {

constexpr int kMostCalls = 300;  // inside of each other

// PyTorch runs these with a constant of the archive that has rank 0 as with a number, whose dtype
// says nothing: x * 2.5 of a trace, or of a frozen module.
bool TakesNumber(std::string_view name, const Expr& e) {
  constexpr std::string_view kNames[] = {"torch.add",    "torch.sub",        "torch.subtract",
                                         "torch.mul",    "torch.multiply",   "torch.div",
                                         "torch.divide", "torch.true_divide"};
  if (name.ends_with('_')) name.remove_suffix(1);
  if (e.children.size() < 3 || !DottedName(e.children[2]).starts_with("CONSTANTS.")) return false;
  const bool rounds = std::ranges::any_of(
      e.keywords, [](const auto& keyword) { return keyword.first == "rounding_mode"; });
  return !rounds && std::ranges::find(kNames, name) != std::end(kNames);
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
  if (TakesNumber(name, e) && a.items[1].is_tensor() && !a.items[1].plain.complex) {
    const Value constant = ReadTensor(a.items[1]);
    if (constant.rank() == 0) a.items[1] = ScalarArgument(b_, constant);
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
      return item.is_text();
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

}  // namespace relayvm::import::torch
