#include "kernels/codegen/contraction/tile.h"

#include <fmt/format.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/codegen/contraction/integer.h"
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
// With fewer accumulators a step takes no longer than its loads, which fetching would only add to.
constexpr unsigned kLeastToFetch = 8;

// Fetches the cache lines of `bytes` bytes from kBytesAhead after `pointer` on.
void FetchAhead(Builder& b, Value* pointer, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kLineBytes) {
    Value* ahead =
        b.CreateConstGEP1_64(b.getInt8Ty(), pointer, static_cast<uint64_t>(kBytesAhead + at));
    FetchLine(b, ahead);
  }
}

// Parameters of tiles, in order: a, b, c, k, accumulate, three strides; with blocks, these.
constexpr unsigned kScalesArg = 8, kZeroPointsArg = 9;

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
std::vector<Value*> SumsOfTile(Builder& b, const TileConfig& config, const TileCall& call) {
  llvm::Type* element = AccumulatorType(b.getContext(), config.dtype);
  llvm::Type* vector = VectorOf(element, config.lanes);
  const uint64_t align = DTypeBytes(config.dtype);
  const uint64_t c_align = align * config.lanes;
  Value *a = call.a, *panel = call.b, *k_extent = call.k;
  auto stride = [&](int64_t value, Value* given) -> Value* {
    return value == TileConfig::kDynamic ? given : static_cast<Value*>(I64(b, value));
  };
  Value* a_row_stride = stride(config.a_row_stride, call.a_row_stride);
  Value* a_k_stride = stride(config.a_k_stride, call.a_k_stride);
  Value* b_k_stride = stride(config.b_k_stride, call.b_k_stride);

  const unsigned accumulators = config.rows * config.vectors;
  const unsigned sets = config.sets;
  const bool multiplies_pairs = config.form == PanelForm::kPairs;
  const bool multiplies_quads = config.form == PanelForm::kQuads;
  auto multiply_add = [&](Value* x, Value* y, Value* sum) {  // x of A, y of B
    if (multiplies_pairs) return b.machine().dots.pairs->add(b, x, y, sum);
    if (!multiplies_quads) return MultiplyAdd(b, x, y, sum, config.rounds);
    return config.a_is_unsigned ? AddQuadProducts(b, x, y, sum) : AddQuadProducts(b, y, x, sum);
  };
  const WeightForm* widened = config.form == PanelForm::kWidened ? config.widened : nullptr;
  const int64_t word_steps = widened ? widened->neighbours() : 1;
  const bool has_blocks = config.block > 0;
  // With few sums, those of a block are scaled as a whole; with many, each number is.
  const bool scales_sums = has_blocks && sets > 1;
  const unsigned unroll = std::max(
      {2U, sets, static_cast<unsigned>(word_steps), has_blocks ? (scales_sums ? 8U : 4U) : 1U});

  llvm::Type* column = VectorOf(element, config.rows);

  std::vector<Value*> initial(accumulators * sets, llvm::Constant::getNullValue(vector));
  initial.insert(initial.end(), config.extra, llvm::Constant::getNullValue(column));
  if (call.accumulate) {
    llvm::BasicBlock* before = b.GetInsertBlock();
    std::vector<Value*> loaded = initial;
    llvm::BasicBlock* from = nullptr;
    If(b, call.accumulate, [&] {
      for (unsigned i = 0; i < accumulators; ++i) {
        loaded[i] = LoadVector(b, vector, SumAt(b, config, call.c, i), c_align);
      }
      for (unsigned e = 0; e < config.extra; ++e) {
        Value*& values = loaded[accumulators * sets + e];
        for (unsigned row = 0; row < config.rows; ++row) {
          Value* value = b.CreateLoad(element, ExtraAt(b, config, call.c, e, row));
          values = b.CreateInsertElement(values, value, row);
        }
      }
      from = b.GetInsertBlock();
    });
    for (size_t i = 0; i < initial.size(); ++i) {
      if (loaded[i] == initial[i]) continue;
      llvm::PHINode* phi = b.CreatePHI(initial[i]->getType(), 2);
      phi->addIncoming(loaded[i], from);
      phi->addIncoming(initial[i], before);
      initial[i] = phi;
    }
  }

  const int64_t a_step_bytes = static_cast<int64_t>(align) * config.a_k_stride;
  llvm::Type* word = WordTypeOf(b, config.dtype, config.form, widened);
  llvm::Type* words = VectorOf(word, config.lanes);
  const auto word_bytes = static_cast<int64_t>(word->getPrimitiveSizeInBits() / 8);
  const int64_t b_step_bytes = word_bytes * config.lanes * config.vectors;
  // What steps of k before `k` take of a column, in words.
  auto word_of = [&](Value* k) -> Value* {
    if (word_steps == 1) return k;
    return b.CreateLShr(Mul(b, k, widened->bits()), 5);
  };
  // For `steps` of k from `k` on.
  auto fetch = [&](Value* k, int64_t steps) {
    if (accumulators < kLeastToFetch && !has_blocks) return;
    if (config.streams_a)
      FetchAhead(b, At(b, element, a, Mul(b, k, a_k_stride)), a_step_bytes * steps);
    if (!config.streams_b) return;
    // Rows of words that follow each other are fetched as one.
    const bool is_run = config.b_k_stride == int64_t{config.vectors} * config.lanes;
    const int64_t rows = widened ? widened->Rows(steps) : steps, at_once = is_run ? rows : 1;
    for (int64_t i = 0; i < rows; i += at_once) {
      FetchAhead(b, At(b, word, panel, Mul(b, Add(b, word_of(k), i), b_k_stride)),
                 b_step_bytes * at_once);
    }
  };

  Value* block_of_b = panel;                          // the words of the block
  Value* block_begin = nullptr;                       // in k; null: there are no blocks
  std::vector<Value*> scales, zeros(config.vectors);  // of the block

  // One step, `at` past k, into set `set` of the accumulators. k is a multiple of `align`.
  auto step = [&](Value* from, unsigned at, int64_t align, unsigned set,
                  std::vector<Value*>& sums) {
    std::vector<Value*> columns;
    Value* k = Add(b, from, at);
    Value* row_of_b = At(b, word, panel, Mul(b, k, b_k_stride));  // of elements and whole words
    auto load = [&](Value* row, unsigned v) {
      return LoadVector(b, words, At(b, words, row, v), static_cast<uint64_t>(word_bytes));
    };
    const WidenedStep widened_step{block_begin ? Sub(b, from, block_begin) : from, align, at};
    for (unsigned v = 0; v < config.vectors; ++v) {
      Value* numbers =
          widened ? EmitNumbers(b, *widened, widened_step, config.lanes, zeros[v],
                                [&](Value* row) {
                                  return load(At(b, word, block_of_b, Mul(b, row, b_k_stride)), v);
                                })
                  : load(row_of_b, v);
      if (has_blocks && !scales_sums) numbers = b.CreateFMul(numbers, scales[v]);
      columns.push_back(numbers);
    }
    Value* a_k = At(b, element, a, Mul(b, k, a_k_stride));
    for (unsigned row = 0; row < config.rows; ++row) {
      Value* scalar =
          b.CreateLoad(multiplies_pairs ? b.getInt32Ty() : element,
                       At(b, element, a_k, Mul(b, a_row_stride, static_cast<int64_t>(row))));
      Value* broadcast = b.CreateVectorSplat(config.lanes, scalar);
      for (unsigned v = 0; v < config.vectors; ++v) {
        Value*& sum = sums[set * accumulators + row * config.vectors + v];
        sum = multiply_add(broadcast, columns[v], sum);
      }
    }
    if (config.extra == 0) return;
    Value* rows = LoadVector(b, column, a_k, align);
    for (unsigned e = 0; e < config.extra; ++e) {
      Value* scalar = b.CreateLoad(word, At(b, word, row_of_b, config.vectors * config.lanes + e));
      Value*& sum = sums[accumulators * sets + e];
      sum = multiply_add(rows, b.CreateVectorSplat(config.rows, scalar), sum);
    }
  };
  // Steps from..to-1; `from` is the block's begin, or 0.
  auto steps = [&](Value* from, Value* to, const std::vector<Value*>& before) {
    Value* whole =
        Add(b, from, b.CreateAnd(Sub(b, to, from), I64(b, -static_cast<int64_t>(unroll))));
    std::vector<Value*> sums = ForCarried(b, from, whole, unroll, "k", before,
                                          [&](Value* k, const std::vector<Value*>& carried) {
                                            std::vector<Value*> next = carried;
                                            fetch(k, unroll);
                                            for (unsigned u = 0; u < unroll; ++u)
                                              step(k, u, unroll, u % sets, next);
                                            return next;
                                          });
    return ForCarried(b, whole, to, 1, "k.rest", sums,
                      [&](Value* k, const std::vector<Value*>& carried) {
                        std::vector<Value*> next = carried;
                        step(k, 0, 1, 0, next);
                        return next;
                      });
  };
  auto sum_of_sets = [&](const std::vector<Value*>& sums, unsigned i) {
    Value* sum = sums[i];
    for (unsigned set = 1; set < sets; ++set) sum = AddAny(b, sum, sums[set * accumulators + i]);
    return sum;
  };
  auto block_of = [&](Value* k, const std::vector<Value*>& carried) {
    Value* at = Mul(b, Div(b, k, I64(b, config.block)), config.block_stride);
    auto load = [&](Value* from, unsigned v) {
      return LoadVector(b, vector, At(b, vector, At(b, element, from, at), v), align);
    };
    scales.clear();
    for (unsigned v = 0; v < config.vectors; ++v) {
      scales.push_back(load(call.scales, v));
      if (config.has_zero_points) zeros[v] = load(call.zero_points, v);
    }
    block_begin = k;
    block_of_b = At(b, word, panel, Mul(b, word_of(k), b_k_stride));
    Value* end = Min(b, k_extent, Add(b, k, config.block));
    if (!scales_sums) return steps(k, end, carried);
    const std::vector<Value*> sums = steps(
        k, end, std::vector<Value*>(accumulators * sets, llvm::Constant::getNullValue(vector)));
    std::vector<Value*> next;
    for (unsigned i = 0; i < accumulators; ++i) {
      next.push_back(MultiplyAdd(b, sum_of_sets(sums, i), scales[i % config.vectors], carried[i],
                                 config.rounds));
    }
    return next;
  };
  std::vector<Value*> sums = initial;
  if (has_blocks) {
    if (scales_sums) sums.resize(accumulators);
    sums = ForCarried(b, I64(b, 0), k_extent, config.block, "k.block", sums, block_of);
  } else {
    sums = steps(I64(b, 0), k_extent, sums);
  }
  std::vector<Value*> result;
  for (unsigned i = 0; i < accumulators; ++i) {
    result.push_back(scales_sums ? sums[i] : sum_of_sets(sums, i));
  }
  for (unsigned e = 0; e < config.extra; ++e) result.push_back(sums[accumulators * sets + e]);
  return result;
}

void DefineTile(Builder& b, llvm::Function* function, const TileConfig& config) {
  auto arg = [&](unsigned i) { return function->getArg(i); };
  TileCall call{arg(0), arg(1), arg(2), arg(3), arg(4), arg(5), arg(6), arg(7)};
  if (config.block > 0) {
    call.scales = arg(kScalesArg);
    call.zero_points = arg(kZeroPointsArg);
  }
  const std::vector<Value*> sums = SumsOfTile(b, config, call);
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
  return args;
}

}  // namespace

llvm::Type* WordTypeOf(Builder& builder, DType dtype, PanelForm form, const WeightForm* widened) {
  if (form == PanelForm::kElements) return AccumulatorType(builder.getContext(), dtype);
  if (form != PanelForm::kWidened || widened->in_words()) return builder.getInt32Ty();
  return builder.getIntNTy(static_cast<unsigned>(DTypeBits(widened->stored)));
}

unsigned TileSets(const TileConfig& config, int64_t all_rows) {
  if (config.rounds) return 1;
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
  return SumsOfTile(builder, config, call);
}

namespace {

// Calls the tile of `rows` rows, or of `rows` - config.rows with the sets that `few` rows have.
void DispatchRows(Builder& builder, const std::string& name, const TileConfig& config,
                  const TileCall& call, Value* rows, unsigned sets, unsigned few) {
  std::vector<llvm::Type*> params = TileParams(builder, config);
  params.push_back(builder.getInt64Ty());
  llvm::Function* dispatch =
      GetOrDefineHelper(builder, name, params, [&](Builder& b, llvm::Function* function) {
        auto arg = [&](unsigned i) { return function->getArg(i); };
        TileCall inner{arg(0), arg(1), arg(2), arg(3), arg(4), arg(5), arg(6), arg(7)};
        if (config.block > 0) {
          inner.scales = arg(kScalesArg);
          inner.zero_points = arg(kZeroPointsArg);
        }
        llvm::LLVMContext& context = b.getContext();
        auto* done = llvm::BasicBlock::Create(context, "done", function);
        llvm::SwitchInst* cases =
            b.CreateSwitch(arg(static_cast<unsigned>(params.size()) - 1), done, config.rows);
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
