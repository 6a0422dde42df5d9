// Products, convolutions, and what they are fused with. Pools: op_pool.cc.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/checked.h"
#include "compiler/import/composite/activations.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/tensorflow/window.h"

namespace relayvm::import::tensorflow {

bool ChannelsLast(NodeContext& n) {
  const std::string format = n.String("data_format", "NHWC");
  if (format == "NHWC" || format == "NDHWC" || format == "NWC") return true;
  if (format != "NCHW" && format != "NCDHW" && format != "NCW")
    n.Unsupported("data_format {} is not supported", format);
  return false;
}

std::optional<std::vector<int64_t>> SpatialOf(NodeContext& n, const std::vector<int64_t>& all,
                                              int rank, std::string_view what) {
  if (rank < 3 || static_cast<int>(all.size()) != rank)
    return n.Fail("{}: expected {} numbers, found {}", what, rank, all.size());
  const auto channels = static_cast<size_t>(ChannelAxis(n, rank));
  if (all[0] != 1 || all[channels] != 1)
    return n.Unsupported("{}: other than 1 for batches and channels", what);
  std::vector<int64_t> spatial;
  for (size_t i = 1; i < all.size(); ++i) {
    if (i != channels) spatial.push_back(all[i]);
  }
  return spatial;
}

std::optional<Window> WindowOf(NodeContext& n, int rank, std::vector<int64_t> kernel,
                               std::string_view dilations,
                               std::optional<std::vector<int64_t>> strides) {
  const std::vector<int64_t> ones(static_cast<size_t>(std::max(rank, 0)), 1);
  if (!strides) strides = n.Ints("strides", ones);
  const auto steps = SpatialOf(n, *strides, rank, "strides");
  auto dilated = n.Ints(dilations, ones);
  if (dilated.empty()) dilated = ones;
  const auto spread = steps ? SpatialOf(n, dilated, rank, dilations) : std::nullopt;
  if (!spread) return std::nullopt;
  Window w{.kernel = std::move(kernel), .strides = *steps, .dilations = *spread};
  w.channels_last = ChannelsLast(n);
  const std::string padding = n.String("padding", "VALID");
  if (padding == "VALID") return w;
  if (padding == "SAME") {
    w.padding = WindowPadding::kSameUpper;
    return w;
  }
  if (padding != "EXPLICIT")
    return n.Fail("padding: expected SAME, VALID or EXPLICIT, found {}", padding);
  const std::vector<int64_t> pads = n.Ints("explicit_paddings");
  if (pads.size() != 2 * static_cast<size_t>(rank))
    return n.Fail("explicit_paddings: expected {} numbers, found {}", 2 * rank, pads.size());
  std::vector<int64_t> before, after;
  for (size_t i = 0; i < w.spatial(); ++i) {
    before.push_back(pads[2 * static_cast<size_t>(w.axis(i))]);
    after.push_back(pads[2 * static_cast<size_t>(w.axis(i)) + 1]);
  }
  w.pads = before;
  w.pads.insert(w.pads.end(), after.begin(), after.end());
  return w;
}

std::optional<Term> FusedActivation(NodeContext& n, std::string_view name, const Term& x) {
  if (name == "Relu6") return Clamp(x, x.Number(0), x.Number(6));
  if (name == "LeakyRelu")
    return FindActivation("leakyrelu")->apply(x, n.Float("leakyrelu_alpha", 0.2), 0);
  if (name == "GeluExact") return GeluOf(x);
  if (name == "GeluApproximate") return TanhGeluOf(x);
  if (name == "_FusedHardSwish") return FindActivation("hardswish")->apply(x, 0, 0);
  if (name == "_MklSwish" || name == "Swish") return SwishOf(x, 1);
  if (name == "Identity" || name == "Linear") return x;
  const ActivationDef* def = FindActivation(name);
  if (def == nullptr) return std::nullopt;
  return def->apply(x, def->alpha, def->beta);
}

namespace {

constexpr std::string_view kKernels[] = {"WIO", "HWIO", "DHWIO"};
constexpr std::string_view kTransposedKernels[] = {"WOI", "HWOI", "DHWOI"};

// The spatial extents of a filter (spatial.., in, out), which must be known.
std::optional<std::vector<int64_t>> KernelOf(NodeContext& n, const Value& filter, int rank) {
  if (filter.rank() != rank || rank < 3 || rank > 5)
    return n.Fail("expected data and filter of one rank, 3 to 5, found {} and {}", rank,
                  filter.rank());
  std::vector<int64_t> kernel;
  for (int i = 0; i + 2 < rank; ++i) {
    if (!filter.dim(i).is_const()) return n.Unsupported("the filter's extents must be known");
    kernel.push_back(filter.dim(i).value());
  }
  return kernel;
}

// How many groups of `size` channels the data has.
std::optional<int64_t> GroupsOf(NodeContext& n, const Dim& channels, const Dim& size) {
  if (!channels.is_const() || !size.is_const()) return 1;
  if (size.value() < 1 || channels.value() % size.value() != 0) {
    return n.Fail("the data has {} channels, the filter takes {}", channels.value(), size.value());
  }
  return std::max<int64_t>(channels.value() / size.value(), 1);
}

std::optional<Value> ConvolvedWith(NodeContext& n, Value x, const Value& filter) {
  const int rank = x.rank();
  const auto kernel = KernelOf(n, filter, rank);
  if (!kernel) return std::nullopt;
  auto window = WindowOf(n, rank, *kernel);
  if (!window) return std::nullopt;
  const int channels = ChannelAxis(n, rank);
  if (filter.dim(rank - 2).is_const() && !x.dim(channels).is_const())
    x = Stating(n, x, channels, filter.dim(rank - 2).value(), n.InputText(0, "input"));
  const auto groups = GroupsOf(n, x.dim(channels), filter.dim(rank - 2));
  if (!groups) return std::nullopt;
  return Convolved(n, x, filter,
                   {.window = *std::move(window),
                    .groups = *groups,
                    .kernel_layout = std::string(kKernels[rank - 3])});
}

// A filter (height, width, channels, multiplier): one group for each channel.
Value DepthwiseFilter(NodeContext& n, const Value& filter) {
  TypedBuilder& b = n.b();
  if (filter.rank() != 4) return n.Fail("filter: expected rank 4, found {}", filter.rank()), filter;
  if (filter.dim(2).is_const() && filter.dim(3).is_const())
    return b.Reshape(filter, {0, 0, 1, filter.dim(2).value() * filter.dim(3).value()});
  n.Unsupported("the filter's extents must be known");
  return filter;
}

Outputs Conv(NodeContext& n) { return OneOf(ConvolvedWith(n, n.Input(0), n.Input(1))); }
Outputs DepthwiseConv(NodeContext& n) {
  const Value filter = DepthwiseFilter(n, n.Input(1));
  if (!Ok(n)) return {};
  Value x = n.Input(0);
  const int channels = ChannelAxis(n, x.rank());
  if (x.rank() == 4) {
    x = Stating(n, x, channels, n.Input(1).dim(2).value(), n.InputText(0, "input"));
    if (x.dim(channels) != n.Input(1).dim(2)) {
      return n.Fail("the data has {} channels, the filter {}", x.dim(channels).ToString(),
                    n.Input(1).dim(2).ToString());
    }
  }
  return OneOf(ConvolvedWith(n, x, filter));
}

// --- Back from the result of a convolution to data of the shape that input 0 says ---

Outputs TransposedBy(NodeContext& n, const Value& filter) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(2);
  const int rank = x.rank();
  const auto kernel = KernelOf(n, filter, rank);
  const auto window = kernel ? WindowOf(n, rank, *kernel) : std::nullopt;
  if (!window) return {};
  auto sizes = b.Elements(n.Input(0));
  TransposedConvSpec spec{.window = *window};
  spec.kernel_layout = kTransposedKernels[rank - 3];
  const bool only_spatial = sizes && sizes->size() == window->spatial();
  if (only_spatial) {
    const std::vector<Dim> extents = *sizes;
    sizes = std::vector<Dim>(static_cast<size_t>(rank), filter.dim(rank - 2));
    (*sizes)[0] = x.dim(0);
    for (size_t i = 0; i < extents.size(); ++i)
      (*sizes)[static_cast<size_t>(window->axis(i))] = extents[i];
  }
  if (sizes && sizes->size() != static_cast<size_t>(rank))
    return n.Fail("input_sizes: expected {} numbers, found {}", rank, sizes->size());
  const int channels = ChannelAxis(n, rank);
  if (sizes) {
    const auto groups = GroupsOf(n, (*sizes)[static_cast<size_t>(channels)], filter.dim(rank - 2));
    if (!groups) return {};
    spec.groups = *groups;
  }
  bool all_known = sizes.has_value();
  std::vector<int64_t> shape;
  for (size_t i = 0; sizes && i < window->spatial(); ++i) {
    const Dim& d = (*sizes)[static_cast<size_t>(window->axis(i))];
    all_known &= d.is_const();
    shape.push_back(d.is_const() ? d.value() : 0);
  }
  const bool is_explicit = window->padding == WindowPadding::kGiven && !window->pads.empty();
  if (all_known && !is_explicit) {
    spec.shape = shape;
  } else {
    // What the strides leave open is what a multiple of the stride gives.
    for (size_t i = 0; i < window->spatial(); ++i) {
      const Dim extent = x.dim(window->axis(i));
      int64_t extra = 0;
      if (is_explicit && all_known && extent.is_const()) {
        extra = shape[i] - ((extent.value() - 1) * window->strides[i] + window->reach(i) -
                            window->pads[i] - window->pads[i + window->spatial()]);
      } else if (window->padding == WindowPadding::kGiven && !is_explicit) {
        extra = std::max<int64_t>(window->strides[i] - window->reach(i), 0);
      }
      spec.extra.push_back(extra);
    }
    if (window->padding != WindowPadding::kGiven) spec.extra.clear();
  }
  auto y = TransposedConv(n, x, filter, spec);
  if (!y || !Ok(n)) return {};
  bool same = sizes.has_value();
  for (int i = 0; same && i < rank; ++i) same = (*sizes)[static_cast<size_t>(i)] == y->dim(i);
  if (same || only_spatial) return {*y};
  return {ShapedAs(b, *y, {b.Cast(n.Input(0), DType::kInt64)})};
}
Outputs ConvBackpropInput(NodeContext& n) { return TransposedBy(n, n.Input(1)); }
Outputs DepthwiseBackpropInput(NodeContext& n) {
  const Value filter = DepthwiseFilter(n, n.Input(1));
  return Ok(n) ? TransposedBy(n, filter) : Outputs{};
}

// --- Products ---

// Of complex numbers four products of their parts.
template <typename Fn>
Outputs ProductOfParts(NodeContext& n, bool conjugate_x, bool conjugate_y, Fn product) {
  if (!HasComplex(n)) return {product(n.Input(0), n.Input(1))};
  Complex x = ComplexOf(n, n.Input(0)), y = ComplexOf(n, n.Input(1));
  if (conjugate_x) x.im = -x.im;
  if (conjugate_y) y.im = -y.im;
  const auto times = [&](const Term& a, const Term& c) { return Term(n, product(a, c)); };
  return {
      PairOf(n, {times(x.re, y.re) - times(x.im, y.im), times(x.re, y.im) + times(x.im, y.re)})};
}
int RankOfParts(NodeContext& n, size_t i) { return ComplexOf(n, n.Input(i)).re.rank(); }

Outputs MatMul(NodeContext& n) {
  const int ranks[] = {RankOfParts(n, 0), RankOfParts(n, 1)};
  if (ranks[0] != 2 || ranks[1] != 2)
    return n.Fail("expected matrices, found rank {} and {}", ranks[0], ranks[1]);
  return ProductOfParts(n, false, false, [&](const Value& x, const Value& y) {
    return n.b().Op("nn.matmul", {x, y},
                    {{"transpose_a", n.Bool("transpose_a", false)},
                     {"transpose_b", n.Bool("transpose_b", false)}});
  });
}

Value Adjoint(NodeContext& n, const Value& v, bool flip) {
  if (!flip || v.rank() < 2) return v;
  std::vector<int64_t> axes = Iota(v.rank());
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return n.b().Transpose(v, axes);
}
Outputs BatchMatMul(NodeContext& n) {
  if (RankOfParts(n, 0) < 2 || RankOfParts(n, 1) < 2) return n.Fail("expected matrices");
  const bool flip_x = n.Bool("adj_x", false), flip_y = n.Bool("adj_y", false);
  return ProductOfParts(n, flip_x, flip_y, [&](Value x, Value y) {
    if (n.HasAttr("Tout")) {
      const DType to = n.Type("Tout", x.dtype());
      x = n.b().Cast(x, to);
      y = n.b().Cast(y, to);
    }
    return MatMulOf(n, Adjoint(n, x, flip_x), Adjoint(n, y, flip_y));
  });
}

Outputs BiasAdd(NodeContext& n) {
  const Value x = n.Input(0);
  if (x.rank() < 2) return {Term(n, 0) + Term(n, 1)};
  return {n.b().Op("nn.bias_add", n.inputs(), {{"axis", ChannelAxis(n, x.rank())}})};
}

// --- Fused: what follows a product, by name, each with its arguments ---

Outputs Fused(NodeContext& n, const std::optional<Value>& product, int channels) {
  if (!product) return {};
  TypedBuilder& b = n.b();
  Term y(b, *product);
  size_t next = 2;
  const auto argument = [&] {
    if (!n.Has(next)) n.Fail("fused_ops: more arguments than inputs");
    return Term(n, next++);
  };
  for (const std::string& name : n.Strings("fused_ops")) {
    if (name == "BiasAdd") {
      y = Term(b, b.Op("nn.bias_add", {y, argument()}, {{"axis", channels}}));
    } else if (name == "Add") {
      y = y + argument();
    } else if (name == "Prelu") {
      y = Select(y < 0, y * argument(), y);
    } else if (name == "FusedBatchNorm") {
      const Term scale = argument(), offset = argument(), mean = argument(), variance = argument();
      const std::vector<Value> norm =
          b.Ops("nn.batch_norm", {y, scale, offset, mean, variance},
                {{"axis", channels}, {"epsilon", n.Float("epsilon", 1e-4)}});
      if (norm.empty()) return {};
      y = Term(b, norm[0]);
    } else if (const auto active = FusedActivation(n, name, y)) {
      y = *active;
    } else {
      return n.Unsupported("fused_ops: {} is not supported", name);
    }
    if (!Ok(n)) return {};
  }
  return {y};
}
Outputs FusedConv(NodeContext& n) {
  return Fused(n, ConvolvedWith(n, n.Input(0), n.Input(1)), ChannelAxis(n, n.Input(0).rank()));
}
Outputs FusedDepthwiseConv(NodeContext& n) {
  const Value filter = DepthwiseFilter(n, n.Input(1));
  if (!Ok(n)) return {};
  return Fused(n, ConvolvedWith(n, n.Input(0), filter), ChannelAxis(n, n.Input(0).rank()));
}
Outputs FusedMatMul(NodeContext& n) {
  const Outputs y = MatMul(n);
  return y.empty() ? y : Fused(n, y[0], 1);
}

template <OpName kName>
Outputs OverLastAxis(NodeContext& n) {
  return {n.b().Op(kName.chars, {n.Input(0)}, {{"axis", n.Input(0).rank() - 1}})};
}

constexpr OperatorDef kNnOperators[] = {
    {"BatchMatMul", 2, 2, BatchMatMul},
    {"BatchMatMulV2", 2, 2, BatchMatMul},
    {"BatchMatMulV3", 2, 2, BatchMatMul},
    {"BiasAdd", 2, 2, BiasAdd, {}, "?1"},
    {"BiasAddV1", 2, 2, BiasAdd, {}, "?1"},
    {"Conv2D", 2, 2, Conv, {}, "44"},
    {"Conv2DBackpropInput", 3, 3, ConvBackpropInput, {}, "144"},
    {"Conv3D", 2, 2, Conv, {}, "55"},
    {"Conv3DBackpropInputV2", 3, 3, ConvBackpropInput, {}, "155"},
    {"DepthwiseConv2dNative", 2, 2, DepthwiseConv, {}, "44"},
    {"DepthwiseConv2dNativeBackpropInput", 3, 3, DepthwiseBackpropInput, {}, "144"},
    {"LogSoftmax", 1, 1, OverLastAxis<"nn.log_softmax">},
    {"MatMul", 2, 2, MatMul, {}, "22"},
    {"Softmax", 1, 1, OverLastAxis<"nn.softmax">},
    {"SparseMatMul", 2, 2, MatMul, {}, "22"},
    {"_FusedConv2D", 2, -1, FusedConv, {}, "44"},
    {"_FusedConv3D", 2, -1, FusedConv, {}, "55"},
    {"_FusedDepthwiseConv2dNative", 2, -1, FusedDepthwiseConv, {}, "44"},
    {"_FusedMatMul", 2, -1, FusedMatMul, {}, "22"},
};

}  // namespace

std::span<const OperatorDef> NnOperators() { return kNnOperators; }

}  // namespace relayvm::import::tensorflow
