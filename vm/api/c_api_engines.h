// The engines that C hosts give (c_api_host.h), as the runtime takes them. Tested by
// vm/engines/engine_test.cc.
#pragma once

#include <string>
#include <vector>

#include "vm/api/c_api_host.h"
#include "vm/api/c_api_internal.h"

namespace relayvm::c_api {

// Appends them to `engines`; gives the struct with all fields that are known here.
// kInvalidArgument where its size is wrong, or an engine has no name.
inline Result<relayvm_engines> ReadEngines(const relayvm_engines& from,
                                           std::vector<EngineLibrary>* engines) {
  constexpr size_t kFirstSize = 32;
  static_assert(sizeof(relayvm_engines) >= kFirstSize);
  RELAYVM_ASSIGN_OR_RETURN(const relayvm_engines read,
                           RELAYVM_READ_OPTIONS(&from, relayvm_engines, kFirstSize));
  for (uint32_t i = 0; i < read.num_engines; ++i) {
    if (read.engines == nullptr || read.engines[i].name == nullptr) {
      return Status(StatusCode::kInvalidArgument,
                    "relayvm_engines: engine " + std::to_string(i) + " has no name");
    }
    const char* path = read.engines[i].path;
    engines->push_back({read.engines[i].name, path == nullptr ? "" : path});
  }
  return read;
}

}  // namespace relayvm::c_api
