// What a region does for one set of sizes: primitives in their order, over memory whose places are
// known. A plan does not change once it is built; what a run changes stands in a context, of which
// the plan keeps those that are not in use. Held by count: by the region's cache and by each
// `prepare` whose `release` has not come. Tested by dnnl_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bytecode/region_abi.h"
#include "vm/engines/dnnl/constants.h"
#include "vm/engines/dnnl/onednn.h"

namespace relayvm::onednn {

struct Place {
  enum class Kind : uint8_t { kNone, kInput, kOutput, kConstant, kPacked, kScratch };
  Kind kind = Kind::kNone;
  uint64_t index = 0;  // of kScratch: a buffer of the builder; in a plan its first byte
  bool operator==(const Place& other) const = default;
};

// A step that no primitive does; gets where its places are.
using NativeStep = std::function<void(std::span<void* const>)>;

struct PlanStep {
  struct Arg {
    int arg;          // DNNL_ARG_*
    uint32_t memory;  // of Plan::memories
  };
  Primitive primitive;  // or
  NativeStep native;
  std::vector<Arg> args;  // of a native step: its places in order
};

// What a run is given.
struct RunData {
  std::span<const RelayvmRegionTensor> inputs, outputs;
  void* scratch;
  const RelayvmRegionEnv* env;
};

class Plan {
 public:
  struct PlanMemory {
    MemoryDesc desc;
    Place place;
  };
  std::vector<PlanMemory> memories;
  std::vector<PlanStep> steps;
  std::vector<std::shared_ptr<const Packed>> packed;
  const Constants* constants = nullptr;  // the region's
  uint64_t scratch_bytes = 0;
  std::vector<int64_t> symbols;
  int threads = 1;  // that its primitives were made for

  struct Type {
    Dims dims;
    DType dtype;
  };
  std::vector<Type> inputs, outputs;

  // kCancelled where env->poll says so; kInvalidInput where the tensors are not of these types.
  Status Run(const RunData& data);

  void Hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  // The last one destroys it.
  void Drop() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  struct Context {
    Stream stream;
    std::vector<Memory> memories;
    std::vector<std::vector<dnnl_exec_arg_t>> args;  // of each step
    std::vector<uint32_t> moving;                    // memories that differ from run to run
  };
  Result<std::unique_ptr<Context>> MakeContext() const;
  Status CheckTensors(const RunData& data) const;
  void* Locate(const Place& place, const RunData& data) const;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
  std::atomic<uint32_t> holders_ = 1;
};

struct DropPlan {
  void operator()(Plan* plan) const { plan->Drop(); }
};
using HeldPlan = std::unique_ptr<Plan, DropPlan>;

}  // namespace relayvm::onednn
