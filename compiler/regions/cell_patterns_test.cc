// Cells of recurrent networks that oneDNN runs (dnnl.relay), as programs spell them out.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/ir/region.h"
#include "compiler/ir/verify.h"
#include "compiler/regions/annotate_target.h"
#include "compiler/regions/engine_rules.h"
#include "compiler/regions/lower_regions.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/regions/merge_regions.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/testing.h"

namespace relayvm::regions {
namespace {

std::shared_ptr<const rules::RuleSet> Patterns() {
  const auto patterns = EnginePatterns("dnnl");
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  return *patterns;
}
ir::Module Program(const std::string& text) {
  return ir::EliminateDeadCode(ir::FoldConstants(ir::Typed(text)));
}

// "lstm_cell(x, h, c, w, r) forget=1 input=0 ...": the cells of the program, the last first; other
// matches by their labels.
std::string Found(const std::string& program) {
  std::string found;
  rules::ReplacePatterns(
      Program(program), *Patterns(),
      [&](const rules::Place& place, std::vector<ir::Binding>&, std::string*) {
        const rules::Step* step = WholeStep(place.match);
        if (step == nullptr) return false;
        std::string names;
        for (const auto& [name, value] : NamedOperands(*step))
          names += (names.empty() ? "" : " ") + name;
        found += fmt::format("{}{}({})", found.empty() ? "" : ", ", step->way->label, names);
        for (const auto& [name, value] : step->variables)
          found += fmt::format(" {}={}", name, std::get<Dim>(value.value).ToString());
        return false;
      });
  return found;
}

// A table of these numbers of rows and columns, and a vector.
std::string T(int rows, int columns) {
  return fmt::format("full(0.5f, shape=[{}, {}], dtype=\"float32\")", rows, columns);
}
std::string V(int count) {
  return fmt::format("full(0.25f, shape=[{}], dtype=\"float32\")", count);
}
// Of data of 3 features and a state of 4, whose rows are one symbol.
std::string Main(const std::string& body) {
  return "def @main(%a: Tensor[(?, 11), float32], %u: Tensor[(16, 3), float32]) {\n"
         "let %p = split(%a, indices_or_sections=[3, 7], axis=1); let %x = %p.0; let %h = %p.1; "
         "let %c = %p.2;\n" +
         body + "}";
}
std::string Dense(const std::string& x, const std::string& w) {
  return "nn.dense(" + x + ", " + w + ", units=None)";
}

// --- LSTM ---

const std::string kBoth = "add(" + Dense("%x", T(16, 3)) + ", " + Dense("%h", T(16, 4)) + ")";
std::string Lstm(const std::string& gates, const std::string& result = "(%h1, %c1)",
                 const std::string& cell =
                     "let %c1 = add(multiply(sigmoid(%g.1), %c), multiply(sigmoid(%g.0), "
                     "tanh(%g.2))); let %h1 = multiply(sigmoid(%g.3), tanh(%c1)); ") {
  return Main("let %g = split(" + gates + ", indices_or_sections=4, axis=1);\n" + cell + result);
}
const std::string kNumbers = " forget=1 input=0 new=2 output=3";

TEST_CASE("lstm_cell: where biases and the products may stand") {
  const struct {
    std::string gates, operands;
  } kForms[] = {
      {kBoth, "x h c w r"},
      {"add(" + Dense("%h", T(16, 4)) + ", " + Dense("%x", T(16, 3)) + ")", "x h c w r"},
      {"add(nn.bias_add(" + Dense("%x", T(16, 3)) + ", " + V(16) + ", axis=-1), nn.bias_add(" +
           Dense("%h", T(16, 4)) + ", " + V(16) + ", axis=-1))",
       "x h c w r b bh"},
      {"add(" + V(16) + ", add(" + Dense("%h", T(16, 4)) + ", add(" + Dense("%x", T(16, 3)) +
           ", full(0.5f, shape=[1, 16], dtype=\"float32\"))))",
       "x h c w r b bs"},
      {"nn.bias_add(" + kBoth + ", " + V(16) + ")", "x h c w r bs"},
      {"add(add(" + Dense("concatenate((%x, %h), axis=1)", T(16, 7)) + ", " + V(16) + "), exp(" +
           V(16) + "))",
       "x h c w bs bt"},
      {Dense("concatenate((%x, %h), axis=-1)", T(16, 7)), "x h c w"},
      {"add(squeeze(add(" + Dense("expand_dims(%x, axis=0)", T(16, 3)) + ", " + V(16) +
           "), axis=[0]), " + Dense("%h", T(16, 4)) + ")",
       "x h c w r b"},
  };
  for (const auto& form : kForms) {
    CAPTURE(form.gates);
    CHECK(Found(Lstm(form.gates)) == "lstm_cell(" + form.operands + ")" + kNumbers);
  }
}

TEST_CASE("cells: gates are parts of one size") {
  const auto lstm = [](const std::string& cuts) {
    std::string text = Lstm(kBoth);
    const std::string four = "sections=4";
    return Found(text.replace(text.find(four), four.size(), "sections=" + cuts));
  };
  CHECK(lstm("[4, 8, 12]") == "lstm_cell(x h c w r)" + kNumbers);
  const std::string uneven =
      "def @main(%x: Tensor[(2, 3), float32], %h: Tensor[(2, 4), float32], "
      "%c: Tensor[(2, 4), float32]) { let %g = split(" +
      kBoth +
      ", indices_or_sections=[4, 8, 12, 12], axis=1); let %c1 = "
      "add(multiply(sigmoid(%g.1), %c), multiply(sigmoid(%g.0), "
      "tanh(%g.2))); multiply(sigmoid(%g.4), tanh(%c1)) }";
  CHECK(Found(uneven).empty());
}

TEST_CASE("lstm_cell: operands and gates in any order, states read elsewhere") {
  CHECK(Found(Lstm(kBoth, "(%h1, %c1)",
                   "let %c1 = add(multiply(tanh(%g.0), sigmoid(%g.3)), multiply(%c, "
                   "sigmoid(%g.2))); let %h1 = multiply(tanh(%c1), sigmoid(%g.1)); ")) ==
        "lstm_cell(x h c w r) forget=2 input=3 new=0 output=1");
  for (const char* result : {"%h1", "(%h1, %c1, %c1)", "tanh(nn.relu(%h1))",
                             "(add(%h1, %c1), tanh(%c1))", "let %d = tanh(%c1); add(%h1, %d)"}) {
    CAPTURE(std::string(result));
    CHECK(Found(Lstm(kBoth, result)) == "lstm_cell(x h c w r)" + kNumbers);
  }
  // One cell's states are the next one's.
  const std::string second =
      "let %g2 = split(add(" + Dense("%h1", T(16, 4)) + ", " +
      Dense("%h1", "exp(" + T(16, 4) + ")") +
      "), indices_or_sections=4, axis=1); let %c2 = add(multiply(sigmoid(%g2.1), %c1), "
      "multiply(sigmoid(%g2.0), tanh(%g2.2))); multiply(sigmoid(%g2.3), tanh(%c2))";
  CHECK(Found(Lstm(kBoth, second)) ==
        "lstm_cell(x h c w r)" + kNumbers + ", lstm_cell(x h c w r)" + kNumbers);
}

TEST_CASE("lstm_cell: what is near one and none") {
  const auto none = [](const std::string& program) {
    CAPTURE(program);
    CHECK(Found(program).find("lstm") == std::string::npos);
  };
  const auto with = [&](const std::string& c1, const std::string& h1) {
    none(Lstm(kBoth, "(%h1, %c1)", "let %c1 = " + c1 + "; let %h1 = " + h1 + "; "));
  };
  const std::string c1 = "add(multiply(sigmoid(%g.1), %c), multiply(sigmoid(%g.0), tanh(%g.2)))";
  const std::string h1 = "multiply(sigmoid(%g.3), tanh(%c1))";
  with("clip(" + c1 + ", a_min=-1f, a_max=1f)", h1);
  with("add(multiply(sigmoid(%g.1), %c), multiply(sigmoid(%g.0), nn.relu(%g.2)))", h1);
  with("add(multiply(%g.1, %c), multiply(sigmoid(%g.0), tanh(%g.2)))", h1);
  with("subtract(multiply(sigmoid(%g.1), %c), multiply(sigmoid(%g.0), tanh(%g.2)))", h1);
  with("add(multiply(sigmoid(add(%g.1, multiply(%c, " + V(4) +
           "))), %c), multiply(sigmoid(%g.0), tanh(%g.2)))",
       h1);
  with(c1, "multiply(sigmoid(%g.3), %c1)");
  with(c1, "multiply(sigmoid(%g.3), tanh(%c))");
  with(c1, "multiply(sigmoid(%g.1), tanh(%c1))");  // a gate twice
  none(Lstm(kBoth, "(%h1, %c1, %g.0)"));           // a gate is read elsewhere
  none(Lstm("add(" + Dense("%x", "%u") + ", " + Dense("%h", T(16, 4)) + ")"));  // no constant
  none(Lstm("add(" + kBoth + ", tanh(" + Dense("%x", T(16, 3)) + "))"));
  // The state has other rows than the data: one may be broadcast.
  none(
      "def @main(%x: Tensor[(?, 3), float32], %h: Tensor[(?, 4), float32], %c: Tensor[(?, 4), "
      "float32]) { let %g = split(" +
      kBoth + ", indices_or_sections=4, axis=1); let %c1 = " + c1 + "; " + h1 + " }");
  none(
      "def @main(%x: Tensor[(1, 3), float32], %h: Tensor[(2, 4), float32], %c: Tensor[(2, 4), "
      "float32]) { let %g = split(" +
      kBoth + ", indices_or_sections=4, axis=1); let %c1 = " + c1 + "; " + h1 + " }");
  // The memory is used before the state is computed.
  none(Lstm(kBoth, "add(%d, %h1)",
            "let %c1 = " + c1 + "; let %d = nn.relu(%c1); let %h1 = " + h1 + "; "));
}

// --- GRU ---

std::string LbrGru(const std::string& mixed) {
  return Main("let %s = split(add(" + Dense("%x", T(12, 3)) + ", " + V(12) +
              "), indices_or_sections=3, axis=-1); let %t = split(nn.bias_add(" +
              Dense("%h", T(12, 4)) + ", " + V(12) +
              "), indices_or_sections=3, axis=1); let %r = sigmoid(add(%t.0, %s.0)); let %z = "
              "sigmoid(add(%s.1, %t.1)); let %n = tanh(add(multiply(%t.2, %r), %s.2)); " +
              mixed);
}
std::string Gru(const std::string& mixed, const std::string& own = "%t.1") {
  return Main("let %s = split(" + Dense("%x", T(12, 3)) +
              ", indices_or_sections=3, axis=1); let %t = split(" + Dense("%h", T(8, 4)) +
              ", indices_or_sections=2, axis=1); let %z = sigmoid(add(%s.0, %t.0)); let %r = "
              "sigmoid(add(%s.1, " +
              own + ")); let %n = tanh(add(" + Dense("multiply(%r, %h)", T(4, 4)) + ", %s.2)); " +
              mixed);
}
std::string GruOfGates(const std::string& mixed) {
  const auto own = [](const std::string& x) { return Dense(x, T(4, 4)); };
  return Main("let %s = split(" + Dense("%x", T(12, 3)) +
              ", indices_or_sections=3, axis=1); let %r = sigmoid(add(add(add(%s.0, " + own("%h") +
              "), " + V(4) + "), exp(" + V(4) + "))); let %z = sigmoid(add(add(%s.1, " + own("%h") +
              "), " + V(4) + ")); let %n = tanh(add(add(%s.2, " + V(4) + "), add(" +
              own("multiply(%r, %h)") + ", " + V(4) + "))); " + mixed);
}

TEST_CASE("gru_cell and lbr_gru_cell: the gate is the old value's part, or the new one's") {
  const struct {
    std::string mixed, suffix;
  } kForms[] = {
      {"add(multiply(subtract(1f, %z), %n), multiply(%z, %h))", ""},
      {"add(multiply(%h, %z), multiply(%n, subtract(1f, %z)))", ""},
      {"add(multiply(subtract(%h, %n), %z), %n)", ""},
      {"add(multiply(subtract(1f, %z), %h), multiply(%z, %n))", "_negated"},
      {"add(%h, multiply(%z, subtract(%n, %h)))", "_negated"},
  };
  for (const auto& form : kForms) {
    CAPTURE(form.mixed);
    CHECK(Found(LbrGru(form.mixed)) ==
          "lbr_gru_cell" + form.suffix + "(x h w r b bh) new=2 reset=0 update=1");
    CHECK(Found(Gru(form.mixed)) ==
          "gru_cell" + form.suffix +
              "(x h w r rn) new=2 own_reset=1 own_update=0 reset=1 update=0");
    CHECK(Found(GruOfGates(form.mixed)) ==
          "gru_cell" + form.suffix + "(x h w ru rr rn bu br brt bn bnt) new=2 reset=0 update=1");
  }
  for (const char* mixed : {"add(multiply(subtract(2f, %z), %n), multiply(%z, %h))",
                            "add(multiply(subtract(1f, %r), %n), multiply(%z, %h))",
                            "add(multiply(subtract(1f, %z), %n), multiply(%z, %n))",
                            "subtract(multiply(subtract(1f, %z), %n), multiply(%z, %h))",
                            "add(multiply(subtract(%h, %n), %z), %h)"}) {
    CAPTURE(std::string(mixed));
    for (const std::string& program : {LbrGru(mixed), Gru(mixed), GruOfGates(mixed)})
      CHECK(Found(program).empty());
  }
  CHECK(Found(Gru(kForms[0].mixed, "%t.0")).empty());
}

// --- Plain ones ---

TEST_CASE("rnn_tanh_cell and rnn_relu_cell") {
  const std::string gates = "add(nn.bias_add(" + Dense("%x", T(4, 3)) + ", " + V(4) + "), add(" +
                            V(4) + ", " + Dense("%h", T(4, 4)) + "))";
  CHECK(Found(Main("tanh(" + gates + ")")) == "rnn_tanh_cell(x h w r b bh)");
  for (const char* relu : {"maximum(0f, ", "maximum("}) {
    const std::string last = relu[8] == '0' ? ")" : ", 0f)";
    CHECK(Found(Main(relu + gates + last)) == "rnn_relu_cell(x h w r b bh)");
  }
  CHECK(Found(Main("maximum(0.5f, " + gates + ")")).empty());
  CHECK(Found(Main("nn.relu(" + gates + ")")) == "rnn_relu_cell(x h w r b bh)");
  CHECK(Found(Main("abs(tanh(" + gates + "))")) == "rnn_tanh_cell(x h w r b bh)");
  CHECK(Found(Main("sigmoid(" + gates + ")")).empty());
  CHECK(Found(Main("let %g = " + gates + "; (tanh(%g), %g)")).empty());
  // Of two products neither of which is the state's: the result has other columns.
  CHECK(
      Found(Main("tanh(add(" + Dense("%x", T(5, 3)) + ", " + Dense("%h", T(5, 4)) + "))")).empty());
}

// --- As regions ---

nlohmann::json RegionOf(const ir::Module& m) {
  const std::vector<EnginePattern> engines = {{"dnnl", Patterns()}};
  const auto all = RegionJsons(m, engines);
  REQUIRE_MESSAGE(all.ok(), all.status().message());
  REQUIRE(all->size() == 1);
  return nlohmann::json::parse((*all)[0].second);
}
void CheckLstm(const nlohmann::json& node) {
  CHECK(node["name"] == "dnnl.lstm_cell");
  const auto& attrs = node["attrs"];
  CHECK(attrs["operator"] == nlohmann::json::parse(R"([["lstm_cell"]])"));
  CHECK(attrs["operands"] == nlohmann::json::parse(R"([["x", "h", "c", "w", "r"]])"));
  CHECK(attrs["forget"] == nlohmann::json::parse(R"([["1"]])"));
  CHECK(attrs["output"] == nlohmann::json::parse(R"([["3"]])"));
  CHECK(attrs["num_outputs"] == "2");
  CHECK(attrs["num_inputs"] == "5");
  CHECK_FALSE(attrs.contains("post_ops"));
}

TEST_CASE("a cell is one node of two results") {
  const std::vector<EnginePattern> engines = {{"dnnl", Patterns()}};
  const ir::Module merged = MergeComposite(Program(Lstm(kBoth)), "dnnl", *Patterns());
  CHECK(ir::VerifyModule(merged, {.typed = true}).ok());
  ir::Module m = AnnotateTarget(merged, engines);
  CHECK(ir::VerifyModule(m, {.typed = true}).ok());
  m = ir::Retyped(PartitionGraph(MergeCompilerRegions(m)));
  const nlohmann::json json = RegionOf(m);
  CheckLstm(json["nodes"].back());
  CHECK(json["heads"] == nlohmann::json::parse("[[5, 0, 0], [5, 1, 0]]"));
  CHECK(json["symbols"].size() == 1);
}

TEST_CASE("what MergeComposite has noted is found again where a program does not say it") {
  const std::vector<EnginePattern> engines = {{"dnnl", Patterns()}};
  std::string text = Lstm(kBoth);
  text.replace(text.find('?'), 1, "2");
  const ir::Module m = ir::Retyped(PartitionGraph(MergeCompilerRegions(
      AnnotateTarget(MergeComposite(Program(text), "dnnl", *Patterns()), engines))));
  for (const bool is_said_wrong : {false, true}) {
    ir::Module other = m;
    for (auto& [name, f] : other.functions) {
      if (ir::TextAttr(*f, "Compiler").empty()) continue;
      ir::Block body = *f->body;
      for (ir::Binding& b : body.bindings) {
        const auto* literal = b.value->As<ir::FunctionExpr>();
        if (literal == nullptr) continue;
        ir::Function plain = *literal->function;
        plain.attrs.erase(kWholeAttr);
        if (is_said_wrong) plain.attrs[kWholeAttr] = AttrList{"lstm_cell", 1, 2, "x"};
        b.value =
            ir::MakeExpr(other, ir::FunctionExpr{other.arena->New<ir::Function>(std::move(plain))},
                         b.value->span);
      }
      f = ir::WithBody(other, *f, other.arena->New<ir::Block>(std::move(body)));
    }
    CheckLstm(RegionOf(other)["nodes"].back());
  }
}

}  // namespace
}  // namespace relayvm::regions
