/* The ABI of providers: shared libraries that run regions of a program on another engine (oneDNN, a
 * BLAS, an accelerator's own library). A standalone C header (with kernel_abi.h).
 *
 * The library exports
 *     const RelayvmRegionProvider* relayvm_region_provider(void);
 * A region is a piece of a program that takes tensors and gives tensors, and depends on nothing
 * else. `create` gets it as JSON (tools/examples/engines/README.md, "A region's JSON") with its
 * constants; `prepare` gets the numbers that its symbols stand for in a run and says what scratch
 * memory the run needs; `run` computes. So a provider does its choices and packs its weights in
 * `create`, plans each new set of sizes in `prepare`, and keeps a bounded number of plans.
 *
 * Tensors are compact and row-major, at least 64-byte aligned (those of at most 8 bytes 16-byte),
 * with the dtypes and dims that the JSON says: in a file that a stranger has made they may differ,
 * so a provider compares them before it reads or writes. An output overlaps no input. Constants stay where
 * they are until `destroy`.
 *
 * Threads: `open` and `create` are called when a program is loaded. All others may be called by
 * several threads at once, for one region too; a region is changed by none of them that another
 * would see.
 *
 * Errors: a function that gives something other than RELAYVM_REGION_OK may write why, for people,
 * to `error` (not zero-terminated text beyond its size, never NULL). Where `open` or `create` fail,
 * the program is loaded in its form without this engine, where the file has one; where `prepare` or
 * `run` fail, the run does. Tested by vm/engines/engine_test.cc. */
#ifndef RELAYVM_BYTECODE_REGION_ABI_H_
#define RELAYVM_BYTECODE_REGION_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
/* Raised where a provider of the one before would not do. */
#define RELAYVM_REGION_ABI 1

enum RelayvmRegionStatus {
  RELAYVM_REGION_OK = 0,
  RELAYVM_REGION_UNSUPPORTED = 1, /* the engine, its version or this machine cannot do it */
  RELAYVM_REGION_INVALID = 2,     /* JSON, constants or dims are not what they should be */
  RELAYVM_REGION_OUT_OF_MEMORY = 3,
  RELAYVM_REGION_STOPPED = 4, /* env->poll said so */
  RELAYVM_REGION_FAILED = 5   /* anything else */
};

typedef struct RelayvmRegionError {
  char message[256]; /* UTF-8, zero-terminated; "" as given */
} RelayvmRegionError;

typedef struct RelayvmRegionTensor {
  void* data; /* read only, of inputs and constants */
  const int64_t* dims;
  uint32_t rank;
  int32_t dtype; /* relayvm_dtype of c_api.h, RelayvmElement of operator_plugin.h: 11 is float32 */
} RelayvmRegionTensor;

/* What a run gives. */
typedef struct RelayvmRegionEnv RelayvmRegionEnv;
struct RelayvmRegionEnv {
  uint32_t struct_size; /* of the caller: fields from there on are absent */
  uint32_t num_threads; /* that the run may use, its own included: at least 1 */
  /* 0: go on; else `run` returns RELAYVM_REGION_STOPPED soon: the run was cancelled, or its time is
   * over. One that may take longer than about a millisecond calls it that often, on the thread that
   * called it. */
  int32_t (*poll)(const RelayvmRegionEnv* env);
};

typedef struct RelayvmRegion RelayvmRegion; /* a provider's own */
typedef struct RelayvmPlan RelayvmPlan;     /* a provider's own: of one region and its dims */

typedef struct RelayvmRegionProvider {
  uint32_t abi;         /* RELAYVM_REGION_ABI */
  uint32_t struct_size; /* sizeof(RelayvmRegionProvider) of the provider */
  const char* engine;   /* "dnnl": the compiler's name of it */

  /* Whether the engine is here: its library, a version that will do, what it needs of the machine.
   * Gives the version of what was found ("2.6.3"), which stays there. More than once is as once. */
  int32_t (*open)(const char** version, RelayvmRegionError* error);

  /* `json`: `bytes` long, not zero-terminated. `constants`: of its nodes "const", in order. */
  int32_t (*create)(const char* json, uint64_t bytes, const RelayvmRegionTensor* constants,
                    uint32_t num_constants, RelayvmRegion** region, RelayvmRegionError* error);

  /* `dims`: of the JSON's "symbols", in their order, each at least 0. `num_threads`: the env's of
   * the plan's runs. `*scratch_bytes`: that each
   * run of the plan gets, counted toward its limit. A plan is used until it is released, also when
   * the provider has given it up meanwhile. */
  int32_t (*prepare)(RelayvmRegion* region, const int64_t* dims, uint32_t num_dims,
                     uint32_t num_threads, RelayvmPlan** plan, uint64_t* scratch_bytes, RelayvmRegionError* error);

  /* `inputs`: of the nodes "input", in their order; `outputs`: of "heads". `scratch`: 64-byte
   * aligned, NULL where it is 0 bytes. */
  int32_t (*run)(RelayvmRegion* region, RelayvmPlan* plan, const RelayvmRegionEnv* env,
                 const RelayvmRegionTensor* inputs, uint32_t num_inputs,
                 const RelayvmRegionTensor* outputs, uint32_t num_outputs, void* scratch,
                 RelayvmRegionError* error);

  void (*release)(RelayvmRegion* region, RelayvmPlan* plan);
  /* When no plan of it is held. */
  void (*destroy)(RelayvmRegion* region);
} RelayvmRegionProvider;

typedef const RelayvmRegionProvider* (*RelayvmRegionProviderFn)(void);
#define RELAYVM_REGION_PROVIDER_SYMBOL "relayvm_region_provider"
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
#endif /* RELAYVM_BYTECODE_REGION_ABI_H_ */
