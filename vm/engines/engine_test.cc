// Regions end to end, on an engine for tests (testing/scale_engine.cc).
#include "vm/engines/engine.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "bytecode/test_programs.h"
#include "bytecode/writer.h"
#include "vm/api/c_api_host.h"
#include "vm/engines/regions.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::Floats;
using testing::NewInvocation;
using testing::Parse;

// Makes the engine do otherwise while it lives.
class EngineDoes {
 public:
  explicit EngineDoes(const std::string& what) { ::setenv("SCALE_ENGINE", what.c_str(), 1); }
  ~EngineDoes() { ::unsetenv("SCALE_ENGINE"); }
};

const EngineLibrary kScale[] = {{"scale", RELAYVM_TEST_ENGINE}};

int64_t LiveOfEngine() {
  void* library = ::dlopen(RELAYVM_TEST_ENGINE, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  return reinterpret_cast<int64_t (*)()>(::dlsym(library, "scale_engine_live"))();
}

// f(x), of n rows of 2, is x times the factor times the constant, 3.
std::string Text(const std::string& json = R"({\"factor\": 2})") {
  return testing::RegionText("scale", json, "0000404000000000");
}
// The twin: gives what it gets.
constexpr const char* kTwin = R"(
.version 1
.export "main" f0 ("x": float32[?"n", 2]) -> float32[?"n", 2]
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)";

using Loaded = Result<std::shared_ptr<const Executable>>;
Loaded LoadRegions(const std::string& text, std::span<const EngineLibrary> engines = kScale) {
  LoadOptions options;
  options.engines = engines;
  return Executable::FromProgram(Parse(text), options);
}
std::shared_ptr<const Executable> LoadOk(const std::string& text = Text()) {
  Loaded loaded = LoadRegions(text);
  REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
  return *loaded;
}

float FloatAt(const Value& value, int64_t i) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.element(i)));
}

std::vector<float> Run(Invocation& invocation, std::vector<float> x) {
  const auto rows = static_cast<int64_t>(x.size() / 2);
  Result<Value> result = invocation.Run("main", {Floats({rows, 2}, x)});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  std::vector<float> out;
  for (int64_t i = 0; i < result->num_elements(); ++i) out.push_back(FloatAt(*result, i));
  return out;
}

// --- Running ---

TEST_CASE("engines: a region runs, at any sizes, and leaves nothing behind") {
  const int64_t before = LiveOfEngine();
  {
    auto executable = LoadOk();
    CHECK(LiveOfEngine() == before + 1);
    auto invocation = NewInvocation(executable);
    CHECK(Run(*invocation, {1, 2}) == std::vector<float>{6, 12});
    CHECK(Run(*invocation, {1, 2, 3, 4, 5, 6}) == std::vector<float>{6, 12, 18, 24, 30, 36});
    CHECK(Run(*invocation, {}).empty());
    CHECK(LiveOfEngine() == before + 1);
  }
  CHECK(LiveOfEngine() == before);
}

TEST_CASE("engines: many tensors, and none of symbols") {
  constexpr int kTensors = 40;
  std::string scalars = "s0=0", buffers, values = "i0", ins, outs, text = "const.i16 i0, 0\n";
  for (int i = 0, s = 1; i < 2 * kTensors; ++i, s += 3) {
    scalars += fmt::format(" s{}=11 s{}=1", s, s + 1);
    buffers +=
        fmt::format("{}{}float32[s{}]", i == 0 ? "" : ", ", i < kTensors ? "" : "out ", s + 2);
    values += ", i1, i2, i3";
    if (i < kTensors) ins += i == 0 ? "r0" : ", r0";
    if (i >= kTensors) outs += fmt::format(", r{}", i - kTensors + 1);
    if (i >= kTensors) text += fmt::format("tensor.alloc r{}, float32, [i3]\n", i - kTensors + 1);
  }
  auto executable = LoadOk(fmt::format(
      R"(
.version 1
.region "r" engine "scale" constants () symbols 0 json "{{\"factor\": 5}}"
.kernel "k" scalars {} {} buffers ({}) units 1 builtin region 0
.export "main" f0 ("x": float32[2]) -> float32[2]
.function "main" scalars 0 objects 1 captured 0 registers 4 {} returns object arena 0
const.i16 i1, 11
const.i16 i2, 1
const.i16 i3, 2
{}kernel.1 k0, [{}], [{}{}]
ret.r r{}!
.end
)",
      1 + 6 * kTensors, scalars, buffers, kTensors + 1, text, values, ins, outs, kTensors));
  auto invocation = NewInvocation(executable);
  Result<Value> result = invocation->Run("main", {Floats({2}, {1, 2})});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(FloatAt(*result, 1) == 10);
}

TEST_CASE("engines: several threads run one region at once") {
  auto executable = LoadOk();
  auto runtime = testing::TestRuntime();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto invocation = Invocation::Create(runtime, executable, {});
      for (int i = 0; i < 200; ++i) {
        const auto x = static_cast<float>(i * 4 + t);
        std::vector<float> rows(static_cast<size_t>(2 + 2 * (i % 3)), x);
        auto result =
            (*invocation)->Run("main", {Floats({static_cast<int64_t>(rows.size() / 2), 2}, rows)});
        right += result.ok() && FloatAt(*result, 0) == 6 * x ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 800);
}

TEST_CASE("engines: what fails in a run fails the run, with its place") {
  auto executable = LoadOk();
  auto invocation = NewInvocation(executable);
  const int64_t before = LiveOfEngine();
  struct Case {
    const char *does, *message;
    StatusCode code;
  };
  const Case kCases[] = {
      {"fail prepare",
       "main (net.relay:7:3): region net_0 on engine scale: no plan for these sizes",
       StatusCode::kInternal},
      {"fail run", "main (net.relay:7:3): region net_0 on engine scale: the primitive failed",
       StatusCode::kInternal},
      {"throw in run", "main (net.relay:7:3): region net_0 on engine scale: it threw an exception",
       StatusCode::kInternal},
      {"no memory in prepare", "no memory for the buffers of kernel scale:net_0",
       StatusCode::kResourceExhausted},
      {"no memory in run", "no memory for the buffers of kernel scale:net_0",
       StatusCode::kResourceExhausted},
  };
  for (const Case& c : kCases) {
    const EngineDoes does(c.does);
    Result<Value> result = invocation->Run("main", {Floats({1, 2}, {1, 2})});
    REQUIRE(!result.ok());
    CHECK_MESSAGE(Contains(result.status().message(), c.message), result.status().message());
    CHECK(result.status().code() == c.code);
  }
  CHECK(LiveOfEngine() == before);
  CHECK(Run(*invocation, {1, 2}) == std::vector<float>{6, 12});
}

TEST_CASE("engines: scratch counts toward a run's memory limit") {
  auto executable = LoadOk(Text(R"({\"factor\": 1, \"scratch\": 1000000})"));
  auto invocation = NewInvocation(executable, {.memory_limit = 8 << 20});
  CHECK(Run(*invocation, {1, 2}) == std::vector<float>{3, 6});
  CHECK(Run(*invocation, {1, 2, 3, 4}).size() == 4);
  Result<Value> result = invocation->Run("main", {Floats({100, 2}, std::vector<float>(200))});
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kResourceExhausted);
  CHECK_MESSAGE(Contains(result.status().message(), "raise the memory limit"),
                result.status().message());
  CHECK(Run(*invocation, {1, 2}) == std::vector<float>{3, 6});
  // More than there can be.
  executable = LoadOk(Text(R"({\"factor\": 1, \"scratch\": 9e18})"));
  CHECK(testing::RunFails(executable, {Floats({1, 2}, {1, 2})}).code() ==
        StatusCode::kResourceExhausted);
}

TEST_CASE("engines: time limits and cancellation act inside a region") {
  auto executable = LoadOk(Text(R"({\"factor\": 1, \"polls\": 100000})"));
  InvocationOptions options;
  options.timeout = milliseconds(20);
  CHECK(testing::RunFails(executable, {Floats({1, 2}, {1, 2})}, options).code() ==
        StatusCode::kDeadlineExceeded);
  auto invocation = NewInvocation(executable);
  std::thread cancels([&] {
    std::this_thread::sleep_for(milliseconds(20));
    invocation->Cancel();
  });
  Result<Value> result = invocation->Run("main", {Floats({1, 2}, {1, 2})});
  cancels.join();
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kCancelled);
}

TEST_CASE("engines: a run in slices is suspended inside a region") {
  auto executable = LoadOk(Text(R"({\"factor\": 1, \"polls\": 40})"));
  auto runtime = testing::TestRuntime();
  std::vector<std::unique_ptr<Invocation>> runs;
  for (int i = 0; i < 3; ++i) {
    auto invocation = Invocation::Create(runtime, executable, {});
    REQUIRE(invocation.ok());
    REQUIRE((*invocation)->Start("main", {Floats({1, 2}, {1.0F * static_cast<float>(i), 2})}).ok());
    runs.push_back(*std::move(invocation));
  }
  int slices = 0;
  for (bool running = true; running;) {
    running = false;
    for (auto& run : runs) {
      if (run->Poll(milliseconds(1)) == RunState::kDone) continue;
      running = true;
      ++slices;
    }
  }
  CHECK(slices > 3);
  for (size_t i = 0; i < runs.size(); ++i) {
    Result<Value> result = runs[i]->TakeResult();
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    CHECK(FloatAt(*result, 0) == 3 * static_cast<float>(i));
  }
}

// --- Loading ---

std::string ErrorOf(std::span<const EngineLibrary> engines = kScale,
                    const std::string& text = Text()) {
  Loaded loaded = LoadRegions(text, engines);
  if (loaded.ok()) return "";
  CHECK(loaded.status().code() == StatusCode::kUnsupported);
  return loaded.status().message();
}

TEST_CASE("engines: a file's word alone loads nothing") {
  CHECK(Contains(ErrorOf({}),
                 "regions for engine scale, which this host does not allow "
                 "(LoadOptions::engines, vmrun --engine scale)"));
  const EngineLibrary others[] = {{"dnnl", RELAYVM_TEST_ENGINE}};
  CHECK(Contains(ErrorOf(others), "which this host does not allow"));
  LoadOptions options;
  options.engines = kScale;
  options.allow_images = false;
  CHECK(!Executable::FromProgram(Parse(Text()), options).ok());
}

TEST_CASE("engines: a library that will not do says which, what was expected and what was found") {
  const std::pair<const char*, const char*> kCases[] = {
      {"give no provider", "relayvm_region_provider gives NULL"},
      {"have another abi",
       "built for another relayvm: expected ABI 1 and a provider of 64 bytes, "
       "found 2 and 64"},
      {"be shorter", "expected ABI 1 and a provider of 64 bytes, found 1 and 56"},
      {"lack a function", "one of its functions is NULL"},
      {"be another engine", "expected engine scale, found rescale"},
      {"fail open", "libscale.so is not here"},
      {"throw in open", "it threw an exception"},
      {"fail create", "(" RELAYVM_TEST_ENGINE " 1.2): region net_0: no factors today"},
      {"no memory in create", "region net_0: out of memory"},
  };
  const int64_t before = LiveOfEngine();
  for (const auto& [does, message] : kCases) {
    const EngineDoes engine_does(does);
    const std::string error = ErrorOf();
    CHECK_MESSAGE(Contains(error, message), error);
    CHECK_MESSAGE(Contains(error, std::string("engine scale")), error);
    CHECK_MESSAGE(Contains(error, RELAYVM_TEST_ENGINE), error);
  }
  CHECK(LiveOfEngine() == before);
  const std::string error = ErrorOf(kScale, Text("{}"));
  CHECK_MESSAGE(Contains(error, "expected a \"factor\""), error);
  CHECK_MESSAGE(Contains(error, "compile without --byoc-only"), error);
  const EngineLibrary none[] = {{"scale", "/no/such/engine.so"}};
  CHECK(Contains(ErrorOf(none), "/no/such/engine.so: cannot load the engine: "));
  const EngineLibrary libc[] = {{"scale", "libc.so.6"}};
  CHECK(Contains(ErrorOf(libc), "expected a function relayvm_region_provider, found none"));
}

TEST_CASE("engines: the library that comes with relayvm is found by its name") {
  const EngineLibrary shipped[] = {{"scale", ""}};
  ::setenv("RELAYVM_ENGINES", "/no/such", 1);
  CHECK(Contains(ErrorOf(shipped), "there is no librelayvm_scale.so in /no/such"));
  const std::string folder = std::filesystem::path(RELAYVM_TEST_ENGINE).parent_path();
  ::setenv("RELAYVM_ENGINES", folder.c_str(), 1);
  CHECK(ErrorOf(shipped).empty());
  ::unsetenv("RELAYVM_ENGINES");
  const EngineLibrary unknown[] = {{"no_such", ""}};
  const Status status = vm::OpenEngine(unknown[0]).status();
  CHECK_MESSAGE(Contains(status.message(), "there is no librelayvm_no_such.so in /"),
                status.message());
}

// --- Twins ---

struct Twins {
  std::vector<std::string> notices;
  LoadOptions options;
  Twins() {
    options.engines = kScale;
    options.notice = [this](const std::string& text) { notices.push_back(text); };
  }
  static std::vector<Program> Programs() { return {Parse(kTwin), Parse(Text())}; }
  Loaded FromFile() const {
    const std::vector<Program> programs = Programs();
    auto file = SerializeProgram(programs[0], std::span(programs).subspan(1));
    if (!file.ok()) return file.status();
    return Executable::FromMemory(*file, nullptr, options);
  }
  // What both ways of loading give for 1.
  float Loads() {
    float found = 0;
    for (const bool from_file : {false, true}) {
      Loaded loaded = from_file ? FromFile() : Executable::FromPrograms(Programs(), options);
      REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
      CHECK((*loaded)->info().targets == std::vector<std::string>{"", "any + scale"});
      found = Run(*NewInvocation(*loaded), {1, 2})[0];
      if (!from_file) CHECK(notices.size() <= 1);
    }
    return found;
  }
};

TEST_CASE("engines: the form with regions where its engine is here, else the native one") {
  Twins twins;
  CHECK(twins.Loads() == 6);
  CHECK(twins.notices.empty());
  // Whose host allows none is not told.
  twins.options.engines = {};
  CHECK(twins.Loads() == 1);
  CHECK(twins.notices.empty());
  // What the host forbids.
  twins.options.engines = kScale;
  twins.options.allow_images = false;
  CHECK(twins.Loads() == 1);
  CHECK(twins.notices.empty());
}

TEST_CASE("engines: an engine that fails to open or to take a region makes the twin run") {
  for (const char* does : {"fail open", "fail create", "no memory in create", "have another abi",
                           "throw in open", "give no provider"}) {
    const EngineDoes engine_does(does);
    Twins twins;
    CHECK(twins.Loads() == 1);
    REQUIRE(twins.notices.size() == 2);
    CHECK(twins.notices[0] == twins.notices[1]);
    CHECK_MESSAGE(Contains(twins.notices[0], std::string("loaded without regions: engine scale")),
                  twins.notices[0]);
    CHECK(!Contains(twins.notices[0], std::string("\n")));
  }
  Twins twins;
  const EngineLibrary none[] = {{"scale", "/no/such/engine.so"}};
  twins.options.engines = none;
  CHECK(twins.Loads() == 1);
  REQUIRE(!twins.notices.empty());
  CHECK(Contains(twins.notices[0], "/no/such/engine.so"));
  // Who asks for the form with regions by name gets no other.
  twins.options.target = "any + scale";
  CHECK(!twins.FromFile().ok());
}

TEST_CASE("engines: of the C API") {
  const std::vector<Program> programs = Twins::Programs();
  const auto file = SerializeProgram(programs[0], std::span(programs).subspan(1));
  REQUIRE(file.ok());
  std::vector<std::string> notices;
  const relayvm_engine scale = {"scale", RELAYVM_TEST_ENGINE};
  relayvm_engines engines{sizeof(engines), 1, &scale,
                          [](void* context, const char* text) {
                            static_cast<std::vector<std::string>*>(context)->emplace_back(text);
                          },
                          &notices};
  relayvm_load_options options{sizeof(options)};
  const auto load = [&] {
    relayvm_executable* executable = nullptr;
    relayvm_status* status =
        relayvm_executable_load_memory(file->data(), file->size(), &options, &executable);
    std::string message = status == nullptr ? "" : relayvm_status_message(status);
    relayvm_status_free(status);
    relayvm_executable_free(executable);
    return message;
  };
  const int64_t before = LiveOfEngine();
  CHECK(load().empty());  // none is allowed: the twin, and nothing to say
  options.engines = &engines;
  CHECK(load().empty());
  CHECK(notices.empty());
  {
    const EngineDoes does("fail create");
    CHECK(load().empty());
  }
  REQUIRE(notices.size() == 1);
  CHECK(Contains(notices[0], std::string("no factors today")));
  CHECK(LiveOfEngine() == before);
  engines.struct_size = 4;
  CHECK(Contains(load(), std::string("relayvm_engines")));
  engines.struct_size = sizeof(engines);
  engines.engines = nullptr;
  CHECK(load() == "relayvm_engines: engine 0 has no name");
}

}  // namespace
}  // namespace relayvm
