// scatter_nd's own decomposition (kernels/op/scatter.cc), where its indices are constants.
#include <string>

#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/simplify/simplify_inference.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

TEST_CASE("indices of whole slices") {
  struct Case {
    const char* name;
    const char* data;
    const char* indices;  // an expression
    const char* updates;
    const char* shape;  // of the indices that are left; "" where nothing changes
    const char* tuples_last = "[1, 2, 0]";  // the axes of the same indices with their tuples last
  };
  const char* grid =
      "stack((full(0, shape=[2, 3], dtype=\"int64\"), "
      "repeat(expand_dims(arange(1i64, 3i64, 1i64, dtype=\"int64\"), axis=1), repeats=3, axis=1), "
      "repeat(expand_dims(arange(0i64, 3i64, 1i64, dtype=\"int64\"), axis=0), repeats=2, axis=0)), "
      "axis=0)";
  const char* rows =
      "meshgrid((arange(0i64, 4i64, 1i64, dtype=\"int64\"), "
      "arange(0i64, 3i64, 1i64, dtype=\"int64\")), indexing=\"ij\")";
  const std::string all = "let %g = " + std::string(rows) + "; stack((%g.0, %g.1), axis=0)";
  const Case cases[] = {
      {"rows of three", "(4, 5, 3)", grid, "(2, 3)", "(2, 2)"},
      {"part of a row", "(4, 5, 4)", grid, "(2, 3)", ""},
      {"more of the data behind", "(4, 5, 3, 7)", grid, "(2, 3, 7)", "(2, 2)"},
      {"the last axis is open", "(4, 5, ?)", grid, "(2, 3)", ""},
      {"all of it", "(4, 3)", all.c_str(), "(4, 3)", "(1, 4)"},
      {"further axes of updates", "(4, 3)", all.c_str(), "(4, 3, 1)", ""},
      {"backwards", "(4, 3)",
       "reverse(stack((zeros_like(arange(0i64, 3i64, 1i64, dtype=\"int64\")), "
       "arange(0i64, 3i64, 1i64, dtype=\"int64\")), axis=0), axis=1)",
       "(3)", "", "[1, 0]"},
  };
  const auto check = [](const Case& c, bool tuples_last) {
    INFO(c.name);
    CAPTURE(tuples_last);
    std::string text =
        "def @main(%x: Tensor[" + std::string(c.data) + ", float32], %y: Tensor[" + c.updates +
        ", float32]) { let %t = { " + c.indices + " }; let %i = " +
        (tuples_last ? "transpose(%t, axes=" + std::string(c.tuples_last) + ")" : "%t") +
        "; scatter_nd(%x, %i, %y, mode=\"add\"" + (tuples_last ? ", tuples_last=True" : "") + ") }";
    const Module m = Retyped(FoldConstants(Typed(text), {}));
    const Module wide = SimplifyInference(m);
    const std::string before = Outline(m), after = Outline(wide);
    if (*c.shape == 0) {
      CHECK(before == after);
      return;
    }
    CHECK(after.ends_with("reshape scatter_nd ="));
    Retyped(wide);
    ForEachBinding(*wide.functions.at("main")->body, [&](const Binding& b) {
      const auto* call = b.value->As<OpCall>();
      if (call == nullptr || call->op->name != "scatter_nd") return;
      CHECK(TypeToString(AtomType(wide, call->args[1])) ==
            "Tensor[" + std::string(c.shape) + ", int64]");
      CHECK(!call->attrs.Bool("tuples_last"));
    });
  };
  for (const Case& c : cases) {
    check(c, false);
    check(c, true);
  }
}

}  // namespace
}  // namespace relayvm::ir
