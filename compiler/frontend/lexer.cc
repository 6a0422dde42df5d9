#include "compiler/frontend/lexer.h"

#include <fmt/format.h>

namespace relayvm::frontend {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordChar(char c) { return IsWordStart(c) || IsDigit(c); }
bool IsUtf8(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool IsNamePunctuation(char c) { return c == '.' || c == '/' || c == ':' || c == '-'; }

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::string_view kPairs[] = {"->", "=>", "==", "!=", "<=", ">=", "#["};

}  // namespace

Token Lexer::Error(size_t begin, std::string message) {
  Token t{TokenKind::kError, begin, position_, std::move(message)};
  if (t.end <= begin) t.end = begin + 1;
  return t;
}

bool Lexer::SkipBlank() {
  for (;;) {
    char c = At(position_);
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++position_;
    } else if (c == '/' && At(position_ + 1) == '/') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && At(position_ + 1) == '*') {
      size_t i = position_ + 2;
      for (int depth = 1; depth > 0; ++i) {
        if (i >= text_.size()) return false;
        if (At(i) == '/' && At(i + 1) == '*') {
          ++depth;
          ++i;
        } else if (At(i) == '*' && At(i + 1) == '/') {
          --depth;
          ++i;
        }
      }
      position_ = i;
    } else {
      return true;
    }
  }
}

Token Lexer::Next() {
  if (!SkipBlank()) {
    size_t begin = position_;
    position_ = text_.size();
    Token t = Error(begin, "comment without end");
    t.end = begin + 2;
    return t;
  }
  const size_t begin = position_;
  if (begin >= text_.size()) return Token{TokenKind::kEnd, begin, begin};
  const char c = text_[begin];
  if (c == '%') return Name(TokenKind::kLocal);
  if (c == '@') return Name(TokenKind::kGlobal);
  if (c == '$' && IsWordStart(At(begin + 1))) {
    ++position_;
    while (IsWordChar(At(position_))) ++position_;
    return Token{TokenKind::kVariable, begin, position_,
                 std::string(text_.substr(begin + 1, position_ - begin - 1))};
  }
  if (c == '"') return String();
  if (IsDigit(c)) return Number();
  if (IsWordStart(c)) {
    if (text_.substr(begin, 5) == "meta[") return Meta();
    for (std::string_view word : {"inf", "nan"}) {
      if (text_.substr(begin, 3) != word || At(begin + 3) != 'f') continue;
      Token t = Number();
      if (t.kind != TokenKind::kError) return t;
      position_ = begin;
    }
    while (IsWordChar(At(position_)) || (At(position_) == '/' && IsWordChar(At(position_ + 1))))
      ++position_;
    Token t{TokenKind::kIdentifier, begin, position_,
            std::string(text_.substr(begin, position_ - begin))};
    if (t.text == "match" && At(position_) == '?') {
      t.text = "match?";
      t.end = ++position_;
    }
    return t;
  }
  for (std::string_view pair : kPairs) {
    if (text_.substr(begin, 2) != pair) continue;
    position_ += 2;
    return Token{TokenKind::kPunctuation, begin, position_, std::string(pair)};
  }
  ++position_;
  if (std::string_view("()[]{}<>,;:.=?+-*/!").find(c) != std::string_view::npos) {
    return Token{TokenKind::kPunctuation, begin, position_, std::string(1, c)};
  }
  if (c > ' ' && c < 0x7F) return Error(begin, fmt::format("unexpected character '{}'", c));
  return Error(begin, fmt::format("unexpected byte 0x{:02x}", static_cast<unsigned char>(c)));
}

Token Lexer::Name(TokenKind kind) {
  const size_t begin = position_++;
  const char first = At(position_);
  const char sigil = text_[begin];
  if (first == '"') {
    Token t = String();
    if (t.kind == TokenKind::kError) return t;
    if (t.text.empty()) return Error(begin, "empty name");
    t.kind = kind;
    t.begin = begin;
    t.quoted = true;
    return t;
  }
  if (kind == TokenKind::kLocal && IsDigit(first)) {
    Token t{TokenKind::kGraph, begin};
    for (; IsDigit(At(position_)); ++position_) {
      if (t.index > UINT32_MAX) continue;
      t.index = t.index * 10 + static_cast<uint64_t>(At(position_) - '0');
    }
    t.end = position_;
    if (t.index > UINT32_MAX) return Error(begin, "graph variable number is too large");
    if (IsWordStart(At(position_))) {
      return Error(begin, "a name cannot start with a digit; write it in quotes: %\"...\"");
    }
    return t;
  }
  if (!IsWordStart(first) && !IsUtf8(first)) {
    return Error(begin, fmt::format("expected a name after '{}'", sigil));
  }
  for (;; ++position_) {
    char c = At(position_);
    char next = At(position_ + 1);
    if (c == '/' && (next == '/' || next == '*')) break;
    if (c == '-' && next == '>') break;
    if (!IsWordChar(c) && !IsNamePunctuation(c) && !IsUtf8(c)) break;
  }
  while (IsNamePunctuation(text_[position_ - 1])) --position_;
  return Token{kind, begin, position_, std::string(text_.substr(begin + 1, position_ - begin - 1))};
}

bool Lexer::Suffix(Token& t) {
  size_t end = position_;
  while (IsWordChar(At(end))) ++end;
  std::string_view suffix = text_.substr(position_, end - position_);
  position_ = end;
  if (suffix.empty()) return t.number != "inf" && t.number != "nan";
  const bool integral = t.kind == TokenKind::kInteger;
  size_t digits = suffix.find_first_of("0123456789");
  std::string_view letters = suffix.substr(0, digits);
  std::string_view width = digits == std::string_view::npos ? "" : suffix.substr(digits);
  std::string name;
  if (letters == "f") {
    name = fmt::format("float{}", width.empty() ? "32" : width);
    t.kind = TokenKind::kFloat;
  } else if (letters == "bf" && width == "16") {
    name = "bfloat16";
    t.kind = TokenKind::kFloat;
  } else if (letters == "i" && integral) {
    name = fmt::format("int{}", width.empty() ? "32" : width);
  } else if (letters == "u" && integral) {
    name = fmt::format("uint{}", width.empty() ? "32" : width);
  }
  t.dtype = ParseDType(name);
  return t.dtype.has_value() && *t.dtype != DType::kBool;
}

Token Lexer::Number() {
  Token t{TokenKind::kInteger, position_};
  if (!IsDigit(At(position_))) {  // inf, nan
    position_ += 3;
    t.kind = TokenKind::kFloat;
  } else {
    while (IsDigit(At(position_))) ++position_;
    if (At(position_) == '.' && IsDigit(At(position_ + 1))) {
      t.kind = TokenKind::kFloat;
      ++position_;
      while (IsDigit(At(position_))) ++position_;
    } else if (At(position_) == '.' &&
               (At(position_ + 1) == 'f' || At(position_ + 1) == 'e')) {  // 2.f
      t.kind = TokenKind::kFloat;
      ++position_;
    }
    if (At(position_) == 'e' || At(position_) == 'E') {
      size_t exponent = position_ + 1;
      if (At(exponent) == '+' || At(exponent) == '-') ++exponent;
      if (IsDigit(At(exponent))) {
        t.kind = TokenKind::kFloat;
        position_ = exponent;
        while (IsDigit(At(position_))) ++position_;
      }
    }
  }
  t.number = text_.substr(t.begin, position_ - t.begin);
  bool legal = Suffix(t);
  t.end = position_;
  if (!legal) {
    return Error(t.begin,
                 fmt::format("malformed number \"{}\"", text_.substr(t.begin, t.end - t.begin)));
  }
  return t;
}

Token Lexer::String() {
  const size_t begin = position_++;
  Token t{TokenKind::kString, begin};
  for (;;) {
    if (position_ >= text_.size() || At(position_) == '\n') {
      return Error(begin, "string without end");
    }
    char c = text_[position_++];
    if (c == '"') break;
    if (c != '\\') {
      t.text += c;
      continue;
    }
    char escape = At(position_++);
    switch (escape) {
      case 'n':
        t.text += '\n';
        break;
      case 't':
        t.text += '\t';
        break;
      case 'r':
        t.text += '\r';
        break;
      case '"':
      case '\\':
      case '\'':
        t.text += escape;
        break;
      case 'x': {
        int high = HexValue(At(position_));
        int low = HexValue(At(position_ + 1));
        if (high < 0 || low < 0) return Error(position_ - 2, "\\x needs two hexadecimal digits");
        t.text += static_cast<char>(high * 16 + low);
        position_ += 2;
        break;
      }
      default: {
        position_ = std::min(position_, text_.size());
        return Error(position_ - 2,
                     "unknown escape sequence in a string; known are \\\" \\\\ \\n \\t \\r \\xHH");
      }
    }
  }
  t.end = position_;
  return t;
}

Token Lexer::Meta() {
  Token t{TokenKind::kMeta, position_};
  position_ += 5;
  size_t close = text_.find(']', position_);
  size_t line_end = text_.find('\n', position_);
  if (close == std::string_view::npos || close > line_end || At(close + 1) != '[' ||
      !IsDigit(At(close + 2))) {
    return Error(t.begin, "malformed metadata reference; it reads meta[type.key][0]");
  }
  t.text = std::string(text_.substr(position_, close - position_));
  position_ = close + 2;
  for (; IsDigit(At(position_)); ++position_) {
    if (t.index <= UINT32_MAX) t.index = t.index * 10 + static_cast<uint64_t>(At(position_) - '0');
  }
  if (At(position_) != ']' || t.index > UINT32_MAX) {
    return Error(t.begin, "malformed metadata reference; it reads meta[type.key][0]");
  }
  t.end = ++position_;
  return t;
}

std::optional<uint32_t> Lexer::ProjectionIndex() {
  if (!SkipBlank()) return std::nullopt;
  size_t end = position_;
  uint64_t index = 0;
  for (; IsDigit(At(end)) && index <= UINT32_MAX; ++end)
    index = index * 10 + static_cast<uint64_t>(At(end) - '0');
  if (end == position_ || index > UINT32_MAX || IsWordStart(At(end))) return std::nullopt;
  position_ = end;
  return static_cast<uint32_t>(index);
}

}  // namespace relayvm::frontend
