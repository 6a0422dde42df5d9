// Values of layers, products, sequences, losses and recurrent layers: MXNet 1.9.1's, numpy's and
// PyTorch's.
#include <cmath>

#include "compiler/import/mxnet/testing.h"

namespace relayvm::import::mxnet::testing {

namespace {

const Input kSix{{2, 3}, {1, 2, 3, 4, 5, 6}};
const Input kPicture{{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};

}  // namespace

TEST_CASE("MXNet convolutions and dense layers") {
  const Input kernel{{1, 1, 2, 2}, {1, 0, 0, -1}}, ones{{1, 1, 2, 2}, {1, 1, 1, 1}};
  const ValueCase rows[] = {
      {"Convolution",
       "kernel=(2, 2)|num_filter=1",
       {kPicture, kernel, {{1}, {0.5}}},
       {{-3.5, -3.5, -3.5, -3.5}}},
      {"Convolution",
       "kernel=(2, 2)|num_filter=1|no_bias=True|stride=(2, 2)|pad=(1, 1)",
       {kPicture, kernel},
       {{-1, -3, -7, -4}}},
      {"Convolution",
       "kernel=(1,)|num_filter=1|no_bias=True|layout=NWC",
       {{{1, 2, 2}, {1, 2, 3, 4}}, {{1, 1, 2}, {1, 10}}},
       {{21, 43}}},
      // No bias unless it is asked for.
      {"Deconvolution",
       "kernel=(2, 2)|num_filter=1|stride=(2, 2)",
       {{{1, 1, 1, 2}, {1, 2}}, ones},
       {{1, 1, 2, 2, 1, 1, 2, 2}}},
      {"Deconvolution",
       "kernel=(2, 2)|num_filter=1|stride=(2, 2)|target_shape=(1, 3)",
       {{{1, 1, 1, 2}, {1, 2}}, ones},
       {{1, 2, 2}},
       false},
      {"FullyConnected", "num_hidden=1", {kSix, {{1, 3}, {1, 1, 1}}, {{1}, {1}}}, {{7, 16}}},
      {"FullyConnected",
       "num_hidden=1|flatten=False|no_bias=True",
       {{{1, 2, 2}, {1, 2, 3, 4}}, {{1, 2}, {1, 10}}},
       {{21, 43}}},
      {"UpSampling",
       "scale=2|sample_type=nearest|num_args=1",
       {{{1, 1, 1, 2}, {1, 2}}},
       {{1, 1, 2, 2, 1, 1, 2, 2}}},
      {"_contrib_ModulatedDeformableConvolution",
       "kernel=(1, 1)|num_filter=1|no_bias=True",
       {kPicture,
        {{1, 2, 3, 3}, std::vector<double>(18, 0.5)},
        {{1, 1, 3, 3}, std::vector<double>(9, 2)},
        {{1, 1, 1, 1}, {1}}},
       {{6, 8, 4.5, 12, 14, 7.5, 7.5, 8.5, 4.5}},
       false},
      {"_contrib_DeformableConvolution",
       "kernel=(1, 1)|num_filter=1|no_bias=True",
       {kPicture, {{1, 2, 3, 3}, std::vector<double>(18, 0.5)}, {{1, 1, 1, 1}, {1}}},
       {{3, 4, 4.5, 6, 7, 7.5, 7.5, 8.5, 9}},
       false},
      {"im2col", "kernel=(2, 2)", {kPicture}, {{1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9}}},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

TEST_CASE("MXNet pools") {
  const Input row{{1, 1, 4}, {1, 2, 3, 5}};
  const ValueCase rows[] = {
      {"Pooling", "kernel=(2, 2)", {kPicture}, {{5, 6, 8, 9}}},
      {"Pooling", "kernel=(2,)|stride=(3,)|pooling_convention=full", {row}, {{2, 5}}},
      {"Pooling", "kernel=(2,)|pool_type=sum|stride=(3,)|pooling_convention=full", {row}, {{3, 5}}},
      // What lies in the padding counts, what lies beyond it does not.
      {"Pooling",
       "kernel=(3,)|pool_type=avg|stride=(4,)|pad=(1,)|pooling_convention=full",
       {row},
       {{1, 2.5}}},
      {"Pooling",
       "kernel=(3,)|pool_type=avg|stride=(4,)|pad=(1,)|pooling_convention=full|"
       "count_include_pad=False",
       {row},
       {{1.5, 5}}},
      {"Pooling_v1",
       "kernel=(2,2)|pool_type=avg|stride=(2,2)|pooling_convention=full",
       {kPicture},
       {{3, 2.25, 3.75, 2.25}}},
      {"Pooling", "kernel=(2,)|pool_type=lp|p_value=2", {{{1, 1, 2}, {3, 4}}}, {{5}}},
      {"Pooling", "kernel=(1, 1)|global_pool=True|pool_type=avg", {kPicture}, {{5}}},
      {"_contrib_AdaptiveAvgPooling2D", "output_size=(1, 3)", {kPicture}, {{4, 5, 6}}, false},
  };
  for (const ValueCase& r : rows) CheckValues(r);
}

TEST_CASE("MXNet normalisations") {
  const Input pair{{1, 2, 1}, {3, 5}}, one{{2}, {1, 1}}, two{{2}, {2, 2}}, zero{{2}, {0, 0}},
      four{{2}, {4, 4}};
  const ValueCase rows[] = {
      // gamma is 1 unless it is said that it is not.
      {"BatchNorm", "eps=0", {pair, two, one, one, four}, {{2, 3}}},
      {"BatchNorm",
       "eps=0|fix_gamma=False|output_mean_var=True",
       {pair, two, one, one, four},
       {{3, 5}, {1, 1}, {0.5, 0.5}}},
      {"_contrib_BatchNormWithReLU", "eps=0", {pair, two, zero, four, four}, {{0, 0.5}}},
      {"LayerNorm", "axis=1|eps=0", {pair, two, one}, {{-1, 3}}},
      // One number for each group.
      {"GroupNorm", "num_groups=1|eps=0", {pair, {{1}, {2}}, {{1}, {1}}}, {{-1, 3}}, false},
      {"InstanceNorm", "eps=0", {{{1, 1, 2}, {3, 5}}, {{1}, {2}}, {{1}, {1}}}, {{-1, 3}}},
      {"L2Normalization", "mode=channel|eps=0", {{{1, 2, 1}, {3, 4}}}, {{0.6, 0.8}}},
      {"softmax", "temperature=2", {{{2}, {0, 2 * std::log(3)}}}, {{0.25, 0.75}}},
      {"softmax",
       "use_length=True",
       {{{1, 3}, {0, 0, 5}}, {{1}, {2}, DType::kInt32}},
       {{0.5, 0.5, 0}}},
      {"softmin", "", {{{2}, {0, std::log(3)}}}, {{0.75, 0.25}}},
      {"SoftmaxOutput", "", {{{1, 2}, {0, std::log(3)}}}, {{0.25, 0.75}}},
      {"SoftmaxOutput", "multi_output=True", {{{1, 2, 1}, {0, std::log(3)}}}, {{0.25, 0.75}}},
      {"LogisticRegressionOutput", "", {{{1, 2}, {0, -HUGE_VAL}}}, {{0.5, 0}}},
      {"softmax_cross_entropy",
       "",
       {{{1, 2}, {0, std::log(3)}}, {{1}, {1}}},
       {{std::log(4 / 3.0)}}},
      // PyTorch's of the same, the blank first.
      {"CTCLoss",
       "",
       {{{3, 1, 3}, {0.5, -1, 0.25, 1, 0, -0.5, 0, 0.75, 0.5}}, {{1, 2}, {1, 2}}},
       {{2.503515}}},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

TEST_CASE("MXNet products and attention") {
  const Input square{{2, 2}, {1, 2, 3, 4}}, batch{{1, 2, 2}, {1, 2, 3, 4}};
  const double root = std::sqrt(2);
  const ValueCase rows[] = {
      {"dot", "", {{{2}, {1, 2}}, {{2}, {3, 4}}}, {{11}}},
      {"dot", "transpose_a=True", {square, kSix}, {{13, 17, 21, 18, 24, 30}}},
      {"dot", "transpose_b=True", {{{2}, {1, 2}}, {{3, 2}, {1, 0, 0, 1, 1, 1}}}, {{1, 2, 3}}},
      {"batch_dot", "transpose_b=True", {batch, batch}, {{5, 11, 11, 25}}},
      {"_npi_tensordot_int_axes", "axes=0", {{{2}, {1, 2}}, {{2}, {3, 4}}}, {{3, 4, 6, 8}}},
      {"_npi_einsum", "subscripts=ii->i", {square}, {{1, 4}}, false},
      {"khatri_rao", "", {square, square}, {{1, 4, 3, 8, 3, 8, 9, 16}}},
      // One head of size 2: query, key and value of each of two steps.
      {"_contrib_interleaved_matmul_selfatt_qk",
       "heads=1",
       {{{2, 1, 6}, {1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0}}},
       {{11 / root, 23 / root, 39 / root, 83 / root}}},
      {"_contrib_interleaved_matmul_selfatt_valatt",
       "heads=1",
       {{{2, 1, 6}, {0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 4}}, batch},
       {{7, 10, 15, 22}}},
      {"_linalg_gemm", "alpha=2|beta=3", {square, square, square}, {{17, 26, 39, 56}}},
      {"_linalg_syrk", "transpose=True", {square}, {{10, 14, 14, 20}}},
      {"_linalg_det", "", {square}, {{-2}}},
      {"_linalg_inverse", "", {square}, {{-2, 1, 1.5, -0.5}}},
      {"_linalg_slogdet", "", {square}, {{-1}, {std::log(2)}}},
      {"_linalg_potrf", "", {{{2, 2}, {4, 2, 2, 5}}}, {{2, 0, 1, 2}}},
      {"_linalg_potri", "", {{{2, 2}, {2, 0, 0.5, 2}}}, {{0.265625, -0.0625, -0.0625, 0.25}}},
      {"_linalg_trsm", "", {{{2, 2}, {2, 9, 1, 4}}, square}, {{0.5, 1, 0.625, 0.75}}},
      {"_linalg_sumlogdiag", "", {square}, {{std::log(4)}}},
      {"_linalg_extracttrian", "", {square}, {{1, 3, 4}}, false},
      {"_linalg_maketrian", "offset=1", {{{3}, {1, 2, 3}}}, {{0, 1, 2, 0, 0, 3, 0, 0, 0}}, false},
      {"_linalg_makediag", "offset=-1", {{{2}, {1, 2}}}, {{0, 0, 0, 1, 0, 0, 0, 2, 0}}},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

TEST_CASE("MXNet sequences and recurrent layers") {
  const Input lengths{{3}, {1, 2, 2}};
  // One unit: weights of i, f, c, o by the input, by the state, then biases.
  const std::vector<double> lstm = {0.5, -0.5, 1, 0.25, 0.1, 0.2, 0.3, 0.4, 0, 1, 0, 0, 0, 0, 0, 0};
  const double i1 = 1 / (1 + std::exp(-0.5)), o1 = 1 / (1 + std::exp(-0.25)),
               c1 = i1 * std::tanh(1);
  const ValueCase rows[] = {
      {"SequenceMask", "use_sequence_length=True|value=-1", {kSix, lengths}, {{1, 2, 3, -1, 5, 6}}},
      {"SequenceLast", "use_sequence_length=True", {kSix, lengths}, {{1, 5, 6}}},
      {"SequenceReverse", "use_sequence_length=True", {kSix, lengths}, {{1, 5, 6, 4, 2, 3}}},
      {"RNN",
       "mode=rnn_relu|state_size=1|num_layers=1|state_outputs=True",
       {{{2, 1, 1}, {1, 2}}, {{4}, {2, 3, 0.5, 0.25}}, {{1, 1, 1}, {1}}},
       {{5.75, 22}, {22}},
       false},
      {"RNN",
       "mode=rnn_relu|state_size=1|num_layers=1|bidirectional=True",
       {{{2, 1, 1}, {1, 2}}, {{8}, {2, 3, 1, 1, 0, 0, 0, 0}}, {{2, 1, 1}, {0, 0}}},
       {{2, 3, 10, 2}},
       false},
      {"RNN",
       "mode=lstm|state_size=1|num_layers=1|state_outputs=True",
       {{{1, 1, 1}, {1}}, {{16}, lstm}, {{1, 1, 1}, {0}}, {{1, 1, 1}, {0}}},
       {{o1 * std::tanh(c1)}, {o1 * std::tanh(c1)}, {c1}},
       false},
      {"RNN",
       "mode=gru|state_size=1|num_layers=1",
       {{{1, 1, 1}, {1}}, {{12}, {0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0}}, {{1, 1, 1}, {1}}},
       {{0.5 * std::tanh(2) + 0.5}},
       false},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

}  // namespace relayvm::import::mxnet::testing
