// Floats of 8 and 4 bits (FLOAT8E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT4E2M1), for which the IR has
// no dtype: a value holds their codes in uint8, one a byte, and its `bits` say whose they are. ONNX
// has few operators for them: conversions, and what moves elements. Tested by small_floats_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/import/onnx/arithmetic.h"

namespace relayvm::import {

// The format of ElementKind::bits; null for dtypes and integers.
struct SmallFloat;
const SmallFloat* SmallFloatOf(int bits);

// The numbers of codes, float32.
Term Decoded(const Term& codes, const SmallFloat& format);
// The codes of numbers: the nearest, halves to even. What is too large becomes the largest number,
// or, not `saturate`, infinity or NaN as the format has it.
Value Encoded(const Term& x, const SmallFloat& format, bool saturate);

// Whether an operator of ai.onnx may take codes as they are.
bool TakesSmallFloats(std::string_view op);
// Whether none of a body's results are such codes, where nothing would say later that they are;
// else an error.
bool HaveNoSmallFloats(NodeContext& n, const std::vector<Value>& results);

}  // namespace relayvm::import
