#include <limits>
#include <string>

#include "bytecode/base/string_table.h"
#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

using Texts = std::vector<std::string>;

Array Ids(StringTable& table, std::vector<int64_t> dims, const Texts& texts) {
  std::vector<int64_t> ids;
  for (const std::string& text : texts) ids.push_back(table.Intern(text));
  Array a = Make(std::move(dims), ids);
  a.dtype = DType::kString;
  return a;
}
Array Vector(StringTable& table, const Texts& texts) {
  return Ids(table, {static_cast<int64_t>(texts.size())}, texts);
}
Array EmptyTexts(std::vector<int64_t> dims) {
  Array a = Empty<int64_t>(std::move(dims));
  a.dtype = DType::kString;
  return a;
}
Texts TextsOf(const StringTable& table, Array a, int64_t count = -1) {
  REQUIRE(a.dtype == DType::kString);
  a.dtype = DType::kInt64;
  Texts texts;
  for (const int64_t id : a.as<int64_t>()) {
    if (count-- == 0) break;
    texts.emplace_back(table.Text(id).value_or("?"));
  }
  return texts;
}

template <typename T>
Texts FromNumbers(const std::vector<T>& numbers) {
  StringTable table;
  const std::vector<int64_t> dims = {static_cast<int64_t>(numbers.size())};
  const CallResult r =
      Call("string_from_number", {Make<T>(dims, numbers)}, {EmptyTexts(dims)}, {}, 0, &table);
  REQUIRE(r.error == 0);
  return TextsOf(table, r.outputs[0]);
}

TEST_CASE("numbers as texts, as ONNX Runtime writes them") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(FromNumbers<float>({1, -2.5f, 0.1f, 1e-7f, 3.14159274f, 1e20f, 0, -0.0f}) ==
        Texts{"1", "-2.5", "0.1", "1e-07", "3.1415927", "1e+20", "0", "-0"});
  CHECK(FromNumbers<double>({0.1, 1e300, inf, -inf, std::nan("")}) ==
        Texts{"0.1", "1e+300", "INF", "-INF", "NaN"});
  // As many digits as it takes, and no more.
  CHECK(FromNumbers<float>({123456792.f, 100000, 0.6375869f, 16777216, 1.00000012f, 1e-45f}) ==
        Texts{"1.2345679e+08", "100000", "0.6375869", "16777216", "1.0000001", "1e-45"});
  CHECK(FromNumbers<double>({123456789, 1234567.891, 1.0 / 3}) ==
        Texts{"123456789", "1234567.891", "0.3333333333333333"});
  CHECK(FromNumbers<int64_t>({0, -5, INT64_MIN}) == Texts{"0", "-5", "-9223372036854775808"});
  CHECK(FromNumbers<uint64_t>({UINT64_MAX}) == Texts{"18446744073709551615"});
  CHECK(FromNumbers<int8_t>({-128, 127}) == Texts{"-128", "127"});
  CHECK(FromNumbers<Bool>({Bool(true), Bool(false)}) == Texts{"1", "0"});
  CHECK(FromNumbers<Float16>({Float16(1.5f)}) == Texts{"1.5"});
}

template <typename T>
std::vector<T> ToNumbers(const Texts& texts) {
  StringTable table;
  const CallResult r = Call("string_to_number", {Vector(table, texts)},
                            {Empty<T>({static_cast<int64_t>(texts.size())})}, {}, 0, &table);
  REQUIRE(r.error == 0);
  return r.outputs[0].as<T>();
}
// The text that is named; empty: none is.
template <typename T>
std::string Refused(const std::string& text) {
  StringTable table;
  RelayvmKernelFault fault{};
  const CallResult r = Call("string_to_number", {Vector(table, {"1", text})}, {Empty<T>({2})}, {},
                            0, &table, &fault);
  if (r.error != RELAYVM_KERNEL_BAD_TEXT || fault.given == 0) return "";
  return std::string(table.Text(fault.found).value_or(""));
}

TEST_CASE("texts as numbers, with spaces around; what is none is named") {
  CHECK(
      ToNumbers<float>({"1", " 2.5\n", "+3e2", "-.5", "INF", "-inf", "1e-60", "1e60", "-1e999"}) ==
      std::vector<float>{1, 2.5f, 300, -.5f, std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(), 0,
                         std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity()});
  CHECK(ToNumbers<double>({"0.1", "1e-400", "1e400"}) ==
        std::vector<double>{0.1, 0, std::numeric_limits<double>::infinity()});
  CHECK(std::isnan(ToNumbers<float>({"NaN"})[0]));
  CHECK(ToNumbers<int64_t>({"-9223372036854775808", "7", "+8"}) ==
        std::vector<int64_t>{INT64_MIN, 7, 8});
  CHECK(ToNumbers<uint8_t>({"255", "0"}) == std::vector<uint8_t>{255, 0});
  CHECK(ToNumbers<Bool>({"1", "False"})[0].bits == 1);
  for (const char* text : {"", "x", "1x", "1 2", "--1", "+-1", "0x10", "1,5"}) {
    CAPTURE(std::string(text));
    CHECK(Refused<float>(text) == text);
    if (*text != '\0') CHECK(Refused<int32_t>(text) == text);
  }
  CHECK(Refused<int64_t>("9223372036854775808") == "9223372036854775808");
  CHECK(Refused<uint8_t>("256") == "256");
  CHECK(Refused<uint8_t>("-1") == "-1");
  CHECK(Refused<int32_t>("1.0") == "1.0");
  CHECK(Refused<Bool>("2") == "2");
}

TEST_CASE("ranks are those of the texts' characters") {
  StringTable table;
  const Array x = Vector(table, {"b", "a", "", "b", "é", "ab", "😀", "a"});
  const CallResult r = Call("string_rank", {x}, {Empty<int64_t>({8})}, {}, 0, &table);
  REQUIRE(r.error == 0);
  CHECK(r.outputs[0].as<int64_t>() == std::vector<int64_t>{3, 1, 0, 3, 4, 2, 5, 1});
}

TEST_CASE("texts joined, shapes broadcast") {
  StringTable table;
  const CallResult r =
      Call("string_concat", {Ids(table, {2, 1}, {"a", "b"}), Vector(table, {"x", "", "z"})},
           {EmptyTexts({2, 3})}, {}, 0, &table);
  REQUIRE(r.error == 0);
  CHECK(TextsOf(table, r.outputs[0]) == Texts{"ax", "a", "az", "bx", "b", "bz"});
  // Shapes that do not.
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2, 2}, {3}, {1, 2, 3, 4}}) {
    CHECK(Call("string_concat", {Ids(table, {2, 1}, {"a", "b"}), Vector(table, {"x", "", "z"})},
               {EmptyTexts(dims)}, {}, 0, &table)
              .error == RELAYVM_KERNEL_INVALID_ARGUMENT);
  }
}

TEST_CASE("texts in parts") {
  const struct {
    const char *text, *delimiter;
    int64_t most;
    Texts parts;
  } kCases[] = {
      {"a,b,,c", ",", -1, {"a", "b", "", "c"}},
      {"a,b,,c", ",", 1, {"a", "b,,c"}},
      {"a,b", ",", 0, {"a,b"}},
      {",", ",", -1, {"", ""}},
      {"abc", ",", -1, {"abc"}},
      {"a--b-c", "--", -1, {"a", "b-c"}},
      {"  a b \t c ", "", -1, {"a", "b", "c"}},
      {"  a b \t c ", "", 1, {"a", "b \t c"}},
      {"   ", "", -1, {}},
      {"aéb", "é", -1, {"a", "b"}},
  };
  for (const auto& c : kCases) {
    CAPTURE(std::string(c.text));
    CAPTURE(c.most);
    StringTable table;
    const Array x = Vector(table, {c.text}), delimiter = Vector(table, {c.delimiter});
    const CallResult count =
        Call("string_split_count", {x, delimiter}, {Empty<int64_t>({1})}, {c.most}, 0, &table);
    REQUIRE(count.error == 0);
    const auto n = static_cast<int64_t>(c.parts.size());
    CHECK(count.outputs[0].as<int64_t>()[0] == n);
    const CallResult parts = Call("string_split", {x, delimiter, Make<int64_t>({1}, {n + 1})},
                                  {EmptyTexts({1, n + 1})}, {c.most}, 0, &table);
    REQUIRE(parts.error == 0);
    Texts expected = c.parts;
    expected.emplace_back();
    CHECK(TextsOf(table, parts.outputs[0]) == expected);
    if (n == 0) continue;
    CHECK(Call("string_split", {x, delimiter, Make<int64_t>({1}, {n - 1})},
               {EmptyTexts({1, n - 1})}, {c.most}, 0, &table)
              .error == RELAYVM_KERNEL_INVALID_ARGUMENT);
  }
}

Texts Normalized(const Texts& texts, const Texts& words, int64_t change, bool case_sensitive,
                 bool ascii = false) {
  StringTable table;
  const CallResult r = Call("string_normalize", {Vector(table, texts), Vector(table, words)},
                            {EmptyTexts({static_cast<int64_t>(texts.size()) + 1})},
                            {change + (ascii ? 3 : 0), case_sensitive ? 1 : 0}, 1, &table);
  REQUIRE(r.error == 0);
  return TextsOf(table, r.outputs[0], r.counts[0]);
}

TEST_CASE("texts in one case, without some words") {
  const Texts days = {"Monday", "tuesday", "MONDAY", "Wednesday"};
  CHECK(Normalized(days, {}, 0, true) == days);
  CHECK(Normalized(days, {"Monday"}, 0, true) == Texts{"tuesday", "MONDAY", "Wednesday"});
  CHECK(Normalized(days, {"Monday"}, 2, false) == Texts{"TUESDAY", "WEDNESDAY"});
  CHECK(Normalized(days, {"monday", "TUESDAY"}, 1, false) == Texts{"wednesday"});
  CHECK(Normalized({"a", "A"}, {"a"}, 0, false) == Texts{""});
  CHECK(Normalized({}, {}, 0, false) == Texts{""});
  CHECK(Normalized({"Äé漢😀ß"}, {}, 1, false) == Texts{"äé漢😀ß"});
  CHECK(Normalized({"äЖя"}, {}, 2, false) == Texts{"ÄЖЯ"});
  CHECK(Normalized({"äЖяb"}, {}, 2, false, true) == Texts{"äЖяB"});
  CHECK(Normalized({"AÄ", "aä", "b"}, {"aÄ"}, 0, false, true) == Texts{"aä", "b"});
}

TEST_CASE("n-grams counted, with gaps") {
  const Array x = Make<int64_t>({2, 5}, {1, 2, 1, 2, 3, 9, 1, 8, 2, 1});
  const Array pairs = Make<int64_t>({2, 2}, {1, 2, 2, 3}), columns = Make<int64_t>({2}, {2, 0});
  const auto count = [&](int64_t skips) {
    const CallResult r =
        Call("count_grams", {x, pairs, columns}, {Empty<int64_t>({2, 3})}, {skips});
    REQUIRE(r.error == 0);
    return r.outputs[0].as<int64_t>();
  };
  CHECK(count(0) == std::vector<int64_t>{1, 0, 2, 0, 0, 0});
  CHECK(count(1) == std::vector<int64_t>{1, 0, 2, 0, 0, 1});
  CHECK(count(100) == std::vector<int64_t>{2, 0, 3, 0, 0, 1});
  // A column that there is not.
  CHECK(Call("count_grams", {x, pairs, Make<int64_t>({2}, {3, 0})}, {Empty<int64_t>({2, 3})}, {0})
            .error == RELAYVM_KERNEL_INVALID_ARGUMENT);
}

TEST_CASE("hashes of texts and of numbers") {  // as MurmurHash3_x86_32 gives them
  StringTable table;
  const CallResult texts = Call("murmur3", {Vector(table, {"foo", "bar", "", "héllo", "abcdefgh"})},
                                {Empty<uint32_t>({5})}, {0}, 0, &table);
  REQUIRE(texts.error == 0);
  CHECK(texts.outputs[0].as<uint32_t>() ==
        std::vector<uint32_t>{4138058784u, 1158584717u, 0, 3164577896u, 1239272644u});
  const CallResult numbers =
      Call("murmur3", {Make<int64_t>({2}, {3, 4})}, {Empty<uint32_t>({2})}, {0});
  REQUIRE(numbers.error == 0);
  CHECK(numbers.outputs[0].as<uint32_t>() == std::vector<uint32_t>{2738575283u, 3491892518u});
  const CallResult seeded =
      Call("murmur3", {Make<int32_t>({2}, {3, 4})}, {Empty<int32_t>({2})}, {7});
  CHECK(seeded.outputs[0].as<int32_t>() == std::vector<int32_t>{-823678547, -348581481});
}

// Rows of regex_program.h: a range; a range as often as there is one; nothing at all.
constexpr int64_t kRange = 1, kSplit = 3;
Array Rows(std::vector<int64_t> rows) {
  const auto count = static_cast<int64_t>(rows.size() / 3);
  return Make<int64_t>({count, 3}, std::move(rows));
}
Array OneOf(char low, char high) { return Rows({kRange, low, high, 0, 0, 0}); }
Array SomeOf(char low, char high) { return Rows({kRange, low, high, kSplit, 0, 2, 0, 0, 0}); }
Array AnyOf(char low, char high) {
  return Rows({kSplit, 1, 3, kRange, low, high, kSplit, 1, 3, 0, 0, 0});
}

struct TokenCase {
  Texts texts;
  Array program;
  bool are_matches;
  int64_t least;
  bool mark;
  int64_t width;  // of the most tokens, and marks
  Texts tokens;
};
TEST_CASE("tokens: what matches, or what is left between; marked, and as many in each row") {
  const TokenCase kCases[] = {
      {{"ab cd", "", " "}, OneOf(' ', ' '), false, 1, false, 2, {"ab", "cd", "#", "#", "#", "#"}},
      {{"ab  c"}, OneOf(' ', ' '), false, 2, false, 1, {"ab"}},
      {{"ab1cd", "é"}, SomeOf('a', 'z'), true, 1, false, 2, {"ab", "cd", "#", "#"}},
      {{"ab1c"}, SomeOf('a', 'z'), true, 2, false, 1, {"ab"}},
      {{"a b", "c"}, OneOf(' ', ' '), false, 1, true, 4, {"<", "a", "b", ">", "<", "c", ">", "#"}},
      {{"é b"}, OneOf(' ', ' '), false, 2, false, 0, {}},
      // Of what begins first the longest; nothing that matches takes a character with it.
      {{"xaab"}, AnyOf('a', 'a'), true, 1, false, 1, {"aa"}},
      {{"xaab"}, AnyOf('a', 'a'), false, 1, false, 0, {}},
  };
  for (const TokenCase& c : kCases) {
    CAPTURE(c.tokens);
    StringTable table;
    const auto n = static_cast<int64_t>(c.texts.size());
    const Array x = Vector(table, c.texts), starts = Make<int64_t>({1}, {0}),
                around = Vector(table, {"<", ">", "#"});
    const int64_t are_matches = c.are_matches ? 1 : 0, mark = c.mark ? 1 : 0;
    const CallResult counts = Call("string_count_tokens", {x, c.program, starts},
                                   {Empty<int64_t>({n})}, {are_matches, c.least}, 0, &table);
    REQUIRE(counts.error == 0);
    CHECK(std::ranges::max(counts.outputs[0].as<int64_t>()) == c.width - 2 * mark);
    const auto tokens = [&](int64_t width) {
      return Call("string_tokens", {x, c.program, starts, around, Make<int64_t>({1}, {width})},
                  {EmptyTexts({n, width})}, {are_matches, c.least, mark}, 0, &table);
    };
    const CallResult found = tokens(c.width);
    REQUIRE(found.error == 0);
    CHECK(TextsOf(table, found.outputs[0]) == c.tokens);
    if (c.width > 1) CHECK(tokens(c.width - 1).error == RELAYVM_KERNEL_INVALID_ARGUMENT);
  }
}

TEST_CASE("tokens between the matches of one program after the other") {
  StringTable table;
  const Array x = Vector(table, {"a,b c"}), starts = Make<int64_t>({2}, {0, 2});
  const Array programs = Rows({kRange, ',', ',', 0, 0, 0, kRange, ' ', ' ', 0, 0, 0});
  const CallResult found = Call(
      "string_tokens", {x, programs, starts, Vector(table, {"", "", ""}), Make<int64_t>({1}, {3})},
      {EmptyTexts({1, 3})}, {0, 1, 0}, 0, &table);
  REQUIRE(found.error == 0);
  CHECK(TextsOf(table, found.outputs[0]) == Texts{"a", "b", "c"});
  for (const std::vector<int64_t>& wrong :
       {std::vector<int64_t>{4}, {-1}, std::vector<int64_t>(101)}) {
    const auto count = static_cast<int64_t>(wrong.size());
    CHECK(Call("string_count_tokens", {x, programs, Make<int64_t>({count}, wrong)},
               {Empty<int64_t>({1})}, {0, 1}, 0, &table)
              .error == RELAYVM_KERNEL_INVALID_ARGUMENT);
  }
}

TEST_CASE("ids that have no text, programs that are none, and no texts at all are errors") {
  StringTable table;
  Array x = Make<int64_t>({1}, {77});
  x.dtype = DType::kString;
  CHECK(Call("string_rank", {x}, {Empty<int64_t>({1})}, {}, 0, &table).error ==
        RELAYVM_KERNEL_INVALID_ARGUMENT);
  CHECK(Call("string_rank", {Vector(table, {"a"})}, {Empty<int64_t>({1})}, {}).error ==
        RELAYVM_KERNEL_INVALID_ARGUMENT);
  const Array text = Vector(table, {"a"});
  for (const std::vector<int64_t>& step :
       {std::vector<int64_t>{9, 0, 0}, {1, 0, 5}, {2, 0, 9}, {2, -1, 1}, {3, 1, 0}, {3, 0, -1}}) {
    CHECK(Call("string_full_match", {text, Make<int64_t>({1, 3}, step)}, {Empty<Bool>({1})}, {}, 0,
               &table)
              .error == RELAYVM_KERNEL_INVALID_ARGUMENT);
  }
  // A program that goes round without a character ends.
  CHECK(Call("string_full_match", {text, Make<int64_t>({1, 3}, {3, 0, 0})}, {Empty<Bool>({1})}, {},
             0, &table)
            .error == 0);
}

}  // namespace
}  // namespace relayvm::builtin_testing
