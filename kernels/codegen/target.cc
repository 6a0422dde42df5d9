#include "kernels/codegen/target.h"

#include <fmt/format.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Pass.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>
#include <mutex>
#include <span>
#include <string_view>

#include "bytecode/base/check_stop.h"
#include "bytecode/image_loader.h"
#include "kernels/codegen/llvm_guard.h"
#include "kernels/codegen/stack_alignment.h"

namespace relayvm::codegen {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

// The levels of the x86-64 psABI, each with all of the ones before.
constexpr std::array<std::string_view, 10> kV2 = {"cmov", "cx8",   "cx16",   "sahf",   "popcnt",
                                                  "sse3", "ssse3", "sse4.1", "sse4.2", "fxsr"};
constexpr std::array<std::string_view, 10> kV3 = {"avx", "avx2",  "bmi",   "bmi2",  "f16c",
                                                  "fma", "lzcnt", "movbe", "xsave", "crc32"};
constexpr std::array<std::string_view, 5> kV4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq",
                                                 "avx512vl"};

void InitialiseLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

}  // namespace

Result<Target> ResolveTarget(const KernelOptions& options) {
  InitialiseLlvm();
  Target target;
  target.opt_level = options.opt_level;
  target.level = options.cpu;
  target.tune = "generic";
  if (options.cpu == "native") {
    const CpuFeatures host = CpuFeatures::OfThisMachine();
    target.tune = llvm::sys::getHostCPUName().str();
    if (!host.Missing("x86-64-v2").empty()) {
      return {StatusCode::kUnsupported, "this machine is older than x86-64-v2, the lowest target"};
    }
    target.level = "x86-64-v2";
    for (const char* level : {"x86-64-v3", "x86-64-v4"}) {
      if (host.Missing(level).empty()) target.level = level;
    }
  }
  if (options.cpu == kSapphireRapids) {
    target.level = "x86-64-v4";
    target.tune = kSapphireRapids;
  }
  auto add = [&](std::span<const std::string_view> features) {
    for (std::string_view f : features)
      target.features += (target.features.empty() ? "+" : ",+") + std::string(f);
  };
  if (target.level != "x86-64-v2" && target.level != "x86-64-v3" && target.level != "x86-64-v4") {
    return {StatusCode::kInvalidArgument,
            fmt::format(
                "unknown target {}: native, x86-64-v2, x86-64-v3, x86-64-v4 and {} are supported",
                options.cpu, kSapphireRapids)};
  }
  add(kV2);
  if (target.level != "x86-64-v2") add(kV3);
  if (target.level == "x86-64-v4") add(kV4);
  return target;
}

std::unique_ptr<llvm::TargetMachine> MakeTargetMachine(const Target& target) {
  std::string error;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  llvm::TargetOptions options;
  options.FunctionSections = false;
  // None takes a quarter of Less's time: what tests of all but LLVM's work ask for.
  auto level = target.opt_level >= 2   ? llvm::CodeGenOptLevel::Default
               : target.opt_level == 1 ? llvm::CodeGenOptLevel::Less
                                       : llvm::CodeGenOptLevel::None;
  return std::unique_ptr<llvm::TargetMachine>(
      llvm_target->createTargetMachine(kTriple, target.level, target.features, options,
                                       llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
}

void PrepareModule(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);
}

void PrepareFunction(llvm::Function& function, const Target& target) {
  function.addFnAttr("target-cpu", target.level);
  function.addFnAttr("target-features", target.features);
  function.addFnAttr("tune-cpu", target.tune);
  function.addFnAttr("no-builtins");
  if (target.level == "x86-64-v4") {
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

// Loops are vectorised and unrolled by the time they get here: what is left is to clean up, hoist,
// and unroll short constant loops. Of LLVM's standard pipelines most passes would find nothing to
// do.
Status Optimise(llvm::Module& module, llvm::TargetMachine& machine, int opt_level,
                const std::stop_token& stop) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream)) {
    return Status(StatusCode::kInternal,
                  fmt::format("generated LLVM IR is malformed: {}", message));
  }
  if (opt_level <= 0) return OkStatus();
  struct Managers {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager sccs;
    llvm::ModuleAnalysisManager modules;
    llvm::PassInstrumentationCallbacks callbacks;
  };
  const Leakable<Managers> managers;
  auto& [loops, functions, sccs, modules, callbacks] = *managers;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef, const llvm::Any&) { return !stop.stop_requested(); });
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::FunctionPassManager f;
  f.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  f.addPass(llvm::EarlyCSEPass(true));
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::InstCombinePass());
  if (opt_level >= 2) {
    llvm::LoopPassManager l;
    l.addPass(llvm::LICMPass(llvm::LICMOptions()));
    f.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(l), /*UseMemorySSA=*/true));
    llvm::LoopPassManager unroll;  // these do not keep MemorySSA
    unroll.addPass(llvm::IndVarSimplifyPass());
    unroll.addPass(llvm::LoopFullUnrollPass());
    f.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(unroll)));
    f.addPass(llvm::GVNPass());
    f.addPass(llvm::InstCombinePass());
    llvm::LoopPassManager again;
    again.addPass(llvm::LICMPass(llvm::LICMOptions()));
    f.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(again), /*UseMemorySSA=*/true));
    f.addPass(llvm::SimplifyCFGPass());
    f.addPass(llvm::ADCEPass());
  }
  llvm::ModulePassManager m;
  m.addPass(llvm::AlwaysInlinerPass());
  m.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  m.run(module, modules);
  for (llvm::Function& function : module) AlignStackOfVectors(function);
  return CheckStop(stop);
}

namespace {

// Empties the functions that nobody waits for any more: each is translated whole before the next,
// which then takes no time.
class DropBodies final : public llvm::FunctionPass {
 public:
  explicit DropBodies(std::stop_token stop) : llvm::FunctionPass(id), stop_(std::move(stop)) {}
  llvm::StringRef getPassName() const override { return "DropBodies"; }
  bool runOnFunction(llvm::Function& function) override {
    if (!stop_.stop_requested()) return false;
    function.dropAllReferences();
    auto* block = llvm::BasicBlock::Create(function.getContext(), "", &function);
    new llvm::UnreachableInst(function.getContext(), block);
    return true;
  }

 private:
  static char id;  // LLVM's name of the pass is its address
  const std::stop_token stop_;
};
char DropBodies::id = 0;

// Adds DropBodies wherever passes over functions begin.
class StoppablePasses final : public llvm::legacy::PassManager {
 public:
  explicit StoppablePasses(std::stop_token stop) : stop_(std::move(stop)) {}
  void add(llvm::Pass* pass) override {
    const bool is_function = pass->getPassKind() == llvm::PT_Function;
    if (is_function && !in_functions_ && stop_.stop_possible())
      llvm::legacy::PassManager::add(new DropBodies(stop_));
    // Immutable passes, analyses of the target, are modules' too and begin nothing.
    in_functions_ = is_function || (in_functions_ && pass->getAsImmutablePass() != nullptr);
    llvm::legacy::PassManager::add(pass);
  }

 private:
  const std::stop_token stop_;
  bool in_functions_ = false;
};

Status EmitFile(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
                const std::stop_token& stop, llvm::SmallVectorImpl<char>& out) {
  llvm::raw_svector_ostream stream(out);
  const Leakable<StoppablePasses> passes(stop);
  if (machine.addPassesToEmitFile(*passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    return Status(StatusCode::kInternal, "LLVM's x86-64 target cannot write this kind of file");
  }
  passes->run(module);
  return OkStatus();
}

}  // namespace

Result<std::vector<char>> EmitObject(llvm::Module& module, llvm::TargetMachine& machine,
                                     const std::stop_token& stop) {
  llvm::SmallVector<char, 0> out;
  RELAYVM_RETURN_IF_ERROR(EmitFile(module, machine, llvm::CodeGenFileType::ObjectFile, stop, out));
  RELAYVM_RETURN_IF_ERROR(CheckStop(stop));
  return std::vector<char>(out.begin(), out.end());
}

Result<std::string> EmitAssembly(const llvm::Module& module, llvm::TargetMachine& machine) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);  // emission changes what it emits
  llvm::SmallVector<char, 0> out;
  RELAYVM_RETURN_IF_ERROR(EmitFile(*copy, machine, llvm::CodeGenFileType::AssemblyFile, {}, out));
  return std::string(out.begin(), out.end());
}

}  // namespace relayvm::codegen
