// The calls of tile kernels that a contraction makes: which one for how many rows and columns.
// Tested through contraction_test.cc.
#pragma once

#include <functional>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

class TileCalls {
 protected:
  using Value = llvm::Value;

  explicit TileCalls(ContractionContext& c) : c_(c), b_(c.b), d_(c.d) {}

  // What the columns of b are words of.
  llvm::Type* BElement() { return WordTypeOf(b_, d_.dtype, Form(), Widened()); }
  PanelForm Form() const { return IsWidenedInScratch() ? PanelForm::kElements : d_.panel_form; }
  const WeightForm* Widened() const { return d_.widened; }
  bool IsWidenedInScratch() const { return c_.unpacks_b && d_.panel_form == PanelForm::kWidened; }

  // Whether tiles read packed weights where they are.
  bool HasPackedWeights() const { return d_.packed_width > 0 && d_.b.buffer && !c_.unpacks_b; }
  // Of a in memory or packed, in elements or words.
  int64_t ARowStride() const {
    return d_.panel_form == PanelForm::kPairs ? d_.a_row_stride / 2 : d_.a_row_stride;
  }
  // The steps of a tile for `extent` of k.
  Value* TileDepth(Value* extent) {
    if (c_.unpacks_b) return Mul(b_, extent, d_.step_words);
    return d_.panel_form == PanelForm::kPairs ? CeilDiv(b_, extent, 2) : extent;
  }
  int64_t BStride() const { return HasPackedWeights() ? d_.packed_width : d_.panel; }

  // Whether tiles take the last panel no wider than needed: shorter vectors take less time or as
  // much.
  bool HasNarrowTiles() const {
    if (d_.step_order || (d_.sorts_steps && c_.unpacks_b)) return false;
    const unsigned bytes = d_.target.vector_bytes;
    // Of 32 bytes, where it is known how many columns are left over.
    const bool may = bytes == 64 ||
                     (bytes == 32 && d_.columns.is_const() && d_.form == ContractionForm::kMatrix);
    return may && d_.rows.is_const() && d_.lanes * c_.element_bytes == bytes &&
           !(d_.columns.is_const() && d_.columns.value() % d_.panel == 0);
  }

  // Of whole tiles, with one set of accumulators.
  TileConfig ConfigOf(bool has_dynamic_b_stride) const {
    TileConfig config{
        d_.dtype,     d_.rounds,     d_.tile_rows,
        d_.vectors,   d_.lanes,      1,
        ARowStride(), d_.a_k_stride, has_dynamic_b_stride ? TileConfig::kDynamic : BStride(),
        d_.panel};
    config.form = Form();
    config.widened = Widened();
    config.a_is_unsigned = d_.form != ContractionForm::kPixelColumns;
    if (d_.sorts_steps) config.split = c_.unpacks_b ? QuadSplit::kSorted : QuadSplit::kInTile;
    if (d_.step_order) config.split = QuadSplit::kOrdered;
    if (d_.step_words > 1) config.split = c_.unpacks_b ? QuadSplit::kBoth : QuadSplit::kA;
    if (!IsWidenedInScratch()) {
      config.block = d_.weight_block;
      config.block_stride = BStride();
      config.has_zero_points = d_.zero_points != nullptr;
    }
    config.streams_a = !d_.pack_a && d_.a.buffer && !d_.a.k_contiguous && !WidensRows(d_);
    config.streams_b = HasPackedWeights() && !d_.step_order;
    return config;
  }

  // `columns`: of the panel from here on; null when it is whole.
  void CallTile(Value* rows, TileCall call, Value* columns = nullptr) {
    if (d_.amx) return CallAmxTile(rows, call, columns);
    TileConfig config = ConfigOf(call.b_k_stride != nullptr);
    // Products that differ in depth alone have the same tiles.
    if (config.a_k_stride == 1) {
      call.a_row_stride = I64(b_, config.a_row_stride);
      config.a_row_stride = TileConfig::kDynamic;
    }
    if (d_.order.form == SumOrder::Form::kTiles) {
      config.sets = d_.order.sets;
      return EmitTileDispatchOfSets(b_, config, call, rows);
    }
    // Of more than a few tiles, no tile has more sets.
    Value* all_rows = IsWidenedInScratch() ? nullptr : c_.rows;
    if (!d_.rows.is_const()) return EmitTileDispatch(b_, config, call, rows, all_rows);
    config.sets = TileSets(config, d_.rows.value());
    if (!columns || !HasNarrowTiles()) return CallTileOfRows(rows, config, call);
    If(
        b_, b_.CreateICmpSGE(columns, I64(b_, d_.panel)),
        [&] { CallTileOfRows(rows, config, call); },
        [&] { CallNarrowTiles(rows, config, call, columns); });
  }

  // Fewer columns than a panel: whole vectors, then a vector, or a half or a quarter of one, or a
  // few columns that are vectors of rows.
  void CallNarrowTiles(Value* rows, const TileConfig& config, const TileCall& call,
                       Value* columns) {
    if (d_.columns.is_const()) columns = I64(b_, d_.columns.value() % d_.panel);
    const int64_t lanes = d_.lanes;
    auto part = [&](int64_t at, unsigned vectors, int64_t of_lanes, unsigned extra = 0) {
      TileConfig part_config = config;
      part_config.extra = extra;
      part_config.vectors = vectors;
      part_config.lanes = static_cast<unsigned>(of_lanes);
      TileCall part_call = call;
      part_call.b = At(b_, BElement(), call.b, at);
      if (call.scales) part_call.scales = At(b_, c_.element, call.scales, at);
      if (call.zero_points) part_call.zero_points = At(b_, c_.element, call.zero_points, at);
      part_call.c = At(b_, c_.element, call.c, at);
      CallTileOfRows(rows, part_config, part_call);
    };
    const bool rows_are_vectors =
        d_.form == ContractionForm::kPixelColumns && d_.a_row_stride == 1 && config.sets == 1;
    auto at_most = [&](int64_t count) { return b_.CreateICmpSLE(columns, I64(b_, count)); };
    std::function<void(unsigned)> from_vector = [&](unsigned whole) {
      const int64_t at = whole * lanes;
      auto wide = [&] { part(0, whole + 1, lanes); };
      auto narrow = [&](int64_t of_lanes) {
        if (whole > 0 && of_lanes <= lanes / 4 && rows_are_vectors) {
          const int64_t rest = d_.columns.is_const() ? d_.columns.value() % lanes : of_lanes;
          auto with = [&](int64_t extra) { part(0, whole, lanes, static_cast<unsigned>(extra)); };
          if (d_.panel_form != PanelForm::kQuads || d_.columns.is_const()) return with(rest);
          // Images of 7 x 7 have one pixel more than whole vectors.
          return If(b_, at_most(at + 1), [&] { with(1); }, [&] { with(rest); });
        }
        if (whole > 0) part(0, whole, lanes);
        part(at, 1, of_lanes);
      };
      auto in_vector = [&] {
        If(
            b_, at_most(at + lanes / 4), [&] { narrow(lanes / 4); },
            [&] { If(b_, at_most(at + lanes / 2), [&] { narrow(lanes / 2); }, wide); });
      };
      if (whole + 1 == d_.vectors) return in_vector();
      If(b_, at_most(at + lanes), in_vector, [&] { from_vector(whole + 1); });
    };
    from_vector(0);
  }

  void CallAmxTile(Value* rows, const TileCall& call, Value* columns) {
    AmxConfig config{d_.panel_form,
                     /*a_is_unsigned=*/true,
                     /*row_tiles=*/1,
                     /*column_tiles=*/d_.vectors,
                     ARowStride(),
                     BStride(),
                     /*tail_row_stride=*/d_.panel,
                     /*c_row_stride=*/d_.panel};
    // Calls with one register or two, as `count` needs; all counts are `all` and what is left of
    // it.
    auto choose = [&](Value* count, const Dim& all, const std::function<void(unsigned)>& with) {
      const int64_t rest = all.is_const() ? all.value() % (2 * kAmxTile) : 1;
      if (rest == 0 || rest > kAmxTile) return with(2);
      If(b_, b_.CreateICmpSGT(count, I64(b_, kAmxTile)), [&] { with(2); }, [&] { with(1); });
    };
    choose(rows, d_.rows, [&](unsigned row_tiles) {
      config.row_tiles = row_tiles;
      if (d_.vectors == 1) return EmitAmxCall(b_, config, call);
      choose(columns, d_.columns, [&](unsigned column_tiles) {
        config.column_tiles = column_tiles;
        EmitAmxCall(b_, config, call);
      });
    });
  }

  // Rows are constant, and so only the last tile has fewer.
  void CallTileOfRows(Value* rows, const TileConfig& config, const TileCall& call) {
    TileConfig rest = config;
    rest.rows = static_cast<unsigned>(d_.rows.value() % d_.tile_rows);
    if (rest.rows == 0) return EmitTileCall(b_, config, call);
    if (d_.rows.value() < d_.tile_rows) return EmitTileCall(b_, rest, call);
    If(
        b_, b_.CreateICmpEQ(rows, I64(b_, d_.tile_rows)), [&] { EmitTileCall(b_, config, call); },
        [&] { EmitTileCall(b_, rest, call); });
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
};

}  // namespace relayvm::codegen
