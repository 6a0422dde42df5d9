/* What the machine's memory allows: microseconds to copy, read and write so many bytes, the least
 * of many turns, a line each.   memory BYTES...
 * Compile with -O3 -march=native. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 16, SUMS = 4, BATCH = LANES * SUMS };
typedef float vector __attribute__((vector_size(4 * LANES)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static float sum(const char* data, size_t bytes) {
  const vector* v = (const vector*)data;
  vector sums[SUMS] = {{0}};
  for (size_t i = 0; i + SUMS <= bytes / sizeof(vector); i += SUMS) {
#pragma GCC unroll 4
    for (int s = 0; s < SUMS; s++) sums[s] += v[i + (size_t)s];
  }
  float result = 0;
  for (int s = 0; s < SUMS; s++) result += sums[s][0];
  return result;
}

static char* pages(size_t bytes) {
  const size_t huge = (size_t)1 << 21;
  char* p = aligned_alloc(huge, (bytes + huge) / huge * huge);
  memset(p, 0, bytes);
  return p;
}

int main(int argc, char** argv) {
  volatile float keep = 0;
  for (int i = 1; i < argc; i++) {
    const size_t bytes = strtoull(argv[i], NULL, 10);
    char *from = pages(bytes), *to = pages(bytes);
    double copied = 1e18, read = 1e18, written = 1e18;
    const int turns = bytes < (1 << 20) ? 400 : bytes < (8 << 20) ? 60 : 8;
    for (int turn = 0; turn < turns; turn++) {
      const double a = now();
      memcpy(to, from, bytes);
      const double b = now();
      keep = keep + sum(from, bytes);
      const double c = now();
      memset(to, turn, bytes);
      const double d = now();
      if (b - a < copied) copied = b - a;
      if (c - b < read) read = c - b;
      if (d - c < written) written = d - c;
    }
    printf("%.4f %.4f %.4f\n", copied, read, written);
    free(from);
    free(to);
  }
  return 0;
}
