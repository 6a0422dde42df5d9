#include "compiler/regions/explain.h"

#include "compiler/regions/choose_regions.h"
#include "compiler/regions/engine_rules.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/regions/merge_regions.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/rules/miss.h"
#include "compiler/transforms/testing.h"

namespace relayvm::regions {
namespace {

std::vector<EnginePattern> Dnnl() {
  auto patterns = EnginePatterns("dnnl");
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  return {{"dnnl", *patterns}};
}
std::vector<EnginePattern> Mine(const std::string& text) {
  auto patterns = rules::ReadPatterns("mine.relay", text);
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  return {{"mine", *patterns}};
}

ir::Module Cut(const std::string& text, const std::vector<EnginePattern>& engines) {
  ir::Module m = ir::Typed(text);
  for (const EnginePattern& e : engines) m = MergeComposite(m, e.engine, *e.patterns);
  m = ir::Retyped(PartitionGraph(MergeCompilerRegions(AnnotateTarget(m, engines))));
  return PruneRegions(m, [](const std::string&) { return true; });
}
std::string Explained(const std::string& text, const std::vector<EnginePattern>& engines = Dnnl()) {
  return ExplainRegions(Cut(text, engines), engines);
}

// The operator's line, and the one that says what would change it.
std::string LinesOf(const std::string& table, const std::string& op) {
  const size_t begin = ("\n" + table).find("\n" + op + " ");
  REQUIRE_MESSAGE(begin != std::string::npos, table);
  size_t end = table.find('\n', begin);
  if (table.substr(end + 1).starts_with(' ')) end = table.find('\n', end + 1);
  return table.substr(begin, end - begin);
}
void CheckHas(const std::string& text, const std::string& part) {
  CHECK_MESSAGE(text.find(part) != std::string::npos, text << "\nhas not: " << part);
}

// --- The table ---

TEST_CASE("each operator says where it runs") {
  const std::string table = Explained(R"(
def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %d: Tensor[(2, 3), float64]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]));
  (erf(%0), nn.softmax(%d), tanh(%x)) })");
  CheckHas(LinesOf(table, "nn.conv2d"), "tvmgen_default_dnnl_main_0, part of dnnl.conv2d_relu");
  CheckHas(LinesOf(table, "nn.relu"), "test.relay:4:8");
  CHECK(LinesOf(table, "nn.relu").find("to change it") == std::string::npos);
  CheckHas(LinesOf(table, "erf"), "native: dnnl has no pattern that starts with it");
  // What was found and expected.
  CheckHas(LinesOf(table, "nn.softmax"), "float64");
  CheckHas(LinesOf(table, "tanh"), "beside no convolution");
  CheckHas(LinesOf(table, "tanh"), "to change it: let a convolution or a product that dnnl runs");
  CheckHas(table,
           "5 operators, 2 of them in regions; native, a condition: 1; native, no heavy work: 1; "
           "native, no pattern: 1");
}

// --- What would change a condition ---

TEST_CASE("what a rule asks for is said of the operand or the attribute that lacks it") {
  struct Case {
    std::string params, call, op, recipe;
  };
  const std::string image = "%x: Tensor[(1, 4, 8, 8), float32]";
  const std::string conv = image + ", %w: Tensor[(4, 4, 3, 3), float32]";
  const std::string bytes = "%x: Tensor[(1, 4, 8, 8), int8]";
  const std::string qnn =
      "qnn.requantize(qnn.conv2d(%x, %w, 0, 0, 1f, 1f, channels=4, kernel_size=[3, 3], "
      "out_dtype=\"int32\"), 0.5f, 0, 1f, 0, out_dtype=\"int8\")";
  const Case cases[] = {
      // dtype
      {"%x: Tensor[(2, 3), float64]", "nn.softmax(%x)", "nn.softmax",
       "make the dtype of operand 1 of nn.softmax \"float32\" or \"bfloat16\": cast it, or convert "
       "the model"},
      {"%x: Tensor[(2, 3), int32]", "add(%x, %x)", "add",
       "make the dtype of operand 1 of add \"float32\" or \"bfloat16\""},
      {"%x: Tensor[(2, 3), bfloat16]", "sum(%x)", "sum",
       "make the dtype of operand 1 of sum \"float32\""},
      // attributes: written ones, named ones, comparisons of several
      {conv,
       "nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], data_layout=\"NCHW\", "
       "out_layout=\"NHWC\")",
       "nn.conv2d", "make out_layout of nn.conv2d \"\" or \"NCHW\" in the model"},
      {image, "nn.lrn(%x, size=4)", "nn.lrn", "make size of nn.lrn 1 or 3 or 5"},
      {image, "nn.lrn(%x, size=3, axis=2)", "nn.lrn", "make axis of nn.lrn 1 in the model"},
      {image, "sum(%x, axis=[1], exclude=True)", "sum", "make exclude of sum False in the model"},
      {image, "nn.max_pool2d(%x, pool_size=[2, 2], padding=[2, 2, 2, 2])", "nn.max_pool2d",
       "make the greatest of padding of nn.max_pool2d less than 2 (the least of pool_size of "
       "nn.max_pool2d) in the model"},
      {image, "nn.max_pool2d(%x, pool_size=[2, 2], dilation=[2, 2])", "nn.max_pool2d",
       "make dilation of nn.max_pool2d 1 in the model"},
      {image + ", %g: Tensor[(4), float32]", "nn.layer_norm(%x, %g, %g, axis=1)", "nn.layer_norm",
       "make axis of nn.layer_norm (counted from 0) equal to 3 (the rank of operand 1 of "
       "nn.layer_norm - 1) in the model"},
      // ranks and shapes
      {"%x: Tensor[(2, 2, 2, 2, 2, 2, 2), float32]", "tanh(%x)", "tanh",
       "make the rank of operand 1 of tanh at most 6: reshape or broadcast it"},
      {"%x: Tensor[(4, 1), float32], %y: Tensor[(1, 4), float32]", "subtract(%x, %y)", "subtract",
       "make the shape of the result of subtract [4, 1] or [1, 4]: reshape or broadcast it; sizes "
       "that are open may be stated (--shape)"},
      // constants
      {bytes + ", %w: Tensor[(4, 4, 3, 3), int8]", qnn, "qnn.requantize",
       "make operand 2 of qnn.conv2d (%w) a constant: write it into the model; --params FILE binds "
       "parameters by name"},
      {bytes + ", %v: Tensor[(4, 4, 3, 3), int8]", "let %w = negative(%v); " + qnn,
       "qnn.requantize",
       "make operand 2 of qnn.conv2d (%w), which negative computes, a constant: what depends on "
       "constants alone is folded"},
      // steps alone
      {"%x: Tensor[(2, 3), int32]", "cast(%x, dtype=\"float32\")", "cast",
       "make dtype of cast \"int8\" or \"uint8\" or \"int32\" in the model; and what "
       "@quantised_first (dnnl.relay:"},
      // a piece of patterns, and none
      {image, "erf(%x)", "erf", "write what it is a piece of: @normal (dnnl.relay:"},
      {image, "sin(%x)", "sin",
       "write one for an engine that computes it (--byoc-rules ENGINE.relay, and its provider): "
       "part @one(%x0) { sin(%x0) } pattern @own(%x0) { @one(%x0) }"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.call);
    const std::string table = Explained("def @main(" + c.params + ") { " + c.call + " }");
    CheckHas(LinesOf(table, c.op), "to change it: " + c.recipe);
  }
}

TEST_CASE("the pattern that is proposed is one") {
  const std::string text =
      "def @main(%x: Tensor[(2, 3), float32]) { (take(%x, 0, axis=0), topk(%x, k=2)) }";
  for (const std::string op : {"take", "topk"}) {
    const std::string lines = LinesOf(Explained(text), op);
    const std::string pattern = lines.substr(lines.find("part @one"));
    const std::string table = Explained(text, Mine(pattern));
    CheckHas(LinesOf(table, op), "mine could run it");
  }
}

TEST_CASE("operands that change places") {
  const auto mine = Mine(
      "part @scale(%x, const %w) { multiply(%x, %w) }\n"
      "pattern @scaled(%x, const %w) { @scale(%x, %w) }");
  const std::string params = "def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) { ";
  CheckHas(LinesOf(Explained(params + "multiply(2f, %x) }", mine), "multiply"),
           "to change it: write the operands of multiply in the other order");
  CheckHas(LinesOf(Explained(params + "multiply(%x, %y) }", mine), "multiply"),
           "(%y) a constant: write it into the model");
}

// Any condition of dnnl.relay, whatever it stands upon, gives a sentence without holes or names.
TEST_CASE("each condition of dnnl's rules has a recipe") {
  const ir::Module m = ir::Typed("def @main(%p: Tensor[(2, 3, 4, 5), float64]) { %p }");
  const ir::Atom value = m.functions.at("main")->params[0];
  const rules::Surroundings around;
  std::set<std::string> functions;
  const std::function<void(const frontend::Formula&)> note = [&](const frontend::Formula& f) {
    if (f.kind == frontend::Formula::Kind::kCall) functions.insert(f.name);
    for (const frontend::Formula& arg : f.args) note(arg);
  };
  size_t conditions = 0, attributes = 0;
  const auto check = [&](const std::string& recipe) {
    CHECK_MESSAGE(recipe.starts_with("make "), recipe);
    CHECK_MESSAGE(recipe.find_first_of("${}@") == std::string::npos, recipe);
    CHECK_MESSAGE(recipe.size() > std::string("make  in the model").size(), recipe);
  };
  const auto walk = [&](const rules::Rule& way) {
    std::map<uint32_t, ir::Atom> images;
    std::map<std::string, AttrValue> variables;
    for (const auto& [id, hole] : way.graph->holes) images.emplace(id, value);
    images.emplace(ir::AsVar(way.pattern)->id, value);
    for (const frontend::Formula& f : way.graph->formulas) variables[f.name] = Dim(7);
    const rules::FormulaScope scope{m, way, variables, images};
    for (const auto* list : {&way.conditions, &way.graph->conditions}) {
      for (const frontend::Formula& condition : *list) {
        CAPTURE(rules::ToText(condition));
        note(condition);
        ++conditions;
        check(rules::ConditionMiss(condition, scope, around, "").recipe);
      }
    }
    for (const auto& [id, node] : way.graph->nodes) {
      const auto* call = node->As<ir::OpCall>();
      if (call == nullptr) continue;
      for (const AttrValue& n : rules::SaidOf(*call, frontend::kWrittenAttr)) {
        const auto& name = std::get<std::string>(n.value);
        const AttrValue* wanted = call->attrs.Find(name);
        if (wanted == nullptr) continue;
        ++attributes;
        check(rules::AttributeMiss(call->op->name, name, "=", *wanted, nullptr).recipe);
      }
    }
  };
  const auto engines = Dnnl();
  for (const rules::Rule& rule : engines[0].patterns->rules) walk(rule);
  for (const auto& [name, part] : engines[0].patterns->parts) {
    for (const rules::Rule& way : part->ways) walk(way);
  }
  CHECK(conditions > 100);
  CHECK(attributes > 100);
  const std::set<std::string> expected = {
      "!=",    "*",     "-",         "<",           "<=",
      "==",    ">=",    "[]",        "axis",        "broadcast_axes",
      "dim",   "dtype", "greatest",  "is_constant", "is_in",
      "least", "list",  "magnitude", "rank",        "shape"};
  std::string found;
  for (const std::string& f : functions) found += f + " ";
  CAPTURE(found);
  CHECK(functions == expected);
}

// --- What parts regions ---

constexpr const char* kConv =
    "nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]))";
std::string Main(const std::string& body) {
  return "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %c: "
         "bool) { let %a = " +
         std::string(kConv) + "; " + body + " }";
}

TEST_CASE("a value that would leave the region and come back") {
  std::string lines = LinesOf(Explained(Main("let %e = erf(%a); add(%a, %e)")), "add");
  CheckHas(lines, "but not with tvmgen_default_dnnl_main_0, which feeds it: erf (test.relay:2:");
  CheckHas(lines, "to change it: let dnnl run erf (test.relay:2:");
  // Into the region.
  lines = LinesOf(
      Explained("def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) { "
                "let %t = tanh(%x); let %e = erf(%t); nn.conv2d(add(%t, %e), %w, channels=4, "
                "kernel_size=[3, 3]) }"),
      "tanh");
  CheckHas(lines, "which reads it: erf (test.relay:2:");
}

TEST_CASE("what keeps its place, and branches") {
  std::string lines = LinesOf(
      Explained(Main("let %e = erf(%a); let %r = ref(%e); ref_write(%r, %a); let %t = tanh(%a); "
                     "(%e, %t, ref_read(%r))")),
      "tanh");
  CheckHas(lines, "a reference's use (test.relay:2:");
  CheckHas(lines, "stands between them and keeps its place");
  CheckHas(lines, "to change it: move a reference's use");
  lines = LinesOf(
      Explained("def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], "
                "%m: Tensor[(5), bool], %k: Tensor[(?, 1), int32]) { "
                "let %a = nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3]); let %e = erf(%a); let "
                "%s = concatenate((argwhere(%m), %k), axis=1); (%e, %s, "
                "tanh(%a)) }"),
      "tanh");
  CheckHas(lines, "tvmgen_default_dnnl_main_0: a guard (test.relay:2:");
  CheckHas(lines, "to change it: state the sizes that it compares (--shape)");
  lines = LinesOf(Explained(Main("if (%c) { tanh(%a) } else { %a }")), "tanh");
  CheckHas(lines, "a branch or a function stands between it and tvmgen_default_dnnl_main_1");
  CheckHas(lines, "to change it: compute it where tvmgen_default_dnnl_main_1 is computed");
}

TEST_CASE("composites of no engine, and markers") {
  const std::string composite =
      "let %f = fn (%y: Tensor[(1, 4, 8, 8), float32], Composite=\"other.tanh\") -> Tensor[(1, 4, "
      "8, 8), float32] { tanh(%y) }; %f(%a)";
  std::string lines = LinesOf(Explained(Main(composite)), "tanh");
  CheckHas(lines, "native: composite other.tanh is of no engine here");
  CheckHas(lines, "to change it: name an engine that runs it before a dot (dnnl.NAME)");
  lines = LinesOf(Explained("def @main(%x: Tensor[(2, 4), float32]) { "
                            "annotation.compiler_end(nn.dense(annotation.compiler_begin(%x, "
                            "compiler=\"default\"), %x, units=2), compiler=\"default\") }"),
                  "nn.dense");
  CheckHas(lines, "markers of the program keep it out");
  CheckHas(lines, "to change it: leave compiler_begin and compiler_end out");
}

TEST_CASE("what was measured to be slower says both times") {
  const auto engines = Dnnl();
  const ir::Module m = Cut(Main("%a"), engines);
  RegionMeasure measure;
  measure.time = [](const ir::Module&,
                    const std::vector<ShapeSample>& samples) -> Result<std::vector<RegionTime>> {
    return std::vector<RegionTime>(samples.size(), {.native_us = 12.5, .engine_us = 20});
  };
  std::string table;
  const auto chosen = ChooseRegions(m, measure, &table);
  REQUIRE_MESSAGE(chosen.ok(), chosen.status().message());
  const std::string lines = LinesOf(ExplainRegions(*chosen, engines), "nn.conv2d");
  CheckHas(lines, "native: dnnl could run it, in 20.00 us, natively 12.50");
  CheckHas(lines, "to change it: --byoc dnnl without auto keeps it");
  CheckHas(lines, "at most 0.85 of the native time (--shape-samples)");
}

}  // namespace
}  // namespace relayvm::regions
