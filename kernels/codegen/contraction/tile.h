// The inner kernels of contractions, as helper functions of the module that are shared by every
// kernel of equal form.
//
// Tile kernel:  C[rows][vectors * lanes]  (+)=  A[rows][k] * B[k][vectors * lanes]
//   A is read by broadcast loads at a + row * a_row_stride + k * a_k_stride, B by vector loads at
//   b + k * b_k_stride; C is scratch, aligned to a vector. All accumulators stay in registers.
// Dot kernel:   C[row * c_stride + unit]  =  sum over k of A[row][k] * W[unit][k]
//   k contiguous in both: the form for few rows and weights that are not packed. Vectors run along
//   k, horizontal sums come at the end.
// With `sets` of accumulators, which hide the latency of FMA where rows and columns are few, every
// set sums each sets-th step of k, and their sums are added at the end. So the order of a sum
// depends on their number: all elements of a product are to have the same.
//
// A panel of B may hold its numbers in another form than C's dtype (PanelForm): tiles widen them in
// registers, or multiply them as they are.
// Tested through kernels/codegen/contraction/contraction_test.cc and
// kernels/codegen/contraction/weights_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "bytecode/base/dtype.h"
#include "kernels/codegen/contraction/ir.h"
#include "kernels/op/weight_forms.h"

namespace relayvm::codegen {

// float32, float64, int32 or int64: what tiles compute in. Null for other types.
llvm::Type* AccumulatorType(llvm::LLVMContext& context, DType dtype);
// x * y + z in an accumulator type, scalars or vectors. With `rounds`, float32 that is rounded to
// float16 after the product and after the sum.
llvm::Value* MultiplyAdd(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* z, bool rounds);

// Sums of floats or integers.
llvm::Value* AddAny(Builder& b, llvm::Value* x, llvm::Value* y);
// The sets of accumulators that a kernel with so many in each has.
unsigned SetsFor(int64_t accumulators);

// What a panel of B is made of.
enum class PanelForm : uint8_t {
  kElements,  // elements of the accumulators' dtype
  kWidened,   // words or elements of a WeightForm (kernels/op/weight_forms.h), which become float32
  kPairs,  // words of 2 bfloat16, multiplied as pairs with A's, which are such words too: a step of
           // k is one word of each
  kQuads,  // words of 4 integers, multiplied as they are with A's (integer.h): K counts words
};

// Where a quad is not one word but two of pairs (integer.h).
enum class QuadSplit : uint8_t {
  kNone,
  kA,     // A holds two words for a step of k, B one that is split in registers
  kBoth,  // K counts words of pairs
  // Neither is split: A holds words, and so does B,
  kInTile,   // whose both are split in registers
  kSorted,   // of a sorted panel (sorted_quads.h)
  kOrdered,  // of a panel with an order of its steps (sorted_quads.h)
};

struct TileConfig {
  DType dtype;
  bool rounds;  // as in MultiplyAdd; sums are then made in the order of k
  unsigned rows, vectors, lanes, sets;
  // In elements. kDynamic (not of C): given with the call.
  int64_t a_row_stride, a_k_stride, b_k_stride, c_row_stride;
  // Columns after those of the vectors, each as one vector of all rows: a few columns more cost
  // little so. REQUIRES: 0, or one set, and the rows of A are next to each other (a_row_stride 1).
  unsigned extra = 0;
  static constexpr int64_t kDynamic = -1;
  // Weights that are read in the order of memory, which may be far: fetched ahead, past the
  // operand's end into what the next call reads.
  bool streams_a = false, streams_b = false;
  // Others than kElements: of dtype float32, kQuads of int32. b_k_stride is then from word to word.
  PanelForm form = PanelForm::kElements;
  const WeightForm* widened = nullptr;  // kWidened
  // Where that is in blocks: how much of k a block is, a multiple of 16; the distance of a column's
  // scales (and zero points); whether there are zero points.
  int64_t block = 0, block_stride = 0;
  bool has_zero_points = false;
  bool a_is_unsigned = false;  // kQuads: which side's numbers are
  QuadSplit split = QuadSplit::kNone;
};

// a, b, c: pointers; k, strides: i64; accumulate: i1 (adds to what C holds).
// The strides are used where the config says kDynamic and may be null elsewhere.
struct TileCall {
  llvm::Value *a, *b, *c, *k, *accumulate;
  llvm::Value *a_row_stride = nullptr, *a_k_stride = nullptr, *b_k_stride = nullptr;
  // float32, of the block that k begins with.
  llvm::Value *scales = nullptr, *zero_points = nullptr;
  llvm::Value* tail = nullptr;  // of AMX's tiles: see amx.h
  // With streams_b: what is fetched as b is read, as long as b; null: what follows b a little
  // later. Of panels of elements, fetched_shift (i64; null: 0) says how much: b's bytes, shifted
  // right by that.
  llvm::Value *fetched = nullptr, *fetched_shift = nullptr;
  llvm::Value* order = nullptr;  // with QuadSplit::kOrdered: of the panel
};
// What a panel of B is an array of. REQUIRES: a kernel is being emitted.
llvm::Type* WordTypeOf(Builder& builder, DType dtype, PanelForm form, const WeightForm* widened);
void EmitTileCall(Builder& builder, const TileConfig& config, const TileCall& call);
// The sums instead, of each row the vectors, computed here and kept in registers. REQUIRES: no
// extra columns; call.c and call.accumulate are null.
std::vector<llvm::Value*> EmitTileSums(Builder& builder, const TileConfig& config,
                                       const TileCall& call);
// The same with `rows` (i64, 1 to config.rows) known when it runs: one specialised kernel for each
// number of rows. `all_rows` (i64), those of the whole product, say how many sets there are; null:
// as many as for config.rows.
void EmitTileDispatch(Builder& builder, const TileConfig& config, const TileCall& call,
                      llvm::Value* rows, llvm::Value* all_rows);
// The same with config.sets sets for any number of rows.
void EmitTileDispatchOfSets(Builder& builder, const TileConfig& config, const TileCall& call,
                            llvm::Value* rows);
// The sets of accumulators of every tile in a product of that many rows.
unsigned TileSets(const TileConfig& config, int64_t all_rows);

// TileCall::fetched of a tile alone, which reads `b` once.
llvm::Value* FetchedAhead(Builder& builder, llvm::Value* b);

struct DotConfig {
  DType dtype;
  unsigned rows, units, lanes, sets;
};
// How dot kernels of so many rows of A go over the rows of W: `units` of them at once, fewer at the
// end, with `sets` sets of accumulators each.
struct DotShape {
  unsigned units, sets;
};
// Fewer columns than these are taken one by one.
inline constexpr int64_t kFewDotColumns = 4;
// From this depth on, rows of W that are read at once are streams too many: they get in each
// other's way in the first cache (their distance is often a power of two), and few of them are
// fetched ahead.
inline constexpr int64_t kLongDotDepth = 384;
enum class DotForm : uint8_t { kFewColumns, kLong, kShort };
DotShape DotShapeOf(unsigned rows, DotForm form, unsigned vector_registers);
// The one with that many sets, whatever is fastest.
DotShape DotShapeOfSets(unsigned rows, unsigned sets, unsigned vector_registers);
// a_stride, w_stride: elements between rows of A and W. c_stride: between rows of C.
struct DotCall {
  llvm::Value *a, *w, *c, *k, *a_stride, *w_stride;
  int64_t c_stride;
};
void EmitDotCall(Builder& builder, const DotConfig& config, const DotCall& call);

}  // namespace relayvm::codegen
