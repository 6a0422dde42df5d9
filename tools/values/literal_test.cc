#include "tools/values/literal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "bytecode/io/npy.h"
#include "tools/values/flat_value.h"
#include "tools/values/print.h"
#include "tools/values/tensor_file.h"
#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

ValueType I32() { return TensorOf(DType::kInt32, {}); }
ValueType Matrix() { return TensorOf(DType::kFloat32, {-1, -1}); }

// The value as it prints, or the error.
std::string ReadBack(const std::string& text, const ValueType& type) {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  TypeTable::Id id = types.Intern(type);
  Result<Value> value = ParseLiteral(text, types, id);
  if (!value.ok()) return "error " + value.status().message();
  return PrintRelay(*Flatten(*value, types, id));
}

TEST_CASE("literals of every form") {
  struct Case {
    ValueType type;
    const char *text, *printed;
  };
  const Case cases[] = {
      {I32(), "3", "3"},
      {I32(), " -3i32 ", "-3"},
      {TensorOf(DType::kFloat32, {}), "2.5", "2.5f"},
      {TensorOf(DType::kBool, {}), "true", "True"},
      {TensorOf(DType::kInt64, {2, 2}), "[[1,2],[3,4]]", "Tensor[(2, 2), int64] [[1, 2], [3, 4]]"},
      {Matrix(), "[[1, 2.5], [nan, -inf],]", "Tensor[(2, 2), float32] [[1., 2.5], [nan, -inf]]"},
      {Matrix(), "[[], []]", "Tensor[(2, 0), float32] [[], []]"},
      {TensorOf(DType::kInt32, {-1}), "[]", "Tensor[(0), int32] []"},
      {Matrix(), "2x3xf32=0.5", "Tensor[(2, 3), float32] [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]"},
      {Matrix(), "0x3xfloat32=1", "Tensor[(0, 3), float32] []"},
      {I32(), "i32=7", "7"},
      {Matrix(), "Tensor[(1, 2), float32] [[1., 2.]]", "Tensor[(1, 2), float32] [[1., 2.]]"},
      {TensorOf(DType::kString, {}), R"("a \"b\", é\n")", R"("a \"b\", é\n")"},
      {TensorOf(DType::kString, {-1, 2}), R"([["a", ""], ["]", "\u00e9"]])",
       R"(Tensor[(2, 2), string] [["a", ""], ["]", "é"]])"},
      {TensorOf(DType::kString, {-1}), "[]", "Tensor[(0), string] []"},
      {TupleOf({}), "()", "()"},
      {TupleOf({I32()}), "(3,)", "(3,)"},
      {TupleOf({I32(), TupleOf({I32(), I32()})}), "(1, (2, 3))", "(1, (2, 3))"},
      {TupleOf({I32(), I32()}), "0(1, 2)", "(1, 2)"},
      {ListOf(I32()), "Nil", "Nil"},
      {ListOf(I32()), "Nil()", "Nil"},
      {ListOf(I32()), "Cons(1, Cons(2, Nil))", "Cons(1, Cons(2, Nil))"},
      {ListOf(I32()), "0(1, 1)", "Cons(1, Nil)"},
      {ListOf(ListOf(I32())), "Cons(Cons(1, Nil), Nil)", "Cons(Cons(1, Nil), Nil)"},
      {Tree(), "Node(Leaf([1, 2]), Leaf(2xf32=3))",
       "Node(Leaf(Tensor[(2), float32] [1., 2.]), Leaf(Tensor[(2), float32] [3., 3.]))"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(ReadBack(c.text, c.type) == c.printed);
    // What prints can be read.
    CHECK(ReadBack(c.printed, c.type) == c.printed);
  }
}

// As ReadBack, for a function whose parameters are of `types`; each text is one parameter's. Gives
// the values, then what the function's type parameters are.
std::string ReadOpen(const std::vector<ValueType>& parameters,
                     const std::vector<std::string>& texts) {
  Program program = ProgramWithTypes();
  program.adts.push_back({"Other", 0, {{"Nil", {}}, {"One", {TensorOf(DType::kInt64, {})}}}});
  ExportInfo function;
  function.num_type_params = 2;
  TypeTable types(program);
  std::string out;
  for (size_t i = 0; i < parameters.size(); ++i) {
    TypeTable::Id id = types.InternOf(function, parameters[i]);
    Result<Value> value = ParseLiteral(texts[i], types, id);
    if (!value.ok()) return "error " + value.status().message();
    out += PrintRelay(*Flatten(*value, types, id)) + "; ";
  }
  for (uint32_t i = 0; i < 2; ++i) {
    TypeTable::Id id = types.InternOf(function, TypeParameter(i));
    out += (i > 0 ? ", " : "") + types.ToString(id);
  }
  return out;
}

TEST_CASE("open types are what the value says") {
  ValueType a = TypeParameter(0), b = TypeParameter(1);
  struct Case {
    std::vector<ValueType> types;
    std::vector<std::string> texts;
    const char* result;
  };
  const Case cases[] = {
      {{a}, {"3"}, "3; int32, B"},
      {{a}, {"-2.5"}, "-2.5f; float32, B"},
      {{a}, {"1e3"}, "1000f; float32, B"},
      {{a}, {"inf"}, "inff; float32, B"},
      {{a}, {"true"}, "True; bool, B"},
      {{a}, {"3i64"}, "3i64; int64, B"},
      {{a}, {"[[1, 2]]"}, "Tensor[(1, 2), int32] [[1, 2]]; Tensor[(?, ?), int32], B"},
      {{a}, {"[1, 2.5]"}, "Tensor[(2), float32] [1., 2.5]; Tensor[(?), float32], B"},
      {{a}, {"[1u8, 2]"}, "Tensor[(2), uint8] [1, 2]; Tensor[(?), uint8], B"},
      {{a}, {"[true, false]"}, "Tensor[(2), bool] [True, False]; Tensor[(?), bool], B"},
      {{a}, {"2xf16=1"}, "Tensor[(2), float16] [1., 1.]; Tensor[(?), float16], B"},
      {{a}, {"()"}, "(); (), B"},
      {{a},
       {"(1, (2.5,), Leaf([1, 2]))"},
       "(1, (2.5f,), Leaf(Tensor[(2), float32] [1., 2.])); (int32, (float32,), Tree), B"},
      {{a}, {"0(1, 2)"}, "(1, 2); (int32, int32), B"},
      {{a}, {"Cons(1, Cons(2, Nil))"}, "Cons(1, Cons(2, Nil)); List[int32], B"},
      {{a},
       {"Cons(Cons(true, Nil), Cons(Nil, Nil))"},
       "Cons(Cons(True, Nil), Cons(Nil, Nil)); List[List[bool]], B"},
      {{a}, {"One(3)"}, "One(3i64); Other, B"},
      // The first use decides for those that follow, but for sizes.
      {{a, a},
       {"[1.5]", "[1, 2]"},
       "Tensor[(1), float32] [1.5]; Tensor[(2), float32] [1., 2.]; Tensor[(?), float32], B"},
      {{ListOf(a)}, {"Cons(2.5, Cons(1, Nil))"}, "Cons(2.5f, Cons(1f, Nil)); float32, B"},
      {{ListOf(b), a}, {"Nil", "Cons(1, Nil)"}, "Nil; Cons(1, Nil); List[int32], B"},
      {{TupleOf({a, b})},
       {"(1, Leaf(2xf32=0))"},
       "(1, Leaf(Tensor[(2), float32] [0., 0.])); int32, Tree"},
      {{a, a},
       {"1", "2.5"},
       "error at character 1: 2.5 is not an integer, and int32 is wanted, found '2.5'"},
      {{a, a}, {"1", "[1]"}, "error at character 1: expected int32, found Tensor[(1), int32]"},
      {{a},
       {"Nil"},
       "error at character 1: expected a constructor that only one type has, found 'Nil'"},
      {{a},
       {"Box(1)"},
       "error at character 1: expected a constructor of the program, by its name, found 'Box(1)'"},
      {{a},
       {"1(2)"},
       "error at character 1: expected a constructor of the program, by its name, found '1(2)'"},
      {{a},
       {"what"},
       "error at character 1: expected a tensor, a tuple or a constructor of the program, found "
       "'what'"},
      {{a},
       {""},
       "error at character 1: expected a tensor, a tuple or a constructor of the program, found "
       "the "
       "end"},
      {{a}, {"(1"}, "error at character 3: expected , or ) in a tuple, found the end"},
      {{a}, {"(1 2)"}, "error at character 4: expected , or ) in a tuple, found '2)'"},
      {{a}, {"[1, 2"}, "error at character 6: expected , or ], found the end"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.texts[0]);
    CHECK(ReadOpen(c.types, c.texts) == c.result);
  }
}

TEST_CASE("an open list of 100,000 elements is read without recursion; types have a limit") {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  auto repeat = [](int count, const std::string& text) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  TypeTable::Id open = types.NewVariable();
  constexpr int kLength = 100'000;
  CHECK(ParseLiteral(repeat(kLength, "Cons(1, ") + "Nil" + repeat(kLength, ")"), types, open).ok());
  CHECK(types.ToString(open) == "List[int32]");
  for (const char* outer : {"(", "Cons("}) {
    auto deep = ParseLiteral(repeat(kLength, outer) + "1", types, types.NewVariable());
    CHECK(deep.status().message().find("nests deeper than 256, found") != std::string::npos);
  }
}

TEST_CASE("errors tell the place, what is expected and what is found") {
  struct Case {
    ValueType type;
    const char *text, *message;
  };
  const Case cases[] = {
      {I32(), "", "at character 1: expected int32, found the end"},
      {I32(), "x", "at character 1: expected int32, found 'x'"},
      {I32(), "2.5", "at character 1: 2.5 is not an integer, and int32 is wanted, found '2.5'"},
      {I32(), "3 4", "at character 3: expected the end of the value, found '4'"},
      {I32(), "[3]", "at character 1: expected int32, found Tensor[(1), int32]"},
      {I32(), "(3)", "at character 1: expected int32, found '(3)'"},
      {Matrix(), "[[1, 2], [3]]", "at character 13: a list of 1 among lists of 2, found ']'"},
      {Matrix(), "[[1], 2]",
       "at character 7: expected [: lists of one depth must be alike, found '2]'"},
      {Matrix(), "[1, [2]]",
       "at character 6: expected a number: lists of one depth must be alike, found '2]]'"},
      {Matrix(), "[[1", "at character 4: expected , or ], found the end"},
      {Matrix(), "[", "at character 2: expected a number or [, found the end"},
      {Matrix(), "2x3xi32=1",
       "at character 1: expected Tensor[(?, ?), float32], found Tensor[(2, 3), int32]"},
      {Matrix(), "2y3=1",
       "at character 1: expected dimensions and a dtype before =, such as 2x3xf32, found '2y3=1'"},
      {Matrix(), "Tensor[(2, 2), float32] [[1, 2]]",
       "at character 1: the numbers are of shape (1, 2), found 'Tensor[(2, 2), float32] ...'"},
      {Matrix(), "Tensor[(2, n), float32] [[1, 2]]",
       "at character 1: expected a tensor such as Tensor[(2), float32] [1, 2], found 'Tensor[(2, "
       "n), float32] ...'"},
      {Matrix(), "Tensor[(1, 2), float32] [[1, ...]]",
       "at character 30: ... is not a number, found '...]]'"},
      {TupleOf({I32(), I32()}), "(1)",
       "at character 3: expected , and field 2 of the tuple (int32, int32), found ')'"},
      {TupleOf({I32()}), "(1, 2)",
       "at character 5: expected ) after the field of the tuple (int32,), found '2)'"},
      {TupleOf({I32()}), "1", "at character 1: expected a tuple (int32,), found '1'"},
      {ListOf(I32()), "Cons(1, Cns(2, Nil))",
       "at character 9: expected Cons or Nil of List[int32], found 'Cns(2, Nil))'"},
      {ListOf(I32()), "2", "at character 1: expected Cons or Nil of List[int32], found '2'"},
      {ListOf(I32()), "Cons",
       "at character 5: expected ( after Cons, which has 2 fields, found the end"},
      {TypeOf(ValueType::Kind::kFunction, {}), "f", "a function cannot be given as an input"},
      {TypeOf(ValueType::Kind::kRef, {I32()}), "3", "a reference cannot be given as an input"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(ReadBack(c.text, c.type) == std::string("error ") + c.message);
  }
}

TEST_CASE("tensors from files inside a value") {
  TempFolder folder;
  HostTensor t{DType::kFloat32, {2}, std::vector<std::byte>(8)};
  REQUIRE(WriteNpyFile(folder / "a.npy", t).ok());
  REQUIRE(WriteNpyFile(folder / "b c.npy", t).ok());
  std::string leaf = "Leaf(Tensor[(2), float32] [0., 0.])";
  CHECK(ReadBack("Leaf(@" + (folder / "a.npy") + ")", Tree()) == leaf);
  CHECK(ReadBack("Node(Leaf(@\"" + (folder / "b c.npy") + "\"), Leaf([0,0]))", Tree()) ==
        "Node(" + leaf + ", " + leaf + ")");
  std::string missing = ReadBack("Leaf(@" + (folder / "no.npy") + ")", Tree());
  CHECK(missing.find("no.npy") != std::string::npos);
}

TEST_CASE("random fills are the same for the same seed, and in range") {
  Program program = ProgramWithTypes();
  TypeTable types(program);
  TypeTable::Id id = types.Intern(TensorOf(DType::kFloat32, {1000}));
  Value a = *ParseLiteral("1000xf32=random", types, id, 1);
  Value b = *ParseLiteral("1000xf32=random", types, id, 1);
  Value c = *ParseLiteral("1000xf32=random", types, id, 2);
  CHECK(std::memcmp(a.data(), b.data(), 4000) == 0);
  CHECK(std::memcmp(a.data(), c.data(), 4000) != 0);
  const auto* x = static_cast<const float*>(a.data());
  CHECK(std::all_of(x, x + 1000, [](float v) { return v >= -1 && v < 1; }));
  CHECK(std::any_of(x, x + 1000, [](float v) { return v < 0; }));
}

TEST_CASE("a list of 100,000 elements") {
  constexpr int kLength = 100'000;
  std::string text;
  for (int i = 0; i < kLength; ++i) text += "Cons(" + std::to_string(i) + ", ";
  text += "Nil" + std::string(kLength, ')');
  CHECK(ReadBack(text, ListOf(I32())) == text);
}

}  // namespace
}  // namespace relayvm::tools
