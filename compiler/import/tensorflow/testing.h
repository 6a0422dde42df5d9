// Graphs as text for tests, and what they give: run by the reference interpreter.
//
//   RunGraph(Float("x", "2 3") + Ints("axis", {1}) + Node("y", "Sum", "x axis"), {{{2, 3}, {...}}})
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <string>
#include <vector>

#include "compiler/import/tensorflow/importer.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"
#include "kernels/te/scalar.h"

namespace relayvm::import::tensorflow::testing {

// --- Text ---

inline std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

inline std::string Attr(const std::string& name, const std::string& value) {
  return fmt::format("attr {{ key: '{}' value {{ {} }} }} ", name, value);
}
inline std::string Node(const std::string& name, const std::string& op, const std::string& inputs,
                        const std::string& attrs = "", const char* field = "node") {
  std::string text = fmt::format("{} {{ name: '{}' op: '{}' ", field, name, op);
  for (const std::string& input : Words(inputs)) text += fmt::format("input: '{}' ", input);
  return text + attrs + "} ";
}
// Extents: "2 -1".
inline std::string Shape(const std::string& extents) {
  std::string text = "shape { ";
  for (const std::string& d : Words(extents)) text += fmt::format("dim {{ size: {} }} ", d);
  return text + "} ";
}
inline std::string Input(const std::string& name, const std::string& type,
                         const std::string& extents) {
  return Node(name, "Placeholder", "",
              Attr("dtype", "type: " + type) + Attr("shape", Shape(extents)));
}
inline std::string Float(const std::string& name, const std::string& extents) {
  return Input(name, "DT_FLOAT", extents);
}
// A constant: `list` is a field of TensorProto.
template <typename T>
std::string Const(const std::string& name, const std::string& type, const std::string& extents,
                  const char* list, const std::vector<T>& values, const char* field = "node") {
  return Node(name, "Const", "",
              Attr("dtype", "type: " + type) +
                  Attr("value", fmt::format("tensor {{ dtype: {} tensor_{} {}: [{}] }}", type,
                                            Shape(extents), list, fmt::join(values, ", "))),
              field);
}
inline std::string Ints(const std::string& name, const std::vector<int>& values,
                        const char* field = "node") {
  return Const(name, "DT_INT32", std::to_string(values.size()), "int_val", values, field);
}
inline std::string Int(const std::string& name, int value, const char* field = "node") {
  return Const<int>(name, "DT_INT32", "", "int_val", {value}, field);
}
inline std::string Real(const std::string& name, double value, const char* field = "node") {
  return Const<double>(name, "DT_FLOAT", "", "float_val", {value}, field);
}

// --- Runs ---

struct Given {
  std::vector<int64_t> shape;
  std::vector<double> values;
  DType dtype = DType::kFloat32;
};

inline Result<ir::Module> ImportText(const std::string& text, const ImportOptions& options = {}) {
  return ImportTensorFlow("graph.pbtxt", SharedBytes::Copy(std::as_bytes(std::span(text))),
                          options);
}
// What it says of a graph that it does not take.
inline std::string Refusal(const std::string& text, const ImportOptions& options = {}) {
  const auto module = ImportText(text, options);
  return module.ok() ? "" : module.status().message();
}

inline HostTensor TensorOf(const Given& given) {
  HostTensor t{given.dtype, given.shape, {}};
  const auto width = static_cast<size_t>(DTypeBytes(t.dtype));
  t.data = SharedBytes::Zeros(given.values.size() * width);
  std::byte* out = given.values.empty() ? nullptr : t.data.Mutable().data();
  for (size_t i = 0; i < given.values.size(); ++i) {
    te::WriteElement(t.dtype,
                     IsFloat(t.dtype) ? te::FloatScalar(given.values[i])
                                      : te::IntScalar(static_cast<int64_t>(given.values[i])),
                     out + i * width);
  }
  return t;
}

// The numbers of all outputs, one after the other.
inline std::vector<double> RunGraph(const std::string& text, const std::vector<Given>& inputs,
                                    const ImportOptions& options = {}) {
  auto module = ImportText(text, options);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  auto typed = InferTypes(*module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  std::vector<reference::Value> values;
  for (const Given& given : inputs) values.push_back(reference::MakeTensor(TensorOf(given)));
  StringTable strings(typed->strings.get());
  auto result = reference::Run(*typed, "main", values, {.strings = &strings});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  std::vector<reference::Value> outputs = {*result};
  if (const auto* tuple = (*result)->As<reference::Data>()) outputs = tuple->fields;
  std::vector<double> out;
  for (const reference::Value& output : outputs) {
    const HostTensor& t = *output->As<reference::Tensor>()->data;
    const auto width = static_cast<size_t>(DTypeBytes(t.dtype));
    for (size_t i = 0; i < static_cast<size_t>(t.size()); ++i) {
      const te::Scalar x = te::ReadElement(t.dtype, t.data.data() + i * width);
      out.push_back(IsFloat(t.dtype) ? x.f : static_cast<double>(x.i));
    }
  }
  return out;
}

inline void CheckNear(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(2e-5).scale(1));
  }
}

}  // namespace relayvm::import::tensorflow::testing
