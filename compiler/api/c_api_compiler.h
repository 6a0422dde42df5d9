/* The C API of the compiler: librelayvm_compiler, on top of the runtime. The same as compiler.h,
 * where what things mean is said in more detail; the conventions are those of c_api.h. Failures
 * have their place in the program: relayvm_status_place, relayvm_status_source_line and what stands
 * beside them.
 *
 *   relayvm_compile_setting settings[] = {{"target", "x86-64-v3"}, {"shape", "x=1x3x224x224"}};
 *   relayvm_compile_options options = {sizeof options};
 *   options.settings = settings;
 *   options.num_settings = 2;
 *   relayvm_compiled* compiled;
 *   relayvm_status* failed = relayvm_compile_file("model.onnx", &options, &compiled);
 *
 * Tested by c_api_compiler_test.cc, which drives c_api_compiler_test_program.c (C11). */
#ifndef RELAYVM_COMPILER_API_C_API_COMPILER_H_
#define RELAYVM_COMPILER_API_C_API_COMPILER_H_

#include <stddef.h>
#include <stdint.h>

#include "vm/api/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_compiled relayvm_compiled;         /* what came of a compilation */
typedef struct relayvm_compile_stop relayvm_compile_stop; /* ends compilations early */

/* One of relayc's options, those of passes too (relayc --list-passes), by its name without dashes:
 * {"O", "2"}, {"dim", "batch=8"}, {"exact", "true"}. Those that relayc takes several times may be
 * given so. */
typedef struct relayvm_compile_setting {
  const char* name;
  const char* value;
} relayvm_compile_setting;

/* A weight, bound to the parameter of this name: a tensor, which is kept and must not change. */
typedef struct relayvm_compile_param {
  const char* name;
  const relayvm_value* value;
} relayvm_compile_param;

typedef struct relayvm_compile_options {
  uint32_t struct_size;
  uint32_t num_threads; /* that generate code; 0: as many as the machine has */
  const relayvm_compile_setting* settings;
  size_t num_settings;
  const relayvm_compile_param* params;
  size_t num_params;
  /* More weights: the bytes of TVM's parameter file or of an .npz, which are copied. NULL: none. */
  const void* params_data;
  size_t params_size;
  const relayvm_compile_stop* stop; /* NULL: nobody stops it */
  void* user;                       /* for the callbacks; each may be NULL */
  /* What it is at: a pass, or kernels with their number (total > 0). From any thread, one at a
   * time. */
  void (*on_progress)(void* user, const char* what, size_t done, size_t total);
  /* The program after the pass that the setting "print-ir-after" names. */
  void (*on_text)(void* user, const char* text, size_t size);
} relayvm_compile_options;

/* A program in a format of relayc's, told by content, then by name. May be called by any number of
 * threads at once. */
relayvm_status* relayvm_compile_file(const char* path, const relayvm_compile_options* options,
                                     relayvm_compiled** out);
/* The same for a model in memory, which is copied. `name` is for messages, and its folder is where
 * external data of an ONNX model lies. */
relayvm_status* relayvm_compile_memory(const char* name, const void* data, size_t size,
                                       const relayvm_compile_options* options,
                                       relayvm_compiled** out);
void relayvm_compiled_free(relayvm_compiled* compiled);

/* The bytes of the .vmx file, 64-byte aligned; they live as long as the handle. */
relayvm_status* relayvm_compiled_bytes(const relayvm_compiled* compiled, const void** data,
                                       size_t* size);
/* Writes the same to a file, which appears whole or not at all. */
relayvm_status* relayvm_compiled_save(const relayvm_compiled* compiled, const char* path);
/* Ready to run here, without a copy of weights. Libraries of operators are those of the options, as
 * for any executable. The handle may be freed. */
relayvm_status* relayvm_compiled_load(const relayvm_compiled* compiled,
                                      const relayvm_load_options* options,
                                      relayvm_executable** out);
/* What was done otherwise than asked, or for nothing, or that tuning may gain. NULL beyond the
 * last. */
size_t relayvm_compiled_num_warnings(const relayvm_compiled* compiled);
const relayvm_status* relayvm_compiled_warning(const relayvm_compiled* compiled, size_t index);
/* Milliseconds by pass, in order. `is_part`: of the one before, a share of its work, summed over
 * threads. 1, or 0 beyond the last. */
size_t relayvm_compiled_num_passes(const relayvm_compiled* compiled);
int relayvm_compiled_pass(const relayvm_compiled* compiled, size_t index, const char** name,
                          double* milliseconds, int* is_part);

/* Compilations with this in their options fail with RELAYVM_CANCELLED soon after _request, from any
 * thread; it cannot be taken back. */
relayvm_status* relayvm_compile_stop_create(relayvm_compile_stop** out);
void relayvm_compile_stop_request(relayvm_compile_stop* stop);
void relayvm_compile_stop_free(relayvm_compile_stop* stop);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* RELAYVM_COMPILER_API_C_API_COMPILER_H_ */
