/* Graphs as a C program uses them. Each function returns NULL when all went well, else what did
 * not. The graph is that of testing.h, 3 x + 2 w of four numbers, whose kernel adds. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vm/graph/c_api_graph.h"

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

/* Whether a call failed so, with this in its message. */
static int Fails(relayvm_status* status, int code, const char* message) {
  const int failed = relayvm_status_code(status) == code &&
                     strstr(relayvm_status_message(status), message) != NULL;
  relayvm_status_free(status);
  return failed;
}

static int32_t Add(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                   uint32_t end) {
  (void)env;
  const float* a = args->buffers[0];
  const float* b = args->buffers[1];
  float* c = args->buffers[2];
  for (uint32_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
  return RELAYVM_KERNEL_OK;
}
static const relayvm_host_kernel kAdd = {"test.add", Add};
static const relayvm_load_options kLoad = {
    .struct_size = sizeof kLoad, .kernels = &kAdd, .num_kernels = 1};
static const relayvm_graph_options kOptions = {.struct_size = sizeof kOptions, .load = &kLoad};

static relayvm_value* Numbers(float a, float b, float c, float d) {
  const int64_t dims[1] = {4};
  const float elements[4] = {a, b, c, d};
  relayvm_value* value = NULL;
  relayvm_status_free(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, elements, &value));
  return value;
}
/* Whether the output is that. */
static int Gives(const relayvm_graph* graph, float a, float b, float c, float d) {
  const float* found = relayvm_graph_output_data(graph, 0);
  return found[0] == a && found[1] == b && found[2] == c && found[3] == d;
}

/* Inputs, weights, runs and outputs. `params` sets the weight to 1, 2, 3, 4. */
const char* RunGraph(const char* folder, const void* params, size_t params_size);
const char* RunGraph(const char* folder, const void* params, size_t params_size) {
  relayvm_graph *graph = NULL, *other = NULL;
  EXPECT(relayvm_graph_load(folder, &kOptions, &graph) == NULL);
  EXPECT(relayvm_graph_num_inputs(graph) == 2 && relayvm_graph_num_parameters(graph) == 1);
  EXPECT(relayvm_graph_num_outputs(graph) == 1);
  relayvm_graph_tensor x, y;
  EXPECT(relayvm_graph_input(graph, 0, &x) == 1);
  EXPECT(strcmp(x.name, "x") == 0 && x.dtype == RELAYVM_FLOAT32 && x.rank == 1 && x.dims[0] == 4);
  EXPECT(relayvm_graph_output(graph, 0, &y) == 1);
  EXPECT(strcmp(y.name, "output_0") == 0 && y.rank == 2 && y.dims[0] == 2 && y.dims[1] == 2);
  size_t weight = 0;
  EXPECT(relayvm_graph_find_input(graph, "w", &weight) == NULL && weight == 1);
  relayvm_executable* kernels = NULL;
  EXPECT(relayvm_graph_kernels(graph, &kernels) == NULL);
  EXPECT(relayvm_type_dtype(relayvm_executable_param_type(kernels, 0, 0)) == RELAYVM_FLOAT32);

  relayvm_value* value = Numbers(1, 2, 3, 4);
  EXPECT(relayvm_graph_set_input(graph, 0, value) == NULL);
  relayvm_value_free(value);
  EXPECT(relayvm_graph_run(graph) == NULL && Gives(graph, 23, 46, 69, 92));
  EXPECT((uintptr_t)relayvm_graph_output_data(graph, 0) % 64 == 0);
  float copied[4] = {0};
  const relayvm_output to = {copied, y.dims, y.rank, y.dtype};
  EXPECT(relayvm_graph_copy_output(graph, 0, &to) == NULL && copied[3] == 92);
  relayvm_value* result = NULL;
  EXPECT(relayvm_graph_get_output(graph, 0, &result) == NULL);
  EXPECT(relayvm_graph_get_input(graph, 0, &value) == NULL);
  EXPECT(((const float*)relayvm_value_data(value))[3] == 4);
  relayvm_value_free(value);

  EXPECT(relayvm_graph_load_params(graph, params, params_size) == NULL);
  EXPECT(relayvm_graph_run(graph) == NULL && Gives(graph, 5, 10, 15, 20));
  EXPECT(((const float*)relayvm_value_data(result))[0] == 23); /* a copy */
  relayvm_value_free(result);

  size_t shared = 0;
  EXPECT(relayvm_graph_load(folder, &kOptions, &other) == NULL);
  EXPECT(relayvm_graph_share_params(other, graph, &shared) == NULL && shared == 1);
  relayvm_graph_free(graph);
  _Alignas(64) float memory[4] = {0, 0, 0, 1};
  EXPECT(relayvm_value_wrap(x.dtype, (const int64_t[]){4}, 1, memory, NULL, NULL, &value) == NULL);
  EXPECT(relayvm_graph_set_input_zero_copy(other, 0, value) == NULL);
  relayvm_value_free(value); /* the graph has its own handle */
  EXPECT(relayvm_graph_run(other) == NULL && Gives(other, 2, 4, 6, 11));
  memory[0] = 1;
  EXPECT(relayvm_graph_run(other) == NULL && Gives(other, 5, 4, 6, 11));
  relayvm_graph_free(other);

  EXPECT(relayvm_executable_num_functions(kernels) == 1); /* they outlive the graph */
  relayvm_executable_free(kernels);
  return NULL;
}

const char* LimitGraph(const char* folder);
const char* LimitGraph(const char* folder) {
  relayvm_graph* graph = NULL;
  relayvm_graph_options options = kOptions;
  options.memory_limit = 100;
  EXPECT(Fails(relayvm_graph_load(folder, &options, &graph), RELAYVM_RESOURCE_EXHAUSTED,
               "the graph: no memory for its tensors and scratch"));
  options.memory_limit = 1000;
  EXPECT(relayvm_graph_load(folder, &options, &graph) == NULL);
  relayvm_value* value = Numbers(1, 2, 3, 4);
  EXPECT(relayvm_graph_set_input(graph, 0, value) == NULL);
  relayvm_value_free(value);
  EXPECT(Fails(relayvm_graph_set_timeout(graph, -1), RELAYVM_INVALID_ARGUMENT, "timeout_ns is -1"));
  EXPECT(relayvm_graph_set_timeout(graph, 1) == NULL);
  EXPECT(Fails(relayvm_graph_run(graph), RELAYVM_DEADLINE_EXCEEDED,
               "node 2 (add): the deadline has passed"));
  EXPECT(
      Fails(relayvm_graph_get_output(graph, 0, &value), RELAYVM_FAILED_PRECONDITION, "to its end"));
  EXPECT(relayvm_graph_set_timeout(graph, 0) == NULL);
  relayvm_graph_cancel(graph);
  EXPECT(Fails(relayvm_graph_run(graph), RELAYVM_CANCELLED, "node 2 (add): cancelled"));
  EXPECT(relayvm_graph_run(graph) == NULL && Gives(graph, 23, 46, 69, 92));
  relayvm_graph_cancel(graph);
  relayvm_graph_forget_cancel(graph);
  EXPECT(relayvm_graph_run(graph) == NULL);
  relayvm_graph_free(graph);
  return NULL;
}

const char* MeasureGraph(const char* folder);
const char* MeasureGraph(const char* folder) {
  relayvm_graph* graph = NULL;
  EXPECT(relayvm_graph_load(folder, &kOptions, &graph) == NULL);
  relayvm_value* value = Numbers(1, 2, 3, 4);
  EXPECT(relayvm_graph_set_input(graph, 0, value) == NULL);
  relayvm_value_free(value);
  EXPECT(relayvm_graph_set_timing(graph, 1) == NULL);
  for (int i = 0; i < 3; ++i) EXPECT(relayvm_graph_run(graph) == NULL);
  EXPECT(relayvm_graph_set_timing(graph, 0) == NULL);
  relayvm_graph_times* times = NULL;
  EXPECT(relayvm_graph_read_times(graph, &times) == NULL);
  relayvm_graph_node_time row = {.struct_size = sizeof row};
  EXPECT(relayvm_graph_times_row(times, 0, &row) == 1);
  EXPECT(row.calls == 0); /* switching it off starts anew, too */
  relayvm_graph_times_free(times);
  EXPECT(relayvm_graph_set_timing(graph, 1) == NULL);
  for (int i = 0; i < 3; ++i) EXPECT(relayvm_graph_run(graph) == NULL);
  EXPECT(relayvm_graph_read_times(graph, &times) == NULL);

  relayvm_graph_memory memory = {.struct_size = sizeof memory};
  EXPECT(relayvm_graph_get_memory(graph, &memory) == NULL);
  EXPECT(memory.planned_bytes == 2 * 64 && memory.weight_bytes == 16 && memory.scratch_bytes == 0);
  memory.struct_size = 0;
  EXPECT(Fails(relayvm_graph_get_memory(graph, &memory), RELAYVM_INVALID_ARGUMENT,
               "sizeof(relayvm_graph_memory)"));
  relayvm_graph_free(graph);
  size_t rows = 0; /* of a copy, which outlives it */
  for (; relayvm_graph_times_row(times, rows, &row) == 1; ++rows) {
    EXPECT(strcmp(row.node, "add") == 0 && strcmp(row.source, "") == 0);
    EXPECT(row.calls == 3 && row.total_ns > 0);
  }
  EXPECT(rows == 3);
  row.struct_size = 8;
  EXPECT(relayvm_graph_times_row(times, 0, &row) == 0);
  relayvm_graph_times_free(times);
  return NULL;
}

const char* CountGraph(const char* folder);
const char* CountGraph(const char* folder) {
  relayvm_runtime* runtime = NULL;
  relayvm_graph* graph = NULL;
  relayvm_graph_options options = kOptions;
  EXPECT(relayvm_runtime_create(NULL, &runtime) == NULL);
  options.runtime = runtime;
  EXPECT(relayvm_graph_load(folder, &options, &graph) == NULL);
  relayvm_value* value = Numbers(1, 2, 3, 4);
  EXPECT(relayvm_graph_set_input(graph, 0, value) == NULL);
  relayvm_value_free(value);
  for (int i = 0; i < 3; ++i) EXPECT(relayvm_graph_run(graph) == NULL);
  relayvm_invocation_stats run = {.struct_size = sizeof run};
  EXPECT(relayvm_graph_get_stats(graph, &run) == NULL);
  EXPECT(run.run_ns > 0 && run.peak_bytes >= 2 * 64);
  run.struct_size = 8;
  EXPECT(Fails(relayvm_graph_get_stats(graph, &run), RELAYVM_INVALID_ARGUMENT,
               "sizeof(relayvm_invocation_stats)"));
  relayvm_runtime_stats stats = {.struct_size = sizeof stats};
  EXPECT(relayvm_runtime_get_stats(runtime, &stats) == NULL);
  EXPECT(stats.started == 3 && stats.kernel_calls == 9);
  relayvm_runtime_free(runtime); /* which the graph keeps */
  EXPECT(relayvm_graph_run(graph) == NULL && Gives(graph, 23, 46, 69, 92));
  relayvm_graph_free(graph);
  return NULL;
}

/* --- Threads of the host --- */
struct pool {
  int runs, tasks, releases;
  uint32_t worker; /* that all tasks run as */
  uint32_t left_out;
};
static void RunTasks(void* user, uint32_t num_tasks, relayvm_task_fn task, void* context) {
  struct pool* pool = user;
  ++pool->runs;
  for (uint32_t i = pool->left_out; i < num_tasks; ++i) {
    ++pool->tasks;
    task(context, i, pool->worker);
  }
}
static void Release(void* user) { ++((struct pool*)user)->releases; }

const char* RunGraphOnThreads(const char* folder);
const char* RunGraphOnThreads(const char* folder) {
  struct pool state = {0};
  relayvm_task_pool pool = {sizeof pool, 2, &state, RunTasks, Release};
  relayvm_graph_options options = kOptions;
  options.task_pool = &pool;
  relayvm_graph* graph = NULL;

  /* What is not taken over is not released. */
  const uint32_t wrong[] = {0, 1025, UINT32_MAX};
  for (size_t i = 0; i < 3; ++i) {
    pool.num_threads = wrong[i];
    EXPECT(Fails(relayvm_graph_load(folder, &options, &graph), RELAYVM_INVALID_ARGUMENT,
                 "expected 1 to 1024"));
  }
  pool.num_threads = 2;
  pool.run = NULL;
  EXPECT(
      Fails(relayvm_graph_load(folder, &options, &graph), RELAYVM_INVALID_ARGUMENT, "run is NULL"));
  pool.run = RunTasks;
  pool.struct_size = 0;
  EXPECT(Fails(relayvm_graph_load(folder, &options, &graph), RELAYVM_INVALID_ARGUMENT,
               "sizeof(relayvm_task_pool)"));
  pool.struct_size = sizeof pool;
  EXPECT(graph == NULL && state.releases == 0);

  EXPECT(relayvm_graph_load(folder, &options, &graph) == NULL);
  memset(&pool, 0, sizeof pool); /* it was copied */
  relayvm_value* value = Numbers(1, 2, 3, 4);
  EXPECT(relayvm_graph_set_input(graph, 0, value) == NULL);
  EXPECT(relayvm_graph_run(graph) == NULL && Gives(graph, 23, 46, 69, 92));
  EXPECT(state.runs == 3 && state.tasks >= 3 * 2);
  /* A pool that breaks its promises ends the run. */
  state.worker = 2;
  EXPECT(Fails(relayvm_graph_run(graph), RELAYVM_INTERNAL, "thread pool"));
  state.worker = 1;
  state.left_out = 1;
  EXPECT(Fails(relayvm_graph_run(graph), RELAYVM_INTERNAL, "thread pool"));
  state.left_out = 0;
  EXPECT(relayvm_graph_run(graph) == NULL && Gives(graph, 23, 46, 69, 92));
  relayvm_graph_free(graph);
  EXPECT(state.releases == 1);

  /* Threads of its own. */
  options.task_pool = NULL;
  options.num_threads = RELAYVM_ALL_THREADS;
  EXPECT(relayvm_graph_load(folder, &options, &graph) == NULL);
  EXPECT(relayvm_graph_set_input(graph, 0, value) == NULL);
  EXPECT(relayvm_graph_run(graph) == NULL && Gives(graph, 23, 46, 69, 92));
  relayvm_graph_free(graph);
  relayvm_value_free(value);
  options.num_threads = 100000;
  EXPECT(Fails(relayvm_graph_load(folder, &options, &graph), RELAYVM_INVALID_ARGUMENT,
               "num_threads is 100000"));
  return NULL;
}

const char* UseGraphWrongly(const char* folder);
const char* UseGraphWrongly(const char* folder) {
  relayvm_graph* graph = NULL;
  EXPECT(Fails(relayvm_graph_load(folder, NULL, &graph), RELAYVM_UNSUPPORTED, "test.add"));
  EXPECT(Fails(relayvm_graph_load("/nowhere", &kOptions, &graph), RELAYVM_NOT_FOUND,
               "/nowhere/graph.json"));
  relayvm_graph_options options = kOptions;
  options.struct_size = 0;
  EXPECT(Fails(relayvm_graph_load(folder, &options, &graph), RELAYVM_INVALID_ARGUMENT,
               "sizeof(relayvm_graph_options)"));
  relayvm_load_options load = kLoad;
  load.struct_size = 0;
  options = kOptions;
  options.load = &load;
  EXPECT(Fails(relayvm_graph_load(folder, &options, &graph), RELAYVM_INVALID_ARGUMENT,
               "sizeof(relayvm_load_options)"));
  load = kLoad;
  load.target = "no-such-machine";
  EXPECT(relayvm_graph_load(folder, &options, &graph) == NULL); /* of a file without parts */
  relayvm_graph_free(graph);
  EXPECT(Fails(relayvm_graph_load_for(RELAYVM_API_VERSION + 1, folder, &kOptions, &graph),
               RELAYVM_UNSUPPORTED, "newer library"));
  EXPECT(graph == NULL);

  EXPECT(relayvm_graph_load(folder, &kOptions, &graph) == NULL);
  size_t index = 7;
  EXPECT(Fails(relayvm_graph_find_input(graph, "v", &index), RELAYVM_NOT_FOUND,
               "there is no input v; inputs: x; weights: 1"));
  EXPECT(index == 0);
  relayvm_graph_tensor tensor;
  EXPECT(relayvm_graph_input(graph, 2, &tensor) == 0);
  EXPECT(relayvm_graph_output(graph, 1, &tensor) == 0);
  EXPECT(relayvm_graph_output_data(graph, 1) == NULL);
  EXPECT(Fails(relayvm_graph_run(graph), RELAYVM_FAILED_PRECONDITION, "input x is not set"));
  relayvm_value *value = Numbers(1, 2, 3, 4), *tuple = NULL, *result = NULL;
  EXPECT(relayvm_value_adt(0, &value, 1, &tuple) == NULL);
  EXPECT(Fails(relayvm_graph_set_input(graph, 2, value), RELAYVM_OUT_OF_RANGE, "input 2"));
  EXPECT(Fails(relayvm_graph_set_input_zero_copy(graph, SIZE_MAX, value), RELAYVM_OUT_OF_RANGE,
               "the graph has 2"));
  EXPECT(Fails(relayvm_graph_set_input(graph, 0, tuple), RELAYVM_INVALID_ARGUMENT, "a tensor"));
  EXPECT(Fails(relayvm_graph_set_input_zero_copy(graph, 0, tuple), RELAYVM_INVALID_ARGUMENT,
               "a tensor"));
  relayvm_value_free(tuple);
  EXPECT(Fails(relayvm_graph_get_input(graph, 2, &result), RELAYVM_OUT_OF_RANGE, "input 2"));
  EXPECT(Fails(relayvm_graph_load_params(graph, "nonsense", 8), RELAYVM_INVALID_INPUT, ""));
  EXPECT(Fails(relayvm_graph_get_output(graph, 0, &result), RELAYVM_FAILED_PRECONDITION,
               "has not run"));

  EXPECT(relayvm_graph_set_input(graph, 0, value) == NULL);
  EXPECT(relayvm_graph_run(graph) == NULL);
  EXPECT(Fails(relayvm_graph_get_output(graph, 1, &result), RELAYVM_OUT_OF_RANGE, "output 1"));
  EXPECT(result == NULL);
  float copied[4] = {0};
  const int64_t dims[2] = {2, 2}, far[1] = {4}, none[2] = {0, 2};
  const struct {
    relayvm_output to;
    const char* message;
  } wrong[] = {
      {{copied, far, 1, RELAYVM_FLOAT32}, "found Tensor[(4), float32]"},
      {{copied, dims, 2, RELAYVM_INT32}, "found Tensor[(2, 2), int32]"},
      {{copied, dims, 2, 14}, "dtype 14 does not exist"},
      {{copied, dims, 2, RELAYVM_NO_DTYPE}, "dtype -1 does not exist"},
      {{copied, NULL, 2, RELAYVM_FLOAT32}, "dims is NULL"},
      {{copied, NULL, 0, RELAYVM_FLOAT32}, "found float32"},
      {{copied, dims, SIZE_MAX, RELAYVM_FLOAT32}, "above 255"},
      {{NULL, dims, 2, RELAYVM_FLOAT32}, "data is NULL"},
      {{NULL, none, 2, RELAYVM_FLOAT32}, "found Tensor[(0, 2), float32]"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    if (!Fails(relayvm_graph_copy_output(graph, 0, &wrong[i].to), RELAYVM_INVALID_ARGUMENT,
               wrong[i].message))
      return wrong[i].message;
  }
  const relayvm_output to = {copied, dims, 2, RELAYVM_FLOAT32};
  EXPECT(Fails(relayvm_graph_copy_output(graph, 1, &to), RELAYVM_OUT_OF_RANGE, "output 1"));
  EXPECT(copied[0] == 0 && Gives(graph, 23, 46, 69, 92));
  relayvm_value_free(value);
  relayvm_graph_free(graph);
  return NULL;
}
