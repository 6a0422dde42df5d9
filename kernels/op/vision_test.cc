#include <bit>
#include <cmath>

#include "kernels/op/builtin_op_testing.h"

namespace relayvm::op_testing {
namespace {

Dim Bits(double x) { return std::bit_cast<int64_t>(x); }

TEST_CASE("box selection") {
  const Dim n = Symbol(1);
  CheckBuiltin("vision.get_valid_counts", {{"id_index", -1}}, {Float({2, n, 6}), Float({})},
               {Int32({2}), Float({2, n, 6}), Int32({2, n})}, "get_valid_counts", {-1, 1});
  const std::vector<TensorType> nms = {Float({2, n, 6}), Int32({2}), Int32({2, n}), Int32({}),
                                       Float({})};
  CheckBuiltin("vision.non_max_suppression", {{"top_k", 7}}, nms, {Int32({2, n}), Int32({2, 1})},
               "non_max_suppression_indices", {0, 7, 2, 1, 0, 1, 0});
  CheckBuiltin("vision.non_max_suppression",
               {{"return_indices", false}, {"invalid_to_bottom", true}}, nms, {Float({2, n, 6})},
               "non_max_suppression", {0, -1, 2, 1, 0, 0, 1});
  CheckBuiltinFails("vision.non_max_suppression", {},
                    {Float({2, n, 6}), Int32({3}), Int32({2, n}), Int32({}), Float({})},
                    "2 and 3 differ");
  const std::vector<TensorType> all = {Float({2, n, 4}), Float({2, 3, n}), Int64({}), Float({}),
                                       Float({})};
  CheckBuiltin("vision.all_class_non_max_suppression", {}, all, {Int64({n * 6, 3}), Int64({1})},
               "all_class_nms", {});
  CheckBuiltin("vision.all_class_non_max_suppression", {{"output_format", "tensorflow"}}, all,
               {Int64({2, n * 3, 2}), Float({2, n * 3}), Int64({2})}, "all_class_nms_tensorflow",
               {});
}

TEST_CASE("boxes of each class") {
  const Dim n = Symbol(1), classes = Symbol(2);
  const AttrMap attrs = {{"max_detections_per_class", 7},
                         {"max_detections", 5},
                         {"num_classes", 2},
                         {"iou_threshold", 0.5},
                         {"score_threshold", 0.25}};
  CheckBuiltin("vision.regular_non_max_suppression", attrs, {Float({3, n, 4}), Float({3, n, 3})},
               {Float({3, 5, 4}), Float({3, 5}), Float({3, 5}), Int32({3})}, "regular_nms",
               {7, 2, Bits(0.5), Bits(0.25)});
  const auto plan = PlanBuiltin("vision.regular_non_max_suppression", attrs,
                                {Float({3, n, 4}), Float({3, n, classes})});
  REQUIRE(plan.ok());
  CHECK(plan->guards.size() == 1);
  CheckBuiltinFails("vision.regular_non_max_suppression", attrs,
                    {Float({3, n, 4}), Float({3, n, 1})}, "classes");
  CheckBuiltinFails("vision.regular_non_max_suppression", attrs,
                    {Float({3, n, 5}), Float({3, n, 3})}, "coordinates");
}

TEST_CASE("regions of interest") {
  const Dim r = Symbol(1);
  CheckBuiltin("vision.roi_align",
               {{"pooled_size", List({3, 4})}, {"spatial_scale", 0.5}, {"mode", "max_corner"}},
               {Float({2, 8, 16, 16}), Float({r, 5})}, {Float({r, 8, 3, 4})}, "roi_align",
               {Bits(0.5), -1, 0, 2, 0});
  CheckBuiltin("vision.roi_pool",
               {{"pooled_size", List({3, 4})}, {"spatial_scale", 1.0}, {"layout", "NHWC"}},
               {Float({2, 16, 16, 8}), Float({r, 5})}, {Float({r, 3, 4, 8})}, "roi_pool",
               {Bits(1), 1});
  CheckBuiltinFails("vision.roi_align", {{"pooled_size", List({3, 4})}, {"spatial_scale", 0.5}},
                    {Float({2, 8, 16, 16}), Float({r, 4})}, "4 and 5 differ");
  AttrList scales, ratios;
  scales.emplace_back(2.0);
  ratios.emplace_back(1.0);
  CheckBuiltin(
      "vision.proposal",
      {{"scales", AttrValue(scales)}, {"ratios", AttrValue(ratios)}, {"rpn_post_nms_top_n", 9}},
      {Float({1, 2, 4, 4}), Float({1, 4, 4, 4}), Float({1, 3})}, {Float({9, 5})}, "proposal",
      {16, 6000, 9, 16, 0, Bits(0.7), 1, 1, Bits(2), Bits(1)});
}

TEST_CASE("vision.multibox_prior places boxes around each pixel") {
  AttrList sizes, ratios;
  sizes.emplace_back(0.5);
  ratios.emplace_back(1.0);
  ratios.emplace_back(4.0);
  const AttrMap attrs = {{"sizes", AttrValue(sizes)}, {"ratios", AttrValue(ratios)}};
  // Centres (0.25, 0.5) and (0.75, 0.5); half extents 0.125 by 0.25, and under ratio 4 twice as
  // wide, half as high.
  CheckOp("vision.multibox_prior", attrs, {F32({1, 3, 1, 2}, Iota(6))},
          {F32({1, 4, 4}, {0.125, 0.25, 0.375, 0.75, 0, 0.375, 0.5, 0.625, 0.625, 0.25, 0.875, 0.75,
                           0.5, 0.375, 1, 0.625})});
}

TEST_CASE("vision.multibox_transform_loc") {
  const Dim n = Symbol(1);
  CheckBuiltin("vision.multibox_transform_loc", {{"clip", false}},
               {Float({2, 3, n}), Float({2, n * 4}), Float({1, n, 4})},
               {Float({2, n, 6}), Int32({2})}, "multibox_transform_loc",
               {0, Bits(0.01), 0, Bits(0.1), Bits(0.1), Bits(0.2), Bits(0.2)});
}

TEST_CASE("vision.yolo_reorg reads blocks, in darknet's order") {
  std::vector<double> expected;
  for (int64_t k = 0; k < 4; ++k) {
    for (int64_t j = 0; j < 4; ++j) {
      for (int64_t i = 0; i < 2; ++i) {
        // The data as (1, 1, 8, 4): the four input channels of 4 x 2 laid end to end.
        expected.push_back(static_cast<double>((j * 2 + k / 2) * 4 + i * 2 + k % 2));
      }
    }
  }
  CheckOp("vision.yolo_reorg", {{"stride", 2}}, {F32({1, 4, 4, 2}, Iota(32))},
          {F32({1, 16, 2, 1}, expected)});
  CheckFails("vision.yolo_reorg", {{"stride", 2}}, {F32({1, 2, 4, 2}, Iota(16))}, "stride");
}

}  // namespace
}  // namespace relayvm::op_testing
