#include "compiler/import/torch/importer.h"

#include <fmt/format.h>

namespace relayvm::import {

Result<ir::Module> ImportTorchScript(const std::string& path, SharedBytes /*file*/,
                                     const ImportOptions& /*options*/) {
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: a TorchScript archive is not read yet", path));
}

std::string TorchScriptOperatorTable() {
  return "# TorchScript operators\n\nMade by `relayc --list-operators torchscript`.\n";
}

}  // namespace relayvm::import
