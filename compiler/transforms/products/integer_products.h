// Products of 8-bit integers less their zero points become products of bytes as they are, uint8
// data times int8 weights in int32 (kernels/codegen/contraction/integer.h), and what is then too
// much is taken off:
//
//   sum (x - zx)(w - zw) = sum x w - zx sum (w - zw) - zw sum x        modulo 2^32
//
// qnn.dense, qnn.batch_matmul, qnn.conv1d, 2d and 3d. Data of int8 is counted from -128, weights of
// uint8 from 128. Padding becomes the zero point. Convolutions whose weights are not constant or
// that are depthwise or nearly so stay as they are, and so do those of other dtypes and layouts.
//
// Before: typed, constants folded. After: new variables have no types; Retype follows. Tested by
// compiler/end_to_end/integer_products_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module IntegerProducts(const Module& m);

}  // namespace relayvm::ir
