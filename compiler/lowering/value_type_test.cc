#include "compiler/lowering/value_type.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <set>
#include <string>

#include "bytecode/dim_names.h"
#include "bytecode/disassembler.h"
#include "compiler/ir/declared_dims.h"
#include "compiler/pipeline.h"
#include "compiler/testing.h"

namespace relayvm::lower {
namespace {

ir::Module TypedOf(const std::string& text) {
  auto typed = RunFrontendPipeline(ir::Parsed(text));
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  return std::move(typed).value();
}

// The export of @main: "(%x: int32) -> int32; List", with the names of the ADTs.
std::string ExportOf(const ir::Module& module) {
  Program program;
  REQUIRE(AddExport(module, *module.functions.at("main"), 0, {}, program).ok());
  const ExportInfo& e = program.exports.at(0);
  std::string out = "(";
  for (size_t i = 0; i < e.params.size(); ++i) {
    out += (i > 0 ? ", %" : "%") + e.param_names[i] + ": ";
    out += TypeToString(program, e.params[i]);
  }
  out += ") -> " + TypeToString(program, e.result) + ";";
  for (const AdtInfo& adt : program.adts) out += " " + adt.name;
  return out;
}

constexpr const char* kTypes =
    "type List[A] { Cons(A, List[A]), Nil, }\n"
    "type Tree[A] { Rose(A, List[Tree[A]]), }\n"
    "type Color { Red, Green(int32), }\n";

TEST_CASE("exports and the ADTs that go with them") {
  struct Case {
    const char *main, *result;
  };
  const Case cases[] = {
      {"def @main(%x: Tensor[(?, 3), float32]) { (%x, 1) }",
       "(%x: Tensor[(x.0, 3), float32]) -> (Tensor[(x.0, 3), float32], int32);"},
      {"def @main(%x: List[int32]) { %x }", "(%x: List[int32]) -> List[int32]; List"},
      {"def @main(%x: Tree[int32]) { %x }", "(%x: Tree[int32]) -> Tree[int32]; Tree List"},
      // What is not looked at may be of any size; what is computed with may not.
      {"def @main(%t: (Tensor[(3), int32], int32)) { %t.0 }",
       "(%t: (Tensor[(?), int32], int32)) -> Tensor[(3), int32];"},
      {"def @main(%t: (Tensor[(3), int32], int32)) { (%t.0, negative(%t.0)) }",
       "(%t: (Tensor[(3), int32], int32)) -> (Tensor[(3), int32], Tensor[(3), int32]);"},
      // An open type may be any of the program's.
      {"def @main[A](%x: A) -> A { %x }", "(%x: A) -> A; Color List Tree"},
      {"def @main[A, B](%x: A, %y: List[B]) -> (B, A) {\n"
       "  match (%y) { Cons(%b, _) => { (%b, %x) }, Nil => { @main(%x, %y) }, }\n}",
       "(%x: A, %y: List[B]) -> (B, A); List Color Tree"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.main);
    CHECK(ExportOf(TypedOf(std::string(kTypes) + c.main)) == std::string(c.result));
  }
}

TEST_CASE("names of dims are distinct, and expressions count them") {
  // Both symbols are called x.0.0: one of a field of %x, one of %x.0.
  CHECK(ExportOf(TypedOf("def @main(%x: (Tensor[(?), int32],), %x.0: Tensor[(?), int32]) { %x.0 }"))
            .starts_with("(%x: (Tensor[(x.0.0), int32],), %x.0: Tensor[("));
  ir::Module module =
      TypedOf("def @main(%x: Tensor[(?), int32], %y: Tensor[(?, ?), int32]) { %x }");
  const ir::Function& main = *module.functions.at("main");
  const Dim n = Dim::Symbol(module.ids->Next(), "n"), m = Dim::Symbol(module.ids->Next(), "n");
  ir::Function copy = main;
  copy.params = {ir::MakeVar(module, "x", ir::MakeTensorType({n * Dim(2) + m}, DType::kInt32), {}),
                 ir::MakeVar(module, "y", ir::MakeTensorType({m, n}, DType::kInt32), {})};
  Program program;
  REQUIRE(AddExport(module, copy, 0, {}, program).ok());
  const ExportInfo& e = program.exports.at(0);
  CHECK(std::set<std::string>(e.params[1].dim_names.begin(), e.params[1].dim_names.end()) ==
        std::set<std::string>{"n", "n_2"});
  CHECK(e.params[1].dim_formulas.empty());
  REQUIRE(e.params[0].dim_formulas.size() == 1);
  const int64_t sizes[] = {5, 7};  // of m and n, in the order in which they are dims
  CHECK(EvaluateSize(e.params[0].dim_formulas[0], sizes) == 19);
}

TEST_CASE("names inside of data types are what the entry has declared") {
  ir::Module module = TypedOf(std::string(kTypes) + "def @main(%x: List[int32]) { %x }");
  const Dim n = Dim::Symbol(module.ids->Next(), "n"), m = Dim::Symbol(module.ids->Next(), "m"),
            k = Dim::Symbol(module.ids->Next(), "k");
  const auto list_of = [](std::vector<Dim> shape) {
    return ir::MakeType(
        ir::AdtType{"List", {ir::MakeTensorType(std::move(shape), DType::kFloat32)}});
  };
  const auto tensor_of = [](std::vector<Dim> shape) {
    return ir::MakeTensorType(std::move(shape), DType::kFloat32);
  };
  const auto var = [&](ir::Type type) { return ir::MakeVar(module, "x", std::move(type), {}); };
  ir::Function declared = *module.functions.at("main");
  declared.params = {var(tensor_of({n, m})),
                     var(ir::MakeType(ir::TupleType{{list_of({n, k, Dim(4)}), tensor_of({k})}})),
                     var(list_of({m, Dim::Any()}))};
  const AttrList attr = ir::DeclaredDimsOf(declared);
  REQUIRE(!attr.empty());
  // As inference leaves them: symbols with other numbers, a constant, and nothing inside.
  const Dim a = Dim::Symbol(module.ids->Next(), "n"), c = Dim::Symbol(module.ids->Next(), "k");
  ir::Function inferred = declared;
  inferred.attrs[ir::kDeclaredDims] = attr;
  inferred.params = {
      var(tensor_of({a, Dim(7)})),
      var(ir::MakeType(ir::TupleType{{list_of({Dim::Any(), Dim::Any(), Dim(4)}), tensor_of({c})}})),
      var(list_of({Dim::Any(), Dim::Any()}))};
  const auto types_of = [&](const ir::Function& function) {
    Program program;
    REQUIRE(AddExport(module, function, 0, {}, program, /*all_sizes=*/true).ok());
    std::string text;
    for (const ValueType& param : program.exports.at(0).params)
      text += TypeToString(program, param) + " ";
    return text;
  };
  CHECK(types_of(inferred) ==
        "Tensor[(n, 7), float32] (List[Tensor[(n, k, 4), float32]], Tensor[(k), float32]) "
        "List[Tensor[(7, ?), float32]] ");
  // Types that have become others say nothing.
  inferred.params.pop_back();
  CHECK(types_of(inferred).find("List[Tensor[(?, ?, 4), float32]]") != std::string::npos);
  // Expressions: of names that plain tensors have, that data types alone have, and that nobody has.
  const auto formulas_of = [&](const ir::Function& function) {
    Program program;
    REQUIRE(AddExport(module, function, 0, {}, program, /*all_sizes=*/true).ok());
    const ExportInfo& e = program.exports.at(0);
    REQUIRE(CheckDimFormulas(e.params, e.result).ok());
    std::string text;
    std::function<void(const ValueType&)> add = [&](const ValueType& type) {
      for (const SizeFormula& f : type.dim_formulas)
        text += f.empty() ? "" : SizeFormulaToString(f) + "; ";
      for (const ValueType& arg : type.args) add(arg);
    };
    for (const ValueType& param : e.params) add(param);
    return text;
  };
  const auto inferred_as = [&](std::vector<ir::Type> as) {
    ir::Function function = declared;
    function.attrs[ir::kDeclaredDims] = ir::DeclaredDimsOf(declared);
    function.params.clear();
    for (ir::Type& type : as) function.params.push_back(var(std::move(type)));
    return function;
  };
  declared.params = {var(list_of({n + Dim(1), Dim(4)})), var(tensor_of({n}))};
  inferred = inferred_as({list_of({Dim::Any(), Dim(4)}), tensor_of({a})});
  CHECK(types_of(inferred) == "List[Tensor[(n + 1, 4), float32]] Tensor[(n), float32] ");
  CHECK(formulas_of(inferred) == "s0 + 1; ");
  inferred = inferred_as({list_of({Dim::Any(), Dim(4)}), tensor_of({Dim(7)})});
  CHECK(types_of(inferred) == "List[Tensor[(8, 4), float32]] Tensor[(7), float32] ");
  declared.params = {var(list_of({m + Dim(1)})), var(list_of({k * n})), var(list_of({k})),
                     var(tensor_of({n}))};
  inferred = inferred_as(
      {list_of({Dim::Any()}), list_of({Dim::Any()}), list_of({Dim::Any()}), tensor_of({a})});
  CHECK(types_of(inferred) ==
        "List[Tensor[(m + 1), float32]] List[Tensor[(k*n), float32]] List[Tensor[(k), float32]] "
        "Tensor[(n), float32] ");
  CHECK(formulas_of(inferred) == "s2*s0; ");
  // What a text says instead of it is left alone.
  for (const AttrList& other :
       {AttrList{"#1", "x"}, AttrList{"#1", ":"}, AttrList{"#1", "99999999999:n"},
        AttrList{"#1", AttrList{}}, AttrList{1, 2}}) {
    inferred.attrs[ir::kDeclaredDims] = other;
    inferred.params = {var(list_of({Dim::Any()}))};
    CHECK(types_of(inferred) == "List[Tensor[(?), float32]] ");
  }
  // A name that only data types have.
  declared.params = {var(list_of({k}))};
  inferred.attrs[ir::kDeclaredDims] = ir::DeclaredDimsOf(declared);
  inferred.params = {var(list_of({Dim::Any()}))};
  CHECK(types_of(inferred) == "List[Tensor[(k), float32]] ");
}

TEST_CASE("a chain of 20,000 ADTs takes no native stack") {
  constexpr int kCount = 20'000;
  std::string text;
  for (int i = kCount; i-- > 0;) {
    text += "type T" + std::to_string(i) + " { C" + std::to_string(i);
    if (i + 1 < kCount) text += "(T" + std::to_string(i + 1) + ")";
    text += ", }\n";
  }
  Program program;
  ir::Module module = TypedOf(text + "def @main(%x: T0) { %x }");
  REQUIRE(AddExport(module, *module.functions.at("main"), 0, {}, program).ok());
  CHECK(program.adts.size() == kCount);
}

// As a tree the type of a tower of pairs is larger than memory.
TEST_CASE("a type of too many parts is refused") {
  auto tower = [](int levels) {
    std::string text = "def @main(%y0: Tensor[(4), float32]) {\n";
    for (int i = 1; i <= levels; ++i)
      text += fmt::format("let %y{0} = (%y{1}, %y{1});\n", i, i - 1);
    return TypedOf(text + fmt::format("%y{} }}\n", levels));
  };
  Program program;
  ir::Module small = tower(10);
  CHECK(AddExport(small, *small.functions.at("main"), 0, {}, program).ok());
  ir::Module large = tower(60);
  Status s = AddExport(large, *large.functions.at("main"), 0, {}, program);
  CHECK(s.message().find("the result of @main has more than 1048576 parts") != std::string::npos);
}

TEST_CASE("what a file has no room for is refused, with its place") {
  const auto error = [](const std::string& text) {
    const ir::Module module = TypedOf(text);
    Program program;
    return AddExport(module, *module.functions.at("main"), 0, {}, program).message();
  };
  std::string deep = "def @main(%y0: int8) {\n", wide, many;
  for (int i = 1; i <= 256; ++i) deep += fmt::format("let %y{} = (%y{},);\n", i, i - 1);
  for (int i = 0; i < 65'536; ++i) {
    wide += "int8, ";
    many += fmt::format("C{}, ", i);
  }
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {deep + "%y256 }", "the result of @main has a type that nests 257 deep, the limit is 256"},
      {"def @main(%x: (" + wide + ")) { 1 }",
       "parameter %x of @main has a tuple of 65536 fields, the limit is 65535"},
      {"type T { C(" + wide + "), }\ndef @main(%x: T) { 1 }",
       "fields of constructor C: 65536, the limit is 65535"},
      {"type T { " + many + "}\ndef @main(%x: T) { 1 }",
       "constructors of type T: 65536, the limit is 65535"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.message);
    const std::string message = error(c.text);
    CHECK(message.find("test.relay:2:") == 0);
    CHECK_MESSAGE(message.find(c.message) != std::string::npos, message.substr(0, 200));
  }
}

}  // namespace
}  // namespace relayvm::lower
