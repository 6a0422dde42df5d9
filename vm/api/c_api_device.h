/* Devices of the C API: processors with memory of their own, which a host gives to runtimes as
 * structs of functions.
 *
 * A queue does what is put there in its order, some time later; several queues know no order. What
 * fails when it is done is told by get_failure, of the first; what comes after it in its queue is
 * left out, but for free and notify. The functions:
 *
 *   - are called from any thread: those of one queue, and of its memory, one at a time, all others
 *     several at once. They may be called from a fiber's small stack (native_stack_bytes).
 *   - do not wait for what is in a queue, nor for a thread that calls the library: only load may
 *     take long. Programs, values and runtimes call them when they go, on the thread that lets the
 *     last of them go, with whatever locks it holds: a function that needs one of these (Python's
 *     GIL) waits for ever.
 *   - throw nothing and do not jump out of their frame. What there is no memory for is said by a
 *     status, by NULL of allocate, or by the failure of the queue (RELAYVM_KERNEL_OUT_OF_MEMORY).
 *   - do not call the library, but for relayvm_status_create and, in notify, done.
 *
 * Memory of a device is aligned to 64 bytes, what comes by DLPack too. The host's memory that copies
 * read or write has the alignment of its elements, and stays until they are done.
 *
 *   relayvm_device_functions functions = {sizeof(functions), "gpu", my_gpu};
 *   functions.load = ...
 *   relayvm_device* device;
 *   relayvm_device_create(&functions, &device);
 *   relayvm_runtime_options options = {sizeof(options)};
 *   options.devices = &device;
 *   options.num_devices = 1;
 *
 * Conventions as in c_api.h. Tested by c_api_device_test.cc. */
#ifndef RELAYVM_VM_C_API_DEVICE_H_
#define RELAYVM_VM_C_API_DEVICE_H_

#include "vm/api/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
typedef struct relayvm_device_launch {
  uint32_t struct_size; /* set by the library */
  uint32_t num_buffers, num_scalars;
  const void* kernel; /* of find_kernel */
  void* const* buffers;
  const int64_t* scalars;
  int64_t units, grain, scratch_bytes;
  uint64_t tag; /* not 0 */
} relayvm_device_launch;
typedef struct relayvm_device_failure { /* of the first work of a queue that failed */
  uint32_t struct_size;                 /* set by the library */
  int32_t code;                         /* RELAYVM_KERNEL_OK: none has */
  uint64_t tag;                         /* of the launch; 0: a copy */
  RelayvmKernelFault fault;             /* of the kernel, where it says one */
  const char* message; /* NULL: none; copied before another function of the queue is called */
} relayvm_device_failure;
typedef struct relayvm_device_functions {
  uint32_t struct_size;
  const char* name; /* what programs call it; copied */
  void* user;
  /* A program's image for the device, which stays there until it is unloaded; NULL with 0: the
   * program has none, and kernels are the device's own. */
  relayvm_status* (*load)(void* user, const void* image, size_t bytes, void** out);
  void (*unload)(void* user, void* image);
  /* By its name, and its entry where the program has an image (else UINT64_MAX); NULL: none. */
  const void* (*find_kernel)(void* user, void* image, const char* name, uint64_t entry);
  relayvm_status* (*create_queue)(void* user, void** out);
  void (*free_queue)(void* user, void* queue); /* all of it is done */
  /* At least 1 byte; NULL where there is none. The queue's own until it is kept. */
  void* (*allocate)(void* user, void* queue, size_t bytes);
  void (*free)(void* user, void* queue, void* memory); /* in the queue's order */
  /* It stays when the queue is reset or gone, until free_kept, and other queues use it too. */
  void (*keep)(void* user, void* queue, void* memory);
  void (*free_kept)(void* user, void* memory); /* nothing uses it any more */
  /* Copies the struct, the addresses at `buffers` and the scalars, which are gone afterwards. */
  void (*launch)(void* user, void* queue, const relayvm_device_launch* launch);
  void (*copy_in)(void* user, void* queue, void* to, const void* from, size_t bytes);
  void (*copy_out)(void* user, void* queue, void* to, const void* from, size_t bytes);
  /* Calls done(context) exactly once, when what was put there before is done or left out, from any
   * thread, maybe at once: also where the queue has failed, and while a host ends. Runs, values and
   * programs wait for it without end. The queue may be gone when done returns. */
  void (*notify)(void* user, void* queue, void (*done)(void* context), void* context);
  void (*get_failure)(void* user, void* queue, relayvm_device_failure* failure);
  void (*reset)(void* user, void* queue); /* frees its memory, forgets the failure; all is done */
  void (*release)(void* user); /* may be NULL; when values, programs and runtimes are gone */
  /* As DLPack has it: a DLDeviceType, none of the host's, and which one of these. 0: none. */
  int32_t dlpack_type, dlpack_id;
} relayvm_device_functions;
/* The struct is copied. All functions but release are needed. */
relayvm_status* relayvm_device_create(const relayvm_device_functions* functions,
                                      relayvm_device** out);
void relayvm_device_free(relayvm_device* device);
/* NULL for NULL. */
const char* relayvm_device_name(const relayvm_device* device);

/* The device that a tensor is on, for relayvm_device_free; NULL on the host, and of what is no
 * tensor. */
relayvm_status* relayvm_value_device(const relayvm_value* value, relayvm_device** out);
/* Its address there; NULL on the host, as relayvm_value_data is on a device. */
void* relayvm_value_device_data(const relayvm_value* value);
/* A tensor on a device of the runtime, or with NULL on the host; the value itself where it is
 * there. Waits for the copy. */
relayvm_status* relayvm_runtime_copy_to(relayvm_runtime* runtime, const relayvm_value* value,
                                        const relayvm_device* device, relayvm_value** out);
/* Where tensor `output` of the result is left from the next run on, counted as relayvm_output are;
 * NULL: on the host. A run that gives a buffer for it too fails, as that of a function without it. */
relayvm_status* relayvm_invocation_set_output_device(relayvm_invocation* invocation, size_t output,
                                                     const relayvm_device* device);
/* DLPack tensors on devices of the runtime too (relayvm_value_from_dlpack). */
relayvm_status* relayvm_runtime_from_dlpack(relayvm_runtime* runtime,
                                            DLManagedTensorVersioned* tensor, relayvm_value** out);
relayvm_status* relayvm_runtime_from_legacy_dlpack(relayvm_runtime* runtime,
                                                   DLManagedTensor* tensor, relayvm_value** out);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_VM_C_API_DEVICE_H_ */
