#include "tools/lib/reference_executor.h"

#include <doctest/doctest.h>

#include "compiler/frontend/parser.h"
#include "compiler/pipeline.h"
#include "tools/values/input.h"
#include "tools/values/print.h"

namespace relayvm::tools {
namespace {

// The result of @main as it prints, or the error.
std::string RunText(const std::string& text, const std::vector<std::string>& inputs) {
  auto failed = [](const Status& s) { return "error " + s.message(); };
  auto module = frontend::ParseRelay("test.relay", "#[version = \"0.0.5\"]\n" + text);
  if (!module.ok()) return failed(module.status());
  auto typed = RunFrontendPipeline(std::move(module).value());
  if (!typed.ok()) return failed(typed.status());
  auto executor = MakeReferenceExecutor(std::move(typed).value(), {});
  if (!executor.ok()) return failed(executor.status());
  TypeTable types((*executor)->program());
  const ExportInfo& function = (*executor)->program().exports.at(0);
  auto values = ReadInputs(types, function, inputs);
  if (!values.ok()) return failed(values.status());
  auto result = (*executor)->Run(function, *values, types);
  return result.ok() ? PrintRelay(*result) : failed(result.status());
}

constexpr const char* kList = "type List[A] { Cons(A, List[A]), Nil, }\n";

TEST_CASE("programs") {
  struct Case {
    std::string text;
    std::vector<std::string> inputs;
    const char* result;
  };
  const Case cases[] = {
      {"def @main(%x: Tensor[(?, 2), float32]) { add(%x, 1f) }",
       {"1x2xf32=0.5"},
       "Tensor[(1, 2), float32] [[1.5, 1.5]]"},
      {"def @main(%x: (int32, (bool,))) { %x.1 }", {"(3, (true,))"}, "(True,)"},
      {std::string(kList) +
           "def @len[A](%l: List[A]) -> int32 {\n"
           "  match (%l) { Cons(_, %t) => { add(@len(%t), 1) }, Nil => { 0 }, }\n}\n"
           "def @main(%l: List[float32]) -> int32 { @len(%l) }",
       {"Cons(1, Cons(2, Nil))"},
       "2"},
      {std::string(kList) + "def @main(%x: int32) -> List[int32] { Cons(%x, Nil) }",
       {"5"},
       "Cons(5, Nil)"},
      {"def @main(%n: int32) -> fn (int32) -> int32 { let %f = fn (%x: int32) -> int32 { add(%x, "
       "%n) }; %f }",
       {"1"},
       nullptr},
      {"def @main(%x: int32) { let %r = ref(%x); let %u = ref_write(%r, 7); %r }", {"1"}, "ref(7)"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    std::string result = RunText(c.text, c.inputs);
    if (c.result == nullptr) {
      CHECK(result.starts_with("fn @"));
    } else {
      CHECK(result == c.result);
    }
  }
}

TEST_CASE("what does not hold while running") {
  std::string message =
      RunText("def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(%x, %y) }",
              {"2xf32=1", "3xf32=1"});
  CHECK(message.starts_with("error "));
  CHECK(message.find("broadcast") != std::string::npos);
}

TEST_CASE("a list of 100,000 elements goes in and out") {
  constexpr int kLength = 100'000;
  std::string text;
  for (int i = 0; i < kLength; ++i) text += "Cons(" + std::to_string(i) + ", ";
  text += "Nil" + std::string(kLength, ')');
  CHECK(RunText(std::string(kList) + "def @main(%l: List[int32]) { %l }", {text}) == text);
}

TEST_CASE("options that are not for it") {
  RunFlags flags;
  flags.trace = true;
  CHECK(MakeReferenceExecutor({}, flags).status().code() == StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace relayvm::tools
