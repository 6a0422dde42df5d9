#include "tools/serve/sequences.h"

#include <thread>

#include "tools/serve/testing.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// The sum so far; runs for ever, for a number above a million.
constexpr std::string_view kSum = R"(#[version = "0.0.5"]
def @turn(%i: float32, %n: float32) -> float32 {
  if (less(1000000f, %n)) { @turn(add(%i, 1f), %n) } else { %i }
}
def @main(%x: float32, %sum: float32) -> (float32, float32) {
  let %i = multiply(@turn(0f, %x), 0f);
  let %next = add(add(%sum, %x), %i);
  (%next, %next)
}
)";

struct Fixture {
  explicit Fixture(const SequenceOptions& options = {}) {
    auto compiled = relayvm::CompileModel(
        ModelSource::Text(kSum), {.opt_level = 1, .pass_options = {{"state", {"sum=output_1"}}}});
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
    ModelConfig config;
    config.sequences = options;
    auto made = ServedModel::Create("m", "1", *compiled->Load(), *dispatcher->MakeGroup(),
                                    std::make_shared<ModelMetrics>(metrics, "m"), config);
    REQUIRE(made.ok());
    model = *made;
  }
  struct Answer {
    std::promise<Result<InferResponse>> promise;
    std::future<Result<InferResponse>> future = promise.get_future();
    Dispatcher::Cancel cancel;
    Status status;  // of being asked, or answered
    float Sum() {
      const auto result = future.get();
      status = result.status();
      return result.ok() ? result->outputs[0].value.span<float>()[0] : -1;
    }
    StatusCode code() {
      Sum();
      return status.code();
    }
  };
  std::unique_ptr<Answer> Ask(float x, Parameters parameters, const InferOptions& options = {}) {
    auto answer = std::make_unique<Answer>();
    InferRequest request;
    request.inputs.push_back({"x", Value::Float32(x)});
    request.parameters = std::move(parameters);
    const Status asked = dispatcher->Infer(
        model, request, options,
        [a = answer.get()](Result<InferResponse> r) { a->promise.set_value(std::move(r)); },
        &answer->cancel);
    if (!asked.ok()) answer->promise.set_value(asked);
    return answer;
  }
  static Parameters In(int64_t id, bool start = false, bool end = false) {
    return {{"sequence_id", id}, {"sequence_start", start}, {"sequence_end", end}};
  }

  Metrics metrics;
  std::unique_ptr<Dispatcher> dispatcher = testing::NewDispatcher({.workers = 2});
  std::shared_ptr<const ServedModel> model;
};

TEST_CASE("each sequence goes on from its own state, and ends") {
  Fixture f;
  CHECK(f.Ask(1, Fixture::In(7, true))->Sum() == 1);
  CHECK(f.Ask(10, Fixture::In(8, true))->Sum() == 10);
  CHECK(f.Ask(2, Fixture::In(7))->Sum() == 3);
  CHECK(f.Ask(5, {})->Sum() == 5);  // of none
  CHECK(f.Ask(20, Fixture::In(8))->Sum() == 30);
  CHECK(f.Ask(3, Fixture::In(7, false, true))->Sum() == 6);
  CHECK(f.dispatcher->sequences().count() == 1);
  CHECK(f.dispatcher->sequences().bytes() == 4);
  const auto gone = f.Ask(1, Fixture::In(7));
  CHECK(gone->code() == StatusCode::kNotFound);
  CHECK(gone->status.message().starts_with("m has no sequence 7: it has not begun"));
  CHECK(f.Ask(4, Fixture::In(7, true, true))->Sum() == 4);  // begun again
  CHECK(f.Ask(1, {{"sequence_id", std::string("8")}})->code() == StatusCode::kNotFound);
}

TEST_CASE("what is at odds with a sequence is refused in words") {
  Fixture f;
  CHECK(f.Ask(1, Fixture::In(7, true))->Sum() == 1);
  const auto again = f.Ask(1, Fixture::In(7, true));
  CHECK(again->code() == StatusCode::kFailedPrecondition);
  CHECK(again->status.detail()->subject == kSequenceConflict);
  CHECK(again->status.message() == "sequence 7 of m has begun before and has not ended");
  CHECK(f.Ask(1, {{"sequence_start", true}})->code() == StatusCode::kInvalidArgument);
  CHECK(f.Ask(1, {{"sequence_id", true}})->code() == StatusCode::kInvalidArgument);
  CHECK(f.Ask(1, {{"sequence_id", int64_t{7}}, {"sequence_end", 1.5}})->code() ==
        StatusCode::kInvalidArgument);
  CHECK(f.Ask(1, {{"sequence_id", std::string(300, 'x')}, {"sequence_start", true}})->code() ==
        StatusCode::kInvalidArgument);
  const auto stateless = testing::Served(*f.dispatcher, f.metrics, testing::kCount);
  InferRequest request;
  request.inputs.push_back({"n", Value::Int64(1)});
  request.parameters = Fixture::In(1, true);
  CHECK(f.dispatcher->Infer(
                        stateless, request, {}, [](const auto&) {}, nullptr)
            .code() == StatusCode::kInvalidArgument);
}

TEST_CASE("requests of a sequence run in their order, one at a time") {
  Fixture f;
  std::vector<std::unique_ptr<Fixture::Answer>> answers;
  for (int i = 1; i <= 40; ++i) answers.push_back(f.Ask(1, Fixture::In(7, i == 1, i == 40)));
  for (int i = 1; i <= 40; ++i) CHECK(answers[static_cast<size_t>(i - 1)]->Sum() == i);
  CHECK(f.dispatcher->sequences().count() == 0);
  CHECK(f.dispatcher->sequences().bytes() == 0);
}

TEST_CASE("a request that never ends holds up its own sequence, and that within bounds") {
  Fixture f;
  CHECK(f.Ask(1, Fixture::In(7, true))->Sum() == 1);
  const auto endless = f.Ask(2e6F, Fixture::In(7));
  const auto late = f.Ask(1, Fixture::In(7), {.deadline = Clock::now() + 30ms});
  CHECK(late->code() == StatusCode::kDeadlineExceeded);
  CHECK(f.Ask(1, Fixture::In(8, true))->Sum() == 1);
  const auto leaves = f.Ask(1, Fixture::In(7));
  leaves->cancel.Cancel();
  std::vector<std::unique_ptr<Fixture::Answer>> waiting;
  bool is_full = false;
  for (int i = 0; i < 100 && !is_full; ++i) {
    waiting.push_back(f.Ask(1, Fixture::In(7)));
    is_full = waiting.back()->future.wait_for(0s) == std::future_status::ready;
  }
  CHECK(is_full);
  CHECK(waiting.back()->code() == StatusCode::kResourceExhausted);
  waiting.pop_back();
  endless->cancel.Cancel();
  CHECK(endless->code() == StatusCode::kCancelled);
  CHECK(leaves->code() == StatusCode::kCancelled);
  // The failed runs have changed nothing.
  for (size_t i = 0; i < waiting.size(); ++i) CHECK(waiting[i]->Sum() == 2 + static_cast<float>(i));
}

TEST_CASE("sequences that nobody asks for end, and their number and memory have bounds") {
  Fixture f({.time_to_live = 50ms, .max_count = 2});
  CHECK(f.Ask(1, Fixture::In(1, true))->Sum() == 1);
  CHECK(f.Ask(1, Fixture::In(2, true))->Sum() == 1);
  CHECK(f.Ask(1, Fixture::In(3, true))->code() == StatusCode::kResourceExhausted);
  const auto begin = Clock::now();
  while (f.dispatcher->sequences().count() > 0 && Clock::now() - begin < 10s)
    std::this_thread::sleep_for(5ms);
  CHECK(f.dispatcher->sequences().count() == 0);
  CHECK(f.dispatcher->sequences().bytes() == 0);
  CHECK(f.Ask(1, Fixture::In(1))->code() == StatusCode::kNotFound);
  CHECK(f.Ask(1, Fixture::In(3, true))->Sum() == 1);

  Fixture small({.max_bytes = 7});
  CHECK(small.Ask(1, Fixture::In(1, true))->Sum() == 1);
  CHECK(small.Ask(1, Fixture::In(2, true))->code() == StatusCode::kResourceExhausted);
  CHECK(small.dispatcher->sequences().count() == 1);
  CHECK(small.Ask(1, Fixture::In(1))->Sum() == 2);
}

TEST_CASE("a server that ends answers those that wait for their turn") {
  Fixture f;
  const auto endless = f.Ask(2e6F, Fixture::In(7, true));
  const auto waits = f.Ask(1, Fixture::In(7));
  f.dispatcher.reset();
  CHECK(endless->code() == StatusCode::kCancelled);
  CHECK_FALSE(waits->future.get().ok());
}

}  // namespace
}  // namespace relayvm::serve
