#include "vm/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "bytecode/base/shared_bytes.h"
#include "bytecode/disassembler.h"
#include "bytecode/instruction.h"
#include "bytecode/reader.h"
#include "bytecode/verifier.h"
#include "vm/frame.h"
#include "vm/linked_program.h"
#include "vm/object.h"

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

}  // namespace

vm::LinkedProgram::~LinkedProgram() {
  for (Tensor* constant : constants) std::free(constant);
}

Executable::Executable() : linked_(std::make_unique<vm::LinkedProgram>()) {}

Executable::~Executable() = default;

Result<std::shared_ptr<const Executable>> Executable::Load(const std::string& path,
                                                           const LoadOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
  RELAYVM_ASSIGN_OR_RETURN(Program program, ReadProgram(file));  // errors name the file
  Result<std::shared_ptr<const Executable>> linked = Link(std::move(program), file.get(), options);
  if (!linked.ok()) return linked.status().WithContext(path);
  return linked;
}

Result<std::shared_ptr<const Executable>> Executable::FromProgram(Program program,
                                                                  const LoadOptions& options) {
  RELAYVM_RETURN_IF_ERROR(VerifyProgram(program));
  return Link(std::move(program), nullptr, options);
}

Result<std::shared_ptr<const Executable>> Executable::Link(Program program, const FileMapping* file,
                                                           const LoadOptions& options) {
  try {
    std::shared_ptr<Executable> executable(new Executable());
    executable->program_ = std::move(program);
    RELAYVM_RETURN_IF_ERROR(executable->LinkKernels(file, options));
    RELAYVM_RETURN_IF_ERROR(executable->MakeFunctions());
    RELAYVM_RETURN_IF_ERROR(executable->MakeConstants());
    return std::shared_ptr<const Executable>(std::move(executable));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResourceExhausted, "no memory to link the program");
  }
}

Status Executable::LinkKernels(const FileMapping* file, const LoadOptions& options) {
  bool compiled = std::any_of(program_.kernels.begin(), program_.kernels.end(),
                              [](const KernelInfo& k) { return !k.builtin; });
  if (compiled) {
    if (program_.images.empty())
      return {StatusCode::kInvalidInput, "the program has kernels, but no kernel image"};
    RELAYVM_ASSIGN_OR_RETURN(size_t index,
                             ChooseImage(program_.images, CpuFeatures::OfThisMachine()));
    RELAYVM_ASSIGN_OR_RETURN(linked_->image,
                             MappedImage::Map(program_.images[index].elf, file));
    image_index_ = static_cast<int>(index);
    if (options.perf_map) WritePerfMap(*linked_->image, program_.images[index].elf);
  }
  for (const KernelInfo& kernel : program_.kernels) {
    RelayvmKernelFn fn = nullptr;
    bool polls = true;
    if (kernel.builtin) {
      fn = FindBuiltin(kernel.name);
      for (const Builtin& b : options.kernels) {
        if (b.name != kernel.name) continue;
        fn = b.fn;
        polls = false;
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
    linked_->kernels.push_back({fn, kernel.num_scalars, kernel.num_buffers, polls});
  }
  return OkStatus();
}

Status Executable::MakeFunctions() {
  for (const FunctionInfo& f : program_.functions) {
    vm::FunctionCode code{};
    code.code = program_.code.data() + f.code_offset;
    code.slots = f.slots.data();
    code.arena_bytes = (f.arena_bytes + 63) & ~uint64_t{63};
    code.index = static_cast<uint32_t>(linked_->functions.size());
    code.num_scalar_registers = f.num_scalar_registers;
    code.num_object_registers = f.num_object_registers;
    code.num_scalar_args = f.num_scalar_args;
    code.num_object_args = f.num_object_args;
    code.returns_scalar = f.returns_scalar;
    code.frame_bytes = static_cast<uint32_t>(sizeof(vm::Frame)) + 8u * f.num_scalar_registers +
                       8u * f.num_object_registers;
    std::span<const uint16_t> units = program_.code.subspan(f.code_offset, f.code_size);
    size_t scratch = 0;
    for (size_t at = 0; at < units.size();) {
      Instruction instruction;
      RELAYVM_RETURN_IF_ERROR(DecodeInstruction(units, at, &instruction));
      scratch = std::max(scratch, ScratchBytes(instruction));
      at += instruction.size();
    }
    code.scratch_bytes = static_cast<uint32_t>(scratch);
    linked_->functions.push_back(code);
  }
  return OkStatus();
}

static_assert(vm::kMaxRank == kMaxTensorRank);  // so that the verifier has checked constants

Status Executable::MakeConstants() {
  for (ConstantInfo& constant : program_.constants) {
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
    // Kernels never write to constants: the compiler gives them as inputs only.
    tensor->data = const_cast<char*>(reinterpret_cast<const char*>(constant.data.data()));
    tensor->capacity = constant.data.size();
    tensor->storage_code = static_cast<uint8_t>(vm::Storage::kExternal);
    tensor->external = nullptr;
    std::copy(constant.dims.begin(), constant.dims.end(), tensor->dims);
    linked_->constants.push_back(tensor);
  }
  return OkStatus();
}

const ExportInfo* Executable::FindExport(std::string_view name) const {
  for (const ExportInfo& e : program_.exports) {
    if (e.name == name) return &e;
  }
  return nullptr;
}

Result<uint32_t> Executable::FindConstructor(std::string_view name) const {
  const AdtInfo* owner = nullptr;
  uint32_t tag = 0;
  for (const AdtInfo& adt : program_.adts) {
    for (size_t i = 0; i < adt.constructors.size(); ++i) {
      if (adt.constructors[i].name != name) continue;
      if (owner != nullptr) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("constructor '{}' is both of {} and of {}; give its tag", name,
                                  owner->name, adt.name));
      }
      owner = &adt;
      tag = static_cast<uint32_t>(i);
    }
  }
  if (owner == nullptr) {
    return Status(StatusCode::kNotFound, fmt::format("the program has no constructor '{}'", name));
  }
  return tag;
}

std::string RelayTypeToString(const Program& program, const ValueType& type) {
  return TypeToString(program, type);
}

}  // namespace relayvm
