#include "tests/fuzz/graph_target.h"

#include <algorithm>

#include "compiler/driver.h"
#include "compiler/graph/build_graph.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/format/graph_json.h"
#include "vm/graph/format/verify.h"
#include "vm/graph/graph_folder.h"
#include "vm/graph/graph_module.h"

namespace relayvm::fuzz {
namespace {

// Builtins with one result and several, in place, with views of their results.
constexpr const char* kProgram = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(6, 8), float32], %at: Tensor[(6, 8), int64]) {
  let %a = cumsum(%x, axis=1);
  let %b = topk(%a, k=4, axis=1, ret_type="both");
  let %c = sort(reshape(%b.0, newshape=[24]), axis=0);
  let %d = scatter_elements(%a, %at, %x, axis=1);
  let %e = cumsum(%d, axis=0);
  (%b.1, %c, argsort(%e, axis=1), reshape(%e, newshape=[48]))
}
)";
// Sizes that a damaged graph may ask for and that still run quickly.
constexpr uint64_t kMostBytes = 1 << 22;

}  // namespace

struct GraphTarget::Impl {
  graph::LoadedGraph loaded;
  std::string json;
};

GraphTarget::GraphTarget(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GraphTarget::~GraphTarget() = default;

Result<std::shared_ptr<const GraphTarget>> GraphTarget::Make() {
  const std::string text = kProgram;
  CompileOptions options;
  options.content = SharedBytes::Copy(std::as_bytes(std::span(text)));
  options.for_graph = true;
  options.kernels.machine = options.pipeline.machine = MachineNamed("x86-64-v2");
  RELAYVM_ASSIGN_OR_RETURN(const Compiled compiled, CompileFile("fuzz.relay", options));
  RELAYVM_ASSIGN_OR_RETURN(const graph::GraphProgram program, graph::BuildGraph(compiled.program));
  if (std::ranges::any_of(program.kernels.kernels, [](const KernelInfo& k) { return !k.builtin; }))
    return Status(StatusCode::kInternal, "the graph to damage has a compiled kernel");
  auto impl = std::make_unique<Impl>();
  RELAYVM_ASSIGN_OR_RETURN(impl->loaded, graph::LinkGraph(program));
  RELAYVM_ASSIGN_OR_RETURN(impl->json, graph::GraphToJson(program.graph, program.kernels));
  return std::shared_ptr<const GraphTarget>(new GraphTarget(std::move(impl)));
}

std::vector<std::string> GraphTarget::Seeds() const { return {impl_->json}; }

Status GraphTarget::Run(const std::string& json) const {
  graph::LoadedGraph damaged = impl_->loaded;
  RELAYVM_ASSIGN_OR_RETURN(damaged.graph, graph::ParseGraphJson(json));
  RELAYVM_RETURN_IF_ERROR(
      graph::VerifyParts(damaged.graph, damaged.kernels->program(), damaged.params));
  uint64_t bytes = 0;
  for (const graph::StorageInfo& storage : graph::StoragesOf(damaged.graph)) bytes += storage.bytes;
  for (const graph::Node& node : damaged.graph.nodes)
    bytes += static_cast<uint64_t>(node.scratch_bytes);
  if (bytes > kMostBytes) return OkStatus();
  RELAYVM_ASSIGN_OR_RETURN(const auto module, GraphModule::Create(std::move(damaged)));
  for (size_t i = 0; i < module->num_inputs(); ++i) {
    const GraphTensor input = module->input(i);
    RELAYVM_ASSIGN_OR_RETURN(Value value, Value::NewTensor(input.dtype, input.dims));
    auto* elements = static_cast<unsigned char*>(value.mutable_data());
    for (size_t b = 0; b < value.bytes(); ++b)
      elements[b] = static_cast<unsigned char>(b % 8 == 0 ? b / 8 % 8 : 0);
    RELAYVM_RETURN_IF_ERROR(module->SetInput(i, value));
  }
  RELAYVM_RETURN_IF_ERROR(module->Run());
  for (size_t i = 0; i < module->num_outputs(); ++i)
    RELAYVM_RETURN_IF_ERROR(module->GetOutput(i).status());
  return OkStatus();
}

}  // namespace relayvm::fuzz
