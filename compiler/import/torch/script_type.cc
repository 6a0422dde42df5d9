#include "compiler/import/torch/script_type.h"

#include <utility>

namespace relayvm::import::torch {

namespace {

using TypeKind = ScriptType::Kind;

constexpr std::pair<std::string_view, TypeKind> kTypeNames[] = {
    {"Tensor", TypeKind::kTensor},     {"int", TypeKind::kInt},       {"float", TypeKind::kFloat},
    {"bool", TypeKind::kBool},         {"number", TypeKind::kNumber}, {"Scalar", TypeKind::kNumber},
    {"complex", TypeKind::kComplex},   {"str", TypeKind::kString},    {"NoneType", TypeKind::kNone},
    {"None", TypeKind::kNone},         {"Device", TypeKind::kDevice}, {"Any", TypeKind::kAny},
    {"Optional", TypeKind::kOptional}, {"List", TypeKind::kList},     {"Dict", TypeKind::kDict},
    {"Tuple", TypeKind::kTuple},       {"Union", TypeKind::kUnion},   {"Future", TypeKind::kFuture},
    {"Await", TypeKind::kFuture},      {"RRef", TypeKind::kFuture},
};

}  // namespace

const ScriptType& ScriptType::element() const {
  static const ScriptType kUnknown;
  return arguments.empty() ? kUnknown : arguments[0];
}

ScriptType SimpleType(TypeKind kind) {
  ScriptType t;
  t.kind = kind;
  return t;
}

ScriptType ListOfType(ScriptType element) {
  ScriptType t = SimpleType(TypeKind::kList);
  t.arguments.push_back(std::move(element));
  return t;
}

std::string DottedName(const Expr& e) {
  if (e.kind == Expr::Kind::kName) return e.text;
  if (e.kind != Expr::Kind::kAttribute) return {};
  std::string base = DottedName(e.children[0]);
  return base.empty() ? base : base + "." + e.text;
}

ScriptType TypeOfExpr(const Expr& e) {
  ScriptType t;
  if (e.kind == Expr::Kind::kNone) return t;
  if (e.kind == Expr::Kind::kIndex) {
    t = TypeOfExpr(e.children[0]);
    if (t.kind == TypeKind::kClass && t.name == "Final") return TypeOfExpr(e.children[1]);
    const Expr& inner = e.children[1];
    if (inner.kind == Expr::Kind::kTuple) {
      for (const Expr& argument : inner.children) t.arguments.push_back(TypeOfExpr(argument));
    } else {
      t.arguments.push_back(inner.kind == Expr::Kind::kNone ? SimpleType(TypeKind::kNone)
                                                            : TypeOfExpr(inner));
    }
    return t;
  }
  const std::string name = DottedName(e);
  for (const auto& [known, kind] : kTypeNames) {
    if (name == known) return SimpleType(kind);
  }
  if (name.empty()) return t;
  t.kind = TypeKind::kClass;
  t.name = name;
  return t;
}

std::string TypeText(const ScriptType& t) {
  std::string text = t.name;
  if (t.kind != TypeKind::kClass) {
    for (const auto& [name, kind] : kTypeNames) {
      if (kind == t.kind) {
        text = name;
        break;
      }
    }
  }
  if (t.arguments.empty()) return text;
  text += "[";
  for (size_t i = 0; i < t.arguments.size(); ++i)
    text += (i > 0 ? ", " : "") + TypeText(t.arguments[i]);
  return text + "]";
}

}  // namespace relayvm::import::torch
