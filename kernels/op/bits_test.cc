#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

TEST_CASE("nn.bitpack gives the first element the highest bit") {
  // Bits 0 of 1 2 3 ... are 1 0 1 0 1 0 1 0, bits 1 0 1 1 0 0 1 1 0.
  const HostTensor x = I32({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
  CheckOp("nn.bitpack", {{"bits", 2}, {"bit_axis", 2}, {"pack_type", "uint8"}}, {x},
          {Host(DType::kUInt8, {1, 1, 2}, {0b10101010, 0b01100110})});
  CheckOp("nn.bitpack", {{"bits", 1}, {"bit_axis", 0}, {"pack_type", "uint8"}}, {x},
          {Host(DType::kUInt8, {1, 1, 1}, {0b10101010})});
  CheckFails("nn.bitpack", {{"bit_axis", 2}}, {x}, "pack_type must be given");
  CheckFails("nn.bitpack", {{"bit_axis", 2}, {"pack_type", "uint16"}}, {x}, "8 and 0 differ");
}

TEST_CASE("products of few bits") {
  // Of the data the lowest two bits; a weight's bit says plus or minus, or one or nothing.
  const HostTensor x = I32({1, 3}, {1, 2, 7}), w = I32({2, 3}, {1, 0, 1, 0, 1, 1});
  const AttrMap attrs = {{"data_bits", 2}, {"pack_dtype", "uint8"}, {"out_dtype", "int32"}};
  CheckOp("nn.bitserial_dense", attrs, {x, w}, {I32({1, 2}, {1 - 2 + 3, -1 + 2 + 3})});
  AttrMap bipolar = attrs;
  bipolar["unipolar"] = false;
  CheckOp("nn.bitserial_dense", bipolar, {x, w}, {I32({1, 2}, {1 + 3, 2 + 3})});
  CheckOp("nn.bitserial_conv2d",
          {{"kernel_size", List({1, 2})},
           {"activation_bits", 2},
           {"unipolar", false},
           {"pack_dtype", "uint8"},
           {"out_dtype", "int32"}},
          {I32({1, 1, 1, 3}, {1, 2, 7}), I32({1, 1, 1, 2}, {1, 0})}, {I32({1, 1, 1, 2}, {1, 2})});
  CheckFails("nn.bitserial_dense", {{"data_bits", 9}, {"out_dtype", "int32"}}, {x, w},
             "data_bits is 9");
}

}  // namespace
}  // namespace relayvm::op_testing
