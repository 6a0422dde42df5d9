// Types: Tensor[(1, ?), float32], int32, (A, B), fn [A](A) -> B, ref(T), List[A], _.
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <unordered_set>

#include "bytecode/verifier.h"
#include "compiler/frontend/parser_impl.h"

namespace relayvm::frontend {
namespace {

bool StartsLikeDType(std::string_view word) {
  for (std::string_view prefix : {"int", "uint", "float", "bfloat", "bool"}) {
    if (word.substr(0, prefix.size()) == prefix && word.size() > prefix.size() &&
        word[prefix.size()] >= '0' && word[prefix.size()] <= '9') {
      return true;
    }
  }
  return word == "handle" || word == "e4m3_float8" || word == "e5m2_float8";
}

// The dtype of a name; without bits, as in TVM, it has 32.
std::optional<DType> DTypeOf(std::string_view word) {
  if (word == "int") return DType::kInt32;
  if (word == "uint") return DType::kUInt32;
  if (word == "float") return DType::kFloat32;
  return ParseDType(word);
}

}  // namespace

bool Parser::NamesType(std::string_view word) const {
  return word == "Tensor" || word == "fn" || word == "ref" || word == "_" ||
         DTypeOf(word).has_value() || StartsLikeDType(word) || type_params_.Find(word) != nullptr ||
         module_.types.contains(std::string(word));
}

bool Parser::ParseType(ir::Type* type) {
  Nesting nesting(this, kMaxTypeNesting);
  if (!nesting.ok()) return false;
  if (PeekIs("(")) {
    Take();
    ir::TupleType tuple;
    if (!ParseTypeList(")", &tuple.fields)) return false;
    *type = ir::MakeType(std::move(tuple));
    return true;
  }
  const Token t = Peek();
  if (t.kind == TokenKind::kMeta) {
    Take();
    auto node = metadata_.Find(t.text, t.index);
    auto value =
        node.ok() ? metadata_.TypeValue(*node, *module_.ids) : Result<ir::Type>(node.status());
    if (!value.ok()) {
      Fail(value.status().code(), SpanOf(t), value.status().message());
      return false;
    }
    *type = *value;
    return true;
  }
  if (t.kind != TokenKind::kIdentifier) {
    FailExpected("a type");
    return false;
  }
  Take();
  if (t.text == "fn") return ParseFunctionType(type);
  if (t.text == "Tensor" && PeekIs("[")) return ParseTensorType(type);
  if (t.text == "_") {
    *type = ir::MakeType(ir::InferVar{module_.ids->Next()});
    return true;
  }
  if (t.text == "ref") {
    ir::Type value;
    if (!Expect("(", "after ref") || !ParseType(&value) || !Expect(")", "to close ref"))
      return false;
    *type = ir::MakeType(ir::RefType{std::move(value)});
    return true;
  }
  return ParseNamedType(t, type);
}

bool Parser::ParseNamedType(const Token& name, ir::Type* type) {
  if (const ir::Type* param = type_params_.Find(name.text)) {
    *type = *param;
    return true;
  }
  auto it = module_.types.find(name.text);
  const auto dtype = DTypeOf(name.text);
  if (dtype && it == module_.types.end()) {
    *type = ir::MakeScalarType(*dtype);
    return true;
  }
  if (is_expression_ && it == module_.types.end()) {
    ir::AdtType elsewhere{name.text, {}};
    if (Accept("[") && !ParseTypeList("]", &elsewhere.args)) return false;
    *type = ir::MakeType(std::move(elsewhere));
    return true;
  }
  if (it == module_.types.end()) {
    if (StartsLikeDType(name.text)) {
      Fail(StatusCode::kUnsupported, SpanOf(name),
           fmt::format("unsupported dtype \"{}\"", name.text));
      return false;
    }
    Suggestion suggestion(name.text);
    for (const auto& [known, def] : module_.types) suggestion.Consider(known);
    for (int i = 0; i < kNumDTypes; ++i) suggestion.Consider(DTypeName(static_cast<DType>(i)));
    type_params_.ForEachName([&](const std::string& n) { suggestion.Consider(n); });
    Fail(name, fmt::format("unknown type {}{}", name.text, suggestion.Text("")));
    return false;
  }
  ir::AdtType adt{name.text, {}};
  if (Accept("[") && !ParseTypeList("]", &adt.args)) return false;
  const size_t wanted = it->second.params.size();
  if (adt.args.size() != wanted) {
    Fail(name, fmt::format("type {} takes {} type argument{}, {} given", name.text, wanted,
                           wanted == 1 ? "" : "s", adt.args.size()));
    return false;
  }
  *type = ir::MakeType(std::move(adt));
  return true;
}

// Reads up to `close` and over it.
bool Parser::ParseTypeList(std::string_view close, std::vector<ir::Type>* types) {
  while (!Accept(close)) {
    ir::Type type;
    if (!ParseType(&type)) return false;
    types->push_back(std::move(type));
    if (!Accept(",") && !PeekIs(close)) {
      FailExpected(fmt::format("',' or '{}' in a list of types", close));
      return false;
    }
  }
  return true;
}

bool Parser::ParseTensorType(ir::Type* type) {
  const Token open = Take();  // [
  TensorType tensor;
  if (!Expect("(", "before a tensor's shape")) return false;
  while (!Accept(")")) {
    Dim dim;
    if (!ParseDim(&dim)) return false;
    tensor.shape.push_back(std::move(dim));
    if (tensor.shape.size() > kMaxTensorRank) {
      Fail(StatusCode::kUnsupported, SpanOf(open),
           fmt::format("a tensor has at most {} dimensions", kMaxTensorRank));
      return false;
    }
    if (!Accept(",") && !PeekIs(")")) {
      FailExpected("',' or ')' in a shape");
      return false;
    }
  }
  if (!Expect(",", "between a tensor's shape and dtype")) return false;
  const Token name = Peek();
  if (name.kind != TokenKind::kIdentifier) {
    FailExpected("a dtype");
    return false;
  }
  auto dtype = DTypeOf(name.text);
  if (!dtype) {
    const bool known = StartsLikeDType(name.text);
    Suggestion suggestion(name.text);
    for (int i = 0; i < kNumDTypes; ++i) suggestion.Consider(DTypeName(static_cast<DType>(i)));
    Fail(known ? StatusCode::kUnsupported : StatusCode::kInvalidInput, SpanOf(name),
         fmt::format("{} dtype \"{}\"{}", known ? "unsupported" : "unknown", name.text,
                     suggestion.Text("")));
    return false;
  }
  Take();
  if (!Expect("]", "to close Tensor")) return false;
  tensor.dtype = *dtype;
  *type = ir::MakeType(std::move(tensor));
  return true;
}

bool Parser::ParseDim(Dim* dim) {
  if (Accept("?")) {
    *dim = Dim::Any();
    return true;
  }
  const Token t = Peek();
  if (t.kind == TokenKind::kInteger) {
    Take();
    int64_t value = 0;
    auto [end, error] = std::from_chars(t.number.data(), t.number.data() + t.number.size(), value);
    if (error != std::errc()) {
      Fail(t, "dimension is too large");
      return false;
    }
    *dim = Dim(value);
    return true;
  }
  if (t.kind != TokenKind::kMeta) {
    FailExpected("a dimension (an integer, '?' or a metadata reference)");
    return false;
  }
  Take();
  auto node = metadata_.Find(t.text, t.index);
  auto value = node.ok() ? metadata_.DimValue(*node, *module_.ids) : Result<Dim>(node.status());
  if (!value.ok()) {
    Fail(value.status().code(), SpanOf(t), value.status().message());
    return false;
  }
  *dim = *value;
  return true;
}

bool Parser::ParseFunctionType(ir::Type* type) {
  ir::FunctionType function;
  const size_t mark = type_params_.Mark();
  bool ok = ParseTypeParams(&function.type_params) && Expect("(", "in a function type") &&
            ParseTypeList(")", &function.params) && Expect("->", "in a function type") &&
            ParseType(&function.result);
  type_params_.Release(mark);
  *type = ir::MakeType(std::move(function));
  return ok;
}

bool Parser::ParseTypeParams(std::vector<ir::Type>* params) {
  if (!Accept("[")) return true;
  std::unordered_set<std::string> names;
  while (!Accept("]")) {
    const Token name = Peek();
    if (name.kind != TokenKind::kIdentifier) {
      FailExpected("a type parameter");
      return false;
    }
    Take();
    if (!names.insert(name.text).second) {
      Fail(name, fmt::format("type parameter {} is declared twice", name.text));
      return false;
    }
    params->push_back(ir::MakeType(ir::TypeVar{module_.ids->Next(), name.text}));
    if (!Accept(",") && !PeekIs("]")) {
      FailExpected("',' or ']' after a type parameter");
      return false;
    }
  }
  for (const ir::Type& p : *params) type_params_.Bind(p->As<ir::TypeVar>()->name, p);
  return true;
}

}  // namespace relayvm::frontend
