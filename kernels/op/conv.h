// What the files that define convolutions share. Tested by conv_test.cc.
#pragma once

#include <vector>

#include "kernels/op/op.h"

namespace relayvm {

// The attributes of nn.convNd; with `transpose`, of nn.convNd_transpose.
std::vector<AttrField> ConvFields(int spatial, bool transpose);
// Checks `channels` and `kernel_size`, where given, against the kernel's type.
Status CheckConvAttrs(TypeContext& tc, const Dim& out_channels, const std::vector<Dim>& kernel);
// conv_transpose.cc
void DefineConvTranspose(OpTable& table);

}  // namespace relayvm
