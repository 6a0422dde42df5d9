/* Two operators of our own, in C:
 *
 *   example.hardswish(%x)                     x * clip(x / 6 + 1/2, 0, 1), of float32
 *   example.windows(%x, size=3, factor=0.5f)  the sums of each `size` neighbours along the last axis,
 *                                             times the factor: n becomes n - size + 1
 *
 *   cc -O2 -shared -fPIC -I INCLUDE example_operators.c -o libexample_operators.so
 *   relayc windows.relay --plugin ./libexample_operators.so
 *   vmrun windows.vmx --plugin ./libexample_operators.so --input 2x5xf32=1
 *
 * In an ONNX model they are HardSwish and Windows of the domain "com.example". */
#include <string.h>

#include "kernels/runtime/operator_plugin.h"

/* --- Types --- */

static void InferSame(const RelayvmTypeContext* c) {
  RelayvmDim dims[8];
  const uint32_t rank = c->rank(c, 0);
  if (c->dtype(c, 0) != RELAYVM_ELEMENT_FLOAT32) {
    c->fail(c, "expected a tensor of float32");
    return;
  }
  if (rank > 8) {
    c->fail(c, "expected a tensor of rank 8 at most");
    return;
  }
  for (uint32_t i = 0; i < rank; ++i) dims[i] = c->dim(c, 0, i);
  c->result(c, 0, RELAYVM_ELEMENT_FLOAT32, rank, dims);
}

static void InferWindows(const RelayvmTypeContext* c) {
  RelayvmDim dims[8];
  const uint32_t rank = c->rank(c, 0);
  const int64_t size = c->attr_int(c, 0);
  if (c->dtype(c, 0) != RELAYVM_ELEMENT_FLOAT32 || rank == 0 || rank > 8) {
    c->fail(c, "expected a tensor of float32 and rank 1 to 8");
    return;
  }
  if (size < 1) {
    c->fail(c, "expected a size of 1 or more");
    return;
  }
  for (uint32_t i = 0; i < rank; ++i) dims[i] = c->dim(c, 0, i);
  /* The last dim may be known now or when the program runs: one rule for both. */
  c->require_at_least(c, dims[rank - 1], c->number(c, size), "the last axis");
  dims[rank - 1] = c->sub(c, dims[rank - 1], c->number(c, size - 1));
  c->result(c, 0, RELAYVM_ELEMENT_FLOAT32, rank, dims);
}

/* --- Kernels --- */

/* The dims of the tensor whose scalars start at *s, and behind them. */
static int64_t Elements(const int64_t** s) {
  const int64_t rank = (*s)[1];
  int64_t count = 1;
  for (int64_t i = 0; i < rank; ++i) count *= (*s)[2 + i];
  *s += 2 + rank;
  return count;
}

static int32_t HardSwish(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                         uint32_t end) {
  const float* x = args->buffers[0];
  float* y = args->buffers[1];
  const int64_t* scalars = args->scalars;
  const int64_t count = Elements(&scalars);
  (void)env;
  (void)begin;
  (void)end;
  for (int64_t i = 0; i < count; ++i) {
    float gate = x[i] / 6 + 0.5f;
    gate = gate < 0 ? 0 : gate > 1 ? 1 : gate;
    y[i] = x[i] * gate;
  }
  return RELAYVM_KERNEL_OK;
}

static int32_t Windows(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                       uint32_t end) {
  const float* x = args->buffers[0];
  float* y = args->buffers[1];
  const int64_t* scalars = args->scalars;
  const int64_t length = scalars[1 + scalars[1]]; /* the last dim */
  const int64_t count = Elements(&scalars);
  const int64_t rows = length == 0 ? 0 : count / length;
  Elements(&scalars); /* the output's */
  const int64_t size = scalars[0];
  double factor;
  memcpy(&factor, &scalars[1], sizeof(factor));
  (void)begin;
  (void)end;
  for (int64_t r = 0; r < rows; ++r) {
    /* Rows may be long and many: limits of time act between them. */
    const int32_t stop = env->poll == NULL ? 0 : env->poll(env);
    if (stop != 0) return stop;
    for (int64_t i = 0; i + size <= length; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < size; ++k) sum += x[r * length + i + k];
      y[r * (length - size + 1) + i] = sum * (float)factor;
    }
  }
  return RELAYVM_KERNEL_OK;
}

/* --- What the library has --- */

static const RelayvmAttribute kWindowAttributes[] = {
    {"size", RELAYVM_ATTRIBUTE_INT, 1, 0, 0},
    {"factor", RELAYVM_ATTRIBUTE_FLOAT, 0, 0, 1.0},
};
static const RelayvmOperator kOperators[] = {
    {"example.hardswish", "com.example", "HardSwish", 1, 1, NULL, 0, InferSame, HardSwish},
    {"example.windows", "com.example", "Windows", 1, 1, kWindowAttributes, 2, InferWindows,
     Windows},
};

const RelayvmOperatorPlugin* relayvm_operator_plugin(void) {
  static const RelayvmOperatorPlugin plugin = {RELAYVM_OPERATOR_ABI, sizeof(RelayvmOperator),
                                               kOperators, 2};
  return &plugin;
}
