// Kernel calls: argument blocks, ranges, threads, scratch, errors, traces.
#include <algorithm>
#include <atomic>

#include "vm/platform/thread_pool.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::Int64Values;
using testing::LoadText;
using testing::RunFails;
using testing::RunOk;
using testing::ScalarProgram;

// Adds 1 to elements begin..end of the int64 buffer 0, and to element n the number of calls.
int32_t CountUnits(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                   uint32_t end) {
  if (env->struct_size < sizeof(RelayvmKernelEnv)) return 99;
  auto* counts = static_cast<int64_t*>(args->buffers[0]);
  int64_t n = args->scalars[0];
  if (begin >= end || end > n) return 98;
  for (uint32_t i = begin; i < end; ++i) ++counts[i];
  std::atomic_ref(counts[n]).fetch_add(1);
  return 0;
}

// Fails with code 1 from unit 5 on, with 2 from unit 50 on.
int32_t FailAt(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t begin, uint32_t end) {
  return begin >= 50 ? 2 : end > 5 ? 1 : 0;
}

// Fills its scratch with the number of its range and checks that nobody else wrote to it.
int32_t UseScratch(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t begin,
                   uint32_t) {
  auto* scratch = static_cast<uint32_t*>(args->scratch);
  if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) return 3;
  auto words = static_cast<size_t>(args->scalars[0]) / 4;
  for (size_t i = 0; i < words; ++i) scratch[i] = begin;
  for (size_t i = 0; i < words; ++i) {
    if (scratch[i] != begin) return 4;
  }
  return 0;
}

// Writes scalars 0..2, then the first byte of each buffer, into the last buffer.
int32_t Gather(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t begin,
               uint32_t end) {
  if (begin != 0 || end != 1) return 5;
  auto* out = static_cast<int64_t*>(args->buffers[3]);
  for (int i = 0; i < 3; ++i) out[i] = args->scalars[i];
  for (int i = 0; i < 3; ++i) out[3 + i] = *static_cast<const uint8_t*>(args->buffers[i]);
  return 0;
}

// Writes its number to its scratch where it has kept none there.
std::atomic<int64_t> g_first_calls, g_calls;
int32_t Keep(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t, uint32_t) {
  auto& scratch = *static_cast<int64_t*>(args->scratch);
  const int64_t number = args->scalars[0];
  ++g_calls;
  if (env->kept == nullptr || *env->kept == 0) {
    ++g_first_calls;
    scratch = number;
    if (env->kept != nullptr) *env->kept = static_cast<uint64_t>(number);
  }
  return scratch == number ? 0 : 6;
}

constexpr Builtin kKernels[] = {{"count_units", CountUnits},
                                {"fail_at", FailAt},
                                {"use_scratch", UseScratch},
                                {"gather", Gather},
                                {"keep", Keep}};
constexpr const char* kTables = R"(
.source "k.relay"
.kernel "count_units" scalars 1 buffers (out int64[s0 + 1]) builtin
.kernel "fail_at" scalars 0 buffers () builtin
.kernel "use_scratch" scalars 1 buffers () builtin
.kernel "gather" scalars 3 buffers (uint8[], uint8[], uint8[], out int64[6]) builtin
.kernel "keep" scalars 1 buffers () builtin
.constant uint8[3] ""
  .hex 090807
)";

std::shared_ptr<const Executable> KernelProgram(size_t num_inputs, const std::string& body) {
  return LoadText(ScalarProgram(num_inputs, body, "", kTables), kKernels);
}

TEST_CASE("kernels: scalars, registers, constants and slots in order") {
  // The result is element i9 of what gather wrote, checked one by one.
  const std::string text = R"(
.version 1
)" + std::string(kTables) + R"(
.export "main" f0 ("x": uint8[2]) -> int64[6]
.function "main" scalars 0 objects 1 captured 0 registers 4 4 returns object arena 192
  .slot 0 64
  .slot 64 100
  const.i16 i0, -7
  const.i16 i1, 6
  const.i64 i2, 123456789012
  tensor.alloc r1, int64, [i1]
  kernel.1 k3, [i1, i2, i0], [r0, c0, s1, s0]
  tensor.box r2, i1, uint8
  kernel.1 k3, [i0, i1, i2], [r0, c0, r2!, r1]
  ret.r r1!
.end
)";
  Value result =
      RunOk(LoadText(text, kKernels), {testing::TensorOf<uint8_t>(DType::kUInt8, {2}, {5, 0})});
  CHECK(testing::ElementsOf<int64_t>(result) == std::vector<int64_t>{-7, 6, 123456789012, 5, 9, 6});
}

TEST_CASE("kernels: a taken buffer is released after the call") {
  auto executable = KernelProgram(1, R"(
  const.i16 i1, 1000
L0:
  tensor.alloc r1, uint8, [i1]
  tensor.alloc r2, int64, [i1]
  kernel.1 k3, [i1, i1, i1], [r1, c0, r1!, r2!]
  addimm.i i0, i0, -1
  br.if i0, L0)");
  Result<Value> result = testing::NewInvocation(executable, {.memory_limit = 32 << 10})
                             ->Run("main", Int64Values({10000}));
  CHECK_MESSAGE(result.ok(), result.status().message());
}

TEST_CASE("kernels: each unit of a range runs once, in no more tasks than the grain allows") {
  const char* text = R"(
.version 1
%TABLES%
.export "main" f0 ("units": int64[], "grain": int64[]) -> int64[?]
.function "main" scalars 0 objects 2 captured 0 registers 6 4 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.item i1, r1!, int64, 0
  addimm.i i3, i0, 1
  tensor.alloc r2, int64, [i3]
  kernel.1 k5, [i3], [r2]
  kernel k0, i0, i1, i5, [i0], [r2]
  ret.r r2!
.end
)";
  std::string program = text;
  std::string tables = std::string(kTables);
  tables.insert(tables.find(".constant"),
                ".kernel \"zero\" scalars 1 buffers (out int64[s0]) builtin\n");
  program.replace(program.find("%TABLES%"), 8, tables);
  std::vector<Builtin> kernels(std::begin(kKernels), std::end(kKernels));
  kernels.push_back(
      {"zero",
       [](const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) -> int32_t {
         std::memset(args->buffers[0], 0, static_cast<size_t>(args->scalars[0]) * 8);
         return 0;
       }});
  auto executable = LoadText(program, kernels);
  for (uint32_t threads : {1u, 2u, 5u}) {
    auto invocation = testing::NewInvocation(executable, {}, threads);
    for (int64_t units : {0, 1, 2, 7, 64, 1000}) {
      for (int64_t grain : {0, 1, 3, 1000, 5000}) {
        CAPTURE(threads);
        CAPTURE(units);
        CAPTURE(grain);
        auto counts = testing::ElementsOf<int64_t>(RunOk(*invocation, Int64Values({units, grain})));
        int64_t calls = counts.back();
        counts.pop_back();
        CHECK(counts == std::vector<int64_t>(static_cast<size_t>(units), 1));
        int64_t effective = std::max<int64_t>(grain, 1);
        int64_t tasks = units == 0 ? 0 : vm::CountTasks(units, grain, threads);
#ifndef NDEBUG
        if (threads == 1 || tasks == 1)
          tasks = std::min<int64_t>(units, 3);  // debug builds split what runs at once
#else
        if (threads == 1) tasks = units > 0;
#endif
        // Long ranges come in chunks of 64 grains, with polls between.
        CHECK(calls >= tasks);
        CHECK(calls <= tasks + units / (64 * effective));
      }
    }
  }
}

TEST_CASE("kernels: scratch is private to a call and grows") {
  for (uint32_t threads : {1u, 4u}) {
    auto invocation = testing::NewInvocation(KernelProgram(2, R"(
  const.i16 i2, 1
  kernel k2, i0, i2, i1, [i1], [])"),
                                             {}, threads);
    for (int64_t bytes : {64, 100000, 8, 5000000, 64})
      RunOk(*invocation, Int64Values({100, bytes}));
    Result<Value> result = invocation->Run("main", Int64Values({1, int64_t{1} << 60}));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kResourceExhausted);
    CHECK(Contains(result.status().message(), "bytes of a kernel's scratch"));
  }
}

TEST_CASE("kernels: what one keeps in its scratch is there for later units of the call alone") {
  auto executable = KernelProgram(1, R"(
  const.i16 i1, 1
  const.i16 i2, 8
  const.i16 i3, 5
  const.i16 i4, 6
  kernel k4, i0, i1, i2, [i3], []
  kernel k4, i0, i1, i2, [i4], [])");
  for (uint32_t threads : {1u, 2u, 4u}) {
    auto invocation = testing::NewInvocation(executable, {}, threads);
    for (int64_t units : {1, 2, 100}) {
      CAPTURE(threads);
      CAPTURE(units);
      g_first_calls = g_calls = 0;
      RunOk(*invocation, Int64Values({units}));
      CHECK(g_first_calls >= 2);  // of each kernel's call
      if (threads > 1) CHECK(g_first_calls <= 2 * threads);
      CHECK(g_calls >= g_first_calls);
    }
  }
}

TEST_CASE("kernels: an error names the kernel and the line; of several, that of the first units") {
  auto executable =
      KernelProgram(1, "  .at 0 12 3\n  const.i16 i1, 1\n  kernel k1, i0, i1, i2, [], []\n");
  for (uint32_t threads : {1u, 4u}) {
    auto invocation = testing::NewInvocation(executable, {}, threads);
    CHECK(invocation->Run("main", Int64Values({1})).ok());
    Result<Value> result = invocation->Run("main", Int64Values({40}));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kOutOfRange);
    CHECK(result.status().message() == "main (k.relay:12:3): kernel fail_at: index out of range");
  }
  Status status = RunFails(executable, Int64Values({-1}));
  CHECK(Contains(status.message(), "kernel fail_at: -1 units of work"));
  status = RunFails(executable, Int64Values({int64_t{1} << 32}));
  CHECK(Contains(status.message(), "kernel fail_at: 4294967296 units of work"));
}

TEST_CASE("kernels: a missing one is an error at load") {
  Result<Program> program =
      Assemble(ScalarProgram(0, "", "", ".kernel \"no_such\" scalars 0 buffers () builtin"));
  REQUIRE(program.ok());
  auto executable = Executable::FromProgram(*std::move(program));
  REQUIRE(!executable.ok());
  CHECK(executable.status().code() == StatusCode::kUnsupported);
  CHECK(executable.status().message() ==
        "the program needs kernel 'no_such', which neither this runtime nor the host has");
}

TEST_CASE("kernels: what the code does not show of a call is checked when it runs") {
  // fill writes s0 int64 to its second buffer, of which it may read the first; r0 is an input, r1
  // another. Of two exports neither says what arrives.
  constexpr Builtin kFill[] = {
      {"fill",
       [](const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t) -> int32_t {
         std::fill_n(static_cast<int64_t*>(args->buffers[1]), args->scalars[0], 7);
         return 0;
       }}};
  const std::string text = R"(
.version 1
.kernel "fill" scalars 2 s1=3 buffers (int64[s0], out int64[s0] over 0) units s0 scratch s0*8 builtin
.constant int64[2] ""
  .hex 00000000000000000000000000000000
.export "main" f0 ("x": int64[?], "y": float32[?], "n": int64[]) -> int64[?]
.export "other" f0 ("x": int64[?], "y": int64[?], "n": int64[]) -> int64[?]
.function "main" scalars 0 objects 3 captured 0 registers 8 8 returns object arena 64
  .slot 0 32
  tensor.item i0, r2, int64, 0
  const.i16 i1, 3
  const.i16 i2, 100
  tensor.alloc r4, int64, [i0]
  tensor.alloc r5, int64, [i1]
%BODY%
  ret.r r4!
.end
)";
  struct Case {
    std::string body;
    int64_t n;
    std::string message;  // empty: the run is right
  };
  for (
      const Case& c : {
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r0, r4]", 3, ""},
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r0, r4]", 4,
               "expected at least 4 elements for buffer 0, found 3"},
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r1, r4]", 3,
               "expected int64 for buffer 0, found float32"},
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r4, r5]", 3, ""},
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r4, r5]", 9,
               "expected at least 9 elements for buffer 1, found 8"},  // with padding
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r4, r0]", 3, "buffer 1 is written: expected a"},
          Case{"  const.r r6, c0\n  kernel k0, i0, i0, i2, [i0, i1], [r4, r6]", 2,
               "buffer 1 is written: expected a tensor of its own, found one that is an input, a "
               "constant, or held elsewhere"},
          Case{"  adt.new r6, #0, [r5]\n  kernel k0, i0, i0, i2, [i0, i1], [r4, r5]", 3,
               "buffer 1 is written: expected a"},
          Case{"  adt.new r6, #0, [r5]\n  drop r6\n  kernel k0, i0, i0, i2, [i0, i1], [r4, r5]", 3,
               ""},
          Case{"  tensor.view r6, r5, [i1]\n  kernel k0, i0, i0, i2, [i0, i1], [r6, r5]", 3,
               "buffer 1 is written: expected a"},
          Case{"  tensor.view r6, r5, [i1]\n  kernel k0, i0, i0, i2, [i0, i1], [r4, r6]", 3,
               "buffer 1 is written: expected a"},
          Case{"  tensor.view r6, r5!, [i1]\n  kernel k0, i0, i0, i2, [i0, i1], [r4, r6]", 3, ""},
          Case{"  tensor.reuse r6, r4, int64, [i0]\n  mov.r r7, r4!\n"
               "  kernel k0, i0, i0, i2, [i0, i1], [r7, r6]\n  mov.r r4, r6",
               3, ""},
          Case{"  tensor.reuse r6, r4, int64, [i0]\n  mov.r r7, r4\n"
               "  kernel k0, i0, i0, i2, [i0, i1], [r7, r6]",
               3, "buffer 1 is written: expected a"},
          // Of another shape: views of the operand, or of what the operand is a view of.
          Case{"  const.i16 i3, 1\n  tensor.reuse r6, r4, int64, [i0, i3]\n  mov.r r7, r4!\n"
               "  kernel k0, i0, i0, i2, [i0, i1], [r7, r6]\n  mov.r r4, r6",
               3, ""},
          Case{"  const.i16 i3, 1\n  tensor.reuse r6, r4, int64, [i0, i3]\n  mov.r r7, r4\n"
               "  kernel k0, i0, i0, i2, [i0, i1], [r7, r6]",
               3, "buffer 1 is written: expected a"},
          Case{"  const.i16 i3, 1\n  tensor.reuse r6, r4, int64, [i0, i3]\n  mov.r r7, r4!\n"
               "  kernel k0, i0, i0, i2, [i0, i1], [r5, r6]\n  mov.r r4, r6",
               3, "buffer 1 is written: expected a"},
          Case{
              "  const.i16 i3, 1\n  tensor.view r7, r5, [i1]\n  drop r5\n"
              "  tensor.reuse r6, r7, int64, [i1, i3]\n  kernel k0, i0, i0, i2, [i0, i1], [r7, r6]",
              3, ""},
          Case{"  const.i16 i3, 1\n  tensor.view r7, r5, [i1]\n  drop r5\n"
               "  tensor.reuse r6, r7, int64, [i1, i3]\n  mov.r r5, r7\n"
               "  kernel k0, i0, i0, i2, [i0, i1], [r7, r6]",
               3, "buffer 1 is written: expected a"},
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r4, s0]", 4, ""},
          Case{"  kernel k0, i0, i0, i2, [i0, i1], [r4, s0]", 5,
               "expected at least 5 elements for buffer 1, found 4"},
          Case{"  kernel k0, i0, i0, i2, [i0, i0], [r4, r5]", 3, ""},
          Case{"  kernel k0, i0, i0, i2, [i0, i0], [r4, r5]", 2,
               "expected 3 for scalar 1, found 2"},
          Case{"  kernel k0, i1, i0, i2, [i0, i1], [r4, r5]", 2,
               "expected at most 2 units of work, found 3"},
          Case{"  kernel k0, i0, i0, i0, [i0, i1], [r4, r5]", 3,
               "expected 24 bytes of scratch, found 3"},
          Case{"  kernel.1 k0, [i0, i1], [r4, r5]", 0, "expected at most 0 units of work, found 1"},
      }) {
    CAPTURE(c.body);
    CAPTURE(c.n);
    std::string program = text;
    program.replace(program.find("%BODY%"), 6, c.body);
    auto executable = LoadText(program, kFill);
    auto invocation = testing::NewInvocation(executable);
    Result<Value> result =
        invocation->Run("main", {testing::TensorOf<int64_t>(DType::kInt64, {3}, {1, 2, 3}),
                                 testing::Floats({6}, {1, 2, 3, 4, 5, 6}), Value::Int64(c.n)});
    CHECK_MESSAGE(result.ok() == c.message.empty(), result.status().message());
    CHECK_MESSAGE(Contains(result.status().message(), c.message), result.status().message());
  }
}

TEST_CASE("kernels: what a program says of a builtin is held to its signature when it is loaded") {
  const int f32 = static_cast<int>(DType::kFloat32);
  const std::string fixed = fmt::format("s0={} s1=2 s4={} s5=1", f32, f32);
  const std::string buffers = "buffers (float32[s2, s3], out float32[s6])";
  struct Case {
    std::string kernel, message;
  };
  for (const Case& c : {
           Case{"scalars 9 " + fixed + " " + buffers + " units 1", ""},
           Case{"scalars 8 " + fixed + " " + buffers + " units 1",
                "expected at least 9 scalars, found 8"},
           Case{"scalars 9 " + fixed + " " + buffers, "expected one unit of work, and no scratch"},
           Case{"scalars 9 " + fixed + " " + buffers + " units 2", "expected one unit of work"},
           Case{"scalars 9 " + fixed + " " + buffers + " units 1 scratch 8",
                "expected one unit of work, and no scratch"},
           Case{"scalars 9 " + fixed + " buffers (float32[s2, s3]) units 1",
                "expected 2 buffers, found 1"},
           Case{"scalars 9 " + fixed + " buffers (float32[s2, s3], float32[s6]) units 1",
                "expected buffer 1 to be written"},
           Case{"scalars 9 " + fixed + " buffers (out float32[s2, s3], out float32[s6]) units 1",
                "expected buffer 0 to be read"},
           Case{"scalars 9 " + fixed + " buffers (float32[s2, s3], out float32[s6] over 0) units 1",
                "expected buffer 1 to be written"},
           Case{"scalars 9 " + fixed + " buffers (float32[s2], out float32[s6]) units 1",
                "expected buffer 0 to have the shape [s2, s3], found [s2]"},
           Case{"scalars 9 " + fixed + " buffers (float32[s2, s3], out float32[0]) units 1",
                "expected buffer 1 to have the shape [s6], found [0]"},
           Case{"scalars 9 " + fixed + " buffers (int8[s2, s3], out float32[s6]) units 1",
                "expected scalars 0 and 1 to be the dtype and the rank of buffer 0"},
           Case{"scalars 9 s1=2 s4=0 s5=1 " + buffers + " units 1",
                "expected scalars 0 and 1 to be the dtype and the rank of buffer 0"},
           Case{fmt::format("scalars 900 s0={} s1=256 {} units 1", f32, buffers),
                "expected scalars 0 and 1 to be the dtype and the rank of buffer 0"},
       }) {
    CAPTURE(c.kernel);
    Result<Program> program =
        Assemble(ScalarProgram(0, "", "", ".kernel \"cumsum\" " + c.kernel + " builtin"));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    auto executable = Executable::FromProgram(*std::move(program));
    CHECK(executable.ok() == c.message.empty());
    if (executable.ok()) continue;
    CHECK(executable.status().code() == StatusCode::kInvalidInput);
    CHECK_MESSAGE(Contains(executable.status().message(), "kernel 'cumsum': " + c.message),
                  executable.status().message());
  }
}

struct Recorder : TraceSink {
  std::vector<std::string> kernels;
  std::vector<uint32_t> depths;
  bool instructions = false;
  void OnKernel(const KernelEvent& event) override {
    CHECK(event.end_ns >= event.begin_ns);
    kernels.push_back(fmt::format("{} {}", event.name, event.units));
  }
  void OnInstruction(const InstructionEvent& event) override { depths.push_back(event.depth); }
  bool wants_instructions() const override { return instructions; }
};

TEST_CASE("kernels: a trace sink sees kernels, and instructions if it wants") {
  Recorder recorder;
  auto runtime = Runtime::Create({.trace = &recorder});
  REQUIRE(runtime.ok());
  auto executable = LoadText(ScalarProgram(0, R"(
  const.i16 i0, 3
  call.i i15, f1, [i0], []
)",
                                           R"(
.function "f" scalars 1 objects 0 captured 0 registers 2 0 returns scalar arena 0
  kernel k1, i0, i0, i1, [], []
  kernel.1 k1, [], []
  ret.i i0
.end
)",
                                           kTables),
                             kKernels);
  auto invocation = Invocation::Create(*runtime, executable);
  REQUIRE(invocation.ok());
  RunOk(**invocation, {});
  CHECK(recorder.kernels == std::vector<std::string>{"fail_at 3", "fail_at 1"});
  CHECK(recorder.depths.empty());
  recorder.instructions = true;
  RunOk(**invocation, {});
  CHECK(recorder.depths == std::vector<uint32_t>{0, 0, 1, 1, 1, 0, 0});
}

// What follows writes beyond a tensor where one of these calls is taken as proved.
TEST_CASE("kernels: what a check has shown, and sizes beyond 64 bits, prove nothing of a call") {
  struct Case {
    std::string what, params, body, message;
    std::vector<int64_t> dims;
  };
  // i6 is -2^47, which only running tells.
  const std::string large = R"(
  const.i64 i4, 140737488355328
  const.i64 i5, 65536
  tensor.dim i6, r0, #0
  and.i i6, i6, i3
  sub.i i6, i6, i4
  dim.add i7, i6, i4, m0
  dim.addimm i8, i7, 1, m0
  dim.mul i9, i7, i5, m0
  dim.mul i10, i8, i5, m0
)";
  for (const Case& c : std::vector<Case>{
           {"the dim of a tensor that has had room",
            "float32[?, 1000]",
            R"(
  const.i64 i2, 5000000
  tensor.alloc r1, float32, [i2]
  kernel.1 k0, [i0, i1, i2, i0, i1, i2, i3, i3], [r0, r1]
  tensor.dim i4, r0, #0
  tensor.alloc r2, float32, [i4]
  kernel.1 k0, [i0, i1, i2, i0, i1, i2, i3, i3], [r0, r2]
)",
            "kernel.1 k0 (cumsum): expected at least 5000000 elements for buffer 1, found 5000",
            {5000, 1000}},
           {"a product that wraps and one that is larger",
            "float32[?]",
            large + R"(
  tensor.alloc r2, float32, [i9]
  kernel.1 k0, [i0, i1, i10, i0, i1, i10, i3, i3], [r0, r2]
)",
            "kernel.1 k0 (cumsum): expected at least 65536 elements for buffer 1, found 0",
            {65536}},
           {"such dims of the kernel",
            "float32[?]",
            large + R"(
  tensor.alloc r2, float32, [i9, i1]
  kernel.1 k1, [i0, i11, i8, i5, i0, i11, i8, i5, i3, i3], [r0, r2]
)",
            "kernel.1 k1 (cumsum): expected at least 65536 elements for buffer 1, found 0",
            {65536}}}) {
    for (const bool check_proved : {false, true}) {
      CAPTURE(c.what);
      CAPTURE(check_proved);
      Result<Program> program = Assemble(R"(
.version 5
.message "size"
.kernel "cumsum" scalars 8 s0=11 s1=1 s3=11 s4=1 buffers (float32[s2], out float32[s5]) units 1 builtin
.kernel "cumsum" scalars 10 s0=11 s1=2 s4=11 s5=2 buffers (float32[s2, s3], out float32[s6, s7]) units 1 builtin
.export "main" f0 ("x": )" + c.params +
                                         R"() -> float32[?]
.function "main" scalars 0 objects 1 captured 0 registers 16 4 returns object arena 0
  const.i16 i0, 11
  const.i16 i1, 1
  const.i16 i3, 0
  const.i16 i11, 2
)" + c.body + "  ret.r r2!\n.end\n");
      REQUIRE_MESSAGE(program.ok(), program.status().message());
      auto executable =
          Executable::FromProgram(*std::move(program), {.check_proved_calls = check_proved});
      REQUIRE_MESSAGE(executable.ok(), executable.status().message());
      const Status status = RunFails(*executable, {*Value::NewTensor(DType::kFloat32, c.dims)});
      CHECK(status.code() == StatusCode::kInvalidInput);
      CHECK_MESSAGE(Contains(status.message(), c.message), status.message());
    }
  }
}

}  // namespace
}  // namespace relayvm
