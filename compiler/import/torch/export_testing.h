// Programs of torch.export as texts, for tests. JSON is written with ' for ".
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/zip_writer.h"
#include "compiler/import/import_options.h"
#include "compiler/import/torch/importer.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"
#include "tests/temp_folder.h"

namespace relayvm::import::torch::exported {

using Entries = std::vector<std::pair<std::string, std::string>>;

inline Result<ir::Module> Import(const Entries& entries, const ImportOptions& options = {}) {
  const relayvm::testing::TempFolder folder;
  auto zip = ZipWriter::Create(folder / "m.pt2");
  REQUIRE(zip.ok());
  for (const auto& [name, content] : entries)
    REQUIRE(zip->Add("m/" + name, std::as_bytes(std::span(content))).ok());
  REQUIRE(zip->Finish().ok());
  return ImportTorchExport("m.pt2", SharedBytes::OfFile(*FileMapping::Open(folder / "m.pt2")),
                           options);
}

inline std::string Quoted(std::string text) {
  for (char& c : text) c = c == '\'' ? '"' : c;
  return text;
}
inline std::string Tensor(const std::string& sizes, int dtype = 7) {
  return fmt::format(
      "{{'dtype': {}, 'sizes': [{}], 'strides': [], 'storage_offset': {{'as_int': 0}}, "
      "'layout': 7}}",
      dtype, sizes);
}
// A node of positional arguments.
inline std::string Node(const std::string& target, const std::string& inputs,
                        const std::string& output) {
  return fmt::format(
      "{{'target': '{}', 'inputs': [{}], 'outputs': [{{'as_tensor': {{'name': '{}'}}}}], 'name': "
      "'{}', 'metadata': {{'stack_trace': 'File \\\"model.py\\\", line 7, in forward'}}}}",
      target, inputs, output, output);
}
inline std::string Arg(const std::string& argument) {
  return fmt::format("{{'name': '', 'arg': {}, 'kind': 1}}", argument);
}
inline std::string Ref(const std::string& name) {
  return fmt::format("{{'as_tensor': {{'name': '{}'}}}}", name);
}

struct Text {
  std::string inputs, specs, nodes, output, values;
  std::string ranges;
};
inline std::string Program(const Text& t) {
  return Quoted(fmt::format(
      "{{'graph_module': {{'graph': {{'inputs': [{}], 'outputs': [{}], 'nodes': [{}], "
      "'tensor_values': {{{}}}}}, 'signature': {{'input_specs': [{}], 'output_specs': "
      "[{{'user_output': {{'arg': {}}}}}]}}}}, 'schema_version': {{'major': 8, 'minor': 20}}, "
      "'range_constraints': {{{}}}}}",
      t.inputs, Ref(t.output), t.nodes, t.values, t.specs, Ref(t.output), t.ranges));
}
inline std::string UserInput(const std::string& name) {
  return fmt::format("{{'user_input': {{'arg': {}}}}}", Ref(name));
}
inline std::string Expression(const std::string& text) {
  return fmt::format("{{'as_expr': {{'expr_str': '{}', 'hint': {{'as_int': 2}}}}}}", text);
}

inline reference::Value Floats(const std::vector<float>& values,
                               const std::vector<int64_t>& shape) {
  return reference::MakeTensor(
      {DType::kFloat32, shape, SharedBytes::Copy(std::as_bytes(std::span(values)))});
}
inline Result<reference::Value> TryRun(const ir::Module& module,
                                       const std::vector<reference::Value>& inputs) {
  auto typed = InferTypes(module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  return reference::Run(*typed, "main", inputs);
}
inline std::vector<float> Run(const ir::Module& module,
                              const std::vector<reference::Value>& inputs) {
  auto value = TryRun(module, inputs);
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  const HostTensor& t = *(*value)->As<reference::Tensor>()->data;
  std::vector<float> out(static_cast<size_t>(t.size()));
  std::memcpy(out.data(), t.data.data(), out.size() * sizeof(float));
  return out;
}

}  // namespace relayvm::import::torch::exported
