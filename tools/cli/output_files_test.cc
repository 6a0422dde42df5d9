#include "tools/cli/output_files.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/temp_folder.h"

namespace relayvm::tools {
namespace {

namespace fs = std::filesystem;

TEST_CASE("an output is no file that is read, whatever it is called") {
  const testing::TempFolder folder;
  const auto file = [&](const char* path) { return folder / path; };
  for (const char* made : {"a.relay", "p.npz", "other"}) std::ofstream(file(made)) << made;
  fs::create_symlink("a.relay", file("link"));
  fs::create_hard_link(file("p.npz"), file("hard"));
  const std::vector<SourceFile> sources = {{file("a.relay"), "the input"},
                                           {file("p.npz"), "the file of --params"},
                                           {"-", "-"},
                                           {"", ""}};
  for (const std::string& good : {file("other"), file("new"), std::string(), std::string("-"),
                                  std::string("/dev/null"), folder / "."}) {
    CHECK(CheckOutputs({good}, sources).ok());
  }
  CHECK(CheckOutputs({file("a.relay")}, {{"/dev/null", "x"}}).ok());
  const std::string end = "; give another name by --output";
  for (const char* input : {"a.relay", "./a.relay", "link"}) {
    const Status s = CheckOutputs({file("new"), file(input)}, sources);
    CHECK(s.code() == StatusCode::kInvalidArgument);
    CHECK(s.message() == file(input) + ": the output is the input" + end);
  }
  CHECK(CheckOutputs({file("hard")}, sources).message() ==
        file("hard") + ": the output is the file of --params" + end);
}

}  // namespace
}  // namespace relayvm::tools
