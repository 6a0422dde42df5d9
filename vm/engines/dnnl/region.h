// A region: its graph, the constants, and the plans of the last sizes that it was asked for. All
// but Create may be called by several threads at once. Tested by dnnl_test.cc.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "bytecode/region_abi.h"
#include "vm/engines/dnnl/constants.h"
#include "vm/engines/dnnl/graph.h"
#include "vm/engines/dnnl/operators.h"
#include "vm/engines/dnnl/plan.h"

namespace relayvm::onednn {

class Region {
 public:
  // Plans beyond these are given up, the longest unused first; who holds one keeps it.
  static constexpr size_t kMaxPlans = 64;

  // Checks everything that can be told without sizes; without symbols, makes the plan.
  static Result<std::unique_ptr<Region>> Create(std::string_view json,
                                                std::span<const RelayvmRegionTensor> constants);

  // The plan of these sizes for runs on so many threads, held for the caller.
  Result<HeldPlan> Prepare(std::span<const int64_t> dims, uint32_t num_threads);
  Status Run(Plan* plan, const RunData& data);

 private:
  Region(Graph graph, std::vector<const void*> constants)
      : graph_(std::move(graph)), constants_(std::move(constants)) {}

  Result<HeldPlan> Build(std::span<const int64_t> dims, int threads);
  // The plan of these, held for the caller.
  Result<HeldPlan> Find(std::span<const int64_t> dims, int threads);

  const Graph graph_;
  Constants constants_;
  std::vector<BuildFn> operators_;  // of each node; null of inputs and constants
  std::mutex mutex_;
  std::list<HeldPlan> plans_;  // the last used first
};

}  // namespace relayvm::onednn
