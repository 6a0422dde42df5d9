/* The C API: flat functions over opaque handles, for C and for other languages' bindings. The same
 * as relayvm.h.
 *
 * Conventions:
 *  (1) A function that can fail returns a relayvm_status*: NULL is success; any other is freed with
 *      relayvm_status_free.
 *  (2) What a function writes to a T** belongs to the caller and is freed with relayvm_T_free, which
 *      takes NULL too. On failure it writes NULL.
 *  (3) Handles keep alive what they need: an executable may be freed while invocations of it run.
 *  (4) Executables, runtimes and values may be used by any number of threads at once; an invocation
 *      by one at a time, except relayvm_invocation_cancel.
 *  (5) Strings are UTF-8 and zero-terminated; those returned live as long as the handle that they
 *      came from.
 *  (6) Options structs begin with struct_size, which the caller sets to sizeof, so that they can
 *      grow; NULL means all defaults, and a zero field its default.
 *  (7) NULL for anything else is RELAYVM_INVALID_ARGUMENT; what returns no status gives 0 or NULL.
 *
 * Tested by c_api_test.cc, which drives c_api_test_program.c (C11). */
#ifndef RELAYVM_VM_C_API_H_
#define RELAYVM_VM_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "vm/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_status relayvm_status;
typedef struct relayvm_runtime relayvm_runtime;
typedef struct relayvm_executable relayvm_executable;
typedef struct relayvm_invocation relayvm_invocation;
typedef struct relayvm_value relayvm_value;

/* --- Status --- */
enum {
  RELAYVM_OK = 0,
  RELAYVM_INVALID_ARGUMENT = 1,
  RELAYVM_INVALID_INPUT = 2,
  RELAYVM_UNSUPPORTED = 3,
  RELAYVM_NOT_FOUND = 4,
  RELAYVM_OUT_OF_RANGE = 5,
  RELAYVM_RESOURCE_EXHAUSTED = 6,
  RELAYVM_FAILED_PRECONDITION = 7,
  RELAYVM_CANCELLED = 8,
  RELAYVM_DEADLINE_EXCEEDED = 9,
  RELAYVM_INTERNAL = 10,
};
int relayvm_status_code(const relayvm_status* status); /* RELAYVM_OK for NULL */
const char* relayvm_status_message(const relayvm_status* status);
void relayvm_status_free(relayvm_status* status);

/* --- Runtime --- */
typedef struct relayvm_runtime_options {
  uint32_t struct_size;
  uint32_t num_threads; /* for one kernel call; 0: one */
  uint32_t max_idle_workspaces;
} relayvm_runtime_options;
relayvm_status* relayvm_runtime_create(const relayvm_runtime_options* options,
                                       relayvm_runtime** out);
void relayvm_runtime_free(relayvm_runtime* runtime);

/* --- Executable: a compiled program --- */
relayvm_status* relayvm_executable_load(const char* path, relayvm_executable** out);
/* From the bytes of a .vmx file, which are copied. */
relayvm_status* relayvm_executable_load_memory(const void* bytes, size_t size,
                                               relayvm_executable** out);
void relayvm_executable_free(relayvm_executable* executable);
size_t relayvm_executable_num_functions(
    const relayvm_executable* executable); /* that hosts may call */
/* NULL when out of range. */
const char* relayvm_executable_function_name(const relayvm_executable* executable, size_t index);
size_t relayvm_executable_num_params(const relayvm_executable* executable, size_t function);
const char* relayvm_executable_param_name(const relayvm_executable* executable, size_t function,
                                          size_t param);
/* The tag of an ADT's constructor. */
relayvm_status* relayvm_executable_constructor_tag(const relayvm_executable* executable,
                                                   const char* name, uint32_t* tag);

/* --- Values --- */
typedef int32_t relayvm_dtype;
enum {
  RELAYVM_BOOL = 0,
  RELAYVM_INT8 = 1,
  RELAYVM_INT16 = 2,
  RELAYVM_INT32 = 3,
  RELAYVM_INT64 = 4,
  RELAYVM_UINT8 = 5,
  RELAYVM_UINT16 = 6,
  RELAYVM_UINT32 = 7,
  RELAYVM_UINT64 = 8,
  RELAYVM_FLOAT16 = 9,
  RELAYVM_BFLOAT16 = 10,
  RELAYVM_FLOAT32 = 11,
  RELAYVM_FLOAT64 = 12,
};
typedef int32_t relayvm_value_kind;
enum {
  RELAYVM_VALUE_NONE = 0,
  RELAYVM_VALUE_TENSOR = 1,
  RELAYVM_VALUE_ADT = 2, /* constructors and tuples (tag 0) */
  RELAYVM_VALUE_CLOSURE = 3,
  RELAYVM_VALUE_REF = 4,
};

/* Copies compact, row-major elements; with NULL data, the elements are zero. */
relayvm_status* relayvm_value_tensor(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                     const void* data, relayvm_value** out);
/* The caller's memory, not copied when 64-byte aligned; release(context), if not NULL, is called
 * once when it is no longer needed, from any thread, also on failure. */
relayvm_status* relayvm_value_wrap(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                   void* data, void (*release)(void* context), void* context,
                                   relayvm_value** out);
/* The fields stay the caller's too. A tuple has tag 0. */
relayvm_status* relayvm_value_adt(uint32_t tag, relayvm_value* const* fields, size_t num_fields,
                                  relayvm_value** out);
relayvm_status* relayvm_value_from_dlpack(DLManagedTensorVersioned* tensor,
                                          relayvm_value** out); /* takes it over */
relayvm_status* relayvm_value_to_dlpack(const relayvm_value* value, DLManagedTensorVersioned** out);
relayvm_value* relayvm_value_copy(
    const relayvm_value* value); /* another handle on the same value */
void relayvm_value_free(relayvm_value* value);

relayvm_value_kind relayvm_value_get_kind(const relayvm_value* value);
/* Of a tensor; of other kinds they give 0 or NULL. */
relayvm_dtype relayvm_value_get_dtype(const relayvm_value* value);
size_t relayvm_value_rank(const relayvm_value* value);
const int64_t* relayvm_value_dims(const relayvm_value* value);
const void* relayvm_value_data(const relayvm_value* value);
size_t relayvm_value_bytes(const relayvm_value* value);
/* Of an ADT value, and of a reference (one field). */
uint32_t relayvm_value_tag(const relayvm_value* value);
size_t relayvm_value_num_fields(const relayvm_value* value);
relayvm_status* relayvm_value_field(const relayvm_value* value, size_t index, relayvm_value** out);

/* --- Invocations --- */
typedef struct relayvm_invocation_options {
  uint32_t struct_size;
  uint64_t memory_limit; /* bytes */
  uint64_t stack_limit;
  int64_t timeout_ns; /* of one run */
} relayvm_invocation_options;
typedef struct relayvm_invocation_stats {
  uint32_t struct_size; /* set by the caller */
  uint64_t peak_bytes, resident_bytes, allocations;
  int64_t run_ns;
} relayvm_invocation_stats;

relayvm_status* relayvm_invocation_create(relayvm_runtime* runtime, relayvm_executable* executable,
                                          const relayvm_invocation_options* options,
                                          relayvm_invocation** out);
void relayvm_invocation_free(relayvm_invocation* invocation);
relayvm_status* relayvm_invocation_run(relayvm_invocation* invocation, const char* function,
                                       relayvm_value* const* inputs, size_t num_inputs,
                                       relayvm_value** out);
/* In slices: start; poll until it gives 1; then the result. A slice of 0 runs until it waits or has
 * ended. A poll gives 0 when the run is to go on, 2 when it waits for a host function. */
relayvm_status* relayvm_invocation_start(relayvm_invocation* invocation, const char* function,
                                         relayvm_value* const* inputs, size_t num_inputs);
int relayvm_invocation_poll(relayvm_invocation* invocation, int64_t slice_ns);
relayvm_status* relayvm_invocation_take_result(relayvm_invocation* invocation, relayvm_value** out);
/* Ends the run in progress, or else the next one; from any thread. */
void relayvm_invocation_cancel(relayvm_invocation* invocation);
/* Takes back a cancellation that came after the end of the run it was meant for. */
void relayvm_invocation_forget_cancel(relayvm_invocation* invocation);
void relayvm_invocation_get_stats(const relayvm_invocation* invocation,
                                  relayvm_invocation_stats* stats);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_C_API_H_ */
