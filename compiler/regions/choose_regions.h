// --byoc auto: a region stays where its engine is found to be faster than the compiler's own
// kernels, measured in this process, one thread each, in turns, on random data, at samples of
// sizes.
//
// Sizes are those of the entry's open dims (tuner/samples.h), followed to each call of a region;
// where they cannot be, those of the region's own parameters. Then the whole program is measured:
// where it is slower with the regions that stay, none does. Tested by choose_regions_test.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/tuner/samples.h"

namespace relayvm::regions {

// Shapes of the inputs of one run, and what people call it ("n=16").
struct ShapeSample {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;
};
struct RegionTime {
  double native_us, engine_us;
};
struct RegionMeasure {
  tuner::SampleSizes samples;
  // Of a module whose functions with an engine are its regions: for each sample, how long the
  // native form of the program takes and the one with them. kUnsupported where the engine is not
  // here.
  std::function<Result<std::vector<RegionTime>>(const ir::Module&, const std::vector<ShapeSample>&)>
      time;
};

// The engine must take at most this share of the native time over all samples, and no more than it
// at each: what a region's neighbours lose by it is not measured.
inline constexpr double kFaster = 0.85;
// Of the whole program, at each sample: less would be within what measuring varies.
inline constexpr double kWholeFaster = 0.95;

// Before: typed, after PruneRegions. After: typed; functions of regions that are slower, or whose
// engine is not here, are plain ones. `table`: a line for each region and sample.
Result<ir::Module> ChooseRegions(const ir::Module& m, const RegionMeasure& measure,
                                 std::string* table);

}  // namespace relayvm::regions
