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

struct Case {
  const char *pattern, *yes, *no;  // separated by |
};

void CheckCase(const Case& c) {
  CAPTURE(std::string(c.pattern));
  for (const bool expected : {true, false}) {
    std::string rest = std::string(expected ? c.yes : c.no) + "|";
    for (size_t end; (end = rest.find('|')) != std::string::npos; rest.erase(0, end + 1)) {
      CAPTURE(rest.substr(0, end));
      CHECK(Matches(c.pattern, rest.substr(0, end)) == expected);
    }
  }
}

TEST_CASE("regular expressions: what matches as a whole, and what does not") {
  const Case kCases[] = {
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
  for (const Case& c : kCases) CheckCase(c);
  CHECK(!Matches(".", "\n"));
  CHECK(Matches("(?s).", "\n"));
  CHECK(Matches("(?m)a$\n^b", "a\nb"));
  CHECK(!Matches("a$\n^b", "a\nb"));
}

// Patterns that random ones, compared with RE2's results, have shown to be read in another way.
TEST_CASE("regular expressions: corners as RE2 has them") {
  const Case kCases[] = {
      {R"(\pL+)", "aéЯ漢", "a1|_|٣"},
      {R"(\p{Lu}\p{^Lu}\P{Lu})", "Éé1", "ééé|ÉÉé"},
      {R"([\p{Greek}\d]+)", "σ1|Ω", "я|a"},
      {R"([^\PN]+)", "1|Ⅷ|٣", "a"},
      {R"(\p{Any})", "a|😀", "|ab"},
      {R"(\pC)", "\u00ad", "a|\u0378"},  // a soft hyphen; what is not assigned has no class
      {R"((?i)\p{Lu}+)", "aÉé", "1"},
      {R"((?i)\P{Lu}+)", "1漢", "a|A"},  // no case of an upper letter
      {R"((?i)[\W])", "-|é", "k|K|s|\u212A|\u017F"},
      {R"((?i)[[:^upper:]])", "1|é", "a|A"},
      {"(?i)k", "k|K|\u212A", "x"},
      {"(?i)[^s]", "x", "s|S|\u017F"},
      {"(?i)\u03C3+", "\u03C3\u03C2\u03A3", "s"},
      {"(?i)\u01C4", "\u01C4|\u01C5|\u01C6", "dz"},
      {"(?i)\u1E9E", "\u00DF|\u1E9E", "ss"},
      {"(?i)\u13A0\u10D0", "\uAB70\u1C90", "a"},
      {"a(?i)*", "|a|aa", "A"},
      {R"(a\Q\E*)", "|a|aa", "b"},
      {"a{01}", "a{01}", "a"},
      {"a{1,02}", "a{1,02}", "a|aa"},
      {R"(\_)", "_", "a"},
      {R"(\x{000000000041})", "A", "x"},
      {"[[:a]", "[|:|a", "b"},
      {"[^[:]", "a", "[|:"},
      {R"([\d-z])", "1|-|z", "a"},
      {"[a-c-e]", "a|-|e", "d"},
      {"(?)(?i-m:A)", "a|A", "b"},
      {"(?P<é_1>a)", "a", "b"},
      {"^*a$+", "a", "b"},
  };
  for (const Case& c : kCases) CheckCase(c);
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
      {R"(\p{Grek})", "\\p{Grek}: expected a general category or a script"},
      {R"(\p{Greek)", "expected }"},
      {R"(\pé)", "\\p{é}: expected"},
      {R"(\p{Cn})", "expected a general category"},
      {"{2}a", "nothing to repeat before {"},
      {R"(\Q\E*)", "nothing to repeat before *"},
      {R"(\é)", "\\é is not supported"},
      {"(?P<>a)", "the name of a group"},
      {"(?P<a b>a)", "the name of a group"},
      {"(?P<a", "ends early"},
      {"(?i-)", "(?) is not supported"},
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
