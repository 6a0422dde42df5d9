// Ill-typed programs and what is said about them.
#include "compiler/typing/testing.h"

namespace relayvm::typing {
namespace {

struct Row {
  std::string source;
  std::string message;  // part of it
};

void Check(const std::vector<Row>& rows) {
  for (const Row& r : rows) {
    CAPTURE(r.source);
    auto module = Typed(r.source);
    REQUIRE_FALSE(module.ok());
    CHECK_MESSAGE(module.status().message().find(r.message) != std::string::npos,
                  module.status().message());
  }
}

TEST_CASE("an error shows the place, the line and a caret") {
  auto module = Typed(
      "def @main(%x: Tensor[(2, 300), float32], %w: Tensor[(4, 512), float32]) {\n"
      "  let %y = negative(%x);\n"
      "  nn.dense(%y, %w, units=4)\n"
      "}\n");
  REQUIRE_FALSE(module.ok());
  CHECK(module.status().code() == StatusCode::kInvalidInput);
  CHECK(module.status().message() ==
        "test.relay:4:3: nn.dense: the reduced dimensions of data and weight: 300 and 512 differ\n"
        "  nn.dense(%y, %w, units=4)\n"
        "  ^~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST_CASE("an error in a nested block is located once") {
  auto module =
      Typed("def @main(%c: bool) { if (%c) { if (%c) { add(1, 1f) } else { 1 } } else { 2 } }");
  REQUIRE_FALSE(module.ok());
  const std::string& message = module.status().message();
  CHECK(message.find("test.relay:") == message.rfind("test.relay:"));
}

TEST_CASE("operators") {
  Check({
      {"def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }",
       "add: operands: 2 and 3 do not broadcast"},
      {"def @main() { add(1, 1f) }", "add: "},
      {"def @main(%x: (int32, int32)) { negative(%x) }", "negative: "},
      {"def @main(%f: fn () -> int32) { negative(%f) }",
       "negative: argument 0: expected a tensor, found fn () -> int32"},
      {"def @main(%x: Tensor[(2), float32]) { dyn.reshape(%x, 1f, newshape=[]) }", "dyn.reshape: "},
      {"def @main(%x: Tensor[(?), float32], %s: Tensor[(?), int64]) {"
       "  dyn.reshape(%x, %s, newshape=[]) }",
       "its length decides a rank and must be static, but its shape is (s.0)"},
  });
}

TEST_CASE("a result of more dimensions than a tensor has") {
  std::string ones;
  for (int i = 0; i < 256; ++i) ones += "1, ";
  Check({{"def @main() { reshape(1, newshape=[" + ones + "]) }",
          "test.relay:2:15: reshape: the result has 256 dimensions, a tensor has at most 255"}});
}

TEST_CASE("weights in blocks whose sizes no machine has") {
  // Sizes and attributes at which sums and products of them would leave 64 bits.
  const auto blocks = [](const std::string& weight, const std::string& scales,
                         const std::string& attrs) {
    return "def @main(%x: Tensor[(1, 32), float32], %w: Tensor[(" + weight +
           "), int8], %s: Tensor[(" + scales +
           "), float32]) { nn.contrib_dense_blocks(%x, %w, %s, " + attrs + ") }";
  };
  const auto nbits = [](const std::string& weight, const std::string& attrs) {
    return "def @main(%x: Tensor[(1, 32), float32], %w: Tensor[(" + weight +
           "), uint8], %s: Tensor[(1, 1), float32]) { nn.contrib_dense_nbits(%x, %w, %s, " + attrs +
           ") }";
  };
  Check({
      {blocks("1, 1, 4611686018427387904, 4", "1, 1, 4", "units=4, in_units=32"),
       "expected a constant from 1 to"},
      {blocks("1, 1, 32, 9223372036854775807", "1, 1, 4", "units=4, in_units=32"),
       "expected a constant from 1 to"},
      {blocks("1, 1, 0, 4", "1, 1, 4", "units=4, in_units=32"), "expected a constant from 1 to"},
      {blocks("1, 1, 32, 4", "1, 1, 4", "units=2147483647, in_units=32"), "panels"},
      {blocks("1, 1, 32, 4", "1, 1, 4", "units=-2147483648, in_units=32"), "units is -"},
      {blocks("1, 1, 32, 4", "1, 1, 4", "units=4, in_units=2147483647"), "the reduced dimensions"},
      {blocks("1, 1, 32, 4", "1, 1, 4", "units=4, in_units=-2147483648"), "in_units is -"},
      {nbits("1, 1, 4611686018427387904", "bits=4, in_units=32"), "expected a constant from 1 to"},
      {nbits("1, 1, 16", "bits=0, in_units=32"), "expected 4 or 8"},
      {nbits("1, 1, 16", "bits=-9223372036854775808, in_units=32"), "is out of range"},
      {nbits("1, 1, 16", "bits=4, in_units=-1"), "in_units is -1"},
  });
}

TEST_CASE("transformed convolutions") {
  const auto conv = [](const std::string& data, const std::string& weight,
                       const std::string& attrs) {
    return "def @main(%x: Tensor[(" + data + "), float32], %w: Tensor[(" + weight +
           "), float32]) { nn.contrib_conv2d_winograd(%x, %w, " + attrs + ") }";
  };
  Check({
      {conv("1, 4, 9, 9", "1, 36, 2, 4, 8", "tile_size=3, channels=16"), "tile_size is 3"},
      {conv("1, 4, 9, 9", "1, 36, 2, 4, 8", "tile_size=4, channels=0"), "channels is 0"},
      {conv("1, 4, 9, 9", "1, 36, 2, 4, 8", "tile_size=4, channels=17"), "the groups of channels"},
      {conv("1, 4, 9, 9", "1, 16, 2, 4, 8", "tile_size=4, channels=16"), "the products of a tile"},
      {conv("1, 5, 9, 9", "1, 36, 2, 4, 8", "tile_size=4, channels=16"), "the channels of data"},
      {conv("1, 4, 1, 9", "1, 36, 2, 4, 8", "tile_size=4, channels=16"), "the output's extent"},
      {conv("1, 4, 9", "1, 36, 2, 4, 8", "tile_size=4, channels=16"), "data has rank 3"},
      {conv("1, 4, 9, 9", "36, 2, 4, 8", "tile_size=4, channels=16"), "weight has rank 4"},
      {conv("1, 4, 9, 9", "1, 36, 2, 4, 0", "tile_size=4, channels=16"), "a constant from 1 to"},
      {conv("1, 4, 9, 9", "1, 36, ?, 4, 8", "tile_size=4, channels=16"), "a constant from 1 to"},
      {conv("1, 4, 9, 9", "1, 36, 2, 4, 8", "tile_size=4, channels=16, padding=[1, 1, 1]"),
       "padding"},
  });
}

TEST_CASE("calls") {
  Check({
      {"def @f(%x: int32) { %x } def @main() { @f(1f) }",
       "argument %x of @f: expected int32, found float32 (dtypes int32 and float32 differ)"},
      {"def @f(%x: int32) { %x } def @main() { @f() }", "@f takes 1 argument, found 0"},
      {"def @f(%x: Tensor[(2), int8]) { %x } def @main(%y: Tensor[(3), int8]) { @f(%y) }",
       "argument %x of @f: expected Tensor[(2), int8], found Tensor[(3), int8] "
       "(dimension 0: 2 and 3 differ)"},
      {"def @f(%x: Tensor[(?), int8], %y: Tensor[(2, 2), int8]) { %x }"
       "def @main(%y: Tensor[(3), int8]) { @f(%y, %y) }",
       "(ranks 2 and 1 differ)"},
      {"def @main(%x: int32) { %x(1) }", "%x is called, but has type int32"},
      {"def @main(%f: fn (int32) -> int32) { %f(1f) }", "argument 0 of %f: expected int32"},
      {"def @id[A](%x: A) -> A { 1 } def @main() { @id(2f) }",
       "result of @id: expected A, found int32"},
      {"def @g[A](%x: A, %y: A) -> A { %x } def @main() { @g(1, 2f) }",
       "argument %y of @g: expected int32, found float32"},
      {"def @main() { let %f = fn (%x) { %x(%x) }; 1 }", "contain itself"},
      {"def @main() { let %f = fn (%x) { add(%x, 1) }; (%f(1), %f(1f)) }",
       "argument %x of %f: expected int32, found float32"},
  });
}

TEST_CASE("structure") {
  Check({
      {"def @main(%x: int32) { %x.0 }", "expected a tuple, found %x of type int32"},
      {"def @main(%t: (int32,)) { %t.1 }", "field 1 of a tuple with 1 field: (int32,)"},
      {"def @main(%x: int32) { if (%x) { 1 } else { 2 } }",
       "condition of if: expected bool, found int32"},
      {"def @main(%c: bool) { if (%c) { 1 } else { 2f } }",
       "the branches of if differ: expected int32, found float32"},
      {"def @main(%x: int32) { ref_read(%x) }", "expected a reference, found %x of type int32"},
      {"def @main() { let %r = ref(1); ref_write(%r, 1f) }",
       "write to %r: expected int32, found float32"},
      {"def @main() { let %x: float32 = 1; %x }", "%x: expected float32, found int32"},
      {"def @main() -> float32 { 1 }", "result of @main: expected float32, found int32"},
      {"def @main(%x: Tensor[(2), int8]) -> Tensor[(3), int8] { %x }",
       "(dimension 0: 3 and 2 differ)"},
      {"def @main() { let %f = fn (%x) { add(%x, %x) }; 1 }",
       "the type of %x cannot be inferred; annotate it"},
  });
}

TEST_CASE("data types and patterns") {
  std::string list = kListType;
  Check({
      {"def @main(%x: Lost[int32]) { %x }", "Lost"},
      {list + "def @main() { Cons(1, Cons(2f, Nil)) }",
       "expected List[int32], found List[float32]"},
      {list + "def @main(%x: int32) { match (%x) { Nil => { 1 } } }",
       "Nil makes a value of type List, the value has type int32"},
      {list + "def @main(%l: List[int32]) { match? (%l) { (%a, %b) => { 1 } } }",
       "the pattern is a tuple of 2, the value has type List[int32]"},
      {list + "def @main(%l: List[int32]) { match (%l) { Nil => { 1 } } }",
       "match is not exhaustive: Cons(_, _) is not handled"},
      {list + "def @main(%l: List[int32]) { match (%l) { Nil => { 1 }, Cons(_, Nil) => { 2 } } }",
       "match is not exhaustive: Cons(_, Cons(_, _)) is not handled"},
      {list + "def @main(%l: List[int32]) { match (%l) { Nil => { 1 }, Cons(_, _) => { 2f } } }",
       "the clauses of match differ: expected int32, found float32"},
      {"def @f[A](%g: fn (A) -> int32, %x) { %g(%x) } def @main(%y) { @f(fn (%z: int8) { 1 }, %y) }"
       "def @other(%f: fn (int8) -> int32, %z) { @f(%f, @main(%z)) }",
       "found int32"},
      {list + "def @main(%l: List[int32]) { match? (%l) { Cons(%x: float32, _) => { 1 } } }",
       "%x: expected float32, found int32"},
  });
}

TEST_CASE("dims where no guard reaches") {
  std::string list = kListType;
  Check({
      {list + "def @f(%l: List[Tensor[(2), int8]]) { 1 }"
              "def @main(%l: List[Tensor[(?), int8]]) { @f(%l) }",
       "argument %l of @f: expected List[Tensor[(2), int8]], found List[Tensor[(?), int8]]; "
       "dimensions inside containers"},
      {list + "def @f(%l: List[Tensor[(2), int8]]) { 1 }"
              "def @main(%l: List[Tensor[(3), int8]]) { @f(%l) }",
       "(dimension 0: 2 and 3 differ)"},
  });
}

// What the parser refuses can still come out of a faulty pass.
TEST_CASE("modules that no text gives") {
  ir::Module m = MustType("def @main(%x: int32) { negative(%x) }");
  // What is said of @main with the body { let %y: type = value; %y }, without the source line.
  auto with_body = [&](ir::ExprVariant value, ir::Type type) {
    const ir::Var* y = ir::MakeVar(m, "y", std::move(type), {});
    ir::Function f = *m.functions["main"];
    f.result_type = nullptr;
    const ir::Expr* e = m.arena->New<ir::Expr>(ir::Expr{std::move(value), {}});
    f.body = m.arena->New<ir::Block>(ir::Block{{{y, e}}, y});
    ir::Module changed = m;
    changed.functions["main"] = m.arena->New<ir::Function>(f);
    std::string message = InferTypes(changed).status().message();
    return message.substr(0, message.find('\n'));
  };
  const std::string at = "test.relay:2:5: ";  // the function's: what a pass makes may have no place
  const ir::Var* x = m.functions["main"]->params[0];
  const ir::Var* stranger = ir::MakeVar(m, "stranger", ir::MakeScalarType(DType::kInt32), {});
  const auto* nowhere = m.arena->New<ir::GlobalVar>({"nowhere"});
  CHECK(with_body(ir::CallExpr{nowhere, {x}, {}}, nullptr) == at + "there is no function @nowhere");
  CHECK(with_body(ir::AtomExpr{nowhere}, nullptr) == at + "there is no function @nowhere");
  const std::string outside = at + "%stranger is used outside of its scope";
  CHECK(with_body(ir::AtomExpr{stranger}, nullptr) == outside);
  CHECK(with_body(ir::CallExpr{stranger, {x}, {}}, nullptr) == outside);
  CHECK(with_body(ir::MakeTuple{{stranger}}, nullptr) == outside);
  CHECK(with_body(ir::AtomExpr{x}, ir::MakeType(ir::AdtType{"Lost", {}})) ==
        at + "there is no type Lost");
  CHECK(with_body(ir::ShapeValue{{1}}, nullptr) == at + "a shape value has no tensor type");
  CHECK(with_body(ir::ShapeValue{{1}}, ir::MakeTensorType({2}, DType::kInt64)) ==
        at + "a shape value of 1 elements has type Tensor[(2), int64]");

  // Parts that are missing have no place either.
  const ir::Var* none = nullptr;
  const ir::Function* no_function = nullptr;
  const auto* headless = m.arena->New<ir::Function>(ir::Function{});
  const auto* empty_block = m.arena->New<ir::Block>(ir::Block{});
  const auto* alien = m.arena->New<ir::Constructor>(ir::Constructor{"C", "T", 0, {}});
  const auto* torn = ir::MakeConstant(m, HostTensor{DType::kInt32, {2}, {}});
  const OpDef* softmax = OpTable::Get().Find("nn.softmax");
  Attrs wrong;
  wrong.Set("axis", "left");
  ir::Pattern nameless{.kind = ir::Pattern::Kind::kVar, .var = nullptr, .fields = {}, .span = {}};
  struct Row {
    ir::ExprVariant value;
    std::string message;
  };
  const Row rows[] = {
      {ir::AtomExpr{none}, "an operand is missing"},
      {ir::AtomExpr{alien}, "there is no type T"},
      {ir::AtomExpr{torn}, "a constant has 0 bytes, its type needs 8"},
      {ir::MakeTuple{{x, none}}, "an operand is missing"},
      {ir::OpCall{nullptr, {x}, {}}, "a call has no operator"},
      {ir::OpCall{softmax, {x}, {}}, "nn.softmax: attribute axis is missing"},
      {ir::OpCall{softmax, {x}, wrong}, "axis"},
      {ir::FunctionExpr{no_function}, "a function is missing"},
      {ir::FunctionExpr{headless}, "a function has no body"},
      {ir::PrimitiveCall{no_function, {x}}, "a function is missing"},
      {ir::PrimitiveCall{headless, {x}}, "a function has no body"},
      {ir::MakeClosure{nullptr, {}}, "a closure has no function"},
      {ir::IfExpr{x, nullptr, nullptr}, "a block is missing"},
      {ir::IfExpr{x, empty_block, empty_block}, "an operand is missing"},
      {ir::MatchExpr{x, {{nameless, empty_block}}}, "a pattern has no variable"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.message);
    std::string message = with_body(row.value, nullptr);
    CHECK(message.find("@main: ") == 0);
    CHECK_MESSAGE(message.find(row.message) != std::string::npos, message);
  }
  CHECK(InferTypes(ir::Module{}).status().message() ==
        "the module has no arena or no source of ids");
  ir::Module hollow = m;
  hollow.functions["gone"] = nullptr;
  CHECK(InferTypes(hollow).status().message() == "@gone is missing");
  // No function at all is no error.
  hollow.functions.clear();
  CHECK(InferTypes(hollow).ok());

  ir::Module bodiless = m;
  bodiless.functions["empty"] = m.arena->New<ir::Function>(ir::Function{});
  CHECK(InferTypes(bodiless).status().message() == "@empty has no body");

  ir::Module incomplete = m;
  ir::TypeDef def{"T", {}, {}, {}};
  def.constructors = {m.arena->New<ir::Constructor>(
      ir::Constructor{"C", "T", 0, {ir::MakeType(ir::InferVar{m.ids->Next()})}})};
  incomplete.types["T"] = def;
  CHECK(InferTypes(incomplete).status().message() == "the type of field 0 of C is incomplete");
}

}  // namespace
}  // namespace relayvm::typing
