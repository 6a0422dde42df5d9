// Damaged graph.json: read, verified, and run where it is accepted, on builtins alone, whose calls
// a damaged graph may not make dangerous.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

class GraphTarget {
 public:
  static Result<std::shared_ptr<const GraphTarget>> Make();
  ~GraphTarget();
  std::vector<std::string> Seeds() const;
  Status Run(const std::string& json) const;

 private:
  struct Impl;
  explicit GraphTarget(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm::fuzz
