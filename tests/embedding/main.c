#include <relayvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the message of what failed. */
static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", relayvm_status_message(status));
  exit(2);
}

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  Check(relayvm_runtime_create(NULL, &runtime));
  Check(relayvm_executable_load(argv[1], NULL, &program));
  Check(relayvm_invocation_create(runtime, program, NULL, &invocation));
  printf("main takes %s\n", relayvm_type_text(relayvm_executable_param_type(program, 0, 0)));

  const float numbers[] = {2.0F, 9.0F, 144.0F};
  float roots[3];
  const int64_t dims[] = {3};
  relayvm_value* input = NULL;
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, numbers, &input));
  const relayvm_output output = {roots, dims, 1, RELAYVM_FLOAT32};
  Check(relayvm_invocation_run_into(invocation, "main", &input, 1, &output, 1, NULL));
  for (int i = 0; i < 3; ++i) printf("%g\n", roots[i]);

  relayvm_value_free(input);
  relayvm_invocation_free(invocation);
  relayvm_executable_free(program);
  relayvm_runtime_free(runtime);
  return 0;
}
