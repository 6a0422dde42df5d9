// A pass with an option whose name, which the build states, is taken.
#include "compiler/pass_plugin.h"

RELAYVM_PASS_PLUGIN([](std::vector<relayvm::Pass>& passes) {
  static const relayvm::OptionOf<bool> option =
      relayvm::FlagOption({.name = CLASHING_OPTION, .help = "what another option is called"});
  passes.push_back(
      {.name = "Clashes",
       .run = [](const relayvm::ir::Module& m,
                 const relayvm::PassContext&) { return relayvm::Result<relayvm::ir::Module>(m); },
       .options = {&option.row()}});
})
