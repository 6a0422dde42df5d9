#include "compiler/api/c_api_compiler.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/temp_folder.h"

extern "C" {
const char* CompileAndRun(const char* path);
const char* CompileWrongProgram(void);
const char* CompileWrongly(void);
const char* CompileAndStop(void);
}

namespace relayvm {
namespace {

std::string Outcome(const char* failure) { return failure == nullptr ? "" : failure; }

TEST_CASE("c api of the compiler: compile with weights, load, save") {
  testing::TempFolder folder;
  CHECK(Outcome(CompileAndRun((folder / "m.vmx").c_str())) == "");
  CHECK(std::filesystem::exists(folder / "m.vmx"));
  CHECK(Outcome(CompileAndRun("/nowhere/m.vmx")) == "saved");
}

TEST_CASE("c api of the compiler: failures have places") {
  CHECK(Outcome(CompileWrongProgram()) == "");
}

TEST_CASE("c api of the compiler: wrong use is refused") { CHECK(Outcome(CompileWrongly()) == ""); }

TEST_CASE("c api of the compiler: a compilation is stopped") {
  CHECK(Outcome(CompileAndStop()) == "");
}

}  // namespace
}  // namespace relayvm
