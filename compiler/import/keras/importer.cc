#include "compiler/import/keras/importer.h"

#include <fmt/format.h>

namespace relayvm::import {

Result<ir::Module> ImportKeras(const std::string& path, SharedBytes /*file*/,
                               const ImportOptions& /*options*/) {
  return Status(StatusCode::kUnsupported, fmt::format("{}: a Keras model is not read yet", path));
}

std::string KerasOperatorTable() {
  return "# Keras operators\n\nMade by `relayc --list-operators keras`.\n";
}

}  // namespace relayvm::import
