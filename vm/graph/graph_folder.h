// Reading graphs (graph/format/graph_files.h), ready to run. Thread-safe. Tested by
// graph_module_test.cc.
#pragma once

#include <memory>
#include <string>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/status.h"
#include "vm/graph/format/graph.h"
#include "vm/run/executable.h"

namespace relayvm::graph {

struct LoadedGraph {
  Graph graph;
  std::shared_ptr<const Executable> kernels;
  TensorsByName params;
  std::shared_ptr<const FileMapping> params_file;  // that they are parts of; or null
};
// Reads, verifies and links: what comes back can run, or it is an error that names the file,
// whatever the bytes. Weights are parts of the mapped file, which must not change while they live:
// one that was written to is found out when a graph runs.
Result<LoadedGraph> LoadGraph(const std::string& folder, const LoadOptions& options = {});
// The same for what the compiler has made.
Result<LoadedGraph> LinkGraph(const GraphProgram& program, const LoadOptions& options = {});

}  // namespace relayvm::graph
