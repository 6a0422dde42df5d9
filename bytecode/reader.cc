#include "bytecode/reader.h"

#include <fmt/format.h>

#include <cassert>
#include <cstring>
#include <utility>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "bytecode/checksum.h"
#include "bytecode/file_format.h"
#include "bytecode/program_generated.h"
#include "bytecode/regions.h"
#include "bytecode/verifier.h"

namespace relayvm {
namespace {

// --- Header ---

Status CheckHeader(std::span<const uint8_t> file, FileHeader* out) {
  const size_t magic = std::min(file.size(), sizeof(kFileMagic));
  if (magic == 0 || std::memcmp(file.data(), kFileMagic, magic) != 0)
    return InvalidInput("expected a compiled program (.vmx), found " + DescribeFile(file));
  if (file.size() < sizeof(FileHeader)) {
    return InvalidInput(fmt::format(".vmx file of {} bytes: truncated, the header alone has {}",
                                    file.size(), sizeof(FileHeader)));
  }
  FileHeader header{};
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.major != kFormatMajor) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format(".vmx format {}.{}, this runtime reads {}.x: compile the program again",
                    header.major, header.minor, kFormatMajor));
  }
  if (header.minor < kOldestFormatMinor) {
    return Status(StatusCode::kUnsupported,
                  fmt::format(".vmx format {}.{}, this runtime reads {}.{} and later: compile the "
                              "program again",
                              header.major, header.minor, kFormatMajor, kOldestFormatMinor));
  }
  if (header.minor > kFormatMinor) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format(".vmx format {}.{}, this runtime reads up to {}.{}: use a newer runtime",
                    header.major, header.minor, kFormatMajor, kFormatMinor));
  }
  if (header.flags != 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format(".vmx flags {:#x} are unknown to this runtime", header.flags));
  }
  if (header.file_size != file.size()) {
    return InvalidInput(fmt::format(".vmx file has {} bytes, its header says {}: {}", file.size(),
                                    header.file_size,
                                    file.size() < header.file_size ? "truncated" : "damaged"));
  }
  if (header.program_size >= kMaxProgramBytes) {
    return InvalidInput(fmt::format(".vmx program of {} bytes, the limit is {}",
                                    header.program_size, kMaxProgramBytes));
  }
  if (header.program_offset < sizeof(FileHeader) ||
      header.program_offset % kConstantAlignment != 0 || header.program_offset > file.size() ||
      header.program_size > file.size() - header.program_offset) {
    return InvalidInput(
        fmt::format(".vmx program at {}, {} bytes: outside the file of {} bytes or misaligned",
                    header.program_offset, header.program_size, file.size()));
  }
  *out = header;
  return {};
}

Status CheckChecksum(FileHeader header, std::span<const uint8_t> program) {
  const uint64_t expected = std::exchange(header.checksum, 0);
  uint64_t seed = Checksum64({reinterpret_cast<const uint8_t*>(&header), sizeof(header)});
  uint64_t checksum = Checksum64(program, seed);
  if (checksum == expected) return {};
  return InvalidInput(
      fmt::format(".vmx checksum {:#018x}, its header says {:#018x}: damaged", checksum, expected));
}

// Aligned as segments are; null without memory.
std::shared_ptr<uint8_t> CopyOf(std::span<const uint8_t> bytes) {
  constexpr std::align_val_t kAlignment{kSegmentAlignment};
  auto* copy = static_cast<uint8_t*>(::operator new(bytes.size() + 1, kAlignment, std::nothrow));
  if (copy == nullptr) return nullptr;
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return {copy, [](uint8_t* p) { ::operator delete(p, kAlignment); }};
}

Status NoMemory(size_t bytes) {
  return Status(StatusCode::kResourceExhausted,
                fmt::format("no memory for a .vmx program of {} bytes", bytes));
}

// --- Flatbuffer to Program ---

Result<std::span<const uint8_t>> SegmentOf(std::span<const uint8_t> file,
                                           const fbs::Segment* segment, uint64_t alignment,
                                           const char* what) {
  if (segment == nullptr) return InvalidInput(fmt::format(".vmx {} has no segment", what));
  const uint64_t offset = segment->offset(), bytes = segment->bytes();
  if (offset > file.size() || bytes > file.size() - offset || offset % alignment != 0) {
    return InvalidInput(
        fmt::format(".vmx {} at {}, {} bytes: outside the file of {} bytes or not a multiple of {}",
                    what, offset, bytes, file.size(), alignment));
  }
  return file.subspan(offset, bytes);
}

// Copies out of the flatbuffer, which may refer to one vector or string many times: the total that
// is copied is limited to the flatbuffer's size, which no file that our writer made exceeds.
class Converter {
 public:
  Converter(std::span<const uint8_t> file, uint64_t program_size)
      : file_(file), budget_(program_size) {}

  Status Convert(const fbs::Program& from, Program* to) {
    to->bytecode_version = from.bytecode_version();
    if (from.code() != nullptr) {
      // 2-byte aligned: flatbuffers verified that the length in front of it is 4-byte aligned.
      to->code = {reinterpret_cast<const uint16_t*>(from.code()->Data()), from.code()->size()};
    }
    Each(from.functions(), &to->functions, &Converter::Function);
    Each(from.exports(), &to->exports, &Converter::Export);
    Each(from.adts(), &to->adts, &Converter::Adt);
    Each(from.kernels(), &to->kernels, &Converter::Kernel);
    Each(from.regions(), &to->regions, &Converter::Region);
    Each(from.host_functions(), &to->host_functions, &Converter::HostFunction);
    Each(from.tensor_types(), &to->tensor_types, &Converter::TensorType);
    Each(from.constants(), &to->constants, &Converter::Constant);
    Each(from.messages(), &to->messages, &Converter::String);
    Each(from.source_files(), &to->source_files, &Converter::String);
    Each(from.strings(), &to->strings, &Converter::String);
    Each(from.images(), &to->images, &Converter::Image);
    Each(from.devices(), &to->devices, &Converter::String);
    return std::move(error_);
  }

 private:
  void Fail(std::string message) {
    if (error_.ok()) error_ = InvalidInput(std::move(message));
  }

  bool Spend(uint64_t bytes) {
    if (bytes > budget_) {
      Fail(".vmx program refers to the same data many times");
      budget_ = 0;
      return false;
    }
    budget_ -= bytes;
    return true;
  }

  template <typename From, typename To>
  void Each(const flatbuffers::Vector<flatbuffers::Offset<From>>* from, std::vector<To>* to,
            void (Converter::*convert)(const From*, To*)) {
    if (from == nullptr || !error_.ok() || !Spend(uint64_t{from->size()} * sizeof(uint32_t)))
      return;
    to->resize(from->size());
    for (uint32_t i = 0; i < from->size() && error_.ok(); ++i)
      (this->*convert)(from->Get(i), &(*to)[i]);
  }

  // By memcpy: flatbuffers 2.0.8 does not verify the alignment of elements wider than 4 bytes.
  template <typename From, typename To>
  void Raw(const flatbuffers::Vector<From>* from, std::vector<To>* to) {
    static_assert(std::is_trivially_copyable_v<To> &&
                  sizeof(To) == sizeof(std::remove_const_t<std::remove_pointer_t<From>>));
    if (from == nullptr || !Spend(uint64_t{from->size()} * sizeof(To))) return;
    to->resize(from->size());
    if (!to->empty()) std::memcpy(to->data(), from->Data(), to->size() * sizeof(To));
  }

  void String(const flatbuffers::String* from, std::string* to) {
    if (from != nullptr && Spend(from->size())) to->assign(from->c_str(), from->size());
  }

  // Depth is limited by the flatbuffers verifier.
  void Type(const fbs::ValueType* from, ValueType* to) {
    if (from == nullptr) return Fail(".vmx program lacks a type");
    to->kind = static_cast<ValueType::Kind>(from->kind());
    to->dtype = static_cast<DType>(from->dtype());
    to->index = from->index();
    if (from->dims() != nullptr && Spend(uint64_t{from->dims()->size()} * sizeof(uint32_t))) {
      for (const fbs::Dim* dim : *from->dims()) {
        to->dims.push_back(dim->size());
        String(dim->name(), &to->dim_names.emplace_back());
        if (dim->formula() == nullptr) continue;
        to->dim_formulas.resize(to->dims.size());
        Raw(dim->formula(), &to->dim_formulas.back());
      }
      if (!to->dim_formulas.empty()) to->dim_formulas.resize(to->dims.size());
    }
    Each(from->args(), &to->args, &Converter::Type);
  }

  void Function(const fbs::Function* from, FunctionInfo* to) {
    String(from->name(), &to->name);
    to->code_offset = from->code_offset();
    to->code_size = from->code_size();
    to->num_scalar_args = from->num_scalar_args();
    to->num_object_args = from->num_object_args();
    to->num_scalar_registers = from->num_scalar_registers();
    to->num_object_registers = from->num_object_registers();
    to->returns_scalar = from->returns_scalar();
    to->arena_bytes = from->arena_bytes();
    Raw(from->slots(), &to->slots);
    Raw(from->locations(), &to->locations);
    to->num_captured = from->num_captured();
  }

  void Export(const fbs::Export* from, ExportInfo* to) {
    String(from->name(), &to->name);
    to->function = from->function();
    to->num_type_params = from->num_type_params();
    if (from->params() != nullptr && Spend(uint64_t{from->params()->size()} * sizeof(uint32_t))) {
      for (const fbs::Param* param : *from->params()) {
        String(param->name(), &to->param_names.emplace_back());
        Type(param->type(), &to->params.emplace_back());
      }
    }
    Type(from->result(), &to->result);
    Each(from->outputs(), &to->output_names, &Converter::Output);
    Raw(from->states(), &to->states);
  }
  void Output(const fbs::Output* from, std::string* to) { String(from->name(), to); }

  void Adt(const fbs::Adt* from, AdtInfo* to) {
    String(from->name(), &to->name);
    to->num_type_params = from->num_type_params();
    Each(from->constructors(), &to->constructors, &Converter::Constructor);
  }
  void Constructor(const fbs::Constructor* from, ConstructorInfo* to) {
    String(from->name(), &to->name);
    Each(from->fields(), &to->fields, &Converter::Type);
  }

  void Kernel(const fbs::Kernel* from, KernelInfo* to) {
    String(from->name(), &to->name);
    to->builtin = from->builtin();
    Raw(from->entries(), &to->entries);
    to->num_scalars = from->num_scalars();
    to->device = from->device();
    if (from->region().has_value()) to->region = *from->region();
    Each(from->buffers(), &to->buffers, &Converter::Buffer);
    Raw(from->fixed(), &to->fixed);
    Raw(from->units(), &to->units);
    Raw(from->scratch(), &to->scratch);
    std::vector<BatchedKernelInfo> batched;
    Each(from->batched(), &batched, &Converter::BatchedKernel);
    if (batched.size() > 1)
      Fail(fmt::format(".vmx kernel '{}' has {} batched forms", to->name, batched.size()));
    if (!batched.empty()) to->batched = std::move(batched[0]);
    if (to->buffers.size() != from->num_buffers()) {
      Fail(fmt::format(".vmx kernel '{}' describes {} of its {} buffers", to->name,
                       to->buffers.size(), from->num_buffers()));
    }
  }
  void BatchedKernel(const fbs::BatchedKernel* from, BatchedKernelInfo* to) {
    to->kernel = from->kernel();
    Raw(from->shared(), &to->shared);
    Raw(from->scalars(), &to->scalars);
    Raw(from->rows(), &to->rows);
  }
  void Buffer(const fbs::KernelBuffer* from, KernelBuffer* to) {
    to->dtype = static_cast<DType>(from->dtype());
    to->written = from->written();
    Raw(from->may_share(), &to->may_share);
    Raw(from->shape(), &to->shape);
  }

  void Region(const fbs::Region* from, RegionInfo* to) {
    String(from->name(), &to->name);
    String(from->engine(), &to->engine);
    String(from->json(), &to->json);
    Raw(from->constants(), &to->constants);
    to->num_symbols = from->num_symbols();
  }

  void HostFunction(const fbs::HostFunction* from, HostFunctionInfo* to) {
    String(from->name(), &to->name);
    Each(from->params(), &to->params, &Converter::Type);
    Type(from->result(), &to->result);
  }

  void TensorType(const fbs::TensorType* from, TensorTypeInfo* to) {
    to->device = from->device();
    to->dtype = static_cast<DType>(from->dtype());
    Raw(from->dims(), &to->dims);
  }

  // Gives an empty range after an error.
  std::span<const uint8_t> Segment(const fbs::Segment* segment, uint64_t alignment,
                                   const char* what) {
    auto found = SegmentOf(file_, segment, alignment, what);
    if (found.ok()) return *found;
    if (error_.ok()) error_ = found.status();
    return {};
  }

  void Constant(const fbs::Constant* from, ConstantInfo* to) {
    to->device = from->device();
    to->dtype = static_cast<DType>(from->dtype());
    Raw(from->dims(), &to->dims);
    String(from->name(), &to->name);
    if (from->recipe() == nullptr) {
      to->data = Data(from->data(), "constant");
      return;
    }
    if (from->data() != nullptr)
      return Fail(fmt::format(".vmx constant '{}' has both data and a recipe", to->name));
    auto recipe = std::make_shared<RecipeInfo>();
    String(from->recipe()->builtin(), &recipe->builtin);
    Raw(from->recipe()->params(), &recipe->params);
    Each(from->recipe()->inputs(), &recipe->inputs, &Converter::Input);
    to->recipe = std::move(recipe);
  }
  void Input(const fbs::RecipeInput* from, RecipeInput* to) {
    to->dtype = static_cast<DType>(from->dtype());
    Raw(from->dims(), &to->dims);
    to->data = Data(from->data(), "recipe's input");
    if (from->hash() == nullptr) return;
    std::memcpy(to->hash.emplace().data(), from->hash(), sizeof(fbs::ContentHash));
  }
  // Of the mapping, which the program's owners keep.
  SharedBytes Data(const fbs::Segment* segment, const char* what) {
    return {std::as_bytes(Segment(segment, kConstantAlignment, what)), nullptr};
  }

  void Image(const fbs::Image* from, ImageInfo* to) {
    to->device = from->device();
    String(from->cpu_features(), &to->cpu_features);
    to->elf = Segment(from->elf(), kSegmentAlignment, "kernel image");
    if (error_.ok() && Spend(0) && Checksum64(to->elf) != from->checksum()) {
      Fail(
          fmt::format(".vmx kernel image '{}' is damaged: its checksum differs", to->cpu_features));
    }
  }

  std::span<const uint8_t> file_;
  uint64_t budget_;
  Status error_;
};

Status CheckFlatbuffer(std::span<const uint8_t> bytes) {
  // Every table takes at least 8 bytes, reference included, and the writer shares none.
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<uint32_t>(bytes.size() / 8 + 1);
  options.max_depth = kMaxTypeDepth + 16;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  if (fbs::VerifyProgramBuffer(verifier)) return OkStatus();
  return InvalidInput(".vmx program is not a valid flatbuffer");
}

std::string TextOf(const flatbuffers::String* s) { return s == nullptr ? "" : s->str(); }

// Of the file's first program.
ProgramNeeds NeedsOf(const fbs::Program& first) {
  ProgramNeeds needs;
  const auto* images = first.images();
  if (images != nullptr && images->size() > 0)
    needs.cpu_features = TextOf(images->Get(0)->cpu_features());
  for (uint32_t i = 0; first.regions() != nullptr && i < first.regions()->size(); ++i)
    AddEngine(TextOf(first.regions()->Get(i)->engine()), &needs.engines);
  return needs;
}

// What the programs of the file need, the first one's before the others; none where there is only
// one.
std::vector<ProgramNeeds> AllNeeds(const fbs::Program& first) {
  std::vector<ProgramNeeds> all;
  const auto* others = first.alternatives();
  if (others == nullptr || others->size() == 0) return all;
  all.push_back(NeedsOf(first));
  for (const fbs::Alternative* other : *others)
    all.push_back({TextOf(other->cpu_features()), SplitEngines(TextOf(other->engines()))});
  return all;
}

// The checked flatbuffer of a program for another processor than the first one's.
Result<std::shared_ptr<uint8_t>> CopyAlternative(std::span<const uint8_t> file,
                                                 const fbs::Program& first, size_t index,
                                                 const std::string& target,
                                                 size_t* size = nullptr) {
  const auto* other = first.alternatives()->Get(static_cast<uint32_t>(index));
  const std::string what = "program for " + target;
  RELAYVM_ASSIGN_OR_RETURN(std::span<const uint8_t> bytes,
                           SegmentOf(file, other->program(), kConstantAlignment, what.c_str()));
  if (bytes.size() >= kMaxProgramBytes) {
    return InvalidInput(
        fmt::format(".vmx {} of {} bytes, the limit is {}", what, bytes.size(), kMaxProgramBytes));
  }
  std::shared_ptr<uint8_t> copy = CopyOf(bytes);
  if (copy == nullptr) return NoMemory(bytes.size());
  bytes = {copy.get(), bytes.size()};
  if (Checksum64(bytes) != other->checksum())
    return InvalidInput(fmt::format(".vmx {} is damaged: its checksum differs", what));
  RELAYVM_RETURN_IF_ERROR(CheckFlatbuffer(bytes));
  if (size != nullptr) *size = bytes.size();
  return copy;
}

// The flatbuffer of the file, checked. It is a copy: the file may change at any time.
Result<std::shared_ptr<uint8_t>> CopyProgram(std::span<const uint8_t> file, FileHeader* header) {
  RELAYVM_RETURN_IF_ERROR(CheckHeader(file, header));
  std::span<const uint8_t> in_file = file.subspan(header->program_offset, header->program_size);
  std::shared_ptr<uint8_t> copy = CopyOf(in_file);
  if (copy == nullptr) return NoMemory(in_file.size());
  std::span<const uint8_t> bytes(copy.get(), in_file.size());
  RELAYVM_RETURN_IF_ERROR(CheckChecksum(*header, bytes));
  RELAYVM_RETURN_IF_ERROR(CheckFlatbuffer(bytes));
  return copy;
}

// Inputs of recipes may be the same bytes of the file, many times. REQUIRES: verified.
Status CheckGrowth(const Program& program, uint64_t file_size) {
  uint64_t left =
      file_size < UINT64_MAX / kMaxRecipeGrowth ? file_size * kMaxRecipeGrowth : UINT64_MAX;
  for (const ConstantInfo& c : program.constants) {
    if (c.recipe == nullptr) continue;
    RELAYVM_ASSIGN_OR_RETURN(const uint64_t bytes, StaticTensorBytes(c.dtype, c.dims));
    if (bytes > left) {
      return InvalidInput(
          fmt::format(".vmx recipes make more than {} times the file's {} bytes of constants",
                      kMaxRecipeGrowth, file_size));
    }
    left -= bytes;
  }
  return OkStatus();
}

Result<Program> ReadInPlace(std::span<const uint8_t> file, std::shared_ptr<const void> owner,
                            const ReadOptions& options) {
  assert(reinterpret_cast<uintptr_t>(file.data()) % kConstantAlignment == 0);
  FileHeader header{};
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<uint8_t> copy, CopyProgram(file, &header));
  std::span<const uint8_t> bytes(copy.get(), header.program_size);

  std::vector<ProgramNeeds> needs = AllNeeds(*fbs::GetProgram(bytes.data()));
  const bool choice = !needs.empty();
  if (!choice && !options.target.empty()) {
    const auto* images = fbs::GetProgram(bytes.data())->images();
    for (uint32_t i = 0; images != nullptr && i < images->size(); ++i)
      needs.push_back({TextOf(images->Get(i)->cpu_features()), {}});
    const ProgramNeeds first = NeedsOf(*fbs::GetProgram(bytes.data()));
    if (!first.engines.empty()) needs.push_back(first);
  }
  size_t chosen = 0;
  if (!needs.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(chosen, ChooseProgram(needs, options.target, options.engines));
  }
  if (choice && chosen > 0) {
    size_t size = 0;
    RELAYVM_ASSIGN_OR_RETURN(copy, CopyAlternative(file, *fbs::GetProgram(bytes.data()), chosen - 1,
                                                   TargetName(needs[chosen]), &size));
    bytes = {copy.get(), size};
  }

  Program program;
  RELAYVM_RETURN_IF_ERROR(
      Converter(file, bytes.size()).Convert(*fbs::GetProgram(bytes.data()), &program));
  RELAYVM_RETURN_IF_ERROR(VerifyProgram(program));
  RELAYVM_RETURN_IF_ERROR(CheckGrowth(program, file.size()));
  if (choice && EnginesOf(program) != needs[chosen].engines) {
    return InvalidInput(fmt::format(".vmx program for {} has regions for [{}]",
                                    TargetName(needs[chosen]), Joined(EnginesOf(program))));
  }
  if (choice) {
    for (const ProgramNeeds& n : needs) program.targets.push_back(TargetName(n));
  }
  program.owners = {std::move(owner), std::move(copy)};
  return program;
}

// Tables grow in memory; a hostile file may ask for more than there is.
Result<Program> ReadGuarded(std::span<const uint8_t> file, std::shared_ptr<const void> owner,
                            const ReadOptions& options) {
  std::optional<Result<Program>> program;
  if (!HasMemoryFor([&] { program.emplace(ReadInPlace(file, std::move(owner), options)); }))
    return Status(StatusCode::kResourceExhausted, "out of memory while reading the .vmx program");
  return *std::move(program);
}

Status CheckImages(std::span<const uint8_t> file, const fbs::Program& program) {
  const auto* images = program.images();
  for (uint32_t i = 0; images != nullptr && i < images->size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(
        std::span<const uint8_t> elf,
        SegmentOf(file, images->Get(i)->elf(), kSegmentAlignment, "kernel image"));
    if (Checksum64(elf) != images->Get(i)->checksum())
      return InvalidInput(fmt::format(".vmx kernel image {} is damaged: its checksum differs", i));
  }
  return OkStatus();
}

Status CheckConstants(std::span<const uint8_t> file, const fbs::Program& program) {
  const auto* constants = program.constants();
  for (uint32_t i = 0; constants != nullptr && i < constants->size(); ++i) {
    const fbs::Constant* c = constants->Get(i);
    const auto check = [&](const fbs::Segment* segment, uint64_t checksum) -> Status {
      if (checksum == 0) return OkStatus();
      RELAYVM_ASSIGN_OR_RETURN(std::span<const uint8_t> data,
                               SegmentOf(file, segment, kConstantAlignment, "constant"));
      const uint64_t found = Checksum64(data);
      if (found == checksum) return OkStatus();
      const std::string name = c->name() == nullptr ? "" : c->name()->str();
      return InvalidInput(
          fmt::format(".vmx constant {}{} is damaged: expected checksum {:#018x}, found {:#018x}",
                      i, name.empty() ? "" : fmt::format(" \"{}\"", name), checksum, found));
    };
    RELAYVM_RETURN_IF_ERROR(check(c->data(), c->checksum()));
    if (c->recipe() == nullptr || c->recipe()->inputs() == nullptr) continue;
    for (const fbs::RecipeInput* input : *c->recipe()->inputs())
      RELAYVM_RETURN_IF_ERROR(check(input->data(), input->checksum()));
  }
  return OkStatus();
}

}  // namespace

Result<Program> OpenProgram(const std::string& path, const ReadOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> mapping, FileMapping::Open(path));
  return ReadProgram(std::move(mapping), options);
}

Result<Program> ReadProgram(std::shared_ptr<const FileMapping> mapping,
                            const ReadOptions& options) {
  std::span<const uint8_t> bytes = mapping->bytes();
  std::string path = mapping->path();
  Result<Program> program = ReadGuarded(bytes, std::move(mapping), options);
  if (!program.ok()) return program.status().WithContext(path);
  return program;
}

Result<Program> ReadProgram(std::span<const uint8_t> bytes, const ReadOptions& options) {
  std::shared_ptr<uint8_t> copy = CopyOf(bytes);
  if (copy == nullptr) return NoMemory(bytes.size());
  std::span<const uint8_t> copied(copy.get(), bytes.size());
  return ReadGuarded(copied, std::move(copy), options);
}

Result<Program> ReadProgramInPlace(std::span<const uint8_t> bytes,
                                   std::shared_ptr<const void> owner, const ReadOptions& options) {
  return ReadGuarded(bytes, std::move(owner), options);
}

Status CheckSegments(std::span<const uint8_t> file) {
  FileHeader header{};
  RELAYVM_ASSIGN_OR_RETURN(const std::shared_ptr<uint8_t> copy, CopyProgram(file, &header));
  const fbs::Program& first = *fbs::GetProgram(copy.get());
  RELAYVM_RETURN_IF_ERROR(CheckConstants(file, first));
  RELAYVM_RETURN_IF_ERROR(CheckImages(file, first));
  const std::vector<ProgramNeeds> needs = AllNeeds(first);
  for (size_t i = 1; i < needs.size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<uint8_t> other,
                             CopyAlternative(file, first, i - 1, TargetName(needs[i])));
    const fbs::Program& program = *fbs::GetProgram(other.get());
    RELAYVM_RETURN_IF_ERROR(CheckConstants(file, program));
    RELAYVM_RETURN_IF_ERROR(CheckImages(file, program));
  }
  return OkStatus();
}

}  // namespace relayvm
