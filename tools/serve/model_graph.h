// The graph of a program, from its bytecode: what runs kernels, builtins, regions, functions, and
// where their tensors come from.
//
//   {"functions":[{"name":"main","memory":"n*4","nodes":[
//      {"kind":"input","name":"x","from":[]},
//      {"kind":"kernel","name":"dense_relu","place":"/fc1/Gemm","constants":["fc1.weight"],"from":[0]},
//      {"kind":"result","name":"","from":[1]}]}],"truncated":false}
//
// `from` are positions in `nodes`, all before it. Kinds: input, kernel, builtin, region, call,
// tail_call, closure, host, choice (a branch on a value or a tag), result. Where branches meet, a
// tensor comes from each of them. `memory` is the most that a call holds, in bytes
// (memory_report.h). Allocations, views and moves do not show; scalars neither.
// Pure; thread-safe. Tested by model_graph_test.cc.
#pragma once

#include <cstddef>
#include <string>

#include "vm/run/executable.h"

namespace relayvm::serve {

struct GraphLimits {
  size_t max_nodes = 5000;
  size_t max_steps = 20'000'000;  // of the analysis; what is beyond is left out, as with nodes
};
std::string ModelGraphJson(const Executable& executable, const GraphLimits& limits = {});

}  // namespace relayvm::serve
