#include "kernels/codegen/contraction/attention.h"

#include <limits>

#include "kernels/codegen/contraction/harness.h"

namespace relayvm {
namespace {

using te::Expr;
using te::Tensor;

const Dim kB = Dim::Symbol(1, "b");
const Dim kM = Dim::Symbol(2, "m");
const Dim kN = Dim::Symbol(3, "n");
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Shapes {
  Dim batch = 1, queries, keys;
  int64_t heads = 2, shared = 2;
  Dim size = 64, value_size = 64;
  std::string q = "BHSD", k = "BHSD", v = "BHSD", out = "BHSD";
};

std::vector<Dim> Arrange(const std::vector<Dim>& dims, const std::string& layout) {
  std::vector<Dim> shape;
  for (char letter : layout) shape.push_back(dims[std::string_view("BHSD").find(letter)]);
  return shape;
}

// A step and its arguments, made from the number of the next input.
struct Step {
  std::string name;
  std::vector<std::pair<std::vector<Dim>, DType>> args;
};

std::string NameOf(const Shapes& s, const std::vector<Step>& steps) {
  std::string name = fmt::format("{}_{}_{}_{}_{}{}{}{}", s.queries.ToString(), s.keys.ToString(),
                                 s.heads, s.shared, s.q, s.k, s.v, s.out);
  for (const Step& step : steps) name += "_" + step.name;
  return name;
}

KernelSpec AttentionSpec(const Shapes& s, const std::vector<Step>& steps = {}) {
  std::vector<Tensor> in = {
      Input(Arrange({s.batch, s.heads, s.queries, s.size}, s.q), 0),
      Input(Arrange({s.batch, s.shared, s.keys, s.size}, s.k), 1),
      Input(Arrange({s.batch, s.shared, s.keys, s.value_size}, s.v), 2),
  };
  Attrs attrs;
  attrs.Set("q_layout", s.q);
  attrs.Set("k_layout", s.k);
  attrs.Set("v_layout", s.v);
  attrs.Set("out_layout", s.out);
  std::string score;
  for (const Step& step : steps) {
    score += (score.empty() ? "" : " ") + step.name;
    for (const auto& [shape, dtype] : step.args) {
      in.push_back(Input(shape, static_cast<int>(in.size()), dtype));
    }
  }
  attrs.Set("score", score);
  return Spec(
      NameOf(s, steps), in,
      {Apply("nn.attention", attrs, in, Arrange({s.batch, s.heads, s.queries, s.value_size}, s.out),
             DType::kFloat32)});
}

TEST_CASE("every length") {
  ContractionCases cases;
  std::vector<SymbolValues> values;
  for (int m : {0, 1, 2, 4, 5, 7, 8, 9, 16, 17, 33, 100}) {
    for (int n : {0, 1, 2, 7, 16, 33, 100}) values.push_back({{1, 2}, {2, m}, {3, n}});
  }
  // Several blocks of keys.
  for (int n : {144, 145, 289, 600}) values.push_back({{1, 1}, {2, 20}, {3, n}});
  for (int m : {1, 3}) values.push_back({{1, 1}, {2, m}, {3, 3000}});
  cases.Add(AttentionSpec({kB, kM, kN}), values);
  cases.Add(AttentionSpec({1, 50, 70}));
  cases.Add(AttentionSpec({3, 1, 77}));
  cases.Add(AttentionSpec({1, 0, 7}));
  cases.Add(AttentionSpec({1, 7, 0}));
  for (int size : {1, 3, 20, 80}) {
    cases.Add(AttentionSpec({1, kM, kN, 1, 1, size, size + 1}),
              {{{2, 2}, {3, 30}}, {{2, 40}, {3, 30}}});
  }
  cases.Add(AttentionSpec({1, 9, 20, 2, 2, 0, 5}));
  cases.Add(AttentionSpec({1, 9, 20, 2, 2, 5, 0}));
  cases.Check();
}

TEST_CASE("several panels of queries share a block of keys, on every level") {
  for (const std::string& cpu : Targets()) {
    ContractionCases cases(cpu);
    for (const char* layout : {"BHSD", "BSHD", "BHDS"}) {
      const Shapes s{1, kM, kN, 2, 2, 20, 12, "BSHD", layout, layout, "BSHD"};
      std::vector<SymbolValues> values;
      for (int m : {16, 17, 63, 65, 150}) values.push_back({{2, m}, {3, 150}});
      cases.Add(AttentionSpec(s), values);
      cases.Add(AttentionSpec({1, 70, 300, 2, 2, 16, 13, "BSHD", layout, layout, "BSHD"}));
    }
    cases.Check();
  }
}

TEST_CASE("extents that no memory has are left to loops") {
  for (const int64_t large : {int64_t{1} << 45, int64_t{1} << 60, INT64_MAX}) {
    for (const Shapes& s : {Shapes{large, 5, 7}, Shapes{1, large, 7}, Shapes{1, 5, large},
                            Shapes{1, 5, 7, large, large}, Shapes{1, 5, 7, 2, 2, large, 64},
                            Shapes{1, 5, 7, 2, 2, 64, large}}) {
      CHECK_FALSE(IsContraction(AttentionSpec(s)));
    }
  }
}

TEST_CASE("layouts, and heads that share keys") {
  ContractionCases cases;
  const std::vector<SymbolValues> values = {{{1, 2}, {2, 1}, {3, 40}}, {{1, 1}, {2, 37}, {3, 19}}};
  for (const char* q : {"BHSD", "BSHD", "BHDS", "SBHD"}) {
    for (const char* k : {"BHSD", "BSHD", "BHDS", "DSHB"}) {
      cases.Add(AttentionSpec({kB, kM, kN, 4, 2, 16, 16, q, k, k, "BSHD"}), values);
    }
  }
  cases.Add(AttentionSpec({kB, kM, kN, 6, 1}), values);
  cases.Add(AttentionSpec({kB, kM, kN, 6, 3, 64, 64, "BSHD", "BSHD", "BSHD", "BSHD"}), values);
  cases.Check();
}

TEST_CASE("steps of the score") {
  ContractionCases cases;
  std::vector<SymbolValues> values;
  for (int m : {1, 2, 7, 33}) {
    for (int n : {1, 7, 33, 200}) values.push_back({{1, 2}, {2, m}, {3, n}});
  }
  const DType f = DType::kFloat32;
  const Shapes s{kB, kM, kN};
  cases.Add(AttentionSpec(s, {{"multiply", {{{}, f}}}, {"tanh"}, {"divide", {{{}, f}}}}), values);
  for (const std::vector<Dim>& shape : std::vector<std::vector<Dim>>{{kB, 1, 1, kN},
                                                                     {1, 1, kM, kN},
                                                                     {kB, 2, kM, kN},
                                                                     {kM, kN},
                                                                     {kM, 1},
                                                                     {kN},
                                                                     {2, 1, 1},
                                                                     {1, 1, 1, 1}}) {
    cases.Add(AttentionSpec(s, {{"add", {{shape, f}}}, {"subtract", {{shape, f}}}}), values);
    cases.Add(AttentionSpec(s, {{"where", {{shape, DType::kBool}, {{}, f}}}}), values);
    cases.Add(AttentionSpec(s, {{"where_not", {{{kM, kN}, DType::kBool}, {shape, f}}}}), values);
  }
  cases.Check();
}

// Extents of which only running tells whether they are 1. What is not there may not be read.
TEST_CASE("steps that may be broadcast") {
  ContractionCases cases;
  const Dim p = Dim::Symbol(4, "p"), r = Dim::Symbol(5, "r");
  std::vector<SymbolValues> values;
  for (int m : {1, 5, 65}) {
    for (int n : {1, 40}) {
      for (int rows : {1, m}) {
        for (int columns : {1, n})
          values.push_back({{1, 2}, {2, m}, {3, n}, {4, rows}, {5, columns}});
      }
    }
  }
  const DType f = DType::kFloat32;
  const Shapes s{kB, kM, kN};
  cases.Add(AttentionSpec(s, {{"add", {{{p, r}, f}}}}), values);
  cases.Add(AttentionSpec(s, {{"where", {{{p, r}, DType::kBool}, {{p, r}, f}}}}), values);
  cases.Add(AttentionSpec(s, {{"where_not", {{{p, kN}, DType::kBool}, {{kM, r}, f}}}}), values);
  cases.Add(
      AttentionSpec(s, {{"multiply", {{{}, f}}}, {"where", {{{}, DType::kBool}, {{p, r}, f}}}}),
      values);
  cases.Check();
}

// A causal mask and queries that are computed on the way.
TEST_CASE("what is computed in the kernel") {
  ContractionCases cases;
  KernelSpec spec =
      AttentionSpec({1, kM, kN}, {{"where", {{{kM, kN}, DType::kBool}, {{}, DType::kFloat32}}}});
  const Tensor doubled = Map(spec.inputs[0], [](const Expr& x, const auto&) { return x + x; });
  const Tensor causal = te::Compute("causal", {kM, kN}, [](const std::vector<Expr>& i) {
    return te::Binary(te::BinaryOp::kLessEqual, i[1], i[0]);
  });
  std::vector<Tensor> inputs(5);
  inputs[0] = doubled;
  inputs[3] = causal;
  inputs[4] = te::Placeholder("rest", {}, DType::kFloat32, 3);
  spec.outputs = {te::ReplaceInputs(spec.outputs[0], inputs)};
  spec.inputs.erase(spec.inputs.begin() + 3);
  spec.inputs[3] = inputs[4];
  spec.by_value = {false, false, false, true};
  std::vector<SymbolValues> values;
  for (int m : {1, 3, 40}) {
    for (int n : {1, 40, 300}) values.push_back({{2, m}, {3, n}});
  }
  cases.Add(spec, values);
  cases.Check();
}

// What steps read by query and by key is turned in scratch, in elements of any size.
TEST_CASE("masks of every type") {
  for (const std::string& cpu : Targets()) {
    ContractionCases cases(cpu);
    for (const DType dtype : {DType::kBool, DType::kInt8, DType::kFloat16, DType::kInt32,
                              DType::kInt64, DType::kFloat64}) {
      KernelSpec spec =
          AttentionSpec({1, kM, kN, 2, 1, 12, 12},
                        {{"where", {{{kM, kN}, DType::kBool}, {{}, DType::kFloat32}}}});
      const Tensor numbers = Input({kM, kN}, 3, dtype);
      std::vector<Tensor> inputs(5);
      inputs[3] = te::Compute("mask", {kM, kN}, [&](const std::vector<Expr>& i) {
        return te::Cast(te::Load(numbers, i), DType::kBool);
      });
      spec.outputs = {te::ReplaceInputs(spec.outputs[0], inputs)};
      spec.inputs[3] = numbers;
      spec.name += DTypeName(dtype);
      std::vector<SymbolValues> values;
      for (int m : {1, 3, 7, 20, 40}) {
        for (int n : {3, 16, 37, 150}) values.push_back({{2, m}, {3, n}});
      }
      cases.Add(spec, values);
    }
    cases.Check();
  }
}

TEST_CASE("every target") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    const std::vector<SymbolValues> values = {
        {{1, 1}, {2, 1}, {3, 40}}, {{1, 1}, {2, 4}, {3, 400}}, {{1, 2}, {2, 37}, {3, 190}}};
    cases.Add(
        AttentionSpec({kB, kM, kN}, {{"where", {{{kM, kN}, DType::kBool}, {{}, DType::kFloat32}}}}),
        values);
    cases.Check();
  }
}

// Queries are taken as rows, or as columns of a panel, by how many there are.
TEST_CASE("every number of queries up to three panels, on every level") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    std::vector<SymbolValues> values;
    for (int m = 1; m <= 50; ++m) values.push_back({{2, m}, {3, 5 + m % 7 * 9}});
    const std::vector<Step> mask = {{"where", {{{kM, kN}, DType::kBool}, {{}, DType::kFloat32}}}};
    cases.Add(AttentionSpec({1, kM, kN, 2, 1, 20, 12}), values);
    cases.Add(AttentionSpec({1, kM, kN, 1, 1, 8, 8}, mask), values);
    cases.Add(AttentionSpec({1, kM, kN, 2, 2, 16, 16, "BSHD", "BHDS", "BSHD", "BSHD"}), values);
    for (int m : {1, 2, 5, 7, 8, 9, 10, 11, 12, 15, 16, 17, 25, 33}) {
      cases.Add(AttentionSpec({1, m, kN, 2, 1, 20, 12}), {{{3, 7}}, {{3, 40}}});
    }
    cases.Check();
  }
}

// Scores of one query for 200 keys of size 1, which are the keys themselves, and values.
std::vector<float> AttendOne(KernelHarness& harness, size_t kernel, int64_t queries,
                             const std::vector<float>& keys, const std::vector<float>& values) {
  const auto host = [](std::vector<int64_t> shape, const std::vector<float>& data) {
    HostTensor t = MakeTensor(DType::kFloat32, std::move(shape));
    CopyBytes(data.data(), data.size() * sizeof(float), t.data.Mutable().data());
    return t;
  };
  const auto n = static_cast<int64_t>(keys.size());
  const HostTensor out = harness.Run(
      kernel,
      {host({1, 1, queries, 4}, std::vector<float>(static_cast<size_t>(queries * 4), 0.25F)),
       host({1, 1, n, 4},
            [&] {
              std::vector<float> all;
              for (float k : keys) all.insert(all.end(), 4, k);
              return all;
            }()),
       host({1, 1, n, 4},
            [&] {
              std::vector<float> all;
              for (float v : values) all.insert(all.end(), 4, v);
              return all;
            }())},
      {{1, 1}, {2, queries}, {3, n}})[0];
  std::vector<float> result(static_cast<size_t>(queries));
  for (int64_t i = 0; i < queries; ++i) {
    result[static_cast<size_t>(i)] = static_cast<float>(Element(out, i * 4).f);
    CHECK(std::memcmp(out.data.data() + i * 16, out.data.data(), 16) == 0);
  }
  return result;
}

TEST_CASE("numbers that are none, and rows without a score") {
  KernelHarness harness;
  const size_t kernel = harness.Add(AttentionSpec({kB, kM, kN, 1, 1, 4, 4}));
  harness.Finish();
  for (int64_t queries : {1, 3, 20}) {
    CAPTURE(queries);
    const auto attend = [&](const std::vector<float>& keys, const std::vector<float>& values) {
      return AttendOne(harness, kernel, queries, keys, values)[0];
    };
    const std::vector<float> ones(400, 1.0F);
    std::vector<float> keys(400, -kInfinity);
    CHECK(std::isnan(attend(keys, ones)));  // softmax of -inf alone
    keys[399] = 5;                          // a score after blocks without one
    CHECK(attend(keys, ones) == 1);
    keys[0] = 5;
    CHECK(attend(keys, ones) == 1);
    keys[200] = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(attend(keys, ones)));
    keys[200] = kInfinity;
    CHECK(std::isnan(attend(keys, ones)));
    // A weight of 0 times inf.
    keys[200] = -kInfinity;
    std::vector<float> values = ones;
    values[200] = kInfinity;
    CHECK(std::isnan(attend(keys, values)));
    // Scores that grow: earlier sums shrink to nothing.
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(i) * 100;
    values = ones;
    values[399] = 7;
    CHECK(attend(keys, values) == 7);
    // Scores far from 0.
    std::fill(keys.begin(), keys.end(), 1e30F);
    CHECK(attend(keys, ones) == 1);
    CHECK(attend({}, {}) == 0);
  }
}

TEST_CASE("what is planned, and what is left to loops") {
  CHECK(IsContraction(AttentionSpec({1, 5, 6})));
  KernelSpec spec = AttentionSpec({1, 5, 6});
  auto no_hint = std::make_shared<te::TensorNode>(*spec.outputs[0]);
  no_hint->hint = te::ScheduleHint::kNone;
  CHECK_FALSE(IsContraction(Spec("no hint", spec.inputs, {no_hint})));
  CHECK_FALSE(IsContraction(Spec("epilogue", spec.inputs, {Relu(spec.outputs[0])})));
  CHECK_FALSE(IsContraction(AttentionSpec({1, 5, 6, 2, 2, 8, 8, "BHSD", "BHSD", "BHSD", "BHDS"})));
}

// No scratch grows with the lengths.
TEST_CASE("scores are never in memory") {
  const auto plan = codegen::PlanContraction(AttentionSpec({kB, kM, kN}), {MachineNamed("native")});
  REQUIRE(plan);
  CHECK(plan->scratch_bytes.is_const());
  CHECK(plan->scratch_bytes.value() < 64 << 10);
}

}  // namespace
}  // namespace relayvm
