// For tests: programs from Relay text without the line of its version.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "compiler/frontend/parser.h"

namespace relayvm::ir {

inline Module Parsed(const std::string& text) {
  auto module = frontend::ParseRelay("test.relay", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  return *std::move(module);
}

}  // namespace relayvm::ir
