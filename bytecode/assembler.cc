#include "bytecode/assembler.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "bytecode/assembler_types.h"
#include "bytecode/base/shape_rule.h"
#include "bytecode/code_builder.h"
#include "bytecode/file_format.h"
#include "bytecode/text_cursor.h"
#include "bytecode/verifier.h"

namespace relayvm {
namespace {

using assembler::Device, assembler::ParseDTypeWord, assembler::Size, assembler::StaticType,
    assembler::Type, assembler::Types;

using Bytes = std::vector<uint8_t>;

// Of at most 15 bits plus the take bit, whatever the text said; the builder reports what does not
// fit.
uint16_t ToUnit(uint32_t value, TextCursor* in) {
  if (value > std::numeric_limits<uint16_t>::max())
    in->Fail(fmt::format("{} is beyond 16 bits", value));
  return static_cast<uint16_t>(value);
}

class Assembler {
 public:
  explicit Assembler(const Program* data) : data_(data) {}

  Result<Program> Run(std::string_view text) {
    size_t number = 0;
    while (!text.empty()) {
      ++number;
      size_t end = text.find('\n');
      TextCursor in(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (!in.AtEnd()) ParseLine(&in);
      if (in.ok() && !in.AtEnd()) in.FailExpected("the end of the line");
      if (!in.ok())
        return Status(StatusCode::kInvalidInput, fmt::format("line {}: {}", number, in.error()));
    }
    if (in_function_) return Status(StatusCode::kInvalidInput, "the last function has no .end");
    RELAYVM_RETURN_IF_ERROR(AttachData());
    return std::move(program_);
  }

 private:
  void ParseLine(TextCursor* in) {
    std::string_view word = in->Word();
    if (in_function_) return ParseInFunction(word, in);
    if (word == ".version") {
      program_.bytecode_version = in->Number<uint32_t>();
    } else if (word == ".source") {
      program_.source_files.push_back(in->String());
    } else if (word == ".message") {
      program_.messages.push_back(in->String());
    } else if (word == ".string") {
      program_.strings.push_back(in->String());
    } else if (word == ".device") {
      program_.devices.push_back(in->String());
    } else if (word == ".data") {
      AdtInfo& adt = program_.adts.emplace_back();
      adt.name = in->String();
      adt.num_type_params = in->Number<uint32_t>();
    } else if (word == ".constructor") {
      if (program_.adts.empty()) return in->Fail(".constructor before any .data");
      ConstructorInfo& constructor = program_.adts.back().constructors.emplace_back();
      constructor.name = in->String();
      constructor.fields = Types(in, 0);
    } else if (word == ".image") {
      program_.images.emplace_back().cpu_features = in->String();
      program_.images.back().device = Device(in);
      bytes_ = &images_.emplace_back(std::make_unique<Blob>())->bytes;
      images_.back()->elided = in->EatWord("elided");
    } else if (word == ".hex") {
      if (bytes_ == nullptr) return in->Fail(".hex before any .image or .constant");
      in->HexBytes(bytes_);
    } else if (word == ".kernel") {
      ParseKernel(in);
    } else if (word == ".region") {
      ParseRegion(in);
    } else if (word == ".type") {
      TensorTypeInfo& type = program_.tensor_types.emplace_back();
      StaticType(in, &type.dtype, &type.dims, &type.device);
    } else if (word == ".constant") {
      ConstantInfo& constant = program_.constants.emplace_back();
      StaticType(in, &constant.dtype, &constant.dims, &constant.device);
      constant.name = in->String();
      if (in->EatWord("recipe")) {
        ParseRecipe(in);
      } else {
        AddConstantData(in);
      }
    } else if (word == ".input") {
      if (recipe_ == nullptr) return in->Fail(".input before any recipe");
      RecipeInput& input = recipe_->inputs.emplace_back();
      StaticType(in, &input.dtype, &input.dims);
      AddConstantData(in);
    } else if (word == ".host") {
      HostFunctionInfo& host = program_.host_functions.emplace_back();
      host.name = in->String();
      host.params = Types(in, 0);
      in->Expect('-');
      in->Expect('>');
      host.result = Type(in, 0);
    } else if (word == ".export") {
      ParseExport(in);
    } else if (word == ".function") {
      BeginFunction(in);
    } else {
      in->Fail(fmt::format("unknown directive '{}'", word));
    }
  }

  // --- Tables ---

  void ParseRecipe(TextCursor* in) {
    recipe_ = std::make_shared<RecipeInfo>();
    recipe_->builtin = in->String();
    in->Expect('(');
    while (in->ok() && !in->Eat(')')) {
      if (!recipe_->params.empty()) in->Expect(',');
      recipe_->params.push_back(in->Number<int64_t>());
    }
    program_.constants.back().recipe = recipe_;
    bytes_ = nullptr;
  }

  // Of the last constant, or of the last input of its recipe.
  void AddConstantData(TextCursor* in) {
    if (program_.constants.back().recipe == nullptr) recipe_ = nullptr;
    ConstantBlob& blob = *constants_.emplace_back(std::make_unique<ConstantBlob>());
    blob.constant = program_.constants.size() - 1;
    if (recipe_ != nullptr) blob.input = recipe_->inputs.size() - 1;
    blob.recipe = recipe_;
    bytes_ = &blob.bytes;
    blob.elided = in->EatWord("elided");
  }

  void ParseKernel(TextCursor* in) {
    KernelInfo& kernel = program_.kernels.emplace_back();
    kernel.name = in->String();
    kernel.device = Device(in);
    in->ExpectWord("scalars");
    kernel.num_scalars = in->Number<uint16_t>();
    while (in->Peek('s')) {
      FixedScalar& fixed = kernel.fixed.emplace_back();
      fixed.index = in->Index("s");
      in->Expect('=');
      fixed.value = in->Number<int64_t>();
    }
    in->ExpectWord("buffers");
    in->Expect('(');
    while (in->ok() && !in->Eat(')')) {
      if (!kernel.buffers.empty()) in->Expect(',');
      KernelBuffer& buffer = kernel.buffers.emplace_back();
      buffer.written = in->EatWord("out");
      buffer.dtype = ParseDTypeWord(in);
      in->Expect('[');
      for (bool first = true; in->ok() && !in->Eat(']'); first = false) {
        if (!first) in->Expect(',');
        Size(in, &buffer.shape, 0);
        buffer.shape.push_back({SizeStep::Kind::kDim});
      }
      while (in->EatWord("over")) buffer.may_share.push_back(in->Number<uint16_t>());
    }
    if (in->EatWord("units")) Size(in, &kernel.units, 0);
    if (in->EatWord("scratch")) Size(in, &kernel.scratch, 0);
    kernel.builtin = in->EatWord("builtin");
    if (in->EatWord("region")) kernel.region = in->Number<uint32_t>();
    if (in->EatWord("batched")) {
      BatchedKernelInfo& batched = kernel.batched.emplace();
      batched.kernel = in->Index("k");
      in->Expect('(');
      while (in->ok() && !in->Eat(')')) {
        if (!batched.scalars.empty()) in->Expect(',');
        batched.scalars.push_back(in->EatWord("calls") ? BatchedKernelInfo::kBatchSize
                                                       : static_cast<uint16_t>(in->Index("s")));
      }
      if (in->EatWord("rows")) Size(in, &batched.rows, 0);
      while (in->EatWord("sharing")) batched.shared.push_back(in->Number<uint16_t>());
    }
    while (in->ok() && !in->AtEnd()) kernel.entries.push_back(in->Number<uint64_t>());
  }

  void ParseRegion(TextCursor* in) {
    RegionInfo& region = program_.regions.emplace_back();
    region.name = in->String();
    in->ExpectWord("engine");
    region.engine = in->String();
    in->ExpectWord("constants");
    in->Expect('(');
    while (in->ok() && !in->Eat(')')) {
      if (!region.constants.empty()) in->Expect(',');
      region.constants.push_back(in->Index("c"));
    }
    in->ExpectWord("symbols");
    region.num_symbols = in->Number<uint32_t>();
    in->ExpectWord("json");
    region.json = in->String();
  }

  void ParseExport(TextCursor* in) {
    ExportInfo& e = program_.exports.emplace_back();
    e.name = in->String();
    if (in->EatWord("vars")) e.num_type_params = in->Number<uint32_t>();
    e.function = in->Index("f");
    in->Expect('(');
    while (in->ok() && !in->Eat(')')) {
      if (!e.params.empty()) in->Expect(',');
      e.param_names.push_back(in->String());
      in->Expect(':');
      e.params.push_back(Type(in, 0));
    }
    in->Expect('-');
    in->Expect('>');
    e.result = Type(in, 0);
    while (in->ok() && in->Peek('"')) e.output_names.push_back(in->String());
    while (in->EatWord("state")) {
      StateInfo& state = e.states.emplace_back();
      state.input = in->Number<uint32_t>();
      in->Expect('=');
      state.output = in->Number<uint32_t>();
    }
  }

  // --- Functions ---

  void BeginFunction(TextCursor* in) {
    FunctionInfo& f = program_.functions.emplace_back();
    f.name = in->String();
    in->ExpectWord("scalars");
    f.num_scalar_args = in->Number<uint16_t>();
    in->ExpectWord("objects");
    f.num_object_args = in->Number<uint16_t>();
    in->ExpectWord("captured");
    f.num_captured = in->Number<uint16_t>();
    in->ExpectWord("registers");
    f.num_scalar_registers = in->Number<uint16_t>();
    f.num_object_registers = in->Number<uint16_t>();
    in->ExpectWord("returns");
    f.returns_scalar = in->EatWord("scalar");
    if (!f.returns_scalar) in->ExpectWord("object");
    in->ExpectWord("arena");
    f.arena_bytes = in->Number<uint64_t>();
    labels_.clear();
    bytes_ = nullptr;
    in_function_ = true;
  }

  void EndFunction(TextCursor* in) {
    in_function_ = false;
    Result<std::vector<uint16_t>> code = builder_.Finish();
    if (!code.ok()) return in->Fail(code.status().message());
    FunctionInfo& f = program_.functions.back();
    uint64_t offset = code_.size();
    if (offset + code->size() > std::numeric_limits<uint32_t>::max())
      return in->Fail("more code than 2^32 units");
    f.code_offset = static_cast<uint32_t>(offset);
    f.code_size = static_cast<uint32_t>(code->size());
    code_.insert(code_.end(), code->begin(), code->end());
  }

  CodeBuilder::Label LabelOf(uint32_t number) {
    auto [it, inserted] = labels_.try_emplace(number);
    if (inserted) it->second = builder_.NewLabel();
    return it->second;
  }

  void ParseInFunction(std::string_view word, TextCursor* in) {
    FunctionInfo& f = program_.functions.back();
    if (word == ".end") return EndFunction(in);
    if (word == ".slot") {
      ArenaSlot slot{};
      slot.offset = in->Number<uint64_t>();
      slot.bytes = in->Number<uint64_t>();
      f.slots.push_back(slot);
    } else if (word == ".at") {
      SourceLocation location{};
      location.pc = static_cast<uint32_t>(builder_.position());
      location.file = in->Number<uint32_t>();
      location.line = in->Number<uint32_t>();
      location.column = in->Number<uint32_t>();
      f.locations.push_back(location);
    } else if (word.starts_with('L')) {
      TextCursor label(word);
      uint32_t number = label.Index("L");
      if (!label.ok() || !label.AtEnd()) return in->Fail(fmt::format("'{}' is not a label", word));
      in->Expect(':');
      builder_.Bind(LabelOf(number));
    } else {
      ParseInstruction(word, in);
    }
    if (!builder_.status().ok()) in->Fail(builder_.status().message());
  }

  static const std::unordered_map<std::string_view, Opcode>& Mnemonics() {
    static const auto* const kMap = [] {
      auto* map = new std::unordered_map<std::string_view, Opcode>;
      for (int i = 0; i < kNumOpcodes; ++i) {
        auto opcode = static_cast<Opcode>(i);
        map->emplace(GetOpcodeInfo(opcode).mnemonic, opcode);
      }
      return map;
    }();
    return *kMap;
  }

  void ParseInstruction(std::string_view mnemonic, TextCursor* in) {
    auto found = Mnemonics().find(mnemonic);
    if (found == Mnemonics().end())
      return in->Fail(fmt::format("unknown instruction '{}'", mnemonic));
    const OpcodeInfo& info = GetOpcodeInfo(found->second);
    CodeBuilder::Instruction instruction = builder_.Op(found->second);
    for (int i = 0; i < info.num_operands && in->ok(); ++i) {
      if (i > 0) in->Expect(',');
      ParseOperand(info.operands[i], in, &instruction);
    }
  }

  uint16_t ObjectRegister(TextCursor* in) {
    uint32_t reg = in->Index("r");
    if (reg > kRegisterMask) in->Fail(fmt::format("register r{} is beyond 15 bits", reg));
    return static_cast<uint16_t>(reg | (in->Eat('!') ? kTakeBit : 0));
  }

  template <typename T, typename Element>
  std::vector<T> List(TextCursor* in, Element element) {
    std::vector<T> list;
    in->Expect('[');
    while (in->ok() && !in->Eat(']')) {
      if (!list.empty()) in->Expect(',');
      list.push_back(element());
    }
    return list;
  }

  BufferOperand Buffer(TextCursor* in) {
    BufferOperand buffer;
    if (in->Peek('r')) {
      uint16_t unit = ObjectRegister(in);
      buffer.index = unit & kRegisterMask;
      buffer.take = (unit & kTakeBit) != 0;
    } else if (in->Peek('c')) {
      buffer.kind = BufferKind::kConstant;
      buffer.index = ToUnit(in->Index("c"), in);
    } else {
      buffer.kind = BufferKind::kSlot;
      buffer.index = ToUnit(in->Index("s"), in);
    }
    return buffer;
  }

  template <typename E>
  uint32_t Name(TextCursor* in, int count, std::string_view (*name)(E)) {
    std::string_view word = in->Word();
    for (int i = 0; i < count; ++i) {
      if (name(static_cast<E>(i)) == word) return static_cast<uint32_t>(i);
    }
    in->Fail(fmt::format("unknown name '{}'", word));
    return 0;
  }

  void ParseOperand(OperandKind kind, TextCursor* in, CodeBuilder::Instruction* out) {
    switch (kind) {
      case OperandKind::IOUT:
      case OperandKind::IIN:
        out->I(in->Index("i"));
        break;
      case OperandKind::ROUT:
      case OperandKind::RIN: {
        uint16_t unit = ObjectRegister(in);
        out->R(unit & kRegisterMask, (unit & kTakeBit) != 0);
        break;
      }
      case OperandKind::IMM16:
        out->Imm16(in->Number<int64_t>());
        break;
      case OperandKind::IMM32:
        out->Imm32(in->Number<int64_t>());
        break;
      case OperandKind::IMM64:
        out->Imm64(in->Number<int64_t>());
        break;
      case OperandKind::DTYPE: {
        const auto dtype = static_cast<uint32_t>(ParseDTypeWord(in));
        out->Unit(dtype | static_cast<uint32_t>(Device(in)) << 8);
        break;
      }
      case OperandKind::FUNC:
        out->Unit(in->Index("f"));
        break;
      case OperandKind::CONST:
        out->Unit(in->Index("c"));
        break;
      case OperandKind::KERNEL:
        out->Unit(in->Index("k"));
        break;
      case OperandKind::TYPE:
        out->Unit(in->Index("t"));
        break;
      case OperandKind::MESSAGE:
        out->Unit(in->Index("m"));
        break;
      case OperandKind::HOST:
        out->Unit(in->Index("h"));
        break;
      case OperandKind::SLOT:
        out->Unit(in->Index("s"));
        break;
      case OperandKind::TAG:
      case OperandKind::FIELD:
        out->Unit(in->Index("#"));
        break;
      case OperandKind::CMP:
        out->Unit(Name(in, kNumComparisons, ComparisonName));
        break;
      case OperandKind::FN:
        out->Unit(Name(in, kNumScalarFunctions, ScalarFunctionName));
        break;
      case OperandKind::RULE:
        out->Unit(Name(in, kNumShapeRules, ShapeRuleName));
        break;
      case OperandKind::TARGET:
        out->To(LabelOf(in->Index("L")));
        break;
      case OperandKind::ILIST:
      case OperandKind::OLIST:
        out->IList(List<uint16_t>(in, [&] { return ToUnit(in->Index("i"), in); }));
        break;
      case OperandKind::RLIST:
        out->RList(List<uint16_t>(in, [&] { return ObjectRegister(in); }));
        break;
      case OperandKind::TARGETS:
        out->Targets(List<CodeBuilder::Label>(in, [&] { return LabelOf(in->Index("L")); }));
        break;
      case OperandKind::BUFS:
        out->Bufs(List<BufferOperand>(in, [&] { return Buffer(in); }));
        break;
    }
  }

  // --- Data ---

  struct Blob {
    Bytes bytes;
    bool elided = false;
  };

  // Of a constant, or of an input of its recipe.
  struct ConstantBlob : Blob {
    size_t constant = 0, input = 0;
    std::shared_ptr<RecipeInfo> recipe;
  };

  // A copy at an address that the VM accepts, owned by the program.
  std::span<const uint8_t> Own(const Bytes& bytes) {
    constexpr std::align_val_t kAlignment{kConstantAlignment};
    auto* copy = static_cast<uint8_t*>(::operator new(bytes.size() + 1, kAlignment));
    program_.owners.push_back(
        std::shared_ptr<const void>(copy, [](uint8_t* p) { ::operator delete(p, kAlignment); }));
    if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
    return {copy, bytes.size()};
  }

  Status AttachData() {
    auto code = std::make_shared<std::vector<uint16_t>>(std::move(code_));
    program_.code = *code;
    program_.owners.push_back(std::move(code));
    bool borrows = false;
    for (const std::unique_ptr<ConstantBlob>& blob : constants_) {
      SharedBytes& data = blob->recipe != nullptr ? blob->recipe->inputs[blob->input].data
                                                  : program_.constants[blob->constant].data;
      if (!blob->elided) {
        data = SharedBytes::Copy(std::as_bytes(std::span(blob->bytes)));
        continue;
      }
      const SharedBytes* found = DataOf(*blob);
      if (found == nullptr) return Elided("constant", blob->constant);
      data = *found;
      borrows = true;
    }
    for (size_t i = 0; i < images_.size(); ++i) {
      if (!images_[i]->elided) {
        program_.images[i].elf = Own(images_[i]->bytes);
        continue;
      }
      if (data_ == nullptr || i >= data_->images.size()) return Elided("image", i);
      program_.images[i].elf = data_->images[i].elf;
      borrows = true;
    }
    if (borrows)
      program_.owners.insert(program_.owners.end(), data_->owners.begin(), data_->owners.end());
    return {};
  }

  // What `data_` has there, or null.
  const SharedBytes* DataOf(const ConstantBlob& blob) const {
    if (data_ == nullptr || blob.constant >= data_->constants.size()) return nullptr;
    const ConstantInfo& constant = data_->constants[blob.constant];
    if (blob.recipe == nullptr) return constant.recipe == nullptr ? &constant.data : nullptr;
    const RecipeInfo* recipe = constant.recipe.get();
    return recipe != nullptr && blob.input < recipe->inputs.size()
               ? &recipe->inputs[blob.input].data
               : nullptr;
  }

  static Status Elided(const char* what, size_t index) {
    return Status(
        StatusCode::kInvalidInput,
        fmt::format("the bytes of {} {} are elided: expected a program to take them from (vmasm "
                    "--data MODEL.vmx), or text that was written with --data",
                    what, index));
  }

  const Program* data_;
  Program program_;
  bool in_function_ = false;
  CodeBuilder builder_;
  std::map<uint32_t, CodeBuilder::Label> labels_;
  std::vector<uint16_t> code_;
  std::vector<std::unique_ptr<ConstantBlob>> constants_;
  std::vector<std::unique_ptr<Blob>> images_;
  std::shared_ptr<RecipeInfo> recipe_;  // of the last constant, or null
  Bytes* bytes_ = nullptr;              // what .hex appends to
};

}  // namespace

Result<Program> Assemble(std::string_view text, const Program* data) {
  return Assembler(data).Run(text);
}

}  // namespace relayvm
