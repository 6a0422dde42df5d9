// Programs on devices: what runs there, what waits, what is refused; and that the fenced device
// (testing.h) shows a copy or a wait that is missing.
#include "vm/device/device.h"

#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "bytecode/disassembler.h"
#include "bytecode/file_format.h"
#include "bytecode/reader.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"
#include "vm/api/relayvm.h"
#include "vm/device/programs_testing.h"
#include "vm/device/testing.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::AddScalar;
using testing::CheckFails;
using testing::CheckValues;
using testing::Contains;
using testing::Fenced;
using testing::FencedDevice;
using testing::kKernels;
using testing::kThereAndBack;
using testing::OnDevice;

Result<Value> RunOn(const std::shared_ptr<Device>& device, const std::string& text,
                    const InvocationOptions& options = {}) {
  RuntimeOptions runtime_options;
  runtime_options.devices = {&device, 1};
  auto runtime = Runtime::Create(runtime_options);
  REQUIRE(runtime.ok());
  auto invocation = Invocation::Create(*runtime, testing::LoadText(text, kKernels), options);
  if (!invocation.ok()) return invocation.status();
  const int64_t x[] = {1, 2, 3, 4};
  auto input = Value::CopyTensor(DType::kInt64, {{4}}, x);
  REQUIRE(input.ok());
  return (*invocation)->Run("main", {*input});
}

TEST_CASE("devices: kernels run where their tensors are, under any order of queues") {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    const auto device = Fenced(seed);
    CheckValues(RunOn(device, OnDevice(kThereAndBack)), {31, 32, 33, 34});
    CHECK(device->launches() == 2);
    CHECK(device->bytes_in_use() == 0);
  }
  CheckValues(RunOn(MakeHostDevice("fenced", kKernels), OnDevice(kThereAndBack)), {31, 32, 33, 34});
}

TEST_CASE("devices: constants and views are there; a take or a drop frees in the queue's order") {
  const auto device = Fenced();
  CheckValues(RunOn(device, OnDevice(R"(
  const.i16 i2, 2
  tensor.static r1, t0
  kernel.1 k0, [i0, i1], [c0, r1]
  tensor.view r2, r1, [i2, i2]
  tensor.static r3, t0
  kernel.1 k0, [i0, i1], [r2!, r3]
  drop r1!
  tensor.dim i3, r3, #0
  guard i3, i3, i3, m0
  const.r r4, c0
  tensor.copy r4, r4!, 0
  tensor.copy r5, r3!, 0
  ret.r r5!
)",
                                     ".message \"dims\"\n")),
              {21, 22, 23, 24});
  CHECK(device->launches() == 2);
}

TEST_CASE("devices: what is copied there is held until it is done") {
  // The source is dropped and its memory asked for again while the device has not begun.
  const auto device = Fenced();
  std::string code;
  for (int i = 0; i < 20; ++i) {
    code += R"(
  tensor.static r1, t1
  kernel.1 k1, [i0, i1], [r0, r1]
  tensor.copy r2, r1!, 1
  tensor.static r3, t0
  kernel.1 k0, [i0, i1], [r2!, r3]
)";
  }
  CheckValues(RunOn(device, OnDevice(code + "  tensor.copy r3, r3!, 0\n  ret.r r3!\n")),
              {21, 22, 23, 24});
}

TEST_CASE("devices: a kernel that writes over what is copied there waits for the copy") {
  const auto device = Fenced();
  CheckValues(RunOn(device, OnDevice(R"(
  tensor.static r1, t1
  kernel.1 k1, [i0, i1], [r0, r1]
  tensor.copy r2, r1, 1
  const.i16 i1, 100
  kernel.1 k1, [i0, i1], [r0, r1]
  tensor.copy r2, r2!, 0
  ret.r r2!
)")),
              {11, 12, 13, 14});
}

TEST_CASE("devices: tensors of another device are refused, whatever the verifier can see") {
  const auto device = Fenced();
  // The host's where the device's are expected, and the other way round; r0 is the host's input.
  const std::pair<const char*, const char*> cases[] = {
      {"  tensor.static r2, t0\n  kernel.1 k0, [i0, i1], [r0, r2]\n  ret.r r0!\n",
       "expected buffer 0 on device 1, found it on device 0"},
      {"  tensor.static r2, t1\n  kernel.1 k0, [i0, i1], [r2, r2]\n  ret.r r0!\n", "both r2"},
      {"  tensor.static r2, t0\n  kernel.1 k1, [i0, i1], [r0, r2]\n  ret.r r0!\n",
       "expected buffer 1 on device 0, found it on device 1"},
      {"  tensor.static r2, t1\n  kernel.1 k1, [i0, i1], [c0, r2]\n  ret.r r0!\n",
       "is of device 0, its buffer 0 of device 1"},
      {"  tensor.copy r2, r0, 2\n  ret.r r0!\n", "device 2, the program has 1"},
      {"  tensor.alloc r2, int64@2, [i0]\n  ret.r r0!\n", "device 2, the program has 1"},
      {"  tensor.alloc r2, string@1, [i0]\n  ret.r r0!\n", "strings on device 1"},
      {"  tensor.box r2, i0, int64@1\n  ret.r r0!\n", "unknown dtype"},
      {"  kernels 2\n  kernel.1 k0, [i0, i1], [r1, r2]\n  kernel.1 k0, [i0, i1], [r3, r4]\n"
       "  ret.r r0!\n",
       "a host's kernel"},
  };
  for (const auto& [code, text] : cases) {
    Result<Program> program = Assemble(OnDevice(code));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const Status status = VerifyProgram(*program);
    REQUIRE_FALSE_MESSAGE(status.ok(), code);
    CHECK_MESSAGE(Contains(status.message(), text), status.message());
  }
  // Behind a jump's target the verifier knows nothing: the run finds out.
  const std::string label = "  jump L1\nL1:\n";
  CheckFails(RunOn(device, OnDevice("  tensor.static r1, t1\n  tensor.static r2, t1\n" + label +
                                    "  kernel.1 k0, [i0, i1], [r1, r2]\n  ret.r r0!\n")),
             StatusCode::kInvalidInput, "expected buffer 0 on device 1, found it on device 0");
  CheckFails(RunOn(device, OnDevice("  tensor.static r1, t0\n  tensor.static r2, t1\n" + label +
                                    "  kernel.1 k1, [i0, i1], [r1, r2]\n  ret.r r0!\n")),
             StatusCode::kInvalidInput, "expected buffer 0 on device 0, found it on device 1");
  // Instructions and results that read data on the host.
  const std::pair<const char*, const char*> readers[] = {
      {"tensor.item i2, r1, int64, 0\n", "tensor.item needs a tensor, found a tensor on a device"},
      {"tensor.append r2, r1, r0, int64, [i0]\n", "needs a tensor, found a tensor on a device"},
      {"tensor.reuse r2, r1, int64, [i0]\n", "needs a tensor, found a tensor on a device"},
      {"ret.r r1!\n", "the result holds a tensor on a device"},
  };
  for (const auto& [code, text] : readers) {
    CheckFails(
        RunOn(device, OnDevice("  tensor.static r1, t0\n  " + std::string(code) + "  ret.r r0!\n")),
        StatusCode::kInvalidInput, text);
  }
}

TEST_CASE("devices: a kernel's failure comes later, and is that of its call") {
  const auto device = Fenced();
  const std::string code = R"(
  tensor.copy r1, r0!, 1
  tensor.static r2, t0
  const.i16 i1, 200
  .at 0 7 3
  kernel.1 k2, [i0, i1], [r1, r2]
  .at 0 8 3
  kernel.1 k2, [i0, i1], [r2, r1]
)";
  const std::string source = ".source \"late.relay\"\n";
  // Where nothing waits, at the end of the run.
  for (const char* end :
       {"  tensor.copy r2, r2!, 0\n  ret.r r2!\n", "  tensor.static r3, t1\n  ret.r r3!\n"}) {
    const Result<Value> result = RunOn(device, OnDevice(code + end, source));
    CheckFails(result, StatusCode::kOutOfRange, "add_small");
    CHECK_MESSAGE(Contains(result.status().message(), "late.relay:8:3"), result.status().message());
    CHECK_MESSAGE(Contains(result.status().message(), "device 'fenced'"),
                  result.status().message());
  }
  CHECK(device->bytes_in_use() == 0);
}

TEST_CASE("devices: limits, cancellation and deadlines end a run when its work is done") {
  const auto device = Fenced();
  InvocationOptions options;
  options.memory_limit = 64 << 10;
  const std::string large = R"(
  const.i64 i2, 100000
  tensor.alloc r1, int64@1, [i2]
  ret.r r0!
)";
  CheckFails(RunOn(device, OnDevice(large), options), StatusCode::kResourceExhausted,
             "on device 'fenced'");
  // More than the device has.
  CheckFails(RunOn(device, OnDevice("  const.i64 i2, 1000000000\n  tensor.alloc r1, int64@1, [i2]\n"
                                    "  ret.r r0!\n")),
             StatusCode::kResourceExhausted, "on device 'fenced'");

  RuntimeOptions runtime_options;
  const std::shared_ptr<Device> devices[] = {device};
  runtime_options.devices = devices;
  auto runtime = Runtime::Create(runtime_options);
  REQUIRE(runtime.ok());
  const auto executable = testing::LoadText(OnDevice(kThereAndBack), kKernels);
  const int64_t x[] = {1, 2, 3, 4};
  auto input = Value::CopyTensor(DType::kInt64, {{4}}, x);
  for (const bool by_deadline : {false, true}) {
    auto invocation = Invocation::Create(*runtime, executable);
    REQUIRE(invocation.ok());
    if (by_deadline) (*invocation)->set_timeout(std::chrono::milliseconds(20));
    device->Hold(true);
    REQUIRE((*invocation)->Start("main", {*input}).ok());
    CHECK((*invocation)->Poll() == RunState::kWaiting);  // and the thread is free
    CHECK(device->num_waiting() > 0);
    if (!by_deadline) (*invocation)->Cancel();
    if (by_deadline) (*invocation)->Wait();
    // It is to end, and its memory is still the device's.
    CHECK((*invocation)->Poll() == RunState::kWaiting);
    CHECK(device->bytes_in_use() > 32);
    device->Hold(false);
    while ((*invocation)->Poll() != RunState::kDone) (*invocation)->Wait();
    const Result<Value> result = (*invocation)->TakeResult();
    CheckFails(result, by_deadline ? StatusCode::kDeadlineExceeded : StatusCode::kCancelled, "");
    if (by_deadline) (*invocation)->set_timeout({});
    CheckValues((*invocation)->Run("main", {*input}), {31, 32, 33, 34});
  }
  // An invocation that is destroyed while it waits.
  device->Hold(true);
  auto invocation = Invocation::Create(*runtime, executable);
  REQUIRE((*invocation)->Start("main", {*input}).ok());
  CHECK((*invocation)->Poll() == RunState::kWaiting);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    device->Hold(false);
  });
  invocation->reset();
  later.join();
}

TEST_CASE("devices: many invocations on one thread, while the device works for all") {
  const auto device = Fenced(7);
  RuntimeOptions runtime_options;
  const std::shared_ptr<Device> devices[] = {device};
  runtime_options.devices = devices;
  auto runtime = Runtime::Create(runtime_options);
  const auto executable = testing::LoadText(OnDevice(kThereAndBack), kKernels);
  std::vector<std::unique_ptr<Invocation>> runs;
  for (int64_t i = 0; i < 40; ++i) {
    auto invocation = Invocation::Create(*runtime, executable);
    REQUIRE(invocation.ok());
    const int64_t x[] = {i, 2 * i, 3 * i, 4 * i};
    REQUIRE((*invocation)->Start("main", {*Value::CopyTensor(DType::kInt64, {{4}}, x)}).ok());
    runs.push_back(*std::move(invocation));
  }
  for (size_t left = runs.size(); left > 0;) {
    for (size_t i = 0; i < runs.size(); ++i) {
      if (runs[i] == nullptr || runs[i]->Poll() != RunState::kDone) continue;
      const auto n = static_cast<int64_t>(i);
      CheckValues(runs[i]->TakeResult(), {n + 30, 2 * n + 30, 3 * n + 30, 4 * n + 30});
      runs[i] = nullptr;
      --left;
    }
  }
}

TEST_CASE("devices: a runtime without them refuses the program by name") {
  auto runtime = Runtime::Create({});
  const auto refused =
      Invocation::Create(*runtime, testing::LoadText(OnDevice(kThereAndBack), kKernels));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StatusCode::kUnsupported);
  CHECK(Contains(refused.status().message(), "the program needs device 'fenced'"));
  // A device without the kernel.
  CheckFails(RunOn(MakeHostDevice("fenced"), OnDevice(kThereAndBack)), StatusCode::kUnsupported,
             "needs kernel 'add', which device 'fenced' has not");
}

TEST_CASE("devices: a program that is not trusted has no kernels there") {
  LoadOptions load;
  load.kernels = kKernels;
  load.allow_images = false;
  const auto refused = Executable::FromProgram(*Assemble(OnDevice(kThereAndBack)), load);
  REQUIRE_FALSE(refused.ok());
  CHECK(Contains(refused.status().message(), "allow_images"));
}

TEST_CASE("devices: files state the minor version that has them, and texts come back") {
  Result<Program> program = Assemble(OnDevice(kThereAndBack));
  REQUIRE(program.ok());
  CHECK(LeastFormatMinor(*program) == kMinorOfDevices);
  const std::string text = DisassembleProgram(*program, {.data = true});
  auto bytes = SerializeProgram(*program);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  auto read = ReadProgram(*bytes);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  CHECK(DisassembleProgram(*read, {.data = true}) == text);
  CHECK(read->kernels[0].device == 1);
  CHECK(read->tensor_types[0].device == 1);
  CHECK(read->constants[0].device == 1);
  CHECK(read->devices == std::vector<std::string>{"fenced"});
}

TEST_CASE("devices: code that somebody has changed is refused, fails or runs") {
  const auto device = Fenced();
  const std::shared_ptr<Device> devices[] = {device};
  RuntimeOptions runtime_options;
  runtime_options.devices = devices;
  auto runtime = Runtime::Create(runtime_options);
  REQUIRE(runtime.ok());
  const int64_t x[] = {1, 2, 3, 4};
  auto input = Value::CopyTensor(DType::kInt64, {{4}}, x);
  std::mt19937 random(1);
  int refused = 0, failed = 0, ran = 0;
  for (int i = 0; i < 3000 / testing::kSlowdown; ++i) {
    Result<Program> program = Assemble(OnDevice(kThereAndBack));
    REQUIRE(program.ok());
    const auto code =
        std::make_shared<std::vector<uint16_t>>(program->code.begin(), program->code.end());
    for (uint32_t n = 1 + random() % 2; n > 0; --n) {
      uint16_t& unit = (*code)[random() % code->size()];
      unit = random() % 2 == 0 ? static_cast<uint16_t>(random() % 8)
                               : static_cast<uint16_t>(unit ^ 1U << random() % 16);
    }
    program->code = *code;
    program->owners.push_back(code);
    LoadOptions load;
    load.kernels = kKernels;
    auto executable = Executable::FromProgram(*std::move(program), load);
    if (!executable.ok()) {
      ++refused;
      continue;
    }
    InvocationOptions options;
    options.memory_limit = 1 << 20;
    options.timeout = std::chrono::milliseconds(200);
    auto invocation = Invocation::Create(*runtime, *executable, options);
    REQUIRE(invocation.ok());
    const Result<Value> result = (*invocation)->Run("main", {*input});
    ++(result.ok() ? ran : failed);
    if (!result.ok()) CHECK(result.status().code() != StatusCode::kInternal);
  }
  CHECK(refused > 0);
  CHECK(failed > 0);
  CHECK(ran > 0);
  CHECK(device->bytes_in_use() == 0);
}

// --- What the fence shows ---

// Runs it in a child process; the signal that ends that, or 0.
template <typename Fn>
int SignalOf(Fn fn) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    fn();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("the fenced device: the host faults where it touches memory of the device") {
  CHECK(SignalOf([] {
          const auto device = Fenced();
          auto queue = device->NewQueue();
          auto* memory = static_cast<volatile int64_t*>((*queue)->Allocate(64));
          *memory = 1;
        }) == SIGSEGV);
  CHECK(SignalOf([] {
          const auto device = Fenced();
          auto queue = device->NewQueue();
          int64_t out[8], scalars[] = {8, 1};
          void* buffers[] = {(*queue)->Allocate(64), out};
          const RelayvmKernelArgs args{buffers, scalars, nullptr};
          volatile RelayvmKernelFn add = AddScalar;
          add(nullptr, &args, 0, 1);  // a kernel of the host, without the copy
        }) == SIGSEGV);
}

TEST_CASE("the fenced device: memory that is not the queue's, and a wait that is missing, show") {
  const auto device = Fenced();
  auto queue = device->NewQueue();
  auto image = device->Load({});
  REQUIRE((queue.ok() && image.ok()));
  const auto wait = [&] {
    std::atomic<bool> done{false};
    (*queue)->Notify([&] { done = true; });
    while (!done) std::this_thread::yield();
  };
  int64_t host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t scalars[] = {8, 1};
  void* const out = (*queue)->Allocate(64);
  void* const in = (*queue)->Allocate(64);
  DeviceLaunch launch{};
  launch.kernel = (*image)->Find("add", 0);
  launch.scalars = scalars;
  launch.units = 1;
  launch.tag = 5;
  // The host's memory as a buffer: a copy is missing.
  void* const buffers[] = {host, out};
  launch.buffers = buffers;
  (*queue)->Launch(launch);
  wait();
  CHECK((*queue)->failure().tag == 5);
  CHECK((*queue)->failure().message == "buffer 0 is none of the queue's memory");
  (*queue)->Reset();
  // What was freed is not the queue's any more.
  void* const again = (*queue)->Allocate(64);
  (*queue)->Free(again);
  (*queue)->CopyIn(again, host, sizeof host);
  wait();
  CHECK((*queue)->failure().message == "what is copied is none of the queue's memory");
  (*queue)->Reset();
  // Without a wait the host sees what was there before.
  (void)in;
  void* const there = (*queue)->Allocate(64);
  int64_t back[8] = {};
  device->Hold(true);
  (*queue)->CopyIn(there, host, sizeof host);
  (*queue)->CopyOut(back, there, sizeof back);
  CHECK(back[7] == 0);
  device->Hold(false);
  wait();
  CHECK(back[7] == 8);
  (*queue)->Reset();
}

}  // namespace
}  // namespace relayvm
