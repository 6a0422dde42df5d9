// What keeps a program from being a graph (vm/graph/format/graph.h): control flow, and sizes that
// depend on data. Tested by check_static_test.cc.
#pragma once

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"

namespace relayvm::graph {

// Before: after the pipeline, as lowering takes it. Fails with kUnsupported at the first thing that
// is in the way, at its place in the source: a parameter that is no tensor or has an open
// dimension, an if, a match, a closure, recursion, a reference, a function of the host, a value
// whose size depends on data; and says how many more there are.
Status CheckStatic(const ir::Module& module);

}  // namespace relayvm::graph
