// The platform of RELAYVM_MINIMAL: C and its memory, and nothing of an operating system. One
// thread, one stack, no code but the runtime's own, files that are read whole. Tested by
// tests/minimal.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/machine_limits.h"
#include "bytecode/image_loader.h"
#include "vm/engines/regions.h"
#include "vm/platform/address_space.h"
#include "vm/platform/idle_timer.h"
#include "vm/platform/process_mutex.h"
#include "vm/platform/system_pages.h"
#include "vm/platform/thread_pool.h"
#include "vm/run/executable.h"
#include "vm/run/shared_constants.h"

namespace relayvm {

// --- Memory ---

namespace vm {
namespace {
struct Pages : MemorySource {
  void* Allocate(size_t bytes, size_t alignment) override {
    void* memory = nullptr;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
  }
  void Free(void* memory, size_t /*bytes*/) override { std::free(memory); }
};
Pages g_pages;
}  // namespace

MemorySource& SystemPages() { return g_pages; }
std::shared_ptr<MemorySource> HeapSource() {
  return {std::shared_ptr<MemorySource>(), &g_pages};  // nobody's
}
void* MapPages(size_t bytes) { return std::aligned_alloc(kPageBytes, PagesOf(bytes) * kPageBytes); }
void UnmapPages(void* memory, size_t /*bytes*/) { std::free(memory); }
void DropPages(void* /*memory*/, size_t /*bytes*/) {}
void OfferPages(void* /*memory*/, size_t /*bytes*/) {}

// Memory, all of it from the first: stacks are small.
constexpr size_t kMostStackBytes = 16 << 20;
size_t AddressLimit() { return 8 * kMostStackBytes; }
const char* AddressAdvice() {
  return "this build of the runtime (RELAYVM_MINIMAL) has no larger ones";
}
char* TakeAddresses(size_t bytes, size_t alignment, bool /*guarded*/) {
  if (bytes > kMostStackBytes) return nullptr;
  return static_cast<char*>(std::aligned_alloc(alignment, bytes));
}
void GiveAddresses(char* memory, size_t /*bytes*/, size_t /*alignment*/, bool /*guarded*/) {
  std::free(memory);
}

// --- Threads: none ---

Mutex& ProcessMutex() {
  static Mutex mutex;
  return mutex;
}

// What idles goes back when the host says so (Runtime::Trim).
struct IdleTimer::Worker {};
IdleTimer::IdleTimer(int64_t (*look)(void* context, int64_t now), void* context)
    : look_(look), context_(context) {}
IdleTimer::~IdleTimer() = default;
void IdleTimer::Begin() {}
void IdleTimer::Stop() {}

namespace {
struct OneThread : TaskPool {
  uint32_t num_threads() const override { return 1; }
  void Run(uint32_t num_tasks, TaskFn task, void* context) override {
    for (uint32_t i = 0; i < num_tasks; ++i) task(context, i, 0);
  }
};
}  // namespace

Result<uint32_t> CountThreads(uint32_t num_threads) {
  if (num_threads <= 1) return 1U;
  return Status(StatusCode::kUnsupported, "num_threads is " + std::to_string(num_threads) +
                                              ", expected 1: this build has no threads");
}
Result<std::unique_ptr<TaskPool>> NewThreadPool(uint32_t num_threads) {
  RELAYVM_RETURN_IF_ERROR(CountThreads(num_threads).status());
  return std::unique_ptr<TaskPool>(std::make_unique<OneThread>());
}

// --- Constants that processes share: none do ---

std::optional<SharedBytes> FindSharedConstants(const ContentHash& /*key*/, uint64_t /*size*/,
                                               bool /*verify*/) {
  return std::nullopt;
}
std::optional<SharedConstantsWriter> SharedConstantsWriter::Create(const ContentHash& /*key*/,
                                                                   uint64_t /*size*/) {
  return std::nullopt;
}
SharedConstantsWriter::SharedConstantsWriter(SharedConstantsWriter&& other) noexcept = default;
SharedConstantsWriter::~SharedConstantsWriter() = default;
bool SharedConstantsWriter::Write(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) {
  return false;
}
std::optional<SharedBytes> SharedConstantsWriter::Publish() { return std::nullopt; }

}  // namespace vm

// --- Files ---

Result<std::shared_ptr<const FileMapping>> FileMapping::Open(const std::string& path,
                                                             Kind /*kind*/) {
  const std::shared_ptr<FileMapping> mapping(new FileMapping(path));
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) {
    return Status(errno == ENOENT ? StatusCode::kNotFound : StatusCode::kInvalidInput,
                  fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  }
  constexpr size_t kStep = 64 << 10;
  uint8_t* data = nullptr;
  for (size_t room = 0;;
       mapping->size_ += std::fread(data + mapping->size_, 1, kStep, file.get())) {
    if (std::feof(file.get()) != 0) return std::shared_ptr<const FileMapping>(mapping);
    if (std::ferror(file.get()) != 0)
      return Status(StatusCode::kInvalidInput, fmt::format("cannot read '{}'", path));
    if (room - mapping->size_ >= kStep) continue;
    room = 2 * room + kStep;
    data = static_cast<uint8_t*>(std::aligned_alloc(64, room));
    if (data == nullptr) return Status::OutOfMemory();
    if (mapping->size_ > 0) std::memcpy(data, mapping->data_, mapping->size_);
    std::free(const_cast<uint8_t*>(std::exchange(mapping->data_, data)));
  }
}
FileMapping::~FileMapping() { std::free(const_cast<uint8_t*>(data_)); }
Status FileMapping::CheckUnchanged(int64_t* status_time) const {
  if (status_time != nullptr) *status_time = 0;
  return OkStatus();
}
Status FileMapping::Changed(const std::string& how) const {
  return {StatusCode::kFailedPrecondition, how};
}
int64_t FileMapping::status_time() const { return 0; }
void FileMapping::DropPages(std::span<const std::byte> /*bytes*/) {}

// What pointers reach; the host's memory may be less, and says so when it is asked.
MachineLimits ReadMachineLimits(const std::string& /*root*/) {
  return {std::numeric_limits<size_t>::max() / 2, 1};
}

// --- Kernels' own code: none ---

CpuFeatures CpuFeatures::OfThisMachine() { return CpuFeatures({}); }
std::vector<std::string> CpuFeatures::Missing(std::string_view required) const {
  return required.empty() ? std::vector<std::string>()
                          : std::vector<std::string>{std::string(required)};
}
std::vector<std::string> ExpandFeatures(std::string_view /*list*/) { return {}; }

Result<size_t> ChooseImage(std::span<const ImageInfo> /*images*/, const CpuFeatures& /*cpu*/) {
  return Status(StatusCode::kUnsupported,
                "the program has kernels of native code, which this build of the runtime "
                "(RELAYVM_MINIMAL) cannot load: it runs bytecode and builtins");
}
Result<std::unique_ptr<MappedImage>> MappedImage::Map(std::span<const uint8_t> /*elf*/,
                                                      Kind /*kind*/) {
  return Status(StatusCode::kUnsupported, "no images");
}
MappedImage::~MappedImage() = default;
RelayvmKernelFn MappedImage::Entry(uint64_t /*address*/) const { return nullptr; }
void WritePerfMap(const MappedImage& /*image*/, std::span<const uint8_t> /*elf*/) {}

// --- Engines: none ---

Status vm::LinkedRegions::Create(const Program& program, const LoadOptions& /*options*/,
                                 std::string* lacking) {
  if (program.regions.empty()) return OkStatus();
  *lacking = program.regions[0].engine;
  return {StatusCode::kUnsupported,
          fmt::format("the program has regions for engine {}, which this build of the runtime "
                      "(RELAYVM_MINIMAL) cannot load: it runs bytecode and builtins",
                      *lacking)};
}
int32_t vm::RunRegion(const RelayvmKernelEnv* /*env*/, const RelayvmKernelArgs* /*args*/,
                      uint32_t /*begin*/, uint32_t /*end*/) {
  return RELAYVM_KERNEL_ENGINE_FAILED;
}

}  // namespace relayvm
