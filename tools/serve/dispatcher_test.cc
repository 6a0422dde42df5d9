#include "tools/serve/dispatcher.h"

#include <atomic>
#include <thread>

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;
using testing::Floats;
using testing::FloatsOf;
using testing::NewDispatcher;
using testing::Served;

// An answer, or why there is none, however it comes.
struct Answer {
  std::shared_ptr<std::promise<Result<InferResponse>>> promise =
      std::make_shared<std::promise<Result<InferResponse>>>();
  std::future<Result<InferResponse>> future = promise->get_future();
  Dispatcher::Cancel cancel;
};
Status Ask(Dispatcher& dispatcher, std::shared_ptr<const ServedModel> model, InferRequest request,
           Answer& answer, const InferOptions& options = {}) {
  return dispatcher.Infer(
      std::move(model), request, options,
      [promise = answer.promise](Result<InferResponse> result) {
        promise->set_value(std::move(result));
      },
      &answer.cancel);
}
InferRequest CountDown(int64_t from) {
  InferRequest request;
  request.inputs.push_back({"n", Value::Int64(from)});
  return request;
}
constexpr int64_t kForever = int64_t{1} << 60;

TEST_CASE("each request gets the answer to its own inputs") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher({.workers = 2});
  const auto model = Served(*dispatcher, metrics, testing::kAddOne);
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        InferRequest request;
        request.id = std::to_string(t * 1000 + i);
        request.inputs.push_back(
            {"x", Floats(std::vector<float>(static_cast<size_t>(i), static_cast<float>(t)))});
        Answer answer;
        if (!Ask(*dispatcher, model, request, answer).ok()) {
          ++wrong;
          continue;
        }
        const auto result = answer.future.get();
        const std::vector<float> expected(static_cast<size_t>(i), static_cast<float>(t) + 1);
        if (!result.ok() || result->id != std::to_string(t * 1000 + i) ||
            FloatsOf(result->outputs[0].value) != expected)
          ++wrong;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);
  CHECK(metrics.histogram("vmserve_run_seconds", "", {{"model", "m"}}).count() == 800);
}

TEST_CASE("what is wrong with a request is said before or when it runs") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher();
  const auto model = Served(*dispatcher, metrics, testing::kAddOne);
  Answer none, wrong;
  CHECK(Ask(*dispatcher, model, {}, none).code() == StatusCode::kInvalidArgument);
  InferRequest request;
  request.inputs.push_back({"x", Value::Int64(1)});
  REQUIRE(Ask(*dispatcher, model, request, wrong).ok());
  CHECK(wrong.future.get().status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a full queue, a deadline and a cancellation end what cannot be had") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher({.workers = 1, .max_queued = 2});
  const auto model = Served(*dispatcher, metrics, testing::kCount);
  // As many as may have begun, and two that wait.
  std::vector<std::unique_ptr<Answer>> running;
  for (int i = 0; i < 6; ++i) {
    running.push_back(std::make_unique<Answer>());
    // Those before begin when the worker comes to them.
    while (!Ask(*dispatcher, model, CountDown(kForever), *running.back()).ok())
      std::this_thread::yield();
  }
  Answer refused;
  CHECK(Ask(*dispatcher, model, CountDown(1), refused).code() == StatusCode::kResourceExhausted);
  running.back()->cancel.Cancel();
  CHECK(running.back()->future.get().status().code() == StatusCode::kCancelled);
  Answer late;
  REQUIRE(Ask(*dispatcher, model, CountDown(kForever), late,
              {.deadline = Clock::now() + std::chrono::milliseconds(30)})
              .ok());
  CHECK(late.future.get().status().code() == StatusCode::kDeadlineExceeded);
  Answer hopeless;
  CHECK(Ask(*dispatcher, model, CountDown(1), hopeless,
            {.deadline = Clock::now() - std::chrono::milliseconds(1)})
            .code() == StatusCode::kDeadlineExceeded);
  running.pop_back();
  for (const auto& answer : running) answer->cancel.Cancel();
  for (const auto& answer : running)
    CHECK(answer->future.get().status().code() == StatusCode::kCancelled);
}

TEST_CASE("where runs take longer than a deadline leaves, a request is refused at once") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher({.workers = 1});
  const auto model = Served(*dispatcher, metrics, testing::kCount);
  model->NoteRun(1'000'000'000);
  Answer answer;
  const Status refused = Ask(*dispatcher, model, CountDown(1), answer,
                             {.deadline = Clock::now() + std::chrono::milliseconds(500)});
  CHECK(refused.code() == StatusCode::kDeadlineExceeded);
  CHECK(refused.message().ends_with("and 0 runs of some 1000000 us are queued before it"));
}

TEST_CASE("runs that were cancelled or failed say nothing of how long others take") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher({.workers = 1});
  const auto model = Served(*dispatcher, metrics, testing::kCount);
  Answer cancelled, wrong;
  REQUIRE(Ask(*dispatcher, model, CountDown(kForever), cancelled).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  cancelled.cancel.Cancel();
  CHECK_FALSE(cancelled.future.get().ok());
  InferRequest request;
  request.inputs.push_back({"n", Value::Float32(1)});
  REQUIRE(Ask(*dispatcher, model, request, wrong).ok());
  CHECK_FALSE(wrong.future.get().ok());
  CHECK(dispatcher->Drain(Clock::now() + std::chrono::seconds(60)).ok());
  CHECK(model->typical_run_ns() == 0);
}

TEST_CASE("a short model runs on the thread that asks, a long one does not") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher({.workers = 1});
  const auto model = Served(*dispatcher, metrics, testing::kCount);
  const auto runs_here = [&] {
    std::promise<bool> here;
    InferRequest request = CountDown(3);
    Dispatcher::Cancel cancel;
    const auto self = std::this_thread::get_id();
    REQUIRE(dispatcher
                ->Infer(
                    model, request, {},
                    [&](const Result<InferResponse>&) {
                      here.set_value(std::this_thread::get_id() == self);
                    },
                    &cancel)
                .ok());
    return here.get_future().get();
  };
  CHECK_FALSE(runs_here());  // nothing is known of it
  bool any = false;          // unless the worker is still at its latest job
  for (int i = 0; i < 100 && !any; ++i) any = runs_here();
  CHECK(any);
  for (int i = 0; i < 50; ++i) model->NoteRun(1'000'000'000);
  CHECK_FALSE(runs_here());
}

TEST_CASE("a run over its own limit of memory is the request's fault, the server's lack is not") {
  constexpr std::string_view kZeros = R"(#[version = "0.0.5"]
def @main(%n: Tensor[(1), int64]) -> Tensor[(?), float32] {
  dyn.zeros(%n, shape=None, dtype="float32")
}
)";
  Metrics metrics;
  const auto dispatcher =
      NewDispatcher({.memory_limit = size_t{64} << 20, .run_memory = size_t{32} << 20});
  const auto model = Served(*dispatcher, metrics, kZeros);
  const auto code = [&](int64_t elements) {
    Answer answer;
    InferRequest request;
    request.inputs.push_back({"n", *Value::CopyTensor(DType::kInt64, {{1}}, &elements)});
    REQUIRE(Ask(*dispatcher, model, request, answer).ok());
    const auto result = answer.future.get();
    return result.ok() ? StatusCode::kOk : result.status().code();
  };
  CHECK(code(1 << 20) == StatusCode::kOk);
  CHECK(code(12 << 20) == StatusCode::kOutOfRange);  // 48 MiB
  CHECK(code(1LL << 40) == StatusCode::kOutOfRange);
  CHECK(code(INT64_MAX) == StatusCode::kOutOfRange);
  // Half of all is another's.
  const auto large = dispatcher->runtime().NewTensor(DType::kInt8, {{48 << 20}});
  REQUIRE(large.ok());
  CHECK(code(6 << 20) == StatusCode::kResourceExhausted);  // 24 MiB
}

TEST_CASE("drained, it refuses") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher();
  const auto model = Served(*dispatcher, metrics, testing::kCount);
  Answer running, refused;
  REQUIRE(Ask(*dispatcher, model, CountDown(100'000), running).ok());
  CHECK(dispatcher->Drain(Clock::now() + std::chrono::seconds(60)).ok());
  CHECK(running.future.get().ok());
  CHECK(Ask(*dispatcher, model, CountDown(1), refused).code() == StatusCode::kFailedPrecondition);
}

TEST_CASE("each request of a program with states begins anew") {
  Metrics metrics;
  const auto dispatcher = NewDispatcher();
  auto compiled =
      relayvm::CompileModel(ModelSource::Text(R"(#[version = "0.0.5"]
def @main(%x: float32, %sum: float32) -> (float32, float32) {
  let %next = add(%sum, %x);
  (multiply(%next, 2f), %next)
})"),
                            {.opt_level = 1, .pass_options = {{"state", {"sum=output_1"}}}});
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  auto model = ServedModel::Create("m", "1", *compiled->Load(), *dispatcher->MakeGroup(),
                                   std::make_shared<ModelMetrics>(metrics, "m"));
  REQUIRE(model.ok());
  CHECK((*model)->inputs().size() == 1);
  CHECK((*model)->outputs().size() == 1);
  for (int i = 0; i < 2; ++i) {
    InferRequest request;
    request.inputs.push_back({"x", Value::Float32(3)});
    Answer answer;
    REQUIRE(Ask(*dispatcher, *model, request, answer).ok());
    const auto result = answer.future.get();
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    REQUIRE(result->outputs.size() == 1);
    CHECK(result->outputs[0].value.span<float>()[0] == 6);
  }
}

}  // namespace
}  // namespace relayvm::serve
