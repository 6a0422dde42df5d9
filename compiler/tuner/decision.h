// Whether what was measured says that a schedule is faster. Tested by decision_test.cc.
#pragma once

#include <vector>

namespace relayvm::tuner {

// Times of the compiler's own schedule and of another, in turns, at one sample of sizes.
struct Series {
  std::vector<double> base, other;
};

// The shortest time: what the machine takes when nothing else is in the way.
double Least(const std::vector<double>& times);

// A schedule is to gain so much at least, and twice the noise.
inline constexpr double kLeastGain = 0.05;
// Times at a sample that differ by less are equal; where there is noise, by that, up to kMostSame.
inline constexpr double kSame = 0.01, kMostSame = 0.03;

// The geometric mean of other / base over the samples, of least times. REQUIRES: there are some.
double Ratio(const std::vector<Series>& samples);

// Whether `other` is faster in the mean by more than noise (how far the first quartiles of base's
// own even and odd turns are apart), and slower nowhere, neither by the least time nor by the
// median.
bool IsFaster(const std::vector<Series>& samples);

}  // namespace relayvm::tuner
