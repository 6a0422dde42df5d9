// Convolutions: form, operands and tiling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/codegen/contraction/coordinates.h"
#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/planner.h"
#include "kernels/codegen/contraction/sorted_quads.h"

namespace relayvm::codegen {

using te::Expr;
using te::ExprKind;
using te::ExprNode;
using te::Tensor;

namespace {

// Of a kernel's window.
constexpr int64_t kMostTaps = 1 << 16;

// The factor of a layout's last part, where it is `outer` followed by Po; else 0.
int64_t PackedOutputs(const std::string& outer, const std::string& layout,
                      const std::vector<Dim>& shape) {
  if (shape.empty() || !shape.back().is_const()) return 0;
  const int64_t factor = shape.back().value();
  return layout == fmt::format("{}{}o", outer, factor) ? factor : 0;
}

}  // namespace

bool ContractionPlanner::PlanConv() {
  ContractionDetail& d = *detail_;
  Convolution c;
  if (!ReadConvolution(c)) return false;
  SetSizes(c);
  if (!PlanWeights(c)) return false;
  if (CoversWholeInput() && !d.pixels.bytes) {
    PlanConvAsMatrix(c);
    return true;
  }
  DropAxes(c);
  d.row_axes = d.pixels.channels_last ? c.spatial + 1 : 2;
  if (c.packed_columns > 0 && c.load && c.channel && d.pixels.groups == 1) PlanPackedPanels(c);
  ChooseTile();
  // As many sums, in more vectors of fewer rows: fewer rows that only fill up.
  if (!d.pixels.channels_last && d.target.vector_registers == 16) ChoosePixelTile(4);
  if (DirectIsBetter(c.group_outputs) && !d.pixels.bytes) {
    PlanDirect(c);
    return true;
  }
  UsePackedRows(c);
  if (PlaneTilesAreBetter(d)) {
    PlanPlaneTiles();
    return true;
  }
  return TileConv(c);
}

// --- Reading ---

bool ContractionPlanner::ReadConvolution(Convolution& c) {
  const te::TensorNode& t = *detail_->contraction;
  if (!t.conv) return false;
  const ConvForm& form = *t.conv;
  if (t.rank() != form.spatial() + 2) return false;
  c.spatial = static_cast<size_t>(form.spatial());
  PixelOperand& p = detail_->pixels;
  p.channels_last = form.is_channels_last();
  if (!p.channels_last && !form.is_channels_first()) return false;
  c.channel_at = p.channels_last ? c.spatial + 1 : 1;
  p.data = t.hint_inputs[0];
  if (p.data->rank() != t.rank()) return false;
  p.channels = p.data->shape[c.channel_at];
  p.stride = form.strides;
  p.padding = form.padding.before;
  p.dilation = form.dilation;
  p.groups = form.groups;
  const size_t space_at = p.channels_last ? 1 : 2;
  for (size_t s = 0; s < c.spatial; ++s) {
    p.input.push_back(p.data->shape[space_at + s]);
    p.output.push_back(t.shape[space_at + s]);
  }
  return ReadKernel(c) && ReadSum(c) && LayoutsAgree(t, product_, c.channel_at) && ReadPixels();
}

bool ContractionPlanner::ReadKernel(Convolution& c) {
  const te::TensorNode& t = *detail_->contraction;
  const ConvForm& form = *t.conv;
  PixelOperand& p = detail_->pixels;
  const std::string letters(form.letters()), usual = form.UsualKernel();
  std::string layout = form.kernel.ToString();
  std::vector<Dim> shape = t.hint_inputs[1]->shape;
  if (layout.ends_with("4i") && MultipliesBytes(product_)) {
    layout.resize(layout.size() - 2);
    shape.pop_back();
    detail_->panel_form = PanelForm::kQuads;
    p.bytes = true;
  }
  c.is_usual = layout == usual;
  const std::string panels = "O" + letters + "I";
  if (p.channels_last) {
    c.packed_columns = PackedOutputs(panels, layout, shape);
  } else {
    c.packed_rows = PackedOutputs(usual, layout, shape);
  }
  if (c.packed_rows > 0 || c.packed_columns > 0) {
    layout = p.channels_last ? panels : usual;
    shape.pop_back();
  }
  if (layout.size() != shape.size()) return false;
  for (const char letter : letters) {
    const size_t at = layout.find(letter);
    if (at == std::string::npos || !shape[at].is_const()) return false;
    p.kernel.push_back(shape[at].value());
    if (p.kernel.back() > kMostTaps) return false;
  }
  return p.taps() <= kMostTaps;
}

bool ContractionPlanner::ReadSum(Convolution& c) {
  PixelOperand& p = detail_->pixels;
  // In the order of the layout: the taps and, unless a group has one, the input channel.
  c.taps = product_.reduce->axes;
  if (c.taps.size() == c.spatial + 1) {
    auto at = p.channels_last ? c.taps.end() - 1 : c.taps.begin();
    c.channel = *at;
    c.taps.erase(at);
  }
  if (c.taps.size() != c.spatial) return false;
  const Dim group_channels = c.channel ? c.channel->extent : Dim(1);
  const Dim& out_channels = detail_->contraction->shape[c.channel_at];
  if (!group_channels.is_const() || !out_channels.is_const() || p.groups < 1) return false;
  p.group_channels = group_channels.value() / (p.bytes ? kQuad : 1);
  if (out_channels.value() % p.groups != 0) return false;
  c.group_outputs = out_channels.value() / p.groups;
  return true;
}

bool ContractionPlanner::ReadPixels() {
  PixelOperand& p = detail_->pixels;
  const Expr* load = &product_.data;
  while ((*load)->kind == ExprKind::kSelect || (*load)->kind == ExprKind::kCast) {
    if ((*load)->kind == ExprKind::kCast) p.casts.insert(p.casts.begin(), (*load)->dtype);
    load = &(*load)->operands[(*load)->kind == ExprKind::kSelect ? 1 : 0];
  }
  if ((*load)->kind != ExprKind::kLoad || (*load)->tensor != p.data) return false;
  p.plain = p.bytes ? PlainLoad(*load, DType::kUInt8, spec_) != nullptr
                    : p.casts.empty() && PlainLoad(*load, detail_->dtype, spec_);
  return true;
}

void ContractionPlanner::SetSizes(const Convolution& c) {
  ContractionDetail& d = *detail_;
  const PixelOperand& p = d.pixels;
  const Dim& images = d.contraction->shape[0];
  d.depth = p.group_channels * p.taps();
  d.image_pixels = ProductOf(p.output);
  if (p.channels_last) {
    d.form = ContractionForm::kPixelRows;
    d.batch = images * p.groups;
    d.rows = d.image_pixels;
    d.columns = c.group_outputs;
    return;
  }
  d.form = ContractionForm::kPixelColumns;
  d.batch = p.groups;
  d.images = images;
  d.rows = c.group_outputs;
  d.columns = d.images * d.image_pixels;
}

// --- Weights ---

Expr ContractionPlanner::WeightOf(const Convolution& c, const Expr& group, const Expr& out,
                                  const Expr& k) const {
  const PixelOperand& p = detail_->pixels;
  Substitution to;
  to.Add(detail_->contraction->axes[c.channel_at], Times(group, c.group_outputs) + out);
  Expr tap = k;
  if (c.channel) {
    to.Add(c.channel, p.channels_last ? Remainder(k, p.group_channels) : Quotient(k, p.taps()));
    tap = p.channels_last ? Quotient(k, p.group_channels) : Remainder(k, p.taps());
  }
  to.Add(c.taps, Unflatten(tap, c.taps));
  return te::Cast(to.Apply(product_.weight), detail_->dtype);
}

bool ContractionPlanner::PlanWeights(Convolution& c) {
  ContractionDetail& d = *detail_;
  const PixelOperand& p = d.pixels;
  const Tensor& weight = d.contraction->hint_inputs[1];
  const Dim channels(c.group_outputs);
  MatrixOperand& w = Weights();
  w.k_contiguous = !p.channels_last;
  w.view = te::Compute("weights",
                       p.channels_last ? std::vector<Dim>{d.batch, d.depth, channels}
                                       : std::vector<Dim>{d.batch, channels, d.depth},
                       [&](const std::vector<Expr>& i) {
                         const Expr group = Remainder(i[0], p.groups);
                         return p.channels_last ? WeightOf(c, group, i[2], i[1])
                                                : WeightOf(c, group, i[1], i[2]);
                       });
  w.batch = te::MakeAxis("batch", d.batch);
  const Expr group = Remainder(te::AxisValue(w.batch), p.groups);
  w.stride = p.channels_last ? d.contraction->shape[c.channel_at] : d.depth;
  w.base = Times(group, p.channels_last ? channels : channels * d.depth);
  c.halves = IsHalvesWeight(spec_, product_, d);
  c.load = p.bytes || c.halves ? PlainLoad(product_.weight->operands[0], weight->dtype, spec_)
                               : PlainLoad(product_.weight, d.dtype, spec_);
  if (c.load && !c.halves && (c.channel || !p.channels_last) && c.is_usual)
    w.buffer = c.load->tensor;
  if (!p.bytes) return true;
  if (!p.plain || !c.load || !c.channel) return false;
  if (c.packed_columns > 0) {
    TakeStepOrder(spec_, d);
    return p.groups == 1 && d.step_order;
  }
  return c.is_usual || c.packed_rows > 0;
}

void ContractionPlanner::PlanPackedPanels(const Convolution& c) {
  ContractionDetail& d = *detail_;
  const int64_t width = c.packed_columns;
  MatrixOperand& w = Weights();
  d.packed_width = width;
  w.buffer = c.load->tensor;
  w.base = te::IntImm(0);
  w.stride = width;
  if (d.pixels.bytes) d.panel_words = d.depth;
  if (c.halves) {
    d.panel_form = PanelForm::kWidened;
    d.widened = WeightFormOfPanels(d.contraction->hint_inputs[1]->dtype, 3, d.dtype);
    d.panel_words = d.depth;
  }
  // The view's coordinates are (panel, k, column in panel).
  w.view = te::Compute("weights", {Dim::CeilDiv(c.group_outputs, width), d.depth, width},
                       [&](const std::vector<Expr>& i) {
                         return WeightOf(c, te::IntImm(0), Times(i[0], width) + i[2], i[1]);
                       });
}

// --- Tiles of packed pixels ---

// About how many cycles a column takes of tiles of so many rows and vectors.
double ContractionPlanner::PixelCycles(unsigned tile_rows, unsigned vectors) const {
  const ContractionDetail& d = *detail_;
  constexpr double kCall = 30;  // as estimate.cc has it
  // The share of a load that multiply-adds do not hide, measured: 1.02 to 1.16 times the time with
  // 8x32 for 8x48 of AVX-512, of images that fill either. None with AVX2, where 4x24 for 6x16
  // would be .95.
  const double shown = d.target.vector_registers == 32 ? 1.0 / 12 : 0;
  const double depth = static_cast<double>(d.depth.value());
  const auto tile = [&](int64_t rows) {
    if (rows == 0) return 0.0;
    const auto sums = static_cast<double>(rows * vectors);
    const auto loads = static_cast<double>(rows + vectors);
    return depth * (std::max(sums, loads) / 2 + loads * shown) + kCall + sums;
  };
  const int64_t rows = d.rows.value(), panel = int64_t{d.lanes} * vectors;
  const double of_panel =
      static_cast<double>(rows / tile_rows) * tile(tile_rows) + tile(rows % tile_rows);
  const double columns = static_cast<double>(panel);
  if (!d.columns.is_const()) return of_panel / columns;
  const auto wanted = static_cast<double>(std::max<int64_t>(d.columns.value(), 1));
  return of_panel * std::ceil(wanted / columns) / wanted;
}

void ContractionPlanner::ChoosePixelTile(unsigned tile_rows) {
  ContractionDetail& d = *detail_;
  constexpr unsigned kVectors = 3;
  const bool is_chosen =
      d.target.schedule != TileSchedule() || d.order.form != SumOrder::Form::kAny;
  if (!d.target.fma || d.pixels.bytes || is_chosen || d.vectors != 2 ||
      PixelCycles(tile_rows, kVectors) > PixelCycles(d.tile_rows, d.vectors)) {
    return;
  }
  d.tile_rows = tile_rows;
  d.vectors = kVectors;
  d.panel = int64_t{d.lanes} * d.vectors;
  d.panels = Dim::CeilDiv(d.columns, d.panel);
}

bool ContractionPlanner::TileConv(const Convolution& c) {
  ContractionDetail& d = *detail_;
  const PixelOperand& p = d.pixels;
  MatrixOperand& w = Weights();
  if (p.channels_last) {
    if (FlattenEpilogue(d.epilogue, 1, c.spatial + 1)) d.row_axes = 2;
  } else {
    FlattenEpilogue(d.epilogue, 2, c.spatial + 2);
    FlattenPixels();
  }
  if (p.bytes && !w.buffer) return false;
  // Channels last, tiles widen packed panels only.
  if (c.halves && c.is_usual && !p.channels_last) w.buffer = d.contraction->hint_inputs[1];
  w.halves = c.halves && w.buffer && !p.channels_last;
  const int64_t depth = d.depth.value() * d.step_words;
  d.pack_a = !w.buffer || p.channels_last;
  if (d.pack_a) {
    d.a_row_stride = RoundUp(depth, 16);
    if (d.a_row_stride % 64 == 0) d.a_row_stride += 16;
    ChooseRowBlock(depth);
  } else {
    d.a_row_stride = w.k_contiguous ? depth : 1;
  }
  Dim b_elements = d.sorts_steps ? SortedPanelElements(d, d.depth)
                                 : RoundUp(d.depth, d.lanes) * (d.panel * d.step_words);
  if (!p.channels_last) {
    d.cuts_taps = MayCutTaps(d);
    b_elements = FitPixelPanels(d);
    FitRowParts(d);
    d.few_pixels = FewPixelsOf(d);
    d.epilogue_in_registers = TakesRegisters();
  }
  int64_t scratch_rows = d.pack_a ? d.row_block : 0;
  int64_t row_elements = d.a_row_stride;
  // What a tile reads, of a block of channels; of all where pixels are read in place.
  if (WidensRows(d)) {
    const int64_t block = d.channel_block * p.taps() * d.step_words;
    if (w.k_contiguous) d.a_row_stride = RoundUp(block, 16) + 16;
    row_elements = w.k_contiguous ? d.a_row_stride : block;
    const bool may_be_in_place =
        w.halves && d.pixels_in_place && d.rows.value() <= kMostRowsInPlace;
    scratch_rows = may_be_in_place ? RoundUp(d.rows.value(), d.tile_rows) : d.tile_rows;
  }
  if (d.cuts_taps) {
    scratch_rows = d.tile_rows;
    row_elements = depth;
  }
  // A run that is packed may reach past the last row.
  const int64_t run = d.lanes * d.step_words;
  Finish(scratch_rows > 0 ? Dim(scratch_rows * row_elements + run) : Dim(0), b_elements);
  if (d.few_pixels > 0) {
    d.few_offset = plan_.scratch_bytes;
    plan_.scratch_bytes =
        plan_.scratch_bytes + d.few_pixels * FewPixelStride(d) * DTypeBytes(d.dtype);
  }
  return true;
}

void ContractionPlanner::UsePackedRows(const Convolution& c) {
  ContractionDetail& d = *detail_;
  const int64_t rows = c.packed_rows;
  if (!c.load || rows == 0 || c.group_outputs % rows != 0 || rows > d.tile_rows ||
      rows * d.vectors < 8) {
    return;
  }
  // Packed as tiles read it.
  MatrixOperand& w = Weights();
  w.buffer = c.load->tensor;
  w.k_contiguous = false;
  d.tile_rows = static_cast<unsigned>(rows);
  if (d.form == ContractionForm::kPixelColumns && d.target.vector_registers == 32)
    ChoosePixelTile(d.tile_rows);
  const int64_t wanted = d.target.schedule.rows;
  if (wanted > 0 && wanted != rows)
    plan_.refused = fmt::format("the weights are packed in blocks of {} rows", rows);
  d.a_k_stride = rows;
}

void ContractionPlanner::DropAxes(Convolution& c) {
  PixelOperand& p = detail_->pixels;
  const auto is_one = [&](size_t s) {
    return p.input[s].is_const(1) && p.output[s].is_const(1) && p.kernel[s] == 1 &&
           p.padding[s] == 0;
  };
  std::vector<size_t> kept;
  for (size_t s = 0; s < p.spatial(); ++s) {
    if (!is_one(s)) kept.push_back(s);
  }
  if (p.channels_last || !p.plain || kept.size() != 1 || p.spatial() == 1 ||
      !FlattenEpilogue(detail_->epilogue, 2, c.spatial + 2)) {
    return;
  }
  const size_t s = kept[0];
  p.input = {p.input[s]};
  p.output = {p.output[s]};
  p.kernel = {p.kernel[s]};
  p.stride = {p.stride[s]};
  p.padding = {p.padding[s]};
  p.dilation = {p.dilation[s]};
  c.spatial = 1;
}

void ContractionPlanner::FlattenPixels() {
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

// --- One window for an image ---

bool ContractionPlanner::CoversWholeInput() const {
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

void ContractionPlanner::PlanConvAsMatrix(const Convolution& c) {
  ContractionDetail& d = *detail_;
  const PixelOperand& p = d.pixels;
  const te::TensorNode& t = *d.contraction;
  const te::Axis& out_axis = t.axes[c.channel_at];
  d.form = ContractionForm::kMatrix;
  d.batch = 1;
  d.rows = t.shape[0];
  d.columns = out_axis->extent;
  // Row-major positions of an image are the k of its weights, in both layouts.
  std::vector<te::Axis> k_axes = c.taps;
  if (c.channel) k_axes.insert(p.channels_last ? k_axes.end() : k_axes.begin(), c.channel);
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
    return WeightOf(c, te::IntImm(0), i[2], i[1]);
  });
  if (t.conv->has_usual_kernel()) {
    UsePlainMemory(d.b, product_.weight, {}, 0, p.channels_last ? d.columns : d.depth);
  }
  d.epilogue.axes = {t.axes[0], out_axis};  // the others are 0
  d.row_axes = 1;
  TileMatrix();
}

// --- Direct ones ---

bool ContractionPlanner::DirectIsBetter(int64_t group_outputs) const {
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

void ContractionPlanner::PlanDirect(const Convolution& c) {
  ContractionDetail& d = *detail_;
  const PixelOperand& p = d.pixels;
  MatrixOperand& w = Weights();
  if (c.halves && c.is_usual && !p.channels_last) {
    w.buffer = d.contraction->hint_inputs[1];
    w.halves = true;
  } else if (!c.halves && c.load && c.packed_rows > 0 && c.group_outputs % c.packed_rows == 0) {
    w.buffer = c.load->tensor;
    w.k_contiguous = false;
    d.a_k_stride = c.packed_rows;
  }
  if (const int64_t rows = c.packed_rows;
      c.load && !c.halves && !p.channels_last && rows > 0 && c.group_outputs % rows == 0) {
    w.buffer = c.load->tensor;
    d.a_k_stride = rows;
  }
  d.form = ContractionForm::kDirect;
  d.has_long_epilogue = HasLongEpilogue();
  if (d.target.schedule != TileSchedule()) plan_.refused = "its outputs are summed one by one";
  // (group, output channel of the group, k)
  d.a.view = te::Compute("weights", {p.groups, c.group_outputs, d.depth},
                         [&](const std::vector<Expr>& i) { return WeightOf(c, i[0], i[1], i[2]); });
  d.lanes = d.target.vector_bytes / DTypeBytes(d.dtype);
  if (p.channels_last) d.rows = d.columns;
  FitChannelBlocks(d);
  d.is_small = IsSmall(d) && FlattenEpilogue(d.epilogue, 2, 4);
  d.may_be_flat = !d.is_small && MayBeFlat(d) && FlattenEpilogue(d.epilogue, 2, 4);
  d.has_planes = !d.is_small && !d.may_be_flat && PlanesAreBetter(d);
  d.has_dots = HasDirectDots(d);
  d.may_turn = !d.is_small && !d.may_be_flat && !d.has_planes && MayTurn(d) &&
               FlattenEpilogue(d.epilogue, 2, 4);
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
  // What a group's weights of float16 become, or those of images that are turned.
  plan_.scratch_bytes = d.a.halves || d.may_turn ? d.rows * d.depth * DTypeBytes(d.dtype) : Dim(0);
  if (d.has_planes) {
    plan_.scratch_bytes = FitPlanes(d);
  } else if (SharesLines(d)) {
    d.shares_lines = true;
    d.zeros_offset = RoundUp(plan_.scratch_bytes, 64);
    const Dim& width = p.input.back();
    const Dim line = d.may_turn ? Dim::Max(width, p.input[0]) : width;
    plan_.scratch_bytes = d.zeros_offset + RoundUp(line, d.lanes) * DTypeBytes(d.dtype);
  }
}

void ContractionPlanner::PlanPlaneTiles() {
  ContractionDetail& d = *detail_;
  plan_.scratch_bytes = FitPlaneTiles(d);
  d.form = ContractionForm::kDirect;
  d.has_plane_tiles = true;
  d.cuts_taps = MayCutTaps(d);
  d.has_long_epilogue = HasLongEpilogue();
  const std::vector<Dim>& output = d.pixels.output;
  const Dim units =
      Dim::CeilDiv(output[1], d.plane_columns) * Dim::CeilDiv(output[0], kPlaneTileLines);
  plan_.parallel_extent = d.contraction->shape[0] * d.pixels.groups * units;
  const Dim lines = Dim::Min(output[0], kPlaneTileLines);
  const Dim work = Dim::Max(1, d.rows * d.depth * lines * Dim::Min(output[1], d.plane_columns));
  plan_.grain = Dim::Max(1, Dim::CeilDiv(kTaskWork, work));
}

}  // namespace relayvm::codegen
