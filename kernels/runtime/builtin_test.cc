#include "kernels/runtime/builtin.h"

#include <doctest/doctest.h>

#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

TEST_CASE("builtins are found by name") {
  CHECK(Builtins().size() > 20);
  for (const Builtin& b : Builtins()) CHECK((FindBuiltin(b.name) == &b));
  CHECK((FindBuiltin("") == nullptr));
  CHECK((FindBuiltin("cumsu") == nullptr));
  CHECK((FindBuiltin("zzz") == nullptr));
}

TEST_CASE("the table says what a call must pass") {
  for (const Builtin& b : Builtins()) {
    CHECK(b.num_tensors >= 2);
    CHECK(b.num_tensors <= CallArgs::kMaxTensors);
    const bool counts =
        b.name == "argwhere" || b.name == "sparse_fill_empty_rows" || b.name == "string_normalize";
    CHECK(b.num_counts == (counts ? 1 : 0));
  }
}

TEST_CASE("an empty range computes nothing") {
  int64_t marker = 7;
  void* buffers[] = {&marker, &marker};
  const int64_t scalars[] = {4, 1, 1, 4, 1, 1, 0, 0};
  const RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1};
  const RelayvmKernelArgs args{buffers, scalars, nullptr};
  CHECK(FindBuiltin("cumsum")->fn(&env, &args, 1, 1) == 0);
  CHECK(marker == 7);
}

TEST_CASE("conversion of elements follows cast") {
  CHECK(ConvertElement<int32_t>(-1.9f) == -1);
  CHECK(ConvertElement<int32_t>(std::nanf("")) == 0);
  CHECK(ConvertElement<int64_t>(1e30) == std::numeric_limits<int64_t>::max());
  CHECK(ConvertElement<Bool>(0.5f).bits == 1);
  CHECK(ConvertElement<Bool>(int32_t{0}).bits == 0);
  CHECK(ConvertElement<uint8_t>(int32_t{257}) == 1);
  CHECK(ConvertElement<float>(int8_t{-3}) == -3.0f);
  CHECK(static_cast<float>(ConvertElement<Float16>(1.0 / 3)) == 0.333251953125f);
}

TEST_CASE("sort keys have the order of the elements") {
  const float values[] = {-INFINITY, -2.5f, -1e-40f, 0.0f, 1e-40f, 3.0f, INFINITY, std::nanf("")};
  for (size_t i = 1; i < std::size(values); ++i) CHECK(SortKey(values[i - 1]) < SortKey(values[i]));
  CHECK(SortKey(-0.0f) == SortKey(0.0f));
  CHECK(SortKey(int64_t{-1}) < SortKey(int64_t{0}));
  CHECK(SortKey(uint64_t{1} << 63) > SortKey(uint64_t{1}));
}

}  // namespace
}  // namespace relayvm::builtin_testing
