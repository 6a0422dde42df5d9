// Relay text in, inferred types out.
#include "compiler/typing/infer.h"

#include <chrono>

#include "compiler/ir/printer.h"
#include "compiler/typing/testing.h"

namespace relayvm::typing {
namespace {

struct SignatureRow {
  const char* what;
  std::string source;
  const char* signature;  // of @main
};

void Check(const std::vector<SignatureRow>& rows) {
  for (const SignatureRow& r : rows) {
    CAPTURE(r.what);
    CHECK(Signature(MustType(r.source)) == r.signature);
  }
}

TEST_CASE("expressions") {
  Check({
      {"a constant", "def @main() { 1 }", "fn () -> int32"},
      {"an operator", "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }",
       "fn (Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32]"},
      {"broadcasting of known dims",
       "def @main(%x: Tensor[(2, 1), float32], %y: Tensor[(3), float32]) { add(%x, %y) }",
       "fn (Tensor[(2, 1), float32], Tensor[(3), float32]) -> Tensor[(2, 3), float32]"},
      {"a tuple and its fields", "def @main(%x: int32) { let %t = (%x, 2f); (%t.1, %t.0) }",
       "fn (int32) -> (float32, int32)"},
      {"an operator that gives a tuple",
       "def @main(%x: Tensor[(4, 6), float32]) { split(%x, indices_or_sections=2, axis=1).1 }",
       "fn (Tensor[(4, 6), float32]) -> Tensor[(4, 3), float32]"},
      {"the branches of if", "def @main(%c: bool) { if (%c) { 1f } else { 2f } }",
       "fn (bool) -> float32"},
      {"a reference", "def @main() { let %r = ref(1); let %u = ref_write(%r, 2); ref_read(%r) }",
       "fn () -> int32"},
      {"the empty tuple", "def @main() { () }", "fn () -> ()"},
      {"a type that nothing decides is the unit", std::string(kListType) + "def @main() { Nil }",
       "fn () -> List[()]"},
  });
}

TEST_CASE("dims are expressions over symbols of the parameters") {
  Check({
      {"each ? is a symbol", "def @main(%x: Tensor[(?, 3, ?), float32]) { nn.relu(%x) }",
       "fn (Tensor[(x.0, 3, x.2), float32]) -> Tensor[(x.0, 3, x.2), float32]"},
      {"arithmetic",
       "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(?, 2), float32]) {"
       "  concatenate((%x, %y)) }",
       "fn (Tensor[(x.0, 2), float32], Tensor[(y.0, 2), float32]) -> "
       "Tensor[(x.0 + y.0, 2), float32]"},
      {"what reshape leaves open",
       "def @main(%x: Tensor[(?, 6), float32]) { reshape(%x, newshape=[-1, 3]) }",
       "fn (Tensor[(x.0, 6), float32]) -> Tensor[(x.0*2, 3), float32]"},
      {"in tuples", "def @main(%t: (Tensor[(?), float32], Tensor[(?), int32])) { %t.1 }",
       "fn ((Tensor[(t.0.0), float32], Tensor[(t.1.0), int32])) -> Tensor[(t.1.0), int32]"},
      {"branches with different dims give an unknown one",
       "def @main(%c: bool, %x: Tensor[(?, 3), int32], %y: Tensor[(2, 3), int32]) {"
       "  let %z = if (%c) { %x } else { %y }; nn.relu(%z) }",
       "fn (bool, Tensor[(x.0, 3), int32], Tensor[(2, 3), int32]) -> Tensor[(?, 3), int32]"},
      {"a branch that another decides keeps dims of its own",
       "def @main(%c: bool, %x: Tensor[(?, 3), int32], %y) { if (%c) { %x } else { %y } }",
       "fn (bool, Tensor[(x.0, 3), int32], Tensor[(y.0, 3), int32]) -> Tensor[(?, 3), int32]"},
      {"branches with equal dims keep them",
       "def @main(%c: bool, %x: Tensor[(?, 3), int32]) {"
       "  if (%c) { %x } else { negative(%x) } }",
       "fn (bool, Tensor[(x.0, 3), int32]) -> Tensor[(x.0, 3), int32]"},
      {"an annotation with ? loses nothing",
       "def @main(%x: Tensor[(?), int32]) -> Tensor[(?), int32] {"
       "  let %y: Tensor[(?), int32] = negative(%x); %y }",
       "fn (Tensor[(x.0), int32]) -> Tensor[(x.0), int32]"},
      {"an operator whose result only running tells",
       "def @main(%x: Tensor[(?), int32]) { let %y = argwhere(%x); %y }",
       "fn (Tensor[(x.0), int32]) -> Tensor[(?, 1), int32]"},
  });
}

TEST_CASE("contents of shape tensors are followed") {
  Check({
      {"shape_of",
       "def @main(%x: Tensor[(?, 3), float32], %y: Tensor[(?), float32]) {"
       "  dyn.reshape(%y, shape_of(%x, dtype=\"int64\"), newshape=[]) }",
       "fn (Tensor[(x.0, 3), float32], Tensor[(y.0), float32]) -> Tensor[(x.0, 3), float32]"},
      {"arithmetic on them, through tuples and copies",
       "def @main(%x: Tensor[(?, 4), float32]) {"
       "  let %s = shape_of(%x, dtype=\"int64\");"
       "  let %n = take(%s, 0i64, axis=0, mode=\"clip\");"
       "  let %t = (%n, 2i64);"
       "  let %m = multiply(%t.0, %t.1);"
       "  let %shape = concatenate((expand_dims(%m, axis=0), expand_dims(2i64, axis=0)));"
       "  let %copy = %shape;"
       "  dyn.reshape(%x, %copy, newshape=[]) }",
       "fn (Tensor[(x.0, 4), float32]) -> Tensor[(x.0*2, 2), float32]"},
      {"ndarray_size",
       "def @main(%x: Tensor[(?, 4), float32]) {"
       "  let %n = ndarray_size(%x, dtype=\"int64\");"
       "  dyn.reshape(%x, expand_dims(%n, axis=0), newshape=[]) }",
       "fn (Tensor[(x.0, 4), float32]) -> Tensor[(x.0*4), float32]"},
      {"what is known of a reshape by numbers of an input",
       "def @main(%x: Tensor[(?, 64), float32], %n: int64) {"
       "  dyn.reshape(%x, stack((%n, 4i64, 32i64), axis=0), newshape=[]) }",
       "fn (Tensor[(x.0, 64), float32], int64) -> Tensor[(floordiv(x.0, 2), 4, 32), float32]"},
      {"two such numbers",
       "def @main(%x: Tensor[(?, 64), float32], %n: int64, %m: int64) {"
       "  dyn.reshape(%x, stack((0i64, %n, %m), axis=0), newshape=[]) }",
       "fn (Tensor[(x.0, 64), float32], int64, int64) -> Tensor[(x.0, ?, ?), float32]"},
      {"numbers of an input are symbols that a signature does not show",
       "def @main(%n: int64) { dyn.zeros(expand_dims(%n, axis=0), dtype=\"int8\", shape=[]) }",
       "fn (int64) -> Tensor[(?), int8]"},
  });
}

TEST_CASE("functions") {
  Check({
      {"results of other functions, in any order of definition",
       "def @main(%x: Tensor[(?), float32]) { @f(@g(%x)) }"
       "def @g(%y: Tensor[(?), float32]) { concatenate((%y, %y)) }"
       "def @f(%z: Tensor[(?), float32]) { cast(%z, dtype=\"int8\") }",
       "fn (Tensor[(x.0), float32]) -> Tensor[(x.0*2), int8]"},
      {"recursion with a declared result",
       "def @main(%n: int32) -> int32 {"
       "  if (equal(%n, 0)) { 0 } else { add(@main(subtract(%n, 1)), %n) } }",
       "fn (int32) -> int32"},
      {"recursion without one",
       "def @main(%n: int32) { if (equal(%n, 0)) { 0 } else { add(@main(subtract(%n, 1)), %n) } }",
       "fn (int32) -> int32"},
      {"mutual recursion",
       "def @main(%n: int32) { @even(%n) }"
       "def @even(%a: int32) { if (equal(%a, 0)) { True } else { @odd(subtract(%a, 1)) } }"
       "def @odd(%b: int32) { if (equal(%b, 0)) { False } else { @even(subtract(%b, 1)) } }",
       "fn (int32) -> bool"},
      {"the result of a recursive function does not depend on the arguments' dims",
       "def @main(%x: Tensor[(?, 2), int32], %n: int32) {"
       "  if (equal(%n, 0)) { %x } else { @main(concatenate((%x, %x)), subtract(%n, 1)) } }",
       "fn (Tensor[(x.0, 2), int32], int32) -> Tensor[(?, 2), int32]"},
      {"type parameters keep dims",
       "def @main(%x: Tensor[(?, 2), int32]) { @id(%x) }"
       "def @id[A](%a: A) -> A { %a }",
       "fn (Tensor[(x.0, 2), int32]) -> Tensor[(x.0, 2), int32]"},
      {"a parameter that a type parameter decides",
       "def @main(%x: int8) { (@f(fn (%z: int8) { 1 }, %x), @f(fn (%z: bool) { 1f }, True)) }"
       "def @f[A, B](%g: fn (A) -> B, %x) { %g(%x) }",
       "fn (int8) -> (int32, float32)"},
      {"parameters that the body decides",
       "def @main(%x, %w) { nn.dense(add(%x, 1f), %w, units=None) }"
       "def @other() { @main(@ones(), @ones()) }"
       "def @ones() { ones(shape=[2, 2], dtype=\"float32\") }",
       "fn (Tensor[(2, 2), float32], Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32]"},
      {"a weight that an operator implies",
       "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w) {"
       "  nn.conv2d(%x, %w, channels=16, kernel_size=[3, 3], padding=[1, 1, 1, 1]) }",
       "fn (Tensor[(1, 3, 8, 8), float32], Tensor[(16, 3, 3, 3), float32]) -> "
       "Tensor[(1, 16, 8, 8), float32]"},
  });
}

TEST_CASE("closures") {
  Check({
      {"parameters from the first use",
       "def @main(%x: Tensor[(?), float32]) { let %f = fn (%y) { add(%y, %y) }; %f(%x) }",
       "fn (Tensor[(x.0), float32]) -> Tensor[(x.0), float32]"},
      {"used with several shapes",
       "def @main(%x: Tensor[(2), float32], %y: Tensor[(?), float32]) {"
       "  let %f = fn (%a) { concatenate((%a, %a)) }; (%f(%x), %f(%y)) }",
       "fn (Tensor[(2), float32], Tensor[(y.0), float32]) -> "
       "(Tensor[(4), float32], Tensor[(y.0*2), float32])"},
      {"captured dims",
       "def @main(%x: Tensor[(?), float32]) {"
       "  let %f = fn (%a: Tensor[(?), float32]) { concatenate((%a, %x)) }; %f(%x) }",
       "fn (Tensor[(x.0), float32]) -> Tensor[(x.0*2), float32]"},
      {"a loop",
       "def @main(%n: int32, %s: Tensor[(?, 1), int32]) {"
       "  let %loop = fn (%i: int32, %st: Tensor[(?, 1), int32]) {"
       "    if (less(%i, 10)) {"
       "      %loop(add(%i, 1), concatenate((%st, reshape(%i, newshape=[1, 1]))))"
       "    } else { (%i, %st) } };"
       "  %loop(%n, %s).1 }",
       "fn (int32, Tensor[(s.0, 1), int32]) -> Tensor[(?, 1), int32]"},
      {"functions that take functions",
       "def @main(%x: float32) { @twice(fn (%y) { multiply(%y, 2f) }, %x) }"
       "def @twice[A](%f: fn (A) -> A, %a: A) -> A { %f(%f(%a)) }",
       "fn (float32) -> float32"},
      {"functions that give functions",
       "def @main(%x: int32) { @compose(fn (%a: int32) { cast(%a, dtype=\"int8\") },"
       "                                fn (%b: int32) { add(%b, 1) })(%x) }"
       "def @compose[A, B, C](%f: fn (B) -> C, %g: fn (A) -> B) -> fn (A) -> C {"
       "  fn (%x: A) -> C { %f(%g(%x)) } }",
       "fn (int32) -> int8"},
      {"a generic function as a value",
       std::string(kListType) + "def @id[A](%x: A) -> A { %x }"
                                "def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {"
                                "  match (%xs) { Cons(%x, %rest) => { Cons(%f(%x), @map(%f, "
                                "%rest)) }, Nil => { Nil } } }"
                                "def @main(%l: List[float32]) { @map(@id, %l) }",
       "fn (List[float32]) -> List[float32]"},
      {"a constructor as a value",
       std::string(kListType) +
           "def @foldr[A, B](%f: fn (A, B) -> B, %b: B, %xs: List[A]) -> B {"
           "  match (%xs) {"
           "    Cons(%x, %rest) => { %f(%x, @foldr(%f, %b, %rest)) }, Nil => { %b } } }"
           "def @main(%l: List[int8]) { @foldr(Cons, Nil, %l) }",
       "fn (List[int8]) -> List[int8]"},
      {"a parameter that is called",
       "def @main(%x: int32) { let %g = fn (%f, %a) { %f(%a) };"
       "  %g(fn (%b: int32) { equal(%b, 1) }, %x) }",
       "fn (int32) -> bool"},
      {"a closure that makes lists of what it is given",
       std::string(kListType) +
           "def @foldl[A, B](%f: fn (A, B) -> A, %acc: A, %xs: List[B]) -> A {"
           "  match (%xs) {"
           "    Cons(%x, %rest) => { @foldl(%f, %f(%acc, %x), %rest) }, Nil => { %acc } } }"
           "def @main(%l: List[int8]) {"
           "  @foldl(fn (%y, %x) { Cons(%x, Cons(%x, %y)) }, Nil, %l) }",
       "fn (List[int8]) -> List[int8]"},
      {"a function in a reference",
       "def @main(%x: int32) { let %r = ref(fn () -> int32 { 0 });"
       "  let %u = ref_write(%r, fn () -> int32 { %x }); ref_read(%r)() }",
       "fn (int32) -> int32"},
  });
}

TEST_CASE("data types") {
  std::string list = kListType;
  Check({
      {"a list of what stands in it",
       list + "def @main(%x: Tensor[(?, 2), int32]) { Cons(%x, Nil) }",
       "fn (Tensor[(x.0, 2), int32]) -> List[Tensor[(x.0, 2), int32]]"},
      {"elements of different dims",
       list + "def @main(%x: Tensor[(?, 2), int32]) { Cons(%x, Cons(concatenate((%x, %x)), Nil)) }",
       "fn (Tensor[(x.0, 2), int32]) -> List[Tensor[(?, 2), int32]]"},
      {"a known dim among unknown ones",
       list +
           "def @main(%x: Tensor[(?), int32], %y: Tensor[(3), int32]) { Cons(%x, Cons(%y, Nil)) }",
       "fn (Tensor[(x.0), int32], Tensor[(3), int32]) -> List[Tensor[(?), int32]]"},
      {"fields of a pattern are opened",
       list + "def @main(%l: List[Tensor[(?), int32]]) {"
              "  match? (%l) { Cons(%x, _) => { concatenate((%x, %x)) } } }",
       "fn (List[Tensor[(?), int32]]) -> Tensor[(?), int32]"},
      {"nested patterns",
       list + "def @main(%l: List[(int8, List[bool])]) {"
              "  match? (%l) { Cons((%a, Cons(%b, _)), _) => { (%b, %a) } } }",
       "fn (List[(int8, List[bool])]) -> (bool, int8)"},
      {"a pattern decides the type of what it takes apart",
       list + "def @main(%x: int8) {"
              "  let %f = fn (%l) { match? (%l) { Cons(%a, _) => { add(%a, %x) } } };"
              "  %f(Cons(%x, Nil)) }",
       "fn (int8) -> int8"},
      {"parameters from a constructor's fields",
       "type T { C(Tensor[(?, ?), float32], int32) } def @main(%a, %b) { C(%a, %b) }",
       "fn (Tensor[(a.0, a.1), float32], int32) -> T[]"},
  });
}

TEST_CASE("types of variables") {
  ir::Module m =
      MustType(std::string(kListType) +
               "def @main(%l: List[Tensor[(?, 2), int32]], %x: Tensor[(?), float32], %c: bool) {"
               "  let %joined = if (%c) { %x } else { concatenate((%x, %x)) };"
               "  let %f = fn (%p: Tensor[(?), float32]) { concatenate((%p, %x)) };"
               "  let %made = %f(%joined);"
               "  let %r = ref(%x);"
               "  let %u = ref_write(%r, %joined);"
               "  let %read = ref_read(%r);"
               "  match? (%l) { Cons(%head, _) => { %head } } }");
  CHECK(TypeOf(m, "joined") == "Tensor[(joined.0), float32]");
  CHECK(TypeOf(m, "f") == "fn (Tensor[(p.0), float32]) -> Tensor[(x.0 + p.0), float32]");
  CHECK(TypeOf(m, "made") == "Tensor[(x.0 + joined.0), float32]");
  CHECK(TypeOf(m, "r") == "ref(Tensor[(?), float32])");
  CHECK(TypeOf(m, "read") == "Tensor[(read.0), float32]");
  CHECK(TypeOf(m, "head") == "Tensor[(head.0, 2), int32]");
}

TEST_CASE("calls of generic functions have type arguments") {
  ir::Module m = MustType(std::string(kListType) +
                          "def @id[A](%x: A) -> A { %x }"
                          "def @main(%x: int8) { Cons(@id(%x), Nil) }");
  std::vector<std::string> type_args;
  ForEachBinding(*m.functions.at("main")->body, [&](const ir::Binding& b) {
    auto* call = b.value->As<ir::CallExpr>();
    if (call == nullptr) return;
    for (const ir::Type& t : call->type_args) type_args.push_back(ir::TypeToString(t));
  });
  CHECK(type_args == std::vector<std::string>{"int8", "int8", "int8"});
}

TEST_CASE("guards") {
  struct Row {
    const char* what;
    std::string source;
    std::vector<std::string> guards;
  };
  const Row rows[] = {
      {"what is proved needs none",
       "def @main(%x: Tensor[(?, 3), float32], %w: Tensor[(4, 3), float32]) {"
       "  nn.dense(%x, %w, units=4) }",
       {}},
      {"an equation between unknown dims",
       "def @main(%x: Tensor[(2, ?), float32], %w: Tensor[(4, 3), float32]) {"
       "  nn.dense(%x, %w, units=4) }",
       {"nn.dense: the reduced dimensions of data and weight"}},
      {"broadcasting of two unknown dims, once",
       "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) {"
       "  let %a = add(%x, %y); let %b = multiply(%x, %y); add(add(%a, %b), %x) }",
       {"add: operands"}},
      {"a fact of an enclosing block holds inside",
       "def @main(%c: bool, %x: Tensor[(?), float32], %y: Tensor[(?), float32]) {"
       "  let %a = add(%x, %y); if (%c) { add(%x, %y) } else { %a } }",
       {"add: operands"}},
      {"a fact of a branch does not hold after it",
       "def @main(%c: bool, %x: Tensor[(?), float32], %y: Tensor[(?), float32]) {"
       "  let %a = if (%c) { add(%x, %y) } else { %x }; add(%y, %x) }",
       {"add: operands", "add: operands"}},
      {"an argument and a known dim of a parameter",
       "def @f(%p: Tensor[(3), float32]) { %p } def @main(%x: Tensor[(?), float32]) { @f(%x) }",
       {"argument %p of @f: dimension 0"}},
      {"a shared symbol of the parameters",
       "def @f(%p: Tensor[(?), float32]) { add(%p, ones(shape=[3], dtype=\"float32\")) }"
       "def @main(%x: Tensor[(3), float32]) { @f(%x) }",
       {"add: operands"}},
      {"an annotation that claims more",
       "def @main(%x: Tensor[(?), float32]) { let %y: Tensor[(3), float32] = negative(%x); %y }",
       {"%y: dimension 0"}},
      {"a declared result that claims more",
       "def @main(%x: Tensor[(?), float32]) -> Tensor[(3), float32] { negative(%x) }",
       {"result of @main: dimension 0"}},
  };
  for (const Row& r : rows) {
    CAPTURE(r.what);
    std::string guards;
    for (const std::string& g : r.guards) guards += g + "\n";
    CHECK(Guards(MustType(r.source)) == guards);
  }
}

TEST_CASE("a guard stands before what needs it") {
  ir::Module m = MustType(
      "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) {"
      "  let %a = negative(%x); let %b = add(%a, %y); %b }");
  std::vector<ir::Binding> bindings;  // but for those of dims
  for (const ir::Binding& b : m.functions.at("main")->body->bindings) {
    if (b.value->As<ir::DimOf>() == nullptr) bindings.push_back(b);
  }
  REQUIRE(bindings.size() == 3);
  auto* guard = bindings[1].value->As<ir::Guard>();
  REQUIRE(guard != nullptr);
  CHECK(guard->kind == ir::Guard::Kind::kBroadcastable);
  CHECK(guard->left.ToString() == "x.0");
  CHECK(bindings[2].var->name == "b");
}

// The position of the element that `value` is bound to; -1 when it is bound to something else.
int64_t ElementIndex(const ir::Module& m, const ir::Var* value) {
  int64_t index = -1;
  ForEachBinding(*m.functions.at("main")->body, [&](const ir::Binding& b) {
    const auto* element = b.var == value ? b.value->As<ir::ElementOf>() : nullptr;
    if (element != nullptr) index = element->index;
  });
  return index;
}

TEST_CASE("element symbols are explained by the symbol table") {
  ir::Module m = MustType(
      "def @main(%s: Tensor[(2), int64]) {"
      "  let %z = dyn.zeros(add(%s, 1i64), dtype=\"int8\", shape=[]); negative(%z) }");
  CHECK(TypeOf(m, "z") == "Tensor[(s[0] + 1, s[1] + 1), int8]");
  REQUIRE(m.symbols.size() == 2);
  const ir::Var* s = FindVar(m, "s");
  int64_t index = 0;
  for (const auto& [id, symbol] : m.symbols) {
    CHECK(symbol.source == s);
    CHECK(ElementIndex(m, symbol.value) == index++);
  }
}

TEST_CASE("contents are given by variable") {
  ir::Module m = MustType(
      "def @main(%x: Tensor[(?, 3), float32]) {"
      "  let %s = shape_of(%x, dtype=\"int32\"); let %t = multiply(%s, 2); %t }");
  auto contents = m.contents.find(FindVar(m, "t")->id);
  REQUIRE(contents != m.contents.end());
  CHECK(ShapeToString(contents->second) == "(int32(int32(x.0)*2), 6)");
  CHECK_FALSE(m.contents.contains(FindVar(m, "x")->id));
}

TEST_CASE("a shape given as floats gets an integer copy") {
  ir::Module m = MustType(
      "def @main(%x: Tensor[(2), float32], %reps: Tensor[(1), float32]) {"
      "  let %y = dyn.tile(%x, %reps, reps=[]); %y }");
  CHECK(TypeOf(m, "y") == "Tensor[(reps[0]*2), float32]");
  const auto& bindings = m.functions.at("main")->body->bindings;
  // The maximum of what is no number and the least one is the least one.
  for (size_t i : {0, 1}) {
    auto* call = bindings[i].value->As<ir::OpCall>();
    REQUIRE(call != nullptr);
    CHECK(call->op->name == (i == 0 ? "maximum" : "cast"));
  }
  REQUIRE(m.symbols.size() == 1);
  CHECK(m.symbols.begin()->second.source == bindings[1].var);
}

TEST_CASE("inference runs on its own output and changes nothing") {
  const std::string list = kListType;
  const std::string sources[] = {
      "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(add(%x, %y), %x) }",
      "def @main(%c: bool, %x: Tensor[(?), float32]) {"
      "  let %z = if (%c) { %x } else { concatenate((%x, %x)) };"
      "  let %w = argwhere(%z); dyn.reshape(%w, shape_of(%w, dtype=\"int64\"), newshape=[]) }",
      "def @main(%s: Tensor[(2), int64]) { dyn.zeros(add(%s, 1i64), dtype=\"int8\", shape=[]) }",
      "def @main(%x: Tensor[(2), float32], %r: Tensor[(1), float32]) { dyn.tile(%x, %r, reps=[]) }",
      "def @main(%x: Tensor[(2), float32], %y: Tensor[(?), float32]) {"
      "  let %f = fn (%a) { concatenate((%a, %a)) }; (%f(%x), %f(%y)) }",
      list +
          "def @main(%x: Tensor[(?, 2), int32]) {"
          "  let %l = Cons(%x, Cons(concatenate((%x, %x)), Nil));"
          "  match? (%l) { Cons(%h, _) => { negative(%h) } } }",
      "def @main(%n: int32, %s: Tensor[(?, 1), int32]) {"
      "  let %loop = fn (%i: int32, %st: Tensor[(?, 1), int32]) {"
      "    if (less(%i, 10)) {"
      "      %loop(add(%i, 1), concatenate((%st, reshape(%i, newshape=[1, 1]))))"
      "    } else { (%i, %st) } };"
      "  %loop(%n, %s).1 }",
      "def @main(%x: Tensor[(?), float32]) { let %r = ref(%x); ref_read(%r) }",
  };
  for (const std::string& source : sources) {
    CAPTURE(source);
    ir::Module once = MustType(source);
    auto twice = Retype(once);
    REQUIRE_MESSAGE(twice.ok(), twice.status().ToString());
    CHECK(ir::PrintModule(*twice, {.for_people = true}) ==
          ir::PrintModule(once, {.for_people = true}));
    CHECK(ir::TypeEquals(ir::FunctionTypeOf(*once.functions.at("main")),
                         ir::FunctionTypeOf(*twice->functions.at("main"))));
    CHECK(twice->symbols.size() == once.symbols.size());
    for (const auto& [id, element] : once.symbols) CHECK(twice->symbols.contains(id));
  }
}

TEST_CASE("a copy of a function gets symbols of its own") {
  ir::Module m = MustType("def @main(%x: Tensor[(?), float32]) { let %y = negative(%x); %y }");
  m.functions["copy"] = m.functions["main"];
  // The copy needs variables of its own; its parameter's symbol is still that of @main.
  const ir::Function& f = *m.functions["main"];
  ir::Function copy = f;
  const ir::Var* x = ir::MakeVar(m, "x", f.params[0]->type, {});
  const ir::Var* y = ir::MakeVar(m, "y", nullptr, {});
  ir::OpCall call = *f.body->bindings.back().value->As<ir::OpCall>();
  call.args = {x};
  copy.params = {x};
  copy.result_type = nullptr;
  copy.body = m.arena->New<ir::Block>(ir::Block{{{y, ir::MakeExpr(m, call, {})}}, y});
  m.functions["copy"] = m.arena->New<ir::Function>(copy);
  auto typed = InferTypes(m);
  REQUIRE(typed.ok());
  auto symbol = [&](const char* name) {
    return typed->functions.at(name)->result_type->As<TensorType>()->shape[0].symbol_id();
  };
  CHECK(symbol("main") != symbol("copy"));
}

TEST_CASE("long blocks and many functions take linear time and no stack") {
  constexpr int kLength = 100'000;
  std::string chain = "def @main(%x: Tensor[(?), float32]) {\n  let %v0 = %x;\n";
  for (int i = 1; i < kLength; ++i) {
    chain += "  let %v" + std::to_string(i) + " = add(%v" + std::to_string(i - 1) + ", %x);\n";
  }
  ir::Module m = MustType(chain + "  %v" + std::to_string(kLength - 1) + "\n}");
  CHECK(Signature(m) == "fn (Tensor[(x.0), float32]) -> Tensor[(x.0), float32]");

  constexpr int kFunctions = 20'000;
  std::string functions = "def @main(%x: Tensor[(?), float32]) { @f0(%x) }\n";
  for (int i = 0; i < kFunctions; ++i) {
    std::string next = i + 1 < kFunctions ? "@f" + std::to_string(i + 1) + "(%x)" : "%x";
    functions += "def @f" + std::to_string(i) + "(%x: Tensor[(?), float32]) { " + next + " }\n";
  }
  CHECK(Signature(MustType(functions)) == "fn (Tensor[(x.0), float32]) -> Tensor[(x.0), float32]");
}

TEST_CASE("sizes that floats decide are computed by scalar operators before the call") {
  auto count = [](const ir::Module& m) {
    int bindings = 0;
    ForEachBinding(*m.functions.at("main")->body, [&](const ir::Binding& b) {
      bool of_symbols =
          b.value->As<ir::DimOf>() != nullptr || b.value->As<ir::ElementOf>() != nullptr;
      bindings += b.value->As<ir::Guard>() == nullptr && !of_symbols ? 1 : 0;
    });
    return bindings;
  };
  struct Row {
    const char* what;
    std::string source;
    const char* result;
    int added;
  };
  const Row rows[] = {
      {"a range whose end is an input",
       "def @main(%n: float32) { arange(0f, %n, 1f, start=0f, stop=%n, step=1f, dtype=\"float32\") "
       "}",
       "Tensor[(?), float32]", 6},
      {"two ranges of one length compute it once",
       "def @main(%n: float64) {"
       "  let %a = arange(0f64, %n, 1f64, start=0f64, stop=%n, step=1f64, dtype=\"float32\");"
       "  let %b = arange(0f64, %n, 1f64, start=0f64, stop=%n, step=1f64, dtype=\"int32\");"
       "  (%a, %b) }",
       "(Tensor[(?), float32], Tensor[(?), int32])", 14},
      {"upsampling by an input",
       "def @main(%x: Tensor[(1, 2, ?, 4), float32], %s: float32) {"
       "  dyn.nn.upsampling(%x, %s, %s, scale_h=0f, scale_w=0f) }",
       "Tensor[(1, 2, ?, ?), float32]", 10},
      {"an extent times a number that is no simple ratio",
       "def @main(%x: Tensor[(1, 2, ?, 4), float32]) {"
       "  nn.upsampling(%x, scale_h=0.70710678f, scale_w=2f) }",
       "Tensor[(1, 2, ?, 8), float32]", 5},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    auto parsed = frontend::ParseRelay("test.relay", "#[version = \"0.0.5\"]\n" + row.source);
    REQUIRE_MESSAGE(parsed.ok(), parsed.status().ToString());
    auto once = InferTypes(*parsed);
    REQUIRE_MESSAGE(once.ok(), once.status().ToString());
    CHECK(ir::TypeToString(once->functions.at("main")->result_type) == row.result);
    CHECK(count(*once) == count(*parsed) + row.added);
    // Another run finds what the first has added.
    auto twice = InferTypes(*once);
    REQUIRE_MESSAGE(twice.ok(), twice.status().ToString());
    CHECK(count(*twice) == count(*once));
    CHECK(ir::PrintModule(*twice) == ir::PrintModule(*once));
  }
}

TEST_CASE("operators that read one element of a vector of any length") {
  ir::Module m = MustType(
      "def @main(%i: Tensor[(?, ?), int64], %v: Tensor[(?), int64], %s: Tensor[(?), int64],"
      "    %d: int64) { sparse_fill_empty_rows(%i, %v, %s, %d) }");
  CHECK(Guards(m).find("the length of argument 2") != std::string::npos);
  int elements = 0;
  for (const auto& [id, symbol] : m.symbols) {
    int64_t index = ElementIndex(m, symbol.value);
    if (index < 0) continue;
    ++elements;
    CHECK(index == 0);
    CHECK(symbol.source->name == "s");
  }
  CHECK(elements == 1);
}

TEST_CASE("axes read at run time don't make endless dims") {
  ir::Module m = MustType(
      "def @main(%x: Tensor[(1, 2, 1, ?, 1, 1), float32], %a: Tensor[(3), int64]) {"
      "  dyn.squeeze(%x, %a, axis=[]) }");
  size_t longest = 0;
  ForEachBinding(*m.functions.at("main")->body, [&](const ir::Binding& b) {
    if (auto* guard = b.value->As<ir::Guard>()) longest = std::max(longest, guard->left.Size());
  });
  CHECK(longest < 500);
}

}  // namespace
}  // namespace relayvm::typing
