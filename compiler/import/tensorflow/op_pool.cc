// Pools, patches, and blocks of space as batches or channels.
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/tensorflow/window.h"

namespace relayvm::import::tensorflow {

namespace {

// --- Pools ---

// The window of a pool: by attributes, or by inputs 1 and 2.
std::optional<Window> PoolWindow(NodeContext& n) {
  const int rank = n.Input(0).rank();
  std::vector<int64_t> sizes = n.Ints("ksize");
  std::optional<std::vector<int64_t>> strides;
  if (n.Has(2)) {
    const auto given = n.ConstantInts(1, "ksize");
    strides = n.ConstantInts(2, "strides");
    if (!given || !strides) return std::nullopt;
    sizes = *given;
  }
  const auto kernel = SpatialOf(n, sizes, rank, "ksize");
  return kernel ? WindowOf(n, rank, *kernel, "dilations", strides) : std::nullopt;
}

template <bool kAverage>
Outputs Pool(NodeContext& n) {
  const auto window = PoolWindow(n);
  if (!window) return {};
  return OneOf(Pooled(n, n.Input(0), {.window = *window, .average = kAverage}));
}

// (n, spatial.., channels) as (n, channels, spatial..), and back.
Term ChannelsFirst(const Term& x) { return x.Transpose(AxisMoved(x.rank(), x.rank() - 1, 1)); }
Term ChannelsBack(const Term& x) { return x.Transpose(AxisMoved(x.rank(), 1, x.rank() - 1)); }

Outputs MaxPoolWithArgmax(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  auto window = PoolWindow(n);
  if (!window) return {};
  window->channels_last = false;
  const auto found = PooledWithPlaces(b, ChannelsFirst(x), {.window = *window}, false);
  if (!found) return {};
  const Term channels = Extent(b, x, 3);
  Term place = ChannelsBack({b, found->place}) * channels + Range(channels);
  if (n.Bool("include_batch_in_index", false)) {
    const Term size(b, b.Reshape(ProductOfDims(b, x, 1, 4), {}));
    place = place + (RangeOf(b, x, 0) * size).Expand(1, 3);
  }
  return {ChannelsBack({b, found->max}), place.As(n.Type("Targmax", DType::kInt64))};
}

// The greatest of the elements of a window plus those of a filter (height, width, channels).
Outputs Dilation(NodeContext& n) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const Value filter = n.Input(1);
  if (x.rank() != 4 || filter.rank() != 3 || !filter.dim(0).is_const() || !filter.dim(1).is_const())
    return n.Unsupported("expected data of rank 4 and a filter of rank 3 whose extents are known");
  auto window = WindowOf(n, 4, {filter.dim(0).value(), filter.dim(1).value()}, "rates");
  const double least = IsFloat(x.dtype()) ? -HUGE_VAL : IsUnsignedInt(x.dtype()) ? 0 : -128;
  if (window) window = Fitted(n, x, *window, least);
  if (!window) return {};
  const std::vector<int64_t>& pads = window->pads;
  const auto padded = Padded(n, x, {{0, 0}, {pads[0], pads[2]}, {pads[1], pads[3]}, {0, 0}},
                             {.fill = Like(n, x, least)});
  if (!padded) return {};
  return {b.Op("image.dilation2d", {*padded, filter},
               {{"strides", ListOf(window->strides)},
                {"padding", AttrList{0, 0}},
                {"dilations", ListOf(window->dilations)},
                {"data_layout", "NHWC"},
                {"kernel_layout", "HWI"}})};
}

// Each window's elements as channels.
Outputs Patches(NodeContext& n) {
  TypedBuilder& b = n.b();
  const int rank = n.Input(0).rank();
  const auto kernel = SpatialOf(n, n.Ints("ksizes"), rank, "ksizes");
  auto window = kernel ? WindowOf(n, rank, *kernel, "rates") : std::nullopt;
  if (!window) return {};
  window->channels_last = false;
  Value x = ChannelsFirst(Term(n, 0));
  window = Fitted(n, x, *window, 0);
  if (!window || !FewTaps(n, *window)) return {};
  const Term all = WindowsOf({b, x}, {.window = *window}, 0).values;  // (n, c, o.., k..)
  std::vector<int64_t> axes = {0};
  for (int i = 2; i < all.rank(); ++i) axes.push_back(i);
  axes.push_back(1);
  const Term moved = all.Transpose(axes);
  std::vector<Value> dims = DimsOf(b, moved, 0, rank - 1);
  dims.push_back(ProductOfDims(b, moved, rank - 1, moved.rank()));
  return {To(moved, dims)};
}

// --- Blocks ---

template <OpName kName>
Outputs Blocks(NodeContext& n) {
  const int64_t size = n.Count("block_size", 2);
  const bool last = ChannelsLast(n);
  return {n.b().Op(kName.chars, {n.Input(0)},
                   {{"block_size", size}, {"layout", last ? "NHWC" : "NCHW"}})};
}

// Axes 1.. are padded, then each is split into so many interleaved parts, which become batches.
Outputs ToBatches(NodeContext& n, const std::vector<int64_t>& block, size_t pads_input) {
  TypedBuilder& b = n.b();
  Value x = n.Input(0);
  const auto count = static_cast<int64_t>(block.size());
  if (x.rank() < count + 1 || !n.FitsShape(n.Input(pads_input), {Dim(count), Dim(2)}, "paddings"))
    return n.Fail("expected an axis for each number of block_shape");
  const Value given = b.Cast(n.Input(pads_input), DType::kInt64);
  const Value none = b.Reshape(b.Ints({0, 0}), {1, 2});
  std::vector<Value> rows = {none, given};
  for (int i = static_cast<int>(count) + 1; i < x.rank(); ++i) rows.push_back(none);
  const Outputs padded = n.As("Pad", {x, b.Concat(rows, 0)});
  if (padded.empty() || !Ok(n)) return {};
  x = padded[0];
  // (batch, d1 / b1, b1, d2 / b2, b2 .., rest) to (b1, b2 .., batch, d1 / b1 .., rest).
  std::vector<Value> split = {b.DimOf(x, 0)}, joined = {b.Ints({1})};
  std::vector<int64_t> axes;
  int64_t blocks = 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = block[static_cast<size_t>(i)];
    if (size < 1 || size > 1 << 20)
      return n.Fail("block_shape: expected 1 to 2^20, found {}", size);
    blocks *= size;
    const Term extent(b, b.DimOf(x, static_cast<int>(i) + 1));
    const Value part = extent.Call("floor_divide", extent.Number(static_cast<double>(size)));
    split.push_back(part);
    split.push_back(b.Ints({size}));
    joined.push_back(part);
    axes.push_back(2 + 2 * i);
  }
  axes.push_back(0);
  for (int64_t i = 0; i < count; ++i) axes.push_back(1 + 2 * i);
  for (int i = static_cast<int>(count) + 1; i < x.rank(); ++i) {
    axes.push_back(count + i);
    split.push_back(b.DimOf(x, i));
    joined.push_back(b.DimOf(x, i));
  }
  joined[0] = Term(b, b.DimOf(x, 0)) * static_cast<double>(blocks);
  return {To(To({b, x}, split).Transpose(axes), joined)};
}

// The way back; then elements are cut off the axes' ends.
Outputs FromBatches(NodeContext& n, const std::vector<int64_t>& block, size_t crops_input) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const auto count = static_cast<int64_t>(block.size());
  if (x.rank() < count + 1 || !n.FitsShape(n.Input(crops_input), {Dim(count), Dim(2)}, "crops"))
    return n.Fail("expected an axis for each number of block_shape");
  int64_t blocks = 1;
  for (const int64_t size : block) {
    if (size < 1 || size > 1 << 20)
      return n.Fail("block_shape: expected 1 to 2^20, found {}", size);
    blocks *= size;
  }
  const Term batches(b, b.DimOf(x, 0));
  const Value batch = batches.Call("floor_divide", batches.Number(static_cast<double>(blocks)));
  std::vector<Value> split, joined = {batch};
  for (const int64_t size : block) split.push_back(b.Ints({size}));
  split.push_back(batch);
  std::vector<int64_t> axes = {count};
  for (int64_t i = 0; i < count; ++i) {
    const Term extent(b, b.DimOf(x, static_cast<int>(i) + 1));
    joined.push_back(extent * static_cast<double>(block[static_cast<size_t>(i)]));
    split.push_back(extent);
    axes.push_back(count + 1 + i);
    axes.push_back(i);
  }
  for (int i = static_cast<int>(count) + 1; i < x.rank(); ++i) {
    split.push_back(b.DimOf(x, i));
    joined.push_back(b.DimOf(x, i));
    axes.push_back(count + i);
  }
  const Term y = To(To(x, split).Transpose(axes), joined);
  const Term crops = Term(n, crops_input).As(DType::kInt64);
  if (const auto known = b.ConstantInts(crops)) {
    AttrList begin = {0}, end = {INT64_MAX}, steps = {1};
    bool cuts = false;
    for (size_t i = 0; i < block.size(); ++i) {
      const int64_t from = (*known)[2 * i], back = (*known)[2 * i + 1];
      if (from < 0 || back < 0) return n.Fail("crops: expected 0 or more");
      cuts |= from != 0 || back != 0;
      begin.emplace_back(from);
      end.emplace_back(back == 0 ? INT64_MAX : -back);
      steps.emplace_back(1);
    }
    if (!cuts) return {y};
    return {b.Op("strided_slice", {y}, {{"begin", begin}, {"end", end}, {"strides", steps}})};
  }
  std::vector<Value> begin = {b.Ints({0})}, end = {b.Ints({INT64_MAX})};
  for (int64_t i = 0; i < count; ++i) {
    const Term row = crops.Slice(0, i, i + 1).Reshape({-1});
    begin.push_back(Part(row, 0, 1));
    end.push_back(Term(b, b.DimOf(y, static_cast<int>(i) + 1)) - Part(row, 1, 2));
  }
  const std::vector<int64_t> ones(begin.size(), 1);
  return {b.Op("dyn.strided_slice", {y, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(ones)})};
}

template <Outputs (*kMove)(NodeContext&, const std::vector<int64_t>&, size_t)>
Outputs ByShape(NodeContext& n) {
  const auto block = n.ConstantInts(1, "block_shape");
  return block ? kMove(n, *block, 2) : Outputs{};
}
template <Outputs (*kMove)(NodeContext&, const std::vector<int64_t>&, size_t)>
Outputs BySize(NodeContext& n) {
  const int64_t size = n.Count("block_size", 2);
  return kMove(n, {size, size}, 1);
}

constexpr OperatorDef kPoolOperators[] = {
    {"AvgPool", 1, 1, Pool<true>, {}, "4"},
    {"AvgPool3D", 1, 1, Pool<true>, {}, "5"},
    {"BatchToSpace", 2, 2, BySize<FromBatches>, {}, "42"},
    {"BatchToSpaceND", 3, 3, ByShape<FromBatches>, {}, "?12"},
    {"DepthToSpace", 1, 1, Blocks<"nn.depth_to_space">, {}, "4"},
    {"Dilation2D", 2, 2, Dilation, {}, "43"},
    {"ExtractImagePatches", 1, 1, Patches, {}, "4"},
    {"ExtractVolumePatches", 1, 1, Patches, {}, "5"},
    {"MaxPool", 1, 1, Pool<false>, {}, "4"},
    {"MaxPool3D", 1, 1, Pool<false>, {}, "5"},
    {"MaxPoolV2", 3, 3, Pool<false>, {}, "411"},
    {"MaxPoolWithArgmax", 1, 1, MaxPoolWithArgmax, "output argmax", "4"},
    {"SpaceToBatch", 2, 2, BySize<ToBatches>, {}, "42"},
    {"SpaceToBatchND", 3, 3, ByShape<ToBatches>, {}, "?12"},
    {"SpaceToDepth", 1, 1, Blocks<"nn.space_to_depth">, {}, "4"},
};

}  // namespace

std::span<const OperatorDef> PoolOperators() { return kPoolOperators; }

}  // namespace relayvm::import::tensorflow
