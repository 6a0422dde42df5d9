#include "compiler/import/mxnet/importer.h"

#include <filesystem>
#include <fstream>

#include "compiler/import/mxnet/operator.h"
#include "compiler/import/mxnet/testing.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import::mxnet::testing {

namespace {

// Nodes as JSON with ' for ".
std::string Json(std::string text) {
  for (char& c : text) c = c == '\'' ? '"' : c;
  return text;
}
std::string Variable(std::string_view name, std::string_view attrs = "") {
  return "{'op': 'null', 'name': '" + std::string(name) + "', 'attrs': {" + std::string(attrs) +
         "}, 'inputs': []}";
}
Result<ir::Module> Import(const std::string& text, std::map<std::string, std::string> shapes,
                          frontend::Params params = {}, std::vector<std::string> outputs = {}) {
  ImportOptions options;
  options.shapes = std::move(shapes);
  options.params = std::move(params);
  options.outputs = std::move(outputs);
  return ImportMxnet("net-symbol.json", BytesOf(Json(text)), options);
}
std::string ErrorOf(const std::string& text, std::map<std::string, std::string> shapes = {}) {
  const auto module = Import(text, std::move(shapes));
  return module.ok() ? "" : module.status().message();
}
const ir::Function& MainOf(const ir::Module& module) { return *module.functions.at("main"); }

const char* const kDense =
    "{'nodes': [{'op': 'null', 'name': 'data', 'inputs': []}, {'op': 'null', 'name': 'w', "
    "'inputs': "
    "[]}, {'op': 'FullyConnected', 'name': 'fc', 'attrs': {'num_hidden': '1', 'no_bias': 'True'}, "
    "'inputs': [[0, 0, 0], [1, 0, 0]]}, {'op': 'null', 'name': 'softmax_label', 'inputs': []}, "
    "{'op': 'LinearRegressionOutput', 'name': 'out', 'inputs': [[2, 0, 0], [3, 0, 0]]}], 'heads': "
    "[[4, 0, 0], [2, 0, 0]]}";

}  // namespace

TEST_CASE("Arrays become constants, labels stay away, outputs have MXNet's names") {
  const HostTensor w = TensorOf({{1, 2}, {2, 3}});
  const auto module = Import(kDense, {{"data", "(?, 2):float32"}}, {{"w", w}});
  const auto found = Run(module, {{{1, 2}, {1, 1}}});
  REQUIRE(found.size() == 2);
  CHECK(NumbersOf(found[0]) == std::vector<double>{5});
  CHECK(MainOf(*module).params.size() == 1);
  CHECK(ir::OutputNamesOf(MainOf(*module)) == std::vector<std::string>{"out_output", "fc_output"});
  // By position; a label that is given is an input.
  const auto labelled =
      Import(kDense, {{"0", "(1, 2):float32"}, {"softmax_label", "(1)"}}, {{"w", w}});
  REQUIRE_MESSAGE(labelled.ok(), labelled.status().message());
  CHECK(MainOf(*labelled).params.size() == 2);
  // The data's shape follows from the weights.
  CHECK(Import(kDense, {}, {{"w", w}}).ok());
}

TEST_CASE("Arrays lie beside the symbol") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "relayvm_mxnet_importer_test";
  fs::create_directories(folder);
  const auto write = [&](const char* name) {
    std::ofstream file(folder / name, std::ios::binary);
    const auto put = [&](auto v) { file.write(reinterpret_cast<const char*>(&v), sizeof v); };
    put(uint64_t{0x112}), put(uint64_t{0}), put(uint64_t{1});
    put(uint32_t{2}), put(uint32_t{1}), put(uint32_t{2}), put(1), put(0), put(0);
    put(2.0F), put(3.0F), put(uint64_t{1}), put(uint64_t{5});
    file << "arg:w";
  };
  const auto import = [&] {
    return ImportMxnet((folder / "net-symbol.json").string(), BytesOf(Json(kDense)), {});
  };
  write("net-0010.params");
  const auto found = Run(import(), {{{1, 2}, {1, 1}}});
  CHECK(NumbersOf(found[0]) == std::vector<double>{5});
  // Which of two it is, somebody must say.
  write("net-0020.params");
  const auto several = import();
  REQUIRE(!several.ok());
  CHECK(several.status().message().find("2 files of arrays") != std::string::npos);
  fs::remove_all(folder);
}

TEST_CASE("Results are chosen by name") {
  const std::string text = "{'nodes': [" + Variable("x") +
                           ", {'op': 'relu', 'name': 'r', 'inputs': [[0, 0, 0]]}, {'op': "
                           "'negative', 'name': 'n', 'inputs': [[1, 0, 0]]}], 'heads': [[2, 0]]}";
  const auto outputs = [&](std::vector<std::string> names) {
    return Import(text, {{"x", "(2)"}}, {}, std::move(names));
  };
  const auto found = Run(outputs({"r_output", "n", "x"}), {{{2}, {-1, 2}}});
  REQUIRE(found.size() == 3);
  CHECK(NumbersOf(found[0]) == std::vector<double>{0, 2});
  CHECK(NumbersOf(found[1]) == std::vector<double>{0, -2});
  CHECK(NumbersOf(found[2]) == std::vector<double>{-1, 2});
  CHECK(outputs({"q"}).status().message().find("--output-node q") != std::string::npos);
  CHECK(!outputs({"r_output7"}).ok());
}

TEST_CASE("Old symbols leave inputs out") {
  const std::string old =
      "{'nodes': [" + Variable("data") + ", " + Variable("bn_gamma") + ", " + Variable("bn_beta") +
      ", {'op': 'BatchNorm', 'name': 'bn', 'param': {'eps': '0', 'fix_gamma': 'False'}, 'inputs': "
      "[[0, 0], [1, 0], [2, 0]]}, {'op': 'argmax', 'name': 'a', 'param': {'axis': '-1'}, 'inputs': "
      "[[3, 0]]}], 'heads': [[3, 0], [4, 0]]}";
  frontend::Params arrays;
  for (const char* name : {"bn_gamma", "bn_beta", "bn_moving_mean"})
    arrays[name] = TensorOf({{2}, {1, 2}});
  arrays["bn_moving_var"] = TensorOf({{2}, {4, 4}});
  const auto found = Run(Import(old, {{"data", "(1, 2)"}}, arrays), {{{1, 2}, {3, 4}}});
  REQUIRE(found.size() == 2);
  CHECK(NumbersOf(found[0]) == std::vector<double>{2, 4});
  // -1 was all of it.
  CHECK(found[1].shape == std::vector<int64_t>{1});
}

TEST_CASE("Loops and branches of subgraphs") {
  const auto node = [](std::string_view op, std::string_view attrs, std::string_view inputs,
                       std::string_view graphs = "") {
    return "{'op': '" + std::string(op) + "', 'name': '" + std::string(op) + "', 'attrs': {" +
           std::string(attrs) + "}, 'inputs': [" + std::string(inputs) + "], 'subgraphs': [" +
           std::string(graphs) + "]}";
  };
  const auto graph = [](std::string_view nodes, std::string_view heads) {
    return "{'nodes': [" + std::string(nodes) + "], 'heads': [" + std::string(heads) + "]}";
  };
  const std::string both = Variable("x") + ", " + Variable("s");
  const std::string sum =
      graph(both + ", " + node("elemwise_add", "", "[0, 0, 0], [1, 0, 0]"), "[2, 0, 0], [2, 0, 0]");
  const std::string foreach =
      graph(both + ", " +
                node("_foreach",
                     "'num_out_data': '1', 'in_data_locs': '[0]', 'in_state_locs': '[1]', "
                     "'remain_locs': '[]'",
                     "[0, 0, 0], [1, 0, 0]", sum),
            "[2, 0, 0], [2, 1, 0]");
  auto found =
      Run(Import(foreach, {{"x", "(?, 1)"}, {"s", "(1)"}}), {{{3, 1}, {1, 2, 3}}, {{1}, {10}}});
  CHECK(NumbersOf(found[0]) == std::vector<double>{11, 13, 16});
  CHECK(NumbersOf(found[1]) == std::vector<double>{16});

  const std::string less = graph(
      Variable("i") + ", " + node("_lesser_scalar", "'scalar': '3'", "[0, 0, 0]"), "[1, 0, 0]");
  const std::string next =
      graph(Variable("i") + ", " + node("_plus_scalar", "'scalar': '1'", "[0, 0, 0]"),
            "[0, 0, 0], [1, 0, 0]");
  const std::string loop =
      graph(Variable("i") + ", " +
                node("_while_loop",
                     "'num_out_data': '1', 'max_iterations': '4', 'cond_input_locs': "
                     "'[0]', 'func_input_locs': '[0]', 'func_var_locs': '[0]'",
                     "[0, 0, 0]", less + ", " + next),
            "[1, 0, 0], [1, 1, 0]");
  found = Run(Import(loop, {{"i", "(1)"}}), {{{1}, {1}}});
  CHECK(found[0].shape == std::vector<int64_t>{4, 1});
  CHECK(NumbersOf(found[0]) == std::vector<double>{1, 2, 0, 0});
  CHECK(NumbersOf(found[1]) == std::vector<double>{3});

  const std::string same = graph(Variable("i"), "[0, 0, 0]");
  const std::string cond = graph(
      Variable("i") + ", " +
          node("_cond",
               "'cond_input_locs': '[0]', 'then_input_locs': '[0]', "
               "'else_input_locs': '[0]'",
               "[0, 0, 0]",
               less + ", " + same + ", " +
                   graph(Variable("i") + ", " + node("negative", "", "[0, 0, 0]"), "[1, 0, 0]")),
      "[1, 0, 0]");
  for (const double i : {1.0, 5.0}) {
    found = Run(Import(cond, {{"i", "(1)"}}), {{{1}, {i}}});
    CHECK(NumbersOf(found[0]) == std::vector<double>{i < 3 ? i : -i});
  }
}

TEST_CASE("What symbols lack is said") {
  const std::string missing = ErrorOf(kDense);
  CHECK(missing.find("2 variables have neither an array nor a shape") != std::string::npos);
  CHECK(missing.find("--shape 'data=(?, ?):float32'") != std::string::npos);
  CHECK(missing.find("softmax_label") == std::string::npos);
  const std::string unknown = ErrorOf("{'nodes': [" + Variable("x") +
                                      ", {'op': 'Custom', 'name': 'c', 'inputs': [[0, 0, 0]]}, "
                                      "{'op': '_random_uniform', 'name': 'r', "
                                      "'inputs': []}], 'heads': [[1, 0, 0], [2, 0, 0]]}");
  CHECK(unknown.find("2 operators are not supported") != std::string::npos);
  CHECK(unknown.find("Custom: node 'c'") != std::string::npos);
  const auto one = [](std::string_view op, std::string_view attrs) {
    return ErrorOf(SymbolOf(op, attrs, 1), {{"x0", "(2, 3):float32"}});
  };
  CHECK(one("Pooling", "kernel=(3, 3").find("attribute kernel: expected whole numbers") !=
        std::string::npos);
  CHECK(one("topk", "ret_typ=some").find("expected value, indices, mask, both, found 'some'") !=
        std::string::npos);
  CHECK(one("Reshape", "shape=(-3, -3)").find("refers to more than the 2 dims") !=
        std::string::npos);
  CHECK(one("Dropout", "mode=always").find("random") != std::string::npos);
  CHECK(ErrorOf("{'nodes': [" + Variable("x") +
                    ", {'op': 'relu', 'name': 'r', 'inputs': [[0, 0, 0]]}], 'heads': [[1, 3, 0]]}",
                {{"x", "(1)"}})
            .find("has 1 outputs; output 3 is asked for") != std::string::npos);
}

TEST_CASE("Operators take any inputs without harm") {
  const char* const kAttributes[] = {
      "", "axis=7|k=-1|shape=(-9, 0)|kernel=(0, 3)|num_hidden=-1|depth=-1|scale=0",
      "kernel=(2, 2)|num_filter=1|shape=(2, 3)|axis=0|num_outputs=2|heads=2|pooled_size=(1, 1)"};
  for (const OperatorDef& op : Operators()) {
    const std::string name(op.names.substr(0, op.names.find(' ')));
    CAPTURE(name);
    const int count = std::max(op.min_inputs, op.max_inputs < 0 ? 3 : op.min_inputs);
    for (int rank = 0; rank <= 4; ++rank) {
      for (const char* attrs : kAttributes) {
        const Input input{std::vector<int64_t>(static_cast<size_t>(rank), 2), {}};
        ImportOptions options;
        for (int i = 0; i < count; ++i)
          options.shapes["x" + std::to_string(i)] = ShapeText(input, attrs[0] == 'k');
        const auto module =
            ImportMxnet("one", BytesOf(SymbolOf(name, attrs, static_cast<size_t>(count))), options);
        if (!module.ok()) CHECK(!module.status().message().empty());
      }
    }
  }
}

}  // namespace relayvm::import::mxnet::testing
