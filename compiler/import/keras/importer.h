// A Keras model as a module of Relay. Tested by importer_test.cc.
#pragma once

#include <string>

#include "bytecode/base/shared_bytes.h"
#include "compiler/import/import_options.h"
#include "compiler/ir/ir.h"

namespace relayvm::import {

Result<ir::Module> ImportKeras(const std::string& path, SharedBytes file,
                               const ImportOptions& options);
std::string KerasOperatorTable();

}  // namespace relayvm::import
