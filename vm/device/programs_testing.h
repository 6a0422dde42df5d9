// Programs of the tests of devices, and what they run with.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vm/border/value.h"
#include "vm/device/testing.h"
#include "vm/testing.h"

namespace relayvm::testing {

// out[i] = in[i] + s1, for i below s0.
inline int32_t AddScalar(const RelayvmKernelEnv*, const RelayvmKernelArgs* args, uint32_t,
                         uint32_t) {
  const auto* in = static_cast<const int64_t*>(args->buffers[0]);
  auto* out = static_cast<int64_t*>(args->buffers[1]);
  for (int64_t i = 0; i < args->scalars[0]; ++i) out[i] = in[i] + args->scalars[1];
  return 0;
}
// The same, where no element is above 100.
inline int32_t AddSmall(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                        uint32_t end) {
  const auto* in = static_cast<const int64_t*>(args->buffers[0]);
  for (int64_t i = 0; i < args->scalars[0]; ++i) {
    if (in[i] <= 100) continue;
    *env->fault = {1, in[i], 0, 100};
    return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  }
  return AddScalar(env, args, begin, end);
}

inline constexpr Builtin kKernels[] = {{"add", AddScalar}, {"add_small", AddSmall}};

// `code` of main, which takes x in r0 and gives an int64[4]; i0 is 4, i1 is 10.
inline std::string OnDevice(const std::string& code, const std::string& tables = "") {
  return R"(.version 7
.device "fenced"
.kernel "add"@1 scalars 2 buffers (int64[s0], out int64[s0]) builtin
.kernel "add" scalars 2 buffers (int64[s0], out int64[s0]) builtin
.kernel "add_small"@1 scalars 2 buffers (int64[s0], out int64[s0]) builtin
.type int64@1[4]
.type int64[4]
.constant int64@1[4] "c"
  .hex 0100000000000000020000000000000003000000000000000400000000000000
)" + tables +
         R"(
.export "main" f0 ("x": int64[4]) -> int64[4]
.function "main" scalars 0 objects 1 captured 0 registers 4 6 returns object arena 0
  const.i16 i0, 4
  const.i16 i1, 10
)" + code +
         ".end\n";
}

inline std::shared_ptr<FencedDevice> Fenced(uint32_t seed = 1) {
  FencedDevice::Options options;
  options.seed = seed;
  options.kernels = {std::begin(kKernels), std::end(kKernels)};
  return std::make_shared<FencedDevice>(std::move(options));
}

inline void CheckValues(const Result<Value>& result, std::initializer_list<int64_t> expected) {
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  const auto* data = static_cast<const int64_t*>(result->data());
  CHECK(std::vector<int64_t>(data, data + result->num_elements()) ==
        std::vector<int64_t>(expected));
}

inline void CheckFails(const Result<Value>& result, StatusCode code, const char* text) {
  REQUIRE_FALSE(result.ok());
  CHECK(result.status().code() == code);
  CHECK_MESSAGE(Contains(result.status().message(), text), result.status().message());
}

// x + 10 on the device, + 10 on the host, + 10 on the device.
inline constexpr const char* kThereAndBack = R"(
  tensor.copy r1, r0!, 1
  tensor.static r2, t0
  kernel.1 k0, [i0, i1], [r1!, r2]
  tensor.copy r3, r2!, 0
  tensor.static r4, t1
  kernel.1 k1, [i0, i1], [r3!, r4]
  tensor.copy r1, r4!, 1
  tensor.alloc r2, int64@1, [i0]
  kernel.1 k0, [i0, i1], [r1!, r2]
  tensor.copy r5, r2!, 0
  ret.r r5!
)";

}  // namespace relayvm::testing
