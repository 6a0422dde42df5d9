#include <vector>

#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

TEST_CASE("cumsum along each axis, exclusive or not") {
  const Array x = Make<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  struct Case {
    int64_t axis, exclusive;
    std::vector<int32_t> expected;
  };
  const Case cases[] = {{1, 0, {1, 3, 6, 4, 9, 15}},
                        {1, 1, {0, 1, 3, 0, 4, 9}},
                        {0, 0, {1, 2, 3, 5, 7, 9}},
                        {0, 1, {0, 0, 0, 1, 2, 3}}};
  for (const Case& c : cases) {
    const CallResult r = Call("cumsum", {x}, {Empty<int32_t>({2, 3})}, {c.axis, c.exclusive});
    CHECK(r.error == 0);
    CHECK(r.outputs[0].as<int32_t>() == c.expected);
  }
  const CallResult flat = Call("cumsum", {x}, {Empty<int64_t>({6})}, {-1, 0});
  CHECK(flat.outputs[0].as<int64_t>() == std::vector<int64_t>{1, 3, 6, 10, 15, 21});
}

TEST_CASE("cumprod converts to the result's dtype first") {
  const Array x = Make<float>({3}, {2.9f, 3.0f, -4.0f});
  CallResult r = Call("cumprod", {x}, {Empty<int32_t>({3})}, {0, 0});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{2, 6, -24});
  r = Call("cumprod", {x}, {Empty<float>({3})}, {0, 1});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{1.0f, 2.9f, 2.9f * 3.0f});
}

TEST_CASE("small integers wrap and halves round at every step") {
  CallResult r = Call("cumsum", {Make<int8_t>({2}, {100, 100})}, {Empty<int8_t>({2})}, {0, 0});
  CHECK(r.outputs[0].as<int8_t>() == std::vector<int8_t>{100, -56});
  r = Call("cumsum", {Make<float>({3}, {2048, 1, 1})}, {Empty<Float16>({3})}, {0, 0});
  CHECK(static_cast<float>(r.outputs[0].as<Float16>()[2]) == 2048.0f);
}

// Sums in the order of the axis, element by element.
template <typename T, typename To>
void CheckSums(std::vector<int64_t> dims, int axis) {
  size_t size = 1, inner = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    size *= static_cast<size_t>(dims[d]);
    if (static_cast<int>(d) > axis) inner *= static_cast<size_t>(dims[d]);
  }
  const auto n = static_cast<size_t>(dims[static_cast<size_t>(axis)]);
  std::vector<T> data(size);
  for (size_t i = 0; i < size; ++i) data[i] = static_cast<T>(static_cast<double>(i * 37 % 101) / 3);
  for (const int64_t way : {0, 1, 2, 3}) {
    const int64_t exclusive = way % 2;
    const bool reversed = way >= 2;
    CAPTURE(inner);
    CAPTURE(way);
    std::vector<To> expected(size);
    for (size_t line = 0; line < size / n; ++line) {
      To sum = 0;
      for (size_t k = 0; k < n; ++k) {
        const size_t row = reversed ? n - 1 - k : k;
        const size_t i = (line / inner * n + row) * inner + line % inner;
        const To before = sum;
        sum = static_cast<To>(sum + static_cast<To>(data[i]));
        expected[i] = exclusive != 0 ? before : sum;
      }
    }
    const CallResult r = Call(reversed ? "cumsum_reversed" : "cumsum", {Make<T>(dims, data)},
                              {Empty<To>(dims)}, {axis, exclusive});
    CHECK(r.error == 0);
    CHECK(r.outputs[0].template as<To>() == expected);
  }
}

TEST_CASE("cumsum of lines that are not neighbours, few and many") {
  for (const int64_t inner : {1, 2, 3, 15, 16, 17, 33, 64, 511, 512, 1040}) {
    CheckSums<float, float>({2, 40, inner}, 1);
    CheckSums<int64_t, int64_t>({3, 9, inner}, 1);
    CheckSums<int32_t, double>({2, 40, inner}, 1);
    CheckSums<float, int64_t>({2, 9, inner}, 1);
    CheckSums<int8_t, int8_t>({2, 9, inner}, 1);
  }
  CheckSums<float, float>({40'000, 3}, 0);
  CheckSums<float, float>({1, 40'000}, 1);
  CheckSums<int32_t, float>({1, 40'000}, 1);
  // More columns than a block has, in one stream and in several.
  CheckSums<float, float>({2, 7, 20'003}, 1);
  CheckSums<double, double>({90, 9'001}, 0);
  CheckSums<int8_t, int32_t>({5, 9'001}, 0);
}

TEST_CASE("scans from the end on") {
  const Array x = Make<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  CallResult r = Call("cumsum_reversed", {x}, {Empty<int32_t>({2, 3})}, {1, 0});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{6, 5, 3, 15, 11, 6});
  r = Call("cumsum_reversed", {x}, {Empty<int32_t>({6})}, {-1, 1});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{20, 18, 15, 11, 6, 0});
  r = Call("cumprod_reversed", {x}, {Empty<int32_t>({2, 3})}, {0, 1});
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{4, 5, 6, 1, 1, 1});
}

TEST_CASE("an empty axis") {
  CHECK(Call("cumsum", {Empty<float>({2, 0})}, {Empty<float>({2, 0})}, {1, 0}).error == 0);
}

}  // namespace
}  // namespace relayvm::builtin_testing
