// Feeds damaged input to everything that reads input: never a crash, a hang, or memory without
// bound; a Status each time.
//
//   fuzz TARGET [--seed N] [--count N] [--replay FOLDER] FOLDER...
//
// README.md lists the targets; seeds are made of the .relay programs of the folders. Deterministic:
// each input depends on its number only, so that one that failed is made again by `--seed NUMBER
// --count 1 --print`.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"
#include "vm/platform/sanitizers.h"

namespace relayvm::fuzz {
namespace {

constexpr unsigned kLongestSeconds = 30;  // of one input
constexpr rlim_t kMemory = rlim_t{6} << 30;

std::atomic<uint64_t> current{0};

// Says which input it was; only calls what may be called in a signal handler.
void OnSignal(int signal) {
  char text[64] = "fuzz: ended by a signal or the clock at input ";
  char digits[20];
  size_t n = 0;
  for (uint64_t rest = current; rest > 0 || n == 0; rest /= 10) {
    digits[n++] = static_cast<char>('0' + rest % 10);
  }
  size_t length = std::char_traits<char>::length(text);
  while (n > 0 && length + 2 < sizeof text) text[length++] = digits[--n];
  text[length++] = '\n';
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, length);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int Main(int argc, char** argv) {
  std::string name;
  uint64_t seed = 1, count = 1000;
  bool print = false;
  std::vector<std::string> folders;
  std::string replay;
  CLI::App app("Feeds damaged input to the readers of relayvm.", "fuzz");
  app.add_option("target", name)->required();
  app.add_option("folders", folders)->required();
  app.add_option("--seed", seed, "number of the first input");
  app.add_option("--count", count, "how many inputs");
  app.add_option("--replay", replay, "a folder whose files are the inputs, first");
  app.add_flag("--print", print, "write the inputs to standard output");
  CLI11_PARSE(app, argc, argv);

  Result<std::vector<Target>> targets = MakeTargets(name, folders);
  if (!targets.ok()) {
    fmt::print(stderr, "fuzz: {}\n", targets.status().ToString());
    return 2;
  }
  auto target = std::find_if(targets->begin(), targets->end(),
                             [&](const Target& t) { return t.name == name; });
  if (target == targets->end() || target->seeds.empty()) {
    fmt::print(stderr, "fuzz: there is no target {}, or no seed for it\n", name);
    return 2;
  }
#if !RELAYVM_ASAN && !RELAYVM_TSAN  // their shadow memory is address space too
  rlimit limit{kMemory, kMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) {
    std::signal(signal, OnSignal);
  }
  uint64_t accepted = 0, internal = 0;
  const auto run = [&](const std::string& input, const std::string& what) {
    alarm(kLongestSeconds);
    const Status status = target->run(input);
    alarm(0);
    if (status.ok()) ++accepted;
    if (status.code() != StatusCode::kInternal) return;
    ++internal;
    fmt::print(stderr, "fuzz: {}: {}\n", what, status.ToString());
  };
  if (!replay.empty() && std::filesystem::exists(replay)) {
    for (const auto& entry : std::filesystem::directory_iterator(replay)) {
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      run(bytes.str(), entry.path().string());
    }
  }
  for (uint64_t i = seed; i < seed + count; ++i) {
    current = i;
    Mutator mutator(i);
    const std::string& base = target->seeds[mutator.Below(target->seeds.size())];
    const std::string& other = target->seeds[mutator.Below(target->seeds.size())];
    bool tokens = target->is_text && mutator.Below(4) != 0;
    std::string input = tokens ? mutator.Tokens(base, other) : mutator.Bytes(base, other);
    if (print) {
      fmt::print("{}", input);
      std::fflush(stdout);  // the next line may crash
    }
    run(input, fmt::format("input {}", i));
  }
  fmt::print(stderr, "{}: {} inputs, {} accepted, {} internal errors\n", name, count, accepted,
             internal);
  return internal == 0 ? 0 : 1;
}

}  // namespace
}  // namespace relayvm::fuzz

int main(int argc, char** argv) { return relayvm::fuzz::Main(argc, argv); }
