#include "kernels/codegen/target.h"

#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Pass.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopStrengthReduce.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "bytecode/base/check_stop.h"
#include "bytecode/image_loader.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/codegen/llvm_guard.h"
#include "kernels/codegen/stack_alignment.h"

namespace relayvm::codegen {

std::unique_ptr<llvm::TargetMachine> MakeTargetMachine(const Machine& machine, int opt_level) {
  const std::string triple(machine.triple);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  llvm::TargetOptions options;
  options.FunctionSections = false;
  // None takes a quarter of Less's time: what tests of all but LLVM's work ask for.
  auto level = opt_level >= 2   ? llvm::CodeGenOptLevel::Default
               : opt_level == 1 ? llvm::CodeGenOptLevel::Less
                                : llvm::CodeGenOptLevel::None;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, level));
}

void PrepareModule(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);
}

void PrepareFunction(llvm::Function& function, const Machine& machine, std::string_view features) {
  std::string all(machine.features);
  for (const std::string& feature : ExpandFeatures(features))
    all += (all.empty() ? "+" : ",+") + feature;
  function.addFnAttr("target-cpu", machine.cpu);
  if (!all.empty()) function.addFnAttr("target-features", all);
  function.addFnAttr("tune-cpu", machine.tune);
  function.addFnAttr("no-builtins");
  if (machine.vector_bytes == 64) {
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

namespace {

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// A pass over loops, on those alone that have no others in them.
template <typename Pass>
class Innermost : public llvm::PassInfoMixin<Innermost<Pass>> {
 public:
  explicit Innermost(Pass pass) : pass_(std::move(pass)) {}
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& standard, llvm::LPMUpdater& u) {
    return loop.isInnermost() ? pass_.run(loop, analyses, standard, u)
                              : llvm::PreservedAnalyses::all();
  }

 private:
  Pass pass_;
};

template <typename Pass>
auto OverLoops(Pass pass, bool memory_ssa) {
  llvm::LoopPassManager loops;
  loops.addPass(std::move(pass));
  return llvm::createFunctionToLoopPassAdaptor(std::move(loops), memory_ssa);
}

// Loops are vectorised and unrolled by the time they get here: what is left is to clean up, hoist,
// and unroll short constant loops. Of LLVM's standard pipelines most passes would find nothing to
// do: with GVN, a second InstCombine and IndVarSimplify kernels took as long, and translation 1.09
// times.
void AddPasses(int opt_level, llvm::FunctionPassManager& f) {
  f.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  f.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::InstCombinePass());
  if (opt_level < 2) return;
  f.addPass(OverLoops(llvm::LICMPass(llvm::LICMOptions()), /*memory_ssa=*/true));
  f.addPass(OverLoops(Innermost(llvm::LoopFullUnrollPass()), /*memory_ssa=*/false));
  f.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  f.addPass(OverLoops(llvm::LICMPass(llvm::LICMOptions()), /*memory_ssa=*/true));
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::ADCEPass());
  if (opt_level >= 3)
    f.addPass(OverLoops(Innermost(llvm::LoopStrengthReducePass()), /*memory_ssa=*/false));
}

}  // namespace

Status Optimise(llvm::Module& module, llvm::TargetMachine& translator, const Machine& machine,
                int opt_level, const std::stop_token& stop, FunctionTimes* times) {
#ifdef NDEBUG
  const bool verifies = opt_level > 0;  // a thirtieth of what is quick
#else
  const bool verifies = true;
#endif
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (verifies && llvm::verifyModule(module, &stream)) {
    return Status(StatusCode::kInternal,
                  fmt::format("generated LLVM IR is malformed: {}", message));
  }
  if (times != nullptr) {
    for (const llvm::Function& f : module) {
      if (!f.isDeclaration()) (*times)[f.getName().str()].lines = f.getInstructionCount();
    }
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
  llvm::PassBuilder builder(&translator, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::FunctionPassManager passes;
  AddPasses(opt_level, passes);
  llvm::ModulePassManager inliner;
  inliner.addPass(llvm::AlwaysInlinerPass());
  inliner.run(module, modules);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const auto start = std::chrono::steady_clock::now();
    passes.run(function, functions);
    functions.clear(function, function.getName());
    AlignStackOfVectors(function, machine);
    if (times != nullptr)
      (*times)[function.getName().str()].milliseconds += MillisecondsSince(start);
  }
  return CheckStop(stop);
}

namespace {

// What functions take, one after the other.
class FunctionClock {
 public:
  explicit FunctionClock(FunctionTimes* times) : times_(times) {}
  ~FunctionClock() { Begin(""); }
  FunctionClock(const FunctionClock&) = delete;
  FunctionClock& operator=(const FunctionClock&) = delete;
  void Begin(std::string name) {
    if (!name_.empty()) (*times_)[name_].milliseconds += MillisecondsSince(start_);
    name_ = std::move(name);
    start_ = std::chrono::steady_clock::now();
  }

 private:
  FunctionTimes* const times_;
  std::string name_;
  std::chrono::steady_clock::time_point start_;
};

// Begins each function: of those that nobody waits for any more it empties the body, each is
// translated whole before the next, which then takes no time. The time since the one before is that
// one's.
class BeginFunction final : public llvm::FunctionPass {
 public:
  BeginFunction(std::stop_token stop, FunctionClock* clock)
      : llvm::FunctionPass(id), stop_(std::move(stop)), clock_(clock) {}
  llvm::StringRef getPassName() const override { return "BeginFunction"; }
  bool runOnFunction(llvm::Function& function) override {
    if (clock_ != nullptr) clock_->Begin(function.getName().str());
    if (!stop_.stop_requested()) return false;
    function.dropAllReferences();
    auto* block = llvm::BasicBlock::Create(function.getContext(), "", &function);
    new llvm::UnreachableInst(function.getContext(), block);
    return true;
  }

 private:
  static char id;  // LLVM's name of the pass is its address
  const std::stop_token stop_;
  FunctionClock* const clock_;
};
char BeginFunction::id = 0;

// What finds nothing to do in kernels, or nothing that makes them faster: indices, for one, are
// what x86's addressing takes without loop strength reduction. Sorted.
constexpr auto kLeftOut = std::to_array<llvm::StringRef>({
    "Canonicalize Freeze Instructions in Loops",
    "Canonicalize natural loops",
    "Constant Hoisting",
    "Early If-Conversion",
    "Expand large div/rem",
    "Expand large fp convert",
    "Expand memcmp() to load/stores",
    "Live DEBUG_VALUE analysis",
    "Live Range Shrink",
    "Loop Strength Reduction",
    "Machine InstCombiner",
    "Machine Late Instructions Cleanup Pass",
    "Merge contiguous icmps into a memcmp",
    "Optimize machine instruction PHIs",
    "Partially inline calls to library functions",
    "PostRA Machine Sink",
    "Remove Redundant DEBUG_VALUE analysis",
    "Rename Disconnected Subregister Components",
    "Replace intrinsics with calls to vector library",
    "Shrink Wrapping analysis",
    "X86 Avoid Store Forwarding Blocks",
    "X86 Byte/Word Instruction Fixup",
    "X86 Domain Reassignment Pass",
    "X86 LEA Optimize",
    "X86 cmov Conversion",
});

// Below -O3 too: 5 % of the time of translation, and less of the kernels'.
constexpr llvm::StringRef kLeftOutOfLean = "Machine Instruction Scheduler";

// Adds BeginFunction wherever passes over functions begin, and leaves out kLeftOut.
class Passes final : public llvm::legacy::PassManager {
 public:
  Passes(int opt_level, std::stop_token stop, FunctionClock* clock)
      : is_lean_(opt_level < 3), stop_(std::move(stop)), clock_(clock) {}
  void add(llvm::Pass* pass) override {
    if (IsLeftOut(*pass)) {
      delete pass;
      return;
    }
    const bool is_function = pass->getPassKind() == llvm::PT_Function;
    if (is_function && !in_functions_ && (stop_.stop_possible() || clock_ != nullptr))
      llvm::legacy::PassManager::add(new BeginFunction(stop_, clock_));
    // Immutable passes, analyses of the target, are modules' too and begin nothing.
    in_functions_ = is_function || (in_functions_ && pass->getAsImmutablePass() != nullptr);
    llvm::legacy::PassManager::add(pass);
  }

 private:
  bool IsLeftOut(const llvm::Pass& pass) const {
    const llvm::StringRef name = pass.getPassName();
    return std::ranges::binary_search(kLeftOut, name) || (is_lean_ && name == kLeftOutOfLean);
  }

  const bool is_lean_;
  const std::stop_token stop_;
  FunctionClock* const clock_;
  bool in_functions_ = false;
};

Status EmitFile(llvm::Module& module, llvm::TargetMachine& machine, int opt_level,
                llvm::CodeGenFileType type, const std::stop_token& stop, FunctionClock* clock,
                llvm::SmallVectorImpl<char>& out) {
  llvm::raw_svector_ostream stream(out);
  const Leakable<Passes> passes(opt_level, stop, clock);
  if (machine.addPassesToEmitFile(*passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    return Status(StatusCode::kInternal, "LLVM's target cannot write this kind of file");
  }
  passes->run(module);
  return OkStatus();
}

}  // namespace

Result<std::vector<char>> EmitObject(llvm::Module& module, llvm::TargetMachine& machine,
                                     int opt_level, const std::stop_token& stop,
                                     FunctionTimes* times) {
  llvm::SmallVector<char, 0> out;
  {
    std::optional<FunctionClock> clock;
    if (times != nullptr) clock.emplace(times);
    RELAYVM_RETURN_IF_ERROR(EmitFile(module, machine, opt_level, llvm::CodeGenFileType::ObjectFile,
                                     stop, clock ? &*clock : nullptr, out));
  }
  RELAYVM_RETURN_IF_ERROR(CheckStop(stop));
  return std::vector<char>(out.begin(), out.end());
}

ObjectCache::Key KeyOf(std::span<const char> bitcode, std::string_view rest,
                       const KernelOptions& options, int opt_level) {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);  // of the library that is loaded
  const Machine& m = options.machine;
  // RELAYVM_TRANSLATION is a hash of what stands between the module and the object: this file.
  std::string content =
      fmt::format("{} {}.{}.{} {} {} {} {} {} {}\n{}\n", RELAYVM_TRANSLATION, major, minor, patch,
                  m.target, m.cpu, m.tune, m.features, m.vector_bytes, opt_level, rest);
  content.append(bitcode.data(), bitcode.size());
  return ObjectCache::KeyOf(content);
}

Result<std::vector<char>> MakeObject(llvm::Module& module, llvm::TargetMachine& machine,
                                     const KernelOptions& options) {
  std::optional<ObjectCache::Key> key;
  if (options.cache != nullptr) {
    llvm::SmallVector<char, 0> bitcode;
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(module, stream);
    key = KeyOf({bitcode.data(), bitcode.size()}, "", options, options.opt_level);
    if (auto found = options.cache->Find(*key)) return *std::move(found);
  }
  RELAYVM_RETURN_IF_ERROR(
      Optimise(module, machine, options.machine, options.opt_level, options.stop));
  RELAYVM_ASSIGN_OR_RETURN(std::vector<char> object,
                           EmitObject(module, machine, options.opt_level, options.stop));
  if (key) options.cache->Store(*key, object);
  return object;
}

Result<std::string> EmitAssembly(const llvm::Module& module, llvm::TargetMachine& machine,
                                 int opt_level) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);  // emission changes what it emits
  llvm::SmallVector<char, 0> out;
  RELAYVM_RETURN_IF_ERROR(
      EmitFile(*copy, machine, opt_level, llvm::CodeGenFileType::AssemblyFile, {}, nullptr, out));
  return std::string(out.begin(), out.end());
}

}  // namespace relayvm::codegen
