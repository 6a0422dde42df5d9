// Values of boxes, regions, grids, pictures and quantised tensors: MXNet 1.9.1's, or by its
// definition.
#include <cmath>

#include "compiler/import/mxnet/testing.h"

namespace relayvm::import::mxnet::testing {

namespace {

const Input kPicture{{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};

}  // namespace

TEST_CASE("MXNet boxes") {
  // id, score, box: the second overlaps the first, the last does not count.
  const Input rows{
      {4, 6}, {0, 0.5, 0, 0, 2, 2, 0, 0.4, 0, 0, 2, 2.5, 1, 0.9, 0, 0, 2, 2, 0, -1, 4, 4, 5, 5}};
  const std::vector<double> none(6, -1);
  const auto joined = [&](std::vector<std::vector<double>> parts) {
    std::vector<double> out;
    for (const auto& p : parts) out.insert(out.end(), p.begin(), p.end());
    return out;
  };
  const std::vector<double> first = {0, 0.5, 0, 0, 2, 2}, other = {1, 0.9, 0, 0, 2, 2};
  const Input square{{1, 4}, {0, 0, 2, 2}}, centred{{1, 1, 4}, {1, 1, 2, 2}};
  const ValueCase cases[] = {
      {"_contrib_box_nms", "id_index=0", {rows}, {joined({other, first, none, none})}},
      {"_contrib_box_nms",
       "id_index=0|force_suppress=True",
       {rows},
       {joined({other, none, none, none})}},
      {"_contrib_box_nms",
       "id_index=0|background_id=1",
       {rows},
       {joined({first, none, none, none})}},
      {"_contrib_box_nms", "topk=1", {rows}, {joined({other, none, none, none})}},
      {"_contrib_box_nms", "topk=0", {rows}, {rows.values}},
      {"_contrib_box_iou", "", {square, {{2, 4}, {1, 0, 3, 2, 5, 5, 6, 6}}}, {{1.0 / 3, 0}}},
      {"_contrib_box_decode",
       "",
       {{{1, 1, 4}, {0.5, 0, 0, std::log(2)}}, centred},
       {{1, -1, 3, 3}}},
      {"_contrib_box_encode",
       "",
       {{{1, 2}, {1, 0}},
        {{1, 2}, {0, 0}},
        {{1, 2, 4}, {0, 0, 2, 2, 0, 0, 1, 1}},
        {{1, 1, 4}, {1, 0, 3, 4}},
        {{4}, {0, 0, 0, 0}},
        {{4}, {0.1, 0.1, 0.2, 0.2}}},
       {{5, 5, 0, 5 * std::log(2), 0, 0, 0, 0}, {1, 1, 1, 1, 0, 0, 0, 0}}},
      {"_contrib_bipartite_matching",
       "threshold=0.1",
       {{{2, 3}, {0.5, 0.6, 0.05, 0.3, 0.4, 0.2}}},
       {{1, 0}, {1, 0, -1}}},
      {"_contrib_bipartite_matching",
       "threshold=0.25|is_ascend=True",
       {{{2, 2}, {0.5, 0.2, 0.3, 0.4}}},
       {{1, -1}, {-1, 0}}},
      {"_contrib_MultiBoxPrior",
       "sizes=(0.5,)|ratios=(1, 4)",
       {{{1, 1, 1, 2}, {0, 0}}},
       {{0.125, 0.25, 0.375, 0.75, 0, 0.375, 0.5, 0.625, 0.625, 0.25, 0.875, 0.75, 0.5, 0.375, 1,
         0.625}}},
      // Of three anchors the first is the label's, the second overlaps it, the third is background.
      {"_contrib_MultiBoxTarget",
       "",
       {{{1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.75, 2, 2, 3, 3}},
        {{1, 2, 5}, {4, 0, 0, 1, 1, -1, -1, -1, -1, -1}},
        {{1, 2, 3}, {0, 0, 0, 0, 0, 0}}},
       {{0, 0, 0, 0, 0, 0.125 / 0.75 / 0.1, 0, std::log(4 / 3.0) / 0.2, 0, 0, 0, 0},
        {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
        {5, 5, 0}}},
      {"_contrib_MultiBoxTarget",
       "overlap_threshold=0.9|negative_mining_ratio=1",
       {{{1, 3, 4}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}},
        {{1, 1, 5}, {4, 0, 0, 1, 1}},
        {{1, 2, 3}, {0, 2, 1, 0, 0, 0}}},
       {std::vector<double>(12, 0), {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {5, -1, 0}}},
      // The second anchor is suppressed, the third is background.
      {"_contrib_MultiBoxDetection",
       "nms_threshold=0.4",
       {{{1, 2, 3}, {0, 0, 1, 0.8, 0.7, 0}},
        {{1, 12}, std::vector<double>(12, 0)},
        {{1, 3, 4}, {0, 0, 0.5, 0.5, 0, 0, 0.5, 0.4, 0, 0, 1, 1}}},
       {{0, 0.8, 0, 0, 0.5, 0.5, -1, 0.7, 0, 0, 0.5, 0.4, -1, -1, -1, -1, -1, -1}}},
  };
  for (const ValueCase& c : cases) CheckValues(c);
}

TEST_CASE("MXNet regions, grids and resizes") {
  const Input region{{1, 5}, {0, 0, 0, 2, 2}};
  const ValueCase cases[] = {
      {"ROIPooling", "pooled_size=(1, 1)|spatial_scale=1", {kPicture, region}, {{9}}},
      {"_contrib_ROIAlign",
       "pooled_size=(1, 1)|spatial_scale=1|sample_ratio=1",
       {kPicture, region},
       {{5}}},
      {"_contrib_ROIAlign",
       "pooled_size=(1, 2)|spatial_scale=1|sample_ratio=1|position_sensitive=True",
       {{{1, 2, 1, 2}, {1, 2, 3, 4}}, {{1, 5}, {0, 0, 0, 1, 0}}},
       {{1.25, 3.75}}},
      {"_contrib_PSROIPooling",
       "pooled_size=1|output_dim=1|spatial_scale=1",
       {kPicture, region},
       {{5}}},
      {"BilinearSampler", "", {kPicture, {{1, 2, 1, 2}, {0, -0.5, 0, 1}}}, {{5, 7.5}}},
      {"GridGenerator",
       "transform_type=affine|target_shape=(2, 2)",
       {{{1, 6}, {1, 0, 0.5, 0, 1, 0}}},
       {{-0.5, 1.5, -0.5, 1.5, -1, -1, 1, 1}}},
      {"GridGenerator",
       "transform_type=warp",
       {{{1, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0}}},
       {{-1, 1, -1, 1, -1, -1, 1, 1}},
       false},
      {"_contrib_BilinearResize2D",
       "height=3|width=5",
       {kPicture},
       {{1, 1.5, 2, 2.5, 3, 4, 4.5, 5, 5.5, 6, 7, 7.5, 8, 8.5, 9}}},
      {"_contrib_BilinearResize2D", "mode=to_even_down", {kPicture}, {{1, 3, 7, 9}}},
      {"_image_to_tensor", "", {{{1, 1, 3}, {0, 51, 255}, DType::kUInt8}}, {{0, 0.2, 1}}},
      {"_image_normalize", "mean=(1, 2)|std=(2,)", {{{2, 1, 1}, {3, 6}}}, {{1, 2}}},
      {"_image_flip_left_right", "", {{{1, 2, 1}, {3, 6}}}, {{6, 3}}},
      {"_image_crop", "x=1|y=0|width=1|height=1", {{{1, 2, 1}, {3, 6}}}, {{6}}},
      {"_image_resize", "size=(4, 1)", {{{1, 2, 1}, {0, 100}, DType::kUInt8}}, {{0, 25, 75, 100}}},
      {"contrib_fifo_buffer", "axis=1", {{{1, 1}, {7}}, {{1, 3}, {1, 2, 3}}}, {{2, 3, 7}}, false},
      {"all_finite", "", {{{2}, {1, HUGE_VAL}}}, {{0}}},
  };
  for (const ValueCase& c : cases) CheckValues(c);
}

TEST_CASE("MXNet's quantised tensors") {
  const Input low{{1}, {-1}}, high{{1}, {1}}, bytes{{2}, {51, -127}, DType::kInt8};
  const ValueCase cases[] = {
      {"_contrib_quantize_v2",
       "min_calib_range=-1|max_calib_range=1",
       {{{3}, {0.4, 0.98, -2}}},
       {{51, 125, -128}, {-1}, {1}}},
      {"_contrib_quantize_v2",
       "out_type=uint8|min_calib_range=0|max_calib_range=2",
       {{{2}, {1, -1}}},
       {{128, 0}, {0}, {2}}},
      // The first version has whole levels.
      {"_contrib_quantize", "out_type=int8", {{{2}, {0.4, 1}}, low, high}, {{51, 127}, {-1}, {1}}},
      {"_contrib_dequantize", "", {bytes, low, high}, {{0.4, -127 / 127.5}}},
      {"_contrib_quantized_act", "act_type=relu", {bytes, low, high}, {{51, 0}, {-1}, {1}}},
      {"_contrib_quantized_concat",
       "dim=0",
       {bytes, bytes, low, high, low, {{1}, {2}}},
       {{26, -64, 51, -127}, {-1}, {2}}},
      {"_contrib_quantized_elemwise_add",
       "min_calib_range=-2|max_calib_range=2",
       {bytes, bytes, low, high, low, high},
       {{51, -127}, {-2}, {2}}},
      {"_contrib_requantize",
       "min_calib_range=-2|max_calib_range=2",
       {{{2}, {1073741824, -2147483647}, DType::kInt32}, low, high},
       {{32, -64}, {-2}, {2}}},
  };
  for (const ValueCase& c : cases) CheckValues(c);
}

}  // namespace relayvm::import::mxnet::testing
