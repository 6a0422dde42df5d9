#include "compiler/transforms/simplify/resolve_shapes.h"

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("shape arithmetic becomes dims; nothing that computes a shape is left") {
  Module m = Typed(R"(
def @main(%x: Tensor[(?, 6), float32]) {
  let %s = shape_of(%x, dtype="int64");
  let %n = take(%s, 0i64, mode="clip");
  dyn.reshape(%x, stack((multiply(%n, 2i64), 3i64), axis=0), newshape=[])
})");
  Module out = EliminateDeadCode(DropShapeOperands(ResolveShapes(m)));
  CHECK(Outline(out) == "dyn.reshape");
}

TEST_CASE("a shape that the program returns is a value") {
  Module m = Typed("def @main(%x: Tensor[(?, 6), float32]) { shape_of(%x, dtype=\"int32\") }");
  CHECK(Outline(EliminateDeadCode(ResolveShapes(m))) == "guard guard dims");
}

TEST_CASE("a static shape is a constant") {
  Module m = Typed("def @main(%x: Tensor[(5, 6), float32]) { shape_of(%x, dtype=\"int32\") }");
  CHECK(Outline(ResolveShapes(m)) == "=");
}

TEST_CASE("numbers that are read from tensors keep their operators: they wrap") {
  Module m = Typed("def @main(%n: int32) { add(%n, 1) }");
  CHECK(Outline(ResolveShapes(m)) == "add");
}

// The type of a constant is made when it is asked for, and is gone with who asked.
TEST_CASE("operands that are constants are looked at") {
  Module m = Typed("def @main(%n: int32) { maximum(floor_divide(subtract(7, %n), 4), 2) }");
  CHECK(Outline(ResolveShapes(m)) == "subtract floor_divide maximum");
  Module n = Typed("def @main(%n: int64) { stack((multiply(3i64, %n), 4i64, %n), axis=0) }");
  CHECK(Outline(ResolveShapes(n)) == "multiply tuple stack");
}

}  // namespace
}  // namespace relayvm::ir
