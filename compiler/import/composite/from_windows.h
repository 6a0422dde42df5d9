// Back from windows to the data that they are of: transposed convolutions, unpooling, sums of
// windows. Data is (n, channels, spatial..), transposed convolutions take window.channels_last too.
// Tested by from_windows_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/import/checked.h"
#include "compiler/import/composite/window.h"

namespace relayvm::import {

struct TransposedConvSpec {
  Window window;               // what a convolution with these windows takes is this one's result
  std::vector<int64_t> extra;  // added at the end of each spatial dim; empty: nothing
  // The result's spatial extents; empty: what the pads (negative ones widen) leave, with kSameUpper
  // and kSameLower the data's times the stride. Of pads that follow from these the odd one stands
  // at the end for kSameUpper, else at the start.
  std::vector<int64_t> shape;
  int64_t groups = 1;
  std::string kernel_layout;  // empty: "IOHW"
};
// Nullopt with an error.
std::optional<Value> TransposedConv(TypedBuilder& b, const Value& x, const Value& w,
                                    const TransposedConvSpec& spec);

// Zeros but for the elements of x, which go where `places` (flat positions in all of the result,
// which are checked) says that a maximum of these windows was. `shape`: of the result (int64, rank
// 1), the smallest that has these windows. Nullopt with an error.
struct Unpooled {
  Value data, shape;
};
std::optional<Unpooled> UnpooledMax(const InputName& places, const Term& x, const Window& window);

// x is (n, channels * taps, windows): the picture of which these are the windows, (n, channels,
// extents..); what overlaps is added. `image` and `block` are the extents of the picture and of a
// window (vectors of integers, known or computed); strides, dilations and pads (all starts, then
// all ends) have one for each. Nullopt with an error.
struct FoldSpec {
  std::vector<int64_t> strides, dilations, pads;
};
std::optional<Value> Folded(const Term& x, const InputName& image, const InputName& block,
                            const FoldSpec& spec);

}  // namespace relayvm::import
