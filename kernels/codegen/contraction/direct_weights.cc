#include "kernels/codegen/contraction/direct_weights.h"

namespace relayvm::codegen {

using llvm::Value;

DirectWeights::DirectWeights(ContractionContext& c) : c_(c) {
  std::vector<te::Expr> indices;
  for (size_t dim = 0; dim < 3; ++dim) {
    axes_.push_back(te::MakeAxis("w", c.d.a.view->shape[dim]));
    indices.push_back(te::AxisValue(axes_.back()));
  }
  element_ = c.Keep(te::Load(c.d.a.view, std::move(indices)));
}

void DirectWeights::Bind(Value* group) {
  group_ = group;
  rows_.clear();
  for (int64_t m = 0; c_.d.a.buffer && m < c_.d.rows.value(); ++m) {
    rows_.push_back(c_.PlainRow(c_.d.a, group, I64(c_.b, m)));
  }
}

Value* DirectWeights::Load(int64_t output, Value* k) {
  if (!rows_.empty()) {
    return c_.b.CreateLoad(c_.element, At(c_.b, c_.element, rows_[static_cast<size_t>(output)], k));
  }
  Value* const positions[3] = {group_, I64(c_.b, output), k};
  for (size_t dim = 0; dim < 3; ++dim) {
    c_.emitter.BindAxis(axes_[dim].get(), positions[dim]);
  }
  return c_.emitter.Emit(element_);
}

}  // namespace relayvm::codegen
