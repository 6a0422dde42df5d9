// (x * y + rounding) >> shift of int32 in 64 bits, even and odd lanes apart.

#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Expr;

const Dim kN = Dim::Symbol(1, "n");

Expr Wide(const Expr& x) { return te::Cast(x, DType::kInt64); }

// `factor`: in place of y.
KernelSpec Product(int64_t shift, int64_t rounding, std::optional<int64_t> factor) {
  KernelSpec spec;
  spec.name = "fixed_point";
  spec.inputs = {te::Placeholder("x", {kN}, DType::kInt32, 0),
                 te::Placeholder("y", {kN}, DType::kInt32, 1)};
  spec.outputs = {te::Compute("z", {kN}, [&](const std::vector<Expr>& i) {
    const Expr y = Wide(te::Load(spec.inputs[1], i));
    const Expr x = Wide(te::Load(spec.inputs[0], i));
    const Expr product = factor ? x * te::IntImm(*factor) : x * y;
    const Expr sum = product + te::IntImm(rounding);
    const Expr z =
        te::Cast(te::Binary(BinaryOp::kShiftRight, sum, te::IntImm(shift)), DType::kInt32);
    return te::Binary(BinaryOp::kXor, z, te::Load(spec.inputs[1], i));
  })};
  return spec;
}

HostTensor Extremes(int64_t size, int64_t step) {
  constexpr int64_t kValues[] = {
      0,          1,           -1,      2,      -2,    INT32_MIN, INT32_MAX, INT32_MIN + 1,
      0x55555555, -0x12345678, 1 << 30, -65536, 65535, 1000003,   -999};
  HostTensor t = MakeTensor(DType::kInt32, {size});
  for (int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<size_t>(i / step) % std::size(kValues);
    te::WriteElement(DType::kInt32, te::IntScalar(kValues[at]), t.data.Mutable().data() + 4 * i);
  }
  return t;
}

TEST_CASE("products in fixed point are exact at all levels") {
  std::vector<KernelSpec> specs;
  for (const int64_t shift : {1, 15, 30, 31, 32, 33, 62}) {
    for (const int64_t rounding : {int64_t{0}, int64_t{1} << (shift - 1)}) {
      specs.push_back(Product(shift, rounding, std::nullopt));
      for (const int64_t factor :
           {int64_t{1}, int64_t{-3}, int64_t{1518500249}, int64_t{INT32_MIN}, int64_t{1} << 33}) {
        specs.push_back(Product(shift, rounding, factor));
      }
    }
  }
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "native"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    KernelOptions options;
    options.machine = MachineNamed(cpu);
    KernelHarness harness(options);
    std::vector<size_t> kernels;
    for (const KernelSpec& spec : specs) kernels.push_back(harness.Add(spec));
    harness.Finish();
    const HostTensor x = Extremes(15 * 15 + 3, 1), y = Extremes(15 * 15 + 3, 15);
    const SymbolValues symbols = {{1, x.size()}};
    const std::vector<const HostTensor*> inputs = {&x, &y};
    for (size_t k = 0; k < specs.size(); ++k) {
      CAPTURE(k);
      auto want = te::Evaluate(specs[k].outputs[0], inputs, SymbolsOf(symbols));
      REQUIRE(want.ok());
      const HostTensor got = harness.Run(kernels[k], {x, y}, symbols)[0];
      CHECK(std::ranges::equal(std::span(got.data.data(), got.data.size()),
                               std::span(want->data.data(), want->data.size())));
    }
  }
}

}  // namespace
}  // namespace relayvm
