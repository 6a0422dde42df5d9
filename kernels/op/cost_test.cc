#include "kernels/op/cost.h"

#include "kernels/op/testing.h"

namespace relayvm {
namespace {

bool OnFloats(const char* name, int num_inputs, DType dtype = DType::kFloat32) {
  const OpDef* op = OpTable::Get().Find(name);
  REQUIRE(op != nullptr);
  Attrs attrs = *CompleteAttrs(*op, {});
  TensorType type{{Dim::Symbol(1, "n"), 4}, dtype};
  std::vector<TensorType> inputs(static_cast<size_t>(num_inputs), type);
  return IsExpensive(*op, attrs, inputs, {&type, 1});
}

TEST_CASE("transcendental functions are expensive, whatever an operator is called") {
  for (const char* name :
       {"exp",      "log",       "log2",     "log10",      "tanh",           "sigmoid",
        "erf",      "sin",       "cos",      "tan",        "asin",           "acos",
        "atan",     "sinh",      "cosh",     "asinh",      "acosh",          "atanh",
        "fast_exp", "fast_tanh", "fast_erf", "nn.softmax", "nn.log_softmax", "nn.fast_softmax"}) {
    CAPTURE(name);
    CHECK(OnFloats(name, 1));
  }
  CHECK(OnFloats("power", 2));
}

TEST_CASE("simple arithmetic and moves are cheap") {
  for (const char* name : {"negative", "abs", "sqrt", "rsqrt", "floor", "round", "copy", "nn.relu",
                           "nn.leaky_relu", "isnan"}) {
    CAPTURE(name);
    CHECK_FALSE(OnFloats(name, 1));
  }
  for (const char* name : {"add", "subtract", "multiply", "divide", "maximum", "less"}) {
    CAPTURE(name);
    CHECK_FALSE(OnFloats(name, 2));
  }
}

}  // namespace
}  // namespace relayvm
