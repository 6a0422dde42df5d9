// Few queries: rows of scores that follow the keys.
#include "kernels/codegen/contraction/attention_unit.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

// Rows of scores, of weights and of the result are row_keys and value_size apart.
void AttentionRows::EmitRows() {
  For(b_, I64(b_, 0), queries_, kRowsTogether, "rows", [&](Value* first) {
    rows_ = Min(b_, Sub(b_, queries_, first), I64(b_, kRowsTogether));
    EmitRowsFrom(first);
  });
}

void AttentionRows::EmitRowsFrom(Value* first) {
  q_stride_ = Mul(b_, CeilDiv(b_, key_size_, d_.lanes), int64_t{d_.lanes});
  // One more row than there are.
  spare_ = At(b_, element_, o_, Mul(b_, value_size_, kRowsTogether));
  BeginRows(first);
  For(b_, I64(b_, 0), keys_, d_.row_keys, "keys", [&](Value* key) {
    Value* count = Min(b_, Sub(b_, keys_, key), I64(b_, d_.row_keys));
    PollAfter(b_, is_long_, counter_, [&] { return BlockWork(count); });
    OfEachNumber([&](unsigned rows) { EmitProducts(rows, key, count); });
    if (d_.has_steps) {
      For(b_, I64(b_, 0), rows_, 1, "row",
          [&](Value* row) { EmitSteps(row, Add(b_, first, row), key, count); });
    }
    Value* is_later = b_.CreateICmpSGT(key, I64(b_, 0));
    EmitRowWeights(b_, d_.lanes, d_.row_lanes, d_.row_keys,
                   {rows_, s_, count, max_, sum_, o_, value_size_, is_later});
    OfEachNumber([&](unsigned rows) { EmitValues(rows, key, count, is_later); });
  });
  StoreRows(first);
}

// Three rows are worked on as four, of which the last one is the third again.
void AttentionRows::BeginRows(Value* first) {
  Bind(q_axes_[0], batch_);
  Bind(q_axes_[1], head_);
  Value* last = Add(b_, rows_, -1);
  Value* padded = b_.CreateSelect(b_.CreateICmpEQ(rows_, I64(b_, 3)), I64(b_, 4), rows_);
  For(b_, I64(b_, 0), padded, 1, "row", [&](Value* row) {
    Bind(q_axes_[2], Add(b_, first, Min(b_, row, last)));
    StoreRun(query_, q_axes_[3], I64(b_, 0), key_size_, "pack",
             At(b_, element_, q_, Mul(b_, row, q_stride_)));
  });
  If(b_, b_.CreateICmpEQ(keys_, I64(b_, 0)), [&] {
    For(b_, I64(b_, 0), Mul(b_, rows_, value_size_), 1, "zero", [&](Value* at) {
      b_.CreateStore(llvm::ConstantFP::get(element_, 0), At(b_, element_, o_, at));
    });
  });
}

// Code for each number of rows that there may be: one, two, or up to four.
void AttentionRows::OfEachNumber(const std::function<void(unsigned)>& fn) {
  static_assert(kRowsTogether == 4);
  const auto all = ConstantOf(queries_);
  if (all && *all < kRowsTogether) return fn(static_cast<unsigned>(*all));
  const auto of = [&](unsigned rows, Value* is_so, const std::function<void()>& otherwise) {
    if (all && *all % kRowsTogether != rows) return otherwise();
    If(b_, all && *all == rows ? b_.getTrue() : is_so, [&] { fn(rows); }, otherwise);
  };
  of(1, b_.CreateICmpEQ(rows_, I64(b_, 1)),
     [&] { of(2, b_.CreateICmpEQ(rows_, I64(b_, 2)), [&] { fn(4); }); });
}

llvm::Value* AttentionRows::Load(Value* array, Value* i) {
  return b_.CreateLoad(element_, At(b_, element_, array, i));
}
llvm::Value* AttentionRows::LoadVector(Value* pointer) {
  return b_.CreateAlignedLoad(vector_, pointer, llvm::Align(sizeof(float)));
}
void AttentionRows::StoreVector(Value* value, Value* pointer) {
  b_.CreateAlignedStore(value, pointer, llvm::Align(sizeof(float)));
}
llvm::Value* AttentionRows::ScoreAt(Value* row, Value* key) {
  return At(b_, element_, s_, Add(b_, Mul(b_, row, d_.row_keys), key));
}
llvm::Value* AttentionRows::ResultAt(Value* row, Value* at) {
  return At(b_, element_, o_, Add(b_, Mul(b_, row, value_size_), at));
}

void AttentionRows::EmitProducts(unsigned rows, Value* key, Value* count) {
  // Hardware follows rows that are longer.
  constexpr int64_t kMostBytes = 1024;
  const auto fetched = [&](const HeadTensor& t, const Dim& size) -> int64_t {
    if (!size.is_const() || t.strides[2] == size) return 0;
    const int64_t bytes = size.value() * static_cast<int64_t>(sizeof(float));
    return bytes <= kMostBytes ? bytes : 0;
  };
  const RowProductsForm form{rows,
                             d_.lanes,
                             d_.target.vector_registers,
                             d_.row_keys,
                             fetched(d_.keys, d_.key_size),
                             fetched(d_.values, d_.value_size)};
  Value *k_stride = Stride(d_.keys, 2), *v_stride = Stride(d_.values, 2);
  EmitRowProducts(b_, form,
                  {q_, At(b_, element_, k_, Mul(b_, key, k_stride)), s_, count, key_size_,
                   q_stride_, k_stride, At(b_, element_, v_, Mul(b_, key, v_stride)), v_stride});
}

// Scores in the place of products. The last vector ends with the row: it is computed first, of
// products that are there yet, and stored last.
void AttentionRows::EmitSteps(Value* row, Value* query, Value* key, Value* count) {
  BindHead();
  Bind(d_.axes[2], query);
  const int64_t lanes = d_.lanes;
  const auto vectors = [&] {
    Value* whole = b_.CreateAnd(count, I64(b_, -lanes));
    Value* has_rest = b_.CreateICmpSLT(whole, count);
    Value* rest = Sub(b_, count, I64(b_, lanes));
    For(b_, b_.CreateSelect(has_rest, I64(b_, -lanes), I64(b_, 0)), whole, lanes, "steps",
        [&](Value* i) {
          Value* is_rest = b_.CreateICmpSLT(i, I64(b_, 0));
          Value* at = b_.CreateSelect(is_rest, rest, i);
          Value* place = ScoreAt(row, at);
          emitter_.BindValue(d_.product.get(), LoadVector(place));
          Value* score = emitter_.EmitVector(
              d_.row_score, {d_.axes[3].get(), Add(b_, key, at), d_.lanes, nullptr});
          StoreVector(score, b_.CreateSelect(is_rest, spare_, place));
        });
    If(b_, has_rest, [&] { StoreVector(LoadVector(spare_), ScoreAt(row, rest)); });
  };
  const auto single = [&](Value* i) {
    Value* place = ScoreAt(row, i);
    Bind(d_.axes[3], Add(b_, key, i));
    emitter_.BindValue(d_.product.get(), b_.CreateLoad(element_, place));
    b_.CreateStore(emitter_.Emit(d_.row_score), place);
  };
  If(b_, b_.CreateICmpSGE(count, I64(b_, lanes)), vectors,
     [&] { For(b_, I64(b_, 0), count, 1, "step", single); });
}

void AttentionRows::EmitValues(unsigned rows, Value* key, Value* count, Value* is_later) {
  const Dim& stride = d_.values.strides[2];
  TileConfig config{DType::kFloat32,
                    false,
                    rows,
                    d_.row_vectors,
                    d_.row_lanes,
                    1,
                    d_.row_keys,
                    1,
                    TileConfig::kDynamic,
                    d_.value_size.value()};
  if (stride.is_const()) config.b_k_stride = stride.value();
  config.sets = TileSets(config, rows);
  Value* values = At(b_, element_, v_, Mul(b_, key, Stride(d_.values, 2)));
  For(b_, I64(b_, 0), value_size_, d_.row_vectors * d_.row_lanes, "values", [&](Value* at) {
    EmitTileCall(
        b_, config,
        {ScoreAt(I64(b_, 0), I64(b_, 0)), At(b_, element_, values, at), ResultAt(I64(b_, 0), at),
         count, is_later, nullptr, nullptr, Stride(d_.values, 2)});
  });
}

void AttentionRows::StoreRows(Value* first) {
  Value* has_keys = b_.CreateICmpSGT(keys_, I64(b_, 0));
  Value* one = llvm::ConstantFP::get(element_, 1);
  llvm::Type* vector = VectorOf(element_, d_.row_lanes);
  const llvm::Align align(sizeof(float));
  For(b_, I64(b_, 0), rows_, 1, "row", [&](Value* row) {
    Value* inverse = b_.CreateSelect(has_keys, b_.CreateFDiv(one, Load(sum_, row)), one);
    Value* factor = b_.CreateVectorSplat(d_.row_lanes, inverse);
    Value* to = At(b_, element_, out_, Mul(b_, Add(b_, first, row), Stride(d_.result, 2)));
    For(b_, I64(b_, 0), value_size_, d_.row_lanes, "out", [&](Value* at) {
      Value* sums = b_.CreateAlignedLoad(vector, ResultAt(row, at), align);
      b_.CreateAlignedStore(b_.CreateFMul(sums, factor), At(b_, element_, to, at), align);
    });
  });
}

}  // namespace relayvm::codegen
