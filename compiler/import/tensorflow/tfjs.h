// TensorFlow.js' graph models: model.json has a GraphDef as JSON, whose constants lie in files
// beside it (weightsManifest). They become the binary that graph_def.h reads: a SavedModel where
// the file has a signature, else a graph. Not thread-safe. Tested by tfjs_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "compiler/import/input_files.h"

namespace relayvm::import::tensorflow {

struct TfjsModel {
  std::string binary;
  bool is_saved_model = false;
};
// Files of weights lie in `path`'s folder. Errors: no such model, damaged, a layers model.
Result<TfjsModel> ReadTfjs(const std::string& path, std::string_view json, InputFiles& files);

}  // namespace relayvm::import::tensorflow
