#include "kernels/runtime/half.h"

#include <doctest/doctest.h>

#include <cmath>

namespace relayvm {
namespace {

TEST_CASE("every float16 survives the way through float") {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = HalfToFloat(static_cast<uint16_t>(h));
    if (std::isnan(f)) {
      CHECK((FloatToHalf(f) & 0x7FFF) > 0x7C00);
      continue;
    }
    CHECK(FloatToHalf(f) == h);
  }
}

TEST_CASE("float to float16 rounds to nearest even") {
  struct Case {
    float from, to;
  };
  const Case cases[] = {{2049.0f, 2048.0f},       {2051.0f, 2052.0f}, {65519.0f, 65504.0f},
                        {65520.0f, INFINITY},     {0x1p-25f, 0.0f},   {0x1.8p-25f, 0x1p-24f},
                        {0x1.FFEp-15f, 0x1p-14f}, {-1e9f, -INFINITY}};
  for (const Case& c : cases) CHECK(HalfToFloat(FloatToHalf(c.from)) == c.to);
}

TEST_CASE("float to bfloat16 rounds to nearest even") {
  CHECK(BFloatToFloat(FloatToBFloat(1.0f)) == 1.0f);
  CHECK(BFloatToFloat(FloatToBFloat(1.00390625f)) == 1.0f);       // half of the last place: even
  CHECK(BFloatToFloat(FloatToBFloat(1.01171875f)) == 1.015625f);  // the other even
  CHECK(std::isnan(BFloatToFloat(FloatToBFloat(std::nanf("")))));
  CHECK(BFloatToFloat(FloatToBFloat(3.4e38f)) == INFINITY);
}

}  // namespace
}  // namespace relayvm
