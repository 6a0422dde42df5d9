// What packed weights are, and the tile that somebody chose for them.
#include <fmt/format.h>

#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/sorted_quads.h"
#include "kernels/op/qnn.h"

namespace relayvm::codegen {
namespace {

using te::Expr;
using te::ExprKind;

// Side by side in a tile that somebody chooses.
constexpr int64_t kMostVectors = 4;

// Whether every element of e is one of `dtype`, made a number of another.
bool IsCastFrom(DType dtype, const Expr& e) {
  return e->kind == ExprKind::kCast && e->operands[0]->dtype == dtype;
}
// The same, or 0 where padding is.
bool IsWidened(DType dtype, const Expr& e) {
  if (e->kind != ExprKind::kSelect) return IsCastFrom(dtype, e);
  const Expr& otherwise = e->operands[2];
  return IsCastFrom(dtype, e->operands[1]) && otherwise->kind == ExprKind::kIntImm &&
         otherwise->int_value == 0;
}

}  // namespace

int64_t PreferredPanelWidth(const Machine& machine, DType dtype) {
  return 2 * machine.vector_bytes / std::max(DTypeBytes(dtype), 4);
}

int64_t PreferredPanelWidthOf(const Machine& machine, int64_t columns) {
  const int64_t width = PreferredPanelWidth(machine), wide = width / 2 * 3;
  if (machine.vector_registers != 16 || !machine.fma) return width;
  return RoundUp(columns, wide) < RoundUp(columns, width) ? wide : width;
}

int64_t PreferredKernelRows(const Machine& machine) {
  // Usual numbers of channels are multiples of it, and rows by two vectors fill the registers.
  return machine.vector_registers == 32 ? 8 : 0;
}

std::string PreferredKernelLayout(const ConvProblem& p, const Machine& machine) {
  const int64_t rows = PreferredKernelRows(machine), width = PreferredPanelWidth(machine);
  const bool last = p.is_channels_last();
  if ((!last && !p.is_channels_first()) || !p.has_usual_kernel()) return "";
  const std::string space(p.letters()), usual = p.UsualKernel();
  const int64_t ins = p.kernel_in.value(), outs = p.kernel_out.value() / p.groups;
  const bool in_blocks = !last && rows > 1 && outs % rows == 0;
  const std::string blocks = in_blocks ? fmt::format("{}{}o", usual, rows) : "";
  if (p.kernel_type == DType::kInt8) {
    if (ins % qnn::kQuad != 0 || !qnn::TakesByteConvolution(ins, outs, p.groups)) return "";
    return (in_blocks ? blocks : usual) + "4i";
  }
  if (p.pixels().is_const(1)) return "";
  if (!last) return blocks;
  return p.groups == 1 && outs % width == 0 ? fmt::format("O{}I{}o", space, width) : "";
}

bool MultipliesBytes(const Product& product) {
  return product.accumulator == DType::kInt32 && IsWidened(DType::kUInt8, product.data) &&
         IsWidened(DType::kInt8, product.weight);
}

bool IsHalvesWeight(const KernelSpec& spec, const Product& product, const ContractionDetail& d) {
  return d.dtype == DType::kFloat32 && !d.rounds && IsCastFrom(DType::kFloat16, product.weight) &&
         PlainLoad(product.weight->operands[0], DType::kFloat16, spec) != nullptr;
}

bool TakeWeightForm(const KernelSpec& spec, const Product& product, ContractionDetail& d) {
  const te::TensorNode& t = *d.contraction;
  const te::TensorNode& weight = *t.hint_inputs[1];
  const WeightForm& form = *t.weight_form;
  for (size_t i = 1; i < t.hint_inputs.size(); ++i) {
    if (!IsMemory(spec, t.hint_inputs[i])) return false;
  }
  const bool in_blocks = form.block > 0;
  const size_t first = t.hint == te::ScheduleHint::kBatchMatmul ? 1 : 0;
  const size_t width_at = first + (in_blocks ? 3 : 2);
  if (weight.shape.size() <= width_at || !weight.shape[width_at].is_const() || t.transpose_a)
    return false;
  const int64_t width = weight.shape[width_at].value();
  if (width % 4 != 0 ||
      (form.side_by_side() > 1 && !weight.shape[3].is_const(form.side_by_side()))) {
    return false;
  }
  if (MultipliesBytes(product)) {
    d.panel_form = PanelForm::kQuads;
  } else if (d.dtype != DType::kFloat32 || d.rounds || form.given != DType::kFloat32) {
    return false;
  } else if (d.target.dots.pairs != nullptr && form.stored == DType::kBFloat16 &&
             IsCastFrom(DType::kBFloat16, product.data)) {
    d.panel_form = PanelForm::kPairs;
  } else {
    d.panel_form = PanelForm::kWidened;
    d.widened = &form;
  }
  d.packed_width = width;
  d.panel_words = weight.shape[first + 1];
  if (!in_blocks) {
    TakeStepOrder(spec, d);
    return true;
  }
  d.weight_block = weight.shape[2].is_const() ? form.NumbersOf(weight.shape[2].value()) : 0;
  // Tiles begin with a block.
  if (!TakesWeightBlock(d.weight_block)) return false;
  d.weight_blocks = weight.shape[1];
  d.panel_words = weight.shape[1] * weight.shape[2];
  d.scales = t.hint_inputs[2];
  if (t.hint_inputs.size() > 3) d.zero_points = t.hint_inputs[3];
  return true;
}

std::string TakeSchedule(ContractionDetail& d) {
  const TileSchedule& s = d.target.schedule;
  if (s.rows == 0) return "";
  const int64_t vectors = s.columns / d.lanes;
  const int64_t used = s.rows * vectors + vectors + 1;
  if (s.columns % d.lanes != 0 || vectors > kMostVectors) {
    return fmt::format("expected {} to {} columns, a multiple of {}, found {}", d.lanes,
                       kMostVectors * d.lanes, d.lanes, s.columns);
  }
  if (used > d.target.vector_registers) {
    return fmt::format("{} sums and what they are made of take {} registers, there are {}",
                       s.rows * vectors, used, d.target.vector_registers);
  }
  if (d.packed_width % s.columns != 0)
    return fmt::format("the weights are packed in panels of {} columns", d.packed_width);
  d.vectors = static_cast<unsigned>(vectors);
  d.tile_rows = static_cast<unsigned>(s.rows);
  return "";
}

}  // namespace relayvm::codegen
