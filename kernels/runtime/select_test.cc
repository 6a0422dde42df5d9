#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <vector>

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

// By other means: a map from rows to their places.
template <typename T, typename Element>
void CheckRows(int64_t n, std::vector<int64_t> inner, const Element& element) {
  int64_t width = 1;
  for (const int64_t d : inner) width *= d;
  std::vector<T> data(static_cast<size_t>(n * width));
  for (size_t i = 0; i < data.size(); ++i) data[i] = element(static_cast<int64_t>(i));
  // NaN as what is above all, and as one value; -0 as 0.
  using Key = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  std::map<std::vector<Key>, std::vector<int64_t>> sorted;
  std::vector<const std::vector<int64_t>*> in_order;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Key> row;
    for (int64_t j = 0; j < width; ++j) {
      const auto v = static_cast<Key>(data[static_cast<size_t>(i * width + j)]);
      row.push_back(v != v ? std::numeric_limits<Key>::max() : v + Key{0});
    }
    std::vector<int64_t>& places = sorted[row];
    if (places.empty()) in_order.push_back(&places);
    places.push_back(i);
  }
  for (const bool is_sorted : {true, false}) {
    CAPTURE(n);
    CAPTURE(width);
    CAPTURE(is_sorted);
    if (is_sorted) {
      in_order.clear();
      for (const auto& [row, places] : sorted) in_order.push_back(&places);
    } else {
      std::sort(in_order.begin(), in_order.end(),
                [](const auto* a, const auto* b) { return a->front() < b->front(); });
    }
    std::vector<int64_t> first(static_cast<size_t>(n), n), inverse(first), counts(first.size(), 0);
    for (size_t g = 0; g < in_order.size(); ++g) {
      first[g] = in_order[g]->front();
      counts[g] = static_cast<int64_t>(in_order[g]->size());
      for (const int64_t i : *in_order[g]) {
        inverse[static_cast<size_t>(i)] = static_cast<int64_t>(g);
      }
    }
    std::vector<int64_t> dims{n};
    dims.insert(dims.end(), inner.begin(), inner.end());
    const CallResult r =
        Call("unique_rows", {Make<T>(dims, data)},
             {Empty<int64_t>({n}), Empty<int64_t>({n}), Empty<int32_t>({1}), Empty<int64_t>({n})},
             {is_sorted ? 1 : 0});
    REQUIRE(r.error == 0);
    CHECK(r.outputs[0].template as<int64_t>() == first);
    CHECK(r.outputs[1].template as<int64_t>() == inverse);
    CHECK(r.outputs[2].template as<int32_t>()[0] == static_cast<int32_t>(in_order.size()));
    CHECK(r.outputs[3].template as<int64_t>() == counts);
  }
}

TEST_CASE("unique_rows: equal rows once, in lexicographic order or that of their first ones") {
  const auto mixed = [](int64_t i) { return static_cast<uint32_t>(i * 2654435761U) >> 9; };
  for (const int64_t n : {1, 2, 7, 300, 40'000}) {
    CheckRows<int64_t>(n, {3}, [&](int64_t i) { return static_cast<int64_t>(mixed(i) % 7) - 3; });
    CheckRows<int32_t>(n, {2, 2}, [&](int64_t i) { return static_cast<int32_t>(mixed(i) % 2); });
    CheckRows<uint8_t>(n, {}, [&](int64_t i) { return static_cast<uint8_t>(mixed(i)); });
    CheckRows<float>(n, {2}, [&](int64_t i) {
      constexpr float kValues[] = {std::numeric_limits<float>::quiet_NaN(), -0.0F, 0.0F, -2.5F};
      return kValues[mixed(i) % 4];
    });
  }
  // Rows that differ at their ends alone.
  CheckRows<float>(500, {200}, [](int64_t i) { return i % 200 == 199 ? i / 200 % 9 : 1; });
  CheckRows<double>(50, {0}, [](int64_t) { return 0.0; });
}

TEST_CASE("unique_rows: few kinds and many, and on either side of what is few") {
  const auto mixed = [](int64_t i) { return static_cast<uint32_t>(i * 2654435761U) >> 5; };
  for (const int64_t kinds : {1, 31, 32, 33, 500, 2047, 2048, 2049, 5000}) {
    for (const int64_t n : {60, 65, 1025, 6000}) {
      CheckRows<float>(n, {}, [&](int64_t i) { return static_cast<float>(mixed(i) % kinds) - 9; });
      CheckRows<int64_t>(n, {2}, [&](int64_t i) { return i % 2 == 0 ? mixed(i) % kinds : 5; });
    }
  }
  // The last of many rows is one kind more than there is room for.
  CheckRows<int32_t>(70'000, {}, [](int64_t i) { return i == 69'999 ? -1 : i % 2048; });
  // Rows of more than a piece, which differ in one element of the first, the second, the last one.
  for (const int64_t at : {0, 511, 512, 1299}) {
    CheckRows<float>(90, {1300}, [at](int64_t i) { return i % 1300 == at ? i / 1300 % 7 : 1; });
  }
  // Equal, and not of the same bits.
  CheckRows<float>(90, {700}, [](int64_t i) {
    return i % 3 == 0 ? 0.0F : i % 5 == 0 ? -0.0F : NAN;
  });
}

TEST_CASE("unique_rows: values that are made to meet in a table") {
  // The table goes by the highest bits of a product: here those of all values are the same.
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;
  REQUIRE(inverse * kFactor == 1);
  for (const uint64_t kinds : {7U, 8U, 9U, 900U}) {
    CheckRows<int64_t>(20'000, {}, [&](int64_t i) {
      return static_cast<int64_t>(static_cast<uint64_t>(i) * 31 % kinds * inverse ^ uint64_t{1}
                                                                                        << 63);
    });
  }
}

TEST_CASE("unique of nothing") {
  const CallResult r =
      Call("unique", {Empty<float>({0})},
           {Empty<float>({0}), Empty<int32_t>({0}), Empty<int32_t>({0}), Empty<int32_t>({1})}, {1});
  CHECK(r.outputs[3].as<int32_t>() == std::vector<int32_t>{0});
}

}  // namespace
}  // namespace relayvm::builtin_testing
