#include "tools/serve/grpc/message.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <functional>

#include "tools/serve/grpc/compression.h"
#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using inference::ModelInferRequest;

std::shared_ptr<Runtime> TestRuntime() { return *Runtime::Create({}); }

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return {&slice, 1};
}
// In slices of `size` bytes, as the network may cut them.
grpc::ByteBuffer Cut(const std::string& text, size_t size) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < text.size(); at += size) slices.emplace_back(text.substr(at, size));
  return {slices.data(), slices.size()};
}

std::string TextOf(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  std::string text;
  REQUIRE(bytes.Dump(&slices).ok());
  for (const grpc::Slice& slice : slices)
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

Result<InferRequest> Read(const grpc::ByteBuffer& bytes) {
  const auto runtime = TestRuntime();
  InferMessage message;
  RELAYVM_RETURN_IF_ERROR(message.Parse(bytes));
  return message.TakeRequest(*runtime);
}
Result<InferRequest> Read(const ModelInferRequest& message) {
  return Read(Bytes(message.SerializeAsString()));
}
std::string Failure(const ModelInferRequest& message) {
  const auto read = Read(message);
  return read.ok() ? "ok" : read.status().ToString();
}

ModelInferRequest::InferInputTensor* AddInput(ModelInferRequest& message, const std::string& type,
                                              const std::vector<int64_t>& dims) {
  auto* input = message.add_inputs();
  input->set_name("x");
  input->set_datatype(type);
  for (const int64_t dim : dims) input->add_shape(dim);
  return input;
}

TEST_CASE("raw tensors are read wherever the message is cut") {
  ModelInferRequest message;
  message.set_model_name("m");
  message.set_id("7");
  const float floats[] = {1, 2, 3};
  AddInput(message, "FP32", {3});
  message.add_raw_input_contents(floats, sizeof floats);
  AddInput(message, "BYTES", {2});
  message.add_raw_input_contents(std::string("\1\0\0\0a\0\0\0\0", 9));
  AddInput(message, "BOOL", {1, 3});
  message.add_raw_input_contents(std::string("\0\1\2", 3));
  AddInput(message, "BF16", {1});
  message.add_raw_input_contents(std::string("\x80\x3f", 2));
  AddInput(message, "INT64", {0, 4});
  message.add_raw_input_contents("");
  const std::string text = message.SerializeAsString();
  for (const size_t size : {1UL, 2UL, 7UL, 1000UL}) {
    const auto request = Read(Cut(text, size));
    REQUIRE_MESSAGE(request.ok(), request.status().message());
    CHECK(request->id == "7");
    REQUIRE(request->inputs.size() == 5);
    CHECK(testing::FloatsOf(request->inputs[0].value) == std::vector<float>{1, 2, 3});
    CHECK(request->inputs[1].value.text(0) == "a");
    CHECK(request->inputs[1].value.text(1).empty());
    CHECK(request->inputs[2].value.element(2) == 1);
    CHECK(request->inputs[3].value.dtype() == DType::kBFloat16);
    CHECK(request->inputs[4].value.num_elements() == 0);
  }
}

TEST_CASE("fields may come in any order") {
  ModelInferRequest raw, rest;
  raw.add_raw_input_contents(std::string(4, '\0'));
  rest.set_model_name("m");
  AddInput(rest, "INT32", {1});
  CHECK(Read(Bytes(raw.SerializeAsString() + rest.SerializeAsString())).ok());
  // A length in more bytes than it needs, and fields that nobody knows.
  const std::string padded("\x3a\x84\x80\x00\0\0\0\0\x78\x01\x99\x06xxxxxxxx", 20);
  const auto request = Read(Bytes(padded + rest.SerializeAsString()));
  REQUIRE_MESSAGE(request.ok(), request.status().message());
  CHECK(request->inputs[0].value.element(0) == 0);
}

TEST_CASE("each datatype has a list of contents") {
  using Fill = std::function<void(inference::InferTensorContents&)>;
  const std::pair<const char*, Fill> kCases[] = {
      {"BOOL", [](auto& c) { c.add_bool_contents(true); }},
      {"INT8", [](auto& c) { c.add_int_contents(-3); }},
      {"INT16", [](auto& c) { c.add_int_contents(-3); }},
      {"INT32", [](auto& c) { c.add_int_contents(-3); }},
      {"INT64", [](auto& c) { c.add_int64_contents(-3); }},
      {"UINT8", [](auto& c) { c.add_uint_contents(3); }},
      {"UINT16", [](auto& c) { c.add_uint_contents(3); }},
      {"UINT32", [](auto& c) { c.add_uint_contents(3); }},
      {"UINT64", [](auto& c) { c.add_uint64_contents(3); }},
      {"FP32", [](auto& c) { c.add_fp32_contents(3); }},
      {"FP64", [](auto& c) { c.add_fp64_contents(3); }},
      {"BYTES", [](auto& c) { c.add_bytes_contents("three"); }},
  };
  for (const auto& [type, fill] : kCases) {
    CAPTURE(type);
    ModelInferRequest message;
    fill(*AddInput(message, type, {1})->mutable_contents());
    const auto request = Read(message);
    REQUIRE_MESSAGE(request.ok(), request.status().message());
    CHECK(DatatypeName(request->inputs[0].value.dtype()) == type);
    // In another list, or with one more, it is refused.
    message.mutable_inputs(0)->mutable_contents()->add_fp64_contents(1);
    CHECK(Failure(message).starts_with("invalid argument: input x: "));
  }
}

TEST_CASE("what is wrong is refused in words") {
  struct Case {
    const char* type;
    std::vector<int64_t> dims;
    std::optional<std::string> raw;
    const char* failure;
  };
  const Case kCases[] = {
      {"FP32", {2}, std::string(4, 'x'), "expected 2 elements of 4 bytes, found 4 bytes"},
      {"FP32", {2}, std::string(9, 'x'), "expected 2 elements of 4 bytes, found 9 bytes"},
      {"FP32", {-1}, std::string(4, 'x'), "a negative dim in its shape: -1"},
      {"FP32", {INT64_MAX, INT64_MAX}, std::string(4, 'x'), "more than 2^63 elements"},
      {"FP64", {INT64_MAX}, std::string(8, 'x'), "expected 9223372036854775807 elements"},
      {"FP64", {INT64_MAX}, std::nullopt, "its fp64_contents 0"},
      {"FP33", {1}, std::string(4, 'x'), "no such datatype: FP33"},
      {"", {1}, std::string(4, 'x'), "no such datatype"},
      {"BYTES", {1}, std::string("\5\0\0\0abc", 7), "string 0 has 5 bytes, and 3 are left"},
      {"BYTES", {2}, std::string("\1\0\0\0a", 5), "2 strings need more than 5 bytes"},
      {"BYTES", {1}, std::string("\0\0\0\0a", 5), "1 bytes behind its strings"},
      {"BYTES", {INT64_MAX}, std::string(8, '\0'), "strings need more than 8 bytes"},
      {"FP16", {1}, std::nullopt, "FP16 has no typed contents: send it in raw_input_contents"},
      {"INT8", std::vector<int64_t>(256, 1), std::string("a"), "a shape of more than 255 dims"},
  };
  for (const Case& one : kCases) {
    ModelInferRequest message;
    AddInput(message, one.type, one.dims);
    if (one.raw) message.add_raw_input_contents(*one.raw);
    const std::string failure = Failure(message);
    CHECK_MESSAGE(failure.find(one.failure) != std::string::npos, failure);
  }
}

TEST_CASE("inputs are all raw or none") {
  ModelInferRequest message;
  AddInput(message, "FP32", {1})->mutable_contents()->add_fp32_contents(1);
  AddInput(message, "FP32", {1});
  message.add_raw_input_contents(std::string(4, '\0'));
  CHECK(Failure(message).find("2 inputs and 1 raw_input_contents") != std::string::npos);
  message.add_raw_input_contents(std::string(4, '\0'));
  CHECK(Failure(message).find("input x has contents and raw_input_contents") != std::string::npos);
  message.mutable_inputs(0)->mutable_contents()->clear_fp32_contents();
  CHECK(Failure(message) == "ok");
}

TEST_CASE("integers that a narrow datatype has not are refused") {
  ModelInferRequest message;
  auto* input = AddInput(message, "INT8", {1});
  input->mutable_contents()->add_int_contents(128);
  CHECK(Failure(message) == "invalid argument: input x: 128 is no INT8");
}

TEST_CASE("parameters of each kind, and what is not served") {
  ModelInferRequest message;
  AddInput(message, "INT32", {1})->mutable_contents()->add_int_contents(1);
  auto& parameters = *message.mutable_parameters();
  parameters["a"].set_bool_param(true);
  parameters["b"].set_int64_param(-1);
  parameters["c"].set_string_param("text");
  parameters["d"].set_double_param(0.5);
  parameters["e"].set_uint64_param(9);
  message.add_outputs()->set_name("y");
  const auto request = Read(message);
  REQUIRE(request.ok());
  CHECK(std::get<bool>(*request->FindParameter("a")));
  CHECK(std::get<int64_t>(*request->FindParameter("b")) == -1);
  CHECK(std::get<std::string>(*request->FindParameter("c")) == "text");
  CHECK(std::get<double>(*request->FindParameter("d")) == 0.5);
  CHECK(std::get<int64_t>(*request->FindParameter("e")) == 9);
  CHECK(request->outputs[0].name == "y");
  parameters["f"].set_uint64_param(UINT64_MAX);
  CHECK(Failure(message).find("above 2^63 - 1") != std::string::npos);
  parameters.erase("f");
  (*message.mutable_outputs(0)->mutable_parameters())["shared_memory_region"].set_string_param("r");
  CHECK(Failure(message) == "unsupported: outputs: shared memory is not served");
}

TEST_CASE("bytes that are no message are refused, cut anywhere and with any byte another") {
  ModelInferRequest message;
  message.set_model_name("m");
  AddInput(message, "BYTES", {1})->mutable_contents()->add_bytes_contents("abc");
  (*message.mutable_parameters())["p"].set_double_param(2);
  message.add_outputs()->set_name("y");
  message.add_raw_input_contents("\3\0\0\0abc");
  const std::string text = message.SerializeAsString();
  for (size_t i = 0; i < text.size(); ++i) {
    Read(Bytes(text.substr(0, i))).ok();
    for (const int byte : {0x00, 0x01, 0x0b, 0x3a, 0x7f, 0x80, 0xff}) {
      std::string other = text;
      other[i] = static_cast<char>(byte);
      Read(Cut(other, 5)).ok();
    }
  }
  CHECK_FALSE(Read(Bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")).ok());
  CHECK_FALSE(Read(Bytes("\x3a\xff\xff\xff\xff\x0f")).ok());
}

TEST_CASE("fields that take memory beyond their bytes are counted") {
  const auto refused = [](const std::string& text) {
    const auto read = Read(Bytes(text));
    return !read.ok() && read.status().message().find("fields: send") != std::string::npos;
  };
  std::string inputs, strings, input;
  for (int i = 0; i < 300'000; ++i) inputs.append("\x2a\0", 2);
  CHECK(refused(inputs));
  for (int i = 0; i < 300'000; ++i) strings.append("\x42\0", 2);
  // 600,000 bytes of contents in an input of 600,004.
  input = std::string("\x2a\xc4\xcf\x24\x2a\xc0\xcf\x24", 8) + strings;
  CHECK(refused(input));
}

TEST_CASE("answers are what a client's parser reads") {
  std::vector<float> large(5000);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
  const std::string_view texts[] = {"ab", ""};
  InferResponse response{"m", "3", "id", {}};
  response.outputs.push_back({"small", testing::Floats({1, 2})});
  response.outputs.push_back({"large", testing::Floats(large)});
  response.outputs.push_back({"texts", *Value::CopyStrings({{2}}, texts)});
  response.outputs.push_back({"none", testing::Floats({})});
  for (const bool in_stream : {false, true}) {
    const auto bytes = WriteInferAnswer(response, in_stream);
    REQUIRE(bytes.ok());
    inference::ModelInferResponse answer;
    if (in_stream) {
      inference::ModelStreamInferResponse outer;
      REQUIRE(ParseMessage(*bytes, &outer).ok());
      CHECK(outer.error_message().empty());
      answer = outer.infer_response();
    } else {
      REQUIRE(ParseMessage(*bytes, &answer).ok());
    }
    CHECK(answer.model_name() == "m");
    CHECK(answer.model_version() == "3");
    CHECK(answer.id() == "id");
    REQUIRE(answer.outputs_size() == 4);
    CHECK(answer.outputs(1).name() == "large");
    CHECK(answer.outputs(1).shape(0) == 5000);
    CHECK(answer.outputs(2).datatype() == "BYTES");
    REQUIRE(answer.raw_output_contents_size() == 4);
    CHECK(answer.raw_output_contents(0).size() == 8);
    CHECK(answer.raw_output_contents(1) ==
          std::string(reinterpret_cast<const char*>(large.data()), large.size() * 4));
    CHECK(answer.raw_output_contents(2) == std::string("\2\0\0\0ab\0\0\0\0", 10));
    CHECK(answer.raw_output_contents(3).empty());
  }
}

TEST_CASE("large tensors of answers are not copied") {
  const Value large = testing::Floats(std::vector<float>(5000));
  InferResponse response{"m", "1", "", {}};
  response.outputs.push_back({"y", large});
  const auto bytes = WriteInferAnswer(std::move(response), false);
  REQUIRE(bytes.ok());
  std::vector<grpc::Slice> slices;
  REQUIRE(bytes->Dump(&slices).ok());
  REQUIRE(slices.size() == 2);
  CHECK(slices[1].begin() == large.data());
}

// As gRPC has it: deflate is zlib's format.
std::string Packed(const std::string& text, bool gzip) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, 15 + (gzip ? 16 : 0), 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

TEST_CASE("compressed messages are bounded by what they come to") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * i);
  const auto all = [](size_t) { return true; };
  for (const bool gzip : {false, true}) {
    const std::string packed = Packed(text, gzip);
    for (const size_t size : {size_t{1}, size_t{1000}, packed.size()}) {
      const auto read = Decompress(Cut(packed, size), text.size(), all);
      REQUIRE_MESSAGE(read.ok(), read.status().message());
      CHECK(TextOf(*read) == text);
    }
    CHECK(Decompress(Bytes(packed), text.size() - 1, all).status().code() ==
          StatusCode::kResourceExhausted);
    CHECK(
        Decompress(Bytes(packed.substr(0, packed.size() - 1)), text.size(), all).status().code() ==
        StatusCode::kInvalidArgument);
    CHECK(Decompress(Bytes("x" + packed), text.size(), all).status().code() ==
          StatusCode::kInvalidArgument);
  }
  // A bomb: what is kept of it is what was taken.
  const std::string bomb = Packed(std::string(size_t{100} << 20, '\0'), true);
  CHECK(bomb.size() < 200'000);
  size_t taken = 0;
  const auto some = [&](size_t bytes) { return (taken += bytes) <= 1'000'000; };
  CHECK(Decompress(Bytes(bomb), size_t{1} << 30, some).status().code() ==
        StatusCode::kResourceExhausted);
  CHECK(taken < 1'100'000);
  CHECK(Decompress(Bytes(bomb), 1'000'000, all).status().code() == StatusCode::kResourceExhausted);
}

TEST_CASE("answers that get no smaller are not compressed") {
  CHECK_FALSE(PaysToCompress(Bytes(std::string(1000, 'x'))));
  CHECK(PaysToCompress(Bytes(std::string(2000, 'x'))));
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 100'000; ++i, x = x * 1664525 + 1013904223)
    noise.push_back(static_cast<char>(x >> 24));
  CHECK_FALSE(PaysToCompress(Bytes(noise)));
}

}  // namespace
}  // namespace relayvm::serve
