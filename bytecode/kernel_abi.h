/* The kernel ABI: what compiled kernels, kernels written in C++ and the VM agree on. A standalone C
 * header.
 *
 * A kernel is
 *     int32_t kernel(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
 * uint32_t end); It computes units begin..end-1 of its parallel range; units are independent and
 * may run in any order on any thread. It returns 0, or a positive error code (RelayvmKernelError)
 * for data it cannot accept, such as an index out of range.
 *
 * Buffers are compact, row-major and at least 64-byte aligned; inputs first, then outputs. An
 * output never overlaps an input, unless the kernel's interface allows that pair to be the same
 * buffer. Buffers of size zero may be any pointer. Scalars are canonical 64-bit values: signed
 * integers sign-extended, unsigned and bool zero-extended, float64 its bits, float32, float16 and
 * bfloat16 their bits zero-extended. Shapes were proved by the compiler or guarded by bytecode: a
 * kernel does not check them. It does not allocate and calls nothing outside its image. */
#ifndef RELAYVM_BYTECODE_KERNEL_ABI_H_
#define RELAYVM_BYTECODE_KERNEL_ABI_H_

#include <stdint.h>
/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct RelayvmKernelEnv {
  uint32_t struct_size; /* sizeof(RelayvmKernelEnv) of the caller */
  uint32_t num_threads; /* threads that may run units of one call */
} RelayvmKernelEnv;

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
};
/* NOLINTEND(modernize-use-using) */
#endif /* RELAYVM_BYTECODE_KERNEL_ABI_H_ */
