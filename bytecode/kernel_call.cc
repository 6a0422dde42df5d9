#include "bytecode/kernel_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/base/status_detail.h"
#include "bytecode/instruction.h"
#include "bytecode/semantics.h"
#include "bytecode/symbolic_ops.h"

namespace relayvm {
namespace {

// Larger expressions are replaced by a symbol; larger shapes and formulas are left to the call.
constexpr size_t kMaxDimSize = 32;
constexpr size_t kMaxRankProved = 16;
constexpr size_t kMaxStepsProved = 64;
constexpr uint16_t kNoRegister = 0xFFFF;

// A register's value is known in one stretch of code, which has a number of its own.
struct Scalar {
  uint64_t stretch = 0;
  Dim value;
};
struct Tensor {
  uint64_t stretch = 0;
  bool typed = false;  // dtype and device are known
  DType dtype = DType::kFloat32;
  uint8_t device = 0;
  std::optional<std::vector<Dim>> dims;
  // What a call was found to have room for when it was checked: that says nothing of the dims.
  std::optional<std::vector<Dim>> room;
  // No other register or value holds it, but for the register `shares`.
  bool owned = false;
  uint16_t shares = kNoRegister;
  uint16_t shared_by = kNoRegister;  // the register whose `shares` may be this one
};

// What does not depend on the call.
struct ConstantSizes {
  std::vector<std::optional<int64_t>> elements;  // of each buffer
  std::optional<int64_t> units, scratch;
};

class KernelCallChecker {
 public:
  explicit KernelCallChecker(const Program& program) : program_(program) {
    size_t scalars = 0, objects = 0;
    for (const FunctionInfo& f : program.functions) {
      scalars = std::max<size_t>(scalars, f.num_scalar_registers);
      objects = std::max<size_t>(objects, f.num_object_registers);
    }
    scalars_.resize(scalars);
    tensors_.resize(objects);
    uses_.resize(objects);
    for (const KernelInfo& kernel : program.kernels) {
      ConstantSizes& sizes = sizes_.emplace_back();
      for (const KernelBuffer& b : kernel.buffers) sizes.elements.push_back(ConstantSize(b.shape));
      if (!kernel.units.empty()) sizes.units = ConstantSize(kernel.units);
      sizes.scratch = kernel.scratch.empty() ? 0 : ConstantSize(kernel.scratch);
    }
  }

  // Finds the functions that only the host calls: it gives what the export declares.
  Status FindEntries() {
    entries_.resize(program_.functions.size(), nullptr);
    for (const ExportInfo& e : program_.exports) {
      // Of two exports of a function neither says what arrives.
      const ExportInfo*& entry = entries_[e.function];
      entry = entry == nullptr ? &e : &no_entry_;
    }
    for (size_t at = 0; at < program_.code.size(); at += instruction_.size()) {
      RELAYVM_RETURN_IF_ERROR(DecodeInstruction(program_.code, at, &instruction_));
      for (int i = 0; i < instruction_.info->num_operands; ++i) {
        if (instruction_.info->operands[static_cast<size_t>(i)] == OperandKind::FUNC)
          entries_[instruction_.Unit(i)] = nullptr;
      }
    }
    return {};
  }

  Status Run(const FunctionInfo& function) {
    function_ = &function;
    code_ = program_.code.subspan(function.code_offset, function.code_size);
    std::vector<bool> is_target(code_.size(), false);
    bool has_kernels = false;
    for (size_t at = 0; at < code_.size(); at += instruction_.size()) {
      RELAYVM_RETURN_IF_ERROR(DecodeInstruction(code_, at, &instruction_));
      ForEachTarget(instruction_, [&](int32_t distance) {
        is_target[static_cast<size_t>(static_cast<int64_t>(at) + distance)] = true;
      });
      has_kernels = has_kernels || IsKernel();
    }
    if (!has_kernels) return {};
    ++stretch_;
    SetArguments();
    for (at_ = 0; at_ < code_.size(); at_ += instruction_.size()) {
      if (is_target[at_]) ++stretch_;
      RELAYVM_RETURN_IF_ERROR(DecodeInstruction(code_, at_, &instruction_));
      RELAYVM_RETURN_IF_ERROR(Step());
    }
    return {};
  }

  std::vector<UnprovedBuffer> unproved() && { return std::move(unproved_); }

  // --- Rows OP of opcodes.def (bytecode/semantics.h); of others, Give ---

  void kMoveR(uint16_t, uint16_t from) {
    Tensor moved = TensorAt(from & kRegisterMask);
    moved.owned = moved.owned && (from & kTakeBit) != 0 && moved.shares == kNoRegister;
    moved.shares = moved.shared_by = kNoRegister;
    Give(std::move(moved));
  }
  void kConstR(uint16_t, uint16_t index) {
    const ConstantInfo& constant = program_.constants[index];
    Give(Typed(constant.dtype, {constant.dims.begin(), constant.dims.end()}, false,
               constant.device));
  }
  void kDrop(uint16_t reg) {
    Expose(reg & kRegisterMask);
    Take(reg & kRegisterMask);
  }
  void kTensorStatic(uint16_t, uint16_t index) {
    const TensorTypeInfo& type = program_.tensor_types[index];
    Give(Typed(type.dtype, {type.dims.begin(), type.dims.end()}, true, type.device));
  }
  void kTensorAlloc(uint16_t, DType dtype, OperandUnits dims) {
    Give(Typed(dtype, Dims(dims), true, static_cast<uint8_t>(instruction_.Unit(1) >> 8)));
  }
  void kTensorBox(uint16_t, uint16_t, DType dtype) { Give(Typed(dtype, {}, true)); }
  void kTensorView(uint16_t, uint16_t from, OperandUnits dims) {
    const Tensor& viewed = TensorAt(from & kRegisterMask);
    Give(viewed.typed ? Typed(viewed.dtype, Dims(dims), false, viewed.device) : Nothing());
  }
  void kTensorReuse(uint16_t out, uint16_t from, DType dtype, OperandUnits dims) {
    Give(Typed(dtype, Dims(dims), true));
    if ((from & kTakeBit) != 0) return;
    TensorAt(out).shares = from;
    TensorAt(from).shared_by = out;
  }
  void kTensorAppend(uint16_t, uint16_t, uint16_t, DType dtype, OperandUnits dims) {
    Give(Typed(dtype, Dims(dims), true));
  }
  void kTensorCopy(uint16_t, uint16_t from, int64_t device) {
    // The tensor itself, where it is there already.
    Tensor copy = TensorAt(from & kRegisterMask);
    copy.owned = copy.typed && copy.device != device;
    copy.device = static_cast<uint8_t>(device);
    copy.shares = copy.shared_by = kNoRegister;
    copy.room.reset();
    Give(std::move(copy));
  }
  void kTensorDim(uint16_t out, uint16_t from, uint16_t axis) {
    const Tensor& tensor = TensorAt(from & kRegisterMask);
    const bool known = tensor.dims && axis < tensor.dims->size();
    SetScalar(out, known ? (*tensor.dims)[axis] : Unknown(true), true);
    TakeIfLast(from);
  }
  void kTensorItem(uint16_t out, uint16_t from, DType, int64_t) {
    SetScalar(out, Unknown(false));
    TakeIfLast(from);
  }
  Status kKernel(uint16_t, uint16_t units, uint16_t, uint16_t scratch, OperandUnits scalars,
                 OperandUnits buffers) {
    return CheckKernel(ScalarAt(units), ScalarAt(scratch), scalars, buffers);
  }
  Status kKernel1(uint16_t, OperandUnits scalars, OperandUnits buffers) {
    return CheckKernel(1, 0, scalars, buffers);
  }

 private:
  bool IsKernel() const {
    return instruction_.opcode == Opcode::kKernel || instruction_.opcode == Opcode::kKernel1;
  }

  Status Bad(const std::string& message) const {
    return {
        StatusCode::kInvalidInput,
        fmt::format("function '{}', offset {:#x}: {} k{} ({}): {}", function_->name, at_,
                    instruction_.info->mnemonic, instruction_.Unit(0),
                    program_.kernels[instruction_.Unit(0)].name, message),
        std::make_shared<StatusDetail>(StatusDetail{
            .places = {{.function = function_->name, .instruction = static_cast<uint32_t>(at_)}},
            .subject = program_.kernels[instruction_.Unit(0)].name})};
  }

  // --- Registers ---

  const Dim& ScalarAt(uint16_t reg) {
    Scalar& scalar = scalars_[reg];
    if (scalar.stretch != stretch_) scalar = {stretch_, Unknown(/*nonnegative=*/false)};
    return scalar.value;
  }
  Dim Unknown(bool nonnegative) { return Dim::Symbol(next_symbol_++, "", nonnegative); }
  void SetScalar(uint16_t reg, Dim value, bool nonnegative = false) {
    if (value.Size() > kMaxDimSize) value = Unknown(nonnegative);
    scalars_[reg] = {stretch_, std::move(value)};
  }
  std::vector<Dim> Dims(std::span<const uint16_t> regs) {
    std::vector<Dim> dims;
    for (uint16_t reg : regs) dims.push_back(ScalarAt(reg));
    return dims;
  }

  Tensor& TensorAt(uint16_t reg) {
    Tensor& tensor = tensors_[reg];
    if (tensor.stretch != stretch_) tensor = Nothing();
    return tensor;
  }
  Tensor Nothing() const {
    Tensor tensor;
    tensor.stretch = stretch_;
    return tensor;
  }
  Tensor Typed(DType dtype, std::vector<Dim> dims, bool owned, uint8_t device = 0) const {
    Tensor tensor = Nothing();
    tensor.typed = true;
    tensor.dtype = dtype;
    tensor.device = device;
    tensor.dims = std::move(dims);
    tensor.owned = owned;
    return tensor;
  }
  // What the host gives has the export's types.
  void SetArguments() {
    const ExportInfo* entry = entries_[static_cast<size_t>(function_ - program_.functions.data())];
    if (entry == nullptr) return;
    for (size_t i = 0; i < entry->params.size(); ++i) {
      const ValueType& type = entry->params[i];
      if (type.kind != ValueType::Kind::kTensor) continue;
      std::vector<Dim> dims;
      for (int64_t d : type.dims) dims.push_back(d < 0 ? Unknown(/*nonnegative=*/true) : Dim(d));
      tensors_[i] = Typed(type.dtype, std::move(dims), /*owned=*/false);
    }
  }
  // Something else may hold the tensor from here on.
  void Expose(uint16_t reg) {
    Tensor& tensor = TensorAt(reg);
    tensor.owned = false;
    if (tensor.shared_by == kNoRegister) return;
    Tensor& other = TensorAt(tensor.shared_by);
    if (other.shares == reg) other.owned = false;
  }
  // The register is empty after its last use.
  void Take(uint16_t reg) {
    const uint16_t shared_by = TensorAt(reg).shared_by;
    if (shared_by != kNoRegister && TensorAt(shared_by).shares == reg)
      TensorAt(shared_by).shares = kNoRegister;
    TensorAt(reg) = Nothing();
  }

  // --- Instructions ---

  struct ScalarMachine : SymbolicOps {
    KernelCallChecker& checker;

    explicit ScalarMachine(KernelCallChecker& c) : checker(c) {}
    Int Scalar(uint16_t reg) { return checker.ScalarAt(reg); }
    void SetScalar(uint16_t reg, const Int& value) {
      checker.SetScalar(reg, value ? *value : checker.Unknown(/*nonnegative=*/false));
    }
  };

  Status Step() {
    ScalarMachine machine(*this);
    if (RunScalar(machine, instruction_)) return {};
    if (const auto row = ObjectRowOf<KernelCallChecker>(instruction_.opcode))
      return row(*this, instruction_);
    Give(Nothing());
    return {};
  }

  // The result of an instruction, after what it reads: each operand may be held elsewhere then.
  void Give(Tensor tensor) {
    ForEachRead([&](uint16_t reg, bool take) {
      Expose(reg);
      if (take) Take(reg);
    });
    const OperandKind first = instruction_.info->operands[0];
    if (first == OperandKind::IOUT) SetScalar(instruction_.Unit(0), Unknown(false));
    if (first == OperandKind::OLIST) {
      for (uint16_t reg : instruction_.List(0)) SetScalar(reg, Unknown(false));
    }
    if (first == OperandKind::ROUT) TensorAt(instruction_.Unit(0)) = std::move(tensor);
  }
  void TakeIfLast(uint16_t unit) {
    if ((unit & kTakeBit) != 0) Take(unit & kRegisterMask);
  }

  template <typename Fn>
  void ForEachRead(Fn fn) const {
    auto read = [&](uint16_t unit) { fn(unit & kRegisterMask, (unit & kTakeBit) != 0); };
    for (int i = 0; i < instruction_.info->num_operands; ++i) {
      const OperandKind kind = instruction_.info->operands[static_cast<size_t>(i)];
      if (kind == OperandKind::RIN) read(instruction_.Unit(i));
      if (kind != OperandKind::RLIST) continue;
      for (uint16_t unit : instruction_.List(i)) read(unit);
    }
  }

  // --- Kernels ---

  struct Operand {
    BufferKind kind;
    uint16_t index;
    bool take;
  };

  Status CheckKernel(const Dim& num_units, const Dim& scratch, OperandUnits scalars,
                     OperandUnits units) {
    kernel_ = &program_.kernels[instruction_.Unit(0)];
    arguments_ = Dims(scalars);
    operands_.clear();
    for (size_t i = 0; i < units.size(); i += 2) {
      operands_.push_back(
          {static_cast<BufferKind>(units[i] & 0xFF), units[i + 1], (units[i] & kTakeBit) != 0});
    }
    // Where the first buffer's kind stands.
    const auto first = static_cast<uint32_t>(function_->code_offset +
                                             static_cast<size_t>(units.data() - code_.data()));
    RELAYVM_RETURN_IF_ERROR(CheckOverlap());
    bool proved = true;
    RELAYVM_RETURN_IF_ERROR(CheckScalars(num_units, scratch, &proved));
    if (!proved) {
      if (operands_.empty()) return Bad("a kernel without buffers needs scalars that are constant");
      unproved_.push_back({first, kCheckCall});
    }
    for (size_t i = 0; i < operands_.size(); ++i) {
      RELAYVM_RETURN_IF_ERROR(CheckBuffer(i, &proved));
      if (!proved) unproved_.push_back({first + static_cast<uint32_t>(2 * i), kCheckBuffer});
    }
    for (const Operand& operand : operands_) {
      if (operand.take) Take(operand.index);
    }
    return {};
  }

  // Of what is written and anything else, as far as the code alone says: registers that are the
  // same, slots that overlap. Counts the uses of registers, too.
  Status CheckOverlap() {
    ++call_;
    // Slots that are looked at, with where they end: an input that an output replaces is part of
    // it.
    std::vector<std::pair<size_t, uint64_t>> slots;
    std::vector<bool> replaced(operands_.size(), false);
    auto slot = [&](size_t i) -> const ArenaSlot& { return function_->slots[operands_[i].index]; };
    auto end = [&](size_t i) { return slot(i).offset + slot(i).bytes; };
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Operand& o = operands_[i];
      const KernelBuffer& buffer = kernel_->buffers[i];
      if (o.kind == BufferKind::kRegister) {
        Uses& uses = UsesOf(o.index);
        if (uses.count++ > 0 && (buffer.written || uses.written))
          return Bad(fmt::format("buffers {} and {} are both r{}, and one is written", uses.last, i,
                                 o.index));
        uses.written = buffer.written;
        uses.last = i;
      } else if (o.kind == BufferKind::kConstant && buffer.written) {
        return Bad(fmt::format("buffer {} is written, and constant {} is given", i, o.index));
      } else if (o.kind == BufferKind::kSlot && buffer.written) {
        slots.emplace_back(i, end(i));
        for (uint16_t p : buffer.may_share) {
          if (operands_[p].kind != BufferKind::kSlot || slot(p).offset != slot(i).offset) continue;
          slots.back().second = std::max(slots.back().second, end(p));
          replaced[p] = true;
          break;
        }
      }
    }
    if (slots.empty()) return {};
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].kind == BufferKind::kSlot && !kernel_->buffers[i].written && !replaced[i])
        slots.emplace_back(i, end(i));
    }
    std::sort(slots.begin(), slots.end(), [&](const auto& a, const auto& b) {
      return slot(a.first).offset < slot(b.first).offset;
    });
    // Of the slots so far: what ends last, of all and of the written ones.
    std::pair<size_t, uint64_t> any{0, 0}, written{0, 0};
    for (const auto& [i, last] : slots) {
      const bool writes = kernel_->buffers[i].written;
      const auto& [before, before_end] = writes ? any : written;
      if (before_end > slot(i).offset && last > slot(i).offset)
        return Bad(fmt::format("buffers {} and {} overlap, and one is written", before, i));
      if (last > any.second) any = {i, last};
      if (writes && last > written.second) written = {i, last};
    }
    return {};
  }

  Status CheckScalars(const Dim& units, const Dim& scratch, bool* proved) {
    for (const FixedScalar& fixed : kernel_->fixed) {
      const Dim& found = arguments_[fixed.index];
      if (!found.is_const()) {
        *proved = false;
      } else if (found.value() != fixed.value) {
        return Bad(ScalarMismatch(fixed, found.value()));
      }
    }
    const ConstantSizes& sizes = sizes_[instruction_.Unit(0)];
    auto proves = [&](const SizeFormula& formula, const std::optional<int64_t>& constant,
                      const Dim& found, bool less) {
      if (constant)
        return found.is_const() && (less ? found.value() <= *constant : found.value() >= *constant);
      const auto expected = Evaluate(formula);
      return expected && (*expected)[0] == found;
    };
    if (!kernel_->units.empty() && !proves(kernel_->units, sizes.units, units, true))
      *proved = false;
    if (!kernel_->scratch.empty() && !proves(kernel_->scratch, sizes.scratch, scratch, false))
      *proved = false;
    return {};
  }

  std::optional<std::vector<Dim>> Evaluate(const SizeFormula& formula) const {
    if (formula.size() > kMaxStepsProved) return std::nullopt;
    return EvaluateDims(formula, arguments_);
  }

  Status CheckBuffer(size_t i, bool* proved) {
    const KernelBuffer& expected = kernel_->buffers[i];
    const Operand& operand = operands_[i];
    const std::optional<std::vector<Dim>> shape = Evaluate(expected.shape);
    std::optional<int64_t> elements = sizes_[instruction_.Unit(0)].elements[i];
    if (!elements) elements = ConstantElements(shape);
    if (operand.kind == BufferKind::kSlot) {
      const auto room =
          static_cast<int64_t>(function_->slots[operand.index].bytes) / DTypeBytes(expected.dtype);
      if (elements && *elements > room) return Bad(SizeMismatch(i, *elements, room));
      *proved = elements || AtMost(shape, room);
      return {};
    }
    Tensor constant;
    if (operand.kind == BufferKind::kConstant) {
      const ConstantInfo& info = program_.constants[operand.index];
      constant = Typed(info.dtype, {info.dims.begin(), info.dims.end()}, false, info.device);
    }
    const bool is_register = operand.kind == BufferKind::kRegister;
    Tensor& tensor = is_register ? TensorAt(operand.index) : constant;
    if (tensor.typed && tensor.dtype != expected.dtype)
      return Bad(DTypeMismatch(i, expected.dtype, tensor.dtype));
    if (tensor.typed && tensor.device != kernel_->device)
      return Bad(DeviceMismatch(i, kernel_->device, tensor.device));
    if (elements && tensor.dims && tensor.dims->size() <= kMaxRankProved) {
      const Dim room = ProductOf(*tensor.dims);
      if (room.is_const() && room.value() < *elements)
        return Bad(SizeMismatch(i, *elements, room.value()));
    }
    *proved =
        tensor.typed && (Fits(shape, elements, tensor.dims) || Fits(shape, elements, tensor.room));
    if (!is_register) return {};
    if (expected.written && !IsAlone(tensor, expected.may_share)) *proved = false;
    // After the check at the call, its outcome is known: room, which may be more and of other dims.
    if (!*proved && shape) {
      tensor.typed = true;
      tensor.dtype = expected.dtype;
      tensor.device = kernel_->device;
      tensor.room = *shape;
    }
    return {};
  }

  // Of a shape of numbers; no value when one is negative.
  static std::optional<int64_t> ConstantElements(const std::optional<std::vector<Dim>>& shape) {
    if (!shape) return std::nullopt;
    int64_t elements = 1;
    for (const Dim& d : *shape) {
      if (!d.is_const() || d.value() < 0 || __builtin_mul_overflow(elements, d.value(), &elements))
        return std::nullopt;
    }
    return elements;
  }

  static bool AtMost(const std::optional<std::vector<Dim>>& shape, int64_t room) {
    if (!shape || shape->size() > kMaxRankProved) return false;
    for (const Dim& d : *shape) {
      const auto least = d.LowerBound();
      if (!least || *least < 0) return false;
    }
    const auto most = ProductOf(*shape).UpperBound();
    return most && *most <= room;
  }

  // Whether a tensor with room for `dims`, none of which is negative, has room for `shape`.
  static bool Fits(const std::optional<std::vector<Dim>>& shape,
                   const std::optional<int64_t>& elements,
                   const std::optional<std::vector<Dim>>& dims) {
    if (!dims) return false;
    if (shape && *shape == *dims) return true;
    if (dims->size() > kMaxRankProved) return false;
    const Dim room = ProductOf(*dims);
    if (elements && room.is_const()) return room.value() >= *elements;
    if (!shape || shape->size() > kMaxRankProved) return false;
    for (const Dim& d : *shape) {
      const auto least = d.LowerBound();
      if (least && *least >= 0) continue;
      if (std::find(dims->begin(), dims->end(), d) == dims->end()) return false;
    }
    return ProductOf(*shape) == room;
  }

  // Whether nothing else holds what is written, or only the buffer that it may share.
  bool IsAlone(const Tensor& tensor, const std::vector<uint16_t>& may_share) {
    if (!tensor.owned) return false;
    if (tensor.shares == kNoRegister) return true;
    return UsesOf(tensor.shares).count == 1 &&
           std::any_of(may_share.begin(), may_share.end(), [&](uint16_t p) {
             return operands_[p].kind == BufferKind::kRegister &&
                    operands_[p].index == tensor.shares;
           });
  }

  struct Uses {  // of a register in one call
    uint64_t call = 0;
    uint32_t count = 0;
    bool written = false;
    size_t last = 0;
  };

  Uses& UsesOf(uint16_t reg) {
    Uses& uses = uses_[reg];
    if (uses.call != call_) uses = {call_};
    return uses;
  }

  const Program& program_;
  std::vector<ConstantSizes> sizes_;
  ExportInfo no_entry_;
  std::vector<const ExportInfo*> entries_;  // of each function that only the host calls
  const FunctionInfo* function_ = nullptr;
  std::span<const uint16_t> code_;
  size_t at_ = 0;
  Instruction instruction_{};
  uint64_t stretch_ = 0;
  uint32_t next_symbol_ = 0;
  std::vector<Scalar> scalars_;
  std::vector<Tensor> tensors_;
  // Of the current call.
  uint64_t call_ = 0;
  const KernelInfo* kernel_ = nullptr;
  std::vector<Dim> arguments_;
  std::vector<Operand> operands_;
  std::vector<Uses> uses_;
  std::vector<UnprovedBuffer> unproved_;
};

}  // namespace

Result<std::vector<UnprovedBuffer>> CheckKernelCalls(const Program& program) {
  if (program.kernels.empty()) return std::vector<UnprovedBuffer>();
  KernelCallChecker checker(program);
  RELAYVM_RETURN_IF_ERROR(checker.FindEntries());
  for (const FunctionInfo& function : program.functions)
    RELAYVM_RETURN_IF_ERROR(checker.Run(function));
  return std::move(checker).unproved();
}

std::string DTypeMismatch(size_t buffer, DType expected, DType found) {
  return fmt::format("expected {} for buffer {}, found {}", DTypeName(expected), buffer,
                     DTypeName(found));
}

std::string DeviceMismatch(size_t buffer, int expected, int found) {
  return fmt::format("expected buffer {} on device {}, found it on device {} (0: the host)", buffer,
                     expected, found);
}

std::string SizeMismatch(size_t buffer, int64_t expected, int64_t found) {
  return fmt::format("expected at least {} elements for buffer {}, found {}", expected, buffer,
                     found);
}

std::string ScalarMismatch(const FixedScalar& expected, int64_t found) {
  return fmt::format("expected {} for scalar {}, found {}", expected.value, expected.index, found);
}

}  // namespace relayvm
