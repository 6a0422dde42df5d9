// Symbols of one operator that a test makes, imported, typed and run by the reference interpreter.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/mxnet/importer.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"

namespace relayvm::import::mxnet::testing {

struct Input {
  std::vector<int64_t> dims;
  std::vector<double> values;
  DType dtype = DType::kFloat32;
};

inline SharedBytes BytesOf(std::string_view text) {
  return SharedBytes::Copy(std::as_bytes(std::span(text.data(), text.size())));
}

// A symbol whose variables x0, x1 .. are the inputs of a node `op`. `attrs`: "kernel=(3, 3)|pad=1".
// Heads are its outputs 0..heads-1.
inline std::string SymbolOf(std::string_view op, std::string_view attrs, size_t inputs,
                            size_t heads = 1, bool np_shape = false) {
  std::string nodes, entries, given, ends;
  for (size_t i = 0; i < inputs; ++i) {
    nodes += R"({"op": "null", "name": "x)" + std::to_string(i) + R"(", "inputs": []}, )";
    entries += (i == 0 ? "[" : ", [") + std::to_string(i) + ", 0, 0]";
  }
  while (!attrs.empty()) {
    const std::string_view one = attrs.substr(0, attrs.find('|'));
    const size_t equal = one.find('=');
    given += std::string(given.empty() ? "" : ", ") + '"' + std::string(one.substr(0, equal)) +
             R"(": ")" + std::string(one.substr(equal + 1)) + '"';
    attrs.remove_prefix(std::min(one.size() + 1, attrs.size()));
  }
  for (size_t i = 0; i < heads; ++i)
    ends += (i == 0 ? "[" : ", [") + std::to_string(inputs) + ", " + std::to_string(i) + ", 0]";
  return R"({"nodes": [)" + nodes + R"({"op": ")" + std::string(op) +
         R"(", "name": "y", "attrs": {)" + given + R"(}, "inputs": [)" + entries +
         R"(]}], "heads": [)" + ends + R"(], "attrs": {"mxnet_version": ["int", 10901])" +
         (np_shape ? R"(, "is_np_shape": ["int", 1])" : "") + "}}";
}

// "(?, ?):float32", or with the extents.
inline std::string ShapeText(const Input& input, bool open) {
  std::string text = "(";
  for (size_t i = 0; i < input.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + (open ? "?" : std::to_string(input.dims[i]));
  return text + "):" + std::string(DTypeName(input.dtype));
}

// Elements as numbers of a dtype, and back.
template <typename T>
SharedBytes Elements(const std::vector<double>& values) {
  std::vector<T> out;
  for (const double v : values) out.push_back(static_cast<T>(v));
  return SharedBytes::Copy(std::as_bytes(std::span(out)));
}
inline HostTensor TensorOf(const Input& input) {
  const std::vector<double>& v = input.values;
  switch (input.dtype) {
    case DType::kFloat64:
      return {input.dtype, input.dims, Elements<double>(v)};
    case DType::kInt64:
      return {input.dtype, input.dims, Elements<int64_t>(v)};
    case DType::kInt32:
      return {input.dtype, input.dims, Elements<int32_t>(v)};
    case DType::kInt8:
      return {input.dtype, input.dims, Elements<int8_t>(v)};
    case DType::kUInt8:
    case DType::kBool:
      return {input.dtype, input.dims, Elements<uint8_t>(v)};
    default:
      return {DType::kFloat32, input.dims, Elements<float>(v)};
  }
}
template <typename T>
std::vector<double> NumbersAs(const HostTensor& t) {
  const SharedBytes bytes = t.data.Loaded();
  std::vector<double> out(static_cast<size_t>(t.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    T number{};
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
    out[i] = static_cast<double>(number);
  }
  return out;
}
inline std::vector<double> NumbersOf(const HostTensor& t) {
  switch (t.dtype) {
    case DType::kFloat64:
      return NumbersAs<double>(t);
    case DType::kInt64:
      return NumbersAs<int64_t>(t);
    case DType::kInt32:
      return NumbersAs<int32_t>(t);
    case DType::kInt8:
      return NumbersAs<int8_t>(t);
    case DType::kUInt8:
    case DType::kBool:
      return NumbersAs<uint8_t>(t);
    default:
      REQUIRE(t.dtype == DType::kFloat32);
      return NumbersAs<float>(t);
  }
}

// What the imported module gives, its tensors in order.
inline std::vector<HostTensor> Run(const Result<ir::Module>& module,
                                   const std::vector<Input>& inputs) {
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  auto typed = InferTypes(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  std::vector<reference::Value> given;
  for (const Input& input : inputs) given.push_back(reference::MakeTensor(TensorOf(input)));
  auto value = reference::Run(*typed, "main", given);
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  if (const auto* tensor = (*value)->As<reference::Tensor>()) return {*tensor->data};
  std::vector<HostTensor> out;
  for (const auto& field : (*value)->As<reference::Data>()->fields)
    out.push_back(*field->As<reference::Tensor>()->data);
  return out;
}

// A row of a table of values.
struct ValueCase {
  const char* op;
  const char* attrs;
  std::vector<Input> inputs;
  std::vector<std::vector<double>> expected;  // of its outputs
  bool open = true;                           // the inputs' extents are not known when compiling
  bool np_shape = false;
};
inline void CheckValues(const ValueCase& c) {
  CAPTURE(std::string(c.op));
  CAPTURE(std::string(c.attrs));
  ImportOptions options;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    options.shapes["x" + std::to_string(i)] = ShapeText(c.inputs[i], c.open);
  const std::string text = SymbolOf(c.op, c.attrs, c.inputs.size(), c.expected.size(), c.np_shape);
  const auto found = Run(ImportMxnet("one-symbol.json", BytesOf(text), options), c.inputs);
  REQUIRE(found.size() == c.expected.size());
  for (size_t k = 0; k < found.size(); ++k) {
    CAPTURE(k);
    const std::vector<double> numbers = NumbersOf(found[k]);
    REQUIRE(numbers.size() == c.expected[k].size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      CAPTURE(i);
      if (c.expected[k][i] == numbers[i]) continue;  // infinities
      CHECK(numbers[i] == doctest::Approx(c.expected[k][i]).epsilon(2e-5).scale(1));
    }
  }
}

}  // namespace relayvm::import::mxnet::testing
