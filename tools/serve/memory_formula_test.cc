#include "tools/serve/memory_formula.h"

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

FunctionSignature Signature() {
  FunctionSignature function;
  NamedType x{"x", {}, false}, y{"y", {}, false};
  x.type.dims = {{-1, "n"}, {-1, "x.1"}};
  y.type.dims = {{-1, ""}};
  function.inputs = {x, y};
  return function;
}

TEST_CASE("what a run holds follows from the dims of its inputs") {
  const std::vector<Value> inputs = {*Value::NewTensor(DType::kFloat32, {{5, 6}}),
                                     *Value::NewTensor(DType::kFloat32, {{7}})};
  const struct {
    const char* text;
    int64_t bytes;
  } kCases[] = {
      {"0", 0},
      {"n*4 + 64", 84},
      {"max(68, x.1*100, n)", 600},
      {"n*floordiv(x.1 + 1, 4)*2 - 3", 7},
      {"min(floormod(n, 3), 9)*(n + x.1)", 22},
      {"max(loop() + n, y.shape[0]*3)", 21},
      {"somewhere*8 + 1", 1},
      {"0 - n", 0},
      {"n*9223372036854775807", INT64_MAX},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    const auto formula = MemoryFormula::Parse(c.text, Signature());
    REQUIRE(formula);
    CHECK(formula->Evaluate(inputs) == c.bytes);
  }
  CHECK(MemoryFormula::Parse("n", Signature())->Evaluate({}) == 0);
}

TEST_CASE("what is no formula gives none, however deep it is") {
  for (const std::string& text :
       {std::string(), std::string("n +"), std::string("unknown (too much code to analyse)"),
        std::string("the largest of 20 formulas"), std::string("max(n"), std::string("f(n)"),
        std::string(100'000, '('), std::string("n n")}) {
    CHECK_FALSE(MemoryFormula::Parse(text, Signature()));
  }
  std::string wide = "n";
  for (int i = 0; i < 10'000; ++i) wide += " + n";
  CHECK_FALSE(MemoryFormula::Parse(wide, Signature()));
}

TEST_CASE("a request that never fits is wrong, and one that does not fit now is told so") {
  Metrics metrics;
  const auto dispatcher = testing::NewDispatcher({.workers = 1, .max_memory = 10'000});
  ModelConfig config;
  config.counts_memory = true;
  auto model =
      ServedModel::Create("m", "1", testing::Loaded(testing::kAddOne), *dispatcher->MakeGroup(),
                          std::make_shared<ModelMetrics>(metrics, "m"), config);
  REQUIRE(model.ok());
  REQUIRE((*model)->memory());
  const auto ask = [&](const std::shared_ptr<const ServedModel>& of, InferRequest request,
                       std::promise<StatusCode>* done, Dispatcher::Cancel* cancel = nullptr) {
    return dispatcher->Infer(
        of, request, {},
        [done](const Result<InferResponse>& r) { done->set_value(r.status().code()); }, cancel);
  };
  const auto floats = [](size_t count) {
    InferRequest request;
    request.inputs.push_back({"x", testing::Floats(std::vector<float>(count))});
    return request;
  };
  std::promise<StatusCode> good, bad;
  REQUIRE(ask(*model, floats(100), &good).ok());
  CHECK(good.get_future().get() == StatusCode::kOk);
  while (dispatcher->reserved_memory() > 0) std::this_thread::yield();
  const Status never = ask(*model, floats(2000), &bad);
  CHECK(never.code() == StatusCode::kInvalidArgument);
  CHECK(never.message().starts_with("it needs 16000 bytes of memory: the server has 10000"));
  // Two of this do not fit.
  const auto count = testing::Served(*dispatcher, metrics, R"(#[version = "0.0.5"]
def @turn(%i: float32) -> float32 { if (less(%i, 1f)) { @turn(%i) } else { %i } }
def @main(%x: Tensor[(?), float32]) -> float32 { @turn(multiply(max(%x), 0f)) }
)");
  std::promise<StatusCode> first, second, third;
  Dispatcher::Cancel cancel;
  REQUIRE(ask(count, floats(2000), &first, &cancel).ok());
  CHECK(ask(count, floats(2000), &second).code() == StatusCode::kResourceExhausted);
  cancel.Cancel();
  CHECK(first.get_future().get() == StatusCode::kCancelled);
  while (dispatcher->reserved_memory() > 0) std::this_thread::yield();
}

}  // namespace
}  // namespace relayvm::serve
