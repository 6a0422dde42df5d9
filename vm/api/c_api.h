/* The C API: flat functions over opaque handles, for C and for other languages' bindings. The same
 * as relayvm.h, where what things mean is said in more detail.
 *
 * Conventions:
 *  (1) A function that can fail returns a relayvm_status*: NULL is success; any other is freed with
 *      relayvm_status_free.
 *  (2) What a function writes to a T** belongs to the caller and is freed with relayvm_T_free,
 *      which takes NULL too. On failure it writes NULL.
 *  (3) Handles keep alive what they need: an executable may be freed while invocations of it run.
 *  (4) Executables, runtimes and values may be used by any number of threads at once; an invocation
 *      by one at a time, except where it says "from any thread".
 *  (5) Strings are UTF-8 and zero-terminated; names and paths that are not are given back, in
 *      messages too, as they came. Strings that are returned, and other pointers without an owner,
 *      live as long as the handle that they came from.
 *  (6) Structs with a struct_size, which the caller sets to sizeof, can grow: fields are added at
 *      the end. A zero field is its default, and NULL for options is all defaults. A struct that is
 *      shorter than the first version's is an error; one that is longer than the library's is
 *      accepted while the fields that the library does not know are zero. Structs without one
 *      never change.
 *  (7) NULL for anything else is RELAYVM_INVALID_ARGUMENT; what returns no status gives 0 or NULL.
 *  (8) Callbacks must not throw or jump. What has a `release` calls it once, when nothing needs
 *      `user` any more, from any thread; after a failure it is not called, unless it says so.
 *
 * Tested by c_api_test.cc, which drives c_api_test_program.c (C11), and c_api_null_test.cc. */
#ifndef RELAYVM_VM_C_API_H_
#define RELAYVM_VM_C_API_H_

#include <stddef.h>
#include <stdint.h>

#include "bytecode/kernel_abi.h"
#include "vm/api/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_status relayvm_status;
typedef struct relayvm_runtime relayvm_runtime;
typedef struct relayvm_executable relayvm_executable;
typedef struct relayvm_invocation relayvm_invocation;
typedef struct relayvm_value relayvm_value;
typedef struct relayvm_type relayvm_type;
typedef struct relayvm_device relayvm_device;             /* c_api_device.h */
typedef struct relayvm_profile relayvm_profile;           /* c_api_trace.h */
typedef struct relayvm_chrome_trace relayvm_chrome_trace; /* c_api_trace.h */

/* --- Version --- */
/* Of this header: goes up with each addition. A library serves programs that were compiled with
 * headers of its own version and of older ones, down to an incompatible change. */
#define RELAYVM_API_VERSION 1
#define RELAYVM_VERSION_MAJOR 0
#define RELAYVM_VERSION_MINOR 1
#define RELAYVM_VERSION_PATCH 0
/* Of the library: "0.1.0", its numbers (NULL: not wanted), and its RELAYVM_API_VERSION. */
const char* relayvm_version(void);
void relayvm_version_numbers(uint32_t* major, uint32_t* minor, uint32_t* patch);
uint32_t relayvm_api_version(void);
/* RELAYVM_UNSUPPORTED when the library does not serve programs compiled with RELAYVM_API_VERSION
 * `header`. relayvm_runtime_create asks this. */
relayvm_status* relayvm_check_api_version(uint32_t header);

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
const char* relayvm_status_code_name(int code); /* "invalid argument" */
/* A failure of a callback of yours; NULL for RELAYVM_OK; RELAYVM_INTERNAL for what is no code. */
relayvm_status* relayvm_status_create(int code, const char* message);
void relayvm_status_free(relayvm_status* status);

/* What is known besides the text. */
typedef struct relayvm_place {
  const char* function;
  const char* file;      /* of the source, or a model's node; "" when unknown */
  uint32_t line, column; /* from 1; 0 when unknown */
  uint32_t instruction;  /* 16-bit units from the function's first */
} relayvm_place;
/* Where the program failed, and the calls that led there, the innermost first. */
size_t relayvm_status_num_places(const relayvm_status* status);
int relayvm_status_place(const relayvm_status* status, size_t index, relayvm_place* place); /* 1 */
/* Of a program that was compiled: the text of the place's line, and the bytes from its column on
 * that the failure is about (NULL: not wanted; 0 when unknown). "" when there is none. */
const char* relayvm_status_source_line(const relayvm_status* status, size_t index,
                                       uint32_t* length);
/* A parameter, an output, a kernel; "" when there is none. */
const char* relayvm_status_subject(const relayvm_status* status);
/* What was expected and what was found: a number, or a shape's dims (-1: any); and the numbers of a
 * failed guard, in the order of its message. NULL with 0 when there are none. */
const int64_t* relayvm_status_expected(const relayvm_status* status, size_t* count);
const int64_t* relayvm_status_found(const relayvm_status* status, size_t* count);
const int64_t* relayvm_status_numbers(const relayvm_status* status, size_t* count);
/* What was expected and found, in words: types, tokens. "" when unknown. */
const char* relayvm_status_expected_text(const relayvm_status* status);
const char* relayvm_status_found_text(const relayvm_status* status);

/* --- Runtime --- */
/* Threads of the host that share the work of one kernel call; see vm/kernels/task_pool.h. */
typedef void (*relayvm_task_fn)(void* context, uint32_t index, uint32_t worker);
typedef struct relayvm_task_pool {
  uint32_t struct_size;
  uint32_t num_threads; /* workers that may be inside the tasks of one call at once: 1 to 1024 */
  void* user;
  /* Calls task(context, index, worker) once for each index below num_tasks, on any threads, and
   * returns when all have returned. No two calls run at once with the same worker, a number below
   * num_threads. */
  void (*run)(void* user, uint32_t num_tasks, relayvm_task_fn task, void* context);
  void (*release)(void* user); /* may be NULL */
} relayvm_task_pool;

/* Where large memory comes from; see vm/memory/memory_source.h. From any thread. */
typedef struct relayvm_memory_source {
  uint32_t struct_size;
  void* user;
  /* `bytes`, a multiple of 4096, at a multiple of `alignment`, a power of two from 4096 to 64 MiB
   * that may be above `bytes` (posix_memalign takes that); NULL when there is none. */
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  void (*free)(void* user, void* memory, size_t bytes);
  /* These pages of what allocate gave need not keep their content. May be NULL. */
  void (*discard)(void* user, void* memory, size_t bytes);
  void (*release)(void* user); /* may be NULL */
} relayvm_memory_source;

/* Traces; vm/trace/trace.h says when what is called. Events have a struct_size that the library
 * sets. Their pointers live as long as the callback; times are nanoseconds of the steady clock;
 * `invocation` is relayvm_invocation_id. */
typedef struct relayvm_kernel_event {
  uint32_t struct_size;
  uint32_t kernel; /* its index in the program */
  const char* name;
  int64_t begin_ns, end_ns;
  uint64_t units; /* of the parallel range */
  uint64_t invocation;
  uint64_t batch;  /* calls of several runs that ran as one: the times are those of all together */
  uint64_t weight; /* calls that this one stands for: kernel_interval */
  relayvm_place place;
  /* Of the time, what others had the thread for, because the run's slice was over in the kernel. */
  int64_t suspended_ns;
  const void* program; /* relayvm_executable_program of what runs */
  uint64_t tag;        /* of relayvm_invocation_options, as in the events below */
  const char* device;  /* where it ran, told when that has done it; NULL: on the host */
} relayvm_kernel_event;
typedef struct relayvm_instruction_event {
  uint32_t struct_size;
  uint32_t function;    /* its index in the program */
  uint32_t instruction; /* 16-bit units from the function's first */
  uint32_t depth;       /* of calls: 0 in the function that the host called */
  uint64_t invocation;
  const void* program; /* of relayvm_program_place, which gives its name and line */
  uint64_t tag;
} relayvm_instruction_event;
typedef struct relayvm_run_event {
  uint32_t struct_size;
  int status; /* its code; RELAYVM_OK when the run begins */
  const char* function;
  int64_t begin_ns, end_ns; /* the same when it begins */
  uint64_t invocation;
  const void* program;
  uint64_t tag;
} relayvm_run_event;
typedef struct relayvm_slice_event { /* a thread has run it for a while */
  uint32_t struct_size;
  int64_t begin_ns, end_ns;
  uint64_t invocation;
  uint64_t tag;
} relayvm_slice_event;
typedef struct relayvm_wait_event {
  uint32_t struct_size;
  uint32_t in_batch; /* not 0: for others to run a kernel with; 0: in a host function */
  int64_t begin_ns, end_ns;
  uint64_t invocation;
  uint64_t tag;
} relayvm_wait_event;
typedef struct relayvm_host_call_event {
  uint32_t struct_size;
  uint32_t host_function; /* its index in the program */
  const char* name;
  int64_t begin_ns, end_ns; /* its waits included */
  uint64_t invocation;
  relayvm_place place;
  const void* program;
  uint64_t tag;
} relayvm_host_call_event;
typedef struct relayvm_batch_event { /* a kernel has run for calls of several runs */
  uint32_t struct_size;
  uint32_t kernel; /* its index in the program: the one that the runs called */
  const char* name;
  int64_t begin_ns, end_ns;
  uint64_t calls;
  const void* program;
} relayvm_batch_event;
/* Invocations on several threads call these at the same time. Each may be NULL. */
typedef struct relayvm_trace {
  uint32_t struct_size;
  void* user;
  void (*on_kernel)(void* user, const relayvm_kernel_event* event);           /* after each call */
  void (*on_instruction)(void* user, const relayvm_instruction_event* event); /* before each one */
  void (*release)(void* user);
  void (*on_run_begin)(void* user, const relayvm_run_event* event);
  void (*on_run_end)(void* user, const relayvm_run_event* event);
  void (*on_slice)(void* user, const relayvm_slice_event* event);
  void (*on_wait)(void* user, const relayvm_wait_event* event);
  void (*on_host_call)(void* user, const relayvm_host_call_event* event);
  void (*on_batch)(void* user, const relayvm_batch_event* event);
  /* Which calls of kernels on_kernel is told: 0 or 1: each; N: on average one in N, at random. */
  uint32_t kernel_interval;
} relayvm_trace;

#define RELAYVM_ALL_THREADS UINT32_MAX
#define RELAYVM_NO_IDLE_WORKSPACES UINT32_MAX
typedef struct relayvm_runtime_options {
  uint32_t struct_size;
  uint32_t num_threads; /* for one kernel call; 0: one */
  /* Ended invocations of which all but what is above 1 MiB is kept for the next ones; 0: 8. */
  uint32_t max_idle_workspaces;
  const relayvm_task_pool* task_pool;  /* NULL: threads of the runtime's own */
  const relayvm_memory_source* memory; /* NULL: the system */
  /* What sees programs run; one of these at most. All NULL: none, at no cost. */
  const relayvm_trace* trace;
  const relayvm_profile* profile;
  const relayvm_chrome_trace* chrome_trace;
  /* Bytes that all its invocations may hold together, 0: no limit. Counts pages: of objects,
   * tensors and arenas, kept for the next runs, and of results of more than 16 KiB that the host
   * holds; and the stack of calls and kernels' scratch during a run. A run that needs more ends
   * with RELAYVM_RESOURCE_EXHAUSTED. Not counted: inputs, constants, buffers for results, native
   * stacks; see relayvm.h. */
  uint64_t memory_limit;
  /* Nanoseconds for which memory that is kept for the next runs stays when nobody uses it; 0: 2 s.
   * INT64_MAX: until relayvm_runtime_trim. */
  int64_t keep_idle_ns;
  /* Which programs may run on, found by name (c_api_device.h); and the bytes that runs, and values
   * of the runtime, may have together on each, 0: no limit. */
  relayvm_device* const* devices;
  size_t num_devices;
  uint64_t device_memory_limit;
} relayvm_runtime_options;
/* The structs that `options` points to are copied; handles are kept alive. */
relayvm_status* relayvm_runtime_create_for(uint32_t api_version,
                                           const relayvm_runtime_options* options,
                                           relayvm_runtime** out);
/* Fails with RELAYVM_UNSUPPORTED when this header and the library do not fit. */
static inline relayvm_status* relayvm_runtime_create(const relayvm_runtime_options* options,
                                                     relayvm_runtime** out) {
  return relayvm_runtime_create_for(RELAYVM_API_VERSION, options, out);
}
void relayvm_runtime_free(relayvm_runtime* runtime);
uint32_t relayvm_runtime_num_threads(const relayvm_runtime* runtime);

/* What a runtime has done, and holds; vm/trace/runtime_stats.h says what the numbers mean. */
typedef struct relayvm_runtime_stats {
  uint32_t struct_size; /* set by the caller */
  /* Since the runtime was made. Runs, `ended` by the status' code: */
  uint64_t started, refused, ended[11], slices;
  int64_t run_ns;
  uint64_t kernel_calls, host_calls;
  /* Waits that are over, of host functions and for others to run a kernel with: */
  uint64_t waits, batch_waits;
  int64_t wait_ns, batch_wait_ns;
  /* batch_sizes[i]: batches of 2^i to 2^(i+1)-1 calls, the last one larger ones too. */
  uint64_t batches, batched_calls, lone_calls, batch_sizes[16];
  uint64_t allocations, allocated_bytes, peak_bytes;
  /* Now. */
  uint64_t running, waiting, live_bytes, resident_bytes, workspaces, idle_workspaces;
  uint64_t counted_bytes; /* toward the runtime's memory_limit */
} relayvm_runtime_stats;
/* Gives back what is kept for the next runs: all of ended invocations, and what others that do not
 * run keep above 8 MiB each (relayvm_invocation_trim gives back the rest). From any thread. */
relayvm_status* relayvm_runtime_trim(relayvm_runtime* runtime);
/* At any time, from any thread. */
relayvm_status* relayvm_runtime_get_stats(const relayvm_runtime* runtime,
                                          relayvm_runtime_stats* stats);

/* --- Executable: a compiled program --- */
typedef struct relayvm_host_kernel { /* found by its name before those of the library */
  const char* name;
  RelayvmKernelFn fn;
} relayvm_host_kernel;
typedef struct relayvm_host_function relayvm_host_function; /* c_api_host.h */
typedef struct relayvm_engines relayvm_engines;             /* c_api_host.h */
typedef struct relayvm_load_options {
  uint32_t struct_size;
  uint32_t perf_map; /* not 0: lists kernels in /tmp/perf-PID.map for `perf report` */
  /* Of a file for several processors, the part to load: "x86-64-v3". NULL: the best that runs. */
  const char* target;
  const relayvm_host_kernel* kernels;
  size_t num_kernels;
  const relayvm_host_function* host_functions;
  size_t num_host_functions;
  /* Paths of shared libraries of custom operators (operator_plugin.h), which are never unloaded. */
  const char* const* operator_libraries;
  size_t num_operator_libraries;
  /* not 0: relayvm_executable_load reads the file into memory, instead of mapping it. A file that
   * is mapped must be replaced by renaming, not written to; where it is, runs fail with
   * RELAYVM_FAILED_PRECONDITION (vm/run/executable.h says all). */
  uint32_t copy_file;
  uint32_t verify; /* not 0: compares the checksums of weights too, which reads all of the file */
  /* not 0: memory of runs is zero when the program gets it, else what other runs of the process
   * have left there: for files that are not trusted. */
  uint32_t clear_memory;
  /* not 0: a program that has kernels of its own, which are native code, is refused
   * (RELAYVM_UNSUPPORTED): what is left are builtins and the interpreter, which hold to what the
   * verifier has proved. */
  uint32_t no_images;
  uint32_t private_constants; /* not 0: those that are made at load are not shared (vm/README.md) */
  const relayvm_engines* engines; /* that regions of the program may run on; NULL: none */
} relayvm_load_options;
relayvm_status* relayvm_executable_load(const char* path, const relayvm_load_options* options,
                                        relayvm_executable** out);
/* From the bytes of a .vmx file, which are copied. */
relayvm_status* relayvm_executable_load_memory(const void* bytes, size_t size,
                                               const relayvm_load_options* options,
                                               relayvm_executable** out);
/* The same without a copy of constants, when `bytes` is 64-byte aligned (else they are copied):
 * they must not change until release(context), which may be NULL, is called; also on failure. */
relayvm_status* relayvm_executable_wrap_memory(const void* bytes, size_t size,
                                               void (*release)(void* context), void* context,
                                               const relayvm_load_options* options,
                                               relayvm_executable** out);
void relayvm_executable_free(relayvm_executable* executable);

/* What events of traces name the program by, of any of its handles; lives as long as one of them
 * does, or a run. */
const void* relayvm_executable_program(const relayvm_executable* executable);
/* Where an instruction is, as events and relayvm_place count them. 1; 0 when there is none. The
 * strings of `place` are copied to `text`, of `size` bytes: shorter where they do not fit. */
int relayvm_program_place(const void* program, uint32_t function, uint32_t instruction,
                          relayvm_place* place, char* text, size_t size);

/* The functions that hosts may call: by index, in the program's order. */
size_t relayvm_executable_num_functions(const relayvm_executable* executable);
const char* relayvm_executable_function_name(const relayvm_executable* executable, size_t function);
relayvm_status* relayvm_executable_find_function(const relayvm_executable* executable,
                                                 const char* name, size_t* function);
size_t relayvm_executable_num_type_params(const relayvm_executable* executable, size_t function);
size_t relayvm_executable_num_params(const relayvm_executable* executable, size_t function);
const char* relayvm_executable_param_name(const relayvm_executable* executable, size_t function,
                                          size_t param);
const relayvm_type* relayvm_executable_param_type(const relayvm_executable* executable,
                                                  size_t function, size_t param);
/* 1 where it may be left out: of a type such as Optional[Tensor[(3), float32]]. */
int relayvm_executable_param_is_optional(const relayvm_executable* executable, size_t function,
                                         size_t param);
const relayvm_type* relayvm_executable_result_type(const relayvm_executable* executable,
                                                   size_t function);
/* Of the result what is no tuple, counted depth first through its tuples; where the program has no
 * names, they are output_0, output_1 ... */
size_t relayvm_executable_num_outputs(const relayvm_executable* executable, size_t function);
const char* relayvm_executable_output_name(const relayvm_executable* executable, size_t function,
                                           size_t output);
const relayvm_type* relayvm_executable_output_type(const relayvm_executable* executable,
                                                   size_t function, size_t output);
/* Algebraic data types, and their constructors by tag. */
size_t relayvm_executable_num_adts(const relayvm_executable* executable);
const char* relayvm_executable_adt_name(const relayvm_executable* executable, size_t adt);
size_t relayvm_executable_adt_num_type_params(const relayvm_executable* executable, size_t adt);
size_t relayvm_executable_num_constructors(const relayvm_executable* executable, size_t adt);
const char* relayvm_executable_constructor_name(const relayvm_executable* executable, size_t adt,
                                                uint32_t tag);
size_t relayvm_executable_constructor_num_fields(const relayvm_executable* executable, size_t adt,
                                                 uint32_t tag);
const relayvm_type* relayvm_executable_constructor_field(const relayvm_executable* executable,
                                                         size_t adt, uint32_t tag, size_t field);
/* The tag of a constructor, searched in all ADTs. */
relayvm_status* relayvm_executable_constructor_tag(const relayvm_executable* executable,
                                                   const char* name, uint32_t* tag);
/* The processors that the file holds the program for ("x86-64-v3"); 0 when there is one part. */
size_t relayvm_executable_num_targets(const relayvm_executable* executable);
const char* relayvm_executable_target(const relayvm_executable* executable, size_t index);
/* The kernels that schedulers can batch: none unless it was compiled with --batching. */
size_t relayvm_executable_num_batched_kernels(const relayvm_executable* executable);

/* --- Types --- */
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
  RELAYVM_STRING = 13, /* see relayvm_value_strings and relayvm_value_text */
};
#define RELAYVM_NO_DTYPE (-1)
const char* relayvm_dtype_name(relayvm_dtype dtype); /* "float32"; NULL when there is none */
size_t relayvm_dtype_bytes(relayvm_dtype dtype);

typedef int32_t relayvm_type_kind;
enum {
  RELAYVM_TYPE_NONE = -1, /* of NULL */
  RELAYVM_TYPE_TENSOR = 0,
  RELAYVM_TYPE_TUPLE = 1,
  RELAYVM_TYPE_ADT = 2,
  RELAYVM_TYPE_FUNCTION = 3,
  RELAYVM_TYPE_REF = 4,
  RELAYVM_TYPE_VAR = 5, /* a type parameter: any tensor, tuple or constructor */
};
relayvm_type_kind relayvm_type_get_kind(const relayvm_type* type);
const char* relayvm_type_text(const relayvm_type* type); /* "Tensor[(?, 300), float32]" */
/* Of a tensor; RELAYVM_NO_DTYPE and 0 of others. */
relayvm_dtype relayvm_type_dtype(const relayvm_type* type);
size_t relayvm_type_rank(const relayvm_type* type);
/* -1 when it is known only at run time (also when there is no such dim). */
int64_t relayvm_type_dim(const relayvm_type* type, size_t dim);
/* As the program or model names it ("n", "n*2 + 1"); "" when it has none. */
const char* relayvm_type_dim_name(const relayvm_type* type, size_t dim);
/* A tuple's fields, an ADT's type arguments, a reference's content. */
size_t relayvm_type_num_args(const relayvm_type* type);
const relayvm_type* relayvm_type_arg(const relayvm_type* type, size_t index);
/* Of an ADT: which one; of a type parameter: its position. */
size_t relayvm_type_index(const relayvm_type* type);

/* --- Values --- */
typedef int32_t relayvm_value_kind;
enum {
  RELAYVM_VALUE_NONE = 0, /* of NULL */
  RELAYVM_VALUE_TENSOR = 1,
  RELAYVM_VALUE_ADT = 2, /* constructors and tuples (tag 0) */
  RELAYVM_VALUE_CLOSURE = 3,
  RELAYVM_VALUE_REF = 4,
};

/* Copies compact, row-major elements; with NULL data, the elements are zero. */
relayvm_status* relayvm_value_tensor(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                     const void* data, relayvm_value** out);
/* The same for inputs, in memory that counts toward the runtime's memory_limit and comes from its
 * memory source: from 16 KiB on, in pages. RELAYVM_RESOURCE_EXHAUSTED where there is no room. */
relayvm_status* relayvm_runtime_tensor(relayvm_runtime* runtime, relayvm_dtype dtype,
                                       const int64_t* dims, size_t rank, const void* data,
                                       relayvm_value** out);
/* A tensor of strings: as many texts as the dims say, of texts[i] and sizes[i] bytes of UTF-8,
 * copied. With NULL sizes the texts are zero-terminated. */
relayvm_status* relayvm_value_strings(const int64_t* dims, size_t rank, const char* const* texts,
                                      const size_t* sizes, relayvm_value** out);
/* The caller's memory, not copied when 64-byte aligned; release(context), if not NULL, is called
 * once when it is no longer needed, from any thread, also on failure. */
relayvm_status* relayvm_value_wrap(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                   void* data, void (*release)(void* context), void* context,
                                   relayvm_value** out);
/* The fields stay the caller's too. A tuple has tag 0. */
relayvm_status* relayvm_value_adt(uint32_t tag, relayvm_value* const* fields, size_t num_fields,
                                  relayvm_value** out);
/* DLPack: of the host's memory, and of devices relayvm_runtime_from_dlpack (c_api_device.h).
 * Imports take the tensor over, also on failure, and copy it only when it is not compact or
 * not 64-byte aligned; exports never copy, and are read-only, which the structure before DLPack 1.0
 * cannot say. See vm/api/dlpack_exchange.h. */
relayvm_status* relayvm_value_from_dlpack(DLManagedTensorVersioned* tensor, relayvm_value** out);
relayvm_status* relayvm_value_from_legacy_dlpack(DLManagedTensor* tensor, relayvm_value** out);
relayvm_status* relayvm_value_to_dlpack(const relayvm_value* value, DLManagedTensorVersioned** out);
relayvm_status* relayvm_value_to_legacy_dlpack(const relayvm_value* value, DLManagedTensor** out);
relayvm_value* relayvm_value_copy(const relayvm_value* value); /* a handle on the same value */
void relayvm_value_free(relayvm_value* value);

relayvm_value_kind relayvm_value_get_kind(const relayvm_value* value);
/* Of a tensor; of other kinds they give RELAYVM_NO_DTYPE, 0 or NULL. */
relayvm_dtype relayvm_value_get_dtype(const relayvm_value* value);
size_t relayvm_value_rank(const relayvm_value* value);
const int64_t* relayvm_value_dims(const relayvm_value* value);
int64_t relayvm_value_num_elements(const relayvm_value* value);
const void* relayvm_value_data(const relayvm_value* value); /* NULL on a device */
/* The text at a flat position of a tensor of strings, not zero-terminated; it lives as long as a
 * handle on the tensor. NULL, and 0 bytes, where there is none. */
const char* relayvm_value_text(const relayvm_value* value, int64_t position, size_t* bytes);
/* NULL when another handle has the tensor too, or its memory is not its own. */
void* relayvm_value_mutable_data(relayvm_value* value);
size_t relayvm_value_bytes(const relayvm_value* value);
/* Of an ADT value, and of a reference (one field). */
uint32_t relayvm_value_tag(const relayvm_value* value);
size_t relayvm_value_num_fields(const relayvm_value* value);
/* Of a closure: its function's index in its program. */
uint32_t relayvm_value_function(const relayvm_value* value);
relayvm_status* relayvm_value_field(const relayvm_value* value, size_t index, relayvm_value** out);

/* --- Invocations --- */
typedef struct relayvm_invocation_options {
  uint32_t struct_size;
  uint64_t memory_limit;       /* bytes; 0: the machine's, or container's */
  uint64_t stack_limit;        /* bytes of address space for calls; 0: 1 GiB */
  int64_t timeout_ns;          /* of one run; 0: none */
  uint64_t native_stack_bytes; /* which kernels and host functions run on; 0: 256 KiB */
  void* host_context;
  /* The host's name for what it runs, a request: stands in all events of traces, in
   * relayvm_run_report, and host functions see it (relayvm_host_call_tag). */
  uint64_t tag;
} relayvm_invocation_options;
typedef struct relayvm_invocation_stats { /* of the latest run */
  uint32_t struct_size;                   /* set by the caller */
  uint64_t peak_bytes;                    /* as memory_limit counts */
  uint64_t resident_bytes;                /* that the invocation holds now */
  uint64_t allocations;
  int64_t run_ns;
} relayvm_invocation_stats;
/* Memory of the caller for a tensor of a result: compact, row-major, of any alignment. */
typedef struct relayvm_output {
  void* data;          /* NULL: no buffer, the tensor stays in the result */
  const int64_t* dims; /* not needed once the run has started */
  size_t rank;
  relayvm_dtype dtype;
} relayvm_output;

relayvm_status* relayvm_invocation_create(relayvm_runtime* runtime, relayvm_executable* executable,
                                          const relayvm_invocation_options* options,
                                          relayvm_invocation** out);
void relayvm_invocation_free(relayvm_invocation* invocation); /* cancels what runs */
/* An input that may be left out, of a type such as Optional[Tensor[(3), float32]], is a tensor as
 * it is, or NULL; those at the end may be left out of `num_inputs`. */
relayvm_status* relayvm_invocation_run(relayvm_invocation* invocation, const char* function,
                                       relayvm_value* const* inputs, size_t num_inputs,
                                       relayvm_value** out);
/* The same into buffers: output i receives tensor i of the result, counted as by
 * relayvm_executable_output_name, and the result has a value of kind none in its place (`out` may
 * be NULL when nothing else is wanted). The dtype and dims of a buffer must be its tensor's, or the
 * run fails with RELAYVM_INVALID_ARGUMENT: before it where the types tell, which writes nothing,
 * else at its end. The content of buffers is undefined during a run, and after one that failed. A
 * tensor of 16 KiB or more that is plainly made for the result is made in its buffer if that is
 * 64-byte aligned; others are copied there when the run ends. A buffer may be the memory of an
 * input: it is written at the end then. */
relayvm_status* relayvm_invocation_run_into(relayvm_invocation* invocation, const char* function,
                                            relayvm_value* const* inputs, size_t num_inputs,
                                            const relayvm_output* outputs, size_t num_outputs,
                                            relayvm_value** out);
/* By names, in any order: input i is that of input_names[i], outputs[i] receives what
 * output_names[i] calls, of which the caller says `num_outputs`. Inputs that may be left out may be
 * missing. RELAYVM_INVALID_ARGUMENT, with what there is, for a name that there is not; all outputs
 * are NULL after a failure. */
relayvm_status* relayvm_invocation_run_named(relayvm_invocation* invocation, const char* function,
                                             const char* const* input_names,
                                             relayvm_value* const* inputs, size_t num_inputs,
                                             const char* const* output_names, size_t num_outputs,
                                             relayvm_value** outputs);

/* In slices: start (`outputs` may be NULL with 0); poll until it gives RELAYVM_DONE; then the
 * result, once. */
relayvm_status* relayvm_invocation_start(relayvm_invocation* invocation, const char* function,
                                         relayvm_value* const* inputs, size_t num_inputs,
                                         const relayvm_output* outputs, size_t num_outputs);
enum {
  RELAYVM_READY = 0,   /* to go on */
  RELAYVM_DONE = 1,    /* also when nothing was started */
  RELAYVM_WAITING = 2, /* for somebody to wake it */
};
/* A slice of 0 runs until the run waits or has ended. */
int relayvm_invocation_poll(relayvm_invocation* invocation, int64_t slice_ns);
relayvm_status* relayvm_invocation_take_result(relayvm_invocation* invocation, relayvm_value** out);
/* Runs that wait, since a host function suspended them; see relayvm.h. */
/* Called for each wait that ends, on the thread that ends it. NULL: nobody is. */
relayvm_status* relayvm_invocation_set_on_ready(relayvm_invocation* invocation,
                                                void (*on_ready)(void* user), void* user);
/* When to poll a run that waits though nobody has woken it: steady clock; INT64_MAX: never. From
 * any thread. */
int64_t relayvm_invocation_next_deadline_ns(const relayvm_invocation* invocation);
/* 1 when the run waits and that time has passed: it is ready. From any thread. */
int relayvm_invocation_wake_if_due(relayvm_invocation* invocation);
/* Sleeps until a run that waits is ready, or that time has passed. */
void relayvm_invocation_wait(relayvm_invocation* invocation);
/* Ends the run in progress, or else the next one; from any thread. */
void relayvm_invocation_cancel(relayvm_invocation* invocation);
/* Takes back a cancellation that came after the end of the run it was meant for. */
void relayvm_invocation_forget_cancel(relayvm_invocation* invocation);

/* Limits from the next run on, as the options count them (0: the default). The stacks' and trim,
 * which gives back the memory that is kept for the next run, fail with RELAYVM_FAILED_PRECONDITION
 * while a run is in progress. */
relayvm_status* relayvm_invocation_set_memory_limit(relayvm_invocation* invocation, uint64_t bytes);
relayvm_status* relayvm_invocation_set_stack_limit(relayvm_invocation* invocation, uint64_t bytes);
relayvm_status* relayvm_invocation_set_timeout(relayvm_invocation* invocation, int64_t timeout_ns);
relayvm_status* relayvm_invocation_set_native_stack(relayvm_invocation* invocation, uint64_t bytes);
relayvm_status* relayvm_invocation_trim(relayvm_invocation* invocation);
relayvm_status* relayvm_invocation_get_stats(const relayvm_invocation* invocation,
                                             relayvm_invocation_stats* stats);
uint64_t relayvm_invocation_id(const relayvm_invocation* invocation); /* from 1, in its runtime */
/* From the next run on; RELAYVM_FAILED_PRECONDITION while one is in progress. */
relayvm_status* relayvm_invocation_set_tag(relayvm_invocation* invocation, uint64_t tag);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_C_API_H_ */
