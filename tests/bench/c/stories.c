/* The stories260K model as a plain C program: what a careful person writes by hand, compiled with
 * -O3 -march=native. The figure that the compiled Relay program (tools/examples/stories.relay) is
 * held to.
 *
 * usage: stories WEIGHTS.bin STEPS RUNS TOKEN...      prints the tokens, then tokens a second (median of RUNS) */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIM = 64, HIDDEN = 172, LAYERS = 5, HEADS = 8, KV_HEADS = 4, HEAD = 8, VOCAB = 512, SEQ = 512, KV = 32 };

typedef struct {
  const float *embedding, *rms_att, *wq, *wk, *wv, *wo, *rms_ffn, *w1, *w2, *w3, *rms_final, *rope_cos, *rope_sin;
} Weights;

static float keys[LAYERS][SEQ][KV], values[LAYERS][SEQ][KV], scores[VOCAB];

static void rms_norm(float* out, const float* x, const float* w) {
  float sum = 0;
  for (int i = 0; i < DIM; i++) sum += x[i] * x[i];
  float scale = 1.0f / sqrtf(sum / DIM + 1e-5f);
  for (int i = 0; i < DIM; i++) out[i] = w[i] * (scale * x[i]);
}

static void matmul(float* out, const float* x, const float* w, int n, int d) {
  for (int i = 0; i < d; i++) {
    float sum = 0;
    for (int j = 0; j < n; j++) sum += w[i * n + j] * x[j];
    out[i] = sum;
  }
}

static void rotate(float* x, int heads, const float* cos, const float* sin) {
  for (int h = 0; h < heads; h++) {
    for (int i = 0; i < HEAD / 2; i++) {
      float a = x[h * HEAD + 2 * i], b = x[h * HEAD + 2 * i + 1];
      x[h * HEAD + 2 * i] = a * cos[i] - b * sin[i];
      x[h * HEAD + 2 * i + 1] = a * sin[i] + b * cos[i];
    }
  }
}

static int step(const Weights* w, int token, int pos) {
  float x[DIM], a[DIM], q[DIM], heads[DIM], y[DIM], g[HIDDEN], u[HIDDEN], att[SEQ];
  memcpy(x, w->embedding + token * DIM, sizeof x);
  for (int l = 0; l < LAYERS; l++) {
    float *k = keys[l][pos], *v = values[l][pos];
    rms_norm(a, x, w->rms_att + l * DIM);
    matmul(q, a, w->wq + l * DIM * DIM, DIM, DIM);
    matmul(k, a, w->wk + l * KV * DIM, DIM, KV);
    matmul(v, a, w->wv + l * KV * DIM, DIM, KV);
    rotate(q, HEADS, w->rope_cos + pos * 4, w->rope_sin + pos * 4);
    rotate(k, KV_HEADS, w->rope_cos + pos * 4, w->rope_sin + pos * 4);
    for (int h = 0; h < HEADS; h++) {
      const int kv = h / 2 * HEAD;
      float max = -1e30f, sum = 0;
      for (int p = 0; p <= pos; p++) {
        float s = 0;
        for (int i = 0; i < HEAD; i++) s += q[h * HEAD + i] * keys[l][p][kv + i];
        att[p] = s / sqrtf(HEAD);
        if (att[p] > max) max = att[p];
      }
      for (int p = 0; p <= pos; p++) sum += att[p] = expf(att[p] - max);
      for (int i = 0; i < HEAD; i++) heads[h * HEAD + i] = 0;
      for (int p = 0; p <= pos; p++) {
        for (int i = 0; i < HEAD; i++) heads[h * HEAD + i] += att[p] / sum * values[l][p][kv + i];
      }
    }
    matmul(y, heads, w->wo + l * DIM * DIM, DIM, DIM);
    for (int i = 0; i < DIM; i++) x[i] += y[i];
    rms_norm(a, x, w->rms_ffn + l * DIM);
    matmul(g, a, w->w1 + l * HIDDEN * DIM, DIM, HIDDEN);
    matmul(u, a, w->w3 + l * HIDDEN * DIM, DIM, HIDDEN);
    for (int i = 0; i < HIDDEN; i++) g[i] = g[i] / (1.0f + expf(-g[i])) * u[i];
    matmul(y, g, w->w2 + l * DIM * HIDDEN, HIDDEN, DIM);
    for (int i = 0; i < DIM; i++) x[i] += y[i];
  }
  rms_norm(a, x, w->rms_final);
  matmul(scores, a, w->embedding, DIM, VOCAB);
  int best = 0;
  for (int i = 1; i < VOCAB; i++) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
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
  if (argc < 5) return fprintf(stderr, "usage: stories WEIGHTS.bin STEPS RUNS TOKEN...\n"), 1;
  FILE* f = fopen(argv[1], "rb");
  int32_t header[7];
  if (!f || fread(header, 4, 7, f) != 7 || header[0] != DIM) return fprintf(stderr, "bad weights\n"), 2;
  static float data[300000];
  if (fread(data, 4, 300000, f) < 260000) return fprintf(stderr, "bad weights\n"), 2;
  fclose(f);
  const float* p = data;
  Weights w;
#define TAKE(name, count) (w.name = p, p += (count))
  TAKE(embedding, VOCAB * DIM); TAKE(rms_att, LAYERS * DIM);
  TAKE(wq, LAYERS * DIM * DIM); TAKE(wk, LAYERS * KV * DIM); TAKE(wv, LAYERS * KV * DIM); TAKE(wo, LAYERS * DIM * DIM);
  TAKE(rms_ffn, LAYERS * DIM); TAKE(w1, LAYERS * HIDDEN * DIM); TAKE(w2, LAYERS * HIDDEN * DIM); TAKE(w3, LAYERS * HIDDEN * DIM);
  TAKE(rms_final, DIM); TAKE(rope_cos, SEQ * 4); TAKE(rope_sin, SEQ * 4);
  int steps = atoi(argv[2]), runs = atoi(argv[3]), n = argc - 4;
  double* seconds = malloc(sizeof(double) * runs);
  int* tokens = malloc(sizeof(int) * (steps + 1));
  for (int r = 0; r < runs; r++) {
    double start = now();
    int token = tokens[0] = atoi(argv[4]);
    for (int i = 0; i < steps; i++) {
      int next = step(&w, token, i);
      token = tokens[i + 1] = i + 1 < n ? atoi(argv[4 + i + 1]) : next;
    }
    seconds[r] = now() - start;
  }
  qsort(seconds, runs, sizeof(double), by_value);
  for (int i = 0; i <= steps; i++) printf("%d ", tokens[i]);
  printf("\n%.1f tokens/s\n", steps / seconds[runs / 2]);
  return 0;
}
