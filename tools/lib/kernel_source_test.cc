#include "tools/lib/kernel_source.h"

#include <doctest/doctest.h>

#include "compiler/driver.h"

namespace relayvm::tools {
namespace {

std::string TextOf(const std::string& kernel, const DimValues& values = {}) {
  auto source = ParseKernelSource(kernel);
  return source.ok() ? RelayText(*source, values) : std::string(source.status().message());
}

TEST_CASE("an operator becomes a program") {
  const std::string head = "#[version = \"0.0.5\"]\ndef @main(";
  CHECK(TextOf("nn.dense[(n, 768), (3072, 768)]") ==
        head +
            "%x0: Tensor[(?, 768), float32], %x1: Tensor[(3072, 768), float32]) { "
            "nn.dense(%x0, %x1) }\n");
  CHECK(TextOf("nn.dense[(n,768),(3072,768)]", {{"n", 5}}).find("(5, 768)") != std::string::npos);
  CHECK(TextOf(" add [ (n) int32 , () int32 ] ") ==
        head + "%x0: Tensor[(?), int32], %x1: int32) { add(%x0, %x1) }\n");
  CHECK(TextOf("nn.pad[(1, c); pad_width=[[0, 0], [1, 1]]]") ==
        head + "%x0: Tensor[(1, ?), float32]) { nn.pad(%x0,  pad_width=[[0, 0], [1, 1]]) }\n");
  CHECK(TextOf("concatenate[(2, n), (3, n); axis=0]").find("concatenate((%x0, %x1,),  axis=0)") !=
        std::string::npos);
}

TEST_CASE("what is no operator on shapes is told, with its place") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "at character 1: expected an operator's name, found the end"},
      {"nn.dense", "expected [, found the end"},
      {"nn.dense[3]", "expected a shape in parentheses, found \"3]\""},
      {"nn.dense[(3,]", "expected a size or a name"},
      {"nn.dense[(-3)]", "expected a size or a name"},
      {"nn.dense[(99999999999999999999)]", "expected a size or a name"},
      {"nn.dense[(3) float33]", "expected a dtype, as float32"},
      {"nn.dense[(3)", "found the end"},
      {"nn.dense[(3)] x", "expected the end, found \"x\""},
      {"nn.dense[(3); axis=1", "expected ]"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    auto source = ParseKernelSource(text);
    REQUIRE(!source.ok());
    CHECK_MESSAGE(source.status().message().find(message) != std::string::npos,
                  source.status().message());
  }
}

TEST_CASE("a kernel is timed on sizes that are given") {
  auto source = ParseKernelSource("nn.dense[(n, 32), (16, 32)]");
  REQUIRE(source.ok());
  CompileOptions options;
  const std::string relay = RelayText(*source);
  options.content = SharedBytes::Copy(std::as_bytes(std::span(relay)));
  auto compiled = CompileFile("nn.dense", options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  auto line = TimeKernel(*source, compiled->program, {{"n", 4}}, 1);
  REQUIRE_MESSAGE(line.ok(), line.status().ToString());
  CHECK(line->starts_with("nn.dense n=4: "));
  CHECK(line->find(" ms, the least ") != std::string::npos);
  CHECK(TimeKernel(*source, compiled->program, {}, 1).status().message().find("how large is n") !=
        std::string::npos);
  CHECK(TimeKernel(*source, compiled->program, {{"n", INT64_MAX}}, 1)
            .status()
            .message()
            .find("no memory for (n, 32)") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::tools
