// Engines: shared libraries that run regions of programs (bytecode/region_abi.h), as hosts allow
// them (LoadOptions::engines). A library is never unloaded; asking for it again costs a look-up of
// the dynamic linker. Thread-safe. Tested by engine_test.cc.
#pragma once

#include <string>

#include "bytecode/base/status.h"
#include "bytecode/region_abi.h"
#include "vm/run/executable.h"

namespace relayvm::vm {

struct Engine {
  const RelayvmRegionProvider* provider;  // lives as long as the process
  std::string path;
  std::string version;  // of what it found: "2.6.3"
};

// kUnsupported says which file, what was expected of it and what was found. Of an empty path: the
// file librelayvm_NAME.so in the folder that the environment's RELAYVM_ENGINES names, else where it
// stands beside this runtime: for its folder D in D/engines, D/../engines, D/relayvm and
// D/../lib/relayvm.
Result<Engine> OpenEngine(const EngineLibrary& library);

// The text that a provider has written, or the status' name.
std::string RegionErrorText(int32_t status, const RelayvmRegionError& error);

}  // namespace relayvm::vm
