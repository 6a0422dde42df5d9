// The verifier's pass over the code of one function; tables are in verifier.cc.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/shape_rule.h"
#include "bytecode/base/status_detail.h"
#include "bytecode/instruction.h"
#include "bytecode/verifier.h"

namespace relayvm {
namespace {

// One for all functions, so that its tables are allocated once.
class CodeVerifier {
 public:
  explicit CodeVerifier(const Program& program) : program_(program), taken_by_(kMaxRegisters, 0) {}

  Status Run(const FunctionInfo& function) {
    function_ = &function;
    code_ = program_.code.subspan(function.code_offset, function.code_size);
    is_start_.assign(code_.size(), false);
    together_ = 0;
    jumps_.clear();
    bool control_ended = false;
    for (at_ = 0; at_ < code_.size(); at_ += instruction_.size()) {
      Status status = DecodeInstruction(code_, at_, &instruction_);
      if (!status.ok()) return At(status.message(), at_);
      is_start_[at_] = true;
      // What one of several kernels together takes, the others do not use.
      if (together_ == 0) ++serial_;
      RELAYVM_RETURN_IF_ERROR(CheckTogether());
      RELAYVM_RETURN_IF_ERROR(CheckOperands());
      RELAYVM_RETURN_IF_ERROR(CheckMeaning());
      control_ended = EndsControl(instruction_.opcode);
    }
    if (!control_ended) return At("control runs past the end of the function", code_.size());
    for (const Jump& jump : jumps_) {
      if (!is_start_[jump.to])
        return At(fmt::format("jump to {:#x}, inside an instruction", jump.to), jump.from);
    }
    for (const SourceLocation& location : function.locations) {
      if (!is_start_[location.pc]) return At("source location inside an instruction", location.pc);
    }
    return {};
  }

 private:
  struct Jump {
    size_t from, to;
  };

  Status At(const std::string& message, size_t at) const {
    return Status(
        StatusCode::kInvalidInput, fmt::format("{} ({}+{:#x})", message, function_->name, at),
        std::make_shared<StatusDetail>(StatusDetail{
            .places = {{.function = function_->name, .instruction = static_cast<uint32_t>(at)}}}));
  }
  // About the current instruction.
  Status Bad(const std::string& message) const {
    return At(fmt::format("{}: {}", instruction_.info->mnemonic, message), at_);
  }

  // --- Operands ---

  Status CheckScalarRegister(uint16_t unit) const {
    if (unit < function_->num_scalar_registers) return {};
    return Bad(fmt::format("register i{} out of range {}", unit, function_->num_scalar_registers));
  }

  Status CheckObjectRegister(uint16_t reg) const {
    if (reg < function_->num_object_registers) return {};
    return Bad(fmt::format("register r{} out of range {}", reg, function_->num_object_registers));
  }

  // A register that is read, in the order of the operands.
  Status CheckObjectRead(uint16_t reg, bool take) {
    RELAYVM_RETURN_IF_ERROR(CheckObjectRegister(reg));
    if (taken_by_[reg] == serial_)
      return Bad(fmt::format("register r{} is used after it is taken", reg));
    if (take) taken_by_[reg] = serial_;
    return {};
  }

  Status CheckIndex(const char* what, uint16_t index, size_t size) const {
    if (index < size) return {};
    return Bad(fmt::format("{} {} out of range {}", what, index, size));
  }

  Status CheckTarget(int32_t distance) {
    int64_t target = static_cast<int64_t>(at_) + distance;
    if (target < 0 || target >= static_cast<int64_t>(code_.size())) {
      return Bad(fmt::format("jump by {} leaves the function", distance));
    }
    jumps_.push_back({at_, static_cast<size_t>(target)});
    return {};
  }

  Status CheckBuffer(uint16_t kind_unit, uint16_t index) {
    auto kind = static_cast<uint16_t>(kind_unit & ~kTakeBit);
    if (kind >= kNumBufferKinds) return Bad(fmt::format("unknown kind of buffer {:#x}", kind_unit));
    bool take = (kind_unit & kTakeBit) != 0;
    switch (static_cast<BufferKind>(kind)) {
      case BufferKind::kRegister:
        return CheckObjectRead(index, take);
      case BufferKind::kConstant:
        RELAYVM_RETURN_IF_ERROR(CheckIndex("constant", index, program_.constants.size()));
        break;
      case BufferKind::kSlot:
        RELAYVM_RETURN_IF_ERROR(CheckIndex("slot", index, function_->slots.size()));
        break;
    }
    if (take) return Bad("take bit on a buffer that is not a register");
    return {};
  }

  Status CheckOperands() {
    for (int i = 0; i < instruction_.info->num_operands; ++i)
      RELAYVM_RETURN_IF_ERROR(CheckOperand(i));
    return {};
  }

  Status CheckOperand(int i) {
    uint16_t unit = instruction_.Unit(i);
    switch (instruction_.info->operands[i]) {
      case OperandKind::IOUT:
      case OperandKind::IIN:
        return CheckScalarRegister(unit);
      case OperandKind::ROUT:
        if ((unit & kTakeBit) != 0)
          return Bad(fmt::format("take bit on r{}, which is written", unit & kRegisterMask));
        return CheckObjectRegister(unit);
      case OperandKind::RIN:
        return CheckObjectRead(unit & kRegisterMask, (unit & kTakeBit) != 0);
      case OperandKind::IMM16:
      case OperandKind::IMM32:
      case OperandKind::IMM64:
        return {};
      case OperandKind::DTYPE:
        if (!IsValidDType(static_cast<uint8_t>(unit)) ||
            (unit > 0xFF && instruction_.opcode != Opcode::kTensorAlloc))
          return Bad(fmt::format("unknown dtype {}", unit));
        return {};
      case OperandKind::FUNC:
        return CheckIndex("function", unit, program_.functions.size());
      case OperandKind::CONST:
        return CheckIndex("constant", unit, program_.constants.size());
      case OperandKind::KERNEL:
        return CheckIndex("kernel", unit, program_.kernels.size());
      case OperandKind::TYPE:
        return CheckIndex("tensor type", unit, program_.tensor_types.size());
      case OperandKind::MESSAGE:
        return CheckIndex("message", unit, program_.messages.size());
      case OperandKind::HOST:
        return CheckIndex("host function", unit, program_.host_functions.size());
      case OperandKind::SLOT:
        return CheckIndex("slot", unit, function_->slots.size());
      case OperandKind::TAG:
      case OperandKind::FIELD:
        return {};
      case OperandKind::CMP:
        return CheckIndex("comparison", unit, kNumComparisons);
      case OperandKind::FN:
        return CheckIndex("scalar function", unit, kNumScalarFunctions);
      case OperandKind::RULE:
        return CheckIndex("shape rule", unit, kNumShapeRules);
      case OperandKind::TARGET:
        return CheckTarget(static_cast<int32_t>(instruction_.Immediate(i)));
      case OperandKind::ILIST:
      case OperandKind::OLIST:
        for (uint16_t reg : instruction_.List(i)) RELAYVM_RETURN_IF_ERROR(CheckScalarRegister(reg));
        return {};
      case OperandKind::RLIST:
        for (uint16_t reg : instruction_.List(i)) {
          RELAYVM_RETURN_IF_ERROR(CheckObjectRead(reg & kRegisterMask, (reg & kTakeBit) != 0));
        }
        return {};
      case OperandKind::TARGETS:
        for (int k = 0; k < instruction_.Count(i); ++k) {
          RELAYVM_RETURN_IF_ERROR(CheckTarget(instruction_.TargetAt(i, k)));
        }
        return {};
      case OperandKind::BUFS: {
        std::span<const uint16_t> units = instruction_.List(i);
        for (size_t k = 0; k < units.size(); k += 2) {
          RELAYVM_RETURN_IF_ERROR(CheckBuffer(units[k], units[k + 1]));
        }
        return {};
      }
    }
    return Bad("unknown kind of operand");
  }

  // --- Rules of single opcodes ---

  static const char* Bank(bool scalar) { return scalar ? "a scalar" : "an object"; }

  Status CheckCall(int func_operand, bool scalar_result) const {
    const FunctionInfo& callee = program_.functions[instruction_.Unit(func_operand)];
    if (callee.returns_scalar != scalar_result) {
      return Bad(fmt::format("'{}' returns {}, expected {}", callee.name,
                             Bank(callee.returns_scalar), Bank(scalar_result)));
    }
    uint16_t scalars = instruction_.Count(func_operand + 1),
             objects = instruction_.Count(func_operand + 2);
    if (scalars != callee.num_scalar_args || objects != callee.num_object_args) {
      return Bad(fmt::format("'{}' takes {} scalars and {} objects, {} and {} are given",
                             callee.name, callee.num_scalar_args, callee.num_object_args, scalars,
                             objects));
    }
    return {};
  }

  Status CheckHostCall() const {
    const HostFunctionInfo& host = program_.host_functions[instruction_.Unit(1)];
    if (instruction_.Count(2) == host.params.size()) return {};
    return Bad(fmt::format("host function '{}' takes {} objects, {} are given", host.name,
                           host.params.size(), instruction_.Count(2)));
  }

  Status CheckReturn(bool scalar) const {
    if (function_->returns_scalar == scalar) return {};
    return Bad(fmt::format("the function returns {}", Bank(function_->returns_scalar)));
  }

  Status CheckClosureNew() const {
    const FunctionInfo& code = program_.functions[instruction_.Unit(1)];
    if (code.num_scalar_args != 0 || code.returns_scalar) {
      return Bad(fmt::format("'{}' takes or returns scalars", code.name));
    }
    if (instruction_.Count(2) != code.num_captured) {
      return Bad(fmt::format("'{}' captures {} values, {} are given", code.name, code.num_captured,
                             instruction_.Count(2)));
    }
    return {};
  }

  // The ILIST and BUFS stand at `list_operand` and after it.
  Status CheckKernel(int list_operand) const {
    const KernelInfo& kernel = program_.kernels[instruction_.Unit(0)];
    uint16_t scalars = instruction_.Count(list_operand),
             buffers = instruction_.Count(list_operand + 1);
    if (scalars != kernel.num_scalars || buffers != kernel.buffers.size()) {
      return Bad(fmt::format("kernel '{}' takes {} scalars and {} buffers, {} and {} are given",
                             kernel.name, kernel.num_scalars, kernel.buffers.size(), scalars,
                             buffers));
    }
    // What registers hold, a call of another device's kernel finds out.
    const std::span<const uint16_t> units = instruction_.List(list_operand + 1);
    for (size_t i = 0; i < units.size(); i += 2) {
      const auto kind = static_cast<BufferKind>(units[i] & 0xFF);
      const int device =
          kind == BufferKind::kConstant ? program_.constants[units[i + 1]].device : 0;
      if (kind == BufferKind::kRegister || device == kernel.device) continue;
      return Bad(fmt::format("kernel '{}' is of device {}, its buffer {} of device {}", kernel.name,
                             kernel.device, i / 2, device));
    }
    return {};
  }

  // Memory on a device.
  Status CheckDevice(int64_t device, DType dtype = DType::kBool) const {
    if (device < 0 || static_cast<uint64_t>(device) > program_.devices.size())
      return Bad(fmt::format("device {}, the program has {}", device, program_.devices.size()));
    if (device == 0 || dtype != DType::kString) return {};
    return Bad(fmt::format("strings on device {}, expected on the host", device));
  }

  // The calls after kKernels.
  Status CheckTogether() {
    if (together_ == 0) return {};
    --together_;
    if ((instruction_.opcode == Opcode::kKernel || instruction_.opcode == Opcode::kKernel1) &&
        instruction_.Unit(0) < program_.kernels.size() &&
        program_.kernels[instruction_.Unit(0)].device == 0)
      return {};
    return Bad("expected a call of a host's kernel, as the instruction 'kernels' before says");
  }

  Status CheckKernels() {
    const int64_t count = instruction_.Immediate(0);
    if (count < 2 || count > kMaxKernelsTogether)
      return Bad(fmt::format("expected 2 to {} calls, found {}", kMaxKernelsTogether, count));
    together_ = static_cast<int>(count);
    return {};
  }

  Status CheckFunctionArity(int fn_operand, bool binary) const {
    uint16_t fn = instruction_.Unit(fn_operand);
    if ((fn >= kFirstBinaryScalarFunction) == binary) return {};
    return Bad(fmt::format("scalar function '{}' takes {}",
                           ScalarFunctionName(static_cast<ScalarFunction>(fn)),
                           binary ? "one argument" : "two arguments"));
  }

  Status CheckNotHalf(int dtype_operand) const {
    auto dtype = static_cast<DType>(instruction_.Unit(dtype_operand));
    if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return {};
    return Bad(fmt::format("not for {}", DTypeName(dtype)));
  }

  Status CheckShapeLists() const {
    for (int list : {0, 3, 4}) {
      if (instruction_.Count(list) <= kMaxShapeNumbers) continue;
      return Bad(
          fmt::format("{} dims or numbers, above {}", instruction_.Count(list), kMaxShapeNumbers));
    }
    return {};
  }

  Status CheckMeaning() {
    switch (instruction_.opcode) {
      case Opcode::kCallI:
        return CheckCall(1, true);
      case Opcode::kCallR:
        return CheckCall(1, false);
      case Opcode::kTailCall:
        return CheckCall(0, function_->returns_scalar);
      case Opcode::kCallHost:
        return CheckHostCall();
      case Opcode::kTailClosure:
      case Opcode::kReturnR:
        return CheckReturn(false);
      case Opcode::kReturnI:
        return CheckReturn(true);
      case Opcode::kClosureNew:
        return CheckClosureNew();
      case Opcode::kKernel:
        return CheckKernel(4);
      case Opcode::kKernel1:
        return CheckKernel(1);
      case Opcode::kKernels:
        return CheckKernels();
      case Opcode::kCallF32:
      case Opcode::kCallF64:
        return CheckFunctionArity(1, false);
      case Opcode::kCall2F32:
      case Opcode::kCall2F64:
        return CheckFunctionArity(1, true);
      case Opcode::kWrap: {
        auto dtype = static_cast<DType>(instruction_.Unit(2));
        if (IsFloat(dtype)) return Bad(fmt::format("not for {}", DTypeName(dtype)));
        return {};
      }
      case Opcode::kConvert:
        RELAYVM_RETURN_IF_ERROR(CheckNotHalf(2));
        return CheckNotHalf(3);
      case Opcode::kTensorItem:
        if (instruction_.Immediate(3) < 0)
          return Bad(fmt::format("position {}", instruction_.Immediate(3)));
        return {};
      case Opcode::kSlotItem: {
        const ArenaSlot& slot = function_->slots[instruction_.Unit(1)];
        auto dtype = static_cast<DType>(instruction_.Unit(2));
        if (slot.bytes < static_cast<uint64_t>(DTypeBytes(dtype))) {
          return Bad(fmt::format("slot of {} bytes for a {}", slot.bytes, DTypeName(dtype)));
        }
        return {};
      }
      case Opcode::kDimShape:
        return CheckShapeLists();
      case Opcode::kTensorAlloc:
        return CheckDevice(instruction_.Unit(1) >> 8, static_cast<DType>(instruction_.Unit(1)));
      case Opcode::kTensorCopy:
        return CheckDevice(instruction_.Immediate(2));
      default:
        return {};
    }
  }

  const Program& program_;
  const FunctionInfo* function_ = nullptr;
  std::span<const uint16_t> code_;
  std::vector<bool> is_start_;  // by unit
  std::vector<Jump> jumps_;     // checked once all starts are known
  size_t at_ = 0;
  Instruction instruction_{};
  uint64_t serial_ = 0;             // of the instruction, over all functions
  int together_ = 0;                // calls that are left of the last kKernels
  std::vector<uint64_t> taken_by_;  // by object register: the last instruction that took it
};

}  // namespace

Status VerifyCode(const Program& program) {
  CodeVerifier verifier(program);
  for (const FunctionInfo& function : program.functions)
    RELAYVM_RETURN_IF_ERROR(verifier.Run(function));
  return {};
}

}  // namespace relayvm
