#include "tools/values/print.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

Value Floats(std::vector<int64_t> dims, const std::vector<float>& data) {
  return *Value::CopyTensor(DType::kFloat32, dims, data.data());
}
FlatValue Flat(const Value& value, const ValueType& type) {
  static const Program program = ProgramWithTypes();
  TypeTable types(program);
  return *Flatten(value, types, types.Intern(type));
}

TEST_CASE("values as Relay and as JSON") {
  Value one = Floats({2}, {1, 2.5});
  struct Case {
    Value value;
    ValueType type;
    const char *relay, *json;
  };
  Value nil = Value::Adt(1, {});
  const Case cases[] = {
      {Value::Int32(3), TensorOf(DType::kInt32, {}), "3",
       R"({"dtype": "int32", "shape": [], "data": 3})"},
      {one, TensorOf(DType::kFloat32, {2}), "Tensor[(2), float32] [1., 2.5]",
       R"({"dtype": "float32", "shape": [2], "data": [1, 2.5]})"},
      {Floats({2, 1}, {NAN, -INFINITY}), TensorOf(DType::kFloat32, {2, 1}),
       "Tensor[(2, 1), float32] [[nan], [-inf]]",
       R"({"dtype": "float32", "shape": [2, 1], "data": [["NaN"], ["-Infinity"]]})"},
      {*Value::CopyStrings({{2}}, std::vector<std::string_view>{"a\"", "é"}),
       TensorOf(DType::kString, {2}), R"(Tensor[(2), string] ["a\"", "é"])",
       R"({"dtype": "string", "shape": [2], "data": ["a\"", "é"]})"},
      {Value::Tuple({}), TupleOf({}), "()", R"({"tuple": []})"},
      {Value::Tuple({Value::Bool(true)}), TupleOf({TensorOf(DType::kBool, {})}), "(True,)",
       R"({"tuple": [{"dtype": "bool", "shape": [], "data": true}]})"},
      {nil, ListOf(TensorOf(DType::kInt64, {})), "Nil", R"({"constructor": "Nil", "fields": []})"},
      {Value::Adt(0, {Value::Int64(1), nil}), ListOf(TensorOf(DType::kInt64, {})),
       "Cons(1i64, Nil)",
       R"({"constructor": "Cons", "fields": [{"dtype": "int64", "shape": [], "data": 1}, {"constructor": "Nil", "fields": []}]})"},
      // Of a type that is not told: the tag.
      {Value::Adt(7, {}), TypeOf(ValueType::Kind::kTypeVar, {}), "#7",
       R"({"constructor": "#7", "fields": []})"},
  };
  for (const Case& c : cases) {
    FlatValue flat = Flat(c.value, c.type);
    CHECK(PrintRelay(flat) == c.relay);
    CHECK(PrintJson(flat) == c.json);
  }
}

TEST_CASE("functions and references") {
  FlatNode function{FlatNode::Kind::kFunction};
  function.name = "main_f";
  FlatNode ref{FlatNode::Kind::kRef, 1};
  CHECK(PrintRelay({ref, function}) == "ref(fn @main_f)");
  CHECK(PrintJson({ref, function}) == R"({"ref": {"function": "main_f"}})");
}

TEST_CASE("large tensors show their ends") {
  std::vector<float> data(1002);
  std::iota(data.begin(), data.end(), 100.0f);
  CHECK(PrintRelay(Flat(Floats({1002}, data), TensorOf(DType::kFloat32, {1002}))) ==
        "Tensor[(1002), float32] [100., 101., 102., ..., 1099., 1100., 1101.]");
  CHECK(PrintRelay(Flat(Floats({501, 2}, data), TensorOf(DType::kFloat32, {501, 2}))) ==
        "Tensor[(501, 2), float32] [[100., 101.], [102., 103.], [104., 105.], ..., [1096., 1097.], "
        "[1098., 1099.], [1100., 1101.]]");
  CHECK(PrintJson(Flat(Floats({1002}, data), TensorOf(DType::kFloat32, {1002}))) ==
        R"({"dtype": "float32", "shape": [1002], "data": null})");
}

TEST_CASE("tensors without elements, of any size") {
  const int64_t huge = 1 << 20;
  struct Case {
    std::vector<int64_t> dims;
    const char *relay, *json;
  };
  const Case cases[] = {
      {{0}, "[]", "[]"},
      {{2, 0}, "[[], []]", "[[], []]"},
      {{0, huge, huge}, "[]", "[]"},
      {{1, 0, huge}, "[[]]", "[[]]"},
      {{2000, 0}, "[]", "null"},
      {{huge, 0}, "[]", "null"},
      {{huge, huge, 0, 3}, "[]", "null"},
  };
  for (const Case& c : cases) {
    CAPTURE(fmt::format("{}", fmt::join(c.dims, ", ")));
    FlatValue flat = Flat(Floats(c.dims, {}),
                          TensorOf(DType::kFloat32, std::vector<int64_t>(c.dims.size(), -1)));
    CHECK(PrintRelay(flat).ends_with(fmt::format("float32] {}", c.relay)));
    CHECK(PrintJson(flat).ends_with(fmt::format("\"data\": {}}}", c.json)));
  }
}

TEST_CASE("floats that differ much in size are printed with exponents") {
  CHECK(PrintRelay(Flat(Floats({2}, {1e-6f, 1}), TensorOf(DType::kFloat32, {2}))) ==
        "Tensor[(2), float32] [1.e-06, 1.e+00]");
  CHECK(PrintRelay(Flat(Floats({2}, {0, 100}), TensorOf(DType::kFloat32, {2}))) ==
        "Tensor[(2), float32] [0., 100.]");
}

TEST_CASE("a list of 100,000 elements") {
  Value list = Value::Adt(1, {});
  for (int i = 0; i < 100'000; ++i) list = Value::Adt(0, {Value::Int32(7), list});
  std::string printed = PrintRelay(Flat(list, ListOf(TensorOf(DType::kInt32, {}))));
  CHECK(printed.starts_with("Cons(7, Cons(7, "));
  CHECK(printed.size() == 100'000 * (sizeof("Cons(7, )") - 1) + 3);
}

TEST_CASE("strings in JSON") {
  CHECK(JsonString("a\"b\\\n") == R"("a\"b\\\n")");
  CHECK(JsonString("\xff") == "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace relayvm::tools
