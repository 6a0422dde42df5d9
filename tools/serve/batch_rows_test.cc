#include "tools/serve/batch_rows.h"

#include <doctest/doctest.h>

#include "tools/serve/model_config.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

NamedType Tensor(const std::string& name, const std::vector<std::string>& dims) {
  NamedType tensor{name, {}, false};
  for (const std::string& dim : dims) {
    const bool is_number = !dim.empty() && dim[0] >= '0' && dim[0] <= '9';
    tensor.type.dims.push_back({is_number ? std::stoll(dim) : -1, is_number ? "" : dim});
  }
  return tensor;
}

TEST_CASE("rows can be joined where one free first dim is that of all tensors, and nothing else") {
  const struct {
    std::vector<NamedType> inputs, outputs;
    std::string why;
  } kCases[] = {
      {{Tensor("x", {"n", "3"}), Tensor("y", {"n"})}, {Tensor("z", {"n", "m"})}, ""},
      {{Tensor("x", {"x.0", "x.1"})}, {Tensor("z", {"x.0", "x.1*2"})}, ""},
      {{Tensor("x", {"4"})}, {Tensor("z", {"4"})}, "x: its first dim is 4"},
      {{Tensor("x", {})}, {Tensor("z", {})}, "x: it has no dims"},
      {{Tensor("x", {"n"}), Tensor("y", {"m"})},
       {Tensor("z", {"n"})},
       "first dim is m, and others"},
      {{Tensor("x", {"n", "n"})}, {Tensor("z", {"n"})}, "x: its dim 1 is n"},
      {{Tensor("x", {"n"})}, {Tensor("z", {"n", "n*2 + 1"})}, "z: its dim 1 is n*2 + 1"},
      {{Tensor("x", {"n"})}, {Tensor("z", {"2"})}, "z: its first dim is 2"},
      {{Tensor("x", {"n"})}, {Tensor("z", {"n*2"})}, "z: its first dim is n*2"},
      {{Tensor("x", {"n"})}, {Tensor("z", {""})}, "z: its first dim is known when it runs"},
      {{}, {Tensor("z", {"n"})}, "without inputs"},
  };
  for (const auto& c : kCases) {
    FunctionSignature signature;
    signature.inputs = c.inputs;
    signature.outputs = c.outputs;
    const Status joinable = CheckJoinable(signature);
    CAPTURE(joinable.message());
    CAPTURE(c.why);
    CHECK(joinable.ok() == c.why.empty());
    CHECK(joinable.message().find(c.why) != std::string::npos);
  }
  FunctionSignature other;
  other.inputs = {Tensor("x", {"n"})};
  other.outputs = {Tensor("z", {"n"})};
  CHECK(CheckJoinable(other).ok());
  other.inputs[0].is_optional = true;
  CHECK_FALSE(CheckJoinable(other).ok());
  other.inputs[0].is_optional = false;
  other.inputs[0].type.dtype = DType::kString;
  CHECK_FALSE(CheckJoinable(other).ok());
  other.inputs[0] = Tensor("x", {"n"});
  other.states = {{0, 0}};
  CHECK_FALSE(CheckJoinable(other).ok());
}

TEST_CASE("what was joined comes apart again") {
  const auto runtime = *Runtime::Create();
  const std::vector<Value> a = {testing::Floats({1, 2})}, b = {testing::Floats({})},
                           c = {testing::Floats({3})};
  CHECK(RowsOf(a) == 2);
  const std::vector<std::span<const Value>> parts = {a, b, c};
  const auto joined = JoinRows(parts, *runtime);
  REQUIRE(joined.ok());
  CHECK(testing::FloatsOf((*joined)[0]) == std::vector<float>{1, 2, 3});
  const Value result = Value::Tuple({(*joined)[0], Value::Tuple({(*joined)[0]})});
  const auto slice = SliceRows(result, 1, 2, 3, *runtime);
  REQUIRE(slice.ok());
  CHECK(testing::FloatsOf(slice->field(0)) == std::vector<float>{2, 3});
  CHECK(testing::FloatsOf(slice->field(1).field(0)) == std::vector<float>{2, 3});
  CHECK(SliceRows(result, 1, 2, 4, *runtime).status().code() == StatusCode::kInternal);
}

TEST_CASE("inputs of other dims are not joined") {
  const auto matrix = [](int64_t rows, int64_t columns) {
    return std::vector<Value>{*Value::NewTensor(DType::kFloat32, {{rows, columns}})};
  };
  CHECK(AreJoinable(matrix(1, 2), matrix(5, 2)));
  CHECK_FALSE(AreJoinable(matrix(1, 2), matrix(1, 3)));
  const std::vector<Value> uneven = {testing::Floats({1}), testing::Floats({1, 2})};
  CHECK(RowsOf(uneven) == -1);
}

TEST_CASE("a configuration says what it can, and nothing else") {
  const auto config = ReadModelConfig(
      R"({"independent_rows": true, "max_batch": 8, "max_delay_ms": 0.5,
          "sequences": {"time_to_live_s": 2.5, "max_count": 3, "max_bytes": 4096},
          "states": {"h": "h_next", "c": "c_next"}})");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->independent_rows);
  CHECK(config->max_batch == 8);
  CHECK(config->max_delay == std::chrono::microseconds(500));
  CHECK(config->sequences.time_to_live.count() == 2500);
  CHECK(config->sequences.max_count == 3);
  CHECK(config->sequences.max_bytes == 4096);
  CHECK(config->states ==
        std::vector<std::pair<std::string, std::string>>{{"h", "h_next"}, {"c", "c_next"}});
  CHECK_FALSE(LoadModelConfig("/nowhere/config.json")->independent_rows);
  for (const char* wrong :
       {"", "[]", "{\"rows\": true}", "{\"max_batch\": 0}", "{\"max_batch\": 1e9}",
        "{\"max_delay_ms\": -1}", "{\"max_delay_ms\": NaN}", "{\"sequences\": {\"count\": 1}}",
        "{\"sequences\": {\"time_to_live_s\": 0}}", "{} {}", "{\"states\": [\"h\"]}",
        "{\"states\": {\"h\": 1}}", "{\"states\": {\"\": \"a\"}}", "{\"states\": {\"a=b\": \"c\"}}",
        "{\"states\": {\"a\": \"b\", \"a\": \"c\"}}", "{\"states\": {\"a\": \"c\", \"b\": \"c\"}}",
        "{\"states\": {\"a\\u0000\": \"b\"}}"}) {
    CAPTURE(wrong);
    CHECK(ReadModelConfig(wrong).status().code() == StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace relayvm::serve
