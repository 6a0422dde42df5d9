// Convolutions, as they are and transposed.
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/windows.h"

namespace relayvm::import::torch {

std::optional<Window> ConvWindow(const Call& n, std::vector<int64_t> kernel) {
  const size_t spatial = kernel.size();
  Window w{.kernel = std::move(kernel),
           .strides = n.Ints("stride", spatial, 1),
           .dilations = n.Ints("dilation", spatial, 1),
           .pads = {}};
  if (!n.Arg("padding").is(Argument::Kind::kString)) {
    w.pads = BothSides(n.Ints("padding", spatial, 0));
    return w;
  }
  const std::string mode = n.String("padding");
  w.pads.assign(2 * spatial, 0);
  if (mode == "valid") return w;
  if (mode != "same") return n.Fail("padding: expected 'valid' or 'same', found '{}'", mode);
  // The odd one stands at the end.
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t total = w.reach(i) - 1;
    w.pads[i] = total / 2;
    w.pads[i + spatial] = total - total / 2;
  }
  return w;
}

namespace {

Value WithBias(const Call& n, const Value& y) {
  if (!n.Has("bias")) return y;
  const Value bias = n.Tensor("bias");
  if (bias.rank() != 1) return n.Fail("bias: expected rank 1, found rank {}", bias.rank()), y;
  return n.b().Op("nn.bias_add", {y, n.b().Cast(bias, y.dtype())}, {{"axis", 1}});
}

Results Convolve(Call& n, const Value& input, const Value& w) {
  const size_t spatial = w.rank() < 3 ? 0 : static_cast<size_t>(w.rank()) - 2;
  if (spatial < 1 || spatial > 3)
    return n.Fail("weight: expected rank 3 to 5, found rank {}", w.rank());
  const Batched data(n, input, spatial);
  const auto window = ConvWindow(n, KernelOfWeight(w));
  if (!window || !n.b().status().ok()) return {};
  // Of halves the sums over three dims are made in float32.
  const DType own = input.dtype(), wide = spatial == 3 ? SumType(own) : own;
  const auto y = Convolved(n, n.b().Cast(data.x(), wide), n.b().Cast(w, wide),
                           {.window = *window, .groups = n.Int("groups", 1), .kernel_layout = ""});
  if (!y) return {};
  return {data.Off(n.b().Cast(WithBias(n, *y), own))};
}

Results ConvolveTransposed(Call& n) {
  const Value w = n.Input(1);
  const size_t spatial = w.rank() < 3 ? 0 : static_cast<size_t>(w.rank()) - 2;
  if (spatial < 1 || spatial > 3)
    return n.Fail("weight: expected rank 3 to 5, found rank {}", w.rank());
  const Batched data(n, n.Input(0), spatial);
  const auto window = ConvWindow(n, KernelOfWeight(w));
  if (!window || !n.b().status().ok()) return {};
  const DType own = n.Input(0).dtype(), wide = SumType(own);
  const auto y = TransposedConv(n, n.b().Cast(data.x(), wide), n.b().Cast(w, wide),
                                {.window = *window,
                                 .extra = n.Ints("output_padding", spatial, 0),
                                 .shape = {},
                                 .groups = n.Int("groups", 1),
                                 .kernel_layout = ""});
  if (!y) return {};
  return {data.Off(n.b().Cast(WithBias(n, *y), own))};
}

Results Conv(Call& n) { return Convolve(n, n.Input(0), n.Input(1)); }
Results Convolution(Call& n) { return n.Bool("transposed") ? ConvolveTransposed(n) : Conv(n); }

// x (time, batch, channels), weights (taps, inputs, outputs).
Results ConvTbc(Call& n) {
  const Term x(n, 0), w(n, 1);
  if (x.rank() != 3 || w.rank() != 3) return n.Fail("expected data and weights of rank 3");
  const int64_t pad = n.Int("pad");
  const Term weights = w.Transpose({2, 1, 0});
  const Window window{
      .kernel = KernelOfWeight(weights), .strides = {1}, .dilations = {1}, .pads = {pad, pad}};
  const auto y = Convolved(n, x.Transpose({1, 2, 0}), weights,
                           {.window = window, .groups = 1, .kernel_layout = ""});
  if (!y) return {};
  return {Term(n, WithBias(n, *y)).Transpose({2, 0, 1})};
}

constexpr OperatorDef kConvOperators[] = {
    {"aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], "
     "int[1] padding=[0], int[1] dilation=[1], int groups=1) -> Tensor",
     Conv},
    {"aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] "
     "stride=1, str padding=\"valid\", int[1] dilation=1, int groups=1) -> Tensor",
     Conv},
    {"aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, "
     "int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
     Conv},
    {"aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] "
     "stride=1, str padding=\"valid\", int[2] dilation=1, int groups=1) -> Tensor",
     Conv},
    {"aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, "
     "int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor",
     Conv},
    {"aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] "
     "stride=1, str padding=\"valid\", int[3] dilation=1, int groups=1) -> Tensor",
     Conv},
    {"aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] "
     "stride=[1], int[1] padding=[0], int[1] output_padding=[0], int groups=1, int[1] "
     "dilation=[1]) -> Tensor",
     ConvolveTransposed},
    {"aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] "
     "stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] "
     "dilation=1) -> Tensor",
     ConvolveTransposed},
    {"aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] "
     "stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, int[3] "
     "dilation=1) -> Tensor",
     ConvolveTransposed},
    {"aten::convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] "
     "padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> "
     "Tensor",
     Convolution},
    {"aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] "
     "stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int "
     "groups, bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
     Convolution},
    {"aten::_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] "
     "padding, int[] dilation, bool transposed, int[] output_padding, int groups, bool "
     "benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
     Convolution},
    {"aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
     "str padding, int[] dilation, int groups) -> Tensor",
     Conv},
    {"aten::convolution_overrideable(Tensor input, Tensor weight, Tensor? bias, int[] "
     "stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int "
     "groups) -> Tensor",
     Convolution},
    {"aten::_conv_depthwise2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? "
     "bias, int[2] stride, int[2] padding, int[2] dilation) -> Tensor",
     Conv},
    {"aten::conv_depthwise3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? "
     "bias, int[3] stride, int[3] padding, int[3] dilation) -> Tensor",
     Conv},
    {"aten::slow_conv3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? "
     "bias=None, int[3] stride=1, int[3] padding=0) -> Tensor",
     Conv},
    {"aten::thnn_conv2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? "
     "bias=None, int[2] stride=1, int[2] padding=0) -> Tensor",
     Conv},
    {"aten::slow_conv_dilated2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? "
     "bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1) -> Tensor",
     Conv},
    {"aten::slow_conv_dilated3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? "
     "bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1) -> Tensor",
     Conv},
    {"aten::slow_conv_transpose2d(Tensor self, Tensor weight, int[2] kernel_size, Tensor? "
     "bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int[2] "
     "dilation=1) -> Tensor",
     ConvolveTransposed},
    {"aten::slow_conv_transpose3d(Tensor self, Tensor weight, int[3] kernel_size, Tensor? "
     "bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int[3] "
     "dilation=1) -> Tensor",
     ConvolveTransposed},
    {"aten::mkldnn_convolution(Tensor self, Tensor weight, Tensor? bias, int[] padding, "
     "int[] stride, int[] dilation, int groups) -> Tensor",
     Conv},
    {"aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", ConvTbc},
};

}  // namespace

OperatorTable ConvOperators() { return kConvOperators; }

}  // namespace relayvm::import::torch
