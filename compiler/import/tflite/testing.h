// Models that tests write themselves, tensor by tensor, and run by the reference interpreter.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/tflite/importer.h"
#include "compiler/import/tflite/operator.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"

namespace relayvm::import::tflite::testing {

using Builder = flatbuffers::FlatBufferBuilder;
using Table = flatbuffers::Offset<void>;
using TensorType = fb::TensorType;

// The bytes of numbers in a tensor's dtype, and back.
inline std::vector<uint8_t> BytesOf(const std::vector<double>& values, DType dtype) {
  std::vector<uint8_t> out(values.size() * static_cast<size_t>(DTypeBytes(dtype)));
  uint8_t* at = out.data();
  for (const double v : values) {
    if (dtype == DType::kFloat32) {
      const auto real = static_cast<float>(v);
      std::memcpy(at, &real, sizeof real);
    } else {
      const auto whole = static_cast<int64_t>(v);
      std::memcpy(at, &whole, static_cast<size_t>(DTypeBytes(dtype)));
    }
    at += DTypeBytes(dtype);
  }
  return out;
}
inline std::vector<double> NumbersOf(const HostTensor& t) {
  std::vector<double> out;
  const SharedBytes bytes = t.data;
  const auto width = static_cast<size_t>(DTypeBytes(t.dtype));
  for (size_t i = 0; i < static_cast<size_t>(t.size()); ++i) {
    if (t.dtype == DType::kFloat32) {
      float real = 0;
      std::memcpy(&real, bytes.data() + i * width, sizeof real);
      out.push_back(static_cast<double>(real));
      continue;
    }
    int64_t whole = 0;
    std::memcpy(&whole, bytes.data() + i * width, width);
    const int unused = 64 - 8 * static_cast<int>(width);
    const bool is_signed = IsSignedInt(t.dtype);
    out.push_back(static_cast<double>(is_signed ? whole << unused >> unused : whole));
  }
  return out;
}

// A tensor as a test describes it; -1: a dim that is open.
struct Described {
  TensorType type = TensorType::FLOAT32;
  std::vector<int32_t> shape;
  float scale = 0;  // 0: not quantised
  int64_t zero = 0;
  std::vector<double> data = {};  // of a constant
  bool is_variable = false;
};

class Model {
 public:
  Builder& builder() { return b_; }

  int Add(const Described& d, std::string name = "") {
    std::vector<uint8_t> bytes;
    if (!d.data.empty()) bytes = BytesOf(d.data, *DTypeOf(d.type));
    return AddBytes(d, bytes, std::move(name));
  }
  // With scales along axis 0.
  int AddWithScales(const Described& d, std::vector<float> scales) {
    scales_ = std::move(scales);
    return Add(d);
  }
  int AddBytes(const Described& d, const std::vector<uint8_t>& bytes, std::string name = "",
               flatbuffers::Offset<fb::SparsityParameters> sparsity = 0) {
    uint32_t buffer = 0;
    if (!bytes.empty()) {
      buffers_.push_back(fb::CreateBuffer(b_, b_.CreateVector(bytes)));
      buffer = static_cast<uint32_t>(buffers_.size()) - 1;
    }
    if (name.empty()) name = "t" + std::to_string(tensors_.size());
    flatbuffers::Offset<fb::QuantizationParameters> q = 0;
    if (d.scale != 0) scales_ = {d.scale};
    if (!scales_.empty()) {
      const std::vector<int64_t> zeros(scales_.size(), d.zero);
      q = fb::CreateQuantizationParametersDirect(b_, nullptr, nullptr, &scales_, &zeros);
      scales_.clear();
    }
    std::vector<int32_t> shape = d.shape;
    bool is_open = false;
    for (int32_t& dim : shape) {
      is_open |= dim < 0;
      dim = dim < 0 ? 1 : dim;
    }
    tensors_.push_back(fb::CreateTensorDirect(b_, &shape, d.type, buffer, name.c_str(), q,
                                              d.is_variable, sparsity,
                                              is_open ? &d.shape : nullptr));
    return static_cast<int>(tensors_.size()) - 1;
  }
  void Op(Code code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
          Options type = Options::NONE, Table options = 0, const char* custom = nullptr) {
    codes_.push_back(fb::CreateOperatorCodeDirect(b_, 0, custom, 1, code));
    operators_.push_back(fb::CreateOperatorDirect(b_, static_cast<uint32_t>(codes_.size()) - 1,
                                                  &inputs, &outputs, type, options));
  }
  // With options of StableHLO's kind too.
  void Op2(Code code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
           Options type, Table options, Options2 type2, Table options2,
           const char* custom = nullptr) {
    codes_.push_back(fb::CreateOperatorCodeDirect(b_, 0, custom, 1, code));
    const auto in = b_.CreateVector(inputs), out = b_.CreateVector(outputs);
    fb::OperatorBuilder op(b_);
    op.add_opcode_index(static_cast<uint32_t>(codes_.size()) - 1);
    op.add_inputs(in);
    op.add_outputs(out);
    op.add_builtin_options_type(type);
    if (!options.IsNull()) op.add_builtin_options(options);
    op.add_builtin_options_2_type(type2);
    if (!options2.IsNull()) op.add_builtin_options_2(options2);
    operators_.push_back(op.Finish());
  }
  // The tensors and operators since the last one are a subgraph.
  void Close(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
    subgraphs_.push_back(
        fb::CreateSubGraphDirect(b_, &tensors_, &inputs, &outputs, &operators_, "g"));
    tensors_.clear();
    operators_.clear();
  }
  using Names = std::vector<std::pair<const char*, uint32_t>>;
  void Signature(const char* key, const Names& inputs, const Names& outputs,
                 uint32_t subgraph = 0) {
    const auto maps = [&](const Names& names) {
      std::vector<flatbuffers::Offset<fb::TensorMap>> all;
      for (const auto& [name, tensor] : names)
        all.push_back(fb::CreateTensorMapDirect(b_, name, tensor));
      return all;
    };
    const auto in = maps(inputs), out = maps(outputs);
    signatures_.push_back(fb::CreateSignatureDefDirect(b_, &in, &out, key, nullptr, subgraph));
  }
  std::string Bytes() {
    b_.Finish(fb::CreateModelDirect(b_, 3, &codes_, &subgraphs_, "", &buffers_, nullptr, nullptr,
                                    &signatures_),
              "TFL3");
    return {reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize()};
  }

 private:
  Builder b_;
  std::vector<float> scales_;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers_ = {fb::CreateBuffer(b_)};
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<fb::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<fb::Operator>> operators_;
  std::vector<flatbuffers::Offset<fb::SubGraph>> subgraphs_;
  std::vector<flatbuffers::Offset<fb::SignatureDef>> signatures_;
};

inline Result<ir::Module> Import(const std::string& bytes, const ImportOptions& options = {}) {
  return ImportTfLite("m.tflite", SharedBytes::Copy(std::as_bytes(std::span(bytes))), options);
}

// An input of main: its numbers, and its shape where the type leaves dims open.
struct Given {
  std::vector<double> values;
  std::vector<int64_t> shape = {};
};
// The numbers of each result. States are not given: those that may be left out are.
inline std::vector<std::vector<double>> RunModule(Result<ir::Module> module,
                                                  const std::vector<Given>& given) {
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  auto typed = InferTypes(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().ToString());
  std::vector<reference::Value> inputs;
  const ir::Function& main = *typed->functions.at("main");
  for (size_t i = 0; i < given.size(); ++i) {
    const relayvm::TensorType& type = *main.params[i]->type->As<relayvm::TensorType>();
    std::vector<int64_t> shape = given[i].shape;
    if (shape.empty()) {
      for (const Dim& d : type.shape) shape.push_back(d.value());
    }
    const std::vector<uint8_t> bytes = BytesOf(given[i].values, type.dtype);
    inputs.push_back(reference::MakeTensor(
        {type.dtype, shape, SharedBytes::Copy(std::as_bytes(std::span(bytes)))}));
  }
  auto result = reference::Run(*typed, "main", inputs);
  REQUIRE_MESSAGE(result.ok(), result.status().ToString());
  std::vector<std::vector<double>> out;
  if (const auto* tensor = (*result)->As<reference::Tensor>()) return {NumbersOf(*tensor->data)};
  for (const reference::Value& field : (*result)->As<reference::Data>()->fields)
    out.push_back(NumbersOf(*field->As<reference::Tensor>()->data));
  return out;
}

}  // namespace relayvm::import::tflite::testing
