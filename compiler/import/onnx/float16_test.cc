// ONNX graphs in float16 against the same graphs in float32.
#include <doctest/doctest.h>

#include <cmath>

#include "compiler/driver.h"
#include "compiler/import/onnx/testing.h"
#include "compiler/import/onnx/value_cases.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using namespace import::testing;  // NOLINT(google-build-using-namespace): a test's words

constexpr int kFloat = 1, kHalf = 10;

// x is (2, 3, 4, 4), w (4, 4), v (4), f (5, 3, 3, 3), s (3).
struct Case {
  const char* op;
  const char* inputs;
  std::string attributes;
};

std::vector<float> Run(const Case& c, int type) {
  std::string graph;
  const std::vector<std::pair<const char*, std::vector<int64_t>>> weights = {
      {"w", {4, 4}}, {"v", {4}}, {"f", {5, 3, 3, 3}}, {"s", {3}}};
  for (const auto& [name, dims] : weights) {
    std::vector<float> values;
    int64_t count = 1;
    std::string text;
    for (int64_t d : dims) {
      count *= d;
      text += fmt::format("dims: {} ", d);
    }
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(1 + i * 7 % 13) / 8);
    graph += fmt::format("initializer {{ name: '{}32' data_type: 1 {}float_data: [{}] }} ", name,
                         text, fmt::join(values, ", "));
    graph += Node("Cast", std::string(name) + "32", name, Int("to", type));
  }
  graph += Node("Cast", "x32", "x", Int("to", type)) + Node(c.op, c.inputs, "yt", c.attributes) +
           Node("Cast", "yt", "y", Int("to", kFloat)) +
           Tensor("input", "x32", {"n", "3", "h", "4"}) + "output { name: 'y' } ";
  auto module = ImportText(GraphModel(graph, 17));
  const std::unique_ptr<Invocation> invocation = Runnable(std::move(module));
  std::vector<float> x(96);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 11 % 31) / 16 - 0.75F;
  auto input =
      relayvm::Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{2, 3, 4, 4}, x.data());
  auto y = invocation->Run("main", {*input});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {data, data + y->num_elements()};
}

TEST_CASE("graphs in float16 compute what they compute in float32") {
  const std::string last = Int("axis", -1);
  const std::string pool = "attribute { name: 'kernel_shape' type: INTS ints: [2, 2] } ";
  const Case cases[] = {
      {"Add", "x v", ""},
      {"Mul", "x v", ""},
      {"Div", "x v", ""},
      {"Max", "x v", ""},
      {"Pow", "v v", ""},
      {"PRelu", "x v", ""},
      {"Sigmoid", "x", ""},
      {"Tanh", "x", ""},
      {"Erf", "x", ""},
      {"Exp", "x", ""},
      {"Log", "v", ""},
      {"Sqrt", "v", ""},
      {"Elu", "x", ""},
      {"HardSwish", "x", ""},
      {"Softplus", "x", ""},
      {"Clip", "x", ""},
      {"Softmax", "x", last},
      {"LogSoftmax", "x", last},
      {"ReduceMean", "x", ""},
      {"ReduceMax", "x", ""},
      {"ReduceL2", "x", ""},
      {"MatMul", "x w", ""},
      {"Gemm", "w w v", ""},
      {"Conv", "x f", ""},
      {"MaxPool", "x", pool},
      {"AveragePool", "x", pool},
      {"GlobalAveragePool", "x", ""},
      {"LayerNormalization", "x v v", last},
      {"InstanceNormalization", "x s s", ""},
      {"BatchNormalization", "x s s s s", ""},
      {"Concat", "x x", Int("axis", 1)},
      {"Transpose", "x", ""},
      {"LRN", "x", Int("size", 3)},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.op));
    const std::vector<float> half = Run(c, kHalf), full = Run(c, kFloat);
    REQUIRE(half.size() == full.size());
    for (size_t i = 0; i < half.size(); ++i) {
      CHECK(std::abs(half[i] - full[i]) <= 0.01F * std::max(1.0F, std::abs(full[i])));
    }
  }
}

// 4,096 numbers about 150, whose squares' sum float16 does not hold.
std::vector<float> OfMany(const char* op, const std::string& attributes, int type) {
  const std::string inputs = std::string(op).find("MatMul") == 0 ? "x x" : "x";
  const bool window = std::string(op).find("Pool") != std::string::npos ||
                      std::string(op) == "MeanVarianceNormalization" || std::string(op) == "LRN";
  const std::vector<int64_t> dims =
      window ? std::vector<int64_t>{1, 4, 32, 32} : std::vector<int64_t>{64, 64};
  const std::string graph =
      Node("Cast", "x32", "x", Int("to", type)) + Node(op, inputs, "yt", attributes) +
      Node("Cast", "yt", "y", Int("to", kFloat)) +
      (window ? Tensor("input", "x32", {"n", "4", "h", "w"}) : Tensor("input", "x32", {"n", "m"})) +
      "output { name: 'y' } ";
  const std::unique_ptr<Invocation> invocation = Runnable(ImportText(GraphModel(graph, 17)));
  std::vector<float> x(4096);
  const float scale = std::string(op).find("MatMul") == 0 ? 0.0625F : 1;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(100 + i * 11 % 97) * scale;
  auto input = relayvm::Value::CopyTensor(DType::kFloat32, dims, x.data());
  auto y = invocation->Run("main", {*input});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {data, data + y->num_elements()};
}

TEST_CASE("sums of float16 are made in float32 and rounded once") {
  const std::string last = "attribute { name: 'axes' type: INTS ints: [0, 1] } ";
  const std::string window = "attribute { name: 'kernel_shape' type: INTS ints: [32, 32] } ";
  const std::pair<const char*, std::string> cases[] = {
      {"ReduceMean", last},    {"ReduceL2", last},
      {"ReduceLogSum", last},  {"ReduceLogSumExp", last},
      {"Softmax", ""},         {"LpNormalization", Int("axis", 1)},
      {"AveragePool", window}, {"GlobalAveragePool", ""},
      {"GlobalLpPool", ""},    {"LpPool", window},
      {"LRN", Int("size", 3)}, {"MeanVarianceNormalization", ""},
      {"MatMul", ""}};
  for (const auto& [op, attributes] : cases) {
    CAPTURE(std::string(op));
    const std::vector<float> half = OfMany(op, attributes, kHalf);
    const std::vector<float> full = OfMany(op, attributes, kFloat);
    REQUIRE(half.size() == full.size());
    for (size_t i = 0; i < half.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(half[i] - full[i]) <= 1e-3F * std::abs(full[i]) + 1e-6F);
    }
  }
}

}  // namespace
}  // namespace relayvm
