#include "compiler/api/compiler.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "bytecode/base/file_replacement.h"
#include "bytecode/base/guarded.h"
#include "bytecode/disassembler.h"
#include "bytecode/program.h"
#include "bytecode/regions.h"
#include "bytecode/writer.h"
#include "compiler/api/module.h"
#include "compiler/api/options.h"
#include "compiler/tuner/tuner.h"

namespace relayvm {
namespace {

void ReportProgress(const CompilerOptions& options, CompileOptions* compile) {
  if (!options.on_progress) return;
  compile->pipeline.on_pass = [&](std::string_view pass) { options.on_progress(pass, 0, 0); };
  auto mutex = std::make_shared<std::mutex>();
  compile->kernels.on_kernels = [&options, mutex](size_t done, size_t total) {
    const std::lock_guard lock(*mutex);
    options.on_progress("kernels", done, total);
  };
}

void Insert(const std::vector<InsertedPass>& passes, CompileOptions* compile) {
  std::vector<InsertedPass>& all = compile->pipeline.passes;
  all.insert(all.end(), passes.begin(), passes.end());
}

}  // namespace

struct CompiledModel::Impl {
  Program program;
  ModelInfo info;
  std::vector<Program> others;
  CustomOperators operators;
  std::vector<Status> warnings;
  std::vector<PassTime> times;
  KernelTexts texts;                        // where they were asked for
  std::shared_ptr<const FileMapping> file;  // Compiled::file
  mutable std::mutex mutex;
  mutable SharedBytes bytes;  // once they are made
};

const ModelInfo& CompiledModel::info() const { return impl_->info; }
const Program& CompiledModel::program() const { return impl_->program; }
const Program& CompiledModel::program_with_regions() const {
  return FormWithRegions(impl_->program, impl_->others);
}
const std::vector<Status>& CompiledModel::warnings() const { return impl_->warnings; }
const std::vector<PassTime>& CompiledModel::times() const { return impl_->times; }
std::string CompiledModel::Bytecode() const {
  return DisassembleFile(impl_->program, impl_->others);
}

std::vector<CompiledRegion> CompiledModel::Regions() const {
  std::map<std::string, CompiledRegion> regions;
  const auto add = [&](const Program& program) {
    for (const RegionInfo& r : program.regions)
      regions.try_emplace(r.name, CompiledRegion{r.name, r.engine, r.json});
  };
  add(impl_->program);
  std::ranges::for_each(impl_->others, add);
  std::vector<CompiledRegion> listed;
  for (auto& [name, region] : regions) listed.push_back(std::move(region));
  return listed;
}

Result<SharedBytes> CompiledModel::Bytes() const {
  return Guarded([&]() -> Result<SharedBytes> {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->file != nullptr) return SharedBytes::OfFile(impl_->file);
    if (impl_->bytes.empty()) {
      RELAYVM_ASSIGN_OR_RETURN(impl_->bytes, SerializeToShared(impl_->program, impl_->others));
    }
    return impl_->bytes;
  });
}

Status CompiledModel::Save(const std::string& path) const {
  return Guarded([&] {
    if (impl_->file != nullptr) return CopyFile(*impl_->file, path);
    return WriteProgramFile(impl_->program, path, impl_->others);
  });
}

Result<std::shared_ptr<const Executable>> CompiledModel::Load(const LoadOptions& options) const {
  return Guarded([&]() -> Result<std::shared_ptr<const Executable>> {
    LoadOptions load = options;
    std::vector<Builtin> kernels(options.kernels.begin(), options.kernels.end());
    const std::span<const Builtin> own = impl_->operators.kernels();
    kernels.insert(kernels.end(), own.begin(), own.end());
    load.kernels = kernels;
    std::vector<Program> programs = {impl_->program};
    programs.insert(programs.end(), impl_->others.begin(), impl_->others.end());
    return Executable::FromPrograms(std::move(programs), load);
  });
}

// What CompileModel and CompileModule share.
class ModelCompiler {
 public:
  // `run` compiles, and may take over operators.
  static Result<CompiledModel> Compile(
      const CompilerOptions& options, std::stop_token stop,
      const std::function<Result<Compiled>(CompileOptions*)>& run) {
    RELAYVM_ASSIGN_OR_RETURN(CompileOptions compile, ReadCompilerOptions(options));
    auto impl = std::make_shared<CompiledModel::Impl>();
    compile.stop = std::move(stop);
    compile.warn = [&](const std::string& what) {
      impl->warnings.emplace_back(StatusCode::kUnsupported, what);
    };
    compile.count_poor_kernels =
        compile.more_machines.empty() && tuner::CheckMachine(compile.kernels).ok();
    std::vector<PassTiming> timings;
    compile.pipeline.timings = &timings;
    ReportProgress(options, &compile);
    RELAYVM_ASSIGN_OR_RETURN(Compiled compiled, run(&compile));
    if (compiled.poor_kernels > 0) compile.warn(tuner::TuningAdvice(compiled.poor_kernels));
    impl->program = std::move(compiled.program);
    impl->info = ModelInfo::Of(impl->program);
    impl->others = std::move(compiled.others);
    impl->operators = std::move(compile.operators);
    impl->file = std::move(compiled.file);
    impl->texts = {std::move(compiled.llvm_ir), std::move(compiled.assembly)};
    for (PassTiming& t : timings)
      impl->times.push_back({std::move(t.pass), t.milliseconds, t.is_part});
    return CompiledModel(std::move(impl));
  }
  static KernelTexts Texts(const CompiledModel& compiled) { return compiled.impl_->texts; }
};

Result<CompiledModel> CompileModel(const ModelSource& source, const CompilerOptions& options,
                                   std::stop_token stop) {
  return Guarded([&] {
    return ModelCompiler::Compile(options, stop, [&](CompileOptions* compile) {
      compile->content = source.content;
      compile->direct = options.direct;
      return CompileFile(source.name, *compile);
    });
  });
}

Result<LoadedModel> ReadModel(const ModelSource& source, const CompilerOptions& options,
                              std::stop_token stop, const import::UserOperators& user_operators) {
  return Guarded([&]() -> Result<LoadedModel> {
    RELAYVM_ASSIGN_OR_RETURN(CompileOptions compile, ReadCompilerOptions(options));
    compile.content = source.content;
    compile.stop = std::move(stop);
    compile.user_operators = user_operators;
    RELAYVM_ASSIGN_OR_RETURN(ir::Module module, LoadModule(source.name, compile));
    return LoadedModel{std::move(module), std::move(compile.operators)};
  });
}

Result<CompiledModel> CompileLoaded(const LoadedModel& model, const CompilerOptions& options,
                                    std::stop_token stop, const std::vector<InsertedPass>& passes) {
  return Guarded([&] {
    return ModelCompiler::Compile(options, stop, [&](CompileOptions* compile) {
      compile->operators = model.operators;
      Insert(passes, compile);
      return CompileModule(model.module, *compile);
    });
  });
}

Result<KernelTexts> KernelTextsOf(const LoadedModel& model, const CompilerOptions& options,
                                  std::stop_token stop, const std::vector<InsertedPass>& passes) {
  return Guarded([&]() -> Result<KernelTexts> {
    auto compiled = ModelCompiler::Compile(options, stop, [&](CompileOptions* compile) {
      compile->operators = model.operators;
      Insert(passes, compile);
      compile->kernels.keep_llvm_ir = compile->kernels.keep_assembly = true;
      return CompileModule(model.module, *compile);
    });
    if (!compiled.ok()) return compiled.status();
    return ModelCompiler::Texts(*compiled);
  });
}

}  // namespace relayvm
