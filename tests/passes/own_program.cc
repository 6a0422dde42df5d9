// A program that compiles with passes of its own: no library to load. Prints the operators of each
// function before and after fusion.
//
//   own_program MODEL.relay
#include <cstdio>

#include "compiler/driver.h"

namespace {

relayvm::Pass Report(const char* name) {
  relayvm::Pass pass;
  pass.name = name;
  pass.drops = {};  // the program stays as it is
  pass.run = [name](const relayvm::ir::Module& m,
                    const relayvm::PassContext&) -> relayvm::Result<relayvm::ir::Module> {
    for (const auto& [function, f] : m.functions) {
      std::printf("%s: @%s has %zu bindings\n", name, function.c_str(), f->body->bindings.size());
    }
    return m;
  };
  return pass;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  relayvm::CompileOptions options;
  options.pipeline.passes.push_back({Report("Before"), "before:FuseOps"});
  options.pipeline.passes.push_back({Report("After"), "after:FuseOps"});
  auto compiled = relayvm::CompileFile(argv[1], options);
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s\n", compiled.status().ToString().c_str());
    return 2;
  }
  return 0;
}
