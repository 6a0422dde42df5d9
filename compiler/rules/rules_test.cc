#include "compiler/rules/rules.h"

#include <fmt/format.h>

#include <ctime>

#include "compiler/ir/verify.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::rules {
namespace {

#define CHECK_CONTAINS(text, part)                                         \
  do {                                                                     \
    const std::string found_text = (text);                                 \
    CHECK_MESSAGE(found_text.find(part) != std::string::npos, found_text); \
  } while (false)

std::shared_ptr<const RuleSet> Read(const std::string& text) {
  auto rules = ReadRules("test.rules", text);
  REQUIRE_MESSAGE(rules.ok(), rules.status().message());
  return *rules;
}
std::string ErrorOf(const std::string& text) {
  auto rules = ReadRules("test.rules", text);
  REQUIRE(!rules.ok());
  return rules.status().message();
}

const std::string kX = "def @main(%x: Tensor[(?, 4), float32]) { ";

// The program after the rules, as an outline.
std::string Rewritten(const std::string& rules, const std::string& program,
                      std::vector<std::string>* misses = nullptr) {
  Report report;
  auto m = ApplyRules(ir::EliminateDeadCode(ir::Typed(program)), *Read(rules), {.explain = true},
                      &report);
  REQUIRE_MESSAGE(m.ok(), m.status().message());
  const Status sound = ir::VerifyModule(*m, {.typed = true});
  REQUIRE_MESSAGE(sound.ok(), sound.message());
  if (misses != nullptr) *misses = report.misses;
  return ir::Outline(*m);
}

const std::string kReluTwice = "rule @relu_twice(%x) { nn.relu(nn.relu(%x)) => nn.relu(%x) }";
const std::string kNegatives = "rule @negatives(%x) { negative(negative(%x)) => %x }";

TEST_CASE("a pattern is replaced, through lets, until there is none") {
  CHECK(Rewritten(kReluTwice, kX + "nn.relu(nn.relu(nn.relu(nn.relu(%x)))) }") == "nn.relu");
  CHECK(Rewritten(kReluTwice, kX + "let %a = nn.relu(%x); let %b = %a; tanh(nn.relu(%b)) }") ==
        "nn.relu tanh");
  CHECK(Rewritten(kNegatives, kX + "negative(negative(negative(%x))) }") == "negative");
  CHECK(Rewritten(kNegatives + kReluTwice, kX + "nn.relu(negative(negative(nn.relu(%x)))) }") ==
        "nn.relu");
  // Spelled as operator signs.
  CHECK(Rewritten("rule @r(%x, %y) { (%x + %y) - %y => %x * 1f }",
                  kX + "let %t = tanh(%x); subtract(add(%x, %t), %t) }") == "multiply");
  // In branches, and across their borders.
  CHECK(Rewritten(kReluTwice,
                  kX + "let %a = nn.relu(%x); if (True) { nn.relu(%a) } else { tanh(%x) } }") ==
        "if{nn.relu}{tanh}");
}

TEST_CASE("numbers, alternatives, the same hole twice, parts of the pattern in the replacement") {
  const std::string zero = "rule @zero(%x) { add(%x, 0f) or add(0f, %x) => %x }";
  CHECK(Rewritten(zero, kX + "tanh(add(0f, add(%x, 0f))) }") == "tanh");
  CHECK(Rewritten(zero, kX + "add(%x, 1f) }") == "add");
  const std::string twice = "rule @twice(%x) { add(%x, %x) => multiply(%x, 2f) }";
  CHECK(Rewritten(twice, kX + "add(tanh(%x), exp(%x)) }") == "tanh exp add");
  CHECK(Rewritten(twice, kX + "let %t = tanh(%x); add(%t, %t) }") == "tanh multiply");
  // Sharing: %0 is computed once on both sides.
  const std::string shared =
      "rule @shared(%x) { %0 = tanh(%x); add(%0, exp(%0)) => multiply(%0, 2f) }";
  CHECK(Rewritten(shared, kX + "let %t = tanh(%x); (add(%t, exp(%t)), %t) }") ==
        "tanh multiply tuple");
  CHECK(Rewritten("rule @first(%x, %y) { add((%x, %y).0, %y) => %x }", kX + "add((%x, %x).0, %x) }")
            .empty());
}

TEST_CASE("a value of the inside that others use is not computed twice") {
  std::vector<std::string> misses;
  const std::string program = kX + "let %a = nn.relu(%x); (nn.relu(%a), %a) }";
  CHECK(Rewritten(kReluTwice, program, &misses) == "nn.relu nn.relu tuple");
  REQUIRE(misses.size() == 2);  // and that of the inner call
  CHECK(misses[1] ==
        "test.relay:2:65: rule @relu_twice (test.rules:1:6) is not applied: %a (nn.relu) has 1 "
        "other use");
  // What computes nothing may.
  CHECK(Rewritten(kNegatives, kX + "let %a = negative(%x); (negative(%a), %a) }") ==
        "negative tuple");
}

TEST_CASE("near misses name the deepest node and what failed") {
  const auto miss = [](const std::string& rules, const std::string& program) {
    std::vector<std::string> misses;
    Rewritten(rules, program, &misses);
    return misses.empty() ? "" : misses.back();
  };
  CHECK_CONTAINS(miss(kReluTwice, kX + "let %t = tanh(%x); nn.relu(%t) }"),
                 "expected nn.relu, found tanh");
  CHECK_CONTAINS(miss("rule @c(%x, const %w) { add(%x, %w) => %x }", kX + "add(%x, %x) }"),
                 "%w is not a constant");
  CHECK_CONTAINS(
      miss("rule @s(%x) { nn.softmax(%x, axis < 0) => tanh(%x) }", kX + "nn.softmax(%x, axis=1) }"),
      "nn.softmax: attribute axis: expected < 0, found 1");
  CHECK_CONTAINS(
      miss("rule @s(%x: Tensor[(?, 3), float32]) { tanh(%x) => exp(%x) }", kX + "tanh(%x) }"),
      "%x: expected Tensor[(?, 3), float32], found Tensor[(");
  CHECK_CONTAINS(
      miss("rule @b(%x, %y) { add(%x, %y) => %x }",
           "def @main(%x: Tensor[(4), float32], %y: Tensor[(2, 4), float32]) { add(%x, %y) }"),
      "the replacement's type: expected Tensor[(2, 4), float32], found Tensor[(4), float32]");
}

TEST_CASE("attributes: equal where written, free elsewhere, conditions hold") {
  const std::string rule = "rule @s(%x) { nn.softmax(%x, axis >= 0) => nn.softmax(%x, axis=-1) }";
  CHECK(Rewritten(rule, kX + "nn.softmax(%x, axis=1) }") == "nn.softmax");
  CHECK(Rewritten("rule @s(%x) { nn.softmax(%x) => tanh(%x) }", kX + "nn.softmax(%x, axis=0) }") ==
        "tanh");
  CHECK(Rewritten("rule @s(%x) { nn.softmax(%x, axis=1) => tanh(%x) }",
                  kX + "nn.softmax(%x, axis=0) }") == "nn.softmax");
}

TEST_CASE(
    "attributes that a replacement does not write are those of the pattern's outermost call") {
  const std::string conv =
      "def @main(%x: Tensor[(1, 2, 9, 9), float32], %w: Tensor[(4, 2, 3, 3), float32]) { "
      "nn.conv2d(negative(%x), %w, strides=[2, 2], padding=[1, 1, 1, 1], kernel_size=[3, 3]) }";
  // With others the type would not be what was there.
  CHECK(Rewritten("rule @c(%x, %w) { nn.conv2d(negative(%x), %w) => negative(nn.conv2d(%x, %w)) }",
                  conv) == "nn.conv2d negative");
  CHECK(Rewritten("rule @c(%x, %w) { nn.conv2d(negative(%x), %w) => negative(nn.conv2d(%x, %w, "
                  "strides=[1, 1])) }",
                  conv) == "negative nn.conv2d");
  // Of several the outermost; of one without a default too.
  const std::string outer = "rule @r(%x) { reshape(tanh(reshape(%x))) => tanh(reshape(%x)) }";
  CHECK(Rewritten(outer,
                  "def @main(%x: Tensor[(2, 6), float32]) { reshape(tanh(reshape(%x, "
                  "newshape=[12])), newshape=[3, 4]) }") == "reshape tanh");
  CHECK(Rewritten("rule @c(%x) { tanh(cast(%x)) => cast(tanh(%x)) }",
                  kX + "tanh(cast(%x, dtype=\"float64\")) }") == "tanh cast");
  CHECK_CONTAINS(
      ErrorOf("rule @c(%x) {\n  tanh(%x) => cast(%x)\n}"),
      "test.rules:2:15: rule @c: cast: attribute dtype (the name of a dtype) is missing; "
      "the replacement must say it, as its pattern has no call of that operator");
}

TEST_CASE("the rule of the highest benefit goes first") {
  const std::string rules =
      "rule @a(%x) { tanh(%x) => exp(%x) } rule @b(%x, benefit=2) { tanh(%x) => sigmoid(%x) }";
  CHECK(Rewritten(rules, kX + "tanh(%x) }") == "sigmoid");
}

TEST_CASE("a file that is wrong says where, what was expected and found") {
  CHECK_CONTAINS(
      ErrorOf("rule @t(%x: Tensor[(2, 3), float32]) {\n  tanh(%x) => transpose(%x)\n}"),
      "test.rules:2:15: rule @t: both sides must have the same type: expected Tensor[(2, 3), "
      "float32], as the pattern of line 2 has, found Tensor[(3, 2), float32]");
  CHECK_CONTAINS(ErrorOf("rule @t(%x) { tanh(%x) => cast(%x, dtype=\"int32\") }"),
                 "expected float32, as the pattern of line 1 has, found int32");
  CHECK_CONTAINS(ErrorOf("rule @t(%x, %y) { tanh(%x) => %y }"), "hole %y is in the replacement");
  CHECK_CONTAINS(ErrorOf("rule @t(%x) { %x => tanh(%x) }"), "a pattern that is an operator call");
  CHECK_CONTAINS(ErrorOf("rule @t(%x) { tanh(%x) }"), "expected '=>' and the replacement");
  CHECK_CONTAINS(ErrorOf("rule @t(%x) { tahn(%x) => %x }"), "tahn");
  CHECK_CONTAINS(ErrorOf("rule @t(%x) { nn.softmax(%x, axle > 1) => %x }"),
                 "there is no attribute axle");
  CHECK_CONTAINS(ErrorOf("rule @t(%x) { tanh(%x) => nn.softmax(%x, axis > 1) }"),
                 "a replacement states");
  CHECK_CONTAINS(ErrorOf("rule @t(%x, cost=2) { tanh(%x) => %x }"), "expected benefit=N");
  CHECK_CONTAINS(ErrorOf("rule @t(%x) { if (True) { %x } else { %x } => %x }"),
                 "rule @t: expected");
  CHECK_CONTAINS(ErrorOf("def @main() { 1 }"), "expected a rule");
  CHECK_CONTAINS(ErrorOf(kReluTwice + kReluTwice), "rule @relu_twice is defined twice");
  const std::string text =
      "rule @t(const %x, %y: Tensor[(?), int8], benefit=2) { add(%x, 1f) or %0 = exp(%x); %0 => %x "
      "}";
  for (size_t n = 0; n < text.size(); ++n) static_cast<void>(ReadRules("cut", text.substr(0, n)));
  CHECK(Read("")->rules.empty());
}

TEST_CASE("rules that go on for ever are an error that names them") {
  const auto error = [](const std::string& rules) {
    auto m = ApplyRules(ir::Typed(kX + "tanh(add(%x, exp(%x))) }"), *Read(rules));
    REQUIRE(!m.ok());
    CHECK(m.status().code() == StatusCode::kInvalidArgument);
    return m.status().message();
  };
  CHECK_CONTAINS(error("rule @swap(%x, %y) { add(%x, %y) => add(%y, %x) }"),
                 "@swap (test.rules:1:6)");
  const std::string cycle = error(
      "rule @a(%x) { tanh(%x) => sigmoid(%x) } rule @b(%x) { sigmoid(%x) => tanh(%x) } rule @c(%x) "
      "{ sin(%x) => cos(%x) }");
  CHECK_CONTAINS(cycle, "@a (");
  CHECK_CONTAINS(cycle, "@b (");
  CHECK(cycle.find("@c") == std::string::npos);
  CHECK_CONTAINS(error("rule @grow(%x) { tanh(%x) => tanh(add(tanh(%x), tanh(exp(%x)))) }"),
                 "@grow");
}

TEST_CASE("many rules, a large graph") {
  std::string rules;
  for (int i = 0; i < 200; ++i)
    rules += fmt::format(
        "rule @r{}(%x) {{ add(multiply(%x, {}f), tanh(%x)) => multiply(%x, 3f) }}\n", i, i);
  std::string program = kX;
  for (int i = 0; i < 10000; ++i)
    program += fmt::format("let %v{} = {}({}); ", i + 1, i % 2 == 0 ? "tanh" : "negative",
                           i == 0 ? "%x" : fmt::format("%v{}", i));
  const ir::Module m = ir::Typed(program + "add(%v10000, multiply(%v9999, 5f)) }");
  const auto set = Read(rules);
  CHECK(set->rules.size() == 200);
  const auto result = ApplyRules(m, *set);
  CHECK(result.ok());
}

std::string Repeated(const std::string& one, const std::string& between, int n) {
  std::string text = one;
  for (int i = 1; i < n; ++i) text += between + one;
  return text;
}

// Of this process's CPU time, so that a busy machine does not matter.
constexpr double kMaxSeconds = 8;

TEST_CASE("alternatives take memory and time by what each is made of") {
  const auto start = std::clock();
  std::string many, uses = "part @p(%x) { " + Repeated("negative(%x)", " or ", 950) + " }\n";
  for (int k = 0; k < 20; ++k)
    many += fmt::format("rule @r{}(%x) {{ {} => %x }}\n", k,
                        Repeated("nn.relu(negative(%x))", " or ", 330));
  const auto set = Read(many);
  CHECK(set->rules.size() == 20 * 330);
  CHECK(set->rules[0].graph == set->rules[329].graph);
  const std::string nested = Repeated("nn.relu(@p?(", "", 300) + "%x" + Repeated("))", "", 300);
  for (int k = 0; k < 10; ++k) uses += fmt::format("rule @r{}(%x) {{ {} => %x }}\n", k, nested);
  CHECK(Read(uses)->rules.size() == 10);
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < kMaxSeconds);
}

TEST_CASE("a rule that is too large says so") {
  const std::string chain = Repeated("tanh(", "", 100) + "%x" + Repeated(")", "", 100);
  CHECK_CONTAINS(
      ErrorOf("rule @r(%x) { " + Repeated("exp(%x)", " or ", 100) + " => " + chain + " }"),
      "rule @r: its first 40 alternatives, the replacement with each, are of 8200 nodes, "
      "operands and formulas: at most 8000 are taken; make it several rules");
  CHECK_CONTAINS(ErrorOf("rule @r(%x) { " + Repeated("exp(%x)", " or ", 1000) + " => %x }"),
                 "rule @r has 1002 nodes and holes: at most 1000 are taken");
  // Conditions of all alternatives.
  CHECK_CONTAINS(ErrorOf("rule @r(%x) { " + Repeated("exp(%x)", " or ", 100) + " => %x } if " +
                         Repeated("rank(%x) > 0", " and ", 100)),
                 "nodes, operands and formulas: at most 8000 are taken");
}

}  // namespace
}  // namespace relayvm::rules
