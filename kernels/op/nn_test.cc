#include <limits>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("rectifiers") {
  CheckOp("nn.relu", {}, {F32({3}, {-1, 2, kNan})}, {F32({3}, {0, 2, 0})});
  CheckOp("nn.relu", {}, {I32({2}, {-1, 2})}, {I32({2}, {0, 2})});
  CheckOp("nn.leaky_relu", {{"alpha", 0.5}}, {F32({2}, {-4, 2})}, {F32({2}, {-2, 2})});
  CheckOp("nn.leaky_relu", {}, {F32({1}, {-4})}, {F32({1}, {-1})});
}

TEST_CASE("nn.prelu and nn.bias_add take a vector along an axis, or one element") {
  const HostTensor x = F32({2, 2}, {-1, -2, 3, -4});
  CheckOp("nn.prelu", {}, {x, F32({2}, {10, 100})}, {F32({2, 2}, {-10, -200, 3, -400})});
  CheckOp("nn.prelu", {{"axis", 0}}, {x, F32({2}, {10, 100})}, {F32({2, 2}, {-10, -20, 3, -400})});
  CheckOp("nn.prelu", {}, {x, F32({1}, {2})}, {F32({2, 2}, {-2, -4, 3, -8})}, {.static_args = {1}});
  CheckOp("nn.bias_add", {{"axis", -2}}, {x, F32({2}, {10, 20})}, {F32({2, 2}, {9, 8, 23, 16})});
  CheckOp("nn.bias_add", {}, {x, F32({1}, {5})}, {F32({2, 2}, {4, 3, 8, 1})}, {.static_args = {1}});
  CheckFails("nn.bias_add", {}, {x, F32({3}, {1, 2, 3})}, "3 and 2 differ");
  CheckFails("nn.bias_add", {}, {x, I32({2}, {1, 2})}, "dtypes");
}

TEST_CASE("nn.dropout is the identity") {
  const HostTensor x = F32({2}, {1, 2});
  CheckOp("nn.dropout", {{"rate", 0.9}}, {x}, {x, F32({2}, {1, 1})});
}

TEST_CASE("nn.batch_flatten keeps the first axis") {
  CheckOp("nn.batch_flatten", {}, {F32({2, 2, 2}, Iota(8))}, {F32({2, 4}, Iota(8))});
  CheckOp("nn.batch_flatten", {}, {F32({3}, Iota(3))}, {F32({3, 1}, Iota(3))});
  CHECK(OpTable::Get().Find("nn.batch_flatten")->is_view);
}

TEST_CASE("nn.fifo_buffer keeps the latest") {
  CheckOp("nn.fifo_buffer", {{"axis", 1}}, {F32({1, 1}, {9}), F32({1, 3}, {1, 2, 3})},
          {F32({1, 3}, {2, 3, 9})});
  CheckOp("nn.fifo_buffer", {}, {F32({3}, {7, 8, 9}), F32({2}, {1, 2})}, {F32({2}, {8, 9})});
}

}  // namespace
}  // namespace relayvm::op_testing
