#include "kernels/codegen/contraction/attention_parts.h"

#include <fmt/format.h>

#include <limits>

#include "kernels/codegen/contraction/tile.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

using Values = std::vector<Value*>;

// Of keys, while values are fetched that their weights are for.
constexpr int64_t kKeysAhead = 32;

llvm::Align FloatAlign() { return llvm::Align(sizeof(float)); }

// Calls the helper of that name with `args`, which `define` is given as parameters.
void CallPart(Builder& b, const std::string& name, const Values& args,
              const std::function<void(Builder&, const Values&)>& define) {
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  llvm::Function* helper =
      GetOrDefineHelper(b, name, types, [&](Builder& builder, llvm::Function* function) {
        Values parameters;
        for (llvm::Argument& argument : function->args()) {
          if (argument.getType()->isPointerTy()) argument.addAttr(llvm::Attribute::NoAlias);
          parameters.push_back(&argument);
        }
        define(builder, parameters);
      });
  b.CreateCall(helper, args);
}

Value* Exp(Builder& b, Value* x) {
  return Ops(b).Unary(te::UnaryOp::kSoftmaxExp, DType::kFloat32, x);
}

// Vectors of float32 of a length.
class Floats {
 public:
  Floats(Builder& b, unsigned lanes)
      : b_(b), lanes_(lanes), element_(b.getFloatTy()), vector_(VectorOf(element_, lanes)) {}

  llvm::FixedVectorType* type() const { return vector_; }
  Value* At(Value* base, Value* index) const { return codegen::At(b_, element_, base, index); }
  Value* At(Value* base, int64_t index) const { return At(base, I64(b_, index)); }
  Value* Load(Value* pointer) const { return b_.CreateAlignedLoad(vector_, pointer, FloatAlign()); }
  void Store(Value* value, Value* pointer) const {
    b_.CreateAlignedStore(value, pointer, FloatAlign());
  }
  Value* Splat(double value) const {
    return b_.CreateVectorSplat(lanes_, llvm::ConstantFP::get(element_, value));
  }
  // Vectors of scratch, aligned to their length.
  Value* LoadAligned(Value* pointer) const {
    return b_.CreateAlignedLoad(vector_, pointer, llvm::Align(lanes_ * sizeof(float)));
  }
  void StoreAligned(Value* value, Value* pointer) const {
    b_.CreateAlignedStore(value, pointer, llvm::Align(lanes_ * sizeof(float)));
  }

 private:
  Builder& b_;
  unsigned lanes_;
  llvm::Type* element_;
  llvm::FixedVectorType* vector_;
};

Value* StateOf(const AttentionPanel& panel, const Floats& f, Value* state, QueryState which) {
  return f.At(state, static_cast<int64_t>(which) * panel.queries);
}

// What is subtracted from scores: their maximum, but a number where that is -inf, so that weights
// and sums are 0 as long as all scores are. Scalars or vectors.
Value* Reference(Builder& b, Value* max) {
  Value* lowest = llvm::ConstantFP::getInfinity(max->getType(), /*Negative=*/true);
  return b.CreateSelect(b.CreateFCmpOEQ(max, lowest), llvm::Constant::getNullValue(max->getType()),
                        max);
}

// The larger one; `y` where x is NaN.
Value* MaxOf(Builder& b, Value* x, Value* y) { return b.CreateSelect(b.CreateFCmpOGT(x, y), x, y); }

}  // namespace

void EmitPieces(Builder& b, Value* count, std::span<const unsigned> sizes, std::string_view name,
                const std::function<void(unsigned size, Value* at)>& fn) {
  const unsigned size = sizes.front();
  const auto pieces = [&] {
    For(b, I64(b, 0), count, size, name,
        [&](Value* at) { fn(size, size == 1 ? at : Min(b, at, Sub(b, count, I64(b, size)))); });
  };
  if (sizes.size() == 1) return pieces();
  If(b, b.CreateICmpSGE(count, I64(b, size)), pieces,
     [&] { EmitPieces(b, count, sizes.subspan(1), name, fn); });
}

// --- Panels ---

namespace {

// Few shuffles are known of elements below a word: those become words, and after it what they were.
struct TurnedElement {
  TurnedElement(Builder& b, int64_t bytes, unsigned lanes)
      : memory(VectorOf(b.getIntNTy(static_cast<unsigned>(bytes * 8)), lanes)),
        whole(VectorOf(bytes == 8 ? b.getDoubleTy() : b.getFloatTy(), lanes)),
        words(VectorOf(b.getInt32Ty(), lanes)),
        is_narrow(bytes < 4) {}

  Value* Widened(Builder& b, Value* v) const {
    return b.CreateBitCast(is_narrow ? b.CreateZExt(v, words) : v, whole);
  }
  Value* Narrowed(Builder& b, Value* v) const {
    if (!is_narrow) return b.CreateBitCast(v, memory);
    return b.CreateTrunc(b.CreateBitCast(v, words), memory);
  }

  llvm::FixedVectorType *memory, *whole, *words;
  bool is_narrow;
};

}  // namespace

void EmitTurned(Builder& b, const AttentionPanel& panel, int64_t bytes, const TurnedRows& t) {
  const auto define = [&](Builder& h, const Values& p) {
    Value *from = p[0], *pitch = p[1], *to = p[2], *count = p[3], *rows = p[4];
    const TurnedElement type(h, bytes, panel.lanes);
    llvm::Type* element = type.memory->getElementType();
    const llvm::Align align(static_cast<uint64_t>(bytes));
    For(h, I64(h, 0), rows, panel.lanes, "turned", [&](Value* column) {
      Values sources;
      for (unsigned i = 0; i < panel.lanes; ++i) {
        Value* row = Min(h, Add(h, column, int64_t{i}), Sub(h, rows, I64(h, 1)));
        sources.push_back(At(h, element, from, Mul(h, row, pitch)));
      }
      For(h, I64(h, 0), count, panel.lanes, "square", [&](Value* at) {
        Values square;
        for (Value* source : sources) {
          Value* pointer = At(h, element, source, at);
          square.push_back(type.Widened(h, h.CreateAlignedLoad(type.memory, pointer, align)));
        }
        Transpose(h, square);
        for (unsigned i = 0; i < panel.lanes; ++i) {
          Value* row = Mul(h, Add(h, at, int64_t{i}), panel.queries);
          Value* pointer = At(h, element, to, Add(h, row, column));
          h.CreateAlignedStore(type.Narrowed(h, square[i]), pointer, align);
        }
      });
    });
  };
  CallPart(b, fmt::format("attention_turned_{}x{}", panel.lanes, bytes),
           {t.from, t.pitch, t.to, t.count, t.rows}, define);
}

namespace {

// Of so many vectors of queries, which hide each other's latency.
class PanelWeighing {
 public:
  PanelWeighing(Builder& b, const AttentionPanel& panel, const PanelWeights& w, unsigned vectors)
      : b_(b), panel_(panel), w_(w), vectors_(vectors), f_(b, panel.lanes) {}

  void Emit() {
    Values before, references;
    for (unsigned v = 0; v < vectors_; ++v) {
      before.push_back(b_.CreateSelect(w_.is_later, f_.LoadAligned(Of(QueryState::kMax, v)),
                                       f_.Splat(-std::numeric_limits<double>::infinity())));
    }
    const Values max = OverKeys("score", before, [&](Value* at, unsigned, Value* carried) {
      return MaxOf(b_, f_.LoadAligned(at), carried);
    });
    for (unsigned v = 0; v < vectors_; ++v) {
      references.push_back(Reference(b_, max[v]));
      f_.StoreAligned(max[v], Of(QueryState::kMax, v));
    }
    const Values zeros(vectors_, f_.Splat(0));
    const Values sums = OverKeys("weight", zeros, [&](Value* at, unsigned v, Value* carried) {
      Value* weight = Exp(b_, b_.CreateFSub(f_.LoadAligned(at), references[v]));
      f_.StoreAligned(weight, at);
      return b_.CreateFAdd(carried, weight);
    });
    If(
        b_, w_.is_later, [&] { AddToEarlier(before, references, sums); },
        [&] {
          for (unsigned v = 0; v < vectors_; ++v) f_.StoreAligned(sums[v], Of(QueryState::kSum, v));
        });
  }

 private:
  Value* Of(QueryState which, unsigned v) {
    return f_.At(StateOf(panel_, f_, w_.state, which), int64_t{v} * panel_.lanes);
  }
  Value* At(Value* rows, Value* i, unsigned v) {
    return f_.At(rows, Add(b_, Mul(b_, i, panel_.queries), int64_t{v} * panel_.lanes));
  }
  Values OverKeys(std::string_view name, const Values& initial,
                  const std::function<Value*(Value* at, unsigned v, Value* carried)>& fn) {
    return ForCarried(b_, I64(b_, 0), w_.count, 1, name, initial,
                      [&](Value* i, const Values& carried) {
                        Values next;
                        for (unsigned v = 0; v < vectors_; ++v)
                          next.push_back(fn(At(w_.scores, i, v), v, carried[v]));
                        return next;
                      });
  }
  void AddToEarlier(const Values& before, const Values& references, const Values& sums) {
    Values factors;
    for (unsigned v = 0; v < vectors_; ++v) {
      factors.push_back(Exp(b_, b_.CreateFSub(before[v], references[v])));
      Value* sum = Of(QueryState::kSum, v);
      f_.StoreAligned(b_.CreateFAdd(b_.CreateFMul(f_.LoadAligned(sum), factors[v]), sums[v]), sum);
    }
    For(b_, I64(b_, 0), w_.size, 1, "rescaled", [&](Value* i) {
      for (unsigned v = 0; v < vectors_; ++v) {
        Value* at = At(w_.sums, i, v);
        f_.StoreAligned(b_.CreateFMul(f_.LoadAligned(at), factors[v]), at);
      }
    });
  }

  Builder& b_;
  const AttentionPanel& panel_;
  const PanelWeights& w_;
  unsigned vectors_;
  Floats f_;
};

}  // namespace

void EmitPanelWeights(Builder& b, const AttentionPanel& panel, const PanelWeights& w) {
  CallPart(b, fmt::format("attention_weights_{}", panel.lanes),
           {w.scores, w.state, w.count, w.width, w.sums, w.size, w.is_later},
           [&](Builder& h, const Values& p) {
             const PanelWeights inner{p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
             const auto with = [&](unsigned vectors) {
               PanelWeighing(h, panel, inner, vectors).Emit();
             };
             If(
                 h, h.CreateICmpSGT(inner.width, I64(h, panel.lanes)), [&] { with(2); },
                 [&] { with(1); });
           });
}

void EmitCopied(Builder& b, unsigned lanes, Value* to, Value* from, Value* stride, Value* count,
                Value* size) {
  CallPart(b, fmt::format("attention_copied_{}", lanes), {to, from, stride, count, size},
           [&](Builder& h, const Values& p) {
             const Floats f(h, lanes);
             Value* whole = h.CreateAnd(p[4], I64(h, -int64_t{lanes}));
             Value* mask = MaskBelow(h, Sub(h, p[4], whole), lanes);
             For(h, I64(h, 0), p[3], 1, "copied", [&](Value* i) {
               Value* source = f.At(p[1], Mul(h, i, p[2]));
               Value* target = f.At(p[0], Mul(h, i, p[4]));
               For(h, I64(h, 0), whole, lanes, "vector",
                   [&](Value* at) { f.Store(f.Load(f.At(source, at)), f.At(target, at)); });
               If(h, h.CreateICmpSLT(whole, p[4]), [&] {
                 Value* rest = h.CreateMaskedLoad(f.type(), f.At(source, whole), FloatAlign(), mask,
                                                  llvm::Constant::getNullValue(f.type()));
                 // What this vector has more, the next row overwrites.
                 f.Store(rest, f.At(target, whole));
               });
             });
           });
}

namespace {

// Rows of a square that are results: `count` of them, the first `size` elements of each.
void StorePartOfSquare(Builder& b, const Floats& f, unsigned lanes, Value* square, Value* out,
                       Value* stride, Value* count, Value* size) {
  Value* is_whole = b.CreateICmpSGE(size, I64(b, lanes));
  Value* mask = MaskBelow(b, size, lanes);
  For(b, I64(b, 0), Min(b, count, I64(b, lanes)), 1, "row", [&](Value* i) {
    Value* row = f.LoadAligned(f.At(square, Mul(b, i, lanes)));
    Value* to = f.At(out, Mul(b, i, stride));
    If(
        b, is_whole, [&] { f.Store(row, to); },
        [&] { b.CreateMaskedStore(row, to, FloatAlign(), mask); });
  });
}

void DefinePanelResult(Builder& b, const AttentionPanel& panel, const PanelResult& r) {
  const Floats f(b, panel.lanes);
  const unsigned lanes = panel.lanes;
  For(b, I64(b, 0), r.count, lanes, "result", [&](Value* column) {
    Value* sums = f.LoadAligned(f.At(StateOf(panel, f, r.state, QueryState::kSum), column));
    Value* inverse = b.CreateSelect(r.has_keys, b.CreateFDiv(f.Splat(1), sums), f.Splat(1));
    Value* left = Sub(b, r.count, column);
    Value* out = f.At(r.out, Mul(b, column, r.stride));
    For(b, I64(b, 0), r.size, lanes, "square", [&](Value* at) {
      Values rows;
      for (unsigned i = 0; i < lanes; ++i) {
        Value* row = Mul(b, Add(b, at, int64_t{i}), panel.queries);
        rows.push_back(b.CreateFMul(f.LoadAligned(f.At(r.sums, Add(b, row, column))), inverse));
      }
      Transpose(b, rows);
      Value* to = f.At(out, at);
      Value* elements = Sub(b, r.size, at);
      If(
          b, b.CreateICmpSGE(Min(b, left, elements), I64(b, lanes)),
          [&] {
            for (unsigned i = 0; i < lanes; ++i)
              f.Store(rows[i], f.At(to, Mul(b, r.stride, int64_t{i})));
          },
          [&] {
            for (unsigned i = 0; i < lanes; ++i)
              f.StoreAligned(rows[i], f.At(r.square, int64_t{i} * lanes));
            StorePartOfSquare(b, f, lanes, r.square, to, r.stride, left, elements);
          });
    });
  });
}

}  // namespace

void EmitPanelResult(Builder& b, const AttentionPanel& panel, const PanelResult& r) {
  CallPart(b, fmt::format("attention_result_{}", panel.lanes),
           {r.sums, r.state, r.square, r.out, r.stride, r.size, r.count, r.has_keys},
           [&](Builder& h, const Values& p) {
             DefinePanelResult(h, panel, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]});
           });
}

// --- Rows ---

namespace {

// Fetches `bytes` of each of `rows` rows; they may lie past the tensor's end.
void FetchRows(Builder& b, Value* first, Value* stride, unsigned rows, int64_t bytes) {
  constexpr int64_t kLine = 64;
  For(b, I64(b, 0), I64(b, rows), 1, "fetched", [&](Value* row) {
    Value* at = b.CreateGEP(b.getFloatTy(), first, Mul(b, row, stride));
    for (int64_t line = 0; line < bytes; line += kLine) {
      FetchLine(b, b.CreateConstGEP1_64(b.getInt8Ty(), at, static_cast<uint64_t>(line)));
    }
  });
}

void DefineRowProducts(Builder& b, const RowProductsForm& form, const RowProducts& r) {
  const DotShape shape = DotShapeOfSets(form.rows, 1, form.vector_registers);
  std::vector<unsigned> sizes = {shape.units};
  if (shape.units >= 8) sizes.push_back(shape.units / 4);
  if (shape.units > 1) sizes.push_back(1);
  EmitPieces(b, r.count, sizes, "unit", [&](unsigned units, Value* unit) {
    llvm::Type* element = b.getFloatTy();
    Value* keys = At(b, element, r.keys, Mul(b, unit, r.k_stride));
    if (form.fetched_keys > 0) {
      Value* ahead = b.CreateGEP(element, keys, Mul(b, r.k_stride, kKeysAhead));
      FetchRows(b, ahead, r.k_stride, units, form.fetched_keys);
    }
    if (form.fetched_values > 0) {
      Value* values = b.CreateGEP(element, r.values, Mul(b, unit, r.v_stride));
      FetchRows(b, values, r.v_stride, units, form.fetched_values);
    }
    EmitDotCall(b, {DType::kFloat32, form.rows, units, form.lanes, shape.sets},
                {r.queries, keys, At(b, element, r.scores, unit), r.size, r.q_stride, r.k_stride,
                 form.row_keys});
  });
}

}  // namespace

void EmitRowProducts(Builder& b, const RowProductsForm& form, const RowProducts& r) {
  CallPart(
      b,
      fmt::format("attention_products_{}x{}_{}_{}_{}", form.rows, form.lanes, form.row_keys,
                  form.fetched_keys, form.fetched_values),
      {r.queries, r.keys, r.scores, r.count, r.size, r.q_stride, r.k_stride, r.values, r.v_stride},
      [&](Builder& h, const Values& p) {
        DefineRowProducts(h, form, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]});
      });
}

namespace {

// In a fixed order: halves, then quarters ...
Value* OverLanes(Builder& b, Value* vector, unsigned all,
                 const std::function<Value*(Value* x, Value* y)>& fn) {
  for (unsigned lanes = all / 2; lanes > 0; lanes /= 2) {
    std::vector<int> low, high;
    for (unsigned i = 0; i < lanes; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + lanes));
    }
    vector = fn(b.CreateShuffleVector(vector, low), b.CreateShuffleVector(vector, high));
  }
  return b.CreateExtractElement(vector, uint64_t{0});
}

// The maximum of scores and `before`; the rest of a last vector becomes -inf.
Value* MaximumOf(Builder& b, unsigned lanes, Value* scores, Value* count, Value* before) {
  const Floats f(b, lanes);
  Value* whole = b.CreateAnd(count, I64(b, -int64_t{lanes}));
  const auto largest = [&](Value* begin, Value* end, Value* mask, Value* initial) {
    return ForCarried(
        b, begin, end, lanes, "score", {initial}, [&](Value* i, const Values& carried) -> Values {
          Value* score = f.Load(f.At(scores, i));
          if (mask) {
            score = b.CreateSelect(mask, score, f.Splat(-std::numeric_limits<double>::infinity()));
            f.Store(score, f.At(scores, i));
          }
          return {MaxOf(b, score, carried[0])};
        })[0];
  };
  Value* max = largest(I64(b, 0), whole, nullptr, b.CreateVectorSplat(lanes, before));
  Value* mask = MaskBelow(b, Sub(b, count, whole), lanes);
  // Without NaN: simpler than the intrinsic, which is to heed these.
  return OverLanes(b, largest(whole, count, mask, max), lanes,
                   [&](Value* x, Value* y) { return MaxOf(b, x, y); });
}

// Of one row: `max` and `sum` are where it has these.
void DefineRowWeights(Builder& b, unsigned lanes, unsigned row_lanes, const RowWeights& r) {
  const Floats f(b, lanes);
  llvm::Type* element = b.getFloatTy();
  Value* before = b.CreateSelect(r.is_later, b.CreateLoad(element, r.max),
                                 llvm::ConstantFP::getInfinity(element, /*Negative=*/true));
  Value* max = MaximumOf(b, lanes, r.scores, r.count, before);
  b.CreateStore(max, r.max);
  Value* reference = Reference(b, max);
  Value* references = b.CreateVectorSplat(lanes, reference);
  Value* sums = ForCarried(b, I64(b, 0), r.count, lanes, "weight", {f.Splat(0)},
                           [&](Value* i, const Values& carried) -> Values {
                             Value* at = f.At(r.scores, i);
                             Value* weight = Exp(b, b.CreateFSub(f.Load(at), references));
                             f.Store(weight, at);
                             return {b.CreateFAdd(carried[0], weight)};
                           })[0];
  Value* sum = OverLanes(b, sums, lanes, [&](Value* x, Value* y) { return b.CreateFAdd(x, y); });
  const auto add_to_earlier = [&] {
    Value* factors = Exp(b, b.CreateVectorSplat(row_lanes, b.CreateFSub(before, reference)));
    Value* factor = b.CreateExtractElement(factors, uint64_t{0});
    Value* earlier = b.CreateFMul(b.CreateLoad(element, r.sum), factor);
    b.CreateStore(b.CreateFAdd(earlier, sum), r.sum);
    const Floats row(b, row_lanes);
    For(b, I64(b, 0), r.size, row_lanes, "rescaled", [&](Value* i) {
      Value* at = row.At(r.sums, i);
      row.Store(b.CreateFMul(row.Load(at), factors), at);
    });
  };
  If(b, r.is_later, add_to_earlier, [&] { b.CreateStore(sum, r.sum); });
}

}  // namespace

void EmitRowWeights(Builder& b, unsigned lanes, unsigned row_lanes, int64_t row_keys,
                    const RowWeights& r) {
  CallPart(b, fmt::format("attention_row_weights_{}x{}_{}", lanes, row_lanes, row_keys),
           {r.rows, r.scores, r.count, r.max, r.sum, r.sums, r.size, r.is_later},
           [&](Builder& h, const Values& p) {
             const Floats f(h, lanes);
             For(h, I64(h, 0), p[0], 1, "row", [&](Value* row) {
               DefineRowWeights(h, lanes, row_lanes,
                                {nullptr, f.At(p[1], Mul(h, row, row_keys)), p[2], f.At(p[3], row),
                                 f.At(p[4], row), f.At(p[5], Mul(h, row, p[6])), p[6], p[7]});
             });
           });
}

}  // namespace relayvm::codegen
