#include "compiler/tuner/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "kernels/codegen/spec_key.h"

namespace relayvm::tuner {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 24;
constexpr size_t kMostSamples = 8;

std::vector<int64_t> SizesOfAny() { return {1, 16, 128}; }
// Of a parameter's dim, one of `open` ones.
std::vector<int64_t> SizesOf(size_t axis, size_t rank, int64_t open) {
  constexpr size_t kImageRank = 4;
  if (axis == 0 && open > 1) return {1};
  if (rank < kImageRank) return SizesOfAny();
  return axis == 0 ? std::vector<int64_t>{1, 8} : std::vector<int64_t>{64, 224};
}

}  // namespace

SymbolValue ValuesOf(const Sample& sample) {
  return [&sample](uint32_t id) -> std::optional<int64_t> {
    const auto found = sample.find(id);
    return found == sample.end() ? std::nullopt : std::optional(found->second);
  };
}

Status ParseSampleSizes(const std::string& text, SampleSizes* sizes) {
  const auto fail = [&](const std::string& expected) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--shape-samples {}: expected {}", text, expected));
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return fail("NAME=1,16,128");
  std::vector<int64_t> values;
  std::string_view rest = std::string_view(text).substr(equals + 1);
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 1 || value > kMostSize)
      return fail(fmt::format("sizes from 1 to {} after NAME=", kMostSize));
    values.push_back(value);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  if (values.size() > kMostSamples) return fail(fmt::format("at most {} sizes", kMostSamples));
  if (!sizes->emplace(text.substr(0, equals), std::move(values)).second)
    return fail("one list for a dimension");
  return OkStatus();
}

SampleSizes DefaultSampleSizes(const std::vector<std::vector<Dim>>& shapes) {
  SampleSizes sizes;
  for (const std::vector<Dim>& shape : shapes) {
    const auto open = std::ranges::count_if(shape, [](const Dim& d) { return !d.is_const(); });
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!shape[i].is_symbol()) continue;
      sizes.try_emplace(shape[i].symbol_name(), SizesOf(i, shape.size(), open));
    }
  }
  return sizes;
}

std::vector<Dim> SymbolsOf(const KernelSpec& spec) { return codegen::KeyOf(spec).symbols; }

std::vector<Sample> SamplesOf(const KernelSpec& spec, const SampleSizes& given,
                              const SampleSizes& defaults) {
  std::vector<std::pair<uint32_t, std::vector<int64_t>>> lists;
  size_t count = 1;
  for (const Dim& symbol : SymbolsOf(spec)) {
    const std::string& name = symbol.symbol_name();
    std::vector<int64_t> sizes = SizesOfAny();
    if (const auto found = given.find(name); found != given.end()) {
      sizes = found->second;
    } else if (const auto usual = defaults.find(name); usual != defaults.end()) {
      sizes = usual->second;
    }
    count = std::max(count, sizes.size());
    lists.emplace_back(symbol.symbol_id(), std::move(sizes));
  }
  std::vector<Sample> samples(count);
  for (const auto& [id, sizes] : lists) {
    for (size_t i = 0; i < count; ++i) samples[i][id] = sizes[std::min(i, sizes.size() - 1)];
  }
  return samples;
}

}  // namespace relayvm::tuner
