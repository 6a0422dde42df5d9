// Graphs with regions of other engines (vm/engines), on an engine for tests.
#include <bit>
#include <string>
#include <vector>

#include "bytecode/assembler.h"
#include "compiler/graph/testing.h"
#include "tests/temp_folder.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/graph_folder.h"
#include "vm/graph/graph_module.h"

namespace relayvm::graph {
namespace {

// y = x * 2 * 3; y * 5 * 7, each by a region with a constant; the first of no use is left out.
constexpr const char* kText = R"(
.version 1
.region "unused" engine "scale" constants () symbols 0 json "{\"factor\": 9}"
.region "first" engine "scale" constants (c1) symbols 0 json "{\"factor\": 2, \"scratch\": 1000}"
.region "second" engine "scale" constants (c0) symbols 0 json "{\"factor\": 5}"
.kernel "scale:first" scalars 7 s0=1 s1=11 s2=1 s4=11 s5=1 buffers (float32[s3], out float32[s6]) units 1 builtin region 1
.kernel "scale:second" scalars 7 s0=2 s1=11 s2=1 s4=11 s5=1 buffers (float32[s3], out float32[s6]) units 1 builtin region 2
.constant float32[] "w"
  .hex 0000e040
.constant float32[] "v"
  .hex 00004040
.export "main" f0 ("x": float32[2]) -> float32[2]
.function "main" scalars 0 objects 1 captured 0 registers 5 3 returns object arena 0
  const.i16 i0, 1
  const.i16 i1, 11
  const.i16 i2, 2
  tensor.alloc r1, float32, [i2]
  kernel.1 k0, [i0, i1, i0, i2, i1, i0, i2], [r0, r1]
  tensor.alloc r2, float32, [i2]
  kernel.1 k1, [i2, i1, i0, i2, i1, i0, i2], [r1!, r2]
  ret.r r2!
.end
)";

TEST_CASE("graphs: regions go into the folder, and run") {
  const auto program = Assemble(kText);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  const auto graph = BuildGraph(*program);
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  REQUIRE(graph->kernels.regions.size() == 2);
  CHECK(graph->kernels.regions[0].name == "first");
  CHECK(graph->kernels.constants.size() == 2);
  CHECK(graph->params.empty());
  const testing::TempFolder folder;
  const Status saved = SaveGraph(*graph, folder / "graph");
  REQUIRE_MESSAGE(saved.ok(), saved.message());

  const EngineLibrary scale[] = {{"scale", RELAYVM_TEST_ENGINE}};
  LoadOptions options;
  CHECK(LoadGraph(folder / "graph").status().code() == StatusCode::kUnsupported);
  options.engines = scale;
  for (const bool from_folder : {false, true}) {
    auto linked = from_folder ? LoadGraph(folder / "graph", options) : LinkGraph(*graph, options);
    REQUIRE_MESSAGE(linked.ok(), linked.status().message());
    auto module = GraphModule::Create(*std::move(linked), {.num_threads = 2});
    REQUIRE_MESSAGE(module.ok(), module.status().message());
    const std::vector<float> x = {1, 2};
    REQUIRE((*module)->SetInput(0, *Value::CopyTensor(DType::kFloat32, {{2}}, x.data())).ok());
    for (int run = 0; run < 2; ++run) {
      const Status ran = (*module)->Run();
      REQUIRE_MESSAGE(ran.ok(), ran.message());
      const auto output = (*module)->GetOutput(0);
      REQUIRE(output.ok());
      CHECK(std::bit_cast<float>(static_cast<uint32_t>(output->element(1))) == 420);
    }
  }
}

}  // namespace
}  // namespace relayvm::graph
