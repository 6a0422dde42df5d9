#include "kernels/codegen/contraction/winograd.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/tile.h"
#include "kernels/codegen/contraction/winograd_lines.h"
#include "kernels/codegen/contraction/winograd_parts.h"
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
      Value* kept = KeptWord(b_);
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
        UnlessKept(b_, kept, block,
                   [&] { ForRuns([&](const Run& run) { TransformWindows(run); }); });
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

  // --- Windows, and tiles that are far ---

  WinogradVectors Form() const {
    return {w_.tile, static_cast<unsigned>(lanes()), w_.conv.target.masks};
  }
  WinogradData DataOf(const Run& run) {
    Value* image = Mul(b_, Mul(b_, run.image, w_.in_channels), plane_);
    return {At(b_, c_.element, data_, image), zeros_, I64(b_, w_.in_channels), height_, width_};
  }
  Value* FarOf(const Run& run) {
    return At(b_, c_.element, far_, Add(b_, Mul(b_, run.panel, w_.panel), run.at));
  }
  Value* TopOf(const Run& run) { return Add(b_, run.row, -w_.conv.pixels.padding[0]); }
  Value* LeftOf(const Run& run) { return Add(b_, run.column, -w_.conv.pixels.padding[1]); }

  void TransformWindows(const Run& run) {
    Poll(w_.in_channels * 256);
    const WinogradData data = DataOf(run);
    If(b_, b_.CreateICmpNE(b_.CreateLoad(b_.getInt64Ty(), sampled_), run.image), [&] {
      EmitFarLimit(b_, limit_, data.image, Mul(b_, plane_, w_.in_channels));
      b_.CreateStore(run.image, sampled_);
    });
    Value* to = At(b_, c_.element, windows_,
                   Add(b_, Mul(b_, run.panel, w_.in_channels * w_.panel), run.at));
    EmitWindows(
        b_, Form(), data,
        {TopOf(run), LeftOf(run), run.count, to, FarOf(run), limit_, w_.panel, w_.window_stride});
  }

  // The results of the run's far tiles: of each vector of a line, `columns` has their columns.
  void SumFar(const Run& run, Value* left, Value* first_row, Value* rows, Value* weights,
              Value* columns) {
    const WinogradData data = DataOf(run);
    Value* block = I64(b_, w_.rows);
    Value* line_of = Variable(llvm::ArrayType::get(c_.vector, static_cast<uint64_t>(w_.tile)));
    For(b_, I64(b_, 0), rows, 1, "far.row", [&](Value* row) {
      Value* at =
          Add(b_, Mul(b_, Div(b_, row, block), w_.in_channels * w_.rows), Rem(b_, row, block));
      EmitRestoredWeights(b_, Form(), row_weights_, At(b_, c_.element, weights, at), data.channels,
                          w_.rows, I64(b_, w_.weight_stride));
      Value* lines = Min(b_, I64(b_, w_.tile), Sub(b_, out_height_, run.row));
      For(b_, I64(b_, 0), lines, 1, "far.line", [&](Value* line) {
        Poll(w_.in_channels * 9 * w_.tile * lanes());
        EmitFarLine(b_, Form(), data, line_of, row_weights_, Add(b_, TopOf(run), line),
                    LeftOf(run));
        For(b_, I64(b_, 0), I64(b_, w_.tile), 1, "far.vector", [&](Value* v) {
          Value* first = Mul(b_, v, lanes());
          Value* mask = MaskBelow(b_, Sub(b_, left, first), w_.conv.lanes);
          mask = b_.CreateAnd(mask, IsSet(b_.CreateLoad(Words(), At(b_, Words(), columns, v))));
          epilogue_.EmitVector({run.image, Add(b_, first_row, row), Add(b_, run.row, line)},
                               Add(b_, run.column, first),
                               b_.CreateLoad(c_.vector, At(b_, c_.vector, line_of, v)), mask);
        });
      });
    });
  }
  Value* IsSet(Value* words) {
    return b_.CreateICmpNE(words, llvm::Constant::getNullValue(Words()));
  }

  // --- Weights that are not transformed yet ---

  // Those of row blocks first..first+blocks-1, as the program's constants are packed. What is
  // transformed along one axis goes through memory: a loop over either has one transform.
  void TransformKernel(Value* first, Value* blocks) {
    const int64_t parts = std::max<int64_t>(lanes() / w_.rows, 1);  // row blocks in a vector
    const auto window = static_cast<uint64_t>(w_.window);
    Value* columns = Variable(llvm::ArrayType::get(c_.vector, 3 * window));
    For(b_, I64(b_, 0), blocks, parts, "kernel.block", [&](Value* block) {
      Value* row = Mul(b_, Add(b_, first, block), w_.rows);
      Value* mask = MaskBelow(b_, Sub(b_, I64(b_, w_.out_channels), row), w_.conv.lanes);
      Poll(w_.in_channels * 512);
      For(b_, I64(b_, 0), I64(b_, w_.in_channels), 1, "kernel.channel", [&](Value* channel) {
        For(b_, I64(b_, 0), I64(b_, 3), 1, "kernel.column", [&](Value* x) {
          Vectors taps;
          for (int64_t y = 0; y < 3; ++y)
            taps.push_back(c_.LoadView(w_.kernel, Add(b_, x, y * 3), row, channel, 1, mask));
          const Vectors column = OfKernel(b_, w_.tile, taps);
          for (size_t i = 0; i < column.size(); ++i) {
            b_.CreateStore(column[i],
                           At(b_, c_.vector, columns, Add(b_, x, static_cast<int64_t>(3 * i))));
          }
        });
        For(b_, I64(b_, 0), I64(b_, w_.window), 1, "kernel.line", [&](Value* i) {
          Value* of_line = At(b_, c_.vector, columns, Mul(b_, i, 3));
          Vectors taps;
          for (int64_t x = 0; x < 3; ++x)
            taps.push_back(b_.CreateLoad(c_.vector, At(b_, c_.vector, of_line, x)));
          const Vectors line = OfKernel(b_, w_.tile, taps);
          StoreRows(line, i, 0, block, channel);
          for (int64_t part = 1; part < parts; ++part) {
            // The last block of a group may stand alone.
            If(b_, b_.CreateICmpSLT(Add(b_, block, part), blocks),
               [&] { StoreRows(line, i, part, block, channel); });
          }
        });
      });
    });
  }

  // Transformed weights of line i's products, of a row block in the vectors.
  void StoreRows(const Vectors& line, Value* i, int64_t part, Value* block, Value* channel) {
    std::vector<int> rows;
    for (int64_t r = 0; r < w_.rows; ++r) rows.push_back(static_cast<int>(part * w_.rows + r));
    Value* at = Mul(b_, Add(b_, block, part), w_.in_channels);
    at = Mul(b_, Add(b_, at, channel), w_.rows);
    Value* to = At(b_, c_.element, weights_, Add(b_, at, Mul(b_, i, w_.window * w_.weight_stride)));
    for (size_t j = 0; j < line.size(); ++j) {
      b_.CreateAlignedStore(b_.CreateShuffleVector(line[j], rows),
                            At(b_, c_.element, to, static_cast<int64_t>(j) * w_.weight_stride),
                            llvm::Align(sizeof(float)));
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
    const auto tile = static_cast<size_t>(w_.tile);
    Value* left = Min(b_, Sub(b_, out_width_, run.column), Mul(b_, run.count, w_.tile));
    Value* first_row = Mul(b_, first, w_.rows);
    Value* rows = Min(b_, Mul(b_, blocks, w_.rows), Sub(b_, I64(b_, w_.out_channels), first_row));
    Value* from = Add(b_, Mul(b_, run.panel, w_.group_blocks * w_.rows * w_.panel), run.at);
    Poll(w_.group_blocks * w_.rows * 256);
    // Columns of the results that are far, and those that are not.
    Value* far_tiles = b_.CreateAlignedLoad(Words(), FarOf(run), llvm::Align(sizeof(float)));
    far_tiles = b_.CreateAnd(IsSet(far_tiles), MaskBelow(b_, run.count, w_.conv.lanes));
    const Vectors far = PutTogether(b_, w_.tile, Vectors(tile, far_tiles));
    Vectors masks;
    for (size_t v = 0; v < tile; ++v) {
      Value* mask = MaskBelow(b_, Add(b_, left, -static_cast<int64_t>(v) * lanes()), w_.conv.lanes);
      masks.push_back(b_.CreateAnd(mask, b_.CreateNot(far[v])));
    }
    For(b_, I64(b_, 0), rows, 1, "out.row", [&](Value* row) {
      Value* sums = At(b_, c_.element, sums_, Add(b_, from, Mul(b_, row, w_.panel)));
      TransformRow(run, sums, Add(b_, first_row, row), left, masks);
    });
    If(b_, b_.CreateOrReduce(far_tiles), [&] {
      Value* columns = Variable(llvm::ArrayType::get(Words(), tile));
      for (size_t v = 0; v < tile; ++v) {
        b_.CreateStore(b_.CreateSExt(far[v], Words()),
                       At(b_, Words(), columns, static_cast<int64_t>(v)));
      }
      SumFar(run, left, first_row, rows, weights, columns);
    });
  }

  // The results of an output channel. What is transformed along columns is more than registers
  // hold: it goes through memory, and its lines are transformed in a loop.
  void TransformRow(const Run& run, Value* sums, Value* channel, Value* left,
                    const Vectors& masks) {
    const auto window = static_cast<size_t>(w_.window), tile = static_cast<size_t>(w_.tile);
    if (!lines_) lines_ = Variable(llvm::ArrayType::get(c_.vector, tile * window));
    for (size_t j = 0; j < window; ++j) {
      Vectors column;
      for (size_t i = 0; i < window; ++i) {
        const auto product = static_cast<int64_t>(i * window + j);
        column.push_back(b_.CreateAlignedLoad(c_.vector,
                                              At(b_, c_.element, sums, product * w_.sum_stride),
                                              llvm::Align(sizeof(float))));
      }
      const Vectors results = OfResult(b_, w_.tile, column);
      for (size_t i = 0; i < tile; ++i) {
        b_.CreateStore(results[i], At(b_, c_.vector, lines_, static_cast<int64_t>(i * window + j)));
      }
    }
    Value* lines = Min(b_, I64(b_, w_.tile), Sub(b_, out_height_, run.row));
    For(b_, I64(b_, 0), lines, 1, "out.line", [&](Value* i) {
      Value* of_line = At(b_, c_.vector, lines_, Mul(b_, i, w_.window));
      Vectors results;
      for (int64_t j = 0; j < w_.window; ++j)
        results.push_back(b_.CreateLoad(c_.vector, At(b_, c_.vector, of_line, j)));
      const Vectors line = PutTogether(b_, w_.tile, OfResult(b_, w_.tile, results));
      for (size_t v = 0; v < tile; ++v) {
        const int64_t at = static_cast<int64_t>(v) * lanes();
        auto store = [&] {
          epilogue_.EmitVector({run.image, channel, Add(b_, run.row, i)}, Add(b_, run.column, at),
                               line[v], masks[v]);
        };
        if (v == 0) {
          store();
        } else {
          If(b_, b_.CreateICmpSGT(left, I64(b_, at)), store);
        }
      }
    });
  }

  const WinogradDetail& w_;
  ContractionContext c_;
  Builder& b_;
  EpilogueEmitter epilogue_;
  Value *windows_, *sums_, *zeros_, *far_, *row_weights_, *data_, *weights_;
  Value *height_, *width_, *out_height_, *out_width_, *tiles_y_, *tiles_x_, *tiles_, *plane_;
  Value* counter_ = nullptr;  // for PollAfter
  // In memory: the image that was sampled last, and its limit; lines of results.
  Value *sampled_ = nullptr, *limit_ = nullptr, *lines_ = nullptr;
  // The block's: its first tile, how many it has, in so many panels.
  Value *first_ = nullptr, *count_ = nullptr, *panels_ = nullptr;
};

}  // namespace

void EmitWinograd(const WinogradDetail& detail, Emitter& emitter, Builder& builder, Value* begin,
                  Value* end, Value* scratch) {
  WinogradEmitter(detail, emitter, builder, scratch).Emit(begin, end);
}

}  // namespace relayvm::codegen
