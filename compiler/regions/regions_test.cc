// The passes from composites to calls of regions.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "compiler/ir/region.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline.h"
#include "compiler/regions/annotate_target.h"
#include "compiler/regions/engine_rules.h"
#include "compiler/regions/lower_regions.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/regions/merge_regions.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/regions/region_options.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::regions {
namespace {

using ir::Module;
using ir::Outline;

std::vector<EnginePattern> Dnnl() {
  auto patterns = EnginePatterns("dnnl");
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  return {{"dnnl", *patterns}};
}

Module Partitioned(const Module& m) {
  const auto engines = Dnnl();
  Module out = MergeComposite(m, "dnnl", *engines[0].patterns);
  CHECK(ir::VerifyModule(out, {.typed = true}).ok());
  out = AnnotateTarget(out, engines);
  CHECK(ir::VerifyModule(out, {.typed = true}).ok());
  out = MergeCompilerRegions(out);
  CHECK(ir::VerifyModule(out, {.typed = true}).ok());
  return ir::Retyped(PartitionGraph(out));
}

Module Lowered(const Module& m) {
  auto lowered = LowerRegions(m, Dnnl());
  REQUIRE_MESSAGE(lowered.ok(), lowered.status().message());
  return ir::Retyped(*lowered);
}

nlohmann::json JsonOf(const Module& m, const std::string& name) {
  auto all = RegionJsons(m, Dnnl());
  REQUIRE_MESSAGE(all.ok(), all.status().message());
  for (const auto& [region, text] : *all) {
    if (region == name) return nlohmann::json::parse(text);
  }
  FAIL("there is no region " << name);
  return {};
}

constexpr const char* kRegion = "tvmgen_default_dnnl_main_0";

// A convolution of 4 channels that keeps its size.
std::string Conv(const std::string& x, const std::string& w = "%w") {
  return "nn.conv2d(" + x + ", " + w + ", padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])";
}
std::string Main(const std::string& body, const std::string& n = "?") {
  return "def @main(%x: Tensor[(" + n +
         ", 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], "
         "%b: Tensor[(4), float32], %y: Tensor[(" +
         n + ", 4, 8, 8), float32]) {\n" + body + "}";
}

TEST_CASE("a chain is one composite, one region, one node") {
  const Module m = Partitioned(ir::Typed(Main("nn.relu(nn.bias_add(" + Conv("%x") + ", %b))")));
  CHECK(Outline(m) == "call tvmgen_default_dnnl_main_0");
  const ir::Function& region = *m.functions.at(kRegion);
  CHECK(ir::TextAttr(region, ir::kCompilerAttr) == "dnnl");
  CHECK(ir::TextAttr(region, ir::kGlobalSymbolAttr) == kRegion);
  CHECK(Outline(m, kRegion) == "fn{nn.conv2d nn.bias_add nn.relu} call");
  const auto json = JsonOf(m, kRegion);
  CHECK(json["arg_nodes"] == nlohmann::json({0, 1, 2}));
  CHECK(json["heads"] == nlohmann::json::parse("[[3, 0, 0]]"));
  CHECK(json["node_row_ptr"] == nlohmann::json({0, 1, 2, 3, 4}));
  CHECK(json["symbols"] == nlohmann::json({"n0"}));
  const auto& node = json["nodes"][3];
  CHECK(node["name"] == "dnnl.conv2d_bias_relu");
  CHECK(node["inputs"] == nlohmann::json::parse("[[0, 0, 0], [1, 0, 0], [2, 0, 0]]"));
  const auto& attrs = node["attrs"];
  CHECK(attrs["operator"] == nlohmann::json::parse(R"([["nn.conv2d"]])"));
  CHECK(attrs["post_ops"] == nlohmann::json::parse(R"([["bias input=2", "relu"]])"));
  CHECK(attrs["padding"] == nlohmann::json::parse(R"([["1", "1", "1", "1"]])"));
  CHECK(attrs["data_layout"] == nlohmann::json::parse(R"([["NCHW"]])"));
  CHECK(attrs["num_inputs"] == "3");
  CHECK(attrs["shape"] == nlohmann::json::parse(R"([[["n0", 4, 8, 8]]])"));
  CHECK(attrs["dtype"] == nlohmann::json::parse(R"([["float32"]])"));
  CHECK(Outline(Lowered(m)) == "fused{trap}");
}

TEST_CASE("results have the sizes that parameters have, however often types are inferred") {
  const Module m =
      ir::Retyped(Lowered(Partitioned(ir::Typed(Main("nn.relu(" + Conv("%x") + ")")))));
  const ir::Function& main = *m.functions.at("main");
  CHECK(Outline(m) == "fused{trap}");
  CHECK(ir::TypeEquals(main.result_type, main.params[0]->type));
}

TEST_CASE("steps are as their rules matched, numbers and sizes that only the program knows too") {
  // In the region nothing says that both inputs have as many pictures.
  const Module m = Partitioned(ir::Typed(
      Main("%0 = erf(%x); clip(multiply(add(" + Conv("%x") + ", %0), 2f), a_min=0f, a_max=3f)")));
  const auto json = JsonOf(m, kRegion);
  const auto& node = json["nodes"].back();
  CHECK(node["name"] == "dnnl.conv2d_sum_multiply_clip");
  CHECK(node["inputs"].size() == 4);
  CHECK(node["attrs"]["post_ops"] ==
        nlohmann::json::parse(R"([["sum input=2", "multiply input=3", "clip max=3 min=0"]])"));
}

TEST_CASE("another name for a value ends no region") {
  const Module m = Partitioned(
      ir::Typed(Main("let %a = " + Conv("%x") +
                     "; let %b = %a; let %c = nn.relu(%b); let %d = %c; " + Conv("%d"))));
  CHECK(Outline(m) == "call tvmgen_default_dnnl_main_0");
}

TEST_CASE("a region's symbols are no one's around it") {
  const Module m = Lowered(Partitioned(
      ir::Typed("def @main(%x: Tensor[(?, 4, ?, ?), float32], %w: Tensor[(4, 4, 3, 3), float32]) { "
                "let %y = erf(nn.max_pool2d(erf(%x), pool_size=[2, 2], strides=[2, 2])); " +
                Conv("%y") + " }")));
  const Status valid = ir::VerifyModule(m, {.typed = true});
  CHECK_MESSAGE(valid.ok(), valid.message());
}

TEST_CASE("regions end where a value would leave and come back") {
  // The first convolution feeds the second, and what only the host computes feeds the sum.
  const Module m =
      Partitioned(ir::Typed(Main("%0 = " + Conv("%x") + "; %1 = erf(%0); %2 = " + Conv("%0") +
                                 "; add(%2, " + Conv("%1") + ")")));
  CHECK(Outline(m) == "call tvmgen_default_dnnl_main_0 erf call tvmgen_default_dnnl_main_1");
  CHECK(m.functions.size() == 3);
}

TEST_CASE("what can wait is computed where its users are") {
  // The second convolution needs %x alone, and the sum comes after the host's work.
  const Module m = Partitioned(ir::Typed(
      Main("%0 = " + Conv("erf(%y)") + "; %1 = " + Conv("%x") + "; nn.softmax(add(%0, %1))", "2")));
  CHECK(Outline(m) == "erf call tvmgen_default_dnnl_main_0");
}

TEST_CASE("guards between composites part no region") {
  const std::string conv = "nn.relu(" + Conv("%x") + ")";
  const Module typed = ir::Typed(
      "def @main(%x: Tensor[(1, 4, ?, ?), float32], %w: Tensor[(4, 4, 3, 3), float32]) { "
      "nn.relu(" +
      Conv("nn.max_pool2d(" + conv + ", pool_size=[3, 3])") + ") }");
  const Module m = Partitioned(typed);
  REQUIRE(Outline(typed).find("guard") != std::string::npos);
  CHECK(m.functions.size() == 2);
}

TEST_CASE("several results, constants inside, tuples made inside") {
  const Module m = Partitioned(
      ir::Typed(Main("%0 = " + Conv("%x") +
                     "; %1 = nn.relu(%0); %2 = concatenate((%0, %1, %y), axis=1); (%0, %2)")));
  CHECK(Outline(m) == "call tvmgen_default_dnnl_main_0 .0 .1 tuple");
  const auto json = JsonOf(m, kRegion);
  CHECK(json["heads"].size() == 2);
  CHECK(json["nodes"].back()["inputs"].size() == 3);
  CHECK(Outline(Lowered(m)) == "guard fused{trap} .0 .1 tuple");  // as many pictures
}

TEST_CASE("guards of what is inside stand before the call") {
  const Module typed = ir::Typed(
      "def @main(%x: Tensor[(?, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], "
      "%y: Tensor[(?, ?, 8, 8), float32]) { " +
      Conv("nn.relu(multiply(%x, %y))") + " }");
  const Module lowered = Lowered(Partitioned(typed));
  std::string before = Outline(typed), after = Outline(lowered);
  const auto guards = [](std::string text) {
    size_t count = 0;
    for (size_t at = 0; (at = text.find("guard", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  REQUIRE(guards(before) > 0);
  // Sizes are those of the place of the call.
  CHECK(ir::TypeToString(lowered.functions.at("main")->result_type) ==
        ir::TypeToString(typed.functions.at("main")->result_type));
  CHECK(guards(after) == guards(before));
}

TEST_CASE("a region without heavy work is put back") {
  const Module m = Partitioned(ir::Typed(Main("nn.softmax(nn.relu(add(%x, %y)))", "2")));
  REQUIRE(Outline(m) == "call tvmgen_default_dnnl_main_0");
  const Module pruned = PruneRegions(m, [](const std::string&) { return true; });
  CHECK(Outline(ir::EliminateDeadCode(Lowered(pruned))) == "add nn.relu = nn.softmax =");
  CHECK(!HasRegions(Lowered(pruned)));
  CHECK(HasRegions(Lowered(m)));
}

TEST_CASE("branches are places of their own") {
  const Module m = Partitioned(
      ir::Typed("def @main(%c: bool, %x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), "
                "float32]) {\n"
                "  let %a = " +
                Conv("%x") + ";\n  if (%c) { " + Conv("%a") + " } else { nn.relu(%a) } }"));
  CHECK(Outline(m) ==
        "call tvmgen_default_dnnl_main_2 if{call tvmgen_default_dnnl_main_0}"
        "{call tvmgen_default_dnnl_main_1}");
}

std::string Begin(const std::string& x) {
  return "annotation.compiler_begin(" + x + ", compiler=\"dnnl\")";
}
std::string End(const std::string& x) {
  return "annotation.compiler_end(" + x + ", compiler=\"dnnl\")";
}

TEST_CASE("markers by hand") {
  const std::string inside = "nn.relu(add(" + Begin("%x") + ", " + Begin("%y") + "))";
  const Module m = ir::Retyped(PartitionGraph(ir::Typed(Main(End(inside), "2"))));
  CHECK(Outline(m) == "call tvmgen_default_dnnl_main_0");
  CHECK(Outline(m, kRegion) == "add nn.relu");
}

TEST_CASE("regions by hand that need each other are taken apart") {
  // One region would need erf of its own first value.
  const std::string text = "%0 = nn.relu(" + Begin("%x") + "); %1 = erf(" + End("%0") + "); " +
                           End("add(%0, " + Begin("%1") + ")");
  const Module typed = ir::Typed(Main(text, "2"));
  const Module m = ir::Retyped(PartitionGraph(MergeCompilerRegions(typed)));
  CHECK(Outline(m) == "nn.relu erf add");
}

TEST_CASE("what TVM marks as the host's own is no region") {
  const std::string text =
      "nn.relu(annotation.compiler_end(tanh(annotation.compiler_begin(%x, compiler=\"default\")), "
      "compiler=\"default\"))";
  CHECK(Outline(ir::Retyped(PartitionGraph(ir::Typed(Main(text))))) == "tanh nn.relu");
}

TEST_CASE("what is marked already stays") {
  const std::string text = Main(
      "nn.relu(annotation.compiler_end(nn.relu(annotation.compiler_begin(%x, "
      "compiler=\"mine\")), compiler=\"mine\"))");
  const Module m = ir::Retyped(PartitionGraph(AnnotateTarget(ir::Typed(text), Dnnl())));
  CHECK(Outline(m) == "call tvmgen_default_mine_main_0 call tvmgen_default_dnnl_main_0");
}

TEST_CASE("operators by themselves, where nobody merged composites") {
  const std::string text = Main("tanh(nn.relu(nn.bias_add(" + Conv("%x") + ", %b)))");
  const Module m = ir::Typed(text);
  CHECK(Outline(ir::Retyped(PartitionGraph(AnnotateTarget(m, Dnnl())))) ==
        "call tvmgen_default_dnnl_main_0 call tvmgen_default_dnnl_main_1 "
        "call tvmgen_default_dnnl_main_2 call tvmgen_default_dnnl_main_3");
}

TEST_CASE("engines of a program's own regions need no patterns") {
  PassOptionValues options;
  CHECK(!HasEngines(options));
  options["byoc-regions"] = {"mine", "dnnl"};
  CHECK(HasEngines(options));
  RuleFiles files;
  CHECK(EnginesOf(options, files)->empty());
  const auto engines = EnginesOfRegions(options, files);
  REQUIRE_MESSAGE(engines.ok(), engines.status().message());
  REQUIRE(engines->size() == 2);
  CHECK(engines->at(0).engine == "mine");
  CHECK(engines->at(0).patterns == nullptr);
  CHECK(engines->at(1).patterns != nullptr);
}

TEST_CASE("a region does not take the name of one that is lowered already") {
  const Module m = Lowered(
      ir::Typed("def @tvmgen_default_dnnl_main_0(%x: Tensor[(2, 4), float32], Compiler=\"dnnl\") { "
                "nn.relu(%x) }\n"
                "def @main(%x: Tensor[(2, 4), float32]) { "
                "nn.dense(tanh(@tvmgen_default_dnnl_main_0(%x)), %x, units=2) }"));
  CHECK(Outline(Partitioned(m)) == "fused{trap} call tvmgen_default_dnnl_main_1");
}

TEST_CASE("functions of a program that are regions already") {
  const Module m = ir::Typed(
      "def @f(%x: Tensor[(?, 4), float32], Compiler=\"dnnl\", global_symbol=\"f\") { nn.relu(%x) "
      "}\n"
      "def @main(%x: Tensor[(?, 4), float32]) { @f(@f(%x)) }");
  const Module lowered = Lowered(m);
  CHECK(Outline(lowered) == "fused{trap} fused{trap}");
  CHECK(!lowered.functions.contains("f"));
}

TEST_CASE("a composite that no rule matches is an error at its place, with what to do") {
  const Module m = ir::Typed(
      "def @f(%x: Tensor[(2, 4), float32], Compiler=\"dnnl\", global_symbol=\"f\") {\n"
      "  let %g = fn (%a: Tensor[(2, 4), float32], Composite=\"dnnl.mine\") -> "
      "Tensor[(2, 2), float32] { erf(nn.dense(%a, %a, units=2)) };\n"
      "  %g(%x) }\n"
      "def @main(%x: Tensor[(2, 4), float32]) { @f(%x) }");
  const auto lowered = LowerRegions(m, Dnnl());
  REQUIRE(!lowered.ok());
  CHECK(lowered.status().message().starts_with(
      "test.relay:4:3: region f: composite dnnl.mine (nn.dense, erf): no rule of dnnl matches all "
      "of it. Leave its attribute Composite out, and its operators are matched one by one; or give "
      "a rule for it (--byoc-rules dnnl.relay) whose steps the engine's provider knows\n"));
}

}  // namespace
}  // namespace relayvm::regions
