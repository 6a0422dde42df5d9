// Operators of shared libraries (kernels/runtime/operator_plugin.h), beside the compiler's table:
// what one compilation may use. Tested by tests/operator_plugins.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/op/op.h"
#include "kernels/runtime/operator_library.h"

namespace relayvm {

// A value: copies are equal, and adding to one changes no other. What it gives lives as long as the
// process. Thread-compatible.
class CustomOperators {
 public:
  // Adds all operators of the library, or none. A library that has been added is not added again.
  Status Add(const std::string& path);

  // Null when no library has it.
  const OpDef* Find(std::string_view name) const;
  // The operator for nodes of an ONNX model; null when no library has one.
  const OpDef* FindOnnx(std::string_view domain, std::string_view name) const;
  std::vector<std::string_view> Names() const;
  // For LoadOptions::kernels.
  std::span<const Builtin> kernels() const { return kernels_; }

 private:
  std::map<std::string_view, const OpDef*> defs_;
  std::map<std::pair<std::string, std::string>, const OpDef*> onnx_;
  std::vector<Builtin> kernels_;
};

}  // namespace relayvm
