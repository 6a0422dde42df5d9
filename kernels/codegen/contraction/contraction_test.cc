#include "kernels/codegen/contraction/contraction.h"

#include <sstream>

#include "kernels/codegen/contraction/harness.h"
#include "kernels/codegen/contraction/plan.h"

namespace relayvm {
namespace {

using te::Expr;
using te::Tensor;

const Dim kM = Dim::Symbol(1, "m");
const Dim kK = Dim::Symbol(2, "k");
const Dim kN = Dim::Symbol(3, "n");
const Dim kB = Dim::Symbol(4, "b");
const Dim kC = Dim::Symbol(5, "c");
constexpr DType kFloat = DType::kFloat32;

struct Matmul {
  Dim m, k, n;
  bool transpose_a = false, transpose_b = true;
  DType in = kFloat, out = kFloat;
};

Attrs MatmulAttrs(const Matmul& c) {
  Attrs attrs;
  attrs.Set("transpose_a", c.transpose_a);
  attrs.Set("transpose_b", c.transpose_b);
  attrs.Set("out_dtype", std::string(DTypeName(c.out)));
  return attrs;
}

std::vector<Tensor> MatmulInputs(const Matmul& c) {
  return {Input(c.transpose_a ? std::vector<Dim>{c.k, c.m} : std::vector<Dim>{c.m, c.k}, 0, c.in),
          Input(c.transpose_b ? std::vector<Dim>{c.n, c.k} : std::vector<Dim>{c.k, c.n}, 1, c.in)};
}

std::string NameOf(const Matmul& c) {
  return fmt::format("matmul_{}x{}x{}_{}{}_{}_{}", c.m.ToString(), c.k.ToString(), c.n.ToString(),
                     c.transpose_a ? "t" : "n", c.transpose_b ? "t" : "n", DTypeName(c.in),
                     DTypeName(c.out));
}

KernelSpec MatmulSpec(const Matmul& c) {
  const std::vector<Tensor> in = MatmulInputs(c);
  return Spec(NameOf(c), in, {Apply("nn.matmul", MatmulAttrs(c), in, {c.m, c.n}, c.out)});
}

// relu(a . w + bias) + residual
KernelSpec MatmulWithEpilogue(const Matmul& c) {
  std::vector<Tensor> in = MatmulInputs(c);
  Tensor t = Apply("nn.matmul", MatmulAttrs(c), in, {c.m, c.n}, c.out);
  in.push_back(Input({c.n}, 2, c.out));
  in.push_back(Input({c.m, c.n}, 3, c.out));
  t = AddTensor(Relu(AddBias(t, in[2], 1)), in[3]);
  return Spec(NameOf(c) + "_epilogue", in, {t});
}

constexpr bool kBool[] = {false, true};

TEST_CASE("dense of static shape") {
  ContractionCases cases;
  for (bool ta : kBool) {
    for (bool tb : kBool) {
      for (int m : {1, 3, 4, 5, 12, 25, 130}) cases.Add(MatmulSpec({m, 37, 45, ta, tb}));
      cases.Add(MatmulWithEpilogue({7, 1100, 70, ta, tb}));  // k in blocks
      cases.Add(MatmulSpec({40, 65, 7, ta, tb}));            // few columns
      cases.Add(MatmulSpec({3, 1, 2, ta, tb}));
      cases.Add(MatmulSpec({5, 0, 9, ta, tb}));  // an empty sum
    }
  }
  cases.Check();
}

TEST_CASE("one kernel serves every extent") {
  ContractionCases cases;
  for (bool ta : kBool) {
    for (bool tb : kBool) {
      std::vector<SymbolValues> values;
      for (int m : {0, 1, 2, 3, 4, 5, 11, 12, 13, 60, 100})
        values.push_back({{1, m}, {2, 70}, {3, 50}});
      for (int k : {0, 1, 511, 512, 513, 1100}) values.push_back({{1, 14}, {2, k}, {3, 64}});
      for (int n : {0, 1, 15, 16, 31, 33}) values.push_back({{1, 2}, {2, 20}, {3, n}});
      cases.Add(MatmulWithEpilogue({kM, kK, kN, ta, tb}), values);
    }
  }
  cases.Check();
}

TEST_CASE("rows and columns that dots serve so that weights are not packed") {
  ContractionCases cases;
  for (int m : {5, 13, 48, 49}) cases.Add(MatmulWithEpilogue({m, 790, 70, false, true}));
  cases.Add(MatmulSpec({130, 70, 7, false, true}));
  cases.Add(MatmulSpec({6, 100, 33, false, true, DType::kFloat64, DType::kFloat64}));
  cases.Add(MatmulSpec({7, 130, 35, false, true, DType::kInt32, DType::kInt32}));
  std::vector<SymbolValues> values;
  for (int m : {5, 6, 7, 8, 31, 48, 49}) values.push_back({{1, m}, {2, 500}, {3, 45}});
  for (int n : {1, 3, 4, 8, 9}) values.push_back({{1, 203}, {2, 70}, {3, n}});
  cases.Add(MatmulWithEpilogue({kM, kK, kN, false, true}), values);
  // Rows that are computed on the way.
  std::vector<Tensor> in = MatmulInputs({kM, 300, 33, false, true});
  const Attrs attrs = MatmulAttrs({kM, 300, 33, false, true});
  cases.Add(
      Spec("prologue", in, {Apply("nn.matmul", attrs, {Relu(in[0]), in[1]}, {kM, 33}, kFloat)}),
      {{{1, 5}}, {{1, 18}}, {{1, 19}}});
  cases.Check();
}

TEST_CASE("few rows read weights in place, in runs of many columns") {
  ContractionCases cases;
  for (bool ta : kBool) {
    std::vector<SymbolValues> values;
    for (int m : {1, 2, 5, 12, 13}) values.push_back({{1, m}, {2, 70}, {3, 1100}});
    for (int k : {0, 1, 15, 17, 530}) values.push_back({{1, 3}, {2, k}, {3, 2090}});
    cases.Add(MatmulWithEpilogue({kM, kK, kN, ta, false}), values);
    cases.Add(MatmulWithEpilogue({1, 530, 2090, ta, false}));
    cases.Add(MatmulWithEpilogue({4, 100, 1024, ta, false, DType::kFloat64, DType::kFloat64}));
    cases.Add(MatmulSpec({2, 37, 1050, ta, false, DType::kInt32, DType::kInt32}));
    cases.Add(MatmulSpec({3, 40, 1100, ta, false, DType::kInt8, DType::kInt32}));
  }
  cases.Check();
}

TEST_CASE("element types: sums are as wide as the result, or wider") {
  ContractionCases cases;
  const std::vector<std::pair<DType, DType>> types = {
      {DType::kFloat64, DType::kFloat64},  {DType::kInt8, DType::kInt32},
      {DType::kUInt8, DType::kInt32},      {DType::kInt32, DType::kInt32},
      {DType::kUInt32, DType::kUInt32},    {DType::kInt64, DType::kInt64},
      {DType::kInt8, DType::kInt8},        {DType::kFloat16, DType::kFloat32},
      {DType::kFloat16, DType::kFloat16},  {DType::kBFloat16, DType::kBFloat16},
      {DType::kBFloat16, DType::kFloat32},
  };
  for (auto [in, out] : types) {
    for (bool tb : kBool) {
      cases.Add(MatmulSpec({kM, 37, 41, false, tb, in, out}), {{{1, 2}}, {{1, 30}}});
    }
  }
  cases.Check();
}

TEST_CASE("packed weights of any panel width") {
  ContractionCases cases;
  for (DType dtype : {kFloat, DType::kFloat64, DType::kFloat16}) {
    for (int width : {4, 8, 16, 32, 48, 64}) {
      const int units = 70, k = 600;
      const Tensor data = Input({2, kM, k}, 0, dtype);
      const Tensor weight = Input({(units + width - 1) / width, k, width}, 1, dtype);
      const Tensor bias = Input({units}, 2, dtype);
      Attrs attrs;
      attrs.Set("units", units);
      Tensor t = Apply("nn.contrib_dense_pack", attrs, {data, weight}, {2, kM, units}, dtype);
      cases.Add(Spec(fmt::format("packed_{}_{}", width, DTypeName(dtype)), {data, weight, bias},
                     {AddBias(t, bias, 2)}),
                {{{1, 1}}, {{1, 13}}});
    }
  }
  cases.Check();
}

// relu(a . w + bias) of packed weights.
KernelSpec PackedSpec(const Dim& m, int64_t k, int64_t units, int64_t width) {
  const std::vector<Tensor> in = {
      Input({m, k}, 0), Input({(units + width - 1) / width, k, width}, 1), Input({units}, 2)};
  Attrs attrs;
  attrs.Set("units", units);
  const Tensor t = Apply("nn.contrib_dense_pack", attrs, {in[0], in[1]}, {m, units}, kFloat);
  return Spec(fmt::format("packed_{}x{}x{}", m.ToString(), k, units), in,
              {Relu(AddBias(t, in[2], 1))});
}

TEST_CASE("blocks of k, each for a group of panels, on every level") {
  for (const std::string& cpu : Targets()) {
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    const int64_t width = codegen::PreferredPanelWidth(MachineNamed(cpu));
    for (bool ta : kBool) {
      for (bool tb : kBool) {
        // Nine panels and a part of one.
        cases.Add(MatmulWithEpilogue({13, 530, 9 * width + 5, ta, tb}));
        cases.Add(MatmulWithEpilogue({kM, kK, kN, ta, tb}),
                  {{{1, 26}, {2, 300}, {3, 9 * static_cast<int>(width) + 5}}});
      }
    }
    cases.Add(PackedSpec(kM, 1100, 9 * width + 5, width), {{{1, 1}}, {{1, 13}}, {{1, 40}}});
    cases.Add(PackedSpec(70, 1100, 9 * width + 5, width));
    cases.Check();
  }
}

const codegen::ContractionDetail& DetailOf(const std::optional<codegen::ContractionPlan>& plan) {
  REQUIRE(plan);
  REQUIRE(plan->detail);
  return *plan->detail;
}

TEST_CASE("each level has its own blocks") {
  struct Row {
    const char* cpu;
    int64_t depth, width;  // of a block of k, and of a panel
  };
  for (const Row& row :
       {Row{"x86-64-v2", 512, 8}, {"x86-64-v3", 256, 16}, {"x86-64-v4", 256, 32}}) {
    CAPTURE(row.cpu);
    const codegen::ContractionTarget target{MachineNamed(row.cpu)};
    const auto plan = codegen::PlanContraction(PackedSpec(128, 3072, 768, row.width), target);
    const codegen::ContractionDetail& d = DetailOf(plan);
    CHECK(d.panel == row.width);
    CHECK(d.k_block == row.depth);
    // What tiles of rows read again and again stays in the first cache but for the widest panels;
    // rows, panels and sums of a block stay in the second.
    const int64_t row_bytes = d.k_block * 4, sums = d.row_block * d.panel * d.panel_group * 4;
    if (row.width < 32) CHECK(row_bytes * (d.panel + d.tile_rows) <= target.l1_bytes * 7 / 8);
    CHECK(row_bytes * (d.row_block + d.panel) + sums <= target.l2_bytes);
    CHECK(d.panel_group > 1);
    // Few rows stay in it anyway: one panel after the other.
    const auto few = codegen::PlanContraction(PackedSpec(16, 3072, 768, row.width), target);
    CHECK(DetailOf(few).panel_group == 1);
  }
  // A larger first cache takes more.
  codegen::ContractionTarget target{MachineNamed("x86-64-v3")};
  target.l1_bytes = 48 << 10;
  CHECK(DetailOf(codegen::PlanContraction(PackedSpec(128, 3072, 768, 16), target)).k_block == 384);
}

TEST_CASE("the last columns, where it is known how many, are no whole panel") {
  for (const auto& [cpu, tile] : {std::pair("x86-64-v3", "tile_float32_6x1x2x1"),
                                  std::pair("x86-64-v4", "tile_float32_12x1x4x1")}) {
    KernelCompiler compiler({.machine = MachineNamed(cpu), .keep_llvm_ir = true});
    const int64_t width = codegen::PreferredPanelWidth(MachineNamed(cpu));
    REQUIRE(compiler.Add(PackedSpec(36, 300, 4 * width + 2, width)).ok());
    const auto image = compiler.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().ToString());
    CHECK_MESSAGE(image->llvm_ir.find(tile) != std::string::npos, cpu);
  }
}

TEST_CASE("tiles that read the same packed weights share the fetching of what is read next") {
  for (const auto& [rows, shift] : {std::pair(12, 0), {24, 1}, {36, 1}, {48, 2}}) {
    CAPTURE(rows);
    KernelCompiler compiler({.machine = MachineNamed("x86-64-v4"), .keep_llvm_ir = true});
    REQUIRE(compiler.Add(PackedSpec(rows, 512, 128, 32)).ok());
    const auto image = compiler.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().ToString());
    std::istringstream text(image->llvm_ir);
    int calls = 0;
    for (std::string line; std::getline(text, line);) {
      if (line.find("call void @tile_float32_12x2x16x1") == std::string::npos) continue;
      ++calls;
      CHECK_MESSAGE(line.find(fmt::format(", i64 {})", shift)) != std::string::npos, line);
    }
    CHECK(calls > 0);
  }
}

TEST_CASE("few rows are tiles that leave no rest which waits for its sums") {
  const codegen::ContractionTarget target{MachineNamed("x86-64-v3")};
  const auto rows_of_tile = [&](int64_t rows) {
    return DetailOf(codegen::PlanContraction(PackedSpec(rows, 768, 768, 16), target)).tile_rows;
  };
  CHECK(rows_of_tile(6) == 6);
  CHECK(rows_of_tile(8) == 4);
  CHECK(rows_of_tile(9) == 5);
  CHECK(rows_of_tile(12) == 6);
  CHECK(rows_of_tile(32) == 4);
  CHECK(rows_of_tile(768) == 6);
}

TEST_CASE("dense of any rank") {
  ContractionCases cases;
  const Tensor vector = Input({30}, 0), weight = Input({50, 30}, 1);
  cases.Add(
      Spec("vector", {vector, weight}, {Apply("nn.dense", {}, {vector, weight}, {50}, kFloat)}));
  // A residual of the full shape, and one that lacks the first dimension, so that rows cannot be
  // one axis.
  const Tensor data = Input({kM, kK, 30}, 0), full = Input({kM, kK, 50}, 2),
               part = Input({kK, 50}, 3);
  Tensor t = AddTensor(Apply("nn.dense", {}, {data, weight}, {kM, kK, 50}, kFloat), full);
  t = Map(t, [&](const Expr& x, const auto& i) { return x + te::Load(part, {i[1], i[2]}); });
  cases.Add(Spec("three", {data, weight, full, part}, {t}),
            {{{1, 1}, {2, 1}}, {{1, 3}, {2, 1}}, {{1, 3}, {2, 9}}});
  const Tensor turned = Input({kM, 30, 17}, 0);
  Attrs attrs;
  attrs.Set("transpose_a", true);
  attrs.Set("transpose_b", true);
  cases.Add(Spec("turned", {turned, weight},
                 {Apply("nn.matmul", attrs, {turned, weight}, {kM, 17, 50}, kFloat)}),
            {{{1, 1}}, {{1, 3}}});
  cases.Check();
}

TEST_CASE("batch_matmul broadcasts its batch") {
  ContractionCases cases;
  for (bool ta : kBool) {
    for (bool tb : kBool) {
      const Matmul c{kM, kK, kN, ta, tb};
      auto spec = [&](const Dim& batch_a, const Dim& batch_b, const Dim& batch) {
        std::vector<Tensor> in = MatmulInputs(c);
        in[0] = Input({batch_a, in[0]->shape[0], in[0]->shape[1]}, 0);
        in[1] = Input({batch_b, in[1]->shape[0], in[1]->shape[1]}, 1);
        Tensor t = Apply("nn.batch_matmul", MatmulAttrs(c), in, {batch, kM, kN}, kFloat);
        // Attention's scale and mask.
        in.push_back(Input({kM, kN}, 2));
        t = Map(t, [&](const Expr& x, const auto& i) {
          return x * te::FloatImm(0.125, kFloat) + te::Load(in[2], {i[1], i[2]});
        });
        return Spec("batch_" + NameOf(c), in, {t});
      };
      std::vector<SymbolValues> values;
      for (int m : {1, 3, 12, 40}) values.push_back({{1, m}, {2, 33}, {3, 47}, {4, 3}, {5, 3}});
      values.push_back({{1, 20}, {2, 600}, {3, 5}, {4, 2}, {5, 1}});
      cases.Add(spec(kB, kC, kB), values);
      cases.Add(spec(1, 3, 3), {{{1, 5}, {2, 33}, {3, 47}}});
      cases.Add(spec(3, 1, 3), {{{1, 2}, {2, 33}, {3, 40}}});
    }
  }
  cases.Check();
}

TEST_CASE("packed weights of a batch, of float32 and float16, on every target") {
  struct Case {
    DType dtype;
    Dim of_data, of_weight, rows;
    int64_t depth, units;
  };
  for (const std::string& cpu : Targets()) {
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (const Case& c : {Case{kFloat, kB, 3, kM, 37, 50},
                          {DType::kFloat16, kB, 3, kM, 600, 9},
                          {DType::kFloat16, 1, 3, Dim(5), 64, 64},
                          {kFloat, 3, 1, Dim(5), 64, 64}}) {
      const int64_t width = codegen::PreferredPanelWidth(MachineNamed(cpu));
      std::vector<Tensor> in = {
          Input({c.of_data, c.rows, c.depth}, 0),
          Input({c.of_weight, (c.units + width - 1) / width, c.depth, width}, 1, c.dtype)};
      Attrs attrs;
      attrs.Set("units", c.units);
      Tensor t = Apply("nn.contrib_dense_pack", attrs, in, {3, c.rows, c.units}, kFloat);
      in.push_back(Input({c.units}, 2));
      t = Relu(AddBias(t, in[2], 2));
      std::vector<SymbolValues> values;
      for (int m : {0, 1, 3, 12, 40}) values.push_back({{1, m}, {4, 3}});
      cases.Add(Spec(fmt::format("batch_{}_{}x{}", DTypeName(c.dtype), c.depth, c.units), in, {t}),
                c.rows.is_const() ? std::vector<SymbolValues>{{}} : values);
    }
    cases.Check();
  }
}

TEST_CASE("prologues, several outputs, scalars by value") {
  ContractionCases cases;
  for (bool tb : kBool) {
    std::vector<Tensor> in = MatmulInputs({kM, 40, 33, false, tb});
    const Tensor scale = Input({}, 2);
    auto times = [&](const Tensor& t) {
      return Map(t, [&](const Expr& x, const auto&) { return x * te::Load(scale, {}); });
    };
    Attrs attrs = MatmulAttrs({kM, 40, 33, false, tb});
    const Tensor t = Apply("nn.matmul", attrs, {Relu(in[0]), times(in[1])}, {kM, 33}, kFloat);
    in.push_back(scale);
    KernelSpec spec = Spec(tb ? "prologue_nt" : "prologue_nn", in, {t, Relu(times(t))});
    spec.by_value[2] = true;
    cases.Add(spec, {{{1, 1}}, {{1, 3}}, {{1, 29}}});
  }
  cases.Check();
}

TEST_CASE("every target") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    for (bool tb : kBool) {
      std::vector<SymbolValues> values;
      for (int m : {1, 2, 3, 4, 5, 6, 7, 30}) values.push_back({{1, m}, {2, 70}, {3, 50}});
      cases.Add(MatmulWithEpilogue({kM, kK, kN, false, tb}), values);
      cases.Add(MatmulSpec({9, 30, 21, true, tb}));
      cases.Add(MatmulSpec({9, 30, 21, false, tb, DType::kInt8, DType::kInt32}));
      for (bool ta : kBool) {
        const Matmul half{kM, kK, kN, ta, tb, DType::kFloat16, DType::kFloat16};
        cases.Add(
            MatmulWithEpilogue(half),
            {{{1, 1}, {2, 70}, {3, 50}}, {{1, 5}, {2, 3}, {3, 7}}, {{1, 30}, {2, 1100}, {3, 40}}});
      }
    }
    cases.Check();
  }
}

// Which code serves a product is chosen by its rows against the tiles of a level, which have 5 to
// 12: one to three tiles of each, as constants and as what only running tells.
TEST_CASE("every number of rows up to three tiles, on every level") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    ContractionCases cases(cpu);
    std::vector<SymbolValues> values;
    for (int m = 1; m <= 38; ++m) values.push_back({{1, m}, {4, 2}});
    const auto packed = [](const Dim& m, int64_t width, DType weight_dtype) {
      const int64_t units = 2 * width + 5, k = 19;
      const Tensor data = Input({m, k}, 0);
      const Tensor weight = Input({3, k, width}, 1, weight_dtype);
      const Tensor bias = Input({units}, 2);
      Attrs attrs;
      attrs.Set("units", units);
      const Tensor t = Apply("nn.contrib_dense_pack", attrs, {data, weight}, {m, units}, kFloat);
      return Spec(fmt::format("packed_{}_{}_{}", m.ToString(), width, DTypeName(weight_dtype)),
                  {data, weight, bias}, {Relu(AddBias(t, bias, 1))});
    };
    const auto batch = [](const Dim& m, bool ta, bool tb) {
      const Matmul c{m, 19, 37, ta, tb};
      std::vector<Tensor> in = MatmulInputs(c);
      for (int i : {0, 1}) in[i] = Input({kB, in[i]->shape[0], in[i]->shape[1]}, i);
      const Tensor t = Apply("nn.batch_matmul", MatmulAttrs(c), in, {kB, m, 37}, kFloat);
      return Spec("batch_" + NameOf(c), in, {t});
    };
    const int64_t width = codegen::PreferredPanelWidth(MachineNamed(cpu));
    for (bool tb : kBool) {
      for (bool ta : kBool) {
        cases.Add(MatmulWithEpilogue({kM, 19, 37, ta, tb}), values);
        cases.Add(MatmulSpec({kM, 19, 37, ta, tb, DType::kFloat64, DType::kFloat64}), values);
        cases.Add(batch(kM, ta, tb), values);
      }
    }
    for (const int64_t w : {width, int64_t{8}}) {
      cases.Add(packed(kM, w, kFloat), values);
      cases.Add(packed(kM, w, DType::kFloat16), values);
    }
    for (int m : {4, 5, 6, 7, 9, 10, 11, 12, 13, 17, 25}) {
      cases.Add(MatmulWithEpilogue({m, 19, 37, false, m % 2 == 0}));
      cases.Add(packed(m, width, m % 2 == 0 ? kFloat : DType::kFloat16));
      cases.Add(batch(m, m % 2 == 0, m % 3 == 0), {{{4, 2}}});
    }
    cases.Check();
  }
}

TEST_CASE("what is planned, and what is left to loops") {
  const Matmul c{20, 30, 40};
  const std::vector<Tensor> in = MatmulInputs(c);
  const Tensor t = Apply("nn.matmul", MatmulAttrs(c), in, {20, 40}, kFloat);
  CHECK(IsContraction(Spec("plain", in, {t})));
  // A reduction over the result needs all of it.
  const te::Axis n = te::MakeAxis("n", 40);
  const Tensor sum = te::Compute("sum", {20}, [&](const std::vector<Expr>& i) {
    return te::Reduce(te::ReduceKind::kSum, te::Load(t, {i[0], te::AxisValue(n)}), {n}, kFloat);
  });
  CHECK_FALSE(IsContraction(Spec("sum", in, {sum})));
  const Tensor shifted = Map(t, [&](const Expr& x, const auto&) {
    return x + te::Load(t, {te::IntImm(0), te::IntImm(0)});
  });
  CHECK_FALSE(IsContraction(Spec("shifted", in, {shifted})));
  const Tensor other = Apply("nn.matmul", MatmulAttrs(c), in, {20, 40}, kFloat);
  CHECK_FALSE(IsContraction(Spec("two", in, {AddTensor(t, other)})));
  auto no_hint = std::make_shared<te::TensorNode>(*t);
  no_hint->hint = te::ScheduleHint::kNone;
  CHECK_FALSE(IsContraction(Spec("no hint", in, {no_hint})));

  // An output may take the memory of an input that is read at its own element only.
  const KernelSpec spec = MatmulWithEpilogue({kM, 30, 40});
  const auto plan = codegen::PlanContraction(spec, {MachineNamed("native")});
  REQUIRE(plan);
  CHECK(plan->in_place == std::vector<std::pair<int, int>>{{3, 0}});
  const KernelSpec square = MatmulSpec({40, 40, 40});
  CHECK(codegen::PlanContraction(square, {MachineNamed("native")})->in_place.empty());
}

// Numbers that no arithmetic on them may leave 64 bits with: those of a stranger's program.
TEST_CASE("extents that no memory has are left to loops") {
  for (const int64_t large : {int64_t{1} << 45, int64_t{1} << 60, INT64_MAX}) {
    CAPTURE(large);
    for (const Matmul& c : {Matmul{large, 30, 40}, Matmul{20, large, 40}, Matmul{20, 30, large},
                            Matmul{large, large, large}}) {
      CHECK_FALSE(IsContraction(MatmulSpec(c)));
    }
    for (const auto& [channels, window] : {std::pair{large, int64_t{3}}, {int64_t{4}, large}}) {
      for (const size_t spatial : {1, 2, 3}) {
        std::vector<Dim> data(spatial + 2, 8), kernel(spatial + 2, 1), out(spatial + 2, 8);
        data[1] = kernel[1] = channels;
        kernel[2] = window;
        const std::vector<Tensor> in = {Input(data, 0), Input(kernel, 1)};
        const Tensor t = Apply(fmt::format("nn.conv{}d", spatial), {}, in, out, kFloat);
        CHECK_FALSE(IsContraction(Spec("conv", in, {t})));
      }
    }
  }
  // A window of more taps than are unrolled or counted.
  const std::vector<Tensor> in = {Input({1, 1, 1000, 1000}, 0), Input({1, 1, 300, 300}, 1)};
  const Tensor t = Apply("nn.conv2d", {}, in, {1, 1, 701, 701}, kFloat);
  CHECK_FALSE(IsContraction(Spec("window", in, {t})));
}

// Memory that is only asked for counts toward limits all the same.
TEST_CASE("products that dot kernels serve take no scratch for packing") {
  const auto scratch = [](const KernelSpec& spec, const std::string& target) {
    const auto plan = codegen::PlanContraction(spec, {MachineNamed(target)});
    REQUIRE(plan);
    return plan->scratch_bytes;
  };
  for (const std::string target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    CAPTURE(target);
    // One row by one column, of any depth; few rows; few columns.
    for (const Matmul& c : {Matmul{1, kK, 1}, Matmul{1, kK, kN}, Matmul{4, kK, 10},
                            Matmul{20, 4096, 3000}, Matmul{kM, 500'000, 3}}) {
      CAPTURE(NameOf(c));
      const Dim bytes = scratch(MatmulSpec(c), target);
      REQUIRE(bytes.is_const());
      CHECK(bytes.value() <= 256 << 10);  // sums of a block
    }
    // Rows that are computed are in memory once, as many as there are.
    const Matmul c{1, 500'000, 1};
    std::vector<Tensor> in = MatmulInputs(c);
    const Tensor product =
        Apply("nn.matmul", MatmulAttrs(c), {Relu(in[0]), in[1]}, {c.m, c.n}, c.out);
    const Dim bytes = scratch(Spec("of_relu", in, {product}), target);
    REQUIRE(bytes.is_const());
    CHECK(bytes.value() >= 4 * 500'000);
    CHECK(bytes.value() <= 4 * 500'000 + (256 << 10));
    // Others pack.
    CHECK_FALSE(scratch(MatmulSpec({5, kK, 100}), target).is_const());
  }
}

TEST_CASE("panel widths") {
  CHECK(codegen::PreferredPanelWidth(MachineNamed("x86-64-v2")) == 8);
  CHECK(codegen::PreferredPanelWidth(MachineNamed("x86-64-v3")) == 16);
  CHECK(codegen::PreferredPanelWidth(MachineNamed("x86-64-v4")) == 32);
  CHECK(codegen::PreferredPanelWidth(MachineNamed("x86-64-v4"), DType::kFloat64) == 16);
  CHECK(codegen::PreferredPanelWidth(MachineNamed("x86-64-v4"), DType::kInt8) == 32);
  // Of three vectors, where columns are left empty else.
  const auto of_v3 = [](int64_t columns) {
    return codegen::PreferredPanelWidthOf(MachineNamed("x86-64-v3"), columns);
  };
  for (const int64_t columns : {24, 65, 72, 120}) CHECK(of_v3(columns) == 24);
  for (const int64_t columns : {1, 8, 16, 40, 48, 64, 1000}) CHECK(of_v3(columns) == 16);
  CHECK(codegen::PreferredPanelWidthOf(MachineNamed("x86-64-v2"), 12) == 8);
  CHECK(codegen::PreferredPanelWidthOf(MachineNamed("x86-64-v4"), 24) == 32);
}

}  // namespace
}  // namespace relayvm
