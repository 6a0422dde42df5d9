/* The kernel ABI: what compiled kernels, builtins (kernels/runtime), a host's own kernels and the
 * VM agree on. A standalone C header.
 *
 * A kernel is
 *     int32_t kernel(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args,
 *                    uint32_t begin, uint32_t end);
 * It computes units begin..end-1 of its parallel range; units are independent and may run in any
 * order on any thread. It returns 0, or a positive error code (RelayvmKernelError) for data it
 * cannot accept, such as an index out of range.
 *
 * Buffers are compact and row-major; inputs first, then outputs. They are at least 64-byte aligned,
 * those of at most 8 bytes at least 16-byte. An output never overlaps an input, unless the kernel's
 * interface allows that pair to be the same buffer. Buffers of size zero may be any pointer.
 * Scalars are canonical 64-bit values: signed integers sign-extended, unsigned and bool
 * zero-extended, float64 its bits, float32, float16 and bfloat16 their bits zero-extended. Shapes
 * were proved by the compiler or guarded by bytecode: a kernel does not check them. It calls
 * nothing outside its image but the functions of its environment.
 *
 * A kernel that may run for longer than about a millisecond calls env->poll that often, and returns
 * at once with what that gives unless it is 0: so time limits and cancellation act inside it.
 *
 * Elements of strings are ids of env->strings, int64: the same text has the same id in a run.
 * Compiled kernels only move and compare them.
 *
 * A kernel that returns RELAYVM_KERNEL_INDEX_OUT_OF_RANGE may say in env->fault which number that
 * is, and what was expected, where its caller gives that. */
#ifndef RELAYVM_BYTECODE_KERNEL_ABI_H_
#define RELAYVM_BYTECODE_KERNEL_ABI_H_

#include <stdint.h>
/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct RelayvmKernelFault {
  int64_t given;              /* 0: no kernel has written it; else which of its checks, from 1 */
  int64_t found, least, most; /* expected: least..most; no number would do where most < least */
} RelayvmKernelFault;

/* The texts of a run. One thread at a time. */
typedef struct RelayvmStrings RelayvmStrings;
struct RelayvmStrings {
  /* The text of an id, UTF-8, `*bytes` long and not zero-terminated, which stays there until the
   * run ends; NULL where there is none. */
  const char* (*text)(const RelayvmStrings* self, int64_t id, uint64_t* bytes);
  /* The id of a text, which is copied where it is new. -1: there is no memory for it. */
  int64_t (*intern)(RelayvmStrings* self, const char* text, uint64_t bytes);
};

typedef struct RelayvmKernelEnv RelayvmKernelEnv;
struct RelayvmKernelEnv {
  uint32_t
      struct_size; /* sizeof(RelayvmKernelEnv) of the caller: fields from there on are absent */
  uint32_t num_threads; /* threads that may run units of one call */
  /* 0: go on; else the kernel returns this code. May suspend it for a while. NULL: never stops. */
  int32_t (*poll)(const RelayvmKernelEnv* env);
  /* Memory for the time of the call, 16-byte aligned, that counts toward the run's limit; NULL when
   * that is reached. The functions are NULL where there is no such memory: then it is malloc's. */
  void* (*allocate)(const RelayvmKernelEnv* env, uint64_t bytes);
  void (*release)(const RelayvmKernelEnv* env, void* memory, uint64_t bytes);
  RelayvmKernelFault* fault; /* NULL: nobody reads it */
  RelayvmStrings* strings;   /* NULL: the run has none, or this thread may not use them */
  /* 0 where the kernel computes units of a call in this scratch for the first time; from then on,
   * until the call ends, what the kernel writes, and so is the scratch. NULL: neither is kept. */
  uint64_t* kept;
};

typedef struct RelayvmKernelArgs {
  void* const* buffers;
  const int64_t* scalars;
  void* scratch; /* private to this call of the kernel, of the size that its interface asks for */
} RelayvmKernelArgs;

typedef int32_t (*RelayvmKernelFn)(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args,
                                   uint32_t begin, uint32_t end);

enum RelayvmKernelError {
  RELAYVM_KERNEL_OK = 0,
  RELAYVM_KERNEL_INDEX_OUT_OF_RANGE = 1,
  RELAYVM_KERNEL_INVALID_ARGUMENT = 2,
  RELAYVM_KERNEL_STOPPED = 3, /* env->poll said so */
  RELAYVM_KERNEL_OUT_OF_MEMORY = 4,
  RELAYVM_KERNEL_BAD_TEXT =
      5, /* a text that is no number, where one is read: its id is fault->found */
  RELAYVM_KERNEL_ENGINE_FAILED = 6, /* another engine, of a region (region_abi.h) */
};
/* NOLINTEND(modernize-use-using) */
#endif /* RELAYVM_BYTECODE_KERNEL_ABI_H_ */
