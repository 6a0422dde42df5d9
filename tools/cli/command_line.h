// What every tool does around its work: options, errors of usage, --version, and an exit status
// whatever happens. Tested by tools/tools_test.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

// The name of a tool's main function: another one where several tools are one program
// (tools/packaging/tool_by_name.cc).
#ifndef RELAYVM_MAIN
#define RELAYVM_MAIN main
#endif

namespace relayvm::tools {

// What to do about an argument that no option takes, or nothing: "give it by --input x.npy".
using HintFn = std::function<std::string(const std::string& argument)>;

// Parses `args` (in order, without the program's name). Gives the exit status when there is nothing
// more to do: 0 after --help, --help-json (option_forms.h) and --version, 1 after wrong usage. That
// is reported on standard error as "TOOL: message". The tool is the app's name.
std::optional<int> ParseCommandLine(CLI::App& app, std::vector<std::string> args,
                                    const HintFn& hint = nullptr);

// The path to open for a file of the command line, where - is standard input.
std::string InputPath(const std::string& argument);

// `body` gives the exit status. Nothing ends in a signal, a file that may not grow neither, and
// output that could not be written is an error (exit status 2), as for any other file.
template <typename Body>
int GuardedMain(const char* tool, const Body& body) {
  constexpr int kBadInput = 2;
  std::signal(SIGXFSZ, SIG_IGN);  // writing fails instead
  try {
    int status = body();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "%s: standard output cannot be written\n", tool);
    return status == 0 ? kBadInput : status;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", tool);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", tool, e.what());
  }
  return kBadInput;
}

}  // namespace relayvm::tools
