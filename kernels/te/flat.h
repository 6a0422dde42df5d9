// Computations of one element at a time, along one axis: whatever their shape, so that one kernel
// computes all of them.
//
//   y[i, j] = x[i, j] * s[0, 0]     of 6 elements:     y[k] = x[k] * s[0], k < 6
//
// Tested by flat_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/te/te.h"

namespace relayvm::te {

struct FlatComputation {
  std::vector<Tensor> inputs;
  Tensor output;
};

// Computes `length` elements of `t` from as many of each input that has the shape of `t`, and from
// others of one element. Nothing where an element depends on more than that.
// REQUIRES: an input's input_index is its place.
std::optional<FlatComputation> Flat(std::span<const Tensor> inputs, const Tensor& t,
                                    int64_t length);

}  // namespace relayvm::te
