// The targets under libFuzzer, which follows what code an input reaches (README.md).
//
//   coverage_fuzz --target=NAME --programs=FOLDER [--programs=FOLDER] [libFuzzer's options] CORPUS...
//   coverage_fuzz --target=NAME --programs=FOLDER --write-seeds=FOLDER
//
// An input that gives kInternal is a finding, as is what sanitizers see.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace relayvm::fuzz {
namespace {

std::optional<Target> chosen;  // by LLVMFuzzerInitialize

[[noreturn]] void Usage(const std::string& why) {
  fmt::print(stderr, "coverage_fuzz: {}\n", why);
  std::exit(2);
}

void Choose(int argc, char** argv) {
  std::string target, seeds;
  std::vector<std::string> programs;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto value = [&](std::string_view name) {
      return argument.starts_with(name) ? std::optional(std::string(argument.substr(name.size())))
                                        : std::nullopt;
    };
    if (auto v = value("--target=")) target = *v;
    if (auto v = value("--programs=")) programs.push_back(*v);
    if (auto v = value("--write-seeds=")) seeds = *v;
  }
  auto targets = MakeTargets(target, programs);
  if (!targets.ok()) Usage(targets.status().message());
  const auto found = std::ranges::find(*targets, target, &Target::name);
  if (found == targets->end()) Usage("there is no target " + target);
  chosen = std::move(*found);
  if (seeds.empty()) return;
  for (size_t i = 0; i < chosen->seeds.size(); ++i)
    std::ofstream(fmt::format("{}/seed_{}", seeds, i), std::ios::binary) << chosen->seeds[i];
  std::exit(0);
}

}  // namespace
}  // namespace relayvm::fuzz

using relayvm::fuzz::chosen;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  relayvm::fuzz::Choose(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const relayvm::Status status = chosen->run({reinterpret_cast<const char*>(data), size});
  if (status.code() != relayvm::StatusCode::kInternal) return 0;
  fmt::print(stderr, "coverage_fuzz: {}\n", status.ToString());
  std::abort();
}

// Texts are damaged by tokens too, so that much of the result still reads.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  if (!chosen->is_text || seed % 4 == 0 || size == 0) return LLVMFuzzerMutate(data, size, max_size);
  relayvm::fuzz::Mutator mutator(seed);
  const std::string& other = chosen->seeds[mutator.Below(chosen->seeds.size())];
  const std::string text = mutator.Tokens({reinterpret_cast<const char*>(data), size}, other);
  const size_t length = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), length);
  return length;
}
