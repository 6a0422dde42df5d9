// The sizes that exist only inside a kernel: checked before its call.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "compiler/lowering/function_lowering.h"

namespace relayvm::lower {

namespace {

// The computations that are not results, and the sizes that expressions mention.
struct InnerSizes {
  std::vector<const te::TensorNode*> tensors;
  std::vector<Dim> dims;
};

InnerSizes FindInnerSizes(const std::vector<te::Tensor>& outputs) {
  InnerSizes found;
  std::unordered_set<const void*> seen;
  std::vector<const te::ExprNode*> work;
  for (const te::Tensor& t : outputs) {
    if (!t->is_placeholder() && seen.insert(t.get()).second) work.push_back(t->body.get());
  }
  while (!work.empty()) {
    const te::ExprNode* e = work.back();
    work.pop_back();
    if (!seen.insert(e).second) continue;
    for (const te::Expr& operand : e->operands) work.push_back(operand.get());
    if (e->kind == te::ExprKind::kDim) found.dims.push_back(e->dim);
    for (const te::Axis& axis : e->axes) found.dims.push_back(axis->extent);
    const te::TensorNode* t = e->tensor.get();
    if (e->kind != te::ExprKind::kLoad || t->is_placeholder() || !seen.insert(t).second) continue;
    found.tensors.push_back(t);
    work.push_back(t->body.get());
  }
  return found;
}

// Whether arithmetic on dims of tensors may overflow: such dims are below 2^47, so that a factor of
// 2^15 or a sum of as many is harmless, but what a tensor holds is any number.
bool MayOverflow(const Dim& d, const ir::SymbolTable& symbols) {
  if (d.is_const() || d.is_symbol()) return false;
  bool from_contents = false;
  d.ForEachSymbol([&](const Dim& s) {
    auto entry = symbols.find(s.symbol_id());
    bool dim = entry != symbols.end() && entry->second.value != entry->second.source;
    from_contents = from_contents || !s.symbol_nonnegative() || !dim;
  });
  if (from_contents) return true;
  constexpr int64_t kHarmless = 1 << 12, kHarmlessTerm = int64_t{1} << 62;
  size_t factors = 0;
  for (const Dim& operand : d.operands()) {
    if (MayOverflow(operand, symbols)) return true;
    if (d.kind() == Dim::Kind::kAdd && operand.is_const() &&
        (operand.value() > kHarmlessTerm || operand.value() < -kHarmlessTerm))
      return true;
    bool small = operand.is_const() && operand.value() > -kHarmless && operand.value() < kHarmless;
    factors += d.kind() == Dim::Kind::kMul && !small ? 1 : 0;
  }
  return factors > 1 || d.Size() > 64;
}

bool IsPartOf(std::vector<Dim> part, std::vector<Dim> whole) {
  std::erase_if(part, [](const Dim& d) { return d.is_const(1); });
  std::sort(part.begin(), part.end());
  std::sort(whole.begin(), whole.end());
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

}  // namespace

// What a kernel computes with its extents is not checked there. Tensors that are arguments exist,
// so that theirs are sound; those of a tensor that is never made are looked at here.
Status FunctionLowering::CheckInnerSizes(const std::vector<TensorType>& results,
                                         const std::vector<te::Tensor>& inputs,
                                         const std::vector<te::Tensor>& outputs) {
  std::vector<std::vector<Dim>> sound;
  for (const te::Tensor& t : inputs) sound.push_back(t->shape);
  for (const TensorType& t : results) sound.push_back(t.shape);
  const ir::SymbolTable& symbols = module_.module().symbols;
  InnerSizes inner = FindInnerSizes(outputs);
  for (const Dim& d : inner.dims) {
    if (MayOverflow(d, symbols)) EmitDim(d);
  }
  for (const te::TensorNode* t : inner.tensors) {
    if (std::any_of(sound.begin(), sound.end(), [&](const auto& s) {
          return IsPartOf(t->shape, s) || ProductOf(s) == ProductOf(t->shape);
        })) {
      continue;
    }
    sound.push_back(t->shape);
    Dim size = ProductOf(t->shape);
    constexpr int64_t kMost = int64_t{1} << 60;
    if (!size.is_const()) {
      Emit(Opcode::kDimTensor, {EmitDims(t->shape), module_.MessageIndex(dim_owner_)});
    } else if (size.value() > kMost) {
      return module_.module().sources->Error(
          StatusCode::kInvalidInput, span_,
          fmt::format("{}: no tensor has the shape {}", dim_owner_, ShapeToString(t->shape)));
    }
  }
  return OkStatus();
}

}  // namespace relayvm::lower
