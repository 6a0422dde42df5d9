#include "kernels/codegen/kernel_function.h"

#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include "kernels/codegen/contraction/describe.h"
#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/emitter.h"
#include "kernels/codegen/loops.h"
#include "kernels/codegen/ops.h"
#include "kernels/codegen/target.h"

namespace relayvm::codegen {

using llvm::Value;

KernelInterface KernelPlan::Interface() const {
  KernelInterface interface;
  interface.name = name;
  interface.symbols = symbols;
  if (contraction) {
    interface.parallel_extent = contraction->parallel_extent;
    interface.grain = contraction->grain;
    interface.scratch_bytes = contraction->scratch_bytes;
    interface.in_place = contraction->in_place;
  } else {
    interface.parallel_extent = loops->parallel_extent;
    interface.grain = loops->grain;
    interface.scratch_bytes = loops->scratch_bytes;
    interface.in_place = loops->in_place;
  }
  return interface;
}

namespace {

bool IsByValue(const KernelSpec& spec, size_t input) {
  return input < spec.by_value.size() && spec.by_value[input];
}

Status CheckSpec(const KernelSpec& spec) {
  // Emission recurses over inlined computations; a fused group is far smaller than this.
  constexpr size_t kMaxTensors = 2000;
  std::vector<te::Tensor> tensors = TensorsInOrder(spec.outputs);
  if (tensors.size() > kMaxTensors) {
    return Status(StatusCode::kUnsupported, fmt::format("kernel {} has {} tensors; the limit is {}",
                                                        spec.name, tensors.size(), kMaxTensors));
  }
  if (spec.outputs.empty()) {
    return Status(StatusCode::kInternal, fmt::format("kernel {} has no outputs", spec.name));
  }
  for (const te::Tensor& t : tensors) {
    for (const Dim& d : t->shape) {
      if (!d.ContainsAny()) continue;
      return Status(StatusCode::kInternal,
                    fmt::format("kernel {}: shape of {} contains an unknown dimension: {}",
                                spec.name, t->name, ShapeToString(t->shape)));
    }
    if (!t->is_placeholder()) continue;
    size_t i = static_cast<size_t>(t->input_index);
    if (t->input_index < 0 || i >= spec.inputs.size() || spec.inputs[i] != t) {
      return Status(StatusCode::kInternal, fmt::format("kernel {}: {} is read but is not input {}",
                                                       spec.name, t->name, t->input_index));
    }
    if (IsByValue(spec, i) && t->rank() != 0) {
      return Status(
          StatusCode::kInternal,
          fmt::format("kernel {}: input {} is by value but of rank {}", spec.name, i, t->rank()));
    }
  }
  return OkStatus();
}

// A canonical 64-bit scalar as the register form of its dtype.
Value* FromCanonical(Builder& b, Ops& ops, Value* v, DType t) {
  if (t == DType::kBool) return b.CreateICmpNE(v, b.getInt64(0));
  if (!IsFloat(t)) return b.CreateTrunc(v, ops.ValueType(t));
  Value* bits = b.CreateTrunc(v, b.getIntNTy(static_cast<unsigned>(DTypeBits(t))));
  return ops.FromMemory(b.CreateBitCast(bits, ops.MemoryType(t)), t);
}

llvm::Function* DeclareKernel(llvm::Module& module, const KernelPlan& plan,
                              const Machine& machine) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto* type = llvm::FunctionType::get(i32, {pointer, pointer, i32, i32}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, plan.name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->setDSOLocal(true);
  PrepareFunction(*function, machine, plan.features);
  for (unsigned i = 0; i < 2; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
  return function;
}

// Keeps what the kernel is beside its code, where `vmdump --kernels` reads it: LLVM makes strings
// in a section that is not loaded of it.
void NoteSchedule(llvm::Module& module, const KernelPlan& plan) {
  llvm::LLVMContext& context = module.getContext();
  const std::string what = plan.contraction ? DescribePlan(*plan.contraction)
                           : plan.is_minor  ? "loops, quick: next to nothing of the program's time"
                           : plan.loops->quick ? "loops, quick"
                                               : "loops";
  const std::string text = fmt::format("{}: {}", plan.name, what);
  module.getOrInsertNamedMetadata("llvm.commandline")
      ->addOperand(llvm::MDNode::get(context, llvm::MDString::get(context, text)));
}

}  // namespace

std::string WhyRefused(const std::optional<ContractionPlan>& plan) {
  const bool has_tile = plan && plan->attention == nullptr;
  return has_tile ? plan->refused : "it is no product or convolution";
}

Result<KernelPlan> PlanKernel(KernelSpec spec, std::string name, std::vector<Dim> symbols,
                              const ContractionTarget& target) {
  RELAYVM_RETURN_IF_ERROR(CheckSpec(spec));
  KernelPlan plan;
  plan.spec = std::move(spec);
  plan.name = std::move(name);
  plan.symbols = std::move(symbols);
  const bool is_asked =
      target.schedule != TileSchedule() || plan.spec.order.form != SumOrder::Form::kAny;
  if (!target.quick || is_asked) plan.contraction = PlanContraction(plan.spec, target);
  if (target.schedule != TileSchedule()) {
    const std::string refused = WhyRefused(plan.contraction);
    if (!refused.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("kernel {}: schedule {}: {}", plan.spec.name,
                                ToString(target.schedule), refused));
    }
  }
  if (!plan.contraction) {
    RELAYVM_ASSIGN_OR_RETURN(plan.loops, PlanLoops(plan.spec, target.quick));
  } else {
    plan.features = plan.contraction->features;
  }
  if (!target.byte_tables.empty() && std::ranges::any_of(plan.spec.inputs, [](const te::Tensor& t) {
        return MayBeByteTable(*t);
      })) {
    plan.features += plan.features.empty() ? "" : ",";
    plan.features += target.byte_tables;
  }
  return plan;
}

Status EmitKernel(KernelPlan& plan, const Machine& machine, llvm::Module& module) {
  const KernelSpec& spec = plan.spec;
  llvm::Function* function = DeclareKernel(module, plan, machine);
  const bool is_quick = plan.loops && plan.loops->quick;
  Builder b(machine, llvm::BasicBlock::Create(module.getContext(), "entry", function), is_quick);
  Emitter emitter(b, plan.loops ? &plan.loops->graph : nullptr);
  std::vector<std::pair<int, int>> in_place = plan.Interface().in_place;

  // RelayvmKernelArgs: buffers, scalars, scratch.
  Value* args = function->getArg(1);
  auto never_changes = [&](llvm::LoadInst* load) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    return load;
  };
  auto field = [&](int64_t i) {
    return never_changes(b.CreateLoad(b.getPtrTy(), At(b, b.getPtrTy(), args, i)));
  };
  Value* buffers = field(0);
  Value* scalars = field(1);
  Value* scratch = field(2);
  int64_t next_scalar = 0;
  auto scalar = [&] {
    return never_changes(
        b.CreateLoad(b.getInt64Ty(), At(b, b.getInt64Ty(), scalars, next_scalar++)));
  };
  for (const Dim& symbol : plan.symbols) emitter.BindSymbol(symbol.symbol_id(), scalar());
  int64_t next_buffer = 0;
  auto buffer = [&] {
    return never_changes(b.CreateLoad(b.getPtrTy(), At(b, b.getPtrTy(), buffers, next_buffer++)));
  };
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const te::TensorNode* input = spec.inputs[i].get();
    if (IsByValue(spec, i)) {
      emitter.BindValue(input, FromCanonical(b, emitter.ops(), scalar(), input->dtype));
      continue;
    }
    bool overwritten = false;
    for (const auto& [from, to] : in_place)
      overwritten = overwritten || from == static_cast<int>(i);
    emitter.BindBuffer(input, buffer(), /*constant=*/!overwritten);
  }
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    emitter.BindBuffer(plan.loops ? plan.loops->outputs[i].get() : spec.outputs[i].get(), buffer());
  }
  Value* begin = b.CreateZExt(function->getArg(2), b.getInt64Ty());
  Value* end = b.CreateZExt(function->getArg(3), b.getInt64Ty());
  if (plan.contraction) {
    RELAYVM_RETURN_IF_ERROR(EmitContraction(*plan.contraction, emitter, b, begin, end, scratch));
  } else {
    EmitLoops(*plan.loops, emitter, b, begin, end, scratch);
  }
  b.CreateRet(b.getInt32(0));
  NoteSchedule(module, plan);
  return OkStatus();
}

}  // namespace relayvm::codegen
