// For tests of operators given by a builtin: runs the relation and the choice of the builtin on
// types alone. The builtins themselves are tested beside their code. For tests only.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kernels/op/testing.h"
#include "kernels/runtime/builtin.h"
#include "kernels/runtime/signature.h"

namespace relayvm::op_testing {

struct BuiltinPlan {
  std::vector<TensorType> results;
  BuiltinCall call;
  std::vector<TensorType> upper_bound;  // of operators with counts
  std::vector<Guard> guards;
};

// `elements[i]`: what is known of the contents of argument i.
inline Result<BuiltinPlan> PlanBuiltin(const std::string& name, const AttrMap& given,
                                       const std::vector<TensorType>& args,
                                       const std::map<size_t, std::vector<Dim>>& elements = {}) {
  const OpDef* op = OpTable::Get().Find(name);
  REQUIRE_MESSAGE((op != nullptr), name);
  Attrs partial;
  for (const auto& [key, value] : given) partial.Set(key, value);
  RELAYVM_ASSIGN_OR_RETURN(Attrs attrs, CompleteAttrs(*op, partial));
  std::vector<ArgType> types;
  std::vector<te::Tensor> inputs;
  for (const TensorType& t : args) {
    types.push_back({false, {t}});
    inputs.push_back(te::Placeholder("p", t.shape, t.dtype, static_cast<int>(inputs.size())));
  }
  CHECK((op->num_args < 0 || op->num_args == static_cast<int>(args.size())));
  FakeContext ctx(attrs, types);
  for (const auto& [i, dims] : elements) ctx.elements[i] = dims;
  RELAYVM_ASSIGN_OR_RETURN(OpResult result, op->infer(ctx));
  BuiltinPlan plan{result.tensors, {}, {}, ctx.guards};
  const ComputeContext context{attrs, inputs, plan.results};
  plan.call = op->builtin(context);
  if (op->upper_bound) plan.upper_bound = op->upper_bound(context);
  if (FindBuiltin(plan.call.name) != nullptr) {
    KnownCalls().try_emplace(name, attrs, types, ctx.elements, ctx.floats);
  }
  return plan;
}

// That a call of these types is one that the builtin takes. Symbols are 4.
inline void CheckTakes(const BuiltinPlan& plan, const std::vector<TensorType>& args) {
  const auto& all = Builtins();
  const auto builtin = std::find_if(all.begin(), all.end(),
                                    [&](const Builtin& b) { return b.name == plan.call.name; });
  REQUIRE((builtin != all.end()));
  const te::SymbolFn four = [](uint32_t) { return std::optional<int64_t>(4); };
  std::vector<int64_t> scalars;
  const auto describe = [&](const TensorType& t) {
    scalars.push_back(static_cast<int64_t>(t.dtype));
    scalars.push_back(t.rank());
    for (const Dim& d : t.shape) scalars.push_back(d.Evaluate(four).value_or(-1));
  };
  for (const TensorType& t : args) describe(t);
  const std::vector<TensorType>& room = plan.upper_bound.empty() ? plan.results : plan.upper_bound;
  for (const TensorType& t : room) describe(t);
  const size_t num_tensors = args.size() + room.size();
  CHECK(builtin->num_tensors == static_cast<int>(num_tensors));
  CHECK(builtin->num_params <= static_cast<int>(plan.call.params.size()));
  for (const Dim& d : plan.call.params) scalars.push_back(d.Evaluate(four).value_or(-1));
  const std::vector<void*> buffers(num_tensors);
  const RelayvmKernelArgs call{buffers.data(), scalars.data(), nullptr};
  const RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1};
  CHECK(CheckCall(Signature::Parse(builtin->signature),
                  CallArgs(&env, &call, builtin->num_tensors)) == RELAYVM_KERNEL_OK);
}

// The relation gives `results`, and the kernel is `kernel` with `params`.
inline void CheckBuiltin(const std::string& name, const AttrMap& given,
                         const std::vector<TensorType>& args,
                         const std::vector<TensorType>& results, const std::string& kernel,
                         const std::vector<Dim>& params) {
  CAPTURE(name);
  const auto plan = PlanBuiltin(name, given, args);
  REQUIRE_MESSAGE(plan.ok(), plan.status().ToString());
  CHECK((plan->results == results));
  CHECK(plan->call.name == kernel);
  CHECK((plan->call.params == params));
  CheckTakes(*plan, args);
}

inline void CheckBuiltinFails(const std::string& name, const AttrMap& given,
                              const std::vector<TensorType>& args, const std::string& message) {
  CAPTURE(name);
  const auto plan = PlanBuiltin(name, given, args);
  REQUIRE(!plan.ok());
  CHECK_MESSAGE(plan.status().message().find(message) != std::string::npos,
                plan.status().ToString());
}

inline TensorType Float(std::vector<Dim> shape) { return {std::move(shape), DType::kFloat32}; }
inline TensorType Int32(std::vector<Dim> shape) { return {std::move(shape), DType::kInt32}; }
inline TensorType Int64(std::vector<Dim> shape) { return {std::move(shape), DType::kInt64}; }
inline Dim Symbol(uint32_t id, bool nonnegative = true) {
  return Dim::Symbol(id, "s" + std::to_string(id), nonnegative);
}

}  // namespace relayvm::op_testing
