// Executables from files and bytes: reading, verifying, linking.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/guarded.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/instruction.h"
#include "bytecode/kernel_call.h"
#include "bytecode/reader.h"
#include "bytecode/regions.h"
#include "bytecode/verifier.h"
#include "vm/border/host_signature.h"
#include "vm/border/output_places.h"
#include "vm/engines/regions.h"
#include "vm/kernels/recipes.h"
#include "vm/memory/object.h"
#include "vm/run/executable.h"
#include "vm/run/frame.h"
#include "vm/run/linked_program.h"

namespace relayvm {
namespace {

// Bytes above the frame that an instruction uses for the blocks that it passes to kernels.
size_t ScratchBytes(const Instruction& instruction) {
  size_t words = 0;
  for (int i = 0; i < instruction.info->num_operands; ++i) {
    switch (instruction.info->operands[i]) {
      case OperandKind::ILIST:
      case OperandKind::RLIST:
      case OperandKind::BUFS:
        words += instruction.Count(i);
        break;
      default:
        break;
    }
  }
  return words * 8;
}

// What a kernel of a device is to the interpreter, which calls none of it: LaunchKernel does not,
// and the check of a call that CheckDeviceCall asks for fails before.
int32_t NotOnHost(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  return RELAYVM_KERNEL_INVALID_ARGUMENT;
}

// Asks for the check of each call of a device's kernel, so that none runs with tensors of the host.
void CheckDeviceCall(const Program& program, const Instruction& instruction, uint16_t* units) {
  const bool ranged = instruction.opcode == Opcode::kKernel;
  if (!ranged && instruction.opcode != Opcode::kKernel1) return;
  if (program.kernels[instruction.Unit(0)].device == 0) return;
  const std::span<const uint16_t> buffers = instruction.List(ranged ? 5 : 2);
  units[buffers.data() - instruction.units.data()] |= kCheckCall;
}

// Asks for checks of what is proved of the call of a kernel, whose code starts at `units`.
void CheckProvedToo(const Instruction& instruction, uint16_t* units) {
  const bool ranged = instruction.opcode == Opcode::kKernel;
  if (!ranged && instruction.opcode != Opcode::kKernel1) return;
  const std::span<const uint16_t> buffers = instruction.List(ranged ? 5 : 2);
  uint16_t* first = units + (buffers.data() - instruction.units.data());
  for (size_t i = 0; i < buffers.size(); i += 2) {
    if ((first[i] & kCheckBuffer) == 0) first[i] |= kCheckBuffer | kProvedBuffer;
  }
  if (!buffers.empty() && (first[0] & kCheckCall) == 0) first[0] |= kCheckCall | kProvedCall;
}

// A builtin is native code that this runtime trusts, and what the program says of it is not: it
// must be what the builtin reads and writes (kernels/runtime/builtin.h).
class BuiltinCheck {
 public:
  BuiltinCheck(const KernelInfo& kernel, const Builtin& builtin)
      : kernel_(kernel), builtin_(builtin) {}

  Status Run() {
    const size_t tensors = static_cast<size_t>(builtin_.num_tensors);
    const size_t buffers = tensors + static_cast<size_t>(builtin_.num_counts);
    if (kernel_.buffers.size() != buffers)
      return Bad(fmt::format("expected {} buffers, found {}", buffers, kernel_.buffers.size()));
    RELAYVM_ASSIGN_OR_RETURN(const size_t next, CheckTensorScalars(kernel_, 0, tensors));
    for (size_t i = 0; i < buffers; ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      if (i >= tensors) RELAYVM_RETURN_IF_ERROR(CheckCount(i));
      const bool written = i >= static_cast<size_t>(builtin_.num_inputs);
      // The first output may be the first input's memory, where the builtin works in place.
      const bool may_share = i == static_cast<size_t>(builtin_.num_inputs) && builtin_.in_place;
      const bool shares =
          !buffer.may_share.empty() && !(may_share && buffer.may_share == std::vector<uint16_t>{0});
      if (buffer.written != written || shares)
        return Bad(fmt::format("expected buffer {} to be {}", i, written ? "written" : "read"));
    }
    const size_t scalars = next + static_cast<size_t>(builtin_.num_params);
    if (kernel_.num_scalars < scalars)
      return Bad(
          fmt::format("expected at least {} scalars, found {}", scalars, kernel_.num_scalars));
    if (ConstantSize(kernel_.units) != 1 || kernel_.units.empty() || !kernel_.scratch.empty())
      return Bad("expected one unit of work, and no scratch");
    return OkStatus();
  }

 private:
  Status Bad(const std::string& message) const {
    return {StatusCode::kInvalidInput, fmt::format("kernel '{}': {}", kernel_.name, message)};
  }

  Status CheckCount(size_t i) const {
    const KernelBuffer& buffer = kernel_.buffers[i];
    if (buffer.dtype == DType::kInt64 && buffer.shape.empty()) return OkStatus();
    return Bad(fmt::format("expected int64[] for buffer {}, found {}[{}]", i,
                           DTypeName(buffer.dtype), SizeFormulaToString(buffer.shape)));
  }

  const KernelInfo& kernel_;
  const Builtin& builtin_;
};

}  // namespace

// Without those engines that turn out not to be here, where there is such a form.
Result<std::shared_ptr<const Executable>> Executable::LinkBest(const ReadForm& read,
                                                               const LoadOptions& options) {
  std::vector<std::string> engines;
  for (const EngineLibrary& engine : options.engines) {
    if (options.allow_images) engines.push_back(engine.name);
  }
  const auto is_here = [&](const std::string& e) {
    return std::ranges::find(engines, e) != engines.end();
  };
  Status first;  // why there is no better form
  for (;;) {
    std::shared_ptr<const FileMapping> file;
    Result<Program> program = read(engines, &file);
    if (!program.ok() && (first.ok() || program.status().code() != StatusCode::kNotFound))
      return program.status();
    if (!first.ok() && (!program.ok() || !std::ranges::all_of(EnginesOf(*program), is_here))) {
      return first.WithContext(
          "there is no form of the program without regions that runs here: give the engine, or "
          "compile without --byoc-only (a graph: without --byoc)");
    }
    std::string lacking;
    auto linked = Link(*std::move(program), std::move(file), options, &lacking);
    if (linked.ok() && !first.ok() && options.notice != nullptr)
      options.notice("loaded without regions: " + first.message());
    if (linked.ok() || !is_here(lacking)) return linked;
    first = linked.status();
    std::erase(engines, lacking);
  }
}

Result<std::shared_ptr<const Executable>> Executable::Load(const std::string& path,
                                                           const LoadOptions& options) {
  return Guarded([&]() -> Result<std::shared_ptr<const Executable>> {
    RELAYVM_ASSIGN_OR_RETURN(const std::shared_ptr<const FileMapping> file,
                             FileMapping::Open(path, options.copy_file ? FileMapping::Kind::kRead
                                                                       : FileMapping::Kind::kMap));
    if (options.verify) {
      if (const Status s = CheckSegments(file->bytes()); !s.ok()) return s.WithContext(path);
    }
    const auto read = [&](std::span<const std::string> engines,
                          std::shared_ptr<const FileMapping>* mapped) {
      // Memory that was read into the program holds, and nobody changes it.
      if (!options.copy_file) *mapped = file;
      return ReadProgramInPlace(file->bytes(), file, {options.target, engines});
    };
    auto linked = LinkBest(read, options);
    if (!linked.ok()) return linked.status().WithContext(path);
    return linked;
  });
}

Result<std::shared_ptr<const Executable>> Executable::FromMemory(std::span<const uint8_t> bytes,
                                                                 std::shared_ptr<const void> owner,
                                                                 const LoadOptions& options) {
  return Guarded([&]() -> Result<std::shared_ptr<const Executable>> {
    const bool in_place =
        owner != nullptr && reinterpret_cast<uintptr_t>(bytes.data()) % vm::kDataAlignment == 0;
    if (options.verify) RELAYVM_RETURN_IF_ERROR(CheckSegments(bytes));
    const auto read = [&](std::span<const std::string> engines,
                          std::shared_ptr<const FileMapping>* /*mapped*/) {
      const ReadOptions read_options{options.target, engines};
      return in_place ? ReadProgramInPlace(bytes, owner, read_options)
                      : ReadProgram(bytes, read_options);
    };
    return LinkBest(read, options);
  });
}

Result<std::shared_ptr<const Executable>> Executable::FromProgram(Program program,
                                                                  const LoadOptions& options) {
  std::vector<Program> programs;
  programs.push_back(std::move(program));
  return FromPrograms(std::move(programs), options);
}

Result<std::shared_ptr<const Executable>> Executable::FromPrograms(std::vector<Program> programs,
                                                                   const LoadOptions& options) {
  return Guarded([&]() -> Result<std::shared_ptr<const Executable>> {
    std::vector<ProgramNeeds> needs;
    std::vector<std::string> targets;
    std::vector<bool> taken(programs.size());
    for (const Program& program : programs) {
      needs.push_back(NeedsOf(program));
      if (programs.size() > 1) targets.push_back(TargetName(needs.back()));
    }
    const auto read = [&](std::span<const std::string> engines,
                          std::shared_ptr<const FileMapping>* /*mapped*/) -> Result<Program> {
      size_t chosen = 0;
      if (programs.size() > 1) {
        RELAYVM_ASSIGN_OR_RETURN(chosen, ChooseProgram(needs, options.target, engines));
      }
      if (taken[chosen]) return Status(StatusCode::kNotFound, "taken");
      taken[chosen] = true;
      RELAYVM_RETURN_IF_ERROR(VerifyProgram(programs[chosen]));
      programs[chosen].targets = targets;
      return std::move(programs[chosen]);
    };
    return LinkBest(read, options);
  });
}

Result<std::shared_ptr<const Executable>> Executable::Link(Program program,
                                                           std::shared_ptr<const FileMapping> file,
                                                           const LoadOptions& options,
                                                           std::string* lacking) {
  std::shared_ptr<Executable> executable(new Executable());
  *executable->program_ = std::move(program);
  executable->file_ = std::move(file);
  executable->linked_->clears_memory = options.clear_memory;
  if (executable->file_ != nullptr) executable->status_time_ = executable->file_->status_time();
  RELAYVM_RETURN_IF_ERROR(executable->LinkKernels(options));
  RELAYVM_RETURN_IF_ERROR(executable->LinkHostFunctions(options.host_functions));
  RELAYVM_RETURN_IF_ERROR(executable->MakeFunctions(options));
  RELAYVM_RETURN_IF_ERROR(
      vm::MakeByRecipes(executable->program_.get(), options.share_constants, options.verify));
  RELAYVM_RETURN_IF_ERROR(executable->MakeConstants());
  RELAYVM_RETURN_IF_ERROR(
      executable->linked_->regions.Create(*executable->program_, options, lacking));
  executable->info_ = ModelInfo::Of(*executable->program_);
  return std::shared_ptr<const Executable>(std::move(executable));
}

Status Executable::LinkKernels(const LoadOptions& options) {
  const auto is_native = [](const KernelInfo& k) {
    return !k.builtin || k.device != 0 || k.region;
  };
  if (!options.allow_images && std::ranges::any_of(program_->kernels, is_native)) {
    return {StatusCode::kUnsupported,
            "the program has kernels of native code, which it is loaded without "
            "(LoadOptions::allow_images)"};
  }
  if (std::ranges::any_of(program_->kernels,
                          [](const KernelInfo& k) { return !k.builtin && k.device == 0; })) {
    // The verifier has seen that there is one, and that the host's are the first.
    const auto of_host = std::ranges::count(program_->images, 0, &ImageInfo::device);
    RELAYVM_ASSIGN_OR_RETURN(
        size_t index, ChooseImage(std::span(program_->images).first(static_cast<size_t>(of_host)),
                                  CpuFeatures::OfThisMachine()));
    const auto kind = options.perf_map ? MappedImage::Kind::kAnonymous : MappedImage::Kind::kSealed;
    RELAYVM_ASSIGN_OR_RETURN(linked_->image, MappedImage::Map(program_->images[index].elf, kind));
    image_index_ = static_cast<int>(index);
    if (options.perf_map) WritePerfMap(*linked_->image, program_->images[index].elf);
  }
  for (const KernelInfo& kernel : program_->kernels) {
    RelayvmKernelFn fn = nullptr;
    bool polls = true;
    if (kernel.device != 0) {
      fn = NotOnHost;
    } else if (kernel.region) {
      fn = vm::RunRegion;
    } else if (kernel.builtin) {
      const auto of_name = [&](const Builtin& b) { return b.name == kernel.name; };
      const auto host = std::find_if(options.kernels.begin(), options.kernels.end(), of_name);
      if (host != options.kernels.end()) {
        // What it says of itself (a library of operators does), the program must keep to.
        if (host->num_tensors > 0) RELAYVM_RETURN_IF_ERROR(BuiltinCheck(kernel, *host).Run());
        fn = host->fn;
        polls = false;
      } else if (const Builtin* builtin = FindBuiltin(kernel.name)) {
        RELAYVM_RETURN_IF_ERROR(BuiltinCheck(kernel, *builtin).Run());
        fn = builtin->fn;
      }
    } else {
      fn = linked_->image->Entry(kernel.entries[static_cast<size_t>(image_index_)]);
    }
    if (fn == nullptr) {
      return {
          StatusCode::kUnsupported,
          fmt::format("the program needs kernel '{}', which neither this runtime nor the host has",
                      kernel.name)};
    }
    linked_->kernels.push_back({fn, polls, kernel.batched.has_value()});
  }
  return OkStatus();
}

Status Executable::LinkHostFunctions(std::span<const HostFunction> functions) {
  for (const HostFunctionInfo& declared : program_->host_functions) {
    const std::string type = vm::SignatureToString(*program_, declared);
    const auto of_name = [&](const HostFunction& f) { return f.name == declared.name; };
    const auto found = std::find_if(functions.begin(), functions.end(), of_name);
    if (found == functions.end()) {
      return {StatusCode::kUnsupported,
              fmt::format("the program needs host function '{}' of type {}, which the host has not "
                          "registered",
                          declared.name, type)};
    }
    std::string problem;
    if (std::count_if(functions.begin(), functions.end(), of_name) > 1) {
      problem = "it is registered twice";
    } else if (found->call == nullptr) {
      problem = "it is registered without a function to call";
    } else if (!found->type.empty()) {
      const Result<HostFunctionInfo> own = vm::ParseHostSignature(*program_, found->type);
      problem =
          own.ok() ? vm::CompareSignatures(*program_, declared, *own) : own.status().message();
      if (!problem.empty()) {
        problem =
            fmt::format("the program declares {}, the host {}: {}", type, found->type, problem);
      }
    }
    if (!problem.empty()) {
      return {StatusCode::kInvalidArgument,
              fmt::format("host function '{}': {}", declared.name, problem)};
    }
    linked_->host_functions.push_back(*found);
  }
  return OkStatus();
}

Status Executable::MakeFunctions(const LoadOptions& options) {
#ifdef NDEBUG
  constexpr bool kDebug = false;
#else
  constexpr bool kDebug = true;
#endif
  const bool check_proved = kDebug || options.check_proved_calls;
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<UnprovedBuffer> unproved, CheckKernelCalls(*program_));
  linked_->code.assign(program_->code.begin(), program_->code.end());
  for (const UnprovedBuffer& buffer : unproved) linked_->code[buffer.unit] |= buffer.bits;
  for (const FunctionInfo& f : program_->functions) {
    vm::FunctionCode code{};
    code.code = linked_->code.data() + f.code_offset;
    code.slots = f.slots.data();
    code.arena_bytes = (f.arena_bytes + 63) & ~uint64_t{63};
    if (code.arena_bytes > PTRDIFF_MAX) {
      return {
          StatusCode::kUnsupported,
          fmt::format("function {} needs an arena of {} bytes, more than this machine addresses",
                      f.name, code.arena_bytes)};
    }
    code.index = static_cast<uint32_t>(linked_->functions.size());
    code.num_scalar_registers = f.num_scalar_registers;
    code.num_object_registers = f.num_object_registers;
    code.num_scalar_args = f.num_scalar_args;
    code.num_object_args = f.num_object_args;
    code.returns_scalar = f.returns_scalar;
    code.frame_bytes = static_cast<uint32_t>(sizeof(vm::Frame)) + 8u * f.num_scalar_registers +
                       8u * f.num_object_registers;
    std::span<const uint16_t> units = program_->code.subspan(f.code_offset, f.code_size);
    size_t scratch = 0;
    for (size_t at = 0; at < units.size();) {
      Instruction instruction;
      RELAYVM_RETURN_IF_ERROR(DecodeInstruction(units, at, &instruction));
      scratch = std::max(scratch, ScratchBytes(instruction));
      CheckDeviceCall(*program_, instruction, linked_->code.data() + f.code_offset + at);
      if (check_proved) CheckProvedToo(instruction, linked_->code.data() + f.code_offset + at);
      at += instruction.size();
    }
    code.scratch_bytes = static_cast<uint32_t>(scratch);
    linked_->functions.push_back(code);
  }
  for (const ExportInfo& info : program_->exports) {
    const FunctionInfo& f = program_->functions[info.function];
    const auto code = std::span(linked_->code).subspan(f.code_offset, f.code_size);
    const std::vector<vm::OutputMaker> makers = vm::FindOutputMakers(info, code);
    linked_->input_devices.push_back(vm::FindInputDevices(info, code));
    linked_->output_makers.insert(linked_->output_makers.end(), makers.begin(), makers.end());
    linked_->export_dims.emplace_back(info.params, nullptr);
  }
  for (const HostFunctionInfo& info : program_->host_functions)
    linked_->host_dims.emplace_back(info.params, &info.result);
  return OkStatus();
}

static_assert(vm::kMaxRank == kMaxTensorRank);  // so that the verifier has checked constants

Status Executable::MakeConstants() {
  if (!program_->strings.empty()) {
    linked_->strings = std::make_unique<StringTable>();
    for (const std::string& text : program_->strings) {
      const int64_t id = IsUtf8(text) ? linked_->strings->Intern(text) : -1;
      if (id < 0 && IsUtf8(text)) return Status::OutOfMemory();
      // Each text has its own id; the empty one, the first.
      if (id != &text - program_->strings.data())
        return {StatusCode::kInvalidInput, "the program's strings are no table of texts"};
    }
  }
  linked_->constants.reserve(program_->constants.size());
  for (ConstantInfo& constant : program_->constants) {
    if (reinterpret_cast<uintptr_t>(constant.data.data()) % vm::kDataAlignment != 0) {
      // A program in memory may share its constants with a parameter file, which aligns nothing.
      constant.data = SharedBytes::Copy(constant.data);
    }
    int rank = static_cast<int>(constant.dims.size());
    auto* tensor = static_cast<vm::Tensor*>(std::aligned_alloc(64, vm::TensorHeaderBytes(rank)));
    if (tensor == nullptr)
      return {StatusCode::kResourceExhausted, "no memory for the program's constants"};
    new (&tensor->count) std::atomic<uint32_t>(vm::kUncounted);
    tensor->kind = vm::ObjectKind::kTensor;
    tensor->home = vm::Home::kImmortal;
    tensor->dtype = constant.dtype;
    tensor->rank = static_cast<uint8_t>(rank);
    // Kernels never write to constants, as the verifier has proved.
    tensor->data = const_cast<char*>(reinterpret_cast<const char*>(constant.data.data()));
    tensor->capacity = constant.data.size();
    tensor->device = 0;
    tensor->storage_code = static_cast<uint8_t>(vm::Storage::kExternal);
    tensor->external = nullptr;
    std::copy(constant.dims.begin(), constant.dims.end(), tensor->dims);
    linked_->constants.push_back(tensor);
  }
  return OkStatus();
}

// Beside what reads files, which native programs do not.
Status Executable::LookAtFile(int64_t now) const {
  constexpr int64_t kInterval = 10'000'000;
  int64_t status_time = 0;
  RELAYVM_RETURN_IF_ERROR(file_->CheckUnchanged(&status_time));
  if (status_time != status_time_.load(std::memory_order_relaxed)) {
    // Renamed, or written to by somebody who has set the time back.
    if (const Status s = CheckSegments(file_->bytes()); !s.ok()) return file_->Changed(s.message());
    status_time_.store(status_time, std::memory_order_relaxed);
  }
  next_check_.store(now + kInterval, std::memory_order_relaxed);
  return OkStatus();
}

}  // namespace relayvm
