#include "compiler/api/reference_program.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace relayvm {
namespace {

std::shared_ptr<const ReferenceProgram> Program(const std::string& text) {
  const auto model = ReadModel(ModelSource::Text("#[version = \"0.0.5\"]\n" + text));
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  auto made = ReferenceProgram::Make(*model);
  REQUIRE_MESSAGE(made.ok(), made.status().message());
  return *made;
}

constexpr const char* kList = "type List[A] { Cons(A, List[A]), Nil, }\n";

TEST_CASE("the signature is the program's") {
  const auto p = Program("def @main(%x: Tensor[(?, 2), float32], %n: int64) { (%x, %n) }");
  const auto main = p->signature()->info().FindFunction("main");
  REQUIRE(main.ok());
  REQUIRE((*main)->inputs.size() == 2);
  CHECK((*main)->inputs[0].name == "x");
  CHECK((*main)->inputs[1].name == "n");
  CHECK((*main)->result.text == "(Tensor[(x.0, 2), float32], int64)");
}

TEST_CASE("trees and tuples go in and out, whatever their depth") {
  const auto p = Program(std::string(kList) +
                         "def @main(%l: List[(int64, List[int64])]) {\n"
                         "  match? (%l) { Cons(%h, %t) => { (%h.1, %t) }, }\n}\n");
  const Value nil = Value::Adt(1, {});
  Value list = nil;
  for (int64_t i = 0; i < 100'000; ++i) {
    const Value inner = Value::Adt(0, {Value::Int64(i), nil});
    list = Value::Adt(0, {Value::Tuple({Value::Int64(-i), inner}), list});
  }
  const auto result = p->Run({{list}});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(result->field(0).tag() == 0);
  CHECK(result->field(0).field(0).element(0) == 99'999);
  CHECK(result->field(1).field(0).field(1).field(0).element(0) == 99'998);
}

TEST_CASE("names of dims inside of data types are compared, and expressions over them") {
  const auto p = Program(std::string(kList) + R"(
def @main(%l: List[Tensor[(meta[tir.Add][0]), float32]], %x: Tensor[(meta[tir.SizeVar][0]), float32]) { (%l, %x) }
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.SizeVar", "tir.Add"], "data": [2, 3]},
  {"type_key": "Array", "data": [4]}, {"type_key": "Array", "data": [5]},
  {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "6"}},
  {"type_key": "tir.Add", "attrs": {"a": "4", "b": "7"}},
  {"type_key": "runtime.String", "repr_str": "n"},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "1"}}]}
)");
  const std::vector<float> data(4, 1.0F);
  const auto vector = [&](int64_t n) {
    const int64_t dims[] = {n};
    return *Value::CopyTensor(DType::kFloat32, dims, data.data());
  };
  const Value nil = Value::Adt(1, {});
  CHECK(p->Run({{Value::Adt(0, {vector(4), nil}), vector(3)}}).ok());
  const auto wrong = p->Run({{Value::Adt(0, {vector(3), nil}), vector(3)}});
  REQUIRE(!wrong.ok());
  CHECK(wrong.status().message() == "main: x's dim 0 (n) is 3, a tensor in l's dim 0 (n + 1) is 3");
}

TEST_CASE("a result outlives its program") {
  auto p = Program("def @main(%x: float32) { (2.5f, add(%x, 1f)) }");
  auto result = p->Run({{Value::Float32(3)}});
  p = nullptr;
  REQUIRE(result.ok());
  CHECK(*static_cast<const float*>(result->field(0).data()) == 2.5F);
  CHECK(*static_cast<const float*>(result->field(1).data()) == 4.0F);
}

TEST_CASE("an observer sees values in order, and what it fails with ends the run") {
  const auto p = Program(
      "def @main(%x: float32) { let %a = add(%x, 1f); let %b = if (less(%a, 0f)) { %a } else { "
      "negative(%a) }; multiply(%b, %b) }");
  std::vector<std::string> seen;
  reference::Options options;
  options.observe = [&](const reference::ValueEvent& event) {
    seen.push_back(event.Name() + " " + event.Operation());
    return OkStatus();
  };
  REQUIRE(p->Run({{Value::Float32(3)}}, options).ok());
  CHECK(seen == std::vector<std::string>{"%x parameter", "%a add", " less", " negative", "%b if",
                                         " multiply"});
  options.observe = [&](const reference::ValueEvent& event) {
    return event.Name() == "%b" ? Status(StatusCode::kOutOfRange, "enough") : OkStatus();
  };
  const auto stopped = p->Run({{Value::Float32(3)}}, options);
  CHECK(stopped.status().code() == StatusCode::kOutOfRange);
  CHECK(stopped.status().message().find("enough") != std::string::npos);
}

TEST_CASE("what cannot be done is said") {
  const auto message = [](const std::string& text, std::vector<Value> inputs) {
    const auto result = Program(text)->Run(inputs);
    return result.ok() ? "ok" : result.status().message();
  };
  CHECK(message("def @main(%x: int64) { ref(%x) }", {Value::Int64(1)})
            .find("references live inside") != std::string::npos);
  CHECK(message("def @main(%x: int64) { %x }", {}) == "@main takes 1 inputs, found 0");
  CHECK(
      message("def @main(%x: (int64, int64)) { %x.0 }", {Value::Tuple({Value::Int64(1)})}) ==
      "main: parameter %x: expected (int64, int64), found a tuple or constructor with tag 0 and 1 "
      "fields");
  CHECK(message(std::string(kList) + "def @main(%x: List[int64]) { 1 }", {Value::Adt(7, {})}) ==
        "main: parameter %x: expected List[int64], found a tuple or constructor with tag 7 and 0 "
        "fields");
  CHECK(message("def @main[A](%x: A) { %x }", {Value::Tuple({})})
            .find("tuples and constructors of the open type A") != std::string::npos);
  std::stop_source stop;
  stop.request_stop();
  reference::Options options;
  options.stop = stop.get_token();
  const auto p = Program("def @main(%x: int64) { add(%x, %x) }");
  CHECK(p->Run({{Value::Int64(1)}}, options).status().code() == StatusCode::kCancelled);
}

}  // namespace
}  // namespace relayvm
