#include "compiler/typing/testing.h"

namespace relayvm::typing {
namespace {

TEST_CASE("weights that an operator implies") {
  struct Row {
    const char* params;
    const char* call;
    const char* weight;  // the type of %w
  };
  const Row rows[] = {
      {"%x: Tensor[(2, 8), float32]", "nn.dense(%x, %w, units=3)", "Tensor[(3, 8), float32]"},
      {"%x: Tensor[(1, 6, 9), float16]", "nn.conv1d(%x, %w, channels=4, kernel_size=[3], groups=2)",
       "Tensor[(4, 3, 3), float16]"},
      {"%x: Tensor[(1, 9, 9, 6), float32]",
       "nn.conv2d(%x, %w, channels=4, kernel_size=[3, 5], data_layout=\"NHWC\", "
       "kernel_layout=\"HWIO\")",
       "Tensor[(3, 5, 6, 4), float32]"},
      {"%x: Tensor[(1, 2, 9, 9, 9), float32]",
       "nn.conv3d(%x, %w, channels=4, kernel_size=[3, 3, 1])", "Tensor[(4, 2, 3, 3, 1), float32]"},
      {"%x: Tensor[(1, 2, 9, 9, 16), float32]",
       "nn.conv2d(%x, %w, channels=8, kernel_size=[3, 3], data_layout=\"NCHW16c\")",
       "Tensor[(8, 32, 3, 3), float32]"},
      {"%x: Tensor[(1, 2, 9, 9, 16), float32]",
       "nn.conv2d(%x, %w, channels=8, kernel_size=[3, 3], data_layout=\"NCHW16c\", "
       "kernel_layout=\"OIHW4i2o\")",
       "Tensor[(4, 8, 3, 3, 4, 2), float32]"},
      {"%x: Tensor[(1, 6, 9, 9), float32]",
       "nn.conv2d_transpose(%x, %w, channels=4, kernel_size=[3, 3])",
       "Tensor[(6, 4, 3, 3), float32]"},
      {"%x: Tensor[(2, 8), float32]", "nn.matmul(%x, %w, units=3)", "Tensor[(8, 3), float32]"},
      {"%x: Tensor[(8, 2), float32]",
       "nn.matmul(%x, %w, units=3, transpose_a=True, transpose_b=True)", "Tensor[(3, 8), float32]"},
      {"%x: Tensor[(1, 6, 9), float32]", "nn.bias_add(%x, %w, axis=-1)", "Tensor[(9), float32]"},
      {"%x: Tensor[(1, 6, 9), float32]", "nn.prelu(%x, %w)", "Tensor[(6), float32]"},
      {"%x: Tensor[(2, 8), float32]", "nn.layer_norm(%x, %w, %w)", "Tensor[(8), float32]"},
  };
  for (const Row& r : rows) {
    CAPTURE(r.call);
    ir::Module m = MustType(std::string("def @main(") + r.params + ", %w) { " + r.call + " }");
    CHECK(TypeOf(m, "w") == r.weight);
  }
}

TEST_CASE("what an operator does not imply must be annotated") {
  CHECK_FALSE(
      Typed("def @main(%x: Tensor[(2, 8), float32], %w) { nn.dense(%x, %w, units=None) }").ok());
  CHECK_FALSE(Typed("def @main(%x: Tensor[(2, 8), float32], %w) { add(%x, %w) }").ok());
}

TEST_CASE("the offsets of a deformable convolution") {
  const OpDef* op = OpTable::Get().Find("nn.deformable_conv2d");
  REQUIRE(op != nullptr);
  Attrs given;
  given.Set("channels", 4);
  given.Set("kernel_size", AttrList{3, 3});
  given.Set("padding", AttrList{1, 1});
  given.Set("strides", AttrList{2, 2});
  auto attrs = CompleteAttrs(*op, given);
  REQUIRE(attrs.ok());
  auto types = op->implied_args(*attrs, TensorType{{1, 2, 9, 9}, DType::kFloat32}, 3);
  REQUIRE(types[1]);
  CHECK(ShapeToString(types[1]->shape) == "(1, 18, 5, 5)");
  REQUIRE(types[2]);
  CHECK(ShapeToString(types[2]->shape) == "(4, 2, 3, 3)");
}

}  // namespace
}  // namespace relayvm::typing
