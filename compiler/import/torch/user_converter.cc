#include "compiler/import/torch/user_converter.h"

#include <utility>
#include <vector>

#include "compiler/import/torch/script_evaluator.h"
#include "compiler/import/user_call.h"

namespace relayvm::import::torch {

namespace {

std::string_view NameInTable(std::string_view name) {
  const bool in_place = name.ends_with('_') && !name.ends_with("__");
  return in_place ? name.substr(0, name.size() - 1) : name;
}

UserArgument ToUser(TypedBuilder& b, Aliases& aliases, const Argument& a) {
  using Kind = Argument::Kind;
  using User = UserArgument;
  User u;
  switch (a.kind) {
    case Kind::kNone:
      break;
    case Kind::kBool:
    case Kind::kInt:
      u.kind = a.is(Kind::kInt) ? User::Kind::kInt : User::Kind::kBool;
      u.integer = a.integer;
      break;
    case Kind::kFloat:
      u.kind = User::Kind::kFloat;
      u.real = a.real;
      break;
    case Kind::kString:
    case Kind::kDevice:
      u.kind = User::Kind::kString;
      u.text = a.text;
      break;
    case Kind::kTensor:
      if (a.complex || a.quantised != nullptr) {
        b.Fail(StatusCode::kUnsupported, "a custom converter takes no {} tensors",
               a.complex ? "complex" : "quantised");
      }
      u.kind = User::Kind::kTensor;
      u.value = aliases.Read(a);
      break;
    case Kind::kSymInt:
    case Kind::kSymFloat:
    case Kind::kSymBool:
      u.kind = User::Kind::kNumber;
      u.value = a.value;
      break;
    case Kind::kList:
    case Kind::kTuple:
      u.kind = a.is(Kind::kList) ? User::Kind::kList : User::Kind::kTuple;
      for (const Argument& item : a.items) u.items.push_back(ToUser(b, aliases, item));
      break;
    default:
      b.Fail(StatusCode::kUnsupported, "a custom converter takes no {}", KindText(a));
  }
  return u;
}

Argument FromUser(TypedBuilder& b, Aliases& aliases, const UserArgument& u) {
  using User = UserArgument;
  switch (u.kind) {
    case User::Kind::kNone:
      return {};
    case User::Kind::kBool:
      return Argument::Bool(u.integer != 0);
    case User::Kind::kInt:
      return Argument::Int(u.integer);
    case User::Kind::kFloat:
      return Argument::Float(u.real);
    case User::Kind::kString:
      return Argument::String(u.text);
    case User::Kind::kTensor:
      return aliases.Fresh(u.value);
    case User::Kind::kNumber:
      return ScalarArgument(b, u.value);
    case User::Kind::kList:
    case User::Kind::kTuple:
      break;
  }
  std::vector<Argument> items;
  for (const UserArgument& item : u.items) items.push_back(FromUser(b, aliases, item));
  return u.kind == User::Kind::kList ? Argument::List(std::move(items))
                                     : Argument::Tuple(std::move(items));
}

}  // namespace

const UserConverter* FindUserConverter(const UserOperators& all, std::string_view name) {
  auto found = all.find(name);
  if (found == all.end()) found = all.find(NameInTable(name));
  return found == all.end() ? nullptr : &found->second;
}

Argument RunUserConverter(TypedBuilder& b, Aliases& aliases, const UserOperators& all,
                          std::string_view name, std::span<const Argument> positional,
                          std::span<const KeywordArgument> keywords) {
  std::vector<Argument> arguments(positional.begin(), positional.end());
  for (const KeywordArgument& k : keywords) arguments.push_back(k.value);
  if (!Overloads(name).empty()) {
    auto bound = ChooseOverload(name, positional, keywords);
    if (bound.ok()) arguments = std::move(bound->arguments);
  }
  UserCall call{name, {}};
  for (const Argument& a : arguments) call.arguments.push_back(ToUser(b, aliases, a));
  if (!b.status().ok()) return {};
  const UserArgument result = (*FindUserConverter(all, name))(b, call);
  if (!b.status().ok()) return {};
  if (all.contains(name) || arguments.empty() || !arguments[0].is_tensor())
    return FromUser(b, aliases, result);
  if (result.kind != UserArgument::Kind::kTensor) {
    b.Fail("its converter gives no tensor");
    return {};
  }
  aliases.Write(arguments[0], result.value);
  return arguments[0];
}

Item Evaluator::CallUserConverter(const std::string& name, const Args& a) {
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  for (const Item& item : a.items) {
    auto argument = AsArgument(item);
    if (!argument) return Item::Unknown();
    positional.push_back(*std::move(argument));
  }
  for (const auto& [keyword, value] : a.keywords) {
    auto argument = AsArgument(value);
    if (!argument) return Item::Unknown();
    keywords.push_back({keyword, *std::move(argument)});
  }
  if (TakeError()) return Item::Unknown();
  const Argument result =
      RunUserConverter(b_, aliases_, user_operators_, name, positional, keywords);
  if (TakeError()) return Item::Unknown();
  if (IsInPlace(name) && !positional.empty()) NoteWrites(positional[0]);
  return OfArgument(result);
}

}  // namespace relayvm::import::torch
