#include "compiler/frontend/lexer.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace relayvm::frontend {
namespace {

// All tokens on one line.
std::string Lex(std::string_view text) {
  Lexer lexer(text);
  std::string out;
  for (;;) {
    Token t = lexer.Next();
    if (!out.empty()) out += " ";
    switch (t.kind) {
      case TokenKind::kEnd:
        return out + "end";
      case TokenKind::kError:
        return out + "error: " + t.text;
      case TokenKind::kIdentifier:
        out += t.text;
        break;
      case TokenKind::kLocal:
        out += (t.quoted ? "%q:" : "%") + t.text;
        break;
      case TokenKind::kVariable:
        out += "$" + t.text;
        break;
      case TokenKind::kGlobal:
        out += (t.quoted ? "@q:" : "@") + t.text;
        break;
      case TokenKind::kGraph:
        out += fmt::format("%#{}", t.index);
        break;
      case TokenKind::kInteger:
        out += fmt::format("int:{}", t.number);
        if (t.dtype) out += fmt::format(":{}", DTypeName(*t.dtype));
        break;
      case TokenKind::kFloat:
        out += fmt::format("float:{}", t.number);
        if (t.dtype) out += fmt::format(":{}", DTypeName(*t.dtype));
        break;
      case TokenKind::kString:
        out += "'" + t.text + "'";
        break;
      case TokenKind::kMeta:
        out += fmt::format("meta:{}:{}", t.text, t.index);
        break;
      case TokenKind::kPunctuation:
        out += t.text;
        break;
    }
  }
}

TEST_CASE("tokens") {
  const struct {
    const char* text;
    const char* tokens;
  } kCases[] = {
      {"", "end"},
      {" \t\r\n ", "end"},
      {"a // b\nc", "a c end"},
      {"a /* b /* c */ d */ e", "a e end"},
      {"a // at the end", "a end"},
      {"let fn def match match? matches", "let fn def match match? matches end"},
      {"x=1", "x = int:1 end"},
      {"( ) [ ] { } , ; : . = ? + - * / ! < >", "( ) [ ] { } , ; : . = ? + - * / ! < > end"},
      {"-> => == != <= >= #[", "-> => == != <= >= #[ end"},
      {"a->b", "a -> b end"},
      // Names
      {"%x %_1 @main", "%x %_1 @main end"},
      {"%x,%y)", "%x , %y ) end"},
      {"%layers.0.weight: T", "%layers.0.weight : T end"},
      {"%aten::_conv_0.1 %input-1 %a/b", "%aten::_conv_0.1 %input-1 %a/b end"},
      {"%x. %x: %x- %x/", "%x . %x : %x - %x / end"},
      {"%x//c\n%y/*c*/%z", "%x %y %z end"},
      {"%x->y", "%x -> y end"},
      {"%\xC3\xA4", "%\xC3\xA4 end"},
      {"%\"a b\\\"\" @\"\\x41\"", "%q:a b\" @q:A end"},
      {"%12 %0.1", "%#12 %#0 . int:1 end"},
      {"nn.conv2d", "nn . conv2d end"},
      // Numbers
      {"0 42 5i64 5i8 5u16 7i", "int:0 int:42 int:5:int64 int:5:int8 int:5:uint16 int:7:int32 end"},
      {"1f 1.5f 1e5f 1e-05f 1.5 2e3",
       "float:1:float32 float:1.5:float32 float:1e5:float32 float:1e-05:float32 float:1.5 "
       "float:2e3 end"},
      {"1f16 1f64 1bf16", "float:1:float16 float:1:float64 float:1:bfloat16 end"},
      {"inff -inff inff16 inff64 nanf",
       "float:inf:float32 - float:inf:float32 float:inf:float16 float:inf:float64 "
       "float:nan:float32 end"},
      {"inf info inffx nan", "inf info inffx nan end"},
      {"1+1 1-1", "int:1 + int:1 int:1 - int:1 end"},
      {"1.", "int:1 . end"},
      // Strings
      {"\"a b\" \"\"", "'a b' '' end"},
      {R"("\" \\ \x41 \'")", "'\" \\ A '' end"},
      {"meta[relay.Constant][12]", "meta:relay.Constant:12 end"},
      {"metal", "metal end"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    CHECK(Lex(c.text) == c.tokens);
  }
}

TEST_CASE("malformed tokens") {
  const struct {
    std::string text;
    const char* message;
  } kCases[] = {
      {"/* a", "error: comment without end"},
      {"/* a /* b */", "error: comment without end"},
      {"\"a", "error: string without end"},
      {"\"a\nb\"", "error: string without end"},
      {"\"\\q\"",
       "error: unknown escape sequence in a string; known are \\\" \\\\ \\n \\t \\r \\xHH"},
      {"\"\\x4\"", "error: \\x needs two hexadecimal digits"},
      {"\"\\", "error: unknown escape sequence in a string; known are \\\" \\\\ \\n \\t \\r \\xHH"},
      {"%", "error: expected a name after '%'"},
      {"% x", "error: expected a name after '%'"},
      {"@1", "error: expected a name after '@'"},
      {"%\"\"", "error: empty name"},
      {"%1a", "error: a name cannot start with a digit; write it in quotes: %\"...\""},
      {"%99999999999999999999", "error: graph variable number is too large"},
      {"1q", "error: malformed number \"1q\""},
      {"1i7", "error: malformed number \"1i7\""},
      {"1.5i32", "error: malformed number \"1.5i32\""},
      {"1f8", "error: malformed number \"1f8\""},
      {"meta[a", "error: malformed metadata reference; it reads meta[type.key][0]"},
      {"meta[a][x]", "error: malformed metadata reference; it reads meta[type.key][0]"},
      {"$", "error: unexpected character '$'"},
      {"$1", "error: unexpected character '$'"},
      {"#", "error: unexpected character '#'"},
      {"\x01", "error: unexpected byte 0x01"},
      {std::string(1, '\0'), "error: unexpected byte 0x00"},
      {"\xFF", "error: unexpected byte 0xff"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    CHECK(Lex(c.text) == c.message);
  }
}

TEST_CASE("a projection takes digits only") {
  Lexer lexer("0.1.f 99999999999 7x");
  CHECK(lexer.ProjectionIndex() == 0u);
  lexer.set_position(2);
  CHECK(lexer.ProjectionIndex() == 1u);
  lexer.set_position(4);
  CHECK_FALSE(lexer.ProjectionIndex().has_value());
  lexer.set_position(6);
  CHECK_FALSE(lexer.ProjectionIndex().has_value());  // too large
  lexer.set_position(18);
  CHECK_FALSE(lexer.ProjectionIndex().has_value());  // a name
}

TEST_CASE("every prefix and every changed byte lexes to an end") {
  const std::string text =
      "%a.b @c \"s\\x41\" 1.5e-3f16 meta[relay.Constant][0] /* c */ // d\n -> %0";
  for (size_t i = 0; i < text.size(); ++i) {
    CHECK_FALSE(Lex(text.substr(0, i)).empty());
    for (int b = 0; b < 256; ++b) {
      std::string changed = text;
      changed[i] = static_cast<char>(b);
      REQUIRE_FALSE(Lex(changed).empty());
    }
  }
}

}  // namespace
}  // namespace relayvm::frontend
