// Kernels that run long ask whether to go on, wherever their loops are (bytecode/kernel_abi.h).
#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::AxisValue;
using te::Compute;
using te::Expr;
using te::Load;
using te::MakeAxis;
using te::ReduceKind;
using te::Tensor;
using Indices = std::vector<Expr>;

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");
const Dim kK = Dim::Symbol(3, "k");

Tensor Input(std::vector<Dim> shape, int index) {
  return te::Placeholder("x" + std::to_string(index), std::move(shape), DType::kFloat32, index);
}

Tensor Sum(std::vector<Dim> shape, const std::vector<te::Axis>& axes,
           const std::function<Expr(const Indices&)>& body) {
  return Compute("sum", std::move(shape), [&](const Indices& i) {
    return te::Reduce(ReduceKind::kSum, body(i), axes, DType::kFloat32);
  });
}

struct Case {
  KernelSpec spec;
  SymbolValues symbols;
  std::vector<size_t> elements;  // of the inputs, then of the outputs
};

int32_t Call(const KernelHarness& harness, size_t k, const Case& c, const RelayvmKernelEnv& env,
             std::vector<float>* output = nullptr) {
  const KernelInterface& interface = harness.interface(k);
  auto value_of = [&](const Dim& d) { return *d.Evaluate(SymbolsOf(c.symbols)); };
  std::vector<GuardedBuffer> memory;
  std::vector<void*> buffers;
  for (size_t elements : c.elements) {
    memory.emplace_back(elements * sizeof(float));
    auto* floats = reinterpret_cast<float*>(memory.back().data());
    for (size_t i = 0; i < elements; ++i) floats[i] = static_cast<float>(i % 5);
  }
  for (GuardedBuffer& m : memory) buffers.push_back(m.data());
  std::vector<int64_t> scalars;
  for (const Dim& s : interface.symbols) scalars.push_back(value_of(s));
  GuardedBuffer scratch(static_cast<size_t>(value_of(interface.scratch_bytes)));
  RelayvmKernelArgs args{buffers.data(), scalars.data(), scratch.data()};
  auto units = static_cast<uint32_t>(value_of(interface.parallel_extent));
  int32_t code = harness.function(k)(&env, &args, 0, units);
  if (output != nullptr) {
    auto* floats = reinterpret_cast<float*>(memory.back().data());
    output->assign(floats, floats + c.elements.back());
  }
  return code;
}

KernelSpec Spec(std::vector<Tensor> inputs, Tensor output) {
  KernelSpec spec;
  spec.name = "polled";
  spec.by_value.assign(inputs.size(), false);
  spec.inputs = std::move(inputs);
  spec.outputs = {std::move(output)};
  return spec;
}

KernelOptions OptionsOf(bool quick) {
  KernelOptions options;
  options.opt_level = quick ? 0 : 3;
  options.quick = quick;
  return options;
}

TEST_CASE("kernels poll: loops without an end in sight stop") {
  const int64_t kForever = int64_t{1} << 45;
  te::Axis n = MakeAxis("n", kN), m = MakeAxis("m", kM);
  te::Axis fixed = MakeAxis("fixed", Dim(kForever));
  Tensor row = Input({kM}, 0), one = Input({1}, 0), column = Input({8}, 0);
  Expr zero = te::IntImm(0);
  const SymbolValues symbols = {{1, kForever}, {2, 3}};
  const SymbolValues nothing = {{1, kForever}, {2, 0}};
  const SymbolValues both = {{1, int64_t{1} << 31}, {2, int64_t{1} << 31}};
  std::vector<Case> cases = {
      {Spec({row}, Sum({}, {n, m}, [&](auto&) { return Load(row, {AxisValue(m)}); })),
       symbols,
       {3, 1}},
      {Spec({row}, Sum({}, {m, n}, [&](auto&) { return Load(row, {AxisValue(m)}); })),
       symbols,
       {3, 1}},
      {Spec({row}, Sum({}, {n, m}, [&](auto&) { return Load(row, {AxisValue(m)}); })),
       nothing,
       {1, 1}},
      {Spec({one}, Sum({}, {n}, [&](auto&) { return Load(one, {zero}); })), symbols, {1, 1}},
      {Spec({one}, Sum({}, {n, m}, [&](auto&) { return Load(one, {zero}); })), both, {1, 1}},
      {Spec({one}, Sum({}, {fixed}, [&](auto&) { return Load(one, {zero}); })), {}, {1, 1}},
      {Spec({column}, Sum({8}, {n}, [&](const Indices& i) { return Load(column, {i[0]}); })),
       symbols,
       {8, 8}},
      {Spec({column}, Sum({8}, {m, n}, [&](const Indices& i) { return Load(column, {i[0]}); })),
       symbols,
       {8, 8}},
  };
  for (const bool quick : {false, true}) {
    CAPTURE(quick);
    KernelHarness harness(OptionsOf(quick));
    for (const Case& c : cases) harness.Add(c.spec);
    harness.Finish();
    for (size_t k = 0; k < cases.size(); ++k) {
      CAPTURE(k);
      CountingEnv env(3);
      CHECK(Call(harness, k, cases[k], env) == CountingEnv::kStopped);
      CHECK(env.polls == 3);
    }
  }
}

TEST_CASE("kernels poll: in a unit of many elements, after others that it needs") {
  const Tensor x = Input({kN, kM, kK}, 0);
  const Tensor sum = Compute("sum", {kN, kK}, [&](const Indices& i) {
    te::Axis m = MakeAxis("m", kM);
    return te::Reduce(ReduceKind::kSum, Load(x, {i[0], AxisValue(m), i[1]}), {m}, DType::kFloat32);
  });
  const Tensor share = Compute("share", {kN, kM, kK}, [&](const Indices& i) {
    return te::Binary(te::BinaryOp::kDivide, Load(x, i), Load(sum, {i[0], i[2]}));
  });
  constexpr int64_t kElements = 2'000'000;
  for (const bool quick : {false, true}) {
    CAPTURE(quick);
    KernelHarness harness(OptionsOf(quick));
    harness.Add(Spec({x}, share));
    harness.Finish();
    CountingEnv env(INT64_MAX);
    const Case c{
        Spec({x}, share), {{1, 1}, {2, 3}, {3, kElements}}, {3 * kElements, 3 * kElements}};
    CHECK(Call(harness, 0, c, env) == 0);
    CHECK(env.polls > 8);
  }
}

TEST_CASE("kernels poll: long ones do, short ones do not, and the result is the same") {
  te::Axis k = MakeAxis("k", kK);
  Tensor a = Input({kN, kK}, 0), b = Input({kM, kK}, 1), c = Input({kK, kM}, 1);
  Tensor x = Input({kN, kM}, 0);
  auto product = [&](bool transposed) {
    return Sum({kN, kM}, {k}, [&, transposed](const Indices& i) {
      Expr right = transposed ? Load(b, {i[1], AxisValue(k)}) : Load(c, {AxisValue(k), i[1]});
      return Load(a, {i[0], AxisValue(k)}) * right;
    });
  };
  te::Axis m = MakeAxis("m", kM);
  Tensor doubled = Compute("add", {kN, kM}, [&](const Indices& i) {
    return Load(x, {i[0], i[1]}) + Load(x, {i[0], i[1]});
  });
  Tensor rows = Sum({kN}, {m}, [&](const Indices& i) { return Load(x, {i[0], AxisValue(m)}); });
  struct Sized {
    KernelSpec spec;
    SymbolValues small, large;
    std::function<std::vector<size_t>(size_t n, size_t m, size_t k)> elements;
  };
  auto matrices = [](size_t n, size_t m, size_t k) {
    return std::vector<size_t>{n * k, k * m, n * m};
  };
  std::vector<Sized> cases = {
      {Spec({a, b}, product(true)),
       {{1, 4}, {2, 40}, {3, 30}},
       {{1, 300}, {2, 600}, {3, 500}},
       matrices},
      {Spec({a, c}, product(false)),
       {{1, 4}, {2, 40}, {3, 30}},
       {{1, 300}, {2, 600}, {3, 500}},
       matrices},
      {Spec({a, c}, product(false)),
       {{1, 1}, {2, 40}, {3, 30}},
       {{1, 1}, {2, 4000}, {3, 4000}},
       matrices},
      {Spec({x}, doubled),
       {{1, 30}, {2, 40}},
       {{1, 3}, {2, 1'500'000}},
       [](size_t n, size_t m, size_t) { return std::vector<size_t>{n * m, n * m}; }},
      {Spec({x}, rows),
       {{1, 30}, {2, 40}},
       {{1, 2'000'000}, {2, 3}},
       [](size_t n, size_t m, size_t) { return std::vector<size_t>{n * m, n}; }},
  };
  for (const bool quick : {false, true}) {
    CAPTURE(quick);
    KernelHarness harness(OptionsOf(quick));
    for (const Sized& s : cases) harness.Add(s.spec);
    harness.Finish();
    for (size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(i);
      for (SymbolValues symbols : {cases[i].small, cases[i].large}) {
        bool large = symbols == cases[i].large;
        Case sized{
            cases[i].spec, symbols,
            cases[i].elements(static_cast<size_t>(symbols[1]), static_cast<size_t>(symbols[2]),
                              static_cast<size_t>(symbols[3]))};
        CountingEnv counting(INT64_MAX);
        std::vector<float> polled, plain;
        CHECK(Call(harness, i, sized, counting, &polled) == 0);
        // Each unit of a quick one polls.
        if (large || !quick) CHECK((counting.polls > 0) == large);
        // A caller without a function to poll, and one that knows nothing of it.
        RelayvmKernelEnv none{sizeof(RelayvmKernelEnv), 1, nullptr, nullptr, nullptr};
        CHECK(Call(harness, i, sized, none, &plain) == 0);
        CHECK(polled == plain);
        RelayvmKernelEnv older{8, 1, reinterpret_cast<decltype(none.poll)>(1), nullptr, nullptr};
        CHECK(Call(harness, i, sized, older, &plain) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace relayvm
