// An attribute of a module's entry: the names of its result's tensors, depth first, as strings.
// Models of other systems name their outputs; the executable keeps the names for its hosts.
#pragma once

namespace relayvm::ir {

inline constexpr const char* kOutputNames = "output_names";

}  // namespace relayvm::ir
