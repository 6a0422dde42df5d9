// int32(e): the Dim whose value is an expression as an int32 holds it, wrapped. It is what a tensor of
// int32 holds; a size never is one. Tested by dim_test.cc.
#pragma once

#include <vector>

#include "bytecode/base/dim.h"

namespace relayvm {

// The kind of such a Dim, beside those of dim.h. Its one operand is the expression.
inline constexpr auto kInt32Dim = static_cast<Dim::Kind>(static_cast<int>(Dim::Kind::kMax) + 1);

// `a` wrapped; `a` itself where its bounds say that it fits.
Dim Int32Dim(const Dim& a);
// `d` with each int32(x) replaced by x. It has the same value where the x fit int32; these are added
// to `assumed`, each after those inside it.
Dim WithoutInt32(const Dim& d, std::vector<Dim>* assumed = nullptr);

}  // namespace relayvm
