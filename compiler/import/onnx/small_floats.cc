#include "compiler/import/onnx/small_floats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace relayvm::import {

struct SmallFloat {
  int onnx;  // TensorProto::DataType
  int exponent_bits, mantissa_bits, bias;
  int largest;  // the code of the largest number
  // Codes of what is no number; -1: there is none. FLOAT4E2M1 has the code of -0 for NaN.
  int infinity, nan;
  bool negative_zero;

  int sign() const { return 1 << (exponent_bits + mantissa_bits); }
  // The exponent of the least normal number.
  int least() const { return 1 - bias; }
};

namespace {

constexpr SmallFloat kFormats[] = {
    {17, 4, 3, 7, 0x7e, -1, 0x7f, true},     // E4M3FN
    {18, 4, 3, 8, 0x7f, -1, 0x80, false},    // E4M3FNUZ
    {19, 5, 2, 15, 0x7b, 0x7c, 0x7e, true},  // E5M2
    {20, 5, 2, 16, 0x7f, -1, 0x80, false},   // E5M2FNUZ
    {23, 2, 1, 1, 0x7, -1, 0x8, true},       // FLOAT4E2M1
};

double NumberOf(const SmallFloat& f, int code) {
  if (!f.negative_zero && code == f.nan) return std::numeric_limits<double>::quiet_NaN();
  const int magnitude = code & (f.sign() - 1);
  const double sign = (code & f.sign()) != 0 ? -1 : 1;
  if (magnitude == f.infinity) return sign * std::numeric_limits<double>::infinity();
  if (magnitude > f.largest) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = magnitude >> f.mantissa_bits;
  const int mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
  const int hidden = exponent > 0 ? 1 << f.mantissa_bits : 0;
  return sign * std::ldexp(hidden + mantissa, std::max(exponent, 1) - f.bias - f.mantissa_bits);
}

}  // namespace

const SmallFloat* SmallFloatOf(int bits) {
  const auto* found = std::ranges::find(kFormats, -bits, &SmallFloat::onnx);
  return found == std::end(kFormats) ? nullptr : found;
}

Term Decoded(const Term& codes, const SmallFloat& format) {
  HostTensor table{DType::kFloat32, {256}, SharedBytes::Zeros(256 * sizeof(float))};
  auto* numbers = reinterpret_cast<float*>(table.data.Mutable().data());
  for (int code = 0; code < 256; ++code) {
    numbers[code] = static_cast<float>(NumberOf(format, code & (2 * format.sign() - 1)));
  }
  TypedBuilder& b = codes.b();
  return Term(b, b.Constant(std::move(table))).Take(codes.As(DType::kInt32), 0);
}

Value Encoded(const Term& x, const SmallFloat& format, bool saturate) {
  TypedBuilder& b = x.b();
  constexpr int kBias = 127, kMantissaBits = 23;  // of float32
  const Term number = x.As(DType::kFloat32), size = Abs(number);
  const auto bits_of = [](const Term& v) { return v.Call("reinterpret", {{"dtype", "int32"}}); };
  const auto shifted = [&](const Term& v, const char* op, int by) {
    return v.Call(op, b.Int(by, DType::kInt32));
  };
  // Rounded to a whole number of steps, which are as wide as the number's exponent says.
  const Term exponent = shifted(bits_of(size), "right_shift", kMantissaBits);
  const Term step_exponent =
      Maximum(exponent, exponent.Number(kBias + format.least())) - format.mantissa_bits;
  const Term step = shifted(step_exponent, "left_shift", kMantissaBits)
                        .Call("reinterpret", {{"dtype", "float32"}});
  const Term rounded = (size / step).Call("round_even") * step;
  // A normal number's code is its bits, from another bias on; one below them is a number of steps.
  const Term normal =
      shifted(bits_of(rounded), "right_shift", kMantissaBits - format.mantissa_bits) -
      static_cast<double>((kBias + format.least() - 1) << format.mantissa_bits);
  const double least = std::ldexp(1.0, format.least());
  const Term below = (Minimum(rounded, rounded.Number(least)) *
                      std::ldexp(1.0, format.mantissa_bits - format.least()))
                         .As(DType::kInt32);
  Term code = Select(rounded < least, below, normal);
  const bool clips = saturate || format.onnx == 23;  // which has nothing else
  const int beyond = clips ? format.largest : format.infinity >= 0 ? format.infinity : format.nan;
  const double largest = NumberOf(format, format.largest);
  code = Select(rounded > largest, code.Number(beyond), code);
  // The sign is that of zeros too.
  const Term negative = bits_of(number) < 0;
  const bool has_zero = format.negative_zero;
  const Term signed_code = Select(has_zero ? negative : And(negative, code > 0),
                                  code.Call("bitwise_or", code.Number(format.sign())), code);
  Value y = Select(number.Call("isnan"), code.Number(format.nan), signed_code).As(DType::kUInt8);
  y.bits = -format.onnx;
  return y;
}

bool TakesSmallFloats(std::string_view op) {
  constexpr std::string_view kNames[] = {"Cast",
                                         "CastLike",
                                         "Concat",
                                         "Constant",
                                         "ConstantOfShape",
                                         "DequantizeLinear",
                                         "Expand",
                                         "Flatten",
                                         "Gather",
                                         "Identity",
                                         "Loop",
                                         "Pad",
                                         "QuantizeLinear",
                                         "Reshape",
                                         "Shape",
                                         "Size",
                                         "Slice",
                                         "Split",
                                         "Squeeze",
                                         "Tile",
                                         "Transpose",
                                         "Unsqueeze"};
  return std::ranges::find(kNames, op) != std::end(kNames);
}

bool HaveNoSmallFloats(NodeContext& n, const std::vector<Value>& results) {
  if (std::ranges::none_of(results, [](const Value& v) { return v.bits < 0; })) return true;
  n.Unsupported("floats of 8 or 4 bits as results of its body");
  return false;
}

}  // namespace relayvm::import
