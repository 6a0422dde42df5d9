// Contractions (dense, batch_matmul, convolution) as register-tiled, vectorised kernels built
// directly as LLVM IR.
//
// A fused group qualifies when exactly one of its computations carries the hint kDense,
// kBatchMatmul or kConv, and every output has that tensor's shape and reads it at its own index
// only (bias, activation, residual, several outputs). What feeds the contraction may be computed (a
// cast, an activation): it is emitted into packing.
//
// Roles, by hint (te.h): inputs[0] is data, inputs[1] weight, as the contraction's body loads them.
//   kDense        data (..., K), or (..., K, M) with transpose_a;
//                 weight (N, K) with transpose_b, (K, N) without, or packed: (ceil(N / P), K, P),
//                 column n at [n / P][k][n % P], P a multiple of 4, the padding arbitrary, of
//                 float16 too where sums are float32;
//                 or packed in pairs of bfloat16: (ceil(N / P), ceil(K / 2), P, 2), the padding of
//                 the last pair 0. Data that is cast from bfloat16 is then multiplied in pairs too,
//                 where the target can: denormals of either count as 0 there.
//                 or, int8, in words of four: (ceil(N / P), ceil(K / 4), P, 4), the padding along
//                 K 0.
//   kBatchMatmul  (B, M, K) and (B, K, N), either transposed, either batch perhaps 1
//   kConv         numbers in ConvForm; output layout = data layout; 1 to 3 spatial axes; a kernel
//                 of layout OI...Po, channels first, is read as it is where P suits the target.
//                 Kernels of int8 are read in layouts that end with 4i: OI...4i and OI...Po4i,
//                 channels first, ...IO4i, channels last.
// Products of uint8 data and int8 weights, summed in int32, are those of words of four (integer.h).
// The body is a sum over products of (casts of, zero-guarded) loads of both.
//
// A sum of dtype float16 rounds each product and each partial sum to float16, in the order of the
// reduction's axes: bit for bit what te::Evaluate gives. (With out_dtype float32 the sum is one of
// float32, and so is one of bfloat16: see te::Reduce.) Other sums are made in any order, fused
// where the machine can, but in the same order for all elements of a result: equal rows and columns
// give equal bits, on any number of threads, and so do equal images of convolutions, however many
// (but where one window covers the image, which is a dense layer with a row for each image).
//
// Thread-safe but for the emitter. Tested by contraction_test.cc, conv_test.cc and order_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "kernels/codegen/emitter.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/op/problem.h"

namespace relayvm::codegen {

// What tiles and vectors are chosen by.
struct ContractionTarget : Machine {
  bool exact = true;      // as KernelOptions::exact
  bool quick = false;     // as KernelOptions::quick
  TileSchedule schedule;  // that somebody chose for the kernel
};

// The panel width P that constant dense weights are best packed with (see kDense above).
int64_t PreferredPanelWidth(const Machine& machine, DType dtype = DType::kFloat32);
// The same of float32 weights with so many columns: of a tile of as many sums in more vectors,
// where that leaves fewer columns empty.
int64_t PreferredPanelWidthOf(const Machine& machine, int64_t columns);

// Whether weights in blocks of so many along K are read by tiles: int8 (ceil(N / P), blocks, block,
// P) or uint32 (ceil(N / P), blocks, block / 8, P) that hold eight integers of 4 bits, lowest
// first; then inputs[2] is scales (ceil(N / P), blocks, P), inputs[3] perhaps zero points, all of
// kDense.
bool TakesWeightBlock(int64_t block);

// The P that constant kernels of convolutions, channels first, are best packed with (see kConv
// above). 0: as they are.
int64_t PreferredKernelRows(const Machine& machine);

// Whether products of bytes with constant weights take their steps in an order of their own
// (op/step_order.h).
bool OrdersSteps(const Machine& machine);

// The layout that a convolution's constant kernel is packed in; empty where it stays. Float32 in
// blocks of P or panels of `width` outputs, (o / P, i, taps..., P) or (o / width, taps..., i,
// width), bytes in words; not where one window covers an image, which is a product that reads rows.
std::string PreferredKernelLayout(const ConvProblem& p, const Machine& machine);

struct ContractionDetail;  // contraction/plan.h
struct AttentionDetail;    // contraction/attention.h
struct WinogradDetail;     // contraction/winograd_plan.h

struct ContractionPlan {
  Dim parallel_extent = 1;
  Dim grain = 1;
  Dim scratch_bytes = 0;
  // As KernelInterface::in_place.
  std::vector<std::pair<int, int>> in_place;
  // What the code needs of the machine beyond its level, separated by commas: "avx512bf16",
  // "avx512vnni", "amx-tile"; "" for nothing.
  std::string features;
  // One of them.
  std::shared_ptr<const ContractionDetail> detail;
  std::shared_ptr<const AttentionDetail> attention;
  std::shared_ptr<const WinogradDetail> winograd;
  // With `detail`: the same product by AMX's tiles, for more than kMostRowsWithoutAmx rows (amx.h);
  // null where it never is. The units are the same.
  std::shared_ptr<const ContractionDetail> amx;

  // Why the kernel does not have the tile of ContractionTarget::schedule; empty where it has.
  std::string refused;
};

// nullopt: not a contraction of these forms; the generic loops serve it. All Dims are over the
// spec's symbols.
std::optional<ContractionPlan> PlanContraction(const KernelSpec& spec,
                                               const ContractionTarget& target);

// The order of the sums of a matrix product with a constant number of rows, where products of any
// number of rows can have it too.
std::optional<SumOrder> OrderOf(const ContractionPlan& plan);
// Whether the plan's kernel, for any number of rows, sums in tiles: with one set of accumulators,
// if so told, in an order that no number of rows changes.
bool SumsInTiles(const ContractionPlan& plan);

// Emits the code of units begin..end-1 (i64) at the builder's insertion point, and leaves it after
// that code in the same function. REQUIRES: the emitter uses `builder`, and has the spec's symbols
// bound (BindSymbol), its inputs by buffer or by value (BindBuffer, BindValue) and its outputs by
// buffer. `scratch` points to scratch_bytes of memory, 64-byte aligned. The function's attributes
// (target-cpu, target-features ...) are set already: helper functions that the module gets copy
// them.
Status EmitContraction(const ContractionPlan& plan, Emitter& emitter, Builder& builder,
                       llvm::Value* begin, llvm::Value* end, llvm::Value* scratch);

}  // namespace relayvm::codegen
