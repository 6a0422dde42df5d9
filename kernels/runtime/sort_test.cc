#include <cmath>

#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

TEST_CASE("sort and argsort along an axis; ties keep their order both ways") {
  const Array x = Make<float>({2, 4}, {3, 1, 3, 2, 0, 0, -1, 5});
  CallResult r = Call("sort", {x}, {Empty<float>({2, 4})}, {1, 1});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{1, 2, 3, 3, -1, 0, 0, 5});
  r = Call("argsort", {x}, {Empty<int32_t>({2, 4})}, {1, 1});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{1, 3, 0, 2, 2, 0, 1, 3});
  r = Call("argsort", {x}, {Empty<int64_t>({2, 4})}, {1, 0});
  CHECK(r.outputs[0].as<int64_t>() == std::vector<int64_t>{0, 2, 3, 1, 3, 0, 1, 2});
  r = Call("sort", {x}, {Empty<float>({2, 4})}, {0, 1});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{0, 0, -1, 2, 3, 1, 3, 5});
}

TEST_CASE("sort keeps every bit of wide integers, and puts NaN last") {
  const int64_t big = int64_t{1} << 62;
  CallResult r =
      Call("sort", {Make<int64_t>({3}, {big + 1, -big, big})}, {Empty<int64_t>({3})}, {0, 1});
  CHECK(r.outputs[0].as<int64_t>() == std::vector<int64_t>{-big, big, big + 1});
  r = Call("argsort", {Make<float>({4}, {NAN, 1, INFINITY, -1})}, {Empty<int32_t>({4})}, {0, 1});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{3, 1, 2, 0});
}

TEST_CASE("topk takes the first k of the order") {
  const Array x = Make<int32_t>({2, 4}, {3, 9, 9, 2, 1, 0, 5, 4});
  CallResult r = Call("topk", {x}, {Empty<int32_t>({2, 2}), Empty<int64_t>({2, 2})}, {1, 0});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{9, 9, 5, 4});
  CHECK(r.outputs[1].as<int64_t>() == std::vector<int64_t>{1, 2, 2, 3});
  r = Call("topk_indices", {x}, {Empty<int32_t>({2, 1})}, {1, 1});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{3, 1});
  r = Call("topk_values", {x}, {Empty<int32_t>({1, 4})}, {0, 0});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{3, 9, 9, 4});
  const Array k = Make<int32_t>({1}, {1});
  r = Call("dyn_topk", {x, k}, {Empty<int32_t>({2, 1}), Empty<float>({2, 1})}, {1, 0});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{9, 5});
  CHECK(r.outputs[1].as<float>() == std::vector<float>{1, 2});
  CHECK(Call("topk_values", {x}, {Empty<int32_t>({2, 5})}, {1, 0}).error != 0);
}

TEST_CASE("searchsorted in one line for all or one line each") {
  CallResult r =
      Call("searchsorted", {Make<float>({4}, {1, 2, 2, 3}), Make<float>({2, 2}, {2, 0, 9, 3})},
           {Empty<int32_t>({2, 2})}, {0});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{1, 0, 4, 3});
  r = Call("searchsorted",
           {Make<float>({2, 2}, {1, 2, 5, 6}), Make<float>({2, 3}, {2, 1, 0, 5, 6, 7})},
           {Empty<int64_t>({2, 3})}, {1});
  CHECK(r.outputs[0].as<int64_t>() == std::vector<int64_t>{2, 1, 0, 1, 2, 2});
}

}  // namespace
}  // namespace relayvm::builtin_testing
