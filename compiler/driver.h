// The whole way: a program's text or file in, a Program or its other forms out. Users of the
// compiler as a library have api/compiler.h. Tested by driver_test.cc.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/frontend/params.h"
#include "compiler/import/input_files.h"
#include "compiler/import/user_operators.h"
#include "compiler/pipeline.h"
#include "compiler/regions/choose_regions.h"
#include "compiler/tuner/tuner.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/op/custom_ops.h"

namespace relayvm {

struct CompileOptions {
  // A compilation that was done before is taken from kernels.cache as it is, without its module
  // (compile_cache.h). By CompileFile.
  bool direct = false;
  std::optional<SharedBytes> content;  // in place of the file's
  // TVM's parameter file or an .npz, or the model's own kind of it; empty: none.
  std::string params_file;
  std::optional<SharedBytes> params_content;  // in place of that file's
  frontend::Params params;                    // besides those of the file
  CustomOperators operators;                  // besides the compiler's own
  import::UserOperators user_operators;       // import/import_options.h
  std::map<std::string, std::string>
      shapes;  // parameter name -> "1x?x300", "(n, ?, 300)" (ir/shape_text.h)
  std::map<std::string, int64_t> dims;  // by the names that a model gives to dims
  std::string signature;                // of a model with several entries
  // Names of its results, of a format that lets choose; of its inputs, in place of the file's.
  std::vector<std::string> outputs, input_names;
  // Weights of a model that callers may override (import/importers.h).
  std::optional<std::vector<std::string>> overridable;
  std::string entry = "main";
  PipelineOptions pipeline;
  KernelOptions kernels;
  // With kernels.machine, those that one file is for.
  std::vector<Machine> more_machines;
  // Of kernels, as they were measured. What has no effect is told to `warn`.
  std::vector<tuner::ScheduleRecord> schedules;
  std::function<void(const std::string&)> warn;
  // Measures schedules before it compiles, where it has a budget. For one processor.
  tuner::TuneOptions tune;
  // A program that compiler/graph makes a graph of: static, without control flow, or else the error
  // says what is in the way.
  bool for_graph = false;
  bool count_poor_kernels = false;  // Compiled::poor_kernels
  // For --byoc auto: runs the two forms of a program, native and with regions, in turns
  // (api/time_forms.h). Null: the compilation runs nothing.
  std::function<Result<std::vector<regions::RegionTime>>(
      const Program& native, const Program& with_regions,
      const std::vector<regions::ShapeSample>& samples)>
      time_forms;
  std::stop_token stop;  // asked to: fails with kCancelled, soon. For all stages
};

struct Compiled {
  ir::Module module;  // after the pipeline; nothing, where `file` was there already
  Program program;    // for the least processor
  // The same for the others, each of which asks for more than the one before: with `program`, what
  // WriteProgramFile takes. Empty where nothing in the program depends on the processor.
  std::vector<Program> others;
  // When CompileOptions::kernels asked for them: of the form with regions, where there is one.
  std::string llvm_ir, assembly;
  tuner::TuneReport tuning;  // when CompileOptions::tune asked for it
  // Of the module: calls of operators, and transforms of layouts that are left.
  uint64_t num_operators = 0, transforms = 0, open_transforms = 0, transformed_bytes = 0;
  uint64_t poor_kernels = 0;  // that tuning would pay for (tuner::CountPoorKernels)
  std::array<uint64_t*, 5> counts() {
    return {&num_operators, &transforms, &open_transforms, &transformed_bytes, &poor_kernels};
  }
  // The programs as WriteProgramFile wrote them, in the cache; null: they are not there.
  std::shared_ptr<const FileMapping> file;
};

// Reads INPUT (of a format of import/importers.h, or a folder that holds one; "-": standard input)
// or what options.content has,
// binds parameters and shapes. Not yet typed.
Result<ir::Module> LoadModule(
    const std::string& input, const CompileOptions& options,
    const std::shared_ptr<import::InputFiles>& files = std::make_shared<import::InputFiles>());
Result<Compiled> CompileModule(ir::Module module, const CompileOptions& options);
Result<Compiled> CompileFile(const std::string& input, const CompileOptions& options);

}  // namespace relayvm
