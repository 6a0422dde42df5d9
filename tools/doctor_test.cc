#include <nlohmann/json.hpp>

#include "tools/shell.h"

namespace relayvm::tools {
namespace {

using Json = nlohmann::json;

TEST_CASE("relayvm doctor says what a report of an error needs, and tests what is installed") {
  Shell shell;
  const Outcome text = shell.Run("relayvm doctor");
  CHECK_MESSAGE(text.status == 0, text.out);
  for (const char* line :
       {"relayvm      ", "system       ", "processor    ", "level        x86-64-v", "memory       ",
        "relayc       relayc (relayvm) ", "passed       bytecode",
        "passed       kernels for x86-64-v2"})
    CHECK_MESSAGE(text.out.find(line) != std::string::npos, line, " in ", text.out);
  const Outcome json = shell.Run("relayvm doctor --json");
  CHECK(json.status == 0);
  const Json facts = Json::parse(json.out);
  CHECK(facts["tests"].size() >= 2);
  for (const Json& test : facts["tests"]) CHECK(test["passed"] == true);
}

TEST_CASE("relayvm doctor tests the levels that RELAYVM_MAX_CPU_LEVEL leaves, and shows it") {
  Shell shell;
  const Outcome o = shell.Run("RELAYVM_MAX_CPU_LEVEL=x86-64-v2 relayvm doctor");
  CHECK(o.status == 0);
  CHECK(o.out.find("RELAYVM_MAX_CPU_LEVEL=x86-64-v2") != std::string::npos);
  CHECK(o.out.find("kernels for x86-64-v3") == std::string::npos);
}

TEST_CASE("relayvm doctor: what does not work fails, with what was said") {
  Shell shell;
  // Beside itself it finds a vmrun that does not run, and no compiler.
  shell.Write("vmrun", "#!/bin/sh\necho broken\nexit 2\n");
  const Outcome o = shell.Run("chmod +x vmrun; cp $(command -v relayvm) doctor; ./doctor doctor");
  CHECK(o.status == 3);
  CHECK(o.out.find("FAILED       bytecode: expected 6765i64, found broken (exit status 2)") !=
        std::string::npos);
  CHECK(o.out.find("relayc       not installed here") != std::string::npos);
}

TEST_CASE("relayvm: usage") {
  Shell shell;
  CHECK(shell.Run("relayvm").status == 1);
  CHECK(shell.Run("relayvm cure").status == 1);
  CHECK(shell.Run("relayvm --version").out.starts_with("relayvm (relayvm) "));
}

}  // namespace
}  // namespace relayvm::tools
