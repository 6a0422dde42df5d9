/* The scheduler for C: many runs on a few threads. See c_api.h for the conventions, scheduler.h for
 * what a scheduler does. Tested by c_api_scheduler_test.cc. */
#ifndef RELAYVM_VM_C_API_SCHEDULER_H_
#define RELAYVM_VM_C_API_SCHEDULER_H_

#include <stddef.h>
#include <stdint.h>

#include "vm/api/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_scheduler relayvm_scheduler;
typedef struct relayvm_run relayvm_run; /* one that was accepted; may be freed at any time */

typedef struct relayvm_scheduler_options {
  uint32_t struct_size;
  uint32_t num_threads; /* that run invocations; 0: one; RELAYVM_ALL_THREADS: the machine's */
  int64_t slice_ns;     /* 0: a millisecond */
  uint64_t max_active;  /* runs that have begun; 0: 100,000 */
  uint64_t max_queued;  /* runs that have not; above that, new ones are refused; 0: 1,000,000 */
  /* Batching across runs (BatchingOptions of scheduler.h): calls that run together at most, 0 or 1:
   * no batching; how long a call waits for others, 0: a millisecond. */
  uint64_t max_batch;
  int64_t max_batch_wait_ns;
} relayvm_scheduler_options;

typedef int32_t relayvm_priority;
enum {
  RELAYVM_PRIORITY_NORMAL = 0,
  RELAYVM_PRIORITY_HIGH = 1,
  RELAYVM_PRIORITY_LOW = 2,
};
typedef struct relayvm_run_options {
  uint32_t struct_size;
  relayvm_priority priority;
  int64_t deadline_ns; /* from the call on, the time in the queue included; 0: none */
  const relayvm_invocation_options* invocation;
  /* Buffers for results, as of relayvm_invocation_run_into; they stay the caller's and are there
   * until the completion. */
  const relayvm_output* outputs;
  size_t num_outputs;
} relayvm_run_options;

typedef struct relayvm_scheduler_stats {
  uint32_t struct_size; /* set by the caller */
  uint64_t accepted, refused, slices;
  uint64_t ended[11]; /* by the status' code */
  uint64_t queued, ready, running, waiting;
  /* Of batching: kernels that ran for several calls, those calls, and calls that ran alone after
   * all. */
  uint64_t batches, batched_calls, lone_calls;
} relayvm_scheduler_stats;

/* Called once for each run that was accepted, on a thread of the scheduler. One of the two is NULL;
 * both are the receiver's and are freed by it. May start runs; must not free the scheduler. */
typedef void (*relayvm_completion)(void* context, relayvm_status* status, relayvm_value* result);

relayvm_status* relayvm_scheduler_create(relayvm_runtime* runtime,
                                         const relayvm_scheduler_options* options,
                                         relayvm_scheduler** out);
/* Cancels all runs and waits for their completions. */
void relayvm_scheduler_free(relayvm_scheduler* scheduler);
/* After a failure the completion is not called. `out` may be NULL; else it is there before anything
 * of the run begins, so that its completion and host functions can use it. */
relayvm_status* relayvm_scheduler_run(relayvm_scheduler* scheduler, relayvm_executable* executable,
                                      const char* function, relayvm_value* const* inputs,
                                      size_t num_inputs, const relayvm_run_options* options,
                                      relayvm_completion completion, void* context,
                                      relayvm_run** out);
relayvm_status* relayvm_scheduler_get_stats(const relayvm_scheduler* scheduler,
                                            relayvm_scheduler_stats* stats);
/* Makes the run complete with RELAYVM_CANCELLED, soon; one that has ended is left as it is. */
void relayvm_run_cancel(relayvm_run* run);
uint64_t relayvm_run_id(const relayvm_run* run); /* from 1 in its scheduler */
void relayvm_run_free(relayvm_run* run);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_C_API_SCHEDULER_H_ */
