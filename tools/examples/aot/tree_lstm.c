/* A Tree-LSTM as native code: a program on trees, with the small runtime. The tree has its leaves
 * on the left, as many as there are files: ((leaf, leaf), leaf).
 *
 *   relayc tree_lstm.relay --params tree_lstm.npz --executor aot -o tree_lstm
 *   cc -I INCLUDE aot/tree_lstm.c tree_lstm.o librelayvm_aot.a -lboost_context -lfmt -lstdc++ -lm -o tree_lstm
 *   ./tree_lstm 32 tree_lstm_leaf0.npy tree_lstm_leaf1.npy tree_lstm_leaf2.npy */
#include "tree_lstm.h"

#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the message of what failed. */
static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", relayvm_status_message(status));
  exit(3);
}

/* The `count` numbers of a .npy file of version 1, as a leaf of one row. */
static relayvm_value* Leaf(const char* path, int64_t count) {
  enum { kMost = 4096 };
  float numbers[kMost];
  const int64_t dims[] = {1, count};
  unsigned char start[10];
  relayvm_value *tensor = NULL, *leaf = NULL;
  FILE* file = fopen(path, "rb");
  if (count < 1 || count > kMost || file == NULL || fread(start, 1, sizeof(start), file) != sizeof(start) ||
      fseek(file, start[8] + 256 * start[9], SEEK_CUR) != 0 ||
      fread(numbers, sizeof(float), (size_t)count, file) != (size_t)count) {
    fprintf(stderr, "%s: expected %d numbers\n", path, (int)count);
    exit(2);
  }
  fclose(file);
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 2, numbers, &tensor));
  Check(relayvm_value_adt(TREE_LSTM_TREE_LEAF_TAG, &tensor, 1, &leaf));
  relayvm_value_free(tensor);
  return leaf;
}

int main(int argc, char** argv) {
  relayvm_value *tree = NULL, *result = NULL;
  if (argc < 3) return 1;
  for (int i = 2; i < argc; ++i) {
    relayvm_value* children[] = {tree, Leaf(argv[i], atoi(argv[1]))};
    relayvm_value* node = children[1];
    if (tree != NULL) {
      Check(relayvm_value_adt(TREE_LSTM_TREE_NODE_TAG, children, 2, &node));
      relayvm_value_free(children[0]);
      relayvm_value_free(children[1]);
    }
    tree = node;
  }
  Check(tree_lstm_main(&tree, TREE_LSTM_MAIN_INPUTS, &result));
  const float* state = relayvm_value_data(result);
  for (int64_t i = 0; i < relayvm_value_num_elements(result); ++i) printf("%.5f\n", state[i]);
  relayvm_value_free(result);
  relayvm_value_free(tree);
  return 0;
}
