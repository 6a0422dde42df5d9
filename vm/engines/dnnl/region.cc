#include "vm/engines/dnnl/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vm/engines/dnnl/threads.h"

namespace relayvm::onednn {
namespace {

constexpr uint32_t kMostThreads = 1024;

Status CheckConstants(const Graph& graph, std::span<const RelayvmRegionTensor> constants) {
  if (constants.size() != graph.constants.size()) {
    return InvalidInput(
        fmt::format("{} constants, the JSON has {}", constants.size(), graph.constants.size()));
  }
  for (size_t i = 0; i < constants.size(); ++i) {
    const Node& node = graph.nodes[graph.constants[i]];
    const TensorType& type = node.outputs[0];
    const RelayvmRegionTensor& t = constants[i];
    bool fits = t.dtype == static_cast<int32_t>(type.dtype) && t.rank == type.shape.size();
    for (size_t d = 0; fits && d < type.shape.size(); ++d) {
      fits = type.shape[d].is_known() && t.dims[d] == type.shape[d].value;
    }
    if (!fits) return node.Invalid(fmt::format("constant {} is not of this type", i));
    RELAYVM_ASSIGN_OR_RETURN(const Dims dims, ResolveDims(type, {}));
    const bool is_empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
    if (t.data == nullptr && !is_empty) return node.Invalid(fmt::format("constant {} is null", i));
  }
  return OkStatus();
}

// Further outputs of a kernel (a batch normalisation has its statistics there) are not made, but by
// cells.
Status CheckFirstOutputs(const Graph& graph) {
  const auto check = [&](ValueRef v) -> Status {
    if (v.output == 0 || FindRecurrent(graph.nodes[v.node].op) != nullptr) return OkStatus();
    return graph.nodes[v.node].Unsupported(fmt::format("output {} is used", v.output));
  };
  for (const Node& node : graph.nodes) {
    for (const ValueRef& v : node.inputs) RELAYVM_RETURN_IF_ERROR(check(v));
  }
  for (const ValueRef& v : graph.heads) RELAYVM_RETURN_IF_ERROR(check(v));
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Region>> Region::Create(std::string_view json,
                                               std::span<const RelayvmRegionTensor> constants) {
  RELAYVM_ASSIGN_OR_RETURN(Graph graph, ParseGraph(json));
  RELAYVM_RETURN_IF_ERROR(CheckFirstOutputs(graph));
  RELAYVM_RETURN_IF_ERROR(CheckConstants(graph, constants));
  std::vector<const void*> data;
  for (const RelayvmRegionTensor& t : constants) data.push_back(t.data);
  graph.constant_data = data;
  std::unique_ptr<Region> region(new Region(std::move(graph), std::move(data)));
  const Graph& g = region->graph_;
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    BuildFn build;
    if (g.nodes[i].kind == Node::Kind::kKernel) {
      RELAYVM_ASSIGN_OR_RETURN(build, MakeOperator(g, i));
    }
    region->operators_.push_back(std::move(build));
  }
  if (g.symbols.empty()) {
    const Result<HeldPlan> plan = region->Prepare({}, static_cast<uint32_t>(MaxThreads()));
    if (!plan.ok()) return plan.status();
  }
  return region;
}

Result<HeldPlan> Region::Build(std::span<const int64_t> dims, int threads) {
  const ThreadLimit limit(threads);
  PlanBuilder builder(graph_, constants_, {dims.begin(), dims.end()});
  for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    Status status = builder.PlaceFixed(i);
    if (status.ok() && operators_[i] && !builder.Get({i, 0}).desc.is_empty()) {
      status = operators_[i](builder);
    }
    if (!status.ok()) return node.Located(status);
    builder.Done(i);
  }
  RELAYVM_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, builder.Finish());
  plan->threads = threads;
  const auto type_of = [&](ValueRef v, std::vector<Plan::Type>* types) -> Status {
    RELAYVM_ASSIGN_OR_RETURN(Dims resolved, ResolveDims(graph_.TypeOf(v), plan->symbols));
    types->push_back({std::move(resolved), graph_.TypeOf(v).dtype});
    return OkStatus();
  };
  for (const uint32_t i : graph_.inputs) RELAYVM_RETURN_IF_ERROR(type_of({i, 0}, &plan->inputs));
  for (const ValueRef& v : graph_.heads) RELAYVM_RETURN_IF_ERROR(type_of(v, &plan->outputs));
  return HeldPlan(plan.release());
}

Result<HeldPlan> Region::Find(std::span<const int64_t> dims, int threads) {
  // REQUIRES: mutex_ is held.
  const auto find = [&]() -> HeldPlan {
    for (auto it = plans_.begin(); it != plans_.end(); ++it) {
      Plan& plan = **it;
      if (plan.threads != threads ||
          !std::equal(dims.begin(), dims.end(), plan.symbols.begin(), plan.symbols.end())) {
        continue;
      }
      if (it != plans_.begin()) plans_.splice(plans_.begin(), plans_, it);
      plan.Hold();
      return HeldPlan(&plan);
    }
    return nullptr;
  };
  {
    const std::lock_guard lock(mutex_);
    if (HeldPlan plan = find()) return plan;
  }
  RELAYVM_ASSIGN_OR_RETURN(HeldPlan built, Build(dims, threads));
  std::list<HeldPlan> given_up;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  if (HeldPlan other = find()) return other;  // another thread was faster
  built->Hold();
  HeldPlan result(built.get());
  plans_.push_front(std::move(built));
  if (plans_.size() > kMaxPlans) given_up.splice(given_up.end(), plans_, std::prev(plans_.end()));
  return result;
}

Result<HeldPlan> Region::Prepare(std::span<const int64_t> dims, uint32_t num_threads) {
  if (dims.size() != graph_.symbols.size()) {
    return InvalidInput(fmt::format("{} dims for {} symbols", dims.size(), graph_.symbols.size()));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      return InvalidInput(fmt::format("{} is {}", graph_.symbols[i].substr(0, 40), dims[i]));
    }
  }
  // Primitives divide their work when they are made.
  return Find(dims,
              GivenThreads(static_cast<int>(std::clamp<uint32_t>(num_threads, 1, kMostThreads))));
}

Status Region::Run(Plan* plan, const RunData& data) {
  const ThreadLimit limit(plan->threads);
  return plan->Run(data);
}

}  // namespace relayvm::onednn
