#include <relayvm/c_api_compiler.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the message of what failed, and its place. */
static void Check(relayvm_status* status) {
  relayvm_place place;
  if (status == NULL) return;
  if (relayvm_status_place(status, 0, &place))
    fprintf(stderr, "%s, line %u: ", place.file, (unsigned)place.line);
  fprintf(stderr, "%s\n", relayvm_status_message(status));
  exit(2);
}

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const relayvm_compile_setting settings[] = {{"target", "native"}, {"shape", "xs=3"}};
  relayvm_compile_options options = {sizeof(options)};
  options.settings = settings;
  options.num_settings = 2;
  relayvm_compiled* compiled = NULL;
  Check(relayvm_compile_file(argv[1], &options, &compiled));

  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  Check(relayvm_runtime_create(NULL, &runtime));
  Check(relayvm_compiled_load(compiled, NULL, &program));
  relayvm_compiled_free(compiled);
  Check(relayvm_invocation_create(runtime, program, NULL, &invocation));
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
