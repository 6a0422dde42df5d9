/* What the border of the C API costs: runs of next to nothing, and tensors of other libraries.
 *   bench_border FOLDER   with empty.vmx and scalar.vmx, of tests/bench/border: `main` without
 *                         parameters that gives (), and one that adds 1 to a float32.
 * Times are minima of many rounds, in nanoseconds of one thread. */
#include <relayvm/c_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 60, kCalls = 20000 };

static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", relayvm_status_message(status));
  exit(1);
}

static double Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef void (*Work)(void* context);

static double NanosecondsOf(Work work, void* context, int rounds, int calls) {
  double best = 1e300;
  for (int r = 0; r < rounds; ++r) {
    const double begin = Now();
    for (int i = 0; i < calls; ++i) work(context);
    const double each = (Now() - begin) / calls;
    if (each < best) best = each;
  }
  return best;
}

typedef struct {
  relayvm_runtime* runtime;
  relayvm_executable* executable;
  relayvm_invocation* invocation;
} Program;

static Program Load(relayvm_runtime* runtime, const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  Program p = {runtime, NULL, NULL};
  Check(relayvm_executable_load(path, NULL, &p.executable));
  Check(relayvm_invocation_create(runtime, p.executable, NULL, &p.invocation));
  return p;
}

static void RunEmpty(void* context) {
  relayvm_value* result = NULL;
  Check(relayvm_invocation_run(((Program*)context)->invocation, "main", NULL, 0, &result));
  relayvm_value_free(result);
}

static void CreateAndRunEmpty(void* context) {
  Program p = *(Program*)context;
  Check(relayvm_invocation_create(p.runtime, p.executable, NULL, &p.invocation));
  RunEmpty(&p);
  relayvm_invocation_free(p.invocation);
}

static void RunScalar(void* context) {
  const float x = 41;
  relayvm_value *input = NULL, *result = NULL;
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, NULL, 0, &x, &input));
  Check(relayvm_invocation_run(((Program*)context)->invocation, "main", &input, 1, &result));
  if (*(const float*)relayvm_value_data(result) != 42) exit(2);
  relayvm_value_free(result);
  relayvm_value_free(input);
}

static void RunScalarInto(void* context) {
  const float x = 41;
  float y = 0;
  relayvm_value* input = NULL;
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, NULL, 0, &x, &input));
  const relayvm_output output = {&y, NULL, 0, RELAYVM_FLOAT32};
  Check(relayvm_invocation_run_into(((Program*)context)->invocation, "main", &input, 1, &output, 1,
                                    NULL));
  if (y != 42) exit(2);
  relayvm_value_free(input);
}

/* --- Square matrices --- */

typedef struct {
  int64_t size;
  DLDataType dtype;
  relayvm_dtype value_dtype;
  void* elements;
} Matrix;

static void KeepTensor(DLManagedTensorVersioned* tensor) { (void)tensor; }

static void Import(const Matrix* m, int transposed) {
  int64_t shape[2] = {m->size, m->size}, strides[2] = {m->size, 1};
  if (transposed) {
    strides[0] = 1;
    strides[1] = m->size;
  }
  DLManagedTensorVersioned tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.version.major = DLPACK_MAJOR_VERSION;
  tensor.deleter = KeepTensor;
  tensor.dl_tensor.data = m->elements;
  tensor.dl_tensor.device.device_type = kDLCPU;
  tensor.dl_tensor.ndim = 2;
  tensor.dl_tensor.dtype = m->dtype;
  tensor.dl_tensor.shape = shape;
  tensor.dl_tensor.strides = strides;
  relayvm_value* value = NULL;
  Check(relayvm_value_from_dlpack(&tensor, &value));
  relayvm_value_free(value);
}
static void ImportTransposed(void* context) { Import(context, 1); }
static void ImportCompact(void* context) { Import(context, 0); }
static void CopyPlain(void* context) {
  const Matrix* m = context;
  int64_t dims[2] = {m->size, m->size};
  relayvm_value* value = NULL;
  Check(relayvm_value_tensor(m->value_dtype, dims, 2, m->elements, &value));
  relayvm_value_free(value);
}

static void CompareCopies(const char* name, DLDataType dtype, relayvm_dtype value_dtype,
                          int64_t size) {
  const size_t bytes = (size_t)(size * size) * (dtype.bits / 8);
  Matrix m = {size, dtype, value_dtype, aligned_alloc(64, (bytes + 63) / 64 * 64)};
  memset(m.elements, 1, bytes);
  /* In turns, so that both meet the same machine. */
  double plain = 1e300, transposed = 1e300;
  for (int r = 0; r < 7; ++r) {
    const double p = NanosecondsOf(CopyPlain, &m, 1, 1);
    const double t = NanosecondsOf(ImportTransposed, &m, 1, 1);
    if (p < plain) plain = p;
    if (t < transposed) transposed = t;
  }
  printf("%s %lld x %lld: copied in %.2f ms, transposed in %.2f ms: %.2f times; compact %.0f ns\n",
         name, (long long)size, (long long)size, plain / 1e6, transposed / 1e6, transposed / plain,
         NanosecondsOf(ImportCompact, &m, 5, 1000));
  free(m.elements);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: bench_border FOLDER\n");
    return 1;
  }
  relayvm_runtime* runtime = NULL;
  Check(relayvm_runtime_create(NULL, &runtime));
  Program empty = Load(runtime, argv[1], "empty.vmx"),
          scalar = Load(runtime, argv[1], "scalar.vmx");
  printf("empty run: %.0f ns\n", NanosecondsOf(RunEmpty, &empty, kRounds, kCalls));
  printf("created, run empty, freed: %.0f ns\n",
         NanosecondsOf(CreateAndRunEmpty, &empty, kRounds, kCalls));
  printf("a scalar in and out: %.0f ns\n", NanosecondsOf(RunScalar, &scalar, kRounds, kCalls));
  printf("a scalar in, and into a buffer: %.0f ns\n",
         NanosecondsOf(RunScalarInto, &scalar, kRounds, kCalls));
  const DLDataType f32 = {kDLFloat, 32, 1}, f64 = {kDLFloat, 64, 1}, f16 = {kDLFloat, 16, 1},
                   u8 = {kDLUInt, 8, 1};
  CompareCopies("float32", f32, RELAYVM_FLOAT32, 4096);
  CompareCopies("float32", f32, RELAYVM_FLOAT32, 4099);
  CompareCopies("float64", f64, RELAYVM_FLOAT64, 4096);
  CompareCopies("float16", f16, RELAYVM_FLOAT16, 4096);
  CompareCopies("uint8", u8, RELAYVM_UINT8, 8192);
  return 0;
}
