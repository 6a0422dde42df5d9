// Programs of torch.export with one thing wrong: an error or a module, never anything else.
#include <doctest/doctest.h>

#include "compiler/import/torch/export_json.h"
#include "compiler/import/torch/export_symbols.h"
#include "compiler/import/torch/export_testing.h"
#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch {
namespace {

using exported::Arg;
using exported::Entries;
using exported::Expression;
using exported::Import;
using exported::Node;
using exported::Program;
using exported::Quoted;
using exported::Ref;
using exported::Tensor;
using exported::Text;
using exported::UserInput;

std::string Int(int64_t v) { return fmt::format("{{'as_int': {}}}", v); }
std::string Graph(const std::string& inputs, const std::string& nodes, const std::string& output) {
  return fmt::format(
      "{{'as_graph': {{'name': 'g', 'graph': {{'inputs': [{}], 'outputs': [{}], 'nodes': [{}], "
      "'tensor_values': {{}}}}}}}}",
      inputs, Ref(output), nodes);
}

// A program of everything that a file may hold.
Json WholeProgram() {
  const std::string arm =
      Graph(Ref("y"), Node("torch.ops.aten.neg.default", Arg(Ref("y")), "z"), "z");
  const std::string row =
      Graph(Ref("r") + ", " + Ref("m"),
            Node("torch.ops.aten.mul.Tensor", Arg(Ref("r")) + ", " + Arg(Ref("m")), "q"), "q");
  const std::string size =
      "{'target': 'torch.ops.aten.sym_size.int', 'inputs': [" + Arg(Ref("x")) + ", " + Arg(Int(0)) +
      "], 'outputs': [{'as_sym_int': {'as_name': 's'}}], 'metadata': {'stack_trace': 'File "
      "\\\"m.py\\\", line 3, in f', 'nn_module_stack': 'a,b,c;d,e,f'}}";
  const std::string split =
      "{'target': 'torch.ops.aten.split.Tensor', 'inputs': [" + Arg(Ref("x")) + ", " + Arg(Int(1)) +
      ", {'name': 'dim', 'arg': " + Int(1) +
      ", 'kind': 2}], 'outputs': [{'as_tensors': [{'name': 'p0'}, {'name': 'p1'}]}], 'metadata': "
      "{}}";
  const std::string nodes =
      size + ", " + split + ", " +
      Node("torch.ops.aten.add_.Tensor", Arg(Ref("b_n")) + ", " + Arg("{'as_float': 0.5}"), "a") +
      ", " + Node("torch.ops.aten.linear.default", Arg(Ref("x")) + ", " + Arg(Ref("p_w")), "l") +
      ", " +
      Node("torch.ops.aten.full.default",
           Arg("{'as_sym_ints': [{'as_name': 's'}, {'as_int': 2}]}") + ", " +
               Arg("{'as_float': 'Infinity'}") +
               ", {'name': 'dtype', 'arg': {'as_scalar_type': 7}, 'kind': 2}",
           "f") +
      ", " +
      Node("torch.ops.aten.index.Tensor",
           Arg(Ref("l")) + ", " +
               Arg("{'as_optional_tensors': [{'as_none': true}, " + Ref("c") + "]}"),
           "i") +
      ", " +
      Node("torch.ops.aten.sum.dim_IntList",
           Arg(Ref("i")) + ", " + Arg("{'as_ints': [0, 1]}") + ", " + Arg("{'as_bool': false}"),
           "t") +
      ", " + Node("torch.ops.aten.gt.Scalar", Arg(Ref("t")) + ", " + Arg(Int(0)), "g") + ", " +
      Node("torch.ops.higher_order.cond",
           Arg(Ref("g")) + ", " + Arg(arm) + ", " + Arg(arm) + ", " +
               Arg("{'as_tensors': [{'name': 'l'}]}"),
           "o") +
      ", " +
      Node("torch.ops.higher_order.map_impl",
           Arg(row) + ", " + Arg("{'as_tensors': [{'name': 'o'}]}") + ", " +
               Arg("{'as_tensors': [{'name': 'b_n'}]}"),
           "h") +
      ", " + Node("torch.ops.aten.add.Tensor", Arg(Ref("h")) + ", " + Arg(Ref("p0")), "out");
  const Text t{
      Ref("p_w") + ", " + Ref("b_n") + ", " + Ref("c") + ", " + Ref("x") + ", " + Int(3),
      "{'parameter': {'arg': {'name': 'p_w'}, 'parameter_name': 'w'}}, "
      "{'buffer': {'arg': {'name': 'b_n'}, 'buffer_name': 'n', 'persistent': true}}, "
      "{'tensor_constant': {'arg': {'name': 'c'}, 'tensor_constant_name': 'k'}}, " +
          UserInput("x") + ", {'constant_input': {'name': 'e', 'value': {'as_int': 3}}}",
      nodes,
      "out",
      fmt::format("'x': {}, 'b_n': {}, 'l': {}", Tensor(Expression("2*s7") + ", " + Int(2)),
                  Tensor(""), Tensor(Expression("2*s7") + ", " + Int(2))),
      "'2*s7': {'min_val': 4, 'max_val': 8}"};
  const auto program = ParseJson("program", Program(t));
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *program;
}
Json Weights() {
  const auto json = ParseJson(
      "weights", Quoted(fmt::format(
                     "{{'config': {{'w': {{'path_name': 'weight_0', 'is_param': true, "
                     "'use_pickle': false, 'tensor_meta': {{'dtype': 7, 'sizes': [{}, {}], "
                     "'strides': [{}, {}], 'storage_offset': {}, 'layout': 7}}}}, 'n': "
                     "{{'path_name': 'weight_1', 'is_param': false, 'use_pickle': false, "
                     "'tensor_meta': {{'dtype': 7, 'sizes': [], 'strides': [], 'layout': 7}}}}, "
                     "'k': {{'path_name': 'weight_2', 'is_param': false, 'use_pickle': false, "
                     "'tensor_meta': {{'dtype': 5, 'sizes': [{}], 'strides': [{}], 'layout': "
                     "7}}}}}}}}",
                     Int(2), Int(2), Int(2), Int(1), Int(0), Int(2), Int(1))));
  REQUIRE(json.ok());
  return *json;
}

Result<ir::Module> ImportOf(const Json& program, const Json& weights) {
  return Import({{"models/model.json", program.dump()},
                 {"data/weights/model_weights_config.json", weights.dump()},
                 {"data/weights/weight_0", std::string(16, '\1')},
                 {"data/weights/weight_1", std::string(4, '\0')},
                 {"data/weights/weight_2", std::string(16, '\0')}});
}

void Collect(const Json& v, const Json::json_pointer& at, std::vector<Json::json_pointer>* out) {
  out->push_back(at);
  if (v.is_object()) {
    for (const auto& [key, item] : v.items()) Collect(item, at / key, out);
  } else if (v.is_array()) {
    for (size_t i = 0; i < v.size(); ++i) Collect(v[i], at / i, out);
  }
}

std::vector<Json> Replacements() {
  std::vector<Json> all = {nullptr,       true,           -1,         INT64_MAX, 1e300,       "x",
                           Json::array(), Json::object(), UINT64_MAX, "s7",      "2*s7*s7*s7"};
  for (const char* text :
       {"{'as_int': -1}", "{'as_int': 9223372036854775807}", "{'as_none': true}",
        "{'as_tensor': {'name': 'x'}}", "{'as_tensor': {'name': 'b_n'}}",
        "{'as_expr': {'expr_str': 'Symbol('}}", "{'as_expr': {'expr_str': 's7 - 100'}}",
        "{'as_float': 'NaN'}", "{'as_name': 's'}", "{'as_string': 'sum'}", "{'as_unheard': []}",
        "{'as_tensors': [{'name': 'x'}, {}]}", "[[[]]]", "[{'as_int': 0}, {'as_int': 0}]"}) {
    all.push_back(Json::parse(Quoted(text)));
  }
  return all;
}

// Imports what a file's JSON becomes when any one value is another, or is not there.
void Walk(const Json& json, const std::function<Result<ir::Module>(const Json&)>& import) {
  const std::vector<Json> replacements = Replacements();
  std::vector<Json::json_pointer> places;
  Collect(json, Json::json_pointer(), &places);
  size_t good = 0, bad = 0, turn = 0;
  for (const Json::json_pointer& place : places) {
    const std::string text = place.to_string();
    CAPTURE(text);
    const auto check = [&](const Json& changed) {
      const auto module = import(changed);
      ++(module.ok() ? good : bad);
      if (module.ok() && good % 8 == 0)
        CHECK(InferTypes(*module).status().code() != StatusCode::kInternal);
      if (!module.ok()) {
        CHECK(!module.status().message().empty());
        CHECK_MESSAGE(module.status().code() != StatusCode::kInternal, module.status().message());
      }
    };
    // Each place some of them, by turns.
    constexpr size_t kStride = 8;
    for (size_t i = turn++ % kStride; i < replacements.size(); i += kStride) {
      const Json& replacement = replacements[i];
      Json changed = json;
      changed[place] = replacement;
      check(changed);
    }
    if (place.empty()) continue;
    Json changed = json;
    Json& parent = changed[place.parent_pointer()];
    if (parent.is_object()) {
      parent.erase(place.back());
    } else {
      parent.erase(static_cast<size_t>(std::stoul(place.back())));
    }
    check(changed);
  }
  CHECK(good > 20);
  CHECK(bad > 20);
}

TEST_CASE("any value of a program is another") {
  const Json program = WholeProgram(), weights = Weights();
  const auto module = ImportOf(program, weights);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  REQUIRE(InferTypes(*module).ok());
  Walk(program, [&](const Json& changed) { return ImportOf(changed, weights); });
}

TEST_CASE("any value of what is said of weights is another") {
  const Json program = WholeProgram();
  Walk(Weights(), [&](const Json& changed) { return ImportOf(program, changed); });
}

TEST_CASE("arguments of every operator are of a wrong kind") {
  const std::vector<std::string> kinds = {
      "{'as_none': true}",
      "{'as_int': -9223372036854775807}",
      "{'as_float': 'NaN'}",
      "{'as_string': 'x'}",
      "{'as_ints': [3, -1, 1000000007]}",
      "{'as_ints': []}",
      "{'as_floats': [0.5]}",
      "{'as_tensors': [{'name': 'x'}, {'name': 'i'}]}",
      "{'as_optional_tensors': [{'as_none': true}, {'as_tensor': {'name': 'i'}}]}",
      "{'as_bool': true}",
      "{'as_device': {'type': 'cpu', 'index': null}}",
      "{'as_complex': {'real': 1, 'imag': 2}}",
      Ref("x"),
      Ref("i"),
      Ref("e"),
  };
  size_t turn = 0;
  for (const Operator* op : AllOperators()) {
    const std::string schema(op->def->schema);
    CAPTURE(schema);
    std::string target(schema.substr(0, schema.find('(')));
    const size_t colons = target.find("::");
    REQUIRE(colons != std::string::npos);
    target.replace(colons, 2, ".");
    if (target.find('.', colons + 1) == std::string::npos) target += ".default";
    for (size_t shift = 0; shift < kinds.size(); shift += 8) {
      std::string inputs;
      const size_t count = op->schema.arguments.size();
      for (size_t i = 0; i < count; ++i) {
        // A tensor as the first, then one kind in each place, then kinds by turns.
        const size_t kind =
            i == 0 && shift % 2 == 0 ? kinds.size() - 3 : (shift + i * turn) % kinds.size();
        inputs += (i == 0 ? "" : ", ") + Arg(kinds[kind]);
      }
      ++turn;
      const Text t{
          Ref("x") + ", " + Ref("i") + ", " + Ref("e"),
          UserInput("x") + ", " + UserInput("i") + ", " + UserInput("e"),
          Node("torch.ops." + target, inputs, "o"), "o",
          fmt::format("'x': {}, 'i': {}, 'e': {}", Tensor(Int(2) + ", " + Expression("s7")),
                      Tensor(Int(2), 5), Tensor(Int(0) + ", " + Int(3)))};
      CAPTURE(inputs);
      const auto module = Import({{"models/model.json", Program(t)}});
      if (!module.ok())
        CHECK_MESSAGE(module.status().code() != StatusCode::kInternal, module.status().message());
    }
  }
}

TEST_CASE("expressions that are long, deep, or nothing at all") {
  const auto symbol = [](const std::string& name) { return Dim::Symbol(1, name); };
  const auto parse = [&](const std::string& text) { return ParseSymbolic(text, symbol); };
  std::string deep, sums, powers = "s0", calls, products = "s0";
  for (int i = 0; i < 5000; ++i) {
    deep += '(';
    sums += "s0 + ";
    calls += "Add(Integer(1), ";
    products += " * (s0 + 1)";
  }
  for (int i = 0; i < 500; ++i) powers += "**8";
  for (const std::string& text :
       {deep,
        sums,
        sums + "1",
        calls,
        products,
        powers,
        std::string(70000, '1'),
        std::string("-"),
        std::string("Add("),
        std::string("Symbol('"),
        std::string("s0 ** 9223372036854775808"),
        std::string("Pow(s0, Integer(-1))"),
        std::string("FloorDiv(s0, Integer(0))"),
        std::string("Mod(s0, 0)"),
        std::string("9223372036854775807 * 9223372036854775807"),
        std::string("-9223372036854775808 // -1"),
        std::string("Min()"),
        std::string("Max(1,,2)"),
        std::string("(s0 + 1)**8 * (s0 + 2)**8 * (s0 + 3)**8 * (s0 + 4)**8"),
        std::string()}) {
    const auto dim = parse(text);
    if (!dim.ok()) CHECK(dim.status().message().size() < 200);
  }
}

TEST_CASE("graphs in graphs, and names that are nowhere") {
  std::string graph = Graph(Ref("y"), "", "y");
  for (int i = 0; i < 30; ++i) {
    graph = Graph(Ref("y"),
                  Node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                       Arg("{'as_bool': false}") + ", " + Arg(graph) + ", " + Arg(Ref("y")), "z"),
                  "z");
  }
  const auto with = [&](const std::string& nodes) {
    const Text t{Ref("x"), UserInput("x"), nodes, "o",
                 fmt::format("'x': {}", Tensor("{'as_int': 2}"))};
    return Import({{"models/model.json", Program(t)}});
  };
  CHECK_FALSE(with(Node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                        Arg("{'as_bool': false}") + ", " + Arg(graph) + ", " + Arg(Ref("x")), "o"))
                  .ok());
  CHECK(with(Node("torch.ops.aten.neg.default", Arg(Ref("o")), "o"))
            .status()
            .message()
            .find("there is no value 'o' before this node") != std::string::npos);
  CHECK_FALSE(with("").ok());
}

}  // namespace
}  // namespace relayvm::import::torch
