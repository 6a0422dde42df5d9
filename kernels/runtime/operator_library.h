// A shared library of custom operators (operator_plugin.h), as compiler and runtime load it. Tested
// by tests/operator_plugins.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/runtime/builtin.h"
#include "kernels/runtime/operator_plugin.h"

namespace relayvm {

class OperatorLibrary {
 public:
  // What the library says of its operators has been checked: names, numbers, functions that are
  // there.
  std::span<const RelayvmOperator> operators() const { return operators_; }
  // For LoadOptions::kernels. Lives as long as the process, as all that they name.
  std::vector<Builtin> kernels() const;

 private:
  friend Result<OperatorLibrary> LoadOperatorLibrary(const std::string& path);
  static Result<OperatorLibrary> Load(const std::string& path);
  explicit OperatorLibrary(std::span<const RelayvmOperator> operators) : operators_(operators) {}
  std::span<const RelayvmOperator> operators_;
};

// The library is never unloaded. A path without '/' is a file of the current folder, or else is
// searched as the system does.
Result<OperatorLibrary> LoadOperatorLibrary(const std::string& path);

}  // namespace relayvm
