// Values are PyTorch's.
#include <doctest/doctest.h>

#include <cmath>

#include "compiler/import/torch/testing.h"

namespace relayvm::import::torch::testing {
namespace {

TEST_CASE("sums, extremes, truths") {
  CheckCalls({
      {"aten::sum(R[2,3], [1], True)", {-0.5, 0.875}},
      {"aten::sum(T[3]{1,0,1}:b)", {2}},
      {"aten::sum(R[2,3], [])", {0.375}},
      {"aten::prod(T[4]{1,2,3,4}:i64)", {24}},
      {"aten::mean(R[2,3], [0,1], True)", {0.0625}},
      {"aten::max(R[2,3], 1).1", {2, 1}},
      {"aten::min(R[2,3], 0, True).0", {-0.5, -1.125, 0.125}},
      {"aten::amax(R[2,3], [0])", {0, 1.25, 0.625}},
      {"aten::aminmax(R[2,3], dim=1).1", {0.625, 1.25}},
      {"aten::argmax(T[5]{1,5,2,5,0})", {1}},
      {"aten::argmin(R[2,3], 1, True)", {1, 0}},
      {"aten::any(T[2,2]{0,0,1,0}:b, 1)", {0, 1}},
      {"aten::all(T[2,2]{1,1,1,0}:i64)", {0}},
      {"aten::count_nonzero(R[2,3], [1])", {2, 3}},
      {"aten::logsumexp(T[2,2]{100,100,-5,3}, [1])", {100.6931, 3.000335}},
  });
}

TEST_CASE("spread, norms, along an axis") {
  CheckCalls({
      {"aten::var(R[2,4], [1], False, True)", {0.4140625, 0.7060547}},
      {"aten::std(R[8])", {0.8489423}},
      {"aten::var_mean(R[2,4], [1]).1", {-0.25, 0.28125}},
      {"aten::norm(R[2,3], 2)", {1.866648}},
      {"aten::norm(R[2,3], 3, [1], True)", {1.18594, 1.276517}},
      {"aten::cumsum(T[4]{1,2,3,4}:i32, 0)", {1, 3, 6, 10}},
      {"aten::cumprod(R[4], 0)", {0, 0, 0, 0}},
      {"aten::cummax(T[5]{1,3,2,3,5}, 0).1", {0, 1, 1, 3, 4}},
      {"aten::cummin(T[5]{4,3,3,5,1}, 0).0", {4, 3, 3, 3, 1}},
      {"aten::logcumsumexp(T[3]{1,2,3}, 0)", {1, 2.313262, 3.407606}},
      {"aten::diff(T[4]{1,4,9,16}, 2)", {2, 2}},
      {"aten::trapezoid(T[4]{1,2,3,4})", {7.5}},
      {"aten::cov(R[2,4])", {0.5520833, -0.2864583, -0.2864583, 0.9414062}},
  });
}

}  // namespace
}  // namespace relayvm::import::torch::testing
