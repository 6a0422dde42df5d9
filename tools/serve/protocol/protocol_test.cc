#include "tools/serve/protocol/protocol.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

namespace relayvm::serve {
namespace {

std::shared_ptr<Runtime> NewRuntime(size_t memory_limit = SIZE_MAX) {
  return *Runtime::Create({.memory_limit = memory_limit});
}

Result<InferRequest> Read(const std::string& json, const std::string& binary = "") {
  static const std::shared_ptr<Runtime> runtime = NewRuntime();
  std::optional<size_t> json_bytes;
  if (!binary.empty()) json_bytes = json.size();
  return ReadInferRequest(json + binary, json_bytes, *runtime);
}
std::string ErrorOf(const std::string& json, const std::string& binary = "") {
  const auto request = Read(json, binary);
  return request.ok() ? "" : request.status().message();
}
// A request with one input x of these members.
std::string Input(const std::string& members) {
  return "{\"inputs\":[{\"name\":\"x\"," + members + "}]}";
}

TEST_CASE("hostile requests are errors, and take no memory for what they claim") {
  const struct {
    std::string json, binary, error;
  } cases[] = {
      {"", "", "JSON, byte 0: expected an object"},
      {"[]", "", "JSON, byte 0: expected an object"},
      {"{}", "", "the request has no inputs"},
      {"{\"inputs\":{}}", "", "JSON, byte 10: expected an array"},
      {"{\"inputs\":[]}{}", "", "JSON, byte 13: expected nothing more"},
      {"{\"inputs\":[],\"inputs\":[]}", "", "JSON, byte 22: inputs a second time"},
      {"{\"inputs\":[{}]}", "", "an input has no name"},
      {Input("\"shape\":[1]"), "", "input x has no datatype"},
      {Input("\"datatype\":\"FP32\""), "", "input x has no shape"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1]"), "", "input x has no data"},
      {Input("\"datatype\":\"FP33\",\"shape\":[1],\"data\":[1]"), "",
       "input x: no such datatype: FP33"},
      {Input("\"datatype\":\"FP32\",\"shape\":[-1],\"data\":[1]"), "",
       "JSON, byte 52: a negative dim in a shape"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1e3],\"data\":[1]"), "",
       "JSON, byte 50: expected an integer"},
      // 2^40 floats, 2^80, and 2^64 of no size.
      {Input("\"datatype\":\"FP32\",\"shape\":[1099511627776],\"data\":[1]"), "",
       "input x: its shape has 1099511627776 elements, its data fewer"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1099511627776,1099511627776],\"data\":[1]"), "",
       "input x: its shape has more than 2^63 elements"},
      {Input("\"datatype\":\"FP32\",\"shape\":[0,4294967296,4294967296,4],\"data\":[1]"), "",
       "input x: a tensor of shape (0, 4294967296, 4294967296, 4): negative or too large"},
      {Input("\"datatype\":\"BYTES\",\"shape\":[2000000000],\"data\":[\"\"]"), "",
       "input x: its shape has 2000000000 elements, its data fewer"},
      {Input("\"datatype\":\"FP16\",\"shape\":[1],\"data\":[1]"), "",
       "input x: FP16 has no JSON form: send it as binary data"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1],\"data\":[1]"), "",
       "JSON, byte 71: data a second time"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"binary_data_size\":-1}"), "",
       "JSON, byte 88: expected a binary_data_size of 0 or above"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"binary_data_size\":4}"), "",
       "input x: binary_data_size is 4, and 0 bytes are left"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"binary_data_size\":"
             "9223372036854775807}"),
       "1234", "input x: binary_data_size is 9223372036854775807, and 4 bytes are left"},
      {Input("\"datatype\":\"FP32\",\"shape\":[2],\"parameters\":{\"binary_data_size\":4}"), "1234",
       "input x: expected 2 elements of 4 bytes, found binary data of 4 bytes"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"binary_data_size\":4}"),
       "12345", "1 bytes behind the binary data of all inputs"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1],\"parameters\":"
             "{\"binary_data_size\":4}"),
       "1234", "input x has data and binary data"},
      {Input("\"datatype\":\"BYTES\",\"shape\":[1],\"parameters\":{\"binary_data_size\":5}"),
       std::string("\xff\xff\xff\xff!", 5),
       "input x: string 0 has 4294967295 bytes, and 1 are left"},
      {Input("\"datatype\":\"BYTES\",\"shape\":[9000000000000000000],\"parameters\":"
             "{\"binary_data_size\":4}"),
       std::string(4, '\0'), "input x: 9000000000000000000 strings need more than 4 bytes"},
      {Input("\"datatype\":\"BYTES\",\"shape\":[1],\"parameters\":{\"binary_data_size\":8}"),
       std::string("\0\0\0\0more", 8), "input x: 4 bytes behind its strings"},
      {Input("\"datatype\":\"BYTES\",\"shape\":[1],\"parameters\":{\"binary_data_size\":5}"),
       std::string("\1\0\0\0\xff", 5), "input x: string 0 is not UTF-8"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"shared_memory_region\":\"r\"}"),
       "", "input x: shared memory is not served"},
      {Input("\"datatype\":\"FP32\",\"shape\":[1],\"parameters\":{\"a\":{}}"), "",
       "JSON, byte 71: expected a parameter that is a string, a number, true or false"},
      {"{\"inputs\":[],\"outputs\":[{}]}", "", "an output has no name"},
      {"{\"inputs\":[],\"parameters\":{\"binary_data_output\":1}}", "",
       "JSON, byte 49: binary_data_output is true or false"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.json);
    CHECK(ErrorOf(c.json, c.binary) == c.error);
  }
  const auto runtime = NewRuntime();
  CHECK(ReadInferRequest("{}", 3, *runtime).status().message() ==
        "Inference-Header-Content-Length is 3, and the body has 2 bytes");
}

TEST_CASE("strings are read where they stand, and asked for before they are made") {
  const auto runtime = NewRuntime();
  const std::string json =
      Input(R"("datatype":"BYTES","shape":[2,2],"data":[["a","\u00e9\n"],["\"","\ud83d\ude00b"]])");
  size_t asked = 0;
  const ReadLimits counted{.grant = [&](size_t bytes) {
    asked += bytes;
    return true;
  }};
  const auto request = ReadInferRequest(json, std::nullopt, *runtime, counted);
  REQUIRE_MESSAGE(request.ok(), request.status().message());
  const Value& texts = request->inputs[0].value;
  CHECK(texts.text(0) == "a");
  CHECK(texts.text(1) == "\xc3\xa9\n");
  CHECK(texts.text(2) == "\"");
  CHECK(texts.text(3) ==
        "\xf0\x9f\x98\x80"
        "b");
  CHECK(asked == 4 * 24 + 10 + 9);  // where they are, their bytes, and those that had escapes

  std::string many = "\"\"";
  for (int i = 1; i < 1000; ++i) many += ",\"\"";
  const std::string empty =
      Input("\"datatype\":\"BYTES\",\"shape\":[1000],\"data\":[" + many + "]");
  const ReadLimits refused{.grant = [](size_t bytes) { return bytes < 24'000; }};
  CHECK(ReadInferRequest(empty, std::nullopt, *runtime, refused).status().code() ==
        StatusCode::kResourceExhausted);
  const std::string binary =
      Input("\"datatype\":\"BYTES\",\"shape\":[1000],\"parameters\":{\"binary_data_size\":4000}");
  CHECK(ReadInferRequest(binary + std::string(4000, '\0'), binary.size(), *runtime, refused)
            .status()
            .code() == StatusCode::kResourceExhausted);
}

TEST_CASE("a tensor that there could never be memory for is the request's fault") {
  const auto runtime = NewRuntime();
  const std::string json = Input("\"datatype\":\"INT64\",\"shape\":[3],\"data\":[1,2,3]");
  CHECK(ReadInferRequest(json, std::nullopt, *runtime, {.max_tensor_bytes = 24}).ok());
  const Status refused =
      ReadInferRequest(json, std::nullopt, *runtime, {.max_tensor_bytes = 23}).status();
  CHECK(refused.code() == StatusCode::kOutOfRange);
  CHECK(refused.message() ==
        "input x: 3 elements of 8 bytes are more than the 23 bytes of memory for all runs");
}

TEST_CASE("tensors count toward the memory of the runtime") {
  const auto runtime = NewRuntime(256 << 10);
  const std::string binary(1 << 20, '\0');
  const std::string json = Input(
      "\"datatype\":\"UINT8\",\"shape\":[1048576],\"parameters\":{\"binary_data_size\":1048576}");
  const auto request = ReadInferRequest(json + binary, json.size(), *runtime);
  REQUIRE_FALSE(request.ok());
  CHECK(request.status().code() == StatusCode::kResourceExhausted);
}

TEST_CASE("a request in JSON, its members in any order") {
  const auto request =
      Read(R"({"unknown": [{}], "outputs": [{"name": "y", "parameters": {"binary_data": true}},
      {"name": "z"}], "parameters": {"a": 1, "b": 2.5, "c": "d", "e": false, "binary_data_output": true},
      "inputs": [{"data": [[1, 2], [3, 4]], "name": "x", "datatype": "INT16", "shape": [2, 2]},
                 {"name": "s", "shape": [2], "datatype": "BYTES", "data": ["a\u00e9", ""]}], "id": "q"})");
  REQUIRE_MESSAGE(request.ok(), request.status().message());
  CHECK(request->id == "q");
  REQUIRE(request->inputs.size() == 2);
  const Value& x = request->inputs[0].value;
  CHECK(request->inputs[0].name == "x");
  CHECK(x.dtype() == DType::kInt16);
  CHECK(x.dims().size() == 2);
  CHECK(x.span<int16_t>()[3] == 4);
  CHECK(request->inputs[1].value.text(0) == "a\xc3\xa9");
  REQUIRE(request->outputs.size() == 2);
  CHECK(*request->outputs[0].binary);
  CHECK_FALSE(request->outputs[1].binary);
  CHECK(request->binary_output);
  REQUIRE(request->parameters.size() == 4);
  CHECK(std::get<int64_t>(*request->FindParameter("a")) == 1);
  CHECK(std::get<double>(*request->FindParameter("b")) == 2.5);
  CHECK(std::get<std::string>(*request->FindParameter("c")) == "d");
  CHECK_FALSE(std::get<bool>(*request->FindParameter("e")));
}

TEST_CASE("every datatype, in JSON and binary") {
  for (int code = 0; code < kNumDTypes; ++code) {
    const auto dtype = static_cast<DType>(code);
    const std::string name(DatatypeName(dtype));
    CAPTURE(name);
    CHECK(ParseDatatype(name) == dtype);
    const auto size = static_cast<size_t>(DTypeBytes(dtype));
    const auto binary = Read(
        Input("\"datatype\":\"" + name + "\",\"shape\":[2],\"parameters\":{\"binary_data_size\":" +
              std::to_string(2 * size) + "}"),
        std::string(2 * size, '\1'));
    REQUIRE(binary.ok());
    const Value& value = binary->inputs[0].value;
    CHECK(value.dtype() == dtype);
    CHECK(std::string(static_cast<const char*>(value.data()), 2 * size) ==
          std::string(2 * size, '\1'));
    if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) continue;
    const auto json = Read(Input("\"datatype\":\"" + name + "\",\"shape\":[2],\"data\":[1,0]"));
    REQUIRE(json.ok());
    CHECK(json->inputs[0].value.element(0) ==
          Value::Scalar(dtype, json->inputs[0].value.element(0)).element(0));
    CHECK(json->inputs[0].value.element(1) == 0);
  }
}

TEST_CASE("bytes that are not 0 are true") {
  const auto request =
      Read(Input("\"datatype\":\"BOOL\",\"shape\":[3],\"parameters\":{\"binary_data_size\":3}"),
           "\xff\x02\x01");
  REQUIRE(request.ok());
  for (int i = 0; i < 3; ++i) CHECK(request->inputs[0].value.element(i) == 1);
}

InferResponse Response() {
  InferResponse response{"m", "3", "q\"", {}};
  const float x[] = {0.5F, 2};
  response.outputs.push_back({"x", *Value::CopyTensor(DType::kFloat32, {{1, 2}}, x)});
  const std::string_view texts[] = {"a", "bc"};
  response.outputs.push_back({"s", *Value::CopyStrings({{2}}, texts)});
  return response;
}

TEST_CASE("an answer in JSON") {
  const auto http = WriteInferResponse({}, Response());
  REQUIRE(http.ok());
  CHECK(http->content_type == "application/json");
  CHECK(
      http->body ==
      R"({"model_name":"m","model_version":"3","id":"q\"","outputs":[{"name":"x","datatype":"FP32",)"
      R"("shape":[1,2],"data":[0.5,2]},{"name":"s","datatype":"BYTES","shape":[2],"data":["a","bc"]}]})");
}

TEST_CASE("an answer in binary, but for what is asked for as JSON") {
  InferRequest request;
  request.binary_output = true;
  request.outputs = {{"x", false}, {"s", std::nullopt}};
  const auto http = WriteInferResponse(request, Response());
  REQUIRE(http.ok());
  CHECK(http->content_type == "application/octet-stream");
  REQUIRE(http->headers.size() == 1);
  const size_t json = std::stoul(http->headers[0].second);
  CHECK(http->body.substr(0, json).ends_with(
      R"({"name":"s","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":11}}]})"));
  CHECK(http->body.substr(json) == std::string("\1\0\0\0a\2\0\0\0bc", 11));
}

TEST_CASE("large tensors go as they are, in their places") {
  InferRequest request;
  request.binary_output = true;
  InferResponse response = Response();
  const std::vector<float> many(5000, 1.0F);
  response.outputs.insert(response.outputs.begin() + 1,
                          {"large", *Value::CopyTensor(DType::kFloat32, {{5000}}, many.data())});
  const Value held = response.outputs[1].value;
  const auto http = WriteInferResponse(request, std::move(response));
  REQUIRE(http.ok());
  REQUIRE(http->pieces.size() == 3);
  CHECK(http->pieces[0].bytes.size() == 8);
  CHECK(static_cast<const void*>(http->pieces[1].bytes.data()) == held.data());
  CHECK(http->pieces[2].bytes.size() == 11);
}

TEST_CASE("half floats have no JSON form") {
  InferResponse response{"m", "1", "", {}};
  response.outputs.push_back({"h", *Value::NewTensor(DType::kFloat16, {{2}})});
  CHECK(WriteInferResponse({}, response).status().message() ==
        "output h: FP16 has no JSON form: ask for binary_data");
}

}  // namespace
}  // namespace relayvm::serve
