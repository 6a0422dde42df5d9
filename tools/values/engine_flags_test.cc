#include "tools/values/engine_flags.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace relayvm::tools {
namespace {

// "dnnl=,blas=/x.so", or the error.
std::string EnginesOf(std::vector<std::string> args) {
  CLI::App app;
  EngineFlags flags;
  flags.AddTo(app);
  std::reverse(args.begin(), args.end());  // as CLI11 takes them
  app.parse(args);
  if (Status s = flags.Finish(); !s.ok()) return s.message();
  LoadOptions options;
  flags.Use("tool", &options);
  CHECK(options.notice != nullptr);
  std::string text;
  for (const EngineLibrary& e : options.engines)
    text += (text.empty() ? "" : ",") + e.name + "=" + e.path;
  return text;
}

TEST_CASE("engine flags: oneDNN's without being named, others by name, or none") {
  CHECK(EnginesOf({}) == "dnnl=");
  CHECK(EnginesOf({"--no-byoc"}) == "");
  CHECK(EnginesOf({"--engine", "blas=/x.so"}) == "dnnl=,blas=/x.so");
  CHECK(EnginesOf({"--engine", "dnnl=/a=b.so"}) == "dnnl=/a=b.so");
  CHECK(EnginesOf({"--engine", "blas", "--engine", "blas=y.so"}) == "dnnl=,blas=y.so");
  CHECK(EnginesOf({"--engine", "../x"}) ==
        "--engine ../x: expected NAME or NAME=LIBRARY, a name of a-z, 0-9 and _");
  CHECK(EnginesOf({"--engine", "blas="}).starts_with("--engine blas=: expected NAME"));
  CHECK(EnginesOf({"--engine", "blas", "--no-byoc"}) ==
        "--no-byoc: expected no --engine beside it");
}

}  // namespace
}  // namespace relayvm::tools
