// Chooses form, operands and tiling of a contraction.
#include "kernels/codegen/contraction/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/attention.h"
#include "kernels/codegen/contraction/coordinates.h"
#include "kernels/codegen/contraction/winograd_plan.h"
#include "kernels/codegen/instructions.h"
#include "kernels/op/problem.h"

namespace relayvm::codegen {

using te::Expr;
using te::ExprKind;
using te::ExprNode;
using te::Tensor;

namespace {

// A page of float32.
constexpr int64_t kStreamedColumns = 1024;
// The rows that somebody asks to be packed take at most so many times the second cache.
constexpr int64_t kMostPackedCaches = 16;
// A block of k, of matrices.
constexpr int64_t kDepthOfTile = 512;

// The most operations that are written for each of a tile's registers.
constexpr int64_t kMostRegisterCost = 40;
// The longest sums that matrices and convolutions, channels last, keep in registers.
constexpr int64_t kRegisterDepth = 256;
// The largest packed weight that is read again for each tile of rows.
constexpr int64_t kInsideBytes = 128 << 10;
// Of a kernel's window.
constexpr int64_t kMostTaps = 1 << 16;

class Planner {
 public:
  Planner(const KernelSpec& spec, const ContractionTarget& target)
      : spec_(spec), detail_(std::make_shared<ContractionDetail>()) {
    detail_->target = target;
    detail_->order = spec.order;
  }

  std::optional<ContractionPlan> Plan() {
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

 private:
  // Exactly one contraction, and no other reduction, whose result would be computed again and
  // again.
  bool FindContraction() {
    for (const Tensor& tensor : ReachedComputations(spec_.outputs)) {
      if (tensor->hint == te::ScheduleHint::kDense ||
          tensor->hint == te::ScheduleHint::kBatchMatmul ||
          tensor->hint == te::ScheduleHint::kConv) {
        if (detail_->contraction) return false;
        detail_->contraction = tensor;
        continue;
      }
      bool reduces = false;
      ForEachNode(tensor->body, [&](const ExprNode& node) {
        reduces = reduces || node.kind == ExprKind::kReduce;
      });
      if (reduces) return false;
    }
    return detail_->contraction != nullptr;
  }

  // --- Dense and batch_matmul ---

  bool PlanMatrix() {
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

  void TileMatrix() {
    ContractionDetail& d = *detail_;
    ChooseTile();
    // Packed a, its rows at a few distances only, so that kernels share tile functions.
    const std::optional<int64_t> depth = ConstDepth();
    if (!d.a.k_contiguous) {
      d.a_row_stride = 1;
      d.a_k_stride = RoundUp(d.tile_rows, d.lanes);
    } else if (depth && *depth <= 64) {
      d.a_row_stride = 80;
    } else if (depth && *depth <= 256) {
      d.a_row_stride = 272;
    } else {
      d.a_row_stride = 528;
      if (!depth || *depth > kDepthOfTile) d.k_block = kDepthOfTile;
    }
    if (d.k_block) d.k_blocks = Dim::Max(1, Dim::CeilDiv(d.depth, d.k_block));
    ChooseRowBlock(depth.value_or(1024));
    if (d.panel_form == PanelForm::kPairs) Need(d.target.dots.pairs);
    Finish(ScratchOfPackedA(), RoundUp(d.depth, d.lanes) * d.panel);
  }

  // Sets operand.buffer when the expression loads memory as it is. `matrix` is the size of one
  // batch element's matrix.
  void UsePlainMemory(MatrixOperand& operand, const Expr& e,
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

  // Where the panels of a matrix of a batch begin, over d.b.batch.
  Expr BaseOfPanels(const std::vector<te::Axis>& batch_axes) {
    ContractionDetail& d = *detail_;
    const Tensor& weight = d.contraction->hint_inputs[1];
    if (batch_axes.empty()) return te::IntImm(0);
    Expr load = product_.weight;
    while (load->kind == ExprKind::kCast) load = load->operands[0];
    Substitution to;
    to.Add(batch_axes, {te::AxisValue(d.b.batch)});
    return Times(to.Apply(load->operands[0]), ProductOf(std::span(weight->shape).subspan(1)));
  }

  // The view's coordinates are (panel, k, column in panel).
  void PlanPackedWeight(const std::vector<te::Axis>& batch_axes) {
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
    UsePlainMemory(d.b, te::Load(weight, std::vector<Expr>(3, te::IntImm(0))), {}, 0,
                   d.packed_width);
  }

  std::optional<int64_t> ConstDepth() const {
    if (detail_->depth.is_const()) return detail_->depth.value();
    return std::nullopt;
  }

  void ChooseTile() {
    ContractionDetail& d = *detail_;
    d.lanes = d.target.vector_bytes / DTypeBytes(d.dtype);
    d.vectors = 2;
    if (d.packed_width > 0) {
      while (d.packed_width % d.lanes != 0) d.lanes /= 2;
      const bool is_thin = d.columns.is_const() && d.columns.value() <= d.lanes;
      if (d.packed_width % (2 * d.lanes) != 0 || is_thin) d.vectors = 1;
    } else if (d.columns.is_const()) {
      const int64_t columns = std::max<int64_t>(d.columns.value(), 4);
      while (d.lanes / 2 >= columns) d.lanes /= 2;
      if (columns <= d.lanes) d.vectors = 1;
    }
    // Accumulators leave registers for a row of b and a broadcast, and for the product where that
    // is an instruction of its own.
    if (d.target.vector_registers == 32 && d.weight_block > 0 &&
        d.contraction->weight_form->in_words()) {
      // Measured: small tiles, whose sums stay beside what words of numbers become.
      d.vectors = 1;
      d.tile_rows = 6;
    } else if (d.target.vector_registers == 32) {
      d.tile_rows = 12;
    } else {
      d.tile_rows = (d.target.fma ? 12 : 10) / d.vectors;
    }
    plan_.refused = TakeSchedule(d);
    FitSets();
    d.panel = int64_t{d.lanes} * d.vectors;
    d.panels = Dim::CeilDiv(d.columns, d.panel);
  }

  // Smaller tiles where each has several sets of accumulators.
  void FitSets() {
    ContractionDetail& d = *detail_;
    if (d.order.form != SumOrder::Form::kTiles || d.order.sets == 1) return;
    const unsigned accumulators = d.target.vector_registers == 32 ? 24 : 12;
    if (d.target.vector_registers != 32) d.vectors = 1;
    d.tile_rows = std::max(1U, accumulators / d.order.sets / d.vectors);
  }

  // Rows of a that are packed at a time: what leaves room in L2 for b, in blocks of equal size
  // where the extent is known.
  void ChooseRowBlock(int64_t depth) {
    ContractionDetail& d = *detail_;
    const int64_t row_bytes = std::max<int64_t>(depth, 64) * DTypeBytes(d.dtype);
    const int64_t fit = d.target.l2_bytes * 3 / 4 / row_bytes;
    const int64_t most = RoundUp(std::clamp<int64_t>(fit, 4 * d.tile_rows, 240), d.tile_rows);
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

  Dim ScratchOfPackedA() const {
    const ContractionDetail& d = *detail_;
    if (d.a.k_contiguous) return d.k_blocks * (d.row_block * d.a_row_stride);
    return d.depth * (d.row_block / d.tile_rows * RoundUp(d.tile_rows, d.lanes));
  }

  // --- Convolutions ---

  bool PlanConv() {
    ContractionDetail& d = *detail_;
    const te::TensorNode& t = *d.contraction;
    if (!t.conv) return false;
    const ConvForm& form = *t.conv;
    const auto spatial = static_cast<size_t>(form.spatial());
    if (t.rank() != form.spatial() + 2) return false;
    const std::string letters(form.letters());
    PixelOperand& p = d.pixels;
    p.channels_last = form.is_channels_last();
    if (!p.channels_last && !form.is_channels_first()) return false;
    const size_t channel_at = p.channels_last ? spatial + 1 : 1;
    const size_t space_at = p.channels_last ? 1 : 2;
    const Tensor& data = t.hint_inputs[0];
    const Tensor& weight = t.hint_inputs[1];
    const std::string usual_layout = form.UsualKernel();
    std::string kernel_layout = form.kernel.ToString();
    std::vector<Dim> kernel_shape = weight->shape;
    if (kernel_layout.ends_with("4i") && MultipliesBytes(product_)) {
      kernel_layout.resize(kernel_layout.size() - 2);
      kernel_shape.pop_back();
      d.panel_form = PanelForm::kQuads;
      p.bytes = true;
    }
    const bool is_usual = kernel_layout == usual_layout;
    const int64_t packed_rows = PackedRows(usual_layout, kernel_layout, kernel_shape);
    if (packed_rows > 0) {
      kernel_layout = usual_layout;
      kernel_shape.pop_back();
    }
    const int64_t packed_columns = PackedColumns(letters, kernel_layout, kernel_shape);
    if (packed_columns > 0) {
      kernel_layout = "O" + letters + "I";
      kernel_shape.pop_back();
    }
    if (data->rank() != t.rank() || kernel_layout.size() != kernel_shape.size()) return false;

    p.data = data;
    p.channels = data->shape[channel_at];
    p.stride = form.strides;
    p.padding = form.padding.before;
    p.dilation = form.dilation;
    p.groups = form.groups;
    for (size_t s = 0; s < spatial; ++s) {
      p.input.push_back(data->shape[space_at + s]);
      p.output.push_back(t.shape[space_at + s]);
      const size_t at = kernel_layout.find(letters[s]);
      if (at == std::string::npos || !kernel_shape[at].is_const()) return false;
      p.kernel.push_back(kernel_shape[at].value());
      if (p.kernel.back() > kMostTaps) return false;
    }
    if (p.taps() > kMostTaps) return false;
    // Reduction axes, in the order of the layout: the taps and, unless a group has one, the input
    // channel.
    std::vector<te::Axis> taps = product_.reduce->axes;
    te::Axis channel;
    if (taps.size() == spatial + 1) {
      auto at = p.channels_last ? taps.end() - 1 : taps.begin();
      channel = *at;
      taps.erase(at);
    }
    if (taps.size() != spatial) return false;
    const Dim group_channels = channel ? channel->extent : Dim(1);
    const Dim out_channels = t.shape[channel_at];
    if (!group_channels.is_const() || !out_channels.is_const() || p.groups < 1) return false;
    p.group_channels = group_channels.value() / (p.bytes ? kQuad : 1);
    if (out_channels.value() % p.groups != 0) return false;
    const int64_t group_outputs = out_channels.value() / p.groups;
    if (!LayoutsAgree(t, product_, channel_at)) return false;

    const Expr* data_load = &product_.data;
    while ((*data_load)->kind == ExprKind::kSelect || (*data_load)->kind == ExprKind::kCast) {
      if ((*data_load)->kind == ExprKind::kCast)
        p.casts.insert(p.casts.begin(), (*data_load)->dtype);
      data_load = &(*data_load)->operands[(*data_load)->kind == ExprKind::kSelect ? 1 : 0];
    }
    if ((*data_load)->kind != ExprKind::kLoad || (*data_load)->tensor != data) return false;
    p.plain = p.bytes ? PlainLoad(*data_load, DType::kUInt8, spec_) != nullptr
                      : p.casts.empty() && PlainLoad(*data_load, d.dtype, spec_);

    d.depth = p.group_channels * p.taps();
    d.image_pixels = ProductOf(p.output);
    const Dim channels(group_outputs);
    if (p.channels_last) {
      d.form = ContractionForm::kPixelRows;
      d.batch = t.shape[0] * p.groups;
      d.rows = d.image_pixels;
      d.columns = channels;
    } else {
      d.form = ContractionForm::kPixelColumns;
      d.batch = p.groups;
      d.images = t.shape[0];
      d.rows = channels;
      d.columns = d.images * d.image_pixels;
    }

    // The weights as a matrix of (channel of the group) x k.
    const te::Axis out_axis = t.axes[channel_at];
    auto weights = [&](const Expr& group, const Expr& out, const Expr& k) {
      Substitution to;
      to.Add(out_axis, Times(group, group_outputs) + out);
      Expr tap = k;
      if (channel) {
        to.Add(channel, p.channels_last ? Remainder(k, p.group_channels) : Quotient(k, p.taps()));
        tap = p.channels_last ? Quotient(k, p.group_channels) : Remainder(k, p.taps());
      }
      to.Add(taps, Unflatten(tap, taps));
      return te::Cast(to.Apply(product_.weight), d.dtype);
    };
    MatrixOperand& w = p.channels_last ? d.b : d.a;
    w.k_contiguous = !p.channels_last;
    w.view = te::Compute("weights",
                         p.channels_last ? std::vector<Dim>{d.batch, d.depth, channels}
                                         : std::vector<Dim>{d.batch, channels, d.depth},
                         [&](const std::vector<Expr>& i) {
                           const Expr group = Remainder(i[0], p.groups);
                           return p.channels_last ? weights(group, i[2], i[1])
                                                  : weights(group, i[1], i[2]);
                         });
    w.batch = te::MakeAxis("batch", d.batch);
    const Expr group = Remainder(te::AxisValue(w.batch), p.groups);
    w.stride = p.channels_last ? out_channels : d.depth;
    w.base = Times(group, p.channels_last ? channels : channels * d.depth);
    const bool halves = IsHalvesWeight(spec_, product_, d);
    const ExprNode* load = p.bytes || halves
                               ? PlainLoad(product_.weight->operands[0], weight->dtype, spec_)
                               : PlainLoad(product_.weight, d.dtype, spec_);
    if (load && !halves && (channel || !p.channels_last) && is_usual) w.buffer = load->tensor;
    if (p.bytes && (!p.plain || !load || !channel || !(is_usual || packed_rows > 0))) return false;

    if (CoversWholeInput() && !p.bytes) {
      PlanConvAsMatrix(channel, taps, weights);
      return true;
    }
    d.row_axes = p.channels_last ? spatial + 1 : 2;
    if (packed_columns > 0 && load && channel && p.groups == 1) {
      // The view's coordinates are (panel, k, column in panel).
      d.packed_width = packed_columns;
      w.buffer = load->tensor;
      w.base = te::IntImm(0);
      w.stride = packed_columns;
      if (halves) {
        d.panel_form = PanelForm::kWidened;
        d.widened = WeightFormOfPanels(weight->dtype, 3, d.dtype);
        d.panel_words = d.depth;
      }
      w.view =
          te::Compute("weights", {Dim::CeilDiv(channels, packed_columns), d.depth, packed_columns},
                      [&](const std::vector<Expr>& i) {
                        return weights(te::IntImm(0), Times(i[0], packed_columns) + i[2], i[1]);
                      });
    }
    ChooseTile();
    if (DirectIsBetter(group_outputs) && !p.bytes) {
      if (halves && is_usual && !p.channels_last) {
        w.buffer = weight;
        w.halves = true;
      }
      PlanDirect(
          te::Compute("weights", {p.groups, group_outputs, d.depth},
                      [&](const std::vector<Expr>& i) { return weights(i[0], i[1], i[2]); }));
      return true;
    }
    if (p.channels_last) {
      if (FlattenEpilogue(d.epilogue, 1, spatial + 1)) d.row_axes = 2;
    } else {
      FlattenEpilogue(d.epilogue, 2, spatial + 2);
      FlattenPixels();
    }
    if (load && packed_rows > 0 && group_outputs % packed_rows == 0 && packed_rows <= d.tile_rows &&
        packed_rows * d.vectors >= 8) {
      // Packed as tiles read it.
      w.buffer = load->tensor;
      w.k_contiguous = false;
      d.tile_rows = static_cast<unsigned>(packed_rows);
      const int64_t wanted = d.target.schedule.rows;
      if (wanted > 0 && wanted != packed_rows)
        plan_.refused = fmt::format("the weights are packed in blocks of {} rows", packed_rows);
      d.a_k_stride = packed_rows;
    }
    if (p.bytes && !w.buffer) return false;
    // Channels last, tiles widen packed panels only.
    if (halves && is_usual && !p.channels_last) w.buffer = weight;
    w.halves = halves && w.buffer && !p.channels_last;
    const int64_t depth = d.depth.value();
    d.pack_a = !w.buffer || p.channels_last;
    if (d.pack_a) {
      d.a_row_stride = RoundUp(depth, 16);
      if (d.a_row_stride % 64 == 0) d.a_row_stride += 16;
      ChooseRowBlock(depth);
    } else {
      d.a_row_stride = w.k_contiguous ? depth : 1;
    }
    Dim b_elements = RoundUp(Dim(depth), d.lanes) * d.panel;
    if (!p.channels_last) {
      b_elements = FitPixelPanels(d);
      d.epilogue_in_registers = TakesRegisters();
    }
    int64_t scratch_rows = d.pack_a ? d.row_block : 0;
    int64_t row_elements = d.a_row_stride;
    if (w.halves) {  // what a tile reads, of a block of channels; of all where pixels are read in place
      const int64_t block = d.channel_block * p.taps();
      if (w.k_contiguous) d.a_row_stride = RoundUp(block, 16) + 16;
      row_elements = w.k_contiguous ? d.a_row_stride : block;
      const bool may_be_in_place = d.pixels_in_place && d.rows.value() <= kMostRowsInPlace;
      scratch_rows = may_be_in_place ? RoundUp(d.rows.value(), d.tile_rows) : d.tile_rows;
    }
    Finish(scratch_rows > 0 ? Dim(scratch_rows * row_elements + d.lanes) : Dim(0), b_elements);
    return true;
  }

  // P, where the layout of a kernel of that shape is `usual` followed by Po; else 0.
  int64_t PackedRows(const std::string& usual, const std::string& layout,
                     const std::vector<Dim>& shape) const {
    if (detail_->pixels.channels_last || shape.empty() || !shape.back().is_const()) return 0;
    const int64_t rows = shape.back().value();
    return layout == usual + std::to_string(rows) + "o" ? rows : 0;
  }

  // P, where the layout is that of panels of so many outputs, channels last: (O / P, taps..., I,
  // P); else 0.
  int64_t PackedColumns(const std::string& letters, const std::string& layout,
                        const std::vector<Dim>& shape) const {
    if (!detail_->pixels.channels_last || shape.empty() || !shape.back().is_const()) return 0;
    const int64_t columns = shape.back().value();
    return layout == "O" + letters + "I" + std::to_string(columns) + "o" ? columns : 0;
  }

  // Windows of one pixel at every pixel: an image is one line.
  void FlattenPixels() {
    PixelOperand& p = detail_->pixels;
    if (!p.plain || p.taps() != 1) return;
    for (size_t s = 0; s < p.spatial(); ++s) {
      if (p.stride[s] != 1 || p.padding[s] != 0 || p.output[s] != p.input[s]) return;
    }
    detail_->pixels_in_place = true;
    p.input = p.output = {ProductOf(p.output)};
    p.kernel = p.stride = p.dilation = {1};
    p.padding = {0};
  }

  // One window for an image: a dense layer.
  bool CoversWholeInput() const {
    const PixelOperand& p = detail_->pixels;
    if (p.groups != 1) return false;
    for (size_t s = 0; s < p.spatial(); ++s) {
      if (!p.output[s].is_const(1) || !p.input[s].is_const(p.kernel[s]) || p.padding[s] != 0 ||
          (p.kernel[s] > 1 && p.dilation[s] != 1)) {
        return false;
      }
    }
    return true;
  }

  template <typename Weights>
  void PlanConvAsMatrix(const te::Axis& channel, const std::vector<te::Axis>& taps,
                        const Weights& weights) {
    ContractionDetail& d = *detail_;
    const PixelOperand& p = d.pixels;
    const te::TensorNode& t = *d.contraction;
    const te::Axis out_axis = t.axes[p.channels_last ? p.spatial() + 1 : 1];
    d.form = ContractionForm::kMatrix;
    d.batch = 1;
    d.rows = t.shape[0];
    d.columns = out_axis->extent;
    // Row-major positions of an image are the k of its weights, in both layouts.
    std::vector<te::Axis> k_axes = taps;
    if (channel) k_axes.insert(p.channels_last ? k_axes.end() : k_axes.begin(), channel);
    d.a = {};
    d.a.view = te::Compute("a", {1, d.rows, d.depth}, [&](const std::vector<Expr>& i) {
      Substitution to;
      to.Add(t.axes[0], i[1]);
      to.Add(k_axes, Unflatten(i[2], k_axes));
      return te::Cast(to.Apply(product_.data), d.dtype);
    });
    UsePlainMemory(d.a, product_.data, {}, 0, d.depth);
    d.b = {};
    d.b.k_contiguous = !p.channels_last;
    d.b.view = te::Compute("b", {1, d.depth, d.columns}, [&](const std::vector<Expr>& i) {
      return weights(te::IntImm(0), i[2], i[1]);
    });
    if (t.conv->has_usual_kernel()) {
      UsePlainMemory(d.b, product_.weight, {}, 0, p.channels_last ? d.columns : d.depth);
    }
    d.epilogue.axes = {t.axes[0], out_axis};  // the others are 0
    d.row_axes = 1;
    TileMatrix();
  }

  // Packing pixels pays when several tiles of outputs reuse them. As many outputs as there are sums
  // in registers read each pixel once, in the lines that the image has: if those fill vectors.
  bool DirectIsBetter(int64_t group_outputs) const {
    constexpr int64_t kFewOutputs = 4;     // whatever else holds
    constexpr int64_t kMostOutputs = 16;   // sums of one vector each
    constexpr int64_t kMostChannels = 64;  // of windows of one pixel, which nothing packs
    const PixelOperand& p = detail_->pixels;
    if (p.channels_last) return p.groups > 1 && group_outputs == 1 && p.group_channels == 1;
    if (group_outputs <= kFewOutputs) return true;
    const ContractionTarget& target = detail_->target;
    if (target.vector_registers < 2 * kMostOutputs || group_outputs > kMostOutputs || !p.plain ||
        (p.taps() == 1 && p.group_channels > kMostChannels)) {
      return false;
    }
    if (target.schedule != TileSchedule()) return false;  // which direct ones have none of
    const Dim& width = p.output.back();
    if (!width.is_const()) return true;
    const int64_t lanes = target.vector_bytes / DTypeBytes(detail_->dtype);
    return width.value() * 5 >= RoundUp(width.value(), lanes) * 4;
  }

  // weights: (group, output channel of the group, k).
  void PlanDirect(Tensor weights) {
    ContractionDetail& d = *detail_;
    const PixelOperand& p = d.pixels;
    d.form = ContractionForm::kDirect;
    if (d.target.schedule != TileSchedule()) plan_.refused = "its outputs are summed one by one";
    d.a.view = std::move(weights);
    d.lanes = d.target.vector_bytes / DTypeBytes(d.dtype);
    if (p.channels_last) d.rows = d.columns;
    FitChannelBlocks(d);
    d.is_small = IsSmall(d) && FlattenEpilogue(d.epilogue, 2, 4);
    d.may_be_flat = !d.is_small && MayBeFlat(d) && FlattenEpilogue(d.epilogue, 2, 4);
    d.has_planes = !d.is_small && !d.may_be_flat && PlanesAreBetter(d);
    std::vector<Dim> lines(p.output.begin(), p.output.end() - 1);
    Dim unit_lines = 1;
    if (const int64_t most = p.channels_last ? d.block_lines : kDirectLines;
        most > 0 && p.spatial() > 1) {
      unit_lines = Dim::Min(lines.back(), most);
      lines.back() = Dim::CeilDiv(lines.back(), most);
    }
    plan_.parallel_extent =
        d.contraction->shape[0] * ProductOf(lines) * (p.channels_last ? 1 : p.groups);
    const Dim channels = p.channels_last ? Dim(p.groups) : d.rows;
    const Dim work = Dim::Max(1, channels * unit_lines * p.output.back() * d.depth);
    plan_.grain = Dim::Max(1, Dim::CeilDiv(kDirectTaskWork, work));
    // What a group's weights of float16 become.
    plan_.scratch_bytes = d.a.halves ? d.rows * d.depth * DTypeBytes(d.dtype) : Dim(0);
    if (d.has_planes) plan_.scratch_bytes = FitPlanes(d);
  }

  // --- AMX ---

  // Blocks of rows and scratch for the product by AMX's tiles.
  void PlanAmx() {
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
    Finish(is_matrix ? ScratchOfPackedA() : Dim(d.row_block * d.a_row_stride + d.lanes),
           RoundUp(d.depth, d.lanes) * d.panel);
    Need(TilesOf(d));
    plan_.scratch_bytes = Dim::Max(plan_.scratch_bytes, scratch_of_vectors);
    plan_.amx = detail_;
    detail_ = of_vectors;
  }

  // The code has the instruction, if there is one.
  void Need(const DotProduct* form) {
    if (form == nullptr) return;
    plan_.features += plan_.features.empty() ? "" : ",";
    plan_.features += form->features;
  }

  // --- Scratch, parallel range ---

  void Finish(const Dim& a_elements, const Dim& b_elements) {
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
                                        d.packed_width == 0 || !d.b.buffer);
    d.b_offset = reserve(packs_b ? b_elements : Dim(0));
    // Rows that are computed are brought to memory for dot kernels; others they read in place.
    const int64_t dot_rows =
        d.rows.is_const() ? std::min(d.rows.value(), kMaxDotRows) : kMaxDotRows;
    d.dot_offset =
        reserve(HasDots(d) && !d.a.buffer ? RoundUp(d.depth, d.lanes) * dot_rows : Dim(0));
    d.tail_offset = reserve(d.amx ? kAmxTile * d.panel : 0);
    plan_.scratch_bytes = offset;
    plan_.parallel_extent = d.batch * d.row_blocks * d.panels;
    // Work of a unit in multiply-adds, with what reading a column of b costs.
    const Dim rows = d.row_block ? Dim::Min(d.rows, d.row_block) : d.rows;
    const Dim work = Dim::Max(1, (rows + 8) * d.depth * d.panel);
    plan_.grain = Dim::Max(1, Dim::CeilDiv(kTaskWork, work));
  }

  bool TakesRegisters() const {
    return EpilogueCost(spec_, detail_->contraction) <= kMostRegisterCost;
  }

  // Whether no size that the product can have makes tiles of it, so that nothing is packed.
  static bool HasOnlyDots(const ContractionDetail& d) {
    if (d.order.form == SumOrder::Form::kDots) return HasDots(d);
    const int64_t rows = d.rows.is_const() ? d.rows.value() : kMostDotRows + 1;
    return d.order.form != SumOrder::Form::kTiles && IsServedByDots(d, rows);
  }

  // One tile of rows uses each element of b once: packing it would cost more than reading it where
  // it is.
  static bool StreamsB(const ContractionDetail& d) {
    return !d.amx && d.form != ContractionForm::kPixelColumns && d.packed_width == 0 &&
           d.b.buffer && !d.b.k_contiguous && !(d.rows.is_const() && d.rows.value() > d.tile_rows);
  }

  const KernelSpec& spec_;
  std::shared_ptr<ContractionDetail> detail_;
  ContractionPlan plan_;
  Product product_;
};

}  // namespace

bool TakesWeightBlock(int64_t block) {
  return block > 0 && block % 8 == 0 && kDepthOfTile % block == 0;
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
  return Planner(spec, target).Plan();
}

}  // namespace relayvm::codegen
