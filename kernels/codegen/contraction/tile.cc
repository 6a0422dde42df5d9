#include "kernels/codegen/contraction/tile.h"

#include <fmt/format.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/codegen/contraction/integer.h"
#include "kernels/codegen/contraction/sorted_quads.h"
#include "kernels/codegen/contraction/widen.h"
#include "kernels/codegen/instructions.h"
#include "kernels/codegen/ops.h"

namespace relayvm::codegen {

using llvm::Value;

llvm::Type* AccumulatorType(llvm::LLVMContext& context, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return llvm::Type::getFloatTy(context);
    case DType::kFloat64:
      return llvm::Type::getDoubleTy(context);
    case DType::kInt32:
    case DType::kUInt32:
      return llvm::Type::getInt32Ty(context);
    case DType::kInt64:
    case DType::kUInt64:
      return llvm::Type::getInt64Ty(context);
    default:
      return nullptr;
  }
}

Value* MultiplyAdd(Builder& b, Value* x, Value* y, Value* z, bool rounds) {
  if (rounds) {
    Ops ops(b);
    Value* product = ops.Binary(te::BinaryOp::kMultiply, DType::kFloat16, x, y);
    return ops.Binary(te::BinaryOp::kAdd, DType::kFloat16, product, z);
  }
  if (x->getType()->isIntOrIntVectorTy()) return b.CreateAdd(b.CreateMul(x, y), z);
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, z});
}

unsigned SetsFor(int64_t accumulators) {
  // An FMA takes 4 cycles or so: below 8 independent accumulators a loop would wait for them.
  constexpr unsigned kAccumulators = 8;
  constexpr unsigned kMaxSets = 4;
  unsigned sets = 1;
  while (sets < kMaxSets && accumulators * sets < kAccumulators) sets *= 2;
  return sets;
}

Value* AddAny(Builder& b, Value* x, Value* y) {
  return x->getType()->isIntOrIntVectorTy() ? b.CreateAdd(x, y) : b.CreateFAdd(x, y);
}

namespace {

Value* LoadVector(Builder& b, llvm::Type* type, Value* pointer, uint64_t align) {
  return b.CreateAlignedLoad(type, pointer, llvm::Align(align));
}

// --- Tile kernel ---

// How far ahead streams are fetched into the second cache: what memory takes about a microsecond
// for. On a core that reads 17 GB/s, 2 kB gains nothing, 4 kB half and 8 to 32 kB all of 1.45 times
// the speed for 16 rows.
constexpr int64_t kBytesAhead = 16 << 10;
constexpr int64_t kLineBytes = 64;
// With fewer accumulators a step takes no longer than its loads. What is fetched into the second
// cache alone then comes too late: a core of Zen 5 reads 78 GB/s from the third cache that way, 105
// without fetching and 117 into the first; from memory 41, 30 and 42.
constexpr unsigned kLeastFromSecond = 8;

// Fetches the cache lines of `bytes` bytes from `pointer` on.
void FetchLines(Builder& b, Value* pointer, int64_t bytes, bool into_first = false) {
  const uint32_t reads = 0, locality = into_first ? 3 : 2, data = 1;
  for (int64_t at = 0; at < bytes; at += kLineBytes) {
    Value* line = b.CreateConstGEP1_64(b.getInt8Ty(), pointer, static_cast<uint64_t>(at));
    b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                      {line, b.getInt32(reads), b.getInt32(locality), b.getInt32(data)});
  }
}

// After a, b, c, k, accumulate and three strides: with blocks, these; with streams_b, another, and
// of elements one more.
constexpr unsigned kScalesArg = 8, kZeroPointsArg = 9;
unsigned FetchedArg(const TileConfig& config) { return config.block > 0 ? 10 : 8; }
// Small tiles have no time to choose lines.
bool FetchesShares(const TileConfig& config) {
  return config.streams_b && config.form == PanelForm::kElements &&
         config.rows * config.vectors >= kLeastFromSecond;
}
// Of what has neither blocks nor a stream.
constexpr unsigned kOrderArg = 8;

// The call that a function with the parameters of TileParams is given.
TileCall CallOfParams(const llvm::Function* function, const TileConfig& config) {
  const auto arg = [&](unsigned i) { return function->getArg(i); };
  TileCall call{arg(0), arg(1), arg(2), arg(3), arg(4), arg(5), arg(6), arg(7)};
  if (config.block > 0) {
    call.scales = arg(kScalesArg);
    call.zero_points = arg(kZeroPointsArg);
  }
  if (config.streams_b) call.fetched = arg(FetchedArg(config));
  if (FetchesShares(config)) call.fetched_shift = arg(FetchedArg(config) + 1);
  if (config.split == QuadSplit::kOrdered) call.order = arg(kOrderArg);
  return call;
}

// Where accumulator i of a set goes.
Value* SumAt(Builder& b, const TileConfig& config, Value* c, unsigned i) {
  return At(b, AccumulatorType(b.getContext(), config.dtype), c,
            i / config.vectors * config.c_row_stride + i % config.vectors * config.lanes);
}
// Where element `row` of the e-th column after the vectors goes.
Value* ExtraAt(Builder& b, const TileConfig& config, Value* c, unsigned e, unsigned row) {
  return At(b, AccumulatorType(b.getContext(), config.dtype), c,
            row * config.c_row_stride + config.vectors * config.lanes + e);
}

// The sums of a tile, row by row, and after them the columns of `extra`. With a null
// call.accumulate they begin at 0.
class TileSums {
 public:
  TileSums(Builder& b, const TileConfig& config, const TileCall& call)
      : b_(b),
        config_(config),
        call_(call),
        element_(AccumulatorType(b.getContext(), config.dtype)),
        vector_(VectorOf(element_, config.lanes)),
        column_(VectorOf(element_, config.rows)),
        word_(WordTypeOf(b, config.dtype, config.form, config.widened)),
        words_(VectorOf(word_, config.lanes)),
        widened_(config.form == PanelForm::kWidened ? config.widened : nullptr),
        a_row_stride_(RowStride()),
        a_k_stride_(Stride(config.a_k_stride, call.a_k_stride)),
        b_k_stride_(Stride(config.b_k_stride, call.b_k_stride)),
        block_of_b_(call.b),
        zeros_(config.vectors) {}

  std::vector<Value*> Emit() {
    std::vector<Value*> sums = Initial();
    if (has_blocks_) {
      if (scales_sums_) sums.resize(accumulators_);
      sums = ForCarried(
          b_, I64(b_, 0), call_.k, config_.block, "k.block", sums,
          [&](Value* k, const std::vector<Value*>& carried) { return Block(k, carried); });
    } else if (config_.split == QuadSplit::kSorted) {
      sums = EmitSortedSteps(b_, config_, call_.b, call_.k, sums, [&](Value* k, unsigned row) {
        return RowOfA(At(b_, element_, call_.a, Mul(b_, k, a_k_stride_)), row);
      });
    } else if (config_.split == QuadSplit::kOrdered) {
      sums = EmitOrderedSteps(
          b_, config_, {call_.b, call_.order}, call_.k, sums, [&](Value* k, unsigned row) {
            return RowOfA(At(b_, element_, call_.a, Mul(b_, k, a_k_stride_)), row);
          });
    } else {
      sums = Steps(I64(b_, 0), call_.k, sums);
    }
    std::vector<Value*> result;
    for (unsigned i = 0; i < accumulators_; ++i)
      result.push_back(scales_sums_ ? sums[i] : SumOfSets(sums, i));
    for (unsigned e = 0; e < config_.extra; ++e) result.push_back(sums[FirstExtra() + e]);
    return result;
  }

 private:
  Value* Stride(int64_t value, Value* given) const {
    return value == TileConfig::kDynamic ? given : static_cast<Value*>(I64(b_, value));
  }
  // Opaque while it may become a parameter (function_merging.h): its multiples are then made of it,
  // as those of a constant would be many constants. LLVM folds what stays a constant.
  Value* RowStride() const {
    Value* stride = Stride(config_.a_row_stride, call_.a_row_stride);
    return config_.a_row_stride > 1 && config_.rows > 1 ? b_.CreateFreeze(stride) : stride;
  }
  // Row `row` of A at a step: of each three, two are at once and twice the stride from the first.
  Value* RowOfA(Value* a_k, unsigned row) const {
    Value* first = At(b_, element_, a_k, Mul(b_, a_row_stride_, int64_t{row / 3 * 3}));
    return At(b_, element_, first, Mul(b_, a_row_stride_, int64_t{row % 3}));
  }
  size_t FirstExtra() const { return size_t{accumulators_} * config_.sets; }
  std::vector<Value*> Zeros() const {
    return std::vector<Value*>(FirstExtra(), llvm::Constant::getNullValue(vector_));
  }

  std::vector<Value*> Initial() {
    std::vector<Value*> zeros = Zeros();
    zeros.insert(zeros.end(), config_.extra, llvm::Constant::getNullValue(column_));
    if (!call_.accumulate) return zeros;
    llvm::BasicBlock *before = b_.GetInsertBlock(), *from = nullptr;
    std::vector<Value*> loaded = zeros;
    If(b_, call_.accumulate, [&] {
      for (unsigned i = 0; i < accumulators_; ++i) {
        loaded[i] = LoadVector(b_, vector_, SumAt(b_, config_, call_.c, i), align_ * config_.lanes);
      }
      for (unsigned e = 0; e < config_.extra; ++e) {
        Value*& values = loaded[FirstExtra() + e];
        for (unsigned row = 0; row < config_.rows; ++row) {
          Value* value = b_.CreateLoad(element_, ExtraAt(b_, config_, call_.c, e, row));
          values = b_.CreateInsertElement(values, value, row);
        }
      }
      from = b_.GetInsertBlock();
    });
    for (size_t i = 0; i < zeros.size(); ++i) {
      if (loaded[i] == zeros[i]) continue;
      llvm::PHINode* phi = b_.CreatePHI(zeros[i]->getType(), 2);
      phi->addIncoming(loaded[i], from);
      phi->addIncoming(zeros[i], before);
      zeros[i] = phi;
    }
    return zeros;
  }

  Value* MultiplyAndAdd(Value* x, Value* y, Value* sum) const {  // x of A, y of B
    if (config_.form == PanelForm::kPairs) return b_.machine().dots.pairs->add(b_, x, y, sum);
    if (config_.form != PanelForm::kQuads) return MultiplyAdd(b_, x, y, sum, config_.rounds);
    if (config_.split != QuadSplit::kNone) return AddPairProducts(b_, x, y, sum);
    return config_.a_is_unsigned ? AddQuadProducts(b_, x, y, sum) : AddQuadProducts(b_, y, x, sum);
  }

  // What steps of k before `k` take of a column, in words.
  Value* WordOf(Value* k) const {
    if (word_steps_ == 1) return k;
    return b_.CreateLShr(Mul(b_, k, widened_->bits()), 5);
  }
  Value* LoadWords(Value* row, unsigned v) const {
    return LoadVector(b_, words_, At(b_, words_, row, v), static_cast<uint64_t>(word_bytes_));
  }

  // For `steps` of k from `k` on.
  void Fetch(Value* k, int64_t steps) const {
    const bool is_small = accumulators_ < kLeastFromSecond && !has_blocks_;
    if (config_.streams_a && !is_small) {
      FetchLines(b_, FetchedAhead(b_, At(b_, element_, call_.a, Mul(b_, k, a_k_stride_))),
                 static_cast<int64_t>(align_) * config_.a_k_stride * steps);
    }
    if (!config_.streams_b) return;
    if (call_.fetched_shift) return FetchShare(k, steps, is_small);
    // Rows of words that follow each other are fetched as one.
    const int64_t row_words = int64_t{config_.vectors} * config_.lanes;
    const int64_t rows = widened_ ? widened_->Rows(steps) : steps;
    const int64_t at_once = config_.b_k_stride == row_words ? rows : 1;
    Value* from = call_.fetched ? call_.fetched : FetchedAhead(b_, call_.b);
    for (int64_t i = 0; i < rows; i += at_once) {
      FetchLines(b_, At(b_, word_, from, Mul(b_, Add(b_, WordOf(k), i), b_k_stride_)),
                 word_bytes_ * row_words * at_once, /*into_first=*/is_small);
    }
  }

  // Lines of a share of what is as long as B. Where that has none for a line of B, B's is fetched,
  // which is at hand: what comes from the second cache takes its time, fetched before or not.
  void FetchShare(Value* k, int64_t steps, bool into_first) const {
    const int64_t row_bytes = int64_t{config_.vectors} * config_.lanes * word_bytes_;
    Value* from = Mul(b_, k, row_bytes);
    for (int64_t at = 0; at < row_bytes * steps; at += kLineBytes) {
      Value* offset = b_.CreateLShr(Add(b_, from, at), call_.fetched_shift);
      Value* is_line = b_.CreateICmpEQ(b_.CreateAnd(offset, kLineBytes - 1), I64(b_, 0));
      Value* line = b_.CreateSelect(is_line, At(b_, b_.getInt8Ty(), call_.fetched, offset),
                                    At(b_, b_.getInt8Ty(), call_.b, from));
      FetchLines(b_, line, kLineBytes, into_first);
    }
  }

  // Vector v of B's row, `at` past `from`, as numbers; `row` has its elements and whole words.
  Value* Numbers(Value* from, unsigned at, int64_t align, Value* row, unsigned v) const {
    Value* numbers = nullptr;
    if (widened_) {
      const WidenedStep step{block_begin_ ? Sub(b_, from, block_begin_) : from, align, at};
      numbers = EmitNumbers(b_, *widened_, step, config_.lanes, zeros_[v], [&](Value* word_row) {
        return LoadWords(At(b_, word_, block_of_b_, Mul(b_, word_row, b_k_stride_)), v);
      });
    } else {
      numbers = LoadWords(row, v);
    }
    return has_blocks_ && !scales_sums_ ? b_.CreateFMul(numbers, scales_[v]) : numbers;
  }

  // The products of A's column at a_k, of elements `read`, and a row of B.
  void AddRows(Value* a_k, llvm::Type* read, const std::vector<Value*>& numbers, unsigned set,
               std::vector<Value*>& sums) const {
    for (unsigned row = 0; row < config_.rows; ++row) {
      Value* scalar = b_.CreateLoad(read, RowOfA(a_k, row));
      Value* broadcast = b_.CreateVectorSplat(config_.lanes, scalar);
      for (unsigned v = 0; v < config_.vectors; ++v) {
        Value*& sum = sums[set * accumulators_ + row * config_.vectors + v];
        sum = MultiplyAndAdd(broadcast, numbers[v], sum);
      }
    }
  }

  // A step of quads, perhaps split in A already.
  void SplitStep(Value* k, const std::vector<Value*>& quads, unsigned set,
                 std::vector<Value*>& sums) const {
    std::vector<Value*> halves[2];
    for (Value* quad : quads) {
      const QuadHalves of = SplitQuads(b_, quad, /*is_signed=*/config_.a_is_unsigned);
      halves[0].push_back(of.even);
      halves[1].push_back(of.odd);
    }
    if (config_.split == QuadSplit::kInTile) {
      Value* a_k = At(b_, element_, call_.a, Mul(b_, k, a_k_stride_));
      for (unsigned row = 0; row < config_.rows; ++row) {
        Value* word = b_.CreateLoad(element_, RowOfA(a_k, row));
        const QuadHalves data = SplitQuads(b_, b_.CreateVectorSplat(config_.lanes, word),
                                           /*is_signed=*/!config_.a_is_unsigned);
        for (unsigned v = 0; v < config_.vectors; ++v) {
          Value*& sum = sums[set * accumulators_ + row * config_.vectors + v];
          sum = AddPairProducts(b_, data.even, halves[0][v], sum);
          sum = AddPairProducts(b_, data.odd, halves[1][v], sum);
        }
      }
      return;
    }
    for (int64_t half = 0; half < 2; ++half) {
      Value* word = Add(b_, Mul(b_, k, int64_t{2}), half);
      AddRows(At(b_, element_, call_.a, Mul(b_, word, a_k_stride_)), element_, halves[half], set,
              sums);
    }
  }

  // One step, `at` past `from`, into set `set` of the accumulators. from is a multiple of `align`.
  void Step(Value* from, unsigned at, int64_t align, unsigned set,
            std::vector<Value*>& sums) const {
    Value* k = Add(b_, from, at);
    Value* row_of_b = At(b_, word_, call_.b, Mul(b_, k, b_k_stride_));
    std::vector<Value*> numbers;
    for (unsigned v = 0; v < config_.vectors; ++v)
      numbers.push_back(Numbers(from, at, align, row_of_b, v));
    if (config_.split == QuadSplit::kA || config_.split == QuadSplit::kInTile)
      return SplitStep(k, numbers, set, sums);
    Value* a_k = At(b_, element_, call_.a, Mul(b_, k, a_k_stride_));
    llvm::Type* read = config_.form == PanelForm::kPairs ? b_.getInt32Ty() : element_;
    AddRows(a_k, read, numbers, set, sums);
    if (config_.extra == 0) return;
    Value* rows = LoadVector(b_, column_, a_k, align_);
    for (unsigned e = 0; e < config_.extra; ++e) {
      Value* scalar =
          b_.CreateLoad(word_, At(b_, word_, row_of_b, config_.vectors * config_.lanes + e));
      Value*& sum = sums[FirstExtra() + e];
      sum = MultiplyAndAdd(rows, b_.CreateVectorSplat(config_.rows, scalar), sum);
    }
  }

  // How many steps a turn takes at least: one is code for one, and a loop's own few instructions
  // are nothing beside many products. Fetching takes a whole line, of a step or of two.
  unsigned LeastSteps() const {
    const int64_t row_bytes = int64_t{config_.vectors} * config_.lanes * word_bytes_;
    const bool has_whole_lines =
        !config_.streams_a && (!config_.streams_b || row_bytes >= kLineBytes);
    return accumulators_ >= kLeastFromSecond && has_whole_lines ? 1 : 2;
  }

  // Steps from..to-1; `from` is the block's begin, or 0.
  std::vector<Value*> Steps(Value* from, Value* to, const std::vector<Value*>& before) const {
    // With few sums, those of a block are scaled as a whole; with many, each number is.
    const unsigned least = has_blocks_ ? (scales_sums_ ? 8U : 4U) : 1U;
    const unsigned unroll =
        std::max({LeastSteps(), config_.sets, static_cast<unsigned>(word_steps_), least});
    const auto loop = [&](Value* first, Value* end, unsigned steps, const char* name,
                          const std::vector<Value*>& sums) {
      return ForCarried(b_, first, end, steps, name, sums,
                        [&](Value* k, const std::vector<Value*>& carried) {
                          std::vector<Value*> next = carried;
                          if (steps == unroll) Fetch(k, steps);
                          for (unsigned u = 0; u < steps; ++u)
                            Step(k, u, steps, u % config_.sets, next);
                          return next;
                        });
    };
    if (unroll == 1) return loop(from, to, 1, "k", before);
    Value* whole =
        Add(b_, from, b_.CreateAnd(Sub(b_, to, from), I64(b_, -static_cast<int64_t>(unroll))));
    return loop(whole, to, 1, "k.rest", loop(from, whole, unroll, "k", before));
  }

  Value* SumOfSets(const std::vector<Value*>& sums, unsigned i) const {
    Value* sum = sums[i];
    for (unsigned set = 1; set < config_.sets; ++set)
      sum = AddAny(b_, sum, sums[set * accumulators_ + i]);
    return sum;
  }

  // The steps of the block that begins at k.
  std::vector<Value*> Block(Value* k, const std::vector<Value*>& carried) {
    Value* at = Mul(b_, Div(b_, k, I64(b_, config_.block)), config_.block_stride);
    const auto load = [&](Value* from, unsigned v) {
      return LoadVector(b_, vector_, At(b_, vector_, At(b_, element_, from, at), v), align_);
    };
    scales_.clear();
    for (unsigned v = 0; v < config_.vectors; ++v) {
      scales_.push_back(load(call_.scales, v));
      if (config_.has_zero_points) zeros_[v] = load(call_.zero_points, v);
    }
    block_begin_ = k;
    block_of_b_ = At(b_, word_, call_.b, Mul(b_, WordOf(k), b_k_stride_));
    Value* end = Min(b_, call_.k, Add(b_, k, config_.block));
    if (!scales_sums_) return Steps(k, end, carried);
    const std::vector<Value*> sums = Steps(k, end, Zeros());
    std::vector<Value*> next;
    for (unsigned i = 0; i < accumulators_; ++i) {
      next.push_back(MultiplyAdd(b_, SumOfSets(sums, i), scales_[i % config_.vectors], carried[i],
                                 config_.rounds));
    }
    return next;
  }

  Builder& b_;
  const TileConfig& config_;
  const TileCall& call_;
  llvm::Type *element_, *vector_, *column_, *word_, *words_;
  const WeightForm* widened_;  // null: B's words are its elements
  Value *a_row_stride_, *a_k_stride_, *b_k_stride_;
  const uint64_t align_ = static_cast<uint64_t>(DTypeBytes(config_.dtype));
  const int64_t word_bytes_ = static_cast<int64_t>(word_->getPrimitiveSizeInBits() / 8);
  const int64_t word_steps_ = widened_ ? widened_->neighbours() : 1;
  const unsigned accumulators_ = config_.rows * config_.vectors;
  const bool has_blocks_ = config_.block > 0;
  const bool scales_sums_ = has_blocks_ && config_.sets > 1;
  // Of the block: its words, where it begins in k (null: there are no blocks), and its numbers.
  Value* block_of_b_;
  Value* block_begin_ = nullptr;
  std::vector<Value*> scales_, zeros_;
};

void DefineTile(Builder& b, llvm::Function* function, const TileConfig& config) {
  const TileCall call = CallOfParams(function, config);
  const std::vector<Value*> sums = TileSums(b, config, call).Emit();
  const unsigned accumulators = config.rows * config.vectors;
  const llvm::Align align(static_cast<uint64_t>(DTypeBytes(config.dtype)) * config.lanes);
  for (unsigned i = 0; i < accumulators; ++i) {
    b.CreateAlignedStore(sums[i], SumAt(b, config, call.c, i), align);
  }
  for (unsigned e = 0; e < config.extra; ++e) {
    for (unsigned row = 0; row < config.rows; ++row) {
      b.CreateStore(b.CreateExtractElement(sums[accumulators + e], row),
                    ExtraAt(b, config, call.c, e, row));
    }
  }
}

std::string TileName(const TileConfig& config) {
  auto stride = [](int64_t value) {
    return value == TileConfig::kDynamic ? "x" : fmt::format("{}", value);
  };
  constexpr const char* kForms[] = {"", "_", "_pairs", "_quads"};
  std::string form = kForms[static_cast<size_t>(config.form)];
  if (config.form == PanelForm::kWidened) form += config.widened->name;
  if (config.form == PanelForm::kQuads) form += config.a_is_unsigned ? "_us" : "_su";
  constexpr const char* kSplits[] = {"", "_a", "_ab", "_in", "_sorted", "_ordered"};
  form += kSplits[static_cast<size_t>(config.split)];
  if (config.block > 0) {
    form += fmt::format("_{}x{}{}", config.block, config.block_stride,
                        config.has_zero_points ? "z" : "");
  }
  return fmt::format("tile_{}{}_{}x{}x{}x{}_{}_a{}_{}{}_b{}{}_c{}",
                     config.rounds ? "float16" : DTypeName(config.dtype), form, config.rows,
                     config.vectors, config.lanes, config.sets, config.extra,
                     stride(config.a_row_stride), stride(config.a_k_stride),
                     config.streams_a ? "s" : "", stride(config.b_k_stride),
                     config.streams_b ? "s" : "", config.c_row_stride);
}

std::vector<llvm::Type*> TileParams(Builder& b, const TileConfig& config) {
  llvm::Type* ptr = b.getPtrTy();
  llvm::Type* i64 = b.getInt64Ty();
  std::vector<llvm::Type*> params = {ptr, ptr, ptr, i64, b.getInt1Ty(), i64, i64, i64};
  if (config.block > 0) params.insert(params.end(), 2, ptr);
  if (config.streams_b || config.split == QuadSplit::kOrdered) params.push_back(ptr);
  if (FetchesShares(config)) params.push_back(i64);
  return params;
}

std::vector<Value*> TileArgs(Builder& b, const TileConfig& config, const TileCall& call) {
  auto stride = [&](Value* value) { return value ? value : I64(b, 0); };
  std::vector<Value*> args = {call.a,
                              call.b,
                              call.c,
                              call.k,
                              call.accumulate,
                              stride(call.a_row_stride),
                              stride(call.a_k_stride),
                              stride(call.b_k_stride)};
  if (config.block > 0) {
    args.push_back(call.scales);
    args.push_back(call.zero_points ? call.zero_points : call.scales);
  }
  if (config.streams_b) args.push_back(call.fetched ? call.fetched : FetchedAhead(b, call.b));
  if (FetchesShares(config)) args.push_back(stride(call.fetched_shift));
  if (config.split == QuadSplit::kOrdered) args.push_back(call.order);
  return args;
}

}  // namespace

llvm::Type* WordTypeOf(Builder& builder, DType dtype, PanelForm form, const WeightForm* widened) {
  if (form == PanelForm::kElements) return AccumulatorType(builder.getContext(), dtype);
  if (form != PanelForm::kWidened || widened->in_words()) return builder.getInt32Ty();
  return builder.getIntNTy(static_cast<unsigned>(DTypeBits(widened->stored)));
}

Value* FetchedAhead(Builder& builder, Value* b) {
  return builder.CreateConstGEP1_64(builder.getInt8Ty(), b, uint64_t{kBytesAhead});
}

unsigned TileSets(const TileConfig& config, int64_t all_rows) {
  // A sum of a sorted panel waits for an addition alone.
  const bool is_sorted = config.split == QuadSplit::kSorted || config.split == QuadSplit::kOrdered;
  if (config.rounds || is_sorted) return 1;
  return SetsFor(std::min<int64_t>(all_rows, config.rows) * config.vectors);
}

void EmitTileCall(Builder& builder, const TileConfig& config, const TileCall& call) {
  llvm::Function* tile = GetOrDefineHelper(builder, TileName(config), TileParams(builder, config),
                                           [&](Builder& b, llvm::Function* function) {
                                             for (unsigned i = 0; i < 3; ++i)
                                               function->addParamAttr(i, llvm::Attribute::NoAlias);
                                             DefineTile(b, function, config);
                                           });
  builder.CreateCall(tile, TileArgs(builder, config, call));
}

std::vector<Value*> EmitTileSums(Builder& builder, const TileConfig& config, const TileCall& call) {
  return TileSums(builder, config, call).Emit();
}

namespace {

// Calls the tile of `rows` rows, or of `rows` - config.rows with the sets that `few` rows have.
void DispatchRows(Builder& builder, const std::string& name, const TileConfig& config,
                  const TileCall& call, Value* rows, unsigned sets, unsigned few) {
  std::vector<llvm::Type*> params = TileParams(builder, config);
  params.push_back(builder.getInt64Ty());
  llvm::Function* dispatch =
      GetOrDefineHelper(builder, name, params, [&](Builder& b, llvm::Function* function) {
        const TileCall inner = CallOfParams(function, config);
        llvm::LLVMContext& context = b.getContext();
        auto* done = llvm::BasicBlock::Create(context, "done", function);
        llvm::SwitchInst* cases = b.CreateSwitch(
            function->getArg(static_cast<unsigned>(params.size()) - 1), done, config.rows);
        auto add_case = [&](unsigned key, unsigned n, unsigned sets_of_case) {
          auto* block = llvm::BasicBlock::Create(context, "rows", function, done);
          cases->addCase(I64(b, key), block);
          b.SetInsertPoint(block);
          TileConfig one = config;
          one.rows = n;
          one.sets = sets_of_case;
          EmitTileCall(b, one, inner);
          b.CreateBr(done);
        };
        for (unsigned n = config.rows; n > 0; --n) add_case(n, n, sets);
        for (unsigned n = few; n > 0; --n) add_case(config.rows + n, n, TileSets(config, n));
        b.SetInsertPoint(done);
      });
  std::vector<Value*> args = TileArgs(builder, config, call);
  args.push_back(rows);
  builder.CreateCall(dispatch, args);
}

}  // namespace

void EmitTileDispatch(Builder& builder, const TileConfig& config, const TileCall& call, Value* rows,
                      Value* all_rows) {
  // Products of at most `few` rows have more sets than others.
  const unsigned full_sets = TileSets(config, config.rows);
  unsigned few = 0;
  while (all_rows && few + 1 < config.rows && TileSets(config, few + 1) != full_sets) ++few;
  if (all_rows) {
    Value* is_few = builder.CreateICmpSLE(all_rows, I64(builder, few));
    rows = builder.CreateSelect(is_few, Add(builder, rows, config.rows), rows);
  }
  DispatchRows(builder, (all_rows ? "any_" : "some_") + TileName(config), config, call, rows,
               full_sets, few);
}

void EmitTileDispatchOfSets(Builder& builder, const TileConfig& config, const TileCall& call,
                            Value* rows) {
  DispatchRows(builder, "same_" + TileName(config), config, call, rows, config.sets, 0);
}

}  // namespace relayvm::codegen
