#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

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

// The order of SortKey, by other means: NaN above all, ties by their place.
template <typename T>
std::vector<int64_t> FirstOf(const std::vector<T>& line, int64_t k, bool ascending) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const T x = line[static_cast<size_t>(ascending ? a : b)];
    const T y = line[static_cast<size_t>(ascending ? b : a)];
    return x != x ? false : (y != y ? true : x < y);
  });
  order.resize(static_cast<size_t>(k));
  return order;
}

template <typename T, typename Make1>
void CheckFirst(int64_t n, int64_t k, int64_t inner, const Make1& element) {
  std::vector<T> data(static_cast<size_t>(2 * n * inner));
  for (size_t i = 0; i < data.size(); ++i) data[i] = element(static_cast<int64_t>(i));
  for (bool ascending : {true, false}) {
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(inner);
    CAPTURE(ascending);
    const CallResult r =
        Call("topk", {Make<T>({2, n, inner}, data)},
             {Empty<T>({2, k, inner}), Empty<int64_t>({2, k, inner})}, {1, ascending ? 1 : 0});
    REQUIRE(r.error == 0);
    const std::vector<int64_t> found = r.outputs[1].template as<int64_t>();
    for (int64_t o = 0; o < 2; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        std::vector<T> line;
        std::vector<int64_t> first;
        for (int64_t j = 0; j < n; ++j)
          line.push_back(data[static_cast<size_t>((o * n + j) * inner + i)]);
        for (int64_t j = 0; j < k; ++j)
          first.push_back(found[static_cast<size_t>((o * k + j) * inner + i)]);
        CHECK(first == FirstOf(line, k, ascending));
      }
    }
  }
}

TEST_CASE("topk of many elements: few, ties, NaN, sorted ones") {
  const auto mixed = [](int64_t i) { return static_cast<uint32_t>(i * 2654435761U) >> 7; };
  for (const auto& [n, k] : {std::pair<int64_t, int64_t>{8, 1},
                             {64, 8},
                             {65, 8},
                             {1000, 1},
                             {1000, 7},
                             {1000, 125},
                             {1000, 126},
                             {5000, 300}}) {
    CheckFirst<float>(n, k, 1, [&](int64_t i) { return static_cast<float>(mixed(i)) - 1e7F; });
    CheckFirst<float>(n, k, 3, [&](int64_t i) {
      const auto v = static_cast<float>(mixed(i) % 9) - 4;
      return i % 50 == 7 ? std::numeric_limits<float>::quiet_NaN()
                         : (v == 0 && i % 2 == 0 ? -v : v);
    });
    CheckFirst<double>(n, k, 1, [](int64_t i) { return static_cast<double>(i); });
    CheckFirst<double>(n, k, 2, [](int64_t i) { return -static_cast<double>(i) / 3; });
    CheckFirst<int64_t>(n, k, 1, [&](int64_t i) { return static_cast<int64_t>(mixed(i)) - 9999; });
    CheckFirst<uint8_t>(n, k, 1, [&](int64_t i) { return static_cast<uint8_t>(mixed(i)); });
  }
  constexpr float kInf = std::numeric_limits<float>::infinity();
  CheckFirst<float>(100, 5, 1, [&](int64_t i) { return i % 3 == 0 ? kInf : -kInf; });
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
