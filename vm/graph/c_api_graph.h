/* The C API of the graph executor: librelayvm_graph, on top of the runtime. The same as
 * graph_module.h, where what things mean is said in more detail; the conventions are those of
 * c_api.h.
 *
 *   relayvm_graph* graph;
 *   relayvm_graph_load("resnet50", NULL, &graph);   what relayc --executor graph -o resnet50 wrote
 *   relayvm_graph_set_input(graph, 0, value);
 *   relayvm_graph_run(graph);
 *   relayvm_graph_get_output(graph, 0, &result);
 *
 * All memory is taken by relayvm_graph_load: setting inputs, runs and relayvm_graph_copy_output
 * allocate nothing, but for builtins that need buffers, in their first run. A graph is used by one
 * thread at a time (relayvm_graph_cancel by any). Tested by c_api_graph_test.cc, which drives
 * c_api_graph_test_program.c (C11), and c_api_graph_null_test.cc. */
#ifndef RELAYVM_VM_GRAPH_C_API_GRAPH_H_
#define RELAYVM_VM_GRAPH_C_API_GRAPH_H_

#include <stddef.h>
#include <stdint.h>

#include "vm/api/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_graph relayvm_graph;
typedef struct relayvm_graph_times relayvm_graph_times;

/* --- Loading --- */
typedef struct relayvm_graph_options {
  uint32_t struct_size;
  uint32_t num_threads; /* that one kernel may use; 0: one; RELAYVM_ALL_THREADS: the machine's */
  const relayvm_task_pool* task_pool; /* NULL: threads of the graph's own; copied */
  const relayvm_load_options* load;   /* of the kernels */
  /* Bytes of what is planned, of kernels' scratch and of builtins' buffers; 0: the machine's, or
   * container's. */
  uint64_t memory_limit;
  /* Whose threads and memory its runs take, which counts and traces them
   * (relayvm_runtime_get_stats): in place of num_threads and task_pool. NULL: one of the graph's
   * own. */
  const relayvm_runtime* runtime;
} relayvm_graph_options;
/* The folder is verified before it is used: RELAYVM_INVALID_INPUT names the file. */
relayvm_status* relayvm_graph_load_for(uint32_t api_version, const char* folder,
                                       const relayvm_graph_options* options, relayvm_graph** out);
/* Fails with RELAYVM_UNSUPPORTED when this header and the library do not fit. */
static inline relayvm_status* relayvm_graph_load(const char* folder,
                                                 const relayvm_graph_options* options,
                                                 relayvm_graph** out) {
  return relayvm_graph_load_for(RELAYVM_API_VERSION, folder, options, out);
}
void relayvm_graph_free(relayvm_graph* graph);

/* --- What it takes and gives --- */
typedef struct relayvm_graph_tensor {
  const char* name; /* of an output as the program says, else output_0, output_1 ... */
  const int64_t* dims;
  size_t rank;
  relayvm_dtype dtype;
} relayvm_graph_tensor;
/* Inputs are the program's parameters, and then its weights. */
size_t relayvm_graph_num_inputs(const relayvm_graph* graph);
size_t relayvm_graph_num_parameters(const relayvm_graph* graph);
size_t relayvm_graph_num_outputs(const relayvm_graph* graph);
/* 1; 0 when there is none, and nothing is written. */
int relayvm_graph_input(const relayvm_graph* graph, size_t index, relayvm_graph_tensor* tensor);
int relayvm_graph_output(const relayvm_graph* graph, size_t index, relayvm_graph_tensor* tensor);
/* RELAYVM_NOT_FOUND, which names what there is. */
relayvm_status* relayvm_graph_find_input(const relayvm_graph* graph, const char* name,
                                         size_t* index);
/* The kernels, and one function: types of the parameters and of the result. */
relayvm_status* relayvm_graph_kernels(const relayvm_graph* graph, relayvm_executable** out);

/* --- Inputs: set from run to run --- */
/* Copies the elements. RELAYVM_OUT_OF_RANGE without such an input; RELAYVM_INVALID_ARGUMENT for
 * another type. */
relayvm_status* relayvm_graph_set_input(relayvm_graph* graph, size_t index,
                                        const relayvm_value* value);
/* Runs read the value where it is, and the graph has a handle of its own on it, until the input is
 * set anew. What the owner of memory that relayvm_value_wrap took writes there between runs counts.
 * Memory that is not 64-byte aligned, a scalar's too, is copied. */
relayvm_status* relayvm_graph_set_input_zero_copy(relayvm_graph* graph, size_t index,
                                                  const relayvm_value* value);
/* A copy of what is set. */
relayvm_status* relayvm_graph_get_input(const relayvm_graph* graph, size_t index,
                                        relayvm_value** out);
/* Sets weights, or any inputs, by name: the bytes of a file in TVM's format. All or none. */
relayvm_status* relayvm_graph_load_params(relayvm_graph* graph, const void* bytes, size_t size);
/* From here on, weights of the same name and type are those of `other`, in one memory, which lives
 * as long as either graph. Their number (NULL: not wanted). */
relayvm_status* relayvm_graph_share_params(relayvm_graph* graph, const relayvm_graph* other,
                                           size_t* count);

/* --- Runs --- */
/* RELAYVM_FAILED_PRECONDITION: an input is not set. What a kernel refuses names its node. A run
 * that fails leaves no outputs. */
relayvm_status* relayvm_graph_run(relayvm_graph* graph);
/* Of each run from the next one on; 0: none. It acts inside kernels too. */
relayvm_status* relayvm_graph_set_timeout(relayvm_graph* graph, int64_t timeout_ns);
/* Ends the run in progress, or else the next one; from any thread. */
void relayvm_graph_cancel(relayvm_graph* graph);
/* Takes back a cancellation that came after the end of the run it was meant for. */
void relayvm_graph_forget_cancel(relayvm_graph* graph);

/* A copy. RELAYVM_FAILED_PRECONDITION before the first run, and where the latest has failed. */
relayvm_status* relayvm_graph_get_output(const relayvm_graph* graph, size_t index,
                                         relayvm_value** out);
/* Into the caller's memory; RELAYVM_INVALID_ARGUMENT for another dtype, dims, and no memory. */
relayvm_status* relayvm_graph_copy_output(const relayvm_graph* graph, size_t index,
                                          const relayvm_output* to);
/* Where the output is: compact, 64-byte aligned, until the next run. */
const void* relayvm_graph_output_data(const relayvm_graph* graph, size_t index);

/* --- Time and memory --- */
/* Not 0: times each node from here on, which costs some 50 ns a node. Starts anew. */
relayvm_status* relayvm_graph_set_timing(relayvm_graph* graph, int timing);
typedef struct relayvm_graph_node_time {
  uint32_t struct_size; /* set by the caller */
  const char* node;
  const char* source; /* its place in the program; "": unknown */
  uint64_t calls;
  int64_t total_ns;
} relayvm_graph_node_time;
/* A copy, which nothing changes, of the times since timing was switched on. */
relayvm_status* relayvm_graph_read_times(const relayvm_graph* graph, relayvm_graph_times** out);
void relayvm_graph_times_free(relayvm_graph_times* times);
/* Nodes that run something, in their order. 1; 0 when there is no such row. */
int relayvm_graph_times_row(const relayvm_graph_times* times, size_t index,
                            relayvm_graph_node_time* row);

typedef struct relayvm_graph_memory {
  uint32_t struct_size;   /* set by the caller */
  uint64_t planned_bytes; /* tensors between inputs and results, results included */
  uint64_t weight_bytes;
  uint64_t scratch_bytes; /* of kernels, of all threads */
} relayvm_graph_memory;
/* Of the latest run, as of an invocation; run_ns is 0 without a runtime of the caller's. */
relayvm_status* relayvm_graph_get_stats(const relayvm_graph* graph,
                                        relayvm_invocation_stats* stats);
relayvm_status* relayvm_graph_get_memory(const relayvm_graph* graph, relayvm_graph_memory* memory);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_GRAPH_C_API_GRAPH_H_ */
