/* The C API as a host uses it that knows nothing of its programs, and gives them its own memory and
 * threads. Each function returns NULL when all went well, else what did not. */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vm/api/c_api.h"

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

/* What a program says of itself: see the text in c_api_test.cc. */
const char* RunIntrospection(const void* bytes, size_t size) {
  relayvm_executable* e = NULL;
  EXPECT(relayvm_executable_load_memory(bytes, size, NULL, &e) == NULL);
  size_t f = 99;
  EXPECT(relayvm_executable_find_function(e, "main", &f) == NULL && f == 1);
  relayvm_status* status = relayvm_executable_find_function(e, "Main", &f);
  EXPECT(relayvm_status_code(status) == RELAYVM_NOT_FOUND && f == 0);
  relayvm_status_free(status);
  f = 1;
  EXPECT(relayvm_executable_num_type_params(e, 0) == 1);
  EXPECT(relayvm_executable_num_type_params(e, f) == 0);
  EXPECT(relayvm_executable_num_params(e, f) == 2);

  /* ("x": float32[?"n", 3, ?"n*2"], "p": (int64[], List[bool[]])) */
  const relayvm_type* x = relayvm_executable_param_type(e, f, 0);
  EXPECT(relayvm_type_get_kind(x) == RELAYVM_TYPE_TENSOR);
  EXPECT(relayvm_type_dtype(x) == RELAYVM_FLOAT32);
  EXPECT(strcmp(relayvm_dtype_name(relayvm_type_dtype(x)), "float32") == 0);
  EXPECT(relayvm_dtype_bytes(relayvm_type_dtype(x)) == 4);
  EXPECT(relayvm_type_rank(x) == 3);
  EXPECT(relayvm_type_dim(x, 0) == -1 && relayvm_type_dim(x, 1) == 3);
  EXPECT(relayvm_type_dim(x, 3) == -1 && relayvm_type_dim_name(x, 3) == NULL);
  EXPECT(strcmp(relayvm_type_dim_name(x, 0), "n") == 0);
  EXPECT(strcmp(relayvm_type_dim_name(x, 1), "") == 0);
  EXPECT(strcmp(relayvm_type_dim_name(x, 2), "n*2") == 0);
  const relayvm_type* p = relayvm_executable_param_type(e, f, 1);
  EXPECT(relayvm_type_get_kind(p) == RELAYVM_TYPE_TUPLE && relayvm_type_num_args(p) == 2);
  EXPECT(relayvm_type_dtype(p) == RELAYVM_NO_DTYPE && relayvm_type_rank(p) == 0);
  const relayvm_type* list = relayvm_type_arg(p, 1);
  EXPECT(relayvm_type_get_kind(list) == RELAYVM_TYPE_ADT);
  EXPECT(strcmp(relayvm_executable_adt_name(e, relayvm_type_index(list)), "List") == 0);
  EXPECT(relayvm_type_dtype(relayvm_type_arg(list, 0)) == RELAYVM_BOOL);
  EXPECT(relayvm_type_arg(list, 1) == NULL);
  EXPECT(strcmp(relayvm_type_text(p), "(int64, List[bool])") == 0);
  EXPECT(relayvm_executable_param_type(e, f, 2) == NULL);
  EXPECT(relayvm_executable_param_type(e, 2, 0) == NULL);

  /* -> (float32[?"n"], ref(int64[]), fn) "scores" */
  const relayvm_type* result = relayvm_executable_result_type(e, f);
  EXPECT(relayvm_type_num_args(result) == 3);
  EXPECT(strcmp(relayvm_type_dim_name(relayvm_type_arg(result, 0), 0), "n") == 0);
  const relayvm_type* ref = relayvm_type_arg(result, 1);
  EXPECT(relayvm_type_get_kind(ref) == RELAYVM_TYPE_REF);
  EXPECT(relayvm_type_dtype(relayvm_type_arg(ref, 0)) == RELAYVM_INT64);
  EXPECT(relayvm_type_get_kind(relayvm_type_arg(result, 2)) == RELAYVM_TYPE_FUNCTION);
  EXPECT(relayvm_type_get_kind(relayvm_executable_result_type(e, 0)) == RELAYVM_TYPE_VAR);
  EXPECT(relayvm_executable_num_outputs(e, f) == 3);
  EXPECT(strcmp(relayvm_executable_output_name(e, f, 0), "scores") == 0);
  EXPECT(strcmp(relayvm_executable_output_name(e, f, 1), "output_1") == 0);
  EXPECT(relayvm_executable_output_name(e, f, 3) == NULL);
  EXPECT(relayvm_type_get_kind(relayvm_executable_output_type(e, f, 1)) == RELAYVM_TYPE_REF);
  EXPECT(relayvm_executable_output_type(e, f, 3) == NULL);
  EXPECT(strcmp(relayvm_executable_output_name(e, 0, 0), "output_0") == 0);
  EXPECT(!relayvm_executable_param_is_optional(e, f, 1));

  EXPECT(relayvm_executable_num_adts(e) == 1);
  EXPECT(relayvm_executable_adt_num_type_params(e, 0) == 1);
  EXPECT(relayvm_executable_num_constructors(e, 0) == 2);
  EXPECT(strcmp(relayvm_executable_constructor_name(e, 0, 1), "Cons") == 0);
  EXPECT(relayvm_executable_constructor_num_fields(e, 0, 0) == 0);
  EXPECT(relayvm_executable_constructor_num_fields(e, 0, 1) == 2);
  const relayvm_type* head = relayvm_executable_constructor_field(e, 0, 1, 0);
  EXPECT(relayvm_type_get_kind(head) == RELAYVM_TYPE_VAR && relayvm_type_index(head) == 0);
  const relayvm_type* tail = relayvm_executable_constructor_field(e, 0, 1, 1);
  EXPECT(relayvm_type_get_kind(tail) == RELAYVM_TYPE_ADT && relayvm_type_index(tail) == 0);
  EXPECT(relayvm_executable_constructor_field(e, 0, 1, 2) == NULL);
  EXPECT(relayvm_executable_constructor_field(e, 0, 2, 0) == NULL);
  EXPECT(relayvm_executable_constructor_name(e, 1, 0) == NULL);
  EXPECT(relayvm_executable_num_targets(e) == 0 && relayvm_executable_target(e, 0) == NULL);
  relayvm_executable_free(e);
  return NULL;
}

/* --- What a host injects --- */

typedef struct {
  int64_t allocations, frees, live, released, limit;
  int64_t runs, tasks, kernels, instructions, begins, ends, slices;
  int last_status;
  char kernel[32];
} Host;

static void* Allocate(void* user, size_t bytes, size_t alignment) {
  Host* host = user;
  if (host->live + (int64_t)bytes > host->limit) return NULL;
  void* memory = NULL;
  if (posix_memalign(&memory, alignment, bytes) != 0) return NULL;
  ++host->allocations;
  host->live += (int64_t)bytes;
  return memory;
}
static void Free(void* user, void* memory, size_t bytes) {
  Host* host = user;
  ++host->frees;
  host->live -= (int64_t)bytes;
  free(memory);
}
/* One thread after the other is still a pool, of workers 0 and 1. */
static void RunTasks(void* user, uint32_t num_tasks, relayvm_task_fn task, void* context) {
  Host* host = user;
  ++host->runs;
  host->tasks += num_tasks;
  for (uint32_t i = num_tasks; i-- > 0;) task(context, i, i % 2);
}
static void Release(void* user) { ++((Host*)user)->released; }
static void OnKernel(void* user, const relayvm_kernel_event* event) {
  Host* host = user;
  ++host->kernels;
  strncpy(host->kernel, event->name, sizeof(host->kernel) - 1);
  if (event->struct_size < sizeof(*event) || event->end_ns < event->begin_ns) host->kernels = -99;
  if (event->invocation != 1 || event->batch != 1 || event->weight != 1) host->kernels = -99;
  if (strcmp(event->place.function, "main") != 0) host->kernels = -99;
}
static void OnRunBegin(void* user, const relayvm_run_event* event) {
  if (event->invocation == 1 && event->begin_ns == event->end_ns) ++((Host*)user)->begins;
}
static void OnRunEnd(void* user, const relayvm_run_event* event) {
  Host* host = user;
  if (event->invocation != 1 || strcmp(event->function, "main") != 0) return;
  ++host->ends;
  host->last_status = event->status;
}
static void OnSlice(void* user, const relayvm_slice_event* event) {
  if (event->invocation == 1 && event->begin_ns <= event->end_ns) ++((Host*)user)->slices;
}
static void OnInstruction(void* user, const relayvm_instruction_event* event) {
  if (event->struct_size >= sizeof(*event)) ++((Host*)user)->instructions;
}

/* Doubles n numbers, in as many units. */
static int32_t Double(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                      uint32_t end) {
  (void)env;
  const float* in = args->buffers[0];
  float* out = args->buffers[1];
  for (uint32_t i = begin; i < end; ++i) out[i] = 2 * in[i];
  return 0;
}

/* Program: "main" doubles a vector by the host's kernel "double". */
const char* RunHostedProgram(const void* bytes, size_t size) {
  Host host = {0};
  host.limit = INT64_MAX;
  relayvm_task_pool pool = {sizeof(pool), 2, &host, RunTasks, Release};
  relayvm_memory_source memory = {sizeof(memory), &host, Allocate, Free, NULL, Release};
  relayvm_trace trace = {.struct_size = sizeof(trace),
                         .user = &host,
                         .on_kernel = OnKernel,
                         .on_instruction = OnInstruction,
                         .release = Release,
                         .on_run_begin = OnRunBegin,
                         .on_run_end = OnRunEnd,
                         .on_slice = OnSlice};
  relayvm_runtime_options options = {0};
  options.struct_size = sizeof(options);
  options.task_pool = &pool;
  options.memory = &memory;
  options.trace = &trace;
  relayvm_runtime* runtime = NULL;
  /* Nothing is taken over by a failure. */
  pool.num_threads = 0;
  relayvm_status* status = relayvm_runtime_create(&options, &runtime);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT && host.released == 0);
  relayvm_status_free(status);
  pool.num_threads = 2;
  pool.run = NULL;
  status = relayvm_runtime_create(&options, &runtime);
  EXPECT(strcmp(relayvm_status_message(status), "relayvm_task_pool: run is NULL") == 0);
  relayvm_status_free(status);
  pool.run = RunTasks;
  memory.struct_size = 8;
  status = relayvm_runtime_create(&options, &runtime);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT && host.released == 0);
  relayvm_status_free(status);
  memory.struct_size = sizeof(memory);
  EXPECT(relayvm_runtime_create(&options, &runtime) == NULL);
  EXPECT(relayvm_runtime_num_threads(runtime) == 2);

  relayvm_executable* e = NULL;
  status = relayvm_executable_load_memory(bytes, size, NULL, &e);
  EXPECT(relayvm_status_code(status) == RELAYVM_UNSUPPORTED); /* no kernel "double" */
  relayvm_status_free(status);
  const relayvm_host_kernel kernels[] = {{"double", Double}};
  relayvm_load_options load = {0};
  load.struct_size = sizeof(load);
  load.kernels = kernels;
  load.num_kernels = 1;
  EXPECT(relayvm_executable_load_memory(bytes, size, &load, &e) == NULL);
  load.target = "x86-64-v9";
  load.num_operator_libraries = 1;
  relayvm_executable* none = NULL;
  status = relayvm_executable_load_memory(bytes, size, &load, &none);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT && none == NULL);
  relayvm_status_free(status);
  const char* libraries[] = {"/nonexistent/liboperators.so"};
  load.operator_libraries = libraries;
  status = relayvm_executable_load_memory(bytes, size, &load, &none);
  EXPECT(strstr(relayvm_status_message(status), "/nonexistent/liboperators.so") != NULL);
  EXPECT(none == NULL);
  relayvm_status_free(status);
  load.num_operator_libraries = 0;
  relayvm_executable* any = NULL; /* without an image there is no choice */
  EXPECT(relayvm_executable_load_memory(bytes, size, &load, &any) == NULL);
  relayvm_executable_free(any);

  relayvm_invocation* invocation = NULL;
  EXPECT(relayvm_invocation_create(runtime, e, NULL, &invocation) == NULL);
  EXPECT(relayvm_invocation_id(invocation) == 1);
  enum { kCount = 10000 };
  int64_t dims[1] = {kCount};
  float* numbers = malloc(kCount * sizeof(float));
  float* doubled = malloc(kCount * sizeof(float));
  for (int i = 0; i < kCount; ++i) numbers[i] = (float)i;
  relayvm_value* input = NULL;
  relayvm_value* result = NULL;
  EXPECT(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, numbers, &input) == NULL);
  EXPECT(relayvm_invocation_run(invocation, "main", &input, 1, &result) == NULL);
  EXPECT(((const float*)relayvm_value_data(result))[kCount - 1] == 2 * (kCount - 1));
  EXPECT(host.runs == 1 && host.tasks >= 2 && host.kernels == 1 && host.instructions >= 3);
  EXPECT(strcmp(host.kernel, "double") == 0);
  EXPECT(host.begins == 1 && host.ends == 1 && host.last_status == RELAYVM_OK && host.slices == 1);
  EXPECT(host.allocations >= 1);

  /* Into the caller's buffer; then one of another shape. */
  relayvm_output output = {doubled, dims, 1, RELAYVM_FLOAT32};
  EXPECT(relayvm_invocation_run_into(invocation, "main", &input, 1, &output, 1, NULL) == NULL);
  EXPECT(doubled[kCount - 1] == 2 * (kCount - 1));
  relayvm_value* rest = NULL;
  EXPECT(relayvm_invocation_start(invocation, "main", &input, 1, &output, 1) == NULL);
  status = relayvm_invocation_run(invocation, "main", &input, 1, &rest); /* already running */
  EXPECT(relayvm_status_code(status) == RELAYVM_FAILED_PRECONDITION);
  relayvm_status_free(status);
  status = relayvm_invocation_trim(invocation);
  EXPECT(relayvm_status_code(status) == RELAYVM_FAILED_PRECONDITION);
  relayvm_status_free(status);
  status = relayvm_invocation_set_stack_limit(invocation, 1 << 20);
  EXPECT(relayvm_status_code(status) == RELAYVM_FAILED_PRECONDITION);
  relayvm_status_free(status);
  while (relayvm_invocation_poll(invocation, 1000) != RELAYVM_DONE) {
  }
  EXPECT(relayvm_invocation_take_result(invocation, &rest) == NULL);
  EXPECT(relayvm_value_get_kind(rest) == RELAYVM_VALUE_NONE);
  relayvm_value_free(rest);
  status = relayvm_invocation_take_result(invocation, &rest); /* once only */
  EXPECT(relayvm_status_code(status) == RELAYVM_FAILED_PRECONDITION && rest == NULL);
  relayvm_status_free(status);
  int64_t other[1] = {3};
  output.dims = other;
  status = relayvm_invocation_run_into(invocation, "main", &input, 1, &output, 1, &rest);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT && rest == NULL);
  size_t count = 0;
  EXPECT(relayvm_status_expected(status, &count)[0] == kCount && count == 1);
  EXPECT(relayvm_status_found(status, &count)[0] == 3 && count == 1);
  EXPECT(relayvm_status_numbers(status, &count) == NULL && count == 0);
  EXPECT(strcmp(relayvm_status_subject(status), "0") == 0);
  relayvm_status_free(status);

  /* Limits, from the next run on; and the place of what fails. */
  EXPECT(relayvm_invocation_set_memory_limit(invocation, 20000) == NULL);
  status = relayvm_invocation_run(invocation, "main", &input, 1, &rest);
  EXPECT(relayvm_status_code(status) == RELAYVM_RESOURCE_EXHAUSTED);
  relayvm_place place;
  EXPECT(relayvm_status_num_places(status) == 1 && relayvm_status_place(status, 0, &place) == 1);
  EXPECT(strcmp(place.function, "main") == 0 && strcmp(place.file, "m.relay") == 0);
  EXPECT(place.line == 7 && place.column == 3);
  EXPECT(relayvm_status_place(status, 1, &place) == 0);
  EXPECT(relayvm_status_numbers(status, &count)[1] == 20000 && count == 2);
  relayvm_status_free(status);
  EXPECT(relayvm_invocation_set_memory_limit(invocation, 0) == NULL);
  EXPECT(relayvm_invocation_set_timeout(invocation, 1) == NULL);
  status = relayvm_invocation_run(invocation, "main", &input, 1, &rest);
  EXPECT(relayvm_status_code(status) == RELAYVM_DEADLINE_EXCEEDED);
  relayvm_status_free(status);
  status = relayvm_invocation_set_timeout(invocation, -1);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  relayvm_status_free(status);
  EXPECT(relayvm_invocation_set_timeout(invocation, 0) == NULL);
  EXPECT(relayvm_invocation_set_stack_limit(invocation, 1 << 20) == NULL);
  EXPECT(relayvm_invocation_set_native_stack(invocation, 1 << 20) == NULL);
  EXPECT(relayvm_invocation_run_into(invocation, "main", &input, 1, NULL, 0, &rest) == NULL);
  relayvm_value_free(rest);
  relayvm_invocation_cancel(invocation);
  status = relayvm_invocation_run(invocation, "main", &input, 1, &rest);
  EXPECT(relayvm_status_code(status) == RELAYVM_CANCELLED);
  relayvm_status_free(status);
  EXPECT(relayvm_invocation_trim(invocation) == NULL);
  relayvm_invocation_free(invocation);

  /* A host without memory. */
  host.limit = host.live;
  relayvm_invocation_options invocation_options = {0};
  invocation_options.struct_size = sizeof(invocation_options);
  relayvm_invocation* first = NULL;
  EXPECT(relayvm_invocation_create(runtime, e, &invocation_options, &first) == NULL);
  EXPECT(relayvm_invocation_create(runtime, e, &invocation_options, &invocation) == NULL);
  status = relayvm_invocation_run(invocation, "main", &input, 1, &rest); /* a new heap */
  EXPECT(relayvm_status_code(status) == RELAYVM_RESOURCE_EXHAUSTED);
  relayvm_status_free(status);
  relayvm_invocation_free(first);
  relayvm_invocation_free(invocation);
  relayvm_executable_free(e);
  relayvm_runtime_free(runtime);
  EXPECT(host.released == 2); /* the pool and the trace; the result lies in the memory */
  EXPECT(((const float*)relayvm_value_data(result))[1] == 2);
  relayvm_value_free(result);
  EXPECT(host.released == 3);
  EXPECT(host.live == 0 && host.allocations == host.frees);
  relayvm_value_free(input);
  free(numbers);
  free(doubled);
  return NULL;
}

/* --- Memory that stays the host's --- */

const char* RunWrapped(const void* bytes, size_t size) {
  Host host = {0};
  relayvm_executable* e = NULL;
  EXPECT(relayvm_executable_wrap_memory(bytes, size, Release, &host, NULL, &e) == NULL);
  EXPECT(host.released == 0);
  relayvm_executable_free(e);
  EXPECT(host.released == 1);
  /* Unaligned bytes are copied, and given back at once; bad ones too. */
  char* copy = malloc(size + 65);
  char* unaligned = copy + (64 - (uintptr_t)copy % 64) + 1;
  memcpy(unaligned, bytes, size);
  EXPECT(relayvm_executable_wrap_memory(unaligned, size, Release, &host, NULL, &e) == NULL);
  EXPECT(host.released == 2);
  free(copy);
  EXPECT(relayvm_executable_num_functions(e) > 0);
  relayvm_executable_free(e);
  relayvm_status* status =
      relayvm_executable_wrap_memory(bytes, size / 2, Release, &host, NULL, &e);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_INPUT && host.released == 3 && e == NULL);
  relayvm_status_free(status);
  EXPECT(relayvm_executable_wrap_memory(bytes, size, NULL, NULL, NULL, &e) == NULL);
  relayvm_executable_free(e);

  /* A value of new memory is its handle's alone, until there is another. */
  int64_t dims[1] = {2};
  relayvm_value* value = NULL;
  EXPECT(relayvm_value_tensor(RELAYVM_INT16, dims, 1, NULL, &value) == NULL);
  EXPECT(relayvm_value_num_elements(value) == 2);
  int16_t* data = relayvm_value_mutable_data(value);
  EXPECT(data != NULL && data[0] == 0 && data[1] == 0);
  relayvm_value* other = relayvm_value_copy(value);
  EXPECT(relayvm_value_mutable_data(value) == NULL);
  DLManagedTensor* exported = NULL;
  EXPECT(relayvm_value_to_legacy_dlpack(other, &exported) == NULL);
  relayvm_value_free(other);
  EXPECT(exported->dl_tensor.data == data && exported->dl_tensor.dtype.bits == 16);
  relayvm_value* imported = NULL;
  EXPECT(relayvm_value_from_legacy_dlpack(exported, &imported) == NULL);
  EXPECT(relayvm_value_data(imported) == data);
  relayvm_value_free(imported);
  EXPECT(relayvm_value_mutable_data(value) == data);
  relayvm_value_free(value);
  return NULL;
}
