#include "kernels/codegen/contraction/winograd.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/tile.h"
#include "kernels/codegen/contraction/winograd_lines.h"
#include "kernels/codegen/contraction/winograd_plan.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;

class WinogradEmitter {
 public:
  WinogradEmitter(const WinogradDetail& w, Emitter& emitter, Builder& b, Value* scratch)
      : w_(w), c_(w.conv, emitter, b, scratch), b_(b), epilogue_(c_) {
    windows_ = c_.Scratch(w_.window_offset);
    sums_ = c_.Scratch(w_.sum_offset);
    zeros_ = c_.Scratch(w_.zero_offset);
    far_ = c_.Scratch(w_.far_offset);
    row_weights_ = c_.Scratch(w_.row_weight_offset);
    auto base = [&](const te::Tensor& t) {
      return emitter.ElementAddress(t.get(), Vectors(t->shape.size(), I64(b_, 0)));
    };
    data_ = base(w_.conv.pixels.data);
    weights_ = w_.kernel ? c_.Scratch(w_.weight_offset) : base(w_.weight);
    height_ = emitter.EmitDim(w_.conv.pixels.input[0]);
    width_ = emitter.EmitDim(w_.conv.pixels.input[1]);
    out_height_ = emitter.EmitDim(w_.conv.pixels.output[0]);
    out_width_ = emitter.EmitDim(w_.conv.pixels.output[1]);
    tiles_y_ = emitter.EmitDim(w_.tiles_y);
    tiles_x_ = emitter.EmitDim(w_.tiles_x);
    tiles_ = emitter.EmitDim(w_.tiles);
    plane_ = Mul(b_, height_, width_);
  }

  void Emit(Value* begin, Value* end) {
    If(b_, b_.CreateICmpSLT(begin, end), [&] {
      counter_ = Variable(b_.getInt64Ty());
      b_.CreateStore(I64(b_, kMaxWork), counter_);
      sampled_ = Variable(b_.getInt64Ty());
      limit_ = Variable(b_.getInt32Ty());
      b_.CreateStore(I64(b_, -1), sampled_);
      for (int64_t v = 0; v <= w_.tile; ++v) {
        c_.StoreLanes(llvm::Constant::getNullValue(c_.vector),
                      At(b_, c_.element, zeros_, v * lanes()));
      }
      Value* groups = I64(b_, w_.groups);
      Value* last = Add(b_, Div(b_, Add(b_, end, -1), groups), 1);
      For(b_, Div(b_, begin, groups), last, 1, "block", [&](Value* block) {
        Value* first_unit = Mul(b_, block, groups);
        Value* from = Max(b_, Sub(b_, begin, first_unit), I64(b_, 0));
        Value* to = Min(b_, Sub(b_, end, first_unit), groups);
        const int64_t most = w_.panel * w_.block_panels;
        first_ = Mul(b_, block, most);
        count_ = Min(b_, Sub(b_, tiles_, first_), I64(b_, most));
        panels_ = CeilDiv(b_, count_, w_.panel);
        ForRuns([&](const Run& run) { TransformWindows(run); });
        For(b_, from, to, 1, "group", [&](Value* group) {
          Value* first = Mul(b_, group, w_.group_blocks);
          Value* blocks = Min(b_, Sub(b_, I64(b_, w_.row_blocks), first), I64(b_, w_.group_blocks));
          if (w_.kernel) TransformKernel(first, blocks);
          Value* weights = w_.kernel ? weights_
                                     : At(b_, c_.element, weights_,
                                          Mul(b_, group, w_.products() * w_.weight_stride));
          Multiply(weights, blocks);
          ForRuns([&](const Run& run) { TransformSums(run, first, blocks, weights); });
        });
      });
    });
  }

 private:
  int64_t lanes() const { return w_.conv.lanes; }
  llvm::FixedVectorType* Words() const {
    return VectorOf(b_.getInt32Ty(), static_cast<unsigned>(lanes()));
  }
  // A word of the stack.
  Value* Variable(llvm::Type* type) {
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
  }
  void Poll(int64_t work) {
    PollAfter(b_, b_.getTrue(), counter_, [&] { return I64(b_, std::min(work, kMaxWork)); });
  }

  // Tiles that follow each other on a line and in a panel, no more than lanes.
  struct Run {
    Value *panel, *at, *count;    // of the block; in the panel
    Value *image, *row, *column;  // of the first result
  };
  void ForRuns(const std::function<void(const Run&)>& body) {
    For(b_, I64(b_, 0), panels_, 1, "run.panel", [&](Value* panel) {
      Value* first = Mul(b_, panel, w_.panel);
      Value* limit = Min(b_, Sub(b_, count_, first), I64(b_, w_.panel));
      ForNext(b_, I64(b_, 0), limit, "run", [&](Value* at) {
        Value* tile = Add(b_, Add(b_, first_, first), at);
        Value* x = Rem(b_, tile, tiles_x_);
        Value* line = Div(b_, tile, tiles_x_);
        Value* count = Min(b_, Min(b_, Sub(b_, limit, at), Sub(b_, tiles_x_, x)), I64(b_, lanes()));
        body({panel, at, count, Div(b_, line, tiles_y_), Mul(b_, Rem(b_, line, tiles_y_), w_.tile),
              Mul(b_, x, w_.tile)});
        return Add(b_, at, count);
      });
    });
  }

  // --- Far tiles ---

  // Sets limit_ to the bits of the largest number that is not far in this image: floats that are
  // not negative are ordered as their bits are, NaN above all. What is usual is the mean of the
  // logarithms of a sample's numbers, which few far ones hardly move; zeros tell nothing.
  void FindLimit(Value* image) {
    constexpr int64_t kSamples = 64;
    constexpr uint32_t kLogBits = 11, kShift = 31 - kLogBits;  // of a float's bits: 2^-3 octaves
    constexpr uint32_t kInfinite = 0xFFU << (kLogBits - 8);
    const uint32_t largest = (kInfinite << kShift) - 1;
    auto word = [&](uint32_t value) { return b_.getInt32(value); };
    If(b_, b_.CreateICmpNE(b_.CreateLoad(b_.getInt64Ty(), sampled_), image), [&] {
      Value* elements = Mul(b_, plane_, w_.in_channels);
      Value* base = Mul(b_, image, elements);
      // The golden section of the image, so that a sample has all of its columns and channels.
      Value* step = Add(b_, Mul(b_, Div(b_, elements, I64(b_, 256)), 158), 1);
      step = b_.CreateSelect(b_.CreateICmpSLT(step, elements), step, I64(b_, 1));
      const auto sums = ForCarried(
          b_, I64(b_, 0), I64(b_, kSamples), 1, "sample",
          {Div(b_, elements, I64(b_, 2)), word(0), word(0)},
          [&](Value*, const Vectors& carried) -> Vectors {
            Value* at = b_.CreateSelect(b_.CreateICmpSLT(carried[0], elements), carried[0],
                                        Sub(b_, carried[0], elements));
            Value* bits =
                b_.CreateLoad(b_.getInt32Ty(), At(b_, c_.element, data_, Add(b_, base, at)));
            Value* log = b_.CreateLShr(b_.CreateAnd(bits, word(0x7FFFFFFF)), word(kShift));
            Value* counts =
                b_.CreateAnd(b_.CreateICmpNE(log, word(0)), b_.CreateICmpULT(log, word(kInfinite)));
            return {Add(b_, at, step),
                    b_.CreateAdd(carried[1], b_.CreateSelect(counts, log, word(0))),
                    b_.CreateAdd(carried[2], b_.CreateZExt(counts, b_.getInt32Ty()))};
          });
      Value* is_known = b_.CreateICmpNE(sums[2], word(0));
      Value* mean = b_.CreateUDiv(sums[1], b_.CreateSelect(is_known, sums[2], word(1)));
      Value* far = b_.CreateAdd(mean, word(static_cast<uint32_t>(kFarOctaves) << (kLogBits - 8)));
      Value* is_below = b_.CreateAnd(is_known, b_.CreateICmpULT(far, word(kInfinite)));
      b_.CreateStore(b_.CreateSelect(is_below, b_.CreateShl(far, word(kShift)), word(largest)),
                     limit_);
      b_.CreateStore(image, sampled_);
    });
  }

  // Of each tile of the run, whether it is far: all bits of its word, or none. `peaks` are of each
  // column of its lines, in tile + 1 vectors, the largest bits without the sign.
  void StoreFar(const Run& run, const Vectors& peaks, Value* mask) {
    Vectors columns = TakeApart(b_, w_.tile, peaks);
    Value* peak = columns[0];
    for (size_t i = 1; i < columns.size(); ++i) peak = Larger(peak, columns[i]);
    Value* limit = b_.CreateVectorSplat(w_.conv.lanes, b_.CreateLoad(b_.getInt32Ty(), limit_));
    Value* far = b_.CreateSExt(b_.CreateICmpUGT(peak, limit), Words());
    Store(b_.CreateBitCast(far, c_.vector), FarOf(run), mask);
  }
  Value* Larger(Value* x, Value* y) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x, y);
  }
  Value* FarOf(const Run& run) {
    return At(b_, c_.element, far_, Add(b_, Mul(b_, run.panel, w_.panel), run.at));
  }

  // The kernel of output channel `row` of the group, [channel][tap], from what is multiplied by:
  // G's first and last lines hold the first and the last tap, the difference of a pair the middle
  // one.
  void RestoreWeights(Value* weights, Value* row) {
    const int64_t last = w_.window - 1;
    const double middle = w_.tile == 2 ? 1 : -1.5 / (2 * std::sqrt(0.5));
    const std::vector<int64_t> used = {0, 1, 2, last};
    auto taps = [&](const Vectors& u) -> Vectors {
      return {w_.tile == 2 ? b_.CreateFNeg(u[0]) : u[0],
              b_.CreateFMul(b_.CreateFSub(u[1], u[2]), ConstantLike(u[1], middle)), u[3]};
    };
    Value* rows = I64(b_, w_.rows);
    Value* at = Add(b_, Mul(b_, Div(b_, row, rows), w_.in_channels * w_.rows), Rem(b_, row, rows));
    For(b_, I64(b_, 0), I64(b_, w_.in_channels), 1, "far.weight", [&](Value* channel) {
      Value* from = At(b_, c_.element, weights, Add(b_, at, Mul(b_, channel, w_.rows)));
      std::vector<Vectors> lines;  // with their columns' taps
      for (int64_t i : used) {
        Vectors line;
        for (int64_t j : used) {
          line.push_back(b_.CreateLoad(
              c_.element, At(b_, c_.element, from, (i * w_.window + j) * w_.weight_stride)));
        }
        lines.push_back(taps(line));
      }
      Value* to = At(b_, c_.element, row_weights_, Mul(b_, channel, 9));
      for (size_t x = 0; x < 3; ++x) {
        const Vectors column = taps({lines[0][x], lines[1][x], lines[2][x], lines[3][x]});
        for (size_t y = 0; y < 3; ++y)
          b_.CreateStore(column[y], At(b_, c_.element, to, static_cast<int64_t>(3 * y + x)));
      }
    });
  }

  // The results of the run's far tiles, whose columns `masks` has: sums over the taps.
  void SumFar(const Run& run, Value* first_row, Value* rows, Value* weights, const Vectors& masks) {
    const auto tile = static_cast<size_t>(w_.tile);
    Value* top = Add(b_, run.row, -w_.conv.pixels.padding[0]);
    Value* left = Add(b_, run.column, -w_.conv.pixels.padding[1]);
    Value* image = Mul(b_, Mul(b_, run.image, w_.in_channels), plane_);
    std::vector<Vectors> inside(3);  // of a tap's column, in each vector
    for (int64_t x = 0; x < 3; ++x) {
      for (int64_t v = 0; v < w_.tile; ++v) {
        Value* before = b_.CreateNeg(Add(b_, left, v * lanes() + x));
        Value* mask = MaskBelow(b_, Add(b_, before, width_), w_.conv.lanes);
        inside[static_cast<size_t>(x)].push_back(
            b_.CreateAnd(mask, b_.CreateNot(MaskBelow(b_, before, w_.conv.lanes))));
      }
    }
    For(b_, I64(b_, 0), rows, 1, "far.row", [&](Value* row) {
      RestoreWeights(weights, row);
      Value* lines = Min(b_, I64(b_, w_.tile), Sub(b_, out_height_, run.row));
      For(b_, I64(b_, 0), lines, 1, "far.line", [&](Value* line) {
        Poll(w_.in_channels * 9 * w_.tile * lanes());
        const Vectors sums = ForCarried(
            b_, I64(b_, 0), I64(b_, w_.in_channels), 1, "far.channel",
            Vectors(tile, llvm::Constant::getNullValue(c_.vector)),
            [&](Value* channel, Vectors sum) {
              Value* of_channel = At(b_, c_.element, row_weights_, Mul(b_, channel, 9));
              for (int64_t y = 0; y < 3; ++y) {
                Value* at = Add(b_, Add(b_, top, line), y);
                Value* offset = Add(b_, Add(b_, image, Mul(b_, channel, plane_)),
                                    Add(b_, Mul(b_, at, width_), left));
                Value* from = b_.CreateSelect(b_.CreateICmpULT(at, height_),
                                              At(b_, c_.element, data_, offset), zeros_);
                for (int64_t x = 0; x < 3; ++x) {
                  Value* weight = b_.CreateVectorSplat(
                      w_.conv.lanes,
                      b_.CreateLoad(c_.element, At(b_, c_.element, of_channel, 3 * y + x)));
                  for (size_t v = 0; v < tile; ++v) {
                    Value* data = b_.CreateMaskedLoad(
                        c_.vector, At(b_, c_.element, from, static_cast<int64_t>(v) * lanes() + x),
                        llvm::Align(sizeof(float)), inside[static_cast<size_t>(x)][v],
                        llvm::Constant::getNullValue(c_.vector));
                    sum[v] = MultiplyAdd(b_, data, weight, sum[v], false);
                  }
                }
              }
              return sum;
            });
        for (size_t v = 0; v < tile; ++v) {
          epilogue_.EmitVector({run.image, Add(b_, first_row, row), Add(b_, run.row, line)},
                               Add(b_, run.column, static_cast<int64_t>(v) * lanes()), sums[v],
                               masks[v]);
        }
      });
    });
  }

  // --- Windows ---

  void TransformWindows(const Run& run) {
    Poll(w_.in_channels * 256);
    FindLimit(run.image);
    const auto window = static_cast<size_t>(w_.window), tile = static_cast<size_t>(w_.tile);
    Value* row = Add(b_, run.row, -w_.conv.pixels.padding[0]);
    Value* column = Add(b_, run.column, -w_.conv.pixels.padding[1]);
    Value* image = Mul(b_, Mul(b_, run.image, w_.in_channels), plane_);
    Vectors inside, offsets, masks;
    for (int64_t i = 0; i < w_.window; ++i) {
      Value* at = Add(b_, row, i);
      inside.push_back(b_.CreateICmpULT(at, height_));
      offsets.push_back(Add(b_, Add(b_, image, Mul(b_, at, width_)), column));
    }
    for (int64_t v = 0; v <= w_.tile; ++v) {
      Value* before = b_.CreateNeg(Add(b_, column, v * lanes()));
      Value* mask = MaskBelow(b_, Add(b_, before, width_), w_.conv.lanes);
      masks.push_back(b_.CreateAnd(mask, b_.CreateNot(MaskBelow(b_, before, w_.conv.lanes))));
    }
    Value* store_mask = MaskBelow(b_, run.count, w_.conv.lanes);
    Value* to = At(b_, c_.element, windows_,
                   Add(b_, Mul(b_, run.panel, w_.in_channels * w_.panel), run.at));
    const auto transform_channel = [&](Value* channel, Vectors peaks) {
      Value* plane = Mul(b_, channel, plane_);
      Vectors lines;
      for (size_t i = 0; i < window; ++i) {
        Value* line = At(b_, c_.element, data_, Add(b_, offsets[i], plane));
        lines.push_back(b_.CreateSelect(inside[i], line, zeros_));
      }
      Value* to_channel = At(b_, c_.element, to, Mul(b_, channel, w_.panel));
      // Few lines of transformed windows at a time are held in registers: lines are read again.
      for (const std::vector<size_t>& group : LineGroups()) {
        std::vector<Vectors> transformed(group.size());
        for (size_t v = 0; v <= tile; ++v) {
          Vectors column_of;
          for (size_t i = 0; i < window; ++i) {
            column_of.push_back(b_.CreateMaskedLoad(
                c_.vector, At(b_, c_.element, lines[i], static_cast<int64_t>(v) * lanes()),
                llvm::Align(sizeof(float)), masks[v], llvm::Constant::getNullValue(c_.vector)));
            if (group[0] != 0) continue;  // each line is looked at once
            peaks[v] = Larger(peaks[v], b_.CreateAnd(b_.CreateBitCast(column_of[i], Words()),
                                                     llvm::ConstantInt::get(Words(), 0x7FFFFFFF)));
          }
          const Vectors all = OfData(b_, w_.tile, column_of);
          for (size_t g = 0; g < group.size(); ++g) transformed[g].push_back(all[group[g]]);
        }
        for (size_t g = 0; g < group.size(); ++g) {
          const Vectors products = OfData(b_, w_.tile, TakeApart(b_, w_.tile, transformed[g]));
          for (size_t j = 0; j < window; ++j) {
            const auto product = static_cast<int64_t>(group[g] * window + j);
            Store(products[j], At(b_, c_.element, to_channel, product * w_.window_stride),
                  store_mask);
          }
        }
      }
      return peaks;
    };
    const Vectors peaks =
        ForCarried(b_, I64(b_, 0), I64(b_, w_.in_channels), 1, "channel",
                   Vectors(tile + 1, llvm::Constant::getNullValue(Words())), transform_channel);
    StoreFar(run, peaks, store_mask);
  }

  // Lines of a transformed window that have much of the window in common.
  std::vector<std::vector<size_t>> LineGroups() const {
    if (w_.tile == 2) return {{0, 1, 2, 3}};
    return {{0}, {1, 2}, {3, 4}, {5}};
  }

  // Lanes that the mask turns off are not written.
  void Store(Value* value, Value* pointer, Value* mask) {
    const llvm::Align align(sizeof(float));
    if (w_.conv.target.masks) {
      b_.CreateMaskedStore(value, pointer, align, mask);
      return;
    }
    Value* old = b_.CreateAlignedLoad(c_.vector, pointer, align);
    b_.CreateAlignedStore(b_.CreateSelect(mask, value, old), pointer, align);
  }

  // --- Weights that are not transformed yet ---

  // Those of row blocks first..first+blocks-1, as the program's constants are packed.
  void TransformKernel(Value* first, Value* blocks) {
    const int64_t parts = std::max<int64_t>(lanes() / w_.rows, 1);  // row blocks in a vector
    const auto window = static_cast<size_t>(w_.window);
    For(b_, I64(b_, 0), blocks, parts, "kernel.block", [&](Value* block) {
      Value* row = Mul(b_, Add(b_, first, block), w_.rows);
      Value* mask = MaskBelow(b_, Sub(b_, I64(b_, w_.out_channels), row), w_.conv.lanes);
      Poll(w_.in_channels * 512);
      For(b_, I64(b_, 0), I64(b_, w_.in_channels), 1, "kernel.channel", [&](Value* channel) {
        std::vector<Vectors> columns;  // transformed along their taps
        for (int64_t x = 0; x < 3; ++x) {
          Vectors taps;
          for (int64_t y = 0; y < 3; ++y) {
            taps.push_back(c_.LoadView(w_.kernel, I64(b_, y * 3 + x), row, channel, 1, mask));
          }
          columns.push_back(OfKernel(b_, w_.tile, taps));
        }
        for (size_t i = 0; i < window; ++i) {
          const Vectors line = OfKernel(b_, w_.tile, {columns[0][i], columns[1][i], columns[2][i]});
          for (size_t j = 0; j < window; ++j) {
            const auto product = static_cast<int64_t>(i * window + j);
            StoreRows(line[j], product, block, blocks, parts, channel);
          }
        }
      });
    });
  }

  // A vector of transformed weights of a product, of `parts` row blocks.
  void StoreRows(Value* values, int64_t product, Value* block, Value* blocks, int64_t parts,
                 Value* channel) {
    for (int64_t part = 0; part < parts; ++part) {
      std::vector<int> rows;
      for (int64_t i = 0; i < w_.rows; ++i) rows.push_back(static_cast<int>(part * w_.rows + i));
      Value* at = Mul(b_, Add(b_, block, part), w_.in_channels);
      at = Add(b_, Mul(b_, Add(b_, at, channel), w_.rows), product * w_.weight_stride);
      auto store = [&] {
        b_.CreateAlignedStore(b_.CreateShuffleVector(values, rows),
                              At(b_, c_.element, weights_, at), llvm::Align(sizeof(float)));
      };
      // The last block of a group may stand alone.
      If(b_, b_.CreateICmpSLT(Add(b_, block, part), blocks), store);
    }
  }

  // --- Products ---

  // `of_group`: the weights of the group.
  void Multiply(Value* of_group, Value* blocks) {
    const int64_t block_elements = w_.in_channels * w_.rows;
    For(b_, I64(b_, 0), I64(b_, w_.products()), 1, "product", [&](Value* product) {
      Value* weights = At(b_, c_.element, of_group, Mul(b_, product, w_.weight_stride));
      Value* windows = At(b_, c_.element, windows_, Mul(b_, product, w_.window_stride));
      Value* sums = At(b_, c_.element, sums_, Mul(b_, product, w_.sum_stride));
      For(b_, I64(b_, 0), blocks, 1, "rows", [&](Value* block) {
        Value* a = At(b_, c_.element, weights, Mul(b_, block, block_elements));
        For(b_, I64(b_, 0), panels_, 1, "panel", [&](Value* panel) {
          Poll(w_.in_channels * w_.rows * 2);
          Value* panel_of = At(b_, c_.element, windows, Mul(b_, panel, w_.in_channels * w_.panel));
          Value* row = Add(b_, Mul(b_, panel, w_.group_blocks * w_.rows), Mul(b_, block, w_.rows));
          Value* to = At(b_, c_.element, sums, Mul(b_, row, w_.panel));
          MultiplyPanel({a, panel_of, to, I64(b_, w_.in_channels), b_.getFalse()},
                        Sub(b_, count_, Mul(b_, panel, w_.panel)));
        });
      });
    });
  }

  // The last panel of all takes no wider a tile than it needs.
  void MultiplyPanel(const TileCall& call, Value* count) {
    auto tile = [&](unsigned vectors, int64_t of_lanes, unsigned extra) {
      TileConfig config{DType::kFloat32,
                        false,
                        static_cast<unsigned>(w_.rows),
                        vectors,
                        static_cast<unsigned>(of_lanes),
                        1,
                        1,
                        w_.rows,
                        w_.panel,
                        w_.panel};
      config.extra = extra;
      config.streams_a = true;
      EmitTileCall(b_, config, call);
    };
    const int64_t all = lanes();
    auto at_most = [&](int64_t n) { return b_.CreateICmpSLE(count, I64(b_, n)); };
    const int64_t few = all / 4;
    If(
        b_, b_.CreateNot(at_most(all + few)), [&] { tile(2, all, 0); },
        [&] {
          If(
              b_, b_.CreateNot(at_most(all)), [&] { tile(1, all, static_cast<unsigned>(few)); },
              [&] {
                If(b_, at_most(all / 2), [&] { tile(1, all / 2, 0); }, [&] { tile(1, all, 0); });
              });
        });
  }

  // --- Results ---

  // `weights`: of the group.
  void TransformSums(const Run& run, Value* first, Value* blocks, Value* weights) {
    const auto window = static_cast<size_t>(w_.window), tile = static_cast<size_t>(w_.tile);
    Value* left = Min(b_, Sub(b_, out_width_, run.column), Mul(b_, run.count, w_.tile));
    Value* first_row = Mul(b_, first, w_.rows);
    Value* rows = Min(b_, Mul(b_, blocks, w_.rows), Sub(b_, I64(b_, w_.out_channels), first_row));
    Value* from = Add(b_, Mul(b_, run.panel, w_.group_blocks * w_.rows * w_.panel), run.at);
    Poll(w_.group_blocks * w_.rows * 256);
    // Columns of the results that are not far, and of those that are.
    Value* far_tiles = b_.CreateAlignedLoad(Words(), FarOf(run), llvm::Align(sizeof(float)));
    far_tiles = b_.CreateAnd(b_.CreateICmpNE(far_tiles, llvm::Constant::getNullValue(Words())),
                             MaskBelow(b_, run.count, w_.conv.lanes));
    const Vectors far = PutTogether(b_, w_.tile, Vectors(tile, far_tiles));
    Vectors near_masks, far_masks;
    for (size_t v = 0; v < tile; ++v) {
      Value* mask = MaskBelow(b_, Add(b_, left, -static_cast<int64_t>(v) * lanes()), w_.conv.lanes);
      near_masks.push_back(b_.CreateAnd(mask, b_.CreateNot(far[v])));
      far_masks.push_back(b_.CreateAnd(mask, far[v]));
    }
    For(b_, I64(b_, 0), rows, 1, "out.row", [&](Value* row) {
      Value* sums = At(b_, c_.element, sums_, Add(b_, from, Mul(b_, row, w_.panel)));
      std::vector<Vectors> lines(tile);
      for (size_t j = 0; j < window; ++j) {
        Vectors column;
        for (size_t i = 0; i < window; ++i) {
          const auto product = static_cast<int64_t>(i * window + j);
          column.push_back(b_.CreateAlignedLoad(c_.vector,
                                                At(b_, c_.element, sums, product * w_.sum_stride),
                                                llvm::Align(sizeof(float))));
        }
        const Vectors results = OfResult(b_, w_.tile, column);
        for (size_t i = 0; i < tile; ++i) lines[i].push_back(results[i]);
      }
      Value* channel = Add(b_, first_row, row);
      for (size_t i = 0; i < tile; ++i) {
        Value* y = Add(b_, run.row, static_cast<int64_t>(i));
        If(b_, b_.CreateICmpSLT(y, out_height_), [&] {
          const Vectors line = PutTogether(b_, w_.tile, OfResult(b_, w_.tile, lines[i]));
          for (size_t v = 0; v < tile; ++v) {
            const int64_t at = static_cast<int64_t>(v) * lanes();
            auto store = [&] {
              epilogue_.EmitVector({run.image, channel, y}, Add(b_, run.column, at), line[v],
                                   near_masks[v]);
            };
            if (v == 0) {
              store();
            } else {
              If(b_, b_.CreateICmpSGT(left, I64(b_, at)), store);
            }
          }
        });
      }
    });
    If(b_, b_.CreateOrReduce(far_tiles), [&] { SumFar(run, first_row, rows, weights, far_masks); });
  }

  const WinogradDetail& w_;
  ContractionContext c_;
  Builder& b_;
  EpilogueEmitter epilogue_;
  Value *windows_, *sums_, *zeros_, *far_, *row_weights_, *data_, *weights_;
  Value *height_, *width_, *out_height_, *out_width_, *tiles_y_, *tiles_x_, *tiles_, *plane_;
  Value* counter_ = nullptr;  // for PollAfter
  // In memory: the image that was sampled last; FindLimit.
  Value *sampled_ = nullptr, *limit_ = nullptr;
  // The block's: its first tile, how many it has, in so many panels.
  Value *first_ = nullptr, *count_ = nullptr, *panels_ = nullptr;
};

}  // namespace

void EmitWinograd(const WinogradDetail& detail, Emitter& emitter, Builder& builder, Value* begin,
                  Value* end, Value* scratch) {
  WinogradEmitter(detail, emitter, builder, scratch).Emit(begin, end);
}

}  // namespace relayvm::codegen
