#include "compiler/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "tests/temp_folder.h"

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

std::vector<std::string> PassesOf(int level) {
  std::vector<PassTiming> timings;
  PipelineOptions options;
  options.opt_level = level;
  options.timings = &timings;
  REQUIRE(RunPipeline(Parsed(), options).ok());
  std::vector<std::string> names;
  for (const PassTiming& t : timings) {
    CHECK(t.milliseconds >= 0);
    names.push_back(t.pass);
  }
  return names;
}

// Where `pass` first stands; the number of passes when it does not.
size_t At(const std::vector<std::string>& passes, std::string_view pass) {
  return static_cast<size_t>(std::find(passes.begin(), passes.end(), pass) - passes.begin());
}

TEST_CASE("levels: what each adds, and what is always there") {
  std::vector<std::string> all[4];
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
  std::vector<std::string> passes = PassesOf(3);
  const std::pair<const char*, const char*> kOrder[] = {
      {"Inline", "PropagateConstants"},   {"PropagateConstants", "ResolveAliases"},
      {"ResolveShapes", "FoldConstants"}, {"SimplifyInference", "FoldConstants"},
      {"FoldConstants", "PackWeights"},   {"PackWeights", "FuseOps"},
      {"FuseAttention", "FuseOps"},       {"EliminateCommonSubexpressions", "FuseAttention"},
      {"DropShapeOperands", "FuseOps"},   {"FuseOps", "SplitBatches"},
      {"SplitBatches", "LambdaLift"},
  };
  for (const auto& order : kOrder) {
    INFO(std::string(order.first));
    CHECK(At(passes, order.first) < At(passes, order.second));
  }
}

TEST_CASE("a variable that only stands for another one keeps nothing from its kernel") {
  // Of conv, what keeps the number of a result's fields, or nothing but its operand.
  const char* const kBetween[] = {
      "%1 = nn.batch_norm(%0, ones(shape=[8]), ones(shape=[8]), zeros(shape=[8]), "
      "ones(shape=[8])); %2 = %1.0;",
      "%1 = nn.dropout(%0); %2 = %1.0;",
      "%1 = (%0, %x); %2 = %1.0;",
      "%2 = copy(%0);",
      "%2 = reshape(%0, newshape=[1, 8, 6, 6]);",
  };
  for (const char* between : kBetween) {
    CAPTURE(std::string(between));
    const std::string text =
        std::string("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(1, 8, 6, 6), float32], ") +
        "%w: Tensor[(8, 8, 1, 1), float32]) { %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0], " +
        "channels=8, kernel_size=[1, 1]); " + between + " nn.relu(%2) }";
    std::string printed;
    PipelineOptions options;
    options.print = [&](std::string_view after) { printed += after; };
    options.print_ir_after = "FuseOps";
    REQUIRE(RunPipeline(Parsed(text.c_str()), options).ok());
    const size_t kernel = printed.find("Primitive=1");
    REQUIRE_MESSAGE(kernel != std::string::npos, printed);
    CHECK_MESSAGE(printed.find("nn.relu", kernel) < printed.find("})(", kernel), printed);
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

TEST_CASE("the plan: each pass finds what it needs, at every level") {
  for (int level = 0; level < 4; ++level) {
    PipelineOptions options;
    options.opt_level = level;
    auto plan = PlanPasses(options);
    REQUIRE_MESSAGE(plan.ok(), plan.status().message());
    for (const PlannedPass& p : *plan) {
      CAPTURE(p.pass.name);
      CHECK((p.pass.needs - p.before).empty());
      CHECK((p.pass.refuses & p.before).empty());
      CHECK(p.level <= level);
      CHECK_FALSE(p.pass.description.empty());
    }
    CHECK((Facts{Fact::kTyped, Fact::kShapesResolved, Fact::kLifted} - plan->back().after).empty());
  }
}

TEST_CASE("passes of the user run where they are put") {
  std::vector<std::string> seen;
  PipelineOptions options;
  auto insert = [&](const std::string& name, const std::string& place) {
    Pass pass;
    pass.name = name;
    pass.drops = {};
    pass.run = [&seen, name](const ir::Module& m, const PassContext&) -> Result<ir::Module> {
      seen.push_back(name);
      return m;
    };
    options.passes.push_back({pass, place});
  };
  insert("a", "after:Inline");
  insert("b", "after:Inline");
  insert("c", "before:Inline");
  insert("d", "before:Inline");
  insert("first", "start");
  insert("last", "end");
  insert("e", "after:a");
  insert("f", "before:EliminateDeadCode#2");
  options.passes[4].pass.needs = {};
  std::vector<PassTiming> timings;
  options.timings = &timings;
  REQUIRE(RunPipeline(Parsed(), options).ok());
  CHECK(seen == std::vector<std::string>{"first", "c", "d", "a", "e", "b", "f", "last"});
  CHECK(timings.front().pass == "first");
  CHECK(timings.back().pass == "last");

  // At a level where the place does not run, too.
  seen.clear();
  options.opt_level = 0;
  REQUIRE(RunPipeline(Parsed(), options).ok());
  CHECK(seen.size() == 8);
}

TEST_CASE("a user's pass is verified") {
  PipelineOptions options;
  options.verify = false;
  Pass pass;
  pass.name = "Forget";
  pass.run = [](const ir::Module& m, const PassContext&) -> Result<ir::Module> {
    ir::Module out = m;
    out.functions.erase("twice");
    return out;
  };
  options.passes.push_back({pass, "start"});
  auto result = RunPipeline(Parsed(), options);
  REQUIRE(!result.ok());
  CHECK(result.status().message().find("pass Forget breaks the program") != std::string::npos);
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

TEST_CASE("threads compile one module at once") {
  const ir::Module module = Parsed();
  const std::string alone = ir::PrintModule(*RunPipeline(module, {}));
  constexpr int kThreads = 4, kTimes = 20;
  std::vector<std::string> texts(kThreads);
  std::vector<std::thread> threads;
  for (std::string& text : texts) {
    threads.emplace_back([&module, &text] {
      for (int i = 0; i < kTimes; ++i) {
        const auto compiled = RunPipeline(module, {});
        text = compiled.ok() ? ir::PrintModule(*compiled) : compiled.status().ToString();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& text : texts) CHECK(text == alone);
}

TEST_CASE("the frontend's pipeline types, and changes nothing else") {
  auto typed = RunFrontendPipeline(Parsed());
  REQUIRE(typed.ok());
  CHECK(typed->functions.size() == 2);
  CHECK(ir::TypeToString(typed->functions.at("main")->result_type) == "Tensor[(x.0), float32]");
}

// A file of rules that is gone once the passes have begun.
TEST_CASE("a compilation reads a file of rules once") {
  const testing::TempFolder folder;
  const std::string path = folder / "mine.relay";
  std::ofstream(path) << "part @one(%x) { tanh(%x) }\npattern @any(%x) { @one(%x) }\n";
  PipelineOptions options;
  options.options["byoc"] = {"mine"};
  options.options["byoc-rules"] = {path};
  Pass removes;
  removes.name = "RemovesTheFile";
  removes.run = [&](const ir::Module& m, const PassContext&) -> Result<ir::Module> {
    std::filesystem::remove(path);
    return m;
  };
  options.passes.push_back({removes, "after:PrepareRegions"});
  const ir::Module m =
      Parsed("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 4), float32]) { tanh(%x) }");
  auto compiled = RunPipelines(m, options, {options.machine});
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  CHECK(compiled->with_regions.size() == 1);
  // The next one reads it anew.
  CHECK(!RunPipelines(m, options, {options.machine}).ok());
}

}  // namespace
}  // namespace relayvm
