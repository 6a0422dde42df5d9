// Rule files of engines as strings. Private to compiler/regions.
#pragma once

namespace relayvm::regions {

extern const char* const kDnnlText;

}  // namespace relayvm::regions
