// Programs of a size that generated code has compile in linear time: a program that is four times
// as long takes about four times as long. What counts is the processor's time; the bound is far
// below what quadratic work takes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <ctime>
#include <functional>
#include <string>

#include "compiler/pipeline.h"
#include "compiler/testing.h"

namespace relayvm {
namespace {

constexpr const char* kTypes = R"(
type E { P, Q, R, }
type Two[A, B] { Mk(A, B), }
)";

double Seconds(const std::string& body) {
  auto start = std::clock();
  auto ready = RunPipeline(ir::Parsed(kTypes + body), PipelineOptions{.verify = false});
  REQUIRE_MESSAGE(ready.ok(), ready.status().message());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

using Line = std::function<std::string(int)>;

// A function whose lines follow from their number, from 1 to n; %y0 is the parameter.
std::string Chain(int n, const std::string& type, const Line& line, const std::string& result) {
  std::string out = fmt::format("def @main(%c: bool, %y0: {}) {{\n", type);
  for (int i = 1; i <= n; ++i) out += line(i) + "\n";
  return out + fmt::format(fmt::runtime(result), n) + "\n}\n";
}

std::string Tower(int n, const std::string& type, const std::string& level) {
  return Chain(n, type, [&](int i) { return fmt::format(fmt::runtime(level), i, i - 1); }, "1f");
}

std::string Columns(int n) {
  std::string params;
  std::string data;
  std::string rows;
  for (int i = 0; i < n; ++i) {
    params += fmt::format("{}%e{}: E[]", i == 0 ? "" : ", ", i);
    data += fmt::format("{}%e{}", i == 0 ? "" : ", ", i);
    rows += "(";
    for (int j = 0; j < n; ++j) rows += fmt::format("{}{}", j == 0 ? "" : ", ", i == j ? "P" : "_");
    rows += fmt::format(") => {{ {} }},\n", i);
  }
  return fmt::format("def @main({}) {{ match (({})) {{\n{}_ => {{ {} }}, }} }}\n", params, data,
                     rows, n);
}

std::string ElseIfs(int n) {
  std::string out = "def @main(%x: int32) {\n";
  for (int i = 0; i < n; ++i) {
    out += fmt::format("{}if (equal(%x, {})) {{ {} }}\n", i == 0 ? "" : "else ", i, 7 * i);
  }
  return out + "else { -1 }\n}\n";
}

std::string WideTuple(int n) {
  std::string lines;
  std::string fields;
  for (int i = 0; i < n; ++i) {
    lines += fmt::format("let %y{0} = add(%x, {0}f);\n", i);
    fields += fmt::format("%y{}, ", i);
  }
  return "def @main(%x: Tensor[(4), float32]) {\n" + lines + "(" + fields + ")\n}\n";
}

// Each calls the one before, and is called by the next.
std::string Functions(int n) {
  std::string out;
  for (int i = 0; i <= n; ++i) {
    out += fmt::format(
        "def @f{0}(%x: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {{\n"
        "  let %a = nn.relu(add(%x, {0}f));\n"
        "  if (less(sum(%a), {0}f)) {{ {1} }} else {{ exp(%a) }}\n}}\n",
        i, i == 0 ? "%a" : fmt::format("@f{}(%a)", i - 1));
  }
  return out + fmt::format("def @main(%x: Tensor[(?, 4), float32]) {{ @f{}(%x) }}\n", n);
}

// Arithmetic on dims in int32, whose steps wrap.
std::string Sizes(int n) {
  std::string out =
      "def @main(%x: Tensor[(?, ?), float32]) {\n"
      "let %s = shape_of(%x, dtype=\"int32\"); let %y0 = take(%s, 0);\n";
  for (int i = 1; i <= n; ++i) {
    out += fmt::format("let %y{} = {}(%y{}, take(%s, 1));\n", i,
                       i % 3 == 0 ? "maximum" : (i % 3 == 1 ? "add" : "multiply"), i - 1);
  }
  return out + fmt::format("%y{}\n}}\n", n);
}

// Each gives the one before; the last is called until the first is there.
std::string FunctionsOfFunctions(int n) {
  std::string out = "def @main(%x: Tensor[(?), float32]) {\nlet %f0 = fn (%a) { add(%a, %x) };\n";
  for (int i = 1; i <= n; ++i)
    out += fmt::format("let %f{0} = fn (%b{0}: int32) {{ %f{1} }};\n", i, i - 1);
  out += fmt::format("let %g{0} = %f{0};\n", n);
  for (int i = n; i > 0; --i) out += fmt::format("let %g{0} = %g{1}(1);\n", i - 1, i);
  return out + "%g0(%x)\n}\n";
}

struct Family {
  const char* what;
  int n;
  std::function<std::string(int)> program;
  double size_growth = 4;  // of the program's text, for four times n
};

TEST_CASE("large programs compile in linear time") {
  const std::string open = "Tensor[(?), float32]";
  const std::string known = "Tensor[(4), float32]";
  const Family families[] = {
      {"closures", 500,
       [&](int n) {
         return Chain(
             n, known,
             [&](int i) {
               return fmt::format(
                   "let %f{0} = fn (%a{0}: {2}) {{ add(%a{0}, {0}f) }}; let %y{0} = %f{0}(%y{1});",
                   i, i - 1, known);
             },
             "%y{}");
       }},
      {"ifs", 500,
       [&](int n) {
         return Chain(
             n, known,
             [](int i) {
               return fmt::format("let %y{0} = if (%c) {{ add(%y{1}, {0}f) }} else {{ %y{1} }};", i,
                                  i - 1);
             },
             "%y{}");
       }},
      {"a tower of pairs", 250,
       [&](int n) { return Tower(n, known, "let %y{0} = (%y{1}, %y{1});"); }},
      {"a tower of pairs of open tensors", 250,
       [&](int n) { return Tower(n, open, "let %y{0} = (%y{1}, %y{1});"); }},
      {"a tower of references", 50,
       [&](int n) { return Tower(n, known, "let %y{0} = ref(%y{1});"); }, 16},
      {"a tower of references to pairs of open tensors", 50,
       [&](int n) { return Tower(n, open, "let %y{0} = ref((%y{1}, %y{1}));"); }, 16},
      {"a tower of values of a type", 100,
       [&](int n) { return Tower(n, known, "let %y{0} = Mk(%y{1}, %y{1});"); }},
      {"a tower of functions", 100,
       [&](int n) { return Tower(n, known, "let %y{0} = fn () {{ (%y{1}, %y{1}) }};"); }},
      {"a tower of functions of open tensors", 100,
       [&](int n) { return Tower(n, open, "let %y{0} = fn () {{ (%y{1}, %y{1}) }};"); }, 16},
      {"a tower of functions of one parameter", 50,
       [&](int n) {
         return Tower(n, open,
                      "let %y{0} = fn (%a{0}: Tensor[(?), float32]) {{ (%y{1}, %y{1}) }};");
       },
       16},
      {"a tower of functions that give functions", 50, FunctionsOfFunctions, 16},
      {"a match on columns", 20, Columns, 16},
      {"else-ifs", 1000, ElseIfs},
      {"closures that call the one before", 250,
       [&](int n) {
         return Chain(
             n, known,
             [&](int i) {
               std::string before =
                   i == 1 ? fmt::format("%a{}", i) : fmt::format("%f{}(%a{})", i - 1, i);
               return fmt::format("let %f{0} = fn (%a{0}: {1}) {{ add({2}, {0}f) }};", i, known,
                                  before);
             },
             "%f{}(%y0)");
       }},
      {"a chain of operators", 1000,
       [&](int n) {
         return Chain(
             n, open, [](int i) { return fmt::format("let %y{0} = add(%y{1}, {0}f);", i, i - 1); },
             "%y{}");
       }},
      {"pairs that are taken apart", 500,
       [&](int n) {
         return Chain(
             n, known,
             [](int i) {
               return fmt::format("let %t{0} = (%y{1}, {0}f); let %y{0} = add(%t{0}.0, %t{0}.1);",
                                  i, i - 1);
             },
             "%y{}");
       }},
      {"a wide tuple", 1000, WideTuple},
      {"functions", 100, Functions},
      {"sizes in int32", 250, Sizes},
  };
  for (const Family& f : families) {
    INFO(std::string(f.what));
    double once = Seconds(f.program(f.n));
    double more = Seconds(f.program(4 * f.n));
    CHECK_MESSAGE(more < 2.5 * f.size_growth * once + 0.05, once, " s and ", more, " s");
  }
}

}  // namespace
}  // namespace relayvm
