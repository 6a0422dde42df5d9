#include "compiler/graph/build_graph.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "compiler/graph/testing.h"
#include "tests/temp_folder.h"
#include "vm/api/relayvm.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/format/graph_json.h"
#include "vm/graph/format/verify.h"
#include "vm/graph/graph_folder.h"
#include "vm/graph/graph_module.h"

namespace relayvm::graph {
namespace {

Value Filled(const ValueType& type, int seed) {
  Value v = *Value::NewTensor(type.dtype, type.dims);
  for (int64_t i = 0; i < v.num_elements(); ++i) {
    const int64_t n = (i * 37 + seed * 11) % 23 - 7;
    if (type.dtype == DType::kFloat32) {
      const auto x = static_cast<float>(n) / 4;
      std::memcpy(static_cast<float*>(v.mutable_data()) + i, &x, sizeof(x));
    } else if (type.dtype == DType::kInt64) {
      std::memcpy(static_cast<int64_t*>(v.mutable_data()) + i, &n, sizeof(n));
    } else {
      FAIL("a dtype that these tests do not fill");
    }
  }
  return v;
}

void Collect(const Value& v, std::vector<Value>& tensors) {
  if (v.is_tensor()) {
    tensors.push_back(v);
    return;
  }
  for (size_t i = 0; i < v.num_fields(); ++i) Collect(v.field(i), tensors);
}

// What the VM gives for the same program and inputs is what the graph gives, twice, on one thread
// and two; also after it went through a folder.
void CheckAgainstVm(const std::string& text) {
  CAPTURE(text);
  const std::string all = "#[version = \"0.0.5\"]\n" + text;
  CompileOptions options;
  options.content = SharedBytes::Copy(std::as_bytes(std::span(all)));
  auto compiled = CompileFile("test.relay", options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const auto executable = Executable::FromProgram(compiled->program);
  const auto runtime = Runtime::Create();
  const auto invocation = Invocation::Create(*runtime, *executable);
  const GraphProgram program = Build(text);
  std::vector<Value> inputs;
  for (const ValueType& type : program.kernels.exports[0].params)
    inputs.push_back(Filled(type, static_cast<int>(inputs.size())));
  const auto expected = (*invocation)->Run("main", inputs);
  REQUIRE_MESSAGE(expected.ok(), expected.status().message());
  std::vector<Value> tensors;
  Collect(*expected, tensors);

  const testing::TempFolder folder;
  REQUIRE(SaveGraph(program, folder / "graph").ok());
  for (const bool from_folder : {false, true}) {
    for (const uint32_t threads : {1u, 2u}) {
      auto linked = from_folder ? LoadGraph(folder / "graph") : LinkGraph(program);
      REQUIRE_MESSAGE(linked.ok(), linked.status().message());
      auto module = GraphModule::Create(*std::move(linked), {.num_threads = threads});
      REQUIRE_MESSAGE(module.ok(), module.status().message());
      REQUIRE((*module)->num_parameters() == inputs.size());
      REQUIRE((*module)->num_outputs() == tensors.size());
      for (size_t i = 0; i < inputs.size(); ++i) REQUIRE((*module)->SetInput(i, inputs[i]).ok());
      for (int run = 0; run < 2; ++run) {
        const Status ran = (*module)->Run();
        REQUIRE_MESSAGE(ran.ok(), ran.message());
        for (size_t i = 0; i < tensors.size(); ++i) {
          const auto output = (*module)->GetOutput(i);
          REQUIRE(output.ok());
          CHECK(std::ranges::equal(output->dims(), tensors[i].dims()));
          CHECK(output->dtype() == tensors[i].dtype());
          CHECK(std::memcmp(output->data(), tensors[i].data(), tensors[i].bytes()) == 0);
        }
      }
    }
  }
}

constexpr const char* kNet =
    "def @main(%x: Tensor[(1, 3, 16, 16), float32]) {\n"
    "  let %w = ones(shape=[8, 3, 3, 3], dtype=\"float32\");\n"
    "  let %c = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);\n"
    "  let %r = nn.relu(%c);\n"
    "  let %p = nn.max_pool2d(%r, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);\n"
    "  nn.softmax(nn.batch_flatten(%p))\n}\n";

TEST_CASE("graphs give what the VM gives") {
  for (const std::string& text : {
           std::string(kNet),
           // Scalars, which the VM has in registers.
           std::string("def @main(%s: float32, %n: int64, %x: Tensor[(2, 3), float32]) {\n"
                       "  let %t = exp(multiply(%s, 0.5f));\n"
                       "  (multiply(%x, %t), (%t, add(%n, 3i64)), cast(%n, dtype=\"float32\"))\n}"),
           // Results that are inputs, constants, views, the same one twice.
           std::string(
               "def @main(%x: Tensor[(2, 3), float32]) {\n"
               "  let %y = nn.relu(%x);\n"
               "  (%x, reshape(%x, newshape=[6]), reshape(%y, newshape=[3, 2]), %y, %y, 2f,\n"
               "   zeros(shape=[2, 2], dtype=\"float32\"))\n}"),
           // Several results of a kernel, pieces of tensors, a join in place.
           std::string("def @main(%x: Tensor[(64, 32), float32]) {\n"
                       "  let %a = nn.relu(%x);\n"
                       "  let %s = split(%a, indices_or_sections=2, axis=0);\n"
                       "  let %l = nn.softmax(%s.0);\n  let %r = nn.log_softmax(%s.1);\n"
                       "  let %j = concatenate((%l, %r), axis=0);\n"
                       "  (nn.softmax(%j), topk(%a, k=3, axis=1, ret_type=\"both\"))\n}"),
           // Functions that are called twice, and of any size.
           std::string("def @f(%a: Tensor[(?, ?), float32]) -> Tensor[(?, ?), float32] {\n"
                       "  nn.softmax(add(%a, exp(%a)))\n}\n"
                       "def @main(%x: Tensor[(4, 5), float32], %y: Tensor[(2, 7), float32]) {\n"
                       "  (@f(%x), @f(@f(%y)))\n}"),
           // No elements, and nothing to compute.
           std::string(
               "def @main(%x: Tensor[(0, 5), float32]) { (nn.relu(%x), sum(%x, axis=[0])) }"),
           std::string("def @main(%x: Tensor[(3), int64]) { %x }"),
       }) {
    CheckAgainstVm(text);
  }
}

// A kernel that Winograd's convolution takes transformed, at more than a tenth of the file; twice,
// and for itself, which is another weight.
constexpr const char* kWinograd =
    "def @main(%x: Tensor[(1, 20, 56, 56), float32], %w: Tensor[(20, 20, 3, 3), float32]) {\n"
    "  let %c = nn.relu(nn.conv2d(%x, %w, padding=[1, 1]));\n"
    "  (nn.conv2d(%c, %w, padding=[1, 1]), %w)\n}\n";

TEST_CASE("weights that are made when a graph is loaded: folders stay small, runs share one copy") {
  const testing::TempFolder folder;
  TensorsByName params;
  HostTensor& w = params["w"] = {DType::kFloat32, {20, 20, 3, 3}, SharedBytes::Zeros(14400)};
  for (size_t i = 0; i < 3600; ++i) {
    const float value = std::sin(static_cast<float>(i));
    std::memcpy(w.data.Mutable().data() + i * sizeof value, &value, sizeof value);
  }
  REQUIRE(WriteTvmParams(folder / "w.params", params).ok());
  CompileOptions options;
  options.params_file = folder / "w.params";
  options.kernels.machine = options.pipeline.machine = MachineNamed("x86-64-v3");
  const auto compiled = CompileForGraph(kWinograd, options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const auto program = BuildGraph(compiled->program);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  REQUIRE(program->kernels.constants.size() == 1);
  const ConstantInfo& made = program->kernels.constants[0];
  CHECK(made.recipe->builtin == "winograd_weights_4");
  CHECK(made.data.size() > 4 * 14400 - 1);
  for (const auto& [name, tensor] : program->params) CHECK(tensor.data.size() <= 14400);
  REQUIRE(SaveGraph(*program, folder / "graph").ok());
  const auto size = [&](const char* file) {
    return std::filesystem::file_size(folder / "graph" + file);
  };
  CHECK(size(kKernelsFile) < program->kernels.images[0].elf.size() + 14400 + 20'000);

  ::setenv("RELAYVM_CACHE", (folder / "cache").c_str(), 1);
  const Value x = Filled(program->kernels.exports[0].params[0], 1);
  std::vector<std::vector<std::byte>> results;
  for (int i = 0; i < 3; ++i) {  // as compiled; made; found
    auto graph = i == 0 ? LinkGraph(*program) : LoadGraph(folder / "graph");
    if (graph.status().code() == StatusCode::kUnsupported) return;  // a processor before v3
    REQUIRE_MESSAGE(graph.ok(), graph.status().message());
    CHECK(graph->kernels->program().constants[0].data == made.data);
    auto module = GraphModule::Create(*std::move(graph));
    REQUIRE_MESSAGE(module.ok(), module.status().message());
    REQUIRE((*module)->SetInput(0, x).ok());
    REQUIRE((*module)->Run().ok());
    const auto y = (*module)->GetOutput(0);
    const auto* bytes = static_cast<const std::byte*>(y->data());
    results.emplace_back(bytes, bytes + y->bytes());
  }
  ::setenv("RELAYVM_CACHE", "", 1);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "cache"), {}) == 1);
  for (const char* file : {kKernelsFile, kParamsFile, kGraphFile}) {
    const std::string path = folder / "graph" + file;
    std::filesystem::resize_file(path, size(file) / 2);
    CHECK_FALSE(LoadGraph(folder / "graph").ok());
    REQUIRE(SaveGraph(*program, folder / "graph").ok());
  }
}

TEST_CASE("nodes: inputs, weights by their names, kernels with their places") {
  const GraphProgram program = Build(kNet);
  const Graph& g = program.graph;
  REQUIRE(g.inputs.size() == 2);
  CHECK(g.nodes[g.inputs[0]].name == "x");
  CHECK(program.params.contains(g.nodes[g.inputs[1]].name));
  CHECK(program.kernels.exports[0].param_names == std::vector<std::string>{"x"});
  CHECK(program.kernels.constants.empty());
  std::set<std::string> sources;
  for (const Node& node : g.nodes) sources.insert(node.source);
  CHECK(sources.contains("test.relay:5:12"));
  CHECK(g.heads.size() == 1);
  CHECK(VerifyParts(g, program.kernels, program.params).ok());
  CHECK(Build(kNet).graph == g);
}

TEST_CASE(
    "memory: tensors that do not live together share it, results of a chain are made in place") {
  std::string text = "def @main(%x: Tensor[(1, 64, 64), float32]) {\n  let %v0 = nn.softmax(%x);\n";
  constexpr int kSteps = 12;
  for (int i = 0; i < kSteps; ++i)
    text += fmt::format("  let %v{} = nn.softmax(%v{});\n", i + 1, i);
  const GraphProgram program = Build(text + fmt::format("  %v{}\n}}", kSteps));
  uint64_t bytes = 0, tensors = 0;
  for (const StorageInfo& storage : StoragesOf(program.graph)) {
    if (storage.input < 0) bytes += storage.bytes;
  }
  for (const Node& node : program.graph.nodes) tensors += node.kind == Node::Kind::kKernel;
  CHECK(tensors > kSteps);
  CHECK(bytes <= 3 * 64 * 64 * sizeof(float));
}

TEST_CASE("a program that was not checked says what depends on data") {
  const std::string text =
      "#[version = \"0.0.5\"]\ndef @main(%x: float32) {\n  if (less(%x, 0f)) { %x } else { exp(%x) "
      "}\n}";
  CompileOptions options;
  options.content = SharedBytes::Copy(std::as_bytes(std::span(text)));
  const auto compiled = CompileFile("test.relay", options);
  REQUIRE(compiled.ok());
  const auto graph = BuildGraph(compiled->program);
  CHECK(graph.status().code() == StatusCode::kUnsupported);
  CHECK(graph.status().message().find("depends on data") != std::string::npos);
  CHECK(graph.status().message().find("test.relay:") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::graph
