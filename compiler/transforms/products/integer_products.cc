#include "compiler/transforms/products/integer_products.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/problems.h"
#include "compiler/ir/rewrite.h"
#include "compiler/ir/scalar.h"
#include "compiler/transforms/builder.h"
#include "compiler/typing/op_typing.h"
#include "kernels/op/qnn.h"

namespace relayvm::ir {
namespace {

TensorType TypeOf(const Module& m, const Atom& a) { return *AtomType(m, a)->As<TensorType>(); }

bool IsByte(DType t) { return t == DType::kInt8 || t == DType::kUInt8; }

const HostTensor* ConstantOf(const Atom& a) {
  const auto* constant = std::get_if<const Constant*>(&a);
  return constant == nullptr || (*constant)->value.data.empty() ? nullptr : &(*constant)->value;
}

// A zero point: int32, a scalar, or a vector over the output channels of weights.
struct Zero {
  Atom atom;  // int32
  bool is_vector = false;
  std::optional<int64_t> number;  // where all are one that is known

  bool is(int64_t n) const { return number == n; }
};

// Bytes with the sign that products take, and their zero point in it.
struct Side {
  Atom bytes;
  Zero zero;
};

class IntegerCallLowering {
 public:
  IntegerCallLowering(const Module& m, const Binding& binding, const OpCall& call,
                      std::vector<Binding>& out)
      : m_(m), binding_(binding), call_(call), out_(out), b_(m, binding.value->span, out) {}

  // False where the call stays; nothing is appended then.
  bool Run() {
    const auto product = MatrixProductOf(m_, call_);
    if (product && product->kind.is_quantised) {
      return TakesBytes(*product) && (product->kind.is_batched ? BatchMatmul(*product) : Dense());
    }
    const auto conv = ConvOf(m_, call_);
    return conv && conv->kind.is_quantised && !conv->kind.is_transposed && TakesBytes(*conv) &&
           Convolution(*conv);
  }

 private:
  bool TakesBytes(const ProductProblem& p) const {
    return TakesBytes(p.data_type, p.weight_type, p.sum_type);
  }
  bool TakesBytes(const ConvProblem& p) const {
    return TakesBytes(p.data_type, p.kernel_type, p.sum_type);
  }
  bool TakesBytes(DType data, DType weight, DType sum) const {
    // A vector of the data's zero points is along K.
    return sum == DType::kInt32 && IsByte(data) && IsByte(weight) && IsScalar(call_.args[2]);
  }

  TensorType Data() const { return TypeOf(m_, call_.args[0]); }
  TensorType Weight() const { return TypeOf(m_, call_.args[1]); }
  bool IsScalar(const Atom& a) const {
    const TensorType type = TypeOf(m_, a);
    return std::ranges::all_of(type.shape, [](const Dim& d) { return d.is_const(1); });
  }

  // --- Operands ---

  // Argument i's zero points, of bytes that are counted from `by` more than before.
  Zero ZeroOf(size_t i, int64_t by) {
    Zero zero;
    const TensorType type = TypeOf(m_, call_.args[i]);
    zero.is_vector = !IsScalar(call_.args[i]);
    if (const HostTensor* constant = ConstantOf(call_.args[i])) {
      std::vector<int64_t> all = typing::IntegerElements(*constant);
      const bool same = std::ranges::all_of(all, [&](int64_t z) { return z == all[0]; });
      if (same && !all.empty()) {
        zero.number = all[0] + by;
        zero.is_vector = false;
        zero.atom = b_.Scalar(static_cast<double>(*zero.number), DType::kInt32);
        return zero;
      }
    }
    zero.atom = b_.Cast(call_.args[i], DType::kInt32);
    if (!zero.is_vector && !type.shape.empty()) {
      zero.atom = b_.Reshape(zero.atom, {});
    }
    if (by != 0) {
      zero.atom = b_.Add(zero.atom, b_.Scalar(static_cast<double>(by), DType::kInt32));
    }
    return zero;
  }

  // The sign of each byte the other way round.
  Atom Flipped(Atom a, DType from, DType to) {
    if (from == to) return a;
    Atom bits = from == DType::kUInt8 ? a : b_.Cast(a, DType::kUInt8);
    bits = b_.Xor(bits, b_.Scalar(128, DType::kUInt8));
    return to == DType::kUInt8 ? bits : b_.Cast(bits, to);
  }
  Side DataSide() {
    const DType dtype = Data().dtype;
    return {Flipped(call_.args[0], dtype, DType::kUInt8),
            ZeroOf(2, dtype == DType::kInt8 ? 128 : 0)};
  }
  Side WeightSide() {
    const DType dtype = Weight().dtype;
    return {Flipped(call_.args[1], dtype, DType::kInt8),
            ZeroOf(3, dtype == DType::kUInt8 ? -128 : 0)};
  }

  // --- Sums ---

  Atom SumOf(Atom bytes, const std::vector<int64_t>& axes, bool keep, const Zero* zero = nullptr,
             int trailing = 0) {
    Atom wide = b_.Cast(bytes, DType::kInt32);
    if (zero != nullptr && !zero->is(0)) {
      wide = b_.Subtract(wide, Spread(*zero, trailing));
    }
    return b_.Sum(wide, axes, keep);
  }
  // A vector in front of so many axes.
  Atom Spread(const Zero& zero, int trailing) {
    if (!zero.is_vector || trailing == 0) return zero.atom;
    return b_.ExpandDims(zero.atom, 1, trailing);
  }
  // The sums of each output channel's weights less their zero points, where all are constants: a
  // constant at once. The channels are those of a weight (before, channels, after).
  std::optional<Atom> ConstantSums(int64_t channels, int64_t after) {
    const HostTensor* weight = ConstantOf(call_.args[1]);
    const HostTensor* zeros = ConstantOf(call_.args[3]);
    if (weight == nullptr || zeros == nullptr) return std::nullopt;
    const std::vector<int64_t> z = typing::IntegerElements(*zeros);
    HostTensor sums{DType::kInt32, {channels}, {}};
    sums.data = SharedBytes::Zeros(static_cast<size_t>(channels) * sizeof(int32_t));
    auto* out = reinterpret_cast<uint32_t*>(sums.data.Mutable().data());
    const bool is_signed = weight->dtype == DType::kInt8;
    const SharedBytes bytes = weight->data.Loaded();
    for (int64_t i = 0; i < weight->size(); ++i) {
      const int64_t channel = i / after % channels;
      const auto byte = static_cast<uint8_t>(bytes.data()[i]);
      const int64_t value = is_signed ? static_cast<int8_t>(byte) : byte;
      out[channel] += static_cast<uint32_t>(value - z[z.size() == 1 ? 0 : channel]);
    }
    return MakeConstant(m_, std::move(sums));
  }

  // Binds the result: `product` less zx * `sums` less zw * `data_sums`, each where it is not 0.
  void Bind(Atom product, const Side& x, const std::optional<Atom>& sums, const Atom& zw,
            const std::optional<Atom>& data_sums) {
    if (sums) {
      product = b_.Subtract(product, b_.Multiply(*sums, x.zero.atom));
    }
    if (data_sums) {
      product = b_.Subtract(product, b_.Multiply(*data_sums, zw));
    }
    // The last call is the result.
    out_.back().var = binding_.var;
  }

  // --- The operators ---

  void KeepGuards() { ir::KeepGuards(m_, call_, binding_.value->span, out_); }

  bool Dense() {
    KeepGuards();
    const TensorType weight = Weight();
    const Side x = DataSide(), w = WeightSide();
    const Atom product =
        b_.Call(OperatorOf(ProductClass{}), {x.bytes, w.bytes}, AttrsOf({{"out_dtype", "int32"}}));
    std::optional<Atom> sums, data_sums;
    if (!x.zero.is(0)) {
      if (weight.shape[0].is_const() && weight.shape[1].is_const() && weight.shape[1].value() > 0) {
        sums = ConstantSums(weight.shape[0].value(), weight.shape[1].value());
      }
      if (!sums) sums = SumOf(w.bytes, {1}, false, &w.zero, 1);
    }
    if (!w.zero.is(0)) data_sums = SumOf(x.bytes, {-1}, true);
    Bind(product, x, sums, w.zero.atom, data_sums);
    return true;
  }

  bool BatchMatmul(const ProductProblem& p) {
    if (!IsScalar(call_.args[3])) return false;
    KeepGuards();
    Side x = DataSide(), w = WeightSide();
    const bool transposed = p.transpose_b;
    if (p.transpose_a) {
      x.bytes = b_.Transpose(x.bytes, {0, 2, 1});
    }
    const Atom product = b_.Call(
        OperatorOf(ProductClass{.is_batched = true}), {x.bytes, w.bytes},
        AttrsOf({{"out_dtype", "int32"}, {"transpose_a", false}, {"transpose_b", transposed}}));
    std::optional<Atom> sums, data_sums;
    if (!x.zero.is(0)) {
      sums = SumOf(w.bytes, {transposed ? 2 : 1}, !transposed, &w.zero);
      if (transposed) sums = b_.ExpandDims(*sums, 1);
    }
    if (!w.zero.is(0)) data_sums = SumOf(x.bytes, {2}, true);
    Bind(product, x, sums, w.zero.atom, data_sums);
    return true;
  }

  bool Convolution(const ConvProblem& p) {
    const TensorType data = Data();
    const TensorType weight = Weight();
    const int spatial = p.spatial();
    const bool last = p.is_channels_last();
    if ((!last && !p.is_channels_first()) || !p.has_usual_kernel()) return false;
    if (ConstantOf(call_.args[1]) == nullptr) return false;
    const size_t channel_at = last ? static_cast<size_t>(spatial) + 1 : 1;
    const size_t out_at = last ? weight.shape.size() - 1 : 0, in_at = last ? out_at - 1 : 1;
    const int64_t groups = p.groups;
    const int64_t inputs = p.kernel_in.value(), outputs = p.kernel_out.value();
    if (!p.in_channels.is_const(inputs * groups) || outputs % groups != 0 ||
        !qnn::TakesByteConvolution(inputs, outputs / groups, groups)) {
      return false;
    }
    for (const auto& sides : {p.padding.before, p.padding.after}) {
      if (std::ranges::any_of(sides, [](int64_t n) { return n < 0; })) return false;
    }
    const bool pads = p.is_padded();
    const HostTensor* zero = ConstantOf(call_.args[2]);
    const bool zero_is_byte = TypeOf(m_, call_.args[2]).dtype == data.dtype;
    if (pads && !zero_is_byte) {
      if (zero == nullptr) return false;
      const int64_t z = typing::IntegerElements(*zero)[0] + (data.dtype == DType::kInt8 ? 128 : 0);
      if (z < 0 || z > 255) return false;
    }

    KeepGuards();
    Side x = DataSide(), w = WeightSide();
    const int64_t more =
        (qnn::kQuad - inputs % qnn::kQuad) % qnn::kQuad;  // channels that words are filled with
    const std::vector<int64_t> dims = ConstantShape(weight);
    std::optional<Atom> sums, data_sums;
    if (!x.zero.is(0)) sums = ConvolutionSums(w, out_at, last, spatial, dims);
    Attrs attrs = call_.attrs;
    if ((pads && !x.zero.is(0)) || more > 0) {
      AttrList widths(data.shape.size(), AttrList{0, 0});
      for (int s = 0; s < spatial; ++s) {
        const auto i = static_cast<size_t>(s);
        widths[i + (last ? 1 : 2)] = AttrList{p.padding.before[i], p.padding.after[i]};
      }
      widths[channel_at] = AttrList{0, more};
      const Atom fill = x.zero.number
                            ? b_.Scalar(static_cast<double>(*x.zero.number), DType::kUInt8)
                            : b_.Cast(x.zero.atom, DType::kUInt8);
      x.bytes = b_.Pad(x.bytes, fill, widths);
      attrs.Set("padding", Ints(std::vector<int64_t>(static_cast<size_t>(spatial), 0)));
    }
    if (!w.zero.is(0)) data_sums = ConvolutionDataSums(x, attrs, last, dims, more);
    if (more > 0) {
      AttrList widths(weight.shape.size(), AttrList{0, 0});
      widths[in_at] = AttrList{0, more};
      w.bytes = b_.Pad(w.bytes, b_.Scalar(0, DType::kInt8), widths);
    }
    attrs.Set("out_dtype", "int32");
    const Atom product = b_.Call(OperatorOf(ConvClass{spatial}), {x.bytes, w.bytes}, attrs);
    const Atom zw = w.zero.is_vector && !last ? Spread(w.zero, spatial) : w.zero.atom;
    Bind(product, x, sums, zw, data_sums);
    return true;
  }

  static std::vector<int64_t> ConstantShape(const TensorType& type) {
    std::vector<int64_t> shape;
    for (const Dim& d : type.shape) shape.push_back(d.value());
    return shape;
  }

  // Where they broadcast to the result.
  Atom ConvolutionSums(const Side& w, size_t out_at, bool last, int spatial,
                       const std::vector<int64_t>& dims) {
    const int64_t outputs = dims[out_at];
    const int64_t after = std::accumulate(dims.begin() + static_cast<ptrdiff_t>(out_at) + 1,
                                          dims.end(), int64_t{1}, std::multiplies<>());
    std::optional<Atom> sums = outputs * after > 0 ? ConstantSums(outputs, after) : std::nullopt;
    if (!sums) {
      std::vector<int64_t> axes;
      for (size_t i = 0; i < dims.size(); ++i) {
        if (i != out_at) axes.push_back(static_cast<int64_t>(i));
      }
      sums = SumOf(w.bytes, axes, false, &w.zero, last ? 0 : static_cast<int>(dims.size()) - 1);
    }
    if (last) return *sums;
    std::vector<int64_t> shape(static_cast<size_t>(spatial) + 1, 1);
    shape[0] = outputs;
    return b_.Reshape(*sums, Ints(shape));
  }

  // The sums of the data under each window, of the channels of each output's group: a convolution
  // with weights of 1.
  Atom ConvolutionDataSums(const Side& x, const Attrs& attrs, bool last,
                           const std::vector<int64_t>& dims, int64_t more) {
    const int64_t groups = attrs.Int("groups");
    const size_t out_at = last ? dims.size() - 1 : 0, in_at = last ? out_at - 1 : 1;
    std::vector<int64_t> shape = dims;
    const int64_t each = dims[out_at] / groups;
    shape[out_at] = groups;
    HostTensor ones{DType::kInt8, shape, {}};
    ones.data = SharedBytes::Zeros(static_cast<size_t>(ones.size()));
    std::ranges::fill(ones.data.Mutable(), std::byte{1});
    Atom weight = MakeConstant(m_, std::move(ones));
    if (more > 0) {
      AttrList widths(dims.size(), AttrList{0, 0});
      widths[in_at] = AttrList{0, more};
      weight = b_.Pad(weight, b_.Scalar(0, DType::kInt8), widths);
    }
    Attrs of_ones = attrs;
    of_ones.Set("out_dtype", "int32");
    of_ones.Set("channels", groups);
    Atom sums = b_.Call(OperatorOf(ConvClass{call_.op->conv->spatial}), {x.bytes, weight}, of_ones);
    if (groups == 1) return sums;
    const int64_t axis = last ? static_cast<int64_t>(dims.size()) - 1 : 1;
    return b_.Repeat(sums, each, axis);
  }

  const Module& m_;
  const Binding& binding_;
  const OpCall& call_;
  std::vector<Binding>& out_;
  BindingBuilder b_;
};

}  // namespace

Module IntegerProducts(const Module& m) {
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || !IntegerCallLowering(m, b, *call, out).Run()) out.push_back(b);
  });
}

}  // namespace relayvm::ir
