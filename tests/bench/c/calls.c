/* What python_calls.py compares calls of Python with: calls of a program through the C API. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "vm/api/c_api.h"

static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", relayvm_status_message(status));
  exit(1);
}

static double Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Microseconds of a call of the program at `path`, which takes and gives a Tensor[(2, 8), float32]:
 * the least of some rounds. `makes_value`: its input is copied for each call, as Python's are.
 * `into`: the result goes to a buffer; else it is read from a value. */
double Measure(const char* path, int makes_value, int into, int calls, int rounds) {
  enum { kSize = 16 };
  const int64_t dims[2] = {2, 8};
  float in[kSize], out[kSize];
  for (int i = 0; i < kSize; ++i) in[i] = (float)i;
  relayvm_runtime* runtime = NULL;
  relayvm_executable* executable = NULL;
  relayvm_invocation* invocation = NULL;
  relayvm_value *kept = NULL, *result = NULL;
  Check(relayvm_runtime_create(NULL, &runtime));
  Check(relayvm_executable_load(path, NULL, &executable));
  Check(relayvm_invocation_create(runtime, executable, NULL, &invocation));
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 2, in, &kept));
  const relayvm_output output = {out, dims, 2, RELAYVM_FLOAT32};
  double best = 1e300;
  for (int r = 0; r < rounds; ++r) {
    const double begin = Now();
    for (int i = 0; i < calls; ++i) {
      relayvm_value* input = kept;
      if (makes_value) Check(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 2, in, &input));
      if (into) {
        Check(relayvm_invocation_run_into(invocation, "main", &input, 1, &output, 1, NULL));
      } else {
        Check(relayvm_invocation_run(invocation, "main", &input, 1, &result));
        const float* data = relayvm_value_data(result);
        for (int k = 0; k < kSize; ++k) out[k] = data[k];
        relayvm_value_free(result);
      }
      if (makes_value) relayvm_value_free(input);
    }
    const double each = (Now() - begin) / calls;
    if (each < best) best = each;
    in[0] += out[0];
  }
  relayvm_value_free(kept);
  relayvm_invocation_free(invocation);
  relayvm_executable_free(executable);
  relayvm_runtime_free(runtime);
  return best;
}
