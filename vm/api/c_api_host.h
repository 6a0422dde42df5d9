/* Host functions for C: what a program declares and its host provides.
 * See c_api.h for the conventions, host_function.h for what functions may do. Tested by
 * c_api_host_test.cc. */
#ifndef RELAYVM_VM_C_API_HOST_H_
#define RELAYVM_VM_C_API_HOST_H_

#include <stddef.h>
#include <stdint.h>

#include "vm/api/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_host_call relayvm_host_call; /* lives as long as the function runs */
typedef struct relayvm_waker relayvm_waker;

/* Gives NULL and *result, which is taken over; NULL there is the unit tuple. Or fails with a
 * status, which is taken over: of relayvm_status_create, or of a function of this API. */
typedef relayvm_status* (*relayvm_host_fn)(relayvm_host_call* call, void* context,
                                           relayvm_value** result);
/* Of relayvm_load_options: what regions of a program may run on (bytecode/region_abi.h). No others
 * are loaded, whatever a file says. Where one is not here, or does not take a region, the form of
 * the program without it is loaded, where there is one, and `notice` is told why. */
typedef struct relayvm_engine {
  const char* name; /* "dnnl" */
  const char* path; /* of its library; NULL: the one that comes with relayvm (vm/README.md) */
} relayvm_engine;
struct relayvm_engines {
  uint32_t struct_size;
  uint32_t num_engines;
  const relayvm_engine* engines;
  void (*notice)(void* context, const char* text); /* one line; NULL: nobody asks */
  void* notice_context;
};

struct relayvm_host_function { /* of relayvm_load_options */
  uint32_t struct_size;        /* the same in all of an array */
  const char* name;
  const char* type; /* "fn (int64) -> Tensor[(?, 128), float32]"; NULL: any */
  relayvm_host_fn call;
  void* context;
  /* Called once the function is no longer needed, also when loading fails: but for arguments that
   * are NULL, and where a struct_size is wrong, of the options or of a function, for it and those
   * behind it. May be NULL. */
  void (*release)(void* context);
};

/* --- Inside a host function --- */
/* Its own invocation is refused another run there; to poll or to free it ends the process. */
size_t relayvm_host_call_num_args(const relayvm_host_call* call);
/* The call's own, alive until it ends (relayvm_value_copy keeps it). NULL when out of range. */
const relayvm_value* relayvm_host_call_arg(const relayvm_host_call* call, size_t index);
/* The function's name in the program, and that (relayvm_executable_program). Live as long as the
 * call. */
const char* relayvm_host_call_name(const relayvm_host_call* call);
const void* relayvm_host_call_program(const relayvm_host_call* call);
uint64_t relayvm_host_call_invocation_id(const relayvm_host_call* call);
uint64_t relayvm_host_call_tag(const relayvm_host_call* call); /* of its invocation */
/* As relayvm_invocation_options gave it. */
void* relayvm_host_call_invocation_context(const relayvm_host_call* call);
/* CLOCK_MONOTONIC, nanoseconds; INT64_MAX: none. */
int64_t relayvm_host_call_deadline(const relayvm_host_call* call);
/* Lets the thread run something else until a waker of this call is used, or the time comes. They
 * fail with RELAYVM_CANCELLED or RELAYVM_DEADLINE_EXCEEDED when the run is: return that status, and
 * soon. Another thread may go on with the function. */
relayvm_status* relayvm_host_call_suspend(relayvm_host_call* call);
relayvm_status* relayvm_host_call_suspend_until(relayvm_host_call* call, int64_t time);
/* The same failures at once, for functions that take long. */
relayvm_status* relayvm_host_call_check(const relayvm_host_call* call);

/* A waker may be used by any thread, early, late and often; once its call has ended it does
 * nothing. Each of these is freed by itself. NULL without memory. */
relayvm_waker* relayvm_host_call_waker(const relayvm_host_call* call);
relayvm_waker* relayvm_waker_copy(const relayvm_waker* waker);
void relayvm_waker_wake(const relayvm_waker* waker);
void relayvm_waker_free(relayvm_waker* waker);

/* As relayvm_invocation_options: from the next call of a host function on. */
void relayvm_invocation_set_host_context(relayvm_invocation* invocation, void* context);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_C_API_HOST_H_ */
