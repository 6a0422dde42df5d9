// Fuzzing of what programs are run on: hostile shapes and numbers through every dynamic operator
// and builtin.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

// Programs that are compiled once. Kernels are native code, which no sanitizer sees: inputs end
// where memory ends, so that a read beyond them is a signal.
class InputTarget {
 public:
  // The programs whose operators take sizes and indices from data; and those of `programs` that
  // compile and take tensors.
  static Result<std::shared_ptr<InputTarget>> Make(const std::vector<std::string>& programs);
  ~InputTarget();

  // Bytes that choose a program, dims and elements.
  std::vector<std::string> Seeds() const;
  Status Run(const std::string& input);

 private:
  struct Impl;
  explicit InputTarget(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm::fuzz
