#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

using Ints = std::vector<int64_t>;

TEST_CASE("sparse_fill_empty_rows gives each empty row an entry") {
  const auto call = [](const Ints& rows, int64_t dense_rows) {
    Ints indices, values;
    for (int64_t r : rows) {
      indices.insert(indices.end(), {r, 3});
      values.push_back(10 + r);
    }
    const int64_t n = static_cast<int64_t>(rows.size());
    return Call("sparse_fill_empty_rows",
                {Make<int64_t>({n, 2}, indices), Make<int64_t>({n}, values),
                 Make<int64_t>({2}, {dense_rows, 9}), Make<int64_t>({1}, {-1})},
                {Empty<int64_t>({n + dense_rows, 2}), Empty<int64_t>({n + dense_rows}),
                 Empty<Bool>({dense_rows})},
                {}, 1);
  };
  CallResult r = call({0, 0, 2}, 4);
  CHECK(r.counts[0] == 5);
  Ints indices = r.outputs[0].as<int64_t>(), values = r.outputs[1].as<int64_t>();
  indices.resize(10);
  values.resize(5);
  CHECK(indices == Ints{0, 3, 0, 3, 1, 0, 2, 3, 3, 0});
  CHECK(values == Ints{10, 10, -1, 12, -1});
  const std::vector<Bool> empty = r.outputs[2].as<Bool>();
  CHECK((!empty[0].bits && empty[1].bits && !empty[2].bits && empty[3].bits));
  CHECK(call({}, 2).counts[0] == 2);
  CHECK(call({4}, 4).error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
}

TEST_CASE("sparse_reshape keeps positions, and infers one extent") {
  const auto call = [](const Ints& wanted) {
    return Call("sparse_reshape",
                {Make<int64_t>({2, 2}, {0, 5, 1, 2}), Make<int64_t>({2}, {2, 6}),
                 Make<int64_t>({3}, wanted)},
                {Empty<int64_t>({2, 3}), Empty<int64_t>({3})}, {});
  };
  const CallResult r = call({3, -1, 2});
  CHECK(r.outputs[0].as<int64_t>() == Ints{1, 0, 1, 2, 0, 0});
  CHECK(r.outputs[1].as<int64_t>() == Ints{3, 2, 2});
  CHECK(call({-1, -1, 2}).error != 0);
  CHECK(call({5, -1, 1}).error != 0);
  CHECK(call({0, 1, 2}).error != 0);
}

TEST_CASE("indices that their dtype does not hold are an error") {
  const auto fill = [](int64_t rows) {
    return Call("sparse_fill_empty_rows",
                {Make<int8_t>({1, 2}, {0, 3}), Make<float>({1}, {1}), Make<int64_t>({2}, {rows, 9}),
                 Make<float>({1}, {0})},
                {Empty<int8_t>({1 + rows, 2}), Empty<float>({1 + rows}), Empty<Bool>({rows})}, {},
                1);
  };
  CHECK(fill(128).error == 0);
  CHECK(fill(129).error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
  const auto flat = [](int8_t row) {
    return Call(
        "sparse_reshape",
        {Make<int8_t>({1, 2}, {row, 5}), Make<int64_t>({2}, {100, 6}), Make<int64_t>({1}, {-1})},
        {Empty<int8_t>({1, 1}), Empty<int64_t>({1})}, {});
  };
  CHECK(flat(20).outputs[0].as<int8_t>() == std::vector<int8_t>{125});
  CHECK(flat(21).error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
}

// [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
struct Csr {
  Array values = Make<float>({3}, {1, 2, 3});
  Array columns = Make<int32_t>({3}, {0, 2, 1});
  Array starts = Make<int32_t>({4}, {0, 2, 2, 3});
};

TEST_CASE("products with a CSR matrix") {
  const Csr m;
  const Array x = Make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CallResult r =
      Call("sparse_dense", {x, m.values, m.columns, m.starts}, {Empty<float>({2, 3})}, {0});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{7, 0, 6, 16, 0, 15});
  r = Call("sparse_dense", {x, m.values, m.columns, m.starts}, {Empty<float>({3, 2})}, {1});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{7, 16, 0, 0, 6, 15});
  r = Call("sparse_conv2d",
           {Make<float>({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}), m.values, m.columns, m.starts},
           {Empty<float>({1, 2, 1, 3})}, {1, 1});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{7, 0, 6, 16, 0, 15});
  r = Call("sparse_conv2d",
           {Make<float>({1, 3, 1, 2}, {1, 4, 2, 5, 3, 6}), m.values, m.columns, m.starts},
           {Empty<float>({1, 3, 1, 2})}, {0, 1});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{7, 16, 0, 0, 6, 15});
}

TEST_CASE("products with a BSR matrix") {
  // One block [[1, 2], [3, 4]] at block row 0, block column 1 of a 2 x 4 matrix.
  const CallResult r =
      Call("sparse_dense",
           {Make<float>({1, 4}, {1, 1, 10, 100}), Make<float>({1, 2, 2}, {1, 2, 3, 4}),
            Make<int32_t>({1}, {1}), Make<int32_t>({2}, {0, 1})},
           {Empty<float>({1, 2})}, {0});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{210, 430});
}

// Expected: by numpy, as a sum of products over the padded data.
TEST_CASE("3x3 convolutions with a sparse matrix: both layouts, CSR and BSR, borders of zeros") {
  const std::vector<float> data = {-3, -2, -1, 0,  1,  2, 3, -3, -2, -1, 0,  1,
                                   2,  3,  -3, -2, -1, 0, 1, 2,  3,  -3, -2, -1};
  const std::vector<float> nhwc = {-4, -1,   -4, 4,  3,  1, 3,  -5.5f, -4, -3.5f, -1, 5.5f,
                                   3,  8.5f, 1,  -7, -1, 0, -1, 6,     5,  -13,   4,  6};
  CallResult r = Call("sparse_conv2d",
                      {Make<float>({1, 3, 4, 2}, data), Make<float>({6}, {2, 1, -1, 3, -2, 0.5f}),
                       Make<int32_t>({6}, {1, 8, 17, 4, 7, 14}), Make<int32_t>({3}, {0, 3, 6})},
                      {Empty<float>({1, 3, 4, 2})}, {1, 3});
  REQUIRE(r.error == 0);
  CHECK(r.outputs[0].as<float>() == nhwc);
  // The same weights as blocks of 2 x 2.
  r = Call("sparse_conv2d",
           {Make<float>({1, 3, 4, 2}, data),
            Make<float>({6, 2, 2}, {0, 2, 0, 0, 0, 0, 3,    0, 0, 0,  0, -2,
                                    1, 0, 0, 0, 0, 0, 0.5f, 0, 0, -1, 0, 0}),
            Make<int32_t>({6}, {0, 2, 3, 4, 7, 8}), Make<int32_t>({2}, {0, 6})},
           {Empty<float>({1, 3, 4, 2})}, {1, 3});
  REQUIRE(r.error == 0);
  CHECK(r.outputs[0].as<float>() == nhwc);
  // Transposed: the data, the order of the matrix' columns, the result.
  std::vector<float> planes, result;
  for (size_t c = 0; c < 2; ++c) {
    for (size_t p = 0; p < 12; ++p) {
      planes.push_back(data[2 * p + c]);
      result.push_back(nhwc[2 * p + c]);
    }
  }
  r = Call("sparse_conv2d",
           {Make<float>({1, 2, 3, 4}, planes), Make<float>({6}, {1, 2, -1, 3, 0.5f, -2}),
            Make<int32_t>({6}, {4, 9, 17, 2, 7, 12}), Make<int32_t>({3}, {0, 3, 6})},
           {Empty<float>({1, 2, 3, 4})}, {0, 3});
  REQUIRE(r.error == 0);
  CHECK(r.outputs[0].as<float>() == result);
  // A size that has no middle.
  r = Call("sparse_conv2d",
           {Make<float>({1, 2, 3, 4}, planes), Make<float>({1}, {1}), Make<int32_t>({1}, {0}),
            Make<int32_t>({3}, {0, 1, 1})},
           {Empty<float>({1, 2, 3, 4})}, {0, 2});
  CHECK(r.error == RELAYVM_KERNEL_INVALID_ARGUMENT);
}

TEST_CASE("sum and transpose of a CSR matrix") {
  const Csr m;
  CallResult r = Call(
      "sparse_add", {Make<float>({3, 3}, std::vector<float>(9, 1)), m.values, m.columns, m.starts},
      {Empty<float>({3, 3})}, {});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{2, 1, 3, 1, 1, 1, 1, 4, 1});
  r = Call("sparse_transpose", {m.values, m.columns, m.starts},
           {Empty<float>({3}), Empty<int32_t>({3}), Empty<int32_t>({4})}, {});
  CHECK(r.outputs[0].as<float>() == std::vector<float>{1, 3, 2});
  CHECK(r.outputs[1].as<int32_t>() == std::vector<int32_t>{0, 2, 0});
  CHECK(r.outputs[2].as<int32_t>() == std::vector<int32_t>{0, 1, 2, 3});
}

TEST_CASE("a malformed matrix is an error") {
  const Csr m;
  const Array x = Make<float>({1, 3}, {1, 2, 3});
  const std::vector<Array> out = {Empty<float>({1, 3})};
  CHECK(Call("sparse_dense", {x, m.values, Make<int32_t>({3}, {0, 3, 1}), m.starts}, out, {0})
            .error != 0);
  CHECK(Call("sparse_dense", {x, m.values, m.columns, Make<int32_t>({4}, {0, 2, 1, 3})}, out, {0})
            .error != 0);
  CHECK(Call("sparse_dense", {x, m.values, m.columns, Make<int32_t>({4}, {0, 2, 2, 4})}, out, {0})
            .error != 0);
}

TEST_CASE("sparse_to_dense: the last of equal indices counts, those outside are left out") {
  const auto entries = Make<int32_t>({4}, {1, 4, 1, 5});
  const auto values = Make<float>({4}, {3, 2, 9, 7});
  auto r =
      Call("sparse_to_dense", {entries, values, Make<float>({}, {-1})}, {Empty<float>({5})}, {});
  REQUIRE(r.error == 0);
  CHECK(r.outputs[0].as<float>() == std::vector<float>{-1, 9, -1, -1, 2});
  // One value for all, no default; an index is a row.
  r = Call("sparse_to_dense_zero", {Make<int64_t>({2, 2}, {0, 1, 1, 0}), Make<int64_t>({}, {5})},
           {Empty<int64_t>({2, 2})}, {});
  REQUIRE(r.error == 0);
  CHECK(r.outputs[0].as<int64_t>() == std::vector<int64_t>{0, 5, 5, 0});
  // One index, the default of another dtype.
  r = Call("dyn_sparse_to_dense",
           {Make<int32_t>({}, {2}), Make<float>({}, {3}), Make<int32_t>({}, {4}),
            Make<int64_t>({1}, {4})},
           {Empty<float>({4})}, {});
  REQUIRE(r.error == 0);
  CHECK(r.outputs[0].as<float>() == std::vector<float>{4, 4, 3, 4});
}

TEST_CASE("a transpose whose row starts leave entries out is refused") {
  const auto r =
      Call("sparse_transpose",
           {Make<float>({2}, {1, 2}), Make<int32_t>({2}, {0, 1}), Make<int32_t>({3}, {0, 1, 1})},
           {Empty<float>({2}), Empty<int32_t>({2}), Empty<int32_t>({3})}, {});
  CHECK(r.error == RELAYVM_KERNEL_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace relayvm::builtin_testing
