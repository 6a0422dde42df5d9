#include "compiler/transforms/simplify/compose_slices.h"

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

std::string Slice(const std::string& of, const std::string& begin, const std::string& end,
                  const std::string& strides, const std::string& axes) {
  return "strided_slice(" + of + ", begin=" + begin + ", end=" + end + ", strides=" + strides +
         ", axes=" + axes + ")";
}

// The last slice of @main.
struct Last {
  bool reads_x = false;
  std::vector<int64_t> begin, end, strides, axes;
};
Last LastOf(const Module& m) {
  Last last;
  ForEachBinding(*m.functions.at("main")->body, [&](const Binding& b) {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || !call->op->is_slice) return;
    const Var* source = AsVar(call->args[0]);
    last = {source != nullptr && source->name == "x", call->attrs.Ints("begin"),
            call->attrs.Ints("end"), call->attrs.Ints("strides"), call->attrs.Ints("axes")};
  });
  return last;
}

void CheckEqual(const Last& a, const Last& b) {
  CHECK(a.reads_x == b.reads_x);
  CHECK(a.begin == b.begin);
  CHECK(a.end == b.end);
  CHECK(a.strides == b.strides);
  CHECK(a.axes == b.axes);
}

TEST_CASE("slices with strides of slices are slices of the source") {
  struct Case {
    const char* name;
    const char* shape;
    std::string inner, outer;
    Last expected;  // of one slice; or two stay
  };
  const Case cases[] = {
      {"rows, then columns",
       "(?, 9, 8)",
       Slice("%x", "[1]", "[9]", "[2]", "[1]"),
       Slice("%y", "[0]", "[8]", "[3]", "[2]"),
       {true, {1, 0}, {8, 7}, {2, 3}, {1, 2}}},
      {"an axis twice",
       "(9, 40)",
       Slice("%x", "[3]", "[40]", "[2]", "[1]"),
       Slice("%y", "[1]", "[-2]", "[5]", "[1]"),
       {true, {5}, {36}, {10}, {1}}},
      {"a part, then every third",
       "(9, 40)",
       Slice("%x", "[3, 2]", "[8, 30]", "[1, 1]", "[0, 1]"),
       Slice("%y", "[0]", "[28]", "[3]", "[1]"),
       {true, {3, 2}, {8, 30}, {1, 3}, {0, 1}}},
      {"the second has no stride",
       "(9, 40)",
       Slice("%x", "[0]", "[9]", "[2]", "[0]"),
       Slice("%y", "[1]", "[3]", "[1]", "[0]"),
       {}},
      {"backwards",
       "(9, 40)",
       Slice("%x", "[-1]", "[-10]", "[-1]", "[0]"),
       Slice("%y", "[0]", "[9]", "[2]", "[0]"),
       {}},
      {"of an open axis",
       "(9, ?)",
       Slice("%x", "[1]", "[5]", "[1]", "[1]"),
       Slice("%y", "[0]", "[9]", "[2]", "[0]"),
       {}},
      {"nothing",
       "(9, 40)",
       Slice("%x", "[5]", "[5]", "[1]", "[0]"),
       Slice("%y", "[0]", "[40]", "[2]", "[1]"),
       {}},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Module m = Typed("def @main(%x: Tensor[" + std::string(c.shape) +
                           ", float32]) { let %y = " + c.inner + "; " + c.outer + " }");
    const Module composed = ComposeSlices(m);
    const Last last = LastOf(composed);
    CHECK(last.reads_x == c.expected.reads_x);
    if (c.expected.reads_x) CheckEqual(last, c.expected);
    Retyped(composed);
  }
}

TEST_CASE("three slices are one") {
  const Module m = Typed("def @main(%x: Tensor[(16, 16, 16), float32]) { let %a = " +
                         Slice("%x", "[1]", "[16]", "[2]", "[0]") +
                         "; let %b = " + Slice("%a", "[0]", "[16]", "[2]", "[1]") + "; " +
                         Slice("%b", "[1]", "[16]", "[2]", "[2]") + " }");
  CheckEqual(LastOf(ComposeSlices(m)), {true, {1, 0, 1}, {16, 15, 16}, {2, 2, 2}, {0, 1, 2}});
}

}  // namespace
}  // namespace relayvm::ir
