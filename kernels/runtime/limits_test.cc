// Builtins poll in their long loops and take their memory from the environment (call_args.h).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>

#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

// Counts polls and memory; stops at a poll, or has no memory from some allocation on.
struct LimitedEnv : RelayvmKernelEnv {
  LimitedEnv()
      : RelayvmKernelEnv{sizeof(RelayvmKernelEnv), 1, CountPoll, CountAllocate, CountRelease} {}

  static LimitedEnv* Of(const RelayvmKernelEnv* env) {
    return static_cast<LimitedEnv*>(const_cast<RelayvmKernelEnv*>(env));
  }
  static int32_t CountPoll(const RelayvmKernelEnv* env) {
    return ++Of(env)->polls == Of(env)->stop_at ? 1234 : 0;
  }
  static void* CountAllocate(const RelayvmKernelEnv* env, uint64_t bytes) {
    LimitedEnv* self = Of(env);
    if (++self->allocations == self->no_memory_at) return nullptr;
    void* memory = std::malloc(bytes);
    self->blocks[memory] = bytes;
    self->live += bytes;
    self->peak = std::max(self->peak, self->live);
    return memory;
  }
  static void CountRelease(const RelayvmKernelEnv* env, void* memory, uint64_t bytes) {
    LimitedEnv* self = Of(env);
    CHECK(self->blocks.at(memory) == bytes);
    self->blocks.erase(memory);
    self->live -= bytes;
    std::free(memory);
  }

  int polls = 0, stop_at = -1, allocations = 0, no_memory_at = -1;
  uint64_t live = 0, peak = 0;
  std::map<void*, uint64_t> blocks;
};

struct LongCall {
  const char* name;
  std::vector<Array> tensors;  // inputs, then outputs
  std::vector<int64_t> params;
  int num_counts;
  bool takes_memory;
};

int32_t Run(LongCall& call, const LimitedEnv& env) {
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  for (Array& a : call.tensors) {
    scalars.push_back(static_cast<int64_t>(a.dtype));
    scalars.push_back(static_cast<int64_t>(a.dims.size()));
    scalars.insert(scalars.end(), a.dims.begin(), a.dims.end());
    buffers.push_back(a.data.data());
  }
  scalars.insert(scalars.end(), call.params.begin(), call.params.end());
  std::vector<int64_t> counts(static_cast<size_t>(call.num_counts));
  for (int64_t& c : counts) buffers.push_back(&c);
  RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  return FindBuiltin(call.name)->fn(&env, &args, 0, 1);
}

std::vector<LongCall> LongCalls() {
  constexpr int64_t n = 300'000, boxes = 3'000;
  std::vector<float> numbers(n);
  for (int64_t i = 0; i < n; ++i) numbers[i] = static_cast<float>(i * 7919 % n);
  const Array x = Make<float>({n}, numbers), out = Empty<float>({n});
  const Array matrix = Make<float>({n / 100, 100}, numbers);
  const Array indices = Empty<int64_t>({n}), scalar = Empty<float>({1}),
              count = Empty<int64_t>({1});
  std::vector<float> corners;
  for (int64_t i = 0; i < boxes; ++i) {
    const float at = static_cast<float>(2 * i);
    for (float v : {0.0f, static_cast<float>(boxes - i), at, at, at + 1, at + 1})
      corners.push_back(v);
  }
  const Array data = Make<float>({1, boxes, 6}, corners);
  const Array key = Make<uint64_t>({10}, {1, 2, 3, 4, 0, 0, 0, 0, uint64_t{1} << 63, 0});
  return {
      {"argsort", {x, indices}, {0, 1}, 0, true},
      {"argwhere", {x, Empty<int64_t>({n, 1})}, {}, 1, true},
      {"cumprod", {matrix, matrix}, {0, 0}, 0, false},
      {"cumsum", {x, out}, {-1, 0}, 0, false},
      {"multibox_transform_loc",
       {Empty<float>({1, 2, n / 10}), Empty<float>({1, n / 10 * 4}), Empty<float>({1, n / 10, 4}),
        Empty<float>({1, n / 10, 6}), Empty<int64_t>({1})},
       {0, 0, 0, 0, 0, 0, 0},
       0,
       false},
      {"non_max_suppression",
       {data, Make<int64_t>({1}, {boxes}), Empty<int64_t>({1, boxes}), Make<int64_t>({1}, {-1}),
        Make<float>({1}, {0.5f}), data},
       {1, -1, 2, 1, -1, 0, 0},
       0,
       true},
      {"random_normal", {key, scalar, scalar, key, out}, {}, 0, true},
      {"random_uniform", {key, scalar, scalar, key, out}, {}, 0, true},
      {"scatter_elements", {x, indices, x, out}, {0, 0}, 0, false},
      {"scatter_nd", {x, Empty<int64_t>({1, n}), x, out}, {0}, 0, false},
      {"searchsorted", {x, x, indices}, {0}, 0, true},
      {"sort", {x, out}, {0, 1}, 0, true},
      {"topk", {x, out, indices}, {0, 0}, 0, true},
      {"unique", {x, out, indices, indices, count}, {1}, 0, true},
  };
}

TEST_CASE("builtins: long sorts are those of the standard library") {
  constexpr int64_t n = 70'000;
  uint32_t seed = 1;
  const std::function<float(int64_t)> patterns[] = {
      [](int64_t i) { return static_cast<float>(i); },
      [](int64_t i) { return static_cast<float>(-i); },
      [](int64_t) { return 1.0f; },
      [](int64_t i) { return static_cast<float>(i % 3); },
      [](int64_t i) { return static_cast<float>(i < n / 2 ? i : n - i); },
      [](int64_t i) {
        return static_cast<float>(i == n / 2 ? -1 : i == n - 1 ? -2 : 5);
      },
      [&](int64_t) { return static_cast<float>((seed = seed * 1664525 + 1013904223) >> 8); },
      [&](int64_t) { return static_cast<float>((seed = seed * 1664525 + 1013904223) >> 28); },
  };
  for (const auto& pattern : patterns) {
    std::vector<float> values(n);
    for (int64_t i = 0; i < n; ++i) values[i] = pattern(i);
    std::vector<int64_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](int64_t a, int64_t b) { return values[a] < values[b]; });
    LongCall call = {"argsort", {Make<float>({n}, values), Empty<int64_t>({n})}, {0, 1}, 0, true};
    CHECK(Run(call, LimitedEnv()) == 0);
    CHECK(call.tensors[1].as<int64_t>() == expected);
  }
}

TEST_CASE("builtins: long calls stop when the environment says so") {
  for (LongCall& call : LongCalls()) {
    CAPTURE(call.name);
    LimitedEnv whole;
    CHECK(Run(call, whole) == 0);
    CHECK(whole.polls >= 2);
    CHECK(whole.blocks.empty());
    CHECK((whole.peak > 0) == call.takes_memory);
    for (int at : {1, 2, whole.polls}) {
      LimitedEnv stopped;
      stopped.stop_at = at;
      CHECK(Run(call, stopped) == 1234);
      CHECK(stopped.polls == at);
      CHECK(stopped.blocks.empty());
    }
  }
}

TEST_CASE("builtins: without memory they say so") {
  for (LongCall& call : LongCalls()) {
    CAPTURE(call.name);
    LimitedEnv whole;
    CHECK(Run(call, whole) == 0);
    for (int at = 1; at <= whole.allocations; ++at) {
      LimitedEnv limited;
      limited.no_memory_at = at;
      CHECK(Run(call, limited) == RELAYVM_KERNEL_OUT_OF_MEMORY);
      CHECK(limited.blocks.empty());
    }
  }
}

}  // namespace
}  // namespace relayvm::builtin_testing
