// How much of a convolution is worked on at once: what fits the caches and the registers.
#include <algorithm>
#include <array>

#include "kernels/codegen/contraction/plan.h"

namespace relayvm::codegen {
namespace {

// About how much of k one block of channels is, where there are several.
constexpr int64_t kBlockedPixelDepth = 1024;
// The least that it is where blocks save widening.
constexpr int64_t kLeastHalfDepth = 256;

// A block of k, of matrices: of words that tiles widen or multiply in groups, one for all, so that
// blocks of weights are whole in it; of elements, at least and at most.
constexpr int64_t kDepthOfWords = 512, kLeastDepth = 256, kMostDepth = 512;
// The most rows of a that are packed together, and how many times the second cache all of their k
// may be.
constexpr int64_t kMostBlockRows = 240, kMostPackedRows = 4;
// The most panels of b that are packed together, or whose sums are kept.
constexpr int64_t kMostPanelGroup = 8;

}  // namespace

// A panel of b, of a block of k, takes half of the first cache, where all tiles of rows read it. It
// depends on the machine alone, so that products of any number of rows have the same order of sums.
int64_t FitDepth(const ContractionDetail& d, std::optional<int64_t> depth) {
  if (d.step_order) return 0;
  if (d.panel_form != PanelForm::kElements) {
    const int64_t words = d.sorts_steps ? 2 : d.step_words;  // of an unpacked panel
    const bool is_short = depth && *depth * words <= kDepthOfWords;
    return is_short || !d.a.k_contiguous ? 0 : kDepthOfWords / words;
  }
  const int64_t row_bytes = 2 * int64_t{d.target.vector_bytes};
  const int64_t most =
      std::clamp(d.target.l1_bytes / 2 / row_bytes / 16 * 16, kLeastDepth, kMostDepth);
  if (!depth) return most;
  if (*depth <= most) return 0;
  const int64_t blocks = (*depth + most - 1) / most;
  return RoundUp((*depth + blocks - 1) / blocks, 16);
}

// A tile of few rows waits for its sums, and one of most rows may leave such a rest.
unsigned FitTileRows(const ContractionDetail& d, int64_t rows, int64_t depth) {
  constexpr double kLatency = 4, kMultiplyAdds = 2, kLoads = 2, kCall = 30, kLeastGain = 1.02;
  const auto step = [&](int64_t n) {
    const auto sums = static_cast<double>(n * d.vectors);
    if (n == 0) return 0.0;
    const double loads = static_cast<double>(n + d.vectors) / kLoads;
    const double call = (kCall + sums) / static_cast<double>(std::max<int64_t>(depth, 16));
    return std::max({sums / kMultiplyAdds, loads, kLatency}) + call;
  };
  const auto cycles = [&](int64_t n) {
    return static_cast<double>(rows / n) * step(n) + step(rows % n);
  };
  int64_t best = d.tile_rows;
  const int64_t least = std::max<int64_t>(8 / d.vectors, 1);  // that sums in one set are enough for
  for (int64_t n = best - 1; n >= least; --n) {
    if (cycles(n) * kLeastGain < cycles(best)) best = n;
  }
  return static_cast<unsigned>(best);
}

int64_t MostRows(const ContractionDetail& d) {
  const int64_t depth = d.k_block > 0 ? d.k_block : std::max<int64_t>(d.depth.value(), 64);
  const int64_t bytes = DTypeBytes(d.dtype), l2_bytes = d.target.l2_bytes;
  int64_t fit = l2_bytes * 3 / 8 / (depth * bytes);
  if (d.depth.is_const()) {
    const int64_t all_bytes = std::max<int64_t>(d.depth.value(), 1) * bytes;
    fit = std::min(fit, kMostPackedRows * l2_bytes / all_bytes);
  }
  return RoundUp(std::clamp<int64_t>(fit, 4 * d.tile_rows, kMostBlockRows), d.tile_rows);
}

// One panel after the other, all of k, where the packed rows stay in the second cache. Else their
// blocks do in turn, each for a group of panels. Panels that are packed are read in runs of
// several.
void FitPanelGroup(ContractionDetail& d, bool packs_b) {
  d.panel_group = 1;
  d.panel_pitch = 0;
  if (d.panel_form != PanelForm::kElements) return;
  const int64_t bytes = DTypeBytes(d.dtype);
  const int64_t depth = d.k_block > 0 ? d.k_block : d.depth.value();
  const bool stays =
      d.depth.is_const() && d.row_block * d.depth.value() * bytes <= d.target.l2_bytes / 2;
  if (stays && !packs_b) return;
  const int64_t sums = d.k_block > 0 ? d.row_block : 0;
  const int64_t panel_bytes = d.panel * bytes * (sums + (packs_b ? depth : 0));
  if (panel_bytes == 0) return;
  d.panel_group = std::clamp<int64_t>(d.target.l2_bytes * 3 / 8 / panel_bytes, 1, kMostPanelGroup);
  // A line of a cache more, so that panels begin in other sets of it.
  if (packs_b) d.panel_pitch = RoundUp(depth, d.lanes) * d.panel + 64 / bytes;
}

int64_t PixelOperand::taps() const {
  int64_t n = 1;
  for (int64_t k : kernel) n *= k;
  return n;
}

// How many panels are packed at once, and of how many channels: in L2, a panel leaves room for
// others and for the weights that stream past. Returns the elements of those panels.
int64_t FitPixelPanels(ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  const int64_t taps = std::max<int64_t>(p.taps(), 1) * d.step_words;
  const int64_t channels = std::max<int64_t>(p.group_channels, 1);
  const int64_t room = d.target.l2_bytes / 2 / (d.panel * DTypeBytes(d.dtype));
  constexpr int64_t kMostPanels = 8;
  // The sums of all rows are kept from one block of channels to the next.
  const int64_t rows = d.row_block ? d.row_block : RoundUp(d.rows.value(), d.tile_rows);
  const auto fit = [&](int64_t blocks) {
    d.channel_block = (channels + blocks - 1) / blocks;
    const int64_t kept = d.channel_block < channels ? rows : 0;
    d.panel_group = std::clamp<int64_t>(room / (d.channel_block * taps + kept), 1, kMostPanels);
  };
  int64_t blocks = channels * taps <= room
                       ? 1
                       : RoundUp(channels * taps, kBlockedPixelDepth) / kBlockedPixelDepth;
  fit(blocks);
  if (WidensRows(d)) {
    // Each group of panels widens the weights again: as few groups as there can be.
    const int64_t panels =
        d.columns.is_const() ? (d.columns.value() + d.panel - 1) / d.panel : kMostPanels;
    const int64_t wanted = std::clamp<int64_t>(panels, 1, kMostPanels);
    const int64_t most = std::min(channels, channels * taps / kLeastHalfDepth);
    int64_t best = blocks, best_group = d.panel_group;
    for (int64_t more = blocks + 1; more <= most && best_group < wanted; ++more) {
      fit(more);
      if (d.panel_group <= best_group) continue;
      best = more;
      best_group = d.panel_group;
    }
    fit(best);
  }
  return d.channel_block * taps * d.panel * d.panel_group;
}

// A part is a tile, so that threads have equal shares of images of few panels, and each of them
// packs a group once (RelayvmKernelEnv::kept). Where that is not kept, since there are blocks of
// channels or rows are packed too, parts are long against it.
void FitRowParts(ContractionDetail& d) {
  constexpr int64_t kLeastRows = 128;
  const int64_t rows = std::max<int64_t>(d.row_block > 0 ? d.row_block : d.rows.value(), 1);
  const bool is_kept = d.channel_block >= d.pixels.group_channels;
  const bool is_whole = d.pack_a || (d.pixels_in_place && d.rows.value() <= kMostRowsInPlace);
  d.part_rows = RoundUp(is_whole ? rows : is_kept ? 1 : kLeastRows, d.tile_rows);
  d.row_parts = (rows + d.part_rows - 1) / d.part_rows;
  d.block_units = Dim::CeilDiv(d.panels, d.panel_group) * d.row_parts;
}

bool MayCutTaps(const ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  // Taps that are left are gathered.
  if (!p.plain || p.bytes || d.a.halves || !d.a.buffer || d.pixels_in_place ||
      d.target.vector_bytes == 16 || d.lanes < 8) {
    return false;
  }
  bool may = false;
  for (size_t s = 0; s < p.spatial(); ++s) {
    // An image that is no larger leaves a tap out.
    const int64_t most = (p.kernel[s] - 1) * p.dilation[s] - p.padding[s];
    if (p.padding[s] == 0 || most < 1) continue;
    if (p.input[s].is_const()) {
      may = may || p.input[s].value() <= most;
    } else {
      // Those of one pixel alone are too seldom to write code for, of images that have two axes.
      may = may || p.spatial() == 1 || most > 1;
    }
  }
  return may;
}

int64_t FewPixelsOf(const ContractionDetail& d) {
  constexpr int64_t kFewPixels = 4;
  const PixelOperand& p = d.pixels;
  if (!p.plain || d.dtype != DType::kFloat32 || d.rounds || d.panel_form != PanelForm::kElements ||
      d.a.halves || !d.a.buffer || d.target.schedule != TileSchedule() ||
      d.order.form != SumOrder::Form::kAny || d.channel_block < p.group_channels ||
      p.group_channels < 1 || d.panel < kFewPixels) {
    return 0;
  }
  // An image's bits are the same beside however many others.
  if (!d.images.is_const()) return 0;
  if (!d.a.k_contiguous && (d.a_k_stride != d.tile_rows || d.a_k_stride != 8)) return 0;
  if (d.columns.is_const()) return d.columns.value() <= kFewPixels ? kFewPixels : 0;
  // Of images with two open axes few have so few pixels.
  return p.spatial() == 1 || d.pixels_in_place ? kFewPixels : 0;
}

int64_t FewPixelStride(const ContractionDetail& d) { return RoundUp(d.depth.value(), 16) + 16; }

// Elements of the sums that a unit keeps.
int64_t SumElements(const ContractionDetail& d) {
  const int64_t tile = d.tile_rows * d.panel;
  if (d.form == ContractionForm::kPixelColumns) {
    if (d.channel_block >= d.pixels.group_channels) return tile;
    const int64_t rows = d.row_block ? d.row_block : RoundUp(d.rows.value(), d.tile_rows);
    return rows * d.panel * d.panel_group;
  }
  return std::max(
      {tile, d.streamed_panels * tile, d.k_block ? d.row_block * d.panel * d.panel_group : 0});
}

void FitChannelBlocks(ContractionDetail& d) {
  constexpr int64_t kMostTaps = 49;  // which are unrolled
  const PixelOperand& p = d.pixels;
  // Bytes less their zero point are computed as they are loaded, where masks are cheap.
  const bool loads = p.plain || (!IsFloat(d.dtype) && d.target.masks);
  if (!p.channels_last || !loads || p.spatial() > 2 || p.taps() > kMostTaps) return;
  // Sums of a block, and the pixels of a line that they are made of, stay in registers.
  d.block_pixels = 4;
  d.block_lines = p.spatial() == 2 && d.target.vector_registers == 32 ? 2 : 1;
}

bool MayBeFlat(const ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  if (p.channels_last || !p.plain || p.spatial() != 2 || p.group_channels != 1 || d.lanes != 16 ||
      p.taps() < 2 || p.taps() > kFlatTaps || p.output[1] != p.input[1] || p.stride[0] != 1 ||
      p.stride[1] != 1) {
    return false;
  }
  auto fits = [](const Dim& extent, int64_t most) {
    return !extent.is_const() || extent.value() <= most;
  };
  return fits(p.output[1], kFlatWidth) && fits(d.image_pixels, kFlatPixels);
}

bool SharesLines(const ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  if (p.channels_last || p.spatial() < 2 || !p.plain || d.target.vector_bytes == 16 ||
      p.stride.back() > 2) {
    return false;
  }
  const int64_t width = p.kernel.back(), height = p.kernel[p.spatial() - 2];
  return height > 1 && width <= (d.target.vector_registers == 32 ? 7 : 3) &&
         width * height * d.rows.value() <= 50;
}

bool HasDirectDots(const ContractionDetail& d) {
  constexpr int64_t kLeastTaps = 8;
  const PixelOperand& p = d.pixels;
  return !p.channels_last && p.plain && p.spatial() == 1 && p.group_channels == 1 &&
         p.kernel[0] >= kLeastTaps && p.dilation[0] == 1 && d.dtype == DType::kFloat32 &&
         !d.rounds && d.a.buffer && !d.a.halves && d.a_k_stride == 1 &&
         d.target.vector_bytes >= 32 &&
         !(p.output[0].is_const() && p.output[0].value() > kFewDirectPixels);
}

bool MayTurn(const ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  if (p.channels_last || !p.plain || p.spatial() != 2 || !d.a.buffer || d.a.halves ||
      p.input[1].is_const() || p.output[1].is_const()) {
    return false;
  }
  for (const std::vector<int64_t>* both : {&p.kernel, &p.stride, &p.dilation, &p.padding}) {
    if ((*both)[0] != (*both)[1]) return false;
  }
  return true;
}

int64_t SmallLines(const ContractionDetail& d) { return d.lanes / d.pixels.output[1].value(); }

bool IsSmall(const ContractionDetail& d) {
  constexpr int64_t kMostProducts = 400;  // vectors by taps, which are unrolled
  const PixelOperand& p = d.pixels;
  if (p.channels_last || !p.plain || p.spatial() != 2 || p.group_channels != 1 || d.lanes < 8 ||
      p.taps() < 2) {
    return false;
  }
  for (size_t axis = 0; axis < 2; ++axis) {
    if (!p.input[axis].is_const() || !p.output[axis].is_const()) return false;
    if (p.input[axis].value() < 1 || p.output[axis].value() < 1) return false;
  }
  if (p.output[1].value() > d.lanes || p.output[0].value() > kDirectLines) return false;
  if (d.image_pixels.is_const(d.lanes) && MayBeFlat(d)) return false;  // loads need no permutation
  const int64_t lines = SmallLines(d);
  // Most lanes are used, and of each line of the input few vectors are loaded.
  return 8 * lines * p.output[1].value() >= 5 * d.lanes &&
         p.input[1].value() <= 2 * int64_t{d.lanes} &&
         (p.output[0].value() + lines - 1) / lines * p.taps() * d.rows.value() <= kMostProducts;
}

// Planes pay where lines are short against vectors; with more taps, longer ones.
bool PlanesAreBetter(const ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  constexpr int64_t kMostTaps = 25;  // which are unrolled
  if (p.channels_last || !p.plain || p.spatial() != 2 || p.group_channels != 1 ||
      d.target.vector_bytes == 16 || p.taps() < 2 || p.taps() > kMostTaps || p.stride[0] > 2 ||
      p.stride[1] > 2) {
    return false;
  }
  const Dim& width = p.output[1];
  if (!width.is_const()) return false;
  // Several outputs share what lines load, while planes are stored and read again for each.
  if (const int64_t outputs = d.rows.value(); outputs > 1 && p.stride[1] == 1) {
    if (d.lanes < 16 || outputs >= 8 || width.value() > d.lanes) return false;
  }
  return width.value() <= d.lanes * (p.taps() > 9 ? 2 : 1);
}

Dim FitPlanes(ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  const int64_t outputs = d.rows.value(), lanes = d.lanes;
  d.plane_rows = Dim::Min(p.output[0], kDirectLines) + p.reach(0);
  d.plane_pitch = p.output[1] + p.reach(1);
  // Whatever number of vectors leaves the least over.
  const int64_t sums = outputs > 1 && d.target.vector_registers == 32 ? 16 : 8;
  const int64_t most = std::max<int64_t>(sums / outputs, 1);
  const int64_t least = (most + 1) / 2;
  d.plane_vectors = least;
  const Dim flat = Dim::Min(p.output[0], kDirectLines) * d.plane_pitch;
  if (flat.is_const()) {
    const int64_t vectors = (flat.value() + lanes - 1) / lanes;
    auto work = [&](int64_t at_once) { return RoundUp(vectors, at_once); };
    for (int64_t n = least; n <= most; ++n) {
      if (work(n) < work(d.plane_vectors)) d.plane_vectors = n;
    }
  }
  const int64_t spare = (d.plane_vectors + 1) * lanes;
  const Dim planes = d.plane_rows * d.plane_pitch * (p.stride[0] * p.stride[1]) + spare;
  const int64_t bytes = DTypeBytes(d.dtype);
  d.plane_sums = flat + spare;
  d.c_offset = RoundUp(planes * bytes, 64);
  d.a_offset = d.c_offset + RoundUp(d.plane_sums * outputs * bytes, 64);
  const Dim weights = d.a.halves ? RoundUp(d.depth * outputs * bytes, 64) : Dim(0);
  d.plane_bytes = d.a_offset + weights;
  d.plane_units = 4;
  return d.plane_bytes * d.plane_units;
}

std::optional<PixelTile> PlaneTileOf(const ContractionDetail& d) {
  constexpr int64_t kMostStride = 4;
  const PixelOperand& p = d.pixels;
  if (d.form != ContractionForm::kPixelColumns || !p.plain || p.bytes || p.spatial() != 2 ||
      p.stride[0] > kMostStride || p.stride[1] > kMostStride ||
      (p.stride[0] > 1 && p.dilation[0] > 1) || p.taps() < 2 || p.group_channels < 1 ||
      !d.a.buffer || d.a.halves || d.dtype != DType::kFloat32 || d.rounds || !d.target.fma ||
      d.target.vector_bytes < 32 || d.order.form != SumOrder::Form::kAny ||
      d.target.schedule != TileSchedule()) {
    return std::nullopt;
  }
  // As many sums as registers hold, those first that load least for each.
  constexpr std::array<PixelTile, 4> kTiles16 = {{{4, 3}, {6, 2}, {5, 2}, {3, 3}}};
  constexpr std::array<PixelTile, 4> kTiles32 = {{{8, 3}, {6, 4}, {12, 2}, {10, 2}}};
  for (const PixelTile& tile : d.target.vector_registers == 32 ? kTiles32 : kTiles16) {
    const bool is_packed = d.a_k_stride > 1;
    if (d.rows.value() % tile.rows == 0 && (!is_packed || tile.rows == d.a_k_stride)) return tile;
  }
  return std::nullopt;
}

namespace {

// Columns of a unit: all where planes and sums take half of the second cache at most; 0: there
// is no room for a vector.
int64_t PlaneColumns(const ContractionDetail& d, const PixelTile& tile) {
  const PixelOperand& p = d.pixels;
  const Dim& height = p.output[0];
  const int64_t lanes = d.target.vector_bytes / DTypeBytes(d.dtype);
  const int64_t lines =
      height.is_const() ? std::min(height.value(), kPlaneTileLines) : kPlaneTileLines;
  // In numbers that nothing overflows.
  const double of_column = static_cast<double>(p.group_channels * p.phases(0) * p.phases(1)) *
                               static_cast<double>(lines + p.reach(0)) +
                           static_cast<double>(tile.rows * lines);
  const auto elements = static_cast<double>(d.target.l2_bytes / 2 / DTypeBytes(d.dtype));
  const double room = elements / of_column - static_cast<double>(p.reach(1));
  if (room < static_cast<double>(lanes)) return 0;
  const int64_t most = static_cast<int64_t>(room) / lanes * lanes;
  const Dim& width = p.output[1];
  if (!width.is_const()) return most;
  if (width.value() <= most) return width.value();
  const int64_t units = (width.value() + most - 1) / most;
  return RoundUp((width.value() + units - 1) / units, lanes);
}

}  // namespace

double CyclesOfFilledVector(const PixelOperand& p) {
  constexpr std::array<double, 3> kFilled = {4, 10, 14};  // of pixels one apart, two or more
  return kFilled[static_cast<size_t>(std::min<int64_t>(p.stride[1], 3) - 1)];
}

// Panels are a copy for each tap, of which every output channel takes its share; planes have pixels
// between the lines that are of no use, and sums go through memory.
bool PlaneTilesAreBetter(const ContractionDetail& d) {
  const std::optional<PixelTile> tile = PlaneTileOf(d);
  if (!tile) return false;
  const PixelOperand& p = d.pixels;
  // Cycles of a vector that is copied to panels, of pixels that are one apart, two or more; cycles
  // of one of sums, and multiply-adds of a cycle.
  constexpr std::array<double, 3> kPacked = {4, 6, 13};
  constexpr double kSum = 4, kMultiplyAdds = 2;
  // Of strides, whose windows share less of what planes hold: measured.
  constexpr double kLeastGain = 1.03;
  constexpr double kNominal = 128;  // of extents that are open
  const auto extent = [](const Dim& e) {
    return e.is_const() ? static_cast<double>(e.value()) : kNominal;
  };
  const auto rows = static_cast<double>(d.rows.value()), taps = static_cast<double>(p.taps());
  const auto depth = static_cast<double>(d.depth.value());
  const double height = extent(p.output[0]), width = extent(p.output[1]);
  if (height < 1 || width < 1) return false;
  const double lines = std::min<double>(height, kPlaneTileLines);
  const double columns = std::min(width, static_cast<double>(PlaneColumns(d, *tile)));
  if (columns < 1) return false;
  const double pitch = columns + static_cast<double>(p.reach(1));
  const double plane = (lines + static_cast<double>(p.reach(0))) * pitch *
                       static_cast<double>(p.phases(0) * p.phases(1));
  const auto apart = static_cast<size_t>(std::min<int64_t>(p.stride[1], 3) - 1);
  // Cycles of a pixel's share of vectors.
  const auto rounded = [](double pixels, int64_t panel) {
    return std::ceil(pixels / static_cast<double>(panel)) * static_cast<double>(panel);
  };
  const double product = rows * depth / kMultiplyAdds, pixels = height * width;
  const double by_panels = rounded(pixels, d.panel) / pixels * (product + depth * kPacked[apart]);
  const double flat = rounded((lines - 1) * pitch + columns, int64_t{tile->vectors} * d.lanes);
  const double copied = plane * depth / taps * CyclesOfFilledVector(p);
  const double by_planes = (flat * product + copied) / (lines * columns) + rows * kSum;
  if (p.stride[0] == 1 && p.stride[1] == 1) return by_planes < by_panels;
  const double weights = rows * depth * static_cast<double>(DTypeBytes(d.dtype));
  return by_planes * kLeastGain < by_panels &&
         weights <= static_cast<double>(d.target.l2_bytes) / 2;
}

Dim FitPlaneTiles(ContractionDetail& d) {
  const PixelOperand& p = d.pixels;
  const PixelTile tile = *PlaneTileOf(d);
  d.tile_rows = tile.rows;
  d.vectors = tile.vectors;
  d.lanes = d.target.vector_bytes / DTypeBytes(d.dtype);
  d.panel = int64_t{d.lanes} * d.vectors;
  const Dim lines = Dim::Min(p.output[0], kPlaneTileLines);
  d.plane_columns = PlaneColumns(d, tile);
  d.plane_rows = lines + p.reach(0);
  d.plane_pitch = Dim::Min(p.output[1], d.plane_columns) + p.reach(1);
  // Sums of a tile's channels begin in other sets of a cache.
  d.plane_sums = RoundUp(lines * d.plane_pitch + d.panel, 16) + 16;
  const Dim planes = d.plane_rows * d.plane_pitch * (p.group_channels * p.phases(0) * p.phases(1)) +
                     (d.panel + d.lanes);
  const int64_t bytes = DTypeBytes(d.dtype);
  d.c_offset = RoundUp(planes * bytes, 64);
  return d.c_offset + d.plane_sums * (d.tile_rows * bytes);
}

}  // namespace relayvm::codegen
