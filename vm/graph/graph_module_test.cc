#include "vm/graph/graph_module.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "tests/temp_folder.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/format/graph_json.h"
#include "vm/graph/graph_folder.h"
#include "vm/graph/testing.h"
#include "vm/trace/profile.h"

namespace relayvm::graph {
namespace {

using testing::Floats;
using testing::ReadAll;
using testing::Small;

std::atomic<int> g_calls{0};
std::atomic<int> g_fails{0};  // the kernel's code from the first call on, once

// test.add of testing.h.
int32_t AddFloats(const RelayvmKernelEnv* /*env*/, const RelayvmKernelArgs* args, uint32_t begin,
                  uint32_t end) {
  ++g_calls;
  if (const int code = g_fails.exchange(0); code != 0) return code;
  const auto* a = static_cast<const float*>(args->buffers[0]);
  const auto* b = static_cast<const float*>(args->buffers[1]);
  auto* c = static_cast<float*>(args->buffers[2]);
  for (uint32_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
  return RELAYVM_KERNEL_OK;
}
const Builtin kAdd[] = {{"test.add", AddFloats}};

Value Tensor(const std::vector<float>& values) {
  return *Value::CopyTensor(DType::kFloat32, {{static_cast<int64_t>(values.size())}},
                            values.data());
}

std::unique_ptr<GraphModule> Make(uint32_t threads = 1, const GraphProgram& program = Small(),
                                  std::span<const Builtin> kernels = kAdd) {
  GraphOptions options;
  options.num_threads = threads;
  options.load.kernels = kernels;
  auto linked = LinkGraph(program, options.load);
  REQUIRE_MESSAGE(linked.ok(), linked.status().message());
  auto module = GraphModule::Create(*std::move(linked), options);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  return *std::move(module);
}

std::vector<float> Output(const GraphModule& module) {
  const auto value = module.GetOutput(0);
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  CHECK(std::ranges::equal(value->dims(), std::vector<int64_t>{2, 2}));
  const auto* f = static_cast<const float*>(value->data());
  return {f, f + value->num_elements()};
}

using Numbers = std::vector<float>;

TEST_CASE("inputs are set, the graph runs, outputs are copies") {
  const auto module = Make();
  CHECK(module->num_inputs() == 2);
  CHECK(module->num_parameters() == 1);
  CHECK(module->num_outputs() == 1);
  CHECK(module->input(0).name == "x");
  CHECK(module->input(1).name == "w");
  CHECK(module->output(0).name == "output_0");
  CHECK(*module->FindInput("w") == 1);
  CHECK(module->GetOutput(0).status().code() == StatusCode::kFailedPrecondition);
  CHECK(module->Run().message() == "input x is not set");
  CHECK(module->GetInput(0).status().message() == "input x is not set");
  REQUIRE(module->SetInput("x", Tensor({1, 2, 3, 4})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 46, 69, 92});
  const auto first = module->GetOutput(0);
  REQUIRE(module->SetInput(0, Tensor({0, 0, 0, 1})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{20, 40, 60, 83});
  CHECK(static_cast<const float*>(first->data())[0] == 23);
  CHECK(static_cast<const float*>(module->output_data(0))[3] == 83);
  float out[4] = {};
  REQUIRE(module->CopyOutput(0, {DType::kFloat32, {{2, 2}}, out}).ok());
  CHECK(out[3] == 83);
  const auto x = module->GetInput(0);
  CHECK(static_cast<const float*>(x->data())[3] == 1);
}

TEST_CASE("an input without a copy: what its owner writes counts, until it is set anew") {
  const auto module = Make();
  alignas(64) float x[4] = {1, 1, 1, 1};
  auto wrapped = Value::WrapTensor(DType::kFloat32, {{4}}, x, nullptr, nullptr);
  REQUIRE(module->SetInputZeroCopy("x", *wrapped).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 43, 63, 83});
  x[0] = 2;
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{26, 43, 63, 83});
  REQUIRE(module->SetInput("x", Tensor({0, 0, 0, 0})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{20, 40, 60, 80});
  CHECK(x[0] == 2);
}

TEST_CASE("wrong inputs and outputs are named, and change nothing") {
  const auto module = Make();
  REQUIRE(module->SetInput(0, Tensor({1, 1, 1, 1})).ok());
  CHECK(module->SetInput(0, Tensor({1, 2})).message() ==
        "input x: expected Tensor[(4), float32], found Tensor[(2), float32]");
  CHECK(module->SetInputZeroCopy(0, Value::Int64(1)).message() ==
        "input x: expected Tensor[(4), float32], found int64");
  CHECK(module->SetInput(0, Value::Tuple({})).message() == "input x: expected a tensor");
  CHECK(module->SetInput(7, Tensor({1})).code() == StatusCode::kOutOfRange);
  CHECK(module->SetInput("y", Tensor({1})).message() ==
        "there is no input y; inputs: x; weights: 1");
  CHECK(module->GetInput(2).status().code() == StatusCode::kOutOfRange);
  REQUIRE(module->Run().ok());
  CHECK(module->GetOutput(1).status().message() == "there is no output 1; the graph has 1");
  CHECK(
      module->CopyOutput(0, {DType::kFloat32, {{4}}, nullptr}).message() ==
      "output output_0: expected a buffer of Tensor[(2, 2), float32], found Tensor[(4), float32]");
  CHECK(Output(*module) == Numbers{23, 43, 63, 83});
}

TEST_CASE("weights: loaded by name, shared between modules") {
  const relayvm::testing::TempFolder folder;
  auto bytes = [&](const TensorsByName& tensors) {
    REQUIRE(WriteTvmParams(folder / "p", tensors).ok());
    return ReadAll(folder / "p");
  };
  auto load = [&](GraphModule& m, const std::string& text) {
    return m.LoadParams(std::as_bytes(std::span(text)));
  };
  const auto module = Make(), other = Make();
  REQUIRE(module->SetInput(0, Tensor({0, 0, 0, 0})).ok());
  REQUIRE(load(*module, bytes({{"w", Floats({1, 2, 3, 4})}})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{2, 4, 6, 8});
  CHECK(load(*module, "nonsense").code() == StatusCode::kInvalidInput);
  CHECK(load(*module, bytes({{"v", Floats({1})}})).code() == StatusCode::kNotFound);
  CHECK(load(*module, bytes({{"w", Floats({1})}, {"x", Floats({5, 5, 5, 5})}})).code() ==
        StatusCode::kInvalidArgument);
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{2, 4, 6, 8});

  REQUIRE(other->SetInput(0, Tensor({1, 1, 1, 1})).ok());
  CHECK(*other->ShareParams(*module) == 1);
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{5, 7, 9, 11});
  // Who sets a shared weight has one of its own from there on.
  REQUIRE(other->SetInput("w", Tensor({0, 0, 0, 0})).ok());
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{3, 3, 3, 3});
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{2, 4, 6, 8});
  CHECK(*module->ShareParams(*module) == 0);
}

// Small(), whose weight is a constant of the kernels' file.
GraphProgram SmallOfConstant() {
  GraphProgram p = Small();
  p.kernels.constants = {{DType::kFloat32, {4}, "w", p.params.at("w").data}};
  p.params.clear();
  return p;
}

TEST_CASE("weights: those of the kernels' file are read there, until they are set") {
  auto module = Make(1, SmallOfConstant()), other = Make();
  CHECK(module->num_parameters() == 1);
  CHECK(module->memory().weight_bytes == 16);
  const auto* constant = module->kernels()->program().constants[0].data.data();
  CHECK(*other->ShareParams(*module) == 1);
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 46, 69, 92});
  REQUIRE(module->SetInput(1, Tensor({0, 0, 0, 0})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{3, 6, 9, 12});
  CHECK(std::memcmp(constant, Numbers{10, 20, 30, 40}.data(), 16) == 0);
  // Who shares them keeps them.
  module.reset();
  REQUIRE(other->SetInput(0, Tensor({0, 0, 0, 0})).ok());
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{20, 40, 60, 80});
}

TEST_CASE("weights: what fails to load leaves those that are set, shared ones too") {
  const relayvm::testing::TempFolder folder;
  REQUIRE(WriteTvmParams(folder / "p", {{"w", Floats({1, 2, 3, 4})}}).ok());
  const std::string text = ReadAll(folder / "p");
  const auto module = Make(), other = Make();
  REQUIRE(other->SetInput(0, Tensor({0, 0, 0, 0})).ok());
  CHECK(*other->ShareParams(*module) == 1);
  // Loading gives `other` room of its own; what was shared stays the one of `module`.
  REQUIRE(other->LoadParams(std::as_bytes(std::span(text))).ok());
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{2, 4, 6, 8});
  CHECK(static_cast<const float*>(module->GetInput(1)->data())[0] == 10);
  // Of its own memory.
  CHECK(*other->ShareParams(*module) == 1);
  const Value again = *other->GetInput(1);
  REQUIRE(other->SetInput(1, again).ok());
  CHECK(static_cast<const float*>(other->GetInput(1)->data())[0] == 10);
}

TEST_CASE("outputs that are inputs, or views of them, stay what they were until the next run") {
  GraphProgram program = Small();
  Graph& graph = program.graph;
  Node view;
  view.kind = Node::Kind::kView;
  view.name = "view_of_x";
  view.inputs = {{0, 0}};
  view.outputs = {{DType::kFloat32, {4, 1}, 0, 0}};
  graph.nodes.push_back(view);
  const auto last = static_cast<uint32_t>(graph.nodes.size() - 1);
  graph.heads = {{5, 0}, {0, 0}, {last, 0}, {1, 0}, {0, 0}};  // one of them twice
  ValueType results;
  results.kind = ValueType::Kind::kTuple;
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{2, 2}, {4}, {4, 1}, {4}, {4}})
    results.args.emplace_back().dims = dims;
  program.kernels.exports[0].result = results;
  const auto module = Make(1, program);
  alignas(64) float x[4] = {1, 2, 3, 4};
  auto wrapped = Value::WrapTensor(DType::kFloat32, {{4}}, x, nullptr, nullptr);
  REQUIRE(module->SetInputZeroCopy("x", *wrapped).ok());
  REQUIRE(module->Run().ok());
  const auto numbers = [&](size_t output) {
    const auto* f = static_cast<const float*>(module->output_data(output));
    return Numbers(f, f + 4);
  };
  const Numbers weights = numbers(3);
  REQUIRE(module->SetInput("x", Tensor({5, 6, 7, 8})).ok());
  x[0] = 99;
  for (size_t output : {1, 2, 4}) CHECK(numbers(output) == Numbers{1, 2, 3, 4});
  CHECK(numbers(0) == Numbers{23, 46, 69, 92});
  REQUIRE(module->SetInput("w", Tensor({0, 0, 0, 0})).ok());
  CHECK(numbers(3) == weights);
  REQUIRE(module->Run().ok());
  for (size_t output : {1, 2, 4}) CHECK(numbers(output) == Numbers{5, 6, 7, 8});
  CHECK(numbers(3) == Numbers{0, 0, 0, 0});
  CHECK(module->GetOutput(2)->dims()[0] == 4);
}

TEST_CASE("what a host's kernel throws ends the run, on any thread") {
  static constexpr Builtin kThrows[] = {{"test.add",
                                         [](const RelayvmKernelEnv*, const RelayvmKernelArgs*,
                                            uint32_t begin, uint32_t end) -> int32_t {
                                           if (begin == 0 || end == 4)
                                             throw std::runtime_error("lost");
                                           return RELAYVM_KERNEL_OK;
                                         }}};
  for (uint32_t threads : {1u, 2u, 4u}) {
    const auto module = Make(threads, Small(), kThrows);
    REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    for (int round = 0; round < 20; ++round) {
      const Status failed = module->Run();
      CHECK(failed.code() == StatusCode::kInternal);
      CHECK(failed.message() == "exception: lost");
    }
  }
}

TEST_CASE("a kernel that fails is named, and the next run is a new one") {
  const auto module = Make();
  REQUIRE(module->SetInput(0, Tensor({1, 1, 1, 1})).ok());
  g_fails = RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  const Status failed = module->Run();
  CHECK(failed.code() == StatusCode::kOutOfRange);
  CHECK(failed.message() == "node 2 (add): kernel test.add: index out of range");
  g_fails = 77;
  CHECK(module->Run().message() == "node 2 (add): kernel test.add: failed with code 77");
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 43, 63, 83});
}

TEST_CASE("threads share a kernel's units") {
  const auto module = Make(2);
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  g_calls = 0;
  REQUIRE(module->Run().ok());
  CHECK(g_calls == 3 * 4);  // units of a grain of 1
  CHECK(Output(*module) == Numbers{23, 46, 69, 92});
  g_fails = RELAYVM_KERNEL_INVALID_ARGUMENT;
  CHECK(module->Run().code() == StatusCode::kFailedPrecondition);
  CHECK(GraphModule::Create(*LinkGraph(Small(), {.kernels = kAdd}), {.num_threads = 100'000})
            .status()
            .code() == StatusCode::kInvalidArgument);
}

TEST_CASE("times of nodes") {
  const auto module = Make();
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  REQUIRE(module->Run().ok());
  module->set_timing(true);
  for (int i = 0; i < 3; ++i) REQUIRE(module->Run().ok());
  const std::vector<NodeTime> times = module->node_times();
  REQUIRE(times.size() == 3);
  for (const NodeTime& t : times) {
    CHECK(t.name == "add");
    CHECK(t.calls == 3);
    CHECK(t.total_ns > 0);
  }
  CHECK(module->memory().planned_bytes == 2 * 64);
  CHECK(module->memory().weight_bytes == 16);
}

// --- Limits ---

// test.add, which goes on for as long as it may.
constexpr Builtin kEndless[] = {
    {"test.add",
     [](const RelayvmKernelEnv* env, const RelayvmKernelArgs*, uint32_t, uint32_t) -> int32_t {
       ++g_calls;
       for (;;) {
         if (const int32_t code = env->poll(env); code != RELAYVM_KERNEL_OK) return code;
       }
     }}};

TEST_CASE("a timeout ends a run inside a kernel, and there is no output") {
  for (const uint32_t threads : {1u, 3u}) {
    const auto module = Make(threads, Small(), kEndless);
    REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    module->set_timeout(std::chrono::milliseconds(20));
    const auto begin = std::chrono::steady_clock::now();
    const Status late = module->Run();
    CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(20));
    CHECK(late.code() == StatusCode::kDeadlineExceeded);
    CHECK(late.message() == "node 2 (add): kernel test.add: the deadline has passed");
    REQUIRE(late.detail() != nullptr);
    CHECK(late.detail()->subject == "test.add");
    CHECK(late.detail()->places.at(0).function == "add");
    CHECK(module->GetOutput(0).status().message() == "the graph has not run to its end yet");
  }
  // Between kernels, and at the end: of three calls one is late.
  static std::atomic<int> late_call;
  static constexpr Builtin kSlow[] = {
      {"test.add",
       [](const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t, uint32_t end) -> int32_t {
         if (end == 4 && ++g_calls == late_call)
           std::this_thread::sleep_for(std::chrono::seconds(1));
         return RELAYVM_KERNEL_OK;
       }}};
  const auto module = Make(1, Small(), kSlow);
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  module->set_timeout(std::chrono::milliseconds(800));
  for (const auto& [call, where] :
       {std::pair(1, "node 3 (add)"), std::pair(3, "the graph"), std::pair(0, "")}) {
    g_calls = 0;
    late_call = call;
    const Status ran = module->Run();
    CHECK(ran.ok() == (call == 0));
    if (call != 0) CHECK(ran.message() == where + std::string(": the deadline has passed"));
  }
}

TEST_CASE("any thread cancels a run; the next one is a new one") {
  const auto module = Make(2, Small(), kEndless);
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  for (int i = 0; i < 3; ++i) {
    g_calls = 0;
    std::thread canceller([&] {
      while (g_calls == 0) std::this_thread::yield();
      module->Cancel();
    });
    const Status cancelled = module->Run();
    canceller.join();
    CHECK(cancelled.code() == StatusCode::kCancelled);
    CHECK(cancelled.message() == "node 2 (add): kernel test.add: cancelled");
  }
  const auto quick = Make();
  REQUIRE(quick->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  quick->Cancel();
  CHECK(quick->Run().code() == StatusCode::kCancelled);
  REQUIRE(quick->Run().ok());
  quick->Cancel();
  quick->ForgetCancel();
  REQUIRE(quick->Run().ok());
  CHECK(Output(*quick) == Numbers{23, 46, 69, 92});
}

TEST_CASE("a memory limit counts what is planned and what kernels ask for") {
  const auto make = [](size_t limit, std::span<const Builtin> kernels) {
    GraphOptions options;
    options.memory_limit = limit;
    options.load.kernels = kernels;
    return GraphModule::Create(*LinkGraph(Small(), options.load), options);
  };
  const Status refused = make(127, kAdd).status();
  CHECK(refused.code() == StatusCode::kResourceExhausted);
  CHECK(refused.message() ==
        "the graph: no memory for its tensors and scratch: 0 bytes are in use of 127; raise the "
        "memory "
        "limit");
  CHECK(make(128, kAdd).ok());
  // Leaves what it has taken to who ends the run. Debug builds call it for each of three pieces.
  static constexpr Builtin kTakes[] = {
      {"test.add",
       [](const RelayvmKernelEnv* env, const RelayvmKernelArgs*, uint32_t, uint32_t) -> int32_t {
         return env->allocate(env, 1 << 20) != nullptr ? RELAYVM_KERNEL_OK
                                                       : RELAYVM_KERNEL_OUT_OF_MEMORY;
       }}};
  const auto small = make(1 << 20, kTakes), large = make(16 << 20, kTakes);
  REQUIRE(small.ok());
  REQUIRE(large.ok());
  for (int run = 0; run < 100; ++run) {
    REQUIRE((*small)->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    REQUIRE((*large)->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    const Status full = (*small)->Run();
    CHECK(full.code() == StatusCode::kResourceExhausted);
    CHECK(full.message() ==
          "node 2 (add): no memory for the buffers of kernel test.add: 128 bytes are in use of "
          "1048576; "
          "raise the memory limit");
    CHECK((*large)->Run().ok());
  }
}

TEST_CASE("who is polled ends a run, and no other") {
  const auto module = Make();
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  int asked = 0;
  module->set_poll(
      [](void* count) {
        ++*static_cast<int*>(count);
        return true;
      },
      &asked);
  const Status stopped = module->Run();
  CHECK(stopped.code() == StatusCode::kCancelled);
  CHECK(stopped.message().find("node 2 (add)") != std::string::npos);
  CHECK(asked == 1);
  module->set_poll(nullptr, nullptr);
  CHECK(module->Run().ok());
  CHECK(asked == 1);
}

// --- Runtimes ---

struct Sink : TraceSink {
  std::vector<std::string> events;
  std::vector<KernelEvent> kernels;
  uint32_t interval = 1;
  void OnKernel(const KernelEvent& event) override {
    kernels.push_back(event);
    events.push_back(fmt::format("kernel {} {}", event.name, event.pc));
  }
  void OnRunBegin(const RunEvent& event) override {
    events.push_back(fmt::format("begin {} {}", event.function, event.run.invocation));
  }
  void OnRunEnd(const RunEvent& event) override {
    CHECK(event.end_ns >= event.begin_ns);
    events.push_back(fmt::format("end {}", StatusCodeName(event.status)));
  }
  void OnSlice(const SliceEvent& event) override {
    CHECK(event.run.executable != nullptr);
    events.emplace_back("slice");
  }
  uint32_t kernel_interval() const override { return interval; }
};

std::unique_ptr<GraphModule> MakeIn(const std::shared_ptr<Runtime>& runtime) {
  GraphOptions options{.runtime = runtime, .load = {.kernels = kAdd}};
  auto module = GraphModule::Create(*LinkGraph(Small(), options.load), options);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  return *std::move(module);
}

TEST_CASE("runs in a runtime are counted there, and told to its sink") {
  Sink sink;
  const auto runtime = *Runtime::Create({.trace = &sink});
  const auto first = MakeIn(runtime), module = MakeIn(runtime);
  CHECK(first->id() == 1);
  CHECK(module->id() == 2);
  CHECK(runtime->stats().workspaces == 2);
  CHECK(runtime->stats().live_bytes >= 2 * first->memory().planned_bytes);
  CHECK(module->Run().code() == StatusCode::kFailedPrecondition);  // an input is missing
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  REQUIRE(module->Run().ok());
  CHECK(sink.events == std::vector<std::string>{"begin main 2", "kernel add 2", "kernel add 3",
                                                "kernel add 4", "end ok", "slice"});
  CHECK(sink.kernels[1].run.executable == module->kernels().get());
  CHECK(sink.kernels[1].units == 4);
  CHECK(sink.kernels[1].end_ns >= sink.kernels[1].begin_ns);
  CHECK(module->stats().run_ns > 0);
  CHECK(module->stats().peak_bytes >= 128);
  g_fails = RELAYVM_KERNEL_INVALID_ARGUMENT;
  CHECK_FALSE(module->Run().ok());
  module->Cancel();
  CHECK_FALSE(module->Run().ok());
  const RuntimeStats stats = runtime->stats();
  CHECK(stats.started == 3);
  CHECK(stats.refused == 1);
  CHECK(stats.running == 0);
  CHECK(stats.kernel_calls == 4);
  CHECK(stats.slices == 3);
  CHECK(stats.run_ns > 0);
  CHECK(stats.ended[static_cast<size_t>(StatusCode::kOk)] == 1);
  CHECK(stats.ended[static_cast<size_t>(StatusCode::kCancelled)] == 1);
  CHECK(sink.events.back() == "slice");
  CHECK(sink.events[sink.events.size() - 2] == "end cancelled");
}

TEST_CASE("a sink that wants some calls is told of so many, in a profile too") {
  Sink sink;
  sink.interval = 10;
  const auto runtime = *Runtime::Create({.trace = &sink});
  const auto module = MakeIn(runtime);
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  for (int i = 0; i < 3000; ++i) REQUIRE(module->Run().ok());
  CHECK(sink.kernels.size() > 700);
  CHECK(sink.kernels.size() < 1100);
  CHECK(sink.kernels[0].weight == 10);

  Profile profile;
  const auto profiled = *Runtime::Create({.trace = &profile});
  const auto other = MakeIn(profiled);
  REQUIRE(other->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  for (int i = 0; i < 5; ++i) REQUIRE(other->Run().ok());
  REQUIRE(profile.ByKernel().size() == 1);
  CHECK(profile.ByKernel()[0].calls == 15);
  CHECK(profile.totals().runs == 5);
}

TEST_CASE("a graph leaves its workspace to the runtime, whose memory and threads it has") {
  const auto runtime = *Runtime::Create({.num_threads = 2, .memory_limit = 7 << 20});
  for (int i = 0; i < 3; ++i) {
    const auto module = MakeIn(runtime);
    CHECK(runtime->stats().idle_workspaces == 0);
    REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    REQUIRE(module->Run().ok());
    CHECK(Output(*module) == Numbers{23, 46, 69, 92});
  }
  CHECK(runtime->stats().workspaces == 1);
  CHECK(runtime->stats().idle_workspaces == 1);
  CHECK(runtime->stats().live_bytes == 0);
  CHECK(runtime->stats().ended[0] == 3);
  // The limit of the runtime is that of its graphs.
  GraphProgram large = Small();
  for (Node& node : large.graph.nodes) {
    node.outputs[0].dims = {1 << 20};
    if (node.kind != Node::Kind::kInput) node.scalars = {1 << 20};
  }
  large.graph.nodes.back().scalars.clear();
  large.graph.nodes.back().outputs[0].dims = {1 << 10, 1 << 10};
  large.kernels.exports[0].params[0].dims = {1 << 20};
  large.kernels.exports[0].result.dims = {1 << 10, 1 << 10};
  large.params["w"] = {DType::kFloat32, {1 << 20}, SharedBytes::Zeros(4 << 20)};
  const GraphOptions options{.runtime = runtime, .load = {.kernels = kAdd}};
  auto graph = LinkGraph(large, options.load);
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  const auto module = GraphModule::Create(*std::move(graph), options);
  CHECK(module.status().code() == StatusCode::kResourceExhausted);
  CHECK(runtime->stats().live_bytes == 0);
}

// --- Folders ---

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

TEST_CASE("a folder loads and runs; what is wrong with it is named") {
  const relayvm::testing::TempFolder temp;
  const std::string folder = temp / "deep/graph";
  REQUIRE(SaveGraph(Small(), folder).ok());
  const GraphOptions options{.load = {.kernels = kAdd}};
  {
    const auto module = GraphModule::Load(folder, options);
    REQUIRE_MESSAGE(module.ok(), module.status().message());
    REQUIRE((*module)->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    REQUIRE((*module)->Run().ok());
    CHECK(Output(**module) == Numbers{23, 46, 69, 92});
  }
  CHECK(GraphModule::Load(folder).status().message().find("test.add") != std::string::npos);
  CHECK(GraphModule::Load(temp / "none").status().message().find("none/graph.json") !=
        std::string::npos);
  struct Case {
    std::function<void(GraphProgram&)> damage;
    const char* message;
  };
  const Case cases[] = {
      {[](GraphProgram& p) { p.params["v"] = Floats({1}); }, "expected 1 parameters and 2 weights"},
      {[](GraphProgram& p) { p.params.clear(); }, "expected 1 parameters and 0 weights"},
      {[](GraphProgram& p) { p.params["w"] = Floats({1}); },
       "weight w: expected Tensor[(4), float32], found Tensor[(1), float32]"},
      {[](GraphProgram& p) { p.params = {{"v", Floats({1})}}; },
       "weight v: the graph has no input"},
      {[](GraphProgram& p) { p.params = {{"x", Floats({1, 2, 3, 4})}}; },
       "weight x: the graph has no input"},
      {[](GraphProgram& p) { p.kernels.constants = SmallOfConstant().kernels.constants; },
       "expected 1 parameters and 2 weights"},
      {[](GraphProgram& p) {
         p = SmallOfConstant();
         p.kernels.constants[0].name = "x";
       },
       "weight x: the graph has no input"},
      {[](GraphProgram& p) {
         p = SmallOfConstant();
         p.kernels.constants[0].dims = {2, 2};
       },
       "weight w: expected Tensor[(4), float32], found Tensor[(2, 2), float32]"},
      {[](GraphProgram& p) { p.kernels.exports[0].param_names = {"y"}; },
       "the graph has no input for parameter 0 (y)"},
      {[](GraphProgram& p) { p.kernels.exports[0].params[0].dims = {-1}; },
       "input x: the graph's type, Tensor[(4), float32], is not its parameter's"},
      {[](GraphProgram& p) { p.kernels.exports[0].result.dims = {4}; },
       "result 0: the graph's type, Tensor[(2, 2), float32], is not its function's"},
      {[](GraphProgram& p) {
         p.kernels.exports[0].result.kind = ValueType::Kind::kTuple;
         p.kernels.exports[0].result.dims.clear();
       },
       "the graph has 1 results, expected 0"},
      {[](GraphProgram& p) { p.graph.nodes[2].units = 9; }, "units of work"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.message);
    GraphProgram p = Small();
    c.damage(p);
    const Status saved = SaveGraph(p, temp / "bad");
    CHECK_MESSAGE(saved.message().find(c.message) != std::string::npos, saved.message());
    const auto linked = LinkGraph(p, options.load);
    CHECK(linked.status().message().find(c.message) != std::string::npos);
  }
  Write(temp / "file", "");
  CHECK(SaveGraph(Small(), temp / "file").message().find("expected a folder") != std::string::npos);

  // Each byte of the graph and the weights' headers changed, each file cut short: a Status, or a
  // graph.
  for (const char* file : {"/graph.json", "/graph.params"}) {
    const std::string good = ReadAll(folder + file);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (i % 7 == 0 ? 0x80 : 0x11));
      Write(folder + file, bad);
      const auto module = GraphModule::Load(folder, options);
      if (!module.ok()) continue;
      REQUIRE((*module)->SetInput(0, Tensor({1, 2, 3, 4})).ok());
      static_cast<void>((*module)->Run());
    }
    for (size_t size = 0; size < good.size(); size += 1 + size / 16) {
      Write(folder + file, good.substr(0, size));
      CHECK_FALSE(GraphModule::Load(folder, options).ok());
    }
    Write(folder + file, good);
  }
  CHECK(GraphModule::Load(folder, options).ok());
}

TEST_CASE("weights of a folder are read where its file is mapped, while that is what it was") {
  constexpr int64_t kCount = 2048;
  GraphProgram p = Small();
  for (Node& node : p.graph.nodes) {
    node.outputs[0].dims = {kCount};
    if (node.kind != Node::Kind::kKernel) continue;
    node.scalars = {kCount};
    node.units = kCount;
  }
  p.graph.nodes.back().outputs[0].dims = {2, kCount / 2};
  p.kernels.exports[0].params[0].dims = {kCount};
  p.kernels.exports[0].result.dims = {2, kCount / 2};
  p.params["w"] = Floats(std::vector<float>(kCount, 10));
  const relayvm::testing::TempFolder temp;
  const std::string folder = temp / "graph";
  REQUIRE(SaveGraph(p, folder).ok());
  const auto load = [&] {
    auto loaded = GraphModule::Load(folder, {.load = {.kernels = kAdd}});
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
    REQUIRE((*loaded)->SetInput(0, Tensor(Numbers(kCount, 1))).ok());
    return *std::move(loaded);
  };
  const auto module = load(), shares = load();
  CHECK(*shares->ShareParams(*module) == 1);
  const auto first = [](const GraphModule& m) {
    return *static_cast<const float*>(m.GetOutput(0)->data());
  };
  for (const auto& m : {module.get(), shares.get()}) {
    REQUIRE(m->Run().ok());
    CHECK(first(*m) == 23);
  }
  // Set anew, a weight has room of its own, and the file stays.
  const auto own = load();
  REQUIRE(own->SetInput(1, Tensor(Numbers(kCount, 20))).ok());
  REQUIRE(own->Run().ok());
  CHECK(first(*own) == 43);
  CHECK(*static_cast<const float*>(module->GetInput(1)->data()) == 10);
  // In place, so that what is mapped changes.
  std::fstream file(folder + "/graph.params", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-4, std::ios::end);
  file.write("\0\0\0", 4);
  file.close();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const auto& m : {module.get(), shares.get()}) {
    const Status changed = m->Run();
    CHECK(changed.code() == StatusCode::kFailedPrecondition);
    CHECK_MESSAGE(changed.message().find("graph.params") != std::string::npos, changed.message());
  }
}

}  // namespace
}  // namespace relayvm::graph
