#include "tools/serve/batcher.h"

#include <atomic>
#include <thread>

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using testing::Floats;
using testing::FloatsOf;

// For each number: itself plus one, after as many turns as the largest of them says: for ever, for
// what is large enough. Fails where that is kWrong.
constexpr float kWrong = 1'500'000, kEndless = 1e30F;
constexpr std::string_view kSlow = R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @turn(%i: float32, %n: float32) -> float32 {
  if (less(%i, %n)) { @turn(add(%i, 1f), %n) } else { %i }
}
def @check(%n: float32) -> float32 {
  let %l: List[float32] = if (equal(%n, 1500000f)) { Nil } else { Cons(0f, Nil) };
  match? (%l) { Cons(%h, %t) => %h }
}
def @main(%x: Tensor[(?, 1), float32]) -> Tensor[(?, 1), float32] {
  let %n = max(%x);
  let %ok = @check(%n);
  add(add(%x, 1f), multiply(@turn(%ok, %n), 0f))
}
)";
constexpr std::string_view kJoined = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 1), float32]) -> Tensor[(?, 1), float32] { add(%x, 1f) }
)";

struct Fixture {
  Fixture(std::string_view relay, ModelConfig config, DispatcherOptions options = {.workers = 1}) {
    options.join_limit = 0ns;  // however short
    dispatcher = testing::NewDispatcher(options);
    config.independent_rows = true;
    auto made = ServedModel::Create("m", "1", testing::Loaded(relay), *dispatcher->MakeGroup(),
                                    std::make_shared<ModelMetrics>(metrics, "m"), config);
    REQUIRE_MESSAGE(made.ok(), made.status().message());
    model = *made;
  }

  struct Answer {
    std::promise<Result<InferResponse>> promise;
    std::future<Result<InferResponse>> future = promise.get_future();
    Dispatcher::Cancel cancel;
    StatusCode code() { return future.get().status().code(); }
    std::vector<float> floats() {
      const auto result = future.get();
      if (!result.ok()) return {};
      return FloatsOf(result->outputs[0].value);
    }
  };
  std::unique_ptr<Answer> Ask(const std::vector<float>& numbers, const InferOptions& options = {}) {
    auto answer = std::make_unique<Answer>();
    InferRequest request;
    request.inputs.push_back(
        {"x", *Value::CopyTensor(DType::kFloat32, {{static_cast<int64_t>(numbers.size()), 1}},
                                 numbers.data())});
    const Status asked = dispatcher->Infer(
        model, request, options,
        [a = answer.get()](Result<InferResponse> r) { a->promise.set_value(std::move(r)); },
        &answer->cancel);
    if (!asked.ok()) answer->promise.set_value(asked);
    return answer;
  }
  uint64_t batches(size_t i) const { return model->metrics().batches[i]->value(); }

  Metrics metrics;
  std::unique_ptr<Dispatcher> dispatcher;
  std::shared_ptr<const ServedModel> model;
};

TEST_CASE("requests that wait for each other run together, and each has its own rows") {
  Fixture f(kJoined, {.max_batch = 4, .max_delay = 10s});
  const auto a = f.Ask({1}), b = f.Ask({2, 3}), c = f.Ask({4});
  CHECK(a->floats() == std::vector<float>{2});
  CHECK(b->floats() == std::vector<float>{3, 4});
  CHECK(c->floats() == std::vector<float>{5});
  CHECK(f.batches(2) == 1);  // three or four of them
  CHECK(f.model->metrics().runs.value() == 1);
  const auto times = f.model->metrics().batch_times();
  REQUIRE(times.size() == 1);
  CHECK(times.contains(3));
  CHECK(times.at(3).count == 1);
}

TEST_CASE("one that is alone waits no longer than the delay, and without one not at all") {
  Fixture waits(kJoined, {.max_batch = 4, .max_delay = 20ms});
  const auto begin = Clock::now();
  CHECK(waits.Ask({1})->floats() == std::vector<float>{2});
  const auto waited = Clock::now() - begin;
  CHECK(waited >= 20ms);
  CHECK(waited < 2s);
  Fixture does_not(kJoined, {.max_batch = 4, .max_delay = 0ns});
  CHECK(does_not.Ask({1})->floats() == std::vector<float>{2});
}

TEST_CASE("what comes while another runs goes together after it") {
  Fixture f(kSlow, {.max_batch = 32, .max_delay = 0ns});
  const auto first = f.Ask({kEndless});
  const auto a = f.Ask({1}), b = f.Ask({2}), c = f.Ask({3});
  first->cancel.Cancel();
  CHECK(first->code() == StatusCode::kCancelled);
  CHECK(a->floats() == std::vector<float>{2});
  CHECK(b->floats() == std::vector<float>{3});
  CHECK(c->floats() == std::vector<float>{4});
  CHECK(f.batches(2) == 1);                     // a, b and c
  CHECK(f.model->metrics().runs.value() <= 2);  // the first may be cancelled before it begins
}

TEST_CASE("a request that fails does not fail those that it ran with") {
  Fixture f(kSlow, {.max_batch = 3, .max_delay = 10s});
  const auto a = f.Ask({1}), wrong = f.Ask({kWrong}), b = f.Ask({2});
  CHECK(a->floats() == std::vector<float>{2});
  CHECK(b->floats() == std::vector<float>{3});
  CHECK_FALSE(wrong->future.get().ok());
  CHECK(f.model->metrics().runs.value() == 4);
}

TEST_CASE("more rows than a batch has run by themselves; requests of no rows too") {
  Fixture f(kJoined, {.max_batch = 2, .max_delay = 1ms});
  CHECK(f.Ask({1, 2, 3})->floats() == std::vector<float>{2, 3, 4});
  CHECK(f.Ask({})->floats().empty());
}

TEST_CASE("one that leaves is answered at once, waiting or running, and the others get theirs") {
  Fixture f(kSlow, {.max_batch = 2, .max_delay = 10s});
  const auto waiting = f.Ask({1});
  waiting->cancel.Cancel();
  CHECK(waiting->code() == StatusCode::kCancelled);
  const auto leaves = f.Ask({kEndless}), stays = f.Ask({5});
  leaves->cancel.Cancel();
  CHECK(leaves->code() == StatusCode::kCancelled);
  CHECK(stays->floats() == std::vector<float>{6});
  // A run that everybody has left ends; else this would take its time.
  Fixture all(kSlow, {.max_batch = 2, .max_delay = 10s});
  const auto x = all.Ask({kEndless}), y = all.Ask({kEndless});
  x->cancel.Cancel();
  y->cancel.Cancel();
  CHECK(x->code() == StatusCode::kCancelled);
  CHECK(y->code() == StatusCode::kCancelled);
  CHECK(all.dispatcher->Drain(Clock::now() + 20s).ok());
}

TEST_CASE("each has its own deadline, while it waits and while it runs with others") {
  Fixture f(kSlow, {.max_batch = 2, .max_delay = 10s});
  CHECK(f.Ask({1}, {.deadline = Clock::now() - 1ms})->code() == StatusCode::kDeadlineExceeded);
  const auto begin = Clock::now();
  CHECK(f.Ask({1}, {.deadline = begin + 20ms})->code() == StatusCode::kDeadlineExceeded);
  CHECK(Clock::now() - begin < 5s);
  const auto endless = f.Ask({kEndless});
  const auto late = f.Ask({1}, {.deadline = Clock::now() + 30ms});
  CHECK(late->code() == StatusCode::kDeadlineExceeded);
  const auto stops = f.Ask({kEndless}, {.deadline = Clock::now() + 30ms}), stays = f.Ask({1});
  CHECK(stops->code() == StatusCode::kDeadlineExceeded);
  endless->cancel.Cancel();
  CHECK(endless->code() == StatusCode::kCancelled);
  CHECK(stays->floats() == std::vector<float>{2});
}

TEST_CASE("too many that wait are refused; draining answers those that wait, ending too") {
  Fixture f(kSlow, {.max_batch = 100, .max_delay = 10s}, {.workers = 1, .max_queued = 2});
  const auto a = f.Ask({1}), b = f.Ask({2});
  CHECK(f.Ask({3})->code() == StatusCode::kResourceExhausted);
  CHECK(f.dispatcher->Drain(Clock::now() + 20s).ok());
  CHECK(a->floats() == std::vector<float>{2});
  CHECK(f.Ask({3})->code() == StatusCode::kFailedPrecondition);
  Fixture ends(kSlow, {.max_batch = 100, .max_delay = 10s});
  const auto left = ends.Ask({1});
  ends.dispatcher.reset();
  CHECK(left->code() == StatusCode::kCancelled);
}

TEST_CASE("a wrong request is refused before it meets others") {
  Fixture f(kJoined, {.max_batch = 2, .max_delay = 10s});
  InferRequest request;
  request.inputs.push_back({"x", Floats({1})});
  Dispatcher::Cancel cancel;
  CHECK(f.dispatcher->Infer(
                        f.model, request, {}, [](const Result<InferResponse>&) {}, &cancel)
            .code() == StatusCode::kInvalidArgument);
}

TEST_CASE("many clients, some of which leave or fail: all others get their own rows") {
  Fixture f(kSlow, {.max_batch = 16, .max_delay = 1ms}, {.workers = 2});
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 8; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const auto number = static_cast<float>(t * 100 + i);
        const bool fails = i % 20 == 7, leaves = i % 10 == 3;
        const auto answer = f.Ask({fails ? kWrong : number});
        if (leaves) answer->cancel.Cancel();
        const auto result = answer->future.get();
        if (fails    ? result.ok()
            : leaves ? false
                     : !result.ok() ||
                           FloatsOf(result->outputs[0].value) != std::vector<float>{number + 1})
          ++wrong;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace relayvm::serve
