// Models for tests, as protobuf text.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "bytecode/base/file_mapping.h"
#include "compiler/import/onnx/importer.h"
#include "compiler/import/onnx/model_file.h"

namespace relayvm::import::testing {

// A folder that goes away with its object.
class ModelFolder {
 public:
  ModelFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "relayvm-onnx-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~ModelFolder() { std::filesystem::remove_all(path_); }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string file = (path_ / name).string();
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline onnx::ModelProto ModelOf(const std::string& text) {
  onnx::ModelProto model;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &model));
  return model;
}

// ir_version and opset 13 around a graph's text.
inline std::string GraphModel(const std::string& graph, int opset = 13) {
  return "ir_version: 7 opset_import { version: " + std::to_string(opset) +
         " } graph { name: 'g' " + graph + " }";
}

// `name: float32[dims]` as an input or output: dims are numbers or names.
inline std::string Tensor(const std::string& kind, const std::string& name,
                          const std::vector<std::string>& dims, int type = 1) {
  std::string shape;
  for (const std::string& d : dims) {
    const bool number = d.find_first_not_of("0123456789") == std::string::npos;
    shape += number ? "dim { dim_value: " + d + " } " : "dim { dim_param: '" + d + "' } ";
  }
  return kind + " { name: '" + name + "' type { tensor_type { elem_type: " + std::to_string(type) +
         " shape { " + shape + "} } } } ";
}

// --- Nodes and initializers as text ---

inline std::string Names(const char* field, const std::string& names) {
  std::string text, name;
  for (const char c : names + " ") {
    if (c != ' ') {
      name += c;
      continue;
    }
    if (name == "-") name.clear();
    text += fmt::format("{}: '{}' ", field, name);
    name.clear();
  }
  return text;
}

inline std::string Node(const char* op, const std::string& in, const std::string& out,
                        const std::string& attributes = "") {
  return fmt::format("node {{ name: '{}' op_type: '{}' {}{}{} }} ", out, op, Names("input", in),
                     Names("output", out), attributes);
}
inline std::string Int(const char* name, int64_t value) {
  return fmt::format("attribute {{ name: '{}' type: INT i: {} }} ", name, value);
}
inline std::string Text(const char* name, const char* value) {
  return fmt::format("attribute {{ name: '{}' type: STRING s: '{}' }} ", name, value);
}
inline std::string Perm(const std::vector<int>& axes) {
  return fmt::format("attribute {{ name: 'perm' type: INTS ints: [{}] }} ", fmt::join(axes, ", "));
}
inline std::string Fill(int64_t value) {
  return fmt::format(
      "attribute {{ name: 'value' type: TENSOR t {{ data_type: 7 dims: 1 int64_data: {} }} }} ",
      value);
}
inline std::string Ints(const char* name, const std::vector<int64_t>& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 dims: {} int64_data: [{}] }} ", name,
                     values.size(), fmt::join(values, ", "));
}
inline std::string IntScalar(const char* name, int64_t value) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 int64_data: {} }} ", name, value);
}
inline std::string Floats(const char* name, const std::vector<float>& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 1 dims: {} float_data: [{}] }} ", name,
                     values.size(), fmt::join(values, ", "));
}
inline std::string FloatScalar(const char* name, float value) {
  return fmt::format("initializer {{ name: '{}' data_type: 1 float_data: {} }} ", name, value);
}

inline Result<ir::Module> ImportText(const std::string& text, const ImportOptions& options = {}) {
  ModelFolder folder;
  const std::string path = folder.Write("model.onnx", ModelOf(text).SerializeAsString());
  auto mapping = FileMapping::Open(path);
  REQUIRE(mapping.ok());
  return ImportOnnx("model.onnx", SharedBytes::OfFile(*mapping), options);
}

}  // namespace relayvm::import::testing
