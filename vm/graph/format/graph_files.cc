#include "vm/graph/format/graph_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "bytecode/base/file_replacement.h"
#include "bytecode/base/guarded.h"
#include "bytecode/regions.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"
#include "vm/graph/format/graph_json.h"
#include "vm/graph/format/verify.h"

namespace relayvm::graph {
namespace {

std::string TypeText(DType dtype, const std::vector<int64_t>& dims) {
  return fmt::format("Tensor[({}), {}]", fmt::join(dims, ", "), DTypeName(dtype));
}

// `type` is a tensor of this static type.
bool Is(const ValueType& type, const Entry& entry) {
  return type.kind == ValueType::Kind::kTensor && type.dtype == entry.dtype &&
         type.dims == entry.dims;
}

// The tensors of a result, depth first through tuples. REQUIRES: VerifyProgram bounded the depth.
void CollectTensors(const ValueType& type, std::vector<const ValueType*>& tensors) {
  if (type.kind != ValueType::Kind::kTuple) {
    tensors.push_back(&type);
    return;
  }
  for (const ValueType& field : type.args) CollectTensors(field, tensors);
}

Status CheckSignature(const Graph& graph, const Program& kernels, const TensorsByName& params) {
  if (kernels.exports.size() != 1)
    return InvalidInput(
        fmt::format("expected one function in kernels.vmx, found {}", kernels.exports.size()));
  const ExportInfo& signature = kernels.exports[0];
  std::unordered_map<std::string_view, const Node*> inputs;
  for (const uint32_t n : graph.inputs) inputs.emplace(graph.nodes[n].name, &graph.nodes[n]);
  // Those of regions are nobody's weights.
  const std::vector<bool> of_regions = ConstantsOfRegions(kernels);
  const size_t weights = params.size() + static_cast<size_t>(std::ranges::count(of_regions, false));
  if (signature.params.size() + weights != inputs.size())
    return InvalidInput(
        fmt::format("the graph has {} inputs; expected {} parameters and {} weights", inputs.size(),
                    signature.params.size(), weights));
  std::unordered_map<std::string_view, bool> seen;
  for (size_t i = 0; i < signature.params.size(); ++i) {
    const std::string& name = signature.param_names[i];
    const auto found = inputs.find(name);
    if (found == inputs.end() || !seen.emplace(name, true).second)
      return InvalidInput(fmt::format("the graph has no input for parameter {} ({})", i, name));
    if (!Is(signature.params[i], found->second->outputs[0]))
      return InvalidInput(
          fmt::format("input {}: the graph's type, {}, is not its parameter's", name,
                      TypeText(found->second->outputs[0].dtype, found->second->outputs[0].dims)));
  }
  const auto check_weight = [&](const std::string& name, DType dtype,
                                const std::vector<int64_t>& dims) -> Status {
    const auto found = inputs.find(name);
    if (found == inputs.end() || !seen.emplace(name, true).second)
      return InvalidInput(fmt::format("weight {}: the graph has no input of that name", name));
    const Entry& entry = found->second->outputs[0];
    if (entry.dtype == dtype && entry.dims == dims) return OkStatus();
    return InvalidInput(fmt::format("weight {}: expected {}, found {}", name,
                                    TypeText(entry.dtype, entry.dims), TypeText(dtype, dims)));
  };
  for (const auto& [name, tensor] : params) {
    RELAYVM_RETURN_IF_ERROR(check_weight(name, tensor.dtype, tensor.shape));
    const Entry& entry = inputs.at(name)->outputs[0];
    if (tensor.data.size() != BytesOf(entry))
      return InvalidInput(fmt::format("weight {}: expected {} bytes, found {}", name,
                                      BytesOf(entry), tensor.data.size()));
  }
  for (size_t i = 0; i < kernels.constants.size(); ++i) {
    const ConstantInfo& c = kernels.constants[i];
    if (!of_regions[i]) RELAYVM_RETURN_IF_ERROR(check_weight(c.name, c.dtype, c.dims));
  }
  std::vector<const ValueType*> results;
  CollectTensors(signature.result, results);
  if (results.size() != graph.heads.size())
    return InvalidInput(
        fmt::format("the graph has {} results, expected {}", graph.heads.size(), results.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    const EntryRef head = graph.heads[i];
    const Entry& entry = graph.nodes[head.node].outputs[head.output];
    if (!Is(*results[i], entry))
      return InvalidInput(fmt::format("result {}: the graph's type, {}, is not its function's", i,
                                      TypeText(entry.dtype, entry.dims)));
  }
  return OkStatus();
}

}  // namespace

Status VerifyParts(const Graph& graph, const Program& kernels, const TensorsByName& params) {
  RELAYVM_RETURN_IF_ERROR(VerifyGraph(graph, kernels));
  return CheckSignature(graph, kernels, params);
}

Status SaveGraph(const GraphProgram& program, const std::string& folder) {
  return Guarded([&]() -> Status {
    RELAYVM_RETURN_IF_ERROR(VerifyProgram(program.kernels));
    RELAYVM_RETURN_IF_ERROR(VerifyParts(program.graph, program.kernels, program.params));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder, error))
      return InvalidInput(fmt::format("{}: expected a folder, or room for one: {}", folder,
                                      error ? error.message() : "it is a file"));
    RELAYVM_ASSIGN_OR_RETURN(const std::string json, GraphToJson(program.graph, program.kernels));
    RELAYVM_RETURN_IF_ERROR(WriteProgramFile(program.kernels, folder + kKernelsFile));
    RELAYVM_RETURN_IF_ERROR(WriteTvmParams(folder + kParamsFile, program.params));
    return WriteFile(folder + kGraphFile, json);
  });
}

}  // namespace relayvm::graph
