// Windows over any axes: reductions, and StableHLO's convolutions.
#include <algorithm>
#include <set>
#include <string>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/composite/window.h"
#include "compiler/import/tflite/graph_importer.h"
#include "compiler/import/tflite/spread.h"
#include "compiler/import/tflite/stablehlo.h"

namespace relayvm::import::tflite {

namespace {

// A number for each axis; where there are none, `fallback`.
struct Windowing {
  std::vector<int64_t> sizes, strides, dilations, spreads, pads;
};

bool Fits(NodeContext& n, Windowing* w, size_t rank) {
  constexpr int64_t kMost = 1 << 20;
  const auto fill = [&](std::vector<int64_t>* v, size_t count, int64_t value) {
    if (v->empty()) v->assign(count, value);
    return v->size() == count;
  };
  const auto between = [](const std::vector<int64_t>& v, int64_t low) {
    return std::ranges::all_of(v, [&](int64_t x) { return x >= low && x <= kMost; });
  };
  if (w->sizes.size() == rank && fill(&w->strides, rank, 1) && fill(&w->dilations, rank, 1) &&
      fill(&w->spreads, rank, 1) && fill(&w->pads, 2 * rank, 0) && between(w->sizes, 1) &&
      between(w->strides, 1) && between(w->dilations, 1) && between(w->spreads, 1) &&
      between(w->pads, -kMost)) {
    return true;
  }
  n.Fail("its windows do not fit an input of rank {}", rank);
  return false;
}

// The windows along one axis, what is in them taken tap by tap.
std::optional<Term> AlongAxis(NodeContext& n, const Term& x, int axis, const Windowing& w,
                              const char* with) {
  const auto i = static_cast<size_t>(axis);
  const int64_t taps = w.sizes[i], dilation = w.dilations[i], stride = w.strides[i];
  const Dim extent = x.value().dim(axis);
  constexpr int64_t kMostTaps = 1024;
  if (taps > kMostTaps) return n.Unsupported("windows of {} elements", taps);
  if (taps == 1 && stride == 1) return x;
  const int64_t reach = (taps - 1) * dilation;
  if (extent.is_const() && extent.value() <= reach)
    return n.Fail("windows of {} elements along {}", reach + 1, extent.value());
  std::optional<Term> y;
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t behind = reach - k * dilation;
    const Term part = x.Slice(axis, k * dilation, behind == 0 ? INT64_MAX : -behind, stride);
    y = y ? y->Call(with, part) : part;
  }
  return y;
}

// All elements up to each one, which some write as windows.
bool IsRunningSum(const Windowing& w, const Term& x, int axis, const char* with) {
  const auto i = static_cast<size_t>(axis);
  return std::string_view(with) == "add" && w.sizes[i] > 1 &&
         x.value().dim(axis).is_const(w.sizes[i]) && w.strides[i] == 1 && w.dilations[i] == 1 &&
         w.pads[2 * i] == w.sizes[i] - 1 && w.pads[2 * i + 1] == 0;
}

Outputs Reduced(NodeContext& n, Windowing w, const char* with) {
  Term x(n, 0);
  const Term first = AsScalar(Term(n, 1));
  if (!Fits(n, &w, static_cast<size_t>(x.rank()))) return {};
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    x = Spread(x, axis, w.spreads[i], first);
    if (IsRunningSum(w, x, axis, with) &&
        n.b().ConstantInts(first.As(DType::kInt64)) == std::vector<int64_t>{0}) {
      x = x.Call("cumsum", {{"axis", axis}});
      continue;
    }
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
    widths[i] = {w.pads[2 * i], w.pads[2 * i + 1]};
    const auto padded = Padded(n, x, std::move(widths), {.fill = first});
    const auto y = padded ? AlongAxis(n, Term(n.b(), *padded), axis, w, with) : std::nullopt;
    if (!y) return {};
    x = *y;
  }
  return {x.Call(with, first)};
}

Outputs StablehloReduceWindow(NodeContext& n) {
  const auto& o = n.Get2<fb::StablehloReduceWindowOptions>();
  if (n.num_inputs() != 2) return n.Unsupported("reductions of several tensors");
  const auto reduction = ReductionOf(n, o.body_subgraph_index());
  if (!reduction) return {};
  if (reduction->with == nullptr) return n.Unsupported("windows of which the last element counts");
  return Reduced(n,
                 {LongsOf(o.window_dimensions()), LongsOf(o.window_strides()),
                  LongsOf(o.window_dilations()), LongsOf(o.base_dilations()), LongsOf(o.padding())},
                 reduction->with);
}

// (data, first value, sizes, strides, dilations)
Outputs ReduceWindow(NodeContext& n) {
  constexpr const char* kWith[] = {"",        "add",         "multiply",  "minimum",
                                   "maximum", "logical_and", "logical_or"};
  const int32_t fn = n.Get2<fb::ReduceWindowOptions>().reduce_function();
  const auto sizes = n.ConstantInts(2, "window shape");
  const auto strides = sizes ? n.ConstantInts(3, "strides") : std::nullopt;
  const auto dilations = strides ? n.ConstantInts(4, "dilations") : std::nullopt;
  if (!dilations) return {};
  if (fn < 1 || fn >= static_cast<int32_t>(std::size(kWith))) return n.Fail("function {}", fn);
  return Reduced(n, {*sizes, *strides, *dilations, {}, {}}, kWith[fn]);
}

// --- Convolutions ---

// The axes as they are wanted; nullopt with an error.
std::optional<Term> Ordered(NodeContext& n, const Term& x, std::vector<int64_t> order) {
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  if (sorted != Iota(x.rank())) return n.Fail("its axes do not fit an input of rank {}", x.rank());
  return x.Transpose(std::move(order));
}

std::optional<ConvSpec> SpecOf(NodeContext& n, const fb::StablehloConvolutionOptions& o,
                               const Term& w, Windowing* all) {
  const size_t spatial = LongsOf(o.input_spatial_dimensions()).size();
  constexpr const char* kKernels[] = {"WIO", "HWIO", "DHWIO"};
  if (spatial < 1 || spatial > 3) return n.Unsupported("{} spatial dims", spatial);
  if (o.batch_group_count() > 1) return n.Unsupported("groups of the batch");
  ConvSpec spec;
  for (size_t i = 0; i < spatial; ++i) {
    const Dim d = w.value().dim(static_cast<int>(i));
    if (!d.is_const()) return n.Unsupported("weights of an extent that is open");
    all->sizes.push_back(d.value());
  }
  if (!Fits(n, all, spatial)) return std::nullopt;
  spec.window.kernel = all->sizes;
  spec.window.strides = all->strides;
  spec.window.dilations = all->dilations;
  spec.window.channels_last = true;
  spec.groups = std::max<int64_t>(o.feature_group_count(), 1);
  spec.kernel_layout = kKernels[spatial - 1];
  return spec;
}

Outputs Convolution(NodeContext& n) {
  const auto& o = n.Get2<fb::StablehloConvolutionOptions>();
  const auto order_of = [](int64_t first, const std::vector<int64_t>& spatial,
                           std::vector<int64_t> behind) {
    std::vector<int64_t> order;
    if (first >= 0) order.push_back(first);
    order.insert(order.end(), spatial.begin(), spatial.end());
    order.insert(order.end(), behind.begin(), behind.end());
    return order;
  };
  if (!IsFloat(n.Input(0).dtype())) return n.Unsupported("{}", DTypeName(n.Input(0).dtype()));
  if (n.Input(0).rank() != n.Input(1).rank()) return n.Fail("ranks do not fit");
  auto x = Ordered(n, Term(n, 0),
                   order_of(o.input_batch_dimension(), LongsOf(o.input_spatial_dimensions()),
                            {o.input_feature_dimension()}));
  auto w =
      x ? Ordered(
              n, Term(n, 1),
              order_of(-1, LongsOf(o.kernel_spatial_dimensions()),
                       {o.kernel_input_feature_dimension(), o.kernel_output_feature_dimension()}))
        : std::nullopt;
  if (!w) return {};
  Windowing all{{},
                LongsOf(o.window_strides()),
                LongsOf(o.rhs_dilation()),
                LongsOf(o.lhs_dilation()),
                LongsOf(o.padding())};
  const auto spec = SpecOf(n, o, *w, &all);
  if (!spec) return {};
  const auto* reversal = o.window_reversal();
  std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x->rank()));
  const Term zero = x->Number(0);
  for (size_t i = 0; i < all.sizes.size(); ++i) {
    const auto axis = static_cast<int>(i) + 1;
    x = Spread(*x, axis, all.spreads[i], zero);
    widths[i + 1] = {all.pads[2 * i], all.pads[2 * i + 1]};
    const bool turns =
        reversal != nullptr && i < reversal->size() && reversal->Get(static_cast<uint32_t>(i));
    if (turns) w = w->Call("reverse", {{"axis", axis - 1}});
  }
  const auto padded = Padded(n, *x, std::move(widths), {.fill = zero});
  const auto y = padded ? Convolved(n, *padded, *w, *spec) : std::nullopt;
  if (!y) return {};
  // Back from (n, spatial.., channels).
  const auto wanted = order_of(o.output_batch_dimension(), LongsOf(o.output_spatial_dimensions()),
                               {o.output_feature_dimension()});
  std::vector<int64_t> back(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < 0 || wanted[i] >= static_cast<int64_t>(wanted.size()))
      return n.Fail("its axes do not fit a result of rank {}", wanted.size());
    back[static_cast<size_t>(wanted[i])] = static_cast<int64_t>(i);
  }
  const auto result = Ordered(n, Term(n.b(), *y), back);
  return result ? Outputs{*result} : Outputs{};
}

}  // namespace

std::span<const OperatorDef> WindowOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::REDUCE_WINDOW, 5, 5, ReduceWindow, Options::NONE, Options2::ReduceWindowOptions},
      {Code::STABLEHLO_REDUCE_WINDOW, 2, -1, StablehloReduceWindow, Options::NONE,
       Options2::StablehloReduceWindowOptions},
      {Code::STABLEHLO_CONVOLUTION, 2, 2, Convolution, Options::NONE,
       Options2::StablehloConvolutionOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
