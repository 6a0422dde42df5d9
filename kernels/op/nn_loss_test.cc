#include <cmath>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("nn.nll_loss weighs, ignores and reduces") {
  const HostTensor p = F32({3, 2}, {-1, -2, -3, -4, -5, -6});
  const HostTensor targets = I32({3}, {0, 1, 1}), weights = F32({2}, {2, 10});
  const Options known{.static_args = {1}};
  const auto attrs = [](const char* reduction, int64_t ignore) {
    return AttrMap{{"reduction", reduction}, {"ignore_index", ignore}};
  };
  CheckOp("nn.nll_loss", attrs("none", -100), {p, targets, weights}, {F32({3}, {2, 40, 60})},
          known);
  CheckOp("nn.nll_loss", attrs("sum", -100), {p, targets, weights}, {F32({}, {102})}, known);
  CheckOp("nn.nll_loss", attrs("mean", -100), {p, targets, weights}, {F32({}, {102.0 / 22})},
          known);
  CheckOp("nn.nll_loss", attrs("sum", 1), {p, targets, weights}, {F32({}, {2})}, known);
  // A target that is no class has no loss.
  CheckOp("nn.nll_loss", attrs("none", -100), {p, I32({3}, {0, 2, -1}), weights},
          {F32({3}, {2, 0, 0})}, known);
  // Spatial axes; and no batch.
  CheckOp("nn.nll_loss", attrs("none", -100),
          {F32({1, 2, 2}, {-1, -2, -3, -4}), I32({1, 2}, {1, 0}), weights}, {F32({1, 2}, {30, 4})},
          {.static_args = {1}});
  CheckOp("nn.nll_loss", attrs("mean", -100), {F32({2}, {-1, -2}), I32({}, {1}), weights},
          {F32({}, {2})}, known);
  CheckFails("nn.nll_loss", attrs("max", -100), {p, targets, weights}, "reduction");
}

TEST_CASE("cross entropy") {
  const HostTensor y = F32({2, 2}, {1, 0, 0, 1});
  CheckOp("nn.cross_entropy", {}, {F32({2, 2}, {0.5, 0.5, 0.25, 0.75}), y},
          {F32({}, {-(std::log(0.5) + std::log(0.75)) / 2})});
  CheckOp("nn.cross_entropy_with_logits", {}, {F32({2, 2}, {1, 2, 3, 5}), y}, {F32({}, {-3})});
}

}  // namespace
}  // namespace relayvm::op_testing
