// The two forms of a program, native and with regions, timed in turns: CompileOptions::time_forms.
// Tested by tests/byoc.
#pragma once

#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "compiler/regions/choose_regions.h"

namespace relayvm {

// Of each sample: the median time of a run on random inputs of these shapes, one thread.
// kUnsupported where an engine is not here (it is looked for as what ships with the runtime).
Result<std::vector<regions::RegionTime>> TimeForms(
    const Program& native, const Program& with_regions,
    const std::vector<regions::ShapeSample>& samples);

}  // namespace relayvm
