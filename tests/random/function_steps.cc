// Steps that make and call functions: closures, recursion, polymorphic and higher-order functions.
#include <fmt/format.h>

#include "tests/random/generator.h"

namespace relayvm::random_programs {
namespace {

// Functions on lists, trees and anything, as a library of Relay would have them.
struct LibraryRow {
  const char *name, *text;
};
constexpr LibraryRow kLibrary[] = {
    {"map",
     "def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {\n"
     "  match (%xs) { Cons(%x, %rest) => { Cons(%f(%x), @map(%f, %rest)) }, Nil => { Nil } }\n}\n"},
    {"foldl",
     "def @foldl[A, B](%f: fn (B, A) -> B, %acc: B, %xs: List[A]) -> B {\n"
     "  match (%xs) { Cons(%x, %rest) => { @foldl(%f, %f(%acc, %x), %rest) }, Nil => { %acc } }\n"
     "}\n"},
    {"foldr",
     "def @foldr[A, B](%f: fn (B, A) -> B, %acc: B, %xs: List[A]) -> B {\n"
     "  match (%xs) { Cons(%x, %rest) => { %f(@foldr(%f, %acc, %rest), %x) }, Nil => { %acc } }\n"
     "}\n"},
    {"filter",
     "def @filter[A](%f: fn (A) -> bool, %xs: List[A]) -> List[A] {\n"
     "  match (%xs) {\n    Cons(%x, %rest) => {\n"
     "      if (%f(%x)) { Cons(%x, @filter(%f, %rest)) } else { @filter(%f, %rest) }\n    },\n"
     "    Nil => { Nil },\n  }\n}\n"},
    {"length",
     "def @length[A](%xs: List[A]) -> int32 {\n"
     "  match (%xs) {\n    Cons(_, Cons(_, %rest)) => { add(2, @length(%rest)) },\n"
     "    Cons(_, Nil) => { 1 },\n    Nil => { 0 },\n  }\n}\n"},
    {"reverse",
     "def @reverse[A](%xs: List[A], %done: List[A]) -> List[A] {\n"
     "  match (%xs) { Cons(%x, %rest) => { @reverse(%rest, Cons(%x, %done)) }, Nil => { %done } }\n"
     "}\n"},
    {"zip",
     "def @zip[A, B](%xs: List[A], %ys: List[B]) -> List[(A, B)] {\n"
     "  match ((%xs, %ys)) {\n"
     "    (Cons(%x, %xr), Cons(%y, %yr)) => { Cons((%x, %y), @zip(%xr, %yr)) },\n"
     "    _ => { Nil },\n  }\n}\n"},
    {"iota",
     "def @iota(%n: int32) -> List[int32] {\n"
     "  if (less_equal(%n, 0)) { Nil } else { Cons(%n, @iota(subtract(%n, 1))) }\n}\n"},
    {"grow",
     "def @grow(%n: int32) -> Tree[int32] {\n"
     "  if (less_equal(%n, 0)) { Leaf(%n) }\n"
     "  else { Node(@grow(subtract(%n, 1)), %n, @grow(subtract(%n, 2))) }\n}\n"},
    {"tree_map",
     "def @tree_map[A, B](%f: fn (A) -> B, %t: Tree[A]) -> Tree[B] {\n"
     "  match (%t) {\n    Leaf(%x) => { Leaf(%f(%x)) },\n"
     "    Node(%l, %x, %r) => { Node(@tree_map(%f, %l), %f(%x), @tree_map(%f, %r)) },\n  }\n}\n"},
    {"tree_fold",
     "def @tree_fold[A, B](%f: fn (B, A) -> B, %acc: B, %t: Tree[A]) -> B {\n"
     "  match (%t) {\n    Leaf(%x) => { %f(%acc, %x) },\n"
     "    Node(Leaf(%x), %y, %r) => { @tree_fold(%f, %f(%f(%acc, %x), %y), %r) },\n"
     "    Node(%l, %x, %r) => { @tree_fold(%f, %f(@tree_fold(%f, %acc, %l), %x), %r) },\n  }\n}\n"},
    {"identity", "def @identity[A](%x: A) -> A { %x }\n"},
    {"twice", "def @twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }\n"},
    {"compose",
     "def @compose[A, B, C](%f: fn (B) -> C, %g: fn (A) -> B) -> fn (A) -> C {\n"
     "  fn (%x: A) -> C { %f(%g(%x)) }\n}\n"},
    {"swap", "def @swap[A, B](%p: (A, B)) -> (B, A) { (%p.1, %p.0) }\n"},
    {"get_or",
     "def @get_or[A](%x: Option[A], %d: A) -> A {\n"
     "  match (%x) { Some(%y) => { %y }, None_ => { %d } }\n}\n"},
    {"head",
     "def @head[A](%xs: List[A]) -> Option[A] {\n"
     "  match (%xs) { Cons(%x, _) => { Some(%x) }, Nil => { None_ } }\n}\n"},
};

bool IsData(const Value& v, const char* adt) {
  return v.type->Is(Type::Kind::kAdt) && v.type->adt == adt;
}
bool IsPlain(const Value& v) {
  return !Contains(*v.type, Type::Kind::kRef) && !Contains(*v.type, Type::Kind::kFunction);
}
TypePtr Int32() { return ScalarType(DType::kInt32); }

}  // namespace

const std::string& Generator::Library(const std::string& name) {
  auto [at, is_new] = library_.insert("@" + name);
  for (const LibraryRow& row : kLibrary) {
    if (is_new && row.name == name) definitions_ += row.text;
  }
  return *at;
}

std::vector<Value> Generator::SomeOperands(Scope& scope, int count) {
  std::vector<Value> found;
  for (int i = 0; i < count; ++i) {
    std::optional<Value> v = PickCopy(scope, IsPlain);
    if (!v) break;
    std::optional<Value> fitted = Fit(*v, *Contract(v->type));
    if (!fitted) continue;
    found.push_back({fitted->text, Contract(v->type)});
  }
  return found;
}

std::optional<std::string> Generator::Arguments(Scope& scope, const std::vector<TypePtr>& params) {
  std::string text;
  for (const TypePtr& p : params) {
    std::optional<std::string> value = MakeValue(scope, p, 1);
    if (!value) return std::nullopt;
    text += (text.empty() ? "" : ", ") + *value;
  }
  return text;
}

// --- Closures ---

bool Generator::ClosureStep(Scope& scope) {
  std::vector<TypePtr> types;
  for (const Value& v : SomeOperands(scope, Between(1, 2))) types.push_back(v.type);
  TypePtr result = ResultType(scope);
  if (types.empty() || result == nullptr) return false;
  TypePtr type = FunctionType(types, Contract(result));
  std::optional<std::string> made = MakeClosure(scope, *type, 0);
  if (!made) return false;
  Let(scope, *made, type, true);
  return true;
}

bool Generator::CallValueStep(Scope& scope) {
  std::optional<Value> f =
      PickCopy(scope, [](const Value& v) { return v.type->Is(Type::Kind::kFunction); });
  if (!f) return false;
  std::vector<TypePtr> params(f->type->args.begin(), f->type->args.end() - 1);
  std::optional<std::string> args = Arguments(scope, params);
  if (!args) return false;
  return Add(scope, "closure.call", fmt::format("{}({})", f->text, *args), f->type->args.back(),
             false);
}

bool Generator::CurriedStep(Scope& scope) {
  std::vector<Value> operands = SomeOperands(scope, 2);
  if (operands.size() < 2) return false;
  TypePtr inner = FunctionType({operands[1].type}, operands[1].type);
  TypePtr outer = FunctionType({operands[0].type}, inner);
  std::optional<std::string> made = MakeClosure(scope, *outer, 0);
  if (!made) return false;
  Value f = Let(scope, *made, outer, true);
  Value g = Let(scope, fmt::format("{}({})", f.text, operands[0].text), inner, false);
  return Add(scope, "curried", fmt::format("{}({})", g.text, operands[1].text), operands[1].type,
             false);
}

bool Generator::LocalRecursionStep(Scope& scope) {
  std::vector<Value> operands = SomeOperands(scope, 1);
  if (operands.empty()) return false;
  TypePtr type = operands[0].type;
  std::string f = "%" + NewName("f"), n = "%" + NewName("n"), acc = "%" + NewName("a");
  Scope inner = Inner(scope);
  ++inner.indent;
  Declare(inner, n, Int32());
  Declare(inner, acc, Fresh(type));
  Steps(inner, Below(3));
  std::optional<std::string> next = MakeValue(inner, type);
  if (!next) return false;
  std::string pad(static_cast<size_t>(2 * scope.indent), ' ');
  std::string text = fmt::format(
      "fn ({0}: int32, {1}: {2}) -> {2} {{\n{3}  if (less_equal({0}, 0)) {{ {1} }} else {{\n"
      "{4}{3}    {5}(subtract({0}, 1), {6})\n{3}  }}\n{3}}}",
      n, acc, TypeText(*type), pad, inner.lines, f, *next);
  scope.lines += fmt::format("{}let {} = {};\n", pad, f, text);
  Declare(scope, f, FunctionType({Int32(), type}, type));
  // Called here only: elsewhere its counter could be anything.
  scope.values.pop_back();
  return Add(scope, "closure.recursive",
             fmt::format("{}({}, {})", f, SmallCount(scope, 6), operands[0].text), type, false);
}

// A loop that appends to a tensor along any axis, and keeps a copy of what it was the turn before.
bool Generator::GrowStep(Scope& scope) {
  std::optional<Value> x = PickTensor(scope, [](const Value& v) { return !v.type->shape.empty(); });
  if (!x) return false;
  const auto axis = static_cast<size_t>(Below(static_cast<int>(x->type->shape.size())));
  Type grown = *x->type;
  grown.shape[axis] = {};
  grown.shape[axis].unknown = next_unknown_++;
  if (LargestCount(grown.shape) > kLargestTensor) return false;
  TypePtr type = std::make_shared<const Type>(std::move(grown));
  const int turned = Below(static_cast<int>(type->shape.size()));
  const std::string f = NewName("f"), text = TypeText(*type);
  const std::string pad(static_cast<size_t>(2 * scope.indent), ' ');
  const bool is_local = Chance(40), is_pair = Chance(50);
  const std::string longer =
      fmt::format("concatenate((%t, {}), axis={})", is_local ? x->text : "%row", axis);
  const std::string before = fmt::format("reverse(%t, axis={})", turned);
  const std::string carried =
      is_pair ? fmt::format("%p: ({0}, {0})", text) : fmt::format("%t: {0}, %o: {0}", text);
  const std::string name = (is_local ? "%" : "@") + f, row = is_local ? "" : ", %row";
  const std::string next =
      is_pair ? fmt::format("({}, {})", longer, before) : fmt::format("{}, {}", longer, before);
  const std::string function = fmt::format(
      "(%n: int32, {0}{1}) -> ({2}, {2}) {{\n{3}  if (less_equal(%n, 0)) {{ {4} }} else {{\n"
      "{5}{3}    {6}(subtract(%n, 1), {7}{8})\n{3}  }}\n{3}}}",
      carried, is_local ? "" : ", %row: " + TypeText(*x->type), text, is_local ? pad : "",
      is_pair ? "%p" : "(%t, %o)",
      is_pair ? fmt::format("{}    let %t = %p.0;\n", is_local ? pad : "") : "", name, next, row);
  if (is_local) {
    scope.lines += fmt::format("{}let {} = fn {};\n", pad, name, function);
  } else {
    definitions_ += fmt::format("def {}{}\n", name, function);
  }
  return Add(scope, "loop.grow",
             fmt::format("{}({}, {}{})", name, SmallCount(scope, 4),
                         fmt::format(fmt::runtime(is_pair ? "({0}, {0})" : "{0}, {0}"), x->text),
                         is_local ? "" : ", " + x->text),
             TupleType({Fresh(type), Fresh(type)}), false);
}

// --- Functions ---

bool Generator::FunctionStep(Scope& scope) {
  std::vector<Value> operands = SomeOperands(scope, Between(1, 3));
  if (operands.empty()) return false;
  Scope body;
  body.depth = scope.depth + 1;
  Function f{"@" + NewName("f"), {}, nullptr};
  std::string params, args;
  for (const Value& v : operands) {
    std::string name = "%" + NewName("a");
    params += fmt::format("{}{}: {}", params.empty() ? "" : ", ", name, TypeText(*v.type));
    args += (args.empty() ? "" : ", ") + v.text;
    f.params.push_back(v.type);
    Declare(body, name, Fresh(v.type));
  }
  Steps(body, Between(1, 5));
  TypePtr result = ResultType(body);
  if (result == nullptr) return false;
  f.result = Contract(result);
  std::optional<std::string> text = BlockOf(body, 0, f.result);
  if (!text) return false;
  definitions_ += fmt::format("def {}({}) -> {} {}\n", f.name, params, TypeText(*f.result), *text);
  functions_.push_back(f);
  return Add(scope, "function", fmt::format("{}({})", f.name, args), Fresh(f.result));
}

bool Generator::CallAgainStep(Scope& scope) {
  if (functions_.empty()) return false;
  Function f = OneOf(functions_);
  std::optional<std::string> args = Arguments(scope, f.params);
  if (!args) return false;
  return Add(scope, "call.again", fmt::format("{}({})", f.name, *args), Fresh(f.result));
}

bool Generator::RecursionStep(Scope& scope) {
  bool deep = scope.depth == 0 && Chance(20);
  std::vector<Value> operands = SomeOperands(scope, Between(1, 2));
  if (operands.empty()) return false;
  if (deep) operands = {{SmallNumber(DType::kInt32), Int32()}};
  int kind = deep ? 0 : Below(3);  // a tail call; work after the call; two calls
  std::string name = "@" + NewName("rec");
  Scope body;
  body.depth = scope.depth + 1;
  body.indent = 2;
  std::string params = "%n: int32", rest, args;
  Declare(body, "%n", Int32());
  for (const Value& v : operands) {
    std::string p = "%" + NewName("a");
    params += fmt::format(", {}: {}", p, TypeText(*v.type));
    args += ", " + v.text;
    if (&v != operands.data()) rest += ", " + p;
    Declare(body, p, Fresh(v.type));
  }
  TypePtr type = operands[0].type;
  std::string first = body.values[1].text;
  if (kind == 2) {
    Let(body, fmt::format("{}(subtract(%n, 2), {}{})", name, first, rest), Fresh(type), true);
  }
  Steps(body, deep ? 2 : Below(4));
  std::optional<std::string> next = MakeValue(body, type);
  if (!next) return false;
  std::string result = fmt::format("{}(subtract(%n, 1), {}{})", name, *next, rest);
  if (kind == 1) {
    Let(body, result, Fresh(type), true);
    Steps(body, Between(1, 3));
    std::optional<std::string> after = MakeValue(body, type);
    if (!after) return false;
    result = *after;
  }
  definitions_ += fmt::format(
      "def {}({}) -> {} {{\n  if (less_equal(%n, 0)) {{ {} }} else {{\n{}    {}\n  }}\n}}\n", name,
      params, TypeText(*type), first, body.lines, result);
  constexpr int kDeep = 1000;  // the reference interpreter takes some microseconds for each
  std::string count = deep ? std::to_string(kDeep) : SmallCount(scope, 5);
  const char* const kNames[] = {"recursion.tail", "recursion.work", "recursion.tree"};
  return Add(scope, deep ? "recursion.deep" : kNames[kind],
             fmt::format("{}({}{})", name, count, args), Fresh(type));
}

bool Generator::MutualRecursionStep(Scope& scope) {
  std::vector<Value> operands = SomeOperands(scope, 1);
  if (operands.empty()) return false;
  TypePtr type = operands[0].type;
  std::array<std::string, 2> names = {"@" + NewName("even"), "@" + NewName("odd")};
  std::string text;
  for (size_t i = 0; i < 2; ++i) {
    Scope body;
    body.depth = scope.depth + 1;
    body.indent = 2;
    Declare(body, "%n", Int32());
    Declare(body, "%x", Fresh(type));
    Steps(body, Below(3));
    std::optional<std::string> next = MakeValue(body, type);
    if (!next) return false;
    text += fmt::format(
        "def {0}(%n: int32, %x: {1}) -> {1} {{\n  if (less_equal(%n, 0)) {{ %x }} else {{\n{2}"
        "    {3}(subtract(%n, 1), {4})\n  }}\n}}\n",
        names[i], TypeText(*type), body.lines, names[1 - i], *next);
  }
  definitions_ += text;
  return Add(scope, "mutual_recursion",
             fmt::format("{}({}, {})", names[0], SmallCount(scope, 6), operands[0].text),
             Fresh(type));
}

// --- Functions of functions ---

bool Generator::ListFunctionStep(Scope& scope) {
  std::optional<Value> list = PickCopy(scope, [](const Value& v) { return IsData(v, "List"); });
  if (!list || Chance(15)) {
    list = Let(scope, fmt::format("{}({})", Library("iota"), SmallCount(scope, 5)),
               AdtType("List", {Int32()}), true);
  }
  TypePtr element = list->type->args[0];
  TypePtr result = ResultType(scope);
  if (result == nullptr) return false;
  result = Contract(result);
  auto closure = [&](std::vector<TypePtr> params, TypePtr to) {
    return MakeValue(scope, FunctionType(std::move(params), std::move(to)), 1);
  };
  Use("higher_order.list");
  switch (Below(7)) {
    case 0:
    case 1: {
      std::optional<std::string> f = closure({element}, result);
      if (!f) return false;
      return Add(scope, "list.map", fmt::format("{}({}, {})", Library("map"), *f, list->text),
                 AdtType("List", {result}), false);
    }
    case 2:
    case 3: {
      std::optional<std::string> f = closure({result, element}, result);
      std::optional<std::string> start = MakeValue(scope, result);
      if (!f || !start) return false;
      return Add(scope, "list.fold",
                 fmt::format("{}({}, {}, {})", Library(Chance(50) ? "foldl" : "foldr"), *f, *start,
                             list->text),
                 result, false);
    }
    case 4: {
      std::optional<std::string> f = closure({element}, ScalarType(DType::kBool));
      if (!f) return false;
      return Add(scope, "list.filter", fmt::format("{}({}, {})", Library("filter"), *f, list->text),
                 list->type, false);
    }
    case 5:
      return Add(scope, "list.length", fmt::format("{}({})", Library("length"), list->text),
                 Int32());
    default: {
      if (Chance(50)) {
        return Add(scope, "list.reverse",
                   fmt::format("{}({}, Nil)", Library("reverse"), list->text), list->type);
      }
      std::optional<Value> other =
          PickCopy(scope, [](const Value& v) { return IsData(v, "List"); });
      if (!other) return false;
      return Add(scope, "list.zip",
                 fmt::format("{}({}, {})", Library("zip"), list->text, other->text),
                 AdtType("List", {TupleType({element, other->type->args[0]})}));
    }
  }
}

bool Generator::TreeFunctionStep(Scope& scope) {
  std::optional<Value> tree = PickCopy(scope, [](const Value& v) { return IsData(v, "Tree"); });
  if (!tree || Chance(20)) {
    tree = Let(scope, fmt::format("{}({})", Library("grow"), SmallCount(scope, 5)),
               AdtType("Tree", {Int32()}), true);
  }
  TypePtr element = tree->type->args[0];
  TypePtr result = ResultType(scope);
  if (result == nullptr) return false;
  result = Contract(result);
  Use("higher_order.tree");
  if (Chance(50)) {
    std::optional<std::string> f = MakeValue(scope, FunctionType({element}, result), 1);
    if (!f) return false;
    return Add(scope, "tree.map", fmt::format("{}({}, {})", Library("tree_map"), *f, tree->text),
               AdtType("Tree", {result}), false);
  }
  std::optional<std::string> f = MakeValue(scope, FunctionType({result, element}, result), 1);
  std::optional<std::string> start = MakeValue(scope, result);
  if (!f || !start) return false;
  return Add(scope, "tree.fold",
             fmt::format("{}({}, {}, {})", Library("tree_fold"), *f, *start, tree->text), result,
             false);
}

bool Generator::PolymorphicStep(Scope& scope) {
  std::vector<Value> operands = SomeOperands(scope, 2);
  if (operands.size() < 2) return false;
  const Value &a = operands[0], &b = operands[1];
  Use("polymorphic");
  switch (Below(6)) {
    case 0:
      return Add(scope, "polymorphic", fmt::format("{}({})", Library("identity"), a.text), a.type);
    case 1:
      return Add(scope, "polymorphic", fmt::format("{}(({}, {}))", Library("swap"), a.text, b.text),
                 TupleType({b.type, a.type}));
    case 2: {
      std::optional<std::string> f = MakeValue(scope, FunctionType({a.type}, a.type), 1);
      if (!f) return false;
      return Add(scope, "polymorphic", fmt::format("{}({}, {})", Library("twice"), *f, a.text),
                 a.type, false);
    }
    case 3: {
      std::optional<std::string> f = MakeValue(scope, FunctionType({b.type}, a.type), 1);
      std::optional<std::string> g = MakeValue(scope, FunctionType({a.type}, b.type), 1);
      if (!f || !g) return false;
      TypePtr type = FunctionType({a.type}, a.type);
      Let(scope, fmt::format("{}({}, {})", Library("compose"), *f, *g), type, true);
      return true;
    }
    case 4: {
      std::optional<Value> option =
          PickCopy(scope, [](const Value& v) { return IsData(v, "Option"); });
      if (!option) return false;
      std::optional<std::string> other = MakeValue(scope, option->type->args[0]);
      if (!other) return false;
      return Add(scope, "polymorphic",
                 fmt::format("{}({}, {})", Library("get_or"), option->text, *other),
                 Fresh(option->type->args[0]));
    }
    default: {
      std::optional<Value> list = PickCopy(scope, [](const Value& v) { return IsData(v, "List"); });
      if (!list) return false;
      return Add(scope, "polymorphic", fmt::format("{}({})", Library("head"), list->text),
                 AdtType("Option", {list->type->args[0]}));
    }
  }
}

}  // namespace relayvm::random_programs
