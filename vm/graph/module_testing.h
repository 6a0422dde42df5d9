// For tests of GraphModule: a module of testing.h's small graph, whose kernel counts its calls.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vm/graph/graph_folder.h"
#include "vm/graph/graph_module.h"
#include "vm/graph/testing.h"

namespace relayvm::graph::testing {

inline std::atomic<int> g_calls{0};
inline std::atomic<int> g_fails{0};  // the kernel's code from the first call on, once

// test.add of testing.h.
inline int32_t AddFloats(const RelayvmKernelEnv* /*env*/, const RelayvmKernelArgs* args,
                         uint32_t begin, uint32_t end) {
  ++g_calls;
  if (const int code = g_fails.exchange(0); code != 0) return code;
  const auto* a = static_cast<const float*>(args->buffers[0]);
  const auto* b = static_cast<const float*>(args->buffers[1]);
  auto* c = static_cast<float*>(args->buffers[2]);
  for (uint32_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
  return RELAYVM_KERNEL_OK;
}
inline const Builtin kAdd[] = {{"test.add", AddFloats}};

inline Value Tensor(const std::vector<float>& values) {
  return *Value::CopyTensor(DType::kFloat32, {{static_cast<int64_t>(values.size())}},
                            values.data());
}

inline std::unique_ptr<GraphModule> Make(uint32_t threads = 1,
                                         const GraphProgram& program = Small(),
                                         std::span<const Builtin> kernels = kAdd) {
  GraphOptions options;
  options.num_threads = threads;
  options.load.kernels = kernels;
  auto linked = LinkGraph(program, options.load);
  REQUIRE_MESSAGE(linked.ok(), linked.status().message());
  auto module = GraphModule::Create(*std::move(linked), options);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  return *std::move(module);
}

inline std::vector<float> Output(const GraphModule& module) {
  const auto value = module.GetOutput(0);
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  CHECK(std::ranges::equal(value->dims(), std::vector<int64_t>{2, 2}));
  const auto* f = static_cast<const float*>(value->data());
  return {f, f + value->num_elements()};
}

using Numbers = std::vector<float>;

}  // namespace relayvm::graph::testing
