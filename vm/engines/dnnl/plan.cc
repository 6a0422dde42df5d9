#include "vm/engines/dnnl/plan.h"

#include <algorithm>
#include <array>

namespace relayvm::onednn {

void* Plan::Locate(const Place& place, const RunData& data) const {
  switch (place.kind) {
    case Place::Kind::kInput:
      return data.inputs[place.index].data;
    case Place::Kind::kOutput:
      return data.outputs[place.index].data;
    // Only read.
    case Place::Kind::kConstant:
      return const_cast<void*>(constants->data(static_cast<uint32_t>(place.index)));
    case Place::Kind::kPacked:
      return packed[place.index]->bytes.data();
    case Place::Kind::kScratch:
      return static_cast<char*>(data.scratch) + place.index;
    case Place::Kind::kNone:
      break;
  }
  return nullptr;
}

Result<std::unique_ptr<Plan::Context>> Plan::MakeContext() const {
  auto context = std::make_unique<Context>();
  RELAYVM_ASSIGN_OR_RETURN(context->stream, Stream::Create());
  for (size_t i = 0; i < memories.size(); ++i) {
    const PlanMemory& m = memories[i];
    if (m.place.kind == Place::Kind::kPacked) {
      context->memories.push_back(packed[m.place.index]->memory);
      continue;
    }
    const bool is_fixed = m.place.kind == Place::Kind::kConstant;
    RELAYVM_ASSIGN_OR_RETURN(Memory memory,
                             Memory::Over(m.desc, is_fixed ? Locate(m.place, {}) : nullptr));
    context->memories.push_back(std::move(memory));
    if (!is_fixed) context->moving.push_back(static_cast<uint32_t>(i));
  }
  for (const PlanStep& step : steps) {
    std::vector<dnnl_exec_arg_t>& args = context->args.emplace_back();
    if (!step.primitive) continue;
    for (const PlanStep::Arg& a : step.args) {
      args.push_back({a.arg, context->memories[a.memory].get()});
    }
  }
  return context;
}

Status Plan::CheckTensors(const RunData& data) const {
  const auto fit = [](std::span<const RelayvmRegionTensor> tensors,
                      const std::vector<Type>& types) {
    if (tensors.size() != types.size()) return false;
    for (size_t i = 0; i < types.size(); ++i) {
      const RelayvmRegionTensor& t = tensors[i];
      if (t.dtype != static_cast<int32_t>(types[i].dtype) || t.rank != types[i].dims.size() ||
          !std::equal(types[i].dims.begin(), types[i].dims.end(), t.dims)) {
        return false;
      }
    }
    return true;
  };
  if (fit(data.inputs, inputs) && fit(data.outputs, outputs)) return OkStatus();
  return InvalidInput("the tensors of a run are not of the plan's types");
}

Status Plan::Run(const RunData& data) {
  RELAYVM_RETURN_IF_ERROR(CheckTensors(data));
  std::unique_ptr<Context> context;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      context = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (context == nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(context, MakeContext());
  }
  Status status;
  for (const uint32_t m : context->moving) {
    status = context->memories[m].SetData(Locate(memories[m].place, data));
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i != 0 && data.env->poll != nullptr && data.env->poll(data.env) != 0) {
      status = Status(StatusCode::kCancelled, "the run is to stop");
      break;
    }
    const PlanStep& step = steps[i];
    if (step.primitive) {
      status = context->stream.Execute(step.primitive, context->args[i]);
    } else {
      std::array<void*, 8> at = {};
      for (size_t k = 0; k < step.args.size(); ++k) {
        at[k] = Locate(memories[step.args[k].memory].place, data);
      }
      step.native(std::span(at).first(step.args.size()));
    }
    if (!status.ok()) break;
  }
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(context));
  return status;
}

}  // namespace relayvm::onednn
