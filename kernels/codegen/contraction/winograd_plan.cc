#include "kernels/codegen/contraction/winograd_plan.h"

#include <algorithm>
#include <cmath>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/op/problem.h"
#include "kernels/op/winograd.h"

namespace relayvm::codegen {
namespace {

using te::Expr;
using te::Tensor;

// Output channels that are transformed back together: few enough for their sums to stay in cache,
// and enough for windows to be read seldom.
constexpr int64_t kGroupRows = 32;
// Panels that are multiplied together by weights that do not stay in cache, or are transformed
// again for each block.
constexpr int64_t kMostPanels = 4;

// Products of channels are sizes of scratch.
bool AreChannels(int64_t n) { return n >= 1 && n <= 1 << 20; }

// The convolution of the group, where there is no other reduction in what follows it.
Tensor FindConvolution(const KernelSpec& spec) {
  Tensor found;
  for (const Tensor& tensor : ReachedComputations(spec.outputs)) {
    if (!tensor->conv || tensor->conv->winograd_tile == 0) continue;
    if (found) return nullptr;
    found = tensor;
  }
  return found;
}

// Of a vector of tiles of one channel, on either side; in instructions with vectors.
double CostOfTransform(int64_t tile) { return tile == 2 ? 80 : 200; }

Expr LoadAnywhere(const Tensor& t) {
  std::vector<Expr> indices;
  for (const Dim& extent : t->shape) indices.push_back(te::AxisValue(te::MakeAxis("i", extent)));
  return te::Load(t, std::move(indices));
}

std::optional<int64_t> ValueOf(const Dim& d) {
  return d.is_const() ? std::optional<int64_t>(d.value()) : std::nullopt;
}

void Fit(WinogradDetail& w, const ContractionTarget& target) {
  const int64_t lanes = w.conv.lanes;
  w.panel = 2 * lanes;
  const std::optional<int64_t> tiles = ValueOf(w.tiles);
  const int64_t panels = tiles ? std::max<int64_t>((*tiles + w.panel - 1) / w.panel, 1) : INT64_MAX;
  const int64_t weight_bytes =
      w.products() * w.row_blocks * w.rows * w.in_channels * int64_t{sizeof(float)};
  w.block_panels = w.kernel || weight_bytes > target.l2_bytes ? std::min(kMostPanels, panels) : 1;
  // Of equal size.
  if (tiles) {
    const int64_t blocks = (panels + w.block_panels - 1) / w.block_panels;
    w.block_panels = (panels + blocks - 1) / blocks;
  }
  // A line of cache more, so that products are not all in the same sets.
  const int64_t line = 64 / int64_t{sizeof(float)};
  w.window_stride = w.block_panels * w.in_channels * w.panel + line;
  w.weight_stride = w.group_blocks * w.in_channels * w.rows + (w.kernel ? line : 0);
  w.sum_stride = w.block_panels * w.group_blocks * w.rows * w.panel + line;
}

// In instructions with vectors, what it takes to transform a weight for a block: gathering it from
// memory, where a vector's elements are in the first cache or not, or computing it.
constexpr double kNearWeight = 25, kFarWeight = 40, kComputedWeight = 12;

// of_weight: 0 for weights that are transformed already, else what one takes for each block.
WinogradForm Choose(const Machine& target, const WinogradShape& shape, double of_weight) {
  // Without masks and with few registers the transforms cost too much.
  if (target.vector_bytes < 32) return {};
  if (!AreChannels(shape.in_channels) || !AreChannels(shape.out_channels)) return {};
  const unsigned whole_lanes = target.vector_bytes / 4;  // of float32
  const double lanes = whole_lanes;
  const auto in = static_cast<double>(shape.in_channels);
  const auto out = static_cast<double>(shape.out_channels);
  // Numbers of any size: as floats.
  constexpr int64_t kLarge = 112;
  const auto height = static_cast<double>(shape.height.value_or(kLarge));
  const auto width = static_cast<double>(shape.width.value_or(kLarge));
  const auto images = static_cast<double>(shape.images.value_or(1));
  // In instructions with vectors of products, of which tiles reach this share of the peak.
  constexpr double kShare = 0.85;
  // Bytes that memory gives in that time: of weights that are more than the second cache.
  constexpr double kBytes = 4;
  auto cost_of_weights = [&](double elements) {
    const double bytes = elements * sizeof(float);
    return bytes > static_cast<double>(target.l2_bytes) ? bytes / kBytes : 0;
  };
  const double pixels = images * height * width;
  const double direct =
      std::max(9 * in * out * std::ceil(pixels / lanes) / kShare, cost_of_weights(9 * in * out));
  WinogradForm form;
  double least = direct * 0.9;
  for (int64_t tile : {2, 4}) {
    const double products = static_cast<double>(WinogradWindow(tile) * WinogradWindow(tile));
    const auto extent = static_cast<double>(tile);
    const double tiles_x = std::ceil(width / extent), tiles_y = std::ceil(height / extent);
    const double tiles = images * tiles_x * tiles_y;
    const double runs = images * tiles_y * std::ceil(tiles_x / lanes);
    const double multiplied = products * in * out * std::ceil(tiles / lanes) / kShare;
    const double sums = std::max(multiplied, cost_of_weights(products * in * out));
    const double blocks = std::ceil(tiles / (kMostPanels * 2 * lanes));
    const double transforms =
        runs * CostOfTransform(tile) * (in + out) + blocks * in * out * of_weight;
    if (sums + transforms >= least) continue;
    least = sums + transforms;
    // Rows by two vectors fill the registers.
    form = {tile, target.vector_registers == 32 ? 8 : 6, 0, sums, transforms};
  }
  if (form.tile == 0) return form;
  const int64_t most = kGroupRows / form.rows;
  const int64_t blocks = (shape.out_channels + form.rows - 1) / form.rows;
  const int64_t groups = (blocks + most - 1) / most;
  form.blocks = (blocks + groups - 1) / groups;
  return form;
}

// The rest of a plan that has its tile, its weights' form, its convolution and its epilogue.
std::optional<ContractionPlan> Finish(std::shared_ptr<WinogradDetail> detail,
                                      std::vector<std::pair<int, int>> in_place) {
  WinogradDetail& w = *detail;
  ContractionDetail& d = w.conv;
  const te::TensorNode& conv = *d.contraction;
  const Tensor& data = conv.hint_inputs[0];
  w.window = WinogradWindow(w.tile);
  w.in_channels = data->shape[1].value();
  w.out_channels = conv.shape[1].value();
  if (!AreChannels(w.in_channels) || !AreChannels(w.out_channels)) return std::nullopt;
  w.row_blocks = (w.out_channels + w.rows - 1) / w.rows;
  w.groups = (w.row_blocks + w.group_blocks - 1) / w.group_blocks;
  d.form = ContractionForm::kDirect;
  d.lanes = d.target.vector_bytes / sizeof(float);
  d.rows = w.out_channels;
  d.columns = conv.shape[3];
  d.depth = w.in_channels;
  d.pixels.data = data;
  d.pixels.plain = true;
  d.pixels.channels = data->shape[1];
  d.pixels.input = {data->shape[2], data->shape[3]};
  d.pixels.output = {conv.shape[2], conv.shape[3]};
  d.pixels.kernel = {3, 3};
  d.pixels.padding = conv.conv->padding.before;
  w.tiles_y = Dim::CeilDiv(conv.shape[2], w.tile);
  w.tiles_x = Dim::CeilDiv(conv.shape[3], w.tile);
  w.tiles = conv.shape[0] * w.tiles_y * w.tiles_x;
  Fit(w, d.target);

  ContractionPlan plan;
  Dim offset = 0;
  auto reserve = [&](int64_t elements) {
    const Dim at = offset;
    offset = offset + RoundUp(elements * int64_t{sizeof(float)}, 64);
    return at;
  };
  // Vectors of the last tiles are read to their ends.
  w.window_offset = reserve(w.products() * w.window_stride + d.lanes);
  w.sum_offset = reserve(w.products() * w.sum_stride + d.lanes);
  w.zero_offset = reserve((w.tile + 1) * d.lanes);
  w.weight_offset = reserve(w.kernel ? w.products() * w.weight_stride : 0);
  w.far_offset = reserve(w.block_panels * w.panel + d.lanes);
  w.row_weight_offset = reserve(w.in_channels * 9);
  plan.scratch_bytes = offset;
  plan.parallel_extent = Dim::CeilDiv(w.tiles, w.panel * w.block_panels) * w.groups;
  const int64_t work =
      w.products() * w.in_channels * w.group_blocks * w.rows * w.panel * w.block_panels;
  // Each thread transforms the windows of its blocks: that is at most half of what it does.
  constexpr double kMostOfTask = 0.5;
  const double windows = 2 * CostOfTransform(w.tile);
  const auto sums = static_cast<double>(w.products() * w.out_channels);
  const auto shared = static_cast<int64_t>(
      std::ceil(static_cast<double>(w.groups) * windows / (windows + sums) / kMostOfTask));
  plan.grain =
      std::max({int64_t{1}, kTaskWork / std::max<int64_t>(work, 1), std::min(shared, w.groups)});
  plan.in_place = std::move(in_place);
  plan.winograd = std::move(detail);
  return plan;
}

}  // namespace

std::optional<ContractionPlan> PlanWinograd(const KernelSpec& spec,
                                            const ContractionTarget& target) {
  const Tensor conv = FindConvolution(spec);
  if (!conv || conv->hint_inputs.size() != 2 || target.vector_bytes < 32) return std::nullopt;
  const Tensor& data = conv->hint_inputs[0];
  const Tensor& weight = conv->hint_inputs[1];
  if (!IsMemory(spec, data) || !IsMemory(spec, weight) || data->dtype != DType::kFloat32 ||
      weight->rank() != 5 || !data->shape[1].is_const() || !conv->shape[1].is_const()) {
    return std::nullopt;
  }
  auto detail = std::make_shared<WinogradDetail>();
  WinogradDetail& w = *detail;
  w.tile = conv->conv->winograd_tile;
  w.weight = weight;
  w.group_blocks = weight->shape[2].value();
  w.rows = weight->shape[4].value();
  // The whole body is the sum.
  const Product product = {conv->body, LoadAnywhere(data), LoadAnywhere(weight), DType::kFloat32,
                           false};
  std::optional<Epilogue> epilogue = MatchEpilogue(spec, conv, product);
  if (!epilogue) return std::nullopt;
  w.conv.target = target;
  w.conv.contraction = conv;
  w.conv.epilogue = std::move(*epilogue);
  if (w.rows * 2 + 3 > target.vector_registers) return std::nullopt;
  std::optional<ContractionPlan> plan =
      Finish(std::move(detail), InPlacePairs(spec, product, w.conv.epilogue));
  if (plan && target.schedule != TileSchedule()) {
    plan->refused = "it is computed by Winograd's transforms; without them (--exact) it can";
  }
  return plan;
}

std::optional<ContractionPlan> PlanWinograd(const KernelSpec& spec, const ContractionDetail& conv,
                                            const Product& product) {
  const te::TensorNode& t = *conv.contraction;
  const ContractionTarget& target = conv.target;
  if (!t.conv || target.exact || target.schedule != TileSchedule() || product.rounds) {
    return std::nullopt;
  }
  const ConvForm& problem = *t.conv;
  const Tensor& data = t.hint_inputs[0];
  const Tensor& kernel = t.hint_inputs[1];
  if (problem.spatial() != 2 || !problem.is_channels_first() || !problem.has_usual_kernel() ||
      problem.groups != 1 || !problem.is_dense() || data->rank() != 4 || kernel->rank() != 4 ||
      !kernel->shape[2].is_const(3) || !kernel->shape[3].is_const(3) ||
      !kernel->shape[0].is_const() || !AreChannels(kernel->shape[0].value()) ||
      !kernel->shape[1].is_const() || !AreChannels(kernel->shape[1].value())) {
    return std::nullopt;
  }
  for (DType dtype : {data->dtype, kernel->dtype, t.dtype, product.accumulator}) {
    if (dtype != DType::kFloat32) return std::nullopt;
  }
  if (!IsMemory(spec, data) || !LayoutsAgree(t, product, 1)) return std::nullopt;
  // Rows of output channels, a vector of them.
  const int64_t bytes = kernel->shape[1].value() * 9 * int64_t{target.vector_bytes};
  constexpr int64_t kFirstCache = 32 << 10;
  const double of_weight = kernel->is_placeholder()
                               ? (bytes <= kFirstCache ? kNearWeight : kFarWeight)
                               : kComputedWeight;
  const WinogradForm form = Choose(target,
                                   {kernel->shape[1].value(), kernel->shape[0].value(),
                                    ValueOf(t.shape[0]), ValueOf(t.shape[2]), ValueOf(t.shape[3])},
                                   of_weight);
  if (form.tile == 0) return std::nullopt;
  auto detail = std::make_shared<WinogradDetail>();
  WinogradDetail& w = *detail;
  w.tile = form.tile;
  w.group_blocks = form.blocks;
  w.rows = form.rows;
  w.kernel = te::Compute("kernel", {9, kernel->shape[0], kernel->shape[1]},
                         [&](const std::vector<Expr>& i) {
                           return te::Load(kernel, {i[1], i[2], FloorDivExpr(i[0], te::IntImm(3)),
                                                    FloorModExpr(i[0], te::IntImm(3))});
                         });
  w.conv.target = target;
  w.conv.contraction = conv.contraction;
  w.conv.epilogue = conv.epilogue;
  return Finish(std::move(detail), InPlacePairs(spec, product, conv.epilogue));
}

std::optional<WinogradShape> WinogradShapeOf(const ConvProblem& conv) {
  for (DType t : {conv.data_type, conv.kernel_type, conv.sum_type}) {
    if (t != DType::kFloat32) return std::nullopt;
  }
  if (conv.spatial() != 2 || conv.kind.is_transposed || conv.kind.is_quantised ||
      conv.groups != 1 || !conv.is_dense() || !conv.has_window(3) || !conv.kernel_in.is_const() ||
      !conv.kernel_out.is_const()) {
    return std::nullopt;
  }
  return WinogradShape{conv.kernel_in.value(), conv.kernel_out.value(), ValueOf(conv.batch),
                       ValueOf(conv.out_extent[0]), ValueOf(conv.out_extent[1])};
}

WinogradForm PreferredWinograd(const Machine& machine, const WinogradShape& shape) {
  return Choose(machine, shape, 0);
}

}  // namespace relayvm::codegen
