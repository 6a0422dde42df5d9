// Numbers and attributes: key=value lists of operators and functions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "compiler/frontend/parser_impl.h"
#include "kernels/op/op.h"
#include "kernels/te/scalar.h"

namespace relayvm::frontend {
namespace {

// The number in decimal, rounded once. nullopt when it is too large for T.
template <typename T>
std::optional<T> ParseDecimal(std::string_view digits) {
  if (digits == "inf") return std::numeric_limits<T>::infinity();
  if (digits == "nan") return std::numeric_limits<T>::quiet_NaN();
  T value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  static_cast<void>(end);
  if (error == std::errc()) return value;
  // Out of range: too small is zero.
  size_t exponent = digits.find_first_of("eE");
  bool tiny = exponent != std::string_view::npos ? digits.substr(exponent + 1, 1) == "-"
                                                 : digits.substr(0, 2) == "0.";
  if (tiny) return T{0};
  return std::nullopt;
}

// The value as 64 bits, if `dtype` can hold it.
std::optional<int64_t> ParseInteger(std::string_view digits, bool negative, DType dtype) {
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  static_cast<void>(end);
  if (error != std::errc()) return std::nullopt;
  const int bits = DTypeBits(dtype);
  if (IsUnsignedInt(dtype)) {
    if ((negative && magnitude != 0) || (bits < 64 && magnitude >> bits != 0)) return std::nullopt;
    return static_cast<int64_t>(magnitude);
  }
  const uint64_t limit = uint64_t{1} << (bits - 1);
  if (magnitude > (negative ? limit : limit - 1)) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

}  // namespace

NodeId Parser::ParseNumber() {
  const size_t begin = Peek().begin;
  bool negative = false;
  while (Accept("-")) negative = !negative;
  const Token t = Peek();
  if (t.kind != TokenKind::kInteger && t.kind != TokenKind::kFloat) {
    FailExpected("a number after '-'");
    return kNoNode;
  }
  Take();
  const ir::Span span = SpanOf(begin, t.end);
  std::optional<HostTensor> value;
  if (t.kind == TokenKind::kInteger) {
    DType dtype = t.dtype.value_or(DType::kInt32);
    auto number = ParseInteger(t.number, negative, dtype);
    if (!number && !t.dtype) {
      dtype = DType::kInt64;
      number = ParseInteger(t.number, negative, dtype);
    }
    if (number) value = ir::IntScalar(dtype, *number);
  } else if (DType dtype = t.dtype.value_or(DType::kFloat32); dtype == DType::kFloat32) {
    if (auto number = ParseDecimal<float>(t.number))
      value = ir::FloatScalar(dtype, negative ? -*number : *number);
  } else if (auto number = ParseDecimal<double>(t.number)) {
    if (!std::isinf(te::RoundToDType(*number, dtype)) || std::isinf(*number))
      value = ir::FloatScalar(dtype, negative ? -*number : *number);
  }
  if (!value) {
    Fail(StatusCode::kInvalidInput, span,
         fmt::format("number {} is out of range", text_.substr(begin, t.end - begin)));
    return kNoNode;
  }
  return graph_.Use(ir::MakeConstant(module_, *std::move(value)), span);
}

// --- Attributes ---

// True at `name =` and `dotted.name =`.
bool Parser::StartsAttr() {
  if (Peek().kind != TokenKind::kIdentifier) return false;
  Lexer ahead = lexer_;
  Token next = ahead.Next();
  while (next.Is(".")) {
    if (ahead.Next().kind != TokenKind::kIdentifier) return false;
    next = ahead.Next();
  }
  return next.Is("=") || (in_rules_ && IsComparison(next));
}

// Reads attributes as long as there are some, with or without commas between them.
bool Parser::ParseAttrList(std::vector<ParsedAttr>* attrs) {
  std::unordered_set<std::string> names;
  for (const ParsedAttr& before : *attrs) names.insert(before.name);
  do {
    const Token first = Take();
    ParsedAttr attr{first.text};
    size_t end = first.end;
    while (Accept(".")) {
      const Token part = Take();
      attr.name += "." + part.text;
      end = part.end;
    }
    attr.span = SpanOf(first.begin, end);
    if (!names.insert(attr.name).second) {
      Fail(StatusCode::kInvalidInput, attr.span,
           fmt::format("attribute {} is given twice", attr.name));
      return false;
    }
    if (in_rules_ && IsComparison(Peek())) {
      attr.comparison = Take().text;
    } else if (!Expect("=", "after an attribute's name")) {
      return false;
    }
    if (!(in_rules_ ? ParseRuleAttr(&attr) : ParseAttrValue(&attr))) return false;
    attrs->push_back(std::move(attr));
    if (PeekIs(",")) {  // between attributes, or before a parameter
      const Token comma = Take();
      if (!StartsAttr() && !PeekIs(")") && !PeekIs("}")) MoveTo(comma.begin);
    }
  } while (StartsAttr());
  return true;
}

bool Parser::ParseAttrValue(ParsedAttr* attr) {
  Nesting nesting(this, kMaxTypeNesting);
  if (!nesting.ok()) return false;
  const Token t = Peek();
  if (t.kind == TokenKind::kInteger || t.kind == TokenKind::kFloat || t.Is("-"))
    return ParseAttrNumber(attr);
  if (t.kind == TokenKind::kString) {
    Take();
    attr->value = AttrValue(t.text);
    return true;
  }
  if (t.kind == TokenKind::kMeta) return ParseAttrMeta(attr);
  if (Accept("?")) {
    attr->value = AttrValue(Dim::Any());
    return true;
  }
  if (AcceptWord("None") || AcceptWord("nullptr")) {
    attr->value = AttrValue();
    return true;
  }
  if (t.IsWord("True") || t.IsWord("False")) {
    Take();
    attr->value = AttrValue(t.text == "True");
    return true;
  }
  if (Accept("(")) return ParseAttrValue(attr) && Expect(")", "after an attribute's value");
  if (Accept("[")) {
    AttrList list;
    while (!Accept("]")) {
      ParsedAttr element{attr->name};
      if (!ParseAttrValue(&element)) return false;
      attr->is_expression = attr->is_expression || element.is_expression;
      list.push_back(std::move(element.value));
      const bool comma = Accept(",");  // TVM needs the first one only
      if (!comma && list.size() == 1 && !PeekIs("]")) {
        FailExpected("',' or ']' in a list");
        return false;
      }
    }
    attr->value = AttrValue(std::move(list));
    return true;
  }
  attr->is_expression = true;
  return ParsePostfix() != kNoNode;
}

bool Parser::ParseAttrNumber(ParsedAttr* attr) {
  bool negative = false;
  while (Accept("-")) negative = !negative;
  const Token t = Peek();
  if (t.kind == TokenKind::kInteger) {
    Take();
    auto value = ParseInteger(t.number, negative, DType::kInt64);
    if (!value) {
      Fail(t, "number is out of range");
      return false;
    }
    attr->value = AttrValue(*value);
    return true;
  }
  if (t.kind != TokenKind::kFloat) {
    FailExpected("a number after '-'");
    return false;
  }
  Take();
  auto value = ParseDecimal<double>(t.number);
  if (!value) {
    Fail(t, "number is out of range");
    return false;
  }
  attr->value = AttrValue(negative ? -*value : *value);
  return true;
}

bool Parser::ParseAttrMeta(ParsedAttr* attr) {
  const Token t = Take();
  auto node = metadata_.Find(t.text, t.index);
  if (!node.ok()) {
    Fail(t, node.status().message());
    return false;
  }
  const bool is_value = t.text == "IntImm" || t.text == "FloatImm" || t.text == "Array" ||
                        t.text == "runtime.String" || t.text.substr(0, 4) == "tir.";
  if (!is_value) {  // an expression, a device, a target ...
    attr->is_expression = true;
    if (t.text == "relay.Constant") {
      auto constant = MetaConstant(t);
      if (!constant.ok()) {
        Fail(t, constant.status().message());
        return false;
      }
      attr->constant = *constant;
    }
    return true;
  }
  auto value = metadata_.Value(*node, *module_.ids);
  if (!value.ok()) {
    Fail(t, value.status().message());
    return false;
  }
  attr->value = *std::move(value);
  return true;
}

bool Parser::CompleteOpAttrs(const OpDef& op, const std::vector<ParsedAttr>& written,
                             const Token* meta, ir::Span span, Attrs* attrs) {
  Attrs given;
  if (meta != nullptr) {
    auto node = metadata_.Find(meta->text, meta->index);
    auto values =
        node.ok() ? metadata_.AttrsValue(*node, op, *module_.ids) : Result<Attrs>(node.status());
    if (!values.ok()) {
      Fail(*meta, fmt::format("{}: {}", op.name, values.status().message()));
      return false;
    }
    given = *std::move(values);
  }
  for (const ParsedAttr& a : written) {
    if (a.name == "attrs_type_key") continue;  // tells TVM the class of the attributes
    if (a.is_expression) {
      auto field = std::find_if(op.attrs.begin(), op.attrs.end(),
                                [&](const AttrField& f) { return f.name == a.name; });
      if (field == op.attrs.end() || field->kind == AttrKind::kAny)
        continue;  // an argument once more (arange)
      Fail(StatusCode::kInvalidInput, a.span,
           fmt::format("{}: attribute {} needs a value, not an expression", op.name, a.name));
      return false;
    }
    if ((!a.comparison.empty() || a.formula) &&
        std::ranges::find(op.attrs, a.name, &AttrField::name) == op.attrs.end()) {
      Fail(StatusCode::kInvalidInput, a.span,
           fmt::format("{}: there is no attribute {}", op.name, a.name));
      return false;
    }
    if (a.formula) continue;
    if (a.comparison.empty() || a.comparison == "==") given.Set(a.name, a.value);
  }
  // A pattern may leave any free.
  auto complete = CompleteAttrs(op, given, /*may_miss=*/in_rules_);
  if (!complete.ok()) {
    const ir::Span place = written.empty() ? span : written[0].span;
    Fail(complete.status().code(), place, complete.status().message());
    return false;
  }
  *attrs = *std::move(complete);
  if (in_rules_) NoteWritten(written, attrs);
  return true;
}

}  // namespace relayvm::frontend
