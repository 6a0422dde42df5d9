// Graphs: a run allocates nothing; loading, with each allocation failing.
#include "compiler/api/module.h"
#include "compiler/graph/build_graph.h"
#include "tests/faults/fail_each.h"
#include "tests/temp_folder.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/graph_module.h"

namespace relayvm::faults {
namespace {

// A convolution, a product, a reduction in place, a view and a builtin.
constexpr const char* kNet = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 16, 16), float32], %s: float32) {
  let %w = ones(shape=[8, 3, 3, 3], dtype="float32");
  let %c = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]));
  let %f = reshape(%c, newshape=[16, 128]);
  let %d = nn.dense(%f, ones(shape=[32, 128], dtype="float32"), units=32);
  (nn.softmax(%d), multiply(%s, 2f), cumsum(%d, axis=1))
})";

// A folder with the graph.
void Save(const std::string& folder) {
  CompilerOptions options;
  options.executor = "graph";
  const auto compiled = CompileModel(ModelSource::Text(kNet), options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const auto graph = graph::BuildGraph(compiled->program());
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  REQUIRE(graph::SaveGraph(*graph, folder).ok());
}

TEST_CASE("a run of a graph allocates nothing, neither does setting inputs and reading outputs") {
  const testing::TempFolder folder;
  Save(folder / "net");
  for (const uint32_t threads : {1u, 2u}) {
    const auto module = GraphModule::Load(folder / "net", {.num_threads = threads});
    REQUIRE_MESSAGE(module.ok(), module.status().message());
    const Value x = *Value::CopyTensor(DType::kFloat32, {{1, 3, 16, 16}},
                                       std::vector<float>(3 * 256, 0.5F).data());
    const Value s = Value::Float32(1);
    std::vector<float> out(16 * 32);
    const OutputBuffer buffer{DType::kFloat32, {16, 32}, out.data()};
    for (int run = 0; run < 2; ++run) {
      Arm(1, Failing::kRest);
      const bool set = (*module)->SetInput(0, x).ok() && (*module)->SetInputZeroCopy(1, s).ok();
      const bool ran = (*module)->Run().ok();
      const bool read = (*module)->CopyOutput(0, buffer).ok();
      CHECK_FALSE(Disarm());
      CHECK(set);
      CHECK(ran);
      CHECK(read);
    }
    CHECK(out[0] == doctest::Approx(1.0 / 32));
  }
}

TEST_CASE("loading a graph without memory is a Status, and leaves nothing") {
  const testing::TempFolder folder;
  Save(folder / "net");
  LeavesNothing(
      [&] { FailEach([&] { return GraphModule::Load(folder / "net").status(); }, [] {}); });
}

}  // namespace
}  // namespace relayvm::faults
