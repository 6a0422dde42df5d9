#include "compiler/regions/choose_regions.h"

#include "compiler/regions/annotate_target.h"
#include "compiler/regions/engine_rules.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/regions/merge_regions.h"
#include "compiler/regions/partition_graph.h"
#include "compiler/transforms/testing.h"

namespace relayvm::regions {
namespace {

ir::Module Cut(const std::string& text) {
  auto patterns = EnginePatterns("dnnl");
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  const std::vector<EnginePattern> engines = {{"dnnl", *patterns}};
  const ir::Module m = MergeComposite(ir::Typed(text), "dnnl", **patterns);
  return ir::Retyped(PartitionGraph(MergeCompilerRegions(AnnotateTarget(m, engines))));
}

// Two products that erf parts.
constexpr const char* kTwo = R"(
def @main(%x: Tensor[(?, 8), float32], %v: Tensor[(8, 8), float32], %w: Tensor[(4, 16), float32]) {
  %0 = erf(nn.dense(%x, %v));
  nn.dense(concatenate((%0, %0), axis=1), %w) })";

struct Chosen {
  std::string outline, table;
  std::vector<ShapeSample> samples;  // of the first region
};

// `engine_us`: of the region with so many columns of its last operand, native time being 10; of the
// program `whole_us`.
Chosen Choose(const ir::Module& m, const std::function<double(int64_t columns)>& engine_us,
              const tuner::SampleSizes& given = {}, double whole_us = 9) {
  Chosen chosen;
  RegionMeasure measure;
  measure.samples = given;
  measure.time = [&](const ir::Module& alone,
                     const std::vector<ShapeSample>& samples) -> Result<std::vector<RegionTime>> {
    std::vector<RegionTime> times;
    if (alone.functions.size() == 3) {
      CHECK(samples.front().shapes.size() == alone.functions.at("main")->params.size());
      times.resize(samples.size(), {10, whole_us});
      return times;
    }
    CHECK(alone.functions.size() == 2);
    for (const ShapeSample& s : samples) times.push_back({10, engine_us(s.shapes.back()[1])});
    if (chosen.samples.empty()) chosen.samples = samples;
    return times;
  };
  auto out = ChooseRegions(m, measure, &chosen.table);
  REQUIRE_MESSAGE(out.ok(), out.status().message());
  const auto is_plain = [&](const char* name) {
    return !out->functions.at(name)->attrs.contains("Compiler");
  };
  for (const char* name : {"tvmgen_default_dnnl_main_0", "tvmgen_default_dnnl_main_1"})
    chosen.outline += is_plain(name) ? "native " : "dnnl ";
  return chosen;
}

TEST_CASE("regions stay where their engine is faster") {
  const ir::Module m = Cut(kTwo);
  REQUIRE(m.functions.size() == 3);
  CHECK(Choose(m, [](int64_t) { return 5; }).outline == "dnnl dnnl ");
  CHECK(Choose(m, [](int64_t) { return 20; }).outline == "native native ");
  CHECK(Choose(m, [](int64_t) { return 10; }).outline == "native native ");
  const Chosen one = Choose(m, [](int64_t columns) { return columns == 8 ? 5 : 20; });
  CHECK(one.outline == "dnnl native ");
  CHECK(one.table.find("2.00") != std::string::npos);
}

TEST_CASE("no region stays where the whole program is slower with them") {
  const ir::Module m = Cut(kTwo);
  CHECK(Choose(m, [](int64_t) { return 5; }, {}, 9.7).outline == "native native ");
  const Chosen chosen = Choose(m, [](int64_t) { return 5; }, {}, 11);
  CHECK(chosen.outline == "native native ");
  CHECK(chosen.table.find("the program") != std::string::npos);
  // What is native anyway is not measured again.
  const Chosen none = Choose(m, [](int64_t) { return 20; }, {}, 11);
  CHECK(none.table.find("the program") == std::string::npos);
}

TEST_CASE("sizes are those of the entry's dims") {
  const ir::Module m = Cut(kTwo);
  const std::string name =
      m.functions.at("main")->params[0]->type->As<TensorType>()->shape[0].symbol_name();
  const Chosen given = Choose(m, [](int64_t) { return 5; }, {{name, {3, 7}}});
  REQUIRE(given.samples.size() == 2);
  CHECK(given.samples[0].shapes == std::vector<std::vector<int64_t>>{{3, 8}, {8, 8}});
  CHECK(given.samples[1].shapes[0] == std::vector<int64_t>{7, 8});
  CHECK(given.samples[1].name == name + "=7");
  CHECK(Choose(m, [](int64_t) { return 5; }).samples.size() == 3);  // 1, 16, 128
}

TEST_CASE("one slow sample is enough, and what is not measured is native") {
  const ir::Module m = Cut(kTwo);
  int call = 0;
  CHECK(Choose(m, [&](int64_t) { return ++call % 3 == 0 ? 11 : 2; }).outline == "native native ");
  RegionMeasure measure;
  measure.time = [](const ir::Module&,
                    const std::vector<ShapeSample>&) -> Result<std::vector<RegionTime>> {
    return Status(StatusCode::kUnsupported, "the engine is not here");
  };
  std::string table;
  auto out = ChooseRegions(m, measure, &table);
  REQUIRE(out.ok());
  CHECK(table.find("not measured, runs native: the engine is not here") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::regions
