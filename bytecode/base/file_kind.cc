#include "bytecode/base/file_kind.h"

#include <algorithm>

namespace relayvm {
namespace {

using namespace std::string_view_literals;

std::string_view SkipSpace(std::string_view s) {
  return s.substr(std::min(s.find_first_not_of(" \t\r\n"), s.size()));
}

bool IsRelay(std::string_view s) {
  s = SkipSpace(s);
  for (std::string_view word :
       {"#[version", "#[metadata", "def @", "extern type ", "free_var %", "fn ("}) {
    if (s.starts_with(word)) return true;
  }
  return s.starts_with("type ") && s.find('{') != std::string_view::npos;
}

// The length of a JSON object, then the object.
bool IsSafetensors(std::string_view s) {
  return s.size() > 9 && s[8] == '{' && s.substr(5, 3) == "\0\0\0"sv;
}

struct Kind {
  bool (*matches)(std::string_view start);
  const char* description;
};

constexpr Kind kKinds[] = {
    {[](std::string_view s) { return s.empty(); }, "an empty file"},
    {[](std::string_view s) { return s.starts_with("RVMX"); },
     "a compiled program (.vmx): run it with vmrun, show it with vmdump"},
    {[](std::string_view s) { return s.starts_with("\x93NUMPY"); }, "a tensor (.npy)"},
    {[](std::string_view s) { return s.starts_with("PK") && s.find("/data.pkl") < 200; },
     "a PyTorch file: save its tensors as an .npz with numpy.savez"},
    {[](std::string_view s) { return s.starts_with("PK\3\4") || s.starts_with("PK\5\6"); },
     "a zip archive, such as an .npz of tensors: give weights to relayc by --params"},
    {[](std::string_view s) { return s.starts_with("\xB7\x9C\x04\x05\x4F\x8D\xE5\xF7"); },
     "a TVM parameter file: give it to relayc by --params"},
    {[](std::string_view s) { return s.size() >= 8 && s.substr(4, 4) == "TFL3"; },
     "a TensorFlow Lite model: import it with TVM (relay.frontend.from_tflite) and print "
     "mod.astext(show_meta_data=True)"},
    {[](std::string_view s) { return s.starts_with("\x89HDF\r\n"); },
     "an HDF5 file, such as a Keras model: import it with TVM (relay.frontend.from_keras) and "
     "print mod.astext(show_meta_data=True)"},
    {[](std::string_view s) {
       return s.starts_with(
           "\x7F"
           "ELF");
     },
     "an ELF file (a program or library of the machine)"},
    {[](std::string_view s) { return s.starts_with("\x1F\x8B"); }, "a gzip file: unpack it first"},
    {IsSafetensors, "a safetensors file: save its tensors as an .npz with numpy.savez"},
    {IsOnnxModel, "an ONNX model: compile it with relayc"},
    {IsRelay, "Relay text: compile it with relayc, or run it with relayrun"},
    {[](std::string_view s) { return SkipSpace(s).starts_with(".version "); },
     "bytecode as text: assemble it with vmasm"},
    {[](std::string_view s) {
       return SkipSpace(s).starts_with('{') && s.find("\"nodes\"") != std::string_view::npos;
     },
     "JSON of a graph: print the Relay module itself, with mod.astext(show_meta_data=True)"},
    {IsBinary, "a binary file of unknown kind"},
    {[](std::string_view) { return true; }, "text"},
};

}  // namespace

bool IsOnnxModel(std::string_view s) {
  // Field 1, the version of the format, then one of the other fields of ModelProto.
  constexpr auto kNextFields = "\x12\x1a\x22\x28\x32\x3a\x42\x72"sv;
  return s.size() >= 3 && s[0] == '\x08' && s[1] >= 1 && s[1] <= 30 &&
         kNextFields.find(s[2]) != std::string_view::npos;
}

bool IsBinary(std::string_view start) {
  // Truncated, a character of UTF-8 may miss its end; so only what no text holds counts.
  return std::ranges::any_of(start, [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte == 0x7F || (byte < 0x20 && "\t\n\v\f\r\x1B"sv.find(c) == std::string_view::npos);
  });
}

std::string DescribeFile(std::string_view start) {
  start = start.substr(0, 1024);
  return std::ranges::find_if(kKinds, [&](const Kind& k) { return k.matches(start); })->description;
}

std::string DescribeFile(std::span<const uint8_t> file) {
  return DescribeFile(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()));
}

}  // namespace relayvm
