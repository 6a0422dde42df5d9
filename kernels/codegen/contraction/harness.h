// For tests of contractions: groups built from the operators' own definitions, checked to be
// planned as contractions.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/kernel_harness.h"
#include "kernels/op/op.h"

namespace relayvm {

inline te::Tensor Input(std::vector<Dim> shape, int index, DType dtype = DType::kFloat32) {
  return te::Placeholder("x" + std::to_string(index), std::move(shape), dtype, index);
}

inline KernelSpec Spec(std::string name, std::vector<te::Tensor> inputs,
                       std::vector<te::Tensor> outputs) {
  KernelSpec spec;
  spec.name = std::move(name);
  spec.by_value.assign(inputs.size(), false);
  spec.inputs = std::move(inputs);
  spec.outputs = std::move(outputs);
  return spec;
}

// The result of operator `name`, by its definition.
inline te::Tensor Apply(std::string_view name, const Attrs& given,
                        const std::vector<te::Tensor>& inputs, std::vector<Dim> shape,
                        DType dtype) {
  const OpDef* op = OpTable::Get().Find(name);
  REQUIRE(op != nullptr);
  auto attrs = CompleteAttrs(*op, given);
  REQUIRE_MESSAGE(attrs.ok(), attrs.status().ToString());
  const std::vector<TensorType> outputs = {{std::move(shape), dtype}};
  return op->compute({*attrs, inputs, outputs})[0];
}

// t with fn applied to each element: fn(element, indices).
template <typename Fn>
te::Tensor Map(const te::Tensor& t, const Fn& fn) {
  return te::Compute("map", t->shape,
                     [&](const std::vector<te::Expr>& i) { return fn(te::Load(t, i), i); });
}
inline te::Tensor Relu(const te::Tensor& t) {
  return Map(t, [&](const te::Expr& x, const auto&) {
    return te::Binary(te::BinaryOp::kMax, x, te::Const(0, t->dtype));
  });
}
inline te::Tensor AddBias(const te::Tensor& t, const te::Tensor& bias, size_t axis) {
  return Map(t, [&](const te::Expr& x, const auto& i) { return x + te::Load(bias, {i[axis]}); });
}
inline te::Tensor AddTensor(const te::Tensor& t, const te::Tensor& other) {
  return Map(t, [&](const te::Expr& x, const auto& i) { return x + te::Load(other, i); });
}

// Whether what kernels for it use is here but for AMX, which amx_emulator.h replaces.
inline bool HasSapphireRapids() {
  return CpuFeatures::OfThisMachine().Missing("x86-64-v4,avx512bf16,avx512vnni").empty();
}
// The targets that this machine runs: its own alone where it is limited to what an older one has,
// since those below come in the run without a limit.
inline std::vector<std::string> Targets() {
  std::vector<std::string> targets = {"native"};
  if (std::getenv("RELAYVM_MAX_CPU_LEVEL") != nullptr) return targets;
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (Runs(level)) targets.emplace_back(level);
  }
  return targets;
}
// The same, where AMX is emulated.
inline std::vector<std::string> TargetsWithAmx() {
  std::vector<std::string> targets = Targets();
  if (HasSapphireRapids()) targets.emplace_back("sapphirerapids");
  return targets;
}

inline bool IsContraction(const KernelSpec& spec, const std::string& cpu = "native") {
  return codegen::PlanContraction(spec, codegen::ContractionTarget{MachineNamed(cpu)}).has_value();
}

// Kernels that are compiled together, each checked at several values of its symbols.
class ContractionCases {
 public:
  explicit ContractionCases(std::string cpu = "native", TileSchedules schedules = {},
                            bool exact = true)
      : cpu_(std::move(cpu)),
        harness_(
            {.machine = MachineNamed(cpu_), .exact = exact, .schedules = std::move(schedules)}) {}

  void Add(const KernelSpec& spec, std::vector<SymbolValues> values = {{}}) {
    REQUIRE_MESSAGE(IsContraction(spec, cpu_), spec.name);
    // Sums of float16 have their roundings prescribed.
    const bool exact = spec.outputs[0]->dtype == DType::kFloat16;
    cases_.push_back({harness_.Add(spec), std::move(values), exact ? 0 : 1e-3});
  }
  void Check() {
    harness_.Finish();
    for (const Case& c : cases_) {
      for (const SymbolValues& values : c.values) {
        std::string at;
        for (const auto& [id, value] : values) at += fmt::format(" {}", value);
        INFO("symbols", at);
        harness_.Check(c.kernel, values, c.tolerance);
      }
    }
  }

 private:
  struct Case {
    size_t kernel;
    std::vector<SymbolValues> values;
    double tolerance;
  };
  std::string cpu_;
  KernelHarness harness_;
  std::vector<Case> cases_;
};

}  // namespace relayvm
