#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/zip_writer.h"
#include "compiler/import/torch/importer.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/signature_attrs.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"
#include "tests/temp_folder.h"

namespace relayvm::import {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

Result<ir::Module> Import(const Entries& entries) {
  const relayvm::testing::TempFolder folder;
  auto zip = ZipWriter::Create(folder / "m.pt2");
  REQUIRE(zip.ok());
  for (const auto& [name, content] : entries)
    REQUIRE(zip->Add("m/" + name, std::as_bytes(std::span(content))).ok());
  REQUIRE(zip->Finish().ok());
  return ImportTorchExport("m.pt2", SharedBytes::OfFile(*FileMapping::Open(folder / "m.pt2")), {});
}

// JSON with ' for ".
std::string Quoted(std::string text) {
  for (char& c : text) c = c == '\'' ? '"' : c;
  return text;
}
std::string Tensor(const std::string& sizes, int dtype = 7) {
  return fmt::format(
      "{{'dtype': {}, 'sizes': [{}], 'strides': [], 'storage_offset': {{'as_int': 0}}, "
      "'layout': 7}}",
      dtype, sizes);
}
// A node of positional arguments.
std::string Node(const std::string& target, const std::string& inputs, const std::string& output) {
  return fmt::format(
      "{{'target': '{}', 'inputs': [{}], 'outputs': [{{'as_tensor': {{'name': '{}'}}}}], 'name': "
      "'{}', 'metadata': {{'stack_trace': 'File \\\"model.py\\\", line 7, in forward'}}}}",
      target, inputs, output, output);
}
std::string Arg(const std::string& argument) {
  return fmt::format("{{'name': '', 'arg': {}, 'kind': 1}}", argument);
}
std::string Ref(const std::string& name) {
  return fmt::format("{{'as_tensor': {{'name': '{}'}}}}", name);
}

struct Text {
  std::string inputs, specs, nodes, output, values;
};
std::string Program(const Text& t) {
  return Quoted(fmt::format(
      "{{'graph_module': {{'graph': {{'inputs': [{}], 'outputs': [{}], 'nodes': [{}], "
      "'tensor_values': {{{}}}}}, 'signature': {{'input_specs': [{}], 'output_specs': "
      "[{{'user_output': {{'arg': {}}}}}]}}}}, 'schema_version': {{'major': 8, 'minor': 20}}}}",
      t.inputs, Ref(t.output), t.nodes, t.values, t.specs, Ref(t.output)));
}
std::string UserInput(const std::string& name) {
  return fmt::format("{{'user_input': {{'arg': {}}}}}", Ref(name));
}

reference::Value Floats(const std::vector<float>& values, const std::vector<int64_t>& shape) {
  return reference::MakeTensor(
      {DType::kFloat32, shape, SharedBytes::Copy(std::as_bytes(std::span(values)))});
}
std::vector<float> Run(const ir::Module& module, const std::vector<reference::Value>& inputs) {
  auto typed = InferTypes(module);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  auto value = reference::Run(*typed, "main", inputs);
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  const HostTensor& t = *(*value)->As<reference::Tensor>()->data;
  std::vector<float> out(static_cast<size_t>(t.size()));
  std::memcpy(out.data(), t.data.data(), out.size() * sizeof(float));
  return out;
}

std::string Symbol() { return "{'as_expr': {'expr_str': 's77', 'hint': {'as_int': 2}}}"; }

TEST_CASE("a program of symbolic sizes, and one that keeps a buffer between runs") {
  const Text t{
      Ref("b_n") + ", " + Ref("x"),
      "{'buffer': {'arg': {'name': 'b_n'}, 'buffer_name': 'n', 'persistent': true}}, " +
          UserInput("x"),
      Node("torch.ops.aten.add_.Tensor", Arg(Ref("b_n")) + ", " + Arg("{'as_int': 1}"), "add_") +
          ", " + Node("torch.ops.aten.mul.Tensor", Arg(Ref("x")) + ", " + Arg(Ref("b_n")), "mul"),
      "mul", fmt::format("'x': {}, 'b_n': {}", Tensor(Symbol()), Tensor(""))};
  const std::string config = Quoted(fmt::format(
      "{{'config': {{'n': {{'path_name': 'weight_0', 'is_param': false, 'use_pickle': false, "
      "'tensor_meta': {}}}}}}}",
      Tensor("")));
  const float four = 4;
  const auto module =
      Import({{"models/model.json", Program(t)},
              {"data/weights/model_weights_config.json", config},
              {"data/weights/weight_0", std::string(reinterpret_cast<const char*>(&four), 4)}});
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  const ir::Function& main = *module->functions.at("main");
  REQUIRE(main.params.size() == 2);
  CHECK(ir::TypeToString(main.params[0]->type) == "Tensor[(s77), float32]");
  CHECK(main.params[1]->name == "n");
  const auto states = ir::StatesOf(main);
  REQUIRE(states.size() == 1);
  CHECK(states[0] == std::pair<uint32_t, uint32_t>{1, 1});
  CHECK(ir::OutputNamesOf(main) == std::vector<std::string>{"output_0", "n"});
}

TEST_CASE("branches on data") {
  const auto arm = [](const std::string& target) {
    return fmt::format(
        "{{'as_graph': {{'name': 'g', 'graph': {{'inputs': [{}], 'outputs': [{}], 'nodes': [{}], "
        "'tensor_values': {{}}}}}}}}",
        Ref("y"), Ref("z"), Node(target, Arg(Ref("y")), "z"));
  };
  const Text t{
      Ref("x"), UserInput("x"),
      Node("torch.ops.aten.sum.default", Arg(Ref("x")), "sum") + ", " +
          Node("torch.ops.aten.gt.Scalar", Arg(Ref("sum")) + ", " + Arg("{'as_int': 0}"), "gt") +
          ", " +
          Node("torch.ops.higher_order.cond",
               Arg(Ref("gt")) + ", " + Arg(arm("torch.ops.aten.neg.default")) + ", " +
                   Arg(arm("torch.ops.aten.square.default")) + ", " +
                   Arg("{'as_tensors': [{'name': 'x'}]}"),
               "c"),
      "c", fmt::format("'x': {}", Tensor("{'as_int': 2}"))};
  const auto module = Import({{"models/model.json", Program(t)}});
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  CHECK(Run(*module, {Floats({3, 1}, {2})}) == std::vector<float>{-3, -1});
  CHECK(Run(*module, {Floats({-3, 1}, {2})}) == std::vector<float>{9, 1});
}

TEST_CASE("operators that are missing are named at once, with the user's lines") {
  const Text t{Ref("x"), UserInput("x"),
               Node("torch.ops.acme.blur.default", Arg(Ref("x")), "a") + ", " +
                   Node("torch.ops.acme.blur.default", Arg(Ref("a")), "b") + ", " +
                   Node("torch.ops.acme.sharpen.default", Arg(Ref("b")), "c"),
               "c", fmt::format("'x': {}", Tensor("{'as_int': 2}"))};
  CHECK(Import({{"models/model.json", Program(t)}}).status().ToString() ==
        "unsupported: m.pt2: operators that are not supported:\n"
        "  torch.ops.acme.blur.default (2 times, first at model.py:7)\n"
        "  torch.ops.acme.sharpen.default (1 time, first at model.py:7)");
}

TEST_CASE("archives that are none, or would run something") {
  const auto says = [](const Entries& entries, std::string_view text) {
    const auto module = Import(entries);
    CHECK_FALSE(module.ok());
    CAPTURE(module.status().message());
    CHECK(module.status().message().find(text) != std::string::npos);
  };
  says({{"archive_format", "pt2"}}, "it holds no program");
  says({{"data/aotinductor/m/x.so", ""}}, "AOTInductor");
  says({{"models/model.json", "{"}}, "damaged JSON");
  says({{"models/model.json", "{}"}}, "'graph_module' is missing");
  says({{"models/model.json", std::string(10000, '[')}}, "nested more than");
  says({{"models/a.json", "{}"}, {"models/b.json", "{}"}}, "--signature NAME, one of a, b");
  says({{"models/model.json", "{}"},
        {"data/sample_inputs/model.pt",
         "\x80\x02"
         "cos\nsystem\nX\x04" +
             std::string(3, '\0') + "true\x85R."}},
       "names os.system");
  const Text t{Ref("w"), "{'parameter': {'arg': {'name': 'w'}, 'parameter_name': 'w'}}",
               Node("torch.ops.aten.neg.default", Arg(Ref("w")), "n"), "n", ""};
  const auto with = [&](const std::string& payload) {
    return Entries{
        {"models/model.json", Program(t)},
        {"data/weights/model_weights_config.json", Quoted("{'config': {'w': " + payload + "}}")},
        {"data/weights/weight_0", "12345678"}};
  };
  says(with("{'path_name': 'weight_0', 'use_pickle': true}"), "a Python pickle");
  says(with("{'path_name': 'weight_0', 'use_pickle': false, 'tensor_meta': {'dtype': 7, 'sizes': "
            "[{'as_int': 99}], 'strides': [{'as_int': 1}]}}"),
       "'w'");
  says(with("{'path_name': 'weight_9', 'use_pickle': false, 'tensor_meta': {'dtype': 7}}"),
       "weight_9");
  says({{"models/model.json", Program(t)}}, "there is no tensor 'w'");
}

}  // namespace
}  // namespace relayvm::import
