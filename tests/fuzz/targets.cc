#include "tests/fuzz/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bytecode/assembler.h"
#include "bytecode/checksum.h"
#include "bytecode/disassembler.h"
#include "bytecode/file_format.h"
#include "bytecode/io/ndarray_blob.h"
#include "bytecode/io/npy.h"
#include "bytecode/io/npz.h"
#include "bytecode/reader.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"
#include "compiler/driver.h"
#include "compiler/frontend/params.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/lowering/lower.h"
#include "tests/fuzz/calls_target.h"
#include "tests/fuzz/graph_target.h"
#include "tests/fuzz/input_target.h"
#include "tests/fuzz/models_target.h"
#include "tests/fuzz/onnx_target.h"
#include "tests/fuzz/rules_target.h"
#include "tests/fuzz/serve_target.h"
#include "tests/fuzz/types_target.h"
#include "vm/api/relayvm.h"

namespace relayvm::fuzz {
namespace {

// Kernels of programs that compile are made for few: LLVM is not what is tested.
constexpr size_t kCompiledOneIn = 16;
constexpr size_t kLargestCompiled = 4000;  // bytes of text

// Every kind of node that a use in the text may refer to.
constexpr const char* kMetadataSample = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(meta[tir.SizeVar][0], meta[tir.Add][0], 3), float32]) {
  let %y = cumsum(%x, meta[relay.attrs.ScanopAttrs][0]);
  let %z: meta[relay.TensorType][0] = meta[relay.Constant][0];
  (take(%y, %z, axis=meta[IntImm][0], mode="clip"), reshape(%y, newshape=meta[Array][0]))
}
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["relay.attrs.ScanopAttrs", "tir.SizeVar", "tir.Add", "relay.Constant", "IntImm",
    "Array", "relay.TensorType"], "data": [2, 3, 4, 5, 6, 7, 8]},
  {"type_key": "Array", "data": [9]}, {"type_key": "Array", "data": [10]},
  {"type_key": "Array", "data": [11]}, {"type_key": "Array", "data": [12]},
  {"type_key": "Array", "data": [13]}, {"type_key": "Array", "data": [14]},
  {"type_key": "Array", "data": [15]},
  {"type_key": "relay.attrs.ScanopAttrs", "attrs": {"axis": "13", "dtype": "float32", "exclusive": "16"}},
  {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "17"}},
  {"type_key": "tir.Add", "attrs": {"a": "10", "b": "18"}},
  {"type_key": "relay.Constant", "attrs": {"data": "0"}},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "1"}},
  {"type_key": "Array", "data": [19, 18]},
  {"type_key": "relay.TensorType", "attrs": {"dtype": "int64", "shape": "20"}},
  {"type_key": "IntImm", "attrs": {"dtype": "bool", "value": "1"}},
  {"type_key": "runtime.String", "repr_str": "n"},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "2"}},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "-1"}},
  {"type_key": "Array", "data": [18]}],
 "b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAABAAQACAAAAAAAAABAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAA=="]}
)";

// Programs whose kernels are builtins only.
constexpr const char* kBuiltinSamples[] = {
    "def @main(%x: Tensor[(?, 4), float32]) { argsort(%x) }",
    "def @main(%x: Tensor[(?, ?), int64]) { argwhere(%x) }",
    "def @main(%x: Tensor[(5, 4), float32]) { (topk(%x, k=2), cumsum(%x, axis=0)) }",
    "def @main(%x: Tensor[(?), int32]) { unique(%x) }",
    "def @main(%x: Tensor[(3, 4), float32], %i: Tensor[(2, ?), int64], %u: Tensor[(?), float32]) {"
    " scatter_nd(%x, %i, %u) }",
    "def @main(%x: Tensor[(?, ?), int8], %i: Tensor[(?, ?), int64], %u: Tensor[(?, ?), int8]) {"
    " scatter_elements(%x, %i, %u, axis=1) }",
    "def @main(%b: Tensor[(?, ?, 6), float32], %n: Tensor[(?), int32], %i: Tensor[(?, ?), int32]) {"
    " vision.non_max_suppression(%b, %n, %i, 5, 0.5f, return_indices=False) }",
    "def @main(%x: Tensor[(?, ?, ?, ?), float32], %r: Tensor[(?, 5), float32]) {"
    " vision.roi_align(%x, %r, pooled_size=[2, 2], spatial_scale=1f) }",
    "def @main(%x: Tensor[(?, 4), float32]) { (sort(%x, axis=0), searchsorted(%x, %x)) }",
};

// A constant that is made when the program is loaded.
constexpr const char* kRegionSample = R"(
.version 1
.region "net_0" engine "dnnl" constants (c0) symbols 1 json "{\"nodes\": []}"
.kernel "dnnl:net_0" scalars 8 s0=0 s1=11 s2=1 s4=11 s5=1 buffers (float32[s3], out float32[s6]) units 1 builtin region 0
.constant float32[1] "w"
  .hex 00000040
.export "main" f0 ("x": float32[?"n"]) -> float32[?"n"]
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  const.i16 i0, 0
  const.i16 i1, 11
  const.i16 i2, 1
  tensor.dim i3, r0, #0
  tensor.alloc r1, float32, [i3]
  kernel.1 k0, [i0, i1, i2, i3, i1, i2, i3, i3], [r0, r1]
  ret.r r1!
.end
)";
constexpr const char* kRecipeSample = R"(.version 1
.constant float32[1, 16, 1, 1, 2] "w" recipe "winograd_weights_2" ()
  .input float16[2, 1, 3, 3]
  .hex 003c0038003c0038003c0038003c0038003c0038003c0038003c0038003c0038003c0038
.constant int8[2] "plain"
  .hex 0102
.export "main" f0 () -> float32[1, 16, 1, 1, 2]
.function "main" scalars 0 objects 0 captured 0 registers 0 1 returns object arena 0
  const.r r0, c0
  ret.r r0!
.end
)";

std::span<const std::byte> AsBytes(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

HostTensor Counting(DType dtype, std::vector<int64_t> shape) {
  HostTensor t{dtype, std::move(shape), {}};
  t.data = SharedBytes::Zeros(static_cast<size_t>(t.size() * DTypeBytes(dtype)));
  for (size_t i = 0; i < t.data.size(); ++i) t.data.Mutable()[i] = static_cast<std::byte>(i % 100);
  return t;
}

Result<ir::Module> Parse(const std::string& text) {
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, frontend::ParseRelay("fuzz.relay", text));
  if (!module.functions.contains(module.entry)) return {StatusCode::kNotFound, "no entry"};
  return module;
}

CompileOptions Quick(int level) {
  CompileOptions options;
  options.pipeline.opt_level = level;
  options.kernels.opt_level = 0;
  options.kernels.machine = MachineNamed("x86-64-v2");
  options.pipeline.machine = MachineNamed("x86-64-v2");
  return options;
}

Status CompileText(const std::string& text) {
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, Parse(text));
  ir::PrintModule(module);
  size_t choice = std::hash<std::string>()(text);
  CompileOptions options = Quick(choice % 2 == 0 ? 0 : 2);
  RELAYVM_ASSIGN_OR_RETURN(ir::Module ready, RunPipeline(std::move(module), options.pipeline));
  if (choice / 2 % kCompiledOneIn != 0 || text.size() > kLargestCompiled) return OkStatus();
  RELAYVM_ASSIGN_OR_RETURN(auto lowered, lower::LowerModule(ready, options.kernels));
  return VerifyProgram(lowered.program);
}

// A small value of a parameter's type, of tensors alone; for others a number.
Value InputOf(const ValueType& type) {
  if (type.kind != ValueType::Kind::kTensor || type.dims.size() > 4) return Value::Int32(5);
  HostTensor t = Counting(type.dtype, {});
  for (int64_t d : type.dims) t.shape.push_back(d < 0 ? 3 : std::min<int64_t>(d, 8));
  t = Counting(type.dtype, t.shape);
  Result<Value> value = Value::CopyTensor(t.dtype, t.shape, t.data.data());
  return value.ok() ? *std::move(value) : Value::Int32(5);
}

// Runs a program that holds no native code, which is all that a damaged file can make dangerous:
// what calls of builtins pass is verified.
Status RunProgram(Program program) {
  const bool native = std::any_of(program.kernels.begin(), program.kernels.end(),
                                  [](const KernelInfo& k) { return !k.builtin; });
  if (native || program.exports.empty()) return OkStatus();
  ExportInfo main = program.exports[0];
  RELAYVM_ASSIGN_OR_RETURN(auto executable,
                           Executable::FromProgram(std::move(program), {.share_constants = false}));
  RELAYVM_ASSIGN_OR_RETURN(auto runtime, Runtime::Create());
  RELAYVM_ASSIGN_OR_RETURN(auto invocation,
                           Invocation::Create(runtime, executable,
                                              {.memory_limit = size_t{16} << 20,
                                               .stack_limit = size_t{1} << 20,
                                               .timeout = std::chrono::milliseconds(20)}));
  std::vector<Value> inputs;
  for (const ValueType& type : main.params) inputs.push_back(InputOf(type));
  return invocation->Run(main.name, std::move(inputs)).status();
}

// The checksum made right in half of the cases, so that what it guards is reached.
std::string WithChecksum(std::string file) {
  FileHeader header;
  if (file.size() < sizeof header) return file;
  std::memcpy(&header, file.data(), sizeof header);
  uint64_t begin = header.program_offset, size = header.program_size;
  if (begin > file.size() || size > file.size() - begin) return file;
  header.checksum = 0;
  auto bytes = [](const void* p, size_t n) { return std::span(static_cast<const uint8_t*>(p), n); };
  header.checksum =
      Checksum64(bytes(file.data() + begin, size), Checksum64(bytes(&header, sizeof header)));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

Status ReadVmx(const std::string& input) {
  std::string file = std::hash<std::string>()(input) % 2 == 0 ? input : WithChecksum(input);
  RELAYVM_ASSIGN_OR_RETURN(
      Program program,
      ReadProgram(std::span(reinterpret_cast<const uint8_t*>(file.data()), file.size())));
  DisassembleProgram(program);
  return RunProgram(std::move(program));
}

Status ReadAssembly(const std::string& text) {
  RELAYVM_ASSIGN_OR_RETURN(Program program, Assemble(text));
  RELAYVM_RETURN_IF_ERROR(VerifyProgram(program));
  DisassembleProgram(program, {.data = true});
  return RunProgram(std::move(program));
}

Status ThroughFile(const std::string& bytes,
                   const std::function<Status(const std::string&)>& read) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("relayvm_fuzz_{}", getpid())).string();
  std::ofstream(path, std::ios::binary) << bytes;
  Status status = read(path);
  std::filesystem::remove(path);
  return status;
}

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string TvmParams(const std::vector<std::pair<std::string, HostTensor>>& tensors) {
  std::string out;
  auto number = [&](uint64_t n) { out.append(reinterpret_cast<const char*>(&n), sizeof n); };
  number(0xF7E58D4F05049CB7);
  number(0);
  number(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    number(name.size());
    out += name;
  }
  number(tensors.size());
  for (const auto& [name, tensor] : tensors) out += Text(WriteNdarrayBlob(tensor));
  return out;
}

}  // namespace

Result<std::vector<Target>> MakeTargets(const std::string& only,
                                        const std::vector<std::string>& folders) {
  std::vector<std::string> programs, models;
  for (const std::string& folder : folders) {
    if (std::filesystem::exists(std::filesystem::path(folder) / "samples.json")) {
      if (only != "models") continue;
      RELAYVM_ASSIGN_OR_RETURN(Target target, ModelsTarget(folder));
      return std::vector<Target>{std::move(target)};
    }
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const auto extension = entry.path().extension();
      if (extension == ".relay" || extension == ".onnx") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      std::ostringstream text;
      text << std::ifstream(path, std::ios::binary).rdbuf();
      (path.extension() == ".onnx" ? models : programs).push_back(std::move(text).str());
    }
  }
  if (programs.empty()) return {StatusCode::kNotFound, "no programs in the folders given"};

  Target text{"text", true, programs, CompileText};
  // Typed modules print their constants and sizes in a metadata section.
  Target metadata{"metadata", true, {kMetadataSample}, CompileText};
  Target vmx{"vmx", false, {}, ReadVmx};
  Target assembly{"assembly", true, {}, ReadAssembly};
  bool binary = only == vmx.name || only == assembly.name;
  if (binary) {
    for (const char* sample : kBuiltinSamples)
      programs.push_back(std::string("#[version = \"0.0.5\"]\n") + sample);
  }
  for (const std::string& program : programs) {
    if (!binary && only != metadata.name) break;
    Result<ir::Module> module = Parse(program);
    if (!module.ok()) continue;
    Result<ir::Module> typed = RunFrontendPipeline(*module);
    if (!typed.ok()) continue;
    std::string printed = ir::PrintModule(*typed);
    size_t section = printed.find("#[metadata]");
    if (section != std::string::npos && printed.size() < kLargestCompiled) {
      metadata.seeds.push_back(printed);
    }
    if (program.size() > kLargestCompiled || !binary) continue;
    Result<Compiled> compiled = CompileModule(*std::move(module), Quick(2));
    if (!compiled.ok()) continue;
    RELAYVM_ASSIGN_OR_RETURN(std::vector<uint8_t> file, SerializeProgram(compiled->program));
    vmx.seeds.emplace_back(file.begin(), file.end());
    assembly.seeds.push_back(
        DisassembleProgram(compiled->program, {.data = compiled->program.kernels.empty()}));
  }
  if (binary) {
    RELAYVM_ASSIGN_OR_RETURN(const Program recipes, Assemble(kRecipeSample));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<uint8_t> file, SerializeProgram(recipes));
    vmx.seeds.emplace_back(file.begin(), file.end());
    assembly.seeds.emplace_back(kRecipeSample);
    RELAYVM_ASSIGN_OR_RETURN(const Program regions, Assemble(kRegionSample));
    RELAYVM_ASSIGN_OR_RETURN(file, SerializeProgram(regions, {&recipes, 1}));
    vmx.seeds.emplace_back(file.begin(), file.end());
    assembly.seeds.emplace_back(kRegionSample);
  }
  std::vector<std::pair<std::string, HostTensor>> tensors = {
      {"weight", Counting(DType::kFloat32, {3, 4})},
      {"bias", Counting(DType::kInt64, {5})},
      {"scalar", Counting(DType::kFloat64, {})},
      {"empty", Counting(DType::kInt8, {0, 7})},
  };
  Target npy{"npy", false, {}, [](const std::string& b) {
               return ParseNpy(SharedBytes::Copy(AsBytes(b))).status();
             }};
  for (const auto& [name, tensor] : tensors) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, SerializeNpy(tensor));
    npy.seeds.push_back(Text(bytes));
  }
  Target npz{"npz", false, {}, [](const std::string& bytes) {
               return ParseNpz("fuzz.npz", SharedBytes::Copy(AsBytes(bytes))).status();
             }};
  RELAYVM_RETURN_IF_ERROR(ThroughFile("", [&](const std::string& path) {
    RELAYVM_RETURN_IF_ERROR(WriteNpz(path, tensors));
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    npz.seeds.push_back(std::move(bytes).str());
    return OkStatus();
  }));
  Target params{"params", false, {TvmParams(tensors)}, [](const std::string& b) {
                  return ParseTvmParams(SharedBytes::Copy(AsBytes(b))).status();
                }};
  models.push_back(SampleModel());
  Target onnx{"onnx", false, models, ImportModel};
  Target onnx_graph{"onnx_graph", false, models, [models](const std::string& input) {
                      return ImportModel(DamageGraph(models, std::hash<std::string>()(input)));
                    }};
  Target types{"types", false, GeneratedSeeds(), CheckGenerated};
  Target rules{"rules", true, RuleSeeds(), ApplyDamagedRules};
  Target calls{"calls", false, CallSeeds(), RunCalls};
  Target json{"json", true, JsonSeeds(), ReadJson};
  Target infer{"infer", true, InferSeeds(), ReadInfer};
  Target http{"http", false, HttpSeeds(), ReadHttp};
  std::vector<Target> targets = {text,       metadata, vmx,   assembly, npy,  npz,   params, onnx,
                                 onnx_graph, types,    rules, calls,    json, infer, http};
  if (only == "inputs") {
    RELAYVM_ASSIGN_OR_RETURN(const auto inputs, InputTarget::Make(programs));
    targets.push_back({"inputs", false, inputs->Seeds(),
                       [inputs](const std::string& input) { return inputs->Run(input); }});
  }
  if (only == "graph") {
    RELAYVM_ASSIGN_OR_RETURN(const auto graph, GraphTarget::Make());
    targets.push_back({"graph", true, graph->Seeds(),
                       [graph](const std::string& input) { return graph->Run(input); }});
  }
  return targets;
}

}  // namespace relayvm::fuzz
