#include "kernels/codegen/llvm_backend.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>

#include "bytecode/base/check_stop.h"
#include "kernels/codegen/link.h"
#include "kernels/codegen/llvm_guard.h"
#include "kernels/codegen/target.h"

namespace relayvm::codegen {
namespace {

// Adds the time of its scope.
class Timer {
 public:
  explicit Timer(double* milliseconds) : milliseconds_(milliseconds) {}
  ~Timer() {
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start_;
    *milliseconds_ += took.count();
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double* milliseconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Once a stop is asked for, LLVM leaves out what it can.
struct StopGate final : llvm::OptPassGate {
  explicit StopGate(std::stop_token s) : stop(std::move(s)) {}
  bool shouldRunPass(llvm::StringRef /*pass*/, llvm::StringRef /*what*/) override { return false; }
  bool isEnabled() const override { return stop.stop_requested(); }
  const std::stop_token stop;
};

// What LLVM works on.
struct LlvmWork {
  explicit LlvmWork(const KernelOptions& options)
      : gate(options.stop),
        machine(MakeTargetMachine(options.machine, options.opt_level)),
        module("kernels", context) {
    context.setOptPassGate(gate);
    GuardDiagnoses(context);
  }
  StopGate gate;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::LLVMContext context;
  llvm::Module module;
};

Status CompileInLlvm(std::span<KernelPlan> plans, const KernelOptions& options, KernelCode* code) {
  const Leakable<LlvmWork> work(options);
  llvm::TargetMachine& machine = *work->machine;
  llvm::Module& module = work->module;
  PrepareModule(module, machine);
  for (KernelPlan& plan : plans) {
    RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
    Timer timer(&code->times.emission);
    RELAYVM_RETURN_IF_ERROR(EmitKernel(plan, options.machine, module));
  }
  code->times.objects = 1;
  const bool is_text = options.keep_llvm_ir || options.keep_assembly;
  std::optional<ObjectCache::Key> key;
  if (options.cache != nullptr && !is_text) {
    key = KeyOf(module, options.machine, options.opt_level);
    if (auto found = options.cache->Find(*key)) {
      code->object = *std::move(found);
      code->times.found = 1;
      return OkStatus();
    }
  }
  {
    Timer timer(&code->times.optimisation);
    RELAYVM_RETURN_IF_ERROR(
        Optimise(module, machine, options.machine, options.opt_level, options.stop));
  }
  if (options.keep_llvm_ir) {
    llvm::raw_string_ostream stream(code->llvm_ir);
    module.print(stream, nullptr);
  }
  if (options.keep_assembly) {
    RELAYVM_ASSIGN_OR_RETURN(code->assembly, EmitAssembly(module, machine));
  }
  Timer timer(&code->times.code_generation);
  RELAYVM_ASSIGN_OR_RETURN(code->object, EmitObject(module, machine, options.stop));
  if (key) options.cache->Store(*key, code->object);
  return OkStatus();
}

}  // namespace

LlvmBackend::LlvmBackend(std::vector<Machine> machines, HostFn host,
                         std::string_view why_no_programs)
    : machines_(std::move(machines)), host_(host), why_no_programs_(why_no_programs) {
  for (Machine& m : machines_) m.backend = this;
}

Result<KernelPlan> LlvmBackend::Plan(KernelSpec spec, std::string name, std::vector<Dim> symbols,
                                     const ContractionTarget& target) const {
  return PlanKernel(std::move(spec), std::move(name), std::move(symbols), target);
}

Result<KernelCode> LlvmBackend::Compile(std::span<KernelPlan> plans,
                                        const KernelOptions& options) const {
  KernelCode code;
  RELAYVM_RETURN_IF_ERROR(
      GuardLlvm(options.stop, [&] { return CompileInLlvm(plans, options, &code); }));
  RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
  return code;
}

Status LlvmBackend::Link(const std::vector<std::vector<char>>& objects, const std::stop_token& stop,
                         KernelImage* image) const {
  Timer timer(&image->times.linking);
  RELAYVM_ASSIGN_OR_RETURN(image->elf, LinkImage(objects, stop));
  RELAYVM_ASSIGN_OR_RETURN(image->entry_offsets, FindFunctions(image->elf, image->names));
  return OkStatus();
}

std::span<const KernelBackend* const> Backends() {
  static const std::array<const KernelBackend*, 2> all = {&X86Backend(), &Aarch64Backend()};
  return all;
}

}  // namespace relayvm::codegen
