// Every function of the graph executor's C API, with NULL for each of its pointers in turn, as
// vm/api/c_api_null_test.cc does for the runtime's.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "tests/temp_folder.h"
#include "vm/api/c_api_null_testing.h"
#include "vm/graph/c_api_graph.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/testing.h"

namespace relayvm::graph {
namespace {

int32_t AddNothing(const RelayvmKernelEnv* /*env*/, const RelayvmKernelArgs* /*args*/,
                   uint32_t /*begin*/, uint32_t /*end*/) {
  return RELAYVM_KERNEL_OK;
}
constexpr relayvm_host_kernel kKernel = {"test.add", AddNothing};

struct Fixture {
  Fixture() {
    REQUIRE(SaveGraph(testing::Small(), path).ok());
    load.struct_size = sizeof(load);
    load.kernels = &kKernel;
    load.num_kernels = 1;
    options.struct_size = sizeof(options);
    options.load = &load;
    graph = Load();
    REQUIRE(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, nullptr, &value) == nullptr);
    memory.struct_size = sizeof(memory);
    stats.struct_size = sizeof(stats);
    row.struct_size = sizeof(row);
  }
  ~Fixture() {
    FreeOutputs();
    relayvm_value_free(value);
    relayvm_graph_free(graph);
  }
  relayvm_graph* Load() const {
    relayvm_graph* loaded = nullptr;
    REQUIRE(relayvm_graph_load(path.c_str(), &options, &loaded) == nullptr);
    return loaded;
  }
  relayvm_graph_times* Times() const {
    relayvm_graph_times* times = nullptr;
    REQUIRE(relayvm_graph_read_times(graph, &times) == nullptr);
    return times;
  }
  void CheckNoOutputs() const {
    CHECK(out_graph == nullptr);
    CHECK(out_executable == nullptr);
    CHECK(out_value == nullptr);
    CHECK(out_times == nullptr);
  }
  void FreeOutputs() {
    relayvm_graph_free(std::exchange(out_graph, nullptr));
    relayvm_executable_free(std::exchange(out_executable, nullptr));
    relayvm_value_free(std::exchange(out_value, nullptr));
    relayvm_graph_times_free(std::exchange(out_times, nullptr));
  }

  relayvm::testing::TempFolder temp;
  std::string path = temp / "graph";
  relayvm_load_options load{};
  relayvm_graph_options options{};
  relayvm_graph* graph = nullptr;
  relayvm_value* value = nullptr;
  relayvm_graph* out_graph = nullptr;
  relayvm_executable* out_executable = nullptr;
  relayvm_value* out_value = nullptr;
  relayvm_graph_times* out_times = nullptr;
  relayvm_graph_tensor tensor{};
  relayvm_graph_memory memory{};
  relayvm_invocation_stats stats{};
  relayvm_graph_node_time row{};
  int64_t dims[1] = {4};
  int64_t out_dims[2] = {2, 2};
  float elements[4] = {};
  relayvm_output to = {elements, out_dims, 2, RELAYVM_FLOAT32};
  size_t count = 0;
};

TEST_CASE("c api of graphs: each function with NULL in the place of each pointer") {
  Fixture f;
  relayvm::testing::NullWalk<Fixture> walk(f);
  const size_t zero = 0, far = SIZE_MAX;
  const auto with = [&](auto... rest) { return std::tuple(f.graph, rest...); };
  WALK(relayvm_graph_load, [&] { return std::tuple(f.path.c_str(), &f.options, &f.out_graph); },
       {1});
  WALK(relayvm_graph_load_for,
       [&] {
         return std::tuple(uint32_t{RELAYVM_API_VERSION}, f.path.c_str(), &f.options, &f.out_graph);
       },
       {2});
  WALK_FREE(relayvm_graph_free, [&] { return f.Load(); });
  WALK(relayvm_graph_num_inputs, [&] { return with(); });
  WALK(relayvm_graph_num_parameters, [&] { return with(); });
  WALK(relayvm_graph_num_outputs, [&] { return with(); });
  WALK(relayvm_graph_input, [&] { return with(zero, &f.tensor); });
  WALK(relayvm_graph_output, [&] { return with(zero, &f.tensor); });
  WALK(relayvm_graph_find_input, [&] { return with("x", &f.count); });
  WALK(relayvm_graph_kernels, [&] { return with(&f.out_executable); });
  WALK(relayvm_graph_set_input, [&] { return with(zero, f.value); });
  WALK(relayvm_graph_set_input_zero_copy, [&] { return with(zero, f.value); });
  WALK(relayvm_graph_get_input, [&] { return with(zero, &f.out_value); });
  const std::string params = testing::ReadAll(f.path + kParamsFile);
  WALK(relayvm_graph_load_params,
       [&] { return with(static_cast<const void*>(params.data()), params.size()); });
  WALK(relayvm_graph_share_params, [&] { return with(f.graph, &f.count); }, {2});
  WALK(relayvm_graph_run, [&] { return with(); });
  WALK(relayvm_graph_set_timeout, [&] { return with(int64_t{0}); });
  WALK(relayvm_graph_cancel, [&] { return with(); });
  WALK(relayvm_graph_forget_cancel, [&] { return with(); });
  WALK(relayvm_graph_get_output, [&] { return with(zero, &f.out_value); });
  WALK(relayvm_graph_copy_output, [&] { return with(zero, &f.to); });
  WALK(relayvm_graph_output_data, [&] { return with(far); });
  WALK(relayvm_graph_set_timing, [&] { return with(1); });
  WALK(relayvm_graph_read_times, [&] { return with(&f.out_times); });
  WALK_FREE(relayvm_graph_times_free, [&] { return f.Times(); });
  relayvm_graph_times* times = f.Times();
  WALK(relayvm_graph_times_row, [&] { return std::tuple(times, zero, &f.row); });
  relayvm_graph_times_free(times);
  WALK(relayvm_graph_get_stats, [&] { return with(&f.stats); });
  WALK(relayvm_graph_get_memory, [&] { return with(&f.memory); });
  CHECK(walk.names() == relayvm::testing::DeclaredFunctions(RELAYVM_GRAPH_FOLDER "/c_api_graph.h"));
}

}  // namespace
}  // namespace relayvm::graph
