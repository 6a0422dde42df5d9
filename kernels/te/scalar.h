// What each operator of a tensor expression means on one element, for the evaluator and for folding
// of constants.
//
// A Scalar holds any dtype: integers and bool as int64 (uint64 by its bits), kept in the range of
// their dtype by wrapping; floats as a double that is exactly representable in their dtype. Each
// operation computes in double and rounds once (the floor of a quotient: of the rounded quotient).
// Tested by evaluate_test.cc.
#pragma once

#include <cstdint>

#include "bytecode/base/arithmetic.h"
#include "bytecode/base/dtype.h"
#include "kernels/te/te.h"

namespace relayvm::te {

union Scalar {
  int64_t i;
  double f;
};

inline Scalar IntScalar(int64_t v) {
  Scalar s;
  s.i = v;
  return s;
}
inline Scalar FloatScalar(double v) {
  Scalar s;
  s.f = v;
  return s;
}

// float16 and bfloat16 by their bits; rounding is to nearest, ties to even.
float HalfToFloat(uint16_t bits);
uint16_t DoubleToHalf(double value);
float BFloat16ToFloat(uint16_t bits);
uint16_t DoubleToBFloat16(double value);

// The nearest value of float dtype `t`.
double RoundToDType(double value, DType t);

// True for the comparisons, whose result is bool.
bool IsComparison(BinaryOp op);
// The dtype of the result for operands of dtype `t`.
DType ResultDType(UnaryOp op, DType t);
DType ResultDType(BinaryOp op, DType t);

// `t` is the dtype of the operands.
Scalar ApplyUnary(UnaryOp op, DType t, Scalar x);
Scalar ApplyBinary(BinaryOp op, DType t, Scalar a, Scalar b);
// Floats to integers of 32 bits or less go through int32 (uint32: int64) and wrap; what is out of
// that range saturates.
Scalar ApplyCast(DType from, DType to, Scalar x);
Scalar ApplyReinterpret(DType from, DType to, Scalar x);
// The identity of a reduction other than kArgMax and kArgMin.
Scalar ReduceIdentity(ReduceKind kind, DType t);

// An element in memory.
Scalar ReadElement(DType t, const void* p);
void WriteElement(DType t, Scalar value, void* p);

}  // namespace relayvm::te
