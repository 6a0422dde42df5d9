#include "compiler/import/tflite/importer.h"

#include <fmt/format.h>

namespace relayvm::import {

Result<ir::Module> ImportTfLite(const std::string& path, SharedBytes /*file*/,
                                const ImportOptions& /*options*/) {
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: a TensorFlow Lite model is not read yet", path));
}

std::string TfLiteOperatorTable() {
  return "# TfLite operators\n\nMade by `relayc --list-operators tflite`.\n";
}

}  // namespace relayvm::import
