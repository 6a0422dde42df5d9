#include "vm/engines/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/printable.h"
#include "bytecode/regions.h"
#include "vm/engines/engine.h"
#include "vm/kernels/kernel_runner.h"

namespace relayvm::vm {
namespace {

static_assert(static_cast<int32_t>(DType::kFloat32) == 11);  // as RelayvmRegionTensor::dtype says

RelayvmRegionTensor ConstantTensor(const ConstantInfo& constant) {
  return {const_cast<std::byte*>(constant.data.data()), constant.dims.data(),
          static_cast<uint32_t>(constant.dims.size()), static_cast<int32_t>(constant.dtype)};
}

Status CreateRegion(const Program& program, LinkedRegion* to) {
  const RegionInfo& info = *to->info;
  std::vector<RelayvmRegionTensor> constants;
  for (const uint32_t constant : info.constants)
    constants.push_back(ConstantTensor(program.constants[constant]));
  RelayvmRegionError error{};
  int32_t status = RELAYVM_REGION_FAILED;
  const std::exception_ptr thrown = ExceptionOf([&] {
    status = to->provider->create(info.json.data(), info.json.size(), constants.data(),
                                  static_cast<uint32_t>(constants.size()), &to->region, &error);
  });
  if (thrown == nullptr && status == RELAYVM_REGION_OK && to->region != nullptr) return OkStatus();
  to->region = nullptr;
  return {StatusCode::kUnsupported,
          fmt::format("region {}: {}", Printable(info.name),
                      thrown != nullptr             ? "the engine threw an exception"
                      : status == RELAYVM_REGION_OK ? "the engine gave no region"
                                                    : RegionErrorText(status, error))};
}

// What a run gives a provider.
struct RegionEnv : RelayvmRegionEnv {
  const RelayvmKernelEnv* kernel_env;
};

int32_t PollRun(const RelayvmRegionEnv* env) {
  const RelayvmKernelEnv* kernel_env = static_cast<const RegionEnv*>(env)->kernel_env;
  return kernel_env->poll == nullptr ? 0 : kernel_env->poll(kernel_env);
}

// The tensors of a call, where more than most have.
class ManyTensors {
 public:
  ManyTensors(const RelayvmKernelEnv* env, size_t count)
      : env_(env),
        bytes_(count * sizeof(RelayvmRegionTensor)),
        memory_(env->allocate != nullptr ? env->allocate(env, bytes_) : std::malloc(bytes_)) {}
  ~ManyTensors() {
    if (memory_ == nullptr) return;
    if (env_->allocate != nullptr) {
      env_->release(env_, memory_, bytes_);
    } else {
      std::free(memory_);
    }
  }
  ManyTensors(const ManyTensors&) = delete;
  ManyTensors& operator=(const ManyTensors&) = delete;
  RelayvmRegionTensor* get() const { return static_cast<RelayvmRegionTensor*>(memory_); }

 private:
  const RelayvmKernelEnv* env_;
  size_t bytes_;
  void* memory_;
};

[[gnu::cold]] int32_t Failed(KernelRunner& runner, const LinkedRegion& region, int32_t status,
                             const RelayvmRegionError& error) {
  if (status == RELAYVM_REGION_STOPPED) return RELAYVM_KERNEL_STOPPED;
  if (status == RELAYVM_REGION_OUT_OF_MEMORY) return RELAYVM_KERNEL_OUT_OF_MEMORY;
  const StatusCode code = status == RELAYVM_REGION_UNSUPPORTED ? StatusCode::kUnsupported
                          : status == RELAYVM_REGION_INVALID   ? StatusCode::kFailedPrecondition
                                                               : StatusCode::kInternal;
  runner.NoteEngineFailure(
      {code, fmt::format("region {} on engine {}: {}", Printable(region.info->name),
                         region.info->engine, RegionErrorText(status, error))});
  return RELAYVM_KERNEL_ENGINE_FAILED;
}

// With the call's tensors, inputs first.
int32_t RunPrepared(KernelRunner& runner, const LinkedRegion& region, const RelayvmKernelEnv* env,
                    const RelayvmRegionTensor* tensors, const int64_t* symbols) {
  const RelayvmRegionProvider& provider = *region.provider;
  RelayvmRegionError error;
  error.message[0] = '\0';
  if (std::any_of(symbols, symbols + region.info->num_symbols, [](int64_t n) { return n < 0; }))
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  RelayvmPlan* plan = nullptr;
  uint64_t scratch_bytes = 0;
  int32_t status = provider.prepare(region.region, symbols, region.info->num_symbols,
                                    env->num_threads, &plan, &scratch_bytes, &error);
  if (status != RELAYVM_REGION_OK) return Failed(runner, region, status, error);
  struct Held {
    const LinkedRegion& region;
    RelayvmPlan* plan;
    ~Held() { region.provider->release(region.region, plan); }
  } held{region, plan};
  KernelRunner::RegionScratch scratch(env, scratch_bytes);
  if (!scratch.ok()) return RELAYVM_KERNEL_OUT_OF_MEMORY;
  const RegionEnv region_env{{sizeof(RelayvmRegionEnv), env->num_threads, PollRun}, env};
  status = provider.run(region.region, plan, &region_env, tensors, region.num_inputs,
                        tensors + region.num_inputs, region.num_outputs, scratch.get(), &error);
  return status == RELAYVM_REGION_OK ? RELAYVM_KERNEL_OK : Failed(runner, region, status, error);
}

}  // namespace

int32_t RunRegion(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t /*begin*/,
                  uint32_t /*end*/) {
  KernelRunner& runner = KernelRunner::Of(env);
  const LinkedRegion& region = (*runner.regions())[static_cast<size_t>(args->scalars[0])];
  constexpr size_t kMost = 32;
  RelayvmRegionTensor few[kMost];
  const size_t count = size_t{region.num_inputs} + region.num_outputs;
  const auto run = [&](RelayvmRegionTensor* tensors) {
    const int64_t* scalar = args->scalars + 1;
    for (size_t i = 0; i < count; ++i) {
      const auto rank = static_cast<uint32_t>(scalar[1]);
      tensors[i] = {args->buffers[i], scalar + 2, rank, static_cast<int32_t>(scalar[0])};
      scalar += 2 + rank;
    }
    return RunPrepared(runner, region, env, tensors, scalar);
  };
  // What a provider throws ends here.
  try {
    if (count <= kMost) return run(few);
    const ManyTensors many(env, count);
    return many.get() == nullptr ? RELAYVM_KERNEL_OUT_OF_MEMORY : run(many.get());
  } catch (const std::bad_alloc&) {
    return RELAYVM_KERNEL_OUT_OF_MEMORY;
  } catch (...) {
    return Failed(runner, region, RELAYVM_REGION_FAILED, {"it threw an exception"});
  }
}

namespace {

// The host's library for an engine, opened.
Result<Engine> OpenAllowed(const Program& program, const LoadOptions& options,
                           const std::string& name) {
  if (!options.allow_images || !program.devices.empty()) {
    return Status(StatusCode::kUnsupported,
                  "the program has regions for engine " + name + ", which is native code: " +
                      (program.devices.empty() ? "it is loaded without (LoadOptions::allow_images)"
                                               : "expected none beside devices"));
  }
  for (const EngineLibrary& library : options.engines) {
    if (library.name != name) continue;
    Result<Engine> opened = OpenEngine(library);
    return opened.ok() ? std::move(opened) : opened.status().WithContext("engine " + name);
  }
  return Status(
      StatusCode::kUnsupported,
      "the program has regions for engine " + name +
          ", which this host does not allow (LoadOptions::engines, vmrun --engine " + name +
          "), and no form without: allow it, or compile without --byoc-only (a graph: without "
          "--byoc)");
}

}  // namespace

Status LinkedRegions::Create(const Program& program, const LoadOptions& options,
                             std::string* lacking) {
  std::vector<Engine> engines;
  regions_.resize(program.regions.size());
  for (const KernelInfo& kernel : program.kernels) {
    if (!kernel.region) continue;
    LinkedRegion& region = regions_[*kernel.region];
    region.info = &program.regions[*kernel.region];
    for (const KernelBuffer& buffer : kernel.buffers)
      ++(buffer.written ? region.num_outputs : region.num_inputs);
    *lacking = region.info->engine;
    size_t at = 0;
    while (at < engines.size() && engines[at].provider->engine != *lacking) ++at;
    if (at == engines.size()) {
      RELAYVM_ASSIGN_OR_RETURN(Engine opened, OpenAllowed(program, options, *lacking));
      engines.push_back(std::move(opened));
    }
    region.provider = engines[at].provider;
    if (const Status s = CreateRegion(program, &region); !s.ok()) {
      return s.WithContext("engine " + *lacking + " (" + engines[at].path + " " +
                           Printable(engines[at].version) + ")");
    }
  }
  lacking->clear();
  return OkStatus();
}

}  // namespace relayvm::vm
