#include "compiler/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"

namespace relayvm {
namespace {

constexpr const char* kProgram = R"(#[version = "0.0.5"]
def @twice(%x: Tensor[(?), float32]) { add(%x, %x) }
def @main(%x: Tensor[(?), float32]) { exp(@twice(negative(%x))) }
)";

ir::Module Parsed(const char* text = kProgram) {
  auto module = frontend::ParseRelay("test.relay", text);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  return *std::move(module);
}

std::vector<std::string_view> PassesOf(int level) {
  std::vector<PassTiming> timings;
  PipelineOptions options;
  options.opt_level = level;
  options.timings = &timings;
  REQUIRE(RunPipeline(Parsed(), options).ok());
  std::vector<std::string_view> names;
  for (const PassTiming& t : timings) {
    CHECK(t.milliseconds >= 0);
    names.push_back(t.pass);
  }
  return names;
}

// Where `pass` first stands; the number of passes when it does not.
size_t At(const std::vector<std::string_view>& passes, std::string_view pass) {
  return static_cast<size_t>(std::find(passes.begin(), passes.end(), pass) - passes.begin());
}

TEST_CASE("levels: what each adds, and what is always there") {
  std::vector<std::string_view> all[4];
  for (int level = 0; level < 4; ++level) all[level] = PassesOf(level);
  for (const auto& passes : all) {
    REQUIRE(!passes.empty());
    CHECK(passes.front() == "CheckTypes");
    for (const char* name : {"ResolveShapes", "EliminateDeadCode", "LambdaLift"}) {
      CAPTURE(name);
      CHECK(At(passes, name) < passes.size());
    }
  }
  for (const char* name : {"Inline", "FoldConstants", "EliminateCommonSubexpressions"}) {
    CAPTURE(name);
    CHECK(At(all[0], name) == all[0].size());
    CHECK(At(all[1], name) < all[1].size());
  }
  CHECK(At(all[1], "FuseOps") == all[1].size());
  CHECK(At(all[2], "FuseOps") < all[2].size());
  CHECK(all[2] == all[3]);
}

TEST_CASE("order: what later passes rely on comes first") {
  std::vector<std::string_view> passes = PassesOf(3);
  const std::pair<const char*, const char*> kOrder[] = {
      {"Inline", "PropagateConstants"},   {"PropagateConstants", "ResolveAliases"},
      {"ResolveShapes", "FoldConstants"}, {"SimplifyInference", "FoldConstants"},
      {"FoldConstants", "PackWeights"},   {"PackWeights", "FuseOps"},
      {"DropShapeOperands", "FuseOps"},   {"FuseOps", "LambdaLift"},
  };
  for (const auto& order : kOrder) {
    INFO(std::string(order.first));
    CHECK(At(passes, order.first) < At(passes, order.second));
  }
}

TEST_CASE("printing after a pass, by name or after all") {
  std::vector<std::string> printed;
  PipelineOptions options;
  options.print = [&](std::string_view text) { printed.emplace_back(text); };
  REQUIRE(RunPipeline(Parsed(), options).ok());
  CHECK(printed.empty());

  options.print_ir_after = "FuseOps";
  REQUIRE(RunPipeline(Parsed(), options).ok());
  REQUIRE(printed.size() == 1);
  CHECK(printed[0].starts_with("// After FuseOps:\n#[version = \"0.0.5\"]\n"));
  CHECK(printed[0].find("Primitive=1") != std::string::npos);

  printed.clear();
  options.print_ir_after = "all";
  REQUIRE(RunPipeline(Parsed(), options).ok());
  CHECK(printed.size() == PassesOf(options.opt_level).size());
  CHECK(printed[0].starts_with("// After CheckTypes:\n"));
  CHECK(printed[1].starts_with("// After Inline:\n"));
  // A module with nothing to simplify stays, and is not printed again.
  CHECK(std::find(printed.begin(), printed.end(), "// After SimplifyInference: unchanged\n") !=
        printed.end());
}

TEST_CASE("what a pass refuses ends the pipeline, with its place") {
  std::vector<PassTiming> timings;
  PipelineOptions options;
  options.timings = &timings;
  auto result = RunPipeline(
      Parsed("#[version = \"0.0.5\"]\ndef @main(%x: int32) {\n  add(%x, 1f)\n}\n"), options);
  REQUIRE(!result.ok());
  CHECK(result.status().message().find("test.relay:3:3") != std::string::npos);
  CHECK(timings.size() == 1);
}

TEST_CASE("the frontend's pipeline types, and changes nothing else") {
  auto typed = RunFrontendPipeline(Parsed());
  REQUIRE(typed.ok());
  CHECK(typed->functions.size() == 2);
  CHECK(ir::TypeToString(typed->functions.at("main")->result_type) == "Tensor[(x.0), float32]");
}

}  // namespace
}  // namespace relayvm
