// Tokens of Relay text. The parser drives the lexer and may set its position back, because where a
// name ends can depend on what is in scope: `%a.b.0` is variable "a.b.0", field 0 of "a.b", or
// field of a field of "a".
//
//   %name %"any text"   locals       %7        graph variable   meta[type.key][3]   metadata
//   @name @"any text"   globals      "text\n"  string           2, 2i64, 2f, inff   numbers
//   $name               variables of attributes, in rules
//
// Numbers may also be 1e-5f16 or nanf; meta[...] refers to an entry of the metadata section.
//
// A name's token is its longest candidate, of [A-Za-z0-9_./:-] and bytes of UTF-8, without trailing
// punctuation. Tested by lexer_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bytecode/base/dtype.h"

namespace relayvm::frontend {

enum class TokenKind : uint8_t {
  kEnd,
  kError,       // `text` is the message
  kIdentifier,  // also keywords; `match?` is one token
  kLocal,       // `text` is the name
  kGlobal,
  kGraph,     // `index`
  kVariable,  // $name, of an attribute in a rule: `text` is the name
  kInteger,   // `number`; dtype from the suffix, if any
  kFloat,
  kString,       // `text`, unescaped
  kMeta,         // `text` is the type key, `index` the position
  kPunctuation,  // `text`: ( ) [ ] { } < > , ; : . = ? + - * / ! # and -> => == != <= >= #[
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  size_t begin = 0;
  size_t end = 0;
  std::string text;
  bool quoted = false;  // kLocal, kGlobal: %"..." (its end is certain)
  uint64_t index = 0;
  std::string_view number;  // digits without sign and suffix; "inf", "nan"
  std::optional<DType> dtype;

  bool Is(std::string_view punctuation) const {
    return kind == TokenKind::kPunctuation && text == punctuation;
  }
  bool IsWord(std::string_view word) const {
    return kind == TokenKind::kIdentifier && text == word;
  }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token Next();
  size_t position() const { return position_; }
  void set_position(size_t position) { position_ = position; }
  std::string_view text() const { return text_; }

  // The digits of a tuple projection right at the position (after its '.'), which a number would
  // swallow: "0.1" is two projections. nullopt, and nothing read, if there are none or too many.
  std::optional<uint32_t> ProjectionIndex();

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  // Skips white space and comments. False when a comment does not end.
  bool SkipBlank();
  Token Name(TokenKind kind);
  Token Number();
  Token String();
  Token Meta();
  Token Error(size_t begin, std::string message);
  // Reads the suffix of a number: false when it is not one.
  bool Suffix(Token& token);

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace relayvm::frontend
