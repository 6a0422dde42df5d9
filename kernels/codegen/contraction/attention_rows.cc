// Few queries: rows of scores that follow the keys.
#include <limits>

#include "kernels/codegen/contraction/attention_unit.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {
namespace {

// Of keys, while values are fetched that their weights are for.
constexpr int64_t kKeysAhead = 32;

}  // namespace

// Rows of scores, of weights and of the result are row_keys and value_size apart.
void AttentionRows::EmitRows() {
  For(b_, I64(b_, 0), queries_, kRowsTogether, "rows", [&](Value* first) {
    rows_ = Min(b_, Sub(b_, queries_, first), I64(b_, kRowsTogether));
    EmitRowsFrom(first);
  });
}
void AttentionRows::EmitRowsFrom(Value* first) {
  q_stride_ = Mul(b_, CeilDiv(b_, key_size_, d_.lanes), int64_t{d_.lanes});
  Bind(q_axes_[0], batch_);
  Bind(q_axes_[1], head_);
  For(b_, I64(b_, 0), rows_, 1, "row", [&](Value* row) {
    Bind(q_axes_[2], Add(b_, first, row));
    ForVectors(key_size_, "pack", [&](Value* at, Value* mask) {
      Value* values = emitter_.EmitVector(query_, {q_axes_[3].get(), at, d_.lanes, mask});
      StoreVector(values, At(b_, element_, q_, Add(b_, Mul(b_, row, q_stride_), at)));
    });
    Store(llvm::ConstantFP::getInfinity(element_, /*Negative=*/true), max_, row);
    Store(llvm::ConstantFP::get(element_, 0), sum_, row);
    For(b_, I64(b_, 0), value_size_, d_.row_lanes, "zero", [&](Value* at) {
      b_.CreateAlignedStore(llvm::Constant::getNullValue(VectorOf(element_, d_.row_lanes)),
                            ResultAt(row, at), llvm::Align(sizeof(float)));
    });
  });
  For(b_, I64(b_, 0), keys_, d_.row_keys, "keys", [&](Value* key) {
    Value* count = Min(b_, Sub(b_, keys_, key), I64(b_, d_.row_keys));
    PollAfter(b_, is_long_, counter_, [&] { return BlockWork(count); });
    OfEachNumber([&](unsigned rows) { EmitRowProducts(rows, key, count); });
    For(b_, I64(b_, 0), rows_, 1, "row",
        [&](Value* row) { EmitRow(row, Add(b_, first, row), key, count); });
    OfEachNumber([&](unsigned rows) { EmitRowValues(rows, key, count); });
  });
  Value* has_keys = b_.CreateICmpSGT(keys_, I64(b_, 0));
  Value* one = llvm::ConstantFP::get(element_, 1);
  For(b_, I64(b_, 0), rows_, 1, "row", [&](Value* row) {
    Value* inverse = b_.CreateSelect(has_keys, b_.CreateFDiv(one, Load(sum_, row)), one);
    Value* to = At(b_, element_, out_, Mul(b_, Add(b_, first, row), Stride(d_.result, 2)));
    ForResult(row, [&](Value* at, Value* sums) {
      Value* splat = b_.CreateVectorSplat(d_.row_lanes, inverse);
      b_.CreateAlignedStore(b_.CreateFMul(sums, splat), At(b_, element_, to, at),
                            llvm::Align(sizeof(float)));
    });
  });
}

// Code for each number of rows that there may be.
void AttentionRows::OfEachNumber(const std::function<void(unsigned)>& fn) {
  for (int64_t rows = 1; rows <= kRowsTogether; ++rows) {
    if (d_.num_queries.is_const() && d_.num_queries.value() < rows) break;
    If(b_, b_.CreateICmpEQ(rows_, I64(b_, rows)), [&] { fn(static_cast<unsigned>(rows)); });
  }
}

llvm::Value* AttentionRows::Load(Value* array, Value* i) {
  return b_.CreateLoad(element_, At(b_, element_, array, i));
}
void AttentionRows::Store(Value* value, Value* array, Value* i) {
  b_.CreateStore(value, At(b_, element_, array, i));
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
// Calls fn on each vector of a row of sums.
void AttentionRows::ForResult(Value* row, const std::function<void(Value* at, Value* sums)>& fn) {
  For(b_, I64(b_, 0), value_size_, d_.row_lanes, "out", [&](Value* at) {
    fn(at, b_.CreateAlignedLoad(VectorOf(element_, d_.row_lanes), ResultAt(row, at),
                                llvm::Align(sizeof(float))));
  });
}

// Rows that are apart in memory, as those of a cache that grows along its first axis are: hardware
// does not see them coming.
void AttentionRows::FetchRows(const HeadTensor& t, Value* head, const Dim& size, Value* first,
                              unsigned rows) {
  if (!size.is_const() || t.strides[2] == size) return;
  constexpr int64_t kLine = 64, kMostBytes = 1024;  // hardware follows longer rows
  const auto bytes = size.value() * static_cast<int64_t>(sizeof(float));
  if (bytes > kMostBytes) return;
  for (unsigned row = 0; row < rows; ++row) {
    // May lie past the tensor's end.
    Value* at = b_.CreateGEP(element_, head, Mul(b_, Add(b_, first, int64_t{row}), Stride(t, 2)));
    for (int64_t line = 0; line < bytes; line += kLine) {
      FetchLine(b_, b_.CreateConstGEP1_64(b_.getInt8Ty(), at, static_cast<uint64_t>(line)));
    }
  }
}

void AttentionRows::EmitRowProducts(unsigned rows, Value* key, Value* count) {
  Value* stride = Stride(d_.keys, 2);
  const DotShape shape = DotShapeOfSets(rows, 1, d_.target.vector_registers);
  Value* next = I64(b_, 0);
  for (unsigned units = shape.units; units > 0; units /= 2) {
    Value* last = Add(b_, next, b_.CreateAnd(Sub(b_, count, next), I64(b_, -int64_t{units})));
    For(b_, next, last, units, "unit", [&](Value* unit) {
      Value* first = Add(b_, key, unit);
      FetchRows(d_.keys, k_, d_.key_size, Add(b_, first, kKeysAhead), units);
      FetchRows(d_.values, v_, d_.value_size, first, units);
      EmitDotCall(b_, {DType::kFloat32, rows, units, d_.lanes, shape.sets},
                  {q_, At(b_, element_, k_, Mul(b_, Add(b_, key, unit), stride)),
                   ScoreAt(I64(b_, 0), unit), key_size_, q_stride_, stride, d_.row_keys});
    });
    next = last;
  }
}

// A row's scores, their maximum, the weights and their sum; earlier sums are rescaled.
void AttentionRows::EmitRow(Value* row, Value* query, Value* key, Value* count) {
  BindHead();
  Bind(d_.axes[2], query);
  Value* lowest = Splat(-std::numeric_limits<double>::infinity());
  Value* before = Load(max_, row);
  // Vectors that cover the keys; the last one, if it is not whole, by itself.
  const auto reduce = [&](Value* initial,
                          const std::function<Value*(Value * at, Value * mask, Value * sum)>& fn) {
    Value* whole = b_.CreateAnd(count, I64(b_, -int64_t{d_.lanes}));
    Value* sum = ForCarried(b_, I64(b_, 0), whole, d_.lanes, "keys", {initial},
                            [&](Value* at, const std::vector<Value*>& carried) {
                              return std::vector<Value*>{fn(at, nullptr, carried[0])};
                            })[0];
    Value* mask = MaskBelow(b_, Sub(b_, count, whole), d_.lanes);
    // At most one turn.
    return ForCarried(b_, whole, count, d_.lanes, "rest", {sum},
                      [&](Value* at, const std::vector<Value*>& carried) {
                        return std::vector<Value*>{fn(at, mask, carried[0])};
                      })[0];
  };
  Value* maxima =
      reduce(b_.CreateVectorSplat(d_.lanes, before), [&](Value* at, Value* mask, Value* max) {
        Value* score = LoadVector(ScoreAt(row, at));
        if (d_.has_steps) {
          emitter_.BindValue(d_.product.get(), score);
          score = emitter_.EmitVector(d_.row_score,
                                      {d_.axes[3].get(), Add(b_, key, at), d_.lanes, mask});
        }
        if (mask) score = b_.CreateSelect(mask, score, lowest);
        StoreVector(score, ScoreAt(row, at));
        return MaxOf(score, max);
      });
  Value* max = b_.CreateFPMaxReduce(maxima);
  Value* reference = b_.CreateSelect(
      b_.CreateFCmpOEQ(max, llvm::ConstantFP::getInfinity(element_, /*Negative=*/true)),
      llvm::ConstantFP::get(element_, 0), max);
  Value* references = b_.CreateVectorSplat(d_.lanes, reference);
  Value* sums = reduce(Splat(0), [&](Value* at, Value*, Value* sum) {
    Value* weight = Exp(b_.CreateFSub(LoadVector(ScoreAt(row, at)), references));
    StoreVector(weight, ScoreAt(row, at));
    return b_.CreateFAdd(sum, weight);
  });
  Value* factors = Exp(b_.CreateVectorSplat(d_.lanes, b_.CreateFSub(before, reference)));
  Value* factor = b_.CreateExtractElement(factors, uint64_t{0});
  // In a fixed order: halves, then quarters ...
  Value* sum = sums;
  for (unsigned lanes = d_.lanes / 2; lanes > 0; lanes /= 2) {
    std::vector<int> low, high;
    for (unsigned i = 0; i < lanes; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + lanes));
    }
    sum = b_.CreateFAdd(b_.CreateShuffleVector(sum, low), b_.CreateShuffleVector(sum, high));
  }
  sum = b_.CreateExtractElement(sum, uint64_t{0});
  Store(max, max_, row);
  Store(b_.CreateFAdd(b_.CreateFMul(Load(sum_, row), factor), sum), sum_, row);
  If(b_, b_.CreateICmpSGT(key, I64(b_, 0)), [&] {
    ForResult(row, [&](Value* at, Value* values) {
      Value* scaled = b_.CreateFMul(values, b_.CreateVectorSplat(d_.row_lanes, factor));
      b_.CreateAlignedStore(scaled, ResultAt(row, at), llvm::Align(sizeof(float)));
    });
  });
}

void AttentionRows::EmitRowValues(unsigned rows, Value* key, Value* count) {
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
         count, b_.getTrue(), nullptr, nullptr, Stride(d_.values, 2)});
  });
}

}  // namespace relayvm::codegen
