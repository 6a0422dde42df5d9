// Programs compiled with batched kernels: runs that go at once through a scheduler that batches
// give what each gives alone, bit for bit. Recurrent networks over sentences, trees and a decoder
// that samples, with weights in the program and weights that are arguments, and weights in fewer
// bits.
#include <doctest/doctest.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "bytecode/disassembler.h"
#include "compiler/driver.h"
#include "compiler/frontend/params.h"
#include "compiler/frontend/parser.h"
#include "kernels/op/weight_forms.h"
#include "tests/same_value.h"
#include "vm/schedule/scheduler.h"

namespace relayvm {
namespace {

constexpr const char* kLstm = R"(#[version = "0.0.5"]
def @loop(%i: int32, %n: int32, %xs: Tensor[(?, 60), float32], %h: Tensor[(1, 136), float32], %c: Tensor[(1, 136), float32], %wi: Tensor[(544, 60), float32], %wh: Tensor[(544, 136), float32], %b: Tensor[(544), float32]) -> (Tensor[(1, 136), float32], Tensor[(1, 136), float32]) {
  if (less(%i, %n)) {
    let %x = take(%xs, reshape(%i, newshape=[1]), axis=0, mode="clip");
    let %g = nn.bias_add(add(nn.dense(%x, %wi, units=544), nn.dense(%h, %wh, units=544)), %b, axis=1);
    let %s = split(%g, indices_or_sections=4, axis=1);
    let %c2 = add(multiply(sigmoid(%s.1), %c), multiply(sigmoid(%s.0), tanh(%s.2)));
    @loop(add(%i, 1), %n, %xs, multiply(sigmoid(%s.3), tanh(%c2)), %c2, %wi, %wh, %b)
  } else {
    (%h, %c)
  }
}
def @main(%xs: Tensor[(?, 60), float32], %wi: Tensor[(544, 60), float32], %wh: Tensor[(544, 136), float32], %b: Tensor[(544), float32]) -> (Tensor[(1, 136), float32], Tensor[(1, 136), float32]) {
  let %n = take(shape_of(%xs, dtype="int32"), 0, axis=0, mode="clip");
  @loop(0, %n, %xs, zeros(shape=[1, 136], dtype="float32"), zeros(shape=[1, 136], dtype="float32"), %wi, %wh, %b)
}
)";

// The shape of a tree is that of its parameter's bits.
constexpr const char* kTree = R"(#[version = "0.0.5"]
type Tree { Leaf(Tensor[(1, 192), float32]), Node(Tree, Tree), }
def @node(%t: Tree, %w: Tensor[(192, 384), float32], %b: Tensor[(192), float32]) -> Tensor[(1, 192), float32] {
  match (%t) {
    Leaf(%x) => { tanh(%x) },
    Node(%l, %r) => {
      tanh(nn.bias_add(nn.dense(concatenate((@node(%l, %w, %b), @node(%r, %w, %b)), axis=1), %w, units=192), %b, axis=1))
    },
  }
}
def @main(%t: Tree, %w: Tensor[(192, 384), float32], %b: Tensor[(192), float32]) -> Tensor[(1, 192), float32] {
  @node(%t, %w, %b)
}
)";

// Tokens until the most probable one is 0 or there are 12; two layers, a residual and a loop that
// ends differently for each.
constexpr const char* kDecoder = R"(#[version = "0.0.5"]
def @step(%n: int32, %x: Tensor[(1, 260), float32], %out: Tensor[(?), int32], %w1: Tensor[(260, 260), float32], %w2: Tensor[(270, 260), float32], %e: Tensor[(270, 260), float32]) -> Tensor[(?), int32] {
  let %h = add(%x, nn.relu(nn.dense(%x, %w1, units=260)));
  let %token = cast(argmax(nn.dense(nn.relu(%h), %w2, units=270), axis=[1]), dtype="int32");
  let %all = concatenate((%out, %token), axis=0);
  let %last = take(%token, 0, axis=0, mode="clip");
  if (logical_and(less(%n, 12), greater(%last, 20))) {
    @step(add(%n, 1), tanh(add(%h, take(%e, %token, axis=0, mode="clip"))), %all, %w1, %w2, %e)
  } else {
    %all
  }
}
def @main(%x: Tensor[(1, 260), float32], %w1: Tensor[(260, 260), float32], %w2: Tensor[(270, 260), float32], %e: Tensor[(270, 260), float32]) -> Tensor[(?), int32] {
  @step(0, %x, zeros(shape=[0], dtype="int32"), %w1, %w2, %e)
}
)";

std::mt19937 g_random(1);

HostTensor RandomTensor(const std::vector<int64_t>& shape, float scale) {
  HostTensor t;
  t.dtype = DType::kFloat32;
  t.shape = shape;
  t.data = SharedBytes::Zeros(static_cast<size_t>(t.size()) * 4);
  auto* data = reinterpret_cast<float*>(t.data.Mutable().data());
  std::normal_distribution<float> normal(0, scale);
  for (int64_t i = 0; i < t.size(); ++i) data[i] = normal(g_random);
  return t;
}
Value ValueOf(const HostTensor& t) { return *Value::CopyTensor(t.dtype, t.shape, t.data.data()); }

Value Tree(int depth) {
  if (depth == 0 || g_random() % 4 == 0) return Value::Adt(0, {ValueOf(RandomTensor({1, 192}, 1))});
  return Value::Adt(1, {Tree(depth - 1), Tree(depth - 1)});
}

// All at once; each must succeed.
std::vector<Value> RunAll(std::shared_ptr<const Executable> executable,
                          const std::vector<std::vector<Value>>& requests,
                          const SchedulerOptions& options, SchedulerStats* stats) {
  auto runtime = Runtime::Create({});
  REQUIRE(runtime.ok());
  auto scheduler = Scheduler::Create(*runtime, options);
  REQUIRE(scheduler.ok());
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Value> results(requests.size());
  std::string failure;
  size_t left = requests.size();
  for (size_t i = 0; i < requests.size(); ++i) {
    auto run = (*scheduler)
                   ->RunAsync({.executable = executable, .inputs = requests[i]},
                              [&, i](Result<Value> value) {
                                std::lock_guard lock(mutex);
                                if (value.ok()) {
                                  results[i] = *std::move(value);
                                } else {
                                  failure = value.status().message();
                                }
                                if (--left == 0) changed.notify_one();
                              });
    REQUIRE(run.ok());
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == 0; });
  CHECK_MESSAGE(failure.empty(), failure);
  if (stats != nullptr) *stats = (*scheduler)->stats();
  return results;
}

struct Case {
  const char* name;
  const char* text;
  std::vector<std::vector<int64_t>> weights;  // of the last parameters
  Value (*input)(int);
};

TEST_CASE("batching: programs give the bits that they give alone") {
  const Case cases[] = {
      {"lstm",
       kLstm,
       {{544, 60}, {544, 136}, {544}},
       [](int i) { return ValueOf(RandomTensor({1 + i * 5 % 19, 60}, 1)); }},
      {"tree", kTree, {{192, 384}, {192}}, [](int i) { return Tree(i % 5); }},
      {"decoder",
       kDecoder,
       {{260, 260}, {270, 260}, {270, 260}},
       [](int) { return ValueOf(RandomTensor({1, 260}, 1)); }},
  };
  for (const Case& c : cases) {
    for (const char* form : {"arguments", "constants", "bf16", "q8"}) {
      CAPTURE(c.name);
      CAPTURE(form);
      CompileOptions options;
      options.kernels.batching = true;
      const bool are_arguments = std::string_view(form) == "arguments";
      if (std::string_view(form) == "bf16") options.pipeline.options = {{"precision", {"bf16"}}};
      if (std::string_view(form) == "q8") options.pipeline.options = {{"weights", {"q8"}}};
      std::vector<HostTensor> weights;
      for (const auto& shape : c.weights) weights.push_back(RandomTensor(shape, 0.2F));
      auto module = frontend::ParseRelay("test.relay", c.text);
      REQUIRE_MESSAGE(module.ok(), module.status().message());
      if (!are_arguments) {
        const auto& params = module->functions.at("main")->params;
        frontend::Params bound;
        for (size_t i = 0; i < weights.size(); ++i)
          bound[params[params.size() - weights.size() + i]->name] = weights[i];
        module = frontend::BindParams(*module, bound);
        REQUIRE_MESSAGE(module.ok(), module.status().message());
      }
      auto compiled = CompileModule(*std::move(module), options);
      REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
      auto executable = Executable::FromProgram(std::move(compiled->program));
      REQUIRE_MESSAGE(executable.ok(), executable.status().message());
      CHECK((*executable)->num_batched_kernels() > 0);
      std::vector<Value> shared;
      if (are_arguments) {
        for (const HostTensor& w : weights) shared.push_back(ValueOf(w));
      }
      std::vector<std::vector<Value>> requests;
      for (int i = 0; i < 24; ++i) {
        requests.push_back({c.input(i)});
        requests.back().insert(requests.back().end(), shared.begin(), shared.end());
      }
      const std::vector<Value> alone = RunAll(*executable, requests, {}, nullptr);
      for (uint32_t threads : {1U, 2U}) {
        SchedulerStats stats;
        const std::vector<Value> together = RunAll(
            *executable, requests, {.num_threads = threads, .batching = {.max_batch = 16}}, &stats);
        CHECK(stats.batched_calls + stats.lone_calls > 0);
        if (threads == 1) CHECK(stats.batched_calls > 2 * stats.batches);
        int differ = 0;
        for (size_t i = 0; i < alone.size(); ++i)
          differ += testing::SameBits(alone[i], together[i]) ? 0 : 1;
        CHECK(differ == 0);
      }
    }
  }
}

// Two layers whose weights are in the program, rows open, as those of a transformer are.
constexpr const char* kRows = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, ?, 260), float32], %w1: Tensor[(320, 260), float32], %w2: Tensor[(260, 320), float32]) -> Tensor[(?, ?, 260), float32] {
  let %y = reshape(%x, newshape=[-1, 260]);
  let %z = add(%y, nn.dense(nn.relu(nn.dense(%y, %w1, units=320)), %w2, units=260));
  tanh(reshape_like(%z, %x))
}
)";

TEST_CASE("batching: requests of different lengths share their products") {
  auto module = frontend::ParseRelay("test.relay", kRows);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  module = frontend::BindParams(
      *module, {{"w1", RandomTensor({320, 260}, 0.2F)}, {"w2", RandomTensor({260, 320}, 0.2F)}});
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  CompileOptions options;
  options.kernels.batching = true;
  auto compiled = CompileModule(*std::move(module), options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const std::string text = DisassembleProgram(compiled->program, {});
  INFO(text);
  CHECK(text.find("(calls) rows ") != std::string::npos);
  auto executable = Executable::FromProgram(std::move(compiled->program));
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  std::vector<std::vector<Value>> requests;
  for (int i = 0; i < 40; ++i) requests.push_back({ValueOf(RandomTensor({1, 1 + i % 6, 260}, 1))});
  const std::vector<Value> alone = RunAll(*executable, requests, {}, nullptr);
  for (uint32_t threads : {1U, 2U}) {
    SchedulerStats stats;
    const std::vector<Value> together = RunAll(
        *executable, requests, {.num_threads = threads, .batching = {.max_batch = 16}}, &stats);
    if (threads == 1) CHECK(stats.batched_calls > 2 * stats.batches);
    int differ = 0;
    for (size_t i = 0; i < alone.size(); ++i)
      differ += testing::SameBits(alone[i], together[i]) ? 0 : 1;
    CHECK(differ == 0);
  }
}

}  // namespace
}  // namespace relayvm
