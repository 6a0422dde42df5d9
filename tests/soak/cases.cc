#include "tests/soak/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "compiler/api/compiler.h"

namespace relayvm::soak {
namespace {

// Fails with what should not happen.
template <typename T>
T Checked(Result<T> result) {
  if (result.ok()) return *std::move(result);
  fmt::print(stderr, "soak: {}\n", result.status().ToString());
  std::exit(2);
}

Value Floats(Random& random, const std::vector<int64_t>& dims, int64_t zeros_in = 0) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<float> elements(static_cast<size_t>(count));
  for (float& e : elements) {
    const bool is_zero = zeros_in > 0 && Between(random, 1, zeros_in) == 1;
    e = is_zero ? 0 : 0.01F * static_cast<float>(Between(random, -100, 100));
  }
  return Checked(Value::CopyTensor(DType::kFloat32, dims, elements.data()));
}

Value List(Random& random) {
  Value list = Value::Adt(1, {});
  for (int64_t n = Between(random, 0, 8); n > 0; --n)
    list = Value::Adt(0, {Floats(random, {Between(random, 0, 40)}), list});
  return list;
}

using Inputs = std::function<std::vector<Value>(Random&)>;
struct File {
  const char* name;
  Inputs inputs;
};

std::vector<File> Files() {
  return {
      {"lists.relay", [](Random& r) { return std::vector<Value>{List(r)}; }},
      {"closures.relay",
       [](Random& r) {
         return std::vector<Value>{Value::Int32(static_cast<int32_t>(Between(r, 0, 12)))};
       }},
      {"references.relay",
       [](Random& r) {
         return std::vector<Value>{Value::Int32(static_cast<int32_t>(Between(r, -9, 9)))};
       }},
      {"data_dependent.relay",
       [](Random& r) { return std::vector<Value>{Floats(r, {Between(r, 0, 400)}, 3)}; }},
      {"growing.relay",
       [](Random& r) {
         return std::vector<Value>{Value::Int64(Between(r, 0, 12)),
                                   Floats(r, {Between(r, 0, 5), 2})};
       }},
      {"deep_recursion.relay",
       [](Random& r) {
         return std::vector<Value>{Value::Int32(static_cast<int32_t>(Between(r, 0, 500)))};
       }},
      {"shapes.relay",
       [](Random& r) {
         return std::vector<Value>{Floats(r, {Between(r, 0, 60), 4})};
       }},
      // Half of them fail in a guard.
      {"broadcast_guard.relay",
       [](Random& r) {
         return std::vector<Value>{Floats(r, {Between(r, 1, 2)}), Floats(r, {Between(r, 1, 3)})};
       }},
  };
}

// Steps of a cell, with a host function between them; each state is streamed.
constexpr const char* kCell = R"(#[version = "0.0.5"]
def @pause(%step: int64, host=1) -> int64;
def @emit(%step: int64, %x: Tensor[(1, 256), float32], host=1) -> ();
def @loop(%n: int64, %x: Tensor[(1, 256), float32], %w: Tensor[(256, 256), float32]) -> Tensor[(1, 256), float32] {
  if (less(0i64, %n)) {
    let %y = tanh(nn.dense(%x, %w));
    let %u = @emit(%n, %y);
    @loop(subtract(@pause(%n), 1i64), %y, %w)
  } else { %x }
}
def @main(%n: int64, %x: Tensor[(1, 256), float32], %w: Tensor[(256, 256), float32]) { @loop(%n, %x, %w) })";

// Large tensors, which leave the heap as they are.
constexpr const char* kLarge = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) {
  let %y = concatenate((%x, multiply(%x, 2f)), axis=0);
  (%y, reshape(%y, newshape=[2, -1]), sum(%y))
})";

// A result that is made in a buffer for it, from 16 KiB on.
constexpr const char* kSimple = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) { multiply(tanh(%x), %x) })";

std::shared_ptr<const Executable> Compile(const ModelSource& source,
                                          const std::vector<HostFunction>& functions = {}) {
  CompilerOptions options;
  options.batching = true;
  const CompiledModel model = Checked(CompileModel(source, options));
  return Checked(model.Load({.host_functions = functions}));
}

std::vector<HostFunction> Functions(Alarm* alarm) {
  const auto pause = [alarm](HostCall& call) -> Result<Value> {
    const auto* plan = static_cast<const HostPlan*>(call.context());
    const Value step = call.args()[0];
    if (plan == nullptr) return step;
    if (plan->fails_at == static_cast<int64_t>(step.element(0)))
      return Status(StatusCode::kNotFound, "nothing is there");
    if (plan->wait == HostPlan::Wait::kForTime) {
      const auto now = std::chrono::steady_clock::now();
      RELAYVM_RETURN_IF_ERROR(call.SuspendUntil(now + std::chrono::microseconds(30)));
    } else if (plan->wait == HostPlan::Wait::kForWaker) {
      alarm->WakeSoon(call.waker());
      RELAYVM_RETURN_IF_ERROR(call.Suspend());
    }
    return step;
  };
  const auto emit = [](HostCall& call) -> Result<Value> {
    if (call.args()[1].num_elements() != 256) return Status(StatusCode::kInternal, "not the state");
    return Value::Tuple({});
  };
  return {{"pause", "fn (int64) -> int64", pause}, {"emit", "", emit}};
}

}  // namespace

struct Alarm::Impl {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Waker> wakers;
  bool stopping = false;
  std::thread thread;

  void Work() {
    std::unique_lock lock(mutex);
    while (!stopping || !wakers.empty()) {
      changed.wait(lock, [&] { return stopping || !wakers.empty(); });
      const std::vector<Waker> now = std::exchange(wakers, {});
      lock.unlock();
      for (const Waker& waker : now) waker.Wake();
      lock.lock();
    }
  }
};

Alarm::Alarm() : impl_(std::make_unique<Impl>()) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->Work(); });
}
Alarm::~Alarm() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  impl_->thread.join();
}
void Alarm::WakeSoon(Waker waker) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->wakers.push_back(std::move(waker));
  }
  impl_->changed.notify_one();
}

std::vector<Case> MakeCases(const std::string& folder, size_t per_program, Alarm* alarm,
                            Random& random) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& program,
                       const std::shared_ptr<const Executable>& executable, bool calls_host,
                       const Inputs& inputs) {
    auto runtime = Checked(Runtime::Create());
    auto invocation = Checked(Invocation::Create(runtime, executable));
    for (size_t i = 0; i < per_program; ++i) {
      Case& c = cases.emplace_back(Case{program, executable, inputs(random), calls_host});
      Result<Value> result = invocation->Run("main", c.inputs);
      c.code = result.status().code();
      if (result.ok()) c.expected = *std::move(result);
    }
  };
  for (const File& file : Files())
    add(file.name, Compile({folder + "/" + file.name, {}}), false, file.inputs);
  const Value weights = Floats(random, {256, 256});
  auto cell = Compile(ModelSource::Text(kCell, "cell"), Functions(alarm));
  if (cell->num_batched_kernels() == 0) {
    fmt::print(stderr, "soak: the cell has no batched kernel\n");
    std::exit(2);
  }
  const auto cell_inputs = [&](Random& r) {
    return std::vector<Value>{Value::Int64(Between(r, 0, 4)), Floats(r, {1, 256}), weights};
  };
  // More often than others: it is what waits and what is batched.
  for (int i = 0; i < 3; ++i) add("cell", cell, true, cell_inputs);
  add("large", Compile(ModelSource::Text(kLarge, "large")), false, [](Random& r) {
    return std::vector<Value>{Floats(r, {Between(r, 0, 9) == 0 ? 40000 : Between(r, 1, 6000)})};
  });
  add("simple", Compile(ModelSource::Text(kSimple, "simple")), false,
      [](Random& r) { return std::vector<Value>{Floats(r, {Between(r, 1, 12000)})}; });
  std::shuffle(cases.begin(), cases.end(), random);
  return cases;
}

}  // namespace relayvm::soak
