#include "compiler/import/composite/normalise.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

TEST_CASE("normalisation over the last axis and over groups, as PyTorch has it") {
  for (const bool open : {false, true}) {
    for (const int part : {0, 1, 2, 3}) {
      CAPTURE(open);
      CAPTURE(part);
      Graph g;
      const std::vector<int64_t> shape = {2, 4, 3};
      const Term x = open ? g.InputRamp(shape) : g.Ramp(shape);
      const Term scale = g.Ramp({3}, 41), bias = g.Ramp({3}, 43);
      const std::vector<double> ln = {0, 0.45218,  -2.11665,  0, -1.20218, -0.462285,
                                      0, -1.20218, -0.462285, 0, -0.375,   0.780922,
                                      0, -0.375,   0.780922,  0, 0.45218,  -2.11665,
                                      0, 0.45218,  -2.11665,  0, -1.20218, -0.462285};
      if (part == 0) CheckNear(g.Run(ScaledLayerNorm(x, scale, bias, 1e-5)), ln);
      if (part == 1) CheckNear(g.Run(LayerNormOf(x, {2}, 1e-5).y * scale + bias), ln);
      if (part == 2)
        CheckNear(
            g.Run(RmsNormOf(x, {2}, 1e-5).y),
            {0,         -1.51407, 0.841151,  -0.640507, 1.60127,  0.160127,  -1.32719, 0.995394,
             -0.497697, 1.44436,  0.262611,  -0.91914,  0.91914,  -0.262611, -1.44436, 0.497697,
             -0.995394, 1.32719,  -0.160127, -1.60127,  0.640507, -0.841151, 1.51407,  0});
      if (part == 3)
        CheckNear(g.Run(GroupNormOf(x, 2, 1e-5)),
                  {-0.0822915, -1.56354,  0.740624,  -0.740624, 1.56354,   0.0822915,
                   -1.18947,   0.849619,  -0.461222, 1.57786,   0.267023,  -1.04382,
                   1.04382,    -0.267023, -1.57786,  0.461222,  -0.849619, 1.18947,
                   -0.0822915, -1.56354,  0.740624,  -0.740624, 1.56354,   0.0822915});
    }
  }
}

}  // namespace
}  // namespace relayvm::import
