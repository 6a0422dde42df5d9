#include <cmath>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

using Doubles = std::vector<double>;

TEST_CASE("softmax and its logarithm, for large numbers too") {
  const double e = std::exp(-1.0);
  const Doubles p = {e / (1 + e), 1 / (1 + e)};
  CheckOp("nn.softmax", {}, {F32({2, 2}, {1000, 1001, -1, 0})},
          {F32({2, 2}, {p[0], p[1], p[0], p[1]})});
  CheckOp("nn.softmax", {{"axis", 0}}, {F32({2, 1}, {3, 4})}, {F32({2, 1}, p)});
  CheckOp("nn.fast_softmax", {}, {F32({1, 2}, {3, 4})}, {F32({1, 2}, p)});
  CheckOp("nn.log_softmax", {}, {F32({1, 2}, {1000, 1001})},
          {F32({1, 2}, {std::log(p[0]), std::log(p[1])})});
  CheckFails("nn.softmax", {{"axis", 2}}, {F32({1, 2}, {3, 4})}, "out of range");
  CheckFails("nn.softmax", {}, {I32({2}, {3, 4})}, "float");
}

TEST_CASE("nn.batch_norm uses the moving statistics and returns them") {
  const HostTensor x = F32({1, 2, 2}, {1, 2, 3, 4}), gamma = F32({2}, {2, 3}),
                   beta = F32({2}, {10, 20});
  const HostTensor mean = F32({2}, {1, 2}), var = F32({2}, {4, 9});
  CheckOp("nn.batch_norm", {{"epsilon", 0.0}}, {x, gamma, beta, mean, var},
          {F32({1, 2, 2}, {10, 11, 21, 22}), mean, var});
  CheckOp("nn.batch_norm", {{"epsilon", 0.0}, {"scale", false}, {"axis", -1}},
          {x, gamma, beta, mean, var}, {F32({1, 2, 2}, {10, 20, 11, 20 + 2.0 / 3}), mean, var});
  CheckOp("nn.batch_norm", {{"epsilon", 12.0}, {"center", false}}, {x, gamma, beta, mean, var},
          {F32({1, 2, 2}, {0, 0.5, 3 / std::sqrt(21.0), 6 / std::sqrt(21.0)}), mean, var});
  CheckFails("nn.batch_norm", {}, {x, F32({3}, {1, 2, 3}), beta, mean, var}, "gamma");
}

// (v - mean) / sqrt(variance + epsilon) of each group of `size` neighbours.
Doubles Normalized(const Doubles& v, size_t size, double epsilon) {
  Doubles out;
  for (size_t g = 0; g < v.size(); g += size) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < size; ++i) mean += v[g + i] / static_cast<double>(size);
    for (size_t i = 0; i < size; ++i)
      variance += (v[g + i] - mean) * (v[g + i] - mean) / static_cast<double>(size);
    for (size_t i = 0; i < size; ++i)
      out.push_back((v[g + i] - mean) / std::sqrt(variance + epsilon));
  }
  return out;
}

TEST_CASE("layer, instance and group normalisation") {
  const Doubles v = {1, 5, 2, 8, -3, 0, 4, 4, 9, 1, 2, 7, 3, 3, 5, -6};
  const HostTensor x = F32({2, 4, 2}, v);
  const HostTensor ones = F32({4}, {1, 1, 1, 1}), zeros = F32({4}, {0, 0, 0, 0});
  const Options loose{.tolerance = 1e-5};
  CheckOp(
      "nn.layer_norm", {}, {x, F32({2}, {1, 2}), F32({2}, {0, 10})},
      [&] {
        Doubles n = Normalized(v, 2, 1e-5);
        for (size_t i = 1; i < n.size(); i += 2) n[i] = n[i] * 2 + 10;
        return std::vector<HostTensor>{F32({2, 4, 2}, n)};
      }(),
      loose);
  CheckOp("nn.instance_norm", {{"epsilon", 0.5}}, {x, ones, zeros},
          {F32({2, 4, 2}, Normalized(v, 2, 0.5))}, loose);
  CheckOp("nn.group_norm", {{"num_groups", 2}}, {x, ones, zeros},
          {F32({2, 4, 2}, Normalized(v, 4, 1e-5))}, loose);
  CheckOp("nn.group_norm", {{"num_groups", 1}}, {x, ones, zeros},
          {F32({2, 4, 2}, Normalized(v, 8, 1e-5))}, loose);
  CheckFails("nn.group_norm", {{"num_groups", 3}}, {x, ones, zeros}, "num_groups");
  CheckFails("nn.group_norm", {}, {x, ones, zeros}, "num_groups is 0");
}

TEST_CASE("nn.l2_normalize and nn.lrn") {
  CheckOp("nn.l2_normalize", {{"eps", 0.01}, {"axis", List({1})}}, {F32({2, 2}, {3, 4, 0, 0.01})},
          {F32({2, 2}, {0.6, 0.8, 0, 0.1})});
  CheckOp("nn.l2_normalize", {{"eps", 0.0}, {"axis", AttrValue()}}, {F32({2, 1}, {3, 4})},
          {F32({2, 1}, {0.6, 0.8})});
  // Windows of three along the channels: 1 + 4, 1 + 4 + 9, 4 + 9.
  const auto expected = [](double x, double squares) {
    return x / std::pow(2 + 0.5 / 3 * squares, 0.75);
  };
  CheckOp("nn.lrn", {{"size", 3}, {"alpha", 0.5}}, {F32({1, 3, 1, 1}, {1, 2, 3})},
          {F32({1, 3, 1, 1}, {expected(1, 5), expected(2, 14), expected(3, 13)})},
          {.tolerance = 1e-5});
}

}  // namespace
}  // namespace relayvm::op_testing
