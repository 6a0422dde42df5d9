#include "tools/serve/model_config.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "bytecode/base/printable.h"
#include "tools/serve/protocol/json_reader.h"

namespace relayvm::serve {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr int64_t kMaxBatchRows = 1 << 20;
constexpr size_t kMaxStates = 1000;
constexpr double kDay = 86'400;  // seconds

bool ReadNumber(JsonReader& reader, const std::string& key, double low, double high,
                double* number) {
  if (!reader.ReadDouble(number)) return false;
  if (*number >= low && *number <= high) return true;
  return reader.Fail(fmt::format("{}: expected a number from {} to {}", key, low, high));
}

bool ReadCount(JsonReader& reader, const std::string& key, int64_t high, int64_t* count) {
  if (!reader.ReadInt(count)) return false;
  if (*count >= 1 && *count <= high) return true;
  return reader.Fail(fmt::format("{}: expected a number from 1 to {}", key, high));
}

bool Unknown(JsonReader& reader, const std::string& key) {
  return reader.Fail(fmt::format("{} is nothing that a configuration says", Printable(key)));
}

bool ReadSequences(JsonReader& reader, SequenceOptions* options) {
  if (!reader.BeginObject()) return false;
  for (std::string key; reader.NextKey(&key);) {
    double seconds = 0;
    int64_t count = 0;
    if (key == "time_to_live_s") {
      if (!ReadNumber(reader, key, 0.001, kDay, &seconds)) return false;
      options->time_to_live = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
    } else if (key == "max_count") {
      if (!ReadCount(reader, key, INT32_MAX, &count)) return false;
      options->max_count = static_cast<size_t>(count);
    } else if (key == "max_bytes") {
      if (!ReadCount(reader, key, INT64_MAX, &count)) return false;
      options->max_bytes = static_cast<size_t>(count);
    } else {
      return Unknown(reader, key);
    }
  }
  return reader.ok();
}

bool ReadStates(JsonReader& reader, ModelConfig* config) {
  if (!reader.BeginObject()) return false;
  auto& states = config->states;
  for (std::string input, output; reader.NextKey(&input);) {
    if (!reader.ReadString(&output)) return false;
    // "IN=OUT" is how the compiler takes it.
    if (input.empty() || output.empty() || input.find('=') != std::string::npos ||
        input.find('\0') != std::string::npos || output.find('\0') != std::string::npos)
      return reader.Fail("states: expected an input's name and an output's, without =");
    if (states.size() == kMaxStates)
      return reader.Fail(fmt::format("states: more than {} of them", kMaxStates));
    for (const auto& [other_input, other_output] : states) {
      if (other_input == input || other_output == output)
        return reader.Fail(fmt::format("states: {}={}: one of them is in another pair",
                                       Printable(input), Printable(output)));
    }
    states.emplace_back(input, output);
  }
  return reader.ok();
}

bool ReadMember(JsonReader& reader, const std::string& key, ModelConfig* config) {
  if (key == "states") return ReadStates(reader, config);
  if (key == "independent_rows") return reader.ReadBool(&config->independent_rows);
  if (key == "sequences") return ReadSequences(reader, &config->sequences);
  if (key == "max_batch") {
    int64_t count = 0;
    if (!ReadCount(reader, key, kMaxBatchRows, &count)) return false;
    config->max_batch = count;
    return true;
  }
  if (key != "max_delay_ms") return Unknown(reader, key);
  double ms = 0;
  if (!ReadNumber(reader, key, 0, 1000, &ms)) return false;
  config->max_delay = std::chrono::nanoseconds(static_cast<int64_t>(ms * 1e6));
  return true;
}

}  // namespace

Result<ModelConfig> ReadModelConfig(std::string_view json) {
  ModelConfig config;
  JsonReader reader(json);
  if (reader.BeginObject()) {
    for (std::string key; reader.NextKey(&key) && ReadMember(reader, key, &config);) {
    }
  }
  reader.ExpectEnd();
  RELAYVM_RETURN_IF_ERROR(reader.status());
  return config;
}

Result<ModelConfig> LoadModelConfig(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return ModelConfig{};
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file || size > kMaxBytes)
    return Status(StatusCode::kInvalidArgument, path + ": expected a file of up to 1 MiB");
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<size_t>(file.gcount()));
  auto config = ReadModelConfig(text);
  if (!config.ok()) return config.status().WithContext(path);
  return config;
}

}  // namespace relayvm::serve
