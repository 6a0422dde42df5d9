// An injected memory source: what comes from it goes back to it, and its end is a run's failure.
#include "vm/memory/memory_source.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "vm/memory/allocator.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Int64Values;
using testing::LoadText;

// malloc's memory, full of rubbish. Counts each call and checks what comes back.
class CountingSource : public MemorySource {
 public:
  explicit CountingSource(int64_t calls_left = INT64_MAX) : calls_left_(calls_left) {}
  ~CountingSource() override { CHECK(blocks_.empty()); }

  void* Allocate(size_t bytes, size_t alignment) override {
    std::lock_guard lock(mutex_);
    ++calls_;
    CHECK(bytes % 4096 == 0);
    CHECK(bytes > 0);
    CHECK(alignment % 4096 == 0);
    if (calls_left_-- <= 0) return nullptr;
    void* memory = nullptr;
    REQUIRE(posix_memalign(&memory, alignment, bytes) == 0);
    std::memset(memory, 0xAB, std::min<size_t>(bytes, 1 << 20));
    blocks_[static_cast<char*>(memory)] = bytes;
    live_ += bytes;
    return memory;
  }
  void Free(void* memory, size_t bytes) override {
    std::lock_guard lock(mutex_);
    auto it = blocks_.find(static_cast<char*>(memory));
    REQUIRE(it != blocks_.end());
    CHECK(it->second == bytes);
    blocks_.erase(it);
    live_ -= bytes;
    std::free(memory);
  }
  void Discard(void* memory, size_t bytes) override {
    std::lock_guard lock(mutex_);
    auto* begin = static_cast<char*>(memory);
    auto after = blocks_.upper_bound(begin);
    REQUIRE(after != blocks_.begin());
    --after;
    CHECK(begin + bytes <= after->first + after->second);
  }

  size_t live() const { return live_; }
  int64_t calls() const { return calls_; }
  void Refill() { calls_left_ = INT64_MAX; }

 private:
  std::mutex mutex_;
  std::map<char*, size_t> blocks_;
  size_t live_ = 0;
  int64_t calls_ = 0, calls_left_;
};

int32_t Scratch(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t begin, uint32_t) {
  if (args->scratch != nullptr) static_cast<char*>(args->scratch)[0] = static_cast<char>(begin);
  return 0;
}
constexpr Builtin kKernels[] = {{"scratch", Scratch}};

// Three tensors of i0 bytes, one of them the result; a list of i1 numbers; i2 bytes of scratch.
const char* const kProgram = R"(
.version 1
.kernel "scratch" scalars 0 buffers () builtin
.export "main" f0 ("bytes": int64[], "list": int64[], "scratch": int64[]) -> uint8[?""]
.function "main" scalars 0 objects 3 captured 0 registers 4 5 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.item i1, r1!, int64, 0
  tensor.item i2, r2!, int64, 0
  tensor.alloc r0, uint8, [i0]
  tensor.alloc r1, uint8, [i0]
  tensor.alloc r2, uint8, [i0]
  const.i16 i3, 2
  kernel k0, i3, i3, i2, [], []
  adt.new r3, #0, []
L0:
  br.if i1, L1
  ret.r r2!
L1:
  tensor.box r4, i1, int64
  adt.new r3, #1, [r4!, r3!]
  addimm.i i1, i1, -1
  jump L0
.end
)";

struct Case {
  const char* what;
  int64_t bytes, list, scratch;
};
constexpr Case kCases[] = {{"small", 100, 100, 64},
                           {"runs", 3 << 20, 10, 1 << 20},
                           {"large runs", 20 << 20, 10, 0},
                           {"huge", 40 << 20, 10, 0},
                           {"many objects", 10, 300'000, 0}};

std::shared_ptr<Runtime> RuntimeOn(const std::shared_ptr<MemorySource>& source) {
  auto runtime = Runtime::Create({.memory = source});
  REQUIRE(runtime.ok());
  return *runtime;
}

TEST_CASE("memory source: all that is taken goes back, also what results hold") {
  auto executable = LoadText(kProgram, kKernels);
  for (const Case& c : kCases) {
    CAPTURE(c.what);
    auto source = std::make_shared<CountingSource>();
    Value result;
    {
      auto runtime = RuntimeOn(source);
      auto invocation = *Invocation::Create(runtime, executable);
      for (int i = 0; i < 3; ++i) {
        result = testing::RunOk(*invocation, Int64Values({c.bytes, c.list, c.scratch}));
        REQUIRE(result.num_elements() == c.bytes);
        std::memset(const_cast<void*>(result.data()), i, result.bytes());
      }
      CHECK(source->calls() > 0);
    }
    // The runtime is gone; a large result keeps its memory, and the source.
    CHECK((source->live() > 0) == (c.bytes > 16 << 10));
    std::weak_ptr<MemorySource> watched = source;
    source.reset();
    if (c.bytes > 16 << 10) CHECK(watched.lock() != nullptr);
    result = Value();
    CHECK(watched.lock() == nullptr);
  }
}

TEST_CASE("memory source: memory goes back after a burst, and when an invocation is trimmed") {
  auto executable = LoadText(kProgram, kKernels);
  auto source = std::make_shared<CountingSource>();
  auto runtime = RuntimeOn(source);
  {
    auto invocation = *Invocation::Create(runtime, executable);
    for (const Case& c : kCases)
      testing::RunOk(*invocation, Int64Values({c.bytes, c.list, c.scratch}));
    invocation->Trim();
    CHECK(source->live() <= 1 << 22);  // scratch
  }
  CHECK(source->live() <= 10 << 20);  // kept for the next invocation
}

TEST_CASE("memory source: where it ends, at each call, the run fails and nothing is lost") {
  auto executable = LoadText(kProgram, kKernels);
  for (const Case& c : kCases) {
    CAPTURE(c.what);
    const std::vector<Value> inputs = Int64Values({c.bytes, c.list, c.scratch});
    int64_t failures = 0;
    for (int64_t calls = 0;; ++calls) {
      auto source = std::make_shared<CountingSource>(calls);
      auto invocation = *Invocation::Create(RuntimeOn(source), executable);
      Result<Value> result = invocation->Run("main", inputs);
      if (result.ok()) break;
      ++failures;
      CHECK_MESSAGE(result.status().code() == StatusCode::kResourceExhausted,
                    result.status().message());
      // The invocation is as good as before.
      source->Refill();
      CHECK(invocation->Run("main", inputs).ok());
    }
    CHECK(failures > 0);
  }
}

}  // namespace
}  // namespace relayvm
