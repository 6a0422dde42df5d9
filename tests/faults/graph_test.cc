// Graphs: a run allocates nothing; loading, with each allocation failing.
#include <cstdlib>
#include <filesystem>

#include "compiler/api/module.h"
#include "compiler/graph/build_graph.h"
#include "tests/faults/fail_each.h"
#include "tests/temp_folder.h"
#include "vm/graph/c_api_graph.h"
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
    const int64_t dims[] = {16, 32};
    const OutputBuffer buffer{DType::kFloat32, dims, out.data()};
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

// The weight of the convolution, made when the graph is loaded, for others or alone.
TEST_CASE("loading a graph whose weights are made then, without memory, leaves nothing") {
  const testing::TempFolder folder;
  CompilerOptions options;
  options.executor = "graph";
  const auto compiled = CompileModel(ModelSource::Text(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 56, 56), float32]) {
  nn.conv2d(%x, ones(shape=[16, 16, 3, 3], dtype="float32"), padding=[1, 1])
})"),
                                     options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const auto graph = graph::BuildGraph(compiled->program());
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  REQUIRE(graph::SaveGraph(*graph, folder / "net").ok());
  const std::string cache = folder / "cache";
  for (const std::string& shared : {std::string(), cache}) {
    ::setenv("RELAYVM_CACHE", shared.c_str(), 1);
    LeavesNothing([&] {
      FailEach([&] { std::filesystem::remove_all(cache); },
               [&] { return GraphModule::Load(folder / "net").status(); }, [] {});
    });
  }
  ::setenv("RELAYVM_CACHE", "", 1);
}

// A status as C gives it, freed.
Status Freed(relayvm_status* status) {
  const auto code = static_cast<StatusCode>(relayvm_status_code(status));
  relayvm_status_free(status);
  return code == StatusCode::kOk ? OkStatus() : Status(code, "");
}

// Its pointers are freed at the end, whatever failed before.
struct CGraph {
  relayvm_graph* graph = nullptr;
  relayvm_value *x = nullptr, *s = nullptr, *result = nullptr;
  relayvm_executable* kernels = nullptr;
  relayvm_graph_times* times = nullptr;
  CGraph() = default;
  CGraph(const CGraph&) = delete;
  CGraph& operator=(const CGraph&) = delete;
  ~CGraph() {
    relayvm_graph_times_free(times);
    relayvm_executable_free(kernels);
    relayvm_value_free(result);
    relayvm_value_free(s);
    relayvm_value_free(x);
    relayvm_graph_free(graph);
  }
  Status Load(const char* folder, const relayvm_graph_options* options = nullptr) {
    const int64_t dims[] = {1, 3, 16, 16};
    RELAYVM_RETURN_IF_ERROR(Freed(relayvm_graph_load(folder, options, &graph)));
    RELAYVM_RETURN_IF_ERROR(Freed(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 4, nullptr, &x)));
    return Freed(relayvm_value_tensor(RELAYVM_FLOAT32, nullptr, 0, nullptr, &s));
  }
  Status Run() {
    RELAYVM_RETURN_IF_ERROR(Freed(relayvm_graph_set_input(graph, 0, x)));
    RELAYVM_RETURN_IF_ERROR(Freed(relayvm_graph_set_input_zero_copy(graph, 1, s)));
    return Freed(relayvm_graph_run(graph));
  }
};

std::atomic<int> g_released{0};

TEST_CASE("the C API of graphs: all of it without memory is a status, and leaves nothing") {
  const testing::TempFolder folder;
  Save(folder / "net");
  const std::string path = folder / "net";
  const relayvm_task_pool pool = {sizeof(pool), 2, nullptr,
                                  [](void*, uint32_t tasks, relayvm_task_fn task, void* context) {
                                    for (uint32_t i = 0; i < tasks; ++i) task(context, i, 0);
                                  },
                                  [](void*) { ++g_released; }};
  const relayvm_graph_options options = {sizeof(options), 0, &pool, nullptr};
  const auto use_all = [&]() -> Status {
    CGraph c;
    RELAYVM_RETURN_IF_ERROR(c.Load(path.c_str(), &options));
    size_t index = 0;
    RELAYVM_RETURN_IF_ERROR(Freed(relayvm_graph_find_input(c.graph, "s", &index)));
    RELAYVM_RETURN_IF_ERROR(Freed(relayvm_graph_kernels(c.graph, &c.kernels)));
    RELAYVM_RETURN_IF_ERROR(c.Run());
    RELAYVM_RETURN_IF_ERROR(Freed(relayvm_graph_get_output(c.graph, 0, &c.result)));
    return Freed(relayvm_graph_read_times(c.graph, &c.times));
  };
  LeavesNothing([&] { FailEach(use_all, [] {}); });
  g_released = 0;
  CHECK(use_all().ok());
  CHECK(g_released == 1);
}

TEST_CASE("the C API of graphs: inputs, runs and copies of outputs allocate nothing") {
  const testing::TempFolder folder;
  Save(folder / "net");
  CGraph c;
  REQUIRE(c.Load((folder / "net").c_str()).ok());
  std::vector<float> out(16 * 32);
  const int64_t dims[] = {16, 32};
  const relayvm_output to = {out.data(), dims, 2, RELAYVM_FLOAT32};
  Arm(1, Failing::kRest);
  const bool ran = c.Run().ok();
  const bool read = Freed(relayvm_graph_copy_output(c.graph, 0, &to)).ok();
  CHECK_FALSE(Disarm());
  CHECK(ran);
  CHECK(read);
  CHECK(out[0] == doctest::Approx(1.0 / 32));
}

}  // namespace
}  // namespace relayvm::faults
