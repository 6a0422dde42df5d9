#include "compiler/tuner/decision.h"

#include <algorithm>
#include <cmath>

namespace relayvm::tuner {
namespace {

// What `part` of the times are below.
double Quantile(std::vector<double> times, double part) {
  const auto at = static_cast<std::ptrdiff_t>(static_cast<double>(times.size()) * part);
  std::nth_element(times.begin(), times.begin() + at, times.end());
  return times[static_cast<size_t>(at)];
}
double Median(const std::vector<double>& times) { return Quantile(times, 0.5); }

double Noise(const std::vector<double>& times) {
  constexpr size_t kFew = 4;
  if (times.size() < kFew) return 0;
  std::vector<double> halves[2];
  for (size_t i = 0; i < times.size(); ++i) halves[i % 2].push_back(times[i]);
  const double even = Quantile(halves[0], 0.25), odd = Quantile(halves[1], 0.25);
  return std::abs(even - odd) / std::min(even, odd);
}

}  // namespace

double Least(const std::vector<double>& times) { return *std::ranges::min_element(times); }

double Ratio(const std::vector<Series>& samples) {
  double sum = 0;
  for (const Series& s : samples) sum += std::log(Least(s.other) / Least(s.base));
  return std::exp(sum / static_cast<double>(samples.size()));
}

bool IsFaster(const std::vector<Series>& samples) {
  double noise = 0;
  for (const Series& s : samples) {
    if (s.base.empty() || s.other.empty()) return false;
    const double own = Noise(s.base);
    const double same = 1 + std::clamp(own, kSame, kMostSame);
    if (Least(s.other) > Least(s.base) * same) return false;
    if (Median(s.other) > Median(s.base) * same) return false;
    noise = std::max(noise, own);
  }
  return !samples.empty() && Ratio(samples) < 1 - std::max(kLeastGain, 2 * noise);
}

}  // namespace relayvm::tuner
