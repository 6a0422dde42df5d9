// Scalar constants: rank-0 tensors made from numbers, and their spelling as Relay literals.
// Tested by scalar_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/te/evaluate.h"

namespace relayvm::ir {

// A rank-0 tensor. Integers wrap to the width of an integer dtype; bool is value != 0.
HostTensor IntScalar(DType dtype, int64_t value);
HostTensor FloatScalar(DType dtype, double value);  // REQUIRES: IsFloat(dtype)

// An element as a number.
double NumberAt(const HostTensor& t, int64_t i = 0);

// The literal that reads back to exactly this value: "42", "42i64", "0.1f", "3f16", "True". nullopt
// for a tensor that TVM's text format has no literal for (rank 1 and more, int8, unsigned,
// bfloat16, NaN, infinity of other than float32).
std::optional<std::string> ScalarLiteral(const HostTensor& value);
// The shortest decimal that reads back to `value` as a double, without suffix.
std::string ShortestDouble(double value);

}  // namespace relayvm::ir
