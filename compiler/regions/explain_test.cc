#include "compiler/regions/explain.h"

#include "compiler/regions/engine_rules.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/regions/merge_regions.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/transforms/testing.h"

namespace relayvm::regions {
namespace {

std::string Explained(const std::string& text) {
  auto patterns = EnginePatterns("dnnl");
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  const std::vector<EnginePattern> engines = {{"dnnl", *patterns}};
  ir::Module m = MergeComposite(ir::Typed(text), "dnnl", **patterns);
  m = ir::Retyped(PartitionGraph(MergeCompilerRegions(AnnotateTarget(m, engines))));
  return ExplainRegions(PruneRegions(m, [](const std::string&) { return true; }), engines);
}

std::string LineOf(const std::string& table, const std::string& op) {
  const size_t begin = ("\n" + table).find("\n" + op + " ");
  REQUIRE_MESSAGE(begin != std::string::npos, table);
  return table.substr(begin, table.find('\n', begin) - begin);
}

TEST_CASE("each operator says where it runs") {
  const std::string table = Explained(R"(
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %d: Tensor[(2, 3), float64]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]));
  (erf(%0), nn.softmax(%d), tanh(%x)) })");
  CHECK(LineOf(table, "nn.conv2d").find("tvmgen_default_dnnl_main_0, part of dnnl.conv2d_relu") !=
        std::string::npos);
  CHECK(LineOf(table, "nn.relu").find("test.relay:4:8") != std::string::npos);
  CHECK(LineOf(table, "erf").find("native: dnnl has no pattern that starts with it") !=
        std::string::npos);
  // What was found and expected.
  CHECK(LineOf(table, "nn.softmax").find("float64") != std::string::npos);
  CHECK(LineOf(table, "tanh").find("beside no convolution") != std::string::npos);
  CHECK(table.find("5 operators, 2 of them in regions; native, a condition: 1; native, no heavy "
                   "work: 1; native, no pattern: 1") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::regions
