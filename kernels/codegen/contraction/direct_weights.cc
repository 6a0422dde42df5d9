#include "kernels/codegen/contraction/direct_weights.h"

#include <algorithm>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

// `count` numbers of float16, as float32 at `to`.
void EmitWiden(ContractionContext& c, Value* from, int64_t count, Value* to) {
  constexpr int64_t kMostVectors = 8;  // that are unrolled
  Builder& b = c.b;
  if (count > kMostVectors * c.d.lanes) {
    return EmitWidenRows(c, from, I64(b, 0), I64(b, 1), I64(b, count), to, I64(b, count));
  }
  Ops ops(b);
  llvm::Type* half = ops.MemoryType(DType::kFloat16);
  int64_t lanes = c.d.lanes;
  while (lanes > count) lanes /= 2;
  // The last vector ends where the numbers end.
  for (int64_t at = 0; at < count; at += lanes) {
    const int64_t first = std::min(at, count - lanes);
    Value* halves = b.CreateAlignedLoad(VectorOf(half, static_cast<unsigned>(lanes)),
                                        At(b, half, from, first), llvm::Align(2));
    b.CreateAlignedStore(ops.FromMemory(halves, DType::kFloat16), At(b, c.element, to, first),
                         llvm::Align(c.element_bytes));
  }
}

}  // namespace

DirectWeights::DirectWeights(ContractionContext& c) : c_(c) {
  std::vector<te::Expr> indices;
  for (size_t dim = 0; dim < 3; ++dim) {
    axes_.push_back(te::MakeAxis("w", c.d.a.view->shape[dim]));
    indices.push_back(te::AxisValue(axes_.back()));
  }
  element_ = c.Keep(te::Load(c.d.a.view, std::move(indices)));
}

Value* DirectWeights::Widen(Value* group, Value* memory) {
  Value* floats = At(c_.b, c_.b.getInt8Ty(), memory, c_.emitter.EmitDim(c_.d.a_offset));
  EmitWiden(c_, c_.PlainRow(c_.d.a, group, I64(c_.b, 0)), c_.d.rows.value() * c_.d.depth.value(),
            floats);
  return floats;
}

void DirectWeights::Bind(Value* group, Value* widened) {
  group_ = group;
  rows_.clear();
  if (c_.d.a.halves && widened == nullptr) widened = Widen(group, c_.scratch);
  for (int64_t m = 0; c_.d.a.buffer && m < c_.d.rows.value(); ++m) {
    if (widened != nullptr) {
      rows_.push_back(At(c_.b, c_.element, widened, m * c_.d.depth.value()));
      continue;
    }
    // Of packed ones, a_k_stride rows stand side by side.
    const int64_t in_block = m % c_.d.a_k_stride;
    Value* block = c_.PlainRow(c_.d.a, group, I64(c_.b, m - in_block));
    rows_.push_back(At(c_.b, c_.element, block, in_block));
  }
}

Value* DirectWeights::Load(int64_t output, Value* k) {
  if (!rows_.empty()) {
    Value* at = Mul(c_.b, k, c_.d.a_k_stride);
    return c_.b.CreateLoad(c_.element,
                           At(c_.b, c_.element, rows_[static_cast<size_t>(output)], at));
  }
  Value* const positions[3] = {group_, I64(c_.b, output), k};
  for (size_t dim = 0; dim < 3; ++dim) {
    c_.emitter.BindAxis(axes_[dim].get(), positions[dim]);
  }
  return c_.emitter.Emit(element_);
}

}  // namespace relayvm::codegen
