#include "kernels/codegen/llvm_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/Support/MemoryBufferRef.h>
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

}  // namespace

// Once a stop is asked for, LLVM leaves out what it can.
struct StopGate final : llvm::OptPassGate {
  explicit StopGate(std::stop_token s) : stop(std::move(s)) {}
  bool shouldRunPass(llvm::StringRef /*pass*/, llvm::StringRef /*what*/) override { return false; }
  bool isEnabled() const override { return stop.stop_requested(); }
  const std::stop_token stop;
};

// What LLVM works on.
struct LlvmWork {
  LlvmWork(const KernelOptions& options, int opt_level)
      : gate(options.stop), machine(MakeTargetMachine(options.machine, opt_level)) {
    context.setOptPassGate(gate);
    GuardDiagnoses(context);
  }
  StopGate gate;
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

namespace {

Status EmitText(std::span<KernelPlan* const> plans, const KernelOptions& options,
                KernelText* text) {
  const Timer timer(&text->times.emission);
  const Leakable<std::shared_ptr<LlvmWork>> kept(
      std::make_shared<LlvmWork>(options, options.opt_level));
  LlvmWork& work = **kept;
  work.module = std::make_unique<llvm::Module>("kernels", work.context);
  llvm::Module& module = *work.module;
  PrepareModule(module, *work.machine);
  for (KernelPlan* plan : plans) {
    RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
    RELAYVM_RETURN_IF_ERROR(EmitKernel(*plan, options.machine, module));
  }
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    FunctionForm form = FormOf(f);
    if (f.hasInternalLinkage()) {
      text->helpers.push_back({f.getName().str(),
                               f.getFnAttribute("target-features").getValueAsString().str(),
                               std::move(form)});
    } else if (form.is_shareable) {
      text->forms.push_back(std::move(form));
    }
  }
  if (options.quick) {
    text->work = *kept;
    return OkStatus();
  }
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  text->bitcode.assign(bitcode.begin(), bitcode.end());
  return OkStatus();
}

// Helpers that are elsewhere lose their bodies, with the tables that only these read.
void Share(const KernelText& text, llvm::Module& module) {
  auto publish = [&](const std::string& name) {
    llvm::Function& helper = *module.getFunction(name);
    helper.setLinkage(llvm::GlobalValue::ExternalLinkage);
    helper.setVisibility(llvm::GlobalValue::HiddenVisibility);
    return &helper;
  };
  for (const std::string& name : text.shared) publish(name);
  for (const std::string& name : text.elsewhere) {
    llvm::Function* helper = publish(name);
    helper->deleteBody();
    helper->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
  for (llvm::GlobalVariable& table : llvm::make_early_inc_range(module.globals())) {
    if (table.hasPrivateLinkage() && table.use_empty()) table.eraseFromParent();
  }
}

// What was written of a module.
Status Read(const std::vector<char>& bitcode, LlvmWork* work) {
  const llvm::StringRef bytes(bitcode.data(), bitcode.size());
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "kernels"), work->context);
  if (!module) {
    return {StatusCode::kInternal,
            fmt::format("LLVM does not read its own text: {}", llvm::toString(module.takeError()))};
  }
  work->module = std::move(*module);
  return OkStatus();
}

Status TranslateText(const KernelText& text, const KernelOptions& options, KernelCode* code) {
  const Leakable<std::shared_ptr<LlvmWork>> kept(
      text.work != nullptr ? text.work : std::make_shared<LlvmWork>(options, text.opt_level));
  LlvmWork& work = **kept;
  FunctionTimes times;
  FunctionTimes* const timed = options.time_kernels ? &times : nullptr;
  {
    const Timer timer(&code->times.emission);
    if (work.module == nullptr) RELAYVM_RETURN_IF_ERROR(Read(text.bitcode, &work));
    Share(text, *work.module);
    ApplySharedBodies(text.bodies, *work.module, /*jumps=*/text.opt_level > 0);
  }
  llvm::Module& module = *work.module;
  {
    const Timer timer(&code->times.optimisation);
    RELAYVM_RETURN_IF_ERROR(
        Optimise(module, *work.machine, options.machine, text.opt_level, options.stop, timed));
  }
  if (options.keep_llvm_ir) {
    llvm::raw_string_ostream stream(code->llvm_ir);
    module.print(stream, nullptr);
  }
  if (options.keep_assembly) {
    RELAYVM_ASSIGN_OR_RETURN(code->assembly, EmitAssembly(module, *work.machine, text.opt_level));
  }
  const Timer timer(&code->times.code_generation);
  RELAYVM_ASSIGN_OR_RETURN(code->object,
                           EmitObject(module, *work.machine, text.opt_level, options.stop, timed));
  for (const auto& [name, time] : times)
    code->times.kernels.push_back({name, time.milliseconds, time.lines, text.opt_level});
  return OkStatus();
}

ObjectCache::Key KeyOfText(const KernelText& text, const KernelOptions& options) {
  std::string rest;
  for (const std::vector<std::string>* names : {&text.elsewhere, &text.shared}) {
    for (const std::string& name : *names) rest += name + ' ';
    rest += '\n';
  }
  for (const SharedBody& b : text.bodies) {
    rest += fmt::format("{} {} {} {} {} {} {}\n", b.function, b.body, b.is_defined,
                        fmt::join(b.places, ","), fmt::join(b.table, ","),
                        fmt::join(b.callee_places, ","), fmt::join(b.callees, ","));
  }
  return KeyOf(text.bitcode, rest, options, text.opt_level);
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

Result<KernelText> LlvmBackend::Emit(std::span<KernelPlan* const> plans,
                                     const KernelOptions& options) const {
  KernelText text;
  RELAYVM_RETURN_IF_ERROR(GuardLlvm(options.stop, [&] { return EmitText(plans, options, &text); }));
  RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
  return text;
}

Result<KernelCode> LlvmBackend::Translate(const KernelText& text,
                                          const KernelOptions& options) const {
  KernelCode code;
  code.times.objects = 1;
  std::optional<ObjectCache::Key> key;
  if (options.cache != nullptr && text.work == nullptr && !options.keep_llvm_ir &&
      !options.keep_assembly) {
    key = KeyOfText(text, options);
    if (auto found = options.cache->Find(*key)) {
      code.object = *std::move(found);
      code.times.found = 1;
      return code;
    }
  }
  RELAYVM_RETURN_IF_ERROR(
      GuardLlvm(options.stop, [&] { return TranslateText(text, options, &code); }));
  RELAYVM_RETURN_IF_ERROR(CheckStop(options.stop));
  if (key) options.cache->Store(*key, code.object);
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
