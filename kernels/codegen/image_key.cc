#include "kernels/codegen/image_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "kernels/codegen/build_id.h"
#include "kernels/codegen/instructions.h"

namespace relayvm::codegen {
namespace {

std::string_view FeaturesOf(const DotProduct* form) {
  return form == nullptr ? "none" : form->features;
}

}  // namespace

// A field more is to be named in these two. The backend is the triple's.
std::string MachineText(const Machine& machine) {
  const auto& [target, level, triple, cpu, features, tune, vector_bytes, vector_registers, l1, l2,
               masks, fma, half, byte_tables, dots, tiles, backend, instructions] = machine;
  return fmt::format("{};{};{};{};{};{};{};{};{};{};{};{};{};{};{};{};{};{}", target, level, triple,
                     cpu, features, tune, vector_bytes, vector_registers, l1, l2, masks, fma, half,
                     byte_tables, FeaturesOf(dots.pairs), FeaturesOf(dots.quads),
                     FeaturesOf(tiles.pairs), FeaturesOf(tiles.quads));
}

namespace {

// Options that add kernels, or choose their schedules and levels, count by what came of them.
std::string TextOf(const KernelOptions& options) {
  const auto& [machine, opt_level, quick, by_share, time_kernels, exact, batching, keep_llvm_ir,
               keep_assembly, schedules, schedule_for, on_kernels, num_threads, stop, cache] =
      options;
  return fmt::format("{}\n{} {} {}", MachineText(machine), opt_level, quick, exact);
}

}  // namespace

void ImageKey::Add(std::string_view name, const SpecKey& key, std::string_view text,
                   const TileSchedule& schedule) {
  fmt::format_to(std::back_inserter(kernels_), "{}\n{}\n{}\n{}\n", name, key.text, text,
                 ToString(schedule));
  // Sums are in the order of their symbols' numbers.
  for (const Dim& symbol : key.symbols)
    fmt::format_to(std::back_inserter(kernels_), "{} ", symbol.symbol_id());
  kernels_ += '\n';
}

std::optional<ObjectCache::Key> ImageKey::Of(const KernelOptions& options,
                                             std::span<const int> levels) const {
  const std::string& build = BuildId();
  if (options.cache == nullptr || options.keep_llvm_ir || options.keep_assembly || build.empty())
    return std::nullopt;
  const std::string text = fmt::format("image\n{}\n{}\n{}\n{}", build, TextOf(options),
                                       fmt::join(levels, " "), kernels_);
  return ObjectCache::KeyOf(text);
}

}  // namespace relayvm::codegen
