#include "tools/lib/kernel_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace relayvm::tools {
namespace {

Status Invalid(std::string why) { return {StatusCode::kInvalidArgument, std::move(why)}; }

}  // namespace

void KernelFlags::AddTo(CLI::App& app) {
  app.add_option("--kernel", text,
                 "an operator alone, in place of INPUT: 'nn.dense[(n, 768), (3072, 768)]', "
                 "'nn.conv2d[(1, 64, h, w), (64, 64, 3, 3); padding=[1, 1]]'")
      ->each([&app](const std::string&) { app.get_option("INPUT")->required(false); });
  app.add_option("--schedule", schedule,
                 "with --kernel: tile=8x32,block=96, as --schedule-for takes it");
  app.add_option("--threads", threads, "with --emit time: how many may work")
      ->check(CLI::Range(1, 1024));
}

Status KernelFlags::Finish(const std::string& emit, CompileFlags* flags) {
  if (text.empty()) {
    if (emit == "time") return Invalid("--emit time: only with --kernel");
    if (!schedule.empty()) return Invalid("--schedule: only with --kernel; see --schedule-for");
    return OkStatus();
  }
  if (!flags->input.empty()) return Invalid("--kernel: there is an INPUT as well");
  RELAYVM_ASSIGN_OR_RETURN(source, ParseKernelSource(text));
  if (!schedule.empty()) {
    RELAYVM_RETURN_IF_ERROR(ParseTileSchedule(schedule).status());
    flags->compiler.schedule_for[""] = schedule;
  }
  flags->input = source.op;
  return OkStatus();
}

Status KernelFlags::TakeDims(const std::string& emit, CompileFlags* flags) {
  if (text.empty()) return OkStatus();
  dims = std::exchange(flags->options.dims, {});
  for (const auto& [name, value] : dims) {
    if (!HasDim(name)) {
      return Invalid(
          fmt::format("--dim {}={}: --kernel has no dimension of that name", name, value));
    }
  }
  const std::string relay = RelayText(source, emit == "time" ? DimValues() : dims);
  flags->options.content = SharedBytes::Copy(std::as_bytes(std::span(relay)));
  return NameSamples(emit, &flags->options.tune);
}

bool KernelFlags::HasDim(const std::string& name) const {
  return std::ranges::any_of(source.arguments, [&](const KernelArgument& a) {
    return std::ranges::find(a.dims, name) != a.dims.end();
  });
}

Status KernelFlags::NameSamples(const std::string& emit, tuner::TuneOptions* tune) const {
  tuner::SampleSizes samples = std::exchange(tune->samples, {});
  for (const auto& [name, sizes] : samples) {
    if (!HasDim(name)) {
      return Invalid(
          fmt::format("--shape-samples {}: --kernel has no dimension of that name", name));
    }
  }
  for (const auto& [name, value] : dims) {
    if (emit == "time") samples.try_emplace(name, std::vector<int64_t>{value});
  }
  for (size_t i = 0; i < source.arguments.size(); ++i) {
    const std::vector<std::string>& names = source.arguments[i].dims;
    for (size_t axis = 0; axis < names.size(); ++axis) {
      if (const auto known = samples.find(names[axis]); known != samples.end())
        tune->usual[fmt::format("x{}.{}", i, axis)] = known->second;
    }
  }
  return OkStatus();
}

}  // namespace relayvm::tools
