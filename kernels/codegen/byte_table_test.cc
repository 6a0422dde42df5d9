// Tables of 256 bytes: by a permutation of registers, by rows of 16, or a load for each byte.

#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::Expr;
using te::Tensor;

const Dim kN = Dim::Symbol(1, "n");

Expr Taken(const Tensor& table, const Expr& byte) {
  const Expr index = byte->dtype == DType::kUInt8 ? byte : te::Reinterpret(byte, DType::kUInt8);
  return te::Load(table, {te::Cast(index, DType::kInt64)});
}

// A table of all its dtype's values, mixed, so that each wrong place is another value.
HostTensor Table(DType dtype) {
  HostTensor t = MakeTensor(dtype, {256});
  for (size_t i = 0; i < 256; ++i)
    t.data.Mutable().data()[i] = static_cast<std::byte>((i * 167 + 89) % 256);
  return t;
}

// Every byte, over and over.
HostTensor Bytes(DType dtype, int64_t size) {
  HostTensor t = MakeTensor(dtype, {size});
  for (int64_t i = 0; i < size; ++i)
    t.data.Mutable().data()[i] = static_cast<std::byte>(i * 37 % 256);
  return t;
}

KernelSpec Spec(DType data, DType table, const std::function<Expr(const Expr& x)>& byte) {
  KernelSpec spec;
  spec.name = "byte_table";
  spec.inputs = {te::Placeholder("x", {kN}, data, 0),
                 te::Placeholder("table", {Dim(256)}, table, 1)};
  spec.outputs = {te::Compute("y", {kN}, [&](const std::vector<Expr>& i) {
    return Taken(spec.inputs[1], byte(te::Load(spec.inputs[0], i)));
  })};
  return spec;
}

TEST_CASE("each byte has its own, at all levels") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "native"}) {
    if (!Runs(cpu)) continue;
    CAPTURE(cpu);
    KernelOptions options;
    options.machine = MachineNamed(cpu);
    KernelHarness harness(options);
    struct Case {
      KernelSpec spec;
      DType data, table;
    };
    const std::vector<Case> cases = {
        {Spec(DType::kInt8, DType::kUInt8, [](const Expr& x) { return x; }), DType::kInt8,
         DType::kUInt8},
        {Spec(DType::kUInt8, DType::kInt8, [](const Expr& x) { return x; }), DType::kUInt8,
         DType::kInt8},
        // Of few lanes, as behind a product.
        {Spec(DType::kInt8, DType::kInt8,
              [](const Expr& x) {
                const Expr wide = te::Cast(x, DType::kInt32);
                return te::Cast(wide * wide + te::IntImm(3, DType::kInt32), DType::kInt8);
              }),
         DType::kInt8, DType::kInt8},
        {Spec(DType::kInt8, DType::kInt8,
              [](const Expr& x) {
                return te::Cast(te::Cast(x, DType::kFloat64) * te::FloatImm(0.7, DType::kFloat64),
                                DType::kUInt8);
              }),
         DType::kInt8, DType::kInt8},
    };
    std::vector<size_t> kernels;
    for (const Case& c : cases) kernels.push_back(harness.Add(c.spec));
    harness.Finish();
    for (size_t k = 0; k < cases.size(); ++k) {
      CAPTURE(k);
      const HostTensor table = Table(cases[k].table);
      for (const int64_t n : {1, 7, 64, 256, 1000}) {
        const HostTensor x = Bytes(cases[k].data, n);
        const SymbolValues symbols = {{1, n}};
        std::vector<const HostTensor*> inputs = {&x, &table};
        auto want = te::Evaluate(cases[k].spec.outputs[0], inputs, SymbolsOf(symbols));
        REQUIRE(want.ok());
        const HostTensor got = harness.Run(kernels[k], {x, table}, symbols)[0];
        CHECK(std::ranges::equal(std::span(got.data.data(), got.data.size()),
                                 std::span(want->data.data(), want->data.size())));
      }
    }
  }
}

TEST_CASE("an image asks for a permutation of bytes only where its kernels have a table") {
  const auto features = [](const KernelSpec& spec) {
    KernelOptions options;
    options.machine = MachineNamed("sapphirerapids");
    KernelCompiler compiler(options);
    REQUIRE(compiler.Add(spec).ok());
    auto image = compiler.Finish();
    REQUIRE(image.ok());
    return image->cpu_features;
  };
  KernelSpec spec = Spec(DType::kInt8, DType::kInt8, [](const Expr& x) { return x; });
  CHECK(features(spec) == "x86-64-v4,avx512vbmi");
  spec.inputs[1] = te::Placeholder("table", {Dim(255)}, DType::kInt8, 1);
  spec.outputs = {te::Compute("y", {kN}, [&](const std::vector<Expr>& i) {
    return te::Load(spec.inputs[0], i) + te::Load(spec.inputs[1], {te::IntImm(0)});
  })};
  CHECK(features(spec) == "x86-64-v4");
}

}  // namespace
}  // namespace relayvm
