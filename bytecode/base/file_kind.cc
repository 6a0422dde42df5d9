#include "bytecode/base/file_kind.h"

#include <algorithm>
#include <ranges>

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

// Behind `head`, a field's tag: its length, and a message whose first field is a message or a text.
// Where that one's length is; 0: it is something else.
size_t HeldMessage(std::string_view s, std::string_view head) {
  if (!s.starts_with(head)) return 0;
  size_t at = head.size();
  while (at < s.size() && (static_cast<uint8_t>(s[at]) & 0x80) != 0) ++at;
  return at + 2 < s.size() && s[at + 1] == '\x0a' ? at + 2 : 0;
}

// Its version, then a meta graph, which begins with any of its fields.
bool IsSavedModel(std::string_view s) {
  constexpr auto kHead = "\x08\x01\x12"sv, kFields = "\x0a\x12\x1a\x22\x2a\x32\x3a"sv;
  if (!s.starts_with(kHead)) return false;
  size_t at = kHead.size();
  while (at < s.size() && (static_cast<uint8_t>(s[at]) & 0x80) != 0) ++at;
  return at + 1 < s.size() && kFields.find(s[at + 1]) != std::string_view::npos;
}

bool IsOnnxModel(std::string_view s) {
  // Field 1, the version of the format, then one of the other fields of ModelProto.
  constexpr auto kNextFields = "\x12\x1a\x22\x28\x32\x3a\x42\x72"sv;
  return s.size() >= 3 && !IsSavedModel(s) && s[0] == '\x08' && s[1] >= 1 && s[1] <= 30 &&
         kNextFields.find(s[2]) != std::string_view::npos;
}

// Of a zip archive: the name of its first file.
std::string_view FirstInZip(std::string_view s) {
  constexpr size_t kLengthAt = 26, kNameAt = 30;
  if (s.size() < kNameAt || !s.starts_with("PK\3\4")) return "";
  const size_t length = static_cast<uint8_t>(s[kLengthAt]) +
                        (static_cast<size_t>(static_cast<uint8_t>(s[kLengthAt + 1])) << 8);
  return s.substr(kNameAt, length);
}

// Whether a zip archive's directory, which is at its end, has the word; of a start, its first name.
bool ZipNames(std::string_view s, std::string_view word) {
  constexpr size_t kMostNames = size_t{4} << 20;
  if (FirstInZip(s).empty()) return false;
  return FirstInZip(s).find(word) != std::string_view::npos ||
         s.substr(s.size() - std::min(s.size(), kMostNames)).find(word) != std::string_view::npos;
}

// Archives of PyTorch's writer: a folder of files. Of a start there is only the first one's name.
bool IsPyTorch(std::string_view s) {
  const std::string_view name = FirstInZip(s);
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.ends_with(".npy")) return false;
  for (std::string_view file : {"data.pkl", "version", "byteorder", ".format_version", "code/",
                                "constants.pkl", "archive_format", ".data/", "data/", "extra/"}) {
    if (name.substr(slash + 1).starts_with(file)) return true;
  }
  return false;
}

bool IsTorchExport(std::string_view s) {
  return ZipNames(s, "/archive_format") || ZipNames(s, "serialized_exported_program.json") ||
         FirstInZip(s).find("/data/weights/") != std::string_view::npos;
}

// What torch.save and torch.jit.save write.
bool IsTorchScript(std::string_view s) {
  // Before PyTorch 1.6: a pickle of its magic number.
  return ((IsPyTorch(s) || ZipNames(s, "/data.pkl")) && !IsTorchExport(s)) ||
         (s.starts_with("PK") && s.find("/data.pkl") < 200) ||
         s.starts_with("\x80\x02\x8a\nl\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
}

bool IsKeras(std::string_view s) {
  return s.starts_with("\x89HDF\r\n") ||
         (ZipNames(s, "config.json") && ZipNames(s, "metadata.json") && !IsTorchExport(s));
}

bool IsTfLite(std::string_view s) { return s.size() >= 8 && s.substr(4, 4) == "TFL3"; }

// A SavedModel (its version, then a meta graph, which begins with its information), a GraphDef (a
// node, which begins with its name), their texts, and what TensorFlow.js makes of them.
bool IsTensorFlow(std::string_view s) {
  const std::string_view text = SkipSpace(s);
  if (text.starts_with('{')) return text.find("\"modelTopology\"") != std::string_view::npos;
  if (text.starts_with("node {") || text.starts_with("saved_model_schema_version")) return true;
  if (IsSavedModel(s)) return true;
  const size_t name = HeldMessage(s, "\x0a");
  const size_t end = name == 0 ? s.size() : name + 1 + static_cast<uint8_t>(s[name]);
  return end < s.size() && s[end] == '\x12';
}

bool IsMxnet(std::string_view s) {
  return SkipSpace(s).starts_with('{') && s.find("\"nodes\"") != std::string_view::npos &&
         s.find("\"op\"") != std::string_view::npos &&
         s.find("\"tvm_op\"") == std::string_view::npos;
}

constexpr const char* kCompileIt = "compile it with relayc";
constexpr ModelFormat kFormats[] = {
    {"relay", "Relay text", ".relay", IsRelay, "compile it with relayc, or run it with relayrun"},
    {"onnx", "an ONNX model", ".onnx", IsOnnxModel, kCompileIt},
    {"torchscript", "a TorchScript archive", ".pt", IsTorchScript, kCompileIt},
    {"torch_export", "a torch.export archive", ".pt2", IsTorchExport, kCompileIt},
    {"tflite", "a TensorFlow Lite model", ".tflite", IsTfLite, kCompileIt},
    {"tensorflow", "a TensorFlow graph", ".pb", IsTensorFlow, kCompileIt},
    {"mxnet", "an MXNet symbol", "-symbol.json", IsMxnet, kCompileIt},
    {"keras", "a Keras model", ".keras", IsKeras, kCompileIt},
};

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
    {[](std::string_view s) { return s.starts_with("\xB7\x9C\x04\x05\x4F\x8D\xE5\xF7"); },
     "a TVM parameter file: give it to relayc by --params"},
    {[](std::string_view s) { return s.starts_with("GGUF"); },
     "a GGUF file (of llama.cpp): weights without a model; they are given to relayc by --params, "
     "as "
     "an .npz (the Python package gguf reads them, numpy.savez writes one)"},
    {[](std::string_view s) {
       return s.starts_with(
           "\x7F"
           "ELF");
     },
     "an ELF file (a program or library of the machine)"},
    {[](std::string_view s) { return s.starts_with("\x1F\x8B"); }, "a gzip file: unpack it first"},
    {IsSafetensors,
     "a safetensors file: weights without a model; they are given to relayc by --params, as an "
     ".npz "
     "(numpy.savez)"},
};

// After what else a start may tell.
constexpr Kind kOtherKinds[] = {
    {[](std::string_view s) { return s.starts_with("PK\3\4") || s.starts_with("PK\5\6"); },
     "a zip archive, such as an .npz of tensors: give weights to relayc by --params"},
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

bool IsBinary(std::string_view start) {
  // Truncated, a character of UTF-8 may miss its end; so only what no text holds counts.
  return std::ranges::any_of(start, [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte == 0x7F || (byte < 0x20 && "\t\n\v\f\r\x1B"sv.find(c) == std::string_view::npos);
  });
}

std::string DescribeFile(std::string_view start) {
  start = start.substr(0, 1024);
  const auto matches = [&](const auto& kind) { return kind.matches(start); };
  if (const auto* kind = std::ranges::find_if(kKinds, matches); kind != std::end(kKinds))
    return kind->description;
  // A protocol buffer's start is tried before a text's: it holds characters too.
  for (const ModelFormat& format : std::views::reverse(kFormats)) {
    if (matches(format)) return std::string(format.model) + ": " + format.advice;
  }
  return std::ranges::find_if(kOtherKinds, matches)->description;
}

std::span<const ModelFormat> ModelFormats() { return kFormats; }

std::string ModelKinds() {
  std::string kinds;
  for (const ModelFormat& format : kFormats) {
    const bool is_last = &format == std::end(kFormats) - 1;
    kinds += std::string(kinds.empty() ? "" : is_last ? " or " : ", ") + format.model;
  }
  return kinds;
}

std::string DescribeFile(std::span<const uint8_t> file) {
  return DescribeFile(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()));
}

}  // namespace relayvm
