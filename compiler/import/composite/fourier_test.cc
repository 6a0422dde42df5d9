#include "compiler/import/composite/fourier.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

// numpy.fft of the same numbers.
TEST_CASE("a transform there and back") {
  Graph g;
  const Term x = g.Constant({1, 2, 4, 0.5}, {4, 1}), length(g.b, g.b.Int(4));
  const Term bins = OneSidedBins(length, true);
  SUBCASE("real") {
    CheckNear(g.Run(FourierTransform(x, length, bins, false)), {7.5, 0, -3, -1.5, 2.5, 0});
  }
  SUBCASE("back") {
    const Term y = FourierTransform(x, length, bins, false);
    CheckNear(g.Run(RealFourierInverse(y, length, bins)), {1, 2, 4, 0.5});
  }
  SUBCASE("complex") {
    const Term y = FourierTransform(x, length, length, false);
    CheckNear(g.Run(FourierTransform(y, length, length, true)), {1, 0, 2, 0, 4, 0, 0.5, 0});
  }
  SUBCASE("of one number and of an odd length") {
    const Term one(g.b, g.b.Int(1)), five(g.b, g.b.Int(5));
    CheckNear(g.Run(FourierTransform(g.Constant({3}, {1, 1}), one, one, false)), {3, 0});
    const Term odd = g.Constant({1, 2, 4, 0.5, -1}, {5, 1});
    CheckNear(g.Run(FourierTransform(odd, five, OneSidedBins(five, true), false)),
              {6.5, 0, -2.3315595, -4.9104179, 1.5815595, 1.5653421});
  }
  SUBCASE("a window") {
    CheckNear(g.Run(WindowOfCosines(length, true, 0.5, 0.5, 0)), {0, 0.5, 1, 0.5});
  }
}

}  // namespace
}  // namespace relayvm::import
