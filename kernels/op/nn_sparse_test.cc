#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("sparse products: CSR and BSR") {
  const Dim m = Symbol(1);
  CheckBuiltin("nn.sparse_dense", {}, {Float({m, 8}), Float({5}), Int32({5}), Int32({4})},
               {Float({m, 3})}, "sparse_dense", {0});
  CheckBuiltin("nn.sparse_dense", {{"sparse_lhs", true}},
               {Float({m, 8}), Float({5, 2, 4}), Int32({5}), Int32({4})}, {Float({6, m})},
               "sparse_dense", {1});
  CheckBuiltin("nn.sparse_conv2d", {}, {Float({1, 4, 4, 8}), Float({5}), Int32({5}), Int32({4})},
               {Float({1, 4, 4, 3})}, "sparse_conv2d", {1, 1});
  CheckBuiltin("nn.sparse_conv2d", {{"kernel_size", List({3, 3})}, {"layout", "NCHW"}},
               {Float({m, 8, 4, 5}), Float({5, 2, 1}), Int32({5}), Int32({4})},
               {Float({m, 6, 4, 5})}, "sparse_conv2d", {0, 3});
  CheckBuiltin("nn.sparse_add", {}, {Float({3, 8}), Float({5}), Int32({5}), Int32({4})},
               {Float({3, 8})}, "sparse_add", {});
  CheckBuiltin("nn.sparse_transpose", {}, {Float({5}), Int32({5}), Int32({4})},
               {Float({5}), Int32({5}), Int32({4})}, "sparse_transpose", {});
  CheckBuiltinFails("nn.sparse_dense", {}, {Float({m, 8}), Float({5}), Int32({6}), Int32({4})},
                    "5 and 6 differ");
  CheckBuiltinFails("nn.sparse_dense", {}, {Float({m, 8}), Float({5, 2}), Int32({5}), Int32({4})},
                    "rank 2");
  CheckBuiltinFails("nn.sparse_conv2d", {{"kernel_size", List({3, 1})}},
                    {Float({1, 4, 4, 8}), Float({5}), Int32({5}), Int32({4})},
                    "kernel_size [3, 1], expected [1, 1] or [3, 3]");
}

}  // namespace
}  // namespace relayvm::op_testing
