#include "compiler/import/mxnet/importer.h"

#include <fmt/format.h>

namespace relayvm::import {

Result<ir::Module> ImportMxnet(const std::string& path, SharedBytes /*file*/,
                               const ImportOptions& /*options*/) {
  return Status(StatusCode::kUnsupported, fmt::format("{}: an MXNet symbol is not read yet", path));
}

std::string MxnetOperatorTable() {
  return "# Mxnet operators\n\nMade by `relayc --list-operators mxnet`.\n";
}

}  // namespace relayvm::import
