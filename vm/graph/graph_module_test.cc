#include "vm/graph/graph_module.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "tests/temp_folder.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/format/graph_json.h"
#include "vm/graph/graph_folder.h"
#include "vm/graph/module_testing.h"
#include "vm/trace/profile.h"

namespace relayvm::graph {
namespace {

using testing::Floats;
using testing::g_calls;
using testing::g_fails;
using testing::kAdd;
using testing::Make;
using testing::Numbers;
using testing::Output;
using testing::ReadAll;
using testing::Small;
using testing::Tensor;

TEST_CASE("inputs are set, the graph runs, outputs are copies") {
  const auto module = Make();
  CHECK(module->num_inputs() == 2);
  CHECK(module->num_parameters() == 1);
  CHECK(module->num_outputs() == 1);
  CHECK(module->input(0).name == "x");
  CHECK(module->input(1).name == "w");
  CHECK(module->output(0).name == "output_0");
  CHECK(*module->FindInput("w") == 1);
  CHECK(module->GetOutput(0).status().code() == StatusCode::kFailedPrecondition);
  CHECK(module->Run().message() == "input x is not set");
  CHECK(module->GetInput(0).status().message() == "input x is not set");
  REQUIRE(module->SetInput("x", Tensor({1, 2, 3, 4})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 46, 69, 92});
  const auto first = module->GetOutput(0);
  REQUIRE(module->SetInput(0, Tensor({0, 0, 0, 1})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{20, 40, 60, 83});
  CHECK(static_cast<const float*>(first->data())[0] == 23);
  CHECK(static_cast<const float*>(module->output_data(0))[3] == 83);
  float out[4] = {};
  REQUIRE(module->CopyOutput(0, {DType::kFloat32, {{2, 2}}, out}).ok());
  CHECK(out[3] == 83);
  const auto x = module->GetInput(0);
  CHECK(static_cast<const float*>(x->data())[3] == 1);
}

TEST_CASE("an input without a copy: what its owner writes counts, until it is set anew") {
  const auto module = Make();
  alignas(64) float x[4] = {1, 1, 1, 1};
  auto wrapped = Value::WrapTensor(DType::kFloat32, {{4}}, x, nullptr, nullptr);
  REQUIRE(module->SetInputZeroCopy("x", *wrapped).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 43, 63, 83});
  x[0] = 2;
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{26, 43, 63, 83});
  REQUIRE(module->SetInput("x", Tensor({0, 0, 0, 0})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{20, 40, 60, 80});
  CHECK(x[0] == 2);
}

TEST_CASE("wrong inputs and outputs are named, and change nothing") {
  const auto module = Make();
  REQUIRE(module->SetInput(0, Tensor({1, 1, 1, 1})).ok());
  CHECK(module->SetInput(0, Tensor({1, 2})).message() ==
        "input x: expected Tensor[(4), float32], found Tensor[(2), float32]");
  CHECK(module->SetInputZeroCopy(0, Value::Int64(1)).message() ==
        "input x: expected Tensor[(4), float32], found int64");
  CHECK(module->SetInput(0, Value::Tuple({})).message() == "input x: expected a tensor");
  CHECK(module->SetInput(7, Tensor({1})).code() == StatusCode::kOutOfRange);
  CHECK(module->SetInput("y", Tensor({1})).message() ==
        "there is no input y; inputs: x; weights: 1");
  CHECK(module->GetInput(2).status().code() == StatusCode::kOutOfRange);
  REQUIRE(module->Run().ok());
  CHECK(module->GetOutput(1).status().message() == "there is no output 1; the graph has 1");
  CHECK(
      module->CopyOutput(0, {DType::kFloat32, {{4}}, nullptr}).message() ==
      "output output_0: expected a buffer of Tensor[(2, 2), float32], found Tensor[(4), float32]");
  CHECK(Output(*module) == Numbers{23, 43, 63, 83});
}

TEST_CASE("weights: loaded by name, shared between modules") {
  const relayvm::testing::TempFolder folder;
  auto bytes = [&](const TensorsByName& tensors) {
    REQUIRE(WriteTvmParams(folder / "p", tensors).ok());
    return ReadAll(folder / "p");
  };
  auto load = [&](GraphModule& m, const std::string& text) {
    return m.LoadParams(std::as_bytes(std::span(text)));
  };
  const auto module = Make(), other = Make();
  REQUIRE(module->SetInput(0, Tensor({0, 0, 0, 0})).ok());
  REQUIRE(load(*module, bytes({{"w", Floats({1, 2, 3, 4})}})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{2, 4, 6, 8});
  CHECK(load(*module, "nonsense").code() == StatusCode::kInvalidInput);
  CHECK(load(*module, bytes({{"v", Floats({1})}})).code() == StatusCode::kNotFound);
  CHECK(load(*module, bytes({{"w", Floats({1})}, {"x", Floats({5, 5, 5, 5})}})).code() ==
        StatusCode::kInvalidArgument);
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{2, 4, 6, 8});

  REQUIRE(other->SetInput(0, Tensor({1, 1, 1, 1})).ok());
  CHECK(*other->ShareParams(*module) == 1);
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{5, 7, 9, 11});
  // Who sets a shared weight has one of its own from there on.
  REQUIRE(other->SetInput("w", Tensor({0, 0, 0, 0})).ok());
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{3, 3, 3, 3});
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{2, 4, 6, 8});
  CHECK(*module->ShareParams(*module) == 0);
}

// Small(), whose weight is a constant of the kernels' file.
GraphProgram SmallOfConstant() {
  GraphProgram p = Small();
  p.kernels.constants = {{DType::kFloat32, {4}, "w", p.params.at("w").data}};
  p.params.clear();
  return p;
}

TEST_CASE("weights: those of the kernels' file are read there, until they are set") {
  auto module = Make(1, SmallOfConstant()), other = Make();
  CHECK(module->num_parameters() == 1);
  CHECK(module->memory().weight_bytes == 16);
  const auto* constant = module->kernels()->program().constants[0].data.data();
  CHECK(*other->ShareParams(*module) == 1);
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 46, 69, 92});
  REQUIRE(module->SetInput(1, Tensor({0, 0, 0, 0})).ok());
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{3, 6, 9, 12});
  CHECK(std::memcmp(constant, Numbers{10, 20, 30, 40}.data(), 16) == 0);
  // Who shares them keeps them.
  module.reset();
  REQUIRE(other->SetInput(0, Tensor({0, 0, 0, 0})).ok());
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{20, 40, 60, 80});
}

TEST_CASE("weights: what fails to load leaves those that are set, shared ones too") {
  const relayvm::testing::TempFolder folder;
  REQUIRE(WriteTvmParams(folder / "p", {{"w", Floats({1, 2, 3, 4})}}).ok());
  const std::string text = ReadAll(folder / "p");
  const auto module = Make(), other = Make();
  REQUIRE(other->SetInput(0, Tensor({0, 0, 0, 0})).ok());
  CHECK(*other->ShareParams(*module) == 1);
  // Loading gives `other` room of its own; what was shared stays the one of `module`.
  REQUIRE(other->LoadParams(std::as_bytes(std::span(text))).ok());
  REQUIRE(other->Run().ok());
  CHECK(Output(*other) == Numbers{2, 4, 6, 8});
  CHECK(static_cast<const float*>(module->GetInput(1)->data())[0] == 10);
  // Of its own memory.
  CHECK(*other->ShareParams(*module) == 1);
  const Value again = *other->GetInput(1);
  REQUIRE(other->SetInput(1, again).ok());
  CHECK(static_cast<const float*>(other->GetInput(1)->data())[0] == 10);
}

TEST_CASE("outputs that are inputs, or views of them, stay what they were until the next run") {
  GraphProgram program = Small();
  Graph& graph = program.graph;
  Node view;
  view.kind = Node::Kind::kView;
  view.name = "view_of_x";
  view.inputs = {{0, 0}};
  view.outputs = {{DType::kFloat32, {4, 1}, 0, 0}};
  graph.nodes.push_back(view);
  const auto last = static_cast<uint32_t>(graph.nodes.size() - 1);
  graph.heads = {{5, 0}, {0, 0}, {last, 0}, {1, 0}, {0, 0}};  // one of them twice
  ValueType results;
  results.kind = ValueType::Kind::kTuple;
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{2, 2}, {4}, {4, 1}, {4}, {4}})
    results.args.emplace_back().dims = dims;
  program.kernels.exports[0].result = results;
  const auto module = Make(1, program);
  alignas(64) float x[4] = {1, 2, 3, 4};
  auto wrapped = Value::WrapTensor(DType::kFloat32, {{4}}, x, nullptr, nullptr);
  REQUIRE(module->SetInputZeroCopy("x", *wrapped).ok());
  REQUIRE(module->Run().ok());
  const auto numbers = [&](size_t output) {
    const auto* f = static_cast<const float*>(module->output_data(output));
    return Numbers(f, f + 4);
  };
  const Numbers weights = numbers(3);
  REQUIRE(module->SetInput("x", Tensor({5, 6, 7, 8})).ok());
  x[0] = 99;
  for (size_t output : {1, 2, 4}) CHECK(numbers(output) == Numbers{1, 2, 3, 4});
  CHECK(numbers(0) == Numbers{23, 46, 69, 92});
  REQUIRE(module->SetInput("w", Tensor({0, 0, 0, 0})).ok());
  CHECK(numbers(3) == weights);
  REQUIRE(module->Run().ok());
  for (size_t output : {1, 2, 4}) CHECK(numbers(output) == Numbers{5, 6, 7, 8});
  CHECK(numbers(3) == Numbers{0, 0, 0, 0});
  CHECK(module->GetOutput(2)->dims()[0] == 4);
}

TEST_CASE("what a host's kernel throws ends the run, on any thread") {
  static constexpr Builtin kThrows[] = {{"test.add",
                                         [](const RelayvmKernelEnv*, const RelayvmKernelArgs*,
                                            uint32_t begin, uint32_t end) -> int32_t {
                                           if (begin == 0 || end == 4)
                                             throw std::runtime_error("lost");
                                           return RELAYVM_KERNEL_OK;
                                         }}};
  for (uint32_t threads : {1u, 2u, 4u}) {
    const auto module = Make(threads, Small(), kThrows);
    REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    for (int round = 0; round < 20; ++round) {
      const Status failed = module->Run();
      CHECK(failed.code() == StatusCode::kInternal);
      CHECK(failed.message() == "exception: lost");
    }
  }
}

TEST_CASE("a kernel that fails is named, and the next run is a new one") {
  const auto module = Make();
  REQUIRE(module->SetInput(0, Tensor({1, 1, 1, 1})).ok());
  g_fails = RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  const Status failed = module->Run();
  CHECK(failed.code() == StatusCode::kOutOfRange);
  CHECK(failed.message() == "node 2 (add): kernel test.add: index out of range");
  g_fails = 77;
  CHECK(module->Run().message() == "node 2 (add): kernel test.add: failed with code 77");
  REQUIRE(module->Run().ok());
  CHECK(Output(*module) == Numbers{23, 43, 63, 83});
}

TEST_CASE("threads share a kernel's units") {
  const auto module = Make(2);
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  g_calls = 0;
  REQUIRE(module->Run().ok());
  CHECK(g_calls == 3 * 4);  // units of a grain of 1
  CHECK(Output(*module) == Numbers{23, 46, 69, 92});
  g_fails = RELAYVM_KERNEL_INVALID_ARGUMENT;
  CHECK(module->Run().code() == StatusCode::kFailedPrecondition);
  CHECK(GraphModule::Create(*LinkGraph(Small(), {.kernels = kAdd}), {.num_threads = 100'000})
            .status()
            .code() == StatusCode::kInvalidArgument);
}

TEST_CASE("times of nodes") {
  const auto module = Make();
  REQUIRE(module->SetInput(0, Tensor({1, 2, 3, 4})).ok());
  REQUIRE(module->Run().ok());
  module->set_timing(true);
  for (int i = 0; i < 3; ++i) REQUIRE(module->Run().ok());
  const std::vector<NodeTime> times = module->node_times();
  REQUIRE(times.size() == 3);
  for (const NodeTime& t : times) {
    CHECK(t.name == "add");
    CHECK(t.calls == 3);
    CHECK(t.total_ns > 0);
  }
  CHECK(module->memory().planned_bytes == 2 * 64);
  CHECK(module->memory().weight_bytes == 16);
}

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

TEST_CASE("a folder loads and runs; what is wrong with it is named") {
  const relayvm::testing::TempFolder temp;
  const std::string folder = temp / "deep/graph";
  REQUIRE(SaveGraph(Small(), folder).ok());
  const GraphOptions options{.load = {.kernels = kAdd}};
  {
    const auto module = GraphModule::Load(folder, options);
    REQUIRE_MESSAGE(module.ok(), module.status().message());
    REQUIRE((*module)->SetInput(0, Tensor({1, 2, 3, 4})).ok());
    REQUIRE((*module)->Run().ok());
    CHECK(Output(**module) == Numbers{23, 46, 69, 92});
  }
  CHECK(GraphModule::Load(folder).status().message().find("test.add") != std::string::npos);
  CHECK(GraphModule::Load(temp / "none").status().message().find("none/graph.json") !=
        std::string::npos);
  struct Case {
    std::function<void(GraphProgram&)> damage;
    const char* message;
  };
  const Case cases[] = {
      {[](GraphProgram& p) { p.params["v"] = Floats({1}); }, "expected 1 parameters and 2 weights"},
      {[](GraphProgram& p) { p.params.clear(); }, "expected 1 parameters and 0 weights"},
      {[](GraphProgram& p) { p.params["w"] = Floats({1}); },
       "weight w: expected Tensor[(4), float32], found Tensor[(1), float32]"},
      {[](GraphProgram& p) { p.params = {{"v", Floats({1})}}; },
       "weight v: the graph has no input"},
      {[](GraphProgram& p) { p.params = {{"x", Floats({1, 2, 3, 4})}}; },
       "weight x: the graph has no input"},
      {[](GraphProgram& p) { p.kernels.constants = SmallOfConstant().kernels.constants; },
       "expected 1 parameters and 2 weights"},
      {[](GraphProgram& p) {
         p = SmallOfConstant();
         p.kernels.constants[0].name = "x";
       },
       "weight x: the graph has no input"},
      {[](GraphProgram& p) {
         p = SmallOfConstant();
         p.kernels.constants[0].dims = {2, 2};
       },
       "weight w: expected Tensor[(4), float32], found Tensor[(2, 2), float32]"},
      {[](GraphProgram& p) { p.kernels.exports[0].param_names = {"y"}; },
       "the graph has no input for parameter 0 (y)"},
      {[](GraphProgram& p) { p.kernels.exports[0].params[0].dims = {-1}; },
       "input x: the graph's type, Tensor[(4), float32], is not its parameter's"},
      {[](GraphProgram& p) { p.kernels.exports[0].result.dims = {4}; },
       "result 0: the graph's type, Tensor[(2, 2), float32], is not its function's"},
      {[](GraphProgram& p) {
         p.kernels.exports[0].result.kind = ValueType::Kind::kTuple;
         p.kernels.exports[0].result.dims.clear();
       },
       "the graph has 1 results, expected 0"},
      {[](GraphProgram& p) { p.graph.nodes[2].units = 9; }, "units of work"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.message);
    GraphProgram p = Small();
    c.damage(p);
    const Status saved = SaveGraph(p, temp / "bad");
    CHECK_MESSAGE(saved.message().find(c.message) != std::string::npos, saved.message());
    const auto linked = LinkGraph(p, options.load);
    CHECK(linked.status().message().find(c.message) != std::string::npos);
  }
  Write(temp / "file", "");
  CHECK(SaveGraph(Small(), temp / "file").message().find("expected a folder") != std::string::npos);

  // Each byte of the graph and the weights' headers changed, each file cut short: a Status, or a
  // graph.
  for (const char* file : {"/graph.json", "/graph.params"}) {
    const std::string good = ReadAll(folder + file);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (i % 7 == 0 ? 0x80 : 0x11));
      Write(folder + file, bad);
      const auto module = GraphModule::Load(folder, options);
      if (!module.ok()) continue;
      REQUIRE((*module)->SetInput(0, Tensor({1, 2, 3, 4})).ok());
      static_cast<void>((*module)->Run());
    }
    for (size_t size = 0; size < good.size(); size += 1 + size / 16) {
      Write(folder + file, good.substr(0, size));
      CHECK_FALSE(GraphModule::Load(folder, options).ok());
    }
    Write(folder + file, good);
  }
  CHECK(GraphModule::Load(folder, options).ok());
}

TEST_CASE("weights of a folder are read where its file is mapped, while that is what it was") {
  constexpr int64_t kCount = 2048;
  GraphProgram p = Small();
  for (Node& node : p.graph.nodes) {
    node.outputs[0].dims = {kCount};
    if (node.kind != Node::Kind::kKernel) continue;
    node.scalars = {kCount};
    node.units = kCount;
  }
  p.graph.nodes.back().outputs[0].dims = {2, kCount / 2};
  p.kernels.exports[0].params[0].dims = {kCount};
  p.kernels.exports[0].result.dims = {2, kCount / 2};
  p.params["w"] = Floats(std::vector<float>(kCount, 10));
  const relayvm::testing::TempFolder temp;
  const std::string folder = temp / "graph";
  REQUIRE(SaveGraph(p, folder).ok());
  const auto load = [&] {
    auto loaded = GraphModule::Load(folder, {.load = {.kernels = kAdd}});
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().message());
    REQUIRE((*loaded)->SetInput(0, Tensor(Numbers(kCount, 1))).ok());
    return *std::move(loaded);
  };
  const auto module = load(), shares = load();
  CHECK(*shares->ShareParams(*module) == 1);
  const auto first = [](const GraphModule& m) {
    return *static_cast<const float*>(m.GetOutput(0)->data());
  };
  for (const auto& m : {module.get(), shares.get()}) {
    REQUIRE(m->Run().ok());
    CHECK(first(*m) == 23);
  }
  // Set anew, a weight has room of its own, and the file stays.
  const auto own = load();
  REQUIRE(own->SetInput(1, Tensor(Numbers(kCount, 20))).ok());
  REQUIRE(own->Run().ok());
  CHECK(first(*own) == 43);
  CHECK(*static_cast<const float*>(module->GetInput(1)->data()) == 10);
  // In place, so that what is mapped changes.
  std::fstream file(folder + "/graph.params", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-4, std::ios::end);
  file.write("\0\0\0", 4);
  file.close();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const auto& m : {module.get(), shares.get()}) {
    const Status changed = m->Run();
    CHECK(changed.code() == StatusCode::kFailedPrecondition);
    CHECK_MESSAGE(changed.message().find("graph.params") != std::string::npos, changed.message());
  }
}

}  // namespace
}  // namespace relayvm::graph
