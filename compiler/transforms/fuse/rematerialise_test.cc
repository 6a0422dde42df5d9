#include "compiler/transforms/fuse/rematerialise.h"

#include "compiler/transforms/fuse/fuse.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/resolve_shapes.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("what is made of sizes alone is made where it is read") {
  struct Case {
    const char* name;
    const char* body;
    const char* outline;
  };
  const Case cases[] = {
      {"a range that two operators read through views",
       "let %r = arange(0i64, %n, 1i64, dtype=\"int64\"); "
       "less_equal(expand_dims(%r, axis=0), expand_dims(%r, axis=1))",
       "fused{arange expand_dims arange expand_dims less_equal}"},
      {"a filled tensor that two operators read",
       "let %f = dyn.full(2f, shape_of(%x, dtype=\"int64\")); (add(%x, %f), sum(%f, axis=[1]))",
       "fused{dyn.full add} fused{dyn.full sum} tuple"},
      {"a vector of sizes", "add(shape_of(%x, dtype=\"int64\"), %k)", "fused{dims add}"},
      {"a product reads its operands many times",
       "let %f = dyn.full(2f, shape_of(%x, dtype=\"int64\")); nn.dense(%x, %f, units=None)",
       "dyn.full nn.dense"},
      {"a join copies",
       "let %f = dyn.full(2f, shape_of(%x, dtype=\"int64\")); concatenate((%f, %f), axis=0)",
       "dyn.full tuple concatenate"},
      {"what a program returns", "arange(0i64, %n, 1i64, dtype=\"int64\")", "arange"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Module m = Typed(std::string("def @main(%x: Tensor[(?, 6), float32], %k: Tensor[(2), "
                                       "int64], %n: int64) { ") +
                           c.body + " }");
    const Module dims = DropShapeOperands(EliminateDeadCode(ResolveShapes(m)));
    CHECK(Outline(FuseOps(EliminateDeadCode(Rematerialise(dims)))) == std::string(c.outline));
  }
}

}  // namespace
}  // namespace relayvm::ir
