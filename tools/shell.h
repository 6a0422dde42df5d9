// For tests: the tools as a user runs them, in a folder of their own.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tools/values/testing.h"

// The folder of the built tools, which the build states.
#ifndef TOOLS_PATH
#define TOOLS_PATH ""
#endif

namespace relayvm::tools {

struct Outcome {
  int status;
  std::string out, err;
};

class Shell : public testing::TempFolder {
 public:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name) << text;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(*this / name).rdbuf();
    return text.str();
  }
  // Runs in this folder.
  Outcome Run(const std::string& command) const {
    std::string all = fmt::format("cd '{}' && PATH='{}':$PATH && {{ {}; }} >out.txt 2>err.txt",
                                  *this / "", TOOLS_PATH, command);
    int status = std::system(all.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), Read("out.txt"),
            Read("err.txt")};
  }
  void Compile(const std::string& name, const std::string& text) const {
    Write(name + ".relay", "#[version = \"0.0.5\"]\n" + text);
    Outcome outcome = Run("relayc " + name + ".relay -o " + name + ".vmx");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  }
};

}  // namespace relayvm::tools
