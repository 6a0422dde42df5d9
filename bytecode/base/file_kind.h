// What a file is, told by how it starts: for messages such as "expected Relay text, found an ONNX
// model (...)". Thread-safe. Tested by file_kind_test.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace relayvm {

// With what to do with it: "a compiled program (.vmx): run it with vmrun, show it with vmdump".
// `start` holds the first bytes, a few hundred where there are that many.
std::string DescribeFile(std::string_view start);
std::string DescribeFile(std::span<const uint8_t> file);

// The formats of programs that the compiler reads, a row each (compiler/import/importers.h has the
// same rows): how their files are told and what messages call them.
struct ModelFormat {
  const char* name;                         // "onnx", as options take it
  const char* model;                        // "an ONNX model"
  const char* ending;                       // of its files' names: ".onnx"
  bool (*matches)(std::string_view start);  // by content
  const char* advice;                       // to who gives it to what does not compile
};
std::span<const ModelFormat> ModelFormats();
// "Relay text, an ONNX model ... or a Keras model".
std::string ModelKinds();
// True for what is no text, so that it is not shown as such.
bool IsBinary(std::string_view start);

}  // namespace relayvm
