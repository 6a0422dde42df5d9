#include "compiler/transforms/loops/name_states.h"

#include "compiler/ir/signature_attrs.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

using States = std::vector<std::pair<uint32_t, uint32_t>>;

Module Cell() {
  return Typed(R"(
def @main(%x: Tensor[(3, 4), float32], %h: Tensor[(3, 4), float32], %count: int64) {
  (add(%x, %h), (add(%count, 1i64), cast(%x, dtype="int32")))
})");
}
States StatesAfter(const std::vector<std::string>& pairs) {
  const auto named = NameStates(Cell(), pairs);
  REQUIRE_MESSAGE(named.ok(), named.status().message());
  return StatesOf(*named->functions.at("main"));
}
std::string ErrorOf(const std::vector<std::string>& pairs) {
  const auto named = NameStates(Cell(), pairs);
  REQUIRE_FALSE(named.ok());
  CHECK(named.status().code() == StatusCode::kInvalidArgument);
  return named.status().message();
}

TEST_CASE("states: pairs of names become pairs of positions") {
  CHECK(StatesAfter({}) == States{});
  CHECK(StatesAfter({"h=output_0"}) == States{{1, 0}});
  CHECK(StatesAfter({"count=output_1", "h=output_0"}) == States{{2, 1}, {1, 0}});
  CHECK(StatesAfter({"h=output_0", "h=output_0"}) == States{{1, 0}});
}

TEST_CASE("states: names that hold an equals sign") {
  Module m = Cell();
  Function main = *m.functions.at("main");
  main.attrs[kOutputNames] = AttrList{std::string("a=b"), std::string("b"), std::string("c")};
  m.functions["main"] = m.arena->New<Function>(std::move(main));
  const auto named = NameStates(m, {"h=a=b"});
  REQUIRE(named.ok());
  CHECK(StatesOf(*named->functions.at("main")) == States{{1, 0}});
}

TEST_CASE("states: what is wrong with a pair") {
  CHECK(ErrorOf({"hh=output_0"}) == "--state hh=output_0: there is no input hh; did you mean h?");
  CHECK(ErrorOf({"h=y"}) ==
        "--state h=y: there is no output y; outputs: output_0, output_1, output_2");
  CHECK(ErrorOf({"h=output_0", "x=output_0"}) ==
        "--state x=output_0: one of them is in another pair");
  CHECK(ErrorOf({"h=output_0", "h=output_2"}) ==
        "--state h=output_2: one of them is in another pair");
  CHECK(ErrorOf({"h=output_1"}) ==
        "--state h=output_1: expected tensors of numbers, of one type, found h is Tensor[(3, 4), "
        "float32] and "
        "output_1 is int64");
  CHECK(ErrorOf({"h=output_2"}).find("output_2 is Tensor[(3, 4), int32]") != std::string::npos);
}

TEST_CASE("states: inputs that may be left out, and other data types") {
  const Module m = Typed(R"(
type Maybe[A] { Nothing, Just(A) }
type Chain[A] { End, Link(A, Chain[A]) }
def @main(%x: Tensor[(2), float32], %h: Maybe[Tensor[(2), float32]], %c: Chain[Tensor[(2), float32]]) {
  (%x, %h, %c)
})");
  const auto named = NameStates(m, {"h=output_0"});
  REQUIRE_MESSAGE(named.ok(), named.status().message());
  CHECK(StatesOf(*named->functions.at("main")) == States{{1, 0}});
  CHECK_FALSE(NameStates(m, {"c=output_0"}).ok());
  CHECK_FALSE(NameStates(m, {"h=output_1"}).ok());
  CHECK_FALSE(NameStates(m, {"x=output_1"}).ok());
}

}  // namespace
}  // namespace relayvm::ir
