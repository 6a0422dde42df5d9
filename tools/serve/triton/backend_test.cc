// The backend as a server drives it: what is in its configuration, requests one by one, and what
// strangers send. Batches are batching_test.cc's.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "tools/serve/triton/backend_testing.h"

namespace relayvm::triton {
namespace {

constexpr const char* kScale =
    "def @main(%x: Tensor[(?, 2), float32], %f: float32) { multiply(%x, %f) }\n";
constexpr const char* kList =
    "type List[A] { Cons(A, List[A]), Nil, }\n"
    "def @main(%x: float32, %l: List[float32]) -> List[float32] { Cons(%x, %l) }\n";

TEST_CASE("a configuration is filled in from the file") {
  Served served(kScale);
  REQUIRE(served.Load().empty());
  CHECK(served.model.times_set == 1);
  CHECK(served.model.config["input"] ==
        Json::parse(R"([{"name": "x", "data_type": "TYPE_FP32", "dims": [-1, 2]},
                        {"name": "f", "data_type": "TYPE_FP32", "dims": [1], "reshape": {"shape": []}}])"));
  CHECK(served.model.config["output"] ==
        Json::parse(R"([{"name": "output_0", "data_type": "TYPE_FP32", "dims": [-1, 2]}])"));
  CHECK(!served.model.config.contains("dynamic_batching"));
  CHECK(served.backend().get_attribute(nullptr, nullptr) == nullptr);
  CHECK(HostWorld::Get().preferred_cpu == 1);
  CHECK(HostWorld::Get().parallel_loading == 1);
}

TEST_CASE("a configuration may say a part, in text too, and it stays") {
  Served served(kScale);
  served.model.config = Json::parse(
      R"({"input": [{"name": "f", "data_type": "TYPE_FP32", "dims": ["1"], "reshape": {"shape": []}},
                    {"name": "x", "data_type": "TYPE_INVALID", "dims": ["7", "-1"]}]})");
  REQUIRE(served.Load().empty());
  CHECK(served.model.config["input"][1] ==
        Json::parse(R"({"name": "x", "data_type": "TYPE_FP32", "dims": ["7", "-1"]})"));
  CHECK(served.model.config["input"].size() == 2);
}

TEST_CASE("a configuration that is not the file's is refused") {
  const auto message = [](const char* config) {
    Served served(kScale);
    served.model.config = Json::parse(config);
    return served.Load();
  };
  CHECK(message(R"({"input": [{"name": "y", "data_type": "TYPE_FP32", "dims": [1]}]})") ==
        "there is no input y; it has x, f");
  CHECK(message(R"({"input": [{"name": "x", "data_type": "TYPE_INT8", "dims": [-1, 2]}]})") ==
        "input x: expected TYPE_FP32, found TYPE_INT8");
  CHECK(
      message(R"({"output": [{"name": "output_0", "data_type": "TYPE_FP32", "dims": [-1, 3]}]})") ==
      "output: output_0: expected dims [-1, 2], as Tensor[(x.0, 2), float32] says, found [-1, 3]");
  CHECK(message(R"({"parameters": {"threads": {"string_value": "two"}}})") ==
        "parameter threads: expected a number, found 'two'");
  CHECK(message(R"({"parameters": {"function": {"string_value": "other"}}})").find("other") !=
        std::string::npos);
  CHECK(message(R"({"default_model_filename": "gone.vmx"})").find("gone.vmx") != std::string::npos);
  CHECK(message(R"({"max_batch_size": 8})") == "max_batch_size: input f: float32 is a scalar");
}

TEST_CASE("what is no tensor cannot be served") {
  Served served;
  served.Compile(kList);
  CHECK(served.Load() == "input l: expected a tensor, found List[float32]");
}

TEST_CASE("models are model.relayvm, or model.vmx") {
  Served served(kScale);
  std::filesystem::rename(served.shell / "1/model.vmx", served.shell / "1/model.relayvm");
  served.model.config["default_model_filename"] = "model.relayvm";
  CHECK(served.Load().empty());
}

TEST_CASE("a request has its response, of any number of rows") {
  Served served(kScale);
  REQUIRE(served.Load().empty());
  for (const int64_t rows : {3, 1, 0, 100}) {
    std::vector<float> x(static_cast<size_t>(rows) * 2);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    TRITONBACKEND_Request request;
    request.inputs = {Floats("f", {}, {2}), Floats("x", {rows, 2}, x)};
    served.Execute({&request});
    const HostTensor& y = OutputOf(request);
    CHECK(y.name == "output_0");
    CHECK(y.dims == std::vector<int64_t>{rows, 2});
    for (float& v : x) v *= 2;
    CHECK(ElementsOf<float>(y.pieces[0]) == x);
  }
  CHECK(served.instance().statistics.requests == std::vector<bool>(4, true));
  CHECK(served.instance().statistics.batches == std::vector<uint64_t>(4, 1));
}

TEST_CASE("data may come in pieces, at any address") {
  Served served(kScale);
  REQUIRE(served.Load().empty());
  TRITONBACKEND_Request request;
  const std::string bytes = BytesOf<float>({1, 2, 3, 4});
  TRITONBACKEND_Input x{{"x", TRITONSERVER_TYPE_FP32, {2, 2}, {}, TRITONSERVER_MEMORY_CPU}};
  x.tensor.pieces = {bytes.substr(0, 3), "", bytes.substr(3, 8), bytes.substr(11)};
  request.inputs = {x, Floats("f", {}, {3})};
  served.Execute({&request});
  CHECK(ElementsOf<float>(OutputOf(request).pieces[0]) == std::vector<float>{3, 6, 9, 12});
}

TEST_CASE("what is wrong with a request is its own error") {
  Served served(kScale);
  REQUIRE(served.Load().empty());
  const auto message = [&](std::vector<TRITONBACKEND_Input> inputs) {
    TRITONBACKEND_Request request;
    request.inputs = std::move(inputs);
    served.Execute({&request});
    return ErrorOf(request);
  };
  const TRITONBACKEND_Input f = Floats("f", {}, {2});
  const TRITONBACKEND_Input x = Floats("x", {1, 2}, {1, 2});
  CHECK(message({x}) == "input f is missing");
  CHECK(message({x, f, Floats("z", {}, {1})}) == "there is no input z");
  CHECK(message({f, Floats("x", {1, 2}, {1})}) ==
        "input x: its shape [1, 2] needs 2 elements of 4 bytes, it has 4 bytes");
  CHECK(message({f, Floats("x", {-1, 2}, {1})}) == "input x: its shape [-1, 2] is not one");
  CHECK(message({f, Floats("x", {INT64_MAX, 8}, {1})}).find("is not one") != std::string::npos);
  CHECK(message({f, Floats("x", {INT64_MAX / 4, 1}, {1})}).find("it has 4 bytes") !=
        std::string::npos);
  CHECK(message({f, Floats("x", {1, 3}, {1, 2, 3})}).find("x") != std::string::npos);
  CHECK(message({f, Floats("x", {2}, {1, 2})}).find("x") != std::string::npos);
  TRITONBACKEND_Input wrong = x;
  wrong.tensor.type = TRITONSERVER_TYPE_INT32;
  CHECK(message({f, wrong}) == "input x: expected FP32, found INT32");
  wrong.tensor.type = TRITONSERVER_TYPE_INVALID;
  CHECK(message({f, wrong}) == "input x: its type is none");
  wrong = x;
  wrong.tensor.memory = TRITONSERVER_MEMORY_GPU;
  CHECK(message({f, wrong}) == "input x: its data is in a GPU's memory");
  TRITONBACKEND_Request request;
  request.inputs = {x, f};
  request.outputs = {"y"};
  served.Execute({&request});
  CHECK(ErrorOf(request) == "there is no output y");
  CHECK(std::ranges::count(served.instance().statistics.requests, true) == 0);
  CHECK(served.instance().statistics.batches.empty());
}

TEST_CASE("texts and bools") {
  Served served;
  served.Compile(
      "def @main(%s: Tensor[(?), string], %b: Tensor[(?), bool]) { (%s, logical_not(%b)) }\n");
  REQUIRE(served.Load().empty());
  CHECK(served.model.config["input"][0]["data_type"] == "TYPE_STRING");
  CHECK(served.model.config["input"][1]["data_type"] == "TYPE_BOOL");
  const std::string two("\3\0\0\0abc\0\0\0\0", 11);
  const auto run = [&](int64_t count, std::vector<std::string> pieces, const std::string& bools,
                       TRITONBACKEND_Request& request) {
    request.inputs = {{{"s", TRITONSERVER_TYPE_BYTES, {count}, std::move(pieces)}},
                      {{"b", TRITONSERVER_TYPE_BOOL, {2}, {bools}}}};
    served.Execute({&request});
  };
  TRITONBACKEND_Request good;
  run(2, {two.substr(0, 5), two.substr(5)}, std::string("\1\0", 2), good);
  CHECK(OutputOf(good).pieces[0] == two);
  CHECK(OutputOf(good, 1).pieces[0] == std::string("\0\1", 2));
  const auto message = [&](int64_t count, const std::string& texts, const std::string& bools) {
    TRITONBACKEND_Request request;
    run(count, {texts}, bools, request);
    return ErrorOf(request);
  };
  const std::string bools("\0\0", 2);
  CHECK(message(1, two, bools) == "input s: 4 bytes are left after 1 texts");
  CHECK(message(3, two, bools) == "input s: 11 bytes are too few for 3 texts");
  CHECK(message(INT64_MAX, two, bools).find("too few") != std::string::npos);
  CHECK(message(1, std::string("\xff\xff\xff\xff", 4), bools) == "input s: text 0 is cut off");
  CHECK(message(2, two.substr(0, 9), bools) == "input s: text 1 is cut off");
  CHECK(message(2, two, std::string("\0\2", 2)) == "input b: expected bools of 0 or 1, found 2");
}

TEST_CASE("a request that nobody waits for is not run; one may take only so long") {
  Served served;
  served.Compile("def @main(%x: int32) -> int32 { @main(add(%x, 1)) }\n");
  REQUIRE(served.Load().empty());
  const TRITONBACKEND_Input x{{"x", TRITONSERVER_TYPE_INT32, {}, {BytesOf<int32_t>({1})}}};
  TRITONBACKEND_Request cancelled;
  cancelled.inputs = {x};
  cancelled.is_cancelled = true;
  TRITONBACKEND_Request late;
  late.inputs = {x};
  late.timeout_us = 20'000;
  served.Execute({&cancelled, &late});
  CHECK(ErrorOf(cancelled) == "the request was cancelled");
  CHECK(cancelled.answers[0].code == TRITONSERVER_ERROR_CANCELLED);
  ErrorOf(late);
  CHECK(late.answers[0].code == TRITONSERVER_ERROR_UNAVAILABLE);
}

TEST_CASE("a run that needs more memory than the configuration says fails") {
  Served served(kScale);
  served.model.config["parameters"]["memory_limit"]["string_value"] = "1000000";
  REQUIRE(served.Load().empty());
  TRITONBACKEND_Request request;
  request.inputs = {Floats("f", {}, {2}),
                    Floats("x", {4'000'000, 2}, std::vector<float>(8'000'000))};
  served.Execute({&request});
  ErrorOf(request);
  CHECK(request.answers[0].code == TRITONSERVER_ERROR_UNAVAILABLE);
}

TEST_CASE("instances share the model, and run at the same time") {
  Served served(kScale);
  REQUIRE(served.Load(4).empty());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        TRITONBACKEND_Request request;
        const auto factor = static_cast<float>(t + 1);
        request.inputs = {Floats("f", {}, {factor}),
                          Floats("x", {1, 2}, {1, static_cast<float>(i)})};
        served.Execute({&request}, t);
        const std::vector<float> expected = {factor, factor * static_cast<float>(i)};
        if (request.answers.size() != 1 || request.answers[0].code.has_value() ||
            ElementsOf<float>(request.answers[0].outputs[0].pieces[0]) != expected) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("an instance is ready while its file is what was loaded") {
  Served served(kScale);
  REQUIRE(served.Load().empty());
  CHECK(Taken(served.backend().instance_ready(&served.instance())).empty());
}

TEST_CASE("a GPU's instance is refused") {
  Served served(kScale);
  CHECK(served.Load(1, TRITONSERVER_INSTANCEGROUPKIND_GPU) ==
        "it runs on CPUs: the configuration needs instance_group [{ kind: KIND_CPU }]");
}

TEST_CASE("an old server is refused") {
  HostWorld::Get().minor = 9;
  Served served;
  CHECK(Taken(served.backend().initialize(nullptr)) ==
        "expected Triton's backend interface 1.10 or later, found 1.9");
  HostWorld::Get().minor = TRITONBACKEND_API_VERSION_MINOR;
}

TEST_CASE("calls of the server that fail end that request, or that model") {
  for (const char* call :
       {"TRITONBACKEND_ModelConfig", "TRITONBACKEND_ModelSetConfig", "TRITONBACKEND_ModelSetState",
        "TRITONSERVER_MessageSerializeToJson", "TRITONSERVER_MessageNewFromSerializedJson",
        "TRITONBACKEND_ModelInstanceSetState"}) {
    CAPTURE(call);
    Served served(kScale);
    HostWorld::Get().fails = {call};
    CHECK(served.Load().find("made to fail") != std::string::npos);
    HostWorld::Get().fails.clear();
  }
  Served served(kScale);
  REQUIRE(served.Load().empty());
  for (const char* call : {"TRITONBACKEND_RequestInputByIndex", "TRITONBACKEND_InputBuffer",
                           "TRITONBACKEND_ResponseOutput", "TRITONBACKEND_OutputBuffer",
                           "TRITONBACKEND_ResponseNew"}) {
    CAPTURE(call);
    TRITONBACKEND_Request request;
    request.inputs = {Floats("f", {}, {2}), Floats("x", {1, 2}, {1, 2})};
    HostWorld::Get().fails = {call};
    served.Execute({&request}, 0, std::string_view(call) == "TRITONBACKEND_ResponseNew" ? 0 : 1);
    HostWorld::Get().fails.clear();
    CHECK(!served.instance().statistics.requests.back());
    if (!request.answers.empty()) CHECK(ErrorOf(request) == std::string(call) + ": made to fail");
  }
}

}  // namespace
}  // namespace relayvm::triton
