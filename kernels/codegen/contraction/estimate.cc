#include "kernels/codegen/contraction/estimate.h"

#include <algorithm>
#include <cmath>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/winograd.h"
#include "kernels/op/conv.h"

namespace relayvm::codegen {
namespace {

// --- The machine ---

constexpr double kLoads = 2;            // in a cycle
constexpr double kLatency = 4;          // of a sum
constexpr double kNearBytes = 32;       // in a cycle, from the second cache
constexpr double kFarBytes = 4;         // from memory, as WinogradForm's choice has it
constexpr double kCall = 30;            // of a tile: its arguments, the first loads, its end
constexpr double kPackedVector = 1.5;   // cycles for a vector that is packed along the vectors
constexpr double kPackedNumbers = 0.5;  // for a number of one that is not
// Of pixels that are packed: a run of channels and each vector of it, channels last; a line of a
// tap, channels first, where masks are vectors themselves.
constexpr double kPackedRun = 2.8, kVectorOfRun = 2.3, kPackedLine = 14;
// A step of a sorted panel (sorted_quads.h), by those of words of pairs: three instructions, a
// fourth where it is wide, and sorting.
constexpr double kSortedStep = 1.65, kOrderedStep = 1.3;
// A vector of words that four channels of pixels become, channels first.
constexpr double kPackedQuads = 5;
// Of direct convolutions, measured, by vectors of 16, 32 and 64 bytes.
struct DirectCosts {
  // What a vector of a tap takes in loads, channels first and last, of all pixels and of every
  // second one.
  double pixels, strided_pixels, channels, strided_channels;
  // The ends of a line, channels first, whole or for each tap where pixels are masked one by one;
  // channels last, for each tap.
  double ends, tap_of_ends, tap_of_channels;
};
constexpr DirectCosts kDirect16 = {1.25, 4, 1.7, 2.4, 0, 33, 20};
constexpr DirectCosts kDirect32 = {1.5, 4, 1.7, 2.4, 40, 0, 8};
constexpr DirectCosts kDirect64 = {2, 4, 2.1, 3.3, 5, 0, 2};  // masks cost little
// Lines that are copied first.
constexpr double kCopied = 1.6;
// Cycles of an instruction of Winograd's transforms, whose numbers are more than registers hold.
constexpr double kTransformed = 2;

// AMX, of a whole register, as Intel's optimization manual has it: nothing here was measured.
constexpr double kAmxProduct = 16, kAmxLoad = 8, kAmxStore = 16;

// Of a whole vector; without FMA each is two instructions.
double MultiplyAdds(const Machine& machine) {
  return machine.vector_bytes == 64 || !machine.fma ? 1 : 2;
}

// --- The product ---

struct Sizes {
  double batch, rows, columns, depth;
  double line = 0, pixels = 0;  // of a convolution's output; of its input's image
};

std::optional<Sizes> SizesOf(const ContractionDetail& d, const SymbolValue& values) {
  Sizes sizes{};
  for (const auto& [dim, to] : {std::pair(&d.batch, &sizes.batch),
                                {&d.rows, &sizes.rows},
                                {&d.columns, &sizes.columns},
                                {&d.depth, &sizes.depth}}) {
    const std::optional<int64_t> value = dim->Evaluate(values);
    if (!value || *value < 0) return std::nullopt;
    *to = static_cast<double>(*value);
  }
  if (d.form == ContractionForm::kMatrix) return sizes;
  const auto line = d.pixels.output.back().Evaluate(values);
  const auto pixels = ProductOf(d.pixels.input).Evaluate(values);
  if (!line || *line < 0 || !pixels) return std::nullopt;
  sizes.line = static_cast<double>(*line);
  sizes.pixels = static_cast<double>(*pixels);
  return sizes;
}

class Model {
 public:
  Model(const ContractionDetail& d, const Sizes& sizes)
      : d_(d),
        target_(d.target),
        s_(sizes),
        bytes_(static_cast<double>(DTypeBytes(d.dtype))),
        panels_(std::ceil(s_.columns / static_cast<double>(d.panel))) {}

  KernelEstimate Estimate() const {
    const double compute = s_.batch * (Tiles() + PackedA() + PackedB());
    const double cycles = std::max(compute, Memory(s_.batch * BytesOfB() * RowBlocks()));
    const double lanes = static_cast<double>(target_.vector_bytes) / bytes_;
    const double products = s_.batch * s_.rows * s_.columns * s_.depth;
    double arithmetic = products * Step() / lanes / MultiplyAdds(target_);
    if (d_.amx) arithmetic = s_.batch * s_.rows * s_.columns * Words() / kAmxWords * kAmxProduct;
    const double least = std::max(arithmetic, Memory(LeastBytes()));
    return {std::max(cycles, least), least};
  }

 private:
  // What one product of registers multiplies and adds.
  static constexpr double kAmxWords = kAmxTile * kAmxTile * kAmxTile;

  // The products that a step of k is.
  double Step() const {
    if (d_.step_order) return kOrderedStep;
    return d_.sorts_steps ? kSortedStep : static_cast<double>(d_.step_words);
  }

  // Along k, of a product by AMX.
  double Words() const {
    return d_.panel_form == PanelForm::kPairs ? std::ceil(s_.depth / 2) : s_.depth;
  }
  double AmxTile(double rows) const {
    const double of_a = std::ceil(rows / kAmxTile), of_b = d_.vectors, sums = of_a * of_b;
    const double step = std::max(sums * kAmxProduct, (of_a + of_b) * kAmxLoad);
    const double calls = d_.k_block > 0 ? std::ceil(s_.depth / static_cast<double>(d_.k_block)) : 1;
    return std::ceil(Words() / kAmxTile) * step + calls * (kCall + sums * (kAmxLoad + kAmxStore));
  }

  double RowBlocks() const {
    return d_.row_block > 0 ? std::ceil(s_.rows / static_cast<double>(d_.row_block)) : 1;
  }

  // Of all rows and columns.
  double Tiles() const {
    const double block = d_.row_block > 0 ? static_cast<double>(d_.row_block) : s_.rows;
    const double whole = std::floor(s_.rows / std::max(block, 1.0));
    return panels_ * (whole * TilesOfBlock(block) + TilesOfBlock(s_.rows - whole * block));
  }
  // One panel of columns.
  double TilesOfBlock(double rows) const {
    const double tile = d_.tile_rows;
    const double whole = std::floor(rows / tile), rest = rows - whole * tile;
    return whole * Tile(tile) + (rest > 0 ? Tile(rest) : 0);
  }
  double Tile(double rows) const {
    if (d_.amx) return AmxTile(rows);
    TileConfig config{};
    config.rounds = d_.rounds;
    config.rows = d_.tile_rows;
    config.vectors = d_.vectors;
    const double sets = TileSets(config, static_cast<int64_t>(s_.rows));
    const double sums = rows * d_.vectors;
    const double step =
        std::max({sums / MultiplyAdds(target_), (rows + d_.vectors) / kLoads, kLatency / sets});
    const double calls = d_.k_block > 0 ? std::ceil(s_.depth / static_cast<double>(d_.k_block)) : 1;
    return s_.depth * Step() * step + calls * (kCall + 2 * sums / kLoads);
  }

  double PackedA() const {
    if (!d_.pack_a) return 0;
    const PixelOperand& p = d_.pixels;
    // Rows that are pixels as they are.
    const bool is_matrix =
        d_.form == ContractionForm::kMatrix || (p.taps() == 1 && s_.rows == s_.pixels);
    if (is_matrix) return s_.rows * s_.depth / d_.lanes * kPackedVector;
    // The channels of a tap are a run.
    const double vectors = static_cast<double>(p.group_channels) / d_.lanes;
    return s_.rows * static_cast<double>(p.taps()) * (kPackedRun + vectors * kVectorOfRun);
  }
  double PackedB() const {
    if (d_.packed_width > 0 && d_.b.buffer) return 0;
    if (d_.pixels_in_place && s_.rows <= kMostRowsInPlace) return 0;
    const double numbers = s_.depth * panels_ * static_cast<double>(d_.panel) * RowBlocks();
    const double vectors = numbers / d_.lanes;
    const PixelOperand& p = d_.pixels;
    // As a product of matrices, weights are packed already, if quads need not be split.
    if (p.bytes && d_.form == ContractionForm::kPixelRows && p.taps() == 1 &&
        s_.rows == s_.pixels && d_.step_words == 1 && !d_.sorts_steps) {
      return 0;
    }
    if (d_.form == ContractionForm::kPixelColumns) {
      const bool has_lines = !d_.pixels_in_place && !target_.masks && s_.line > 0;
      const double lines = has_lines ? s_.depth * s_.columns / s_.line * RowBlocks() : 0;
      return vectors * (p.bytes ? kPackedQuads : kPackedVector) + lines * kPackedLine;
    }
    return d_.b.k_contiguous ? numbers * kPackedNumbers : vectors * kPackedVector;
  }

  double BytesOfB() const {
    // Pixels are packed from what is near.
    return d_.form == ContractionForm::kPixelColumns ? 0 : s_.depth * s_.columns * bytes_;
  }
  double LeastBytes() const {
    return s_.batch * bytes_ * (s_.depth * s_.columns + s_.rows * s_.depth + s_.rows * s_.columns);
  }
  double Memory(double bytes) const {
    return bytes / (bytes > static_cast<double>(target_.l2_bytes) ? kFarBytes : kNearBytes);
  }

  const ContractionDetail& d_;
  const ContractionTarget& target_;
  const Sizes s_;
  const double bytes_, panels_;
};

// --- Direct convolutions ---

// Of a group of an image.
double CyclesOfPlaneTiles(const ContractionDetail& d, double lines, double width) {
  const PixelOperand& p = d.pixels;
  const double rows = d.tile_rows, vectors = d.vectors, sums = rows * vectors;
  const double step =
      std::max({sums / MultiplyAdds(d.target), (rows + vectors) / kLoads, kLatency});
  const double units = std::ceil(width / static_cast<double>(d.plane_columns));
  const double pitch = width + units * static_cast<double>(p.reach(1));
  const double panels = std::ceil(lines * pitch / static_cast<double>(d.panel));
  const double tiles = panels * static_cast<double>(d.rows.value()) / rows;
  const double copies = 1 + static_cast<double>(p.reach(0)) / kPlaneTileLines;
  const auto planes = static_cast<double>(p.group_channels * p.phases(0) * p.phases(1));
  const double copied = planes * lines * copies * pitch / d.lanes;
  return tiles * (static_cast<double>(d.depth.value()) * step + kCall + 2 * sums) +
         copied * CyclesOfFilledVector(p);
}

// A vector of a tap is loaded, and multiplied for each output of the group by a number, channels
// first, or by a vector.
KernelEstimate EstimateDirect(const ContractionDetail& d, double images, double lines,
                              double width) {
  const PixelOperand& p = d.pixels;
  const double mads = MultiplyAdds(d.target), lanes = d.lanes;
  const bool is_strided = std::ranges::any_of(p.stride, [](int64_t s) { return s > 1; });
  const auto groups = static_cast<double>(p.groups);
  const auto taps = static_cast<double>(p.taps());
  const double depth = static_cast<double>(p.group_channels) * taps;
  const double outputs = p.channels_last ? 1 : static_cast<double>(d.rows.value());
  const double products = groups * lines * width * depth * outputs;
  const DirectCosts& costs = d.target.vector_bytes == 16   ? kDirect16
                             : d.target.vector_bytes == 32 ? kDirect32
                                                           : kDirect64;
  double cycles = 0;
  if (p.channels_last) {
    const double loads = is_strided ? costs.strided_channels : costs.channels;
    cycles = lines * std::ceil(groups / lanes) * depth *
             (width * std::max(1 / mads, loads / kLoads) + costs.tap_of_channels);
  } else if (d.has_plane_tiles) {
    cycles = groups * CyclesOfPlaneTiles(d, lines, width);
  } else {
    const bool are_copied = d.is_small || d.has_planes;
    const bool are_joined = are_copied || d.may_be_flat;
    const double vectors =
        are_joined ? std::ceil(lines * width / lanes) : lines * std::ceil(width / lanes);
    const double loads = (is_strided ? costs.strided_pixels : costs.pixels) + outputs;
    const double step = depth * std::max(outputs / mads, loads / kLoads);
    const double ends = costs.ends + (width > 4 * lanes ? costs.tap_of_ends * taps : 0);
    cycles =
        groups * (vectors * step * (are_copied ? kCopied : 1) + (are_joined ? 0 : lines * ends));
  }
  return {images * cycles, images * products / lanes / mads};
}

std::optional<double> SizeOf(const Dim& d, const SymbolValue& values) {
  const std::optional<int64_t> value = d.Evaluate(values);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<double>(*value);
}

std::optional<KernelEstimate> EstimateDirect(const ContractionDetail& d,
                                             const SymbolValue& values) {
  const Dim& width = d.pixels.output.back();
  const auto images = SizeOf(d.contraction->shape[0], values);
  const auto pixels = SizeOf(d.image_pixels, values), line = SizeOf(width, values);
  if (!images || !pixels || !line) return std::nullopt;
  return EstimateDirect(d, *images, *line == 0 ? 0 : *pixels / *line, *line);
}

// --- Convolutions whose extents are numbers ---

Dim Known(const Dim& d, int64_t unknown = kNominalExtent) {
  return d.is_const() ? d : Dim(unknown);
}

// nullopt: numbers beyond those of any program that runs.
std::optional<ConvProblem> WithNumbers(ConvProblem p) {
  constexpr int64_t kMost = 1 << 20;
  for (const std::vector<int64_t>* numbers :
       {&p.strides, &p.dilation, &p.padding.before, &p.padding.after}) {
    if (std::ranges::any_of(*numbers, [](int64_t n) { return n < 0 || n > kMost; }))
      return std::nullopt;
  }
  p.batch = Known(p.batch, 1);
  for (Dim* d : {&p.in_channels, &p.out_channels, &p.kernel_out, &p.kernel_in}) *d = Known(*d);
  for (size_t s = 0; s < p.out_extent.size(); ++s) {
    p.kernel_extent[s] = Known(p.kernel_extent[s]);
    if (p.kernel_extent[s].value() > kMost) return std::nullopt;
    if (p.in_extent[s].is_const() && p.out_extent[s].is_const()) continue;
    p.out_extent[s] = Known(p.out_extent[s]);
    if (p.out_extent[s].value() > kMost) return std::nullopt;
    const int64_t reach = (p.kernel_extent[s].value() - 1) * p.dilation[s] + 1;
    p.in_extent[s] = std::max<int64_t>((p.out_extent[s].value() - 1) * p.strides[s] + reach -
                                           p.padding.before[s] - p.padding.after[s],
                                       1);
  }
  return p;
}

te::Tensor Placeholder(const Layout& layout, int index, DType dtype,
                       const std::function<Dim(char)>& extent) {
  return te::Placeholder(index == 0 ? "data" : "kernel", layout.Shape(extent), dtype, index);
}

}  // namespace

double NominalBytes(DType dtype, std::span<const Dim> shape) {
  double bytes = static_cast<double>(DTypeBytes(dtype));
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& d = shape[i];
    bytes *= static_cast<double>(d.is_const() ? d.value() : i == 0 ? 1 : kNominalExtent);
  }
  return bytes;
}

double CyclesOfTransform(const Machine& machine, double bytes) {
  const double vector = machine.vector_bytes;
  return bytes * ((std::log2(vector / sizeof(float)) + 2) / vector + 4 / kNearBytes);
}

std::optional<KernelEstimate> EstimateConv(const ConvProblem& conv,
                                           const ContractionTarget& target) {
  std::optional<ConvProblem> known = WithNumbers(conv);
  if (!known) return std::nullopt;
  ConvProblem& p = *known;
  const std::string packed = PreferredKernelLayout(p, target);
  if (!packed.empty()) p.kernel = *Layout::Parse(packed);
  KernelSpec spec;
  spec.by_value = {false, false};
  spec.inputs.push_back(Placeholder(p.data, 0, p.data_type, [&](char axis) {
    if (axis == 'N') return p.batch;
    return axis == 'C' ? p.in_channels : p.in_extent[p.letters().find(axis)];
  }));
  spec.inputs.push_back(Placeholder(p.kernel, 1, p.kernel_type, [&](char axis) {
    if (axis == 'O') return p.kernel_out;
    return axis == 'I' ? p.kernel_in : p.kernel_extent[p.letters().find(axis)];
  }));
  spec.outputs = {ConvTensor(p, spec.inputs[0], spec.inputs[1])};
  ContractionTarget as_given = target;
  as_given.exact = true;  // weights are transformed before, or not at all
  const std::optional<ContractionPlan> plan = PlanContraction(spec, as_given);
  if (!plan) return std::nullopt;
  auto estimate = EstimateContraction(*plan, [](uint32_t) { return std::nullopt; });
  const auto shape = target.exact || !p.is_channels_first() ? std::nullopt : WinogradShapeOf(p);
  if (estimate && shape) {
    const WinogradForm form = PreferredWinograd(target, *shape);
    if (form.tile != 0) {
      estimate->cycles = form.products / MultiplyAdds(target) + form.transforms * kTransformed;
    }
  }
  return estimate;
}

std::optional<KernelEstimate> EstimateContraction(const ContractionPlan& plan,
                                                  const SymbolValue& values) {
  if (!plan.detail) return std::nullopt;
  if (plan.detail->form == ContractionForm::kDirect) return EstimateDirect(*plan.detail, values);
  const std::optional<Sizes> sizes = SizesOf(*plan.detail, values);
  if (!sizes) return std::nullopt;
  const bool is_amx = plan.amx && sizes->rows > kMostRowsWithoutAmx;
  return Model(is_amx ? *plan.amx : *plan.detail, *sizes).Estimate();
}

}  // namespace relayvm::codegen
