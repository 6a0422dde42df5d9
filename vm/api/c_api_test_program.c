/* The C API as a C program uses it. Each function returns NULL when all went well, else what did
 * not. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vm/api/c_api.h"

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

static int releases = 0;
static void CountRelease(void* context) {
  (void)context;
  ++releases;
}

/* Program: "main" swaps a pair of an int64 scalar and a tensor of any float32 vector; "same" gives
 * back a value of any type. */
const char* RunSwapProgram(const void* bytes, size_t size) {
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  relayvm_runtime_options runtime_options = {0};
  runtime_options.struct_size = sizeof(runtime_options);
  runtime_options.num_threads = 2;
  EXPECT(relayvm_runtime_create(&runtime_options, &runtime) == NULL);
  EXPECT(relayvm_executable_load_memory(bytes, size, NULL, &program) == NULL);
  EXPECT(relayvm_executable_num_functions(program) == 2);
  EXPECT(strcmp(relayvm_executable_function_name(program, 0), "main") == 0);
  EXPECT(relayvm_executable_function_name(program, 2) == NULL);
  EXPECT(relayvm_executable_num_params(program, 0) == 1);
  EXPECT(strcmp(relayvm_executable_param_name(program, 0, 0), "pair") == 0);
  uint32_t tag = 0;
  EXPECT(relayvm_executable_constructor_tag(program, "Cons", &tag) == NULL);
  EXPECT(tag == 1);
  EXPECT(relayvm_invocation_create(runtime, program, NULL, &invocation) == NULL);
  relayvm_executable_free(program); /* the invocation keeps it */

  int64_t number = 42;
  float* elements = aligned_alloc(64, 64);
  elements[0] = 1.5f;
  elements[1] = 2.5f;
  int64_t dims[1] = {2};
  relayvm_value* fields[2] = {NULL, NULL};
  relayvm_value* pair = NULL;
  relayvm_value* result = NULL;
  EXPECT(relayvm_value_tensor(RELAYVM_INT64, NULL, 0, &number, &fields[0]) == NULL);
  EXPECT(relayvm_value_wrap(RELAYVM_FLOAT32, dims, 1, elements, CountRelease, NULL, &fields[1]) ==
         NULL);
  EXPECT(relayvm_value_data(fields[1]) == elements);
  EXPECT(relayvm_value_adt(0, fields, 2, &pair) == NULL);
  EXPECT(relayvm_invocation_run(invocation, "main", &pair, 1, &result) == NULL);

  EXPECT(relayvm_value_get_kind(result) == RELAYVM_VALUE_ADT);
  EXPECT(relayvm_value_num_fields(result) == 2);
  EXPECT(relayvm_value_tag(result) == 0);
  relayvm_value* first = NULL;
  EXPECT(relayvm_value_field(result, 0, &first) == NULL);
  EXPECT(relayvm_value_get_dtype(first) == RELAYVM_FLOAT32);
  EXPECT(relayvm_value_rank(first) == 1);
  EXPECT(relayvm_value_dims(first)[0] == 2);
  EXPECT(relayvm_value_bytes(first) == 8);
  EXPECT(relayvm_value_data(first) == elements); /* in and out without a copy */
  relayvm_value* none = pair;
  relayvm_status* status = relayvm_value_field(result, 2, &none);
  EXPECT(relayvm_status_code(status) == RELAYVM_OUT_OF_RANGE);
  EXPECT(strcmp(relayvm_status_message(status), "field 2 of 2") == 0);
  EXPECT(none == NULL);
  relayvm_status_free(status);

  /* By names. */
  const char* input_names[] = {"pair"};
  const char* output_names[] = {"output_1", "output_0"};
  relayvm_value* outputs[2] = {pair, pair};
  EXPECT(relayvm_invocation_run_named(invocation, "main", input_names, &pair, 1, output_names, 2,
                                      outputs) == NULL);
  EXPECT(relayvm_value_get_dtype(outputs[0]) == RELAYVM_INT64);
  EXPECT(relayvm_value_get_dtype(outputs[1]) == RELAYVM_FLOAT32);
  relayvm_value_free(outputs[0]);
  relayvm_value_free(outputs[1]);
  output_names[1] = "output_2";
  status = relayvm_invocation_run_named(invocation, "main", input_names, &pair, 1, output_names, 2,
                                        outputs);
  EXPECT(strcmp(relayvm_status_message(status),
                "main: there is no output 'output_2'; did you mean output_0?") == 0);
  EXPECT(outputs[0] == NULL && outputs[1] == NULL);
  relayvm_status_free(status);
  input_names[0] = "pear";
  status = relayvm_invocation_run_named(invocation, "main", input_names, &pair, 1, NULL, 0, NULL);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  EXPECT(strcmp(relayvm_status_message(status),
                "main: there is no input 'pear'; did you mean pair?") == 0);
  relayvm_status_free(status);

  relayvm_invocation_stats stats = {0};
  stats.struct_size = sizeof(stats);
  EXPECT(relayvm_invocation_get_stats(invocation, &stats) == NULL);
  EXPECT(stats.allocations >= 1);
  EXPECT(stats.run_ns > 0);
  relayvm_runtime_stats totals = {0};
  status = relayvm_runtime_get_stats(runtime, &totals);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  relayvm_status_free(status);
  totals.struct_size = sizeof(totals);
  EXPECT(relayvm_runtime_get_stats(runtime, &totals) == NULL);
  EXPECT(totals.started == 3 && totals.ended[RELAYVM_OK] == 3 && totals.refused == 0);
  EXPECT(totals.run_ns > stats.run_ns && totals.allocations > stats.allocations);
  EXPECT(totals.peak_bytes == stats.peak_bytes && totals.workspaces == 1);
  relayvm_runtime_free(runtime);

  /* A type parameter stands for any value: a list of one pair. */
  relayvm_value* nil = NULL;
  relayvm_value* cons = NULL;
  relayvm_value* open = NULL;
  EXPECT(relayvm_value_adt(0, NULL, 0, &nil) == NULL);
  relayvm_value* cell[2] = {pair, nil};
  EXPECT(relayvm_value_adt(tag, cell, 2, &cons) == NULL);
  EXPECT(relayvm_invocation_run(invocation, "same", &cons, 1, &open) == NULL);
  EXPECT(relayvm_value_tag(open) == tag);
  EXPECT(relayvm_value_num_fields(open) == 2);
  relayvm_value_free(nil);
  relayvm_value_free(cons);
  relayvm_value_free(open);

  /* Wrong inputs, in slices too. */
  status = relayvm_invocation_run(invocation, "main", fields, 2, &none);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  EXPECT(strcmp(relayvm_status_message(status), "main: expected 1 inputs, found 2") == 0);
  relayvm_status_free(status);
  status = relayvm_invocation_start(invocation, "other", fields, 2, NULL, 0);
  EXPECT(relayvm_status_code(status) == RELAYVM_NOT_FOUND);
  relayvm_status_free(status);
  EXPECT(relayvm_invocation_start(invocation, "main", &pair, 1, NULL, 0) == NULL);
  while (!relayvm_invocation_poll(invocation, 1000)) {
  }
  relayvm_value* again = NULL;
  EXPECT(relayvm_invocation_take_result(invocation, &again) == NULL);
  EXPECT(relayvm_value_num_fields(again) == 2);

  DLManagedTensorVersioned* exchanged = NULL;
  EXPECT(relayvm_value_to_dlpack(first, &exchanged) == NULL);
  EXPECT(exchanged->dl_tensor.data == elements);
  relayvm_value* imported = NULL;
  EXPECT(relayvm_value_from_dlpack(exchanged, &imported) == NULL);
  EXPECT(relayvm_value_data(imported) == elements);

  relayvm_value* copy = relayvm_value_copy(first);
  relayvm_invocation_free(invocation); /* results outlive it */
  relayvm_value_free(again);
  relayvm_value_free(result);
  relayvm_value_free(first);
  relayvm_value_free(pair);
  relayvm_value_free(fields[0]);
  relayvm_value_free(fields[1]);
  relayvm_value_free(imported);
  EXPECT(releases == 0);
  EXPECT(((const float*)relayvm_value_data(copy))[1] == 2.5f);
  relayvm_value_free(copy);
  EXPECT(releases == 1);
  free(elements);
  return NULL;
}

const char* RunBadArguments(void) {
  relayvm_executable* program = NULL;
  relayvm_status* status = relayvm_executable_load("/nonexistent/model.vmx", NULL, &program);
  EXPECT(relayvm_status_code(status) == RELAYVM_NOT_FOUND);
  EXPECT(program == NULL);
  relayvm_status_free(status);
  status = relayvm_executable_load_memory("RVMX", 4, NULL, &program);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_INPUT);
  relayvm_status_free(status);

  relayvm_value* value = NULL;
  int64_t negative = -1;
  status = relayvm_value_tensor(RELAYVM_INT8, &negative, 1, NULL, &value);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  relayvm_status_free(status);
  status = relayvm_value_tensor(99, NULL, 0, NULL, &value);
  EXPECT(strcmp(relayvm_status_message(status), "dtype 99 does not exist") == 0);
  relayvm_status_free(status);
  int before = releases;
  status = relayvm_value_wrap(RELAYVM_INT8, &negative, 1, &negative, CountRelease, NULL, &value);
  EXPECT(status != NULL && releases == before + 1);
  relayvm_status_free(status);
  status = relayvm_value_adt(0, &value, 1, &value);
  EXPECT(strcmp(relayvm_status_message(status), "field 0 is NULL") == 0);
  relayvm_status_free(status);

  EXPECT(relayvm_status_code(NULL) == RELAYVM_OK);
  EXPECT(strcmp(relayvm_status_message(NULL), "ok") == 0);
  EXPECT(strcmp(relayvm_status_code_name(RELAYVM_NOT_FOUND), "not found") == 0);
  EXPECT(relayvm_status_create(RELAYVM_OK, "fine") == NULL);
  status = relayvm_status_create(RELAYVM_CANCELLED, "no more");
  EXPECT(relayvm_status_code(status) == RELAYVM_CANCELLED);
  EXPECT(strcmp(relayvm_status_message(status), "no more") == 0);
  EXPECT(relayvm_status_num_places(status) == 0);
  relayvm_status_free(status);
  status = relayvm_status_create(1000, NULL);
  EXPECT(relayvm_status_code(status) == RELAYVM_INTERNAL);
  relayvm_status_free(status);
  return NULL;
}

/* Structs of other versions of this header. */
const char* RunOtherVersions(void) {
  struct {
    relayvm_runtime_options options;
    uint64_t later[2];
  } newer;
  relayvm_runtime* runtime = NULL;
  const uint32_t first_size = offsetof(relayvm_runtime_options, profile);
  const uint32_t bad_sizes[] = {0, 4, 8, first_size - 1, 4097, UINT32_MAX};
  for (size_t i = 0; i < sizeof(bad_sizes) / sizeof(bad_sizes[0]); ++i) {
    memset(&newer, 0, sizeof(newer));
    newer.options.struct_size = bad_sizes[i];
    relayvm_status* status = relayvm_runtime_create(&newer.options, &runtime);
    EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT && runtime == NULL);
    EXPECT(strstr(relayvm_status_message(status), "set it to sizeof(relayvm_runtime_options)") !=
           NULL);
    relayvm_status_free(status);
  }
  /* The first version's, whatever comes behind it; and longer, with nothing in it. */
  memset(&newer, 1, sizeof(newer));
  memset(&newer, 0, first_size);
  newer.options.struct_size = first_size;
  EXPECT(relayvm_runtime_create(&newer.options, &runtime) == NULL);
  relayvm_runtime_free(runtime);
  memset(&newer, 0, sizeof(newer));
  newer.options.struct_size = sizeof(newer);
  EXPECT(relayvm_runtime_create(&newer.options, &runtime) == NULL);
  EXPECT(relayvm_runtime_num_threads(runtime) == 1);
  relayvm_runtime_free(runtime);
  newer.later[1] = 1;
  relayvm_status* status = relayvm_runtime_create(&newer.options, &runtime);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT && runtime == NULL);
  EXPECT(strstr(relayvm_status_message(status), "use a newer one") != NULL);
  relayvm_status_free(status);

  /* A header that the library is too old, or too new, for. */
  const uint32_t versions[] = {0, RELAYVM_API_VERSION + 1, UINT32_MAX};
  for (size_t i = 0; i < 3; ++i) {
    status = relayvm_runtime_create_for(versions[i], NULL, &runtime);
    EXPECT(relayvm_status_code(status) == RELAYVM_UNSUPPORTED && runtime == NULL);
    relayvm_status_free(status);
    status = relayvm_check_api_version(versions[i]);
    EXPECT(strstr(relayvm_status_message(status), "compiled for version") != NULL);
    relayvm_status_free(status);
  }
  EXPECT(relayvm_check_api_version(RELAYVM_API_VERSION) == NULL);
  EXPECT(relayvm_api_version() == RELAYVM_API_VERSION);
  uint32_t major = 99, minor = 99, patch = 99;
  relayvm_version_numbers(&major, &minor, &patch);
  EXPECT(major == RELAYVM_VERSION_MAJOR && minor == RELAYVM_VERSION_MINOR);
  EXPECT(patch == RELAYVM_VERSION_PATCH && strlen(relayvm_version()) >= 5);
  return NULL;
}

static relayvm_value* Zeros(int64_t rows, int64_t columns) {
  static const float zeros[64];
  const int64_t dims[2] = {rows, columns};
  relayvm_value* value = NULL;
  const uint32_t rank = columns < 0 ? 1 : 2;
  return relayvm_value_tensor(RELAYVM_FLOAT32, dims, rank, zeros, &value) == NULL ? value : NULL;
}

/* An ADT value of these fields, which it takes. */
static relayvm_value* Data(uint32_t tag, relayvm_value* first, relayvm_value* second) {
  relayvm_value* fields[2] = {first, second};
  relayvm_value* value = NULL;
  const uint32_t count = (first != NULL ? 1 : 0) + (second != NULL ? 1 : 0);
  if (relayvm_value_adt(tag, fields, count, &value) != NULL) value = NULL;
  relayvm_value_free(first);
  relayvm_value_free(second);
  return value;
}

/* Runs main with a list of vectors of `n` and `in_list`, a box of (`k`, `in_box`) and (`in_pair`)
 * and a vector of `n`; "" where it runs. */
static const char* RunWithDims(relayvm_invocation* invocation, int64_t n, int64_t in_list,
                               int64_t in_box, int64_t k, int64_t in_pair) {
  static char text[256];
  relayvm_value* inputs[3] = {
      Data(1, Zeros(n, -1), Data(1, Zeros(in_list, -1), Data(0, NULL, NULL))),
      Data(0, Data(0, Zeros(k, in_box), Zeros(in_pair, -1)), NULL), Zeros(n, -1)};
  relayvm_value* result = NULL;
  relayvm_status* status = relayvm_invocation_run(invocation, "main", inputs, 3, &result);
  text[0] = '\0';
  if (status != NULL) {
    strncpy(text, relayvm_status_message(status), sizeof(text) - 1);
    relayvm_status_free(status);
  }
  relayvm_value_free(result);
  for (int i = 0; i < 3; ++i) relayvm_value_free(inputs[i]);
  return text;
}

/* Names of dims in a list, in a tuple of a data type, and in a tensor. */
const char* RunNamedDims(const void* bytes, size_t size) {
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  EXPECT(relayvm_runtime_create(NULL, &runtime) == NULL);
  EXPECT(relayvm_executable_load_memory(bytes, size, NULL, &program) == NULL);
  EXPECT(relayvm_invocation_create(runtime, program, NULL, &invocation) == NULL);
  EXPECT(strcmp(RunWithDims(invocation, 3, 3, 3, 2, 2), "") == 0);
  EXPECT(strcmp(RunWithDims(invocation, 3, 4, 3, 2, 2),
                "main: x's dim 0 (n) is 3, a tensor in l's dim 0 (n) is 4") == 0);
  EXPECT(strcmp(RunWithDims(invocation, 3, 3, 4, 2, 2),
                "main: x's dim 0 (n) is 3, a tensor in b's dim 1 (n) is 4") == 0);
  EXPECT(strcmp(RunWithDims(invocation, 3, 3, 3, 2, 5),
                "main: a tensor in b's dim 0 (k) is 2, a tensor in b's dim 0 (k) is 5") == 0);
  EXPECT(strcmp(RunWithDims(invocation, 0, 0, 0, 0, 0), "") == 0);
  relayvm_invocation_free(invocation);
  relayvm_executable_free(program);
  relayvm_runtime_free(runtime);
  return NULL;
}
