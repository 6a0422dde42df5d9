#include "compiler/typing/specialise_ranks.h"

#include <fmt/format.h>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

Module Checked(const std::string& text) {
  auto checked = CheckTypes(Parsed(text));
  REQUIRE_MESSAGE(checked.ok(), checked.status().message());
  return std::move(checked).value();
}

std::string ErrorOf(const std::string& text) {
  auto checked = CheckTypes(Parsed(text));
  REQUIRE_FALSE(checked.ok());
  return checked.status().message();
}

TEST_CASE("branches of one rank stay as they are") {
  Module m = Checked(
      "def @main(%c: bool, %x: Tensor[(?), float32]) {"
      "  let %y = if (%c) { %x } else { exp(%x) }; sum(%y) }");
  CHECK(m.functions.size() == 1);
  CHECK(Outline(m) == "if{}{exp} sum");
}

TEST_CASE("what follows is a function for each rank") {
  Module m = Checked(
      "def @main(%c: bool, %x: Tensor[(?), float32], %k: float32) {"
      "  let %y = if (%c) { %x } else { expand_dims(%x, axis=0) }; multiply(sum(%y), %k) }");
  REQUIRE(m.functions.size() == 3);
  CHECK(Outline(m) == "if{call main.rank1}{expand_dims call main.rank2}");
  CHECK(Outline(m, "main.rank1") == "= sum multiply");
  CHECK(TypeToString(m.functions.at("main.rank1")->params[0]->type, false) ==
        "Tensor[(?), float32]");
  CHECK(TypeToString(m.functions.at("main.rank2")->params[0]->type, false) ==
        "Tensor[(1, ?), float32]");
}

TEST_CASE("a row of such branches takes a few functions each") {
  std::string text = "def @main(%c: bool, %x: Tensor[(?), float32]) { let %t0 = 0f;";
  constexpr int kRow = 12;
  for (int i = 1; i <= kRow; ++i) {
    text += fmt::format(
        "let %y{0} = if (%c) {{ %x }} else {{ expand_dims(%x, axis=0) }};"
        "let %t{0} = add(%t{1}, sum(%y{0}));",
        i, i - 1);
  }
  Module m = Checked(text + fmt::format("%t{} }}", kRow));
  CHECK(m.functions.size() == 1 + 2 * kRow);
}

size_t Bindings(const Block& block) {
  size_t count = block.bindings.size();
  for (const Binding& b : block.bindings)
    ForEachBlock(*b.value, [&](const Block& inner) { count += Bindings(inner); });
  return count;
}
double Bindings(const Module& m) {
  size_t count = 0;
  for (const auto& [name, f] : m.functions) count += Bindings(*f->body);
  return static_cast<double>(count);
}

TEST_CASE("code grows with the length of a row") {
  // Each reads the one before it, in as many ranks as that has; or none does.
  for (const std::string first : {"%y{1}", "expand_dims(sum(%y{1}), axis=0)", "%x"}) {
    CAPTURE(first);
    const auto row = [&](int length) {
      std::string text = "def @main(%c: bool, %x: Tensor[(?), float32]) { let %y0 = %x;";
      for (int i = 1; i <= length; ++i) {
        text += fmt::format(fmt::runtime("let %y{0} = if (%c) {{ exp(" + first +
                                         ") }} else {{ expand_dims(%x, axis=0) }};"),
                            i, i - 1);
      }
      return Checked(text + fmt::format("sum(%y{}) }}", length));
    };
    CHECK(Bindings(row(300)) <= 2.1 * Bindings(row(150)));
  }
}

// Branches each of which reads an input of its own.
std::string RowOfInputs(int length, const std::string& type, const std::string& then,
                        const std::string& result) {
  std::string params, lines;
  for (int i = 0; i < length; ++i) {
    params += fmt::format("%x{}: {}, ", i, type);
    lines += fmt::format(
        fmt::runtime("let %a{0} = if (%c) {{ exp(%y{0}) }} else {{ expand_dims(%x{0}, axis=0) }};"
                     "let %y{1} = " +
                     then + ";"),
        i, i + 1);
  }
  return "def @main(" + params + "%c: bool) { let %y0 = %x0;" + lines +
         fmt::format(fmt::runtime(result), length) + " }";
}

TEST_CASE("what many continuations read is held for them: code grows with the length of a row") {
  for (const std::string type : {"Tensor[(4), float32]", "Tensor[(?), float32]"}) {
    // What is read is the next branch's, or lives to the end of the row.
    for (const std::string then : {"tanh(%a{0})", "sum(%a{0})"}) {
      for (const std::string result : {"sum(%y{0})", "(%y1, %y2, %y3, sum(%y{0}), %x0, %x9)"}) {
        if (then == "tanh(%a{0})" && result.starts_with("(")) continue;
        CAPTURE(type);
        CAPTURE(then);
        CAPTURE(result);
        const auto size = [&](int length) {
          const Module m = Checked(RowOfInputs(length, type, then, result));
          size_t params = 0;
          for (const auto& [name, f] : m.functions) {
            params += f->params.size();
            if (name != "main") CHECK(f->params.size() < 64);
          }
          return Bindings(m) + static_cast<double>(params);
        };
        CHECK(size(320) <= 2.2 * size(160));
      }
    }
  }
}

TEST_CASE("few values are passed as they are") {
  const Module m = Checked(RowOfInputs(12, "Tensor[(?), float32]", "tanh(%a{0})", "sum(%y{0})"));
  CHECK(m.types.empty());
}

TEST_CASE("values of generic functions are held in types of the same parameters") {
  std::string row = RowOfInputs(60, "Tensor[(?), float32]", "tanh(%a{0})", "(sum(%y{0}), %k)");
  row.replace(0, std::string("def @main(").size(), "def @f[A](%k: A, ");
  const Module m = Checked(row + "def @main(%c: bool, %x: Tensor[(?), float32]) { @f(1" + [] {
    std::string args;
    for (int i = 0; i < 60; ++i) args += ", %x";
    return args;
  }() + ", %c) }");
  REQUIRE_FALSE(m.types.empty());
  CHECK(m.types.begin()->second.params.size() == 1);
}

TEST_CASE("branches of one rank among those of several are not continued") {
  Module m = Checked(
      "def @main(%c: bool, %x: Tensor[(?), float32]) {"
      "  let %y = if (%c) { %x } else { expand_dims(%x, axis=0) };"
      "  let %u = if (%c) { sum(%y) } else { 1f };"
      "  let %v = if (%c) { exp(%u) } else { %u };"
      "  let %z = if (%c) { expand_dims(%v, axis=0) } else { expand_dims(%x, axis=0) };"
      "  sum(%z) }");
  CHECK(m.functions.size() == 5);
  CHECK(Outline(m, "main.rank1") ==
        "= if{sum}{} if{exp}{} if{expand_dims call main.rank3}{expand_dims call main.rank4}");
  CHECK(Outline(m, "main.rank2") == Outline(m, "main.rank1"));
  CHECK(Outline(m, "main.rank3") == "= sum");
}

TEST_CASE("what does not fit one rank ends in a trap there") {
  Module m = Checked(
      "def @main(%c: bool, %x: Tensor[(?, ?), float32]) {"
      "  let %y = if (%c) { %x } else { expand_dims(%x, axis=0) };"
      "  let %z = transpose(exp(%y), axes=[1, 0]); sum(%z) }");
  CHECK(Outline(m, "main.rank1") == "= exp transpose sum");
  CHECK(Outline(m, "main.rank2") == "= exp trap");
}

TEST_CASE("a function whose result has several ranks is copied to its calls") {
  Module m = Checked(
      "def @f(%c: bool, %x: Tensor[(?), float32]) { if (%c) { %x } else { expand_dims(%x, axis=0) "
      "} }"
      "def @main(%c: bool, %x: Tensor[(?), float32]) { add(sum(@f(%c, %x)), sum(@f(%c, exp(%x)))) "
      "}");
  CHECK_FALSE(m.functions.contains("f"));
}

constexpr char kTwo[] = "if (%c) { %x } else { expand_dims(%x, axis=0) }";

TEST_CASE("a function that calls itself gives a sum of its ranks, which callers match") {
  // What it gives is what its own call gave; or made of that.
  for (const std::string again :
       {"@f(subtract(%i, 1), %c, %x)", "exp(@f(subtract(%i, 1), %c, %x))"}) {
    CAPTURE(again);
    Module m = Checked(fmt::format(
        "def @f(%i: int32, %c: bool, %x: Tensor[(?), float32]) {{ if (less(%i, 1)) {{ {} }} else "
        "{{ "
        "{} }} }} def @main(%c: bool, %x: Tensor[(?), float32]) {{ sum(@f(3, %c, %x)) }}",
        kTwo, again));
    CHECK(TypeToString(m.functions.at("f")->result_type, false) == "f.ranks[]");
    REQUIRE(m.types.at("f.ranks").constructors.size() == 2);
    CHECK(Outline(m).starts_with("call f match"));
  }
}

TEST_CASE("a generic function gives a sum of its ranks") {
  Module m =
      Checked(fmt::format("def @f[A](%k: A, %c: bool, %x: Tensor[(?), float32]) {{ {} }}"
                          "def @main(%c: bool, %x: Tensor[(?), float32]) {{ sum(@f(1, %c, %x)) }}",
                          kTwo));
  CHECK(m.types.contains("f.ranks"));
}

TEST_CASE("functions of mixed rank that call each other twice grow with their number") {
  const auto bindings = [](int functions) {
    std::string text = fmt::format("def @f0(%x: Tensor[(4), float32], %c: bool) {{ {} }}", kTwo);
    for (int i = 1; i < functions; ++i) {
      text += fmt::format(
          "def @f{0}(%x: Tensor[(4), float32], %c: bool) {{ let %a = @f{1}(%x, %c); let %b = "
          "@f{1}(exp(%x), logical_not(%c)); if (%c) {{ sum(%a) }} else {{ %b }} }}",
          i, i - 1);
    }
    const Module m = Checked(text + fmt::format("def @main(%x: Tensor[(4), float32], %c: bool) {{ "
                                                "sum(@f{}(%x, %c)) }}",
                                                functions - 1));
    return Bindings(m);
  };
  CHECK(bindings(12) <= 2.2 * bindings(6));
}

TEST_CASE("values of several ranks that live at once have a budget") {
  std::string text = "def @main(%c: bool, %x: Tensor[(?), float32]) { let %t0 = 0f;";
  for (int i = 1; i <= 30; ++i) text += fmt::format("let %y{} = {};", i, kTwo);
  for (int i = 1; i <= 30; ++i)
    text += fmt::format("let %t{} = add(%t{}, sum(%y{}));", i, i - 1, i);
  const std::string found = ErrorOf(text + "%t30 }");
  CHECK_MESSAGE(
      found.find("so many combinations of ranks that these take more than") != std::string::npos,
      found);
}

TEST_CASE("what can't be specialised is an error that says what to do") {
  const std::string two = "if (%c) { %x } else { expand_dims(%x, axis=0) }";
  const std::pair<std::string, const char*> rows[] = {
      {"def @main(%c: bool, %x: Tensor[(?), float32]) { " + two + " }",
       "the result of @main, which has one type; give the branches one rank"},
      // Each turn gives a rank that none before it gave.
      {"def @f(%i: int32, %c: bool, %x: Tensor[(?), float32]) {"
       "  if (less(%i, 1)) { " +
           two +
           " } else { expand_dims(@f(subtract(%i, 1), %c, %x), axis=0) } }"
           "def @main(%c: bool, %x: Tensor[(?), float32]) { sum(@f(3, %c, %x)) }",
       "calls of functions by themselves give"},
      {"def @f(%i: int32, %c: bool, %x: Tensor[(?), float32]) { if (less(%i, 1)) { " + two +
           " } else { @f(subtract(%i, 1), %c, %x) } }"
           "def @main(%c: bool, %x: Tensor[(?), float32]) { let %f = @f; sum(%f(3, %c, %x)) }",
       "the result of @f, which is used as a value"},
      {"def @main(%c: bool, %x: Tensor[(?), float32]) { let %f = fn (%v: int32) { " + two +
           " }; sum(%f(1)) }",
       "the result of a function literal"},
      {"def @main(%c: bool, %x: Tensor[(?), float32]) { let %y = " + two +
           "; transpose(%y, axes=[2, 1, 0]) }",
       "what follows fits none of them"},
      // No branch of the second value has a type, so that nothing it is read by has one.
      {"def @main(%c: bool, %x: Tensor[(?), float32]) { let %y = " + two +
           "; let %u = if (%c) { expand_dims(%x, axis=5) } else { add(%x, 0f64) };"
           "sum(multiply(%y, %u)) }",
       "no path gives %u"},
      {"def @main(%c: bool, %x: Tensor[(?), float32]) { if (%c) { %x } else { 1i64 } }",
       "the branches of if differ"},
  };
  for (const auto& [source, error] : rows) {
    CAPTURE(source);
    std::string found = ErrorOf(source);
    CHECK_MESSAGE(found.find(error) != std::string::npos, found);
    CHECK(found.find("test.relay:") != std::string::npos);
  }
}

}  // namespace
}  // namespace relayvm::ir
