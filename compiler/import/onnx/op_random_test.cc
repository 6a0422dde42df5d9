// Random numbers of ONNX models: their range, mean and deviation, and what they depend on.
#include <algorithm>
#include <cmath>

#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

using namespace import::testing;  // NOLINT(google-build-using-namespace): a test's words

// The output y for an input x of that many elements, all `fill`.
std::vector<float> Drawn(const std::string& nodes, int64_t count, float fill = 0) {
  const std::unique_ptr<Invocation> invocation = Runnable(
      ImportText(GraphModel(nodes + Tensor("input", "x", {"n"}) + "output { name: 'y' } ", 17)));
  const std::vector<float> x(static_cast<size_t>(count), fill);
  auto input = Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{count}, x.data());
  auto y = invocation->Run("main", {*input});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {data, data + y->num_elements()};
}

std::string Float(const char* name, double value) {
  return fmt::format("attribute {{ name: '{}' type: FLOAT f: {} }} ", name, value);
}

struct Moments {
  double mean = 0, deviation = 0, least = HUGE_VAL, most = -HUGE_VAL, neighbours = 0;
};
Moments MomentsOf(const std::vector<float>& v) {
  Moments m;
  const auto count = static_cast<double>(v.size());
  for (const double x : v) {
    m.mean += x / count;
    m.least = std::min(m.least, x);
    m.most = std::max(m.most, x);
  }
  for (size_t i = 0; i < v.size(); ++i) {
    m.deviation += (v[i] - m.mean) * (v[i] - m.mean) / count;
    if (i > 0) m.neighbours += (v[i] - m.mean) * (v[i - 1] - m.mean) / count;
  }
  m.neighbours /= m.deviation;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST_CASE("RandomUniform and RandomNormal have the range, mean and deviation that they state") {
  constexpr int64_t kCount = 40000;
  const Moments uniform = MomentsOf(
      Drawn(Node("RandomUniformLike", "x", "y", Float("low", -2) + Float("high", 6)), kCount));
  CHECK(std::abs(uniform.mean - 2) < 0.05);
  CHECK(std::abs(uniform.deviation - 8 / std::sqrt(12.0)) < 0.05);
  CHECK(uniform.least >= -2);
  CHECK(uniform.least < -1.99);
  CHECK(uniform.most < 6);
  CHECK(uniform.most > 5.99);
  CHECK(std::abs(uniform.neighbours) < 0.02);
  const Moments normal = MomentsOf(
      Drawn(Node("RandomNormalLike", "x", "y", Float("mean", 3) + Float("scale", 2)), kCount));
  CHECK(std::abs(normal.mean - 3) < 0.05);
  CHECK(std::abs(normal.deviation - 2) < 0.05);
  CHECK(normal.most > 3 + 2 * 3.3);
  CHECK(normal.least < 3 - 2 * 3.3);
  CHECK(std::abs(normal.neighbours) < 0.02);
}

TEST_CASE("random numbers are those of the seed, or of the node where it has none") {
  const auto drawn = [](const std::string& attributes, const char* name = "y") {
    const std::string node = Node("RandomUniformLike", "x", name, attributes);
    return Drawn(std::string(name) == "y" ? node : node + Node("Identity", name, "y"), 64);
  };
  CHECK(drawn(Float("seed", 7)) == drawn(Float("seed", 7)));
  CHECK(drawn(Float("seed", 7)) == drawn(Float("seed", 7), "other"));
  CHECK(drawn(Float("seed", 7)) != drawn(Float("seed", 8)));
  CHECK(drawn("") == drawn(""));
  CHECK(drawn("") != drawn("", "other"));
}

TEST_CASE("Bernoulli and Multinomial draw by their weights") {
  const Moments coin = MomentsOf(Drawn(Node("Bernoulli", "x", "y"), 20000, 0.3F));
  CHECK(std::abs(coin.mean - 0.3) < 0.02);
  CHECK(coin.least == 0);
  CHECK(coin.most == 1);
  // Weights 1, 0, 3 for each of the samples of one row.
  const std::vector<float> places = Drawn(
      "initializer { name: 'w' data_type: 1 dims: [1, 3] float_data: [0, -1e30, 1.0986123] } " +
          Node("Multinomial", "w", "d", Int("sample_size", 20000)) +
          Node("Cast", "d", "y", Int("to", 1)),
      1);
  const auto of = [&](float place) {
    return static_cast<double>(std::count(places.begin(), places.end(), place)) / 20000;
  };
  CHECK(std::abs(of(0) - 0.25) < 0.02);
  CHECK(of(1) == 0);
  CHECK(std::abs(of(2) - 0.75) < 0.02);
}

}  // namespace
}  // namespace relayvm
