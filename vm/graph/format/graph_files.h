// A folder with a graph: what `relayc --executor graph -o FOLDER` writes and `vmrun FOLDER` runs.
//
//   graph.json      nodes, shapes, storages (graph_json.h)
//   graph.params    weights, in TVM's format (bytecode/io/tvm_params.h)
//   kernels.vmx     kernels and the graph's signature, in the format of executables; its constants are
//                   weights too, by name: those that have a recipe, which loading makes
//
// graph/graph_folder.h reads it. Tested by vm/graph/graph_module_test.cc and tools/tools_test.cc.
#pragma once

#include <string>

#include "bytecode/base/status.h"
#include "vm/graph/format/graph.h"

namespace relayvm::graph {

inline constexpr const char* kGraphFile = "/graph.json";
inline constexpr const char* kParamsFile = "/graph.params";
inline constexpr const char* kKernelsFile = "/kernels.vmx";

// What must hold of the parts together: that of VerifyGraph; that inputs are the export's
// parameters and the weights, results the export's; and that weights, here and there, have the
// types of their inputs. Fails with kInvalidInput. REQUIRES: `kernels` passed VerifyProgram.
Status VerifyParts(const Graph& graph, const Program& kernels, const TensorsByName& params);

// Makes the folder where there is none; each file appears whole or not at all. Errors name the
// file.
Status SaveGraph(const GraphProgram& program, const std::string& folder);

}  // namespace relayvm::graph
