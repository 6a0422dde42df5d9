/* A convolutional network as native code, without the runtime: cnn.o has its weights in it.
 *
 *   relayc cnn.relay --params cnn.npz --shape x=2x3x29x37 --executor aot -o cnn
 *   cc aot/cnn.c cnn.o -o cnn && ./cnn cnn_pictures.npy cnn.expected.npy */
#include "cnn.h"

#include <stdio.h>
#include <stdlib.h>

/* The numbers of a .npy file of version 1, behind its header. */
static void Read(const char* path, float* numbers, size_t count) {
  unsigned char start[10];
  FILE* file = fopen(path, "rb");
  if (file == NULL || fread(start, 1, sizeof(start), file) != sizeof(start) ||
      fseek(file, start[8] + 256 * start[9], SEEK_CUR) != 0 ||
      fread(numbers, sizeof(float), count, file) != count) {
    fprintf(stderr, "%s: expected %zu numbers\n", path, count);
    exit(2);
  }
  fclose(file);
}

int main(int argc, char** argv) {
  enum { kPixels = 2 * 3 * 29 * 37, kClasses = 10, kScores = 2 * kClasses };
  static float pictures[kPixels], expected[kScores], scores[kScores];
  static char workspace[CNN_MAIN_WORKSPACE_BYTES];
  if (argc != 3) return 1;
  Read(argv[1], pictures, kPixels);
  Read(argv[2], expected, kScores);
  const int32_t error = cnn_main(pictures, scores, workspace);
  if (error != 0) {
    fprintf(stderr, "%s\n", cnn_message(error));
    return 3;
  }
  for (int i = 0; i < kScores; ++i) {
    const float difference = scores[i] - expected[i];
    if (difference > 1e-5F || difference < -1e-5F) return 4;
  }
  for (int picture = 0; picture < 2; ++picture) {
    int best = 0;
    for (int i = 1; i < kClasses; ++i) {
      if (scores[picture * kClasses + i] > scores[picture * kClasses + best]) best = i;
    }
    printf("picture %d: class %d\n", picture, best);
  }
  return 0;
}
