// Quantised tensors and layers: calls, and PyTorch's results.
#include "compiler/import/torch/testing.h"

namespace relayvm::import::torch {
namespace {

TEST_CASE("PyTorch: quantised tensors") {
  testing::CheckCalls({
      {"aten::dequantize(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13))",
       {0, -1.12, 0.63, -0.49, 1.26, 0.14, -0.98, 0.77, -0.35, 1.4}},
      {"aten::int_repr(aten::quantize_per_tensor(R[2,5], 0.07, -3, 12))",
       {-3, -19, 6, -10, 15, -1, -17, 8, -8, 17}},
      {"aten::int_repr(aten::quantize_per_tensor(R[2,5], 0.07, -3, 14))",
       {-3, -19, 6, -10, 15, -1, -17, 8, -8, 17}},
      {"aten::dequantize(aten::quantize_per_channel(R[2,5], T[2]{0.07,0.02}, T[2]{3,4}:i64, "
       "0, 12))",
       {0, -1.12, 0.63, -0.49, 1.26, 0.12, -1, 0.76, -0.38, 1.38}},
      {"aten::q_scale(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13))", {0.07}},
      {"aten::q_zero_point(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13))", {120}},
      {"aten::fake_quantize_per_tensor_affine(R[2,5], 0.07, 3, -8, 7)",
       {0, -0.77, 0.28, -0.49, 0.28, 0.14, -0.77, 0.28, -0.35, 0.28}},
      {"aten::fake_quantize_per_channel_affine(R[2,5], T[2]{0.07,0.1}, T[2]{3,4}:i32, 0, -8, "
       "7)",
       {0, -0.77, 0.28, -0.49, 0.28, 0.1, -1, 0.3, -0.4, 0.3}},
      {"aten::dequantize(quantized::add(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13), "
       "aten::quantize_per_tensor(R[2,5|41], 0.05, 110, 13), 0.09, 100))",
       {0, -1.71, -0.63, 0.54, 1.62, -0.09, -1.89, 2.16, 0.36, 1.53}},
      {"aten::dequantize(quantized::add_relu(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), aten::quantize_per_tensor(R[2,5|41], 0.05, 110, 13), 0.09, 100))",
       {0, 0, 0, 0.54, 1.62, 0, 0, 2.16, 0.36, 1.53}},
      {"aten::dequantize(quantized::mul(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13), "
       "aten::quantize_per_tensor(R[2,5|41], 0.05, 110, 13), 0.09, 100))",
       {0, 0.63, -0.8100001, -0.45, 0.54, 0, 0.9, 1.08, -0.27, 0.18}},
      {"aten::dequantize(quantized::add_scalar(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), 0.5))",
       {0.49, -0.63, 1.12, 0, 1.75, 0.63, -0.49, 1.26, 0.14, 1.89}},
      {"aten::dequantize(quantized::add_scalar(aten::quantize_per_tensor(R[2,5], 0.07, 20, "
       "13), 3.5))",
       {3.520588, 2.347059, 4.146471, 2.972941, 4.772353, 3.677059, 2.503529, 4.302941, 3.129412,
        4.928823}},
      {"aten::dequantize(quantized::add_scalar_relu(aten::quantize_per_tensor(R[2,5], 0.07, "
       "120, 13), 0.5))",
       {0.49, 0, 1.12, 0, 1.75, 0.63, 0, 1.26, 0.14, 1.89}},
      {"aten::dequantize(quantized::mul_scalar(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), -1.5))",
       {0, 1.68, -0.945, 0.735, -1.89, -0.21, 1.47, -1.155, 0.525, -2.1}},
      {"aten::dequantize(quantized::mul_scalar(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), 1.5))",
       {0, -1.68, 0.945, -0.735, 1.89, 0.21, -1.47, 1.155, -0.525, 2.1}},
      {"aten::dequantize(quantized::mul_scalar_relu(aten::quantize_per_tensor(R[2,5], 0.07, "
       "120, 13), 1.5))",
       {0, 0, 0.945, 0, 1.89, 0.21, 0, 1.155, 0, 2.1}},
      {"aten::dequantize(quantized::hardswish(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), 0.05, 10))",
       {0, -0.35, 0.4, -0.2, 0.9, 0.05, -0.35, 0.5, -0.15, 1.05}},
      {"aten::dequantize(quantized::leaky_relu(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), 0.1, False, 0.05, 10))",
       {0, -0.1, 0.65, -0.05, 1.25, 0.15, -0.1, 0.75, -0.05, 1.4}},
      {"aten::dequantize(quantized::elu(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13), "
       "0.05, 10))",
       {0, -0.5, 0.65, -0.4, 1.25, 0.15, -0.5, 0.75, -0.3, 1.4}},
      {"aten::dequantize(quantized::layer_norm(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), [5], R[5], R[5|41], 0.00001, 0.05, 100))",
       {0, 0.95, -0.8, 1.35, 2.2, 0, 0.95, -0.8, 1.35, 2.2}},
      {"aten::dequantize(aten::max_pool2d(aten::quantize_per_tensor(R[1,2,4,4], 0.07, 120, "
       "13), [2,2], [2,2]))",
       {1.26, 0.77, 1.4, 0.35, 0.98, 1.12, 0.63, 1.26}},
      {"aten::dequantize(aten::avg_pool2d(aten::quantize_per_tensor(R[1,2,4,4], 0.07, 120, "
       "13), [2,2], [2,2]))",
       {0.07, 0, 0.42, -0.42, 0, -0.07, -0.35, 0.28}},
      {"aten::dequantize(aten::adaptive_avg_pool2d(aten::quantize_per_tensor(R[1,2,4,4], "
       "0.07, 120, 13), [1,1]))",
       {0, 0}},
      {"aten::dequantize(aten::relu(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13)))",
       {0, 0, 0.63, 0, 1.26, 0.14, 0, 0.77, 0, 1.4}},
      {"aten::dequantize(quantized::linear(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13), "
       "quantized::linear_prepack(aten::quantize_per_tensor(R[3,5|41], 0.02, 0, 12), "
       "R[3|43]), 0.1, 50))",
       {-0.1, 1.3, 0.8, -0.2, 1.4, 0.8}},
      {"aten::dequantize(quantized::linear_relu(aten::quantize_per_tensor(R[2,5], 0.07, 120, "
       "13), quantized::linear_prepack(aten::quantize_per_channel(R[3,5|41], "
       "T[3]{0.02,0.03,0.01}, T[3]{0,0,0}:i64, 0, 12), R[3|43]), 0.1, 50))",
       {0, 1.3, 0.8, 0, 1.4, 0.8}},
      {"aten::dequantize(quantized::conv1d(aten::quantize_per_tensor(R[1,4,5], 0.07, 120, "
       "13), quantized::conv1d_prepack(aten::quantize_per_tensor(R[2,4,3|41], 0.02, 0, 12), "
       "R[2|43], [1], [0], [1], 1), 0.2, 50))",
       {-2, 0.8, -1.6, 0.4, -2.4, 4}},
      {"prepacked::linear_clamp_run(R[2,5], prepacked::linear_clamp_prepack(R[3,5|41], "
       "R[3|43], -0.3, 0.5))",
       {-0.109375, 0.5, 0.5, -0.171875, 0.5, 0.5}},
      {"aten::dequantize(aten::sigmoid(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13)))",
       {0.5, 0.2460938, 0.6523438, 0.3789062, 0.7773438, 0.5351562, 0.2734375, 0.6835938, 0.4140625,
        0.8007812}},
      {"aten::dequantize(aten::tanh(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13)))",
       {0, -0.8046875, 0.5546875, -0.453125, 0.8515625, 0.140625, -0.75, 0.6484375, -0.3359375,
        0.8828125}},
      {"aten::dequantize(aten::hardsigmoid(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13)))",
       {0.5, 0.3125, 0.6054688, 0.4179688, 0.7109375, 0.5234375, 0.3359375, 0.6289062, 0.4414062,
        0.734375}},
      {"aten::dequantize(aten::mean(aten::quantize_per_tensor(R[2,5], 0.07, 120, 13), [1]))",
       {0.07, 0.21}},
  });
}

}  // namespace
}  // namespace relayvm::import::torch
