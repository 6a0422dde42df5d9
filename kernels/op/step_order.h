// In which order products of bytes with constant weights take the steps of k, where one instruction
// multiplies uint8 by int8 and adds two neighbours as int16, saturated (AVX2's VPMADDUBSW). A step
// is a word of four neighbours along k, the weights those of a panel of kOrderedColumns columns:
//
//   pairs   two steps whose products may be added as int16: in each column, both their neighbours'
//           positive weights sum up to 128 at most, and so do the negative ones. Times 255 that is
//           within int16.
//   plain   steps of which that is true alone.
//   wide    others: the weights' magnitudes, unsigned, times data with a sign, which is x - 128 or,
//           where the weight is negative, 127 - x. Two products are -2 * 128 * 128 at least, which
//           is the lowest int16. A product is x * w less 128 w, or 127 w where w is negative: sums
//           begin with as much.
//
// A panel's row of int32:
//
//   [how many pairs][how many plain steps][0 up to kOrderBegins][what each column's sum begins with]
//   [the steps from kOrderHead on: both of each pair, the plain ones, the wide ones]
//
// Steps of a pair are near each other, so that data and weights stay in the first cache.
// Thread-safe. Tested by step_order_test.cc.
#pragma once

#include <cstdint>

#include "bytecode/base/host_tensor.h"
#include "kernels/op/op.h"

namespace relayvm {

inline constexpr int64_t kOrderedColumns = 8;
inline constexpr int64_t kOrderBegins = 8, kOrderHead = kOrderBegins + kOrderedColumns;

// The operators that take it: nn.dense and nn.conv2d of such weights.
inline constexpr const char* kOrderedDense = "nn.contrib_dense_ordered";
inline constexpr const char* kOrderedConv2d = "nn.contrib_conv2d_ordered";

// (panels, kOrderHead + steps) int32, of weights (panels, steps..., kOrderedColumns, 4) int8, made
// when they are read.
HostTensor StepOrder(const HostTensor& panels);
// Argument 2 of an operator that takes the order beside the data and such weights: kernels may go
// by it. REQUIRES: it is StepOrder of the weights, on which no result depends then. Of any other
// one results are wrong where kernels do, and nothing else is: they read no other memory.
Status CheckStepOrder(TypeContext& tc);

}  // namespace relayvm
