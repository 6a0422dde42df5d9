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

TEST_CASE("nn.contrib_dense_pack reads a batch of panels, of either dtype") {
  const std::vector<double> a = Mixed(12);
  // (b, 4, 3) in panels of two.
  std::vector<double> columns;
  for (int b = 0; b < 2; ++b) {
    for (int k = 0; k < 4; ++k) {
      const size_t first = static_cast<size_t>(b * 16 + k * 2);
      for (size_t at : {first, first + 1, first + 8}) columns.push_back(Mixed(32)[at]);
    }
  }
  for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
    const HostTensor panels = Host(dtype, {2, 2, 4, 2}, Mixed(32));
    CheckOp("nn.contrib_dense_pack", {{"units", 3}}, {F32({2, 1, 4}, Mixed(8)), panels},
            {F32({2, 1, 3}, Product(Mixed(8), columns, 2, 1, 4, 3, false, false))},
            {.static_args = {1}});
  }
  // One matrix of data, and one of weights, for all.
  const HostTensor panels = F32({2, 2, 4, 2}, Mixed(32));
  const std::vector<double> one = Mixed(4);
  std::vector<double> both = one;
  both.insert(both.end(), one.begin(), one.end());
  CheckOp("nn.contrib_dense_pack", {{"units", 3}}, {F32({1, 1, 4}, one), panels},
          {F32({2, 1, 3}, Product(both, columns, 2, 1, 4, 3, false, false))}, {.static_args = {1}});
  CheckOp("nn.contrib_dense_pack", {{"units", 3}},
          {F32({2, 1, 4}, Mixed(8)), F32({1, 2, 4, 2}, Mixed(16))},
          {F32({2, 1, 3}, Product(Mixed(8), columns, 2, 1, 4, 3, false, false, true))},
          {.static_args = {1}});
  CheckFails("nn.contrib_dense_pack", {{"units", 3}}, {F32({3, 1, 4}, a), panels}, "batch");
  CheckFails("nn.contrib_dense_pack", {{"units", 3}}, {F32({3, 4}, a), panels}, "rank");
}

TEST_CASE("nn.contrib_dense_pack reads panels of float16 against data of float32") {
  const HostTensor w = Host(DType::kFloat16, {1, 2, 2}, {1, 2, 3, -0.5});
  const std::vector<double> x = {1, 0.1F, -4, 2};
  CheckOp("nn.contrib_dense_pack", {{"units", 2}}, {F32({2, 2}, x), w},
          {F32({2, 2}, {1 + 3 * x[1], 2 - x[1] / 2, 2, -9})}, {.static_args = {1}});
  CheckFails("nn.contrib_dense_pack", {{"units", 2}}, {Host(DType::kFloat64, {2, 2}, x), w},
             "dtypes");
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
             "words of in_units");
  CheckFails("nn.contrib_dense_pack", {{"units", 2}}, {F32({2, 3}, a), w}, "in_units");
  CheckFails("nn.contrib_dense_pack", {{"units", 2}, {"in_units", 3}}, {F32({2, 4}, Mixed(8)), w},
             "reduced dimensions");
  CheckFails("nn.contrib_dense_pack", {{"units", 2}, {"in_units", 3}},
             {Host(DType::kFloat64, {2, 3}, a), w}, "float32");
}

TEST_CASE("nn.contrib_dense_pack reads fours of int8 against data of uint8") {
  // Five of k, two units in one panel of two: (1, 2, 2, 4), the last of each column filled up.
  const HostTensor w =
      Host(DType::kInt8, {1, 2, 2, 4}, {1, -2, 3, -4, -128, 127, 0, 1, 5, 0, 0, 0, -6, 0, 0, 0});
  const HostTensor x = Host(DType::kUInt8, {2, 5}, {1, 2, 3, 4, 5, 255, 255, 0, 0, 255});
  const AttrMap attrs = {{"units", 2}, {"in_units", 5}, {"out_dtype", "int32"}};
  CheckOp("nn.contrib_dense_pack", attrs, {x, w},
          {Host(DType::kInt32, {2, 2}, {15, 100, 1020, -1785})}, {.static_args = {1}});
  AttrMap other = attrs;
  other["in_units"] = 9;
  CheckFails("nn.contrib_dense_pack", other, {x, w}, "words of in_units");
  other = attrs;
  other["out_dtype"] = "float32";
  CheckFails("nn.contrib_dense_pack", other, {x, w}, "results of int32");
}

TEST_CASE("nn.contrib_dense_blocks reads integers in blocks, with scales and zero points") {
  // Ten of k in blocks of 8, three units in panels of two.
  std::vector<double> integers, words, scales, zeros, x(10, 1), want8, want8z, want4, want4z;
  x[3] = -2, x[9] = 0.5;
  const auto integer = [](int64_t k, int64_t n) { return (k * 5 + n * 3) % 16; };
  const auto scale = [](int64_t block, int64_t n) { return 0.5 + static_cast<double>(block + n); };
  const auto zero = [](int64_t block, int64_t n) { return static_cast<double>(2 * block + n); };
  for (int64_t panel = 0; panel < 2; ++panel) {
    for (int64_t block = 0; block < 2; ++block) {
      for (int64_t n : {panel * 2, panel * 2 + 1}) {
        scales.push_back(scale(block, n));
        zeros.push_back(zero(block, n));
        double word = 0;
        for (int64_t k = 7; k >= 0; --k)
          word = word * 16 + static_cast<double>(integer(block * 8 + k, n));
        words.push_back(word);
      }
      for (int64_t k = block * 8; k < block * 8 + 8; ++k) {
        for (int64_t n : {panel * 2, panel * 2 + 1}) {
          integers.push_back(static_cast<double>(integer(k, n)) - 8);
        }
      }
    }
  }
  for (int64_t n = 0; n < 3; ++n) {
    double sums[4] = {};
    for (int64_t k = 0; k < 10; ++k) {
      const auto q = static_cast<double>(integer(k, n));
      const double s = scale(k / 8, n) * x[static_cast<size_t>(k)], z = zero(k / 8, n);
      sums[0] += (q - 8) * s, sums[1] += (q - 8 - z) * s, sums[2] += (q - 8) * s;
      sums[3] += (q - z) * s;
    }
    want8.push_back(sums[0]), want8z.push_back(sums[1]);
    want4.push_back(sums[2]), want4z.push_back(sums[3]);
  }
  const HostTensor data = F32({1, 10}, x), s = F32({2, 2, 2}, scales), z = F32({2, 2, 2}, zeros);
  const HostTensor bytes = Host(DType::kInt8, {2, 2, 8, 2}, integers);
  const HostTensor nibbles = Host(DType::kUInt32, {2, 2, 1, 2}, words);
  const char* name = "nn.contrib_dense_blocks";
  CheckOp(name, {{"units", 3}, {"in_units", 10}}, {data, bytes, s}, {F32({1, 3}, want8)},
          {.static_args = {1, 2}});
  CheckOp(name, {{"units", 3}, {"in_units", 10}}, {data, bytes, s, z}, {F32({1, 3}, want8z)},
          {.static_args = {1, 2, 3}});
  CheckOp(name, {{"units", 3}, {"in_units", 10}}, {data, nibbles, s}, {F32({1, 3}, want4)},
          {.static_args = {1, 2}});
  CheckOp(name, {{"units", 3}, {"in_units", 10}}, {data, nibbles, s, z}, {F32({1, 3}, want4z)},
          {.static_args = {1, 2, 3}});
  CheckFails(name, {{"units", 3}, {"in_units", 10}}, {data, bytes}, "2 arguments");
  CheckFails(name, {{"units", 5}, {"in_units", 10}}, {data, bytes, s}, "panels");
  CheckFails(name, {{"units", 3}, {"in_units", 17}}, {F32({1, 17}, Mixed(17)), bytes, s}, "blocks");
  CheckFails(name, {{"units", 3}, {"in_units", 9}}, {data, bytes, s}, "reduced dimensions");
  CheckFails(name, {{"units", 3}, {"in_units", 10}}, {data, bytes, F32({2, 2}, Mixed(4))},
             "scales");
  CheckFails(name, {{"units", 3}, {"in_units", 10}}, {data, bytes, s, F32({2, 1, 2}, Mixed(4))},
             "zero points");
  CheckFails(name, {{"units", 3}, {"in_units", 10}}, {data, s, s}, "rank");
}

TEST_CASE("nn.contrib_dense_nbits reads bytes of blocks as models hold them") {
  // Ten of k in blocks of 8; two units.
  const auto integer = [](int64_t n, int64_t k) { return (k * 5 + n * 3) % 16; };
  std::vector<double> x(10, 1), bytes4, bytes8;
  x[2] = -3, x[9] = 0.5;
  const std::vector<double> scales = {0.5, 2, 1, 0.25}, zeros = {1, 2, 3, 15};
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t k = 0; k < 16; ++k) {
      bytes8.push_back(static_cast<double>(integer(n, k)));
      if (k % 2 == 0) {
        bytes4.push_back(static_cast<double>(integer(n, k) + 16 * integer(n, k + 1)));
      }
    }
  }
  const auto sums = [&](double zero, bool given) {
    std::vector<double> out(2, 0);
    for (int64_t n = 0; n < 2; ++n) {
      for (int64_t k = 0; k < 10; ++k) {
        const auto block = static_cast<size_t>(n * 2 + k / 8);
        out[static_cast<size_t>(n)] +=
            x[static_cast<size_t>(k)] * scales[block] *
            (static_cast<double>(integer(n, k)) - (given ? zeros[block] : zero));
      }
    }
    return out;
  };
  const char* name = "nn.contrib_dense_nbits";
  const HostTensor data = F32({1, 10}, x), s = F32({2, 2}, scales), z = F32({2, 2}, zeros);
  const HostTensor w4 = Host(DType::kUInt8, {2, 2, 4}, bytes4);
  const HostTensor w8 = Host(DType::kUInt8, {2, 2, 8}, bytes8);
  CheckOp(name, {{"bits", 4}, {"in_units", 10}}, {data, w4, s}, {F32({1, 2}, sums(8, false))},
          {.static_args = {1, 2}});
  CheckOp(name, {{"bits", 4}, {"in_units", 10}}, {data, w4, s, z}, {F32({1, 2}, sums(0, true))},
          {.static_args = {1, 2, 3}});
  CheckOp(name, {{"bits", 8}, {"in_units", 10}}, {data, w8, s}, {F32({1, 2}, sums(128, false))},
          {.static_args = {1, 2}});
  CheckOp(name, {{"bits", 8}, {"in_units", 10}}, {data, w8, s, z}, {F32({1, 2}, sums(0, true))},
          {.static_args = {1, 2, 3}});
  CheckFails(name, {{"bits", 2}, {"in_units", 10}}, {data, w8, s}, "expected 4 or 8");
  CheckFails(name, {{"bits", 8}, {"in_units", 17}}, {F32({1, 17}, Mixed(17)), w8, s}, "blocks");
  CheckFails(name, {{"bits", 8}, {"in_units", 9}}, {data, w8, s}, "reduced dimensions");
  CheckFails(name, {{"bits", 8}, {"in_units", 10}}, {data, s, s}, "rank");
  CheckFails(name, {{"bits", 8}, {"in_units", 10}}, {data, w8, F32({2, 1}, {1, 1})}, "scales");
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
