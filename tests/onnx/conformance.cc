// ONNX's own conformance tests (Debian's libonnx-testdata) in one process: each model is compiled,
// run on its recorded inputs and compared with its recorded outputs.
//
//   onnx_conformance FOLDER [--filter TEXT] [--shard I/N]
//
// FOLDER holds test_*: model.onnx and test_data_set_N/{input,output}_K.pb. Prints what
// failed and how many passed; what is left out is counted by its reason. Exit status 1 when a test
// fails, 0 with a note when the folder is not there.
#include <fmt/core.h>
#include <onnx/onnx_pb.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bytecode/base/string_table.h"
#include "compiler/driver.h"
#include "compiler/import/onnx/model_file.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  enum class Kind { kPassed, kSkipped, kFailed };
  Kind kind = Kind::kPassed;
  std::string why;
};

Outcome Failed(std::string why) { return {Outcome::Kind::kFailed, std::move(why)}; }
Outcome Skipped(std::string why) { return {Outcome::Kind::kSkipped, std::move(why)}; }

// --- What is left out ---

void CollectOperators(const onnx::GraphProto& graph, std::set<std::string>* ops) {
  for (const auto& node : graph.node()) {
    ops->insert(node.op_type());
    for (const auto& a : node.attribute()) {
      if (a.has_g()) CollectOperators(a.g(), ops);
    }
  }
}

std::string WhySkipped(const onnx::ModelProto& model, const std::string& test) {
  for (const auto& opset : model.opset_import()) {
    if (opset.domain().find("training") != std::string::npos) return "training operators";
  }
  std::vector<const onnx::TypeProto*> types;
  for (const auto& v : model.graph().input()) types.push_back(&v.type());
  for (const auto& v : model.graph().output()) types.push_back(&v.type());
  for (const onnx::TypeProto* t : types) {
    if (t->has_sequence_type()) return "sequences as inputs or outputs";
    if (t->has_optional_type()) return "optionals as inputs or outputs";
    if (!t->has_tensor_type()) return "an input or output that is no tensor";
    if (t->tensor_type().elem_type() == onnx::TensorProto::BFLOAT16)
      return "bfloat16, which is recorded as uint16";
  }
  std::set<std::string> ops;
  CollectOperators(model.graph(), &ops);
  for (const char* op : {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike",
                         "RandomUniform", "RandomUniformLike"}) {
    if (ops.contains(op)) return "random results";
  }
  // Dropout draws; but for a ratio of zero.
  if (test.find("training_dropout") != std::string::npos &&
      test.find("zero_ratio") == std::string::npos) {
    return "random results";
  }
  return "";
}

// --- Comparison ---

double ElementAsDouble(DType dtype, const std::byte* p) {
  const auto read = [&]<typename T>(T value) {
    std::memcpy(&value, p, sizeof value);
    return static_cast<double>(value);
  };
  switch (dtype) {
    case DType::kFloat32:
      return read(float{});
    case DType::kFloat64:
      return read(double{});
    case DType::kFloat16: {
      uint16_t bits;
      std::memcpy(&bits, p, sizeof bits);
      const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
      const double sign = (bits & 0x8000) != 0 ? -1 : 1;
      if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
      return sign * (exponent == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(fraction + 1024, exponent - 25));
    }
    case DType::kBFloat16: {
      uint16_t half;
      std::memcpy(&half, p, sizeof half);
      const uint32_t bits = uint32_t{half} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case DType::kInt64:
      return read(int64_t{});
    case DType::kUInt64:
      return read(uint64_t{});
    case DType::kInt32:
      return read(int32_t{});
    case DType::kUInt32:
      return read(uint32_t{});
    case DType::kInt16:
      return read(int16_t{});
    case DType::kUInt16:
      return read(uint16_t{});
    case DType::kInt8:
      return read(int8_t{});
    case DType::kUInt8:
    case DType::kBool:
      return read(uint8_t{});
    case DType::kString:
      break;  // compared as texts
  }
  return 0;
}

std::vector<std::string_view> TextsOf(const HostTensor& t) {
  const PackedStrings packed(t.data.data(), t.size());
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i < packed.size(); ++i) texts.push_back(packed[i]);
  return texts;
}

// Empty, or how they differ.
std::string Difference(const Value& got, const HostTensor& want) {
  if (!got.is_tensor()) return "expected a tensor";
  if (got.dtype() != want.dtype) {
    return fmt::format("dtype {}, expected {}", DTypeName(got.dtype()), DTypeName(want.dtype));
  }
  if (!std::equal(got.dims().begin(), got.dims().end(), want.shape.begin(), want.shape.end())) {
    return "the shape differs";
  }
  if (want.dtype == DType::kString) {
    const std::vector<std::string_view> texts = TextsOf(want);
    int64_t different = 0;
    for (size_t i = 0; i < texts.size(); ++i)
      different += got.text(static_cast<int64_t>(i)) != texts[i];
    return different == 0 ? "" : fmt::format("{} of {} texts differ", different, texts.size());
  }
  const size_t element = DTypeBytes(want.dtype);
  const auto* p = static_cast<const std::byte*>(got.data());
  double largest = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    const double w = ElementAsDouble(want.dtype, want.data.data() + i * element);
    if (std::isfinite(w)) largest = std::max(largest, std::fabs(w));
  }
  const bool half = want.dtype == DType::kFloat16 || want.dtype == DType::kBFloat16;
  const double rtol = half ? 2e-3 : 1e-3, atol = std::max(half ? 2e-3 : 1e-5, 1e-6 * largest);
  int64_t different = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    if (!IsFloat(want.dtype)) {
      different += std::memcmp(p + i * element, want.data.data() + i * element, element) != 0;
      continue;
    }
    const double g = ElementAsDouble(want.dtype, p + i * element);
    const double w = ElementAsDouble(want.dtype, want.data.data() + i * element);
    const bool same = g == w || (std::isnan(g) && std::isnan(w)) ||
                      std::fabs(g - w) <= atol + rtol * std::fabs(w);
    different += !same;
  }
  if (different == 0) return "";
  return fmt::format("{} of {} values differ", different, want.size());
}

// --- One test ---

std::vector<std::string> FilesOf(const fs::path& set, const char* prefix) {
  std::vector<std::string> files;
  for (int i = 0; fs::exists(set / fmt::format("{}_{}.pb", prefix, i)); ++i) {
    files.push_back((set / fmt::format("{}_{}.pb", prefix, i)).string());
  }
  return files;
}

Outcome RunSet(const std::shared_ptr<Runtime>& runtime,
               const std::shared_ptr<const Executable>& executable, const ExportInfo& main,
               const std::vector<std::string>& graph_inputs, const fs::path& set) {
  std::map<std::string, Value> by_name;
  const auto inputs = FilesOf(set, "input");
  for (size_t i = 0; i < inputs.size() && i < graph_inputs.size(); ++i) {
    auto tensor = import::ReadTensorFile(inputs[i]);
    if (!tensor.ok()) return Failed(std::string(tensor.status().message()));
    auto value = tensor->dtype == DType::kString
                     ? Value::CopyStrings(tensor->shape, TextsOf(*tensor))
                     : Value::CopyTensor(tensor->dtype, tensor->shape, tensor->data.data());
    if (!value.ok()) return Failed(std::string(value.status().message()));
    by_name[graph_inputs[i]] = *value;
  }
  std::vector<Value> args;
  for (const std::string& name : main.param_names) {
    args.push_back(by_name[name]);  // nothing: an initializer that is an input too
  }
  auto invocation = Invocation::Create(runtime, executable, {.timeout = std::chrono::seconds(60)});
  if (!invocation.ok()) return Failed(std::string(invocation.status().message()));
  auto result = (*invocation)->Run(main.name, std::move(args));
  if (!result.ok()) return Failed(fmt::format("run: {}", result.status().message()));
  const auto outputs = FilesOf(set, "output");
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto want = import::ReadTensorFile(outputs[i]);
    if (!want.ok()) return Failed(std::string(want.status().message()));
    const bool single = main.output_names.size() == 1;
    if (!single && i >= result->num_fields()) return Failed("the result has too few outputs");
    const std::string why = Difference(single ? *result : result->field(i), *want);
    if (!why.empty()) return Failed(fmt::format("output {}: {}", i, why));
  }
  return {};
}

Outcome RunTest(const std::shared_ptr<Runtime>& runtime, const fs::path& folder) {
  const std::string path = (folder / "model.onnx").string();
  auto mapping = FileMapping::Open(path);
  if (!mapping.ok()) return Failed(std::string(mapping.status().message()));
  auto file = import::ModelFile::Read(path, SharedBytes::OfFile(*mapping));
  if (!file.ok()) return Failed(std::string(file.status().message()));
  if (std::string why = WhySkipped((*file)->model(), folder.filename().string()); !why.empty())
    return Skipped(why);
  std::vector<std::string> names;
  for (const auto& input : (*file)->model().graph().input()) names.push_back(input.name());
  if (!fs::exists(folder / "test_data_set_0")) return Skipped("no recorded data");

  CompileOptions options;
  auto compiled = CompileFile(path, options);
  if (!compiled.ok()) return Failed(fmt::format("compile: {}", compiled.status().message()));
  const ExportInfo main = compiled->program.exports.at(0);
  auto executable = Executable::FromProgram(std::move(compiled->program));
  if (!executable.ok()) return Failed(std::string(executable.status().message()));
  for (int set = 0; fs::exists(folder / fmt::format("test_data_set_{}", set)); ++set) {
    Outcome outcome =
        RunSet(runtime, *executable, main, names, folder / fmt::format("test_data_set_{}", set));
    if (outcome.kind != Outcome::Kind::kPassed) return outcome;
  }
  return {};
}

int Main(int argc, char** argv) {
  std::string folder, filter;
  std::vector<size_t> shard = {0, 1};
  CLI::App app("ONNX's conformance tests");
  app.add_option("folder", folder, "of the tests")->required();
  app.add_option("--filter", filter, "tests whose names have this text");
  app.add_option("--shard", shard, "I/N: each Nth test from the Ith on")
      ->delimiter('/')
      ->expected(2);
  CLI11_PARSE(app, argc, argv);
  if (shard[1] == 0)
    return app.exit(CLI::ValidationError("--shard", "expected I/N with N above 0"));
  if (!fs::exists(folder)) {
    fmt::print("{} is not there (Debian's libonnx-testdata): nothing is tested\n", folder);
    return 0;
  }
  std::vector<fs::path> tests;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "model.onnx") tests.push_back(entry.path().parent_path());
  }
  std::sort(tests.begin(), tests.end());
  auto runtime = Runtime::Create();
  if (!runtime.ok()) return 1;
  size_t passed = 0, failed = 0;
  std::map<std::string, size_t> skipped;
  for (size_t i = 0; i < tests.size(); ++i) {
    const std::string name = fs::relative(tests[i], folder).string();
    if (i % shard[1] != shard[0] || name.find(filter) == std::string::npos) continue;
    const Outcome outcome = RunTest(*runtime, tests[i]);
    if (outcome.kind == Outcome::Kind::kSkipped) ++skipped[outcome.why];
    if (outcome.kind == Outcome::Kind::kPassed) ++passed;
    if (outcome.kind != Outcome::Kind::kFailed) continue;
    ++failed;
    fmt::print("{}: {}\n", name, outcome.why);
  }
  for (const auto& [why, count] : skipped) fmt::print("left out {}: {}\n", count, why);
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace relayvm

int main(int argc, char** argv) {
  try {
    return relayvm::Main(argc, argv);
  } catch (const std::exception& e) {
    std::fputs(e.what(), stderr);
    return 2;
  }
}
