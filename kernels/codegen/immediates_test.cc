#include "kernels/codegen/immediates.h"

#include "kernels/codegen/kernel_harness.h"
#include "kernels/codegen/spec_key.h"

namespace relayvm {
namespace {

using codegen::KeyOf;
using te::BinaryOp;
using te::Compute;
using te::Expr;
using te::Load;
using te::Tensor;
using Indices = std::vector<Expr>;

constexpr int kNumBinary = static_cast<int>(BinaryOp::kGreaterEqual) + 1;
const Dim kN = Dim::Symbol(1, "n");

Tensor Vector(DType dtype, Dim n = kN) { return te::Placeholder("x", {std::move(n)}, dtype, 0); }

KernelSpec SpecOf(Tensor x, std::vector<Tensor> outputs) {
  return {"spec", {std::move(x)}, {false}, std::move(outputs)};
}

// multiply(x, constant)
KernelSpec Scaled(DType dtype, double constant, BinaryOp op = BinaryOp::kMultiply) {
  Tensor x = Vector(dtype);
  return SpecOf(x, {Compute("y", {kN}, [&](const Indices& i) {
                  return te::Binary(op, Load(x, i), te::Const(constant, dtype));
                })});
}

// The values that may be scalars, in the order of the key.
std::vector<double> Free(const KernelSpec& spec) {
  std::vector<double> values;
  for (const codegen::Immediate& i : KeyOf(spec).immediates) {
    values.push_back(IsFloat(i.node->dtype) ? i.node->float_value
                                            : static_cast<double>(i.node->int_value));
  }
  return values;
}

// Every operator that is legal with constants on either side, and their uses by select and reduce.
std::vector<Tensor> Everything(const Tensor& x, double a, double b) {
  DType t = x->dtype;
  std::vector<Tensor> outputs;
  auto add = [&](const std::function<Expr(const Expr&)>& body) {
    outputs.push_back(Compute("y", {kN}, [&](const Indices& i) { return body(Load(x, i)); }));
  };
  for (int op = 0; op < kNumBinary; ++op) {
    auto binary = static_cast<BinaryOp>(op);
    bool is_shift = binary == BinaryOp::kShiftLeft || binary == BinaryOp::kShiftRight;
    bool is_bitwise =
        binary == BinaryOp::kAnd || binary == BinaryOp::kOr || binary == BinaryOp::kXor;
    if (IsFloat(t) ? is_shift || is_bitwise : binary == BinaryOp::kAtan2) continue;
    add([&](const Expr& v) { return te::Binary(binary, v, te::Const(a, t)); });
    add([&](const Expr& v) { return te::Binary(binary, te::Const(b, t), v); });
  }
  add([&](const Expr& v) {
    return te::Select(te::Binary(BinaryOp::kGreater, v, te::Const(a, t)), te::Const(b, t), v);
  });
  add([&](const Expr& v) {
    return te::Binary(BinaryOp::kMin, te::Binary(BinaryOp::kMax, v, te::Const(a, t)),
                      te::Const(b, t));
  });
  // A sum of three: what the code generator may contract or gather.
  add([&](const Expr& v) {
    return v * te::Const(a, t) + (v + te::Const(b, t)) * te::Const(a, t) + te::Const(b, t);
  });
  add([&](const Expr&) { return te::Const(b, t); });
  outputs.push_back(Compute("sum", {}, [&](const Indices&) {
    te::Axis k = te::MakeAxis("k", kN);
    return te::Reduce(te::ReduceKind::kSum, Load(x, {te::AxisValue(k)}) * te::Const(a, t), {k}, t);
  }));
  return outputs;
}

// But for the payloads of NaN.
bool SameBits(const HostTensor& a, const HostTensor& b) {
  for (int64_t i = 0; i < a.size(); ++i) {
    te::Scalar x = Element(a, i);
    te::Scalar y = Element(b, i);
    bool same = IsFloat(a.dtype) ? (x.f == y.f && std::signbit(x.f) == std::signbit(y.f)) ||
                                       (std::isnan(x.f) && std::isnan(y.f))
                                 : x.i == y.i;
    if (!same) return false;
  }
  return a.size() == b.size();
}

TEST_CASE("a scalar computes what the immediate computes, bit for bit") {
  const std::pair<double, double> constants[] = {{3, -7}, {0.3, 1e-3}, {2, 0}};
  for (int d = 0; d < kNumDTypes; ++d) {
    auto dtype = static_cast<DType>(d);
    if (dtype == DType::kBool) continue;
    CAPTURE(DTypeName(dtype));
    KernelHarness harness;
    std::vector<std::pair<size_t, size_t>> pairs;
    std::vector<std::vector<Expr>> taken;
    for (auto [a, b] : constants) {
      Tensor x = Vector(dtype);
      KernelSpec spec = SpecOf(x, Everything(x, a, b));
      std::vector<Expr> immediates;
      for (const codegen::Immediate& i : KeyOf(spec).immediates) immediates.push_back(i.node);
      CHECK(immediates.size() > 20);
      size_t own = harness.Add(spec);
      pairs.emplace_back(own, harness.Add(codegen::WithScalars(spec, immediates)));
      CHECK(harness.id(pairs.back().first) != harness.id(pairs.back().second));
      taken.push_back(std::move(immediates));
    }
    harness.Finish();
    for (int64_t n : {1, 67}) {
      for (size_t p = 0; p < pairs.size(); ++p) {
        HostTensor x = RandomTensor(dtype, {n}, 7, -100, 100);
        std::vector<HostTensor> inputs = {x};
        for (const Expr& e : taken[p]) {
          HostTensor scalar = MakeTensor(e->dtype, {});
          te::WriteElement(
              e->dtype,
              IsFloat(e->dtype) ? te::FloatScalar(e->float_value) : te::IntScalar(e->int_value),
              scalar.data.Mutable().data());
          inputs.push_back(std::move(scalar));
        }
        auto want = harness.Run(pairs[p].first, {x}, {{1, n}});
        auto got = harness.Run(pairs[p].second, inputs, {{1, n}});
        for (size_t o = 0; o < want.size(); ++o) {
          INFO("constants ", p, " output ", o, " n ", n);
          CHECK(SameBits(got[o], want[o]));
        }
      }
    }
  }
}

TEST_CASE("many kernels that differ in an immediate are few, and right") {
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8, DType::kInt64}) {
    CAPTURE(DTypeName(dtype));
    KernelHarness harness;
    std::vector<size_t> kernels;
    for (int i = 2; i < 122; ++i) {
      kernels.push_back(harness.Add(Scaled(dtype, i, BinaryOp::kAdd)));
    }
    size_t again = harness.Add(Scaled(dtype, 2, BinaryOp::kAdd));
    CHECK(harness.id(again) == harness.id(kernels[0]));
    harness.Finish();
    CHECK(harness.image().names.size() == 9);
    for (size_t k : kernels) harness.Check(k, {{1, 19}}, 0);
  }
}

TEST_CASE("what code is faster for knowing becomes a scalar after many") {
  for (BinaryOp op : {BinaryOp::kFloorDivide, BinaryOp::kMod, BinaryOp::kShiftLeft}) {
    KernelHarness harness;
    std::vector<size_t> kernels;
    for (int i = 2; i < 102; ++i) kernels.push_back(harness.Add(Scaled(DType::kInt32, i, op)));
    harness.Finish();
    CHECK(harness.image().names.size() == 65);
    for (size_t k : kernels) harness.Check(k, {{1, 19}}, 0, -1000, 1000);
  }
}

TEST_CASE("only what differs becomes a scalar") {
  KernelHarness harness;
  std::vector<size_t> kernels;
  for (int i = 0; i < 20; ++i) {
    Tensor x = Vector(DType::kFloat32);
    kernels.push_back(harness.Add(SpecOf(x, {Compute("y", {kN}, [&](const Indices& at) {
                                           return Load(x, at) * te::Const(0.3, DType::kFloat32) +
                                                  te::Const(i + 0.7, DType::kFloat32);
                                         })})));
  }
  CHECK(harness.interface(kernels[0]).immediates.empty());
  CHECK(harness.interface(kernels[19]).immediates.size() == 1);
  harness.Finish();
  CHECK(harness.image().names.size() == 9);
  for (size_t k : kernels) harness.Check(k, {{1, 19}}, 1e-6);
}

TEST_CASE("what decides an index, a guard or the form of the code stays an immediate") {
  Tensor x = Vector(DType::kInt64, 10);
  auto free = [&](const te::BodyFn& body) { return Free(SpecOf(x, {Compute("y", {5}, body)})); };
  // Of an index, also through a computation.
  CHECK(free([&](const Indices& i) { return Load(x, {i[0] + te::IntImm(3)}); }).empty());
  Tensor three = Compute("three", {}, [](const Indices&) { return te::IntImm(3); });
  CHECK(free([&](const Indices&) { return Load(x, {Load(three, {})}); }).empty());
  CHECK(free([&](const Indices& i) { return Load(x, i) + Load(three, {}); }) ==
        std::vector<double>{3});
  // A node that is an index and a value.
  CHECK(free([&](const Indices& i) {
          return Load(x, {Load(three, {})}) + Load(x, i) + Load(three, {});
        }).empty());
  // Of the guard of a load; a comparison of elements guards nothing that an index needs.
  auto guarded = [&](const Expr& condition, const Indices& i) {
    return te::Select(condition, Load(x, {i[0] + te::IntImm(6)}), te::IntImm(-9));
  };
  CHECK(free([&](const Indices& i) { return guarded(i[0] < te::IntImm(4), i); }) ==
        std::vector<double>{-9});
  CHECK(free([&](const Indices& i) { return guarded(Load(x, i) < te::IntImm(4), i); }) ==
        std::vector<double>{4, -9});
  // Powers that the code generator knows.
  Tensor f = Vector(DType::kFloat32);
  for (double exponent : {0.5, -0.5, 2.0, 3.0, -1.0}) {
    CHECK(Free(Scaled(DType::kFloat32, exponent, BinaryOp::kPower)).empty());
  }
  CHECK(Free(Scaled(DType::kFloat32, 2.25, BinaryOp::kPower)).size() == 1);
  CHECK(Free(Scaled(DType::kBool, 1, BinaryOp::kXor)).empty());
}

}  // namespace
}  // namespace relayvm
