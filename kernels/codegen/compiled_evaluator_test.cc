#include "kernels/codegen/compiled_evaluator.h"

#include <cstring>

#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using Indices = std::vector<te::Expr>;

KernelSpec Affine(double scale, std::vector<Dim> shape) {
  te::Tensor x = te::Placeholder("x", shape, DType::kFloat32, 0);
  te::Tensor y = te::Compute("y", shape, [&](const Indices& i) {
    return te::Load(x, i) * te::Const(scale, DType::kFloat32);
  });
  te::Tensor sum = te::Compute("sum", {}, [&](const Indices&) {
    std::vector<te::Axis> axes;
    Indices at;
    for (const Dim& d : shape) {
      axes.push_back(te::MakeAxis("k", d));
      at.push_back(te::AxisValue(axes.back()));
    }
    return te::Reduce(te::ReduceKind::kSum, te::Load(y, at), axes, DType::kFloat32);
  });
  return {"affine", {x}, {}, {y, sum}};
}

TEST_CASE("what kernels compute is what the evaluator computes") {
  CompiledEvaluator kernels{KernelOptions{}};
  for (double scale : {2.0, 3.0, 2.0}) {
    for (int64_t n : {0, 1, 37}) {
      KernelSpec spec = Affine(scale, {n, 5});
      HostTensor x = RandomTensor(DType::kFloat32, {n, 5}, 3);
      auto got = kernels.Run(spec, std::vector<const HostTensor*>{&x}, 0);
      REQUIRE_MESSAGE(got.ok(), got.status().ToString());
      REQUIRE(got->size() == 2);
      for (size_t o = 0; o < 2; ++o) {
        auto want = te::Evaluate(spec.outputs[o], std::vector<const HostTensor*>{&x},
                                 SymbolsOf(SymbolValues{}));
        REQUIRE(want.ok());
        KernelHarness::CheckNear((*got)[o], *want, 1e-5);
      }
    }
  }
}

TEST_CASE("one kernel computes single elements of all shapes") {
  CompiledEvaluator kernels{KernelOptions{}};
  for (const std::vector<Dim>& shape :
       std::vector<std::vector<Dim>>{{16384}, {128, 256}, {3, 7, 1000}, {5, 3277}}) {
    te::Tensor x = te::Placeholder("x", shape, DType::kFloat32, 0);
    te::Tensor scale = te::Placeholder("scale", {}, DType::kFloat32, 1);
    te::Tensor y = te::Compute("y", shape, [&](const Indices& i) {
      return te::Cast(te::Load(x, i) * te::Load(scale, {}), DType::kFloat64);
    });
    std::vector<int64_t> extents;
    for (const Dim& d : shape) extents.push_back(d.value());
    HostTensor values = RandomTensor(DType::kFloat32, extents, 3);
    HostTensor factor = RandomTensor(DType::kFloat32, {}, 4);
    const HostTensor* inputs[] = {&values, &factor};
    auto got = kernels.Run({"scaled", {x, scale}, {}, {y}}, inputs, 0);
    REQUIRE_MESSAGE(got.ok(), got.status().ToString());
    auto want = te::Evaluate(y, inputs, SymbolsOf(SymbolValues{}));
    REQUIRE(want.ok());
    CHECK((*got)[0].shape == want->shape);
    CHECK((*got)[0].data == want->data);
  }
}

TEST_CASE("an input at any address is taken") {
  CompiledEvaluator kernels{KernelOptions{}};
  // The last one is computed in blocks, the rest of the last block is not whole.
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{3, 5}, {1, 16384}, {3, 16385}}) {
    HostTensor x = RandomTensor(DType::kFloat32, shape, 3);
    SharedBytes shifted = SharedBytes::Zeros(x.data.size() + 4);
    std::memcpy(shifted.Mutable().data() + 4, x.data.data(), x.data.size());
    HostTensor y = {x.dtype, x.shape, shifted.Slice(4, x.data.size())};
    KernelSpec spec = Affine(2, {shape.begin(), shape.end()});
    spec.outputs.resize(1);
    auto a = kernels.Run(spec, std::vector<const HostTensor*>{&x}, 0);
    auto b = kernels.Run(spec, std::vector<const HostTensor*>{&y}, 0);
    REQUIRE((a.ok() && b.ok()));
    CHECK((*a)[0].data == (*b)[0].data);
  }
}

TEST_CASE("what cannot be run is an error") {
  HostTensor x = RandomTensor(DType::kFloat32, {3, 5}, 3);
  std::vector<const HostTensor*> inputs = {&x};
  KernelOptions options;
  options.machine = MachineNamed("aarch64");
  CompiledEvaluator stranger{options};
  for (int again = 0; again < 2; ++again) {
    CHECK(stranger.Run(Affine(2, {3, 5}), inputs, 0).status().code() == StatusCode::kUnsupported);
  }
  CompiledEvaluator kernels{KernelOptions{}};
  KernelSpec open = Affine(2, {Dim::Symbol(1, "n"), 5});
  CHECK(kernels.Run(open, inputs, 0).status().code() == StatusCode::kUnsupported);
}

}  // namespace
}  // namespace relayvm
