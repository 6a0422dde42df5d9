/* The C API as a C program uses it. Each function returns NULL when all went well, else what did
 * not. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vm/c_api.h"

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
  EXPECT(relayvm_executable_load_memory(bytes, size, &program) == NULL);
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
  relayvm_runtime_free(runtime);

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

  relayvm_invocation_stats stats = {0};
  stats.struct_size = sizeof(stats);
  relayvm_invocation_get_stats(invocation, &stats);
  EXPECT(stats.allocations >= 1);
  EXPECT(stats.run_ns > 0);

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
  status = relayvm_invocation_start(invocation, "other", fields, 2);
  EXPECT(relayvm_status_code(status) == RELAYVM_NOT_FOUND);
  relayvm_status_free(status);
  EXPECT(relayvm_invocation_start(invocation, "main", &pair, 1) == NULL);
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

/* NULL where something is needed, and structs without their size. */
static const char* RunNullArguments(void) {
  relayvm_runtime* runtime = NULL;
  relayvm_executable* executable = NULL;
  relayvm_invocation* invocation = NULL;
  relayvm_value* value = NULL;
  DLManagedTensorVersioned* exchanged = NULL;
  uint32_t tag = 0;
  int64_t two = 2;
  float number = 1;
  relayvm_runtime_options runtime_options = {0};
  relayvm_invocation_options options = {0};
  const int releases_before = releases;
  relayvm_status* statuses[] = {
      relayvm_runtime_create(NULL, NULL),
      relayvm_runtime_create(&runtime_options, &runtime),
      relayvm_executable_load(NULL, &executable),
      relayvm_executable_load("model.vmx", NULL),
      relayvm_executable_load_memory(NULL, 100, &executable),
      relayvm_executable_constructor_tag(NULL, "Cons", &tag),
      relayvm_value_tensor(RELAYVM_FLOAT32, NULL, 1, &number, &value),
      relayvm_value_tensor(RELAYVM_FLOAT32, NULL, 0, &number, NULL),
      relayvm_value_wrap(RELAYVM_FLOAT32, &two, 1, NULL, CountRelease, NULL, &value),
      relayvm_value_wrap(RELAYVM_FLOAT32, &two, 1, &number, CountRelease, NULL, NULL),
      relayvm_value_adt(0, NULL, 2, &value),
      relayvm_value_adt(0, &value, 1, &value),
      relayvm_value_from_dlpack(NULL, &value),
      relayvm_value_to_dlpack(NULL, &exchanged),
      relayvm_value_field(NULL, 0, &value),
      relayvm_invocation_create(NULL, NULL, NULL, &invocation),
      relayvm_invocation_create(NULL, NULL, &options, NULL),
      relayvm_invocation_run(NULL, "main", NULL, 0, &value),
      relayvm_invocation_start(NULL, "main", NULL, 0),
      relayvm_invocation_take_result(NULL, &value),
  };
  for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); ++i) {
    EXPECT(relayvm_status_code(statuses[i]) == RELAYVM_INVALID_ARGUMENT);
    relayvm_status_free(statuses[i]);
  }
  EXPECT(runtime == NULL && value == NULL && executable == NULL && invocation == NULL);
  EXPECT(releases == releases_before + 2);
  releases = releases_before;
  EXPECT(relayvm_executable_num_functions(NULL) == 0);
  EXPECT(relayvm_executable_function_name(NULL, 0) == NULL);
  EXPECT(relayvm_executable_num_params(NULL, 0) == 0);
  EXPECT(relayvm_executable_param_name(NULL, 0, 0) == NULL);
  EXPECT(relayvm_value_copy(NULL) == NULL);
  EXPECT(relayvm_value_get_kind(NULL) == RELAYVM_VALUE_NONE);
  EXPECT(relayvm_value_dims(NULL) == NULL && relayvm_value_data(NULL) == NULL);
  EXPECT(relayvm_invocation_poll(NULL, 0) == 1);
  relayvm_invocation_cancel(NULL);
  relayvm_invocation_forget_cancel(NULL);
  relayvm_invocation_stats stats = {0};
  relayvm_invocation_get_stats(NULL, &stats);
  relayvm_invocation_get_stats(NULL, NULL);
  relayvm_runtime_free(NULL);
  relayvm_executable_free(NULL);
  relayvm_invocation_free(NULL);
  relayvm_value_free(NULL);
  relayvm_status_free(NULL);

  /* The size is part of the message. */
  relayvm_status* status = relayvm_runtime_create(&runtime_options, &runtime);
  EXPECT(strstr(relayvm_status_message(status), "found 0; set it to sizeof") != NULL);
  relayvm_status_free(status);
  return NULL;
}

const char* RunBadArguments(void) {
  const char* failed = RunNullArguments();
  if (failed != NULL) return failed;
  relayvm_executable* program = NULL;
  relayvm_status* status = relayvm_executable_load("/nonexistent/model.vmx", &program);
  EXPECT(relayvm_status_code(status) == RELAYVM_NOT_FOUND);
  EXPECT(program == NULL);
  relayvm_status_free(status);
  status = relayvm_executable_load_memory("RVMX", 4, &program);
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
  EXPECT(strcmp(relayvm_status_message(status), "input 0 is NULL") == 0);
  relayvm_status_free(status);

  EXPECT(relayvm_status_code(NULL) == RELAYVM_OK);
  EXPECT(strcmp(relayvm_status_message(NULL), "ok") == 0);
  EXPECT(relayvm_value_get_kind(NULL) == RELAYVM_VALUE_NONE);
  EXPECT(relayvm_value_data(NULL) == NULL);
  relayvm_status_free(NULL);
  relayvm_runtime_free(NULL);
  relayvm_executable_free(NULL);
  relayvm_invocation_free(NULL);
  relayvm_value_free(NULL);
  return NULL;
}
