#include "vm/graph/graph_folder.h"

#include <utility>

#include "bytecode/base/guarded.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/format/graph_json.h"

namespace relayvm::graph {

Result<LoadedGraph> LoadGraph(const std::string& folder, const LoadOptions& options) {
  return Guarded([&]() -> Result<LoadedGraph> {
    LoadedGraph loaded;
    auto json = FileMapping::Open(folder + kGraphFile, FileMapping::Kind::kRead);
    if (!json.ok()) {
      return json.status().WithContext(
          folder + ": expected a folder that 'relayc --executor graph -o' has written");
    }
    RELAYVM_ASSIGN_OR_RETURN(loaded.kernels, Executable::Load(folder + kKernelsFile, options));
    const auto bytes = (*json)->bytes();
    auto graph = ParseGraphJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!graph.ok()) return graph.status().WithContext(folder + kGraphFile);
    loaded.graph = *std::move(graph);
    RELAYVM_ASSIGN_OR_RETURN(loaded.params_file, FileMapping::Open(folder + kParamsFile));
    auto weights = ParseTvmParams(SharedBytes::OfFile(loaded.params_file));
    if (!weights.ok()) return weights.status().WithContext(folder + kParamsFile);
    loaded.params = *std::move(weights);
    const Program& kernels = loaded.kernels->program();
    if (Status s = VerifyParts(loaded.graph, kernels, loaded.params); !s.ok())
      return s.WithContext(folder);
    return loaded;
  });
}

Result<LoadedGraph> LinkGraph(const GraphProgram& program, const LoadOptions& options) {
  return Guarded([&]() -> Result<LoadedGraph> {
    LoadedGraph loaded{program.graph, nullptr, program.params, nullptr};
    RELAYVM_ASSIGN_OR_RETURN(loaded.kernels, Executable::FromProgram(program.kernels, options));
    RELAYVM_RETURN_IF_ERROR(VerifyParts(loaded.graph, loaded.kernels->program(), loaded.params));
    return loaded;
  });
}

}  // namespace relayvm::graph
