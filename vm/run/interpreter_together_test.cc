// Kernels side by side: the same results, errors and memory as one by one, on any number of
// threads.
#include <algorithm>
#include <atomic>

#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::Int64Values;
using testing::LoadText;
using testing::RunOk;

// Writes s0 to elements begin .. end - 1, of s1, of its last buffer, plus its first element of the
// others.
int32_t Fill(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t begin, uint32_t end) {
  const int64_t sum = args->scalars[0] + *static_cast<const int64_t*>(args->buffers[0]);
  if (end > args->scalars[1]) return 99;
  std::fill(static_cast<int64_t*>(args->buffers[1]) + begin,
            static_cast<int64_t*>(args->buffers[1]) + end, sum);
  return 0;
}

// Fails with code s0 from unit s1 on.
int32_t FailFrom(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t, uint32_t end) {
  return end > args->scalars[1] ? static_cast<int32_t>(args->scalars[0]) : 0;
}

constexpr Builtin kKernels[] = {{"fill", Fill}, {"fail", FailFrom}};
constexpr const char* kTables = R"(
.version 4
.kernel "fill" scalars 2 buffers (int64[1], out int64[s1] over 0) builtin
.kernel "fail" scalars 2 buffers () builtin
)";

TEST_CASE("kernels together: slots and registers, several threads, objects are released") {
  // Element 0 of the three results, in decimal digits.
  const std::string text = std::string(kTables) + R"(
.export "main" f0 ("n": int64[], "x": int64[1]) -> int64[]
.function "main" scalars 0 objects 2 captured 0 registers 16 8 returns object arena 8192
  .slot 0 4096
  .slot 4096 4096
  tensor.item i0, r0!, int64, 0
  const.i16 i1, 1
  const.i16 i2, 20
  const.i16 i3, 300
  const.i16 i5, 512
  const.i16 i6, 0
  tensor.alloc r3, int64, [i5]
  kernels 3
  kernel k0, i0, i1, i6, [i1, i0], [r1, s0]
  kernel k0, i0, i1, i6, [i2, i0], [r1, s1]
  kernel k0, i0, i1, i6, [i3, i5], [r1!, r3]
  kernels 2
  kernel.1 k0, [i6, i1], [s0, s1]
  kernel.1 k0, [i6, i1], [r3, s0]
  tensor.item i7, r3!, int64, 0
  slot.item i8, s0, int64
  slot.item i9, s1, int64
  add.i i7, i7, i8
  add.i i7, i7, i9
  tensor.box r2, i7, int64
  ret.r r2!
.end
)";
  auto executable = LoadText(text, kKernels);
  for (uint32_t threads : {1u, 2u, 5u}) {
    auto invocation = testing::NewInvocation(executable, {.memory_limit = 1 << 20}, threads);
    for (int64_t n : {1, 2, 7, 64, 512}) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        // r3 = 304, then s1 = s0 = 5 and s0 = r3.
        CHECK(testing::ToInt64(RunOk(
                  *invocation, {Value::Int64(n), testing::TensorOf<int64_t>(
                                                     DType::kInt64, {1}, {4})})) == 304 + 304 + 5);
      }
    }
  }
}

TEST_CASE("kernels together: what is not apart runs in order") {
  // The second kernel reads what the first one writes: through the same slot, through a slot that
  // overlaps it, and through a second register on the same tensor, which is refused at any time.
  int refused = 0;
  for (const char* pair : {"kernel k0, i0, i1, i6, [i1, i0], [r1, s0]\n"
                           "  kernel k0, i0, i1, i6, [i1, i0], [s0, r3]",
                           "kernel k0, i0, i1, i6, [i1, i0], [r1, s0]\n"
                           "  kernel k0, i0, i1, i6, [i1, i0], [s1, r3]",
                           "kernel k0, i0, i1, i6, [i1, i0], [r1, r4]\n"
                           "  kernel k0, i0, i1, i6, [i1, i0], [r5, r3]"}) {
    CAPTURE(pair);
    const std::string text = std::string(kTables) + R"(
.export "main" f0 ("n": int64[], "x": int64[1]) -> int64[]
.function "main" scalars 0 objects 2 captured 0 registers 16 8 returns object arena 8192
  .slot 0 4096
  .slot 0 64
  tensor.item i0, r0!, int64, 0
  const.i16 i1, 1
  const.i16 i5, 512
  const.i16 i6, 0
  tensor.alloc r3, int64, [i5]
  tensor.alloc r4, int64, [i5]
  tensor.view r5, r4, [i5]
  kernels 2
  )" + pair + R"(
  tensor.item i7, r3!, int64, 0
  tensor.box r2, i7, int64
  ret.r r2!
.end
)";
    auto executable = LoadText(text, kKernels);
    for (uint32_t threads : {1u, 4u}) {
      auto invocation = testing::NewInvocation(executable, {}, threads);
      for (int repeat = 0; repeat < 50; ++repeat) {
        Result<Value> result = invocation->Run(
            "main", {Value::Int64(512), testing::TensorOf<int64_t>(DType::kInt64, {1}, {40})});
        if (result.ok()) {
          CHECK(testing::ToInt64(*result) == 42);
        } else {
          CHECK(Contains(result.status().message(), "found one that is an input, a constant"));
          ++refused;
        }
      }
    }
  }
  CHECK(refused == 2 * 50);
}

TEST_CASE("kernels together: an error is that of the first kernel, and names it") {
  const std::string text = std::string(kTables) + R"(
.source "k.relay"
.export "main" f0 ("a": int64[], "b": int64[]) -> int64[]
.function "main" scalars 0 objects 2 captured 0 registers 16 8 returns object arena 0
  tensor.item i0, r0!, int64, 0
  tensor.item i1, r1!, int64, 0
  const.i16 i2, 1
  const.i16 i3, 2
  const.i16 i4, 100
  kernels 2
  .at 0 3 1
  kernel k1, i4, i2, i5, [i2, i0], []
  .at 0 4 1
  kernel k1, i4, i2, i5, [i3, i1], []
  tensor.box r2, i0, int64
  ret.r r2!
.end
)";
  auto executable = LoadText(text, kKernels);
  for (uint32_t threads : {1u, 2u, 5u}) {
    auto invocation = testing::NewInvocation(executable, {}, threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      CHECK(invocation->Run("main", Int64Values({100, 100})).ok());
      Result<Value> second = invocation->Run("main", Int64Values({100, 50}));
      REQUIRE(!second.ok());
      CHECK(second.status().message() == "main (k.relay:4:1): kernel fail: invalid argument");
      Result<Value> both = invocation->Run("main", Int64Values({99, 0}));
      REQUIRE(!both.ok());
      CHECK(Contains(both.status().message(), "index out of range"));
    }
  }
}

}  // namespace
}  // namespace relayvm
