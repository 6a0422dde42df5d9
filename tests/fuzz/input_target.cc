#include "tests/fuzz/input_target.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <chrono>
#include <cstring>
#include <limits>
#include <set>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "kernels/op/op.h"
#include "kernels/runtime/builtin.h"
#include "tests/fuzz/input_calls.h"
#include "tests/fuzz/mutate.h"
#include "tests/random/generator.h"
#include "vm/api/relayvm.h"

namespace relayvm::fuzz {
namespace {

constexpr size_t kMostElements = 4096;  // of one input
constexpr uint64_t kGenerated = 60;     // random programs
constexpr size_t kMemoryLimit = size_t{64} << 20;
constexpr auto kTimeout = std::chrono::seconds(2);
constexpr std::array<int64_t, 16> kDims = {1, 2, 3, 4, 5, 0, 7, 8, 9, 16, 17, 31, 33, 64, 65, 200};
constexpr std::array<int64_t, 16> kNumbers = {0,         1,         -1,        2,
                                              3,         5,         INT8_MIN,  INT16_MAX,
                                              INT32_MAX, INT32_MIN, 1LL << 31, 1LL << 32,
                                              1LL << 62, INT64_MIN, INT64_MAX, 6148914691236517216};
constexpr std::array<double, 8> kFloats = {std::numeric_limits<double>::quiet_NaN(),
                                           std::numeric_limits<double>::infinity(),
                                           -std::numeric_limits<double>::infinity(),
                                           -0.0,
                                           1e-40,
                                           3e38,
                                           -1e300,
                                           2147483648.0};

// Takes choices from the front of an input; zeros beyond its end.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto b = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return b;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

// Memory whose end is followed by what nobody may read, and that begins at a multiple of 64.
struct Guarded {
  void* mapping = nullptr;
  size_t mapped = 0;
  std::byte* data = nullptr;

  static Guarded* Make(size_t bytes) {
    constexpr size_t kPage = 4096, kAlignment = 64;
    const size_t pages = (bytes + kPage - 1) / kPage * kPage;
    auto g = std::make_unique<Guarded>();
    g->mapped = pages + kPage;
    g->mapping =
        ::mmap(nullptr, g->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->mapping == MAP_FAILED) return nullptr;
    auto* end = static_cast<std::byte*>(g->mapping) + pages;
    ::mprotect(end, kPage, PROT_NONE);
    g->data = end - (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return g.release();
  }
  static void Free(void* guarded) {
    auto* g = static_cast<Guarded*>(guarded);
    ::munmap(g->mapping, g->mapped);
    delete g;
  }
};

void WriteElement(DType dtype, Choices* choices, std::byte* to) {
  const uint8_t b = choices->Byte();
  const size_t bytes = DTypeBytes(dtype);
  if (b < 32) {  // a special number, as this type has it
    const int64_t number = kNumbers[b % kNumbers.size()];
    const double real = b < 16 ? kFloats[b % kFloats.size()] : static_cast<double>(number);
    if (dtype == DType::kFloat32) {
      const auto narrow = static_cast<float>(real);
      std::memcpy(to, &narrow, bytes);
    } else if (dtype == DType::kFloat64) {
      std::memcpy(to, &real, bytes);
    } else {
      std::memcpy(to, &number, bytes);
    }
  } else if (dtype == DType::kFloat32) {
    const float small = static_cast<float>(b - 128) / 8;
    std::memcpy(to, &small, bytes);
  } else if (dtype == DType::kFloat64) {
    const double small = (b - 128) / 8.0;
    std::memcpy(to, &small, bytes);
  } else {
    const int64_t small = static_cast<int64_t>(b % 16) - 3;
    std::memcpy(to, &small, bytes);
  }
  if (dtype == DType::kBool) *to &= std::byte{1};
}

// Pieces of a few kinds: numbers, spaces, characters of each length.
std::string MakeText(Choices* choices) {
  constexpr std::string_view kPieces[] = {"",   "a", "1",  "-", ".5", " ",
                                          "\t", ",", "e9", "é", "漢", "😀"};
  std::string text;
  for (size_t n = choices->Byte() % 5; n > 0; --n)
    text += kPieces[choices->Byte() % std::size(kPieces)];
  return text;
}

Result<Value> MakeTensor(const ValueType& type, Choices* choices) {
  std::vector<int64_t> dims;
  size_t elements = 1;
  for (int64_t d : type.dims) {
    if (d < 0) d = kDims[choices->Byte() % kDims.size()];
    while (d > 0 && elements * static_cast<size_t>(d) > kMostElements) d /= 2;
    elements *= static_cast<size_t>(d);
    dims.push_back(d);
  }
  if (type.dtype == DType::kString) {
    std::vector<std::string> texts(elements);
    for (std::string& text : texts) text = MakeText(choices);
    return Value::CopyStrings(dims, std::vector<std::string_view>(texts.begin(), texts.end()));
  }
  const size_t element = DTypeBytes(type.dtype);
  Guarded* memory = Guarded::Make(elements * element);
  if (memory == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for an input");
  for (size_t i = 0; i < elements; ++i)
    WriteElement(type.dtype, choices, memory->data + i * element);
  return Value::WrapTensor(type.dtype, dims, memory->data, Guarded::Free, memory);
}

std::string ProgramOf(const InputCall& call) {
  return fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{ {} }}\n", call.params, call.body);
}

// The program with every dim of @main's parameters open, so that what its types said is checked
// when it runs.
std::string WithOpenParameters(std::string text) {
  const size_t main = text.find("def @main(");
  const size_t end = text.find('\n', main);
  constexpr std::string_view kTensor = "Tensor[(";
  for (size_t at = text.find(kTensor, main); at < end; at = text.find(kTensor, at + 1)) {
    const size_t begin = at + kTensor.size(), close = text.find(')', begin);
    for (size_t i = close; i-- > begin;) {
      if (std::isdigit(text[i]) == 0) continue;
      const size_t last = i + 1;
      while (i > begin && std::isdigit(text[i - 1]) != 0) --i;
      text.replace(i, last - i, "?");
    }
  }
  return text;
}

// Whether `op` is called there, its name no part of a longer one.
bool Calls(std::string_view body, std::string_view op) {
  const std::string called = fmt::format("{}(", op);
  for (size_t at = body.find(called); at != std::string_view::npos;
       at = body.find(called, at + 1)) {
    if (at == 0 || (body[at - 1] != '.' && body[at - 1] != '_' && std::isalnum(body[at - 1]) == 0))
      return true;
  }
  return false;
}

// That each operator is called by some program.
Status CheckOperators(const std::vector<InputCall>& calls) {
  std::vector<std::string_view> missing;
  for (const std::string_view op : OpTable::Get().Names()) {
    if (std::ranges::none_of(calls, [&](const InputCall& c) { return Calls(c.body, op); }))
      missing.push_back(op);
  }
  if (missing.empty()) return OkStatus();
  return {StatusCode::kInternal,
          fmt::format("no program calls the operators {}", fmt::join(missing, ", "))};
}

bool TakesTensors(const ExportInfo& e) {
  for (const ValueType& t : e.params) {
    if (t.kind != ValueType::Kind::kTensor) return false;
  }
  return true;
}

}  // namespace

struct InputTarget::Impl {
  std::shared_ptr<Runtime> runtime;
  std::vector<std::shared_ptr<const Executable>> programs;

  Status Add(const std::string& text, int level, const std::string& cpu = "native") {
    RELAYVM_ASSIGN_OR_RETURN(ir::Module module, frontend::ParseRelay("fuzz.relay", text));
    if (!module.functions.contains("main")) return {StatusCode::kNotFound, "no @main"};
    module.entry = "main";
    CompileOptions options;
    options.pipeline.opt_level = level;
    options.pipeline.machine = MachineNamed(cpu);
    options.kernels.opt_level = level > 1 ? 2 : 0;
    options.kernels.machine = MachineNamed(cpu);
    RELAYVM_ASSIGN_OR_RETURN(Compiled compiled, CompileModule(std::move(module), options));
    if (compiled.program.exports.empty() || !TakesTensors(compiled.program.exports[0]))
      return {StatusCode::kUnsupported, "values that are no tensors"};
    RELAYVM_ASSIGN_OR_RETURN(auto executable, Executable::FromProgram(std::move(compiled.program)));
    programs.push_back(std::move(executable));
    return OkStatus();
  }

  // That each builtin is called by some program; those that make constants are, when it is loaded.
  Status CheckBuiltins() const {
    std::set<std::string_view> called;
    for (const auto& program : programs) {
      for (const KernelInfo& kernel : program->program().kernels) {
        if (kernel.builtin) called.insert(kernel.name);
      }
    }
    std::vector<std::string_view> missing;
    for (const Builtin& builtin : Builtins()) {
      if (!called.contains(builtin.name) && !builtin.makes_constants)
        missing.push_back(builtin.name);
    }
    if (missing.empty()) return OkStatus();
    return {StatusCode::kInternal,
            fmt::format("no program calls the builtins {}", fmt::join(missing, ", "))};
  }
};

Result<std::shared_ptr<InputTarget>> InputTarget::Make(const std::vector<std::string>& programs) {
  auto impl = std::make_unique<Impl>();
  RELAYVM_ASSIGN_OR_RETURN(impl->runtime, Runtime::Create());
  const std::vector<InputCall> calls = InputCalls();
  RELAYVM_RETURN_IF_ERROR(CheckOperators(calls));
  for (const InputCall& call : calls) RELAYVM_RETURN_IF_ERROR(impl->Add(ProgramOf(call), 3));
  RELAYVM_RETURN_IF_ERROR(impl->CheckBuiltins());
  // Without masks, where this machine has the instructions.
  for (const InputCall& call : calls) (void)impl->Add(ProgramOf(call), 3, "x86-64-v3");
  // Whole programs, as far as they take tensors and no dim is needed to compile them.
  for (const std::string& text : programs) {
    if (impl->Add(text, 2).ok()) (void)impl->Add(WithOpenParameters(text), 3);
  }
  for (uint64_t seed = 0; seed < kGenerated; ++seed) {
    const std::string text = random_programs::Generate(random_programs::Random(seed)).text;
    (void)impl->Add(WithOpenParameters(text), 3);
  }
  return std::shared_ptr<InputTarget>(new InputTarget(std::move(impl)));
}
InputTarget::InputTarget(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InputTarget::~InputTarget() = default;

std::vector<std::string> InputTarget::Seeds() const {
  std::vector<std::string> seeds;
  for (size_t i = 0; i < impl_->programs.size(); ++i) {
    std::string seed = {static_cast<char>(i % 256), static_cast<char>(i / 256)};
    Mutator mutator(i);
    for (int byte = 0; byte < 40; ++byte) seed += static_cast<char>(mutator.Below(256));
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

Status InputTarget::Run(const std::string& input) {
  Choices choices(input);
  const size_t low = choices.Byte(), high = choices.Byte();
  const auto& program = impl_->programs[(high * 256 + low) % impl_->programs.size()];
  RELAYVM_ASSIGN_OR_RETURN(auto invocation, Invocation::Create(impl_->runtime, program,
                                                               {.memory_limit = kMemoryLimit,
                                                                .stack_limit = size_t{1} << 20,
                                                                .timeout = kTimeout}));
  const ExportInfo& main = program->program().exports[0];
  std::vector<Value> inputs;
  for (const ValueType& type : main.params) {
    RELAYVM_ASSIGN_OR_RETURN(Value value, MakeTensor(type, &choices));
    inputs.push_back(std::move(value));
  }
  return invocation->Run(main.name, std::move(inputs)).status();
}

}  // namespace relayvm::fuzz
