#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

// c[b, i, j] = sum over k of a[b, i, k] * w[b, k, j], by plain loops over explicit strides.
std::vector<double> Product(const std::vector<double>& a, const std::vector<double>& w,
                            int64_t batch, int64_t m, int64_t k, int64_t n, bool ta, bool tb,
                            bool shared_w = false) {
  std::vector<double> c;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          const int64_t x = b * m * k + (ta ? l * m + i : i * k + l);
          const int64_t y = (shared_w ? 0 : b * k * n) + (tb ? j * k + l : l * n + j);
          sum += a[static_cast<size_t>(x)] * w[static_cast<size_t>(y)];
        }
        c.push_back(sum);
      }
    }
  }
  return c;
}

std::vector<double> Mixed(int64_t n) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<double>((i * 7 + 3) % 11) - 5);
  return v;
}

TEST_CASE("nn.dense multiplies by the transposed weight, whatever the rank of the data") {
  const std::vector<double> a = Mixed(12), w = Mixed(8);
  CheckOp("nn.dense", {{"units", AttrValue()}}, {F32({3, 4}, a), F32({2, 4}, w)},
          {F32({3, 2}, Product(a, w, 1, 3, 4, 2, false, true))});
  CheckOp("nn.dense", {{"units", 2}}, {F32({1, 3, 4}, a), F32({2, 4}, w)},
          {F32({1, 3, 2}, Product(a, w, 1, 3, 4, 2, false, true))}, {.static_args = {1}});
  CheckOp("nn.dense", {}, {F32({0, 4}, {}), F32({2, 4}, w)}, {F32({0, 2}, {})});
  CheckFails("nn.dense", {}, {F32({3, 4}, a), F32({4, 2}, w)}, "4 and 2 differ");
  CheckFails("nn.dense", {{"units", 3}}, {F32({3, 4}, a), F32({2, 4}, w)}, "units");
  CheckFails("nn.dense", {}, {F32({3, 4}, a), I32({2, 4}, w)}, "dtypes");
  CheckFails("nn.dense", {}, {F32({3, 4}, a), F32({8}, w)}, "rank");
}

TEST_CASE("nn.dense computes in out_dtype") {
  CheckOp("nn.dense", {{"out_dtype", "int32"}},
          {Host(DType::kUInt8, {1, 2}, {200, 100}), Host(DType::kInt8, {1, 2}, {100, -100})},
          {I32({1, 1}, {10000})});
}

TEST_CASE("nn.matmul with each transposition") {
  const std::vector<double> a = Mixed(6), w = Mixed(12);
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      CheckOp("nn.matmul", {{"units", AttrValue()}, {"transpose_a", ta}, {"transpose_b", tb}},
              {ta ? F32({3, 2}, a) : F32({2, 3}, a), tb ? F32({4, 3}, w) : F32({3, 4}, w)},
              {F32({2, 4}, Product(a, w, 1, 2, 3, 4, ta, tb))});
    }
  }
}

TEST_CASE("nn.batch_matmul; a batch of one serves all") {
  const std::vector<double> a = Mixed(12), w = Mixed(18);
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      CheckOp("nn.batch_matmul", {{"transpose_a", ta}, {"transpose_b", tb}},
              {ta ? F32({2, 3, 2}, a) : F32({2, 2, 3}, a), F32({2, 3, 3}, w)},
              {F32({2, 2, 3}, Product(a, w, 2, 2, 3, 3, ta, tb))});
    }
  }
  const std::vector<double> one = Mixed(9);
  CheckOp("nn.batch_matmul", {}, {F32({2, 2, 3}, a), F32({1, 3, 3}, one)},
          {F32({2, 2, 3}, Product(a, one, 2, 2, 3, 3, false, false, true))}, {.static_args = {1}});
  CheckFails("nn.batch_matmul", {}, {F32({2, 2, 3}, a), F32({2, 4, 3}, Mixed(24))},
             "3 and 4 differ");
  CheckFails("nn.batch_matmul", {}, {F32({2, 2, 3}, a), F32({3, 3, 3}, Mixed(27))}, "broadcast");
}

TEST_CASE("nn.contrib_dense_pack reads panels of columns") {
  // Three units in panels of two; the last column of the last panel is filler.
  const std::vector<double> a = Mixed(8);
  const std::vector<double> w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 10, 0, 11, 0, 12, 0};
  std::vector<double> columns;  // (4, 3)
  for (int k = 0; k < 4; ++k) {
    columns.insert(columns.end(), {w[k * 2], w[k * 2 + 1], w[8 + k * 2]});
  }
  CheckOp("nn.contrib_dense_pack", {{"units", 3}}, {F32({2, 4}, a), F32({2, 4, 2}, w)},
          {F32({2, 3}, Product(a, columns, 1, 2, 4, 3, false, false))}, {.static_args = {1}});
  CheckFails("nn.contrib_dense_pack", {{"units", 5}}, {F32({2, 4}, a), F32({2, 4, 2}, w)},
             "panels");
}

TEST_CASE("nn.contrib_dense_pack reads pairs of bfloat16, and rounds the data to it") {
  // Three of k, two units in one panel of two: (1, 2, 2, 2), the last of each column filled up.
  const HostTensor w = Host(DType::kBFloat16, {1, 2, 2, 2}, {1, 2, 10, 20, 3, 0, 30, 0});
  // 1 + 2^-8 is halfway between two bfloat16 and becomes 1; 1 + 3 * 2^-8 becomes 1 + 2^-6.
  const std::vector<double> a = {1, 0.5, -1, 1 + 0x1p-8, 0, 1 + 3 * 0x1p-8};
  const double up = 1 + 0x1p-6;
  CheckOp("nn.contrib_dense_pack", {{"units", 2}, {"in_units", 3}}, {F32({2, 3}, a), w},
          {F32({2, 2}, {-1, -10, 1 + 3 * up, 10 + 30 * up})}, {.static_args = {1}});
  CheckFails("nn.contrib_dense_pack", {{"units", 2}, {"in_units", 5}}, {F32({2, 5}, Mixed(10)), w},
             "pairs");
  CheckFails("nn.contrib_dense_pack", {{"units", 2}}, {F32({2, 3}, a), w}, "in_units");
  CheckFails("nn.contrib_dense_pack", {{"units", 2}, {"in_units", 3}}, {F32({2, 4}, Mixed(8)), w},
             "reduced dimensions");
  CheckFails("nn.contrib_dense_pack", {{"units", 2}, {"in_units", 3}},
             {Host(DType::kFloat64, {2, 3}, a), w}, "float32");
}

TEST_CASE("matrix products say what they are to the scheduler") {
  const OpDef* op = OpTable::Get().Find("nn.dense");
  const Attrs attrs = *CompleteAttrs(*op, {});
  const te::Tensor inputs[] = {te::Placeholder("x", {Dim::Symbol(1, "n"), 4}, DType::kFloat32, 0),
                               te::Placeholder("w", {2, 4}, DType::kFloat32, 1)};
  const TensorType out{{Dim::Symbol(1, "n"), 2}, DType::kFloat32};
  const te::Tensor t = op->compute({attrs, inputs, std::span(&out, 1)})[0];
  CHECK((t->hint == te::ScheduleHint::kDense));
  CHECK(t->hint_inputs.size() == 2);
  CHECK(t->transpose_b);
  CHECK(!t->transpose_a);
}

}  // namespace
}  // namespace relayvm::op_testing
