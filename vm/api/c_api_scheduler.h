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
typedef struct relayvm_run_group
    relayvm_run_group;                  /* of runs that are limited and counted together */
typedef struct relayvm_run relayvm_run; /* one that was accepted; may be freed at any time */

/* Threads of the host, for a scheduler that has none of its own (Executor of scheduler.h). These
 * functions only queue the job, which must not run before they return; they are called from any
 * thread, several at once. Each job runs once, job(context). */
typedef void (*relayvm_job)(void* context);
typedef struct relayvm_executor {
  uint32_t struct_size;
  void* user;
  void (*post)(void* user, relayvm_job job, void* context); /* soon */
  void (*post_at)(void* user, int64_t time_ns, relayvm_job job,
                  void* context); /* of the steady clock */
  void (*release)(void* user);    /* may be NULL */
} relayvm_executor;

/* A run that has ended. */
typedef struct relayvm_run_report {
  uint32_t struct_size;        /* set by the library */
  int status;                  /* its code */
  uint64_t id;                 /* relayvm_run_id */
  uint64_t tag;                /* of relayvm_invocation_options */
  uint64_t invocation;         /* as events of traces say; 0: it has not begun */
  int64_t queued_ns, total_ns; /* from the call to the begin, and to the end */
} relayvm_run_report;

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
  /* Copied; NULL: threads of its own, else num_threads jobs at once. */
  const relayvm_executor* executor;
  /* Told of each run that was accepted, before its completion is called; may be NULL. */
  void (*on_end)(void* user, const relayvm_run_report* report);
  void* on_end_user;
} relayvm_scheduler_options;

typedef struct relayvm_run_group_options {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t max_active,
      max_queued; /* as those of the scheduler, of the group's runs; 0: any number */
} relayvm_run_group_options;

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
  /* Groups of this scheduler; NULL: none. */
  const relayvm_run_group *tenant, *model;
  const relayvm_runtime* runtime; /* what it runs on, with its limit; NULL: the scheduler's */
  /* Of each input, in any order; NULL: they are in the function's order. */
  const char* const* input_names;
} relayvm_run_options;

/* Latencies in fixed buckets: buckets[i] counts what was below relayvm_latency_bound(i), and not
 * below that of the one before. */
typedef struct relayvm_latency {
  uint64_t count;
  int64_t sum_ns;
  uint64_t buckets[64];
} relayvm_latency;
/* 1 us, 1.5, 2, 3, 4, 6, 8 ... 36 minutes, in nanoseconds; INT64_MAX for the last. */
int64_t relayvm_latency_bound(size_t bucket);

typedef struct relayvm_scheduler_stats {
  uint32_t struct_size; /* set by the caller */
  uint64_t accepted, refused, slices;
  uint64_t ended[11]; /* by the status' code */
  uint64_t queued, ready, running, waiting;
  /* Of batching: kernels that ran for several calls, those calls, and calls that ran alone after
   * all. */
  uint64_t batches, batched_calls, lone_calls;
  /* From the call to the begin, of runs that began; and to the end, of all. */
  relayvm_latency queue_time, latency;
} relayvm_scheduler_stats;

typedef struct relayvm_run_group_stats {
  uint32_t struct_size; /* set by the caller */
  uint32_t reserved;
  uint64_t accepted, refused, ended[11], queued, active;
  relayvm_latency queue_time, latency;
} relayvm_run_group_stats;

/* Called once for each run that was accepted, on a thread of the scheduler. One of the two is NULL;
 * both are the receiver's and are freed by it. May start runs; must not free the scheduler. */
typedef void (*relayvm_completion)(void* context, relayvm_status* status, relayvm_value* result);

relayvm_status* relayvm_scheduler_create(relayvm_runtime* runtime,
                                         const relayvm_scheduler_options* options,
                                         relayvm_scheduler** out);
/* Cancels all runs and waits for their completions. */
void relayvm_scheduler_free(relayvm_scheduler* scheduler);
relayvm_status* relayvm_scheduler_make_group(relayvm_scheduler* scheduler,
                                             const relayvm_run_group_options* options,
                                             relayvm_run_group** out);
void relayvm_run_group_free(relayvm_run_group* group); /* its runs go on */
relayvm_status* relayvm_scheduler_get_group_stats(const relayvm_scheduler* scheduler,
                                                  const relayvm_run_group* group,
                                                  relayvm_run_group_stats* stats);
/* Accepts no runs from here on (RELAYVM_FAILED_PRECONDITION), and waits until all have ended, their
 * completions too. RELAYVM_DEADLINE_EXCEEDED when that takes longer than `timeout_ns` (INT64_MAX:
 * no limit): those that are left go on. */
relayvm_status* relayvm_scheduler_drain(relayvm_scheduler* scheduler, int64_t timeout_ns);
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
