// The graph executor behind the interface of the tools: vmrun FOLDER, relayrun --executor graph.
// Tested by tools/tools_test.cc.
#pragma once

#include <memory>

#include "bytecode/base/status.h"
#include "tools/values/run.h"
#include "vm/graph/graph_folder.h"

namespace relayvm::tools {

// kInvalidArgument for options that are not for graphs.
Result<std::unique_ptr<Executor>> MakeGraphExecutor(graph::LoadedGraph graph,
                                                    const RunFlags& flags);

}  // namespace relayvm::tools
