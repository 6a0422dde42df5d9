#include "compiler/transforms/simplify/resolve_shapes.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"

namespace relayvm::ir {
namespace {

// True when the result is made of its operands' dims alone: shape_of, ndarray_size.
bool ReadsNoElement(const Module& m, const Binding& b) {
  const auto& call = *b.value->As<OpCall>();
  if (!call.op->compute) return false;
  std::vector<te::Tensor> inputs;
  for (const Atom& a : call.args) {
    const Type held = AtomType(m, a);  // a constant's is made here
    const auto* type = held->As<TensorType>();
    if (type == nullptr) return false;
    inputs.push_back(
        te::Placeholder("in", type->shape, type->dtype, static_cast<int>(inputs.size())));
  }
  const auto* result = b.var->type->As<TensorType>();
  std::vector<te::Tensor> computed = call.op->compute({call.attrs, inputs, std::span(result, 1)});
  std::vector<const te::ExprNode*> work;
  for (const te::Tensor& t : computed) {
    if (t->is_placeholder()) return false;
    work.push_back(t->body.get());
  }
  while (!work.empty()) {
    const te::ExprNode* node = work.back();
    work.pop_back();
    if (node == nullptr) continue;
    if (node->kind == te::ExprKind::kLoad) return false;
    for (const te::Expr& operand : node->operands) work.push_back(operand.get());
  }
  return true;
}

// Numbers read from tensors wrap as their dtype does: only dims, which are never negative, may
// become dimension arithmetic. A number as it was read is itself, in integers that hold it; a view
// of such numbers stays a view.
bool IsShapeArithmetic(const std::vector<Dim>& elements, const TensorType& type, bool is_view) {
  const bool wide = type.dtype == DType::kInt64 && !is_view;
  bool pure = true;
  for (const Dim& d : elements) {
    pure = pure && !d.ContainsAny();
    if (wide && d.is_symbol()) continue;
    d.ForEachSymbol([&](const Dim& s) { pure = pure && s.symbol_nonnegative(); });
  }
  return pure;
}

HostTensor IntegerTensor(const TensorType& type, const std::vector<Dim>& elements) {
  HostTensor t;
  t.dtype = type.dtype;
  for (const Dim& d : type.shape) t.shape.push_back(d.value());
  auto bytes = static_cast<size_t>(DTypeBytes(type.dtype));
  t.data = SharedBytes::Zeros(elements.size() * bytes);
  std::byte* data = t.data.Mutable().data();
  for (size_t i = 0; i < elements.size(); ++i) {
    int64_t v = elements[i].value();
    std::memcpy(data + i * bytes, &v, bytes);  // little-endian: the low bytes
  }
  return t;
}

}  // namespace

Module ResolveShapes(const Module& m) {
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    auto known = m.contents.find(b.var->id);
    const auto* type = b.var->type->As<TensorType>();
    bool integer = type != nullptr && (IsInt(type->dtype) || type->dtype == DType::kBool);
    if (b.value->As<OpCall>() == nullptr || known == m.contents.end() || !integer ||
        type->rank() > 1 ||
        !(IsShapeArithmetic(known->second, *type, b.value->As<OpCall>()->op->is_view) ||
          ReadsNoElement(m, b))) {
      out.push_back(b);
      return;
    }
    // Dims know no width: that a narrow dtype holds them is checked where it was stated.
    if (DTypeBits(type->dtype) < 64) KeepGuards(m, *b.value->As<OpCall>(), b.value->span, out);
    bool constant = std::all_of(known->second.begin(), known->second.end(),
                                [](const Dim& d) { return d.is_const(); });
    const Expr* e =
        constant ? MakeExpr(m, AtomExpr{MakeConstant(m, IntegerTensor(*type, known->second))},
                            b.value->span)
                 : MakeExpr(m, ShapeValue{known->second}, b.value->span);
    out.push_back({b.var, e});
  });
}

Module DropShapeOperands(const Module& m) {
  auto empty = [&](DType dtype) -> Atom {
    HostTensor t;
    t.dtype = dtype;
    t.shape = {0};
    return MakeConstant(m, std::move(t));
  };
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    if (const auto* stated = b.value->As<Stated>()) {
      out.push_back({b.var, MakeExpr(m, AtomExpr{stated->value}, b.value->span)});
      return;
    }
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || call->op->shape_args.empty()) {
      out.push_back(b);
      return;
    }
    OpCall cut = *call;
    for (int i : call->op->shape_args) {
      auto k = static_cast<size_t>(i);
      if (k >= cut.args.size() || AsVar(cut.args[k]) == nullptr) continue;
      const auto* arg = AsVar(cut.args[k])->type->As<TensorType>();
      if (arg != nullptr) cut.args[k] = empty(arg->dtype);
    }
    out.push_back({b.var, MakeExpr(m, std::move(cut), b.value->span)});
  });
}

}  // namespace relayvm::ir
