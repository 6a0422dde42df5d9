/* The machine's measured fp32 FMA peak of one core, in GFLOP/s: independent chains of multiply-adds
 * on the widest vectors. Compile with -O3 and -march=native or the level that is measured. */
#include <stdio.h>
#include <time.h>

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float vector __attribute__((vector_size(4 * LANES)));
enum { CHAINS = 12, TURNS = 4000000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void) {
  vector a[CHAINS], x, y;
  for (int l = 0; l < LANES; l++) x[l] = 0.999f, y[l] = 1e-3f;
  for (int j = 0; j < CHAINS; j++) a[j] = y + (float)j;
  double best = 0;
  for (int round = 0; round < 10; round++) {
    double start = now();
    for (long i = 0; i < TURNS; i++) {
#pragma GCC unroll 12
      for (int j = 0; j < CHAINS; j++) a[j] = a[j] * x + y;
      __asm__ volatile("" : "+v"(x));
    }
    double rate = 2.0 * LANES * CHAINS * TURNS / (now() - start) * 1e-9;
    if (rate > best) best = rate;
  }
  float sum = 0;
  for (int j = 0; j < CHAINS; j++) sum += a[j][0];
  printf("%.1f GFLOP/s (%g)\n", best, sum);
  return 0;
}
