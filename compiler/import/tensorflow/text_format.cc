#include "compiler/import/tensorflow/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "bytecode/base/printable.h"
#include "compiler/import/container/protobuf_wire.h"
#include "compiler/import/tensorflow/graph_def.h"

namespace relayvm::import::tensorflow {

namespace {

constexpr int kMostDepth = 60;

enum class Msg : uint8_t {
  kNone,
  kGraph,
  kNode,
  kAttrEntry,
  kAttr,
  kAttrList,
  kFunctionRef,
  kTensor,
  kShape,
  kDim,
  kLibrary,
  kFunction,
  kOp,
  kArg,
  kTextEntry,
  kSavedModel,
  kMetaGraph,
  kMetaInfo,
  kSaver,
  kCollectionEntry,
  kCollection,
  kNames,
  kSignatureEntry,
  kSignature,
  kTensorInfoEntry,
  kTensorInfo,
  kAsset,
};

enum class Is : uint8_t { kNumber, kBool, kType, kFloat, kDouble, kText, kMessage };

struct FieldRow {
  Msg in;
  std::string_view name;
  uint32_t number;
  Is is;
  Msg message = Msg::kNone;
};
// The fields that graph_def.h reads, with their numbers.
constexpr FieldRow kFields[] = {
    {Msg::kGraph, "node", 1, Is::kMessage, Msg::kNode},
    {Msg::kGraph, "library", 2, Is::kMessage, Msg::kLibrary},
    {Msg::kNode, "name", 1, Is::kText},
    {Msg::kNode, "op", 2, Is::kText},
    {Msg::kNode, "input", 3, Is::kText},
    {Msg::kNode, "attr", 5, Is::kMessage, Msg::kAttrEntry},
    {Msg::kAttrEntry, "key", 1, Is::kText},
    {Msg::kAttrEntry, "value", 2, Is::kMessage, Msg::kAttr},
    {Msg::kAttr, "list", 1, Is::kMessage, Msg::kAttrList},
    {Msg::kAttr, "s", 2, Is::kText},
    {Msg::kAttr, "i", 3, Is::kNumber},
    {Msg::kAttr, "f", 4, Is::kFloat},
    {Msg::kAttr, "b", 5, Is::kBool},
    {Msg::kAttr, "type", 6, Is::kType},
    {Msg::kAttr, "shape", 7, Is::kMessage, Msg::kShape},
    {Msg::kAttr, "tensor", 8, Is::kMessage, Msg::kTensor},
    {Msg::kAttr, "placeholder", 9, Is::kText},
    {Msg::kAttr, "func", 10, Is::kMessage, Msg::kFunctionRef},
    {Msg::kAttrList, "s", 2, Is::kText},
    {Msg::kAttrList, "i", 3, Is::kNumber},
    {Msg::kAttrList, "f", 4, Is::kFloat},
    {Msg::kAttrList, "b", 5, Is::kBool},
    {Msg::kAttrList, "type", 6, Is::kType},
    {Msg::kAttrList, "shape", 7, Is::kMessage, Msg::kShape},
    {Msg::kAttrList, "tensor", 8, Is::kMessage, Msg::kTensor},
    {Msg::kAttrList, "func", 9, Is::kMessage, Msg::kFunctionRef},
    {Msg::kFunctionRef, "name", 1, Is::kText},
    {Msg::kFunctionRef, "attr", 2, Is::kMessage, Msg::kAttrEntry},
    {Msg::kTensor, "dtype", 1, Is::kType},
    {Msg::kTensor, "tensor_shape", 2, Is::kMessage, Msg::kShape},
    {Msg::kTensor, "tensor_content", 4, Is::kText},
    {Msg::kTensor, "float_val", 5, Is::kFloat},
    {Msg::kTensor, "double_val", 6, Is::kDouble},
    {Msg::kTensor, "int_val", 7, Is::kNumber},
    {Msg::kTensor, "string_val", 8, Is::kText},
    {Msg::kTensor, "scomplex_val", 9, Is::kFloat},
    {Msg::kTensor, "int64_val", 10, Is::kNumber},
    {Msg::kTensor, "bool_val", 11, Is::kBool},
    {Msg::kTensor, "dcomplex_val", 12, Is::kDouble},
    {Msg::kTensor, "half_val", 13, Is::kNumber},
    {Msg::kTensor, "uint32_val", 16, Is::kNumber},
    {Msg::kTensor, "uint64_val", 17, Is::kNumber},
    {Msg::kShape, "dim", 2, Is::kMessage, Msg::kDim},
    {Msg::kShape, "unknown_rank", 3, Is::kBool},
    {Msg::kDim, "size", 1, Is::kNumber},
    {Msg::kLibrary, "function", 1, Is::kMessage, Msg::kFunction},
    {Msg::kFunction, "signature", 1, Is::kMessage, Msg::kOp},
    {Msg::kFunction, "node_def", 3, Is::kMessage, Msg::kNode},
    {Msg::kFunction, "ret", 4, Is::kMessage, Msg::kTextEntry},
    {Msg::kFunction, "attr", 5, Is::kMessage, Msg::kAttrEntry},
    {Msg::kFunction, "control_ret", 6, Is::kMessage, Msg::kTextEntry},
    {Msg::kOp, "name", 1, Is::kText},
    {Msg::kOp, "input_arg", 2, Is::kMessage, Msg::kArg},
    {Msg::kOp, "output_arg", 3, Is::kMessage, Msg::kArg},
    {Msg::kArg, "name", 1, Is::kText},
    {Msg::kArg, "type", 3, Is::kType},
    {Msg::kArg, "type_attr", 4, Is::kText},
    {Msg::kArg, "number_attr", 5, Is::kText},
    {Msg::kArg, "type_list_attr", 6, Is::kText},
    {Msg::kTextEntry, "key", 1, Is::kText},
    {Msg::kTextEntry, "value", 2, Is::kText},
    {Msg::kSavedModel, "saved_model_schema_version", 1, Is::kNumber},
    {Msg::kSavedModel, "meta_graphs", 2, Is::kMessage, Msg::kMetaGraph},
    {Msg::kMetaGraph, "meta_info_def", 1, Is::kMessage, Msg::kMetaInfo},
    {Msg::kMetaGraph, "graph_def", 2, Is::kMessage, Msg::kGraph},
    {Msg::kMetaGraph, "saver_def", 3, Is::kMessage, Msg::kSaver},
    {Msg::kMetaGraph, "collection_def", 4, Is::kMessage, Msg::kCollectionEntry},
    {Msg::kMetaGraph, "signature_def", 5, Is::kMessage, Msg::kSignatureEntry},
    {Msg::kMetaGraph, "asset_file_def", 6, Is::kMessage, Msg::kAsset},
    {Msg::kMetaInfo, "tags", 4, Is::kText},
    {Msg::kSaver, "filename_tensor_name", 1, Is::kText},
    {Msg::kSaver, "restore_op_name", 3, Is::kText},
    {Msg::kCollectionEntry, "key", 1, Is::kText},
    {Msg::kCollectionEntry, "value", 2, Is::kMessage, Msg::kCollection},
    {Msg::kCollection, "node_list", 1, Is::kMessage, Msg::kNames},
    {Msg::kNames, "value", 1, Is::kText},
    {Msg::kSignatureEntry, "key", 1, Is::kText},
    {Msg::kSignatureEntry, "value", 2, Is::kMessage, Msg::kSignature},
    {Msg::kSignature, "inputs", 1, Is::kMessage, Msg::kTensorInfoEntry},
    {Msg::kSignature, "outputs", 2, Is::kMessage, Msg::kTensorInfoEntry},
    {Msg::kSignature, "method_name", 3, Is::kText},
    {Msg::kTensorInfoEntry, "key", 1, Is::kText},
    {Msg::kTensorInfoEntry, "value", 2, Is::kMessage, Msg::kTensorInfo},
    {Msg::kTensorInfo, "name", 1, Is::kText},
    {Msg::kTensorInfo, "dtype", 2, Is::kType},
    {Msg::kTensorInfo, "tensor_shape", 3, Is::kMessage, Msg::kShape},
    {Msg::kTensorInfo, "coo_sparse", 4, Is::kMessage, Msg::kNone},
    {Msg::kTensorInfo, "composite_tensor", 5, Is::kMessage, Msg::kNone},
    {Msg::kAsset, "tensor_info", 1, Is::kMessage, Msg::kTensorInfo},
    {Msg::kAsset, "filename", 2, Is::kText},
};

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
      const FieldRow* row = nullptr;
      for (const FieldRow& f : kFields) {
        if (f.in == message && f.name == name) row = &f;
      }
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
