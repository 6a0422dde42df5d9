#include "kernels/codegen/contraction/estimate.h"

#include <algorithm>
#include <cmath>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/plan.h"

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

// AMX, of a whole register, as Intel's optimization manual has it: nothing here was measured.
constexpr double kAmxProduct = 16, kAmxLoad = 8, kAmxStore = 16;

// Of a whole vector.
double MultiplyAdds(const ContractionTarget& target) { return target.vector_bytes == 64 ? 1 : 2; }

// --- The product ---

struct Sizes {
  double batch, rows, columns, depth;
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
    double arithmetic = products / lanes / MultiplyAdds(target_);
    if (d_.amx) arithmetic = s_.batch * s_.rows * s_.columns * Words() / kAmxWords * kAmxProduct;
    const double least = std::max(arithmetic, Memory(LeastBytes()));
    return {std::max(cycles, least), least};
  }

 private:
  // What one product of registers multiplies and adds.
  static constexpr double kAmxWords = kAmxTile * kAmxTile * kAmxTile;

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
    return s_.depth * step + calls * (kCall + 2 * sums / kLoads);
  }

  double PackedA() const { return d_.pack_a ? s_.rows * s_.depth / d_.lanes * kPackedVector : 0; }
  double PackedB() const {
    if (d_.packed_width > 0 && d_.b.buffer) return 0;
    const double numbers = s_.depth * panels_ * static_cast<double>(d_.panel) * RowBlocks();
    const bool is_vectors = d_.form == ContractionForm::kPixelColumns || !d_.b.k_contiguous;
    return is_vectors ? numbers / d_.lanes * kPackedVector : numbers * kPackedNumbers;
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

}  // namespace

std::optional<KernelEstimate> EstimateContraction(const ContractionPlan& plan,
                                                  const SymbolValue& values) {
  if (!plan.detail || plan.detail->form == ContractionForm::kDirect) return std::nullopt;
  const std::optional<Sizes> sizes = SizesOf(*plan.detail, values);
  if (!sizes) return std::nullopt;
  const bool is_amx = plan.amx && sizes->rows > kMostRowsWithoutAmx;
  return Model(is_amx ? *plan.amx : *plan.detail, *sizes).Estimate();
}

}  // namespace relayvm::codegen
