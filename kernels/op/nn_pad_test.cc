#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

AttrValue Pairs(const std::vector<std::vector<int64_t>>& rows) {
  AttrList list;
  for (const auto& r : rows) list.push_back(List(r));
  return AttrValue(std::move(list));
}

TEST_CASE("nn.pad: constant, edge, reflect") {
  const HostTensor x = F32({3}, {1, 2, 3}), fill = F32({}, {9});
  CheckOp("nn.pad", {{"pad_width", Pairs({{1, 2}})}}, {x, fill}, {F32({6}, {9, 1, 2, 3, 9, 9})});
  CheckOp("nn.pad", {{"pad_width", Pairs({{-1, 1}})}}, {x, I32({}, {4})}, {F32({3}, {2, 3, 4})});
  CheckOp("nn.pad", {{"pad_width", Pairs({{2, 1}})}, {"pad_mode", "edge"}}, {x, fill},
          {F32({6}, {1, 1, 1, 2, 3, 3})});
  CheckOp("nn.pad", {{"pad_width", Pairs({{2, 2}})}, {"pad_mode", "reflect"}}, {x, fill},
          {F32({7}, {3, 2, 1, 2, 3, 2, 1})});
  CheckOp("nn.pad", {{"pad_width", Pairs({{0, 0}, {1, 0}})}}, {F32({2, 1}, {1, 2}), fill},
          {F32({2, 2}, {9, 1, 9, 2})});
  CheckFails("nn.pad", {{"pad_width", Pairs({{3, 0}})}, {"pad_mode", "reflect"}}, {x, fill},
             "expected at least");
  CheckFails("nn.pad", {{"pad_width", Pairs({{1, 1}})}, {"pad_mode", "wrap"}}, {x, fill},
             "pad_mode");
  CheckFails("nn.pad", {{"pad_width", Pairs({{1, 1}, {0, 0}})}}, {x, fill}, "2 pairs");
  CheckFails("nn.pad", {{"pad_width", Pairs({{-2, -2}})}}, {x, fill}, "expected at least");
}

TEST_CASE("nn.mirror_pad repeats the border or not") {
  const HostTensor x = F32({3}, {1, 2, 3});
  CheckOp("nn.mirror_pad", {{"pad_width", Pairs({{3, 2}})}}, {x},
          {F32({8}, {3, 2, 1, 1, 2, 3, 3, 2})});
  CheckOp("nn.mirror_pad", {{"pad_width", Pairs({{2, 1}})}, {"mode", "REFLECT"}}, {x},
          {F32({6}, {3, 2, 1, 2, 3, 2})});
}

TEST_CASE("nn.dilate: an empty axis stays empty") {
  CheckOp("nn.dilate", {{"strides", List({1, 3})}}, {F32({2, 0}, {})}, {F32({2, 0}, {})});
  CheckOp("nn.dilate", {{"strides", List({2, 3})}}, {F32({0, 2}, {})}, {F32({0, 4}, {})});
}

TEST_CASE("nn.dilate spreads elements") {
  CheckOp("nn.dilate", {{"strides", List({1, 2})}, {"dilation_value", 7.0}},
          {F32({1, 3}, {1, 2, 3})}, {F32({1, 5}, {1, 7, 2, 7, 3})});
}

TEST_CASE("depth and space") {
  // Four channels of one pixel become a 2 x 2 block.
  const HostTensor depth = F32({1, 8, 1, 1}, Iota(8));
  CheckOp("nn.depth_to_space", {{"block_size", 2}}, {depth},
          {F32({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})});
  CheckOp("nn.depth_to_space", {{"block_size", 2}, {"mode", "CRD"}}, {depth},
          {F32({1, 2, 2, 2}, Iota(8))});
  CheckOp("nn.depth_to_space", {{"block_size", 2}, {"mode", "any"}}, {depth},
          {F32({1, 2, 2, 2}, Iota(8))});
  CheckOp("nn.space_to_depth", {{"block_size", 2}, {"mode", "any"}},
          {F32({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})}, {depth});
  CheckOp("nn.depth_to_space", {{"block_size", 2}, {"layout", "NHWC"}},
          {F32({1, 1, 1, 4}, Iota(4))}, {F32({1, 2, 2, 1}, Iota(4))});
  CheckOp("nn.space_to_depth", {{"block_size", 2}}, {F32({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})},
          {depth});
  CheckFails("nn.depth_to_space", {{"block_size", 0}}, {depth}, "block_size");
}

TEST_CASE("what is behind the last whole block is left out") {
  CheckOp("nn.depth_to_space", {{"block_size", 2}}, {F32({1, 6, 1, 1}, Iota(6))},
          {F32({1, 1, 2, 2}, Iota(4))});
  CheckOp("nn.depth_to_space", {{"block_size", 3}}, {F32({1, 8, 1, 1}, Iota(8))},
          {F32({1, 0, 3, 3}, {})});
  CheckFails("nn.space_to_depth", {{"block_size", 2}}, {F32({1, 1, 3, 2}, Iota(6))}, "block_size");
  const AttrValue block = List({2}), none = Pairs({{0, 0}});
  CheckOp("nn.space_to_batch_nd", {{"block_shape", block}, {"paddings", none}},
          {F32({1, 5}, Iota(5))}, {F32({2, 2}, {0, 2, 1, 3})});
  CheckOp("nn.batch_to_space_nd", {{"block_shape", block}, {"crops", none}}, {F32({3, 2}, Iota(6))},
          {F32({1, 4}, {0, 2, 1, 3})});
}

TEST_CASE("space to batch and back") {
  const AttrValue block = List({2}), widths = Pairs({{1, 0}});
  const HostTensor x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  // Padded rows are 0 1 2 3 and 0 4 5 6; even columns come first, for both batches.
  const HostTensor split = F32({4, 2}, {0, 2, 0, 5, 1, 3, 4, 6});
  CheckOp("nn.space_to_batch_nd", {{"block_shape", block}, {"paddings", widths}}, {x}, {split});
  CheckOp("nn.batch_to_space_nd", {{"block_shape", block}, {"crops", widths}}, {split}, {x});
  CheckFails("nn.space_to_batch_nd", {{"block_shape", block}, {"paddings", Pairs({})}}, {x},
             "paddings has 0 pairs");
}

TEST_CASE("nn.upsampling") {
  const HostTensor x = F32({1, 1, 1, 2}, {1, 3});
  CheckOp("nn.upsampling", {{"scale_h", 1.0}, {"scale_w", 2.0}}, {x},
          {F32({1, 1, 1, 4}, {1, 1, 3, 3})});
  CheckOp("nn.upsampling",
          {{"scale_h", 1.0}, {"scale_w", 2.0}, {"method", "bilinear"}, {"align_corners", true}},
          {x}, {F32({1, 1, 1, 4}, {1, 1 + 2.0 / 3, 1 + 4.0 / 3, 3})}, {.tolerance = 1e-5});
  CheckOp("nn.upsampling3d",
          {{"scale_d", 2.0}, {"scale_h", 1.0}, {"scale_w", 1.0}, {"layout", "NDHWC"}},
          {F32({1, 1, 1, 2, 1}, {1, 3})}, {F32({1, 2, 1, 2, 1}, {1, 3, 1, 3})});
  CheckFails("nn.upsampling", {{"scale_h", 0.0}}, {x}, "scale");
}

}  // namespace
}  // namespace relayvm::op_testing
