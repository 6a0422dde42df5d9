// What the two forms of attention share: the memory of a unit, and what few queries are emitted by.
// Tested through attention_test.cc.
#pragma once

#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "kernels/codegen/contraction/attention_parts.h"
#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

class AttentionUnit {
 protected:
  using Value = llvm::Value;

  AttentionUnit(const AttentionDetail& detail, Emitter& emitter, Builder& builder, Value* scratch)
      : d_(detail), emitter_(emitter), b_(builder), element_(b_.getFloatTy()) {
    vector_ = VectorOf(element_, d_.lanes);
    const auto at = [&](const Dim& offset) {
      return At(b_, b_.getInt8Ty(), scratch, emitter_.EmitDim(offset));
    };
    all_q_ = at(d_.q_offset);
    s_ = at(d_.s_offset);
    all_o_ = at(d_.o_offset);
    all_rows_ = at(d_.row_offset);
    if (d_.copies_values) copied_ = at(d_.v_offset);
    UsePanel(I64(b_, 0));
    for (const AttentionDetail::Table& table : d_.tables) {
      emitter_.BindBuffer(table.local.get(), at(table.offset));
    }
    queries_ = emitter_.EmitDim(d_.num_queries);
    keys_ = emitter_.EmitDim(d_.num_keys);
    key_size_ = emitter_.EmitDim(d_.key_size);
    value_size_ = emitter_.EmitDim(d_.value_size);
    // Queries, which may be computed.
    q_axes_ = {te::MakeAxis("b", d_.batch), te::MakeAxis("h", d_.heads),
               te::MakeAxis("m", d_.num_queries), te::MakeAxis("d", d_.key_size)};
    std::vector<te::Expr> indices;
    for (char letter : d_.query_layout) {
      indices.push_back(te::AxisValue(q_axes_[std::string_view("BHSD").find(letter)]));
    }
    query_ = te::Load(d_.queries, std::move(indices));
  }

  // --- Memory ---

  // What scratch holds of a unit's panel.
  void UsePanel(Value* panel) {
    q_ = At(b_, element_, all_q_, Mul(b_, panel, emitter_.EmitDim(d_.q_pitch)));
    o_ = At(b_, element_, all_o_, Mul(b_, panel, emitter_.EmitDim(d_.o_pitch)));
    state_ = At(b_, element_, all_rows_, Mul(b_, panel, d_.row_pitch));
    max_ = StateOf(QueryState::kMax);
    sum_ = StateOf(QueryState::kSum);
  }
  Value* StateOf(QueryState which) {
    return At(b_, element_, state_, static_cast<int64_t>(which) * d_.panel);
  }
  AttentionPanel Panel() const { return {d_.lanes, d_.panel}; }
  Value* Stride(const HeadTensor& t, size_t i) { return emitter_.EmitDim(t.strides[i]); }
  // Where the current head begins.
  Value* HeadOf(const HeadTensor& t, int64_t group) {
    Value* origin = emitter_.ElementAddress(t.tensor.get(), std::vector<Value*>(4, I64(b_, 0)));
    Value* head = Div(b_, head_, I64(b_, group));
    return At(b_, element_, origin,
              Add(b_, Mul(b_, batch_, Stride(t, 0)), Mul(b_, head, Stride(t, 1))));
  }
  // The vector from `column` on of row `row` of a panel in scratch.
  Value* RowOf(Value* panel, Value* row, Value* column) {
    return At(b_, element_, panel, Add(b_, Mul(b_, row, d_.panel), column));
  }
  Value* LoadRow(Value* panel, Value* row, Value* column) {
    return b_.CreateAlignedLoad(vector_, RowOf(panel, row, column), VectorAlign());
  }
  void StoreRow(Value* value, Value* panel, Value* row, Value* column) {
    b_.CreateAlignedStore(value, RowOf(panel, row, column), VectorAlign());
  }
  llvm::Align VectorAlign() const { return llvm::Align(d_.lanes * sizeof(float)); }
  Value* Splat(double value) {
    return b_.CreateVectorSplat(d_.lanes, llvm::ConstantFP::get(element_, value));
  }

  // --- Time ---

  // What the scores of so many keys and their part of the result are, in vector instructions.
  Value* BlockWork(Value* keys) {
    Value* work = WorkOf(b_, I64(b_, d_.panel / 4), keys);
    return WorkOf(b_, work, Add(b_, key_size_, value_size_));
  }

  // Calls vector(at) for vectors that cover [0, extent). The last one ends with it, and so may have
  // elements of the one before it again; extents below a vector are single(at)s.
  void ForRun(Value* extent, std::string_view name, const std::function<void(Value* at)>& vector,
              const std::function<void(Value* at)>& single) {
    const auto constant = ConstantOf(extent);
    const bool is_whole = constant && *constant % d_.lanes == 0;
    const auto vectors = [&] {
      Value* last = Sub(b_, extent, I64(b_, d_.lanes));
      For(b_, I64(b_, 0), extent, d_.lanes, name,
          [&](Value* at) { vector(is_whole ? at : Min(b_, at, last)); });
    };
    If(b_, b_.CreateICmpSGE(extent, I64(b_, d_.lanes)), vectors,
       [&] { For(b_, I64(b_, 0), extent, 1, name, single); });
  }
  // The value along an axis, for elements `first` + 0..extent-1 of it, one after the other at `to`.
  void StoreRun(const te::Expr& value, const te::Axis& axis, Value* first, Value* extent,
                std::string_view name, Value* to) {
    const auto at = [&](Value* i) { return At(b_, emitter_.MemoryType(value->dtype), to, i); };
    ForRun(
        extent, name,
        [&](Value* i) {
          Value* vector =
              emitter_.EmitVector(value, {axis.get(), Add(b_, first, i), d_.lanes, nullptr});
          emitter_.StoreVector(vector, value->dtype, at(i));
        },
        [&](Value* i) {
          Bind(axis, Add(b_, first, i));
          emitter_.Store(emitter_.Emit(value), value->dtype, at(i));
        });
  }

  void Bind(const te::Axis& axis, Value* value) { emitter_.BindAxis(axis.get(), value); }
  void BindHead() {
    Bind(d_.axes[0], batch_);
    Bind(d_.axes[1], head_);
  }

  const AttentionDetail& d_;
  Emitter& emitter_;
  Builder& b_;
  llvm::Type* element_;
  llvm::FixedVectorType* vector_;
  Value *all_q_, *all_o_, *all_rows_, *copied_ = nullptr;  // scratch of a unit
  Value *q_, *s_, *o_, *state_, *max_, *sum_;              // of a panel
  Value *queries_, *keys_, *key_size_, *value_size_;
  std::vector<te::Axis> q_axes_;  // batch, head, position, element of `query_`
  te::Expr query_;
  Value *is_long_ = nullptr, *counter_ = nullptr;  // for PollAfter
  Value *blocks_ = nullptr, *block_ = nullptr;     // of keys: how many, and of how many keys
  // The unit's: its head, its first query, how many it has, memory at them.
  Value *batch_ = nullptr, *head_ = nullptr, *first_ = nullptr, *count_ = nullptr;
  Value *k_ = nullptr, *v_ = nullptr, *out_ = nullptr;
};

// Queries are rows, with vectors along the keys and along the elements of values (kFewQueries).
class AttentionRows : protected AttentionUnit {
 protected:
  using AttentionUnit::AttentionUnit;

  // All queries of the unit's head. REQUIRES: d_.row_vectors > 0.
  void EmitRows();

 private:
  void EmitRowsFrom(Value* first);
  void BeginRows(Value* first);
  void OfEachNumber(const std::function<void(unsigned)>& fn);
  Value* Load(Value* array, Value* i);
  Value* LoadVector(Value* pointer);
  void StoreVector(Value* value, Value* pointer);
  Value* ScoreAt(Value* row, Value* key);
  Value* ResultAt(Value* row, Value* at);
  void EmitProducts(unsigned rows, Value* key, Value* count);
  void EmitSteps(Value* row, Value* query, Value* key, Value* count);
  void EmitValues(unsigned rows, Value* key, Value* count, Value* is_later);
  void StoreRows(Value* first);

  // Of few queries: those worked on together, how far apart they are, and room for a vector.
  Value *rows_ = nullptr, *q_stride_ = nullptr, *spare_ = nullptr;
};

}  // namespace relayvm::codegen
