#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("cumsum and cumprod: axis, dtype, exclusive") {
  const Dim n = Symbol(1);
  CheckBuiltin("cumsum", {{"axis", -1}}, {Float({n, 3})}, {Float({n, 3})}, "cumsum", {1, 0});
  CheckBuiltin("cumprod", {{"axis", 0}, {"exclusive", true}, {"dtype", "int64"}}, {Int32({n, 3})},
               {Int64({n, 3})}, "cumprod", {0, 1});
  CheckBuiltin("cumsum", {}, {Float({n, 3})}, {Float({n * 3})}, "cumsum", {-1, 0});
  CheckBuiltin("cumsum", {{"axis", 0}, {"reversed", true}}, {Float({n, 3})}, {Float({n, 3})},
               "cumsum_reversed", {0, 0});
  CheckBuiltin("cumprod", {{"axis", 1}, {"exclusive", true}, {"reversed", true}}, {Int32({n, 3})},
               {Int32({n, 3})}, "cumprod_reversed", {1, 1});
  CheckBuiltinFails("cumsum", {{"axis", 2}}, {Float({n, 3})}, "out of range");
}

}  // namespace
}  // namespace relayvm::op_testing
