// Dot kernels: rows of A times rows of W, vectors along k.
#include <fmt/format.h>
#include <llvm/IR/Function.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

DotShape DotShapeOfSets(unsigned rows, unsigned sets, unsigned vector_registers) {
  // Accumulators, one vector of each row of A, one of W, one spare.
  const unsigned budget = vector_registers - rows - 2;
  unsigned units = 16;
  while (units > 1 && units * rows * sets > budget) units /= 2;
  return {units, sets};
}

DotShape DotShapeOf(unsigned rows, DotForm form, unsigned vector_registers) {
  if (form == DotForm::kFewColumns) return {1, SetsFor(rows)};
  // Two sets hide most of what an FMA takes, and leave products that must sum in this order for
  // many rows room for two units.
  if (form == DotForm::kLong && rows == 1) return {1, 2};
  const unsigned most = form == DotForm::kLong ? 4 : 8;
  const unsigned units = std::min(most, DotShapeOfSets(rows, 1, vector_registers).units);
  return {units, SetsFor(int64_t{rows} * units)};
}

namespace {

// The sums over the lanes of each vector of `vectors` (a power of two of them, at most the lanes),
// as one vector of so many lanes. Each round adds neighbours of two vectors into one, which costs
// two shuffles for each of the vectors that are left.
Value* SumLanes(Builder& b, std::vector<Value*> vectors) {
  const unsigned count = static_cast<unsigned>(vectors.size());
  unsigned lanes = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType())->getNumElements();
  // Lane order: after a round, the result of (x, y) alternates in groups: x's sums, then y's, for
  // each group of `width` lanes. First halve single vectors until lanes == count, so that all
  // rounds pair vectors.
  while (lanes > count) {
    std::vector<int> low, high;
    for (unsigned i = 0; i < lanes / 2; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + lanes / 2));
    }
    for (Value*& v : vectors) {
      v = AddAny(b, b.CreateShuffleVector(v, low), b.CreateShuffleVector(v, high));
    }
    lanes /= 2;
  }
  // Now a transpose-and-add of a square: round r pairs vector i with i + half.
  while (vectors.size() > 1) {
    const unsigned half = static_cast<unsigned>(vectors.size()) / 2;
    // Each vector holds `lanes / vectors.size()` finished positions in groups of vectors.size()
    // partial sums.
    const unsigned group = static_cast<unsigned>(vectors.size());
    std::vector<int> even, odd;
    for (unsigned g = 0; g < lanes; g += group) {
      for (unsigned source = 0; source < 2; ++source) {
        for (unsigned i = 0; i < half; ++i) {
          even.push_back(static_cast<int>(source * lanes + g + i));
          odd.push_back(static_cast<int>(source * lanes + g + half + i));
        }
      }
    }
    std::vector<Value*> next;
    for (unsigned i = 0; i < half; ++i) {
      Value* x = vectors[i];
      Value* y = vectors[i + half];
      next.push_back(
          AddAny(b, b.CreateShuffleVector(x, y, even), b.CreateShuffleVector(x, y, odd)));
    }
    vectors = std::move(next);
  }
  // Position p of the result belongs to the vector whose index has p's bits: round by round the top
  // bit of the index chose the half of a group, so the order is the natural one.
  return vectors[0];
}

void DefineDot(Builder& b, llvm::Function* function, const DotConfig& config, int64_t c_stride) {
  llvm::Type* element = AccumulatorType(b.getContext(), config.dtype);
  llvm::Type* vector = VectorOf(element, config.lanes);
  const uint64_t align = DTypeBytes(config.dtype);
  Value* a = function->getArg(0);
  Value* w = function->getArg(1);
  Value* c = function->getArg(2);
  Value* k_extent = function->getArg(3);
  Value* a_stride = function->getArg(4);
  Value* w_stride = function->getArg(5);

  auto step = [&](Value* k, Value* mask, unsigned set, std::vector<Value*>& sums) {
    auto load = [&](Value* base, Value* stride, unsigned row) -> Value* {
      Value* pointer = At(b, element, At(b, element, base, k), Mul(b, stride, int64_t{row}));
      if (!mask) return b.CreateAlignedLoad(vector, pointer, llvm::Align(align));
      return b.CreateMaskedLoad(vector, pointer, llvm::Align(align), mask,
                                llvm::Constant::getNullValue(vector));
    };
    std::vector<Value*> rows;
    for (unsigned row = 0; row < config.rows; ++row) rows.push_back(load(a, a_stride, row));
    for (unsigned unit = 0; unit < config.units; ++unit) {
      Value* weights = load(w, w_stride, unit);
      for (unsigned row = 0; row < config.rows; ++row) {
        Value*& sum = sums[(set * config.rows + row) * config.units + unit];
        sum = MultiplyAdd(b, rows[row], weights, sum, /*rounds=*/false);
      }
    }
  };
  const unsigned count = config.rows * config.units;
  const unsigned sets = config.sets;
  const unsigned unroll = std::max(sets, count <= 8 ? 2U : 1U);
  const int64_t chunk = int64_t{config.lanes} * unroll;
  std::vector<Value*> sums(count * sets, llvm::Constant::getNullValue(vector));
  Value* whole = b.CreateAnd(k_extent, I64(b, -chunk));
  sums = ForCarried(b, I64(b, 0), whole, chunk, "k", sums,
                    [&](Value* k, const std::vector<Value*>& carried) {
                      std::vector<Value*> next = carried;
                      for (unsigned u = 0; u < unroll; ++u) {
                        step(Add(b, k, int64_t{u} * config.lanes), nullptr, u % sets, next);
                      }
                      return next;
                    });
  sums = ForCarried(b, whole, k_extent, config.lanes, "k.rest", sums,
                    [&](Value* k, const std::vector<Value*>& carried) {
                      std::vector<Value*> next = carried;
                      step(k, MaskBelow(b, Sub(b, k_extent, k), config.lanes), 0, next);
                      return next;
                    });
  const auto sum_of = [&](unsigned row, unsigned unit) {
    Value* sum = sums[row * config.units + unit];
    for (unsigned set = 1; set < sets; ++set) {
      sum = AddAny(b, sum, sums[(set * config.rows + row) * config.units + unit]);
    }
    return sum;
  };
  // As many of a row as there are lanes, or of as many rows as these have room for.
  const unsigned group = std::min(config.units, config.lanes);
  for (unsigned row = 0; row < config.rows;) {
    const unsigned rows = std::bit_floor(std::min(config.rows - row, config.lanes / group));
    for (unsigned first = 0; first < config.units; first += group) {
      std::vector<Value*> vectors;
      for (unsigned r = 0; r < rows; ++r) {
        for (unsigned unit = 0; unit < group; ++unit) {
          vectors.push_back(sum_of(row + r, first + unit));
        }
      }
      Value* all = SumLanes(b, std::move(vectors));
      for (unsigned r = 0; r < rows; ++r) {
        std::vector<int> lanes(group);
        std::iota(lanes.begin(), lanes.end(), static_cast<int>(r * group));
        Value* sum = rows == 1 ? all : b.CreateShuffleVector(all, lanes);
        b.CreateAlignedStore(sum, At(b, element, c, (row + r) * c_stride + first),
                             llvm::Align(align));
      }
    }
    row += rows;
  }
}

}  // namespace

void EmitDotCall(Builder& builder, const DotConfig& config, const DotCall& call) {
  llvm::Type* ptr = builder.getPtrTy();
  llvm::Type* i64 = builder.getInt64Ty();
  const std::string name =
      fmt::format("dot_{}_{}x{}x{}x{}_c{}", DTypeName(config.dtype), config.rows, config.units,
                  config.lanes, config.sets, call.c_stride);
  llvm::Function* dot = GetOrDefineHelper(builder, name, {ptr, ptr, ptr, i64, i64, i64},
                                          [&](Builder& b, llvm::Function* function) {
                                            for (unsigned i = 0; i < 3; ++i)
                                              function->addParamAttr(i, llvm::Attribute::NoAlias);
                                            DefineDot(b, function, config, call.c_stride);
                                          });
  builder.CreateCall(dot, {call.a, call.w, call.c, call.k, call.a_stride, call.w_stride});
}

}  // namespace relayvm::codegen
