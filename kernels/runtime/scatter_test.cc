#include "kernels/runtime/kernels.h"
#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

TEST_CASE("scatter_elements combines as its mode says") {
  const Array data = Make<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Array indices = Make<int64_t>({2, 2}, {0, -1, 1, 1});
  const Array updates = Make<int32_t>({2, 2}, {10, 20, 30, 40});
  struct Case {
    ScatterMode mode;
    std::vector<int32_t> expected;
  };
  const Case cases[] = {
      {ScatterMode::kUpdate, {10, 2, 20, 4, 40, 6}}, {ScatterMode::kAdd, {11, 2, 23, 4, 75, 6}},
      {ScatterMode::kMul, {10, 2, 60, 4, 6000, 6}},  {ScatterMode::kMin, {1, 2, 3, 4, 5, 6}},
      {ScatterMode::kMax, {10, 2, 20, 4, 40, 6}},    {ScatterMode::kMean, {5, 2, 11, 4, 28, 6}}};
  for (const Case& c : cases) {
    const CallResult r = Call("scatter_elements", {data, indices, updates},
                              {Empty<int32_t>({2, 3})}, {1, static_cast<int64_t>(c.mode)});
    CHECK(r.error == 0);
    CHECK(r.outputs[0].as<int32_t>() == c.expected);
  }
}

TEST_CASE("scatter_elements along axis 0, with more updates than indices") {
  const CallResult r = Call("scatter_elements",
                            {Make<float>({3, 2}, {0, 0, 0, 0, 0, 0}), Make<int32_t>({1, 2}, {2, 0}),
                             Make<float>({2, 2}, {1, 2, 3, 4})},
                            {Empty<float>({3, 2})}, {0, 0});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{0, 2, 0, 0, 1, 0});
}

TEST_CASE("scatter_elements refuses what lies outside") {
  const Array data = Make<float>({2}, {1, 2});
  for (int64_t bad : {2, -3}) {
    CHECK(Call("scatter_elements", {data, Make<int64_t>({1}, {bad}), Make<float>({1}, {9})},
               {Empty<float>({2})}, {0, 0})
              .error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
  }
  CHECK(Call("scatter_elements", {data, Make<int64_t>({1}, {0}), Make<float>({1}, {9})},
             {Empty<float>({2})}, {0, 6})
            .error == RELAYVM_KERNEL_INVALID_ARGUMENT);
  CHECK(Call("scatter_elements",
             {Make<float>({1, 2}, {1, 2}), Make<int64_t>({2, 1}, {0, 0}),
              Make<float>({2, 1}, {8, 9})},
             {Empty<float>({1, 2})}, {1, 0})
            .error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
}

TEST_CASE("scatter_nd writes slices at index columns") {
  const Array data = Make<int32_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  // Two columns of two indices name rows of two elements.
  CallResult r =
      Call("scatter_nd",
           {data, Make<int64_t>({2, 2}, {0, 1, 1, -2}), Make<int32_t>({2, 2}, {10, 20, 30, 40})},
           {Empty<int32_t>({2, 2, 2})}, {1});
  CHECK(r.error == 0);
  CHECK(r.outputs[0].as<int32_t>() == std::vector<int32_t>{0, 1, 12, 23, 34, 45, 6, 7});
  r = Call("scatter_nd", {data, Make<int64_t>({1, 1}, {2}), Make<int32_t>({1, 2, 2}, {1, 1, 1, 1})},
           {Empty<int32_t>({2, 2, 2})}, {0});
  CHECK(r.error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
}

TEST_CASE("scatter_nd with further axes of updates drops what falls behind the data") {
  const CallResult r =
      Call("scatter_nd",
           {Make<int64_t>({3, 3}, std::vector<int64_t>(9, 0)), Make<int64_t>({2, 2}, {1, 1, 0, 1}),
            Make<int64_t>({2, 2}, {2, 2, 1, 1})},
           {Empty<int64_t>({3, 3})}, {1});
  CHECK(r.error == 0);
  CHECK(r.outputs[0].as<int64_t>() == std::vector<int64_t>{0, 0, 0, 0, 0, 0, 2, 2, 1});
}

}  // namespace
}  // namespace relayvm::builtin_testing
