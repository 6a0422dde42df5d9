#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

const TensorType kKey{{10}, DType::kUInt64};

TEST_CASE("random operators return the next key first") {
  CheckBuiltin("random.threefry_generate", {{"out_shape", List({2, 3})}}, {kKey},
               {kKey, {{2, 3}, DType::kUInt64}}, "threefry_generate", {});
  CheckBuiltin("random.threefry_split", {}, {kKey}, {kKey, kKey}, "threefry_split", {});
  CheckBuiltin("random.uniform", {{"out_shape", List({4})}, {"out_dtype", "float64"}},
               {kKey, Float({}), Float({})}, {kKey, {{4}, DType::kFloat64}}, "random_uniform", {});
  CheckBuiltin("random.normal", {{"out_shape", List({4})}}, {kKey, Float({}), Float({})},
               {kKey, Float({4})}, "random_normal", {});
  CheckBuiltin("random.multinomial", {{"num_samples", 7}}, {kKey, Float({Symbol(1), 5})},
               {kKey, Int32({Symbol(1), 7})}, "random_multinomial", {});
  CheckBuiltinFails("random.normal", {{"out_shape", List({4})}}, {kKey, Float({2}), Float({})},
                    "a dim of scalar 1");
  CheckBuiltinFails("random.threefry_split", {}, {Float({10})}, "uint64");
  CheckBuiltinFails("random.threefry_split", {}, {TensorType{{4}, DType::kUInt64}}, "10");
  CheckBuiltinFails("random.uniform", {{"out_shape", List({4})}, {"out_dtype", "int32"}},
                    {kKey, Float({}), Float({})}, "int32");
}

}  // namespace
}  // namespace relayvm::op_testing
