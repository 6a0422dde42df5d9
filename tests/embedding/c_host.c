/* The C API from outside: an executable's functions by name. */
#include <relayvm/c_api.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  relayvm_executable* executable = NULL;
  relayvm_status* status = relayvm_executable_load(argv[1], &executable);
  if (status != NULL) {
    fprintf(stderr, "%s\n", relayvm_status_message(status));
    relayvm_status_free(status);
    return 2;
  }
  for (size_t i = 0; i < relayvm_executable_num_functions(executable); ++i) {
    printf("%s\n", relayvm_executable_function_name(executable, i));
  }
  relayvm_executable_free(executable);
  return 0;
}
