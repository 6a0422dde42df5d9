// An injected memory source: what comes from it goes back to it, and its end is a run's failure.
#include "vm/memory/memory_source.h"

#include <array>
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
                           {"huge", 70 << 20, 10, 0},
                           {"many objects", 10, 300'000, 0}};

TEST_CASE(
    "memory source: what a large block held is there for smaller ones, and for the next run") {
  auto source = std::make_shared<CountingSource>();
  vm::OwnedHeap heap(new vm::Heap(source));
  int64_t calls = 0;
  for (int run = 0; run < 3; ++run) {
    heap->BeginRun(SIZE_MAX);
    void* large = heap->AllocateLarge(size_t{38} << 20);
    REQUIRE(large != nullptr);
    heap->FreeLarge(large, size_t{38} << 20);
    for (int i = 0; i < 3; ++i) REQUIRE(heap->AllocateLarge(size_t{12} << 20) != nullptr);
    heap->Reset();
    if (run == 0) calls = source->calls();
    CHECK(source->calls() == calls);
  }
  heap.reset();
}

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

TEST_CASE("memory source: tensors that a host has for its inputs come from it, and count") {
  auto source = std::make_shared<CountingSource>();
  Value kept;
  {
    constexpr size_t kLimit = 8 << 20;
    auto runtime = *Runtime::Create({.memory = source, .memory_limit = kLimit});
    const int64_t few[] = {100}, many[] = {1 << 20}, negative[] = {-1};
    CHECK(runtime->NewTensor(DType::kFloat32, few).ok());  // small ones are not counted
    CHECK(runtime->NewTensor(DType::kFloat32, negative).status().code() ==
          StatusCode::kInvalidArgument);
    CHECK(source->calls() == 0);

    Value x = *runtime->NewTensor(DType::kFloat32, many);
    CHECK(source->live() == 4 << 20);
    CHECK(runtime->stats().counted_bytes == 4 << 20);
    CHECK(!x.is_borrowed());
    const std::span<float> elements = x.mutable_span<float>();
    REQUIRE(elements.size() == 1 << 20);
    elements[5] = 7;
    CHECK(x.mutable_span<int32_t>().empty());
    // In and out, as it is.
    auto program = LoadText(R"(
.version 1
.export "main" f0 ("x": float32[?"n"]) -> float32[?"n"]
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
    auto invocation = *Invocation::Create(runtime, program);
    auto result = invocation->Run({{"x", x}});
    REQUIRE(result.ok());
    kept = *result->Find("output_0");
    CHECK(kept.data() == x.data());
    CHECK(kept.span<float>()[5] == 7);
    CHECK(kept.span<double>().empty());
    CHECK(x.mutable_data() == nullptr);  // both have it

    const Value second = *runtime->NewTensor(DType::kUInt8, std::array<int64_t, 1>{3 << 20});
    const Status full = runtime->NewTensor(DType::kFloat32, many).status();
    CHECK(full.code() == StatusCode::kResourceExhausted);
    CHECK(full.message() ==
          "no memory for a tensor of 4194304 bytes: the runtime's limit is 8388608, 7340032 are in "
          "use");
    // A run has what is left.
    auto large = Invocation::Create(runtime, LoadText(R"(
.version 1
.export "main" f0 () -> float32[25000, 100]
.function "main" scalars 0 objects 0 captured 0 registers 2 1 returns object arena 0
  const.i16 i0, 25000
  const.i16 i1, 100
  tensor.alloc r0, float32, [i0, i1]
  ret.r r0!
.end
)"));
    CHECK((*large)->Run("main", {}).status().code() == StatusCode::kResourceExhausted);
  }
  CHECK(source->live() == 4 << 20);  // older than its runtime
  CHECK(kept.span<float>()[5] == 7);
  kept = Value();
  CHECK(source->live() == 0);
}

TEST_CASE("memory source: a tensor of the host's where the source has no more") {
  auto source = std::make_shared<CountingSource>(0);
  auto runtime = *Runtime::Create({.memory = source, .memory_limit = 1 << 20});
  const int64_t dims[] = {1 << 18};
  CHECK(runtime->NewTensor(DType::kInt8, dims).status().code() == StatusCode::kResourceExhausted);
  CHECK(runtime->stats().counted_bytes == 0);
  source->Refill();
  CHECK(runtime->NewTensor(DType::kInt8, dims).ok());
  CHECK(runtime->stats().counted_bytes == 0);
}

}  // namespace
}  // namespace relayvm
