// What the two forms of attention share: the memory of a unit, and what few queries are emitted by.
// Tested through attention_test.cc.
#pragma once

#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "kernels/codegen/contraction/attention_plan.h"
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
    max_ = At(b_, element_, all_rows_, Mul(b_, panel, d_.row_pitch));
    sum_ = At(b_, element_, max_, d_.panel);
    factor_ = At(b_, element_, max_, 2 * d_.panel);
  }
  Value* Stride(const HeadTensor& t, size_t i) { return emitter_.EmitDim(t.strides[i]); }
  // Where the current head begins.
  Value* HeadOf(const HeadTensor& t, int64_t group) {
    Value* origin = emitter_.ElementAddress(t.tensor.get(), std::vector<Value*>(4, I64(b_, 0)));
    Value* head = Div(b_, head_, I64(b_, group));
    return At(b_, element_, origin,
              Add(b_, Mul(b_, batch_, Stride(t, 0)), Mul(b_, head, Stride(t, 1))));
  }
  // Vector v of row `row` of a panel in scratch.
  Value* RowOf(Value* panel, Value* row, unsigned v) {
    return At(b_, element_, panel, Add(b_, Mul(b_, row, d_.panel), int64_t{v * d_.lanes}));
  }
  Value* LoadRow(Value* panel, Value* row, unsigned v) {
    return b_.CreateAlignedLoad(vector_, RowOf(panel, row, v), VectorAlign());
  }
  void StoreRow(Value* value, Value* panel, Value* row, unsigned v) {
    b_.CreateAlignedStore(value, RowOf(panel, row, v), VectorAlign());
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

  // Calls body(i, mask) for vectors that cover [0, extent), the last one masked.
  void ForVectors(Value* extent, std::string_view name,
                  const std::function<void(Value* at, Value* mask)>& body) {
    Value* whole = b_.CreateAnd(extent, I64(b_, -int64_t{d_.lanes}));
    For(b_, I64(b_, 0), whole, d_.lanes, name, [&](Value* at) { body(at, nullptr); });
    If(b_, b_.CreateICmpSLT(whole, extent),
       [&] { body(whole, MaskBelow(b_, Sub(b_, extent, whole), d_.lanes)); });
  }

  void Bind(const te::Axis& axis, Value* value) { emitter_.BindAxis(axis.get(), value); }
  void BindHead() {
    Bind(d_.axes[0], batch_);
    Bind(d_.axes[1], head_);
  }

  Value* Exp(Value* x) { return emitter_.ops().Unary(te::UnaryOp::kExp, DType::kFloat32, x); }
  // The larger one; `y` where x is NaN.
  Value* MaxOf(Value* x, Value* y) { return b_.CreateSelect(b_.CreateFCmpOGT(x, y), x, y); }

  const AttentionDetail& d_;
  Emitter& emitter_;
  Builder& b_;
  llvm::Type* element_;
  llvm::FixedVectorType* vector_;
  Value *all_q_, *all_o_, *all_rows_, *copied_ = nullptr;  // scratch of a unit
  Value *q_, *s_, *o_, *max_, *sum_, *factor_;             // of a panel
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
  void OfEachNumber(const std::function<void(unsigned)>& fn);
  Value* Load(Value* array, Value* i);
  void Store(Value* value, Value* array, Value* i);
  Value* LoadVector(Value* pointer);
  void StoreVector(Value* value, Value* pointer);
  Value* ScoreAt(Value* row, Value* key);
  Value* ResultAt(Value* row, Value* at);
  void ForResult(Value* row, const std::function<void(Value* at, Value* sums)>& fn);
  void FetchRows(const HeadTensor& t, Value* head, const Dim& size, Value* first, unsigned rows);
  void EmitRowProducts(unsigned rows, Value* key, Value* count);
  void EmitRow(Value* row, Value* query, Value* key, Value* count);
  void EmitRowValues(unsigned rows, Value* key, Value* count);

  // Of few queries: those worked on together, and how far apart they are in scratch.
  Value *rows_ = nullptr, *q_stride_ = nullptr;
};

}  // namespace relayvm::codegen
