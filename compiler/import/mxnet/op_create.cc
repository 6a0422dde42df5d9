// Tensors from nothing, or of the shape of others.
#include <cmath>
#include <numbers>

#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

// The extents that an attribute gives. 0 is not known where the file's shapes have no 0: it is
// what the other operand has, which broadcasts from 1.
std::vector<int64_t> ShapeAttr(Node& n) {
  std::vector<int64_t> shape = n.Ints("shape");
  for (int64_t& d : shape) {
    if (d == 0 && !n.np_shape()) d = 1;
    if (d < 0 && !n.np_shape()) d = 1;
    if (d < 0) {
      n.Fail("attribute shape: {}", d);
      d = 1;
    }
  }
  return shape;
}
Value FilledWithNumber(Node& n, double value, DType dtype, const std::vector<int64_t>& shape) {
  return n.b().Op("full", {n.b().Scalar(value, dtype)},
                  {{"shape", ListOf(shape)}, {"dtype", TypeName(dtype)}});
}

template <int kValue>
Outputs Constant(Node& n) {
  return {FilledWithNumber(n, kValue, n.Type("dtype", DType::kFloat32), ShapeAttr(n))};
}
Outputs Full(Node& n) {
  const double value = n.HasAttr("value") ? n.Float("value", 0) : n.Float("fill_value", 0);
  return {FilledWithNumber(n, value, n.Type("dtype", DType::kFloat32), ShapeAttr(n))};
}
template <OpName kName>
Outputs Alike(Node& n) {
  return {Term(n, 0).Call(kName.chars)};
}
Outputs FullLike(Node& n) {
  const Term x(n, 0);
  const DType dtype = n.Type("dtype", x.dtype());
  return {Filled(n, n.Float("fill_value", 0), dtype, n.b().ShapeOf(x))};
}

// start, start + step ..: computed in float64.
Term Steps(const Term& count, double start, double step, DType dtype) {
  const Term at = Range(count).As(DType::kFloat64);
  return (at * step + start).As(dtype);
}
Term Repeated(const Term& x, int64_t times) {
  return times == 1 ? x : x.Call("repeat", {{"repeats", times}, {"axis", 0}});
}
std::optional<int64_t> CountOfRange(Node& n, double start, double stop, double step) {
  if (step == 0 || !std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step))
    return n.Fail("start, stop and step are no range");
  const double count = std::max(std::ceil((stop - start) / step), 0.0);
  if (count > INT32_MAX) return n.Fail("the range has more than 2^31 elements");
  return static_cast<int64_t>(count);
}
Outputs Arange(Node& n) {
  if (n.Bool("infer_range", false))
    return n.Unsupported("infer_range: the length follows from what reads the range");
  const bool has_stop = n.HasAttr("stop");
  const double start = has_stop ? n.Float("start", 0) : 0,
               stop = n.Float(has_stop ? "stop" : "start", 0), step = n.Float("step", 1);
  const auto count = CountOfRange(n, start, stop, step);
  if (!count) return {};
  const Term range =
      Steps(Term(n.b(), n.b().Int(*count)), start, step, n.Type("dtype", DType::kFloat32));
  return {Repeated(range, n.Count("repeat", 1))};
}
Outputs ArangeLike(Node& n) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  const int64_t times = n.Count("repeat", 1);
  const double start = n.Float("start", 0), step = n.Float("step", 1);
  const DType dtype = x.dtype() == DType::kBool ? DType::kFloat32 : x.dtype();
  if (times < 1) return n.Fail("attribute repeat: expected 1 or more");
  const auto up = [&](const Term& count) {
    if (times == 1) return Steps(count, start, step, dtype);
    const Term groups = (count + static_cast<double>(times - 1))
                            .Call("floor_divide", count.Number(static_cast<double>(times)));
    return Repeated(Steps(groups, start, step, dtype), times).Take(Range(count), 0);
  };
  if (const auto axis = n.MaybeInt("axis")) {
    const int at = n.Axis(*axis, x.rank());
    return b.status().ok() ? Outputs{up(Extent(b, x, at))} : Outputs{};
  }
  const Term all(b, b.Reshape(ProductOfDims(b, x, 0, x.rank()), {}));
  return {ShapedAs(b, up(all), {b.ShapeOf(x)})};
}
Term Evenly(Node& n, DType dtype) {
  const double start = n.Float("start", 0), stop = n.Float("stop", 0);
  const int64_t count = n.Count("num", 50);
  const auto gaps = static_cast<double>(n.Bool("endpoint", true) ? count - 1 : count);
  return Steps(Term(n.b(), n.b().Int(count)), start, gaps > 0 ? (stop - start) / gaps : 0, dtype);
}
Outputs Linspace(Node& n) { return {Evenly(n, n.Type("dtype", DType::kFloat32))}; }
Outputs Logspace(Node& n) {
  const Term at = Evenly(n, DType::kFloat64);
  return {at.Number(n.Float("base", 10)).Call("power", at).As(n.Type("dtype", DType::kFloat32))};
}

// Ones along the diagonal k.
Outputs EyeOf(Node& n, int64_t rows, int64_t columns) {
  TypedBuilder& b = n.b();
  const Term row = Range(Term(b, b.Int(rows))).Expand(1), column = Range(Term(b, b.Int(columns)));
  return {Equal(column - row, static_cast<double>(n.Counts("k", {0})[0]))
              .As(n.Type("dtype", DType::kFloat32))};
}
Outputs Eye(Node& n) {
  const int64_t rows = n.Count("N", 1), columns = n.Count("M", 0);
  return EyeOf(n, rows, columns == 0 ? rows : columns);
}
Outputs NumpyEye(Node& n) {
  const int64_t rows = n.Count("N", 1);
  return EyeOf(n, rows, n.Count("M", rows));
}
Outputs Identity(Node& n) {
  const std::vector<int64_t> shape = n.Counts("shape", {1});
  return shape.empty() || shape[0] < 0 ? n.Fail("attribute shape: expected a size")
                                       : EyeOf(n, shape[0], shape[0]);
}

// The index along each dim: (rank, dims..).
Outputs Indices(Node& n) {
  TypedBuilder& b = n.b();
  const std::vector<int64_t> dims = n.Counts("dimensions");
  const auto rank = static_cast<int>(dims.size());
  std::vector<Value> parts, extents;
  for (const int64_t d : dims) {
    if (d < 0) return n.Fail("attribute dimensions: {}", d);
    extents.push_back(b.Ints({d}));
  }
  for (int i = 0; i < rank; ++i) {
    const Term at =
        Range(Term(b, b.Int(dims[static_cast<size_t>(i)])), n.Type("dtype", DType::kInt32));
    parts.push_back(b.ExpandDims(BroadcastTo(b, Along(at, i, rank), extents), 0));
  }
  if (parts.empty()) return n.Fail("attribute dimensions: expected one or more");
  return {b.Concat(parts, 0)};
}

// a - b cos(2 pi i / (m - 1)) + c cos(4 pi i / (m - 1))
Outputs CosineWindow(Node& n, double a, double b, double c) {
  const auto size = n.MaybeInt("M");
  if (!size || *size > INT32_MAX) return n.Fail("attribute M: expected a size");
  const DType dtype = n.Type("dtype", DType::kFloat32);
  const int64_t count = std::max<int64_t>(*size, 0);
  if (count == 1) return {FilledWithNumber(n, 1, dtype, {1})};
  const double turn = 2 * std::numbers::pi / static_cast<double>(std::max<int64_t>(count - 1, 1));
  const Term angle = Steps(Term(n.b(), n.b().Int(count)), 0, turn, DType::kFloat64);
  return {(a - Cos(angle) * b + Cos(angle * 2.0) * c).As(dtype)};
}
Outputs Hanning(Node& n) { return CosineWindow(n, 0.5, 0.5, 0); }
Outputs Hamming(Node& n) { return CosineWindow(n, 0.54, 0.46, 0); }
Outputs Blackman(Node& n) { return CosineWindow(n, 0.42, 0.5, 0.08); }

constexpr OperatorDef kCreateOperators[] = {
    {"_arange _npi_arange", 0, 0, Arange},
    {"_contrib_arange_like _npx_arange_like", 1, 1, ArangeLike},
    {"_eye", 0, 0, Eye},
    {"_full _npi_full", 0, 0, Full},
    {"_linspace _npi_linspace", 0, 0, Linspace},
    {"_npi_blackman", 0, 0, Blackman},
    {"_npi_eye", 0, 0, NumpyEye},
    {"_npi_full_like full_like", 1, 1, FullLike},
    {"_npi_hamming", 0, 0, Hamming},
    {"_npi_hanning", 0, 0, Hanning},
    {"_npi_identity", 0, 0, Identity},
    {"_npi_indices", 0, 0, Indices},
    {"_npi_logspace", 0, 0, Logspace},
    {"_ones _npi_ones", 0, 0, Constant<1>},
    {"_zeros _npi_zeros _zeros_without_dtype", 0, 0, Constant<0>},
    {"ones_like _np_ones_like", 1, 1, Alike<"ones_like">},
    {"zeros_like _np_zeros_like", 1, 1, Alike<"zeros_like">},
};

}  // namespace

std::span<const OperatorDef> CreateOperators() { return kCreateOperators; }

}  // namespace relayvm::import::mxnet
