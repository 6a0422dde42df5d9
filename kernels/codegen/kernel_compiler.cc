#include "kernels/codegen/kernel_compiler.h"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <unordered_map>

#include "kernels/codegen/kernel_function.h"
#include "kernels/codegen/link.h"
#include "kernels/codegen/spec_key.h"
#include "kernels/codegen/target.h"

namespace relayvm {

using codegen::KernelPlan;

namespace {

// Kernels of one LLVM module: enough to share its set-up, few enough to keep all processors busy.
// The grouping does not depend on the number of threads, so neither do the bytes.
constexpr size_t kKernelsInModule = 8;

struct ModuleOutput {
  Status status;
  std::vector<char> object;
  std::string llvm_ir, assembly;
  KernelTimes times;
};

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

// Letters, digits and underscores.
std::string SymbolName(const std::string& name, size_t id) {
  std::string out;
  for (char c : name) out += isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty()) out = "kernel";
  return fmt::format("{}_{}", out.substr(0, 120), id);
}

}  // namespace

struct KernelCompiler::Impl {
  struct Entry {
    uint32_t id;
    std::vector<Dim> symbols;
  };
  KernelOptions options;
  Result<codegen::Target> target;
  codegen::ContractionTarget contraction_target;
  std::vector<KernelPlan> plans;
  std::unordered_map<std::string, Entry> entries;

  explicit Impl(KernelOptions o) : options(std::move(o)), target(codegen::ResolveTarget(options)) {
    if (target.ok()) contraction_target = codegen::ContractionTargetFor(options.cpu);
  }

  ModuleOutput CompileModule(size_t first, size_t last) {
    ModuleOutput out;
    auto machine = codegen::MakeTargetMachine(*target);
    llvm::LLVMContext context;
    llvm::Module module("kernels", context);
    codegen::PrepareModule(module, *machine);
    for (size_t i = first; i < last; ++i) {
      Timer timer(&out.times.emission);
      out.status = codegen::EmitKernel(plans[i], *target, module);
      if (!out.status.ok()) return out;
    }
    {
      Timer timer(&out.times.optimisation);
      out.status = codegen::Optimise(module, *machine, options.opt_level);
    }
    if (!out.status.ok()) return out;
    if (options.keep_llvm_ir) {
      llvm::raw_string_ostream stream(out.llvm_ir);
      module.print(stream, nullptr);
    }
    if (options.keep_assembly) {
      auto assembly = codegen::EmitAssembly(module, *machine);
      out.status = assembly.status();
      if (!out.status.ok()) return out;
      out.assembly = std::move(*assembly);
    }
    auto object = [&] {
      Timer timer(&out.times.code_generation);
      return codegen::EmitObject(module, *machine);
    }();
    out.status = object.status();
    if (object.ok()) out.object = std::move(*object);
    return out;
  }
};

KernelCompiler::KernelCompiler(KernelOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
KernelCompiler::~KernelCompiler() = default;

Result<KernelCompiler::Added> KernelCompiler::Add(const KernelSpec& spec) {
  Impl& impl = *impl_;
  if (!impl.target.ok()) return impl.target.status();
  codegen::SpecKey key = codegen::KeyOf(spec);
  auto found = impl.entries.find(key.text);
  if (found == impl.entries.end()) {
    uint32_t id = static_cast<uint32_t>(impl.plans.size());
    auto plan =
        codegen::PlanKernel(spec, SymbolName(spec.name, id), key.symbols, impl.contraction_target);
    if (!plan.ok()) return plan.status();
    impl.plans.push_back(std::move(*plan));
    found = impl.entries.emplace(std::move(key.text), Impl::Entry{id, key.symbols}).first;
  }
  // The interface of the kernel that is there, over the symbols of this spec.
  const Impl::Entry& entry = found->second;
  KernelInterface interface = impl.plans[entry.id].Interface();
  auto rename = [&](const Dim& d) {
    return d.Substitute([&](const Dim& symbol) -> std::optional<Dim> {
      for (size_t i = 0; i < entry.symbols.size(); ++i) {
        if (entry.symbols[i] == symbol) return key.symbols[i];
      }
      return std::nullopt;
    });
  };
  interface.symbols = key.symbols;
  interface.parallel_extent = rename(interface.parallel_extent);
  interface.grain = rename(interface.grain);
  interface.scratch_bytes = rename(interface.scratch_bytes);
  return Added{entry.id, std::move(interface)};
}

Result<KernelImage> KernelCompiler::Finish() {
  Impl& impl = *impl_;
  if (!impl.target.ok()) return impl.target.status();
  size_t num_modules = (impl.plans.size() + kKernelsInModule - 1) / kKernelsInModule;
  std::vector<ModuleOutput> outputs(num_modules);
  std::atomic<size_t> next{0}, done{0};
  auto work = [&] {
    for (size_t m = next++; m < num_modules; m = next++) {
      size_t first = m * kKernelsInModule;
      size_t last = std::min(first + kKernelsInModule, impl.plans.size());
      outputs[m] = impl.CompileModule(first, last);
      size_t all = done += last - first;
      if (impl.options.on_kernels) impl.options.on_kernels(all, impl.plans.size());
    }
  };
  size_t num_threads =
      std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()), num_modules);
  std::vector<std::thread> threads;
  for (size_t t = 1; t < num_threads; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();

  KernelImage image;
  image.cpu_features = impl.target->level;
  std::vector<std::vector<char>> objects;
  for (ModuleOutput& out : outputs) {
    RELAYVM_RETURN_IF_ERROR(out.status);
    objects.push_back(std::move(out.object));
    image.llvm_ir += out.llvm_ir;
    image.assembly += out.assembly;
    image.times.emission += out.times.emission;
    image.times.optimisation += out.times.optimisation;
    image.times.code_generation += out.times.code_generation;
  }
  for (const KernelPlan& plan : impl.plans) image.names.push_back(plan.name);
  if (objects.empty()) return image;
  {
    Timer timer(&image.times.linking);
    RELAYVM_ASSIGN_OR_RETURN(image.elf, codegen::LinkImage(objects));
  }
  RELAYVM_ASSIGN_OR_RETURN(image.entry_offsets, codegen::FindFunctions(image.elf, image.names));
  return image;
}

}  // namespace relayvm
