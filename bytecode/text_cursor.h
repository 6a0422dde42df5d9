// TextCursor: the assembler's reader of one line of text. Not thread-safe.
// Tested by assembler_test.cc.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relayvm {

// Reads tokens from one line. The first error stays; after it, everything gives nothing.
class TextCursor {
 public:
  explicit TextCursor(std::string_view line) : rest_(line) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  // "expected WHAT, found REST".
  void FailExpected(std::string_view what) {
    constexpr size_t kShown = 40;
    Fail(AtEnd() ? fmt::format("expected {}, found the end of the line", what)
                 : fmt::format("expected {}, found '{}'", what, rest_.substr(0, kShown)));
  }

  // At the end of the line, or at a comment.
  bool AtEnd() {
    SkipSpace();
    return rest_.empty() || rest_[0] == ';';
  }
  bool Peek(char c) {
    SkipSpace();
    return ok() && !rest_.empty() && rest_[0] == c;
  }
  bool Eat(char c) {
    if (!Peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Eat(c)) FailExpected(fmt::format("'{}'", c));
  }
  void ExpectWord(std::string_view word) {
    if (std::string_view found = Word(); found != word)
      Fail(fmt::format("expected '{}', found '{}'", word, found));
  }
  bool EatWord(std::string_view word) {
    std::string_view before = rest_;
    if (Word() == word) return true;
    rest_ = before;
    return false;
  }

  // Letters, digits, '_' and '.'; may be empty.
  std::string_view Word() {
    SkipSpace();
    size_t size = 0;
    while (size < rest_.size() && IsWordChar(rest_[size])) ++size;
    std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return ok() ? word : std::string_view();
  }

  template <typename T>
  T Number() {
    SkipSpace();
    std::string_view digits = rest_;
    int base = 10;
    if (digits.starts_with("0x")) {
      digits.remove_prefix(2);
      base = 16;
    }
    T value{};
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error == std::errc::result_out_of_range) {
      FailExpected("a number in range");
    } else if (error != std::errc()) {
      FailExpected("a number");
    }
    if (!ok()) return T{};
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  // "i7" with prefix "i".
  uint32_t Index(std::string_view prefix) {
    SkipSpace();
    if (!rest_.starts_with(prefix)) FailExpected(fmt::format("{}N", prefix));
    if (!ok()) return 0;
    rest_.remove_prefix(prefix.size());
    return Number<uint32_t>();
  }

  std::string String() {
    Expect('"');
    std::string out;
    while (ok()) {
      if (rest_.empty()) {
        Fail("string without end");
        break;
      }
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '"') break;
      out += c == '\\' ? Escape() : c;
    }
    return out;
  }

  // Hexadecimal digits, two a byte, to the end of the word.
  void HexBytes(std::vector<uint8_t>* out) {
    std::string_view digits = Word();
    if (digits.size() % 2 != 0) return Fail("odd number of hexadecimal digits");
    for (size_t i = 0; i < digits.size(); i += 2) {
      uint8_t byte = 0;
      auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
      if (error != std::errc() || end != digits.data() + i + 2) {
        return Fail(fmt::format("'{}' is not hexadecimal", digits.substr(i, 2)));
      }
      out->push_back(byte);
    }
  }

 private:
  static bool IsWordChar(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  }
  void SkipSpace() {
    size_t first = rest_.find_first_not_of(" \t\r");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }
  char Escape() {
    char c = rest_.empty() ? '\0' : rest_[0];
    if (!rest_.empty()) rest_.remove_prefix(1);
    switch (c) {
      case 'n':
        return '\n';
      case '"':
      case '\\':
        return c;
      case 'x': {
        uint8_t byte = 0;
        const std::string_view digits = rest_.substr(0, 2);
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (error == std::errc() && digits.size() == 2 && end == digits.data() + digits.size()) {
          rest_.remove_prefix(2);
          return static_cast<char>(byte);
        }
        break;
      }
      default:
        break;
    }
    Fail("unknown escape in a string");
    return 0;
  }

  std::string_view rest_;
  std::string error_;
};

}  // namespace relayvm
