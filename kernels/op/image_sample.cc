// image.affine_grid, grid_sample (as in torch) and dilation2d.
#include "kernels/op/image.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Expr;
using te::UnaryOp;

// --- affine_grid ---

// The points of a grid over [-1, 1]^2, moved by a 2x3 matrix for each batch: (N, 2, H, W).
OpDef AffineGrid() {
  OpDef def;
  def.name = "image.affine_grid";
  def.attrs = {Required("target_shape", AttrKind::kInts)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 3));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(data.shape[1], Dim(2), "rows of a matrix"));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(data.shape[2], Dim(3), "columns of a matrix"));
    std::vector<int64_t> target = ctx.attrs().Ints("target_shape");
    if (target.size() != 2 || target[0] < 2 || target[1] < 2) {
      return Invalid("target_shape must be two numbers above 1");
    }
    return OpResult(
        TensorType{{data.shape[0], Dim(2), Dim(target[0]), Dim(target[1])}, data.dtype});
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    std::vector<int64_t> target = ctx.attrs.Ints("target_shape");
    return {te::Compute("affine_grid", ctx.outputs[0].shape, [&](const ExprList& i) {
      // Just short of 2, so that the last point does not round beyond 1.
      auto point = [&](const Expr& index, int64_t count) {
        Expr step = te::FloatImm((2.0 - 1e-7) / static_cast<double>(count - 1), data->dtype);
        return te::FloatImm(-1, data->dtype) + te::Cast(index, data->dtype) * step;
      };
      auto at = [&](int64_t column) { return te::Load(data, {i[0], i[1], Int(column)}); };
      return at(0) * point(i[3], target[1]) + at(1) * point(i[2], target[0]) + at(2);
    })};
  };
  return def;
}

// --- grid_sample ---

// Where the grid points is the same for all channels: the places of the pixels around it, and their
// weights, are tensors of their own, (batch, extents of the grid).
class GridSampler {
 public:
  explicit GridSampler(const ComputeContext& ctx)
      : data_(ctx.inputs[0]),
        grid_(ctx.inputs[1]),
        method_(ctx.attrs.String("method")),
        padding_(ctx.attrs.String("padding_mode")),
        align_(ctx.attrs.Bool("align_corners")),
        spatial_(static_cast<size_t>(data_->rank() - 2)),
        coordinate_(grid_->dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32),
        dtype_(data_->dtype == DType::kFloat64 ? DType::kFloat64 : coordinate_) {
    Dim pixels(1);
    for (size_t k = 0; k < spatial_; ++k) pixels = pixels * Extent(k);
    const auto most = pixels.UpperBound();
    place_ = most && *most <= INT32_MAX ? DType::kInt32 : DType::kInt64;
    positions_.push_back(data_->shape[0]);
    positions_.insert(positions_.end(), grid_->shape.begin() + 2, grid_->shape.end());
    const size_t each = method_ == "nearest" ? 1 : method_ == "bicubic" ? 4 : 2;
    size_t taps = 1;
    for (size_t k = 0; k < spatial_; ++k) taps *= each;
    for (size_t tap = 0; tap < taps; ++tap) {
      std::vector<size_t> which(spatial_);  // of the neighbours along each axis
      for (size_t k = spatial_, rest = tap; k-- > 0; rest /= each) which[k] = rest % each;
      taps_.push_back({which, Places(which)});
    }
    if (method_ == "bicubic") {
      for (size_t k = 0; k < spatial_; ++k) {
        for (size_t n = 0; n < each; ++n) {
          cubic_.push_back(te::Compute("grid_weight", positions_, [&](const ExprList& i) {
            return CubicWeights(Part(i, k))[n];
          }));
        }
      }
    }
  }

  // The value at output index `i`.
  Expr Sample(const ExprList& i) const {
    ExprList at{i[0]};
    at.insert(at.end(), i.begin() + 2, i.end());
    if (method_ == "nearest") return Pixel(i, at, taps_[0].place);
    if (method_ == "bicubic") return Cubic(i, at);
    Expr sum;
    for (const Tap& tap : taps_) {
      const te::Tensor weight = te::Compute("grid_weight", positions_, [&](const ExprList& p) {
        Expr product;
        for (size_t k = 0; k < spatial_; ++k) {
          const Expr t = Part(p, k);
          const Expr w = tap.which[k] == 0 ? F(1) - t : t;
          product = k == 0 ? w : product * w;
        }
        return product;
      });
      Expr term = te::Cast(Pixel(i, at, tap.place), dtype_) * te::Load(weight, at);
      sum = sum == nullptr ? term : sum + term;
    }
    return sum;
  }

 private:
  struct Tap {
    std::vector<size_t> which;
    te::Tensor place;  // its pixel's number in a channel, or -1 outside the image
  };

  Expr F(double v) const { return te::FloatImm(v, dtype_); }
  Expr C(double v) const { return te::FloatImm(v, coordinate_); }
  Expr P(int64_t v) const { return te::IntImm(v, place_); }
  const Dim& Extent(size_t k) const { return data_->shape[2 + k]; }
  Expr Size(const Dim& d) const { return te::Cast(te::DimValue(d), coordinate_); }

  // Where the grid points along spatial axis k; the grid holds x, that is the last axis, first.
  Expr Position(const ExprList& i, size_t k) const {
    ExprList at{i[0], Int(static_cast<int64_t>(spatial_ - 1 - k))};
    at.insert(at.end(), i.begin() + 1, i.end());
    Expr v = te::Cast(te::Load(grid_, std::move(at)), coordinate_) + C(1);
    if (align_) return Divide(v * Size(Extent(k) - Dim(1)), C(2));
    return Divide(v * Size(Extent(k)), C(2)) + C(-0.5);
  }

  Expr Pad(Expr x, size_t k) const {
    if (padding_ == "zeros") return x;
    if (padding_ == "reflection") x = Reflect(x, k);
    return Clamp(std::move(x), C(0), Size(Extent(k) - Dim(1)));
  }

  // x mirrored at both ends until it lies within: at the centres of the end pixels (align_corners)
  // or at their outer edges.
  Expr Reflect(const Expr& x, size_t k) const {
    Dim size = align_ ? Extent(k) - Dim(1) : Extent(k);
    Expr low = C(align_ ? 0 : -0.5);
    Expr distance = Unary(UnaryOp::kAbs, low - x);
    Expr turns = te::Binary(BinaryOp::kDivide, ToIndex(distance), te::DimValue(size));
    Expr extra = distance - te::Cast(turns * te::DimValue(size), coordinate_);
    Expr even = te::Binary(BinaryOp::kMod, turns, Int(2)) == Int(0);
    Expr mirrored = te::Select(even, extra + low, Size(size) - extra + low);
    return te::Select(x >= low && LessEqual(x, Size(size) + low), x, mirrored);
  }

  // Torch's cubic convolution, A = -0.75.
  ExprList CubicWeights(const Expr& t) const {
    constexpr double kA = -0.75;
    auto near = [&](const Expr& x) { return (F(kA + 2) * x - F(kA + 3)) * x * x + F(1); };
    auto far = [&](const Expr& x) {
      return ((F(kA) * x - F(5 * kA)) * x + F(8 * kA)) * x - F(4 * kA);
    };
    return {far(t + F(1)), near(t), near(F(1) - t), far(F(2) - t)};
  }

  // Cubic pads the whole position of each neighbour, linear the position itself.
  Expr Padded(const ExprList& i, size_t k) const {
    return method_ == "bicubic" ? Position(i, k) : Pad(Position(i, k), k);
  }
  // How far it is behind the neighbour before it.
  Expr Part(const ExprList& i, size_t k) const {
    const Expr x = Padded(i, k);
    return te::Cast(x - Unary(UnaryOp::kFloor, x), dtype_);
  }
  // Neighbour n along axis k.
  Expr Neighbour(const ExprList& i, size_t k, size_t n) const {
    const Expr x = Padded(i, k);
    if (method_ == "nearest") return Unary(UnaryOp::kRoundEven, x);
    const Expr floor = Unary(UnaryOp::kFloor, x);
    if (method_ == "bilinear") return floor + C(static_cast<double>(n));
    return Pad(floor + C(static_cast<double>(n) - 1), k);
  }

  te::Tensor Places(const std::vector<size_t>& which) const {
    return te::Compute("grid_place", positions_, [&](const ExprList& i) {
      Expr inside = te::IntImm(1, DType::kBool), place = P(0);
      for (size_t k = 0; k < spatial_; ++k) {
        const Expr extent = te::Cast(te::DimValue(Extent(k)), place_);
        const Expr at = te::Cast(Neighbour(i, k, which[k]), place_);
        inside = inside && at >= P(0) && at < extent;
        place = place * extent + at;
      }
      return te::Select(inside, place, P(-1));
    });
  }

  // The pixel of output index `i` at a place, or 0 outside the image.
  Expr Pixel(const ExprList& i, const ExprList& position, const te::Tensor& place) const {
    const Expr found = te::Load(place, position);
    Expr rest = te::Cast(found, DType::kInt64);
    ExprList at(2 + spatial_);
    at[0] = i[0];
    at[1] = i[1];
    size_t first = 0;  // the axes before it are of one pixel
    while (first + 1 < spatial_ && Extent(first).is_const(1)) at[2 + first++] = Int(0);
    for (size_t k = spatial_; k-- > first;) {
      if (k == first) {
        at[2 + k] = rest;
        break;
      }
      if (Extent(k).is_const(1)) {
        at[2 + k] = Int(0);
        continue;
      }
      const Expr extent = te::DimValue(Extent(k));
      at[2 + k] = FloorModExpr(rest, extent);
      rest = FloorDivExpr(rest, extent);
    }
    return te::Select(found >= P(0), te::Load(data_, std::move(at)), te::Const(0, data_->dtype));
  }

  Expr Cubic(const ExprList& i, const ExprList& at) const {
    std::function<Expr(size_t, size_t)> interpolate = [&](size_t k, size_t tap) -> Expr {
      if (k == spatial_) return te::Cast(Pixel(i, at, taps_[tap].place), dtype_);
      Expr sum;
      for (size_t n = 0; n < 4; ++n) {
        Expr term = interpolate(k + 1, tap * 4 + n) * te::Load(cubic_[k * 4 + n], at);
        sum = n == 0 ? term : sum + term;
      }
      return sum;
    };
    return interpolate(0, 0);
  }

  const te::Tensor& data_;
  const te::Tensor& grid_;
  const std::string& method_;
  const std::string& padding_;
  bool align_;
  size_t spatial_;
  DType coordinate_;
  DType dtype_;
  DType place_;
  std::vector<Dim> positions_;
  std::vector<Tap> taps_;
  std::vector<te::Tensor> cubic_;  // the weights of four neighbours, axis by axis
};

OpDef GridSample() {
  OpDef def;
  def.name = "image.grid_sample";
  def.num_args = 2;
  def.attrs = {Optional("method", AttrKind::kString, "bilinear"),
               Optional("layout", AttrKind::kString, "NCHW"),
               Optional("padding_mode", AttrKind::kString, "zeros"),
               Optional("align_corners", AttrKind::kBool, true)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& grid = ctx.tensor(1);
    const std::string& method = ctx.attrs().String("method");
    const std::string& layout = ctx.attrs().String("layout");
    const std::string& padding = ctx.attrs().String("padding_mode");
    if (layout != "NCHW" && layout != "NCDHW") {
      return Unsupported("layout {}; only NCHW and NCDHW are", layout);
    }
    int spatial = static_cast<int>(layout.size()) - 2;
    if (method != "nearest" && method != "bilinear" && !(method == "bicubic" && spatial == 2)) {
      return Invalid("method \"{}\" does not exist for {}", method, layout);
    }
    if (padding != "zeros" && padding != "border" && padding != "reflection") {
      return Invalid("padding_mode \"{}\" is not zeros, border or reflection", padding);
    }
    RELAYVM_RETURN_IF_ERROR(RequireFloat(data));
    RELAYVM_RETURN_IF_ERROR(RequireFloat(grid, "grid"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, spatial + 2));
    RELAYVM_RETURN_IF_ERROR(RequireRank(grid, spatial + 2, "grid"));
    RELAYVM_RETURN_IF_ERROR(
        ctx.RequireEqual(data.shape[0], grid.shape[0], "batches of data and grid"));
    RELAYVM_RETURN_IF_ERROR(
        ctx.RequireEqual(grid.shape[1], Dim(spatial), "coordinates of the grid"));
    TensorType out{{data.shape[0], data.shape[1]}, data.dtype};
    out.shape.insert(out.shape.end(), grid.shape.begin() + 2, grid.shape.end());
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    GridSampler sampler(ctx);
    return {te::Compute("grid_sample", ctx.outputs[0].shape, [&](const ExprList& i) {
      return te::Cast(sampler.Sample(i), ctx.outputs[0].dtype);
    })};
  };
  return def;
}

// --- dilation2d ---

struct DilationAttrs {
  std::vector<int64_t> strides, dilations;
  int64_t top, left, bottom, right;
  bool channels_last;
};

Result<DilationAttrs> ReadDilation(const Attrs& attrs) {
  DilationAttrs d{attrs.Ints("strides"), attrs.Ints("dilations"), 0, 0, 0, 0, false};
  for (auto* v : {&d.strides, &d.dilations}) {
    if (v->size() == 1) v->push_back((*v)[0]);
    if (v->size() != 2 || (*v)[0] < 1 || (*v)[1] < 1) {
      return Invalid("strides and dilations need two numbers above 0");
    }
  }
  std::vector<int64_t> p = attrs.Ints("padding");
  if (p.size() == 1) p = {p[0], p[0], p[0], p[0]};
  if (p.size() == 2) p = {p[0], p[1], p[0], p[1]};
  if (p.size() != 4) return Invalid("padding needs 1, 2 or 4 elements, not {}", p.size());
  for (int64_t v : p) {
    if (v < 0) return Invalid("padding is negative, {}", v);
  }
  d.top = p[0], d.left = p[1], d.bottom = p[2], d.right = p[3];
  const std::string& data = attrs.String("data_layout");
  const std::string& kernel = attrs.String("kernel_layout");
  d.channels_last = data == "NHWC" && kernel == "HWI";
  if (!d.channels_last && !(data == "NCHW" && kernel == "IHW")) {
    return Unsupported("layouts {} and {}; NCHW with IHW and NHWC with HWI are", data, kernel);
  }
  return d;
}

// Greyscale dilation: the maximum over a window of data + kernel, the data padded with zeros.
OpDef Dilation2d() {
  OpDef def;
  def.name = "image.dilation2d";
  def.num_args = 2;
  def.attrs = {Optional("strides", AttrKind::kInts, AttrList{1, 1}),
               Optional("padding", AttrKind::kInts, AttrList{0, 0}),
               Optional("dilations", AttrKind::kInts, AttrList{1, 1}),
               Optional("data_layout", AttrKind::kString, "NCHW"),
               Optional("kernel_layout", AttrKind::kString, "IHW"),
               Optional("out_dtype", AttrKind::kDType, "")};
  def.fusion = FusionClass::kOutElementwise;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& kernel = ctx.tensor(1);
    RELAYVM_ASSIGN_OR_RETURN(DilationAttrs d, ReadDilation(ctx.attrs()));
    RELAYVM_RETURN_IF_ERROR(RequireNumber(data));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(data, kernel));
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 4));
    RELAYVM_RETURN_IF_ERROR(RequireRank(kernel, 3, "kernel"));
    size_t h = d.channels_last ? 1 : 2;
    size_t c = d.channels_last ? 3 : 1;
    size_t kh = d.channels_last ? 0 : 1;
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(data.shape[c], kernel.shape[d.channels_last ? 2 : 0],
                                             "channels of data and kernel"));
    TensorType out{data.shape, DTypeOr(ctx.attrs(), "out_dtype", data.dtype)};
    auto extent = [&](size_t k, int64_t pad) -> Result<Dim> {
      Dim window = (kernel.shape[kh + k] - Dim(1)) * Dim(d.dilations[k]) + Dim(1);
      Dim room = data.shape[h + k] + Dim(pad) - window;
      RELAYVM_RETURN_IF_ERROR(
          ctx.RequireAtLeast(room, Dim(0), "the padded extent without the window"));
      return Dim::FloorDiv(room, Dim(d.strides[k])) + Dim(1);
    };
    RELAYVM_ASSIGN_OR_RETURN(out.shape[h], extent(0, d.top + d.bottom));
    RELAYVM_ASSIGN_OR_RETURN(out.shape[h + 1], extent(1, d.left + d.right));
    return OpResult(std::move(out));
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    const te::Tensor& kernel = ctx.inputs[1];
    DilationAttrs d = *ReadDilation(ctx.attrs);
    size_t h = d.channels_last ? 1 : 2;
    size_t c = d.channels_last ? 3 : 1;
    size_t kh = d.channels_last ? 0 : 1;
    DType dtype = ctx.outputs[0].dtype;
    return {te::Compute("dilation2d", ctx.outputs[0].shape, [&](const ExprList& i) {
      te::Axis ry = te::MakeAxis("ry", kernel->shape[kh]);
      te::Axis rx = te::MakeAxis("rx", kernel->shape[kh + 1]);
      auto position = [&](const te::Axis& r, size_t k, int64_t before) {
        return i[h + k] * Int(d.strides[k]) + te::AxisValue(r) * Int(d.dilations[k]) + Int(-before);
      };
      ExprList at = i;
      at[h] = position(ry, 0, d.top);
      at[h + 1] = position(rx, 1, d.left);
      Expr value = te::Load(data, at);
      if (d.top + d.left + d.bottom + d.right > 0) {
        Expr inside = at[h] >= Int(0) && at[h] < te::DimValue(data->shape[h]) &&
                      at[h + 1] >= Int(0) && at[h + 1] < te::DimValue(data->shape[h + 1]);
        value = te::Select(inside, value, te::Const(0, data->dtype));
      }
      ExprList k{te::AxisValue(ry), te::AxisValue(rx)};
      k.insert(d.channels_last ? k.end() : k.begin(), i[c]);
      Expr sum = te::Cast(value, dtype) + te::Cast(te::Load(kernel, std::move(k)), dtype);
      return te::Reduce(te::ReduceKind::kMax, sum, {ry, rx}, dtype);
    })};
  };
  return def;
}

}  // namespace

void DefineImageSampling(OpTable& table) {
  table.Add(AffineGrid());
  table.Add(GridSample());
  table.Add(Dilation2d());
}

}  // namespace relayvm
