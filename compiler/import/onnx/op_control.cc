// Control flow: If, Loop, Scan.
#include <fmt/format.h>

#include "compiler/import/onnx/convert.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

// The type of a value that is `a` or `b`: dims that differ are unknown. Null where they can't be
// one.
ir::Type Join(TypedBuilder& b, const ir::Type& x, const ir::Type& y) {
  if (x == nullptr || y == nullptr) return nullptr;
  const auto* s = x->As<TensorType>();
  const auto* t = y->As<TensorType>();
  if (s == nullptr || t == nullptr) return ir::TypeEquals(x, y) ? x : nullptr;
  if (s->dtype != t->dtype || s->rank() != t->rank()) return nullptr;
  std::vector<Dim> shape;
  for (int i = 0; i < s->rank(); ++i) {
    shape.push_back(s->shape[i] == t->shape[i] ? s->shape[i]
                                               : Dim::Symbol(b.module().ids->Next(), "d"));
  }
  return ir::MakeTensorType(std::move(shape), s->dtype);
}

// The condition as a scalar.
Value Flag(NodeContext& n, const Value& v) { return v.rank() == 0 ? v : n.b().Reshape(v, {}); }

Outputs If(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value condition = n.Input(0);
  if (auto known = b.ConstantInts(condition); known && known->size() == 1) {
    return n.Graph((*known)[0] != 0 ? "then_branch" : "else_branch", {});
  }
  const std::vector<Value> yes = n.Graph("then_branch", {});
  const std::vector<Value> no = n.Graph("else_branch", {});
  if (yes.size() != no.size() || yes.empty())
    return n.Fail("the branches differ in the number of outputs");
  if (!b.status().ok()) return {};
  ir::TupleType type;
  for (size_t i = 0; i < yes.size(); ++i) {
    ir::Type joined = Join(b, yes[i].type, no[i].type);
    if (joined == nullptr) {
      return n.Unsupported(fmt::format("output {} is {} in one branch and {} in the other", i,
                                       ir::TypeToString(yes[i].type),
                                       ir::TypeToString(no[i].type)));
    }
    type.fields.push_back(std::move(joined));
  }
  const ir::NodeId node =
      b.graph().If(Flag(n, condition).node, b.Tuple(yes).node, b.Tuple(no).node, b.span());
  return b.Fields(b.Wrap(node, ir::MakeType(std::move(type))));
}

constexpr OperatorDef kOperators[] = {
    {"If", 1, 1, If},
};

}  // namespace

std::span<const OperatorDef> ControlOperators() { return kOperators; }

}  // namespace relayvm::import
