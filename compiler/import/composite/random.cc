#include "compiler/import/composite/random.h"

#include <numbers>

namespace relayvm::import {

namespace {

// Mixes the bits of whole numbers (Chris Wellons' lowbias32).
Term Mixed(const Term& x) {
  const auto shifted = [](const Term& v, double by) {
    return v.Call("bitwise_xor", v.Call("right_shift", v.Number(by)));
  };
  const Term first = shifted(x, 16) * static_cast<double>(0x7feb352dU);
  return shifted(shifted(first, 15) * static_cast<double>(0x846ca68bU), 16);
}

}  // namespace

Term UniformOf(TypedBuilder& b, const Value& shape, uint32_t seed) {
  const Term count(b, b.Op("prod", {shape}, {{"axis", AttrList{0}}}));
  const Term place = Range(count, DType::kUInt32);
  const Term start = Mixed({b, b.Scalar(static_cast<double>(seed), DType::kUInt32)});
  const Term bits = Mixed(place * static_cast<double>(0x9e3779b9U) + start);
  // A float holds 24 bits.
  const Term drawn =
      bits.Call("right_shift", bits.Number(8)).As(DType::kFloat32) * (1.0 / (1 << 24));
  return {b, ShapedAs(b, drawn, {shape})};
}

Term NormalOf(TypedBuilder& b, const Value& shape, uint32_t seed) {
  // Box and Muller.
  const Term radius = Sqrt((1.0 - UniformOf(b, shape, seed)).Call("log") * -2.0);
  return radius * Cos(UniformOf(b, shape, seed + 1) * (2 * std::numbers::pi));
}

}  // namespace relayvm::import
