// float16 and bfloat16 on every target, with and without instructions that convert: every value,
// every kind of kernel, sums that round at each step.

#include <limits>
#include <string_view>

#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::Compute;
using te::Expr;
using te::Load;
using te::ReduceKind;
using te::Tensor;
using te::UnaryOp;
using Indices = std::vector<Expr>;

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");
constexpr const char* kLevels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
constexpr DType kHalves[] = {DType::kFloat16, DType::kBFloat16};

KernelSpec Spec(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
  std::vector<bool> by_value(inputs.size(), false);
  return {std::move(name), std::move(inputs), std::move(by_value), std::move(outputs)};
}

HostTensor FloatsOf(const std::vector<double>& values, DType dtype) {
  HostTensor t = MakeTensor(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    te::WriteElement(dtype, te::FloatScalar(values[i]),
                     t.data.Mutable().data() + i * static_cast<size_t>(DTypeBytes(dtype)));
  }
  return t;
}

// --- Conversions ---

// All 65536 values of the dtype.
HostTensor AllValues(DType t) {
  HostTensor all = MakeTensor(t, {65536});
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    std::memcpy(all.data.Mutable().data() + 2 * i, &bits, 2);
  }
  return all;
}

// Around every value of the dtype: the value, the point between it and the next one (a tie), and
// what lies just below and above that.
std::vector<double> AroundAllValues(DType t, DType wide) {
  std::vector<double> values;
  const HostTensor all = AllValues(t);
  auto beside = [&](double v, double to) {
    if (wide == DType::kFloat64) return std::nextafter(v, to);
    return static_cast<double>(std::nextafter(static_cast<float>(v), static_cast<float>(to)));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < all.size(); ++i) {
    const double v = Element(all, i).f;
    values.push_back(v);
    if (!std::isfinite(v)) continue;
    // Past the largest value the next one would be a power of two, were there no infinity.
    double next = (i & 0x7fff) + 1 < 65536 ? Element(all, (i + 1) & 0xffff).f : v;
    if (!std::isfinite(next)) next = v + (v - Element(all, i - 1).f);
    const double tie = (v + next) / 2;
    values.push_back(tie);
    values.push_back(beside(tie, -infinity));
    values.push_back(beside(tie, infinity));
  }
  return values;
}

void CheckSameBits(const HostTensor& got, const HostTensor& want) {
  REQUIRE(got.size() == want.size());
  int failures = 0;
  for (int64_t i = 0; i < want.size() && failures < 3; ++i) {
    const double g = Element(got, i).f, w = Element(want, i).f;
    if ((std::isnan(g) && std::isnan(w)) || (g == w && std::signbit(g) == std::signbit(w))) {
      continue;
    }
    ++failures;
    CHECK_MESSAGE(false, fmt::format("element {}: {} instead of {}", i, g, w));
  }
}

TEST_CASE("conversions are exact, and round to nearest even") {
  for (const char* level : kLevels) {
    KernelOptions options;
    options.machine = MachineNamed(level);
    KernelHarness harness(options);
    struct Conversion {
      size_t kernel;
      HostTensor from;
      Tensor result;
    };
    std::vector<Conversion> conversions;
    auto add = [&](const HostTensor& from, DType to) {
      const Tensor x = te::Placeholder("x", {kN}, from.dtype, 0);
      const Tensor y =
          Compute("y", {kN}, [&](const Indices& i) { return te::Cast(Load(x, i), to); });
      conversions.push_back({harness.Add(Spec("cast", {x}, {y})), from, y});
    };
    for (DType half : kHalves) {
      for (DType wide : {DType::kFloat32, DType::kFloat64}) {
        add(AllValues(half), wide);
        add(FloatsOf(AroundAllValues(half, wide), wide), half);
      }
      add(AllValues(half), half == DType::kFloat16 ? DType::kBFloat16 : DType::kFloat16);
    }
    harness.Finish();
    if (!Runs(level)) continue;
    for (const Conversion& c : conversions) {
      // All in vectors, and some as scalars: a tensor of one element.
      INFO(level, ": ", DTypeName(c.from.dtype), " to ", DTypeName(c.result->dtype));
      auto check = [&](const HostTensor& from) {
        const SymbolValues symbols = {{1, from.size()}};
        const HostTensor* input = &from;
        auto want = te::Evaluate(c.result, {&input, 1}, SymbolsOf(symbols));
        REQUIRE(want.ok());
        CheckSameBits(harness.Run(c.kernel, {from}, symbols)[0], *want);
      };
      check(c.from);
      for (int64_t i = 0; i < c.from.size(); i += 997) {
        check(FloatsOf({Element(c.from, i).f}, c.from.dtype));
      }
    }
  }
}

// --- Kernels ---

// Every way in which kernels touch memory: contiguous, reversed, strided, gathered, transposed,
// masked, by value, reinterpreted; and sums and maxima.
std::vector<KernelSpec> KernelsOf(DType t) {
  std::vector<KernelSpec> specs;
  const Tensor x = te::Placeholder("x", {kN, kM}, t, 0);
  const Tensor b = te::Placeholder("b", {kM}, t, 1);
  const Tensor s = te::Placeholder("s", {}, t, 1);
  auto add = [&](const char* name, std::vector<Tensor> in, std::vector<Dim> shape,
                 const te::BodyFn& body) {
    specs.push_back(Spec(name, std::move(in), {Compute(name, std::move(shape), body)}));
  };
  auto last = [](const Dim& extent) { return te::DimValue(extent) - te::IntImm(1); };
  add("affine", {x, b}, {kN, kM},
      [&](const Indices& i) { return Load(x, i) * Load(b, {i[1]}) - Load(x, i); });
  add("quotient", {x, b}, {kN, kM}, [&](const Indices& i) {
    return te::Binary(te::BinaryOp::kDivide, Load(x, i), Load(b, {i[1]}));
  });
  add("root", {x}, {kN, kM}, [&](const Indices& i) {
    return te::Unary(UnaryOp::kSqrt, te::Unary(UnaryOp::kAbs, Load(x, i)));
  });
  add("reversed", {x}, {kN, kM},
      [&](const Indices& i) { return Load(x, {i[0], last(kM) - i[1]}); });
  for (int64_t stride : {2, 3, 4}) {
    add("strided", {x}, {kN, Dim::CeilDiv(kM, stride)},
        [&](const Indices& i) { return Load(x, {i[0], i[1] * te::IntImm(stride)}); });
  }
  add("gathered", {x}, {kN, kM}, [&](const Indices& i) {
    return Load(x, {i[0], te::Binary(te::BinaryOp::kFloorMod, i[1] * i[1], te::DimValue(kM))});
  });
  add("transposed", {x}, {kM, kN},
      [&](const Indices& i) { return Load(x, {i[1], i[0]}) + Load(b, {i[0]}); });
  specs.back().inputs = {x, b};
  specs.back().by_value = {false, false};
  add("guarded", {x}, {kN, kM}, [&](const Indices& i) {
    return te::Select(i[1] >= te::IntImm(3), Load(x, {i[0], i[1] - te::IntImm(3)}),
                      te::Const(0.5, t));
  });
  add("by value", {x, s}, {kN, kM}, [&](const Indices& i) { return Load(x, i) * Load(s, {}); });
  specs.back().by_value[1] = true;
  add("bits", {x}, {kN, kM},
      [&](const Indices& i) { return te::Reinterpret(Load(x, i), DType::kUInt16); });
  add("less", {x, b}, {kN, kM}, [&](const Indices& i) { return Load(x, i) < Load(b, {i[1]}); });
  for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin}) {
    add("of rows", {x}, {kN}, [&](const Indices& i) {
      te::Axis k = te::MakeAxis("k", kM);
      return te::Reduce(kind, Load(x, {i[0], te::AxisValue(k)}), {k}, t);
    });
    add("of columns", {x}, {kM}, [&](const Indices& i) {
      te::Axis k = te::MakeAxis("k", kN);
      return te::Reduce(kind, Load(x, {te::AxisValue(k), i[0]}), {k}, t);
    });
    add("of all", {x}, {}, [&](const Indices&) {
      te::Axis k = te::MakeAxis("k", kN), l = te::MakeAxis("l", kM);
      return te::Reduce(kind, Load(x, {te::AxisValue(k), te::AxisValue(l)}), {k, l}, t);
    });
  }
  add("position", {x}, {kN}, [&](const Indices& i) {
    te::Axis k = te::MakeAxis("k", kM);
    return te::Reduce(ReduceKind::kArgMax, Load(x, {i[0], te::AxisValue(k)}), {k}, DType::kInt32);
  });
  add("product", {x, b}, {kN}, [&](const Indices& i) {
    te::Axis k = te::MakeAxis("k", kM);
    return te::Reduce(ReduceKind::kSum,
                      Load(x, {i[0], te::AxisValue(k)}) * Load(b, {te::AxisValue(k)}), {k}, t);
  });
  return specs;
}

TEST_CASE("kernels link and agree with the evaluator") {
  for (const char* level : kLevels) {
    KernelOptions options;
    options.machine = MachineNamed(level);
    KernelHarness harness(options);
    std::vector<size_t> kernels;
    std::vector<double> tolerance;
    for (DType t : kHalves) {
      for (const KernelSpec& spec : KernelsOf(t)) {
        kernels.push_back(harness.Add(spec));
        // Sums of bfloat16 are those of float32, in any order, and rounded once.
        tolerance.push_back(t == DType::kFloat16 ? 0 : 1e-2);
      }
    }
    harness.Finish();
    if (!Runs(level)) continue;
    INFO(std::string(level));
    for (auto [n, m] : {std::pair<int64_t, int64_t>{1, 1}, {3, 37}, {16, 64}, {7, 130}}) {
      for (size_t k = 0; k < kernels.size(); ++k) {
        harness.Check(kernels[k], {{1, n}, {2, m}}, tolerance[k]);
      }
    }
  }
}

TEST_CASE("a sum of float16 rounds at each step, in order; of bfloat16 once") {
  struct Case {
    DType dtype;
    ReduceKind kind;
    std::vector<double> elements;
    double want;
  };
  // 4096 ones stop at 2048, where the unit is 2 and ties go to even.
  std::vector<double> ones(4096, 1.0);
  std::vector<double> large_first(33, 1.0);
  large_first[0] = 2048;
  std::vector<double> large_last(33, 1.0);
  large_last[32] = 2048;
  const Case cases[] = {
      {DType::kFloat16, ReduceKind::kSum, ones, 2048},
      {DType::kFloat16, ReduceKind::kSum, large_first, 2048},
      {DType::kFloat16, ReduceKind::kSum, large_last, 2080},
      {DType::kFloat16, ReduceKind::kSum, {60000, 60000, -60000}, HUGE_VAL},
      {DType::kFloat16, ReduceKind::kProd, {256, 256, 0.5}, HUGE_VAL},
      {DType::kBFloat16, ReduceKind::kSum, ones, 4096},
      {DType::kFloat32, ReduceKind::kSum, ones, 4096},
  };
  for (const char* level : kLevels) {
    if (!Runs(level)) continue;
    KernelOptions options;
    options.machine = MachineNamed(level);
    KernelHarness harness(options);
    std::vector<Tensor> results;
    for (const Case& c : cases) {
      const Tensor x = te::Placeholder("x", {kN}, c.dtype, 0);
      results.push_back(Compute("y", {}, [&](const Indices&) {
        te::Axis k = te::MakeAxis("k", kN);
        return te::Reduce(c.kind, Load(x, {te::AxisValue(k)}), {k}, c.dtype);
      }));
      harness.Add(Spec("sum", {x}, {results.back()}));
    }
    harness.Finish();
    for (size_t k = 0; k < std::size(cases); ++k) {
      const HostTensor x = FloatsOf(cases[k].elements, cases[k].dtype);
      const HostTensor* input = &x;
      const SymbolValues symbols = {{1, x.size()}};
      INFO(level, " case ", k);
      CHECK(Element(*te::Evaluate(results[k], {&input, 1}, SymbolsOf(symbols)), 0).f ==
            cases[k].want);
      CHECK(Element(harness.Run(k, {x}, symbols)[0], 0).f == cases[k].want);
    }
  }
}

}  // namespace
}  // namespace relayvm
