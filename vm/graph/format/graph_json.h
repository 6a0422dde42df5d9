// graph.json: a graph in the schema of TVM's graph executor.
//
//   {"nodes": [{"op": "null", "name": "x", "inputs": []},
//              {"op": "tvm_op", "name": "fused_add", "inputs": [[0, 0, 0], ...],      node, output, 0
//               "attrs": {"func_name": "fused_add", "num_inputs": "2", "num_outputs": "1", "flatten_data": "0",
//                         "kernel": "3", "scalars": "1 64", "units": "8", "grain": "1", "scratch": "0",
//                         "source": "model.onnx: node 'Add_1' (Add)"}}, ...],
//    "arg_nodes": [0, ...], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2],
//    "attrs": {"storage_id": ["list_int", [0, 1]], "shape": ["list_shape", [[2, 3], [2, 3]]],
//              "dltype": ["list_str", ["float32", "float32"]], "storage_offset": ["list_int", [0, 0]]}}
//
// What TVM's does not have: in a node's attrs the call of a kernel (kernels.vmx has it by its
// number) and its place in the source; `storage_offset`, in bytes, of tensors that are a part of a
// storage (0 where it is left out). A node of "func_name" "__nop" is a view. Reading is safe on any
// bytes; what it gives has yet to be verified (verify.h). Tested by graph_json_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "vm/graph/format/graph.h"

namespace relayvm::graph {

// `kernels` has the names. Fails with kInvalidInput where a name is not UTF-8.
Result<std::string> GraphToJson(const Graph& graph, const Program& kernels);
// Errors name the place: "nodes[3].attrs.units: expected a number, found \"x\"".
Result<Graph> ParseGraphJson(std::string_view text);

}  // namespace relayvm::graph
