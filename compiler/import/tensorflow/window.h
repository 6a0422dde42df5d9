// Windows as attributes say: strides, dilations, padding, data_format. See composite/window.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/import/composite/window.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

bool ChannelsLast(NodeContext& n);
// Where the channels of data of that rank stand.
inline int ChannelAxis(NodeContext& n, int rank) { return ChannelsLast(n) ? rank - 1 : 1; }
// Of an attribute with one number for each axis of the data those of the spatial ones; nullopt with
// an error.
std::optional<std::vector<int64_t>> SpatialOf(NodeContext& n, const std::vector<int64_t>& all,
                                              int rank, std::string_view what);
// Nullopt with an error. Strides that are given are those of all axes.
std::optional<Window> WindowOf(NodeContext& n, int rank, std::vector<int64_t> kernel,
                               std::string_view dilations = "dilations",
                               std::optional<std::vector<int64_t>> strides = std::nullopt);

// The activation that a fused operator ends with; nullopt where there is none of the name.
std::optional<Term> FusedActivation(NodeContext& n, std::string_view name, const Term& x);

}  // namespace relayvm::import::tensorflow
