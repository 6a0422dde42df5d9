#include "tests/fuzz/types_target.h"

#include <fmt/format.h>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/pipeline.h"
#include "tests/fuzz/mutate.h"
#include "tests/random/generator.h"

namespace relayvm::fuzz {
namespace {
constexpr size_t kHead = 3;
}  // namespace

std::vector<std::string> GeneratedSeeds() {
  std::vector<std::string> seeds;
  for (char level = 0; level < 4; ++level) {
    Mutator choices(static_cast<uint64_t>(level));
    std::string seed = {level, level, 1};
    for (int i = 0; i < 60; ++i) seed += static_cast<char>(choices.Below(256));
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

Status CheckGenerated(const std::string& input) {
  if (input.size() < kHead) return OkStatus();
  const int damages = static_cast<unsigned char>(input[0]) % 4;
  const int level = static_cast<unsigned char>(input[1]) % 4;
  const random_programs::Random choices(std::string_view(input).substr(kHead));
  std::string text = random_programs::Generate(choices).text;
  Mutator mutator(static_cast<unsigned char>(input[2]));
  for (int i = 0; i < damages; ++i) text = mutator.Tokens(text, text);

  Result<ir::Module> module = frontend::ParseRelay("fuzz.relay", text);
  if (!module.ok() || !module->functions.contains("main")) return module.status();
  module->entry = "main";
  PipelineOptions options;
  options.opt_level = level;
  options.machine = MachineNamed("x86-64-v2");
  options.verify = true;
  const Result<ir::Module> ready = RunPipeline(*std::move(module), options);
  if (ready.ok()) {
    ir::PrintModule(*ready);
    return OkStatus();
  }
  if (damages > 0) return ready.status();
  return {StatusCode::kInternal,
          fmt::format("a well-typed program fails: {}\n{}", ready.status().message(), text)};
}

}  // namespace relayvm::fuzz
