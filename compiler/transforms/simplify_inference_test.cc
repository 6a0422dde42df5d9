#include "compiler/transforms/simplify_inference.h"

#include "compiler/transforms/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

constexpr const char* kParams =
    "%x: Tensor[(2, 4, 3, 3), float32], %g: Tensor[(4), float32], %b: Tensor[(4), float32], "
    "%m: Tensor[(4), float32], %v: Tensor[(4), float32]";

TEST_CASE("batch_norm becomes a multiplication and an addition") {
  Module m = SimplifyInference(Typed("def @main(" + std::string(kParams) +
                                     ") { %0 = nn.batch_norm(%x, %g, %b, %m, %v); %0.0 }"));
  std::string outline = Outline(EliminateDeadCode(Retyped(m)));
  CHECK(outline.find("nn.batch_norm") == std::string::npos);
  CHECK(outline.find("rsqrt") != std::string::npos);
  CHECK(TypeToString(Retyped(m).functions.at("main")->result_type) ==
        "Tensor[(2, 4, 3, 3), float32]");
}

TEST_CASE("its statistics are its arguments, and the tuple as a whole is made of what it became") {
  Module m = SimplifyInference(Typed("def @main(" + std::string(kParams) +
                                     ") { %0 = nn.batch_norm(%x, %g, %b, %m, %v); (%0.0, %0.1) }"));
  CHECK(Outline(m).find("nn.batch_norm") == std::string::npos);
  m = SimplifyInference(
      Typed("def @main(" + std::string(kParams) + ") { nn.batch_norm(%x, %g, %b, %m, %v) }"));
  CHECK(Outline(m).find("nn.batch_norm") == std::string::npos);
  CHECK(TypeToString(Retyped(m).functions.at("main")->result_type) ==
        "(Tensor[(2, 4, 3, 3), float32], Tensor[(4), float32], Tensor[(4), float32])");
}

TEST_CASE("markers are what they mark, of any type; a barrier to fusion stays") {
  Module m = SimplifyInference(
      Typed("def @main(%x: Tensor[(4), float32]) { %0 = on_device((%x, (%x, ref(%x)))); %0.1 }"));
  CHECK(Outline(m).find("on_device") == std::string::npos);
  m = SimplifyInference(
      Typed("def @main(%x: Tensor[(4), float32]) { annotation.stop_fusion(exp(%x)) }"));
  CHECK(Outline(m).find("annotation.stop_fusion") != std::string::npos);
}

TEST_CASE("dropout is the identity") {
  Module m = SimplifyInference(
      Typed("def @main(%x: Tensor[(4), float32]) { %0 = nn.dropout(%x, rate=0.5f); %0.0 }"));
  CHECK(Outline(EliminateDeadCode(Retyped(m))) == "=");
}

}  // namespace
}  // namespace relayvm::ir
