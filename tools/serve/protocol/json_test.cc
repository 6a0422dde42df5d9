#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tools/serve/protocol/json_reader.h"
#include "tools/serve/protocol/json_writer.h"

namespace relayvm::serve {
namespace {

std::string Error(JsonReader& reader) { return reader.status().message(); }

std::string SkipError(const std::string& text) {
  JsonReader reader(text);
  reader.Skip();
  reader.ExpectEnd();
  return Error(reader);
}

template <typename T>
std::vector<T> Elements(const std::string& text, std::vector<int64_t> dims, std::string* error) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  std::vector<T> out(count);
  JsonReader reader(text);
  reader.ReadElements<T>(dims, std::span<T>(out));
  reader.ExpectEnd();
  *error = Error(reader);
  return out;
}

TEST_CASE("objects, arrays and what is in them") {
  JsonReader reader(R"( {"a" : [1, {"b": null}], "c\u00e9\n\ud83d\ude00": "x", "d": -2.5e1 } )");
  REQUIRE(reader.BeginObject());
  std::string key;
  REQUIRE(reader.NextKey(&key));
  CHECK(key == "a");
  CHECK(reader.Skip());
  REQUIRE(reader.NextKey(&key));
  CHECK(key == "c\xc3\xa9\n\xf0\x9f\x98\x80");
  std::string text;
  CHECK(reader.ReadString(&text));
  CHECK(text == "x");
  REQUIRE(reader.NextKey(&key));
  double number = 0;
  CHECK(reader.ReadDouble(&number));
  CHECK(number == -25);
  CHECK_FALSE(reader.NextKey(&key));
  reader.ExpectEnd();
  CHECK(reader.ok());
}

TEST_CASE("what is no JSON") {
  for (const char* text : {"",
                           "{",
                           "[",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "\"",
                           "\"\\",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\x\"",
                           "\"\n\"",
                           "tru",
                           "nul",
                           "01",
                           "1.",
                           "-",
                           "+1",
                           ".5",
                           "1e",
                           "--1",
                           "1 2",
                           "[1}",
                           "{\"a\":1]",
                           "NaNN",
                           "Infinit",
                           "-Inf"}) {
    CAPTURE(text);
    CHECK(SkipError(text) != "");
  }
  for (const char* text : {"1", "[]", "{}", "[[],{}]", "\"\"", "true", "null", "0", "-0.5e-3",
                           "NaN", "[-Infinity,Infinity]", " [ 1 , 2 ] "}) {
    CAPTURE(text);
    CHECK(SkipError(text) == "");
  }
}

TEST_CASE("values nest no deeper than a limit, and take no stack") {
  CHECK(SkipError(std::string(1'000'000, '[')) == "JSON, byte 65: values nest deeper than 64");
  CHECK(SkipError(std::string(64, '[') + std::string(64, ']')) == "");
}

TEST_CASE("elements, flat and nested") {
  std::string error;
  CHECK(Elements<float>("[1, 2.5, -3e2]", {3}, &error) == std::vector<float>{1, 2.5, -300});
  CHECK(error == "");
  CHECK(Elements<int32_t>("[[1,2],[3,4]]", {2, 2}, &error) == std::vector<int32_t>{1, 2, 3, 4});
  CHECK(error == "");
  CHECK(Elements<int32_t>("[1,2,3,4]", {2, 2}, &error) == std::vector<int32_t>{1, 2, 3, 4});
  CHECK(error == "");
  CHECK(Elements<double>("7", {}, &error) == std::vector<double>{7});
  CHECK(error == "");
  CHECK(Elements<double>("[7]", {}, &error) == std::vector<double>{7});
  CHECK(error == "");
  CHECK(Elements<uint64_t>("[18446744073709551615]", {1}, &error)[0] == UINT64_MAX);
  CHECK(error == "");
  Elements<int8_t>("[[],[]]", {2, 0}, &error);
  CHECK(error == "");
  Elements<int8_t>("[]", {0, 3}, &error);
  CHECK(error == "");
  CHECK(std::isnan(Elements<float>("[NaN]", {1}, &error)[0]));
  CHECK(std::isnan(Elements<float>(R"(["NaN"])", {1}, &error)[0]));
  CHECK(Elements<double>(R"([["-Infinity"],["Infinity"]])", {2, 1}, &error) ==
        std::vector<double>{-HUGE_VAL, HUGE_VAL});
  CHECK(Elements<float>("[1e-60]", {1}, &error)[0] == 0);
  CHECK(error == "");
}

TEST_CASE("elements that are not what the shape says") {
  const struct {
    const char* text;
    std::vector<int64_t> dims;
  } cases[] = {{"[1]", {2}},
               {"[1,2,3]", {2}},
               {"[[1,2],[3]]", {2, 2}},
               {"[[1,2]]", {2, 2}},
               {"[[1],[2]]", {1, 2}},
               {"[[[1]],[[2]]]", {2, 1}},
               {"[[1],2]", {2, 1}},
               {"[1,[2]]", {2, 1}},
               {"[[1,2],[3,4]", {2, 2}},
               {"[[1,2],[3,4]]]", {2, 2}},
               {"[[],[],[]]", {2, 0}},
               {"{}", {1}},
               {"[true]", {1}},
               {"[\"1\"]", {1}},
               {"[null]", {1}},
               {"[1 2]", {2}},
               {"[1,,2]", {2}}};
  for (const auto& c : cases) {
    CAPTURE(c.text);
    std::string error;
    Elements<int32_t>(c.text, c.dims, &error);
    CHECK(error != "");
  }
}

TEST_CASE("numbers out of a dtype's range are no elements") {
  std::string error;
  Elements<int8_t>("[128]", {1}, &error);
  CHECK(error == "JSON, byte 1: a number is not in the range of 8 bits");
  Elements<uint8_t>("[-1]", {1}, &error);
  CHECK(error != "");
  Elements<int32_t>("[1.5]", {1}, &error);
  CHECK(error == "JSON, byte 1: expected an integer");
  Elements<float>("[1e39]", {1}, &error);
  CHECK(error == "JSON, byte 1: a number is too large");
  Elements<double>(R"(["1"])", {1}, &error);
  CHECK(error == "JSON, byte 1: expected a number");
  Elements<int32_t>(R"(["NaN"])", {1}, &error);
  CHECK(error != "");
  Elements<double>("[1e999]", {1}, &error);
  CHECK(error != "");
  std::vector<char> bits(3);
  JsonReader reader("[true,0,1]");
  CHECK(reader.ReadElements<bool>(std::vector<int64_t>{3},
                                  std::span<bool>(reinterpret_cast<bool*>(bits.data()), 3)));
  CHECK(bits == std::vector<char>{1, 0, 1});
  Elements<int64_t>("[01]", {1}, &error);
  CHECK(error != "");
}

TEST_CASE("what is written reads back as it was") {
  const std::vector<float> floats = {0.1F, -1e30F, 16777216, 1e-45F,
                                     std::numeric_limits<float>::infinity()};
  std::string json;
  AppendJsonElements(*Value::CopyTensor(DType::kFloat32, {{5}}, floats.data()), &json);
  CHECK(json == "[0.1,-1e+30,16777216,1e-45,\"Infinity\"]");
  std::string error;
  CHECK(Elements<float>(json, {5}, &error) == floats);
  CHECK(JsonError("a\"\\\x01\xff\xc3\xa9") ==
        "{\"error\":\"a\\\"\\\\\\u0001\xef\xbf\xbd\xc3\xa9\"}");
}

}  // namespace
}  // namespace relayvm::serve
