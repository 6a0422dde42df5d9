// A TensorFlow Lite model in memory: a flatbuffer (schema.fbs) whose weights stay in the mapped
// file.
//
//   0        offset of the root table
//   4        "TFL3"
//   ...      tables; bytes of tensors inside, or behind all of it, where Buffer.offset says
//
// What the file says is not believed: the flatbuffer is verified with bounds of depth and number of
// tables, and then what tables say of each other: indices of tensors, buffers, operator codes and
// subgraphs, sizes of data, parameters of quantisation. Not thread-safe. Tested by
// model_file_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "compiler/import/tflite/schema_generated.h"

namespace relayvm {
class StringTable;
}

namespace relayvm::import::tflite {

namespace fb = tflite_file;

// (q - zero point) * scale; one of each, or one for each place along an axis. No scale: numbers as
// they are.
struct Quantisation {
  std::vector<float> scales;
  std::vector<int64_t> zeros;  // as many
  int axis = 0;

  explicit operator bool() const { return !scales.empty(); }
  double scale() const { return scales.empty() ? 1 : static_cast<double>(scales[0]); }
  int64_t zero() const { return zeros.empty() ? 0 : zeros[0]; }
  bool is_per_channel() const { return scales.size() > 1; }
  bool operator==(const Quantisation&) const = default;
};

// What the file says of a tensor.
struct Tensor {
  const fb::Tensor* table = nullptr;
  std::string name;
  fb::TensorType type = fb::TensorType::FLOAT32;
  // What holds its elements: integers of fewer than 8 bits are one a byte; complex numbers are
  // pairs along an axis behind the others. Nullopt where the IR has none.
  std::optional<DType> dtype;
  std::vector<int64_t> shape;  // -1: any extent
  Quantisation quantisation;
  bool is_variable = false;
  bool is_constant = false;   // it has data
  bool is_of_blocks = false;  // its scales are a tensor, or stand along several axes
  bool is_complex() const { return type == fb::TensorType::COMPLEX64; }
};

struct Subgraph {
  const fb::SubGraph* table = nullptr;
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<int> inputs, outputs;
};

std::optional<DType> DTypeOf(fb::TensorType type);
std::string_view TypeName(fb::TensorType type);

class ModelFile {
 public:
  // Errors: no model, damaged.
  static Result<std::unique_ptr<ModelFile>> Read(const std::string& path, SharedBytes bytes);

  const fb::Model& model() const { return *model_; }
  const std::string& path() const { return path_; }
  const std::vector<Subgraph>& subgraphs() const { return subgraphs_; }
  // Of an operator: its code, and its name (a custom operator's own).
  fb::BuiltinOperator CodeOf(const fb::Operator& op) const;
  std::string NameOf(const fb::Operator& op) const;
  // The elements of a constant, dense. Errors name the tensor.
  Result<HostTensor> ElementsOf(const Tensor& tensor, StringTable& strings) const;
  // The options of a custom operator.
  Result<std::string_view> CustomOptionsOf(const fb::Operator& op) const;

 private:
  ModelFile() = default;
  Status Check();
  Result<Tensor> CheckedTensor(const fb::Tensor& t, const std::string& where) const;
  Status CheckOperators(const Subgraph& graph, const std::string& where) const;
  void SpreadTypes(Subgraph* graph) const;
  Status CheckSignatures() const;
  Result<SharedBytes> DataOf(const Tensor& tensor) const;
  Result<std::optional<SharedBytes>> BytesOf(uint32_t buffer) const;
  Status Wrong(const std::string& what) const;

  std::string path_;
  SharedBytes bytes_;
  const fb::Model* model_ = nullptr;
  std::vector<Subgraph> subgraphs_;
};

}  // namespace relayvm::import::tflite
