#include "tools/lib/value_trace.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "compiler/frontend/parser.h"
#include "compiler/pipeline.h"

namespace relayvm::tools {
namespace {

// The lines for a run of @main on a float32 scalar.
std::string Lines(const std::string& text, float input, size_t most) {
  const auto module = frontend::ParseRelay("test.relay", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(module.ok());
  const auto typed = RunFrontendPipeline(*module);
  REQUIRE(typed.ok());
  std::string lines;
  {
    ValueTrace trace(*typed->sources, most,
                     [&](std::string_view line) { lines += fmt::format("{}\n", line); });
    reference::Options options;
    options.observe = [&](const reference::ValueEvent& event) { return trace(event); };
    HostTensor x{DType::kFloat32, {}, SharedBytes::Copy(std::as_bytes(std::span(&input, 1)))};
    const auto result =
        reference::Run(*typed, "main", {reference::MakeTensor(std::move(x))}, options);
    REQUIRE_MESSAGE(result.ok(), result.status().message());
  }
  return lines;
}

constexpr const char* kProgram =
    "def @half(%a: float32) { let %h = divide(%a, 2f); multiply(%h, %h) }\n"
    "def @main(%x: float32) {\n"
    "  let %ys = full(%x, shape=[2, 3], dtype=\"float32\");\n"
    "  let %q = @half(%x);\n"
    "  let %r = sqrt(%ys);\n"
    "  (%q, add(%r, %q))\n"
    "}\n";

TEST_CASE("a line for each value: name, operator, type, range, place") {
  CHECK(Lines(kProgram, 4, 100) ==
        "%x = parameter  float32 4  [test.relay:3:11]\n"
        "%ys = full  Tensor[(2, 3), float32]  min 4  max 4  mean 4  NaN 0  Inf 0  "
        "[test.relay:4:13]\n"
        "%a = parameter  float32 4  [test.relay:2:11]\n"
        "%h = divide  float32 2  [test.relay:2:35]\n"
        "multiply  float32 4  [test.relay:2:51]\n"
        "%q = @half  float32 4  [test.relay:5:12]\n"
        "%r = sqrt  Tensor[(2, 3), float32]  min 2  max 2  mean 2  NaN 0  Inf 0  "
        "[test.relay:6:12]\n"
        "add  Tensor[(2, 3), float32]  min 6  max 6  mean 6  NaN 0  Inf 0  [test.relay:7:8]\n"
        "tuple  (float32 4, Tensor[(2, 3), float32]  min 6  max 6  mean 6  NaN 0  Inf 0)  "
        "[test.relay:7:3]\n");
}

TEST_CASE("output is bounded, and the first NaN is shown all the same") {
  CHECK(Lines(kProgram, -1, 1) ==
        "%x = parameter  float32 -1  [test.relay:3:11]\n"
        "%r = sqrt  Tensor[(2, 3), float32]  NaN 6  Inf 0  [test.relay:6:12]  <- first NaN\n"
        "... 7 values more; --trace-values=9 shows all\n");
}

}  // namespace
}  // namespace relayvm::tools
