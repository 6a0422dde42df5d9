#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/import/torch/export_json.h"
#include "compiler/import/torch/export_testing.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import::torch {
namespace {

using exported::Arg;
using exported::Entries;
using exported::Expression;
using exported::Floats;
using exported::Import;
using exported::Node;
using exported::Program;
using exported::Quoted;
using exported::Ref;
using exported::Run;
using exported::Tensor;
using exported::Text;
using exported::UserInput;

TEST_CASE("a program of symbolic sizes, and one that keeps a buffer between runs") {
  const Text t{
      Ref("b_n") + ", " + Ref("x"),
      "{'buffer': {'arg': {'name': 'b_n'}, 'buffer_name': 'n', 'persistent': true}}, " +
          UserInput("x"),
      Node("torch.ops.aten.add_.Tensor", Arg(Ref("b_n")) + ", " + Arg("{'as_int': 1}"), "add_") +
          ", " + Node("torch.ops.aten.mul.Tensor", Arg(Ref("x")) + ", " + Arg(Ref("b_n")), "mul"),
      "mul", fmt::format("'x': {}, 'b_n': {}", Tensor(Expression("s77")), Tensor(""))};
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

TEST_CASE("a buffer that is written by another of its names is one state") {
  const Text t{
      Ref("b_n") + ", " + Ref("c_n") + ", " + Ref("x"),
      "{'buffer': {'arg': {'name': 'b_n'}, 'buffer_name': 'n', 'persistent': true}}, "
      "{'tensor_constant': {'arg': {'name': 'c_n'}, 'tensor_constant_name': 'lifted'}}, " +
          UserInput("x"),
      Node("torch.ops.aten.add_.Tensor", Arg(Ref("c_n")) + ", " + Arg("{'as_int': 1}"), "add_") +
          ", " + Node("torch.ops.aten.mul.Tensor", Arg(Ref("x")) + ", " + Arg(Ref("b_n")), "mul"),
      "mul", fmt::format("'x': {}", Tensor("{'as_int': 2}"))};
  const std::string tensor = fmt::format(
      "{{'path_name': 'weight_0', 'is_param': false, 'use_pickle': false, 'tensor_meta': {}}}",
      Tensor(""));
  const std::string config =
      Quoted(fmt::format("{{'config': {{'n': {}, 'lifted': {}}}}}", tensor, tensor));
  const float zero = 0;
  const auto module =
      Import({{"models/model.json", Program(t)},
              {"data/weights/model_weights_config.json", config},
              {"data/weights/weight_0", std::string(reinterpret_cast<const char*>(&zero), 4)}});
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  const ir::Function& main = *module->functions.at("main");
  CHECK(ir::StatesOf(main).size() == 1);
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

TEST_CASE("numbers that Python writes and JSON has not") {
  for (const char* number : {"-Infinity", "Infinity", "NaN"}) {
    const auto plain =
        ParseJson("t", fmt::format("{{\"a\": [{0}, \"x {0}\", {0}], \"b\": 1}}", number));
    REQUIRE(plain.ok());
    CHECK(*plain == Json({{"a", {number, fmt::format("x {}", number), number}}, {"b", 1}}));
  }
  CHECK_FALSE(ParseJson("t", "[-Infinityx]").ok());
  CHECK_FALSE(ParseJson("t", "[Inf]").ok());
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

TEST_CASE("an input that is written is a result where it is asked for") {
  const Text t{
      Ref("x"), UserInput("x"),
      Node("torch.ops.aten.add_.Tensor", Arg(Ref("x")) + ", " + Arg("{'as_int': 1}"), "a") + ", " +
          Node("torch.ops.aten.neg.default", Arg(Ref("x")), "n"),
      "n", fmt::format("'x': {}", Tensor("{'as_int': 2}"))};
  ImportOptions options;
  options.outputs = {"x"};
  const auto module = Import({{"models/model.json", Program(t)}}, options);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  CHECK(Run(*module, {Floats({3, 1}, {2})}) == std::vector<float>{4, 2});
  std::string said;
  options.outputs = {};
  options.warn = [&](const std::string& text) { said += text; };
  const auto usual = Import({{"models/model.json", Program(t)}}, options);
  REQUIRE_MESSAGE(usual.ok(), usual.status().message());
  CHECK(Run(*usual, {Floats({3, 1}, {2})}) == std::vector<float>{-4, -2});
  CHECK(said.find("it writes its input 'x'; --output-node x") != std::string::npos);
  options.outputs = {"y"};
  CHECK(Import({{"models/model.json", Program(t)}}, options).status().message() ==
        "--output-node y: m.pt2 has no value of that name");
}

}  // namespace
}  // namespace relayvm::import::torch
