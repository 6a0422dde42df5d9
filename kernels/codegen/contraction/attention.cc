#include "kernels/codegen/contraction/attention.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "kernels/codegen/contraction/attention_unit.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {
namespace {

using llvm::Value;

class AttentionEmitter : private AttentionRows {
 public:
  AttentionEmitter(const AttentionDetail& detail, Emitter& emitter, Builder& builder,
                   Value* scratch)
      : AttentionRows(detail, emitter, builder, scratch) {}

  void Emit(Value* begin, Value* end) {
    Value* units = emitter_.EmitDim(d_.units);
    Value* heads = emitter_.EmitDim(d_.heads);
    Value* work = WorkOf(b_, BlockWork(keys_), Sub(b_, end, begin));
    is_long_ = b_.CreateICmpSGE(work, I64(b_, kMaxWork));
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    counter_ = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(b_.getInt64Ty());
    b_.CreateStore(I64(b_, kMaxWork), counter_);
    // Blocks of keys of equal size.
    blocks_ = Max(b_, CeilDiv(b_, keys_, kKeyBlock), I64(b_, 1));
    Value* even = Div(b_, Add(b_, Add(b_, keys_, blocks_), -1), blocks_);
    const int64_t rows = TileRows(2);
    block_ = Max(b_, Mul(b_, CeilDiv(b_, even, rows), rows), I64(b_, rows));
    For(b_, begin, end, 1, "unit", [&](Value* unit) {
      Value* head = Div(b_, unit, units);
      batch_ = Div(b_, head, heads);
      head_ = Rem(b_, head, heads);
      const int64_t unit_queries = d_.panel * d_.unit_panels;
      Value* first = Mul(b_, Rem(b_, unit, units), unit_queries);
      Value* count = Min(b_, Sub(b_, queries_, first), I64(b_, unit_queries));
      k_ = HeadOf(d_.keys, d_.group);
      v_ = HeadOf(d_.values, d_.group);
      out_of_head_ = HeadOf(d_.result, 1);
      const auto panels = [&] { EmitUnit(first, count); };
      if (d_.row_vectors == 0) return panels();
      // A unit by rows is all queries: no more than a panel, which with short vectors is fewer.
      Value* few = I64(b_, std::min(kFewQueries, d_.panel));
      const auto rows = [&] {
        out_ = out_of_head_;
        UsePanel(I64(b_, 0));
        EmitRows();
      };
      If(b_, b_.CreateICmpSLE(queries_, few), rows, panels);
    });
  }

 private:
  // --- A unit ---

  // `count` queries from `first` on.
  void EmitUnit(Value* first, Value* count) {
    Value* panels = CeilDiv(b_, count, d_.panel);
    // Calls fn with one vector of queries or two, as the panel has.
    const auto of_each = [&](const std::function<void()>& fn) {
      For(b_, I64(b_, 0), panels, 1, "panel", [&](Value* panel) {
        Value* at = Mul(b_, panel, d_.panel);
        UsePanel(panel);
        first_ = Add(b_, first, at);
        count_ = Min(b_, Sub(b_, count, at), I64(b_, d_.panel));
        const auto with = [&](unsigned vectors) {
          vectors_ = vectors;
          fn();
        };
        If(b_, b_.CreateICmpSGT(count_, I64(b_, d_.lanes)), [&] { with(2); }, [&] { with(1); });
      });
    };
    of_each([&] { BeginPanel(); });
    ForNext(b_, I64(b_, 0), keys_, "keys", [&](Value* key) {
      Value* some = Min(b_, Sub(b_, keys_, key), block_);
      if (d_.copies_values) CopyValues(key, some);
      of_each([&] {
        PollAfter(b_, is_long_, counter_, [&] { return BlockWork(some); });
        EmitBlock(key, some);
      });
      return Add(b_, key, block_);
    });
    of_each([&] { StoreResult(); });
  }

  void BeginPanel() {
    PackQueries();
    for (unsigned v = 0; v < vectors_; ++v) {
      StoreRow(Splat(-std::numeric_limits<double>::infinity()), max_, I64(b_, 0), v);
      StoreRow(Splat(0), sum_, I64(b_, 0), v);
    }
    If(b_, b_.CreateICmpEQ(keys_, I64(b_, 0)), [&] {
      For(b_, I64(b_, 0), value_size_, 1, "zero", [&](Value* i) {
        for (unsigned v = 0; v < vectors_; ++v) StoreRow(Splat(0), o_, i, v);
      });
    });
  }

  // `count` keys from `key` on.
  void EmitBlock(Value* key, Value* count) {
    EmitProducts(key, count);
    for (const AttentionDetail::Table& table : d_.tables) FillTable(table, key, count);
    EmitMaxima(key, count);
    EmitWeights(count);
    EmitValues(key, count);
  }

  // [key][element], one after the other.
  void CopyValues(Value* key, Value* count) {
    Value* stride = Stride(d_.values, 2);
    For(b_, I64(b_, 0), count, 1, "copy", [&](Value* i) {
      Value* from = At(b_, element_, v_, Mul(b_, Add(b_, key, i), stride));
      Value* to = At(b_, element_, copied_, Mul(b_, i, value_size_));
      ForVectors(value_size_, "copy.vector", [&](Value* at, Value* mask) {
        Value* pointer = At(b_, element_, from, at);
        const llvm::Align align(sizeof(float));
        Value* values =
            mask ? static_cast<Value*>(b_.CreateMaskedLoad(vector_, pointer, align, mask,
                                                           llvm::Constant::getNullValue(vector_)))
                 : b_.CreateAlignedLoad(vector_, pointer, align);
        // What the last vector has more, the next row overwrites.
        b_.CreateAlignedStore(values, At(b_, element_, to, at), align);
      });
    });
  }

  // Rows of tiles of so many vectors, which with them fill the registers.
  unsigned TileRows(unsigned vectors) const {
    if (d_.target.vector_registers == 32) return 12;
    return (d_.target.fma ? 12 : 10) / vectors;
  }

  // Queries as [element][query]; those past the last one repeat it.
  void PackQueries() {
    Bind(q_axes_[0], batch_);
    Bind(q_axes_[1], head_);
    if (d_.query_layout.ends_with('S')) {
      For(b_, I64(b_, 0), key_size_, 1, "pack", [&](Value* at) {
        Bind(q_axes_[3], at);
        for (unsigned v = 0; v < vectors_; ++v) {
          StoreRow(emitter_.EmitVector(query_, AlongQueries(q_axes_[2], v)), q_, at, v);
        }
      });
      return;
    }
    Value* last = Add(b_, queries_, -1);
    const auto square = [&](unsigned v, Value* at, Value* mask) {
      std::vector<Value*> rows;
      for (unsigned i = 0; i < d_.lanes; ++i) {
        Bind(q_axes_[2], Min(b_, Add(b_, first_, int64_t{v * d_.lanes + i}), last));
        rows.push_back(emitter_.EmitVector(query_, {q_axes_[3].get(), at, d_.lanes, mask}));
      }
      Transpose(b_, rows);
      for (unsigned i = 0; i < d_.lanes; ++i) StoreRow(rows[i], q_, Add(b_, at, int64_t{i}), v);
    };
    for (unsigned v = 0; v < vectors_; ++v) {
      ForVectors(key_size_, "pack", [&](Value* at, Value* mask) { square(v, at, mask); });
    }
  }

  // Vector v of the unit's queries; those past the last one are masked.
  VectorAxis AlongQueries(const te::Axis& axis, unsigned v) {
    return {axis.get(), Add(b_, first_, int64_t{v * d_.lanes}), d_.lanes,
            MaskBelow(b_, Sub(b_, count_, I64(b_, v * d_.lanes)), d_.lanes)};
  }

  // A tile's operand that is memory with these distances between rows and along the sum.
  struct Operand {
    Value* pointer;
    Dim row_stride, k_stride;
  };
  // Rows 0..rows-1 of c (+)= a * (panel b of `depth` rows), all in tiles.
  void EmitTiles(const Operand& a, Value* panel, Value* c, Value* rows, Value* depth,
                 Value* accumulate) {
    TileConfig config{DType::kFloat32, false,   TileRows(vectors_), vectors_, d_.lanes, 1, 0, 0,
                      d_.panel,        d_.panel};
    const auto stride = [](const Dim& d) {
      return d.is_const() ? d.value() : TileConfig::kDynamic;
    };
    config.a_row_stride = stride(a.row_stride);
    config.a_k_stride = stride(a.k_stride);
    Value* row_stride = emitter_.EmitDim(a.row_stride);
    const auto call = [&](Value* row) {
      return TileCall{At(b_, element_, a.pointer, Mul(b_, row, row_stride)),
                      panel,
                      At(b_, element_, c, Mul(b_, row, d_.panel)),
                      depth,
                      accumulate,
                      row_stride,
                      emitter_.EmitDim(a.k_stride)};
    };
    if (auto constant = ConstantOf(rows)) {
      // Tiles of about equal size: no last one of a few rows.
      const int64_t tiles = (*constant + config.rows - 1) / config.rows;
      if (tiles > 0) config.rows = static_cast<unsigned>((*constant + tiles - 1) / tiles);
      const int64_t whole = *constant / config.rows * config.rows;
      For(b_, I64(b_, 0), I64(b_, whole), config.rows, "tile",
          [&](Value* row) { EmitTileCall(b_, config, call(row)); });
      config.rows = static_cast<unsigned>(*constant - whole);
      if (config.rows > 0) EmitTileCall(b_, config, call(I64(b_, whole)));
      return;
    }
    Value* whole = Sub(b_, rows, Rem(b_, rows, I64(b_, config.rows)));
    For(b_, I64(b_, 0), whole, config.rows, "tile",
        [&](Value* row) { EmitTileCall(b_, config, call(row)); });
    If(b_, b_.CreateICmpSLT(whole, rows),
       [&] { EmitTileDispatch(b_, config, call(whole), Sub(b_, rows, whole), nullptr); });
  }

  // The products of the block's keys, [key][query].
  void EmitProducts(Value* key, Value* count) {
    Value* keys = At(b_, element_, k_, Mul(b_, key, Stride(d_.keys, 2)));
    EmitTiles({keys, d_.keys.strides[2], d_.keys.strides[3]}, q_, s_, count, key_size_,
              b_.getFalse());
  }

  // What a step reads, [key][query]: squares are turned in registers.
  void FillTable(const AttentionDetail::Table& table, Value* key, Value* count) {
    BindHead();
    const DType dtype = table.value->dtype;
    Value* origin = emitter_.ElementAddress(table.local.get(), {I64(b_, 0), I64(b_, 0)});
    Value* last = Add(b_, queries_, -1);
    for (unsigned v = 0; v < vectors_; ++v) {
      ForVectors(count, "table", [&](Value* at, Value* mask) {
        std::vector<Value*> rows;
        for (unsigned i = 0; i < d_.lanes; ++i) {
          Bind(d_.axes[2], Min(b_, Add(b_, first_, int64_t{v * d_.lanes + i}), last));
          rows.push_back(emitter_.EmitVector(table.value,
                                             {d_.axes[3].get(), Add(b_, key, at), d_.lanes, mask}));
        }
        // Bits are no elements that shuffles know well.
        const bool is_bool = dtype == DType::kBool;
        if (is_bool) {
          for (Value*& row : rows) row = b_.CreateZExt(row, VectorOf(b_.getInt8Ty(), d_.lanes));
        }
        Transpose(b_, rows);
        for (unsigned i = 0; i < d_.lanes; ++i) {
          Value* place = Add(b_, Mul(b_, Add(b_, at, int64_t{i}), d_.panel), int64_t{v * d_.lanes});
          Value* pointer = At(b_, emitter_.MemoryType(dtype), origin, place);
          if (is_bool) {
            b_.CreateAlignedStore(rows[i], pointer, llvm::Align(1));
          } else {
            emitter_.StoreVector(rows[i], dtype, pointer);
          }
        }
      });
    }
  }

  // Scores in the place of products; then the maximum of all so far, and what earlier sums are to
  // be multiplied by.
  void EmitMaxima(Value* key, Value* count) {
    BindHead();
    Bind(d_.first_key, key);
    Bind(d_.first_query, first_);
    std::vector<Value*> before;
    for (unsigned v = 0; v < vectors_; ++v) before.push_back(LoadRow(max_, I64(b_, 0), v));
    const std::vector<Value*> max =
        ForCarried(b_, I64(b_, 0), count, 1, "score", before,
                   [&](Value* i, const std::vector<Value*>& carried) {
                     std::vector<Value*> next = carried;
                     if (d_.has_steps) Bind(d_.axes[3], Add(b_, key, i));
                     for (unsigned v = 0; v < vectors_; ++v) {
                       Value* score = LoadRow(s_, i, v);
                       if (d_.has_steps) {
                         emitter_.BindValue(d_.product.get(), score);
                         score = emitter_.EmitVector(d_.score, AlongQueries(d_.axes[2], v));
                         StoreRow(score, s_, i, v);
                       }
                       next[v] = MaxOf(score, next[v]);
                     }
                     return next;
                   });
    for (unsigned v = 0; v < vectors_; ++v) {
      StoreRow(max[v], max_, I64(b_, 0), v);
      StoreRow(Exp(b_.CreateFSub(before[v], Reference(max[v]))), factor_, I64(b_, 0), v);
    }
  }

  // What is subtracted from scores: their maximum, but a number where that is -inf, so that weights
  // and sums are 0 as long as all scores are.
  Value* Reference(Value* max) {
    Value* lowest = Splat(-std::numeric_limits<double>::infinity());
    return b_.CreateSelect(b_.CreateFCmpOEQ(max, lowest), Splat(0), max);
  }

  // Weights in the place of scores, and their sums.
  void EmitWeights(Value* count) {
    std::vector<Value*> reference, initial;
    for (unsigned v = 0; v < vectors_; ++v) {
      reference.push_back(Reference(LoadRow(max_, I64(b_, 0), v)));
      initial.push_back(
          b_.CreateFMul(LoadRow(sum_, I64(b_, 0), v), LoadRow(factor_, I64(b_, 0), v)));
    }
    const std::vector<Value*> sums =
        ForCarried(b_, I64(b_, 0), count, 1, "weight", initial,
                   [&](Value* i, const std::vector<Value*>& carried) {
                     std::vector<Value*> next = carried;
                     for (unsigned v = 0; v < vectors_; ++v) {
                       Value* weight = Exp(b_.CreateFSub(LoadRow(s_, i, v), reference[v]));
                       StoreRow(weight, s_, i, v);
                       next[v] = b_.CreateFAdd(next[v], weight);
                     }
                     return next;
                   });
    for (unsigned v = 0; v < vectors_; ++v) StoreRow(sums[v], sum_, I64(b_, 0), v);
  }

  // Weighed values, [element][query], added to what earlier blocks gave.
  void EmitValues(Value* key, Value* count) {
    Value* is_later = b_.CreateICmpSGT(key, I64(b_, 0));
    If(b_, is_later, [&] {
      std::vector<Value*> factors;
      for (unsigned v = 0; v < vectors_; ++v) factors.push_back(LoadRow(factor_, I64(b_, 0), v));
      For(b_, I64(b_, 0), value_size_, 1, "rescale", [&](Value* i) {
        for (unsigned v = 0; v < vectors_; ++v) {
          StoreRow(b_.CreateFMul(LoadRow(o_, i, v), factors[v]), o_, i, v);
        }
      });
    });
    Operand values{copied_, 1, d_.value_size};
    if (!d_.copies_values) {
      values = {At(b_, element_, v_, Mul(b_, key, Stride(d_.values, 2))), d_.values.strides[3],
                d_.values.strides[2]};
    }
    EmitTiles(values, s_, o_, value_size_, count, is_later);
  }

  // Divides by the sums, and turns squares.
  void StoreResult() {
    Value* row_stride = Stride(d_.result, 2);
    Value* out = At(b_, element_, out_of_head_, Mul(b_, first_, row_stride));
    Value* has_keys = b_.CreateICmpSGT(keys_, I64(b_, 0));
    for (unsigned v = 0; v < vectors_; ++v) {
      Value* inverse = b_.CreateSelect(
          has_keys, b_.CreateFDiv(Splat(1), LoadRow(sum_, I64(b_, 0), v)), Splat(1));
      Value* left = Sub(b_, count_, I64(b_, v * d_.lanes));
      ForVectors(value_size_, "out", [&](Value* at, Value* mask) {
        std::vector<Value*> rows;
        for (unsigned i = 0; i < d_.lanes; ++i) {
          rows.push_back(b_.CreateFMul(LoadRow(o_, Add(b_, at, int64_t{i}), v), inverse));
        }
        Transpose(b_, rows);
        const auto store = [&](unsigned i) {
          Value* query = Mul(b_, I64(b_, v * d_.lanes + i), row_stride);
          emitter_.StoreVector(rows[i], DType::kFloat32, At(b_, element_, out, Add(b_, query, at)),
                               mask);
        };
        const auto store_all = [&] {
          for (unsigned i = 0; i < d_.lanes; ++i) store(i);
        };
        If(b_, b_.CreateICmpSGE(left, I64(b_, d_.lanes)), store_all, [&] {
          for (unsigned i = 0; i + 1 < d_.lanes; ++i) {
            If(b_, b_.CreateICmpSGT(left, I64(b_, i)), [&] { store(i); });
          }
        });
      });
    }
  }

  unsigned vectors_ = 2;  // of queries
  Value* out_of_head_ = nullptr;
};

}  // namespace

void EmitAttention(const AttentionDetail& detail, Emitter& emitter, Builder& builder, Value* begin,
                   Value* end, Value* scratch) {
  AttentionEmitter(detail, emitter, builder, scratch).Emit(begin, end);
}

}  // namespace relayvm::codegen
