/* An LSTM over sentences of any length as native code, with the small runtime.
 *
 *   relayc lstm.relay --params lstm.npz --executor aot -o lstm
 *   cc -I INCLUDE aot/lstm.c lstm.o librelayvm_aot.a -lboost_context -lfmt -lstdc++ -lm -o lstm
 *   ./lstm 3 1 4 1 5 */
#include "lstm.h"

#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the message of what failed. */
static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", relayvm_status_message(status));
  exit(3);
}

int main(int argc, char** argv) {
  enum { kMostWords = 1000 };
  int32_t words[kMostWords];
  const int64_t dims[] = {argc - 1};
  relayvm_value *input = NULL, *result = NULL;
  if (argc < 2 || argc > kMostWords) return 1;
  for (int i = 1; i < argc; ++i) words[i - 1] = atoi(argv[i]);
  Check(relayvm_value_tensor(RELAYVM_INT32, dims, 1, words, &input));
  Check(lstm_main(&input, LSTM_MAIN_INPUTS, &result));
  const float* scores = relayvm_value_data(result);
  for (int64_t i = 0; i < relayvm_value_num_elements(result); ++i) printf("%.5f\n", scores[i]);
  relayvm_value_free(result);
  relayvm_value_free(input);
  return 0;
}
