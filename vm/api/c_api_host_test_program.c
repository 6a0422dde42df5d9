/* Host functions as a C program provides them. Each function returns NULL when all went well, else
 * what did not. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vm/api/c_api_host.h"

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

/* What a server keeps of a request: the values that its run has emitted, and who waits. */
struct stream {
  int64_t values[16];
  int count;
  relayvm_waker* waker;
};
static int releases = 0;
static int ready = 0;
static void CountRelease(void* context) {
  (void)context;
  ++releases;
}
static void CountReady(void* context) { ++*(int*)context; }

/* emit(int64) -> (): gives the value to the stream of the request, and waits until it is read. */
static relayvm_status* Emit(relayvm_host_call* call, void* context, relayvm_value** result) {
  struct stream* stream = relayvm_host_call_invocation_context(call);
  (void)context;
  (void)result; /* NULL: the unit tuple */
  if (relayvm_host_call_num_args(call) != 1 || relayvm_host_call_arg(call, 1) != NULL)
    return relayvm_status_create(RELAYVM_INTERNAL, "wrong arguments");
  stream->values[stream->count++] =
      *(const int64_t*)relayvm_value_data(relayvm_host_call_arg(call, 0));
  stream->waker = relayvm_host_call_waker(call);
  return relayvm_host_call_suspend(call);
}
/* limit() -> int64: a number from the context; fails when that is negative. */
static relayvm_status* Limit(relayvm_host_call* call, void* context, relayvm_value** result) {
  const int64_t* limit = context;
  relayvm_status* status = relayvm_host_call_check(call);
  if (status != NULL) return status;
  if (*limit < 0) return relayvm_status_create(RELAYVM_NOT_FOUND, "there is no limit");
  return relayvm_value_tensor(RELAYVM_INT64, NULL, 0, limit, result);
}
/* Sleeps a millisecond. */
static relayvm_status* Sleep(relayvm_host_call* call, void* context, relayvm_value** result) {
  int64_t now;
  (void)context;
  (void)result;
  if (relayvm_host_call_deadline(call) != INT64_MAX)
    return relayvm_status_create(RELAYVM_INTERNAL, "a deadline");
  if (relayvm_host_call_invocation_id(call) == 0) return relayvm_status_create(99, "no id");
  if (strcmp(relayvm_host_call_name(call), "sleep") != 0)
    return relayvm_status_create(99, "no name");
  if (relayvm_host_call_program(call) == NULL) return relayvm_status_create(99, "no program");
  now = 1; /* long ago */
  return relayvm_host_call_suspend_until(call, now);
}

static relayvm_host_function Function(const char* name, const char* type, relayvm_host_fn call,
                                      void* context) {
  relayvm_host_function f;
  memset(&f, 0, sizeof(f));
  f.struct_size = sizeof(f);
  f.name = name;
  f.type = type;
  f.call = call;
  f.context = context;
  f.release = CountRelease;
  return f;
}

static relayvm_status* Load(const void* bytes, size_t size, const relayvm_host_function* functions,
                            size_t count, relayvm_executable** out) {
  relayvm_load_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.host_functions = functions;
  options.num_host_functions = count;
  return relayvm_executable_load_memory(bytes, size, &options, out);
}

/* Program: main() calls sleep(), then emit(i) for i = limit() .. 1, and gives 7. */
const char* RunHostProgram(const void* bytes, size_t size) {
  int64_t limit = 5;
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  relayvm_value* result = NULL;
  relayvm_status* status = NULL;
  relayvm_waker* last = NULL;
  struct stream stream;
  relayvm_host_function functions[3];
  int i;
  memset(&stream, 0, sizeof(stream));
  functions[0] = Function("emit", "fn (int64) -> ()", Emit, NULL);
  functions[1] = Function("limit", NULL, Limit, &limit);
  functions[2] = Function("sleep", "fn () -> ()", Sleep, NULL);

  EXPECT(relayvm_runtime_create(NULL, &runtime) == NULL);
  status = Load(bytes, size, functions, 2, &program);
  EXPECT(relayvm_status_code(status) == RELAYVM_UNSUPPORTED);
  EXPECT(strcmp(relayvm_status_message(status),
                "the program needs host function 'sleep' of type fn () -> (), which the host has "
                "not registered") == 0);
  relayvm_status_free(status);
  EXPECT(program == NULL && releases == 2);
  functions[0].type = "fn (int64) -> int64";
  status = Load(bytes, size, functions, 3, &program);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  relayvm_status_free(status);
  EXPECT(releases == 5);
  functions[0].type = "fn (int64) -> ()";
  EXPECT(Load(bytes, size, functions, 3, &program) == NULL);
  EXPECT(relayvm_invocation_create(runtime, program, NULL, &invocation) == NULL);
  EXPECT(relayvm_invocation_id(invocation) == 1);
  relayvm_invocation_set_host_context(invocation, &stream);
  EXPECT(relayvm_invocation_set_on_ready(invocation, CountReady, &ready) == NULL);

  /* Values arrive in order while the run goes on. */
  EXPECT(relayvm_invocation_start(invocation, "main", NULL, 0, NULL, 0) == NULL);
  for (i = 0; i < 5; ++i) {
    EXPECT(relayvm_invocation_poll(invocation, 0) == 2);
    EXPECT(stream.count == i + 1 && stream.values[i] == 5 - i);
    EXPECT(relayvm_invocation_next_deadline_ns(invocation) == INT64_MAX);
    EXPECT(relayvm_invocation_wake_if_due(invocation) == 0);
    last = relayvm_waker_copy(stream.waker);
    relayvm_waker_free(stream.waker);
    relayvm_waker_wake(last);
    relayvm_waker_wake(last);
    EXPECT(ready == i + 1);
    relayvm_invocation_wait(invocation); /* it is ready */
    if (i < 4) relayvm_waker_free(last);
  }
  EXPECT(relayvm_invocation_poll(invocation, 0) == 1);
  EXPECT(relayvm_invocation_take_result(invocation, &result) == NULL);
  EXPECT(*(const int64_t*)relayvm_value_data(result) == 7);
  relayvm_value_free(result);

  /* Cancelled while it waits; and a failure of the host's own. */
  EXPECT(relayvm_invocation_start(invocation, "main", NULL, 0, NULL, 0) == NULL);
  EXPECT(relayvm_invocation_poll(invocation, 0) == 2);
  relayvm_waker_free(stream.waker);
  relayvm_invocation_cancel(invocation);
  EXPECT(ready == 6);
  EXPECT(relayvm_invocation_poll(invocation, 0) == 1);
  status = relayvm_invocation_take_result(invocation, &result);
  EXPECT(relayvm_status_code(status) == RELAYVM_CANCELLED);
  relayvm_status_free(status);
  limit = -1;
  status = relayvm_invocation_run(invocation, "main", NULL, 0, &result);
  EXPECT(relayvm_status_code(status) == RELAYVM_NOT_FOUND);
  EXPECT(strstr(relayvm_status_message(status), "host function limit: there is no limit") != NULL);
  relayvm_status_free(status);

  EXPECT(relayvm_invocation_set_on_ready(invocation, NULL, NULL) == NULL);
  relayvm_executable_free(program);
  relayvm_invocation_free(invocation);
  relayvm_runtime_free(runtime);
  EXPECT(releases == 8);
  relayvm_waker_wake(last); /* of what is gone */
  relayvm_waker_free(last);
  return NULL;
}

const char* RunBadHostArguments(const void* bytes, size_t size) {
  relayvm_executable* program = NULL;
  relayvm_status* status = NULL;
  relayvm_host_function function;
  memset(&function, 0, sizeof(function));
  status = Load(bytes, size, &function, 1, &program);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  EXPECT(strstr(relayvm_status_message(status),
                "host function 0: relayvm_host_function: expected struct_size") != NULL);
  relayvm_status_free(status);
  /* Of a later version: as long as it says nothing new. */
  const int before = releases;
  struct {
    relayvm_host_function known;
    uint64_t later;
  } longer[3];
  memset(longer, 0, sizeof(longer));
  for (int i = 0; i < 3; ++i) {
    longer[i].known = Function(i == 0 ? "emit" : i == 1 ? "limit" : "sleep", NULL, Emit, NULL);
    longer[i].known.struct_size = sizeof(longer[i]);
  }
  EXPECT(Load(bytes, size, &longer[0].known, 3, &program) == NULL);
  relayvm_executable_free(program);
  EXPECT(releases == before + 3);
  longer[1].later = 1;
  status = Load(bytes, size, &longer[0].known, 3, &program);
  EXPECT(strstr(relayvm_status_message(status),
                "host function 1: relayvm_host_function: the field "
                "at byte 48 is set") != NULL);
  relayvm_status_free(status);
  longer[1].later = 0;
  longer[1].known.struct_size = sizeof(longer[1].known);
  status = Load(bytes, size, &longer[0].known, 3, &program);
  EXPECT(strstr(relayvm_status_message(status), "as of the first, found 48") != NULL);
  relayvm_status_free(status);
  function = Function(NULL, NULL, Emit, NULL);
  status = Load(bytes, size, &function, 1, &program);
  EXPECT(strcmp(relayvm_status_message(status), "host function 0: name is NULL") == 0);
  relayvm_status_free(status);
  function = Function("emit", NULL, NULL, NULL);
  status = Load(bytes, size, &function, 1, &program);
  EXPECT(strcmp(relayvm_status_message(status), "host function 0: call is NULL") == 0);
  relayvm_status_free(status);
  status = Load(bytes, size, NULL, 1, &program);
  EXPECT(strcmp(relayvm_status_message(status), "relayvm_load_options: host_functions is NULL") ==
         0);
  relayvm_status_free(status);
  EXPECT(program == NULL);
  EXPECT(relayvm_host_call_num_args(NULL) == 0 && relayvm_host_call_arg(NULL, 0) == NULL);
  EXPECT(relayvm_host_call_waker(NULL) == NULL && relayvm_waker_copy(NULL) == NULL);
  relayvm_waker_wake(NULL);
  relayvm_waker_free(NULL);
  relayvm_invocation_set_host_context(NULL, NULL);
  status = relayvm_host_call_suspend(NULL);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  relayvm_status_free(status);
  return NULL;
}
