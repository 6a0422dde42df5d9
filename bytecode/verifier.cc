// The verifier's tables; code is in verifier_code.cc.
#include "bytecode/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "bytecode/dim_names.h"
#include "bytecode/image.h"
#include "bytecode/kernel_call.h"
#include "bytecode/opcode.h"
#include "bytecode/optional_form.h"
#include "bytecode/regions.h"

namespace relayvm {
namespace {

// --- Types ---

Status CheckDType(DType dtype) {
  auto code = static_cast<uint8_t>(dtype);
  return IsValidDType(code) ? Status() : InvalidInput(fmt::format("unknown dtype {}", code));
}

Status CheckFields(size_t count) {
  constexpr size_t kLimit = std::numeric_limits<uint16_t>::max();
  return count <= kLimit ? Status()
                         : InvalidInput(fmt::format("{} fields, the limit is {}", count, kLimit));
}

Status CheckRank(size_t rank) {
  if (rank <= kMaxTensorRank) return {};
  return InvalidInput(fmt::format("a tensor of rank {}, the limit is {}", rank, kMaxTensorRank));
}

class TypeVerifier {
 public:
  // `num_type_vars`: how many type variables are in scope.
  TypeVerifier(const Program& program, uint32_t num_type_vars)
      : program_(program), num_type_vars_(num_type_vars) {}

  Status Check(const ValueType& type, int depth = 1) const {
    if (depth > kMaxTypeDepth)
      return InvalidInput(fmt::format("type nests deeper than {}", kMaxTypeDepth));
    switch (type.kind) {
      case ValueType::Kind::kTensor:
        return CheckTensor(type);
      case ValueType::Kind::kTuple:
        break;
      case ValueType::Kind::kAdt:
        RELAYVM_RETURN_IF_ERROR(CheckAdt(type));
        break;
      case ValueType::Kind::kRef:
        if (type.args.size() != 1)
          return InvalidInput(fmt::format("reference type of {} contents", type.args.size()));
        break;
      case ValueType::Kind::kFunction:
        return CheckNoArgs(type, "function type");
      case ValueType::Kind::kTypeVar:
        RELAYVM_RETURN_IF_ERROR(CheckNoArgs(type, "type variable"));
        if (type.index >= num_type_vars_) {
          return InvalidInput(
              fmt::format("type variable {} out of range {}", type.index, num_type_vars_));
        }
        return {};
      default:
        return InvalidInput(fmt::format("unknown kind of type {}", static_cast<int>(type.kind)));
    }
    if (!type.dims.empty()) return InvalidInput("type other than a tensor's has dims");
    RELAYVM_RETURN_IF_ERROR(CheckFields(type.args.size()));
    for (const ValueType& arg : type.args) RELAYVM_RETURN_IF_ERROR(Check(arg, depth + 1));
    return {};
  }

 private:
  static Status CheckNoArgs(const ValueType& type, std::string_view what) {
    if (!type.args.empty() || !type.dims.empty())
      return InvalidInput(fmt::format("{} has arguments or dims", what));
    return {};
  }

  static Status CheckTensor(const ValueType& type) {
    RELAYVM_RETURN_IF_ERROR(CheckDType(type.dtype));
    if (!type.args.empty()) return InvalidInput("tensor type has type arguments");
    RELAYVM_RETURN_IF_ERROR(CheckRank(type.dims.size()));
    if (!type.dim_names.empty() && type.dim_names.size() != type.dims.size()) {
      return InvalidInput(fmt::format("tensor type has {} names for {} dims", type.dim_names.size(),
                                      type.dims.size()));
    }
    if (!type.dim_formulas.empty() && type.dim_formulas.size() != type.dims.size()) {
      return InvalidInput(fmt::format("tensor type has {} formulas for {} dims",
                                      type.dim_formulas.size(), type.dims.size()));
    }
    for (int64_t dim : type.dims) {
      if (dim < -1) return InvalidInput(fmt::format("tensor type has a dim of {}", dim));
    }
    return {};
  }

  Status CheckAdt(const ValueType& type) const {
    if (type.index >= program_.adts.size()) {
      return InvalidInput(
          fmt::format("data type {} out of range {}", type.index, program_.adts.size()));
    }
    const AdtInfo& adt = program_.adts[type.index];
    if (type.args.size() != adt.num_type_params) {
      return InvalidInput(fmt::format("data type '{}' has {} arguments, expects {}", adt.name,
                                      type.args.size(), adt.num_type_params));
    }
    return {};
  }

  const Program& program_;
  uint32_t num_type_vars_;
};

Status CheckAdts(const Program& program) {
  for (const AdtInfo& adt : program.adts) {
    TypeVerifier types(program, adt.num_type_params);
    if (adt.constructors.size() > std::numeric_limits<uint16_t>::max()) {
      return InvalidInput(
          fmt::format("data type '{}' has {} constructors", adt.name, adt.constructors.size()));
    }
    for (const ConstructorInfo& constructor : adt.constructors) {
      if (Status status = CheckFields(constructor.fields.size()); !status.ok()) {
        return status.WithContext(
            fmt::format("constructor '{}' of '{}'", constructor.name, adt.name));
      }
      for (const ValueType& field : constructor.fields) {
        Status status = types.Check(field);
        if (status.ok()) status = CheckDimFormulas({}, field);
        if (!status.ok()) {
          return status.WithContext(
              fmt::format("constructor '{}' of '{}'", constructor.name, adt.name));
        }
      }
    }
  }
  return {};
}

// --- Constants and tensor types ---

// What it says by itself; that the runtime has such a builtin is for the loader
// (vm/kernels/recipes.h).
Status CheckRecipe(const ConstantInfo& constant, uint64_t bytes) {
  const RecipeInfo& recipe = *constant.recipe;
  constexpr size_t kMost = 16;
  if (recipe.inputs.empty() || recipe.inputs.size() > kMost || recipe.params.size() > kMost) {
    return InvalidInput(fmt::format("{} inputs and {} parameters, expected 1 to {} and at most {}",
                                    recipe.inputs.size(), recipe.params.size(), kMost, kMost));
  }
  uint64_t of_inputs = 0;
  for (const RecipeInput& input : recipe.inputs) {
    RELAYVM_ASSIGN_OR_RETURN(const uint64_t expected, StaticTensorBytes(input.dtype, input.dims));
    if (expected != input.data.size()) {
      return InvalidInput(fmt::format("an input of {} bytes of data, its type has {}",
                                      input.data.size(), expected));
    }
    if (input.dtype == DType::kString || constant.dtype == DType::kString)
      return InvalidInput("it is of strings");
    of_inputs += expected;  // of bytes that are there
  }
  if ((bytes + kMaxRecipeGrowth - 1) / kMaxRecipeGrowth <= of_inputs) return {};
  return InvalidInput(fmt::format("it makes {} bytes of {}, expected at most {} times as many",
                                  bytes, of_inputs, kMaxRecipeGrowth));
}

// Of a kernel, an image or a tensor.
Status CheckDevice(const Program& program, uint8_t device, DType dtype = DType::kBool) {
  if (device > program.devices.size())
    return InvalidInput(
        fmt::format("device {}, the program has {}", device, program.devices.size()));
  if (device != 0 && dtype == DType::kString)
    return InvalidInput(fmt::format("strings on device {}, expected on the host", device));
  return {};
}

Status CheckTensors(const Program& program) {
  for (size_t i = 0; i < program.tensor_types.size(); ++i) {
    const TensorTypeInfo& type = program.tensor_types[i];
    Status status = StaticTensorBytes(type.dtype, type.dims).status();
    if (status.ok()) status = CheckDevice(program, type.device, type.dtype);
    if (!status.ok()) return status.WithContext(fmt::format("tensor type {}", i));
  }
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantInfo& constant = program.constants[i];
    Result<uint64_t> bytes = StaticTensorBytes(constant.dtype, constant.dims);
    if (!bytes.ok()) return bytes.status().WithContext(fmt::format("constant {}", i));
    if (Status s = CheckDevice(program, constant.device, constant.dtype); !s.ok())
      return s.WithContext(fmt::format("constant {}", i));
    if (constant.recipe != nullptr) {
      if (Status s = CheckRecipe(constant, *bytes); !s.ok())
        return s.WithContext(fmt::format("recipe of constant {}", i));
      if (constant.data.empty()) continue;
    }
    if (*bytes != constant.data.size()) {
      return InvalidInput(fmt::format("constant {}: {} bytes of data, its type has {}", i,
                                      constant.data.size(), *bytes));
    }
  }
  return {};
}

// --- Kernels and images ---

// What a kernel says of its buffers, by itself.
Status CheckKernelInterface(const KernelInfo& kernel) {
  const size_t num_buffers = kernel.buffers.size();
  if (num_buffers > std::numeric_limits<uint16_t>::max())
    return InvalidInput(fmt::format("{} buffers, the limit is {}", num_buffers,
                                    std::numeric_limits<uint16_t>::max()));
  for (size_t i = 0; i < num_buffers; ++i) {
    const KernelBuffer& buffer = kernel.buffers[i];
    Status status = CheckDType(buffer.dtype);
    if (status.ok()) status = CheckSizeFormula(buffer.shape, kernel.num_scalars, /*shape=*/true);
    if (!status.ok()) return status.WithContext(fmt::format("buffer {}", i));
    for (uint16_t other : buffer.may_share) {
      if (!buffer.written || other >= num_buffers || kernel.buffers[other].written)
        return InvalidInput(fmt::format("buffer {} may share the memory of buffer {}", i, other));
    }
  }
  for (size_t i = 0; i < kernel.fixed.size(); ++i) {
    const uint32_t scalar = kernel.fixed[i].index;
    if (scalar >= kernel.num_scalars || (i > 0 && scalar <= kernel.fixed[i - 1].index)) {
      return InvalidInput(fmt::format("scalar {} is fixed, out of range {} or out of order", scalar,
                                      kernel.num_scalars));
    }
  }
  for (const SizeFormula* size : {&kernel.units, &kernel.scratch}) {
    if (size->empty()) continue;
    RELAYVM_RETURN_IF_ERROR(CheckSizeFormula(*size, kernel.num_scalars, /*shape=*/false));
  }
  if (kernel.builtin) return {};
  if (kernel.units.empty()) return InvalidInput("it does not say how many units of work it has");
  for (const KernelBuffer& buffer : kernel.buffers) {
    if (buffer.written) return {};
  }
  return InvalidInput("no buffer is written");
}

// That another kernel can run many calls of this one: it takes the same buffers and known scalars.
Status CheckBatchedKernel(const Program& program, const KernelInfo& kernel) {
  const BatchedKernelInfo& batched = *kernel.batched;
  if (batched.kernel >= program.kernels.size())
    return InvalidInput(fmt::format("batched kernel k{} is out of range {}", batched.kernel,
                                    program.kernels.size()));
  const KernelInfo& other = program.kernels[batched.kernel];
  // One that takes rows may be its own batched form.
  const bool is_alone = !other.batched || !batched.rows.empty();
  if (other.builtin != kernel.builtin || !is_alone || !other.fixed.empty() ||
      other.device != kernel.device)
    return InvalidInput(fmt::format("kernel '{}' is no batched form of it", other.name));
  if (other.buffers.size() != kernel.buffers.size() ||
      other.num_scalars != batched.scalars.size()) {
    return InvalidInput(fmt::format(
        "its batched form has {} buffers and {} scalars, expected {} and {}", other.buffers.size(),
        other.num_scalars, kernel.buffers.size(), batched.scalars.size()));
  }
  for (uint16_t scalar : batched.scalars) {
    if (scalar != BatchedKernelInfo::kBatchSize && scalar >= kernel.num_scalars)
      return InvalidInput(fmt::format("its batched form takes scalar {}, out of range {}", scalar,
                                      kernel.num_scalars));
  }
  if (!batched.rows.empty())
    RELAYVM_RETURN_IF_ERROR(CheckSizeFormula(batched.rows, kernel.num_scalars, /*shape=*/false));
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (other.buffers[i].dtype != kernel.buffers[i].dtype ||
        other.buffers[i].written != kernel.buffers[i].written)
      return InvalidInput(fmt::format("buffer {} of its batched form is another", i));
  }
  for (size_t i = 0; i < batched.shared.size(); ++i) {
    const uint16_t buffer = batched.shared[i];
    if (buffer >= kernel.buffers.size() || kernel.buffers[buffer].written ||
        (i > 0 && buffer <= batched.shared[i - 1]))
      return InvalidInput(
          fmt::format("calls share buffer {}, which is written, out of range {} or out of "
                      "order",
                      buffer, kernel.buffers.size()));
  }
  return {};
}

// That it can be called with tensors of its device alone, one by one.
Status CheckOnDevice(const Program& program, const KernelInfo& kernel) {
  if (kernel.device == 0) return {};
  if (kernel.batched) return InvalidInput("it has a batched form, and is not the host's");
  if (kernel.buffers.empty()) return InvalidInput("it has no buffers, and is not the host's");
  for (const KernelBuffer& buffer : kernel.buffers)
    RELAYVM_RETURN_IF_ERROR(CheckDevice(program, kernel.device, buffer.dtype));
  return {};
}

Status CheckKernels(const Program& program) {
  if (program.devices.size() > std::numeric_limits<uint8_t>::max())
    return InvalidInput(fmt::format("{} devices, the limit is 255", program.devices.size()));
  std::vector<ImageLayout> layouts;  // by image; of another device's nothing is known
  for (size_t i = 0; i < program.images.size(); ++i) {
    const uint8_t device = program.images[i].device;
    Status status = CheckDevice(program, device);
    if (status.ok() && i > 0 && device < program.images[i - 1].device)
      status = InvalidInput("images are not in the order of their devices");
    layouts.emplace_back();
    if (status.ok() && device == 0) {
      Result<ImageLayout> layout = ParseImage(program.images[i].elf);
      status = layout.status();
      if (layout.ok()) layouts.back() = *std::move(layout);
    }
    if (!status.ok()) return status.WithContext(fmt::format("image {}", i));
  }
  for (const KernelInfo& kernel : program.kernels) {
    Status status = CheckKernelInterface(kernel);
    if (status.ok()) status = CheckOnDevice(program, kernel);
    if (status.ok() && kernel.batched) status = CheckBatchedKernel(program, kernel);
    if (!status.ok()) return status.WithContext(fmt::format("kernel '{}'", kernel.name));
    size_t expected = kernel.builtin ? 0 : layouts.size();
    if (kernel.entries.size() != expected) {
      return InvalidInput(fmt::format("kernel '{}' has {} entries, expects {}", kernel.name,
                                      kernel.entries.size(), expected));
    }
    const auto is_its = [&](const ImageInfo& image) { return image.device == kernel.device; };
    if (!kernel.builtin && std::ranges::none_of(program.images, is_its)) {
      return InvalidInput(fmt::format("kernel '{}' is compiled, and the program has no image{}",
                                      kernel.name, kernel.device == 0 ? "" : " for its device"));
    }
    for (size_t i = 0; i < expected; ++i) {
      if (kernel.device != 0 || program.images[i].device != 0) continue;
      if (!layouts[i].IsCode(kernel.entries[i])) {
        return InvalidInput(fmt::format("kernel '{}': entry {:#x} is outside the code of image {}",
                                        kernel.name, kernel.entries[i], i));
      }
    }
  }
  return {};
}

// --- Functions ---

Status CheckFunction(const Program& program, const FunctionInfo& f, uint64_t expected_offset) {
  if (f.code_offset != expected_offset) {
    return InvalidInput(fmt::format("code at {:#x}, expected {:#x}, where the code before it ends",
                                    f.code_offset, expected_offset));
  }
  if (f.code_size > program.code.size() - expected_offset) {
    return InvalidInput(fmt::format("code of {} units at {:#x} is outside the program's {} units",
                                    f.code_size, f.code_offset, program.code.size()));
  }
  if (f.num_scalar_registers > kMaxRegisters || f.num_object_registers > kMaxRegisters) {
    return InvalidInput(fmt::format("{} scalar and {} object registers, at most {} are possible",
                                    f.num_scalar_registers, f.num_object_registers, kMaxRegisters));
  }
  if (f.num_scalar_args > f.num_scalar_registers) {
    return InvalidInput(fmt::format("{} scalar arguments in {} registers", f.num_scalar_args,
                                    f.num_scalar_registers));
  }
  if (f.num_object_args > f.num_object_registers) {
    return InvalidInput(fmt::format("{} object arguments in {} registers", f.num_object_args,
                                    f.num_object_registers));
  }
  if (f.num_captured > f.num_object_args) {
    return InvalidInput(fmt::format("{} captured values in {} object arguments", f.num_captured,
                                    f.num_object_args));
  }
  if (f.arena_bytes > kMaxArenaBytes) {
    return InvalidInput(
        fmt::format("arena of {} bytes, the limit is {}", f.arena_bytes, kMaxArenaBytes));
  }
  for (size_t i = 0; i < f.slots.size(); ++i) {
    const ArenaSlot& slot = f.slots[i];
    if (slot.offset % 64 != 0)
      return InvalidInput(fmt::format("slot {} at {} is not a multiple of 64", i, slot.offset));
    if (slot.offset > f.arena_bytes || slot.bytes > f.arena_bytes - slot.offset) {
      return InvalidInput(fmt::format("slot {} at {}, {} bytes: outside the arena of {} bytes", i,
                                      slot.offset, slot.bytes, f.arena_bytes));
    }
  }
  uint32_t last_pc = 0;
  for (const SourceLocation& location : f.locations) {
    if (location.pc >= f.code_size || location.pc < last_pc) {
      return InvalidInput(
          fmt::format("source location at {:#x} is out of order or past the code", location.pc));
    }
    if (location.file >= program.source_files.size()) {
      return InvalidInput(fmt::format("source file {} out of range {}", location.file,
                                      program.source_files.size()));
    }
    last_pc = location.pc;
  }
  return {};
}

Status CheckFunctions(const Program& program) {
  uint64_t offset = 0;
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const FunctionInfo& f = program.functions[i];
    if (Status status = CheckFunction(program, f, offset); !status.ok()) {
      return status.WithContext(fmt::format("function {} '{}'", i, f.name));
    }
    offset += f.code_size;
  }
  if (offset != program.code.size()) {
    return InvalidInput(
        fmt::format("{} units of code after the last function", program.code.size() - offset));
  }
  return {};
}

// --- Exports ---

// Tensors in a value of this type, depth first; nullopt when that depends on the value.
std::optional<size_t> CountTensors(const ValueType& type) {
  if (type.kind == ValueType::Kind::kTensor) return 1;
  if (type.kind != ValueType::Kind::kTuple) return std::nullopt;
  size_t count = 0;
  for (const ValueType& field : type.args) {
    std::optional<size_t> inner = CountTensors(field);
    if (!inner) return std::nullopt;
    count += *inner;
  }
  return count;
}

// The outputs of a result: its parts that are no tuples, depth first.
void AddOutputs(const ValueType& type, std::vector<const ValueType*>* outputs) {
  if (type.kind != ValueType::Kind::kTuple) return outputs->push_back(&type);
  for (const ValueType& field : type.args) AddOutputs(field, outputs);
}

Status CheckStates(const Program& program, const ExportInfo& e) {
  if (e.states.empty()) return {};
  std::vector<const ValueType*> parts;
  AddOutputs(e.result, &parts);
  std::set<uint32_t> inputs, outputs;
  for (const StateInfo& s : e.states) {
    const auto wrong = [&](const char* what) {
      return InvalidInput(fmt::format("state {}={}: {}", s.input, s.output, what));
    };
    if (s.input >= e.params.size()) return wrong("there is no such parameter");
    if (s.output >= parts.size()) return wrong("there is no such output");
    if (!inputs.insert(s.input).second || !outputs.insert(s.output).second)
      return wrong("that is another state's");
    const ValueType *input = &e.params[s.input], *output = parts[s.output];
    if (OptionalFormOf(program, *input)) input = &input->args[0];
    if (input->kind != ValueType::Kind::kTensor || output->kind != ValueType::Kind::kTensor ||
        input->dtype != output->dtype || input->dtype == DType::kString ||
        input->dims.size() != output->dims.size()) {
      return wrong("expected tensors of numbers, of one dtype and rank");
    }
  }
  return {};
}

Status CheckExport(const Program& program, const ExportInfo& e) {
  if (e.function >= program.functions.size()) {
    return InvalidInput(
        fmt::format("function {} out of range {}", e.function, program.functions.size()));
  }
  const FunctionInfo& f = program.functions[e.function];
  if (f.num_scalar_args != 0 || f.returns_scalar) {
    return InvalidInput(fmt::format("function '{}' takes or returns scalars", f.name));
  }
  if (f.num_captured != 0)
    return InvalidInput(fmt::format("function '{}' is a closure's code", f.name));
  if (f.num_object_args != e.params.size()) {
    return InvalidInput(fmt::format("{} parameters, function '{}' takes {}", e.params.size(),
                                    f.name, f.num_object_args));
  }
  if (e.param_names.size() != e.params.size()) {
    return InvalidInput(
        fmt::format("{} names for {} parameters", e.param_names.size(), e.params.size()));
  }
  TypeVerifier types(program, e.num_type_params);
  for (size_t i = 0; i < e.params.size(); ++i) {
    if (Status status = types.Check(e.params[i]); !status.ok()) {
      return status.WithContext(fmt::format("parameter {}", i));
    }
  }
  if (Status status = types.Check(e.result); !status.ok()) return status.WithContext("result");
  std::optional<size_t> outputs = CountTensors(e.result);
  if (!e.output_names.empty() && outputs && *outputs != e.output_names.size()) {
    return InvalidInput(fmt::format("{} names for {} outputs", e.output_names.size(), *outputs));
  }
  return CheckStates(program, e);
}

Status CheckHostFunctions(const Program& program) {
  const TypeVerifier types(program, 0);
  for (const HostFunctionInfo& h : program.host_functions) {
    Status status = types.Check(h.result);
    if (!status.ok()) status = status.WithContext("result");
    for (size_t i = 0; i < h.params.size() && status.ok(); ++i) {
      status = types.Check(h.params[i]);
      if (!status.ok()) status = status.WithContext(fmt::format("parameter {}", i));
    }
    if (status.ok()) status = CheckDimFormulas(h.params, h.result);
    if (!status.ok()) return status.WithContext(fmt::format("host function '{}'", h.name));
  }
  return {};
}

Status CheckExports(const Program& program) {
  std::unordered_set<std::string_view> names;
  for (const ExportInfo& e : program.exports) {
    Status status = CheckExport(program, e);
    if (status.ok()) status = CheckDimFormulas(e.params, e.result);
    if (status.ok() && !names.insert(e.name).second) status = InvalidInput("exported twice");
    if (!status.ok()) return status.WithContext(fmt::format("export '{}'", e.name));
  }
  return {};
}

}  // namespace

Result<uint64_t> StaticTensorBytes(DType dtype, std::span<const int64_t> dims) {
  RELAYVM_RETURN_IF_ERROR(CheckDType(dtype));
  RELAYVM_RETURN_IF_ERROR(CheckRank(dims.size()));
  constexpr uint64_t kLimit = std::numeric_limits<int64_t>::max();
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) return InvalidInput(fmt::format("dim of {}", dim));
    empty |= dim == 0;
  }
  if (empty) return uint64_t{0};
  auto bytes = static_cast<uint64_t>(DTypeBytes(dtype));
  for (int64_t dim : dims) {
    if (static_cast<uint64_t>(dim) > kLimit / bytes)
      return InvalidInput("tensor size does not fit 63 bits");
    bytes *= static_cast<uint64_t>(dim);
  }
  return bytes;
}

Status VerifyProgram(const Program& program) {
  if (program.bytecode_version > kBytecodeVersion) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("bytecode version {}, this runtime runs up to {}",
                              program.bytecode_version, kBytecodeVersion));
  }
  RELAYVM_RETURN_IF_ERROR(CheckAdts(program));
  RELAYVM_RETURN_IF_ERROR(CheckTensors(program));
  RELAYVM_RETURN_IF_ERROR(CheckKernels(program));
  RELAYVM_RETURN_IF_ERROR(CheckRegions(program));
  RELAYVM_RETURN_IF_ERROR(CheckHostFunctions(program));
  RELAYVM_RETURN_IF_ERROR(CheckFunctions(program));
  RELAYVM_RETURN_IF_ERROR(VerifyCode(program));
  RELAYVM_RETURN_IF_ERROR(CheckExports(program));
  return CheckKernelCalls(program).status();
}

}  // namespace relayvm
