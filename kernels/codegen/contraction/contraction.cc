// The loop nest around the tile kernels.
//
//   for each (batch, block of rows) that the units touch:
//     pack the block of a
//     for each group of panels:
//       for each block of k: pack the panels of b, unless they are memory that tiles can read
//         for each panel, tile of rows: tile kernel into scratch; with the last block: epilogue
//         into the outputs
//
// Few rows do without packing b: dot kernels where its k is contiguous, and streamed panels where
// its columns are.
#include "kernels/codegen/contraction/contraction.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "kernels/codegen/contraction/amx.h"
#include "kernels/codegen/contraction/attention.h"
#include "kernels/codegen/contraction/direct.h"
#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/few_pixels.h"
#include "kernels/codegen/contraction/few_rows.h"
#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/rows_of_tiles.h"
#include "kernels/codegen/contraction/tile.h"
#include "kernels/codegen/contraction/tile_calls.h"
#include "kernels/codegen/contraction/winograd.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;

// --- Product ---

class ProductEmitter : RowsOfTiles {
 public:
  explicit ProductEmitter(ContractionContext& c)
      : RowsOfTiles(c), b_scratch_(c.Scratch(d_.b_offset)) {}

  void Emit(Value* begin, Value* end) {
    If(b_, b_.CreateICmpSLT(begin, end), [&] {
      Value* units = c_.emitter.EmitDim(d_.block_units);
      Value* row_blocks = c_.emitter.EmitDim(d_.row_blocks);
      Value* last = Add(b_, Div(b_, Add(b_, end, -1), units), 1);
      Value* rows = d_.row_block ? Min(b_, c_.rows, I64(b_, d_.row_block)) : c_.rows;
      Value* first_block = Div(b_, begin, units);
      const bool has_parts = d_.form == ContractionForm::kPixelColumns;
      Value* of_unit = has_parts ? Work(I64(b_, d_.part_rows), d_.panel_group) : Work(rows, 1);
      Value* work = WorkOf(b_, of_unit, Min(b_, units, Sub(b_, end, begin)));
      work = WorkOf(b_, work, Sub(b_, last, first_block));
      is_long_ = b_.CreateICmpSGE(work, I64(b_, kMaxWork));
      llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
      counter_ = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(b_.getInt64Ty());
      b_.CreateStore(I64(b_, kMaxWork), counter_);
      if (PacksA() || KeepsPixels()) kept_ = KeptWord(b_);
      if (d_.amx) EmitAmxConfigure(b_);
      For(b_, first_block, last, 1, "block", [&](Value* block) {
        Value* first_unit = Mul(b_, block, units);
        Value* from = Max(b_, Sub(b_, begin, first_unit), I64(b_, 0));
        Value* to = Min(b_, Sub(b_, end, first_unit), units);
        block_ = block;
        EmitBlock(Div(b_, block, row_blocks), Rem(b_, block, row_blocks), from, to);
      });
      if (d_.amx) EmitAmxRelease(b_);
    });
  }

 private:
  using Columns = EpilogueEmitter::Columns;

  bool PacksA() const { return d_.form == ContractionForm::kPixelRows || d_.pack_a; }
  // kPixelColumns: whether a group of panels that is packed stays for the next units.
  bool KeepsPixels() const { return d_.row_parts > 1 && !HasChannelBlocks(); }
  bool HasChannelBlocks() const { return d_.channel_block < d_.pixels.group_channels; }
  // Units from..to-1 of one block of rows.
  void EmitBlock(Value* batch, Value* row_block, Value* from, Value* to) {
    if (d_.order.form == SumOrder::Form::kDots) return EmitDotRows(batch, row_block, from, to);
    if (!HasDots(d_) || d_.order.form == SumOrder::Form::kTiles)
      return EmitTiledBlock(batch, row_block, from, to);
    If(
        b_, b_.CreateICmpSLE(c_.rows, I64(b_, kMaxDotRows)), [&] { EmitDotBlock(batch, from, to); },
        [&] {
          If(
              b_, DotsSkipPacking(), [&] { EmitDotRows(batch, row_block, from, to); },
              [&] { EmitTiledBlock(batch, row_block, from, to); });
        });
  }

  // --- Tiles ---

  // Rows of a.
  struct Block {
    Value *batch, *row, *count, *a;
  };

  void EmitTiledBlock(Value* batch, Value* row_block, Value* from, Value* to) {
    Value* row = d_.row_block ? Mul(b_, row_block, d_.row_block) : I64(b_, 0);
    Value* count = d_.row_block ? Min(b_, Sub(b_, c_.rows, row), I64(b_, d_.row_block)) : c_.rows;
    Value* a = a_scratch_;
    if (PacksA()) {
      UnlessKept(b_, kept_, block_, [&] {
        if (d_.form == ContractionForm::kPixelRows)
          return EmitPackPixelRows(c_, batch, row, count, a);
        EmitPackRows(c_, batch, row, count, a);
      });
    } else {
      a = c_.PlainRow(d_.a, batch, I64(b_, 0));
    }
    if (d_.streamed_panels == 0) {
      if (UnpacksPanels(d_) && d_.order.form != SumOrder::Form::kTiles)
        return EmitUnpackedPanels(batch, row, count, a, from, to);
      return EmitPanels(batch, row, count, a, from, to);
    }
    If(
        b_, b_.CreateICmpSLE(c_.rows, I64(b_, d_.tile_rows)),
        [&] {
          const bool splits = std::exchange(c_.unpacks_b, false);
          // Panels that reach past the last column are packed.
          Value* whole = Div(b_, c_.columns, I64(b_, d_.panel));
          Value* last = Max(b_, from, Min(b_, to, whole));
          For(b_, from, last, d_.streamed_panels, "panel", [&](Value* first) {
            Poll([&] { return Work(c_.rows, d_.streamed_panels); });
            Value* column = Mul(b_, first, d_.panel);
            EmitStreamedPanels(batch, a, column,
                               Min(b_, Sub(b_, last, first), I64(b_, d_.streamed_panels)),
                               At(b_, c_.element, c_.PlainRow(d_.b, batch, I64(b_, 0)), column),
                               c_.emitter.EmitDim(d_.b.stride));
          });
          For(b_, last, to, 1, "panel", [&](Value* panel) {
            Value* column = Mul(b_, panel, d_.panel);
            EmitPackPanels(c_, batch, {column, I64(b_, 1), I64(b_, 0), c_.depth}, b_scratch_);
            EmitStreamedPanels(batch, a, column, I64(b_, 1), b_scratch_, I64(b_, d_.panel));
          });
          c_.unpacks_b = splits;
        },
        [&] { EmitPanels(batch, row, count, a, from, to); });
  }

  // Packed weights: tiles of few rows unpack them in registers, those of many in scratch.
  void EmitUnpackedPanels(Value* batch, Value* row, Value* count, Value* a, Value* from,
                          Value* to) {
    const auto panels = [&](bool unpacks) {
      const bool before = std::exchange(c_.unpacks_b, unpacks);
      EmitPanels(batch, row, count, a, from, to);
      c_.unpacks_b = before;
    };
    const int64_t few = MostPackedRows(d_);
    if (d_.rows.is_const()) return panels(d_.rows.value() > few);
    If(b_, b_.CreateICmpSLE(c_.rows, I64(b_, few)), [&] { panels(false); }, [&] { panels(true); });
  }

  // All rows (one tile of them) times `count` panels of b from `column` on, whose rows are `stride`
  // apart: kStreamedRows of b at a time, all panels of those, so that memory is read in long runs.
  void EmitStreamedPanels(Value* batch, Value* a, Value* column, Value* count, Value* b_at_column,
                          Value* stride) {
    const int64_t tile = d_.tile_rows * d_.panel;
    auto sums_of = [&](Value* q) { return At(b_, c_.element, c_scratch_, Mul(b_, q, tile)); };
    // At least one turn, so that an empty sum is stored.
    For(b_, I64(b_, 0), Max(b_, c_.depth, I64(b_, 1)), kStreamedRows, "k", [&](Value* k) {
      Value* extent = Min(b_, Sub(b_, c_.depth, k), I64(b_, kStreamedRows));
      Value* a_at_k = At(b_, c_.element, a, AOffset(k));
      Value* b_at_k = At(b_, c_.element, b_at_column, Mul(b_, k, stride));
      For(b_, I64(b_, 0), count, 1, "panel", [&](Value* q) {
        CallTile(c_.rows, {a_at_k, At(b_, c_.element, b_at_k, Mul(b_, q, d_.panel)), sums_of(q),
                           extent, b_.CreateICmpNE(k, I64(b_, 0)), nullptr, nullptr, stride});
      });
    });
    For(b_, I64(b_, 0), count, 1, "panel", [&](Value* q) {
      epilogue_.EmitTile(batch, I64(b_, 0), c_.rows, Add(b_, column, Mul(b_, q, d_.panel)),
                         sums_of(q));
    });
  }

  // Packs, or reads packed, one panel after the other.
  void EmitPanels(Value* batch, Value* row, Value* count, Value* a, Value* from, Value* to) {
    if (d_.form == ContractionForm::kPixelColumns) {
      return EmitPixelPanels(batch, row, count, a, from, to);
    }
    if (d_.panels_inside && !c_.unpacks_b) {
      For(b_, I64(b_, 0), count, d_.tile_rows, "tile", [&](Value* tile) {
        For(b_, from, to, 1, "panel", [&](Value* panel) {
          Poll([&] { return Work(I64(b_, d_.tile_rows), 1); });
          Value* column = Mul(b_, panel, d_.panel);
          EmitTileAndEpilogue(batch, row, tile, count, a, column, PanelOfB(batch, column));
        });
      });
      return;
    }
    For(b_, from, to, d_.panel_group, "group", [&](Value* first) {
      Value* group = d_.panel_group == 1 ? static_cast<Value*>(I64(b_, 1))
                                         : Min(b_, Sub(b_, to, first), I64(b_, d_.panel_group));
      EmitGroup({batch, row, count, a}, first, group);
    });
  }

  // Groups of panels: where they are as far as that pays, the others packed. A group's first and
  // last units may be elsewhere.
  void EmitPixelPanels(Value* batch, Value* row, Value* count, Value* a, Value* from, Value* to) {
    Value* panels = c_.emitter.EmitDim(d_.panels);
    Value* groups = CeilDiv(b_, panels, d_.panel_group);
    Value* size = Div(b_, Add(b_, panels, Add(b_, groups, -1)), groups);
    Value* last = CeilDiv(b_, to, d_.row_parts);
    For(b_, Div(b_, from, I64(b_, d_.row_parts)), last, 1, "group", [&](Value* index) {
      Value* first = Mul(b_, index, size);
      Value* group = Min(b_, Sub(b_, panels, first), size);
      Value* column = Mul(b_, first, d_.panel);
      Value* in_place = PanelsInPlace(column, group);
      if (in_place) {
        EmitPanelsInPlace(batch, row, count, a, column, in_place);
        const Dim& pixels = d_.image_pixels;
        if (d_.images.is_const(1) && pixels.is_const() && pixels.value() % d_.panel == 0) return;
        If(b_, b_.CreateICmpSLT(in_place, group), [&] {
          EmitPackedPixels({batch, row, count, a}, {I64(b_, 0), count}, nullptr,
                           Add(b_, first, in_place), Sub(b_, group, in_place), true);
        });
        return;
      }
      Rows rows{I64(b_, 0), count};
      if (d_.row_parts > 1) {
        Value* unit = Mul(b_, index, d_.row_parts);
        rows.from = Mul(b_, Max(b_, Sub(b_, from, unit), I64(b_, 0)), d_.part_rows);
        rows.to = Min(b_, Mul(b_, Sub(b_, to, unit), d_.part_rows), count);
      }
      Value* key = KeepsPixels() ? Add(b_, Mul(b_, block_, groups), index) : nullptr;
      EmitPackedPixels({batch, row, count, a}, rows, key, first, group);
    });
  }

  struct Rows {
    Value *from, *to;  // of a block
  };
  // `group` panels from `first` on, one block of channels after the other. `key`: of what is
  // packed, where that is kept; else null. `is_rest`: others of the image are read in place.
  void EmitPackedPixels(const Block& block, const Rows& range, Value* key, Value* first,
                        Value* group, bool is_rest = false) {
    const auto [batch, row, count, a] = block;
    const int64_t channels = d_.pixels.group_channels, taps = d_.pixels.taps();
    const bool keeps_sums = HasChannelBlocks();
    auto column_of = [&](Value* q) { return Mul(b_, Add(b_, first, q), d_.panel); };
    auto packed = [&](Value* q) {
      return At(b_, c_.element, b_scratch_, Mul(b_, q, PixelPanelElements(d_)));
    };
    const TapBounds bounds = EmitTapBounds(c_);
    Value* is_few = d_.few_pixels > 0 ? TakesFewPixels(c_) : nullptr;
    // At least one turn, so that an empty sum is stored.
    For(b_, I64(b_, 0), I64(b_, std::max<int64_t>(channels, 1)), d_.channel_block, "channels",
        [&](Value* channel) {
          Value* end = Min(b_, Add(b_, channel, d_.channel_block), I64(b_, channels));
          auto pack = [&] {
            EmitPackPixelPanels(c_, bounds, batch, column_of(I64(b_, 0)), group, channel, end,
                                b_scratch_);
          };
          auto pack_any = [&] {
            if (!is_few) return pack();
            If(b_, is_few, [&] { EmitFewPixels(c_, batch); }, pack);
          };
          if (key) {
            UnlessKept(b_, kept_, key, pack_any);
          } else {
            pack_any();
          }
          Value* extent = Mul(b_, Sub(b_, end, channel), bounds.taps);
          Value* steps = TileDepth(extent);
          Value* a_at = At(b_, AElement(), a, Mul(b_, channel, taps * d_.a_k_stride));
          For(b_, range.from, range.to, d_.tile_rows, "tile", [&](Value* tile) {
            Poll([&] { return Work(I64(b_, d_.tile_rows), d_.panel_group); });
            Value* rows = Min(b_, Sub(b_, count, tile), I64(b_, d_.tile_rows));
            Value* rows_of_a =
                WidensRows(d_) ? WidenedRows(a_at, tile, rows, extent)
                               : CutRows(bounds, RowsOfA(a_at, tile), rows, Sub(b_, end, channel));
            For(b_, I64(b_, 0), group, 1, "panel", [&](Value* q) {
              Value* column = column_of(q);
              Value* sums = c_scratch_;
              if (keeps_sums) {
                Value* index =
                    Add(b_, Mul(b_, tile, d_.panel_group), Mul(b_, q, int64_t{d_.tile_rows}));
                sums = At(b_, c_.element, sums, Mul(b_, index, d_.panel));
              }
              auto sum = [&] {
                CallTile(rows,
                         {rows_of_a, packed(q), sums, steps, b_.CreateICmpSGT(channel, I64(b_, 0))},
                         Sub(b_, c_.columns, column));
              };
              auto in_memory = [&](Columns columns) {
                if (is_few) {
                  If(b_, is_few, [&] { EmitFewPixelSums(c_, rows_of_a, rows, sums); }, sum);
                } else {
                  sum();
                }
                If(b_, b_.CreateICmpEQ(end, I64(b_, channels)), [&] {
                  epilogue_.EmitTile(batch, Add(b_, row, tile), rows, column, sums, columns);
                });
              };
              // Of one image, only its last panel is not read in place.
              if (is_rest && d_.images.is_const(1)) return in_memory(Columns::kPart);
              Value* fits = keeps_sums || IsDeep() ? nullptr : TakesRegisters(rows, column);
              if (fits && is_few) fits = b_.CreateAnd(fits, b_.CreateNot(is_few));
              InRegisters(fits, batch, Add(b_, row, tile), column,
                          {rows_of_a, packed(q), nullptr, steps, nullptr}, in_memory);
            });
          });
        });
  }

  // How many of `count` panels from `column` on are read where they are: whole ones of one image,
  // of pixels that windows do not overlap, by few rows. Null: never any.
  Value* PanelsInPlace(Value* column, Value* count) {
    if (!d_.pixels_in_place || d_.rows.value() > kMostRowsInPlace ||
        d_.rows.value() % d_.tile_rows != 0 || d_.channel_block < d_.pixels.group_channels ||
        !TakesRegisters(I64(b_, d_.tile_rows), column)) {
      return nullptr;
    }
    Value* pixels = c_.emitter.EmitDim(d_.image_pixels);
    Value* in_image = d_.images.is_const(1) ? column : Rem(b_, column, pixels);
    return Min(b_, count, Div(b_, Sub(b_, pixels, in_image), I64(b_, d_.panel)));
  }

  void EmitPanelsInPlace(Value* batch, Value* row, Value* count, Value* a, Value* first,
                         Value* panels) {
    Value* pixels = c_.emitter.EmitDim(d_.image_pixels);
    Value* image = d_.images.is_const(1) ? I64(b_, 0) : Div(b_, first, pixels);
    Value* channel = Mul(b_, batch, d_.pixels.group_channels);
    Value* in_image = Sub(b_, first, Mul(b_, image, pixels));
    Value* data = At(b_, c_.element, PixelLoader(c_, 1).Line({image, channel}), in_image);
    if (d_.a.halves) a = WidenedRows(a, I64(b_, 0), count, c_.depth);
    For(b_, I64(b_, 0), panels, 1, "panel", [&](Value* q) {
      Poll([&] { return Work(count, 1); });
      Value* offset = Mul(b_, q, d_.panel);
      For(b_, I64(b_, 0), count, d_.tile_rows, "tile", [&](Value* tile) {
        TileCall call{RowsOfA(a, tile), At(b_, c_.element, data, offset), nullptr, c_.depth,
                      nullptr};
        call.b_k_stride = pixels;
        Value *at_row = Add(b_, row, tile), *column = Add(b_, first, offset);
        if (!IsDeep()) {
          return epilogue_.EmitRegisters(batch, at_row, column,
                                         EmitTileSums(b_, ConfigOf(true), call));
        }
        call.c = c_scratch_;
        call.accumulate = b_.getFalse();
        Value* rows = I64(b_, d_.tile_rows);
        CallTile(rows, call);
        epilogue_.EmitTile(batch, at_row, rows, column, c_scratch_, Columns::kAll);
      });
    });
  }

  // Stores a tile's sums from registers where `fits` (null: never), else by `in_memory`, which is
  // told what is left to it.
  void InRegisters(Value* fits, Value* batch, Value* row, Value* column, const TileCall& call,
                   const std::function<void(Columns)>& in_memory) {
    if (!fits) return in_memory(Columns::kAny);
    If(
        b_, fits,
        [&] {
          epilogue_.EmitRegisters(batch, row, column, EmitTileSums(b_, ConfigOf(false), call));
        },
        [&] { in_memory(HasWholeTiles() ? Columns::kPart : Columns::kAny); });
  }

  // The panel at `column` as the weights are packed.
  Panel PanelOfB(Value* batch, Value* column) {
    Value* width = I64(b_, d_.packed_width);
    Value* index = Div(b_, column, width);
    Value* in_panel = Rem(b_, column, width);
    if (d_.panel_form == PanelForm::kElements) {
      // Panel column / P is K * P elements; rows of the operand are rows of a panel.
      Value* pointer = c_.PlainRow(d_.b, batch, Mul(b_, index, c_.depth));
      return {At(b_, c_.element, pointer, in_panel)};
    }
    auto at = [&](const te::Tensor& t, llvm::Type* element, const Dim& rows) -> Value* {
      if (!t) return nullptr;
      Value* base =
          c_.emitter.ElementAddress(t.get(), std::vector<Value*>(t->shape.size(), I64(b_, 0)));
      Value* row = Mul(b_, index, c_.emitter.EmitDim(rows));
      return At(b_, element, base, Add(b_, Mul(b_, row, width), in_panel));
    };
    c_.emitter.BindAxis(d_.b.batch.get(), batch);
    llvm::Type* word = WordTypeOf(b_, d_.dtype, d_.panel_form, Widened());
    Value* of_matrix =
        At(b_, word, at(d_.b.buffer, word, d_.panel_words), c_.emitter.Emit(d_.b.base));
    Panel panel{of_matrix, at(d_.scales, c_.element, d_.weight_blocks),
                at(d_.zero_points, c_.element, d_.weight_blocks)};
    if (d_.step_order)
      panel.order = c_.emitter.ElementAddress(d_.step_order.get(), {index, I64(b_, 0)});
    return panel;
  }

  // `group` panels from `first` on, one block of k after the other.
  void EmitGroup(const Block& rows, Value* first, Value* group) {
    const auto column_of = [&](Value* q) { return Mul(b_, Add(b_, first, q), d_.panel); };
    const bool is_packed = d_.packed_width > 0 && d_.b.buffer;  // perhaps in words to be split
    const auto pack = [&](Value* from, Value* to) {
      if (is_packed) return;
      EmitPackPanels(c_, rows.batch, {column_of(I64(b_, 0)), group, from, to}, b_scratch_);
    };
    const auto panel_of = [&](Value* q, Value* column) {
      if (is_packed) return PanelOfB(rows.batch, column);
      return Panel{At(b_, c_.element, b_scratch_, Mul(b_, q, d_.panel_pitch))};
    };
    if (d_.k_block == 0) {
      pack(I64(b_, 0), c_.depth);
      For(b_, I64(b_, 0), group, 1, "panel", [&](Value* q) {
        Value* column = column_of(q);
        EmitPanel(rows, column, Unpacked(panel_of(q, column), c_.depth));
      });
      return;
    }
    // Words are packed whole: there is one panel of them.
    const bool packs_blocks = d_.panel_form == PanelForm::kElements;
    if (!packs_blocks) pack(I64(b_, 0), c_.depth);
    For(b_, I64(b_, 0), c_.emitter.EmitDim(d_.k_blocks), 1, "k.block", [&](Value* block) {
      Value* k = Mul(b_, block, d_.k_block);
      Value* extent = Min(b_, Sub(b_, c_.depth, k), I64(b_, d_.k_block));
      if (packs_blocks) pack(k, Add(b_, k, extent));
      const bool is_block = packs_blocks && !is_packed;
      For(b_, I64(b_, 0), group, 1, "panel", [&](Value* q) {
        Poll([&] {
          return WorkOf(b_, WorkOf(b_, I64(b_, d_.k_block), rows.count),
                        I64(b_, std::max<int64_t>(1, d_.panel / 8)));
        });
        Value* column = column_of(q);
        Panel panel = panel_of(q, column);
        if (!is_block) panel = Unpacked(BlockOf(panel, block), extent);
        EmitBlockOfPanel(rows, block, TileDepth(extent), column, panel,
                         NextInGroup(panel.b, extent, q, group),
                         At(b_, c_.element, c_scratch_, Mul(b_, q, d_.row_block * d_.panel)));
      });
    });
  }

  // Without blocks of k.
  void EmitPanel(const Block& rows, Value* column, const Panel& panel) {
    EmitTailOf(panel.b, TileDepth(c_.depth));
    For(b_, I64(b_, 0), rows.count, d_.tile_rows, "tile", [&](Value* tile) {
      Poll([&] { return Work(I64(b_, d_.tile_rows), 1); });
      EmitTileAndEpilogue(rows.batch, rows.row, tile, rows.count, rows.a, column, panel);
    });
  }

  // Whether packed weights are read unpacked, from scratch: one panel, or a block of its k.
  bool Unpacks() const { return c_.unpacks_b && UnpacksPanels(d_); }
  Panel Unpacked(const Panel& panel, Value* steps) {
    if (!Unpacks()) return panel;
    EmitUnpackPanel(c_, panel, steps, b_scratch_);
    return {b_scratch_};
  }

  // What of a panel belongs to a block of k.
  Panel BlockOf(const Panel& panel, Value* block) {
    const int64_t rows_of_b = d_.panel_form == PanelForm::kWidened ? Widened()->Rows(d_.k_block)
                              : d_.panel_form == PanelForm::kPairs ? d_.k_block / 2
                              : c_.unpacks_b && !Unpacks()         ? d_.k_block * d_.step_words
                                                                   : d_.k_block;
    const int64_t stride = Unpacks() ? d_.packed_width : BStride();
    const auto at_block = [&](Value* pointer, llvm::Type* type, int64_t rows) {
      return pointer ? At(b_, type, pointer, Mul(b_, block, rows * stride)) : nullptr;
    };
    llvm::Type* word = WordTypeOf(b_, d_.dtype, d_.panel_form, Widened());
    const int64_t scales = d_.weight_block > 0 ? d_.k_block / d_.weight_block : 0;
    return {at_block(panel.b, word, rows_of_b), at_block(panel.scales, c_.element, scales),
            at_block(panel.zero_points, c_.element, scales)};
  }

  // What a tile fetches as it reads its panel of packed weights. Of many tiles, those of `count`
  // rows, each of the first ones fetches a share of what is read next, so that memory and
  // arithmetic are busy all the time; one tile alone what is `ahead`. Later tiles, which would
  // fetch it again, fetch what they read themselves.
  void SetFetched(TileCall& call, Value* tile, Value* count, Value* ahead, Value* next) {
    if (!HasPackedWeights() || d_.amx) return;
    Value* is_fetching = b_.CreateICmpEQ(tile, I64(b_, 0));
    if (Form() == PanelForm::kElements) {
      Value* has_many = b_.CreateICmpSGT(count, I64(b_, d_.tile_rows));
      Value* has_four = b_.CreateICmpSGT(count, I64(b_, int64_t{3} * d_.tile_rows));
      call.fetched_shift = Add(b_, b_.CreateZExt(has_many, b_.getInt64Ty()),
                               b_.CreateZExt(has_four, b_.getInt64Ty()));
      Value* index = Div(b_, tile, I64(b_, d_.tile_rows));
      is_fetching = b_.CreateICmpEQ(b_.CreateLShr(index, call.fetched_shift), I64(b_, 0));
      Value* bytes = Mul(b_, call.k, int64_t{d_.packed_width} * c_.element_bytes);
      Value* share = Mul(b_, index, b_.CreateLShr(bytes, call.fetched_shift));
      ahead = b_.CreateSelect(has_many, b_.CreateGEP(b_.getInt8Ty(), next, share), ahead);
    }
    call.fetched = b_.CreateSelect(is_fetching, ahead, call.b);
  }
  // After panel q of a group, `extent` of its k: the next panel's, or the next block of the first.
  Value* NextInGroup(Value* panel, Value* extent, Value* q, Value* group) {
    if (d_.panel_group == 1)
      return b_.CreateGEP(BElement(), panel, Mul(b_, extent, d_.packed_width));
    Value* of_panel = Mul(b_, c_.depth, d_.packed_width);
    Value* back = Sub(b_, Mul(b_, extent, d_.packed_width), Mul(b_, of_panel, Add(b_, group, -1)));
    Value* is_last = b_.CreateICmpEQ(Add(b_, q, 1), group);
    return b_.CreateGEP(BElement(), panel, b_.CreateSelect(is_last, back, of_panel));
  }

  // Adds a block of k to the sums of a panel; the last one makes results of them.
  void EmitBlockOfPanel(const Block& rows, Value* block, Value* extent, Value* column,
                        const Panel& panel, Value* next, Value* sums) {
    EmitTailOf(panel.b, extent);
    Value* is_later = b_.CreateICmpNE(block, I64(b_, 0));
    Value* is_last = b_.CreateICmpEQ(Add(b_, block, 1), c_.emitter.EmitDim(d_.k_blocks));
    For(b_, I64(b_, 0), rows.count, d_.tile_rows, "tile", [&](Value* tile) {
      Value* tile_rows = Min(b_, Sub(b_, rows.count, tile), I64(b_, d_.tile_rows));
      Value* tile_sums = At(b_, c_.element, sums, Mul(b_, tile, d_.panel));
      TileCall call = CallOf(RowsOfBlock(rows.a, tile, block), panel, tile_sums, extent, is_later);
      SetFetched(call, tile, rows.count, d_.panel_group == 1 ? FetchedAhead(b_, panel.b) : next,
                 next);
      CallTile(tile_rows, call, Sub(b_, c_.columns, column));
      If(b_, is_last, [&] {
        epilogue_.EmitTile(rows.batch, Add(b_, rows.row, tile), tile_rows, column, tile_sums);
      });
    });
  }

  void EmitTileAndEpilogue(Value* batch, Value* row, Value* tile, Value* count, Value* a,
                           Value* column, const Panel& panel) {
    Value* rows = Min(b_, Sub(b_, count, tile), I64(b_, d_.tile_rows));
    Value* rows_of_a = RowsOfA(a, tile);
    TileCall in_registers{rows_of_a, panel.b, nullptr, c_.depth, nullptr};
    if (d_.panels_inside) {
      in_registers.fetched = panel.b;  // small weights are near, and read again for each tile
    } else {
      SetFetched(in_registers, tile, count, FetchedAhead(b_, panel.b),
                 b_.CreateGEP(BElement(), panel.b, Mul(b_, c_.depth, d_.packed_width)));
    }
    auto in_memory = [&](Columns columns) {
      TileCall call = CallOf(rows_of_a, panel, c_scratch_, TileDepth(c_.depth), b_.getFalse());
      call.fetched = in_registers.fetched;
      call.fetched_shift = in_registers.fetched_shift;
      CallTile(rows, call, Sub(b_, c_.columns, column));
      epilogue_.EmitTile(batch, Add(b_, row, tile), rows, column, c_scratch_, columns);
    };
    InRegisters(IsDeep() ? nullptr : TakesRegisters(rows, column), batch, Add(b_, row, tile),
                column, in_registers, in_memory);
  }

  TileCall CallOf(Value* a, const Panel& panel, Value* c, Value* k, Value* accumulate) {
    TileCall call{a, panel.b, c, k, accumulate};
    call.scales = panel.scales;
    call.zero_points = panel.zero_points;
    call.order = panel.order;
    if (d_.amx) call.tail = c_.Scratch(d_.tail_offset);
    return call;
  }
  // Before the tiles of a panel, or of a block of its k.
  void EmitTailOf(Value* panel, Value* words) {
    if (d_.amx) EmitAmxTail(c_, panel, words, BStride(), c_.Scratch(d_.tail_offset));
  }

  Value* b_scratch_;
  Value *kept_ = nullptr, *block_ = nullptr;  // KeptWord; the number of the (batch, row block)
};

}  // namespace

Status EmitContraction(const ContractionPlan& plan, Emitter& emitter, Builder& builder,
                       Value* begin, Value* end, Value* scratch) {
  if (plan.attention) {
    EmitAttention(*plan.attention, emitter, builder, begin, end, scratch);
  } else if (plan.winograd) {
    EmitWinograd(*plan.winograd, emitter, builder, begin, end, scratch);
  }
  if (!plan.detail) {
    KeepLoops(builder.GetInsertBlock()->getParent());
    return OkStatus();
  }
  std::deque<ContractionContext>
      contexts;  // whose expressions the emitter knows by their addresses
  auto emit = [&](const ContractionDetail& detail) {
    ContractionContext& context = contexts.emplace_back(detail, emitter, builder, scratch);
    if (detail.form == ContractionForm::kDirect) {
      EmitDirectConvolution(context, begin, end);
    } else {
      ProductEmitter(context).Emit(begin, end);
    }
  };
  if (plan.amx) {
    Value* rows = emitter.EmitDim(plan.detail->rows);
    If(
        builder, builder.CreateICmpSGT(rows, I64(builder, kMostRowsWithoutAmx)),
        [&] { emit(*plan.amx); }, [&] { emit(*plan.detail); });
  } else {
    emit(*plan.detail);
  }
  KeepLoops(builder.GetInsertBlock()->getParent());
  return OkStatus();
}

}  // namespace relayvm::codegen
