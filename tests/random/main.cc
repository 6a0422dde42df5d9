// Random programs, compiled at each level and run against the reference interpreter.
//
//   random_programs [--seed N] [--count N] [--levels 023] [--coverage] [--print]
//                   [--verbose]
//
// A program that fails is printed with the relayrun command that replays it; the exit status is
// then 1. --coverage asks that the programs together use every feature of the language often
// enough; --print shows the programs only. Programs of other seeds are independent: a seed that
// failed can be run alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>

#include "tests/random/differential.h"

namespace relayvm::random_programs {
namespace {

std::string Replay(const RandomProgram& program, size_t run) {
  std::string text = "relayrun random.relay";
  for (const std::string& input : program.inputs[run]) text += " --input '" + input + "'";
  return text;
}

int Main(int argc, char** argv) {
  uint64_t seed = 1, count = 100;
  std::string levels = "02";
  bool coverage = false, print = false, verbose = false;
  CLI::App app("Random programs against the reference interpreter.", "random_programs");
  app.add_option("--seed", seed, "of the first program");
  app.add_option("--count", count, "programs; each has the next seed");
  app.add_option("--levels", levels, "of optimisation, one digit each");
  app.add_flag("--coverage", coverage, "fail when a feature is used too seldom");
  app.add_flag("--print", print, "print the programs, do not run them");
  app.add_flag("--verbose", verbose, "say which program is next");
  CLI11_PARSE(app, argc, argv);

  uint64_t failed = 0;
  std::map<std::string, uint64_t> used;
  for (uint64_t s = seed; s < seed + count; ++s) {
    if (verbose) fmt::print(stderr, "seed {}\n", s);
    RandomProgram program = Generate(Random(s));
    for (const std::string& f : program.features) ++used[f];
    if (print) {
      fmt::print("// seed {}\n{}", s, program.text);
      for (size_t run = 0; run < kRuns; ++run) fmt::print("// {}\n", Replay(program, run));
      continue;
    }
    // Every tenth program takes LLVM's optimiser too, which costs more than all the rest.
    constexpr uint64_t kOptimised = 10;
    std::vector<Level> all;
    for (char level : levels) all.push_back({level - '0', s % kOptimised == 0 ? 3 : 0});
    std::string difference = Differences(program, all);
    if (difference.empty()) continue;
    ++failed;
    fmt::print("seed {}: {}\n{}", s, difference, program.text);
    for (size_t run = 0; run < kRuns; ++run) fmt::print("// {}\n", Replay(program, run));
    std::fflush(stdout);
  }
  if (print) return 0;
  // A feature of the list in one program of fifty at least, the common ones in one of five.
  constexpr uint64_t kSeldom = 50;
  for (const std::string& f : kFeatures) {
    if (!coverage || used[f] * kSeldom >= count) continue;
    fmt::print("{}: in {} of {} programs only\n", f, used[f], count);
    ++failed;
  }
  if (coverage) {
    for (const auto& [feature, programs] : used) fmt::print("{:24} {}\n", feature, programs);
  }
  fmt::print("{} programs, {} failures\n", count, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace relayvm::random_programs

int main(int argc, char** argv) {
  try {
    return relayvm::random_programs::Main(argc, argv);
  } catch (const std::exception& e) {
    std::fputs(e.what(), stderr);
    return 2;
  }
}
