#include "compiler/graph/check_static.h"

#include "compiler/graph/testing.h"

namespace relayvm::graph {
namespace {

TEST_CASE("what is in the way is named, with its place") {
  struct Case {
    const char* text;
    const char* message;
  };
  const std::string list = "type List[A] { Cons(A, List[A]), Nil, }\n";
  const Case cases[] = {
      {"def @main(%x: Tensor[(?, 3), float32]) { nn.relu(%x) }",
       "test.relay:2:11: the graph executor runs static programs without control flow; dimension 0 "
       "of parameter %x: Tensor[(?, 3), float32] is open; give its size, as --shape x=Nx3. The "
       "executor vm runs this program"},
      {"def @main(%p: (int64, int64)) { %p.0 }",
       "parameter %p is no tensor, but of type (int64, int64)"},
      {"def @main(%x: float32) {\n  if (less(%x, 0f)) { %x } else { exp(%x) }\n}",
       "test.relay:3:3: the graph executor runs static programs without control flow; this if "
       "depends on data"},
      {"def @f(%n: int64) -> int64 { if (less(%n, 0i64)) { %n } else { @f(subtract(%n, 1i64)) } }\n"
       "def @main(%n: int64) { @f(%n) }",
       "this if depends on data (and 1 more)"},
      {"def @main(%x: Tensor[(4), float32]) { argwhere(%x) }",
       "dimension 0 of the result of argwhere"},
      {"def @main(%x: Tensor[(4), float32]) { let %places = argwhere(%x); add(%places, %places) }",
       "test.relay:2:53: the graph executor runs static programs without control flow; dimension 0 "
       "of %places: Tensor[(?, 1), int32] depends on data (and 1 more). The executor vm"},
      {"def @main(%x: float32) { let %r = ref(%x); ref_read(%r) }", "this uses a reference"},
      {"def @fetch(%k: int64, host=1) -> int64;\ndef @main(%x: int64) { @fetch(%x) }",
       "this calls the host's function fetch"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const auto compiled = CompileForGraph(c.text);
    REQUIRE_FALSE(compiled.ok());
    CHECK(compiled.status().code() == StatusCode::kUnsupported);
    CHECK_MESSAGE(compiled.status().message().find(c.message) != std::string::npos,
                  compiled.status().message());
  }
  const auto match = CompileForGraph(
      list + "def @main(%l: List[int64]) { match? (%l) { Cons(%h, _) => { %h }, } }");
  CHECK(match.status().message().find("parameter %l is no tensor, but of type List[int64] (and") !=
        std::string::npos);
}

TEST_CASE("control flow that constants decide is none") {
  CHECK(
      CompileForGraph("def @main(%x: float32) { if (less(1f, 2f)) { %x } else { exp(%x) } }").ok());
  CHECK(CompileForGraph(
            "def @main(%x: float32) { let %f = fn (%y: float32) { exp(%y) }; %f(%f(%x)) }")
            .ok());
  CompileOptions shapes;
  shapes.shapes["x"] = "2x3";
  CHECK(CompileForGraph("def @main(%x: Tensor[(?, 3), float32]) { nn.relu(%x) }", shapes).ok());
}

TEST_CASE("one processor") {
  CompileOptions options;
  options.kernels.machine = MachineNamed("x86-64-v2");
  options.more_machines = {MachineNamed("x86-64-v3")};
  CHECK(CompileForGraph("def @main(%x: float32) { exp(%x) }", options).status().message() ==
        "--executor graph: expected one --target");
}

}  // namespace
}  // namespace relayvm::graph
