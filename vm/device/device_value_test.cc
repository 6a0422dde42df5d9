// Values on devices: inputs that are taken where they are, results that stay there; what counts
// them, who keeps them, and what is refused.
#include <cstring>
#include <numeric>
#include <random>

#include "bytecode/disassembler.h"
#include "vm/api/relayvm.h"
#include "vm/border/output_places.h"
#include "vm/device/programs_testing.h"
#include "vm/trace/chrome_trace.h"

namespace relayvm {
namespace {

using testing::CheckFails;
using testing::CheckValues;
using testing::Contains;
using testing::Fenced;
using testing::FencedDevice;
using testing::kKernels;
using testing::kThereAndBack;
using testing::OnDevice;

std::shared_ptr<Runtime> RuntimeWith(std::vector<std::shared_ptr<Device>> devices,
                                     size_t device_limit = SIZE_MAX) {
  RuntimeOptions options;
  options.devices = devices;
  options.device_memory_limit = device_limit;
  return *Runtime::Create(options);
}

Value Numbers(std::vector<int64_t> numbers) {
  const int64_t dims[] = {static_cast<int64_t>(numbers.size())};
  return *Value::CopyTensor(DType::kInt64, dims, numbers.data());
}

// What the host sees of it.
void CheckThere(Runtime& runtime, const Result<Value>& value, const Device* device,
                std::initializer_list<int64_t> expected) {
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  REQUIRE(value->is_tensor());
  CHECK(value->device() == device);
  CHECK(value->data() == nullptr);
  CHECK(value->device_data() != nullptr);
  CHECK(value->span<int64_t>().empty());
  CheckValues(runtime.CopyTo(*value, nullptr), expected);
}

std::unique_ptr<Invocation> InvocationOf(std::shared_ptr<Runtime> runtime, const std::string& code,
                                         const InvocationOptions& options = {}) {
  auto invocation =
      Invocation::Create(std::move(runtime), testing::LoadText(OnDevice(code), kKernels), options);
  REQUIRE_MESSAGE(invocation.ok(), invocation.status().message());
  return *std::move(invocation);
}

// The same with an input of another type, or with more before the export.
std::unique_ptr<Invocation> InvocationWith(std::shared_ptr<Runtime> runtime,
                                           const std::string& code, const std::string& type,
                                           const std::string& tables = "") {
  std::string text = OnDevice(code, tables);
  const std::string tensor = "f0 (\"x\": int64[4])";
  text.replace(text.find(tensor), tensor.size(), "vars 1 f0 (\"x\": " + type + ")");
  auto invocation = Invocation::Create(std::move(runtime), testing::LoadText(text, kKernels));
  REQUIRE_MESSAGE(invocation.ok(), invocation.status().message());
  return *std::move(invocation);
}

std::vector<OutputBuffer> Left(const std::shared_ptr<FencedDevice>& device) {
  return {OutputBuffer{.device = device.get()}};
}

// x + 10 on the device alone.
constexpr const char* kThere = R"(
  tensor.copy r1, r0!, 1
  tensor.static r2, t0
  kernel.1 k0, [i0, i1], [r1!, r2]
  tensor.copy r5, r2!, 0
  ret.r r5!
)";

TEST_CASE("device values: an input there is not copied, nor a result that stays there") {
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device});
  const auto invocation = InvocationOf(runtime, kThere);
  const Result<Value> there = runtime->CopyTo(Numbers({1, 2, 3, 4}), device.get());
  CheckThere(*runtime, there, device.get(), {1, 2, 3, 4});
  const auto copies_of = [&](const Value& input, std::vector<OutputBuffer> outputs,
                             Result<Value>* result) {
    const uint64_t before = device->copies();
    *result = invocation->Run("main", {input}, std::move(outputs));
    return device->copies() - before;
  };
  Result<Value> result = Value();
  CHECK(copies_of(Numbers({1, 2, 3, 4}), {}, &result) == 2);
  CheckValues(result, {11, 12, 13, 14});
  CHECK(copies_of(*there, {}, &result) == 1);
  CheckValues(result, {11, 12, 13, 14});
  CHECK(copies_of(Numbers({1, 2, 3, 4}), Left(device), &result) == 1);
  CheckThere(*runtime, result, device.get(), {11, 12, 13, 14});
  CHECK(copies_of(*there, Left(device), &result) == 0);
  CheckThere(*runtime, result, device.get(), {11, 12, 13, 14});
  // And on: what one run has left is the next one's input.
  for (int64_t i = 2; i < 20; ++i) {
    const Value state = *result;
    REQUIRE(copies_of(state, Left(device), &result) == 0);
    REQUIRE(result.ok());
  }
  CheckThere(*runtime, result, device.get(), {201 - 10, 202 - 10, 203 - 10, 204 - 10});
}

TEST_CASE("device values: an input is copied to the host where the program reads it there") {
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device});
  const Value there = *runtime->CopyTo(Numbers({1, 2, 3, 4}), device.get());
  // Read by a kernel of the host, and by both.
  const char* const readers[] = {R"(
  tensor.static r2, t1
  kernel.1 k1, [i0, i1], [r0!, r2]
  ret.r r2!
)",
                                 R"(
  tensor.copy r1, r0, 1
  tensor.static r2, t0
  kernel.1 k0, [i0, i1], [r1!, r2]
  tensor.static r3, t1
  kernel.1 k1, [i0, i1], [r0!, r3]
  tensor.copy r5, r2!, 0
  ret.r r5!
)",
                                 // Behind a branch.
                                 R"(
  jump L1
L1:
  tensor.copy r1, r0!, 1
  tensor.static r2, t0
  kernel.1 k0, [i0, i1], [r1!, r2]
  tensor.copy r5, r2!, 0
  ret.r r5!
)"};
  for (const char* code : readers) {
    const auto invocation = InvocationOf(runtime, code);
    CheckValues(invocation->Run("main", {there}), {11, 12, 13, 14});
    // What the program does not have there is copied to it.
    CheckThere(*runtime, invocation->Run("main", {there}, Left(device)), device.get(),
               {11, 12, 13, 14});
  }
  // Given back as it is, and one that nobody reads.
  const auto same = InvocationOf(runtime, "  ret.r r0!\n");
  CheckValues(same->Run("main", {there}), {1, 2, 3, 4});
  CheckThere(*runtime, same->Run("main", {there}, Left(device)), device.get(), {1, 2, 3, 4});
  const auto unread =
      InvocationOf(runtime,
                   "  drop r0!\n  tensor.static r1, t1\n  const.r r2, c0\n  tensor.static r1, t0\n"
                   "  kernel.1 k0, [i0, i1], [c0, r1]\n  tensor.copy r1, r1!, 0\n  ret.r r1!\n");
  const uint64_t before = device->copies();
  CheckValues(unread->Run("main", {there}), {11, 12, 13, 14});
  CHECK(device->copies() - before == 1);  // of the result
}

TEST_CASE("device values: inside of tuples, data types and inputs that may be left out") {
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device});
  const Value x = Numbers({1, 2, 3, 4}), there = *runtime->CopyTo(x, device.get());
  constexpr const char* kTypes = R"(
.data "Optional" 1
  .constructor "None" ()
  .constructor "Some" (var 0)
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 1(var 0))
)";
  const std::string get = "  adt.get r0, r0!, #0\n", add = kThere;
  const auto optional = InvocationWith(runtime, get + add, "data 0(int64[4])", kTypes);
  CheckValues(optional->Run("main", {x}), {11, 12, 13, 14});
  CheckValues(optional->Run("main", {there}), {11, 12, 13, 14});
  // What was left there is the next run's input.
  Result<Value> state = optional->Run("main", {there}, Left(device));
  for (int i = 0; i < 3; ++i) state = optional->Run("main", {*state}, Left(device));
  CheckThere(*runtime, state, device.get(), {41, 42, 43, 44});
  const Value nil = Value::Adt(0, {});
  const auto list =
      InvocationWith(runtime, "  adt.get r0, r0!, #1\n" + get + add, "data 1(int64[4])", kTypes);
  CheckValues(list->Run("main", {Value::Adt(1, {x, Value::Adt(1, {there, nil})})}),
              {11, 12, 13, 14});
  const auto tuple =
      InvocationWith(runtime, "  adt.get r0, r0!, #1\n" + add, "(int64[2], int64[4])");
  CheckValues(tuple->Run("main", {Value::Tuple({Numbers({1, 2}), there})}), {11, 12, 13, 14});
  CheckFails(tuple->Run("main", {Value::Tuple({there, there})}), StatusCode::kInvalidArgument,
             "expected Tensor[(2), int64], found Tensor[(4), int64] on a device");
  // A type that is open.
  const auto open = InvocationWith(runtime, "  adt.get r0, r0!, #1\n" + add, "(var 0, int64[4])");
  CheckValues(open->Run("main", {Value::Tuple({there, there})}), {11, 12, 13, 14});
  const auto cancelled = [&] {
    device->Hold(true);
    REQUIRE(optional->Start("main", {there}).ok());
    CHECK(optional->Poll() == RunState::kWaiting);
    optional->Cancel();
    device->Hold(false);
    while (optional->Poll() != RunState::kDone) optional->Wait();
    return optional->TakeResult();
  };
  CheckFails(cancelled(), StatusCode::kCancelled, "main: ");
}

TEST_CASE("device values: what reads an input of code that does not decode is the host") {
  ExportInfo info;
  info.params.resize(2);
  const uint16_t code[] = {0xFFFF};
  CHECK(vm::FindInputDevices(info, code) == std::vector<uint8_t>{0, 0});
}

TEST_CASE("device values: views, constants and inputs that are left there are what they are") {
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device});
  const Value there = *runtime->CopyTo(Numbers({1, 2, 3, 4}), device.get());
  const char* const codes[] = {"  const.r r1, c0\n  tensor.copy r2, r1!, 0\n  ret.r r2!\n",
                               "  tensor.copy r1, r0!, 1\n  tensor.copy r2, r1!, 0\n  ret.r r2!\n",
                               R"(
  tensor.static r1, t0
  kernel.1 k0, [i0, i1], [c0, r1]
  tensor.view r2, r1!, [i0]
  tensor.copy r3, r2!, 0
  ret.r r3!
)"};
  const std::initializer_list<int64_t> expected[] = {{1, 2, 3, 4}, {1, 2, 3, 4}, {11, 12, 13, 14}};
  for (size_t i = 0; i < std::size(codes); ++i) {
    auto invocation = InvocationOf(runtime, codes[i]);
    const uint64_t before = device->copies();
    Result<Value> result = invocation->Run("main", {there}, Left(device));
    CHECK(device->copies() - before == 0);
    invocation.reset();  // and with it the program
    CheckThere(*runtime, result, device.get(), expected[i]);
  }
  // A constant of the host beside it goes with the program.
  std::string host_constant = ".constant int64[4] \"h\"\n  .hex ";
  host_constant += std::string(64, 'F') + "\n";
  auto invocation = InvocationWith(runtime, codes[0], "int64[4]", host_constant);
  const Result<Value> result = invocation->Run("main", {there}, Left(device));
  invocation.reset();
  CheckThere(*runtime, result, device.get(), {1, 2, 3, 4});
}

TEST_CASE("device values: parts of tuples, one tensor twice, and what the host reads too") {
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device});
  std::string text = OnDevice(R"(
  tensor.copy r1, r0!, 1
  tensor.static r2, t0
  kernel.1 k0, [i0, i1], [r1!, r2]
  tensor.copy r3, r2, 0
  tensor.copy r4, r2!, 0
  adt.new r5, #0, [r3, r4, r3]
  ret.r r5!
)");
  const std::string one = "-> int64[4]\n", three = "-> (int64[4], int64[4], int64[4])\n";
  text.replace(text.find(one), one.size(), three);
  auto invocation = Invocation::Create(runtime, testing::LoadText(text, kKernels));
  REQUIRE_MESSAGE(invocation.ok(), invocation.status().message());
  const OutputBuffer left{.device = device.get()};
  for (uint32_t mask = 0; mask < 8; ++mask) {
    std::vector<OutputBuffer> outputs(3);
    for (uint32_t i = 0; i < 3; ++i) {
      if ((mask >> i & 1) != 0) outputs[i] = left;
    }
    const Result<Value> result = (*invocation)->Run("main", {Numbers({1, 2, 3, 4})}, outputs);
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    for (uint32_t i = 0; i < 3; ++i) {
      CAPTURE(mask);
      if ((mask >> i & 1) != 0) {
        CheckThere(*runtime, result->field(i), device.get(), {11, 12, 13, 14});
      } else {
        CheckValues(result->field(i), {11, 12, 13, 14});
      }
    }
  }
}

TEST_CASE("device values: programs without devices take them, and leave results there") {
  const auto device = Fenced(),
             other = std::make_shared<FencedDevice>(FencedDevice::Options{.name = "second"});
  const auto runtime = RuntimeWith({device, other});
  constexpr const char* kOnHost = R"(.version 7
.kernel "add" scalars 2 buffers (int64[s0], out int64[s0]) builtin
.type int64[4]
.export "main" f0 ("x": int64[4]) -> int64[4]
.function "main" scalars 0 objects 1 captured 0 registers 2 2 returns object arena 0
  const.i16 i0, 4
  const.i16 i1, 10
  tensor.static r1, t0
  kernel.1 k0, [i0, i1], [r0!, r1]
  ret.r r1!
.end
)";
  auto invocation = Invocation::Create(runtime, testing::LoadText(kOnHost, kKernels));
  REQUIRE_MESSAGE(invocation.ok(), invocation.status().message());
  const Value x = Numbers({1, 2, 3, 4});
  for (const Device* from :
       {static_cast<const Device*>(nullptr), static_cast<const Device*>(device.get()),
        static_cast<const Device*>(other.get())}) {
    const Value input = *runtime->CopyTo(x, from);
    CheckValues((*invocation)->Run("main", {input}), {11, 12, 13, 14});
    CheckThere(*runtime, (*invocation)->Run("main", {input}, Left(other)), other.get(),
               {11, 12, 13, 14});
  }
  // And one of another device than the program's.
  const auto placed = InvocationOf(runtime, kThere);
  const Value input = *runtime->CopyTo(x, other.get());
  CheckThere(*runtime, placed->Run("main", {input}, Left(other)), other.get(), {11, 12, 13, 14});
  // From one to the other.
  CheckThere(*runtime, runtime->CopyTo(input, device.get()), device.get(), {1, 2, 3, 4});
}

TEST_CASE("device values: what is not the runtime's is refused by name") {
  const auto device = Fenced();
  const auto other = std::make_shared<FencedDevice>(FencedDevice::Options{.name = "gpu7"});
  const auto runtime = RuntimeWith({device}), elsewhere = RuntimeWith({other});
  const auto invocation = InvocationOf(runtime, kThere);
  const Value there = *elsewhere->CopyTo(Numbers({1, 2, 3, 4}), other.get());
  CheckFails(invocation->Run("main", {there}), StatusCode::kInvalidArgument,
             "has not device 'gpu7', of input 0 (RuntimeOptions::devices); its devices: fenced");
  CheckFails(invocation->Run("main", {Numbers({1, 2, 3, 4})}, Left(other)),
             StatusCode::kInvalidArgument, "has not device 'gpu7', of output 0");
  CheckFails(runtime->CopyTo(Numbers({1}), other.get()), StatusCode::kInvalidArgument,
             "has not device 'gpu7'");
  CheckFails(RuntimeWith({})->CopyTo(Numbers({1}), other.get()), StatusCode::kInvalidArgument,
             "its devices: none");
  // Of another runtime's with the same device it is as good.
  const Value same = *RuntimeWith({device})->CopyTo(Numbers({1, 2, 3, 4}), device.get());
  CheckValues(invocation->Run("main", {same}), {11, 12, 13, 14});

  // Of other types, what is no tensor of numbers, and inside of others.
  CheckFails(invocation->Run("main", {*runtime->CopyTo(Numbers({1, 2}), device.get())}),
             StatusCode::kInvalidArgument,
             "expected Tensor[(4), int64], found Tensor[(2), int64] on a device");
  CheckFails(runtime->CopyTo(Value::Tuple({same}), device.get()), StatusCode::kInvalidArgument,
             "a tensor of numbers");
  CheckFails(runtime->CopyTo(Value(), device.get()), StatusCode::kInvalidArgument,
             "a tensor of numbers");
  const std::string_view words[] = {"a"};
  CheckFails(runtime->CopyTo(*Value::CopyStrings({{1}}, words), device.get()),
             StatusCode::kInvalidArgument, "a tensor of numbers");
  const auto nested = InvocationWith(runtime, "  adt.get r1, r0!, #0\n  ret.r r1!\n", "(int64[4])");
  CheckFails(nested->Run("main", {Value::Tuple({there})}), StatusCode::kInvalidArgument,
             "has not device 'gpu7', of input 0");
  // A buffer and a device.
  int64_t buffer[4];
  const int64_t dims[] = {4};
  CheckFails(invocation->Run(
                 "main", {same},
                 {{.dtype = DType::kInt64, .dims = dims, .data = buffer, .device = device.get()}}),
             StatusCode::kInvalidArgument, "a buffer and a device");
}

TEST_CASE("device values: limits count what runs and values have there") {
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device}, 256);
  std::vector<Value> held;
  for (int i = 0; i < 4; ++i) held.push_back(*runtime->CopyTo(Numbers({1, 2, 3, 4}), device.get()));
  CheckFails(runtime->CopyTo(Numbers({1}), device.get()), StatusCode::kResourceExhausted,
             "on device 'fenced': the runtime's limit there is 256, 256 are in use");
  const auto invocation = InvocationOf(runtime, kThere);
  CheckFails(invocation->Run("main", {held[0]}), StatusCode::kResourceExhausted,
             "no memory for a tensor of 32 bytes, shape (4) on device 'fenced': the runtime's "
             "limit there is 256, 256 are in use");
  held.pop_back();
  // The run's only one is its result, which counts on.
  Result<Value> result = invocation->Run("main", {held[0]}, Left(device));
  CheckThere(*runtime, result, device.get(), {11, 12, 13, 14});
  CheckFails(invocation->Run("main", {held[0]}), StatusCode::kResourceExhausted,
             "on device 'fenced'");
  result = Value();
  for (int i = 0; i < 5; ++i) CheckValues(invocation->Run("main", {held[0]}), {11, 12, 13, 14});
  // A run's own limit.
  InvocationOptions options;
  options.memory_limit = 48 << 10;
  const auto wide = RuntimeWith({device});
  CheckFails(InvocationOf(wide,
                          "  const.i64 i2, 100000\n  tensor.alloc r1, int64@1, [i2]\n"
                          "  tensor.copy r1, r0, 1\n  tensor.copy r1, r1!, 0\n"
                          "  ret.r r1!\n",
                          options)
                 ->Run("main", {held[0]}),
             StatusCode::kResourceExhausted, "on device 'fenced'");
}

TEST_CASE("device values: what a device has no memory for counts toward no limit") {
  using Memory = FencedDevice::Memory;
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device}, 256);
  const Value x = Numbers({1, 2, 3, 4}), there = *runtime->CopyTo(x, device.get());
  InvocationOptions options;
  options.memory_limit = 64 << 10;
  const auto invocation = InvocationOf(runtime, kThere, options);
  const auto host = InvocationOf(runtime, "  ret.r r0!\n", options);
  for (const Memory memory : {Memory::kNone, Memory::kThrows}) {
    device->SetMemory(memory);
    const char* const text =
        memory == Memory::kNone ? "on device 'fenced', which has no more" : "memory";
    for (int i = 0; i < 100; ++i) {
      CheckFails(invocation->Run("main", {x}), StatusCode::kResourceExhausted, text);
      CheckFails(host->Run("main", {x}, Left(device)), StatusCode::kResourceExhausted, text);
      CheckFails(runtime->CopyTo(x, device.get()), StatusCode::kResourceExhausted, text);
    }
    device->SetMemory(Memory::kThere);
    for (int i = 0; i < 3; ++i) CheckValues(invocation->Run("main", {there}), {11, 12, 13, 14});
    CHECK(device->bytes_in_use() == 3 * 64);  // the value, and a constant of each program
  }
}

TEST_CASE("device values: programs forget devices of runtimes that are gone") {
  const auto executable = testing::LoadText(OnDevice(kThere), kKernels);
  std::vector<std::weak_ptr<FencedDevice>> devices;
  for (int i = 0; i < 5; ++i) {
    const auto device = Fenced();
    devices.push_back(device);
    for (int j = 0; j < 2; ++j) {
      const auto invocation = *Invocation::Create(RuntimeWith({device}), executable);
      CheckValues(invocation->Run("main", {Numbers({1, 2, 3, 4})}), {11, 12, 13, 14});
    }
  }
  CHECK(std::ranges::count_if(devices, [](const auto& one) { return !one.expired(); }) == 1);
}

TEST_CASE("device values: they outlive runs, invocations, runtimes and the host's own pointer") {
  std::weak_ptr<FencedDevice> watched;
  Value result;
  {
    auto device = Fenced();
    watched = device;
    auto runtime = RuntimeWith({device});
    {
      auto invocation = InvocationOf(runtime, kThere);
      const Value there = *runtime->CopyTo(Numbers({1, 2, 3, 4}), device.get());
      result = *invocation->Run("main", {there}, Left(device));
    }
    CHECK(device->bytes_in_use() == 64);
  }
  REQUIRE(!watched.expired());
  CHECK(result.device()->name() == "fenced");
  {
    const auto other = RuntimeWith({watched.lock()});
    CheckThere(*other, result, watched.lock().get(), {11, 12, 13, 14});
  }
  CHECK(watched.lock()->bytes_in_use() == 64);
  const Value held = Value::Tuple({result, result});  // also inside of others
  result = Value();
  CHECK(watched.lock()->bytes_in_use() == 64);
  const_cast<Value&>(held) = Value();
  CHECK(watched.expired());
}

TEST_CASE("device values: failures of devices, cancellation and deadlines leave nothing behind") {
  const auto device = Fenced();
  const auto runtime = RuntimeWith({device});
  const auto invocation = InvocationOf(runtime, kThere);
  const Value there = *runtime->CopyTo(Numbers({1, 2, 3, 4}), device.get());
  const auto read = InvocationOf(runtime, "  ret.r r0!\n");
  constexpr size_t kHeld = 3 * 64;  // the value, and a constant of each program
  for (const bool fails : {true, false}) {
    device->FailCopies(fails);
    const auto check = [&](const Result<Value>& result) {
      if (fails) {
        CheckFails(result, StatusCode::kInternal, "device 'fenced'");
        CHECK_MESSAGE(Contains(result.status().message(), "a copy failed"),
                      result.status().message());
      } else {
        CHECK(result.ok());
      }
    };
    check(runtime->CopyTo(there, nullptr));
    check(runtime->CopyTo(Numbers({1}), device.get()));
    check(read->Run("main", {there}));
    check(read->Run("main", {Numbers({1, 2, 3, 4})}, Left(device)));
    check(invocation->Run("main", {there}));
    check(invocation->Run("main", {Numbers({1, 2, 3, 4})}, Left(device)));
    CHECK(invocation->Run("main", {there}, Left(device)).ok());  // without a copy
    CHECK(device->bytes_in_use() == kHeld);
  }
  // More than the device has.
  CheckFails(
      runtime->CopyTo(*Value::NewTensor(DType::kInt8, {{(int64_t{1} << 30) + 1}}), device.get()),
      StatusCode::kResourceExhausted, "on device 'fenced'");

  for (const bool by_deadline : {false, true}) {
    if (by_deadline) read->set_timeout(std::chrono::milliseconds(20));
    device->Hold(true);
    REQUIRE(read->Start("main", {there}, Left(device)).ok());
    device->Hold(false);
    while (read->Poll() != RunState::kDone) read->Wait();
    static_cast<void>(read->TakeResult());
    device->Hold(true);
    REQUIRE(read->Start("main", {there}).ok());
    CHECK(read->Poll() == RunState::kWaiting);
    if (!by_deadline) read->Cancel();
    if (by_deadline) read->Wait();
    CHECK(read->Poll() == RunState::kWaiting);
    device->Hold(false);
    while (read->Poll() != RunState::kDone) read->Wait();
    CheckFails(read->TakeResult(),
               by_deadline ? StatusCode::kDeadlineExceeded : StatusCode::kCancelled, "main: ");
  }
  CHECK(device->bytes_in_use() == kHeld);
}

TEST_CASE("device values: tensors without elements, scalars, and any order of queues") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const auto device = Fenced(seed);
    const auto runtime = RuntimeWith({device});
    const auto invocation = InvocationOf(runtime, kThereAndBack);
    Result<Value> result = *runtime->CopyTo(Numbers({1, 2, 3, 4}), device.get());
    for (int i = 0; i < 5; ++i) result = invocation->Run("main", {*result}, Left(device));
    CheckThere(*runtime, result, device.get(), {151, 152, 153, 154});
    const Value empty =
        *runtime->CopyTo(*Value::NewTensor(DType::kFloat32, {{3, 0}}), device.get());
    CHECK(runtime->CopyTo(empty, nullptr)->dims().size() == 2);
    const Value scalar = *runtime->CopyTo(Value::Float32(1.5F), device.get());
    CHECK(runtime->CopyTo(scalar, nullptr)->element(0) == Value::Float32(1.5F).element(0));
  }
}

// What kernels a run told of, in order.
struct KernelSink final : TraceSink {
  void OnKernel(const KernelEvent& event) override {
    CHECK(event.begin_ns > 0);
    CHECK(event.end_ns >= event.begin_ns);
    names.push_back(std::string(event.device) + ":" + std::string(event.name));
  }
  uint32_t kernel_interval() const override { return interval; }
  std::vector<std::string> names;
  uint32_t interval = 1;
};

TEST_CASE("device values: traces tell of launches when the device has done them") {
  const auto device = Fenced();
  const std::shared_ptr<Device> devices[] = {device};
  KernelSink sink;
  ChromeTrace chrome;
  RuntimeOptions options;
  options.devices = devices;
  options.trace = &sink;
  const Value x = Numbers({1, 2, 3, 4});
  const auto sunk = InvocationOf(*Runtime::Create(options), kThereAndBack);
  CheckValues(sunk->Run("main", {x}), {31, 32, 33, 34});
  CHECK(sink.names == std::vector<std::string>{"fenced:add", ":add", "fenced:add"});
  sink.interval = 0;
  CheckValues(sunk->Run("main", {x}), {31, 32, 33, 34});
  CHECK(sink.names.size() == 3);

  options.trace = &chrome;
  const auto drawn = InvocationOf(*Runtime::Create(options), kThereAndBack);
  CheckValues(drawn->Run("main", {x}), {31, 32, 33, 34});
  const std::string json = chrome.Json();
  CHECK_MESSAGE(Contains(json, R"("tid": -1, "args": {"name": "device fenced"})"), json);
  CHECK_MESSAGE(Contains(json, R"("cat": "kernel", "name": "add", "pid": 1, "tid": -1)"), json);
}

}  // namespace
}  // namespace relayvm
