// Builtins poll in their long loops and take their memory from the environment (call_args.h).
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>

#include "bytecode/base/string_table.h"
#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

// Counts polls and memory; stops at a poll, or has no memory from some allocation on. Between polls
// it sees how many bytes of what it watches, and of the memory that it gave, became others.
struct LimitedEnv : RelayvmKernelEnv {
  LimitedEnv()
      : RelayvmKernelEnv{sizeof(RelayvmKernelEnv), 1, CountPoll, CountAllocate, CountRelease} {
    strings = &texts;
    texts.Intern("1");
  }

  static LimitedEnv* Of(const RelayvmKernelEnv* env) {
    return static_cast<LimitedEnv*>(const_cast<RelayvmKernelEnv*>(env));
  }
  static int32_t CountPoll(const RelayvmKernelEnv* env) {
    if (Of(env)->watches) Of(env)->Look();
    return ++Of(env)->polls == Of(env)->stop_at ? 1234 : 0;
  }
  static void* CountAllocate(const RelayvmKernelEnv* env, uint64_t bytes) {
    LimitedEnv* self = Of(env);
    if (++self->allocations == self->no_memory_at) return nullptr;
    void* memory = std::malloc(bytes);
    self->blocks[memory] = bytes;
    self->live += bytes;
    self->peak = std::max(self->peak, self->live);
    if (self->watches) self->Watch(memory, bytes);
    return memory;
  }
  static void CountRelease(const RelayvmKernelEnv* env, void* memory, uint64_t bytes) {
    LimitedEnv* self = Of(env);
    CHECK(self->blocks.at(memory) == bytes);
    self->blocks.erase(memory);
    self->seen.erase(memory);
    self->live -= bytes;
    std::free(memory);
  }

  // Memory that counts as written when it is no longer this.
  static constexpr int kMark = 0xA5;
  void Watch(void* memory, uint64_t bytes) {
    std::memset(memory, kMark, bytes);
    seen[memory].assign(bytes, std::byte{kMark});
  }
  void Look() {
    constexpr size_t kPage = 4096;  // most are as they were
    size_t changed = 0;
    for (auto& [memory, last] : seen) {
      const auto* now = static_cast<const std::byte*>(memory);
      for (size_t at = 0; at < last.size(); at += kPage) {
        const size_t size = std::min(kPage, last.size() - at);
        if (std::memcmp(now + at, last.data() + at, size) == 0) continue;
        for (size_t i = at; i < at + size; ++i) changed += now[i] != last[i] ? 1 : 0;
        std::memcpy(last.data() + at, now + at, size);
      }
    }
    most_changed = std::max(most_changed, changed);
  }

  StringTable texts;
  int polls = 0, stop_at = -1, allocations = 0, no_memory_at = -1;
  uint64_t live = 0, peak = 0;
  std::map<void*, uint64_t> blocks;
  bool watches = false;
  size_t most_changed = 0;  // between two polls
  std::map<void*, std::vector<std::byte>> seen;
};

struct LongCall {
  const char* name;
  std::vector<Array> tensors;  // inputs, then outputs
  std::vector<int64_t> params;
  int num_counts;
  bool takes_memory;
  int64_t work;  // elements that its loops pass, at least
};

int32_t Run(LongCall& call, LimitedEnv& env) {
  const Builtin& builtin = *FindBuiltin(call.name);
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  for (Array& a : call.tensors) {
    scalars.push_back(static_cast<int64_t>(a.dtype));
    scalars.push_back(static_cast<int64_t>(a.dims.size()));
    scalars.insert(scalars.end(), a.dims.begin(), a.dims.end());
    if (env.watches && static_cast<int>(buffers.size()) >= builtin.num_inputs)
      env.Watch(a.data.data(), a.data.size());
    buffers.push_back(a.data.data());
  }
  scalars.insert(scalars.end(), call.params.begin(), call.params.end());
  std::vector<int64_t> counts(static_cast<size_t>(call.num_counts));
  for (int64_t& c : counts) buffers.push_back(&c);
  RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  const int32_t error = builtin.fn(&env, &args, 0, 1);
  if (env.watches) env.Look();
  return error;
}

template <typename T>
Array Full(std::vector<int64_t> dims, T value) {
  Array a = Empty<T>(std::move(dims));
  for (size_t at = 0; at < a.data.size(); at += sizeof(T))
    std::memcpy(a.data.data() + at, &value, sizeof(T));
  return a;
}

// Empty texts.
Array Texts(std::vector<int64_t> dims) {
  Array a = Empty<int64_t>(std::move(dims));
  a.dtype = DType::kString;
  return a;
}

// Texts that are numbers.
Array Ones(std::vector<int64_t> dims) {
  Array a = Full<int64_t>(std::move(dims), 1);
  a.dtype = DType::kString;
  return a;
}

// Of every builtin, calls that take each of its loops far.
std::vector<LongCall> LongCalls() {
  constexpr int64_t n = 120'000, boxes = 1'500, rows = n / 6;
  std::vector<double> mixed(n), ordered(n);
  for (int64_t i = 0; i < n; ++i) {
    mixed[i] = static_cast<double>(i * 7919 % n);
    ordered[i] = static_cast<double>(i);
  }
  const Array x = Make<double>({n}, mixed), out = Empty<double>({n}),
              sorted = Make<double>({n}, ordered);
  const Array matrix = Make<double>({n / 100, 100}, mixed), line = Make<double>({1, n}, mixed);
  const Array two_lines = Make<double>({2, n / 2}, mixed), equal = Empty<double>({n});
  const Array indices = Empty<int64_t>({n}), scalar = Empty<double>({1}),
              count = Empty<int64_t>({1});
  const Array k = Make<int64_t>({1}, {n}), none = Make<int64_t>({1}, {-1});
  std::vector<double> corners;
  for (int64_t i = 0; i < boxes; ++i) {
    const double at = static_cast<double>(2 * i);
    for (double v : {0.0, static_cast<double>(boxes - i), at, at, at + 1, at + 1})
      corners.push_back(v);
  }
  const Array data = Make<double>({1, boxes, 6}, corners);
  const Array same = Full<double>({1, rows, 6}, 1), wide = Full<double>({1, 1, n}, 1);
  const Array key = Make<uint64_t>({10}, {1, 2, 3, 4, 0, 0, 0, 0, uint64_t{1} << 63, 0});
  // Entries in one column, one a row; and one entry, in the first of n rows.
  const Array empty = Empty<int64_t>({0}), ends = Empty<int64_t>({n + 1});
  std::vector<int64_t> each(n + 1);
  std::iota(each.begin(), each.end(), 0);
  const Array starts = Make<int64_t>({n + 1}, each), one_row = Make<int64_t>({2}, {0, 1});
  const Array column = Empty<double>({n, 1}), image = Full<double>({1, 1, 300, 400}, 1);
  const Array roi = Make<double>({1, 5}, {0, 0, 0, 399, 299});
  const int64_t half = std::bit_cast<int64_t>(0.5), one = std::bit_cast<int64_t>(1.0);
  return {
      {"all_class_nms",
       {Full<double>({1, rows, 4}, 1), Empty<double>({1, 2, rows}), Make<int64_t>({1}, {1'000}),
        scalar, none, Empty<int64_t>({2 * rows, 3}), count},
       {},
       0,
       true,
       2 * (rows + 1'000 * 1'000 / 2)},
      {"all_class_nms_tensorflow",
       {Full<double>({1, 2, 4}, 1), Empty<double>({1, 2, 2}), count, scalar, none,
        Empty<int64_t>({1, n, 2}), Empty<double>({1, n}), count},
       {},
       0,
       true,
       3 * n},
      {"argsort", {x, indices}, {0, 1}, 0, true, 10 * n},
      {"argsort", {sorted, indices}, {0, 1}, 0, true, 10 * n},
      {"argsort", {equal, indices}, {0, 0}, 0, true, 10 * n},
      {"argwhere", {x, Empty<int64_t>({n, 1})}, {}, 1, true, n},
      {"argwhere", {equal, Empty<int64_t>({n, 1})}, {}, 1, true, n},
      {"cumprod", {matrix, matrix}, {0, 0}, 0, false, n},
      {"cumprod", {two_lines, two_lines}, {0, 1}, 0, false, n},
      {"cumprod_reversed", {matrix, matrix}, {0, 0}, 0, false, n},
      {"cumprod_reversed", {two_lines, two_lines}, {0, 1}, 0, false, n},
      {"cumsum", {x, out}, {-1, 0}, 0, false, n},
      {"cumsum_reversed", {x, out}, {-1, 0}, 0, false, n},
      {"cumsum_reversed", {two_lines, two_lines}, {1, 0}, 0, false, n},
      {"cumsum", {two_lines, two_lines}, {0, 0}, 0, false, n},
      {"dyn_sparse_to_dense", {indices, x, scalar, count, out}, {}, 0, false, 2 * n},
      {"dyn_topk", {x, k, out, indices}, {0, 0}, 0, true, 10 * n},
      {"dyn_topk_indices", {x, k, indices}, {0, 0}, 0, true, 10 * n},
      {"dyn_topk_values", {x, k, out}, {0, 0}, 0, true, 10 * n},
      {"get_valid_counts",
       {same, scalar, count, same, Empty<int64_t>({1, rows})},
       {-1, 1},
       0,
       false,
       6 * rows},
      {"get_valid_counts",
       {same, Full<double>({1}, 2), count, same, Empty<int64_t>({1, rows})},
       {-1, 1},
       0,
       false,
       6 * rows},
      {"get_valid_counts",
       {wide, scalar, count, wide, Empty<int64_t>({1, 1})},
       {-1, 1},
       0,
       false,
       n},
      {"multibox_transform_loc",
       {Empty<double>({1, 2, rows}), Empty<double>({1, rows * 4}), Empty<double>({1, rows, 4}),
        Empty<double>({1, rows, 6}), count},
       {0, 0, 0, 0, 0, 0, 0},
       0,
       false,
       16 * rows},
      {"multibox_transform_loc",
       {Empty<double>({1, n, 1}), Empty<double>({1, 4}), Empty<double>({1, 1, 4}),
        Empty<double>({1, 1, 6}), count},
       {0, 0, 0, 0, 0, 0, 0},
       0,
       false,
       n},
      {"non_max_suppression",
       {data, Make<int64_t>({1}, {boxes}), Empty<int64_t>({1, boxes}), none,
        Make<double>({1}, {0.5}), data},
       {1, -1, 2, 1, -1, 0, 0},
       0,
       true,
       boxes * boxes / 2},
      {"non_max_suppression",  // no order
       {same, Make<int64_t>({1}, {rows}), Empty<int64_t>({1, rows}), none, scalar, same},
       {1, -1, 2, 1, -1, 0, 1},
       0,
       true,
       16 * rows},
      {"non_max_suppression",  // nothing there
       {same, count, Empty<int64_t>({1, rows}), none, scalar, same},
       {1, -1, 2, 1, -1, 0, 1},
       0,
       true,
       14 * rows},
      {"non_max_suppression_indices",
       {same, Make<int64_t>({1}, {rows}), Empty<int64_t>({1, rows}), Make<int64_t>({1}, {1}),
        Make<double>({1}, {0.5}), Empty<int64_t>({1, rows}), Empty<int64_t>({1, 1})},
       {1, -1, 2, 1, -1, 1, 0},
       0,
       true,
       16 * rows},
      {"proposal",
       {Empty<float>({1, 18, 40, 40}), Empty<float>({1, 36, 40, 40}),
        Make<float>({1, 3}, {640, 640, 1}), Empty<float>({n, 5})},
       {16, 100, n, 16, 0, half, 3, 3, one, one, one, one, one, one},
       0,
       true,
       5 * n},
      {"random_multinomial",
       {key, Full<double>({1, n}, 1), key, Empty<int64_t>({1, 2})},
       {},
       0,
       true,
       4 * n},
      {"random_normal", {key, scalar, scalar, key, out}, {}, 0, true, 10 * n},
      {"random_uniform", {key, scalar, scalar, key, out}, {}, 0, true, 5 * n},
      {"regular_nms",
       {Full<double>({1, rows, 4}, 1), Empty<double>({1, rows, 3}), Empty<double>({1, n, 4}),
        Empty<double>({1, n}), Empty<double>({1, n}), scalar},
       {10, 2, half, 0},
       0,
       true,
       6 * n},
      {"roi_align", {image, roi, Empty<double>({1, 1, 1, 1})}, {one, 0, 0, 0, 0}, 0, true, n},
      {"roi_align",
       {image, roi, Empty<double>({1, 1, 300, 400})},
       {one, 2, 0, 1, 0},
       0,
       true,
       4 * n},
      {"roi_pool", {image, roi, Empty<double>({1, 1, 1, 1})}, {one, 0}, 0, false, n},
      {"roi_pool", {image, roi, Empty<double>({1, 1, 300, 400})}, {one, 0}, 0, false, n},
      {"scatter_elements", {x, indices, x, out}, {0, 0}, 0, false, 2 * n},
      {"scatter_elements", {x, empty, scalar, out}, {0, 0}, 0, false, n},
      {"scatter_nd", {x, Empty<int64_t>({1, n}), x, out}, {0}, 0, false, 2 * n},
      {"scatter_nd_tuples_last", {x, Empty<int64_t>({n, 1}), x, out}, {0}, 0, false, 2 * n},
      {"scatter_nd", {line, Empty<int64_t>({1, 1}), line, line}, {0}, 0, false, 2 * n},
      {"scatter_nd", {line, Empty<int64_t>({1, 1}), line, line}, {1}, 0, false, 2 * n},
      {"searchsorted", {x, x, indices}, {0}, 0, true, 10 * n},
      {"sort", {x, out}, {0, 1}, 0, true, 10 * n},
      {"sparse_add", {column, out, indices, starts, column}, {}, 0, true, 5 * n},
      {"sparse_add", {column, Empty<double>({0}), empty, ends, column}, {}, 0, true, 3 * n},
      {"sparse_conv2d", {image, scalar, count, one_row, image}, {0, 1}, 0, true, 2 * n},
      {"sparse_conv2d",
       {Empty<double>({1, 1, 1, n}), scalar, count, one_row, Empty<double>({1, 1, 1, n})},
       {0, 1},
       0,
       true,
       2 * n},
      {"sparse_dense", {column, scalar, count, one_row, column}, {0}, 0, true, 2 * n},
      {"sparse_dense", {Empty<double>({1, 1}), out, indices, starts, line}, {0}, 0, true, 5 * n},
      {"sparse_fill_empty_rows",
       {Empty<int64_t>({n, 1}), x, count, scalar, Empty<int64_t>({2 * n, 1}),
        Empty<double>({2 * n}), Empty<Bool>({n})},
       {},
       1,
       true,
       6 * n},
      {"sparse_reshape",
       {Empty<int64_t>({n, 2}), Make<int64_t>({2}, {1, 1}), Make<int64_t>({2}, {1, 1}),
        Empty<int64_t>({n, 2}), Empty<int64_t>({2})},
       {},
       0,
       true,
       2 * n},
      {"sparse_reshape",
       {Empty<int64_t>({n, 2}), Make<int64_t>({2}, {1, 2}), Make<int64_t>({2}, {2, 1}),
        Empty<int64_t>({n, 2}), Empty<int64_t>({2})},
       {},
       0,
       true,
       4 * n},
      {"sparse_to_dense", {count, scalar, scalar, out}, {}, 0, false, n},
      {"check_range",
       {Empty<int64_t>({n}), Make<int64_t>({1}, {0}), Make<int64_t>({1}, {1}), Empty<int64_t>({1})},
       {},
       0,
       false,
       n},
      {"count_grams",
       {Empty<int64_t>({2, n / 2}), Make<int64_t>({2, 1}, {1, 2}), Make<int64_t>({2}, {0, 1}),
        Empty<int64_t>({2, 2})},
       {0},
       0,
       false,
       4 * n},
      {"murmur3", {Full<double>({n}, 1.5), Empty<uint32_t>({n})}, {0}, 0, false, 4 * n},
      {"string_concat", {Texts({n}), Texts({1}), Texts({n})}, {}, 0, true, 8 * n},
      {"string_count_tokens",
       {Texts({n}), Make<int64_t>({2, 3}, {3, 1, 1, 0, 0, 0}), Make<int64_t>({1}, {0}),
        Empty<int64_t>({n})},
       {0, 1},
       0,
       true,
       4 * n},
      {"string_tokens",
       {Texts({n}), Make<int64_t>({2, 3}, {3, 1, 1, 0, 0, 0}), Make<int64_t>({1}, {0}), Texts({3}),
        Make<int64_t>({1}, {1}), Texts({n, 1})},
       {0, 1, 0},
       0,
       true,
       4 * n},
      {"string_from_number", {Full<double>({n}, 1.5), Texts({n})}, {}, 0, false, 4 * n},
      {"string_full_match",
       {Texts({n}), Make<int64_t>({2, 3}, {3, 1, 1, 0, 0, 0}), Empty<Bool>({n})},
       {},
       0,
       true,
       4 * n},
      {"string_normalize", {Texts({n}), Texts({0}), Texts({n + 1})}, {1, 0}, 1, false, 4 * n},
      {"string_normalize", {Texts({n}), Texts({2}), Texts({n + 1})}, {0, 0}, 1, true, 4 * n},
      {"string_rank", {Texts({n}), Empty<int64_t>({n})}, {}, 0, true, 8 * n},
      {"string_split",
       {Texts({n}), Texts({1}), Make<int64_t>({1}, {2}), Texts({n, 2})},
       {-1},
       0,
       false,
       4 * n},
      {"string_split_count", {Texts({n}), Texts({1}), Empty<int64_t>({n})}, {-1}, 0, false, 4 * n},
      {"string_to_number", {Ones({n}), Empty<double>({n})}, {}, 0, false, 4 * n},
      {"sparse_to_dense_zero", {indices, x, out}, {}, 0, false, 2 * n},
      {"sparse_transpose", {x, indices, starts, out, indices, starts}, {}, 0, true, 8 * n},
      {"threefry_generate", {key, key, Empty<uint64_t>({n})}, {}, 0, true, 6 * n},
      {"topk", {x, out, indices}, {0, 0}, 0, true, 10 * n},
      {"topk", {x, Empty<double>({n / 2}), Empty<int64_t>({n / 2})}, {0, 0}, 0, true, 10 * n},
      {"topk", {x, Empty<double>({n / 10}), Empty<int64_t>({n / 10})}, {0, 0}, 0, true, 4 * n},
      {"topk_indices", {equal, Empty<int64_t>({n / 2})}, {0, 1}, 0, true, 10 * n},
      {"topk_values", {sorted, Empty<double>({n / 2})}, {0, 0}, 0, true, 10 * n},
      {"unique", {x, out, indices, indices, count}, {1}, 0, true, 14 * n},
      {"unique", {x, out, indices, indices, count}, {0}, 0, true, 18 * n},
      {"unique_rows",
       {Make<double>({n / 4, 4}, mixed), Empty<int64_t>({n / 4}), Empty<int64_t>({n / 4}), count,
        Empty<int64_t>({n / 4})},
       {1},
       0,
       true,
       4 * n},
      {"unique_rows",
       {Empty<double>({4, n / 4}), Empty<int64_t>({4}), Empty<int64_t>({4}), count,
        Empty<int64_t>({4})},
       {0},
       0,
       true,
       2 * n},
      {"winograd_weights_2",
       {Empty<float>({30'016, 1, 3, 3}), Empty<float>({1'876, 16, 1, 1, 16})},
       {},
       0,
       false,
       2 * n},
      {"winograd_weights_4",
       {Empty<double>({1, n / 16, 3, 3}), Empty<float>({1, 36, 1, n / 16, 1})},
       {},
       0,
       false,
       8 * n},
      {"unique_counts", {equal, out, indices, indices, count, indices}, {0}, 0, true, 8 * n},
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
    LongCall call = {"argsort", {Make<float>({n}, values), Empty<int64_t>({n})}, {0, 1}, 0, true,
                     n};
    LimitedEnv env;
    CHECK(Run(call, env) == 0);
    CHECK(call.tensors[1].as<int64_t>() == expected);
  }
}

TEST_CASE("builtins: each has long calls") {
  const std::vector<LongCall> calls = LongCalls();
  for (const Builtin& builtin : Builtins()) {
    if (builtin.name == "threefry_split") continue;  // ten numbers
    CAPTURE(std::string(builtin.name));
    CHECK(std::any_of(calls.begin(), calls.end(),
                      [&](const LongCall& call) { return call.name == builtin.name; }));
  }
}

// A loop or a bulk copy that does not poll writes all of its result, or of its memory, between two
// polls, or leaves polls out.
TEST_CASE("builtins: long calls poll as they go on") {
  // CallArgs: units between two polls, with those of the last block. Of each, some 8 bytes are
  // written.
  constexpr int64_t kUnits = (1 << 16) + (1 << 14);
  constexpr size_t kMostWritten = 7 << 17;
  for (LongCall& call : LongCalls()) {
    CAPTURE(std::string(call.name));
    CAPTURE(call.tensors[0].dims[0]);
    CAPTURE(call.work);
    LimitedEnv env;
    env.watches = true;
    CHECK(Run(call, env) == 0);
    CHECK(env.polls >= call.work / kUnits);
    CHECK(env.most_changed <= kMostWritten);
    CHECK(env.blocks.empty());
    CHECK((env.peak > 0) == call.takes_memory);
  }
}

TEST_CASE("builtins: classes without boxes take no time, however many") {
  constexpr int64_t classes = int64_t{1} << 40;
  LongCall call = {"regular_nms",
                   {Empty<float>({1, 0, 4}), Empty<float>({1, 0, classes}), Empty<float>({1, 2, 4}),
                    Empty<float>({1, 2}), Empty<float>({1, 2}), Full<float>({1}, 7)},
                   {10, classes, 0, 0},
                   0,
                   false,
                   0};
  LimitedEnv env;
  CHECK(Run(call, env) == 0);
  CHECK(env.polls == 0);
  CHECK(call.tensors[5].as<float>()[0] == 0);
}

TEST_CASE("builtins: long calls stop when the environment says so") {
  for (LongCall& call : LongCalls()) {
    CAPTURE(std::string(call.name));
    LimitedEnv whole;
    CHECK(Run(call, whole) == 0);
    REQUIRE(whole.polls >= 1);
    const int step = std::max(1, whole.polls / 3);
    for (int at = 1; at <= whole.polls; at += at < 2 ? 1 : step) {
      LimitedEnv stopped;
      stopped.stop_at = at;
      CHECK(Run(call, stopped) == 1234);
      CHECK(stopped.polls == at);
      CHECK(stopped.blocks.empty());
    }
    LimitedEnv last;
    last.stop_at = whole.polls;
    CHECK(Run(call, last) == 1234);
    CHECK(last.blocks.empty());
  }
}

TEST_CASE("builtins: without memory they say so") {
  for (LongCall& call : LongCalls()) {
    CAPTURE(std::string(call.name));
    LimitedEnv whole;
    CHECK(Run(call, whole) == 0);
    const int step = std::max(1, whole.allocations / 6);
    for (int at = 1; at <= whole.allocations; at += step) {
      LimitedEnv limited;
      limited.no_memory_at = at;
      CHECK(Run(call, limited) == RELAYVM_KERNEL_OUT_OF_MEMORY);
      CHECK(limited.blocks.empty());
    }
  }
}

}  // namespace
}  // namespace relayvm::builtin_testing
