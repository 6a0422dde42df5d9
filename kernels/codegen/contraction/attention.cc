#include "kernels/codegen/contraction/attention.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

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
    const auto of_each = [&](const std::function<void()>& fn) {
      For(b_, I64(b_, 0), panels, 1, "panel", [&](Value* panel) {
        Value* at = Mul(b_, panel, d_.panel);
        UsePanel(panel);
        first_ = Add(b_, first, at);
        count_ = Min(b_, Sub(b_, count, at), I64(b_, d_.panel));
        width_ = Width();
        fn();
      });
    };
    of_each([&] { BeginPanel(); });
    const auto block = [&](Value* key) {
      Value* some = Min(b_, Sub(b_, keys_, key), block_);
      if (d_.copies_values) CopyValues(key, some);
      of_each([&] {
        PollAfter(b_, is_long_, counter_, [&] { return BlockWork(some); });
        EmitBlock(key, some);
      });
      return Add(b_, key, block_);
    };
    const auto keys = ConstantOf(keys_);
    if (keys && *keys > 0 && *keys <= kKeyBlock) {
      block(I64(b_, 0));
    } else {
      ForNext(b_, I64(b_, 0), keys_, "keys", block);
    }
    of_each([&] { StoreResult(); });
  }

  // Of a panel's queries, those of whole vectors: all of it, or one.
  Value* Width() {
    if (!d_.has_narrow_panels) return I64(b_, d_.panel);
    if (!d_.has_whole_panels) return I64(b_, d_.lanes);
    return b_.CreateSelect(b_.CreateICmpSGT(count_, I64(b_, d_.lanes)), I64(b_, d_.panel),
                           I64(b_, d_.lanes));
  }
  // Code for each number of vectors that a panel may have.
  void OfEachWidth(const std::function<void(unsigned vectors)>& fn) {
    If(b_, b_.CreateICmpSGT(width_, I64(b_, d_.lanes)), [&] { fn(2); }, [&] { fn(1); });
  }
  // Calls fn with the first query of each vector.
  void OfEachVector(const std::function<void(Value* column)>& fn) {
    For(b_, I64(b_, 0), width_, d_.lanes, "vector", fn);
  }

  void BeginPanel() {
    PackQueries();
    If(b_, b_.CreateICmpEQ(keys_, I64(b_, 0)), [&] {
      Value* size = Mul(b_, value_size_, d_.panel);
      For(b_, I64(b_, 0), size, d_.lanes, "zero",
          [&](Value* at) { StoreRow(Splat(0), o_, I64(b_, 0), at); });
    });
  }

  // `count` keys from `key` on.
  void EmitBlock(Value* key, Value* count) {
    for (const AttentionDetail::Table& table : d_.tables) FillTable(table, key, count);
    EmitProducts(key, count);
    if (d_.has_steps) EmitSteps(key, count);
    Value* is_later = b_.CreateICmpSGT(key, I64(b_, 0));
    EmitPanelWeights(b_, Panel(), {s_, state_, count, width_, o_, value_size_, is_later});
    EmitValues(key, count, is_later);
  }

  // [key][element], one after the other.
  void CopyValues(Value* key, Value* count) {
    Value* stride = Stride(d_.values, 2);
    EmitCopied(b_, d_.lanes, copied_, At(b_, element_, v_, Mul(b_, key, stride)), stride, count,
               value_size_);
  }

  // Rows of tiles of so many vectors, which with them fill the registers.
  unsigned TileRows(unsigned vectors) const {
    if (d_.target.vector_registers == 32) return 12;
    return (d_.target.fma ? 12 : 10) / vectors;
  }

  // Queries as [element][query].
  void PackQueries() {
    Bind(q_axes_[0], batch_);
    Bind(q_axes_[1], head_);
    if (d_.query_layout.ends_with('S')) {
      OfEachVector([&](Value* column) {
        const VectorAxis queries = AlongQueries(q_axes_[2], column);
        For(b_, I64(b_, 0), key_size_, 1, "pack", [&](Value* at) {
          Bind(q_axes_[3], at);
          StoreRow(emitter_.EmitVector(query_, queries), q_, at, column);
        });
      });
      return;
    }
    if (d_.query_rows.tensor) {
      Value* pitch = Stride(d_.query_rows, 2);
      Value* from = At(b_, element_, HeadOf(d_.query_rows, 1), Mul(b_, first_, pitch));
      return EmitTurned(b_, Panel(), sizeof(float), {from, pitch, q_, key_size_, count_});
    }
    Value* pitch = Mul(b_, CeilDiv(b_, key_size_, d_.lanes), int64_t{d_.lanes});
    OfEachQuery(q_axes_[2], [&](Value* i) {
      StoreRun(query_, q_axes_[3], I64(b_, 0), key_size_, "pack",
               At(b_, element_, s_, Mul(b_, i, pitch)));
    });
    EmitTurned(b_, Panel(), sizeof(float), {s_, pitch, q_, key_size_, count_});
  }

  // Calls fn(i) with the axis bound to query i of the panel.
  void OfEachQuery(const te::Axis& axis, const std::function<void(Value* i)>& fn) {
    For(b_, I64(b_, 0), count_, 1, "query", [&](Value* i) {
      Bind(axis, Add(b_, first_, i));
      fn(i);
    });
  }

  // The panel's queries from `column` on; those past the last one are masked.
  VectorAxis AlongQueries(const te::Axis& axis, Value* column) {
    return {axis.get(), Add(b_, first_, column), d_.lanes,
            MaskBelow(b_, Sub(b_, count_, column), d_.lanes)};
  }

  // A tile's operand that is memory with these distances between rows and along the sum.
  struct Operand {
    Value* pointer;
    Dim row_stride, k_stride;
  };
  // Rows of c (+)= a * (panel b of `depth` rows).
  struct Tiles {
    Operand a;
    Value *panel, *c, *rows, *depth, *accumulate;
  };
  void EmitTile(const Tiles& t, unsigned rows, unsigned vectors, Value* row) {
    const auto stride = [](const Dim& d) {
      return d.is_const() ? d.value() : TileConfig::kDynamic;
    };
    const TileConfig config{
        DType::kFloat32,      false,    rows,    vectors, d_.lanes, 1, stride(t.a.row_stride),
        stride(t.a.k_stride), d_.panel, d_.panel};
    Value* row_stride = emitter_.EmitDim(t.a.row_stride);
    EmitTileCall(b_, config,
                 {At(b_, element_, t.a.pointer, Mul(b_, row, row_stride)), t.panel,
                  At(b_, element_, t.c, Mul(b_, row, d_.panel)), t.depth, t.accumulate, row_stride,
                  emitter_.EmitDim(t.a.k_stride)});
  }
  // Tiles of about equal size: no last one of a few rows.
  static unsigned EvenRows(int64_t rows, unsigned most) {
    const int64_t tiles = std::max<int64_t>((rows + most - 1) / most, 1);
    return static_cast<unsigned>((rows + tiles - 1) / tiles);
  }
  // Where nothing is added to, rows may be computed twice.
  void EmitTiles(const Tiles& t, unsigned vectors) {
    const unsigned most = TileRows(vectors);
    std::vector<unsigned> sizes = {most};
    if (auto constant = ConstantOf(t.rows); constant && *constant > 0) {
      sizes = {EvenRows(*constant, most)};
    } else {
      if (most / 3 > 1) sizes.push_back(most / 3);
      sizes.push_back(1);
    }
    EmitPieces(b_, t.rows, sizes, "tile",
               [&](unsigned rows, Value* row) { EmitTile(t, rows, vectors, row); });
  }
  void EmitAddedTiles(const Tiles& t, unsigned vectors) {
    const auto constant = ConstantOf(t.rows);
    const unsigned most = constant ? EvenRows(*constant, TileRows(vectors)) : TileRows(vectors);
    if (constant && *constant == 0) return;
    const auto tiles = [&](Value* begin, Value* end, unsigned rows) {
      For(b_, begin, end, rows, "tile", [&](Value* row) { EmitTile(t, rows, vectors, row); });
    };
    Value* whole = Sub(b_, t.rows, Rem(b_, t.rows, I64(b_, most)));
    tiles(I64(b_, 0), whole, most);
    tiles(whole, t.rows, constant ? std::max(static_cast<unsigned>(*constant % most), 1U) : 1);
  }

  // The products of the block's keys, [key][query].
  void EmitProducts(Value* key, Value* count) {
    Value* keys = At(b_, element_, k_, Mul(b_, key, Stride(d_.keys, 2)));
    const Tiles tiles{
        {keys, d_.keys.strides[2], d_.keys.strides[3]}, q_, s_, count, key_size_, b_.getFalse()};
    OfEachWidth([&](unsigned vectors) { EmitTiles(tiles, vectors); });
  }

  // What a step reads, [key][query].
  void FillTable(const AttentionDetail::Table& table, Value* key, Value* count) {
    BindHead();
    const DType dtype = table.value->dtype;
    const int64_t pitch = kTableKeys;
    OfEachQuery(d_.axes[2], [&](Value* i) {
      StoreRun(table.value, d_.axes[3], key, count, "table",
               At(b_, emitter_.MemoryType(dtype), s_, Mul(b_, i, pitch)));
    });
    Value* to = emitter_.ElementAddress(table.local.get(), {I64(b_, 0), I64(b_, 0)});
    EmitTurned(b_, Panel(), DTypeBytes(dtype), {s_, I64(b_, pitch), to, count, count_});
  }

  // Scores in the place of products.
  void EmitSteps(Value* key, Value* count) {
    BindHead();
    Bind(d_.first_key, key);
    Bind(d_.first_query, first_);
    OfEachVector([&](Value* column) {
      const VectorAxis queries = AlongQueries(d_.axes[2], column);
      For(b_, I64(b_, 0), count, 1, "score", [&](Value* i) {
        Bind(d_.axes[3], Add(b_, key, i));
        emitter_.BindValue(d_.product.get(), LoadRow(s_, i, column));
        StoreRow(emitter_.EmitVector(d_.score, queries), s_, i, column);
      });
    });
  }

  // Weighed values, [element][query], added to what earlier blocks gave.
  void EmitValues(Value* key, Value* count, Value* is_later) {
    Operand values{copied_, 1, d_.value_size};
    if (!d_.copies_values) {
      values = {At(b_, element_, v_, Mul(b_, key, Stride(d_.values, 2))), d_.values.strides[3],
                d_.values.strides[2]};
    }
    const Tiles tiles{values, s_, o_, value_size_, count, is_later};
    OfEachWidth([&](unsigned vectors) { EmitAddedTiles(tiles, vectors); });
  }

  // Divides by the sums, and turns squares.
  void StoreResult() {
    Value* row_stride = Stride(d_.result, 2);
    Value* out = At(b_, element_, out_of_head_, Mul(b_, first_, row_stride));
    Value* has_keys = b_.CreateICmpSGT(keys_, I64(b_, 0));
    EmitPanelResult(b_, Panel(), {o_, state_, s_, out, row_stride, value_size_, count_, has_keys});
  }

  Value* out_of_head_ = nullptr;
  Value* width_ = nullptr;  // of the panel
};

}  // namespace

void EmitAttention(const AttentionDetail& detail, Emitter& emitter, Builder& builder, Value* begin,
                   Value* end, Value* scratch) {
  AttentionEmitter(detail, emitter, builder, scratch).Emit(begin, end);
}

}  // namespace relayvm::codegen
