// A file of its own, as aot_builtins.cc: for programs that have regions of other engines.
#include <algorithm>

#include "bytecode/base/guarded.h"
#include "bytecode/regions.h"
#include "vm/aot/native_program.h"
#include "vm/engines/regions.h"

namespace relayvm::vm {
namespace {

Status MakeRegions(const Program& program, std::vector<EngineLibrary> engines,
                   NativeRegions* regions) {
  // Who compiled the program has named them.
  for (const std::string& name : EnginesOf(program)) {
    if (std::ranges::find(engines, name, &EngineLibrary::name) == engines.end())
      engines.push_back({name, ""});
  }
  LoadOptions options;
  options.engines = engines;
  auto linked = std::make_shared<LinkedRegions>();
  std::string lacking;
  if (Status s = linked->Create(program, options, &lacking); !s.ok()) {
    return s.WithContext("the program is native code with regions for engine " + lacking +
                         ", and has no form without them: give the engine, or compile it without "
                         "--byoc");
  }
  *regions = {std::move(linked), RunRegion};
  return OkStatus();
}

}  // namespace
}  // namespace relayvm::vm

void relayvm_aot_make_regions(const relayvm::Program* program,
                              const std::vector<relayvm::EngineLibrary>* engines,
                              relayvm::vm::NativeRegions* regions, relayvm::Status* status) {
  *status = relayvm::Guarded([&] { return relayvm::vm::MakeRegions(*program, *engines, regions); });
}
