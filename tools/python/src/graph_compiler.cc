#include "tools/python/src/graph_compiler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/build_graph.h"
#include "tools/python/src/best_form.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/graph.h"
#include "tools/python/src/runtime.h"
#include "tools/python/src/without_gil.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/graph_folder.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

struct CompiledGraph {
  std::shared_ptr<const graph::GraphProgram> program;
  std::vector<EngineLibrary> engines;  // that it needs
};

void Save(const CompiledGraph& g, const std::string& folder) {
  Status saved;
  {
    const GilRelease no_gil;
    saved = graph::SaveGraph(*g.program, folder);
  }
  ThrowIfError(saved);
}

PyGraph Load(const CompiledGraph& g, uint32_t num_threads,
             const std::shared_ptr<PyRuntime>& runtime) {
  GraphOptions options;
  if (runtime != nullptr) options.runtime = runtime->runtime();
  options.num_threads = num_threads;
  LoadOptions load;
  load.engines = g.engines;
  return {
      DestroyedWithoutGil(ValueOrThrow(WithoutTheGil([&]() -> Result<std::unique_ptr<GraphModule>> {
        RELAYVM_ASSIGN_OR_RETURN(auto linked, graph::LinkGraph(*g.program, load));
        return GraphModule::Create(std::move(linked), options);
      })))};
}

}  // namespace

py::object MakeGraph(const CompiledModel& model) {
  return py::cast(ValueOrThrow(WithoutTheGil([&]() -> Result<CompiledGraph> {
    RELAYVM_ASSIGN_OR_RETURN(BestForm form, BestFormOf(model));
    RELAYVM_ASSIGN_OR_RETURN(auto graph, graph::BuildGraph(*form.program));
    return CompiledGraph{std::make_shared<graph::GraphProgram>(std::move(graph)),
                         std::move(form.engines)};
  })));
}

void AddGraphCompiler(py::module_& m) {
  py::class_<CompiledGraph>(m, "CompiledGraph").def("save", Save).def("load", Load);
}

}  // namespace relayvm::python
