#include "compiler/rules/replace.h"

#include "compiler/transforms/builder.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/testing.h"

namespace relayvm::rules {
namespace {

// Composites as an engine has them.
const char kComposites[] = R"(
part @product(%x, %w) { nn.dense(%x, %w) as dense or nn.matmul(%x, %w) }
part @bias(%y, %b) { add(%y, %b) or add(%b, %y) }
part @act(%y) { nn.relu(%y) or tanh(%y) } if rank(%y) == 2
pattern @composite(%x, const %w) { @act?(@bias?(@product(%x, %w))) }
pattern @both(%x, %y, benefit=1) { nn.relu(subtract(%x, %y)) }
)";

// The program with each match as one `erf` of its first operand, and the labels of its steps; where
// a label is `declined`, the match is.
std::string Replaced(const std::string& body, std::string* labels = nullptr,
                     Report* report = nullptr, const std::string& declined = "") {
  const auto patterns = ReadPatterns("test.rules", kComposites);
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  const ir::Module m = ir::EliminateDeadCode(
      ir::FoldConstants(ir::Typed("def @main(%x: Tensor[(4, 4), float32], %c: bool) { let %w = "
                                  "ones(shape=[4, 4], dtype=\"float32\"); " +
                                  body + " }")));
  std::string found;
  const auto make = [&](const Place& place, std::vector<ir::Binding>& out, std::string* reason) {
    std::string steps;
    for (const Step& step : place.match.steps) {
      steps += (steps.empty() ? "" : " ") + step.way->label;
      if (step.way->label == declined) {
        *reason = "not " + declined;
        return false;
      }
    }
    found += (found.empty() ? "" : ", ") + steps;
    ir::BindingBuilder(m, place.root.value->span, out)
        .BindCall(place.root.var, "erf", {place.hole(0)});
    return true;
  };
  const ir::Module out =
      ir::Retyped(ir::EliminateDeadCode(ReplacePatterns(m, **patterns, make, report)));
  if (labels != nullptr) *labels = found;
  return ir::Outline(out);
}

TEST_CASE("of matches inside one another the largest counts") {
  std::string labels;
  CHECK(Replaced("nn.relu(subtract(%x, abs(%x)))", &labels) == "erf");
  CHECK(labels.empty());  // of a pattern without parts
  CHECK(Replaced("nn.relu(add(nn.matmul(%x, %w), %x))", &labels) == "erf");
  CHECK(labels == "nn.relu add nn.matmul");
  CHECK(Replaced("nn.relu(tanh(add(%x, nn.dense(%x, %w, units=4))))", &labels) == "erf nn.relu");
  CHECK(labels == "tanh add dense");
  // One after the other, from the last.
  CHECK(Replaced("nn.dense(tanh(nn.dense(%x, %w, units=4)), %w, units=4)", &labels) == "erf erf");
  CHECK(labels == "dense, tanh dense");
  // What something else uses too is a result of its own.
  CHECK(Replaced("let %d = nn.dense(%x, %w, units=4); (nn.relu(%d), %d)", &labels) ==
        "erf nn.relu tuple");
  CHECK(labels == "dense");
  // In branches; not across their borders.
  CHECK(Replaced("let %d = nn.dense(%x, %w, units=4); if (%c) { nn.relu(%d) } else { "
                 "tanh(nn.dense(%x, %w, units=4)) }",
                 &labels) == "erf if{nn.relu}{erf}");
  CHECK(labels == "dense, tanh dense");
}

TEST_CASE("a match that the pass declines leaves its inside to others") {
  std::string labels;
  Report report;
  CHECK(Replaced("nn.relu(add(nn.dense(%x, %w, units=4), %x))", &labels, &report, "nn.relu") ==
        "erf nn.relu");
  CHECK(labels == "add dense");
  CHECK(report.misses.empty());  // what it would have been part of was found
  CHECK(report.applied == std::map<std::string, size_t>{{"composite", 1}});
  report = {};
  CHECK(Replaced("nn.relu(add(nn.dense(%x, %w, units=4), %x))", nullptr, &report, "dense") ==
        "nn.dense add nn.relu");
  // Once, of the root that was tried last.
  REQUIRE(report.misses.size() == 1);
  CHECK(
      report.misses[0].ends_with("pattern @composite (test.rules:5:9) is not applied: not dense"));
}

TEST_CASE("near misses are of patterns of whose required parts two matched") {
  Report report;
  Replaced("nn.dense(%x, abs(%x), units=4)", nullptr, &report);
  CHECK(report.misses.empty());  // one
  Replaced("nn.relu(subtract(%x, exp(%x)))", nullptr, &report);
  CHECK(report.misses.empty());
  Replaced("let %s = subtract(%x, exp(%x)); (nn.relu(%s), %s)", nullptr, &report);
  REQUIRE(report.misses.size() == 1);
  CHECK(report.misses[0].ends_with("%s (subtract) has 1 other use"));
}

TEST_CASE("composites stay whole") {
  std::string labels;
  CHECK(Replaced("let %f = fn (%a: Tensor[(4, 4), float32], %v: Tensor[(4, 4), float32], "
                 "Composite=\"other.dense\") { nn.dense(%a, %v, units=4) }; "
                 "nn.relu(nn.dense(%f(%x, %w), %w, units=4))",
                 &labels) == "fn{nn.dense} call erf");
  CHECK(labels == "nn.relu dense");
}

TEST_CASE("which operators a pattern cannot do without") {
  const auto patterns = ReadPatterns("test.rules", kComposites);
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  std::map<std::string, std::string> needs;
  for (const Rule& pattern : (*patterns)->rules) {
    for (const auto& ops : pattern.needs) {
      for (const OpDef* op : ops) needs[pattern.name] += op->name + " ";
      needs[pattern.name] += "/ ";
    }
  }
  CHECK(needs["composite"].size() == std::string("nn.dense nn.matmul / ").size());
  CHECK(needs["both"].size() == std::string("nn.relu / subtract / ").size());
  CHECK(needs["both"].find("subtract / ") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::rules
