#include "kernels/op/implied_args.h"

#include <string>

#include "kernels/op/layouts.h"

namespace relayvm::implied {
namespace {

// The dims of `type` by the letters of a plain layout such as NCHW.
std::optional<Dim> ExtentOf(const TensorType& type, const std::string& layout, char letter) {
  size_t at = layout.find(letter);
  if (layout.size() != type.shape.size() || at == std::string::npos) return std::nullopt;
  return type.shape[at];
}

// A kernel whose axes have these extents, in its layout. Nullopt where that is none of a kernel.
MaybeType KernelType(const Attrs& attrs, const TensorType& data, const Dim& out, const Dim& in) {
  std::vector<int64_t> size = attrs.Ints("kernel_size");
  const std::string spatial = std::string("DHW").substr(3 - size.size());
  auto layout = Layout::Parse(attrs.String("kernel_layout"), "OI" + spatial, "kernel_layout");
  if (!layout.ok()) return std::nullopt;
  return TensorType{layout->Shape([&](char axis) {
                      if (axis == 'O') return out;
                      if (axis == 'I') return in;
                      return Dim(size[spatial.find(axis)]);
                    }),
                    data.dtype};
}

MaybeType ConvKernel(const Attrs& attrs, const TensorType& data, bool transpose) {
  auto channels = attrs.OptionalInt("channels");
  size_t spatial = attrs.Has("kernel_size") ? attrs.Ints("kernel_size").size() : 0;
  auto layout = Layout::Parse(attrs.String("data_layout"));
  int64_t groups = attrs.Int("groups");
  if (!channels || !layout.ok() || groups < 1 || spatial < 1 || spatial > 3) return std::nullopt;
  if (layout->rank() != data.rank() || !layout->Has('C')) return std::nullopt;
  const Dim in = layout->Extent('C', data.shape);
  if (transpose) return KernelType(attrs, data, *channels / groups, in);
  return KernelType(attrs, data, *channels, Dim::FloorDiv(in, groups));
}

// Offsets of the sampling positions: two numbers for each tap, at each position of the output.
MaybeType DeformableOffset(const Attrs& attrs, const TensorType& data) {
  std::vector<int64_t> size =
      attrs.Has("kernel_size") ? attrs.Ints("kernel_size") : std::vector<int64_t>();
  const std::string& layout = attrs.String("data_layout");
  std::vector<int64_t> padding = attrs.Ints("padding");
  std::vector<int64_t> strides = attrs.Ints("strides");
  std::vector<int64_t> dilation = attrs.Ints("dilation");
  if (size.size() != 2 || padding.empty() || strides.empty() || dilation.empty()) {
    return std::nullopt;
  }
  TensorType type{{}, data.dtype};
  for (char letter : layout) {
    auto extent = ExtentOf(data, layout, letter);
    if (!extent) return std::nullopt;
    if (letter == 'C') {
      extent = Dim(2 * size[0] * size[1] * attrs.Int("deformable_groups"));
    } else if (letter == 'H' || letter == 'W') {
      size_t axis = letter == 'W';
      auto at = [&](const std::vector<int64_t>& v, size_t i) { return v[i < v.size() ? i : 0]; };
      // One number pads all sides, two give height and width, four the sides.
      int64_t pad = padding.size() == 4 ? padding[axis] + padding[axis + 2] : 2 * at(padding, axis);
      if (at(strides, axis) < 1) return std::nullopt;
      extent = Dim::FloorDiv(*extent + pad - (size[axis] - 1) * at(dilation, axis) - 1,
                             at(strides, axis)) +
               1;
    } else if (letter != 'N') {
      return std::nullopt;
    }
    type.shape.push_back(*extent);
  }
  return type;
}

MaybeTypes AllOthers(size_t num_args, const MaybeType& type) {
  MaybeTypes out(num_args, type);
  if (!out.empty()) out[0].reset();
  return out;
}

MaybeType AlongAxis(const Attrs& attrs, const TensorType& data) {
  int64_t axis = attrs.Int("axis");
  if (axis < 0) axis += data.rank();
  if (axis < 0 || axis >= data.rank()) return std::nullopt;
  return TensorType{{data.shape[static_cast<size_t>(axis)]}, data.dtype};
}

// A matrix that makes `units` of the data's axis `reduced`, counted from behind.
MaybeType ProductWeight(const Attrs& attrs, const TensorType& data, int reduced, bool transpose) {
  auto units = attrs.OptionalInt("units");
  if (!units || data.rank() < reduced) return std::nullopt;
  const Dim& in = data.shape[static_cast<size_t>(data.rank() - reduced)];
  return TensorType{transpose ? std::vector<Dim>{*units, in} : std::vector<Dim>{in, *units},
                    data.dtype};
}

}  // namespace

MaybeTypes Dense(const Attrs& attrs, const TensorType& data, size_t num_args) {
  return AllOthers(num_args, ProductWeight(attrs, data, 1, true));
}

MaybeTypes Matmul(const Attrs& attrs, const TensorType& data, size_t num_args) {
  return AllOthers(num_args, ProductWeight(attrs, data, attrs.Bool("transpose_a") ? 2 : 1,
                                           attrs.Bool("transpose_b")));
}

MaybeTypes Conv(const Attrs& attrs, const TensorType& data, size_t num_args) {
  return AllOthers(num_args, ConvKernel(attrs, data, false));
}

MaybeTypes ConvTranspose(const Attrs& attrs, const TensorType& data, size_t num_args) {
  return AllOthers(num_args, ConvKernel(attrs, data, true));
}

MaybeTypes DeformableConv(const Attrs& attrs, const TensorType& data, size_t num_args) {
  MaybeTypes out(num_args);
  if (num_args != 3) return out;
  out[1] = DeformableOffset(attrs, data);
  out[2] = ConvKernel(attrs, data, false);
  return out;
}

MaybeTypes VectorsAlongAxis(const Attrs& attrs, const TensorType& data, size_t num_args) {
  return AllOthers(num_args, AlongAxis(attrs, data));
}

}  // namespace relayvm::implied
