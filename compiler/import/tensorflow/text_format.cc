#include "compiler/import/tensorflow/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "bytecode/base/printable.h"
#include "compiler/import/container/protobuf_wire.h"
#include "compiler/import/tensorflow/graph_def.h"
#include "compiler/import/tensorflow/schema.h"

namespace relayvm::import::tensorflow {

namespace {

constexpr int kMostDepth = 60;

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWord(char c) {
  return IsWordStart(c) || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::string> Whole(Msg message) {
    std::string out;
    RELAYVM_RETURN_IF_ERROR(Message(message, '\0', 0, &out));
    return out;
  }

 private:
  Status Wrong(std::string_view what) const {
    size_t line = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) line += text_[i] == '\n';
    return InvalidInput(fmt::format("line {}: {}", line, what));
  }

  // The next character that says something; '\0' at the end.
  char Peek() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return c;
      }
    }
    return '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  std::string_view Word() {
    Peek();
    const size_t begin = at_;
    while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Status Message(Msg message, char end, int depth, std::string* out) {
    if (depth > kMostDepth) return Wrong("messages nest too deeply");
    for (;;) {
      const char c = Peek();
      if (c == end) {
        if (c != '\0') ++at_;
        return OkStatus();
      }
      if (c == '\0') return Wrong(fmt::format("expected '{}', found the end of the file", end));
      std::string_view name;
      if (c == '[') {  // an extension
        const size_t close = text_.find(']', at_);
        if (close == std::string_view::npos) return Wrong("expected ']'");
        at_ = close + 1;
      } else {
        name = Word();
        if (name.empty()) return Wrong("expected the name of a field");
      }
      const FieldRow* row = FindField(message, name);
      Take(':');
      if (Take('[')) {
        while (!Take(']')) {
          RELAYVM_RETURN_IF_ERROR(Field(row, depth, out));
          Take(',');
        }
      } else {
        RELAYVM_RETURN_IF_ERROR(Field(row, depth, out));
      }
      if (!Take(',')) Take(';');
    }
  }

  // A value; `row` null: it is skipped.
  Status Field(const FieldRow* row, int depth, std::string* out) {
    const char c = Peek();
    if (c == '{' || c == '<') {
      ++at_;
      std::string inner;
      if (row != nullptr && row->is != Is::kMessage) return Wrong("expected no message");
      RELAYVM_RETURN_IF_ERROR(Message(row == nullptr ? Msg::kNone : row->message,
                                      c == '{' ? '}' : '>', depth + 1, &inner));
      if (row != nullptr) AppendBytes(row->number, inner, out);
      return OkStatus();
    }
    if (c == '"' || c == '\'') {
      std::string text;
      while (Peek() == '"' || Peek() == '\'') RELAYVM_RETURN_IF_ERROR(Quoted(&text));
      if (row != nullptr && row->is != Is::kText) return Wrong("expected no text");
      if (row != nullptr) AppendBytes(row->number, text, out);
      return OkStatus();
    }
    const std::string_view word = Word();
    if (word.empty()) return Wrong("expected a value");
    return row == nullptr ? OkStatus() : Scalar(*row, word, out);
  }

  Status Scalar(const FieldRow& row, std::string_view word, std::string* out) {
    const auto wrong = [&] { return Wrong(fmt::format("{}: '{}'", row.name, Printable(word))); };
    switch (row.is) {
      case Is::kBool:
        AppendNumber(row.number, word == "true" || word == "True" || word == "t" || word == "1",
                     out);
        return OkStatus();
      case Is::kType:
        if (const auto type = TypeNamed(word)) {
          AppendNumber(row.number, static_cast<uint64_t>(*type), out);
          return OkStatus();
        }
        [[fallthrough]];
      case Is::kNumber: {
        const bool is_negative = word.starts_with('-');
        std::string_view digits = word.substr(is_negative ? 1 : 0);
        int base = 10;
        if (digits.starts_with("0x")) {
          digits.remove_prefix(2);
          base = 16;
        }
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, base);
        if (error != std::errc() || end != digits.end()) return wrong();
        AppendNumber(row.number, is_negative ? 0 - value : value, out);
        return OkStatus();
      }
      case Is::kFloat:
      case Is::kDouble: {
        const std::string digits(word);
        char* end = nullptr;
        const double value = std::strtod(digits.c_str(), &end);
        if (end == digits.c_str() || (*end != '\0' && *end != 'f')) return wrong();
        if (row.is == Is::kFloat) {
          AppendFloat(row.number, std::strtof(digits.c_str(), nullptr), out);
        } else {
          AppendDouble(row.number, value, out);
        }
        return OkStatus();
      }
      default:
        return wrong();
    }
  }

  Status Quoted(std::string* out) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      if (c == '\n') return Wrong("a text without its end");
      if (c != '\\') {
        out->push_back(c);
        continue;
      }
      if (at_ >= text_.size()) break;
      c = text_[at_++];
      constexpr std::string_view kLetters = "abfnrtv", kMeant = "\a\b\f\n\r\t\v";
      if (const size_t letter = kLetters.find(c); letter != std::string_view::npos) {
        out->push_back(kMeant[letter]);
      } else if (c == 'x' || c == 'X') {
        out->push_back(static_cast<char>(Digits(16, 2)));
      } else if (IsDigit(c)) {
        --at_;
        out->push_back(static_cast<char>(Digits(8, 3)));
      } else {
        out->push_back(c);
      }
    }
    if (at_ >= text_.size()) return Wrong("a text without its end");
    ++at_;
    return OkStatus();
  }

  unsigned Digits(int base, size_t most) {
    unsigned value = 0;
    const size_t size = std::min(most, text_.size() - at_);
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + size, value, base);
    if (error == std::errc()) at_ += static_cast<size_t>(end - begin);
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<TextMessage> TextMessageOf(std::string_view text) {
  // A field's name, then what opens it. Binary has its first tag there.
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (text[at] != ' ' && text[at] != '\n' && text[at] != '\t' && text[at] != '\r') {
      break;
    } else {
      ++at;
    }
  }
  const size_t begin = at;
  while (at < text.size() && IsWord(text[at])) ++at;
  const std::string_view word = text.substr(begin, at - begin);
  while (at < text.size() && (text[at] == ' ' || text[at] == ':')) ++at;
  if (word == "saved_model_schema_version" || word == "meta_graphs")
    return TextMessage::kSavedModel;
  const bool opens = at < text.size() && (text[at] == '{' || text[at] == '<');
  for (const std::string_view name : {"node", "library", "versions"}) {
    if (word == name && opens) return TextMessage::kGraph;
  }
  return std::nullopt;
}

Result<std::string> BinaryOf(std::string_view text, TextMessage message) {
  return Parser(text).Whole(message == TextMessage::kSavedModel ? Msg::kSavedModel : Msg::kGraph);
}

}  // namespace relayvm::import::tensorflow
