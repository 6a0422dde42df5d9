/* The compiler's C API as a C program uses it. Each function returns NULL when all went well, else
 * what did not. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "compiler/api/c_api_compiler.h"

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

static const char kText[] =
    "#[version = \"0.0.5\"]\n"
    "def @main(%x: Tensor[(?, 2), float32], %w: Tensor[(1, 2), float32]) {\n"
    "  nn.dense(%x, %w, units=1)\n"
    "}\n";

static void CountProgress(void* user, const char* what, size_t done, size_t total) {
  if (what != NULL && done <= total) ++*(int*)user;
}
static void CountText(void* user, const char* text, size_t size) {
  if (strlen(text) == size && size > 0) ++*(int*)user;
}

/* Compiles with a weight, runs the result at once and from its bytes, and saves it at `path`;
 * "saved" where that fails. */
const char* CompileAndRun(const char* path) {
  const int64_t weight_dims[2] = {1, 2}, x_dims[2] = {1, 2};
  const float weight[2] = {3, 4}, x[2] = {1, 10};
  relayvm_value *w = NULL, *input = NULL, *output = NULL;
  EXPECT(relayvm_value_tensor(RELAYVM_FLOAT32, weight_dims, 2, weight, &w) == NULL);
  EXPECT(relayvm_value_tensor(RELAYVM_FLOAT32, x_dims, 2, x, &input) == NULL);

  int calls = 0;
  const relayvm_compile_setting settings[] = {
      {"O", "2"}, {"target", "native"}, {"shape", "x=1x?"}, {"print-ir-after", "FuseOps"}};
  const relayvm_compile_param params[] = {{"w", w}};
  relayvm_compile_options options = {sizeof(options)};
  options.num_threads = 1;
  options.settings = settings;
  options.num_settings = 4;
  options.params = params;
  options.num_params = 1;
  options.user = &calls;
  options.on_progress = CountProgress;
  options.on_text = CountText;
  relayvm_compiled* compiled = NULL;
  relayvm_status* status =
      relayvm_compile_memory("dense.relay", kText, strlen(kText), &options, &compiled);
  EXPECT(status == NULL);
  relayvm_value_free(w); /* the result holds it */
  EXPECT(calls > 10);
  EXPECT(relayvm_compiled_num_warnings(compiled) == 0);
  EXPECT(relayvm_compiled_warning(compiled, 0) == NULL);
  const char* pass = NULL;
  double milliseconds = -1;
  int is_part = -1;
  EXPECT(relayvm_compiled_num_passes(compiled) > 10);
  EXPECT(relayvm_compiled_pass(compiled, 0, &pass, &milliseconds, &is_part) == 1);
  EXPECT(strcmp(pass, "CheckTypes") == 0 && milliseconds >= 0 && is_part == 0);
  EXPECT(relayvm_compiled_pass(compiled, 1000, NULL, NULL, NULL) == 0);

  const void* bytes = NULL;
  size_t size = 0;
  EXPECT(relayvm_compiled_bytes(compiled, &bytes, &size) == NULL);
  EXPECT(size > 64 && (uintptr_t)bytes % 64 == 0);
  relayvm_status* saved = relayvm_compiled_save(compiled, path);
  if (saved != NULL) {
    relayvm_status_free(saved);
    relayvm_compiled_free(compiled);
    relayvm_value_free(input);
    return "saved";
  }

  relayvm_executable* programs[2] = {NULL, NULL};
  EXPECT(relayvm_executable_load_memory(bytes, size, NULL, &programs[0]) == NULL);
  EXPECT(relayvm_compiled_load(compiled, NULL, &programs[1]) == NULL);
  relayvm_compiled_free(compiled);
  relayvm_runtime* runtime = NULL;
  EXPECT(relayvm_runtime_create(NULL, &runtime) == NULL);
  for (int i = 0; i < 2; ++i) {
    relayvm_invocation* invocation = NULL;
    EXPECT(relayvm_invocation_create(runtime, programs[i], NULL, &invocation) == NULL);
    EXPECT(relayvm_invocation_run(invocation, "main", &input, 1, &output) == NULL);
    EXPECT(*(const float*)relayvm_value_data(output) == 43);
    relayvm_value_free(output);
    relayvm_invocation_free(invocation);
    relayvm_executable_free(programs[i]);
  }
  relayvm_runtime_free(runtime);
  relayvm_value_free(input);
  return NULL;
}

/* What is wrong with a program, as fields. */
const char* CompileWrongProgram(void) {
  static const char kWrong[] =
      "#[version = \"0.0.5\"]\n"
      "def @main(%x: Tensor[(2), float32]) -> Tensor[(3), float32] {\n"
      "  %x\n"
      "}\n";
  relayvm_compiled* compiled = NULL;
  relayvm_status* status =
      relayvm_compile_memory("wrong.relay", kWrong, strlen(kWrong), NULL, &compiled);
  EXPECT(relayvm_status_code(status) == RELAYVM_INVALID_INPUT);
  EXPECT(compiled == NULL);
  EXPECT(relayvm_status_num_places(status) == 1);
  relayvm_place place;
  EXPECT(relayvm_status_place(status, 0, &place) == 1);
  EXPECT(strcmp(place.file, "wrong.relay") == 0);
  EXPECT(place.line == 3 || place.line == 2);
  uint32_t length = 0;
  EXPECT(strlen(relayvm_status_source_line(status, 0, &length)) > 3);
  EXPECT(length > 0);
  EXPECT(strcmp(relayvm_status_source_line(status, 1, NULL), "") == 0);
  EXPECT(strcmp(relayvm_status_expected_text(status), "Tensor[(3), float32]") == 0);
  EXPECT(strstr(relayvm_status_found_text(status), "Tensor[(2), float32]") != NULL);
  relayvm_status_free(status);
  EXPECT(strcmp(relayvm_status_found_text(NULL), "") == 0);
  return NULL;
}

static int Refuses(relayvm_status* status, const char* text) {
  const int refused = relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT &&
                      strstr(relayvm_status_message(status), text) != NULL;
  relayvm_status_free(status);
  return refused;
}

/* NULL wherever a pointer is asked for, wrong sizes of structs, wrong settings. */
const char* CompileWrongly(void) {
  relayvm_compiled* out = (relayvm_compiled*)&out;
  EXPECT(Refuses(relayvm_compile_file(NULL, NULL, &out), "path"));
  EXPECT(out == NULL);
  EXPECT(Refuses(relayvm_compile_file("x", NULL, NULL), "out"));
  EXPECT(Refuses(relayvm_compile_memory(NULL, kText, 1, NULL, &out), "name"));
  EXPECT(Refuses(relayvm_compile_memory("x", NULL, 1, NULL, &out), "data"));
  EXPECT(Refuses(relayvm_compile_memory("x", kText, 1, NULL, NULL), "out"));
  relayvm_compile_options options = {0};
  EXPECT(Refuses(relayvm_compile_memory("x", kText, 1, &options, &out), "struct_size"));
  options.struct_size = sizeof(options);
  options.num_settings = 1;
  EXPECT(Refuses(relayvm_compile_memory("x", kText, 1, &options, &out), "settings is NULL"));
  const relayvm_compile_setting setting = {"O", NULL};
  options.settings = &setting;
  EXPECT(Refuses(relayvm_compile_memory("x", kText, 1, &options, &out), "value is NULL"));
  options.num_settings = 0;
  options.num_params = 1;
  EXPECT(Refuses(relayvm_compile_memory("x", kText, 1, &options, &out), "params is NULL"));
  const relayvm_compile_param param = {NULL, NULL};
  options.params = &param;
  EXPECT(Refuses(relayvm_compile_memory("x", kText, 1, &options, &out), "value is NULL"));
  options.num_params = 0;
  options.params_size = 1;
  EXPECT(Refuses(relayvm_compile_memory("x", kText, 1, &options, &out), "params_data is NULL"));
  EXPECT(out == NULL);

  const void* data = &out;
  size_t size = 1;
  EXPECT(Refuses(relayvm_compiled_bytes(NULL, &data, &size), "compiled"));
  EXPECT(data == NULL && size == 0);
  EXPECT(Refuses(relayvm_compiled_bytes(NULL, NULL, &size), "data"));
  EXPECT(Refuses(relayvm_compiled_bytes(NULL, &data, NULL), "size"));
  EXPECT(Refuses(relayvm_compiled_save(NULL, "x"), "compiled"));
  relayvm_executable* executable = NULL;
  EXPECT(Refuses(relayvm_compiled_load(NULL, NULL, &executable), "compiled"));
  EXPECT(Refuses(relayvm_compiled_load(NULL, NULL, NULL), "out"));
  EXPECT(relayvm_compiled_num_warnings(NULL) == 0);
  EXPECT(relayvm_compiled_warning(NULL, 0) == NULL);
  EXPECT(relayvm_compiled_num_passes(NULL) == 0);
  EXPECT(relayvm_compiled_pass(NULL, 0, NULL, NULL, NULL) == 0);
  EXPECT(Refuses(relayvm_compile_stop_create(NULL), "out"));
  relayvm_compiled_free(NULL);
  relayvm_compile_stop_request(NULL);
  relayvm_compile_stop_free(NULL);
  return NULL;
}

static void StopAtOnce(void* user, const char* what, size_t done, size_t total) {
  (void)what;
  (void)done;
  (void)total;
  relayvm_compile_stop_request((relayvm_compile_stop*)user);
}

const char* CompileAndStop(void) {
  relayvm_compile_stop* stop = NULL;
  EXPECT(relayvm_compile_stop_create(&stop) == NULL);
  relayvm_compile_options options = {sizeof(options)};
  options.stop = stop;
  options.user = stop;
  options.on_progress = StopAtOnce;
  relayvm_compiled* compiled = NULL;
  for (int i = 0; i < 2; ++i) {
    relayvm_status* status =
        relayvm_compile_memory("x.relay", kText, strlen(kText), &options, &compiled);
    EXPECT(relayvm_status_code(status) == RELAYVM_CANCELLED);
    EXPECT(compiled == NULL);
    relayvm_status_free(status);
    options.on_progress = NULL; /* it stays stopped */
  }
  relayvm_compile_stop_free(stop);
  return NULL;
}
