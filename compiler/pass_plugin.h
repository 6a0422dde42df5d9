// Passes in a shared library: `relayc --load-pass libmine.so --pass NAME@after:FoldConstants`.
//
//   #include "compiler/pass_plugin.h"
//   RELAYVM_PASS_PLUGIN([](std::vector<relayvm::Pass>& passes) {
//     passes.push_back({.name = "CountOperators", .run = ..., .description = "..."});
//   })
//
// Such a library is built against the headers of this version, by the compiler that built relayc,
// and links nothing of relayvm: relayc and relayrun export what it needs, so that there is one IR
// and one operator table in the process. A library that was built otherwise is refused. Tested by
// tests/passes.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "compiler/pass.h"

namespace relayvm {

// Differs where a library built apart would misread the compiler's objects.
inline std::string PassAbi() {
  std::string abi = "relayvm passes 1, " __VERSION__;
  for (size_t size : {sizeof(ir::Module), sizeof(ir::Function), sizeof(ir::Expr), sizeof(ir::Var),
                      sizeof(ir::Constant), sizeof(ir::Block), sizeof(ir::OpCall), sizeof(OpDef),
                      sizeof(TensorType), sizeof(Dim), sizeof(Pass), sizeof(PassContext),
                      std::variant_size_v<ir::ExprVariant>}) {
    abi += "," + std::to_string(size);
  }
  return abi;
}

struct PassPlugin {
  const char* abi;  // first in every version
  void (*add_passes)(std::vector<Pass>& passes);
};

#define RELAYVM_PASS_PLUGIN(...)                                               \
  extern "C" __attribute__((visibility("default"))) const relayvm::PassPlugin* \
  relayvm_pass_plugin() {                                                      \
    static const std::string abi = relayvm::PassAbi();                         \
    static const relayvm::PassPlugin plugin = {abi.c_str(), __VA_ARGS__};      \
    return &plugin;                                                            \
  }

// The passes of a library, which stays loaded. A path without '/' is a file of the current folder,
// or else is searched as the system does.
Result<std::vector<Pass>> LoadPassPlugin(const std::string& path);

}  // namespace relayvm
