// What convolutions and pools of PyTorch share: windows by their arguments, data without a batch.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/import/composite/window.h"
#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

// x (n, channels, spatial..) of a call whose data may be without the batch: one is added, and taken
// off results.
class Batched {
 public:
  // REQUIRES: spatial dims are 1 to 3.
  Batched(const Call& n, Value x, size_t spatial)
      : b_(&n.b()), added_(x.rank() == static_cast<int>(spatial) + 1) {
    x_ = added_ ? b_->ExpandDims(x, 0) : std::move(x);
  }
  const Value& x() const { return x_; }
  Value Off(const Value& y) const { return added_ ? b_->Squeeze(y, {0}) : y; }

 private:
  TypedBuilder* b_;
  bool added_;
  Value x_;
};

// The spatial dims of a convolution's weight; 0 where they are not known.
inline std::vector<int64_t> KernelOfWeight(const Value& w) {
  std::vector<int64_t> kernel;
  for (int i = 2; i < w.rank(); ++i) kernel.push_back(w.dim(i).is_const() ? w.dim(i).value() : 0);
  return kernel;
}
// One number for each spatial dim as starts, then ends.
inline std::vector<int64_t> BothSides(std::vector<int64_t> pads) {
  const size_t count = pads.size();
  for (size_t i = 0; i < count; ++i) pads.push_back(pads[i]);
  return pads;
}
// stride=, padding= (numbers, 'same' or 'valid') and dilation= of a convolution.
std::optional<Window> ConvWindow(const Call& n, std::vector<int64_t> kernel);
// kernel_size=, stride=, padding= and dilation= of a pool.
PoolSpec ReadPool(const Call& n, size_t spatial);

}  // namespace relayvm::import::torch
