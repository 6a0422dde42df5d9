#include "compiler/import/tensorflow/importer.h"

#include <fmt/format.h>

namespace relayvm::import {

Result<ir::Module> ImportTensorFlow(const std::string& path, SharedBytes /*file*/,
                                    const ImportOptions& /*options*/) {
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: a TensorFlow graph is not read yet", path));
}

std::string TensorFlowOperatorTable() {
  return "# TensorFlow operators\n\nMade by `relayc --list-operators tensorflow`.\n";
}

}  // namespace relayvm::import
