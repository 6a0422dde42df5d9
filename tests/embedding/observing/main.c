#include <relayvm/c_api.h>
#include <relayvm/c_api_trace.h>
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
  relayvm_chrome_trace* trace = NULL;
  Check(relayvm_chrome_trace_create(NULL, &trace));
  relayvm_runtime_options options = {.struct_size = sizeof options, .chrome_trace = trace};
  relayvm_runtime* runtime = NULL;
  relayvm_executable* program = NULL;
  relayvm_invocation* invocation = NULL;
  Check(relayvm_runtime_create(&options, &runtime));
  Check(relayvm_executable_load(argv[1], NULL, &program));
  Check(relayvm_invocation_create(runtime, program, NULL, &invocation));
  const float numbers[] = {2.0F, 9.0F, 144.0F};
  const int64_t dims[] = {3};
  relayvm_value *input = NULL, *result = NULL;
  Check(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, numbers, &input));
  Check(relayvm_invocation_run(invocation, "main", &input, 1, &result));

  relayvm_runtime_stats stats = {.struct_size = sizeof stats};
  Check(relayvm_runtime_get_stats(runtime, &stats));
  printf("%llu runs were well\n", (unsigned long long)stats.ended[RELAYVM_OK]);
  printf("%llu events\n", (unsigned long long)relayvm_chrome_trace_num_events(trace));
  Check(relayvm_chrome_trace_write(trace, "trace.json")); /* for ui.perfetto.dev */

  relayvm_value_free(result);
  relayvm_value_free(input);
  relayvm_invocation_free(invocation);
  relayvm_executable_free(program);
  relayvm_runtime_free(runtime);
  relayvm_chrome_trace_free(trace);
  return 0;
}
