// Patterns of several results, fields whose numbers are open, and parameters that a way lacks.
#include <fmt/format.h>

#include "compiler/ir/verify.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/builder.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::rules {
namespace {

const char kCells[] = R"(
part @sum(%x, %y, %b) { multiply(%x, %y) or add(multiply(%x, %y), %b) }
part @cell(%x, %y, %b) {
  %0 = split(@sum(%x, %y, %b), indices_or_sections=2, axis=1);
  %1 = tanh(%0.$first);
  (maximum(%1, exp(%0.$second)), %1) as cell
} if $first != $second
part @function(%x, %y) { tanh(%x) or abs(%x) or maximum(%x, %y) }
pattern @functions(%x) { @function*(@function(%x)) }
pattern @cells(%x, %y, benefit=1) { @cell(%x, %y) }
)";

// The program with a cell's results as `sin` and `cos`, and functions as `erf`; what matched, with
// the number of the cell's operands and its numbers.
std::string Replaced(const std::string& body, std::string* found, Report* report = nullptr) {
  const auto patterns = ReadPatterns("test.rules", kCells);
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  const ir::Module m = ir::EliminateDeadCode(
      ir::Typed("def @main(%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32], %c: bool) { " +
                body + " }"));
  found->clear();
  const auto make = [&](const Place& place, std::vector<ir::Binding>& out, std::string*) {
    const std::vector<const Step*> own = place.match.OwnSteps();
    const bool is_cell = place.pattern.name == "cells";
    *found += (found->empty() ? "" : ", ") + place.pattern.name;
    ir::BindingBuilder make(m, place.root.value->span, out);
    if (!is_cell) {
      make.BindCall(place.root.var, "erf",
                    {own.back()->images.at(own.back()->way->graph->params[0]->id)});
      return true;
    }
    *found += fmt::format(" {}", own[0]->Operands(0).size());
    for (const auto& [name, value] : own[0]->variables)
      *found += fmt::format(" {}={}", name, std::get<Dim>(value.value).value());
    Attrs half;
    half.Set("begin", AttrList{0, 0});
    half.Set("end", AttrList{4, 2});
    half.Set("strides", AttrList{1, 1});
    const ir::Atom part = make.Call("strided_slice", {place.hole(0)}, half);
    make.BindCall(place.root.var, "sin", {part});
    for (const ir::Var* v : place.match.results) make.BindCall(v, "cos", {part});
    return true;
  };
  const ir::Module replaced = ReplacePatterns(m, **patterns, make, report);
  CHECK(ir::VerifyModule(replaced, {}).ok());
  return ir::Outline(ir::Retyped(ir::EliminateDeadCode(replaced)));
}

const std::string kSplit = "let %s = split(multiply(%x, %y), indices_or_sections=2, axis=1); ";

TEST_CASE("a value of the inside that is a further result may be read elsewhere") {
  std::string found;
  const std::string cell = kSplit + "let %t = tanh(%s.0); let %r = maximum(%t, exp(%s.1)); ";
  CHECK(Replaced(cell + "%r", &found) == "strided_slice sin");
  CHECK(Replaced(cell + "(%r, %t)", &found) == "strided_slice sin cos tuple");
  CHECK(Replaced(cell + "if (%c) { add(%r, %t) } else { %t }", &found) ==
        "strided_slice sin cos if{add}{}");
  CHECK(Replaced(cell + "let %u = sqrt(%t); add(%u, %r)", &found) ==
        "strided_slice sin cos sqrt add");
  CHECK(found == "cells 2 first=0 second=1");
  // No other value of the inside.
  Replaced(cell + "(%r, %s.1)", &found);
  CHECK(found.find("cells") == std::string::npos);
}

TEST_CASE("what reads a further result stands behind the root") {
  std::string found;
  Report report;
  Replaced(kSplit +
               "let %t = tanh(%s.0); let %u = sqrt(%t); let %r = maximum(%t, exp(%s.1)); "
               "add(%u, %r)",
           &found, &report);
  CHECK(found.find("cells") == std::string::npos);
  REQUIRE(!report.misses.empty());
  CHECK(report.misses.back().find(
            "%t, a further result, is used before the last one is computed") != std::string::npos);
  // In a block inside too.
  Replaced(kSplit +
               "let %t = tanh(%s.0); let %u = if (%c) { sqrt(%t) } else { %t }; "
               "let %r = maximum(%t, exp(%s.1)); add(%u, %r)",
           &found);
  CHECK(found.find("cells") == std::string::npos);
}

TEST_CASE("patterns of a higher benefit come first in all of a block") {
  std::string found;
  // The function behind it would be a step upon the cell's root.
  CHECK(Replaced(kSplit + "abs(maximum(tanh(%s.0), exp(%s.1)))", &found) ==
        "strided_slice sin erf");
  CHECK(found == "cells 2 first=0 second=1, functions");
  CHECK(Replaced("abs(tanh(%x))", &found) == "erf");
  CHECK(found == "functions");
}

TEST_CASE("the number of a tuple's field has a name") {
  std::string found;
  Replaced(kSplit + "maximum(tanh(%s.1), exp(%s.0))", &found);
  CHECK(found == "cells 2 first=1 second=0");
  Replaced(kSplit + "maximum(tanh(%s.1), exp(%s.1))", &found);
  CHECK(found.find("cells") == std::string::npos);
}

TEST_CASE("a parameter whose argument is a hole may be lacking") {
  std::string found;
  Replaced(
      "let %s = split(add(multiply(%x, %y), %x), indices_or_sections=2, axis=1); "
      "maximum(tanh(%s.0), exp(%s.1))",
      &found);
  CHECK(found == "cells 3 first=0 second=1");
}

TEST_CASE("fields and results that are wrong say where") {
  const auto error = [](const std::string& text, bool is_rule = false) {
    const auto read = is_rule ? ReadRules("test.rules", text) : ReadPatterns("test.rules", text);
    return read.ok() ? std::string() : read.status().message();
  };
  const auto has = [&](const std::string& message, const std::string& part) {
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  has(error("pattern @p(%x) { (tanh(%x), %x) }"),
      "rule @p: result 1 of a pattern is no value inside of the first one");
  has(error("pattern @p(%x) { %0 = exp(%x); (tanh(%x), %0) }"), "result 1 of a pattern");
  has(error("pattern @p(%x) { %0 = tanh(%x); (%0, %0) }"), "result 1 of a pattern");
  has(error("rule @r(%x) { %0 = exp(%x); (tanh(%0), %0) => %0 }", true),
      "expected a pattern that is an operator call");
  has(error("rule @r(%x) { tanh(split(%x).$i) => split(%x).$i }", true),
      "test.rules:1:47: rule @r: a replacement states its fields: expected a number, found $i");
  has(error("pattern @p(%x) { tanh(split(%x).i) }"),
      "expected the number of a tuple's field or its $name after '.'");
  has(error("pattern @p(%x) { tanh(split(%x).2147483648) }"), "the number of a tuple's field");
  CHECK(error("rule @r(%x) { tanh(split(%x).$i) if $i == 1 => exp(%x) }", true).empty());
}

}  // namespace
}  // namespace relayvm::rules
