// Numbers that a kernel checks as it reads them (te::Checked): those out of range end it with the
// number and what was expected, and nothing is read by them. Buffers end before a page that nobody
// may touch.
#include <array>

#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::Expr;
using te::Load;
using te::Tensor;
using Indices = std::vector<Expr>;

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");

Tensor Input(std::vector<Dim> shape, DType dtype, int index) {
  return te::Placeholder("x" + std::to_string(index), std::move(shape), dtype, index);
}

// x[i[j]] of an index that may count from the end; where there is a condition, 0 where it is 0.
KernelSpec Gathers(DType index, bool has_condition, int64_t number) {
  KernelSpec spec;
  spec.name = "gathers";
  spec.inputs = {Input({kN}, DType::kFloat32, 0), Input({kM}, index, 1)};
  if (has_condition) spec.inputs.push_back(Input({kM}, DType::kInt32, 2));
  spec.by_value.assign(spec.inputs.size(), false);
  spec.outputs = {te::Compute("out", {kM}, [&](const Indices& j) {
    const Expr given = te::Cast(Load(spec.inputs[1], j), DType::kInt64), n = te::DimValue(kN);
    const Expr i = te::Checked(given, te::IntImm(0) - n, n, number);
    const Expr x = Load(spec.inputs[0], {te::Select(i < te::IntImm(0), i + n, i)});
    if (!has_condition) return x;
    const Expr is_on = Load(spec.inputs[2], j) == te::IntImm(1, DType::kInt32);
    return te::Select(is_on, x, te::FloatImm(0, DType::kFloat32));
  })};
  return spec;
}

struct Called {
  int32_t code;
  RelayvmKernelFault fault;
  std::vector<float> out;
};

template <typename Index>
Called Call(const KernelHarness& harness, size_t k, int64_t n, const std::vector<Index>& indices,
            const std::vector<int32_t>* on) {
  const KernelInterface& interface = harness.interface(k);
  const auto m = static_cast<int64_t>(indices.size());
  GuardedBuffer x(static_cast<size_t>(n) * 4), at(indices.size() * sizeof(Index)),
      condition(indices.size() * 4), out(indices.size() * 4);
  for (int64_t i = 0; i < n; ++i) reinterpret_cast<float*>(x.data())[i] = static_cast<float>(i + 1);
  CopyBytes(indices.data(), indices.size() * sizeof(Index), at.data());
  std::vector<void*> buffers = {x.data(), at.data()};
  if (on != nullptr) {
    CopyBytes(on->data(), on->size() * 4, condition.data());
    buffers.push_back(condition.data());
  }
  buffers.push_back(out.data());
  const SymbolValues symbols = {{1, n}, {2, m}};
  const auto value_of = [&](const Dim& d) { return *d.Evaluate(SymbolsOf(symbols)); };
  std::vector<int64_t> scalars;
  for (const Dim& s : interface.symbols) scalars.push_back(value_of(s));
  Called called{};
  RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1};
  env.fault = &called.fault;
  RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  const auto units = static_cast<uint32_t>(value_of(interface.parallel_extent));
  called.code = harness.function(k)(&env, &args, 0, units);
  // Who has no place for what was found is told the code alone.
  env.fault = nullptr;
  CHECK(harness.function(k)(&env, &args, 0, units) == called.code);
  env.struct_size = offsetof(RelayvmKernelEnv, fault);
  CHECK(harness.function(k)(&env, &args, 0, units) == called.code);
  const auto* values = reinterpret_cast<const float*>(out.data());
  called.out.assign(values, values + m);
  CHECK(out.GuardIsWhole());
  return called;
}

template <typename Index>
void CheckLevel(const std::string& cpu, DType dtype) {
  CAPTURE(cpu);
  KernelOptions options;
  options.machine = MachineNamed(cpu);
  KernelHarness harness(options);
  const size_t plain = harness.Add(Gathers(dtype, false, 1));
  const size_t guarded = harness.Add(Gathers(dtype, true, 2));
  harness.Finish();
  constexpr int64_t n = 5;
  for (const int64_t m : {1, 2, 3, 4, 7, 8, 9, 16, 31, 40}) {
    CAPTURE(m);
    std::vector<Index> fine;
    std::vector<float> expected;
    for (int64_t j = 0; j < m; ++j) {
      const int64_t i = j * 7 % (2 * n) - n;
      fine.push_back(static_cast<Index>(i));
      expected.push_back(static_cast<float>((i < 0 ? i + n : i) + 1));
    }
    Called called = Call(harness, plain, n, fine, nullptr);
    CHECK(called.code == 0);
    CHECK(called.out == expected);
    for (int64_t at = 0; at < m; ++at) {
      for (const Index bad : {Index{n}, Index{-n - 1}, std::numeric_limits<Index>::min(),
                              std::numeric_limits<Index>::max()}) {
        std::vector<Index> wrong = fine;
        wrong[static_cast<size_t>(at)] = bad;
        called = Call(harness, plain, n, wrong, nullptr);
        CHECK(called.code == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
        CHECK(called.fault.given == 1);
        CHECK(called.fault.found == bad);
        CHECK(called.fault.least == -n);
        CHECK(called.fault.most == n - 1);
        // What is not asked for is not read, nor checked.
        std::vector<int32_t> on(static_cast<size_t>(m), 1);
        on[static_cast<size_t>(at)] = 0;
        called = Call(harness, guarded, n, wrong, &on);
        CHECK(called.code == 0);
        std::vector<float> rest = expected;
        rest[static_cast<size_t>(at)] = 0;
        CHECK(called.out == rest);
        on[static_cast<size_t>(at)] = 1;
        called = Call(harness, guarded, n, wrong, &on);
        CHECK(called.code == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
        CHECK(called.fault.given == 2);
        CHECK(called.fault.found == bad);
      }
    }
  }
}

TEST_CASE("a number out of range ends the kernel, and says which it is") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (!Runs(cpu)) continue;
    CheckLevel<int64_t>(cpu, DType::kInt64);
    CheckLevel<int32_t>(cpu, DType::kInt32);
  }
}

}  // namespace
}  // namespace relayvm
