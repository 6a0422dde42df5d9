// For the tests of this folder: a small graph with all that runs it.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/code_builder.h"
#include "bytecode/opcode.h"
#include "vm/graph/format/testing.h"

namespace relayvm::graph::testing {

inline HostTensor Floats(std::vector<float> values) {
  return {DType::kFloat32,
          {static_cast<int64_t>(values.size())},
          SharedBytes::Copy(std::as_bytes(std::span(values)))};
}

// (x + w) + x, and that + (x + w): 3 x + 2 w.
inline GraphProgram Small() {
  GraphProgram p;
  p.graph = SmallGraph();
  p.kernels = AddKernel();
  p.kernels.bytecode_version = kBytecodeVersion;
  CodeBuilder builder;
  builder.Op(Opcode::kTrap).Unit(0);
  auto code = std::make_shared<std::vector<uint16_t>>(*builder.Finish());
  FunctionInfo main;
  main.name = "main";
  main.num_object_args = main.num_object_registers = 1;
  main.code_size = static_cast<uint32_t>(code->size());
  p.kernels.functions = {main};
  p.kernels.messages = {"a graph"};
  p.kernels.code = *code;
  p.kernels.owners.push_back(code);
  ExportInfo signature;
  signature.name = "main";
  signature.param_names = {"x"};
  signature.params.resize(1);
  signature.params[0].dims = {4};
  signature.result.dims = {2, 2};
  p.kernels.exports = {signature};
  p.params["w"] = Floats({10, 20, 30, 40});
  return p;
}

inline std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

}  // namespace relayvm::graph::testing
