// Models of one operator with the values that they give, as tables of tests hold them.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/import/onnx/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {

// An imported model, compiled and ready to run.
inline std::unique_ptr<Invocation> Runnable(Result<ir::Module> module) {
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  auto compiled = CompileModule(*std::move(module), {});
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  auto executable = Executable::FromProgram(std::move(compiled->program));
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  REQUIRE(runtime.ok());
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  return *std::move(invocation);
}

struct ValueCase {
  const char* op;
  const char* graph;  // its input is x, its output y
  DType dtype;        // of x, and of bytes in y
  std::vector<int64_t> dims;
  std::vector<double> x, y;
  double tolerance;
  int opset = 17;
  int learning = 3;  // the opset of ai.onnx.ml
};

inline void CheckValues(const ValueCase& c) {
  CAPTURE(std::string(c.op));
  auto module = import::testing::ImportText(
      "ir_version: 8 opset_import { domain: 'com.microsoft' version: 1 } opset_import { domain: "
      "'ai.onnx.ml' version: " +
      std::to_string(c.learning) +
      " } opset_import { "
      "version: " +
      std::to_string(c.opset) + " } " + c.graph);
  const std::unique_ptr<Invocation> invocation = Runnable(std::move(module));
  const bool bytes = c.dtype == DType::kUInt8;
  std::vector<uint8_t> whole;
  std::vector<float> real;
  for (const double x : c.x) {
    if (bytes) {
      whole.push_back(static_cast<uint8_t>(x));
    } else {
      real.push_back(static_cast<float>(x));
    }
  }
  auto x = Value::CopyTensor(c.dtype, c.dims,
                             bytes ? static_cast<const void*>(whole.data()) : real.data());
  auto y = invocation->Run("main", {*x});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  REQUIRE(y->num_elements() == static_cast<int64_t>(c.y.size()));
  for (size_t i = 0; i < c.y.size(); ++i) {
    CAPTURE(i);
    const double found = y->dtype() == DType::kUInt8
                             ? static_cast<double>(static_cast<const uint8_t*>(y->data())[i])
                             : static_cast<double>(static_cast<const float*>(y->data())[i]);
    CHECK(std::abs(found - c.y[i]) <= c.tolerance);
  }
}

}  // namespace relayvm
