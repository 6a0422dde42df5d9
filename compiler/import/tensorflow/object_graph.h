// A SavedModel's objects: which variable of a checkpoint a node of the graph stands for, where the
// graph itself does not restore it (models that were exported with their variables copied).
//
// A function that the graph calls has its captured inputs last; the SavedObjectGraph says which
// object each of them is. The checkpoint has an object graph of its own (TrackableObjectGraph,
// under the key _CHECKPOINTABLE_OBJECT_GRAPH) with the tensors' keys: an object is the one that the
// same names lead to from the root. Not thread-safe. Tested by importer_test.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/import/tensorflow/graph_def.h"

namespace relayvm::import::tensorflow {

inline constexpr std::string_view kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

// Checkpoint keys by names of nodes (views of the file); `trackable` is a TrackableObjectGraph.
std::map<std::string_view, std::string> CheckpointKeys(const GraphFile& file,
                                                       std::string_view trackable);

// The input "x:0" of the call that gives `output` whose function takes it as a part of a ragged or
// sparse tensor, and what it is: "ragged".
struct CompositePart {
  std::string_view tensor, kind;
};
std::optional<CompositePart> FindComposite(GraphFile& file, std::string_view output);

}  // namespace relayvm::import::tensorflow
