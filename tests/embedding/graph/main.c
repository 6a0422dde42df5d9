#include <relayvm/c_api_graph.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the message of what failed. */
static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", relayvm_status_message(status));
  exit(2);
}

/* Runs a graph of one float32 input and output on ones. */
int main(int argc, char** argv) {
  relayvm_graph* graph = NULL;
  relayvm_graph_tensor x;
  relayvm_value* input = NULL;
  if (argc != 2) return 1;
  Check(relayvm_graph_load(argv[1], NULL, &graph));
  if (!relayvm_graph_input(graph, 0, &x)) return 1;
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, x.dims, x.rank, NULL, &input));
  float* numbers = relayvm_value_mutable_data(input);
  for (int64_t i = 0; i < relayvm_value_num_elements(input); ++i) numbers[i] = 1;

  Check(relayvm_graph_set_input_zero_copy(graph, 0, input));
  Check(relayvm_graph_run(graph)); /* allocates nothing */
  const float* result = relayvm_graph_output_data(graph, 0);
  for (int i = 0; i < 3; ++i) printf("%g\n", result[i]);

  relayvm_value_free(input);
  relayvm_graph_free(graph);
  return 0;
}
