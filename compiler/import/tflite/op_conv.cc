// Convolutions. Data is (n, spatial.., channels); weights are (outputs, spatial.., inputs), of
// depthwise ones (1, spatial.., outputs), of transposed ones in 3 dims (spatial.., outputs,
// inputs).
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/window.h"
#include "compiler/import/tflite/products.h"

namespace relayvm::import::tflite {

namespace {

struct Convolution {
  ConvSpec spec;
  Value weights;  // (spatial.., inputs of a group, outputs)
  fb::Activation activation = fb::Activation::NONE;
};

WindowPadding PaddingOf(fb::Padding p) {
  return p == fb::Padding::SAME ? WindowPadding::kSameUpper : WindowPadding::kGiven;
}

// The kernel's extents, from axis `first` of the weights; empty with an error.
std::vector<int64_t> KernelOf(NodeContext& n, const Value& w, int first, int count) {
  std::vector<int64_t> kernel;
  for (int i = 0; i < count; ++i) {
    const Dim d = w.dim(first + i);
    if (!d.is_const()) {
      n.Unsupported("weights of an extent that is open");
      return {};
    }
    kernel.push_back(d.value());
  }
  return kernel;
}

bool HasRank(NodeContext& n, size_t input, int rank) {
  if (n.Input(input).rank() == rank) return true;
  n.Fail("{}: expected {} dims, found {}", n.InputText(input, input == 0 ? "input" : "weights"),
         rank, n.Input(input).rank());
  return false;
}

// The data, whose channels are as many as the weights say: where they are open that is checked.
Value WithChannels(NodeContext& n, size_t input, const Dim& wanted) {
  const Value x = n.Input(input);
  if (x.dim(-1).is_const() || !wanted.is_const()) return x;
  return Stating(n, x, x.rank() - 1, wanted.value(), n.InputText(input, "the channels of input"));
}

Value WithBias(NodeContext& n, const Value& y, size_t bias) {
  return n.Has(bias) ? n.b().Op("add", {y, n.Input(bias)}) : y;
}

std::vector<int64_t> AllButFirst(int rank) {
  std::vector<int64_t> axes;
  for (int i = 1; i < rank; ++i) axes.push_back(i);
  return axes;
}

// Floats and weights of 8 bits. Data of one image is quantised as a whole, with a zero point where
// each channel of the weights has a scale: always in layers by channels.
std::optional<Value> HybridConv(NodeContext& n, const Convolution& c) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const bool has_zero =
      n.In(1).quantisation.is_per_channel() || n.code() == Code::DEPTHWISE_CONV_2D;
  const QuantisedRows rows = QuantiseRows(x, AllButFirst(x.rank()), has_zero);
  std::optional<Value> y;
  const bool is_sized = x.value().dim(1).is_const() && x.value().dim(2).is_const();
  if (x.rank() == 4 && x.value().dim(0).is_const(1) && is_sized) {
    const Value none = b.Int(0, DType::kInt8);
    const Value zero = rows.zero ? AsScalar(rows.zero->As(DType::kInt8)).value() : none;
    const Value one = b.Scalar(1, DType::kFloat32);
    Value data = rows.codes;
    const auto window = Fitted(b, data, c.spec.window);
    if (!window) return std::nullopt;
    y = Term(b, b.Op("qnn.conv2d", {data, c.weights, zero, none, one, one},
                     {{"strides", ListOf(window->strides)},
                      {"padding", ListOf(window->pads)},
                      {"dilation", ListOf(window->dilations)},
                      {"groups", c.spec.groups},
                      {"channels", c.weights.dim(3).value()},
                      {"kernel_size", ListOf(window->kernel)},
                      {"data_layout", window->layout()},
                      {"kernel_layout", c.spec.kernel_layout}}))
            .As(DType::kFloat32);
  } else {
    // The same sums, in floats: they are whole.
    Term whole = rows.codes.As(DType::kFloat32);
    if (rows.zero) whole = whole - *rows.zero;
    y = Convolved(b, whole, b.Cast(c.weights, DType::kFloat32), c.spec);
  }
  if (!y) return std::nullopt;
  return Term(b, *y) * rows.scale * ScaleOf(b, n.In(1));
}

Outputs Convolve(NodeContext& n, const Convolution& c) {
  TypedBuilder& b = n.b();
  if (IsQuantised(n.In(0)) && IsQuantised(n.Out())) {
    const Value one = b.Scalar(1, DType::kFloat32);
    const Quantisation& q = n.In(1).quantisation;
    const Value w_zero = q.is_per_channel() ? b.Ints(q.zeros, c.weights.dtype())
                                            : b.Int(q.zero(), c.weights.dtype());
    const auto sum = [&](const Value& x, const Value& zero) -> std::optional<Value> {
      Value data = x;
      const auto at = typing::IntegerElements(*zero.constant)[0];
      const auto window = Fitted(b, data, c.spec.window, static_cast<double>(at));
      if (!window) return std::nullopt;
      return b.Op("qnn.conv2d", {data, c.weights, zero, w_zero, one, one},
                  {{"strides", ListOf(window->strides)},
                   {"padding", ListOf(window->pads)},
                   {"dilation", ListOf(window->dilations)},
                   {"groups", c.spec.groups},
                   {"channels", c.weights.dim(3).value()},
                   {"kernel_size", ListOf(window->kernel)},
                   {"data_layout", window->layout()},
                   {"kernel_layout", c.spec.kernel_layout}});
    };
    const auto y = SummedCodes(n, 0, 1, 2, sum, c.activation);
    return y ? Outputs{*y} : Outputs{};
  }
  std::optional<Value> y;
  if (IsHybrid(n, 0, 1)) {
    y = HybridConv(n, c);
  } else {
    y = Convolved(b, n.Input(0), b.Cast(c.weights, n.Input(0).dtype()), c.spec);
  }
  if (!y) return {};
  return {Activated(Term(b, WithBias(n, *y, 2)), c.activation)};
}

// Of three axes, whose kernel stands first in the weights.
Window SolidWindow(NodeContext& n) {
  const auto& o = n.Get<fb::Conv3DOptions>();
  Window window;
  window.kernel = KernelOf(n, n.Input(1), 0, 3);
  window.strides = {o.stride_d(), o.stride_h(), o.stride_w()};
  window.dilations = {o.dilation_d_factor(), o.dilation_h_factor(), o.dilation_w_factor()};
  window.padding = PaddingOf(o.padding());
  window.channels_last = true;
  return window;
}

template <typename Table>
ConvSpec PlaneSpec(const Table& o) {
  ConvSpec spec;
  spec.window.strides = {o.stride_h(), o.stride_w()};
  spec.window.dilations = {o.dilation_h_factor(), o.dilation_w_factor()};
  spec.window.padding = PaddingOf(o.padding());
  spec.window.channels_last = true;
  spec.kernel_layout = "HWIO";
  return spec;
}

Outputs Conv2D(NodeContext& given) {
  if (!HasRank(given, 0, 4) || !HasRank(given, 1, 4)) return {};
  NodeContext n = given.With(0, WithChannels(given, 0, given.Input(1).dim(3)))
                      .With(1, SignedWeights(given, 0, 1));
  const auto& o = n.Get<fb::Conv2DOptions>();
  Convolution c{PlaneSpec(o), n.b().Transpose(n.Input(1), {1, 2, 3, 0}), o.activation()};
  c.spec.window.kernel = KernelOf(n, n.Input(1), 1, 2);
  const Dim all = n.Input(0).dim(3), each = n.Input(1).dim(3), outputs = n.Input(1).dim(0);
  if (!all.is_const() || !each.is_const() || !outputs.is_const() || each.value() < 1 ||
      all.value() % each.value() != 0) {
    return n.Fail("channels of the input and of its weights do not fit");
  }
  c.spec.groups = all.value() / each.value();
  return Convolve(n, c);
}

Outputs DepthwiseConv2D(NodeContext& given) {
  if (!HasRank(given, 0, 4) || !HasRank(given, 1, 4)) return {};
  const auto& o = given.Get<fb::DepthwiseConv2DOptions>();
  const Dim all = given.Input(1).dim(3);
  const int64_t each = std::max(o.depth_multiplier(), 1);
  const Dim wanted = all.is_const() ? Dim(all.value() / each) : all;
  NodeContext n = given.With(0, WithChannels(given, 0, wanted));
  const Value w = n.Input(1);
  const Dim channels = n.Input(0).dim(3), outputs = w.dim(3);
  Convolution c{PlaneSpec(o), n.b().Transpose(w, {1, 2, 0, 3}), o.activation()};
  c.spec.window.kernel = KernelOf(n, w, 1, 2);
  if (!channels.is_const() || !outputs.is_const() || channels.value() < 1 ||
      !w.dim(0).is_const(1) || outputs.value() % channels.value() != 0) {
    return n.Fail("channels of the input and of its weights do not fit");
  }
  c.spec.groups = channels.value();
  return Convolve(n, c);
}

Outputs Conv3D(NodeContext& n) {
  if (!HasRank(n, 0, 5) || !HasRank(n, 1, 5)) return {};
  const auto& o = n.Get<fb::Conv3DOptions>();
  ConvSpec spec;
  spec.window = SolidWindow(n);
  spec.kernel_layout = "DHWIO";
  const auto y = Convolved(n, n.Input(0), n.Input(1), spec);
  if (!y) return {};
  return {Activated(Term(n.b(), WithBias(n, *y, 2)), o.activation())};
}

// --- Transposed ones: (shape of the result, weights, data, bias) ---

// The spatial extents that the shape asks for; empty where they follow from the data's.
std::vector<int64_t> AskedExtents(NodeContext& n, size_t spatial) {
  const auto shape = n.b().Elements(n.Input(0));
  std::vector<int64_t> extents;
  for (size_t i = 0; i < spatial && shape && shape->size() == spatial + 2; ++i) {
    const Dim d = (*shape)[i + 1];
    if (!d.is_const()) return {};
    extents.push_back(d.value());
  }
  return extents;
}

// Sums of a transposed convolution of codes: exact in float32 where they are small, else in int32.
std::optional<Value> TransposedSum(NodeContext& n, const Value& x, const Value& x_zero,
                                   const Value& w, const TransposedConvSpec& spec) {
  TypedBuilder& b = n.b();
  const DType dtype = IsExactInFloat(w, 1) ? DType::kFloat32 : DType::kInt32;
  Term data = Term(b, x).As(DType::kInt32) - Term(b, x_zero).As(DType::kInt32);
  Term weights = Term(b, w).As(DType::kInt32);
  if (const int64_t zero = n.In(1).quantisation.zero(); zero != 0)
    weights = weights - static_cast<double>(zero);
  const auto y = TransposedConv(b, data.As(dtype), weights.As(dtype), spec);
  return y ? std::optional(b.Cast(*y, DType::kInt32)) : std::nullopt;
}

Outputs Transposed(NodeContext& n, const TransposedConvSpec& spec, const Value& w,
                   fb::Activation activation) {
  TypedBuilder& b = n.b();
  if (IsQuantised(n.In(2)) && IsQuantised(n.Out())) {
    const auto sum = [&](const Value& x, const Value& zero) {
      return TransposedSum(n, x, zero, w, spec);
    };
    const auto y = SummedCodes(n, 2, 1, 3, sum, activation);
    return y ? Outputs{*y} : Outputs{};
  }
  Term x(n, 2);
  std::optional<Term> scale;
  if (IsHybrid(n, 2, 1)) {
    const QuantisedRows rows = QuantiseRows(x, AllButFirst(x.rank()), /*has_zero=*/true);
    x = rows.codes.As(DType::kFloat32) - *rows.zero;
    scale = rows.scale * ScaleOf(b, n.In(1));
  }
  const auto y = TransposedConv(b, x, b.Cast(w, x.dtype()), spec);
  if (!y) return {};
  const Term result = scale ? Term(b, *y) * *scale : Term(b, *y);
  return {Activated(Term(b, WithBias(n, result, 3)), activation)};
}

Outputs TransposeConv(NodeContext& given) {
  if (!HasRank(given, 2, 4) || !HasRank(given, 1, 4)) return {};
  NodeContext n = given.With(2, WithChannels(given, 2, given.Input(1).dim(3)));
  const auto& o = n.Get<fb::TransposeConvOptions>();
  TransposedConvSpec spec;
  spec.window.kernel = KernelOf(n, n.Input(1), 1, 2);
  spec.window.strides = {o.stride_h(), o.stride_w()};
  spec.window.dilations = {1, 1};
  spec.window.padding = PaddingOf(o.padding());
  spec.window.channels_last = true;
  spec.shape = AskedExtents(n, 2);
  return Transposed(n, spec, n.b().Transpose(n.Input(1), {3, 0, 1, 2}), o.activation());
}

Outputs Conv3DTranspose(NodeContext& n) {
  if (!HasRank(n, 2, 5) || !HasRank(n, 1, 5)) return {};
  const auto& o = n.Get<fb::Conv3DOptions>();
  TransposedConvSpec spec;
  spec.window = SolidWindow(n);
  spec.shape = AskedExtents(n, 3);
  return Transposed(n, spec, n.b().Transpose(n.Input(1), {4, 3, 0, 1, 2}), o.activation());
}

}  // namespace

std::span<const OperatorDef> ConvOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::CONV_2D, 2, 3, Conv2D, Options::Conv2DOptions},
      {Code::DEPTHWISE_CONV_2D, 2, 3, DepthwiseConv2D, Options::DepthwiseConv2DOptions},
      {Code::CONV_3D, 2, 3, Conv3D, Options::Conv3DOptions},
      {Code::TRANSPOSE_CONV, 3, 4, TransposeConv, Options::TransposeConvOptions},
      {Code::CONV_3D_TRANSPOSE, 3, 4, Conv3DTranspose, Options::Conv3DOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
