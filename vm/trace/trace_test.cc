// What sinks are told of runs, calls, waits and batches; the profile and the Chrome trace made of
// it; samples that stand for all calls.
#include "vm/trace/trace.h"

#include <atomic>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/temp_folder.h"
#include "vm/border/host_testing.h"
#include "vm/schedule/scheduler.h"
#include "vm/trace/chrome_trace.h"
#include "vm/trace/profile.h"

namespace relayvm {
namespace {

using nlohmann::json;
using testing::Int64Values;
using testing::LoadText;
using testing::RunOk;
using testing::ScalarProgram;
using Lines = std::vector<std::string>;
using namespace std::chrono_literals;

int32_t Nothing(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  return RELAYVM_KERNEL_OK;
}
int32_t Millisecond(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  std::this_thread::sleep_for(1ms);
  return RELAYVM_KERNEL_OK;
}
constexpr Builtin kKernels[] = {{"host.short", Nothing}, {"host.long", Millisecond}};
constexpr const char* kTables = R"(.source "loop.relay"
.source "/layer/Add"
.kernel "host.short" scalars 0 buffers () builtin
.kernel "host.long" scalars 0 buffers () builtin
)";

// main(n): n turns of two short calls, of line 3 and of a node, and one long call at the end.
std::shared_ptr<const Executable> Turns(bool with_long = true) {
  return LoadText(ScalarProgram(1, std::string(R"(
  const.i16 i2, 1
L0:
  .at 0 3 7
  kernel.1 k0, [], []
  .at 1 0 0
  kernel k0, i2, i2, i3, [], []
  addimm.i i0, i0, -1
  br.if i0, L0
)") + (with_long ? "  .at 0 4 1\n  kernel.1 k1, [], []\n" : ""),
                                "", kTables),
                  kKernels);
}

std::unique_ptr<Invocation> In(TraceSink* trace, std::shared_ptr<const Executable> executable,
                               uint32_t threads = 1) {
  auto runtime = Runtime::Create({.num_threads = threads, .trace = trace});
  REQUIRE(runtime.ok());
  auto invocation = Invocation::Create(*runtime, std::move(executable));
  REQUIRE(invocation.ok());
  return *std::move(invocation);
}

// All events, a line each.
struct Recorder : TraceSink {
  Lines lines;
  uint32_t interval = 1;
  int64_t last_end = 0;

  void Add(const TracedRun& run, const std::string& text, int64_t begin, int64_t end) {
    CHECK(run.executable != nullptr);
    CHECK(begin > 0);
    CHECK(end >= begin);
    lines.push_back(fmt::format("{} {}", run.invocation, text));
  }
  void OnKernel(const KernelEvent& e) override {
    const StatusPlace place = e.run.executable->PlaceOf(e.function, e.pc);
    CHECK(e.weight == interval);
    CHECK(e.batch == 1);
    Add(e.run, fmt::format("kernel {} {} {}:{}", e.name, place.function, place.file, place.line),
        e.begin_ns, e.end_ns);
  }
  void OnRunBegin(const RunEvent& e) override {
    Add(e.run, fmt::format("begin {}", e.function), e.begin_ns, e.end_ns);
  }
  void OnRunEnd(const RunEvent& e) override {
    Add(e.run,
        fmt::format("end {} {}", e.function,
                    e.status == StatusCode::kOk ? "ok" : StatusCodeName(e.status)),
        e.begin_ns, e.end_ns);
  }
  void OnSlice(const SliceEvent& e) override { Add(e.run, "slice", e.begin_ns, e.end_ns); }
  void OnWait(const WaitEvent& e) override {
    Add(e.run, e.in_batch ? "wait in batch" : "wait", e.begin_ns, e.end_ns);
  }
  void OnHostCall(const HostCallEvent& e) override {
    const StatusPlace place = e.run.executable->PlaceOf(e.function, e.pc);
    Add(e.run, fmt::format("host {} {} {}", e.name, e.host_function, place.function), e.begin_ns,
        e.end_ns);
  }
  uint32_t kernel_interval() const override { return interval; }
};

TEST_CASE("trace: a run's begin, kernels with their places, slice, and end") {
  Recorder recorder;
  auto invocation = In(&recorder, Turns());
  CHECK(invocation->id() == 1);
  RunOk(*invocation, Int64Values({1}));
  CHECK(recorder.lines == Lines{"1 begin main", "1 kernel host.short main loop.relay:3",
                                "1 kernel host.short main /layer/Add:0",
                                "1 kernel host.long main loop.relay:4", "1 end main ok",
                                "1 slice"});
  // No kernels, which leaves the loop without hooks.
  recorder.lines.clear();
  recorder.interval = 0;
  invocation->Cancel();
  CHECK(!invocation->Run("main", Int64Values({1})).ok());
  CHECK(recorder.lines == Lines{"1 begin main", "1 end main cancelled", "1 slice"});
}

TEST_CASE("trace: host functions and their waits") {
  Recorder recorder;
  Waker waker;
  auto invocation = In(&recorder, testing::OnInt64([&](HostCall& call) -> Result<Value> {
    waker = call.waker();
    RELAYVM_RETURN_IF_ERROR(call.Suspend());
    return Status(StatusCode::kOutOfRange, "no");
  }));
  REQUIRE(invocation->Start("main", Int64Values({4})).ok());
  REQUIRE(invocation->Poll() == RunState::kWaiting);
  CHECK(recorder.lines == Lines{"1 begin main", "1 slice"});
  waker.Wake();
  CHECK(invocation->Poll() == RunState::kDone);
  recorder.lines.erase(recorder.lines.begin(), recorder.lines.begin() + 2);
  CHECK(recorder.lines == Lines{"1 wait", "1 host f 0 main", "1 end main out of range", "1 slice"});
}

TEST_CASE("trace: samples of kernels stand for all calls, in runs long and short") {
  constexpr uint64_t kInterval = 20;
  for (int64_t turns : {1, 3, 5000}) {
    CAPTURE(turns);
    Profile profile({.kernel_interval = kInterval});
    const int64_t runs = 30'000 / turns;
    auto program = Turns(false);
    auto runtime = Runtime::Create({.trace = &profile});
    REQUIRE(runtime.ok());
    for (int64_t i = 0; i < runs; ++i) {
      auto invocation = Invocation::Create(*runtime, program);
      REQUIRE(invocation.ok());
      RunOk(**invocation, Int64Values({turns}));
    }
    const std::vector<Profile::Row> kernels = profile.ByKernel();
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].calls == kernels[0].samples * kInterval);
    // 3,000 samples: 1.8 % is one standard deviation.
    CHECK(static_cast<double>(kernels[0].calls) ==
          doctest::Approx(static_cast<double>(2 * turns * runs)).epsilon(0.1));
    // The two calls of a turn alike, though each is every other one.
    const std::vector<Profile::Row> places = profile.ByPlace();
    REQUIRE(places.size() == 2);
    for (const Profile::Row& row : places) {
      CHECK(static_cast<double>(row.calls) ==
            doctest::Approx(static_cast<double>(turns * runs)).epsilon(0.15));
    }
    CHECK(profile.totals().runs == static_cast<uint64_t>(runs));
  }
}

// Asks to go on four times, and takes no time of its own to speak of.
int32_t Polls(const RelayvmKernelEnv* env, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  for (int i = 0; i < 4; ++i) {
    if (const int32_t code = env->poll(env); code != RELAYVM_KERNEL_OK) return code;
  }
  return RELAYVM_KERNEL_OK;
}

TEST_CASE("trace: what others have the thread for inside of a kernel is not its time") {
  static constexpr Builtin kPolls[] = {{"host.polls", Polls}};
  auto executable =
      LoadText(ScalarProgram(1,
                             "  const.i16 i2, 1\n  const.i16 i3, 0\n"
                             "  kernel k0, i2, i2, i3, [], []\n",
                             "", ".kernel \"host.polls\" scalars 0 buffers () builtin\n"),
               kPolls);
  struct Kernels : TraceSink {
    std::vector<KernelEvent> events;
    void OnKernel(const KernelEvent& event) override { events.push_back(event); }
  } sink;
  Profile profile;
  ChromeTrace chrome;
  for (TraceSink* trace : {static_cast<TraceSink*>(&sink), static_cast<TraceSink*>(&profile),
                           static_cast<TraceSink*>(&chrome)}) {
    auto invocation = In(trace, executable);
    REQUIRE(invocation->Start("main", Int64Values({1})).ok());
    int slices = 0;
    while (invocation->Poll(1ns) != RunState::kDone) {
      ++slices;
      std::this_thread::sleep_for(20ms);
    }
    REQUIRE(slices >= 4);
    REQUIRE(invocation->TakeResult().ok());
  }
  REQUIRE(sink.events.size() == 1);
  const KernelEvent& event = sink.events[0];
  CHECK(event.suspended_ns >= 4 * 20'000'000);
  CHECK(event.suspended_ns <= event.end_ns - event.begin_ns);
  REQUIRE(profile.ByKernel().size() == 1);
  CHECK(profile.ByKernel()[0].total_ns < profile.totals().run_ns - 4 * 20'000'000);
  // Of the invocation's track: on the thread's it would lie over what others did there.
  const json read = json::parse(chrome.Json());
  for (const json& e : read["traceEvents"])
    CHECK_FALSE((e["name"] == "host.polls" && e["ph"] == "X"));
}

TEST_CASE("profile: by kernel, by source line and node") {
  Profile profile;
  {
    auto invocation = In(&profile, Turns());
    RunOk(*invocation, Int64Values({10}));
    RunOk(*invocation, Int64Values({5}));
  }
  // The program has gone, its names have not.
  const std::vector<Profile::Row> kernels = profile.ByKernel();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "host.long");
  CHECK(kernels[0].calls == 2);
  CHECK(kernels[0].total_ns >= 2'000'000);
  CHECK(kernels[0].longest_ns >= 1'000'000);
  CHECK(kernels[0].longest_ns < kernels[0].total_ns);
  CHECK(kernels[1].name == "host.short");
  CHECK(kernels[1].calls == 30);
  std::vector<Profile::Row> places = profile.ByPlace();
  REQUIRE(places.size() == 3);
  CHECK(places[0].place.file == "loop.relay");
  CHECK(places[0].place.line == 4);
  CHECK(places[0].name == "host.long");
  std::ranges::sort(places, {}, [](const Profile::Row& row) { return row.place.line; });
  CHECK(places[0].place.file == "/layer/Add");
  CHECK(places[0].place.line == 0);
  CHECK(places[0].calls == 15);
  CHECK(places[1].place.line == 3);
  CHECK(places[1].place.function == "main");
  CHECK(places[1].calls == 15);
  const Profile::Totals totals = profile.totals();
  CHECK(totals.runs == 2);
  CHECK(totals.kernel_ns == kernels[0].total_ns + kernels[1].total_ns);
  CHECK(totals.run_ns >= totals.kernel_ns);
  CHECK(totals.wait_ns == 0);
  profile.Clear();
  CHECK(profile.ByKernel().empty());
  CHECK(profile.totals().runs == 0);
}

// Events of a phase and category.
std::vector<json> Of(const json& trace, const char* phase, const char* category) {
  std::vector<json> events;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] == phase && e.value("cat", "") == category) events.push_back(e);
  }
  return events;
}

TEST_CASE("chrome trace: threads with slices and kernels, invocations with runs, calls and waits") {
  ChromeTrace trace;
  {
    auto invocation = In(&trace, Turns());
    RunOk(*invocation, Int64Values({2}));
    Waker waker;
    auto host = In(&trace, testing::OnInt64([&](HostCall& call) -> Result<Value> {
      call.waker().Wake();
      RELAYVM_RETURN_IF_ERROR(call.Suspend());
      RELAYVM_RETURN_IF_ERROR(call.SuspendUntil(std::chrono::steady_clock::now() + 1ms));
      return call.args()[0];
    }));
    RunOk(*host, Int64Values({1}));
  }
  const json all = json::parse(trace.Json());
  CHECK(Of(all, "X", "slice").size() == 3);
  const std::vector<json> kernels = Of(all, "X", "kernel");
  REQUIRE(kernels.size() == 5);
  CHECK(kernels[0]["name"] == "host.short");
  CHECK(kernels[0]["args"]["invocation"] == 1);
  CHECK(kernels[0]["args"]["place"] == "loop.relay:3:7");
  CHECK(kernels[1]["args"]["place"] == "/layer/Add");
  CHECK(kernels[4]["dur"] >= 1000.0);
  // Begins and ends nest, in the order of the file.
  Lines names, open;
  for (const json& e : all["traceEvents"]) {
    if (e["ph"] == "b") {
      open.push_back(e["name"]);
      names.push_back(e["args"]["kind"]);
    } else if (e["ph"] == "e") {
      REQUIRE(!open.empty());
      CHECK(open.back() == e["name"].get<std::string>());
      open.pop_back();
    }
  }
  CHECK(open.empty());
  CHECK(names == Lines{"run", "run", "host function", "wait"});
  double last = 0;
  for (const json& e : all["traceEvents"]) {
    if (e["ph"] == "M") continue;
    CHECK(e["ts"] >= last);
    last = e["ts"];
  }

  testing::TempFolder folder;
  REQUIRE(trace.Write(folder / "t.json").ok());
  std::stringstream written;
  written << std::ifstream(folder / "t.json").rdbuf();
  CHECK(written.str() == trace.Json());
  CHECK(!trace.Write(folder / "no/t.json").ok());

  ChromeTrace small({.max_events = 4});
  RunOk(*In(&small, Turns(false)), Int64Values({10}));
  CHECK(small.num_events() == 4);
  CHECK(small.dropped() == 18);
  CHECK(json::parse(small.Json())["otherData"]["dropped"] == 18);
  small.Clear();
  CHECK(small.num_events() == 0);
}

TEST_CASE("chrome trace: names of any bytes make JSON") {
  std::string bytes;
  for (int b = 255; b > 0; --b) bytes += static_cast<char>(b);
  const std::string good = "\u00e9 \u20ac \U0001F600";
  const std::pair<std::string, std::string> kNames[] = {
      {"a\xff"
       "b",
       "a\ufffd"
       "b"},
      {"\xc0\xaf", "\ufffd\ufffd"},            // longer than need be
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},  // a surrogate
      {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
      {"\xe2\x82", "\ufffd\ufffd"},  // cut off
      {good, good},
      {"\"\\\n", "\"\\\n"},
  };
  auto executable = Turns();
  ChromeTrace trace;
  for (const auto& [name, expected] : kNames) {
    trace.Clear();
    trace.OnKernel({0, name, 1, 2, 1, {1, executable.get()}});
    const json read = json::parse(trace.Json());
    bool found = false;
    for (const json& event : read["traceEvents"]) found = found || event["name"] == expected;
    CHECK_MESSAGE(found, expected);
  }
  trace.Clear();
  trace.OnKernel({0, bytes, 1, 2, 1, {1, executable.get()}});
  CHECK(json::accept(trace.Json()));
}

TEST_CASE("trace: runs on several threads share a sink, read meanwhile") {
  Profile profile({.kernel_interval = 3});
  auto runtime = Runtime::Create({.trace = &profile});
  REQUIRE(runtime.ok());
  constexpr uint64_t kRuns = 200;
  std::atomic<uint64_t> ended{0};
  auto scheduler = Scheduler::Create(*runtime, {.num_threads = 4, .slice = 50us});
  REQUIRE(scheduler.ok());
  auto program = Turns(false);
  for (uint64_t i = 0; i < kRuns; ++i) {
    REQUIRE((*scheduler)
                ->RunAsync({.executable = program, .inputs = Int64Values({100})},
                           [&](const Result<Value>&) { ++ended; })
                .ok());
  }
  uint64_t calls = 0;
  while (ended < kRuns) {
    const std::vector<Profile::Row> rows = profile.ByKernel();
    if (rows.empty()) continue;
    CHECK(rows[0].calls >= calls);
    calls = rows[0].calls;
  }
  CHECK(profile.totals().runs == kRuns);
  CHECK(static_cast<double>(profile.ByKernel()[0].calls) ==
        doctest::Approx(static_cast<double>(kRuns * 200)).epsilon(0.1));
}

}  // namespace
}  // namespace relayvm
