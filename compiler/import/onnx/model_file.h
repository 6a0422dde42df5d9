// An ONNX file in memory, without copies of its weights.
//
// ModelProto's raw tensor bytes are cut out before protobuf parses the rest: in each TensorProto
// raw_data holds the place of the bytes in the mapped file instead (ByteRange), and TensorOf gives
// them as a part of the mapping. Weights in files of their own (external data) are mapped too, and
// must lie in the model's folder. What the file says is not believed: sizes, dtypes, offsets are
// checked here. Format: onnx.proto of ONNX 1.12, where newer fields are skipped.
// Not thread-safe. Tested by model_file_test.cc.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "compiler/import/input_files.h"

namespace relayvm::import {

// ONNX's name of a TensorProto::DataType: "FLOAT", "BFLOAT16", "type 99".
std::string OnnxTypeName(int32_t type);
// Nullopt for complex numbers and what the IR has no dtype for.
std::optional<DType> DTypeOfOnnx(int32_t type);

// Integers of fewer than 8 bits, and floats of 8 or 4 (small_floats.h). The IR has no dtype for
// them: they are held one a byte, in `dtype`.
struct NarrowInt {
  int32_t onnx;  // TensorProto::DataType
  DType dtype;
  int bits;
  bool is_float = false;
  // ElementKind::bits.
  int kind() const { return is_float ? -onnx : bits; }
};
// Null for other types.
const NarrowInt* NarrowIntOf(int32_t type);

// A tensor in a file of its own (.pb), as ONNX's test data has.
Result<HostTensor> ReadTensorFile(const std::string& path);

class ModelFile {
 public:
  // External data is read through `files`. Errors: not an ONNX model, damaged, nested too deep.
  static Result<std::unique_ptr<ModelFile>> Read(
      const std::string& path, SharedBytes bytes,
      std::shared_ptr<InputFiles> files = std::make_shared<InputFiles>());

  const onnx::ModelProto& model() const { return model_; }
  const std::string& path() const { return path_; }
  // The elements, checked against dims and dtype; of narrow integers one a byte; strings are packed
  // (bytecode/base/string_table.h). Errors name the tensor.
  Result<HostTensor> TensorOf(const onnx::TensorProto& proto);

 private:
  friend Result<HostTensor> ReadTensorFile(const std::string& path);
  ModelFile() = default;
  Result<SharedBytes> RawBytes(const onnx::TensorProto& proto);
  Result<SharedBytes> ExternalBytes(const onnx::TensorProto& proto, size_t expected);

  std::string path_;
  SharedBytes bytes_;
  onnx::ModelProto model_;
  std::map<std::string, SharedBytes, std::less<>> external_;  // by location
  std::shared_ptr<InputFiles> files_;
};

}  // namespace relayvm::import
