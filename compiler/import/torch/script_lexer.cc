#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "compiler/import/torch/script_syntax.h"

namespace relayvm::import::torch {

namespace {

constexpr size_t kMostSource = size_t{1} << 28;

bool IsNameStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

class ScriptLexer {
 public:
  ScriptLexer(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  Result<std::vector<Token>> Run() {
    if (text_.size() > kMostSource) return Error(0, "the code is too long");
    while (at_ < text_.size()) {
      if (line_start_ && depth_ == 0) {
        RELAYVM_RETURN_IF_ERROR(Indentation());
        if (at_ >= text_.size()) break;
      }
      RELAYVM_RETURN_IF_ERROR(Next());
    }
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::kNewline)
      Push(Token::Kind::kNewline, at_);
    while (indents_.size() > 1) {
      indents_.pop_back();
      Push(Token::Kind::kDedent, at_);
    }
    Push(Token::Kind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  Status Error(size_t offset, std::string_view what) const {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: line {}: {}", path_, LineOf(text_, offset), what)};
  }

  Token& Push(Token::Kind kind, size_t offset, std::string_view text = {}) {
    Token token;
    token.kind = kind;
    token.offset = static_cast<uint32_t>(offset);
    token.text = text;
    tokens_.push_back(std::move(token));
    return tokens_.back();
  }

  // Of a line that is not blank: what it changes of the nesting.
  Status Indentation() {
    size_t column = 0;
    while (at_ < text_.size() && text_[at_] == ' ') ++at_, ++column;
    if (at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      if (at_ < text_.size()) ++at_;
      return OkStatus();
    }
    line_start_ = false;
    if (column > indents_.back()) {
      if (indents_.size() > kMostNested) return Error(at_, "blocks are nested too deep");
      indents_.push_back(column);
      Push(Token::Kind::kIndent, at_);
    }
    while (column < indents_.back()) {
      indents_.pop_back();
      Push(Token::Kind::kDedent, at_);
    }
    if (column != indents_.back()) return Error(at_, "the indentation fits no block");
    return OkStatus();
  }

  Status Next() {
    const char c = text_[at_];
    if (c == '\n') {
      if (depth_ == 0 && !line_start_) {
        Push(Token::Kind::kNewline, at_);
        line_start_ = true;
      }
      ++at_;
      return OkStatus();
    }
    if (line_start_ && depth_ == 0) return OkStatus();  // a blank line went by
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
      return OkStatus();
    }
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return OkStatus();
    }
    if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      at_ += 2;
      return OkStatus();
    }
    if (IsNameStart(c)) {
      const size_t from = at_;
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
      Push(Token::Kind::kName, from, text_.substr(from, at_ - from));
      return OkStatus();
    }
    const bool point = c == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]);
    if (IsDigit(c) || point) return Number();
    if (c == '"' || c == '\'') return String();
    return Symbol();
  }

  Status Number() {
    const size_t from = at_;
    double real = 0;
    bool is_float = false;
    RELAYVM_RETURN_IF_ERROR(Real(&real, &is_float));
    const size_t end = at_;
    if (at_ < text_.size() && text_[at_] == 'j') {
      ++at_;
      Token& t = Push(Token::Kind::kComplex, from);
      t.imaginary = real;
      return OkStatus();
    }
    // 1.+2.j, as PyTorch writes complex numbers: there are no operators.
    if (at_ + 1 < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
      const bool minus = text_[at_] == '-';
      const size_t back = at_++;
      double imaginary = 0;
      bool ignored = false;
      if ((IsDigit(text_[at_]) || text_[at_] == '.') && Real(&imaginary, &ignored).ok() &&
          at_ < text_.size() && text_[at_] == 'j') {
        ++at_;
        Token& t = Push(Token::Kind::kComplex, from);
        t.real = real;
        t.imaginary = minus ? -imaginary : imaginary;
        return OkStatus();
      }
      at_ = back;
    }
    if (is_float) {
      Push(Token::Kind::kFloat, from).real = real;
      return OkStatus();
    }
    Token& t = Push(Token::Kind::kInt, from, text_.substr(from, end - from));
    uint64_t number = 0;
    const auto [stop, failed] = std::from_chars(text_.data() + from, text_.data() + end, number);
    constexpr uint64_t kMost = uint64_t{1} << 63;  // of -9223372036854775808
    if (failed != std::errc() || stop != text_.data() + end || number > kMost)
      return Error(from, "an integer of more than 64 bits");
    t.integer = static_cast<int64_t>(number);
    return OkStatus();
  }

  // Digits, a point, an exponent.
  Status Real(double* value, bool* is_float) {
    const size_t from = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '.') {
      *is_float = true;
      ++at_;
      while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      size_t exponent = at_ + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && IsDigit(text_[exponent])) {
        *is_float = true;
        at_ = exponent;
        while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
      }
    }
    const auto [stop, failed] = std::from_chars(text_.data() + from, text_.data() + at_, *value);
    if (failed == std::errc::result_out_of_range) {
      // Too small is 0, too large is infinite; from_chars does not say which.
      const std::string_view digits = text_.substr(from, at_ - from);
      *value =
          digits.find("e-") == std::string_view::npos ? std::numeric_limits<double>::infinity() : 0;
      return OkStatus();
    }
    if (failed != std::errc() || stop != text_.data() + at_)
      return Error(from, "a number is cut short");
    return OkStatus();
  }

  Status String() {
    const size_t from = at_;
    const char quote = text_[at_++];
    std::string content;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\n') return Error(from, "a string does not end on its line");
      if (text_[at_] != '\\') {
        content += text_[at_++];
        continue;
      }
      if (++at_ >= text_.size()) break;
      RELAYVM_RETURN_IF_ERROR(Escape(from, &content));
    }
    if (at_ >= text_.size()) return Error(from, "a string does not end");
    ++at_;
    Push(Token::Kind::kString, from).text = std::move(content);
    return OkStatus();
  }

  Status Escape(size_t from, std::string* content) {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"0";
    static constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\'\"";
    const char c = text_[at_];
    if (c >= '0' && c <= '7') {
      int code = 0;
      for (int digits = 0;
           digits < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++digits)
        code = code * 8 + (text_[at_++] - '0');
      *content += static_cast<char>(code);
      return OkStatus();
    }
    ++at_;
    if (c == 'x') {
      unsigned code = 0;
      const char* const start = text_.data() + at_;
      const size_t width = std::min<size_t>(2, text_.size() - at_);
      const auto [stop, failed] = std::from_chars(start, start + width, code, 16);
      if (failed != std::errc()) return Error(from, "\\x without hexadecimal digits");
      at_ += static_cast<size_t>(stop - start);
      *content += static_cast<char>(code);
      return OkStatus();
    }
    const size_t known = kLetters.find(c);
    if (known == std::string_view::npos) {
      *content += '\\';
      *content += c;
      return OkStatus();
    }
    *content += kMeant[known];
    return OkStatus();
  }

  Status Symbol() {
    const char c = text_[at_];
    if (text_.substr(at_, 3) == "..." || text_.substr(at_, 2) == "->") {
      const size_t length = c == '.' ? 3 : 2;
      Push(Token::Kind::kSymbol, at_, text_.substr(at_, length));
      at_ += length;
      return OkStatus();
    }
    static constexpr std::string_view kSymbols = "()[]{}:,.=-";
    if (kSymbols.find(c) == std::string_view::npos)
      return Error(at_, fmt::format("'{}' is not of the language",
                                    std::isprint(static_cast<unsigned char>(c))
                                        ? std::string(1, c)
                                        : fmt::format("\\x{:02x}", static_cast<unsigned char>(c))));
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    Push(Token::Kind::kSymbol, at_, text_.substr(at_, 1));
    ++at_;
    return OkStatus();
  }

  static constexpr size_t kMostNested = 200;

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
  int depth_ = 0;  // brackets that are open
  std::vector<size_t> indents_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

size_t LineOf(std::string_view text, size_t offset) {
  return 1 + static_cast<size_t>(std::count(
                 text.begin(), text.begin() + static_cast<ptrdiff_t>(std::min(offset, text.size())),
                 '\n'));
}

Result<std::vector<Token>> Tokenise(const std::string& path, std::string_view text) {
  return ScriptLexer(path, text).Run();
}

}  // namespace relayvm::import::torch
