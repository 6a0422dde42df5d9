// Programs from Relay text, compiled and run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/driver.h"
#include "compiler/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {

// Text without the line of its version, without those passes; the IR is verified between passes.
inline Result<Compiled> TryCompile(const std::string& text, int level = 3,
                                   const std::vector<std::string>& without = {}) {
  CompileOptions options;
  options.pipeline.disabled = without;
  options.pipeline.verify = true;
  options.pipeline.opt_level = level;
  return CompileModule(ir::Parsed(text), options);
}
inline Compiled Compile(const std::string& text, int level = 3,
                        const std::vector<std::string>& without = {}) {
  auto compiled = TryCompile(text, level, without);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  return *std::move(compiled);
}

}  // namespace relayvm
