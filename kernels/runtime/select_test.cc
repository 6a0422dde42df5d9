#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

TEST_CASE("argwhere lists non-zero positions in row-major order") {
  CallResult r =
      Call("argwhere", {Make<float>({2, 3}, {0, 1, 0, -2, 0, 3})}, {Empty<int32_t>({6, 2})}, {}, 1);
  CHECK(r.counts == std::vector<int64_t>{3});
  std::vector<int32_t> found = r.outputs[0].as<int32_t>();
  found.resize(6);
  CHECK(found == std::vector<int32_t>{0, 1, 1, 0, 1, 2});
  r = Call("argwhere", {Make<Bool>({2}, {Bool(false), Bool(false)})}, {Empty<int32_t>({2, 1})}, {},
           1);
  CHECK(r.counts[0] == 0);
  r = Call("argwhere", {Make<int32_t>({}, {5})}, {Empty<int32_t>({1, 0})}, {}, 1);
  CHECK(r.counts[0] == 1);
}

TEST_CASE("unique, sorted or by first occurrence") {
  const Array x = Make<int32_t>({6}, {4, 1, 4, 2, 1, 1});
  const auto outputs = [] {
    return std::vector<Array>{Empty<int32_t>({6}), Empty<int32_t>({6}), Empty<int32_t>({6}),
                              Empty<int32_t>({1}), Empty<int32_t>({6})};
  };
  CallResult r = Call("unique_counts", {x}, outputs(), {1});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{1, 2, 4, 0, 0, 0});
  CHECK(r.outputs[1].as<int32_t>() == std::vector<int32_t>{1, 3, 0, 6, 6, 6});
  CHECK(r.outputs[2].as<int32_t>() == std::vector<int32_t>{2, 0, 2, 1, 0, 0});
  CHECK(r.outputs[3].as<int32_t>() == std::vector<int32_t>{3});
  CHECK(r.outputs[4].as<int32_t>() == std::vector<int32_t>{3, 1, 2, 0, 0, 0});
  r = Call("unique_counts", {x}, outputs(), {0});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{4, 1, 2, 0, 0, 0});
  CHECK(r.outputs[2].as<int32_t>() == std::vector<int32_t>{0, 1, 0, 2, 1, 1});
  CHECK(r.outputs[4].as<int32_t>() == std::vector<int32_t>{2, 3, 1, 0, 0, 0});
}

TEST_CASE("unique of nothing") {
  const CallResult r =
      Call("unique", {Empty<float>({0})},
           {Empty<float>({0}), Empty<int32_t>({0}), Empty<int32_t>({0}), Empty<int32_t>({1})}, {1});
  CHECK(r.outputs[3].as<int32_t>() == std::vector<int32_t>{0});
}

}  // namespace
}  // namespace relayvm::builtin_testing
