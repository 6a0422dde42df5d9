#include "compiler/transforms/views/move_views.h"

#include <string>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("views of a join that is a copy are of its parts") {
  struct Case {
    const char* view;
    bool moves;
  };
  const Case cases[] = {
      {"reshape(%j, newshape=[0, 12])", true},
      {"reshape(%j, newshape=[5, 2, -1])", true},
      {"nn.batch_flatten(%j)", true},
      {"reshape(%j, newshape=[15, 4])", false},  // of the joined axis itself
      {"expand_dims(%j, axis=2)", false},        // nothing but a dim of 1
      {"reshape_like(%j, zeros(shape=[5, 12], dtype=\"float32\"))", false},  // of a shape operand
  };
  for (const Case& c : cases) {
    CAPTURE(c.view);
    const Module m = Typed(
        "def @main(%a: Tensor[(2, 3, 4), float32], %b: Tensor[(3, 3, 4), float32]) {\n"
        "  let %j = concatenate((%a, %b));\n  " +
        std::string(c.view) + "\n}");
    const Module moved = MoveViews(m);
    if (!c.moves) {
      CHECK(Outline(moved) == Outline(m));
      continue;
    }
    CHECK(Outline(moved).ends_with("reshape reshape tuple concatenate"));
    CHECK(TypeToString(Retyped(moved).functions.at("main")->result_type) ==
          TypeToString(m.functions.at("main")->result_type));
  }
}

}  // namespace
}  // namespace relayvm::ir
