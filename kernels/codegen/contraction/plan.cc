// Chooses form, operands and tiling of a contraction.
#include "kernels/codegen/contraction/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/attention.h"
#include "kernels/codegen/contraction/coordinates.h"
#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/planner.h"
#include "kernels/codegen/contraction/sorted_quads.h"
#include "kernels/codegen/contraction/winograd_plan.h"
#include "kernels/codegen/instructions.h"
#include "kernels/op/problem.h"

namespace relayvm::codegen {

using te::Expr;
using te::ExprKind;
using te::ExprNode;
using te::Tensor;

namespace {

// The most rows of a that are packed together, in words.
constexpr int64_t kMostRowBlock = 240;
// A page of float32.
constexpr int64_t kStreamedColumns = 1024;
// The rows that somebody asks to be packed take at most so many times the second cache.
constexpr int64_t kMostPackedCaches = 16;
// What all blocks of k are a multiple of, or a block of weights is.
constexpr int64_t kDepthOfWeights = 512;

// The most operations that are written for each of a tile's registers.
constexpr int64_t kMostRegisterCost = 40;
// Longer than what does not use a function: bias, limits, another addend.
constexpr int64_t kShortEpilogueCost = 12;
// The longest sums that matrices and convolutions, channels last, keep in registers.
constexpr int64_t kRegisterDepth = 256;
// The largest packed weight that is read again for each tile of rows.
constexpr int64_t kInsideBytes = 128 << 10;

// Whether no size that the product can have makes tiles of it, so that nothing is packed.
bool HasOnlyDots(const ContractionDetail& d) {
  if (d.order.form == SumOrder::Form::kDots) return HasDots(d);
  const int64_t rows = d.rows.is_const() ? d.rows.value() : kMostDotRows + 1;
  return d.order.form != SumOrder::Form::kTiles && IsServedByDots(d, rows);
}

// One tile of rows uses each element of b once: packing it would cost more than reading it where
// it is.
bool StreamsB(const ContractionDetail& d) {
  return !d.amx && d.form != ContractionForm::kPixelColumns && d.packed_width == 0 && d.b.buffer &&
         !d.b.k_contiguous && !(d.rows.is_const() && d.rows.value() > d.tile_rows);
}

}  // namespace

ContractionPlanner::ContractionPlanner(const KernelSpec& spec, const ContractionTarget& target)
    : spec_(spec), detail_(std::make_shared<ContractionDetail>()) {
  detail_->target = target;
  detail_->order = spec.order;
}

std::optional<ContractionPlan> ContractionPlanner::Plan() {
  if (!FindContraction() || !HaveSizesOfMemory(*detail_->contraction)) return std::nullopt;
  std::optional<Product> product = MatchProduct(*detail_->contraction);
  if (!product) return std::nullopt;
  product_ = std::move(*product);
  detail_->dtype = product_.accumulator;
  detail_->rounds = product_.rounds;
  std::optional<Epilogue> epilogue = MatchEpilogue(spec_, detail_->contraction, product_);
  if (!epilogue) return std::nullopt;
  detail_->epilogue = std::move(*epilogue);
  plan_.in_place = InPlacePairs(spec_, product_, detail_->epilogue);
  if (auto winograd = PlanWinograd(spec_, *detail_, product_)) return winograd;
  const bool planned =
      detail_->contraction->hint == te::ScheduleHint::kConv ? PlanConv() : PlanMatrix();
  if (!planned) return std::nullopt;
  if (detail_->panel_form == PanelForm::kQuads) Need(detail_->target.dots.quads);
  PlanAmx();
  plan_.detail = detail_;
  return std::move(plan_);
}

bool ContractionPlanner::FindContraction() {
  for (const Tensor& tensor : ReachedComputations(spec_.outputs)) {
    if (tensor->hint == te::ScheduleHint::kDense ||
        tensor->hint == te::ScheduleHint::kBatchMatmul || tensor->hint == te::ScheduleHint::kConv) {
      if (detail_->contraction) return false;
      detail_->contraction = tensor;
      continue;
    }
    bool reduces = false;
    ForEachNode(tensor->body,
                [&](const ExprNode& node) { reduces = reduces || node.kind == ExprKind::kReduce; });
    if (reduces) return false;
  }
  return detail_->contraction != nullptr;
}

// --- Dense and batch_matmul ---
bool ContractionPlanner::PlanMatrix() {
  ContractionDetail& d = *detail_;
  const te::TensorNode& t = *d.contraction;
  if (product_.reduce->axes.size() != 1 || t.rank() < 1) return false;
  const te::Axis k = product_.reduce->axes[0];
  const te::Axis n = t.axes.back();
  std::vector<te::Axis> leading(t.axes.begin(), t.axes.end() - 1), batch_axes, row_axes = leading;
  const bool is_batch = t.hint == te::ScheduleHint::kBatchMatmul;
  if (is_batch || (t.transpose_a && leading.size() > 1)) {
    batch_axes.assign(leading.begin(), leading.end() - 1);
    row_axes = {leading.back()};
  }
  if (MentionsAxis(product_.data, n)) return false;
  for (const te::Axis& axis : row_axes) {
    if (MentionsAxis(product_.weight, axis)) return false;
  }
  d.form = ContractionForm::kMatrix;
  d.batch = Extent(batch_axes);
  d.rows = Extent(row_axes);
  d.columns = n->extent;
  d.depth = k->extent;
  const Tensor& weight = t.hint_inputs[1];
  const bool has_form = t.weight_form != nullptr && TakeWeightForm(spec_, product_, d);
  if (!has_form && weight->rank() >= (is_batch ? 4 : 3)) {
    if (weight->rank() > (is_batch ? 4 : 3) || !weight->shape.back().is_const() ||
        weight->shape.back().value() % 4 != 0 || (is_batch && !IsMemory(spec_, weight))) {
      return false;
    }
    d.packed_width = weight->shape.back().value();
  }
  const ExprNode* byte_weight = MultipliesBytes(product_)
                                    ? PlainLoad(product_.weight->operands[0], DType::kInt8, spec_)
                                    : nullptr;
  if (byte_weight && !t.transpose_a && d.packed_width == 0) d.panel_form = PanelForm::kQuads;
  const bool is_quads = d.panel_form == PanelForm::kQuads;
  if (is_quads) {
    d.byte_depth = d.depth;
    d.depth = Dim::CeilDiv(d.depth, kQuad);
  }
  const Dim& numbers = is_quads ? d.byte_depth : d.depth;  // along k

  d.a.k_contiguous = !t.transpose_a;
  d.a.view = te::Compute("a", {d.batch, d.rows, numbers}, [&](const std::vector<Expr>& i) {
    Substitution to;
    to.Add(batch_axes, Unflatten(i[0], batch_axes));
    to.Add(row_axes, Unflatten(i[1], row_axes));
    to.Add(k, i[2]);
    return te::Cast(to.Apply(product_.data), d.dtype);
  });
  UsePlainMemory(d.a, product_.data, batch_axes, d.a.k_contiguous ? d.rows * numbers : Dim(0),
                 numbers);
  if (d.panel_form != PanelForm::kElements && d.packed_width > 0) {
    d.b.k_contiguous = false;
    d.b.buffer = weight;
    d.b.batch = te::MakeAxis("batch", d.batch);
    d.b.base = BaseOfPanels(batch_axes);
    d.b.stride = d.packed_width;
  } else if (d.packed_width > 0) {
    PlanPackedWeight(batch_axes);
  } else {
    d.b.k_contiguous = t.transpose_b;
    d.b.view = te::Compute("b", {d.batch, numbers, d.columns}, [&](const std::vector<Expr>& i) {
      Substitution to;
      to.Add(batch_axes, Unflatten(i[0], batch_axes));
      to.Add(k, i[1]);
      to.Add(n, i[2]);
      return te::Cast(to.Apply(product_.weight), d.dtype);
    });
    UsePlainMemory(d.b, product_.weight, batch_axes, numbers * d.columns,
                   d.b.k_contiguous ? numbers : d.columns);
    if (is_quads && !d.b.bytes) return false;
  }
  d.row_axes = leading.size();
  if (FlattenEpilogue(d.epilogue, 0, leading.size()) && !leading.empty()) d.row_axes = 1;
  TileMatrix();
  return true;
}

void ContractionPlanner::TileMatrix() {
  ContractionDetail& d = *detail_;
  ChooseTile();
  // Packed a, its rows at a few distances only, so that kernels share tile functions.
  const std::optional<int64_t> depth = ConstDepth();
  d.k_block = FitDepth(d, depth);
  const int64_t of_block =
      (d.k_block > 0 ? d.k_block : depth.value_or(kDepthOfWeights)) * d.step_words;
  const bool is_free = d.target.schedule.rows == 0 && d.order.form == SumOrder::Form::kAny;
  if (is_free && d.panel_form == PanelForm::kElements && d.rows.is_const() &&
      d.rows.value() > d.tile_rows) {
    d.tile_rows = FitTileRows(d, d.rows.value(), of_block);
  }
  if (!d.a.k_contiguous) {
    d.a_row_stride = 1;
    d.a_k_stride = RoundUp(d.tile_rows, d.lanes);
  } else {
    d.a_row_stride = of_block <= 64 ? 80 : of_block <= 256 ? 272 : 528;
  }
  if (d.k_block) d.k_blocks = Dim::Max(1, Dim::CeilDiv(d.depth, d.k_block));
  if (d.panel_form == PanelForm::kPairs) Need(d.target.dots.pairs);
  if (d.panel_form == PanelForm::kElements) {
    TakeRowBlock(MostRows(d), depth.value_or(1024));
  } else {
    ChooseRowBlock(depth ? *depth * d.step_words : 1024);
  }
  FinishMatrix();
}

void ContractionPlanner::FinishMatrix() {
  ContractionDetail& d = *detail_;
  const bool packs_b = d.packed_width == 0 || !d.b.buffer;
  FitPanelGroup(d, packs_b);
  // Blocks of weights are unpacked whole.
  const Dim b_depth = UnpacksPanels(d) && d.k_block > 0
                          ? Dim(d.k_block)
                          : RoundUp(d.depth, std::max<int64_t>(d.lanes, d.weight_block));
  const Dim whole =
      d.sorts_steps ? SortedPanelElements(d, b_depth) : b_depth * (d.panel * d.step_words);
  Dim panels = d.panel_pitch > 0 ? Dim(d.panel_pitch * d.panel_group) : whole;
  // The last panel of a stream is packed, all of it.
  if (d.panel_pitch > 0 && StreamsB(d)) panels = Dim::Max(panels, whole);
  Finish(ScratchOfPackedA(), panels);
}

void ContractionPlanner::UsePlainMemory(MatrixOperand& operand, const Expr& e,
                                        const std::vector<te::Axis>& batch_axes, const Dim& matrix,
                                        const Dim& stride) {
  operand.batch = te::MakeAxis("batch", detail_->batch);
  operand.base = te::IntImm(0);
  operand.stride = stride;
  const bool is_quads = detail_->panel_form == PanelForm::kQuads;
  const ExprNode* load = is_quads && e->kind == ExprKind::kCast
                             ? PlainLoad(e->operands[0], e->operands[0]->dtype, spec_)
                             : PlainLoad(e, detail_->dtype, spec_);
  if (!load || load->tensor->rank() < 1) return;
  if (detail_->contraction->hint == te::ScheduleHint::kBatchMatmul) {
    Substitution to;
    to.Add(batch_axes, {te::AxisValue(operand.batch)});
    operand.base = Times(to.Apply(load->operands[0]), matrix);
  } else if (!batch_axes.empty()) {
    bool batched = false;
    for (const te::Axis& axis : batch_axes) batched = batched || MentionsAxis(e, axis);
    if (batched) return;
  }
  (is_quads ? operand.bytes : operand.buffer) = load->tensor;
}

Expr ContractionPlanner::BaseOfPanels(const std::vector<te::Axis>& batch_axes) {
  ContractionDetail& d = *detail_;
  const Tensor& weight = d.contraction->hint_inputs[1];
  if (batch_axes.empty()) return te::IntImm(0);
  Expr load = product_.weight;
  while (load->kind == ExprKind::kCast) load = load->operands[0];
  Substitution to;
  to.Add(batch_axes, {te::AxisValue(d.b.batch)});
  return Times(to.Apply(load->operands[0]), ProductOf(std::span(weight->shape).subspan(1)));
}

void ContractionPlanner::PlanPackedWeight(const std::vector<te::Axis>& batch_axes) {
  ContractionDetail& d = *detail_;
  const Tensor& weight = d.contraction->hint_inputs[1];
  d.b.k_contiguous = false;
  if (!batch_axes.empty()) {
    d.b.buffer = weight;
    d.b.batch = te::MakeAxis("batch", d.batch);
    d.b.base = BaseOfPanels(batch_axes);
    d.b.stride = d.packed_width;
    return;
  }
  d.b.view = te::Compute("b", weight->shape, [&](const std::vector<Expr>& i) {
    return te::Cast(te::Load(weight, i), d.dtype);
  });
  UsePlainMemory(d.b, te::Load(weight, std::vector<Expr>(3, te::IntImm(0))), {}, 0, d.packed_width);
}

std::optional<int64_t> ContractionPlanner::ConstDepth() const {
  if (detail_->depth.is_const()) return detail_->depth.value();
  return std::nullopt;
}

void ContractionPlanner::ChooseTile() {
  ContractionDetail& d = *detail_;
  d.lanes = d.target.vector_bytes / DTypeBytes(d.dtype);
  d.vectors = 2;
  d.sorts_steps = SortsSteps(d);
  if (d.panel_form == PanelForm::kQuads && d.target.dots.quads == nullptr && !d.sorts_steps &&
      !d.step_order) {
    d.step_words = 2;
  }
  if (d.packed_width > 0) {
    while (d.packed_width % d.lanes != 0) d.lanes /= 2;
    const bool is_thin = d.columns.is_const() && d.columns.value() <= d.lanes;
    if (d.packed_width % (2 * d.lanes) != 0 || is_thin) d.vectors = 1;
    const bool is_wide = d.packed_width == int64_t{3} * d.lanes;
    if (is_wide && d.target.vector_registers == 16 && d.target.fma) d.vectors = 3;
  } else if (d.columns.is_const()) {
    const int64_t columns = std::max<int64_t>(d.columns.value(), 4);
    while (d.lanes / 2 >= columns) d.lanes /= 2;
    if (columns <= d.lanes) d.vectors = 1;
  }
  // Fewer columns have fewer wide steps.
  if (d.sorts_steps) d.vectors = 1;
  // Accumulators leave registers for a row of b and a broadcast, and for the product where that
  // is an instruction of its own.
  const bool has_many_rows = d.rows.is_const() && d.rows.value() > kFewTiles * kTileRows;
  if (d.target.vector_registers == 32 && d.weight_block > 0 &&
      d.contraction->weight_form->in_words() && !has_many_rows) {
    // Measured: small tiles, whose sums stay beside what words of numbers become.
    d.vectors = 1;
    d.tile_rows = kSmallTileRows;
  } else if (d.target.vector_registers == 32) {
    d.tile_rows = kTileRows;
  } else {
    d.tile_rows = (d.target.fma ? 12 : 10) / d.vectors;
  }
  plan_.refused = TakeSchedule(d);
  FitSets();
  d.panel = int64_t{d.lanes} * d.vectors;
  d.panels = Dim::CeilDiv(d.columns, d.panel);
}

void ContractionPlanner::FitSets() {
  ContractionDetail& d = *detail_;
  if (d.order.form != SumOrder::Form::kTiles || d.order.sets == 1) return;
  const unsigned accumulators = d.target.vector_registers == 32 ? 24 : 12;
  if (d.target.vector_registers != 32) d.vectors = 1;
  d.tile_rows = std::max(1U, accumulators / d.order.sets / d.vectors);
}

void ContractionPlanner::ChooseRowBlock(int64_t depth) {
  ContractionDetail& d = *detail_;
  const int64_t row_bytes = std::max<int64_t>(depth, 64) * DTypeBytes(d.dtype);
  // Each block sorts the panels again, which are narrow.
  const int64_t room = d.target.l2_bytes / 16 * (d.sorts_steps ? 15 : 12);
  const int64_t most = d.sorts_steps ? 2 * kMostRowBlock : kMostRowBlock;
  const int64_t fit = std::clamp<int64_t>(room / row_bytes, 4 * d.tile_rows, most);
  TakeRowBlock(RoundUp(fit, d.tile_rows), depth);
}

void ContractionPlanner::TakeRowBlock(int64_t most, int64_t depth) {
  ContractionDetail& d = *detail_;
  const int64_t row_bytes = std::max<int64_t>(depth, 64) * DTypeBytes(d.dtype);
  d.row_block = most;
  if (const int64_t block = d.target.schedule.block; block > 0) {
    d.row_block = RoundUp(block, d.tile_rows);
    if (d.row_block * row_bytes > kMostPackedCaches * d.target.l2_bytes && plan_.refused.empty())
      plan_.refused = fmt::format("{} packed rows of {} bytes are many", d.row_block, row_bytes);
  } else if (d.rows.is_const()) {
    const int64_t rows = std::max<int64_t>(d.rows.value(), 1);
    const int64_t blocks = (rows + most - 1) / most;
    d.row_block = RoundUp((rows + blocks - 1) / blocks, d.tile_rows);
  }
  d.row_blocks = Dim::CeilDiv(d.rows, d.row_block);
}

Dim ContractionPlanner::ScratchOfPackedA() const {
  const ContractionDetail& d = *detail_;
  if (d.a.k_contiguous) return d.k_blocks * (d.row_block * d.a_row_stride);
  return TilePitch(d) * (d.row_block / d.tile_rows);
}

// --- AMX ---
void ContractionPlanner::PlanAmx() {
  if (!TakesAmx(*detail_)) return;
  const std::shared_ptr<ContractionDetail> of_vectors = detail_;
  const Dim scratch_of_vectors = plan_.scratch_bytes;
  detail_ = std::make_shared<ContractionDetail>(*of_vectors);
  ContractionDetail& d = *detail_;
  d.amx = true;
  d.tile_rows = kAmxRows;
  d.streamed_panels = 0;
  const bool is_matrix = d.form == ContractionForm::kMatrix;
  // Rows are an odd number of cache lines, so that those of a tile fall into many sets of the
  // cache.
  if (d.panel_form == PanelForm::kPairs) d.a_row_stride += kAmxTile;
  ChooseRowBlock(ConstDepth().value_or(1024));
  if (is_matrix) {
    FinishMatrix();
  } else {
    Finish(d.row_block * d.a_row_stride + d.lanes, RoundUp(d.depth, d.lanes) * d.panel);
  }
  Need(TilesOf(d));
  plan_.scratch_bytes = Dim::Max(plan_.scratch_bytes, scratch_of_vectors);
  plan_.amx = detail_;
  detail_ = of_vectors;
}

void ContractionPlanner::Need(const DotProduct* form) {
  if (form == nullptr) return;
  plan_.features += plan_.features.empty() ? "" : ",";
  plan_.features += form->features;
}

// --- Scratch, parallel range ---
void ContractionPlanner::Finish(const Dim& a_elements, const Dim& b_elements) {
  ContractionDetail& d = *detail_;
  const int64_t bytes = DTypeBytes(d.dtype);
  Dim offset = 0;
  auto reserve = [&](const Dim& elements) {
    Dim at = offset;
    offset = offset + RoundUp(elements * bytes, 64);
    return at;
  };
  if (StreamsB(d)) d.streamed_panels = std::max<int64_t>(kStreamedColumns / d.panel, 1);
  d.c_offset = reserve(SumElements(d));
  d.has_long_epilogue = HasLongEpilogue();
  const bool only_dots = HasOnlyDots(d);
  d.a_offset = reserve(only_dots ? Dim(0) : a_elements);
  if (d.form != ContractionForm::kPixelColumns) {
    // A long sum leaves little to gain.
    d.epilogue_in_registers = d.k_block == 0 && d.depth.is_const() &&
                              d.depth.value() <= kRegisterDepth && TakesRegisters();
  }
  d.panels_inside = !d.amx && d.form == ContractionForm::kMatrix && d.packed_width > 0 &&
                    d.b.buffer && d.k_block == 0 && d.depth.is_const() && d.columns.is_const() &&
                    d.depth.value() * d.columns.value() * bytes <= kInsideBytes;
  const bool packs_b = !only_dots && (d.form == ContractionForm::kPixelColumns ||
                                      d.packed_width == 0 || !d.b.buffer || UnpacksPanels(d));
  d.b_offset = reserve(packs_b ? b_elements : Dim(0));
  // Rows that are computed are brought to memory for dot kernels; others they read in place.
  const int64_t dot_rows = d.rows.is_const() ? std::min(d.rows.value(), kMaxDotRows) : kMaxDotRows;
  d.dot_offset = reserve(HasDots(d) && !d.a.buffer ? RoundUp(d.depth, d.lanes) * dot_rows : Dim(0));
  d.tail_offset = reserve(d.amx ? kAmxTile * d.panel : 0);
  plan_.scratch_bytes = offset;
  const bool has_parts = d.form == ContractionForm::kPixelColumns;
  if (!has_parts) d.block_units = d.panels;
  plan_.parallel_extent = d.batch * d.row_blocks * d.block_units;
  // Work of a unit in multiply-adds, with what reading a column of b costs.
  const Dim rows = has_parts     ? Dim(d.part_rows)
                   : d.row_block ? Dim::Min(d.rows, d.row_block)
                                 : d.rows;
  const Dim panels = has_parts ? Dim::Min(d.panels, d.panel_group) : Dim(1);
  const Dim work = Dim::Max(1, (rows + 8) * d.depth * d.panel * panels);
  plan_.grain = Dim::Max(1, Dim::CeilDiv(kTaskWork, work));
}

bool ContractionPlanner::HasLongEpilogue() const {
  return EpilogueCost(spec_, detail_->contraction) > kShortEpilogueCost;
}

bool ContractionPlanner::TakesRegisters() const {
  return EpilogueCost(spec_, detail_->contraction) <= kMostRegisterCost;
}

// --- What is asked of plans ---

bool TakesWeightBlock(int64_t block) {
  return block > 0 && block % 8 == 0 && kDepthOfWeights % block == 0;
}

bool IsServedByDots(const ContractionDetail& d, int64_t rows) {
  if (!HasDots(d)) return false;
  if (rows <= kMaxDotRows) return true;
  if (!d.depth.is_const() || !d.columns.is_const() || d.target.schedule != TileSchedule())
    return false;
  const int64_t depth = d.depth.value();
  return (rows <= kMostDotRows && rows * kDotDepthOfRow <= depth) ||
         (d.columns.value() <= kMostDotColumns && depth >= kLeastDotDepth);
}

std::optional<SumOrder> OrderOf(const ContractionPlan& plan) {
  if (!plan.detail) return std::nullopt;
  const ContractionDetail& d = *plan.detail;
  if (d.form != ContractionForm::kMatrix || !d.rows.is_const() || !d.columns.is_const() || plan.amx)
    return std::nullopt;
  const auto rows = static_cast<unsigned>(std::clamp<int64_t>(d.rows.value(), 1, d.tile_rows));
  if (IsServedByDots(d, d.rows.value())) {
    if (d.rows.value() > kMaxDotRows) return SumOrder{SumOrder::Form::kDots, 1};
    if (!d.depth.is_const()) return std::nullopt;
    const DotForm form = d.columns.value() < kFewDotColumns ? DotForm::kFewColumns
                         : d.depth.value() < kLongDotDepth  ? DotForm::kShort
                                                            : DotForm::kLong;
    return SumOrder{SumOrder::Form::kDots, DotShapeOf(rows, form, d.target.vector_registers).sets};
  }
  TileConfig config{};
  config.rounds = d.rounds;
  config.rows = d.tile_rows;
  config.vectors = d.vectors;
  const SumOrder order{SumOrder::Form::kTiles, TileSets(config, d.rows.value())};
  // A stream is summed in pieces of k.
  if (order.sets > 1 && d.streamed_panels > 0) return std::nullopt;
  return order;
}

bool SumsInTiles(const ContractionPlan& plan) {
  if (!plan.detail) return false;
  const ContractionDetail& d = *plan.detail;
  return d.form == ContractionForm::kMatrix && d.columns.is_const() && !plan.amx && !HasDots(d) &&
         d.panel_form == PanelForm::kElements;
}

bool HaveSizesOfMemory(const te::TensorNode& t) {
  constexpr int64_t kMostElements = int64_t{1} << 44;
  const auto fits = [](const te::TensorNode& tensor) {
    int64_t elements = 1;
    for (const Dim& d : tensor.shape) {
      if (!d.is_const() || d.value() <= 1) continue;
      if (d.value() > kMostElements / elements) return false;
      elements *= d.value();
    }
    return true;
  };
  return fits(t) && std::ranges::all_of(t.hint_inputs, [&](const Tensor& x) { return fits(*x); });
}

std::optional<ContractionPlan> PlanContraction(const KernelSpec& spec,
                                               const ContractionTarget& target) {
  if (auto attention = PlanAttention(spec, target)) return attention;
  if (auto winograd = PlanWinograd(spec, target)) return winograd;
  return ContractionPlanner(spec, target).Plan();
}

}  // namespace relayvm::codegen
