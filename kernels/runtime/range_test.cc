#include "kernels/runtime/kernels.h"
#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

TEST_CASE("numbers are in their range, one for all or each its own by the last axis") {
  struct Case {
    Array values;
    std::vector<int64_t> least, end;
    bool fits;
  };
  std::vector<int64_t> many(100'000, 5), late = many;
  late.back() = 6;
  const Case cases[] = {
      {Make<int64_t>({3}, {-2, 0, 1}), {-2}, {2}, true},
      {Make<int64_t>({3}, {-2, 0, 2}), {-2}, {2}, false},
      {Make<int32_t>({3}, {-3, 0, 1}), {-2}, {2}, false},
      {Make<uint8_t>({2}, {0, 255}), {0}, {256}, true},
      {Make<uint64_t>({1}, {UINT64_MAX}), {0}, {INT64_MAX}, false},
      {Make<int64_t>({}, {7}), {7}, {8}, true},
      {Make<int64_t>({0}, {}), {0}, {0}, true},
      {Make<int64_t>({1}, {0}), {0}, {0}, false},
      {Make<int64_t>({1}, {INT64_MIN}), {0}, {INT64_MAX}, false},
      {Make<int64_t>({2, 2}, {0, 4, 1, 3}), {0, 3}, {2, 5}, true},
      {Make<int64_t>({2, 2}, {0, 4, 1, 2}), {0, 3}, {2, 5}, false},
      {Make<int64_t>({100'000}, many), {0}, {6}, true},
      {Make<int64_t>({100'000}, late), {0}, {6}, false},
  };
  for (const Case& c : cases) {
    const auto k = static_cast<int64_t>(c.least.size());
    const CallResult end =
        Call("check_range", {c.values, Make<int64_t>({k}, c.least), Make<int64_t>({k}, c.end)},
             {Empty<int64_t>({k})}, {});
    CHECK(end.error == (c.fits ? RELAYVM_KERNEL_OK : RELAYVM_KERNEL_INDEX_OUT_OF_RANGE));
    if (c.fits) CHECK(end.outputs[0].as<int64_t>() == c.end);
  }
}

TEST_CASE("what is out of range is said, where there is someone to say it to") {
  const int64_t values[] = {1, 85}, least[] = {-3}, end[] = {3};
  int64_t out[1] = {};
  void* buffers[] = {const_cast<int64_t*>(values), const_cast<int64_t*>(least),
                     const_cast<int64_t*>(end), out};
  const auto i64 = static_cast<int64_t>(DType::kInt64);
  const int64_t scalars[] = {i64, 1, 2, i64, 1, 1, i64, 1, 1, i64, 1, 1};
  const RelayvmKernelArgs args{buffers, scalars, nullptr};
  RelayvmKernelFault fault{};
  const RelayvmKernelFn fn = FindBuiltin("check_range")->fn;
  RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1, nullptr, nullptr, nullptr, &fault};
  CHECK(fn(&env, &args, 0, 1) == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
  CHECK(fault.given == 1);
  CHECK(fault.found == 85);
  CHECK(fault.least == -3);
  CHECK(fault.most == 2);
  env.struct_size = offsetof(RelayvmKernelEnv, fault);  // an older caller
  fault = {};
  CHECK(fn(&env, &args, 0, 1) == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
  CHECK(fault.given == 0);
}

}  // namespace
}  // namespace relayvm::builtin_testing
