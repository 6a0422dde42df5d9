/* The C API's profiles and traces that are ready-made; the same as profile.h and chrome_trace.h.
 *
 *   relayvm_profile* profile;
 *   relayvm_profile_create(NULL, &profile);
 *   relayvm_runtime_options options = {sizeof(options)};
 *   options.profile = profile;
 *   relayvm_runtime_create(&options, &runtime);    ... runs ...
 *   relayvm_profile_report* report;
 *   relayvm_profile_read(profile, &report);
 *   for (size_t i = 0; relayvm_profile_report_row(report, 0, i, &row); ++i) ...
 *
 * A runtime keeps its profile or trace alive; each may serve several runtimes. All functions may be
 * called at any time, from any thread; a report is a copy that nothing changes. The conventions are
 * those of c_api.h. Tested by c_api_test.cc and c_api_null_test.cc. */
#ifndef RELAYVM_VM_C_API_TRACE_H_
#define RELAYVM_VM_C_API_TRACE_H_

#include "vm/api/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */

/* --- Time by kernel, and by line of the source or node of the model --- */
typedef struct relayvm_profile_options {
  uint32_t struct_size;
  /* 0, 1: each call of a kernel is timed; N: one in N, chosen at random, stands for as many. */
  uint32_t kernel_interval;
} relayvm_profile_options;
typedef struct relayvm_profile_report relayvm_profile_report;
typedef struct relayvm_profile_row {
  uint32_t struct_size;
  const char* name;    /* of the kernel; of a place: its kernels', separated by ", " */
  relayvm_place place; /* empty in rows of kernels */
  uint64_t calls;
  int64_t total_ns, longest_ns;
  uint64_t samples; /* calls that were timed */
} relayvm_profile_row;
typedef struct relayvm_profile_totals {
  uint32_t struct_size;
  uint64_t runs;     /* that have ended */
  int64_t run_ns;    /* of those */
  int64_t wait_ns;   /* of all waits */
  int64_t kernel_ns; /* the sum of the rows */
} relayvm_profile_totals;
relayvm_status* relayvm_profile_create(const relayvm_profile_options* options,
                                       relayvm_profile** out);
void relayvm_profile_free(relayvm_profile* profile);
/* Forgets all, and lets go of the programs, which it keeps until then. */
relayvm_status* relayvm_profile_clear(relayvm_profile* profile);
relayvm_status* relayvm_profile_read(const relayvm_profile* profile, relayvm_profile_report** out);
void relayvm_profile_report_free(relayvm_profile_report* report);
/* The row at `index`, the longest time first: of kernels, or of places. `struct_size` is set by the
 * caller. 1; 0 when there is no such row. */
int relayvm_profile_report_row(const relayvm_profile_report* report, int by_place, size_t index,
                               relayvm_profile_row* row);
relayvm_status* relayvm_profile_report_totals(const relayvm_profile_report* report,
                                              relayvm_profile_totals* totals);

/* --- What runs do, for chrome://tracing and ui.perfetto.dev --- */
typedef struct relayvm_chrome_trace_options {
  uint32_t struct_size;
  uint32_t kernel_interval; /* as of relayvm_profile_options */
  uint64_t max_events; /* later ones are dropped, and counted; 0: 1,000,000 of about 100 bytes */
} relayvm_chrome_trace_options;
relayvm_status* relayvm_chrome_trace_create(const relayvm_chrome_trace_options* options,
                                            relayvm_chrome_trace** out);
void relayvm_chrome_trace_free(relayvm_chrome_trace* trace);
relayvm_status* relayvm_chrome_trace_clear(relayvm_chrome_trace* trace);
/* One JSON object of the Trace Event Format. Times count from the first event. */
relayvm_status* relayvm_chrome_trace_write(const relayvm_chrome_trace* trace, const char* path);
/* The same to `take`, which is called once, before this returns: `size` bytes and a zero, which
 * live until `take` returns. */
relayvm_status* relayvm_chrome_trace_json(const relayvm_chrome_trace* trace,
                                          void (*take)(void* context, const char* json,
                                                       size_t size),
                                          void* context);
uint64_t relayvm_chrome_trace_num_events(const relayvm_chrome_trace* trace);
uint64_t relayvm_chrome_trace_dropped(const relayvm_chrome_trace* trace);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_C_API_TRACE_H_ */
