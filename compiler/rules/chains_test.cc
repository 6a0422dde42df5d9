// Parts of patterns that have a name, that may be left out, and that repeat.
#include <fmt/format.h>

#include <ctime>
#include <functional>

#include "compiler/ir/verify.h"
#include "compiler/rules/match.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::rules {
namespace {

const std::string kProgram =
    "def @main(%x: Tensor[(4, 4), float32], %y: Tensor[(4, 4), float32]) { ";

std::string Error(const std::string& text) {
  auto rules = ReadRules("test.rules", text);
  return rules.ok() ? "" : rules.status().message();
}

// The program after the rules, as an outline, and the last near miss.
std::string After(const std::string& rules, const std::string& body, std::string* miss = nullptr) {
  auto read = ReadRules("test.rules", rules);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  Report report;
  auto m = ApplyRules(ir::EliminateDeadCode(ir::Typed(kProgram + body + " }")), **read,
                      {.explain = true}, &report);
  REQUIRE_MESSAGE(m.ok(), m.status().message());
  CHECK(ir::VerifyModule(*m, {.typed = true}).ok());
  if (miss != nullptr) *miss = report.misses.empty() ? "" : report.misses.back();
  return ir::Outline(*m);
}

// The steps of the pattern that the program's result matches, the outermost first; or why it does
// not match.
std::optional<Match> MatchResult(const RuleSet& patterns, const ir::Module& m, Miss* miss) {
  Surroundings around;
  std::optional<Definition> root;
  const ir::Block& block = *m.functions.at("main")->body;
  ir::ForEachUseInside(m, block, [&](const ir::Var* v) { ++around.uses[v->id]; });
  for (const ir::Binding& b : block.bindings) {
    root = Definition{b.var, b.value, 0};
    around.definitions.emplace(b.var->id, *root);
  }
  return MatchRule(m, patterns.rules[0], *root, around, miss);
}
std::shared_ptr<const RuleSet> Patterns(const std::string& text) {
  auto read = ReadPatterns("test.rules", text);
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  return *read;
}

// Labels with the number of operands.
std::string Steps(const std::string& patterns, const std::string& body,
                  size_t* required = nullptr) {
  const auto read = Patterns(patterns);
  Miss miss;
  const auto match = MatchResult(*read, ir::Typed(kProgram + body + " }"), &miss);
  if (required != nullptr) *required = miss.required;
  if (!match) return miss.reason;
  std::string steps;
  for (const Step& step : match->steps)
    steps +=
        fmt::format("{}{}:{}", steps.empty() ? "" : " ", step.way->label, step.Operands().size());
  return steps;
}

const std::string kSteps = R"(
part @steps(%s, %o, %c) {
  add(%s, %o) or add(%o, %s) or subtract(%s, %o) or where(%c, %s, %o) or
  where(%c, %o, %s) as where_not or tanh(%s)
} if rank(%s) == rank(@steps)
)";
const std::string kChain = kSteps + "pattern @chain(%a, %b) { exp(@steps*(nn.dense(%a, %b))) }";

TEST_CASE("a chain goes through any number of steps, each with its own operands") {
  CHECK(Steps(kChain, "exp(nn.dense(%x, %y, units=4))") == "");
  CHECK(Steps(kChain, "exp(tanh(nn.dense(%x, %y, units=4)))") == "tanh:0");
  CHECK(Steps(kChain, "exp(add(%x, subtract(tanh(nn.dense(%x, %y, units=4)), %y)))") ==
        "add:1 subtract:1 tanh:0");
  CHECK(Steps(kChain, "exp(where(less(%x, %y), %x, add(nn.dense(%x, %y, units=4), %y)))") ==
        "where_not:2 add:1");
  // Either side may go on; only one leads to the product.
  CHECK(Steps(kChain, "exp(add(tanh(exp(%x)), add(tanh(nn.dense(%x, %y, units=4)), %y)))") ==
        "add:1 add:1 tanh:0");
  // Through lets, and statements of types.
  CHECK(Steps(kChain,
              "let %d = nn.dense(%x, %y, units=4); let %e = %d; let %t = tanh(%e); exp(%t)") ==
        "tanh:0");
}

TEST_CASE("a step may use twice what it goes on to") {
  const std::string swish =
      "part @act(%y) { multiply(%y, sigmoid(%y)) as swish or nn.relu(%y) }\n"
      "pattern @p(%x, %w) { @act*(nn.dense(%x, %w)) }";
  const std::string body =
      "let %d = nn.dense(%x, %y, units=4); let %s = multiply(%d, sigmoid(%d)); let %r = "
      "nn.relu(%s); ";
  CHECK(Steps(swish, body + "multiply(%r, sigmoid(%r))") == "swish:0 nn.relu:0 swish:0");
  CHECK(Steps(swish, body + "multiply(%r, sigmoid(%s))") == "%y stands for two different values");
  CHECK(Steps(swish, body + "let %m = multiply(%r, sigmoid(%r)); let %o = abs(%d); multiply(%m, "
                            "sigmoid(%m))") == "%d (nn.dense) has 1 other use");
}

TEST_CASE("near misses of chains say what may stand there") {
  CHECK(Steps(kChain, "let %e = nn.relu(nn.dense(%x, %y, units=4)); exp(tanh(%e))") ==
        "%e: expected add or nn.dense or subtract or tanh or where, found nn.relu");
  CHECK(Steps(kChain, "exp(tanh(%x))") ==
        "%x: expected add or nn.dense or subtract or tanh or where, found a parameter or a "
        "constant");
  CHECK(Steps(kChain, "let %d = nn.dense(%x, %y, units=4); add(%d, exp(tanh(%d)))") ==
        "expected exp, found add");
  // Scores that are used twice, in all ways that they may be.
  CHECK(Steps(kChain, "let %d = nn.dense(%x, %y, units=4); let %r = tanh(%d); exp(add(%d, %d))") ==
        "%d (nn.dense) has 2 other uses");
  CHECK(Steps(kChain, "let %d = nn.dense(%x, %y, units=4); let %t = tanh(%d); exp(add(%t, %t))") ==
        "%t (tanh) has 1 other use");
  size_t required = 0;
  CHECK(Steps("part @plain(%s) { tanh(%s) or abs(%s) } if rank(%s) == 3 and rank(@plain) > 0\n"
              "pattern @p(%x) { exp(@plain(%x)) }",
              "let %a = abs(%x); exp(%a)",
              &required) == "%a (@plain): rank(%s) == 3 does not hold: rank(%s) is 2");
  CHECK(required == 2);  // exp and abs
}

TEST_CASE("a chain has 32 steps at most") {
  std::string body = "nn.dense(%x, %y, units=4)";
  for (int i = 0; i < 32; ++i) body = "tanh(" + body + ")";
  CHECK(Steps(kChain, "exp(" + body + ")").size() == 32 * 7 - 1);
  CHECK(Steps(kChain, "exp(tanh(" + body + "))").find("@steps: more than 32 steps") !=
        std::string::npos);
}

TEST_CASE("a part once, or not at all, or more than once") {
  const std::string parts =
      "part @conv(%x, %w) { nn.dense(%x, %w) or nn.matmul(%x, %w) }\n"
      "part @bias(%d, %b) { add(%d, %b) or add(%b, %d) }\n"
      "part @act(%x) { nn.relu(%x) or clip(%x) or tanh(%x) }\n";
  const std::string composite =
      parts + "pattern @dense(%x, %w, %b) { @act?(@bias?(@conv(%x, %w))) }";
  CHECK(Steps(composite, "nn.relu(add(nn.dense(%x, %y, units=4), %y))") ==
        "nn.relu:0 add:1 nn.dense:1");
  CHECK(Steps(composite, "add(%y, nn.matmul(%x, %y))") == "add:1 nn.matmul:1");
  CHECK(Steps(composite, "nn.dense(%x, %y, units=4)") == "nn.dense:1");
  CHECK(Steps(composite, "exp(%x)") ==
        "a value: expected add or clip or nn.dense or nn.matmul or nn.relu or tanh, found exp");
  // Arguments of the further parameters are the pattern's own.
  const std::string twice =
      parts + "rule @r(%x, %w) { @bias(@conv(%x, %w), %x) => nn.relu(nn.dense(%x, %w, units=4)) }";
  CHECK(After(twice, "add(nn.dense(%x, %y, units=4), %x)") == "nn.dense nn.relu");
  CHECK(After(twice, "add(nn.dense(%x, %y, units=4), %y)") == "nn.dense add");
  const std::string some = parts + "rule @r(%x) { exp(@act+(%x)) => exp(%x) }";
  CHECK(After(some, "exp(%x)") == "exp");
  CHECK(After(some, "exp(tanh(nn.relu(%x)))") == "exp");
  // Where the rest does not match, fewer steps do.
  CHECK(Steps(parts + "pattern @r(%x) { exp(@act*(tanh(nn.relu(%x)))) }",
              "exp(nn.relu(tanh(nn.relu(%x))))") == "nn.relu:0");
  CHECK(Steps(parts + "pattern @r(%x) { add(@act*(%x), @act?(%x)) }",
              "let %t = tanh(%x); add(nn.relu(%t), clip(%t, a_min=0f, a_max=1f))") ==
        "nn.relu:0 clip:0");
  // One value of a part with several uses, which the replacement uses again.
  const std::string shared =
      parts + "rule @r(%x) { %0 = @act(%x); add(%0, exp(%0)) => multiply(%0, 2f) }";
  CHECK(After(shared, "let %t = tanh(%x); (add(%t, exp(%t)), %t)") == "tanh multiply tuple");
  CHECK(After(shared, "add(tanh(%x), exp(nn.relu(%x)))") == "tanh nn.relu exp add");
}

// As TVM's table for oneDNN has them, a pattern for each: a convolution or product, with a bias or
// none, and one of seven activations or none.
TEST_CASE("the composites of an engine are a few parts") {
  const std::string patterns = R"(
part @heavy(%x, %w) {
  nn.conv1d(%x, %w) or nn.conv2d(%x, %w) or nn.conv3d(%x, %w) or nn.conv2d_transpose(%x, %w) or
  nn.conv3d_transpose(%x, %w) or nn.dense(%x, %w)
}
part @bias(%y, %b) { nn.bias_add(%y, %b) or add(%y, %b) }
part @activation(%y, %a, %b, %c) {
  nn.relu(%y) or tanh(%y) or sigmoid(%y) or clip(%y) or
  multiply(multiply(%y, add(erf(divide(%y, %a)), %b)), %c) as gelu or
  multiply(%y, sigmoid(%y)) as swish or
  multiply(%y, tanh(log(add(exp(%y), %a)))) as mish
}
pattern @composite(%x, %w) { @activation?(@bias?(@heavy(%x, %w))) }
)";
  const auto read = Patterns(patterns);
  const char* kImage[] = {"4, 9", "4, 9, 9", "4, 9, 9, 9"};
  const char* kKernel[] = {"3", "3, 3", "3, 3, 3"};
  struct Heavy {
    std::string name;
    int axes;
  };
  const Heavy heavy[] = {{"nn.conv1d", 1},           {"nn.conv2d", 2}, {"nn.conv3d", 3},
                         {"nn.conv2d_transpose", 2}, {"nn.dense", 0},  {"nn.conv3d_transpose", 3}};
  const std::pair<std::string, std::string> activations[] = {
      {"", "%c"},
      {"nn.relu", "nn.relu(%c)"},
      {"tanh", "tanh(%c)"},
      {"sigmoid", "sigmoid(%c)"},
      {"clip", "clip(%c, a_min=0f, a_max=6f)"},
      {"gelu", "multiply(multiply(%c, add(erf(divide(%c, 1.4142135f)), 1f)), 0.5f)"},
      {"swish", "multiply(%c, sigmoid(%c))"},
      {"mish", "multiply(%c, tanh(log(add(exp(%c), 1f))))"}};
  int count = 0;
  for (const Heavy& h : heavy) {
    for (const bool bias : {false, true}) {
      for (const auto& [label, activation] : activations) {
        CAPTURE(h.name + " " + label);
        const bool dense = h.axes == 0;
        const size_t i = static_cast<size_t>(std::max(h.axes, 1)) - 1;
        const std::string x = dense ? "4, 9" : std::string("2, ") + kImage[i];
        const std::string w = dense ? "4, 9" : std::string("4, 4, ") + kKernel[i];
        const std::string attrs =
            dense ? "units=4" : fmt::format("channels=4, kernel_size=[{}]", kKernel[i]);
        const std::string program = fmt::format(
            "def @main(%x: Tensor[({}), float32], %b: Tensor[(4), float32]) {{ let %w = "
            "ones(shape=[{}], dtype=\"float32\"); let %h = {}(%x, %w, {}); let %c = {}; {} }}",
            x, w, h.name, attrs, bias ? "nn.bias_add(%h, %b)" : "%h", activation);
        Miss miss;
        const auto match = MatchResult(*read, ir::EliminateDeadCode(ir::Typed(program)), &miss);
        REQUIRE_MESSAGE(match.has_value(), miss.reason);
        std::string steps;
        for (const Step& step : match->steps) steps += step.way->label + " ";
        CHECK(steps == fmt::format("{}{}{} ", label.empty() ? "" : label + " ",
                                   bias ? "nn.bias_add " : "", h.name));
        ++count;
      }
    }
  }
  CHECK(count == 96);  // six of them are an operator alone
}

TEST_CASE("parts of parts") {
  const std::string parts =
      "part @same(%s) { reshape(%s) or squeeze(%s) }\n"
      "  if shape(@same)[[-2, -1]] == shape(%s)[[-2, -1]]\n"
      "part @steps(%s) { tanh(%s) or @same(%s) }\n"
      "pattern @p(%x) { exp(@steps*(nn.relu(%x))) }";
  CHECK(Steps(parts, "exp(reshape(tanh(nn.relu(%x)), newshape=[1, 4, 4]))") ==
        ":0 reshape:0 tanh:0");
  std::string miss = Steps(parts, "exp(reshape(nn.relu(%x), newshape=[16]))");
  CHECK_MESSAGE(miss == "a value (@same): shape(@same)[[-2, -1]] has no value here", miss);
}

TEST_CASE("many ways to match take bounded time") {
  // Each value has two uses, by one call: 2^60 ways down.
  std::string body = "let %t0 = nn.relu(%x); ";
  for (int i = 1; i <= 60; ++i)
    body += fmt::format("let %t{} = add(%t{}, %t{}); ", i, i - 1, i - 1);
  CHECK(Steps(kChain, body + "exp(%t60)") == "%t59 (add) has 1 other use");
  std::string pattern = "nn.dense(%a, %b)";
  for (int i = 0; i < 60; ++i) pattern = "@steps?(" + pattern + ")";
  CHECK(Steps(kSteps + "pattern @chain(%a, %b) { exp(" + pattern + ") }", body + "exp(%t60)") ==
        "it may match in too many ways: make its parts narrower");
  // Parts of parts of parts.
  std::string parts = "part @p0(%x) { add(%x, %x) }\n";
  for (int i = 1; i < 300; ++i)
    parts += fmt::format("part @p{}(%x) {{ @p{}(@p{}(%x)) }}\n", i, i - 1, i - 1);
  CHECK(Steps(parts + "pattern @p(%x) { @p299(%x) }", body + "%t60").find("expected add") !=
        std::string::npos);
}

TEST_CASE("many places with many ways take bounded time, and leave other rules theirs") {
  std::string rules = "part @p0(%x) { negative(%x) or negative(%x) }\n";
  for (int i = 1; i < 20; ++i)
    rules += fmt::format(
        "part @p{0}(%x) {{ @p{1}?(negative(%x)) or @p{1}?(negative(%x)) or @p{1}(@p{1}(%x)) }}\n",
        i, i - 1);
  rules +=
      "rule @many(%x) { tanh(@p19*(nn.relu(%x))) => %x }\n"
      "rule @few(%x) { exp(@p0+(nn.relu(%x))) => %x }\n";
  std::string body = "let %n0 = abs(%x); ", results;
  for (int i = 1; i <= 60; ++i) body += fmt::format("let %n{} = negative(%n{}); ", i, i - 1);
  for (int i = 0; i < 2000; ++i) results += "tanh(%n60), ";
  body += "let %r = nn.relu(%y); let %e = negative(%r); ";
  const auto start = std::clock();
  std::string miss;
  const std::string outline = After(rules, body + "(" + results + "exp(%e))", &miss);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 8);
  CHECK(outline.find("exp") == std::string::npos);
  CHECK_MESSAGE(miss.ends_with("rule @many (test.rules:21:6) is not applied: it may match in too "
                               "many ways: make its parts narrower"),
                miss);
  CHECK_MESSAGE(miss.starts_with("test.relay:"), miss);
}

TEST_CASE("parts that are wrong say where") {
  const auto has = [](const std::string& text, const std::string& part) {
    const std::string message = Error(text);
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  has("rule @r(%x) {\n  tanh(@stp(%x)) => %x }", "test.rules:2:8: unknown part @stp");
  has("rule @r(%x) { tanh(@r(%x)) => %x }", "@r is no part that is defined above");
  has("part @a(%x) { tanh(@a(%x)) }", "test.rules:1:20: @a is no part that is defined above");
  has("part @a(%x) { tanh(@b(%x)) } part @b(%x) { tanh(%x) }", "@b is no part");
  has("part @a(%x) { tanh(%x) } part @a(%x) { exp(%x) }", "@a is defined twice");
  has("part @a(%x) { tanh(%x) } rule @r(%x) { exp(@a) => %x }", "after the name of a part");
  has("part @a(%x) { tanh(%x) } rule @r(%x) { exp(@a**(%x)) => %x }", "expected");
  has("part @a(%x) { tanh(%x) } rule @r(%x) { exp(@a()) => tanh(%x) }", "hole %x");
  has("part @a(%x) { tanh(%x) } rule @r(%x) { exp(@a?()) => %x }", "expected 1 to 1 arguments");
  has("part @a(%x) { tanh(%x) } rule @r(%x) { exp(@a(%x, %x)) => %x }",
      "test.rules:1:44: rule @r: @a has 1 parameters: expected 0 to 1 arguments, found 2");
  has("part @a(%x, %y) { add(%x, %y) } rule @r(%x) { exp(@a*(%x, %x)) => %x }",
      "@a* expected one argument, what the chain leads to, found 2");
  has("part @a(%x) { tanh(%x) } rule @r(%x) { @a*(%x) => %x }", "an operator call");
  has("part @a(%x, %y) { tanh(%y) or abs(%x) } rule @r(%x) { exp(@a(%x)) => %x }",
      "test.rules:1:59: rule @r: @a: each way must have parameter %x, whose argument is more than "
      "a "
      "hole here: that of tanh may not");
  has("part @a(%x, %y) { tanh(%x) or add(%x, %y) } rule @r(%x, %y) { exp(@a(%x, abs(%y))) => %x }",
      "must have parameter %y");
  has("part @b(%x, %y) { add(%x, %y) } part @a(%x, %y) { tanh(@b?(%x, %y)) } rule @r(%x, %y) { "
      "exp(@a(%x, %y)) => %y }",
      "hole %y is in the replacement and not in each pattern");
  has("part @a(%x) { tanh(%x) } rule @r(%x) { exp(%x) => @a(%x) }", "a part stands in patterns");
  has("part @a(%x, %y) { add(%x, %y) } rule @r(%x, %y) { exp(@a?(%x, %y)) => %y }",
      "hole %y is in the replacement and not in each pattern");
  has("part @a(%x) { tanh(%x) => %x }", "expected '}', 'if' and a condition, or 'or'");
  has("part @a(%x) { tanh(%x) if rank(@b) == 1 }", "expected a hole of each pattern");
  has("part @a(%x) { tanh(%x) } if rank(%y) == 1", "expected a hole of each pattern, found %y");
  has("part @a(%x) { tanh(%x) } if rank(%x) == 1 or part @b(%x) { tanh(%x) }",
      "expected 'and' and a condition, or another rule, found 'or'");
  has("part @a(%x) { tanh(%x) } , rule @b(%x) { tanh(%x) => %x }", "found ','");
  has("part @a(%x) { tanh(%x) as 3 }", "expected a word after 'as'");
  has("part @a(%x, benefit=2) { tanh(%x) }", "found attribute benefit");
  has("part @a(%x) { %x }", "expected a pattern that is an operator call");
  has("pattern @a(%x) { tanh(%x) }", "test.rules:1:9: pattern @a has no replacement");
  CHECK(ReadPatterns("p", "rule @r(%x) { tanh(%x) => %x }")
            .status()
            .message()
            .find("rule @r has a replacement: expected patterns") != std::string::npos);
  const std::string text =
      "part @a(%x, const %y) { add(%x, %y) as b if rank(@a) == 1 or tanh(%x) } rule @r(%x) { "
      "exp(@a+(@a?(%x))) => %x }";
  for (size_t n = 0; n < text.size(); ++n) static_cast<void>(ReadRules("cut", text.substr(0, n)));
  CHECK(Error(text).empty());
}

}  // namespace
}  // namespace relayvm::rules
