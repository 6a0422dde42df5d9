// Limits of GraphModule: deadlines, cancellation, memory; who polls; runtimes and what they see.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <thread>

#include "vm/graph/module_testing.h"
#include "vm/trace/profile.h"

namespace relayvm::graph {
namespace {

using testing::Floats;
using testing::g_calls;
using testing::g_fails;
using testing::kAdd;
using testing::Make;
using testing::Numbers;
using testing::Output;
using testing::ReadAll;
using testing::Small;
using testing::Tensor;

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

}  // namespace
}  // namespace relayvm::graph
