#include <algorithm>
#include <vector>

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

TEST_CASE("scatter_elements along every axis of several dims") {
  const std::vector<int64_t> data_dims = {3, 5, 4}, dims = {2, 4, 3}, update_dims = {2, 5, 4};
  const auto flat = [](const std::vector<int64_t>& of, const std::vector<int64_t>& at) {
    return static_cast<size_t>((at[0] * of[1] + at[1]) * of[2] + at[2]);
  };
  for (size_t axis = 0; axis < 3; ++axis) {
    for (ScatterMode mode : {ScatterMode::kUpdate, ScatterMode::kAdd}) {
      std::vector<int64_t> indices(24);
      std::vector<int32_t> updates(40), expected(60, 5);
      const std::vector<int32_t> data = expected;
      for (size_t i = 0; i < updates.size(); ++i) updates[i] = static_cast<int32_t>(i * i + 1);
      for (int64_t a = 0; a < 2; ++a) {
        for (int64_t b = 0; b < 4; ++b) {
          for (int64_t c = 0; c < 3; ++c) {
            const int64_t extent = data_dims[axis], index = (a * 7 + b * 3 + c) % extent;
            indices[flat(dims, {a, b, c})] = b % 2 == 0 ? index : index - extent;
            std::vector<int64_t> at = {a, b, c};
            at[axis] = index;
            int32_t& to = expected[flat(data_dims, at)];
            const int32_t update = updates[flat(update_dims, {a, b, c})];
            to = mode == ScatterMode::kAdd ? to + update : update;
          }
        }
      }
      std::vector<int32_t> narrow(indices.begin(), indices.end());
      for (const Array& given : {Make<int64_t>(dims, indices), Make<int32_t>(dims, narrow)}) {
        const CallResult r = Call(
            "scatter_elements",
            {Make<int32_t>(data_dims, data), given, Make<int32_t>(update_dims, updates)},
            {Empty<int32_t>(data_dims)}, {static_cast<int64_t>(axis), static_cast<int64_t>(mode)});
        CHECK(r.error == 0);
        CHECK(r.outputs[0].as<int32_t>() == expected);
      }
    }
  }
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

// Sums, so that no update is lost: 1,000 columns of two indices, some of them negative, in slices
// of 1 and of 3.
template <typename Index>
void CheckManyColumns(int64_t slice, int64_t bad_at) {
  constexpr int64_t kColumns = 1000, kRows = 7, kPlaces = 5;
  std::vector<Index> indices(2 * kColumns);
  std::vector<int32_t> updates(static_cast<size_t>(kColumns * slice));
  std::vector<int32_t> expected(static_cast<size_t>(kRows * kPlaces * slice), 1);
  const std::vector<int32_t> data = expected;
  for (int64_t c = 0; c < kColumns; ++c) {
    const int64_t row = c * c % kRows, place = c * 3 % kPlaces;
    indices[static_cast<size_t>(c)] = static_cast<Index>(c % 4 == 0 ? row - kRows : row);
    indices[static_cast<size_t>(kColumns + c)] = static_cast<Index>(place);
    for (int64_t i = 0; i < slice; ++i) {
      const auto update = static_cast<int32_t>(c * 10 + i);
      updates[static_cast<size_t>(c * slice + i)] = update;
      expected[static_cast<size_t>((row * kPlaces + place) * slice + i)] += update;
    }
  }
  if (bad_at >= 0) indices[static_cast<size_t>(bad_at)] = static_cast<Index>(-kRows - 1);
  std::vector<Index> tuples;  // the tuples last
  for (size_t c = 0; c < kColumns; ++c) {
    tuples.push_back(indices[c]);
    tuples.push_back(indices[kColumns + c]);
  }
  for (const bool last : {false, true}) {
    const CallResult r =
        Call(last ? "scatter_nd_tuples_last" : "scatter_nd",
             {Make<int32_t>({kRows, kPlaces, slice}, data),
              last ? Make<Index>({kColumns, 2}, tuples) : Make<Index>({2, kColumns}, indices),
              Make<int32_t>({kColumns, slice}, updates)},
             {Empty<int32_t>({kRows, kPlaces, slice})}, {static_cast<int64_t>(ScatterMode::kAdd)});
    CAPTURE(last);
    if (bad_at >= 0) {
      CHECK(r.error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
    } else {
      CHECK(r.error == 0);
      CHECK(r.outputs[0].as<int32_t>() == expected);
    }
  }
}

TEST_CASE("scatter_nd of many columns") {
  for (int64_t slice : {1, 3}) {
    for (int64_t bad_at : {-1, 0, 127, 128, 999}) {
      CheckManyColumns<int64_t>(slice, bad_at);
      CheckManyColumns<int32_t>(slice, bad_at);
    }
  }
}

template <typename T>
void CheckModes() {
  for (const int64_t slice : {1, 3, 15, 16, 17, 40, 70'000}) {
    std::vector<T> data(static_cast<size_t>(3 * slice));
    std::vector<T> updates(static_cast<size_t>(4 * slice));
    // Of each sign where there are signs.
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(static_cast<int>(i % 13) - 6);
    for (size_t i = 0; i < updates.size(); ++i) {
      updates[i] =
          static_cast<T>(static_cast<double>(i % 11) / (std::is_integral_v<T> ? 1 : 4) - 3);
    }
    const std::vector<int64_t> rows{2, 0, 2, -3};
    for (int64_t mode = 0; mode <= 5; ++mode) {
      if (std::is_integral_v<T> && mode == 3) continue;  // means of wrapped numbers
      CAPTURE(slice);
      CAPTURE(mode);
      std::vector<T> expected = data;
      for (size_t r = 0; r < rows.size(); ++r) {
        for (int64_t i = 0; i < slice; ++i) {
          T& to = expected[static_cast<size_t>((rows[r] + 3) % 3 * slice + i)];
          const T from = updates[r * static_cast<size_t>(slice) + static_cast<size_t>(i)];
          const T all[] = {from,
                           static_cast<T>(to + from),
                           static_cast<T>(to * from),
                           static_cast<T>((to + from) / 2),
                           std::min(to, from),
                           std::max(to, from)};
          to = all[mode];
        }
      }
      const CallResult r = Call(
          "scatter_nd",
          {Make<T>({3, slice}, data), Make<int64_t>({1, 4}, rows), Make<T>({4, slice}, updates)},
          {Empty<T>({3, slice})}, {mode});
      CHECK(r.error == 0);
      CHECK(r.outputs[0].template as<T>() == expected);
    }
  }
}

TEST_CASE("scatter_nd combines slices of any length, as its mode says") {
  CheckModes<float>();
  CheckModes<double>();
  CheckModes<int64_t>();
  CheckModes<int32_t>();
  CheckModes<int8_t>();
  CheckModes<uint8_t>();
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
