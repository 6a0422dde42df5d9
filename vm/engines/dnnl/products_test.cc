// Products of matrices against plain loops.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

// a: [batch or 1, rows, depth], b: [batch or 1, depth, columns]
Tensor Multiply(const Tensor& a, const Tensor& b) {
  const int64_t batch = std::max(a.dims[0], b.dims[0]);
  const int64_t rows = a.dims[1], depth = a.dims[2], columns = b.dims[2];
  Tensor y{{batch, rows, columns}, {}};
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const int64_t an = a.dims[0] == 1 ? 0 : n, bn = b.dims[0] == 1 ? 0 : n;
          sum += double{a.data[static_cast<size_t>((an * rows + i) * depth + k)]} *
                 double{b.data[static_cast<size_t>((bn * depth + k) * columns + j)]};
        }
        y.data.push_back(static_cast<float>(sum));
      }
    }
  }
  return y;
}

Tensor Reshape(Tensor t, Dims dims) {
  t.dims = std::move(dims);
  return t;
}

TEST_CASE("nn.dense and nn.matmul: weights that are constant and not, transposed and not") {
  if (Provider() == nullptr) return;
  struct {
    const char* op;
    bool transpose_a, transpose_b, is_constant;
  } const kCases[] = {{"nn.dense", false, true, true},   {"nn.dense", false, true, false},
                      {"nn.matmul", false, false, true}, {"nn.matmul", false, false, false},
                      {"nn.matmul", true, false, true},  {"nn.matmul", true, true, false},
                      {"nn.matmul", false, true, true}};
  for (const auto& c : kCases) {
    CAPTURE(std::string(c.op));
    CAPTURE(c.transpose_a);
    CAPTURE(c.transpose_b);
    CAPTURE(c.is_constant);
    constexpr int64_t kDepth = 24, kColumns = 40;
    const Tensor w = Random({kDepth, kColumns}, 2), bias = Random({kColumns}, 3);
    const Tensor stored = c.transpose_b ? Transpose(w, {1, 0}) : w;
    Net net;
    const int x = net.Input(c.transpose_a ? Shape{kDepth, "n"} : Shape{"n", kDepth});
    const int k = c.is_constant ? net.Const(stored) : net.Input(ShapeOf(stored.dims));
    const int b = net.Const(bias);
    Net::Attributes attributes = {{"units", {""}}, {"out_dtype", {""}}};
    if (std::string(c.op) == "nn.matmul") {
      attributes["transpose_a"] = {c.transpose_a ? "1" : "0"};
      attributes["transpose_b"] = {c.transpose_b ? "1" : "0"};
    }
    net.Head(net.Kernel(c.op, {x, k, b}, {"n", kColumns}, attributes, {"bias input=2", "tanh"}));
    const TestRegion region(net);
    for (const int64_t rows : {1, 17, 1, 128, 0}) {
      const Tensor data = Random({rows, kDepth}, 7);
      Tensor y = Multiply(Reshape(data, {1, rows, kDepth}), Reshape(w, {1, kDepth, kColumns}));
      y = Broadcast2(Reshape(y, {rows, kColumns}), bias,
                     [](float a, float b2) { return std::tanh(a + b2); });
      std::vector<Tensor> inputs = {c.transpose_a ? Transpose(data, {1, 0}) : data};
      if (!c.is_constant) inputs.push_back(stored);
      CheckClose(region.Run({rows}, inputs)[0], y);
    }
  }
}

TEST_CASE("nn.dense: data of other ranks, and a second tensor of the result's extents") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({6, 4}, 2);  // [units, depth]
  for (const Dims& lead : {Dims{}, Dims{5}, Dims{2, 3}, Dims{2, 1, 3}}) {
    for (const bool has_rows : {false, true}) {
      Dims in = lead, out = lead;
      in.push_back(4);
      out.push_back(6);
      const Tensor x = Random(in, 1), other = Random(has_rows ? out : Dims{6}, 3);
      Net net;
      const int i = net.Input(ShapeOf(in)), k = net.Const(w), o = net.Input(ShapeOf(other.dims));
      net.Head(net.Kernel("nn.dense", {i, k, o}, ShapeOf(out), {},
                          {"relu", "multiply input=2", has_rows ? "sum input=2" : "abs"}));
      const int64_t rows = Count(lead);
      Tensor y = Reshape(
          Multiply(Reshape(x, {1, rows, 4}), Reshape(Transpose(w, {1, 0}), {1, 4, 6})), out);
      y = Map(y, [](float v) { return std::max(v, 0.0F); });
      y = Broadcast2(y, other, std::multiplies<>());
      y = has_rows ? Broadcast2(y, other, std::plus<>())
                   : Map(y, [](float v) { return std::abs(v); });
      CheckClose(RunOnce(net, {}, {x, other})[0], y);
    }
  }
}

TEST_CASE("nn.batch_matmul: transposed operands, one matrix for all") {
  if (Provider() == nullptr) return;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const auto& [an, bn] : {std::pair{3, 3}, std::pair{1, 3}, std::pair{3, 1}}) {
        for (const bool is_constant : {false, true}) {
          const Tensor a = Random({an, 5, 8}, 1), b = Random({bn, 8, 16}, 2);
          const Tensor sa = ta ? Transpose(a, {0, 2, 1}) : a, sb = tb ? Transpose(b, {0, 2, 1}) : b;
          Net net;
          const int x = net.Input(ShapeOf(sa.dims));
          const int y = is_constant ? net.Const(sb) : net.Input(ShapeOf(sb.dims));
          net.Head(
              net.Kernel("nn.batch_matmul", {x, y}, {3, 5, 16},
                         {{"transpose_a", {ta ? "1" : "0"}}, {"transpose_b", {tb ? "1" : "0"}}}));
          std::vector<Tensor> inputs = {sa};
          if (!is_constant) inputs.push_back(sb);
          CheckClose(RunOnce(net, {}, inputs)[0], Multiply(a, b));
        }
      }
    }
  }
}

TEST_CASE("a product over nothing is zeros, with what comes after") {
  if (Provider() == nullptr) return;
  Net net;
  const int x = net.Input({3, "k"}), w = net.Input({2, "k"}), b = net.Const({{2}, {1, -2}});
  net.Head(net.Kernel("nn.dense", {x, w, b}, {3, 2}, {}, {"bias input=2", "relu"}));
  const TestRegion region(net);
  CheckClose(region.Run({0}, {{{3, 0}, {}}, {{2, 0}, {}}})[0], {{3, 2}, {1, 0, 1, 0, 1, 0}});
}

}  // namespace
}  // namespace relayvm::onednn_testing
