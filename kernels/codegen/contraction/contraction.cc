// The loop nest around the tile kernels.
//
//   for each (batch, block of rows) that the units touch:
//     pack the block of a
//     for each group of panels:
//       for each block of k: pack the panels of b, unless they are memory that tiles can read
//         for each tile of rows, panel: tile kernel into scratch; with the last block: epilogue
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
#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/taps.h"
#include "kernels/codegen/contraction/tile.h"
#include "kernels/codegen/contraction/tile_calls.h"
#include "kernels/codegen/contraction/winograd.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;

// --- Product ---

class ProductEmitter : TileCalls {
 public:
  explicit ProductEmitter(ContractionContext& c)
      : TileCalls(c),
        epilogue_(c),
        a_scratch_(c.Scratch(d_.a_offset)),
        b_scratch_(c.Scratch(d_.b_offset)),
        c_scratch_(c.Scratch(d_.c_offset)) {}

  void Emit(Value* begin, Value* end) {
    If(b_, b_.CreateICmpSLT(begin, end), [&] {
      Value* panels = c_.emitter.EmitDim(d_.panels);
      Value* row_blocks = c_.emitter.EmitDim(d_.row_blocks);
      Value* last = Add(b_, Div(b_, Add(b_, end, -1), panels), 1);
      Value* rows = d_.row_block ? Min(b_, c_.rows, I64(b_, d_.row_block)) : c_.rows;
      Value* first_block = Div(b_, begin, panels);
      Value* work = WorkOf(b_, Work(rows, 1), Min(b_, panels, Sub(b_, end, begin)));
      work = WorkOf(b_, work, Sub(b_, last, first_block));
      is_long_ = b_.CreateICmpSGE(work, I64(b_, kMaxWork));
      llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
      counter_ = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(b_.getInt64Ty());
      b_.CreateStore(I64(b_, kMaxWork), counter_);
      if (PacksA()) kept_ = KeptWord(b_);
      if (d_.amx) EmitAmxConfigure(b_);
      For(b_, first_block, last, 1, "block", [&](Value* block) {
        Value* first_unit = Mul(b_, block, panels);
        Value* from = Max(b_, Sub(b_, begin, first_unit), I64(b_, 0));
        Value* to = Min(b_, Sub(b_, end, first_unit), panels);
        block_ = block;
        EmitBlock(Div(b_, block, row_blocks), Rem(b_, block, row_blocks), from, to);
      });
      if (d_.amx) EmitAmxRelease(b_);
    });
  }

 private:
  void Poll(const std::function<Value*()>& work) {
    if (!d_.amx) return PollAfter(b_, is_long_, counter_, work);
    PollAfter(
        b_, is_long_, counter_, work, [&] { EmitAmxRelease(b_); }, [&] { EmitAmxConfigure(b_); });
  }

  // What `rows` times some panels are as work (ir.h), in vector instructions.
  Value* Work(Value* rows, int64_t panels) {
    Value* work = WorkOf(b_, I64(b_, 1), rows);
    return WorkOf(b_, WorkOf(b_, work, c_.depth),
                  I64(b_, panels * std::max<int64_t>(1, d_.panel / 8)));
  }

  bool PacksA() const { return d_.form == ContractionForm::kPixelRows || d_.pack_a; }

  // Panels from..to-1 of one block of rows.
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

  // --- Few rows, weights as they are ---

  // IsServedByDots, for more rows than kMaxDotRows.
  Value* DotsSkipPacking() {
    if (d_.target.schedule != TileSchedule()) return b_.getFalse();
    Value* few_rows = b_.CreateAnd(b_.CreateICmpSLE(c_.rows, I64(b_, kMostDotRows)),
                                   b_.CreateICmpSLE(Mul(b_, c_.rows, kDotDepthOfRow), c_.depth));
    Value* few_columns = b_.CreateAnd(b_.CreateICmpSLE(c_.columns, I64(b_, kMostDotColumns)),
                                      b_.CreateICmpSGE(c_.depth, I64(b_, kLeastDotDepth)));
    return b_.CreateOr(few_rows, few_columns);
  }

  void EmitDotBlock(Value* batch, Value* from, Value* to) {
    Value* a = nullptr;
    Value* a_stride = nullptr;
    if (d_.a.buffer) {
      a = c_.PlainRow(d_.a, batch, I64(b_, 0));
      a_stride = c_.emitter.EmitDim(d_.a.stride);
    } else {
      a = c_.Scratch(d_.dot_offset);
      a_stride = Mul(b_, CeilDiv(b_, c_.depth, d_.lanes), int64_t{d_.lanes});
      EmitCopyRows(c_, batch, I64(b_, 0), c_.rows, a, a_stride);
    }
    For(b_, from, to, 1, "panel", [&](Value* panel) {
      Poll([&] { return Work(c_.rows, 1); });
      Value* column = Mul(b_, panel, d_.panel);
      Value* count = Min(b_, Sub(b_, c_.columns, column), I64(b_, d_.panel));
      for (int64_t rows = 1; rows <= kMaxDotRows; ++rows) {
        if (d_.rows.is_const() && d_.rows.value() != rows) continue;
        If(b_, b_.CreateICmpEQ(c_.rows, I64(b_, rows)),
           [&] { EmitDots(static_cast<unsigned>(rows), 0, batch, column, count, a, a_stride); });
      }
      epilogue_.EmitTile(batch, I64(b_, 0), c_.rows, column, c_scratch_);
    });
  }

  // The same for any number of rows, in the order of a product of few.
  void EmitDotRows(Value* batch, Value* row_block, Value* from, Value* to) {
    Value* first_row = Mul(b_, row_block, d_.row_block);
    Value* last_row = d_.row_block ? Min(b_, c_.rows, Add(b_, first_row, d_.row_block)) : c_.rows;
    Value* a_stride = d_.a.buffer ? c_.emitter.EmitDim(d_.a.stride)
                                  : Mul(b_, CeilDiv(b_, c_.depth, d_.lanes), int64_t{d_.lanes});
    For(b_, from, to, 1, "panel", [&](Value* panel) {
      Value* column = Mul(b_, panel, d_.panel);
      Value* count = Min(b_, Sub(b_, c_.columns, column), I64(b_, d_.panel));
      For(b_, first_row, last_row, kMaxDotRows, "row", [&](Value* row) {
        Poll([&] { return Work(I64(b_, kMaxDotRows), 1); });
        Value* num_rows = Min(b_, Sub(b_, last_row, row), I64(b_, kMaxDotRows));
        Value* a = d_.a.buffer ? c_.PlainRow(d_.a, batch, row) : c_.Scratch(d_.dot_offset);
        if (!d_.a.buffer) EmitCopyRows(c_, batch, row, num_rows, a, a_stride);
        for (unsigned rows = 1; rows <= kMaxDotRows; ++rows) {
          If(b_, b_.CreateICmpEQ(num_rows, I64(b_, rows)),
             [&] { EmitDots(rows, d_.order.sets, batch, column, count, a, a_stride); });
        }
        epilogue_.EmitTile(batch, row, num_rows, column, c_scratch_);
      });
    });
  }

  // sets: of accumulators; 0: as many as are best for so many rows.
  void EmitDots(unsigned rows, unsigned sets, Value* batch, Value* column, Value* count, Value* a,
                Value* a_stride) {
    Value* weights = c_.PlainRow(d_.b, batch, column);
    Value* stride = c_.emitter.EmitDim(d_.b.stride);
    const unsigned registers = d_.target.vector_registers;
    // As many groups of columns as there are of each size, from `shape.units` down.
    auto dots = [&](DotShape shape) {
      Value* next = I64(b_, 0);
      for (auto units = static_cast<unsigned>(std::min<int64_t>(shape.units, d_.panel)); units > 0;
           units /= 2) {
        Value* last = Add(b_, next, b_.CreateAnd(Sub(b_, count, next), I64(b_, -int64_t{units})));
        For(b_, next, last, units, "unit", [&](Value* unit) {
          EmitDotCall(
              b_, {d_.dtype, rows, units, d_.target.vector_bytes / c_.element_bytes, shape.sets},
              {a, At(b_, c_.element, weights, Mul(b_, unit, stride)),
               At(b_, c_.element, c_scratch_, unit), c_.depth, a_stride, stride, d_.panel});
        });
        next = last;
      }
    };
    if (sets > 0) return dots(DotShapeOfSets(rows, sets, registers));
    const auto form = [&](DotForm f) { return [=] { dots(DotShapeOf(rows, f, registers)); }; };
    If(b_, b_.CreateICmpSLT(c_.columns, I64(b_, kFewDotColumns)), form(DotForm::kFewColumns), [&] {
      If(b_, b_.CreateICmpSLT(c_.depth, I64(b_, kLongDotDepth)), form(DotForm::kShort),
         form(DotForm::kLong));
    });
  }

  // --- Tiles ---

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
            EmitPackPanel(c_, batch, column, b_scratch_);
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
    const int64_t few = kFewTiles * d_.tile_rows;
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

  // Of element k in the first tile of packed rows.
  Value* AOffset(Value* k) {
    if (d_.k_block == 0) return Mul(b_, k, d_.step_words * d_.a_k_stride);
    Value* block = Div(b_, k, I64(b_, d_.k_block));
    return Add(b_, Mul(b_, block, int64_t{d_.tile_rows} * d_.a_row_stride),
               Mul(b_, Rem(b_, k, I64(b_, d_.k_block)), d_.step_words));
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
    For(b_, from, to, 1, "panel", [&](Value* panel) {
      Value* column = Mul(b_, panel, d_.panel);
      EmitPanel(batch, row, count, a, column, PanelOfB(batch, column));
    });
  }

  // Groups of panels: where they are as far as that pays, the others packed.
  void EmitPixelPanels(Value* batch, Value* row, Value* count, Value* a, Value* from, Value* to) {
    For(b_, from, to, d_.panel_group, "group", [&](Value* first) {
      Value* group = Min(b_, Sub(b_, to, first), I64(b_, d_.panel_group));
      Value* column = Mul(b_, first, d_.panel);
      Value* in_place = PanelsInPlace(column, group);
      if (!in_place) return EmitPackedPixels(batch, row, count, a, first, group);
      EmitPanelsInPlace(batch, row, count, a, column, in_place);
      If(b_, b_.CreateICmpSLT(in_place, group), [&] {
        EmitPackedPixels(batch, row, count, a, Add(b_, first, in_place), Sub(b_, group, in_place));
      });
    });
  }

  // `group` panels from `first` on, one block of channels after the other.
  void EmitPackedPixels(Value* batch, Value* row, Value* count, Value* a, Value* first,
                        Value* group) {
    const int64_t channels = d_.pixels.group_channels, taps = d_.pixels.taps();
    const bool keeps_sums = d_.channel_block < channels;
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
          if (is_few) {
            If(b_, is_few, [&] { EmitFewPixels(c_, batch); }, pack);
          } else {
            pack();
          }
          Value* extent = Mul(b_, Sub(b_, end, channel), bounds.taps);
          Value* steps = TileDepth(extent);
          Value* a_at = At(b_, AElement(), a, Mul(b_, channel, taps * d_.a_k_stride));
          For(b_, I64(b_, 0), count, d_.tile_rows, "tile", [&](Value* tile) {
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
              auto in_memory = [&] {
                if (is_few) {
                  If(b_, is_few, [&] { EmitFewPixelSums(c_, rows_of_a, rows, sums); }, sum);
                } else {
                  sum();
                }
                If(b_, b_.CreateICmpEQ(end, I64(b_, channels)),
                   [&] { epilogue_.EmitTile(batch, Add(b_, row, tile), rows, column, sums); });
              };
              Value* fits = keeps_sums || IsDeep() ? nullptr : TakesRegisters(rows, column);
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
        epilogue_.EmitRegisters(batch, Add(b_, row, tile), Add(b_, first, offset),
                                EmitTileSums(b_, ConfigOf(true), call));
      });
    });
  }

  // Whether a tile's products take so long that storing its sums and loading them once more is
  // nothing beside them: what is computed of them is then written once, in a loop, and not for each
  // register. A store of 64 bytes takes as long as two of half.
  bool IsDeep() const {
    constexpr int64_t kStepsPerByte = 4;
    return d_.depth.is_const() && d_.depth.value() >= kStepsPerByte * d_.target.vector_bytes;
  }

  // Whether the sums of a tile stay in registers until they are stored: whole ones do, with what is
  // computed of them written once for each register.
  Value* TakesRegisters(Value* rows, Value* column) {
    const int64_t all_rows = d_.rows.is_const() ? d_.rows.value() : d_.tile_rows;
    const bool has_elements =
        Form() == PanelForm::kElements ||
        (d_.panel_form == PanelForm::kWidened && d_.weight_block == 0 && !Widened()->in_words());
    if (!d_.epilogue_in_registers || !has_elements || all_rows < d_.tile_rows ||
        TileSets(ConfigOf(false), all_rows) != 1) {
      return nullptr;
    }
    Value* fits = epilogue_.TakesRegisters(column);
    return fits ? b_.CreateAnd(fits, b_.CreateICmpEQ(rows, I64(b_, d_.tile_rows))) : nullptr;
  }

  // Stores a tile's sums from registers where `fits` (null: never), else by `in_memory`.
  void InRegisters(Value* fits, Value* batch, Value* row, Value* column, const TileCall& call,
                   const std::function<void()>& in_memory) {
    if (!fits) return in_memory();
    If(
        b_, fits,
        [&] {
          epilogue_.EmitRegisters(batch, row, column, EmitTileSums(b_, ConfigOf(false), call));
        },
        in_memory);
  }

  // The panel at `column`: packed, or as the weights are packed.
  Panel PanelOfB(Value* batch, Value* column) {
    if (d_.packed_width == 0 || !d_.b.buffer) {
      EmitPackPanel(c_, batch, column, b_scratch_);
      return {b_scratch_};
    }
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
    return {of_matrix, at(d_.scales, c_.element, d_.weight_blocks),
            at(d_.zero_points, c_.element, d_.weight_blocks)};
  }

  void EmitPanel(Value* batch, Value* row, Value* count, Value* a, Value* column, Panel panel) {
    const bool unpacks = c_.unpacks_b && UnpacksPanels(d_);
    if (d_.k_block == 0) {
      if (unpacks) {
        EmitUnpackPanel(c_, panel, c_.depth, b_scratch_);
        panel = {b_scratch_};
      }
      EmitTailOf(panel.b, TileDepth(c_.depth));
      For(b_, I64(b_, 0), count, d_.tile_rows, "tile", [&](Value* tile) {
        Poll([&] { return Work(I64(b_, d_.tile_rows), 1); });
        EmitTileAndEpilogue(batch, row, tile, count, a, column, panel);
      });
      return;
    }
    Value* k_blocks = c_.emitter.EmitDim(d_.k_blocks);
    const int64_t rows_of_b = d_.panel_form == PanelForm::kWidened ? Widened()->Rows(d_.k_block)
                              : d_.panel_form == PanelForm::kPairs ? d_.k_block / 2
                              : c_.unpacks_b && !unpacks           ? d_.k_block * d_.step_words
                                                                   : d_.k_block;
    llvm::Type* word = WordTypeOf(b_, d_.dtype, d_.panel_form, Widened());
    auto sums_of = [&](Value* tile) {
      return At(b_, c_.element, c_scratch_, Mul(b_, tile, d_.panel));
    };
    For(b_, I64(b_, 0), k_blocks, 1, "k.block", [&](Value* block) {
      Poll([&] {
        return WorkOf(b_, WorkOf(b_, I64(b_, d_.k_block), count),
                      I64(b_, std::max<int64_t>(1, d_.panel / 8)));
      });
      Value* k = Mul(b_, block, d_.k_block);
      Value* steps = Min(b_, Sub(b_, c_.depth, k), I64(b_, d_.k_block));
      const int64_t stride = unpacks ? d_.packed_width : BStride();
      auto at_block = [&](Value* pointer, llvm::Type* type, int64_t rows) {
        return pointer ? At(b_, type, pointer, Mul(b_, block, rows * stride)) : nullptr;
      };
      const int64_t scales = d_.weight_block > 0 ? d_.k_block / d_.weight_block : 0;
      Panel of_block = {at_block(panel.b, word, rows_of_b),
                        at_block(panel.scales, c_.element, scales),
                        at_block(panel.zero_points, c_.element, scales)};
      if (unpacks) {
        EmitUnpackPanel(c_, of_block, steps, b_scratch_);
        of_block = {b_scratch_};
      }
      Value* extent = TileDepth(steps);
      EmitTailOf(of_block.b, extent);
      For(b_, I64(b_, 0), count, d_.tile_rows, "tile", [&](Value* tile) {
        Value* index = Add(b_, Mul(b_, Div(b_, tile, I64(b_, d_.tile_rows)), k_blocks), block);
        Value* rows_of_a =
            At(b_, c_.element, a, Mul(b_, index, int64_t{d_.tile_rows} * ARowStride()));
        CallTile(
            Min(b_, Sub(b_, count, tile), I64(b_, d_.tile_rows)),
            CallOf(rows_of_a, of_block, sums_of(tile), extent, b_.CreateICmpNE(block, I64(b_, 0))),
            Sub(b_, c_.columns, column));
      });
    });
    For(b_, I64(b_, 0), count, d_.tile_rows, "tile", [&](Value* tile) {
      epilogue_.EmitTile(batch, Add(b_, row, tile),
                         Min(b_, Sub(b_, count, tile), I64(b_, d_.tile_rows)), column,
                         sums_of(tile));
    });
  }

  // `count` rows of a, without the taps that are left out.
  Value* CutRows(const TapBounds& bounds, Value* rows, Value* count, Value* channels) {
    if (!d_.cuts_taps) return rows;
    If(b_, bounds.is_cut, [&] { EmitCutRows(c_, bounds, rows, count, channels, a_scratch_); });
    return b_.CreateSelect(bounds.is_cut, a_scratch_, rows);
  }

  // Where the tile that begins with row `tile` of a block is, without blocks of k.
  // What plain memory of a is of.
  llvm::Type* AElement() const { return c_.ElementOf(d_.a); }
  // `count` rows of a from `row` on, whose float16 becomes float32, or whose quads are split, in
  // scratch. Rows that are packed as tiles read them are one run.
  Value* WidenedRows(Value* a, Value* row, Value* count, Value* extent) {
    Value* stride = c_.emitter.EmitDim(d_.a.stride);
    Value* from = At(b_, AElement(), a, Mul(b_, row, stride));
    if (d_.step_words > 1) {
      EmitSplitRows(c_, from, stride, count, extent, a_scratch_);
      return a_scratch_;
    }
    Value* next_tile = Mul(b_, stride, int64_t{d_.tile_rows});
    if (d_.a.k_contiguous) {
      EmitWidenRows(c_, from, stride, count, extent, a_scratch_, next_tile);
    } else {
      EmitWidenRows(c_, from, stride, I64(b_, 1), Mul(b_, count, extent), a_scratch_, next_tile);
    }
    return a_scratch_;
  }
  Value* RowsOfA(Value* a, Value* tile) {
    if (d_.a.k_contiguous) return At(b_, c_.element, a, Mul(b_, tile, ARowStride()));
    Value* index = Div(b_, tile, I64(b_, d_.tile_rows));
    return At(b_, c_.element, a, Mul(b_, Mul(b_, index, c_.depth), d_.a_k_stride));
  }

  void EmitTileAndEpilogue(Value* batch, Value* row, Value* tile, Value* count, Value* a,
                           Value* column, const Panel& panel) {
    Value* rows = Min(b_, Sub(b_, count, tile), I64(b_, d_.tile_rows));
    Value* rows_of_a = RowsOfA(a, tile);
    auto in_memory = [&] {
      CallTile(rows, CallOf(rows_of_a, panel, c_scratch_, TileDepth(c_.depth), b_.getFalse()),
               Sub(b_, c_.columns, column));
      epilogue_.EmitTile(batch, Add(b_, row, tile), rows, column, c_scratch_);
    };
    InRegisters(IsDeep() ? nullptr : TakesRegisters(rows, column), batch, Add(b_, row, tile),
                column, {rows_of_a, panel.b, nullptr, c_.depth, nullptr}, in_memory);
  }

  TileCall CallOf(Value* a, const Panel& panel, Value* c, Value* k, Value* accumulate) {
    TileCall call{a, panel.b, c, k, accumulate};
    call.scales = panel.scales;
    call.zero_points = panel.zero_points;
    if (d_.amx) call.tail = c_.Scratch(d_.tail_offset);
    return call;
  }
  // Before the tiles of a panel, or of a block of its k.
  void EmitTailOf(Value* panel, Value* words) {
    if (d_.amx) EmitAmxTail(c_, panel, words, BStride(), c_.Scratch(d_.tail_offset));
  }

  EpilogueEmitter epilogue_;
  Value *a_scratch_, *b_scratch_, *c_scratch_;
  Value *kept_ = nullptr, *block_ = nullptr;       // KeptWord; the number of the (batch, row block)
  Value *is_long_ = nullptr, *counter_ = nullptr;  // for PollAfter
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
