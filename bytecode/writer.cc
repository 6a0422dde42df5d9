#include "bytecode/writer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "bytecode/base/file_replacement.h"
#include "bytecode/base/message.h"
#include "bytecode/blake2b.h"
#include "bytecode/checksum.h"
#include "bytecode/file_format.h"
#include "bytecode/program_generated.h"
#include "bytecode/program_size.h"
#include "bytecode/regions.h"
#include "bytecode/verifier.h"

namespace relayvm {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// --- Layout ---

// A constant of the file, once for all programs that hold it.
struct PlacedConstant {
  SharedBytes data;
  fbs::Segment segment;
  bool is_input = false;  // of a recipe
  // Known when it is written.
  uint64_t checksum = 1;
  ContentHash hash{};  // of a recipe's input
};

// Of one program.
struct Layout {
  std::vector<fbs::Segment> images;
  std::vector<uint64_t> image_checksums;
  std::vector<size_t>
      constants;  // which of the file's: of each constant, or of its recipe's inputs
};

// The flatbuffer of a program for another processor.
struct PlacedProgram {
  fbs::Segment segment;
  uint64_t checksum = 1;
};

struct FileLayout {
  std::vector<Layout> programs;
  std::vector<PlacedProgram> others;  // the programs behind the first
  std::vector<PlacedConstant> constants;
  uint64_t file_size = 0;
};

// What goes where, but for the offsets.
FileLayout Blank(const std::vector<const Program*>& programs) {
  FileLayout file;
  file.others.resize(programs.size() - 1);
  std::map<std::pair<const void*, size_t>, size_t> known;
  for (const Program* program : programs) {
    Layout& layout = file.programs.emplace_back();
    layout.images.resize(program->images.size());
    for (const ImageInfo& image : program->images)
      layout.image_checksums.push_back(Checksum64(image.elf));
    const auto place = [&](const SharedBytes& data, bool is_input) {
      auto [at, inserted] =
          known.try_emplace({data.identity(), data.size()}, file.constants.size());
      if (inserted || data.empty()) {
        at->second = file.constants.size();
        file.constants.push_back({data, {}});
      }
      file.constants[at->second].is_input |= is_input;
      layout.constants.push_back(at->second);
    };
    for (const ConstantInfo& c : program->constants) {
      if (c.recipe == nullptr) {
        place(c.data, false);
        continue;
      }
      for (const RecipeInput& input : c.recipe->inputs) place(input.data, true);
    }
  }
  return file;
}

void LayOut(const std::vector<const Program*>& programs, const std::vector<uint32_t>& sizes,
            FileLayout* file) {
  uint64_t end = sizeof(FileHeader) + sizes[0];
  for (size_t i = 1; i < programs.size(); ++i) {
    const uint64_t offset = AlignUp(end, kConstantAlignment);
    file->others[i - 1].segment = fbs::Segment(offset, sizes[i]);
    end = offset + sizes[i];
  }
  for (size_t p = 0; p < programs.size(); ++p) {
    for (size_t i = 0; i < programs[p]->images.size(); ++i) {
      const size_t bytes = programs[p]->images[i].elf.size();
      const uint64_t offset = AlignUp(end, kSegmentAlignment);
      file->programs[p].images[i] = fbs::Segment(offset, bytes);
      end = offset + bytes;
    }
  }
  for (size_t i = 0; i < file->constants.size(); ++i) {
    PlacedConstant& constant = file->constants[i];
    const uint64_t offset = AlignUp(end, i == 0 ? kSegmentAlignment : kConstantAlignment);
    constant.segment = fbs::Segment(offset, constant.data.size());
    end = offset + constant.data.size();
  }
  file->file_size = end;
}

// --- Flatbuffer ---

// Vectors that are empty are left out; strings and tables are not shared (see program.fbs).
class ProgramBuilder {
 public:
  explicit ProgramBuilder(FlatBufferBuilder* builder) : b_(*builder) {}

  void Build(const std::vector<const Program*>& programs, size_t index, const FileLayout& file) {
    const Program& program = *programs[index];
    const Layout& layout = file.programs[index];
    auto functions = Each(program.functions, [&](const FunctionInfo& f) { return Function(f); });
    auto code = Scalars(program.code);
    auto exports = Each(program.exports, [&](const ExportInfo& e) { return Export(e); });
    auto adts = Each(program.adts, [&](const AdtInfo& a) { return Adt(a); });
    auto kernels = Each(program.kernels, [&](const KernelInfo& k) { return Kernel(k); });
    auto types = Each(program.tensor_types, [&](const TensorTypeInfo& t) {
      return fbs::CreateTensorType(b_, static_cast<uint8_t>(t.dtype), Scalars<int64_t>(t.dims),
                                   t.device);
    });
    auto next = layout.constants.begin();
    auto constants = Each(program.constants, [&](const ConstantInfo& c) {
      auto dims = Scalars<int64_t>(c.dims);
      auto name = b_.CreateString(c.name);
      const auto dtype = static_cast<uint8_t>(c.dtype);
      if (c.recipe != nullptr) {
        auto recipe = Recipe(*c.recipe, file, &next);
        return fbs::CreateConstant(b_, dtype, dims, name, nullptr, 0, recipe, c.device);
      }
      const PlacedConstant& placed = file.constants[*next++];
      return fbs::CreateConstant(b_, dtype, dims, name, &placed.segment, placed.checksum, 0,
                                 c.device);
    });
    auto messages =
        Each(program.messages, [&](const std::string& s) { return b_.CreateString(s); });
    auto files =
        Each(program.source_files, [&](const std::string& s) { return b_.CreateString(s); });
    auto images = Each(program.images, [&](const ImageInfo& image) {
      auto i = static_cast<size_t>(&image - program.images.data());
      auto features = b_.CreateString(image.cpu_features);
      return fbs::CreateImage(b_, features, &layout.images[i], layout.image_checksums[i],
                              image.device);
    });
    static const std::vector<PlacedProgram> kNone;
    const std::vector<PlacedProgram>& others = index == 0 ? file.others : kNone;
    auto alternatives = Each(others, [&](const PlacedProgram& p) {
      const Program& other = *programs[static_cast<size_t>(&p - others.data()) + 1];
      auto features = b_.CreateString(FeaturesOf(other));
      flatbuffers::Offset<flatbuffers::String> engines = 0;
      if (!other.regions.empty()) engines = b_.CreateString(Joined(EnginesOf(other), ","));
      return fbs::CreateAlternative(b_, features, &p.segment, p.checksum, engines);
    });
    auto hosts =
        Each(program.host_functions, [&](const HostFunctionInfo& h) { return HostFunction(h); });
    auto strings = Each(program.strings, [&](const std::string& s) { return b_.CreateString(s); });
    auto devices = Each(program.devices, [&](const std::string& s) { return b_.CreateString(s); });
    auto regions = Each(program.regions, [&](const RegionInfo& r) { return Region(r); });
    auto root = fbs::CreateProgram(b_, program.bytecode_version, functions, code, exports, adts,
                                   kernels, types, constants, messages, files, images, alternatives,
                                   hosts, strings, devices, regions);
    fbs::FinishProgramBuffer(b_, root);
  }

 private:
  template <typename T, typename Make>
  auto Each(const std::vector<T>& items, Make make)
      -> Offset<flatbuffers::Vector<decltype(make(items[0]))>> {
    if (items.empty()) return 0;
    std::vector<decltype(make(items[0]))> offsets;
    for (const T& item : items) offsets.push_back(make(item));
    return b_.CreateVector(offsets);
  }

  template <typename T>
  Offset<flatbuffers::Vector<T>> Scalars(std::span<const T> values) {
    if (values.empty()) return 0;
    return b_.CreateVector(values.data(), values.size());
  }

  template <typename To, typename From, typename Make>
  Offset<flatbuffers::Vector<const To*>> Structs(const std::vector<From>& items, Make make) {
    if (items.empty()) return 0;
    std::vector<To> raw;
    raw.reserve(items.size());
    for (const From& item : items) raw.push_back(make(item));
    return b_.CreateVectorOfStructs(raw);
  }

  Offset<flatbuffers::Vector<const fbs::SizeStep*>> Size(const SizeFormula& formula) {
    static_assert(sizeof(SizeStep) == sizeof(fbs::SizeStep));
    return Structs<fbs::SizeStep>(formula, [](const SizeStep& s) {
      return fbs::SizeStep(static_cast<uint8_t>(s.kind), s.value);
    });
  }

  Offset<fbs::Kernel> Kernel(const KernelInfo& k) {
    static_assert(sizeof(FixedScalar) == sizeof(fbs::FixedScalar));
    auto name = b_.CreateString(k.name);
    auto entries = Scalars<uint64_t>(k.entries);
    auto buffers = Each(k.buffers, [&](const KernelBuffer& b) {
      auto may_share = Scalars<uint16_t>(b.may_share);
      return fbs::CreateKernelBuffer(b_, static_cast<uint8_t>(b.dtype), b.written, may_share,
                                     Size(b.shape));
    });
    auto fixed = Structs<fbs::FixedScalar>(
        k.fixed, [](const FixedScalar& f) { return fbs::FixedScalar(f.index, f.value); });
    auto units = Size(k.units);
    auto scratch = Size(k.scratch);
    std::vector<BatchedKernelInfo> forms;
    if (k.batched) forms.push_back(*k.batched);
    auto batched = Each(forms, [&](const BatchedKernelInfo& form) {
      auto shared = Scalars<uint16_t>(form.shared);
      auto scalars = Scalars<uint16_t>(form.scalars);
      return fbs::CreateBatchedKernel(b_, form.kernel, shared, scalars, Size(form.rows));
    });
    return fbs::CreateKernel(
        b_, name, k.builtin, entries, static_cast<uint16_t>(k.buffers.size()), k.num_scalars,
        buffers, fixed, units, scratch, batched, k.device,
        k.region ? flatbuffers::Optional<uint32_t>(*k.region) : flatbuffers::nullopt);
  }

  Offset<fbs::Region> Region(const RegionInfo& r) {
    auto name = b_.CreateString(r.name);
    auto engine = b_.CreateString(r.engine);
    auto json = b_.CreateString(r.json);
    return fbs::CreateRegion(b_, name, engine, json, Scalars<uint32_t>(r.constants), r.num_symbols);
  }

  Offset<fbs::Recipe> Recipe(const RecipeInfo& recipe, const FileLayout& file,
                             std::vector<size_t>::const_iterator* next) {
    auto builtin = b_.CreateString(recipe.builtin);
    auto params = Scalars<int64_t>(recipe.params);
    auto inputs = Each(recipe.inputs, [&](const RecipeInput& input) {
      const PlacedConstant& placed = file.constants[*(*next)++];
      auto dims = Scalars<int64_t>(input.dims);
      fbs::ContentHash hash;
      static_assert(sizeof hash == sizeof placed.hash);
      std::memcpy(static_cast<void*>(&hash), placed.hash.data(), sizeof hash);
      return fbs::CreateRecipeInput(b_, static_cast<uint8_t>(input.dtype), dims, &placed.segment,
                                    placed.checksum, &hash);
    });
    return fbs::CreateRecipe(b_, builtin, params, inputs);
  }

  // Depth is limited by the verifier.
  Offset<fbs::ValueType> Type(const ValueType& type) {
    std::vector<Offset<fbs::Dim>> dims;
    for (size_t i = 0; i < type.dims.size(); ++i) {
      Offset<flatbuffers::String> name = 0;
      if (i < type.dim_names.size() && !type.dim_names[i].empty())
        name = b_.CreateString(type.dim_names[i]);
      Offset<flatbuffers::Vector<const fbs::SizeStep*>> formula = 0;
      if (i < type.dim_formulas.size() && !type.dim_formulas[i].empty())
        formula = Size(type.dim_formulas[i]);
      dims.push_back(fbs::CreateDim(b_, type.dims[i], name, formula));
    }
    auto dims_vector = dims.empty() ? 0 : b_.CreateVector(dims);
    auto args = Each(type.args, [&](const ValueType& arg) { return Type(arg); });
    return fbs::CreateValueType(b_, static_cast<uint8_t>(type.kind),
                                static_cast<uint8_t>(type.dtype), dims_vector, args, type.index);
  }

  Offset<fbs::Function> Function(const FunctionInfo& f) {
    static_assert(sizeof(ArenaSlot) == sizeof(fbs::ArenaSlot));
    static_assert(sizeof(SourceLocation) == sizeof(fbs::SourceLocation));
    auto name = b_.CreateString(f.name);
    auto slots = Structs<fbs::ArenaSlot>(
        f.slots, [](const ArenaSlot& s) { return fbs::ArenaSlot(s.offset, s.bytes); });
    auto locations = Structs<fbs::SourceLocation>(f.locations, [](const SourceLocation& l) {
      return fbs::SourceLocation(l.pc, l.file, l.line, l.column);
    });
    return fbs::CreateFunction(b_, name, f.code_offset, f.code_size, f.num_scalar_args,
                               f.num_object_args, f.num_scalar_registers, f.num_object_registers,
                               f.returns_scalar, f.arena_bytes, slots, locations, f.num_captured);
  }

  Offset<fbs::Export> Export(const ExportInfo& e) {
    auto name = b_.CreateString(e.name);
    auto params = Each(e.params, [&, i = size_t{0}](const ValueType& type) mutable {
      auto param_name = b_.CreateString(e.param_names[i++]);
      return fbs::CreateParam(b_, param_name, Type(type));
    });
    auto result = Type(e.result);
    auto outputs = Each(e.output_names, [&](const std::string& s) {
      return fbs::CreateOutput(b_, b_.CreateString(s));
    });
    auto states = Structs<fbs::State>(
        e.states, [](const StateInfo& state) { return fbs::State(state.input, state.output); });
    return fbs::CreateExport(b_, name, e.function, params, result, outputs, e.num_type_params,
                             states);
  }

  Offset<fbs::HostFunction> HostFunction(const HostFunctionInfo& h) {
    auto name = b_.CreateString(h.name);
    auto params = Each(h.params, [&](const ValueType& type) { return Type(type); });
    return fbs::CreateHostFunction(b_, name, params, Type(h.result));
  }

  Offset<fbs::Adt> Adt(const AdtInfo& adt) {
    auto name = b_.CreateString(adt.name);
    auto constructors = Each(adt.constructors, [&](const ConstructorInfo& constructor) {
      auto constructor_name = b_.CreateString(constructor.name);
      auto fields = Each(constructor.fields, [&](const ValueType& type) { return Type(type); });
      return fbs::CreateConstructor(b_, constructor_name, fields);
    });
    return fbs::CreateAdt(b_, name, adt.num_type_params, constructors);
  }

  FlatBufferBuilder& b_;
};

// --- Output ---

// Takes a part of the file. What no part covers is zero.
using WriteAt = std::function<Status(uint64_t offset, const void* data, size_t size)>;

Status CheckPrograms(const std::vector<const Program*>& programs) {
  // What other engines run needs no image.
  const bool has_regions =
      std::ranges::any_of(programs, [](const Program* p) { return !p->regions.empty(); });
  for (const Program* program : programs) {
    RELAYVM_RETURN_IF_ERROR(VerifyProgram(*program));
    if (programs.size() > 1 && program->images.size() != 1 &&
        !(has_regions && program->images.empty())) {
      return {
          StatusCode::kInvalidArgument,
          fmt::format("a program for one of several processors has {} kernel images, expected 1",
                      program->images.size())};
    }
    SizeBound bound;
    bound.AddProgram(*program);
    for (const Program* other : programs) bound.AddAlternative(*other);
    if (bound.bytes() < kMaxProgramBytes) continue;
    return Status(
        StatusCode::kUnsupported,
        fmt::format("program too large: up to {} bytes without its constants, the limit is {}",
                    bound.bytes(), kMaxProgramBytes));
  }
  return OkStatus();
}

// Each constant is read once: its bytes may be made only now (base/shared_bytes.h). So the
// programs, which have their checksums, are written last, and the first, which has those of the
// others, at the end.
Status WriteParts(const std::vector<const Program*>& programs, const WriteAt& write) {
  RELAYVM_RETURN_IF_ERROR(CheckPrograms(programs));
  // Offsets depend on the programs' sizes, which do not depend on their values: build, lay out,
  // build again.
  FileLayout file = Blank(programs);
  FlatBufferBuilder builder;
  std::vector<uint32_t> sizes;
  for (size_t i = 0; i < programs.size(); ++i) {
    builder.Clear();
    ProgramBuilder(&builder).Build(programs, i, file);
    sizes.push_back(builder.GetSize());
  }
  LayOut(programs, sizes, &file);

  uint64_t end = sizeof(FileHeader) + sizes[0];
  for (size_t p = 0; p < programs.size(); ++p) {
    for (size_t i = 0; i < programs[p]->images.size(); ++i) {
      std::span<const uint8_t> elf = programs[p]->images[i].elf;
      const uint64_t offset = file.programs[p].images[i].offset();
      RELAYVM_RETURN_IF_ERROR(write(offset, elf.data(), elf.size()));
      end = std::max(end, offset + elf.size());
    }
  }
  for (PlacedConstant& constant : file.constants) {
    SharedBytes data = constant.data.Loaded();
    constant.checksum = Checksum64({reinterpret_cast<const uint8_t*>(data.data()), data.size()});
    if (constant.is_input) constant.hash = HashOf({data.data(), data.size()});
    RELAYVM_RETURN_IF_ERROR(write(constant.segment.offset(), data.data(), data.size()));
    if (!data.empty()) end = constant.segment.offset() + data.size();
    data.DropPages();
  }

  for (size_t i = programs.size(); i-- > 0;) {
    builder.Clear();
    ProgramBuilder(&builder).Build(programs, i, file);
    if (builder.GetSize() != sizes[i]) {
      return Status(StatusCode::kInternal,
                    fmt::format("program of {} bytes became {} when its offsets were filled in",
                                sizes[i], builder.GetSize()));
    }
    if (i == 0) break;
    PlacedProgram& placed = file.others[i - 1];
    placed.checksum = Checksum64({builder.GetBufferPointer(), sizes[i]});
    RELAYVM_RETURN_IF_ERROR(write(placed.segment.offset(), builder.GetBufferPointer(), sizes[i]));
    end = std::max(end, placed.segment.offset() + sizes[i]);
  }
  FileHeader header = {};
  std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
  header.major = kFormatMajor;
  for (const Program* program : programs)
    header.minor = std::max(header.minor, LeastFormatMinor(*program));
  header.program_offset = sizeof(FileHeader);
  header.program_size = sizes[0];
  header.file_size = file.file_size;
  uint64_t seed = Checksum64({reinterpret_cast<const uint8_t*>(&header), sizeof(header)});
  header.checksum = Checksum64({builder.GetBufferPointer(), sizes[0]}, seed);
  RELAYVM_RETURN_IF_ERROR(write(0, &header, sizeof(header)));
  RELAYVM_RETURN_IF_ERROR(write(sizeof(header), builder.GetBufferPointer(), sizes[0]));
  // An empty constant at the end may leave a gap before it.
  return end < file.file_size ? write(file.file_size - 1, "", 1) : OkStatus();
}

std::vector<const Program*> AllOf(const Program& program, std::span<const Program> others) {
  std::vector<const Program*> programs = {&program};
  for (const Program& other : others) programs.push_back(&other);
  return programs;
}

}  // namespace

namespace {

// Pages that grow by moving their mappings: large weights are not copied again.
class GrowingPages {
 public:
  GrowingPages() = default;
  ~GrowingPages() {
    if (data_ != nullptr) ::munmap(data_, capacity_);
  }
  GrowingPages(const GrowingPages&) = delete;
  GrowingPages& operator=(const GrowingPages&) = delete;

  Status Write(uint64_t offset, const void* data, size_t size) {
    const size_t end = offset + size;
    if (end > capacity_) RELAYVM_RETURN_IF_ERROR(Grow(end));
    if (size > 0) std::memcpy(static_cast<std::byte*>(data_) + offset, data, size);
    size_ = std::max(size_, end);
    return OkStatus();
  }
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  Status Grow(size_t least) {
    constexpr size_t kUnit = size_t{1} << 16;
    const size_t capacity =
        (std::max(least, capacity_ + capacity_ / 2) + kUnit - 1) / kUnit * kUnit;
    void* grown = data_ == nullptr ? ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                   : ::mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) {
      return {StatusCode::kResourceExhausted,
              fmt::format("no memory for an executable of {} bytes", least)};
    }
    data_ = grown;
    capacity_ = capacity;
    return OkStatus();
  }

  void* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace

uint16_t LeastFormatMinor(const Program& program) {
  const auto joins_rows = [](const KernelInfo& k) { return k.batched && !k.batched->rows.empty(); };
  if (std::ranges::any_of(program.kernels, joins_rows)) return kMinorOfRows;
  if (!program.regions.empty()) return kMinorOfRegions;
  if (!program.devices.empty()) return kMinorOfDevices;
  const auto has = [](const ConstantInfo& c) { return c.recipe != nullptr; };
  return std::ranges::any_of(program.constants, has) ? kMinorOfRecipes : kOldestFormatMinor;
}

Result<SharedBytes> SerializeToShared(const Program& program, std::span<const Program> others) {
  auto pages = std::make_shared<GrowingPages>();
  RELAYVM_RETURN_IF_ERROR(
      WriteParts(AllOf(program, others), [&](uint64_t offset, const void* data, size_t size) {
        return pages->Write(offset, data, size);
      }));
  return SharedBytes(pages->bytes(), pages);
}

Result<std::vector<uint8_t>> SerializeProgram(const Program& program,
                                              std::span<const Program> others) {
  std::vector<uint8_t> bytes;
  const auto write = [&](uint64_t at, const void* data, size_t n) -> Status {
    if (bytes.size() < at + n) bytes.resize(at + n);
    if (n > 0) std::memcpy(bytes.data() + at, data, n);
    return {};
  };
  RELAYVM_RETURN_IF_ERROR(WriteParts(AllOf(program, others), write));
  return bytes;
}

Status WriteProgramFile(const Program& program, const std::string& path,
                        std::span<const Program> others) {
  RELAYVM_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  if (file.has_offsets()) {
    RELAYVM_RETURN_IF_ERROR(WriteParts(
        AllOf(program, others),
        [&](uint64_t at, const void* data, size_t n) { return file.WriteAt(at, data, n); }));
  } else {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, SerializeProgram(program, others));
    RELAYVM_RETURN_IF_ERROR(file.Write(bytes.data(), bytes.size()));
  }
  return file.Commit(/*lasting=*/true);
}

}  // namespace relayvm
