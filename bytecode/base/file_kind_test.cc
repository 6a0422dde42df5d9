#include "bytecode/base/file_kind.h"

#include <doctest/doctest.h>

#include <string>

namespace relayvm {
namespace {

using namespace std::string_view_literals;

TEST_CASE("files are told by how they start") {
  const struct {
    std::string_view start;
    const char* found;
  } kCases[] = {
      {"", "an empty file"},
      {"RVMX\1\0\0\0"sv, "a compiled program (.vmx)"},
      {"\x93NUMPY\1\0"sv, "a tensor (.npy)"},
      {"PK\3\4\x14\0\0\0\0\0\0\0w.npy"sv, "a zip archive, such as an .npz"},
      {"PK\3\4\0\0\x08\x08\0\0archive/data.pkl"sv, "a TorchScript archive"},
      {"\x80\x02\x8a\nl\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv, "a TorchScript archive"},
      {"GGUF\3\0\0\0"sv, "a GGUF file"},
      {"\xB7\x9C\x04\x05\x4F\x8D\xE5\xF7\0"sv, "a TVM parameter file"},
      {"\x1c\0\0\0TFL3"sv, "a TensorFlow Lite model"},
      {"\x89HDF\r\n\x1a\n"sv, "a Keras model"},
      {"\x7F"
       "ELF\2\1\1"sv,
       "an ELF file"},
      {"\x1F\x8B\x08"sv, "a gzip file"},
      {"\x08\x01\x12\xF3\x23\n\x20"sv, "a TensorFlow graph"},
      {"\n\x0A\n\x01x\x12\x05"sv, "a TensorFlow graph"},
      {"node {\n  name:", "a TensorFlow graph"},
      {"{\"format\": \"graph-model\", \"modelTopology\": {", "a TensorFlow graph"},
      {"{\n  \"nodes\": [\n    {\n      \"op\": \"null\"", "an MXNet symbol"},
      {"{\"nodes\": [{\"op\": \"null\"}, {\"op\": \"tvm_op\"", "JSON of a graph"},
      {"\n\n\n\n\n\n", "text"},
      {"\x90\x01\0\0\0\0\0\0{\"w\":"sv, "a safetensors file"},
      {"\x08\x07\x12\x07pytorch\x1a\x03"sv, "an ONNX model"},
      {"\x08\x08:\xAC\x05\n\x20"sv, "an ONNX model"},
      {"#[version = \"0.0.5\"]\ndef @main() { 1 }", "Relay text"},
      {"\n  def @main(%x: int32) { %x }", "Relay text"},
      {"type List[A] {\n  Nil,\n}", "Relay text"},
      {"type that was written by hand", "text"},
      {".version 1\n.source \"x\"", "bytecode as text"},
      {"{\n \"nodes\": [", "JSON of a graph"},
      {"hello", "text"},
      {"\0\1\2"sv, "a binary file"},
      {"caf\xC3", "text"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.start);
    CHECK(DescribeFile(c.start).starts_with(c.found));
  }
  // By the name of the first file in them.
  const auto zip = [](std::string_view name) {
    return "PK\3\4" + std::string(22, '\0') + static_cast<char>(name.size()) +
           std::string(3, '\0') + std::string(name) + "FB";
  };
  for (const char* name : {"net/data.pkl", "net/version", "net/code/__torch__.py", "net/byteorder"})
    CHECK(DescribeFile(zip(name)).starts_with("a TorchScript archive: compile it"));
  for (const char* name : {"net/archive_format", "net/data/weights/weight_0"})
    CHECK(DescribeFile(zip(name)).starts_with("a torch.export archive"));
  for (const char* name : {"w.npy", "layers/w.npy", "version", "net/version.npy"})
    CHECK(DescribeFile(zip(name)).starts_with("a zip archive, such as an .npz"));
}

}  // namespace
}  // namespace relayvm
