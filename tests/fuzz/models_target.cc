#include "tests/fuzz/models_target.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "compiler/import/importers.h"
#include "compiler/pipeline.h"

namespace relayvm::fuzz {
namespace {

struct Sample {
  std::string name;  // of the file that is damaged
  import::ImportOptions options;
  // Where the file that is damaged is not the model: that one.
  std::string model_name, model;
};

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

SharedBytes Bytes(std::string_view text) {
  return SharedBytes::Copy(std::as_bytes(std::span(text.data(), text.size())));
}

Status Import(const std::string& name, std::string_view bytes,
              const import::ImportOptions& options) {
  const import::Importer& importer = import::ImporterOf(name, bytes);
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, importer.import(name, Bytes(bytes), options));
  return RunFrontendPipeline(module).status();
}

Status Run(const std::vector<Sample>& samples, std::string_view input) {
  if (input.empty()) return OkStatus();
  const Sample& sample = samples[static_cast<uint8_t>(input[0]) % samples.size()];
  input.remove_prefix(1);
  if (sample.model.empty()) return Import(sample.name, input, sample.options);
  import::ImportOptions options = sample.options;
  options.params_content = Bytes(input);
  return Import(sample.model_name, sample.model, options);
}

}  // namespace

Result<Target> ModelsTarget(const std::string& folder) {
  const std::filesystem::path in(folder);
  const auto json = nlohmann::json::parse(ReadFile(in / "samples.json"), nullptr, false);
  if (!json.is_array() || json.empty())
    return Status(StatusCode::kNotFound, folder + ": there is no samples.json");
  Target target{"models", false, {}, {}};
  auto samples = std::make_shared<std::vector<Sample>>();
  const auto add = [&](Sample sample, std::string_view bytes) {
    target.seeds.push_back(static_cast<char>(samples->size()) + std::string(bytes));
    samples->push_back(std::move(sample));
  };
  for (const auto& entry : json) {
    Sample sample{entry["model"].get<std::string>(), {}, "", ""};
    const std::string model = ReadFile(in / sample.name);
    const auto options = entry["options"].get<std::vector<std::string>>();
    std::string params;
    for (size_t i = 0; i + 1 < options.size(); i += 2) {
      const std::string& value = options[i + 1];
      if (options[i] == "--params") params = value;
      if (options[i] != "--shape") continue;
      const size_t equals = value.find('=');
      sample.options.shapes[value.substr(0, equals)] = value.substr(equals + 1);
    }
    if (!params.empty()) {
      const std::string weights = ReadFile(in / params);
      add({params, sample.options, sample.name, model}, weights);
      sample.options.params_content = Bytes(weights);
    }
    add(std::move(sample), model);
  }
  target.run = [samples](const std::string& input) { return Run(*samples, input); };
  return target;
}

}  // namespace relayvm::fuzz
