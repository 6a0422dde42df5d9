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

// True for a protocol buffer that starts as an ONNX model does.
bool IsOnnxModel(std::string_view start);
// True for what is no text, so that it is not shown as such.
bool IsBinary(std::string_view start);

}  // namespace relayvm
