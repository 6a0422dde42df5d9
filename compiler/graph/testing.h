// Programs for the tests of this folder, compiled.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "compiler/driver.h"
#include "compiler/graph/build_graph.h"

namespace relayvm::graph {

// Relay text without the line of the version, compiled for a graph.
inline Result<Compiled> CompileForGraph(const std::string& text, CompileOptions options = {}) {
  const std::string all = "#[version = \"0.0.5\"]\n" + text;
  options.content = SharedBytes::Copy(std::as_bytes(std::span(all)));
  options.for_graph = true;
  return CompileFile("test.relay", options);
}

inline GraphProgram Build(const std::string& text) {
  const auto compiled = CompileForGraph(text);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  auto graph = BuildGraph(compiled->program);
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  return *std::move(graph);
}

}  // namespace relayvm::graph
