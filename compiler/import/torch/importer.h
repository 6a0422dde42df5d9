// A TorchScript archive and a torch.export archive as a module of Relay. Tested by
// export_importer_test.cc.
#pragma once

#include <string>

#include "bytecode/base/shared_bytes.h"
#include "compiler/import/import_options.h"
#include "compiler/ir/ir.h"

namespace relayvm::import {

Result<ir::Module> ImportTorchScript(const std::string& path, SharedBytes file,
                                     const ImportOptions& options);
std::string TorchScriptOperatorTable();

Result<ir::Module> ImportTorchExport(const std::string& path, SharedBytes file,
                                     const ImportOptions& options);
std::string TorchExportOperatorTable();

}  // namespace relayvm::import
