/* What a call of a program costs through the C API.
 *   bench_call PROGRAM.vmx DIMS...   with an input of float32 for each DIMS ("2x8")
 * For each line of standard input it measures a round, and prints microseconds of a call that makes
 * values of arrays and reads the result, and of one that writes the result to a buffer: those of
 * python_overheads.py, which asks it and its peers in turn. */
#include <relayvm/c_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostInputs = 8, kMostDims = 8 };

typedef struct {
  int64_t dims[kMostDims];
  size_t rank;
  float* data;
} Input;

static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "bench_call: %s\n", relayvm_status_message(status));
  exit(1);
}

static double Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static Input Read(const char* text) {
  Input x = {{0}, 0, NULL};
  size_t count = 1;
  for (char* end = NULL; x.rank < kMostDims; text = end + 1) {
    x.dims[x.rank] = strtoll(text, &end, 10);
    count *= (size_t)x.dims[x.rank++];
    if (*end != 'x') break;
  }
  x.data = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  for (size_t i = 0; i < count; ++i) x.data[i] = 1;
  return x;
}

static void Values(const Input* inputs, size_t count, relayvm_value** values) {
  for (size_t i = 0; i < count; ++i) {
    Check(relayvm_value_tensor(RELAYVM_FLOAT32, inputs[i].dims, inputs[i].rank, inputs[i].data,
                               &values[i]));
  }
}
static void Free(size_t count, relayvm_value** values) {
  for (size_t i = 0; i < count; ++i) relayvm_value_free(values[i]);
}

typedef struct {
  relayvm_invocation* invocation;
  const Input* inputs;
  size_t count;
  const relayvm_output* output;
  double sum;
} Bench;

static void RunMade(Bench* b) {
  relayvm_value *values[kMostInputs], *result = NULL;
  Values(b->inputs, b->count, values);
  Check(relayvm_invocation_run(b->invocation, "main", values, b->count, &result));
  b->sum += *(const float*)relayvm_value_data(result);
  relayvm_value_free(result);
  Free(b->count, values);
}
static void RunInto(Bench* b) {
  relayvm_value* values[kMostInputs];
  Values(b->inputs, b->count, values);
  Check(relayvm_invocation_run_into(b->invocation, "main", values, b->count, b->output, 1, NULL));
  Free(b->count, values);
}

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Of batches of calls, so that who else uses the machine counts little. */
static double MedianOf(void (*run)(Bench*), Bench* bench) {
  enum { kBatches = 51, kCalls = 50 };
  double times[kBatches];
  for (int i = 0; i < kBatches; ++i) {
    const double begin = Now();
    for (int k = 0; k < kCalls; ++k) run(bench);
    times[i] = (Now() - begin) / kCalls;
  }
  qsort(times, kBatches, sizeof(times[0]), Compare);
  return times[kBatches / 2];
}

int main(int argc, char** argv) {
  if (argc < 3 || argc > 2 + kMostInputs) {
    fprintf(stderr, "usage: bench_call PROGRAM.vmx DIMS...\n");
    return 1;
  }
  relayvm_runtime* runtime = NULL;
  relayvm_executable* executable = NULL;
  relayvm_invocation* invocation = NULL;
  Check(relayvm_runtime_create(NULL, &runtime));
  Check(relayvm_executable_load(argv[1], NULL, &executable));
  Check(relayvm_invocation_create(runtime, executable, NULL, &invocation));
  const size_t count = (size_t)argc - 2;
  Input inputs[kMostInputs];
  for (size_t i = 0; i < count; ++i) inputs[i] = Read(argv[i + 2]);
  /* The result has the first input's dims, as those of python_overheads.py have. */
  Input out = Read(argv[2]);
  const relayvm_output output = {out.data, out.dims, out.rank, RELAYVM_FLOAT32};
  Bench bench = {invocation, inputs, count, &output, 0};
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (c != '\n') continue;
    const double made = MedianOf(RunMade, &bench), into = MedianOf(RunInto, &bench);
    printf("{\"values in, a value out\": %.4f, \"into a buffer\": %.4f}\n", made, into);
    fflush(stdout);
  }
  return bench.sum < 0;
}
