// Fixed-point arithmetic of single numbers, while a model is imported: what tables are made by.
// quantised.h has the same of tensors. Tested by quantised_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

// (2 a b + 2^31) >> 32, the product of fractions of 31 bits; halves up.
int32_t HighProduct(int32_t a, int32_t b);
// x / 2^bits, halves away from zero.
int32_t ShiftedNumber(int32_t x, int bits);
// x * factor, rounded twice.
int32_t TimesNumber(int32_t x, Factor factor);
// 1 / sqrt(x) by Newton's method from 1, five steps; the largest number for 0 and 1.
Factor InverseSquareRoot(int32_t x);
// x * relu6(x + 3) / 6 of a code less its zero point, as a code.
int64_t HardSwishCode(int64_t code, const Quantisation& in, const Quantisation& out,
                      CodeLimits limits);

// The logistic function and tanh of all numbers of 16 bits, from the least on, of which
// `integer_bits` stand before the point, as fractions of 15 bits; gemmlowp's fixed-point functions.
std::vector<int64_t> LogisticOfWords(int integer_bits);
std::vector<int64_t> TanhOfWords(int integer_bits);

}  // namespace relayvm::import::tflite
