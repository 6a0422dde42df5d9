// Convolutions, dense layers, activations, softmax.
#include <fmt/format.h>

#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/resize.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/window.h"

namespace relayvm::import::mxnet {

std::optional<Window> ReadWindow(Node& n) {
  Window w;
  w.kernel = n.Counts("kernel");
  const std::vector<int64_t> ones(w.kernel.size(), 1), zeros(w.kernel.size(), 0);
  // An empty tuple is the default.
  const auto each = [&](std::string_view name, const std::vector<int64_t>& fallback) {
    const std::vector<int64_t> given = n.Counts(name, fallback);
    return given.empty() ? fallback : given;
  };
  w.strides = each("stride", ones);
  w.dilations = each("dilate", ones);
  const std::vector<int64_t> pad = each("pad", zeros);
  w.pads = pad;
  w.pads.insert(w.pads.end(), pad.begin(), pad.end());
  const std::string layout = n.Text("layout", "");
  w.channels_last = layout.ends_with('C');
  const auto spatial = static_cast<size_t>(std::max(0, n.Input(0).rank() - 2));
  if (!IsSane(n, w, spatial)) return std::nullopt;
  if (!layout.empty() && layout != w.layout())
    return n.Unsupported("attribute layout: expected {}, found '{}'", w.layout(), layout);
  if (w.pads.size() != 2 * spatial)
    return n.Fail("attribute pad: expected {} numbers, found {}", spatial, pad.size());
  return w;
}

std::string KernelLayout(const Window& w) {
  std::string layout = w.layout();
  layout[0] = 'O';
  layout[layout.find('C')] = 'I';
  return layout;
}

Value WithBias(Node& n, const Value& y, size_t i, const Window& w) {
  if (!n.Has(i) || n.Bool("no_bias", false)) return y;
  return n.b().Op("nn.bias_add", {y, n.Input(i)}, {{"axis", w.channels_last ? y.rank() - 1 : 1}});
}

namespace {

Outputs Convolution(Node& n) {
  const auto window = ReadWindow(n);
  if (!window || !n.ExpectRank(n.Input(1), n.Input(0).rank(), "weight")) return {};
  const auto y = Convolved(n, n.Input(0), n.Input(1),
                           {.window = *window,
                            .groups = n.Count("num_group", 1),
                            .kernel_layout = KernelLayout(*window)});
  return y ? Outputs{WithBias(n, *y, 2, *window)} : Outputs{};
}

// Without a bias unless it is asked for.
Outputs Deconvolution(Node& n) {
  auto window = ReadWindow(n);
  if (!window) return {};
  TransposedConvSpec spec{.window = *window, .extra = n.Counts("adj")};
  const std::vector<int64_t> target = n.Counts("target_shape");
  if (std::ranges::any_of(target, [](int64_t d) { return d != 0; })) {
    // Of what goes at the ends the odd one goes at the start.
    spec.shape = target;
    spec.extra.clear();
    spec.window.padding = WindowPadding::kSameLower;
    spec.window.pads.clear();
  }
  spec.groups = n.Count("num_group", 1);
  spec.kernel_layout = KernelLayout(*window);
  std::swap(spec.kernel_layout[0], spec.kernel_layout[spec.kernel_layout.find('I')]);
  const auto y = TransposedConv(n, n.Input(0), n.Input(1), spec);
  if (!y) return {};
  return {n.Bool("no_bias", true) ? *y : WithBias(n, *y, 2, *window)};
}

// (batch, ...) as (batch, all others).
Term Flat(const Term& x) {
  return x.rank() == 2 ? x : x.rank() == 1 ? x.Expand(1) : x.Call("nn.batch_flatten");
}

Outputs FullyConnected(Node& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const Value w = n.Input(1);
  if (!n.ExpectRank(w, 2, "weight")) return {};
  if (n.Bool("flatten", true)) x = Flat(x);
  const AttrValue units = w.dim(0).is_const() ? AttrValue(w.dim(0).value()) : AttrValue();
  Value y;
  if (x.rank() == 2) {
    y = b.Op("nn.dense", {x, w}, {{"units", units}});
  } else {
    if (x.rank() < 1) return n.Fail("expected data of rank 1 or more");
    const Value rows = ShapedAs(b, x, {b.Ints({-1}), b.DimOf(x, -1)});
    std::vector<Value> dims;
    for (int i = 0; i + 1 < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
    dims.push_back(b.DimOf(w, 0));
    y = ShapedAs(b, b.Op("nn.dense", {rows, w}, {{"units", units}}), dims);
  }
  if (!n.Has(2) || n.Bool("no_bias", false)) return {y};
  // Files that converters wrote hold biases of (1, units).
  const Term bias = Term(n, 2).rank() == 1 ? Term(n, 2) : Term(n, 2).Reshape({-1});
  return {b.Op("nn.bias_add", {y, bias}, {{"axis", -1}})};
}

// --- Activations ---

Outputs Activation(Node& n) {
  const std::string name =
      n.Choice("act_type", "", {"relu", "sigmoid", "tanh", "softrelu", "softsign"});
  const Term x(n, 0);
  // oneDNN, which float32 goes to, makes 0 of NaN.
  if (name == "relu")
    return {x.dtype() == DType::kFloat32 ? x.Call("nn.relu") : Maximum(x.Number(0), x)};
  const ActivationDef* def = FindActivation(name == "softrelu" ? "softplus" : name);
  return def == nullptr ? Outputs{} : Outputs{def->apply(x, def->alpha, def->beta)};
}

Outputs LeakyRelu(Node& n) {
  const Term x(n, 0);
  const std::string kind =
      n.Choice("act_type", "leaky", {"leaky", "prelu", "elu", "selu", "gelu", "rrelu"});
  double slope = n.Float("slope", 0.25);
  if (kind == "prelu") {
    if (!n.Has(1)) return n.Fail("prelu: expected gamma as input 1");
    Term gamma(n, 1);
    if (gamma.rank() == 1 && x.rank() > 1)
      gamma = gamma.value().dim(0).is_const(1) ? AsScalar(gamma) : Along(gamma, 1, x.rank());
    return {Select(x > 0, x, x * gamma)};
  }
  if (kind == "selu")
    return {FindActivation("selu")->apply(x, 1.6732632423543772, 1.0507009873554805)};
  if (kind == "elu") return {Select(x > 0, x, (Exp(x) - 1) * slope)};
  if (kind == "gelu") return {GeluOf(x)};
  if (kind == "rrelu") slope = (n.Float("lower_bound", 0.125) + n.Float("upper_bound", 0.334)) / 2;
  return {x.Call("nn.leaky_relu", {{"alpha", slope}})};
}

Outputs HardSigmoid(Node& n) {
  const Term x(n, 0);
  // NaN stays.
  const Term line = x * n.Float("alpha", 0.2) + n.Float("beta", 0.5);
  return {Maximum(line.Number(0), Minimum(line.Number(1), line))};
}

// --- Softmax ---

// Along `axis` over the first `lengths` elements (as x without that axis); the others are 0.
Term SoftmaxOfLengths(Node& n, const Term& x, int axis, const Term& lengths) {
  TypedBuilder& b = n.b();
  const Term place = RangeOf(b, x, axis).As(DType::kInt64).Expand(1, x.rank() - 1 - axis);
  const Term kept = place < lengths.As(DType::kInt64).Expand(axis);
  const Term y = Select(kept, x, x.Number(-HUGE_VAL)).Call("nn.softmax", {{"axis", axis}});
  return Select(kept, y, y.Number(0));  // also where there are none
}

Outputs SoftmaxOf(Node& n, std::string_view op, double sign) {
  Term x(n, 0);
  const int axis = n.Axis(n.Int("axis", -1), x.rank());
  if (x.rank() == 0) return n.Fail("expected data of rank 1 or more");
  const DType out = n.Type("dtype", IsFloat(x.dtype()) ? x.dtype() : DType::kFloat32);
  x = AsReal(x);
  const double temperature = n.MaybeFloat("temperature").value_or(1) * sign;
  if (temperature != 1) x = temperature == -1 ? -x : x / temperature;
  if (DTypeBytes(out) > DTypeBytes(x.dtype())) x = x.As(out);
  if (!n.Has(1) || !n.Bool("use_length", false)) return {x.Call(op, {{"axis", axis}}).As(out)};
  if (op != "nn.softmax") return n.Unsupported("use_length of this operator");
  return {SoftmaxOfLengths(n, x, axis, Term(n, 1)).As(out)};
}
Outputs Softmax(Node& n) { return SoftmaxOf(n, "nn.softmax", 1); }
Outputs LogSoftmax(Node& n) { return SoftmaxOf(n, "nn.log_softmax", 1); }
Outputs Softmin(Node& n) { return SoftmaxOf(n, "nn.softmax", -1); }

Outputs SoftmaxActivation(Node& n) {
  const Term x(n, 0);
  if (n.Choice("mode", "instance", {"instance", "channel"}) == "channel")
    return {x.Call("nn.softmax", {{"axis", 1}})};
  return {x.Call("nn.softmax", {{"axis", -1}})};
}

// --- Others ---

Outputs Dropout(Node& n) {
  if (n.Choice("mode", "training", {"training", "always"}) == "always" && n.Float("p", 0.5) > 0)
    return n.Unsupported("mode always: its results are random");
  return {n.Input(0)};
}

// Pictures of different sizes are brought to that of the first; one behind the other in channels,
// or added.
Outputs UpSampling(Node& n) {
  TypedBuilder& b = n.b();
  const int64_t scale = n.Count("scale", 1);
  if (scale < 1 || n.Input(0).rank() != 4) return n.Fail("expected a scale above 0, and rank 4");
  if (n.Choice("sample_type", "nearest", {"nearest", "bilinear"}) == "bilinear") {
    // A transposed convolution whose weights are an input.
    if (!n.Has(1)) return n.Fail("bilinear: expected weights as input 1");
    const int64_t kernel = 2 * scale - scale % 2;
    const int64_t pad = scale / 2;
    const Dim channels = n.Input(0).dim(1);
    if (!channels.is_const()) return n.Unsupported("the number of channels must be known");
    TransposedConvSpec spec{.window = {{kernel, kernel}, {scale, scale}, {1, 1}, {}}};
    spec.window.pads.assign(4, pad);
    spec.groups = channels.value();
    const auto y = TransposedConv(n, n.Input(0), n.Input(1), spec);
    return y ? Outputs{*y} : Outputs{};
  }
  std::vector<Value> parts;
  for (size_t i = 0; i < n.num_inputs(); ++i) {
    if (!n.ExpectRank(n.Input(i), 4, "data")) return {};
    if (i == 0) {
      Value part = n.Input(0);
      for (const int axis : {2, 3})
        part = b.Op("repeat", {part}, {{"repeats", scale}, {"axis", axis}});
      parts.push_back(part);
      continue;
    }
    ResizeSpec spec{.x = n.Input(i), .axes = {2, 3}, .method = ResizeMethod::kNearest};
    spec.coordinates = ResizeCoordinates::kAsymmetric;
    spec.rounding = ResizeRounding::kFloor;
    spec.sizes = Term(b, b.Concat({b.DimOf(parts[0], 2), b.DimOf(parts[0], 3)}, 0));
    parts.push_back(Resized(b, spec));
  }
  if (n.Choice("multi_input_mode", "concat", {"concat", "sum"}) == "concat")
    return {b.Concat(parts, 1)};
  Term sum(b, parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) sum = sum + Term(b, parts[i]);
  return {sum};
}

constexpr OperatorDef kNnOperators[] = {
    {"Activation _npx_activation", 1, 1, Activation},
    {"Convolution Convolution_v1 _npx_convolution", 2, 3, Convolution},
    {"Deconvolution _npx_deconvolution", 2, 3, Deconvolution},
    {"Dropout _npx_dropout", 1, 1, Dropout},
    {"FullyConnected _npx_fully_connected", 2, 3, FullyConnected},
    {"IdentityAttachKLSparseReg", 1, 2, Copy},
    {"LeakyReLU _npx_leaky_relu", 1, 2, LeakyRelu},
    {"SoftmaxActivation", 1, 1, SoftmaxActivation},
    {"UpSampling", 1, -1, UpSampling},
    {"hard_sigmoid", 1, 1, HardSigmoid},
    {"log_softmax _npx_log_softmax", 1, 2, LogSoftmax},
    {"softmax _npx_softmax", 1, 2, Softmax},
    {"softmin", 1, 2, Softmin},
};

}  // namespace

std::span<const OperatorDef> NnOperators() { return kNnOperators; }

}  // namespace relayvm::import::mxnet
