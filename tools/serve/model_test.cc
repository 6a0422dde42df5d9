#include "tools/serve/model.h"

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using testing::Floats;
using testing::Loaded;

Result<std::shared_ptr<ServedModel>> Make(std::string_view relay) {
  static Metrics metrics;
  return ServedModel::Create("m", "7", Loaded(relay), RunGroup(),
                             std::make_shared<ModelMetrics>(metrics, "m"));
}

TEST_CASE("metadata says names, datatypes and shapes") {
  const auto model = Make(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float16], %n: int64) -> (Tensor[(?, 4), float16], bool) {
  (%x, greater(%n, 0i64))
})");
  REQUIRE(model.ok());
  CHECK(
      (*model)->MetadataJson(std::vector<std::string>{"7", "12"}) ==
      R"({"name":"m","versions":["7","12"],"platform":"relayvm_vmx","inputs":[)"
      R"({"name":"x","datatype":"FP16","shape":[-1,4]},{"name":"n","datatype":"INT64","shape":[]}],)"
      R"("outputs":[{"name":"output_0","datatype":"FP16","shape":[-1,4]},)"
      R"({"name":"output_1","datatype":"BOOL","shape":[]}]})");
}

TEST_CASE("states that the configuration names are the file's") {
  static Metrics metrics;
  const auto make = [&](const std::vector<std::pair<std::string, std::string>>& states) {
    auto compiled = relayvm::CompileModel(
        ModelSource::Text(
            "#[version = \"0.0.5\"]\ndef @main(%x: float32, %h: float32) -> (float32, "
            "float32) { (%x, add(%x, %h)) }"),
        {.opt_level = 1, .pass_options = {{"state", {"h=output_1"}}}});
    REQUIRE(compiled.ok());
    ModelConfig config;
    config.states = states;
    return ServedModel::Create("m", "7", *compiled->Load(), RunGroup(),
                               std::make_shared<ModelMetrics>(metrics, "m"), config)
        .status();
  };
  CHECK(make({}).ok());
  CHECK(make({{"h", "output_1"}}).ok());
  CHECK(make({{"x", "output_0"}}).message() ==
        "its configuration says that x is what output_0 of the run before was, and its file does "
        "not: make that with relayc --state x=output_0");
  CHECK(make({{"h", "output_0"}}).code() == StatusCode::kInvalidInput);
}

TEST_CASE("inputs that are no tensors cannot be served") {
  const auto model = Make(R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @main(%xs: List[Tensor[(2), float32]]) -> float32 { 1f })");
  REQUIRE_FALSE(model.ok());
  CHECK(model.status().code() == StatusCode::kUnsupported);
  CHECK(model.status().message() == "main's input xs is no tensor but List[Tensor[(2), float32]]");
}

TEST_CASE("inputs by name, in any order; outputs that are asked for") {
  const auto made = Make(R"(#[version = "0.0.5"]
def @main(%a: Tensor[(?), float32], %b: float32) -> (Tensor[(?), float32], float32) { (%a, %b) })");
  REQUIRE(made.ok());
  const ServedModel& model = **made;
  const auto ordered = model.OrderInputs({{"b", Value::Float32(2)}, {"a", Floats({1})}});
  REQUIRE(ordered.ok());
  CHECK((*ordered)[0].dims().size() == 1);
  CHECK(model.OrderInputs({{"c", Value::Float32(2)}}).status().message() == "m has no input c");
  CHECK(model.OrderInputs({{"a", Floats({1})}}).status().code() == StatusCode::kInvalidArgument);
  CHECK(model.OrderInputs({{"a", Floats({1})}, {"a", Floats({1})}, {"b", Value::Float32(2)}})
            .status()
            .code() == StatusCode::kInvalidArgument);
  CHECK(model.CheckOutputs({{"output_2", {}}}).message() == "m has no output output_2");
  CHECK(model.CheckOutputs({{"output_1", {}}, {"output_0", {}}}).ok());
  CHECK(model.CheckOutputs({{"output_1", {}}, {"output_1", {}}}).message() ==
        "output output_1 is asked for twice");
  const Value result = Value::Tuple({Floats({3}), Value::Float32(4)});
  CHECK(model.TakeOutputs(result, {})->size() == 2);
  const auto asked = model.TakeOutputs(result, {{"output_1", {}}});
  REQUIRE(asked.ok());
  REQUIRE(asked->size() == 1);
  CHECK((*asked)[0].value.span<float>()[0] == 4);
}

TEST_CASE("an output that is no tensor is an error of its request") {
  const auto model = Make(R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @main(%x: float32) -> List[float32] { Cons(%x, Nil) })");
  REQUIRE(model.ok());
  CHECK((*model)->TakeOutputs(Value::Adt(1, {}), {}).status().code() == StatusCode::kUnsupported);
}

}  // namespace
}  // namespace relayvm::serve
