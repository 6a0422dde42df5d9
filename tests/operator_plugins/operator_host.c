/* A host of a program with custom operators: operator_host MODEL.vmx LIBRARY.so runs `main` on two
 * rows of five numbers, and prints the elements of its first result. */
#include <relayvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>

static void Check(relayvm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s: %s\n", relayvm_status_code_name(relayvm_status_code(status)),
          relayvm_status_message(status));
  relayvm_status_free(status);
  exit(2);
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  const char* libraries[] = {argv[2]};
  relayvm_load_options options = {0};
  options.struct_size = sizeof(options);
  options.operator_libraries = libraries;
  options.num_operator_libraries = 1;
  Check(relayvm_runtime_create(NULL, &runtime));
  Check(relayvm_executable_load(argv[1], &options, &program));
  Check(relayvm_invocation_create(runtime, program, NULL, &invocation));
  const float rows[] = {1, 2, 3, -8, 0.5F, 0, -1, 2, 2, -4};
  const int64_t dims[] = {2, 5};
  relayvm_value *input = NULL, *result = NULL, *sums = NULL;
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 2, rows, &input));
  Check(relayvm_invocation_run(invocation, "main", &input, 1, &result));
  Check(relayvm_value_field(result, 0, &sums));
  for (int64_t i = 0; i < relayvm_value_num_elements(sums); ++i)
    printf("%g\n", ((const float*)relayvm_value_data(sums))[i]);
  relayvm_value_free(sums);
  relayvm_value_free(result);
  relayvm_value_free(input);
  relayvm_invocation_free(invocation);
  relayvm_executable_free(program);
  relayvm_runtime_free(runtime);
  return 0;
}
