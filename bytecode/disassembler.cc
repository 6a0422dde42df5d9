#include "bytecode/disassembler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "bytecode/base/message.h"
#include "bytecode/base/printable.h"
#include "bytecode/base/shape_rule.h"
#include "bytecode/instruction.h"
#include "bytecode/regions.h"

namespace relayvm {
namespace {

constexpr size_t kCommentColumn = 56;
constexpr size_t kHexBytesPerLine = 32;

// One line of text, with an optional comment at a fixed column.
class Line {
 public:
  template <typename... Args>
  Line& Add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
    return *this;
  }
  void AddComment(std::string_view comment) {
    comment_ += comment_.empty() ? "" : ", ";
    for (char c : comment)
      comment_ += static_cast<uint8_t>(c) < 0x20 ? ' ' : c;  // names may hold anything
  }
  void FlushTo(std::string* out) {
    *out += text_;
    if (!comment_.empty()) {
      out->append(text_.size() < kCommentColumn ? kCommentColumn - text_.size() : 1, ' ');
      *out += "; ";
      *out += comment_;
    }
    *out += '\n';
  }

 private:
  std::string text_, comment_;
};

class Disassembler {
 public:
  Disassembler(const Program& program, const DisassembleOptions& options)
      : program_(program), options_(options) {}

  std::string All() {
    Line().Add(".version {}", program_.bytecode_version).FlushTo(&out_);
    for (size_t i = 0; i < program_.source_files.size(); ++i) {
      Entry("source", i, Line().Add(".source {}", QuoteString(program_.source_files[i])));
    }
    for (size_t i = 0; i < program_.messages.size(); ++i) {
      Entry("m", i, Line().Add(".message {}", QuoteString(program_.messages[i])));
    }
    for (size_t i = 0; i < program_.strings.size(); ++i) {
      Entry("s", i, Line().Add(".string {}", QuoteString(program_.strings[i])));
    }
    for (size_t i = 0; i < program_.devices.size(); ++i) {
      Entry("device ", i + 1, Line().Add(".device {}", QuoteString(program_.devices[i])));
    }
    for (size_t i = 0; i < program_.adts.size(); ++i) Adt(i);
    for (size_t i = 0; i < program_.images.size(); ++i) {
      const ImageInfo& image = program_.images[i];
      Line line;
      line.Add(".image {}{}{}", QuoteString(image.cpu_features), Device(image.device), Elided());
      line.AddComment(fmt::format("{} bytes", image.elf.size()));
      Entry("image", i, std::move(line));
      Hex(image.elf);
    }
    for (size_t i = 0; i < program_.kernels.size(); ++i) Kernel(i);
    for (size_t i = 0; i < program_.regions.size(); ++i) Region(i);
    for (size_t i = 0; i < program_.host_functions.size(); ++i) {
      const HostFunctionInfo& host = program_.host_functions[i];
      Entry("h", i,
            Line().Add(".host {} {} -> {}", QuoteString(host.name), Types(host.params),
                       Type(host.result)));
    }
    for (size_t i = 0; i < program_.tensor_types.size(); ++i) {
      const TensorTypeInfo& type = program_.tensor_types[i];
      Entry("t", i, Line().Add(".type {}", StaticType(type.dtype, type.dims, type.device)));
    }
    for (size_t i = 0; i < program_.constants.size(); ++i) {
      const ConstantInfo& constant = program_.constants[i];
      Line line;
      line.Add(".constant {} {}", StaticType(constant.dtype, constant.dims, constant.device),
               QuoteString(constant.name));
      if (constant.recipe != nullptr) {
        line.Add(" recipe {} ({})", QuoteString(constant.recipe->builtin),
                 Joined(constant.recipe->params));
        Entry("c", i, std::move(line));
        for (const RecipeInput& input : constant.recipe->inputs) {
          Line().Add("  .input {}{}", StaticType(input.dtype, input.dims), Elided()).FlushTo(&out_);
          Data(input.data);
        }
        continue;
      }
      Entry("c", i, std::move(line.Add("{}", Elided())));
      Data(constant.data);
    }
    for (const ExportInfo& e : program_.exports) Export(e);
    for (uint32_t i = 0; i < program_.functions.size(); ++i) Function(i);
    return std::move(out_);
  }

  std::string One(uint32_t function) {
    Function(function);
    return std::move(out_);
  }

 private:
  // --- Tables ---

  // A line of a table, with the name that operands use for it as its comment.
  void Entry(const char* prefix, size_t index, Line line) {
    if (options_.comments) line.AddComment(fmt::format("{}{}", prefix, index));
    line.FlushTo(&out_);
  }

  const char* Elided() const { return options_.data ? "" : " elided"; }
  void Data(const SharedBytes& data) {
    if (options_.data) Hex({reinterpret_cast<const uint8_t*>(data.data()), data.size()});
  }

  void Hex(std::span<const uint8_t> bytes) {
    if (!options_.data) return;
    for (size_t i = 0; i < bytes.size(); i += kHexBytesPerLine) {
      out_ += "  .hex ";
      constexpr std::string_view kDigits = "0123456789abcdef";
      for (uint8_t byte : bytes.subspan(i, std::min(kHexBytesPerLine, bytes.size() - i))) {
        out_ += kDigits[byte >> 4];
        out_ += kDigits[byte & 15];
      }
      out_ += '\n';
    }
  }

  static std::string Device(int device) { return device == 0 ? "" : fmt::format("@{}", device); }
  static std::string StaticType(DType dtype, const std::vector<int64_t>& dims, int device = 0) {
    return fmt::format("{}{}[{}]", DTypeName(dtype), Device(device), Joined(dims));
  }

  static std::string Type(const ValueType& type) {
    switch (type.kind) {
      case ValueType::Kind::kTensor: {
        std::string dims;
        for (size_t i = 0; i < type.dims.size(); ++i) {
          if (i > 0) dims += ", ";
          dims += type.dims[i] < 0 ? "?" : fmt::format("{}", type.dims[i]);
          if (i < type.dim_names.size() && !type.dim_names[i].empty())
            dims += QuoteString(type.dim_names[i]);
          if (i < type.dim_formulas.size() && !type.dim_formulas[i].empty())
            dims += "=" + SizeFormulaToString(type.dim_formulas[i]);
        }
        return fmt::format("{}[{}]", DTypeName(type.dtype), dims);
      }
      case ValueType::Kind::kTuple:
        return Types(type.args);
      case ValueType::Kind::kAdt:
        return fmt::format("data {}{}", type.index, Types(type.args));
      case ValueType::Kind::kFunction:
        return "fn";
      case ValueType::Kind::kRef:
        return "ref" + Types(type.args);
      case ValueType::Kind::kTypeVar:
        return fmt::format("var {}", type.index);
    }
    return "?";
  }
  static std::string Types(const std::vector<ValueType>& types) {
    std::string text = "(";
    for (size_t i = 0; i < types.size(); ++i) text += (i > 0 ? ", " : "") + Type(types[i]);
    return text + ")";
  }

  void Adt(size_t index) {
    const AdtInfo& adt = program_.adts[index];
    Entry("data ", index, Line().Add(".data {} {}", QuoteString(adt.name), adt.num_type_params));
    for (size_t tag = 0; tag < adt.constructors.size(); ++tag) {
      const ConstructorInfo& constructor = adt.constructors[tag];
      Entry("#", tag,
            Line().Add("  .constructor {} {}", QuoteString(constructor.name),
                       Types(constructor.fields)));
    }
  }

  void Kernel(size_t index) {
    const KernelInfo& kernel = program_.kernels[index];
    Line line;
    line.Add(".kernel {}{} scalars {}", QuoteString(kernel.name), Device(kernel.device),
             kernel.num_scalars);
    for (const FixedScalar& f : kernel.fixed) line.Add(" s{}={}", f.index, f.value);
    line.Add(" buffers (");
    for (const KernelBuffer& b : kernel.buffers) {
      line.Add("{}{}{}[{}]", &b == kernel.buffers.data() ? "" : ", ", b.written ? "out " : "",
               DTypeName(b.dtype), SizeFormulaToString(b.shape));
      for (uint16_t other : b.may_share) line.Add(" over {}", other);
    }
    line.Add(")");
    if (!kernel.units.empty()) line.Add(" units {}", SizeFormulaToString(kernel.units));
    if (!kernel.scratch.empty()) line.Add(" scratch {}", SizeFormulaToString(kernel.scratch));
    if (kernel.builtin) line.Add(" builtin");
    if (kernel.region) line.Add(" region {}", *kernel.region);
    if (kernel.batched) {
      line.Add(" batched k{} (", kernel.batched->kernel);
      const char* separator = "";
      for (uint16_t scalar : kernel.batched->scalars) {
        line.Add("{}{}", separator,
                 scalar == BatchedKernelInfo::kBatchSize ? "calls" : fmt::format("s{}", scalar));
        separator = ", ";
      }
      line.Add(")");
      if (!kernel.batched->rows.empty())
        line.Add(" rows {}", SizeFormulaToString(kernel.batched->rows));
      for (uint16_t buffer : kernel.batched->shared) line.Add(" sharing {}", buffer);
    }
    for (uint64_t entry : kernel.entries) line.Add(" {:#x}", entry);
    Entry("k", index, std::move(line));
  }

  void Region(size_t index) {
    const RegionInfo& region = program_.regions[index];
    Line line;
    line.Add(".region {} engine {} constants (", QuoteString(region.name),
             QuoteString(region.engine));
    for (size_t i = 0; i < region.constants.size(); ++i)
      line.Add("{}c{}", i > 0 ? ", " : "", region.constants[i]);
    line.Add(") symbols {} json {}", region.num_symbols, QuoteString(region.json));
    Entry("region ", index, std::move(line));
  }

  void Export(const ExportInfo& e) {
    Line line;
    line.Add(".export {} ", QuoteString(e.name));
    if (e.num_type_params != 0) line.Add("vars {} ", e.num_type_params);
    line.Add("f{} (", e.function);
    for (size_t i = 0; i < e.params.size(); ++i) {
      line.Add("{}{}: {}", i > 0 ? ", " : "", QuoteString(e.param_names[i]), Type(e.params[i]));
    }
    line.Add(") -> {}", Type(e.result));
    for (const std::string& name : e.output_names) line.Add(" {}", QuoteString(name));
    for (const StateInfo& state : e.states) line.Add(" state {}={}", state.input, state.output);
    line.FlushTo(&out_);
  }

  // --- Code ---

  void Function(uint32_t index) {
    const FunctionInfo& f = program_.functions[index];
    code_ = program_.code.subspan(f.code_offset, f.code_size);
    FindLabels();
    out_ += '\n';
    Entry("f", index,
          Line().Add(
              ".function {} scalars {} objects {} captured {} registers {} {} returns {} arena {}",
              QuoteString(f.name), f.num_scalar_args, f.num_object_args, f.num_captured,
              f.num_scalar_registers, f.num_object_registers,
              f.returns_scalar ? "scalar" : "object", f.arena_bytes));
    for (size_t i = 0; i < f.slots.size(); ++i) {
      Entry("s", i, Line().Add("  .slot {} {}", f.slots[i].offset, f.slots[i].bytes));
    }
    size_t next_location = 0;
    Instruction instruction;
    for (size_t at = 0; at < code_.size(); at += instruction.size()) {
      if (!DecodeInstruction(code_, at, &instruction).ok()) break;  // excluded by the verifier
      if (auto label = labels_.find(at); label != labels_.end()) {
        Line().Add("L{}:", label->second).FlushTo(&out_);
      }
      for (; next_location < f.locations.size() && f.locations[next_location].pc <= at;
           ++next_location) {
        const SourceLocation& location = f.locations[next_location];
        if (!options_.locations) continue;
        Line().Add("  .at {} {} {}", location.file, location.line, location.column).FlushTo(&out_);
      }
      Instr(at, instruction);
    }
    out_ += ".end\n";
  }

  // Numbers the targets by their position.
  void FindLabels() {
    labels_.clear();
    Instruction instruction;
    for (size_t at = 0; at < code_.size(); at += instruction.size()) {
      if (!DecodeInstruction(code_, at, &instruction).ok()) break;
      ForEachTarget(instruction, [&](int32_t distance) {
        labels_[at + static_cast<size_t>(static_cast<int64_t>(distance))] = 0;
      });
    }
    int next = 0;
    for (auto& [position, label] : labels_) label = next++;
  }

  static std::string ObjectRegister(uint16_t unit) {
    return fmt::format("r{}{}", unit & kRegisterMask, (unit & kTakeBit) != 0 ? "!" : "");
  }

  // "[a, b]" of `count` elements.
  template <typename Element>
  static std::string List(size_t count, Element element) {
    std::string text = "[";
    for (size_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + element(i);
    return text + "]";
  }

  std::string Buffer(uint16_t kind, uint16_t index, Line* line) {
    switch (static_cast<BufferKind>(kind & ~kTakeBit)) {
      case BufferKind::kRegister:
        return ObjectRegister(index | (kind & kTakeBit));
      case BufferKind::kConstant:
        Explain(line, ConstantComment(index));
        return fmt::format("c{}", index);
      case BufferKind::kSlot:
        return fmt::format("s{}", index);
    }
    return "?";
  }

  std::string ConstantComment(uint16_t index) const {
    const ConstantInfo& constant = program_.constants[index];
    std::string type = TensorTypeToString(constant.dtype, constant.dims);
    return constant.name.empty()
               ? fmt::format("c{}: {}", index, type)
               : fmt::format("c{}: {} {}", index, type, QuoteString(constant.name));
  }

  void Explain(Line* line, std::string_view comment) const {
    if (options_.comments) line->AddComment(Printable(comment));  // names may be any bytes
  }

  void Instr(size_t at, const Instruction& instruction) {
    Line line;
    line.Add("  {}", instruction.info->mnemonic);
    for (int i = 0; i < instruction.info->num_operands; ++i) {
      line.Add("{}{}", i > 0 ? ", " : " ", Operand(at, instruction, i, &line));
    }
    line.FlushTo(&out_);
  }

  std::string Operand(size_t at, const Instruction& instruction, int i, Line* line) {
    uint16_t unit = instruction.Unit(i);
    switch (instruction.info->operands[i]) {
      case OperandKind::IOUT:
      case OperandKind::IIN:
        return fmt::format("i{}", unit);
      case OperandKind::ROUT:
      case OperandKind::RIN:
        return ObjectRegister(unit);
      case OperandKind::IMM16:
      case OperandKind::IMM32:
      case OperandKind::IMM64:
        return fmt::format("{}", instruction.Immediate(i));
      case OperandKind::DTYPE:
        return std::string(DTypeName(static_cast<DType>(unit))) + Device(unit >> 8);
      case OperandKind::FUNC:
        Explain(line, program_.functions[unit].name);
        return fmt::format("f{}", unit);
      case OperandKind::CONST:
        Explain(line, ConstantComment(unit));
        return fmt::format("c{}", unit);
      case OperandKind::KERNEL:
        Explain(line, program_.kernels[unit].name);
        return fmt::format("k{}", unit);
      case OperandKind::TYPE:
        Explain(line, TensorTypeToString(program_.tensor_types[unit].dtype,
                                         program_.tensor_types[unit].dims));
        return fmt::format("t{}", unit);
      case OperandKind::MESSAGE:
        Explain(line, QuoteString(program_.messages[unit]));
        return fmt::format("m{}", unit);
      case OperandKind::HOST:
        Explain(line, program_.host_functions[unit].name);
        return fmt::format("h{}", unit);
      case OperandKind::SLOT:
        return fmt::format("s{}", unit);
      case OperandKind::TAG:
      case OperandKind::FIELD:
        return fmt::format("#{}", unit);
      case OperandKind::CMP:
        return std::string(ComparisonName(static_cast<Comparison>(unit)));
      case OperandKind::FN:
        return std::string(ScalarFunctionName(static_cast<ScalarFunction>(unit)));
      case OperandKind::RULE:
        return std::string(ShapeRuleName(static_cast<ShapeRule>(unit)));
      case OperandKind::TARGET:
        return Label(at, instruction.Immediate(i));
      case OperandKind::ILIST:
      case OperandKind::OLIST: {
        std::span<const uint16_t> units = instruction.List(i);
        return List(units.size(), [&](size_t k) { return fmt::format("i{}", units[k]); });
      }
      case OperandKind::RLIST: {
        std::span<const uint16_t> units = instruction.List(i);
        return List(units.size(), [&](size_t k) { return ObjectRegister(units[k]); });
      }
      case OperandKind::TARGETS:
        return List(instruction.Count(i), [&](size_t k) {
          return Label(at, instruction.TargetAt(i, static_cast<int>(k)));
        });
      case OperandKind::BUFS: {
        std::span<const uint16_t> units = instruction.List(i);
        return List(units.size() / 2,
                    [&](size_t k) { return Buffer(units[2 * k], units[2 * k + 1], line); });
      }
    }
    return "?";
  }

  std::string Label(size_t at, int64_t distance) const {
    auto label = labels_.find(at + static_cast<size_t>(distance));
    return label == labels_.end() ? "?" : fmt::format("L{}", label->second);
  }

  const Program& program_;
  const DisassembleOptions& options_;
  std::string out_;
  std::span<const uint16_t> code_;
  std::map<size_t, int> labels_;  // of the current function, by position
};

}  // namespace

std::string DisassembleProgram(const Program& program, const DisassembleOptions& options) {
  return Disassembler(program, options).All();
}

std::string DisassembleFile(const Program& first, std::span<const Program> others,
                            const DisassembleOptions& options) {
  const Program& shown = FormWithRegions(first, others);
  std::string text = DisassembleProgram(shown, options);
  if (&shown == &first) return text;
  return fmt::format("; the form with regions for {}; the file has a native one beside it\n",
                     fmt::join(EnginesOf(shown), ", ")) +
         text;
}

std::string DisassembleFunction(const Program& program, uint32_t function,
                                const DisassembleOptions& options) {
  return Disassembler(program, options).One(function);
}

std::string TensorTypeToString(DType dtype, const std::vector<int64_t>& dims) {
  if (dims.empty()) return std::string(DTypeName(dtype));
  return fmt::format("Tensor[({}), {}]", Joined(dims), DTypeName(dtype));
}

std::string TypeToString(const Program& program, const ValueType& type) {
  std::string args;
  for (const ValueType& arg : type.args)
    args += (args.empty() ? "" : ", ") + TypeToString(program, arg);
  switch (type.kind) {
    case ValueType::Kind::kTensor: {
      if (type.dims.empty()) return std::string(DTypeName(type.dtype));
      std::string dims;
      for (size_t i = 0; i < type.dims.size(); ++i) {
        const bool named = i < type.dim_names.size() && !type.dim_names[i].empty();
        dims += i > 0 ? ", " : "";
        dims += type.dims[i] >= 0 ? fmt::format("{}", type.dims[i])
                : named           ? type.dim_names[i]
                                  : "?";
      }
      return fmt::format("Tensor[({}), {}]", dims, DTypeName(type.dtype));
    }
    case ValueType::Kind::kTuple:
      return type.args.size() == 1 ? "(" + args + ",)" : "(" + args + ")";
    case ValueType::Kind::kAdt: {
      std::string name = type.index < program.adts.size() ? program.adts[type.index].name : "?";
      return args.empty() ? name : name + "[" + args + "]";
    }
    case ValueType::Kind::kFunction:
      return "fn";
    case ValueType::Kind::kRef:
      return "ref(" + args + ")";
    case ValueType::Kind::kTypeVar:
      return TypeParameterName(type.index);
  }
  return "?";
}

std::string ResultTypeToString(const Program& program, const ExportInfo& exported,
                               const ValueType& type) {
  const auto mentions = [&](const ValueType& other, const auto& self) -> bool {
    return (other.kind == ValueType::Kind::kTypeVar && other.index == type.index) ||
           std::ranges::any_of(other.args, [&](const ValueType& arg) { return self(arg, self); });
  };
  const bool is_told = type.kind != ValueType::Kind::kTypeVar ||
                       std::ranges::any_of(exported.params, [&](const ValueType& p) {
                         return mentions(p, mentions);
                       });
  return is_told ? TypeToString(program, type) : "of a type that a run tells";
}

std::string TypeParameterName(uint32_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : fmt::format("T{}", index);
}

std::string QuoteString(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace relayvm
