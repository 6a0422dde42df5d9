// Pools, with the places of maxima; pools to a size; unpooling.
#include <algorithm>

#include "compiler/import/composite/axes.h"
#include "compiler/import/composite/from_windows.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/torch/nn_tables.h"
#include "compiler/import/torch/quantised.h"
#include "compiler/import/torch/windows.h"

namespace relayvm::import::torch {

PoolSpec ReadPool(const Call& n, size_t spatial) {
  Window w{.kernel = n.Ints("kernel_size", spatial, 1), .strides = {}, .dilations = {}, .pads = {}};
  w.strides = n.Ints("stride").empty() ? w.kernel : n.Ints("stride", spatial, 1);
  w.dilations = n.Ints("dilation", spatial, 1);
  w.pads = BothSides(n.Ints("padding", spatial, 0));
  return {.window = std::move(w), .average = false, .ceil = n.Bool("ceil_mode")};
}

namespace {

// Of windows that hold NaN it is the greatest.
std::optional<Value> WithNan(TypedBuilder& b, const Term& x, const Value& most,
                             const PoolSpec& spec) {
  if (!IsFloat(x.dtype()) || !b.status().ok()) return most;
  const auto found = Pooled(b, x.Call("isnan").As(DType::kInt8), spec);
  if (!found) return std::nullopt;
  const Term y(b, most);
  return Select(Equal(Term(b, *found), 1), y.Number(NAN), y).value();
}

template <size_t kSpatial>
Results MaxPool(Call& n) {
  const Batched data(n, n.Input(0), kSpatial);
  const PoolSpec spec = ReadPool(n, kSpatial);
  const auto y = n.b().status().ok() ? Pooled(n, data.x(), spec) : std::nullopt;
  if (!y) return {};
  return {data.Off(*y)};
}

template <size_t kSpatial>
Results MaxPoolWithIndices(Call& n) {
  const Batched data(n, n.Input(0), kSpatial);
  const PoolSpec spec = ReadPool(n, kSpatial);
  if (!n.b().status().ok()) return {};
  const auto y = PooledWithPlaces(n, data.x(), spec, /*columns_first=*/false);
  if (!y) return {};
  const Term x(n, data.x());
  const auto most = WithNan(n, x, y->max, spec);
  if (!most) return {};
  if (!IsFloat(x.dtype())) return {data.Off(*most), data.Off(y->place)};
  // Its place is that of NaN.
  const auto bad = PooledWithPlaces(n, x.Call("isnan").As(DType::kFloat32), spec, false);
  if (!bad) return {};
  const Term here = Equal(Term(n, bad->max), 1);
  return {data.Off(*most), data.Off(Select(here, Term(n, bad->place), Term(n, y->place)))};
}

// Sums of windows, zeros around, over a number that the call gives.
Results AverageBy(const Call& n, const Batched& data, const PoolSpec& spec, double divisor) {
  TypedBuilder& b = n.b();
  const Window& w = spec.window;
  const size_t spatial = w.spatial();
  const DType dtype = data.x().dtype();
  const bool whole = !IsFloat(dtype);
  const Value x = whole ? b.Cast(data.x(), DType::kFloat64) : data.x();
  std::vector<std::pair<int64_t, int64_t>> widths(spatial + 2);
  double taps = 1;
  for (size_t i = 0; i < spatial; ++i) {
    widths[i + 2] = {w.pads[i], w.pads[i + spatial] + (spec.ceil ? w.strides[i] - 1 : 0)};
    taps *= static_cast<double>(w.kernel[i]);
  }
  const auto padded = Padded(b, x, widths, {.fill = Like(b, x, 0)});
  if (!padded) return {};
  PoolSpec plain = spec;
  plain.ceil = false;
  plain.window.pads.assign(2 * spatial, 0);
  const auto mean = Pooled(b, *padded, plain);
  if (!mean) return {};
  Term y = Term(b, *mean) * (taps / divisor);
  for (size_t i = 0; spec.ceil && i < spatial; ++i) {
    // The last window begins inside the data or the padding before it.
    const int axis = static_cast<int>(i) + 2;
    const Term last = (Extent(b, data.x(), axis) + static_cast<double>(w.pads[i] - 1))
                          .Call("floor_divide", b.Int(w.strides[i])) +
                      1;
    const Term count = Minimum(last, Extent(b, y, axis));
    y = {b, Sliced(b, y, axis, b.Int(0), count)};
  }
  if (whole) y = (y + Select(y < 0, y.Number(-1e-9), y.Number(1e-9))).Call("trunc").As(dtype);
  return {data.Off(y)};
}

template <size_t kSpatial>
Results AveragePool(Call& n) {
  const Batched data(n, n.Input(0), kSpatial);
  PoolSpec spec = ReadPool(n, kSpatial);
  spec.average = true;
  spec.counts_padding = n.Bool("count_include_pad", true);
  if (!n.b().status().ok()) return {};
  if (n.Has("divisor_override") && IsFloat(data.x().dtype()))
    return AverageBy(n, data, spec, n.Float("divisor_override", 1));
  if (n.Has("divisor_override")) return n.Unsupported("divisor_override of integers");
  const DType dtype = data.x().dtype();
  // Integers: a sum as they are, divided.
  const Value x = IsFloat(dtype) ? data.x() : n.b().Cast(data.x(), DType::kFloat64);
  const auto y = Pooled(n, x, spec);
  if (!y) return {};
  if (IsFloat(dtype)) return {data.Off(*y)};
  constexpr double kRounding = 1e-9;  // of sums that are multiples
  const Term mean(n, *y);
  return {data.Off((mean + Select(mean < 0, mean.Number(-kRounding), mean.Number(kRounding)))
                       .Call("trunc")
                       .As(dtype))};
}

// --- Pools to a size ---

template <size_t kSpatial>
std::vector<int64_t> SizesOf(const Call& n, const Value& x) {
  std::vector<int64_t> sizes = n.Ints("output_size", kSpatial, 1);
  // None: as it is.
  for (size_t i = 0; i < kSpatial; ++i) {
    const Dim d = x.dim(static_cast<int>(i) + 2);
    if (sizes[i] < 0 && d.is_const()) sizes[i] = d.value();
  }
  return sizes;
}

// Means of parts along an axis whose extent, or number of parts, only running tells.
Term AveragedAlong(const Term& x, int axis, const Term& count) {
  TypedBuilder& b = x.b();
  if (!b.status().ok() || axis >= x.rank()) return x;
  const Term extent = Extent(b, x, axis), part = Range(count), place = RangeOf(b, x, axis);
  const Term start = (part * extent).Call("floor_divide", count);
  const Term end = ((part + 1) * extent + count - 1).Call("floor_divide", count);
  const Term own = And(place >= start.Expand(1), place < end.Expand(1)).As(x.dtype());
  const Term share = own / Sum(own, {1});  // (parts, extent)
  const int last = x.rank() - 1;
  const Term moved = x.Transpose(AxisMoved(x.rank(), axis, last));
  const Term y(b, MatMulOf(b, moved, share.Transpose({1, 0})));
  return y.Transpose(AxisMoved(x.rank(), last, axis));
}

template <size_t kSpatial>
Results AdaptiveAverage(Call& n) {
  const Batched data(n, n.Input(0), kSpatial);
  const std::vector<Value> wanted = n.SymInts("output_size");
  if (!n.b().status().ok()) return {};
  bool known = true;
  for (const Value& v : wanted) known = known && n.b().ConstantInts(v).has_value();
  if (!n.b().status().ok()) return {};
  if (!known && wanted.size() == kSpatial) {
    Term y(n, data.x());
    for (size_t i = 0; i < kSpatial; ++i) {
      if (!n.b().status().ok()) return {};
      const int axis = static_cast<int>(i) + 2;
      const auto elements = n.b().Elements(wanted[i]);
      if (elements && (*elements)[0] == y.value().dim(axis)) continue;
      y = AveragedAlong(y, axis, {n, wanted[i]});
    }
    return {data.Off(y)};
  }
  const std::vector<int64_t> sizes = SizesOf<kSpatial>(n, data.x());
  if (!n.b().status().ok()) return {};
  const Term x(n, data.x());
  if (std::all_of(sizes.begin(), sizes.end(), [](int64_t s) { return s == 1; }))
    return {data.Off(Mean(x, Iota(kSpatial, 2)))};
  constexpr std::string_view kNames[] = {"nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d",
                                         "nn.adaptive_avg_pool3d"};
  return {data.Off(x.Call(kNames[kSpatial - 1], {{"output_size", ListOf(sizes)}}))};
}

// The greatest of each part, and where it stands among the spatial elements; `counts` parts of each
// axis (int64, rank 0). Place i is of i * extent / count .. ceil((i + 1) * extent / count) - 1.
MaxAndPlace AdaptiveMaxOf(const Term& x, const std::vector<Term>& counts) {
  TypedBuilder& b = x.b();
  const auto spatial = static_cast<int>(counts.size());
  Term y = x;
  std::optional<Term> position;
  Term taps(b, b.Int(1));
  std::vector<Value> sizes;
  for (const Term& count : counts) sizes.push_back(count.Reshape({1}));
  for (int i = spatial; i-- > 0;) {
    const Term& count = counts[static_cast<size_t>(i)];
    const Term extent = Extent(b, x, i + 2), part = Range(count);
    const Term start = (part * extent).Call("floor_divide", count);
    const Term end = ((part + 1) * extent + count - 1).Call("floor_divide", count);
    const Term longest = AsScalar((end - start).Over("max", {0}, false));
    // Shorter parts have their last element several times.
    const Term places = Minimum(start.Expand(1) + Range(longest), (end - 1).Expand(1));
    y = y.Take(places, i + 2);
    const Term spread =
        places.Expand(1, spatial - 1).Expand(0, i).Expand(spatial + i + 1, spatial - 1 - i);
    Term step(b, b.Int(1));
    for (int k = i + 1; k < spatial; ++k) step = step * Extent(b, x, k + 2);
    const Term here = spread * step;
    position = position ? *position + here : here;
    taps = taps * longest;
  }
  std::vector<int64_t> axes = {0, 1};
  for (int i = 0; i < spatial; ++i) axes.push_back(2 + 2 * i);
  for (int i = 0; i < spatial; ++i) axes.push_back(3 + 2 * i);
  y = y.Transpose(axes);
  std::vector<Value> dims = {b.DimOf(x, 0), b.DimOf(x, 1)}, own = sizes;
  own.push_back(taps.Reshape({1}));
  dims.insert(dims.end(), own.begin(), own.end());
  const Term all(b, ShapedAs(b, y, dims)), places(b, ShapedAs(b, *position, own));
  const auto last = static_cast<int64_t>(all.rank()) - 1;
  const auto first_of = [&](const Term& v) {
    return v.Call("argmax", {{"axis", AttrList{last}}, {"keepdims", true}}).As(DType::kInt64);
  };
  Term first = first_of(all), most = all.Over("max", {last}, false);
  if (IsFloat(all.dtype())) {
    const Term nan = all.Call("isnan"), any = nan.Over("any", {last});
    first = Select(any, first_of(nan.As(DType::kInt8)), first);
    most = Select(Term(b, b.Squeeze(any, {last})), most.Number(NAN), most);
  }
  const Term hit = Equal(Range(taps), first);
  const Term place = Select(hit, places, places.Number(0)).Over("sum", {last}, false);
  return {most, place};
}

template <size_t kSpatial>
Results AdaptiveMax(Call& n) {
  TypedBuilder& b = n.b();
  const Batched data(n, n.Input(0), kSpatial);
  const Term x(n, data.x());
  std::vector<Value> wanted = n.SymInts("output_size");
  if (wanted.size() == 1) wanted.resize(kSpatial, wanted[0]);
  if (!b.status().ok()) return {};
  if (wanted.size() != kSpatial) return n.Fail("output_size: expected {} numbers", kSpatial);
  constexpr int64_t kMost = 1 << 20;
  std::vector<Term> counts;
  for (size_t i = 0; i < kSpatial; ++i) {
    const auto known = b.ConstantInts(wanted[i]);
    const bool same = known && (*known)[0] < 0;  // None: as it is
    if (known && !same && ((*known)[0] < 1 || (*known)[0] > kMost))
      return n.Fail("output_size: {} is out of range", (*known)[0]);
    counts.push_back(same ? Extent(b, x, static_cast<int>(i) + 2) : Term(b, wanted[i]));
  }
  const auto y = AdaptiveMaxOf(x, counts);
  return {data.Off(y.max), data.Off(y.place)};
}

// --- Back ---

// Each value goes where its index, among the spatial elements of its n and channel, says.
template <size_t kSpatial>
Results MaxUnpool(Call& n) {
  TypedBuilder& b = n.b();
  const Batched data(n, n.Input(0), kSpatial), at(n, n.Input(1), kSpatial);
  std::vector<Value> extents;
  for (const Value& v : n.SymInts("output_size")) extents.push_back(b.Reshape(v, {1}));
  if (extents.size() != kSpatial) return n.Fail("output_size: expected {} numbers", kSpatial);
  const Term x(n, data.x());
  const Value plane =
      Term(b, b.Concat(extents, 0)).Call("prod", {{"axis", AttrList{0}}, {"keepdims", true}});
  const Value planes = ProductOfDims(b, x, 0, 2);
  const auto flat = [&](const Value& v) { return ShapedAs(b, v, {planes, b.Ints({-1})}); };
  const Value zeros = Filled(b, 0, x.dtype(), b.Concat({planes, plane}, 0));
  const Value places = Below({b, b.Cast(at.x(), DType::kInt64), n.InputText(1, "indices")},
                             flat(b.Cast(at.x(), DType::kInt64)), plane);
  const Value all = b.Op("scatter_elements", {zeros, places, flat(x)}, {{"axis", 1}});
  std::vector<Value> dims = {b.DimOf(x, 0), b.DimOf(x, 1)};
  dims.insert(dims.end(), extents.begin(), extents.end());
  return {data.Off(ShapedAs(b, all, dims))};
}

constexpr OperatorDef kPoolOperators[] = {
    {"aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
     "padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
     MaxPool<1>, Takes::kMoves},
    {"aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
     "padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
     MaxPool<2>, Takes::kMoves},
    {"aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
     "padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
     MaxPool<3>, Takes::kMoves},
    {"aten::quantized_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], "
     "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
     MaxPool<1>, Takes::kMoves},
    {"aten::quantized_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], "
     "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
     MaxPool<2>, Takes::kMoves},
    {"aten::mkldnn_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
     "padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
     MaxPool<2>},
    {"aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], "
     "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
     MaxPoolWithIndices<1>},
    {"aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], "
     "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     MaxPoolWithIndices<2>},
    {"aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], "
     "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     MaxPoolWithIndices<3>},
    {"aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
     "padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
     Requantising<AveragePool<1>>, Takes::kQuantised},
    {"aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
     "padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
     "divisor_override=None) -> Tensor",
     Requantising<AveragePool<2>>, Takes::kQuantised},
    {"aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
     "padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
     "divisor_override=None) -> Tensor",
     Requantising<AveragePool<3>>, Takes::kQuantised},
    {"aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
     Requantising<AdaptiveAverage<1>>, Takes::kQuantised},
    {"aten::adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
     Requantising<AdaptiveAverage<2>>, Takes::kQuantised},
    {"aten::adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
     Requantising<AdaptiveAverage<3>>, Takes::kQuantised},
    {"aten::_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
     Requantising<AdaptiveAverage<2>>, Takes::kQuantised},
    {"aten::_adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
     Requantising<AdaptiveAverage<3>>, Takes::kQuantised},
    {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
     AdaptiveMax<1>},
    {"aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
     AdaptiveMax<2>},
    {"aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
     AdaptiveMax<3>},
    {"aten::max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor", MaxUnpool<2>},
    {"aten::max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, "
     "int[3] padding) -> Tensor",
     MaxUnpool<3>},
};

}  // namespace

OperatorTable PoolOperators() { return kPoolOperators; }

}  // namespace relayvm::import::torch
