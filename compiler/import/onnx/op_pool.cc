// Transposed convolution, unpooling, pools by a norm, Col2Im.
#include <fmt/format.h>

#include <numeric>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/onnx/checked.h"
#include "compiler/import/onnx/window.h"

namespace relayvm::import {

namespace {

Outputs ConvTranspose(NodeContext& n) {
  const Value x = n.Input(0), w = n.Input(1);
  auto window = ReadWindow(n, x, n.Ints("kernel_shape", KernelOf(w)));
  if (!window) return {};
  TransposedConvSpec spec{.window = *std::move(window), .extra = n.Ints("output_padding")};
  spec.shape = n.Ints("output_shape");
  if (spec.shape.size() == spec.window.spatial() + 2)
    spec.shape.erase(spec.shape.begin(), spec.shape.begin() + 2);
  spec.groups = n.Int("group", 1);
  const auto y = TransposedConv(n, x, w, spec);
  return y ? Outputs{AddBias(n, *y, 2)} : Outputs{};
}

// Zeros but for the values, which go where a MaxPool took them from.
Outputs MaxUnpool(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto window = ReadWindow(n, x, n.Ints("kernel_shape"));
  const auto y = window ? UnpooledMax({n, 1, "indices"}, x, *window) : std::nullopt;
  if (!y) return {};
  if (!n.Has(2)) return {y->data};
  // Positions are those of the smallest shape; the rest is at the end.
  return {PaddedBehind(b, y->data, Term(n, 2).As(DType::kInt64) - Term(b, y->shape))};
}

// (sum |x|^p)^(1/p) over axes.
Term Norm(const Term& x, double p, const std::vector<int64_t>& axes, bool keep) {
  if (p == 1) return Abs(x).Over("sum", axes, keep);
  if (p == 2) return Sqrt((x * x).Over("sum", axes, keep));
  const Term sum = Abs(x).Call("power", x.Number(p)).Over("sum", axes, keep);
  return sum.Call("power", sum.Number(1 / p));
}

Outputs LpPool(NodeContext& n) {
  Value x = n.Input(0);
  auto window = ReadWindow(n, x, n.Ints("kernel_shape"));
  if (window) window = Fitted(n, x, *window, 0);
  if (!window || !FewTaps(n, *window)) return {};
  const auto spatial = static_cast<int64_t>(window->kernel.size());
  const PoolSpec spec{.window = *window, .ceil = n.Int("ceil_mode", 0) != 0};
  return {Norm(WindowsOf({n.b(), x}, spec, 0).values, static_cast<double>(n.Int("p", 2)),
               Iota(spatial, 2 + spatial), false)};
}

Outputs GlobalLpPool(NodeContext& n) {
  const Term x(n, 0);
  if (x.rank() < 3) return n.Fail("expected an input of rank 3 or more");
  return {Norm(x, static_cast<double>(n.Int("p", 2)), Iota(x.rank() - 2, 2), true)};
}

// The picture whose windows are the columns: what overlaps is added.
Outputs Col2Im(NodeContext& n) {
  const auto axes = CountOf(n, n.Input(1), "image_shape");
  if (!axes) return {};
  const auto spatial = static_cast<size_t>(*axes);
  const std::vector<int64_t> ones(spatial, 1);
  const auto y = Folded({n, 0}, {n, 1, "image_shape"}, {n, 2, "block_shape"},
                        {.strides = n.Ints("strides", ones),
                         .dilations = n.Ints("dilations", ones),
                         .pads = n.Ints("pads", std::vector<int64_t>(2 * spatial, 0))});
  return y ? Outputs{*y} : Outputs{};
}

constexpr OperatorDef kPoolOperators[] = {
    {"Col2Im", 3, 3, Col2Im, 18},         {"ConvTranspose", 2, 3, ConvTranspose},
    {"GlobalLpPool", 1, 1, GlobalLpPool}, {"LpPool", 1, 1, LpPool},
    {"MaxUnpool", 2, 3, MaxUnpool, 9},
};

}  // namespace

std::span<const OperatorDef> PoolOperators() { return kPoolOperators; }

}  // namespace relayvm::import
