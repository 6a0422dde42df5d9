// The C header of an object that CompileAhead makes. Tested by tests/aot.
#pragma once

#include <string>
#include <vector>

#include "bytecode/program.h"

namespace relayvm::aot {

// A tensor of a static function's arguments or results.
struct Leaf {
  std::string name;  // of the C parameter
  const ValueType* type;
};
// The tensors of a static type, depth first.
void AppendLeaves(const std::string& name, const ValueType& type, std::vector<Leaf>* leaves);
std::vector<Leaf> InputLeaves(const ExportInfo& e);
std::vector<Leaf> OutputLeaves(const ExportInfo& e);

// `workspace_bytes`: by export.
std::string StaticHeader(const Program& program, const std::string& name,
                         const std::vector<uint64_t>& workspace_bytes);
std::string RuntimeHeader(const Program& program, const std::string& name);

}  // namespace relayvm::aot
