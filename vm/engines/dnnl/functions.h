// Functions of elements: by the labels of steps, and by the names of operators. Tested by
// elementwise_test.cc.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "vm/engines/dnnl/graph.h"
#include "vm/engines/dnnl/plan_builder.h"

namespace relayvm::onednn {

// "add", "subtract", "multiply", "divide", "maximum", "minimum".
std::optional<dnnl_alg_kind_t> FindBinary(std::string_view label);
// "relu", "clip min=0 max=6": one or more of oneDNN's in a row. kUnsupported: oneDNN has none that
// is the same.
Result<std::vector<Post>> FunctionOf(const Step& step);

}  // namespace relayvm::onednn
