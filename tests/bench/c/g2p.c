/* The g2p network as a plain C program, compiled with -O3 -march=native: the figure that
 * tools/examples/g2p.relay is held to.
 *
 * usage: g2p WEIGHTS.raw RUNS LETTER...     WEIGHTS.raw is made by tools/examples/g2p.py --raw; LETTERs are numbers, 2 ends the word.
 * Prints the phonemes' numbers, then steps a second (letters and phonemes; median of RUNS). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 256, G = 768, LETTERS = 29, PHONEMES = 74 };

typedef struct {
  const float *emb, *w_ih, *w_hh, *b_ih, *b_hh;
} Gru;

static void affine(float* out, const float* x, const float* w, const float* b, int rows) {
  for (int i = 0; i < rows; i++) {
    float sum = 0;
    for (int j = 0; j < N; j++) sum += w[i * N + j] * x[j];
    out[i] = sum + b[i];
  }
}

static void gru(const Gru* g, int symbol, float* h) {
  float i[G], s[G];
  affine(i, g->emb + symbol * N, g->w_ih, g->b_ih, G);
  affine(s, h, g->w_hh, g->b_hh, G);
  for (int k = 0; k < N; k++) {
    float r = 1.0f / (1.0f + expf(-(i[k] + s[k])));
    float z = 1.0f / (1.0f + expf(-(i[N + k] + s[N + k])));
    float n = tanhf(i[2 * N + k] + r * s[2 * N + k]);
    h[k] = (1 - z) * n + z * h[k];
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc < 4) return fprintf(stderr, "usage: g2p WEIGHTS.raw RUNS LETTER...\n"), 1;
  static float data[2000000];
  FILE* f = fopen(argv[1], "rb");
  if (!f || fread(data, 4, 2000000, f) < 800000) return fprintf(stderr, "bad weights\n"), 2;
  fclose(f);
  const float* p = data;
  Gru enc, dec;
  Gru* both[2] = {&enc, &dec};
  for (int k = 0; k < 2; k++) {
    both[k]->emb = p, p += (k ? PHONEMES : LETTERS) * N;
    both[k]->w_ih = p, p += G * N;
    both[k]->w_hh = p, p += G * N;
    both[k]->b_ih = p, p += G;
    both[k]->b_hh = p, p += G;
  }
  const float *fc_w = p, *fc_b = p + PHONEMES * N;
  int runs = atoi(argv[2]), letters = argc - 3, out[20], count = 0, steps = 0;
  double* seconds = malloc(sizeof(double) * runs);
  for (int r = 0; r < runs; r++) {
    double start = now();
    float h[N] = {0}, scores[PHONEMES];
    for (int i = 0; i < letters; i++) gru(&enc, atoi(argv[3 + i]), h);
    int last = 2;
    count = 0;
    for (steps = letters; count < 20; steps++) {
      gru(&dec, last, h);
      affine(scores, h, fc_w, fc_b, PHONEMES);
      int best = 0;
      for (int k = 1; k < PHONEMES; k++) {
        if (scores[k] > scores[best]) best = k;
      }
      if (best == 3) break;
      out[count++] = last = best;
    }
    seconds[r] = now() - start;
  }
  qsort(seconds, runs, sizeof(double), by_value);
  for (int i = 0; i < count; i++) printf("%d ", out[i]);
  printf("\n%.1f steps/s\n", steps / seconds[runs / 2]);
  return 0;
}
