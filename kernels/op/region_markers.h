// TVM's markers of what an engine runs: annotation.compiler_begin and annotation.compiler_end,
// which give their argument back.
#pragma once

#include <string>

#include "kernels/op/op.h"
#include "kernels/op/problem.h"

namespace relayvm {

enum class RegionMarker : uint8_t { kNone, kBegin, kEnd };
RegionMarker RegionMarkerOf(const OpDef& op);
// "dnnl".
const std::string& MarkedEngine(const Attrs& attrs);
// A call of the marker, of one argument.
NamedCall RegionMarkerCall(RegionMarker marker, const std::string& engine);

}  // namespace relayvm
