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
    rows_.push_back(widened != nullptr ? RowIn(widened, m)
                                       : RowIn(c_.PlainRow(c_.d.a, group, I64(c_.b, 0)), m));
  }
}

// Of weights in blocks of so many outputs, an element of each follows the other.
int64_t DirectWeights::block() const { return c_.d.a_k_stride; }

Value* DirectWeights::RowIn(Value* weights, int64_t output) {
  const int64_t rest = output % block();
  return At(c_.b, c_.element, weights, (output - rest) * c_.d.depth.value() + rest);
}

void DirectWeights::Turn(Value* group, Value* is_turned, Value* needed) {
  Builder& b = c_.b;
  const ContractionDetail& d = c_.d;
  const int64_t side = d.pixels.kernel[0], taps = d.pixels.taps();
  Value* turned = c_.Scratch(d.a_offset);
  llvm::Type* outputs = VectorOf(c_.element, static_cast<unsigned>(block()));
  const llvm::Align align(c_.element_bytes);
  If(b, b.CreateAnd(is_turned, needed), [&] {
    Value* from = c_.PlainRow(d.a, group, I64(b, 0));
    For(b, I64(b, 0), I64(b, d.rows.value() / block() * d.pixels.group_channels), 1, "channel",
        [&](Value* channel) {
          Value* first = Mul(b, channel, taps);
          For(b, I64(b, 0), I64(b, side), 1, "tap", [&](Value* y) {
            For(b, I64(b, 0), I64(b, side), 1, "tap", [&](Value* x) {
              Value* at = Add(b, first, Add(b, Mul(b, x, side), y));
              Value* to = Add(b, first, Add(b, Mul(b, y, side), x));
              b.CreateAlignedStore(b.CreateAlignedLoad(outputs, At(b, outputs, from, at), align),
                                   At(b, outputs, turned, to), align);
            });
          });
        });
  });
  for (size_t m = 0; m < rows_.size(); ++m) {
    rows_[m] = b.CreateSelect(is_turned, RowIn(turned, static_cast<int64_t>(m)), rows_[m]);
  }
}

Value* DirectWeights::Load(int64_t output, Value* k) {
  if (!rows_.empty()) {
    Value* row = rows_[static_cast<size_t>(output)];
    return c_.b.CreateLoad(c_.element, At(c_.b, c_.element, row, Mul(c_.b, k, block())));
  }
  Value* const positions[3] = {group_, I64(c_.b, output), k};
  for (size_t dim = 0; dim < 3; ++dim) {
    c_.emitter.BindAxis(axes_[dim].get(), positions[dim]);
  }
  return c_.emitter.Emit(element_);
}

}  // namespace relayvm::codegen
