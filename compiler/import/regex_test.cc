#include "compiler/import/regex.h"

#include <doctest/doctest.h>

#include <string>

#include "bytecode/base/string_table.h"
#include "kernels/runtime/testing.h"

namespace relayvm::import {
namespace {

using builtin_testing::Array;

bool Matches(const std::string& pattern, const std::string& text) {
  const auto program = CompileRegex(pattern);
  REQUIRE_MESSAGE(program.ok(), pattern << ": " << program.status().message());
  std::vector<int64_t> rows;
  for (const RegexStep& s : *program) rows.insert(rows.end(), {s.op, s.a, s.b});
  StringTable strings;
  Array x = builtin_testing::Make<int64_t>({1}, {strings.Intern(text)});
  x.dtype = DType::kString;
  const auto result = builtin_testing::Call(
      "string_full_match",
      {x, builtin_testing::Make<int64_t>({static_cast<int64_t>(program->size()), 3}, rows)},
      {builtin_testing::Empty<Bool>({1})}, {}, 0, &strings);
  REQUIRE(result.error == 0);
  return result.outputs[0].as<Bool>()[0].bits != 0;
}

TEST_CASE("regular expressions: what matches as a whole, and what does not") {
  const struct {
    const char *pattern, *yes, *no;  // separated by |
  } kCases[] = {
      {"abc", "abc", "|ab|abcd|xabc"},
      {"", "", "a"},
      {"a*", "|a|aaaa", "b|ab"},
      {"a+b?", "a|ab|aaab", "|b|abb"},
      {"(ab|c)+", "ab|c|abcab", "|a|abca"},
      {"a|b|", "a|b|", "ab"},
      {"a{2,3}", "aa|aaa", "a|aaaa"},
      {"a{2}", "aa", "a|aaa"},
      {"a{2,}", "aa|aaaaa", "a"},
      {"a{,2}", "a{,2}", "a|aa"},
      {"x*?y+?", "y|xy|xxyy", "x"},
      {"(a*)*b", "b|aab", "a"},
      {"[a-c_]+", "abc|_", "|d"},
      {"[^a-c]", "d|é", "a|"},
      {"[]a]", "]|a", "b"},
      {"[a-]", "a|-", "b"},
      {R"([\d.]+)", "3.14", "x"},
      {R"([[:alpha:][:^digit:]])", "q|!", "1"},
      {R"(\d{3}-\d{4})", "555-1234", "5555-123"},
      {R"(\w+@\w+\.com)", "me@host.com", "me@hostxcom|me@.com"},
      {R"(\Aab\z)", "ab", "a"},
      {"^ab$", "ab", "ab\n"},
      {R"(a\b.\bb)", "a b|a-b", "axb"},
      {R"(a\Bb)", "ab", "a b"},
      {"(?i)straSSe", "STRASSE|strasse", "strase"},
      {"(?i)Ärger", "ärger|ÄRGER", "arger"},
      {"(?i:a)b", "Ab|ab", "aB"},
      {"a(?i)b|c", "aB|C", "Ab"},
      {".", "a|é|😀", "ab|"},
      {"(?s).", "a", "ab"},
      {"(?P<year>\\d+)-(?:x)", "19-x", "19-y"},
      {R"(\x41\x{1F600}\101)", "A😀A", "AA"},
      {R"(\Qa.b\E+)", "a.b", "axb"},
      {R"(\.\*\n)", ".*\n", "a"},
      {"[é-ü]", "ê|ü", "e"},
  };
  for (const auto& c : kCases) {
    CAPTURE(std::string(c.pattern));
    for (const bool expected : {true, false}) {
      std::string rest = std::string(expected ? c.yes : c.no) + "|";
      for (size_t end; (end = rest.find('|')) != std::string::npos; rest.erase(0, end + 1)) {
        CAPTURE(rest.substr(0, end));
        CHECK(Matches(c.pattern, rest.substr(0, end)) == expected);
      }
    }
  }
  CHECK(!Matches(".", "\n"));
  CHECK(Matches("(?s).", "\n"));
  CHECK(Matches("(?m)a$\n^b", "a\nb"));
  CHECK(!Matches("a$\n^b", "a\nb"));
}

TEST_CASE("regular expressions: time grows with the text, whatever the pattern") {
  const std::string many(20000, 'a');
  CHECK(!Matches("(a*)*(a|aa)+(a+)+b", many));
  CHECK(Matches("(a?){1000}", std::string(900, 'a')));
  CHECK(!Matches("(a?){1000}", std::string(1100, 'a')));
}

TEST_CASE("regular expressions: what is wrong, or not supported") {
  const struct {
    const char *pattern, *message;
  } kCases[] = {
      {"(a", "expected )"},
      {"a)", "unexpected )"},
      {"[a", "expected ]"},
      {"*a", "nothing to repeat"},
      {"a**", "a repetition of a repetition"},
      {"a{1001}", "more than 1000"},
      {"a{3,2}", "ends before it begins"},
      {"[b-a]", "ends before it begins"},
      {"\\", "ends with \\"},
      {R"((a)\1)", "back references"},
      {"(?=a)", "(?= is not supported"},
      {"(?<!a)", "(?< is not supported"},
      {R"(\p{Greek})", "classes of Unicode"},
      {R"(\C)", "\\C"},
      {R"(\k)", "\\k is not supported"},
      {R"(\x{110000})", "\\x"},
      {"[[:nothing:]]", "unknown class"},
      {"((a{1000}){1000}){1000}", "needs more than"},
  };
  for (const auto& c : kCases) {
    CAPTURE(std::string(c.pattern));
    const auto program = CompileRegex(c.pattern);
    REQUIRE(!program.ok());
    CHECK_MESSAGE(program.status().message().find(c.message) != std::string::npos,
                  program.status().message());
  }
  CHECK(!CompileRegex(std::string(100000, '(')).ok());
}

}  // namespace
}  // namespace relayvm::import
