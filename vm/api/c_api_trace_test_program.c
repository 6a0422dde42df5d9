/* Profiles and traces as a C program uses them. Each function returns NULL when all went well, else
 * what did not. The program's main(x) doubles x by a kernel, after a host function that sleeps. */
#define _POSIX_C_SOURCE 199309L
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "vm/api/c_api_host.h"
#include "vm/api/c_api_trace.h"

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

enum { kRuns = 3 };

/* Waits for two milliseconds. */
static relayvm_status* Sleep(relayvm_host_call* call, void* context, relayvm_value** result) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  relayvm_status* status = relayvm_host_call_suspend_until(
      call, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 2000000);
  return status != NULL ? status : relayvm_value_adt(0, NULL, 0, result);
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

/* The beginning of a text that is lent. */
struct text {
  int calls, has_zero;
  char begin[64];
};
static void KeepText(void* context, const char* json, size_t size) {
  struct text* text = context;
  ++text->calls;
  text->has_zero = json[size] == '\0';
  strncpy(text->begin, json, sizeof text->begin - 1);
}

/* Events by kind, and what is wrong with any. */
struct tally {
  int kernels, begins, ends, slices, waits, host_calls, batches, releases;
  int64_t waited_ns;
  const char* wrong;
};
static void Check(struct tally* tally, int ok, const char* what) {
  if (!ok && tally->wrong == NULL) tally->wrong = what;
}
static void OnKernel(void* user, const relayvm_kernel_event* event) {
  struct tally* tally = user;
  ++tally->kernels;
  Check(tally, strcmp(event->name, "double") == 0, "the kernel's name");
  Check(tally, event->struct_size == sizeof *event && event->batch == 1, "the kernel's event");
  Check(tally, event->place.line == 7 && strcmp(event->place.file, "m.relay") == 0, "its place");
}
static void OnBegin(void* user, const relayvm_run_event* event) {
  struct tally* tally = user;
  ++tally->begins;
  Check(tally, event->begin_ns == event->end_ns && strcmp(event->function, "main") == 0,
        "a beginning");
}
static void OnEnd(void* user, const relayvm_run_event* event) {
  struct tally* tally = user;
  ++tally->ends;
  Check(tally, event->status == RELAYVM_OK && event->begin_ns < event->end_ns, "an end");
}
static void OnSlice(void* user, const relayvm_slice_event* event) {
  struct tally* tally = user;
  ++tally->slices;
  Check(tally, event->begin_ns <= event->end_ns && event->invocation != 0, "a slice");
}
static void OnWait(void* user, const relayvm_wait_event* event) {
  struct tally* tally = user;
  ++tally->waits;
  tally->waited_ns += event->end_ns - event->begin_ns;
  Check(tally, event->in_batch == 0, "a wait");
}
static void OnHostCall(void* user, const relayvm_host_call_event* event) {
  struct tally* tally = user;
  ++tally->host_calls;
  Check(tally, strcmp(event->name, "sleep") == 0 && event->end_ns - event->begin_ns >= 1000000,
        "a call of a host function");
}
static void OnBatch(void* user, const relayvm_batch_event* event) {
  struct tally* tally = user;
  (void)event;
  ++tally->batches;
}
static void Release(void* user) {
  struct tally* tally = user;
  ++tally->releases;
}

static const char* Run(const void* bytes, size_t size, const relayvm_runtime_options* options) {
  relayvm_host_function sleep = {0};
  sleep.struct_size = sizeof sleep;
  sleep.name = "sleep";
  sleep.call = Sleep;
  relayvm_load_options load = {0};
  load.struct_size = sizeof load;
  load.host_functions = &sleep;
  load.num_host_functions = 1;
  const relayvm_host_kernel kernel = {"double", Double};
  load.kernels = &kernel;
  load.num_kernels = 1;
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  relayvm_value *x = NULL, *y = NULL;
  const int64_t dims[1] = {2};
  const float elements[2] = {1, 2};
  EXPECT(relayvm_runtime_create(options, &runtime) == NULL);
  EXPECT(relayvm_executable_load_memory(bytes, size, &load, &program) == NULL);
  EXPECT(relayvm_invocation_create(runtime, program, NULL, &invocation) == NULL);
  EXPECT(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, elements, &x) == NULL);
  for (int i = 0; i < kRuns; ++i) {
    EXPECT(relayvm_invocation_run(invocation, "main", &x, 1, &y) == NULL);
    relayvm_value_free(y);
  }
  relayvm_value_free(x);
  relayvm_invocation_free(invocation);
  relayvm_executable_free(program);
  relayvm_runtime_free(runtime);
  return NULL;
}

/* Callbacks, a profile and a Chrome trace; the last is written to `path`. */
const char* RunTraced(const void* bytes, size_t size, const char* path);
const char* RunTraced(const void* bytes, size_t size, const char* path) {
  struct tally tally = {0};
  relayvm_trace callbacks = {.struct_size = sizeof callbacks,
                             .user = &tally,
                             .on_kernel = OnKernel,
                             .release = Release,
                             .on_run_begin = OnBegin,
                             .on_run_end = OnEnd,
                             .on_slice = OnSlice,
                             .on_wait = OnWait,
                             .on_host_call = OnHostCall,
                             .on_batch = OnBatch};
  relayvm_runtime_options options = {.struct_size = sizeof options, .trace = &callbacks};
  const char* failed = Run(bytes, size, &options);
  if (failed != NULL) return failed;
  if (tally.wrong != NULL) return tally.wrong;
  EXPECT(tally.kernels == kRuns && tally.begins == kRuns && tally.ends == kRuns);
  EXPECT(tally.waits == kRuns && tally.waited_ns >= kRuns * 1000000LL);
  EXPECT(tally.host_calls == kRuns && tally.slices >= kRuns && tally.batches == 0);
  EXPECT(tally.releases == 1);

  relayvm_profile* profile = NULL;
  relayvm_profile_report* report = NULL;
  EXPECT(relayvm_profile_create(NULL, &profile) == NULL);
  options = (relayvm_runtime_options){.struct_size = sizeof options, .profile = profile};
  failed = Run(bytes, size, &options);
  if (failed != NULL) return failed;
  EXPECT(relayvm_profile_read(profile, &report) == NULL);
  relayvm_profile_row row = {.struct_size = sizeof row};
  EXPECT(relayvm_profile_report_row(report, 0, 0, &row) == 1);
  EXPECT(strcmp(row.name, "double") == 0 && row.calls == kRuns && row.samples == kRuns);
  EXPECT(row.total_ns >= row.longest_ns && row.longest_ns > 0 && row.place.line == 0);
  EXPECT(relayvm_profile_report_row(report, 0, 1, &row) == 0);
  EXPECT(relayvm_profile_report_row(report, 1, 0, &row) == 1);
  EXPECT(row.place.line == 7 && strcmp(row.place.file, "m.relay") == 0);
  row.struct_size = 4;
  EXPECT(relayvm_profile_report_row(report, 0, 0, &row) == 0);
  relayvm_profile_totals totals = {.struct_size = sizeof totals};
  EXPECT(relayvm_profile_report_totals(report, &totals) == NULL);
  EXPECT(totals.runs == kRuns && totals.wait_ns >= kRuns * 1000000LL);
  EXPECT(totals.run_ns >= totals.wait_ns && totals.kernel_ns > 0);
  relayvm_profile_report_free(report);
  EXPECT(relayvm_profile_clear(profile) == NULL);
  EXPECT(relayvm_profile_read(profile, &report) == NULL);
  row.struct_size = sizeof row;
  EXPECT(relayvm_profile_report_row(report, 0, 0, &row) == 0);
  relayvm_profile_report_free(report);

  /* One of the three; and a runtime keeps what it was given. */
  relayvm_chrome_trace* trace = NULL;
  const relayvm_chrome_trace_options few = {.struct_size = sizeof few, .max_events = 4};
  EXPECT(relayvm_chrome_trace_create(&few, &trace) == NULL);
  options.chrome_trace = trace;
  relayvm_runtime* runtime = NULL;
  relayvm_status* status = relayvm_runtime_create(&options, &runtime);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT && runtime == NULL);
  EXPECT(strstr(relayvm_status_message(status), "one of trace, profile and chrome_trace") != NULL);
  relayvm_status_free(status);
  options.profile = NULL;
  EXPECT(relayvm_runtime_create(&options, &runtime) == NULL);
  relayvm_profile_free(profile);
  failed = Run(bytes, size, &options);
  if (failed != NULL) return failed;
  EXPECT(relayvm_chrome_trace_num_events(trace) == 4 && relayvm_chrome_trace_dropped(trace) > 0);
  EXPECT(relayvm_chrome_trace_write(trace, path) == NULL);
  status = relayvm_chrome_trace_write(trace, "/nowhere/at/all.json");
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_INPUT);
  relayvm_status_free(status);
  struct text read = {0};
  EXPECT(relayvm_chrome_trace_json(trace, KeepText, &read) == NULL);
  EXPECT(read.calls == 1 && read.has_zero && strstr(read.begin, "\"traceEvents\"") != NULL);
  EXPECT(relayvm_chrome_trace_clear(trace) == NULL);
  EXPECT(relayvm_chrome_trace_num_events(trace) == 0);
  relayvm_chrome_trace_free(trace);
  relayvm_runtime_free(runtime); /* which kept it */
  return NULL;
}
