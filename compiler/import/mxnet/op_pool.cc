// Pools, of windows and of all there is.
#include <cmath>

#include "compiler/import/composite/padding.h"
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/window.h"

namespace relayvm::import::mxnet {

namespace {

enum class PoolKind : uint8_t { kMax, kAverage, kSum, kNorm };

std::optional<PoolKind> ReadKind(Node& n) {
  const std::string kind = n.Choice("pool_type", "max", {"max", "avg", "sum", "lp"});
  if (kind == "lp" && n.Int("p_value", 2) < 1)
    return n.Fail("attribute p_value: expected 1 or more");
  return kind == "max"   ? PoolKind::kMax
         : kind == "avg" ? PoolKind::kAverage
         : kind == "sum" ? PoolKind::kSum
                         : PoolKind::kNorm;
}

// What is added up for a norm, and what is made of the sum.
Term Powers(const Term& x, double p) {
  return p == 1 ? Abs(x) : p == 2 ? x * x : Abs(x).Call("power", x.Number(p));
}
Term Root(const Term& sum, double p) {
  return p == 1 ? sum : p == 2 ? Sqrt(sum) : sum.Call("power", sum.Number(1 / p));
}

Outputs GlobalPool(Node& n, PoolKind kind) {
  const Term x(n, 0);
  if (x.rank() < 3) return n.Fail("expected data of rank 3 or more");
  const bool last = n.Text("layout", "").ends_with('C');
  const std::vector<int64_t> axes = Iota(x.rank() - 2, last ? 1 : 2);
  const auto p = static_cast<double>(n.Int("p_value", 2));
  switch (kind) {
    case PoolKind::kMax:
      return {Max(x, axes)};
    case PoolKind::kAverage:
      return {Mean(x, axes)};
    case PoolKind::kSum:
      return {Sum(x, axes)};
    case PoolKind::kNorm:
      return {Root(Sum(Powers(x, p), axes), p)};
  }
  return {};
}

// Sums of windows: averages of as many elements as a window has.
std::optional<Term> Sums(Node& n, const Term& x, const Window& window) {
  double taps = 1;
  for (const int64_t k : window.kernel) taps *= static_cast<double>(k);
  const auto y = Pooled(n, x, {.window = window, .average = true, .counts_padding = true});
  return y ? std::optional(Term(n.b(), *y) * taps) : std::nullopt;
}

// Averages of what a window covers of the data and, counted, of its padding; `beyond` is what the
// last window may reach beyond that.
std::optional<Value> Averages(Node& n, Value x, Window window, const std::vector<int64_t>& beyond,
                              bool counts_padding) {
  const size_t spatial = window.spatial();
  const bool reaches = std::ranges::any_of(beyond, [](int64_t d) { return d != 0; });
  if (reaches && counts_padding) {
    // Padding counts as data does.
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < spatial; ++i) {
      widths[static_cast<size_t>(window.axis(i))] = {window.pads[i], window.pads[i + spatial]};
      window.pads[i] = window.pads[i + spatial] = 0;
    }
    const auto padded = Padded(n, x, widths, {.fill = Like(n, x, 0)});
    if (!padded) return std::nullopt;
    x = *padded;
  }
  for (size_t i = 0; i < spatial; ++i) window.pads[i + spatial] += beyond[i];
  return Pooled(n, x,
                {.window = window, .average = true, .counts_padding = counts_padding && !reaches});
}

Outputs Pooling(Node& n) {
  TypedBuilder& b = n.b();
  const auto kind = ReadKind(n);
  if (!kind) return {};
  if (n.Bool("global_pool", false)) return GlobalPool(n, *kind);
  auto window = ReadWindow(n);
  if (!window) return {};
  const size_t spatial = window->spatial();
  // The first version and that of bytes divide by the kernel's extents whatever a window covers.
  const bool counts_padding = n.Bool("count_include_pad", true);
  const bool counts_all =
      n.op() == "Pooling_v1" || (n.op() == "_contrib_quantized_pooling" && counts_padding);
  const std::string convention = n.Choice("pooling_convention", "valid", {"valid", "full", "same"});
  // As many windows as begin within the data: a floor that reaches a stride less one further.
  std::vector<int64_t> beyond(spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    if (convention == "full") beyond[i] = window->strides[i] - 1;
    if (convention == "same") beyond[i] = window->kernel[i] - 1;
  }
  Window wide = *window;
  for (size_t i = 0; i < spatial; ++i) wide.pads[i + spatial] += beyond[i];
  if (!IsSane(n, wide, spatial)) return {};
  const Term x(n, 0);
  const auto p = static_cast<double>(n.Int("p_value", 2));
  std::optional<Value> y;
  switch (*kind) {
    case PoolKind::kMax:
      y = Pooled(n, x, {.window = wide});
      break;
    case PoolKind::kAverage:
      y = counts_all ? Pooled(n, x, {.window = wide, .average = true, .counts_padding = true})
                     : Averages(n, x, *window, beyond, counts_padding);
      break;
    case PoolKind::kSum:
      if (const auto sums = Sums(n, x, wide)) y = sums->value();
      break;
    case PoolKind::kNorm:
      if (const auto sums = Sums(n, Powers(x, p), wide)) y = Root(*sums, p).value();
      break;
  }
  if (!y || !b.status().ok()) return {};
  return {*y};
}

Outputs AdaptiveAvgPooling(Node& n) {
  const Term x(n, 0);
  if (!n.ExpectRank(x, 4, "data")) return {};
  std::vector<int64_t> size = n.Counts("output_size");
  if (size.empty()) size = {1};
  if (size.size() == 1) size.push_back(size[0]);
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    return n.Fail("attribute output_size: expected one or two numbers above 0");
  return {x.Call("nn.adaptive_avg_pool2d", {{"output_size", ListOf(size)}, {"layout", "NCHW"}})};
}

constexpr OperatorDef kPoolOperators[] = {
    {"Pooling Pooling_v1 _npx_pooling", 1, 1, Pooling},
    {"_contrib_AdaptiveAvgPooling2D", 1, 1, AdaptiveAvgPooling},
};

}  // namespace

std::span<const OperatorDef> PoolOperators() { return kPoolOperators; }

}  // namespace relayvm::import::mxnet
