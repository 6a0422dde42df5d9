// What crosses the border, with each allocation failing: DLPack and foreign memory, output buffers,
// host functions that suspend and stream, schedulers with batching.
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "tests/faults/fail_each.h"
#include "vm/api/dlpack_exchange.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::faults {
namespace {

alignas(64) float g_numbers[6] = {1, 2, 3, 4, 5, 6};
int64_t g_shape[2] = {2, 3}, g_transposed[2] = {1, 2};

TEST_CASE("faults: foreign memory and DLPack tensors go back once, whatever fails") {
  LeavesNothing([] {
    int released = 0;
    const auto release = [](void* count) { ++*static_cast<int*>(count); };
    int expected = 0;
    Value value;
    const auto gone_once = [&] {
      value = Value();
      CHECK(released == ++expected);
    };
    for (const int64_t rows : {2, -2}) {
      const bool is_wrong = rows < 0;
      for (char* data :
           {reinterpret_cast<char*>(g_numbers), reinterpret_cast<char*>(g_numbers) + 4}) {
        for (int64_t number = 1;; ++number) {
          Arm(number, Failing::kRest);
          Result<Value> wrapped =
              Value::WrapTensor(DType::kFloat32, {{rows, 2}}, data, release, &released);
          const bool failed = Disarm();
          CHECK(wrapped.ok() == (!failed && !is_wrong));
          if (wrapped.ok()) value = *wrapped;
          wrapped = Status::OutOfMemory();
          gone_once();
          if (!failed) break;
        }
      }
    }
    DLManagedTensorVersioned managed{};
    managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed.manager_ctx = &released;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++*static_cast<int*>(self->manager_ctx);
    };
    managed.dl_tensor = {g_numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, g_shape, nullptr, 0};
    enum { kCompact, kTransposed, kOtherVersion, kOtherType, kKinds };
    for (int kind = 0; kind < kKinds; ++kind) {
      managed.dl_tensor.strides = kind == kTransposed ? g_transposed : nullptr;
      managed.version.major = kind == kOtherVersion ? 99 : DLPACK_MAJOR_VERSION;
      managed.dl_tensor.dtype.lanes = kind == kOtherType ? 3 : 1;
      for (int64_t number = 1;; ++number) {
        Arm(number, Failing::kRest);
        Result<Value> taken = FromDLPack(&managed);
        const bool failed = Disarm();
        CHECK(taken.ok() == (!failed && kind <= kTransposed));
        if (taken.ok()) value = *taken;
        taken = Status::OutOfMemory();
        gone_once();
        if (!failed) break;
      }
    }
    const Value own = Floats({1, 2, 3});
    DLManagedTensorVersioned* given = nullptr;
    FailEach(
        [&] {
          Result<DLManagedTensorVersioned*> made = ToDLPack(own);
          given = made.ok() ? *made : nullptr;
          return made.status();
        },
        [&] {
          if (given != nullptr) given->deleter(given);
        });
  });
}

constexpr const char* kHostProgram = R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @emit(%step: int64, %x: Tensor[(?), float32], host=1) -> ();
def @fetch(%n: int64, host=1) -> List[Tensor[(?), float32]];
def @sum(%xs: List[Tensor[(?), float32]]) -> float32 {
  match (%xs) { Cons(%x, %rest) => { add(sum(%x), @sum(%rest)) }, Nil => { 0f } }
}
def @steps(%i: int64, %n: int64, %total: float32) -> float32 {
  if (less(%i, %n)) {
    let %s = add(%total, @sum(@fetch(%i)));
    let %u = @emit(%i, full(%s, shape=[5000], dtype="float32"));
    @steps(add(%i, 1i64), %n, %s)
  } else { %total }
}
def @main(%n: int64) { @steps(0i64, %n, 0f) })";

// Wakes what it is given, from a thread of its own. Its memory is made before anything fails.
class WakingThread {
 public:
  WakingThread() : thread_([this] { Work(); }) {}
  ~WakingThread() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void Wake(Waker waker) {
    {
      std::lock_guard lock(mutex_);
      waker_ = std::move(waker);
      asked_ = true;
    }
    changed_.notify_all();
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return asked_ || stopping_; });
      if (stopping_) return;
      asked_ = false;
      const Waker waker = std::exchange(waker_, Waker());
      lock.unlock();
      waker.Wake();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  Waker waker_;
  bool asked_ = false, stopping_ = false;
  std::thread thread_;
};

TEST_CASE("faults: host functions that suspend, and results that are streamed") {
  const CompiledModel model = Compile(kHostProgram);
  LeavesNothing([&] {
    WakingThread waking;
    std::atomic<int64_t> emitted{0};
    const std::vector<HostFunction> functions = {
        {"emit", "fn (int64, Tensor[(?), float32]) -> ()",
         [&](HostCall& call) -> Result<Value> {
           emitted += call.args()[1].num_elements();
           RELAYVM_RETURN_IF_ERROR(
               call.SuspendUntil(std::chrono::steady_clock::now() + std::chrono::microseconds(50)));
           return Value::Tuple({});
         }},
        {"fetch", "", [&](HostCall& call) -> Result<Value> {
           waking.Wake(call.waker());
           RELAYVM_RETURN_IF_ERROR(call.Suspend());
           const float numbers[] = {1, 2, 3};
           RELAYVM_ASSIGN_OR_RETURN(const Value shared,
                                    Value::CopyTensor(DType::kFloat32, {{2}}, numbers));
           RELAYVM_ASSIGN_OR_RETURN(const Value other,
                                    Value::CopyTensor(DType::kFloat32, {{1}}, numbers + 2));
           return Value::Adt(
               0, {shared, Value::Adt(0, {shared, Value::Adt(0, {other, Value::Adt(1, {})})})});
         }}};
    auto executable = Load(model, functions);
    auto invocation = *Invocation::Create(NewRuntime(), executable);
    const auto run = [&]() -> Status {
      emitted = 0;
      try {
        Result<Value> result = invocation->Run("main", {Value::Int64(3)});
        if (result.ok() && result->element(0) != 0x41D80000)  // 27
          return {StatusCode::kInternal, "wrong result"};
        return result.status();
      } catch (const std::bad_alloc&) {  // of the inputs
        return Status::OutOfMemory();
      }
    };
    FailEach([&] { invocation->Trim(); }, run,
             [&] {
               const Status status = run();
               REQUIRE_MESSAGE(status.ok(), status.ToString());
               REQUIRE(emitted == 15000);
             });
    int64_t loads = 0;
    FailEach([&] { return model.Load({.host_functions = functions}).status(); }, [&] { ++loads; });
    CHECK(loads > 10);
  });
}

TEST_CASE("faults: buffers of the host for results") {
  const std::shared_ptr<const Executable> executable = Load(Compile(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) { (add(%x, 1f), (%x, multiply(%x, 2f))) })"));
  LeavesNothing([&] {
    auto invocation = *Invocation::Create(NewRuntime(), executable);
    std::vector<float> first(3), second(3);
    const int64_t dims[] = {3};
    const Value x = Floats({1, 2, 3});
    const auto run = [&]() -> Status {
      try {
        std::vector<OutputBuffer> outputs = {
            {DType::kFloat32, dims, first.data()}, {}, {DType::kFloat32, dims, second.data()}};
        return invocation->Run("main", {x}, std::move(outputs)).status();
      } catch (const std::bad_alloc&) {  // of the arguments
        return Status::OutOfMemory();
      }
    };
    FailEach(run, [&] {
      REQUIRE(run().ok());
      CHECK(first == std::vector<float>{2, 3, 4});
      CHECK(second == std::vector<float>{2, 4, 6});
    });
  });
}

// Runs of a scheduler, some of which fail; all of which complete.
class Requests {
 public:
  explicit Requests(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~Requests() { static_cast<void>(Wait()); }
  Status Add(const RunRequest& request, const Value& expected) {
    try {
      ++open_;
      auto run = scheduler_.RunAsync(request, [this, &expected](Result<Value> result) {
        const bool is_right = result.ok()
                                  ? testing::SameBits(*result, expected)
                                  : result.status().code() == StatusCode::kResourceExhausted;
        if (!is_right) wrong_ = true;
        if (!result.ok()) failed_ = true;
        std::lock_guard lock(mutex_);
        --open_;
        changed_.notify_all();
      });
      if (!run.ok()) --open_;
      return run.status();
    } catch (const std::bad_alloc&) {  // of the request
      --open_;
      return Status::OutOfMemory();
    }
  }
  // kResourceExhausted when any has failed.
  Status Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_ == 0; });
    if (wrong_) return {StatusCode::kInternal, "a wrong result or status"};
    return failed_ ? Status::OutOfMemory() : OkStatus();
  }

 private:
  Scheduler& scheduler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> open_{0};
  std::atomic<bool> wrong_{false}, failed_{false};
};

TEST_CASE("faults: runs of a scheduler end, each with its result or kResourceExhausted") {
  const CompiledModel model = Compile(R"(#[version = "0.0.5"]
def @pause(%n: int64, host=1) -> int64;
def @loop(%n: int64, %x: Tensor[(1, 256), float32], %w: Tensor[(256, 256), float32]) -> Tensor[(1, 256), float32] {
  if (less(0i64, %n)) { @loop(@pause(%n), tanh(nn.dense(%x, %w)), %w) } else { %x }
}
def @main(%n: int64, %x: Tensor[(1, 256), float32], %w: Tensor[(256, 256), float32]) { @loop(%n, %x, %w) })",
                                      /*batching=*/true);
  const std::vector<HostFunction> functions = {
      {"pause", "", [](HostCall& call) -> Result<Value> {
         RELAYVM_RETURN_IF_ERROR(
             call.SuspendUntil(std::chrono::steady_clock::now() + std::chrono::microseconds(20)));
         return Value::Int64(static_cast<int64_t>(call.args()[0].element(0)) - 1);
       }}};
  const std::shared_ptr<const Executable> executable = Load(model, functions);
  const Value w = *Value::CopyTensor(DType::kFloat32, {{256, 256}},
                                     std::vector<float>(256 * 256, 0.01F).data());
  const Value x =
      *Value::CopyTensor(DType::kFloat32, {{1, 256}}, std::vector<float>(256, 0.5F).data());
  const std::vector<Value> inputs = {Value::Int64(2), x, w};
  const RunRequest request{.executable = executable, .inputs = inputs};
  const Value expected = *(*Invocation::Create(NewRuntime(), executable))->Run("main", inputs);
  LeavesNothing([&] {
    auto runtime = NewRuntime();
    for (const size_t max_batch : {0, 4}) {
      const SchedulerOptions options{.num_threads = 2, .batching = {.max_batch = max_batch}};
      {
        auto scheduler = *Scheduler::Create(runtime, options);
        const auto attempt = [&] {
          Requests requests(*scheduler);
          Status refused;
          for (int i = 0; i < 4; ++i) {
            Status status = requests.Add(request, expected);
            if (!status.ok()) refused = std::move(status);
          }
          Status ended = requests.Wait();
          return ended.ok() ? refused : ended;
        };
        FailEach(attempt, [&] {
          const Status status = attempt();
          REQUIRE_MESSAGE(status.ok(), status.ToString());
        });
        CHECK(scheduler->stats().queued + scheduler->stats().waiting == 0);
      }
      FailEach([&] { return Scheduler::Create(runtime, options).status(); }, [] {});
    }
  });
}

TEST_CASE("faults: a scheduler is destroyed without memory") {
  const CompiledModel model = Compile(R"(#[version = "0.0.5"]
def @wait(host=1) -> int64;
def @main() { @wait() })");
  const std::vector<HostFunction> functions = {{"wait", "", [](HostCall& call) -> Result<Value> {
                                                  RELAYVM_RETURN_IF_ERROR(call.Suspend());
                                                  return Value::Int64(1);
                                                }}};
  const std::shared_ptr<const Executable> executable = Load(model, functions);
  LeavesNothing([&] {
    std::atomic<int> ended{0};
    auto scheduler = *Scheduler::Create(NewRuntime(), {.max_active = 3});
    for (int i = 0; i < 5; ++i) {
      REQUIRE(scheduler
                  ->RunAsync({.executable = executable},
                             [&](const Result<Value>& result) {
                               if (!result.ok()) ++ended;
                             })
                  .ok());
    }
    while (scheduler->stats().waiting < 3) std::this_thread::yield();
    Arm(1, Failing::kRest);
    scheduler.reset();
    Disarm();
    CHECK(ended == 5);
  });
}

}  // namespace
}  // namespace relayvm::faults
