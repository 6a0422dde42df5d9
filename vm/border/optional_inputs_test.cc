#include "vm/border/optional_inputs.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::ElementsOf;
using testing::Floats;
using testing::LoadText;

// Of (x, maybe, count): x, or what is held. A count is no value that may be left out: it holds
// counts.
std::shared_ptr<const Executable> Program() {
  return LoadText(R"(
.version 1
.data "Maybe" 1
  .constructor "Full" (var 0)
  .constructor "Empty" ()
.data "Count" 0
  .constructor "Zero" ()
  .constructor "More" (data 1())
.export "main" f0 ("x": float32[?"n"], "maybe": data 0(float32[2])) -> float32[?""]
.export "counted" f1 ("count": data 1()) -> data 1()
.function "main" scalars 0 objects 2 captured 0 registers 0 3 returns object arena 0
  switch.tag r1, [L0, L1]
L0:
  adt.get r2, r1!, #0
  ret.r r2!
L1:
  ret.r r0!
.end
.function "counted" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
}

std::string Given(std::vector<Value> inputs, std::string_view function = "main") {
  auto result = testing::NewInvocation(Program())->Run(function, std::move(inputs));
  if (!result.ok()) return result.status().message();
  std::string text;
  for (const float element : ElementsOf<float>(*result)) text += std::to_string(element)[0];
  return text;
}

TEST_CASE("inputs that may be left out: a tensor as it is, nothing, or what the type says") {
  const Value x = Floats({3}, {1, 2, 3}), held = Floats({2}, {7, 8});
  CHECK(Given({x}) == "123");
  CHECK(Given({x, Value()}) == "123");
  CHECK(Given({x, Value::Adt(1, {})}) == "123");
  CHECK(Given({x, held}) == "78");
  CHECK(Given({x, Value::Adt(0, {held})}) == "78");
}

TEST_CASE("inputs that may be left out: what is given has the type, and others are not left out") {
  const Value x = Floats({3}, {1, 2, 3});
  CHECK(Given({x, x}) ==
        "main: parameter %maybe: expected Tensor[(2), float32], found Tensor[(3), float32]");
  CHECK(Given({}) == "main: expected 2 inputs, found 0");
  CHECK(Given({Value(), x}) == "main: parameter %x: expected Tensor[(n), float32], found nothing");
  CHECK(Given({}, "counted") == "counted: expected 1 inputs, found 0");
  CHECK(Contains(Given({Value()}, "counted"), "parameter %count: expected Count"));
}

}  // namespace
}  // namespace relayvm
