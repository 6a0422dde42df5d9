#include "compiler/frontend/token_places.h"

#include <algorithm>

namespace relayvm::frontend {
namespace {

// Goes through a text token by token.
class Scanner {
 public:
  Scanner(std::string_view text, size_t start) : text_(text), at_(start) {}

  bool more() const { return at_ < text_.size(); }
  size_t position() const { return at_; }

  // Goes over a token or a blank. Whether it was a token, and where it is.
  bool Next(WrittenPlace* place) {
    const char c = Peek();
    if (IsBlank(c)) {
      Step();
      return false;
    }
    if (c == '"') return String(place);
    if (c == '-') return Minus(place);
    if (IsDigit(c) || Match("inff")) return Number(place);
    if (c == '/') return Slash(place);
    if (Match("meta[")) return Meta(place);
    const uint32_t line = line_, column = column_;
    if (c == '#') {
      SkipTo(']');
    } else if (c == '%') {
      Step();
      if (!IsDigit(Peek())) return At(line, column, place);
      while (IsDigit(Peek())) Step();
    } else if (IsLetter(c)) {
      while (IsLetter(Peek()) || IsDigit(Peek())) Step();
    } else if (static_cast<unsigned char>(c) >= 0x80) {  // a name in UTF-8
      while (more() && !IsBlank(Peek())) Step();
    } else {
      Step();
      return At(line, column, place);
    }
    *place = {line, line_, column, column_};
    return true;
  }
  bool IsAtName() const { return IsLetter(Peek()) && Peek() != '/'; }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
  }
  static bool IsOfNumber(char c) {
    return IsDigit(c) || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+';
  }
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  char Peek() const { return more() ? text_[at_] : '\0'; }
  void Step() {
    if (!more()) return;
    ++column_;
    if (text_[at_++] != '\n') return;
    ++line_;
    column_ = 1;
  }
  static bool At(uint32_t line, uint32_t column, WrittenPlace* place) {
    *place = {line, line, column, column + 1};
    return true;
  }
  // What does not match is read again, but columns go on.
  bool Match(std::string_view word) {
    const size_t start = at_;
    for (const char c : word) {
      if (Peek() != c) {
        at_ = start;
        return false;
      }
      Step();
    }
    return true;
  }
  void SkipTo(char last) {
    while (more() && Peek() != last) Step();
    Step();
  }
  bool String(WrittenPlace* place) {
    Step();
    while (more() && Peek() != '"') {
      if (Peek() == '\\') Step();
      Step();
    }
    Step();
    return At(line_, column_, place);
  }
  bool Number(WrittenPlace* place) {
    while (IsOfNumber(Peek())) Step();
    if (Peek() == 'f' || Peek() == 'i' || Peek() == 'u') {
      Step();
      while (IsOfNumber(Peek())) Step();
    }
    return At(line_, column_, place);
  }
  bool Minus(WrittenPlace* place) {
    size_t count = 0;
    for (; Peek() == '-'; ++count) Step();
    if (IsDigit(Peek()) || Match("inff")) return Number(place);
    at_ -= count - 1;
    return At(line_, column_, place);
  }
  bool Meta(WrittenPlace* place) {
    const uint32_t line = line_, column = column_;
    SkipTo(']');
    SkipTo(']');
    *place = {line, line_, column, column_};
    return true;
  }
  bool Slash(WrittenPlace* place) {
    Step();
    if (Peek() == '/') {
      while (more() && Peek() != '\n') Step();
      return false;
    }
    if (Peek() != '*') return At(line_, column_, place);
    Step();
    for (int depth = 1; more() && depth > 0;) {
      const char c = Peek();
      Step();
      if ((c != '/' || Peek() != '*') && (c != '*' || Peek() != '/')) continue;
      depth += c == '/' ? 1 : -1;
      Step();
    }
    return false;
  }

  std::string_view text_;
  size_t at_;
  uint32_t line_ = 1, column_ = 1;
};

}  // namespace

WrittenPlace Merge(const WrittenPlace& a, const WrittenPlace& b) {
  if (a.line == 0) return b;
  if (b.line == 0) return a;
  return {std::min(a.line, b.line), std::max(a.end_line, b.end_line), std::min(a.column, b.column),
          std::max(a.end_column, b.end_column)};
}

TokenPlaces::TokenPlaces(std::string_view text, size_t skipped) {
  Scanner scanner(text, skipped);
  while (scanner.more()) {
    const size_t begin = scanner.position();
    WrittenPlace place;
    if (!scanner.Next(&place)) continue;
    places_.push_back({begin, place});
    const char sigil = text[begin];
    WrittenPlace name;
    if ((sigil == '%' || sigil == '@') && scanner.more() && scanner.IsAtName()) scanner.Next(&name);
  }
}

WrittenPlace TokenPlaces::Of(size_t begin, size_t end) const {
  const auto is_before = [](const Place& p, size_t position) { return p.begin < position; };
  const auto first = std::lower_bound(places_.begin(), places_.end(), begin, is_before);
  const auto last = std::lower_bound(first, places_.end(), end, is_before);
  if (first == last) return {};
  return Merge(first->place, (last - 1)->place);
}

}  // namespace relayvm::frontend
