// Integers by their bits: nn.bitpack gives bits to lanes of words, nn.bitserial_dense and
// nn.bitserial_conv2d are products of few bits. TVM computes those of packed words with counts of
// bits; here they are products of what the bits say. Stateless. Tested by bits_test.cc.
#include <algorithm>
#include <utility>

#include "kernels/op/conv.h"
#include "kernels/op/define.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;
using Value = CallWriter::Value;

constexpr int64_t kMostBits = 8;

Result<DType> Given(const Attrs& attrs, const char* name) {
  const auto dtype = attrs.OptionalDType(name);
  return dtype ? Result<DType>(*dtype) : Invalid("{} must be given", name);
}

// --- nn.bitpack ---

struct PackPlan {
  int64_t bits = 1, width = 32;  // of an element that are kept; of a word
  size_t pack_axis = 1, bit_axis = 2;
  DType word = DType::kUInt32;
};

Result<PackPlan> PlanPack(const Attrs& attrs, int rank) {
  PackPlan p;
  RELAYVM_ASSIGN_OR_RETURN(p.word, Given(attrs, "pack_type"));
  if (!IsUnsignedInt(p.word)) {
    return Invalid("pack_type is {}, expected an unsigned integer", DTypeName(p.word));
  }
  p.width = DTypeBits(p.word);
  p.bits = attrs.Int("bits");
  const int64_t pack = attrs.Int("pack_axis"), bit = attrs.Int("bit_axis");
  if (p.bits < 1 || p.bits > kMostBits) {
    return Invalid("bits is {}, expected 1 to {}", p.bits, kMostBits);
  }
  if (pack < 0 || pack >= rank || bit < 0 || bit > rank) {
    return Invalid("pack_axis is {} and bit_axis {} for data of rank {}", pack, bit, rank);
  }
  p.pack_axis = static_cast<size_t>(pack);
  p.bit_axis = static_cast<size_t>(bit);
  return p;
}

OpDef BitPackOp() {
  OpDef op;
  op.name = "nn.bitpack";
  op.attrs = {{"bits", AttrKind::kInt, false, 1},
              {"pack_axis", AttrKind::kInt, false, 1},
              {"bit_axis", AttrKind::kInt, false, -1},
              {"pack_type", AttrKind::kDType, false, ""},
              {"name", AttrKind::kString, false, "BitPack"}};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireInteger(data, "data"));
    RELAYVM_ASSIGN_OR_RETURN(PackPlan p, PlanPack(tc.attrs(), data.rank()));
    std::vector<Dim> shape = data.shape;
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::FloorMod(shape[p.pack_axis], p.width), 0,
                                            "the packed extent modulo the bits of a word"));
    shape[p.pack_axis] = Dim::FloorDiv(shape[p.pack_axis], p.width);
    shape.insert(shape.begin() + static_cast<int64_t>(p.bit_axis), p.bits);
    return OpResult(TensorType{std::move(shape), p.word});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& x = c.inputs[0];
    const PackPlan p = *PlanPack(c.attrs, x->rank());
    return {te::Compute("bitpack", c.outputs[0].shape, [&](const Indices& i) {
      const Expr& bit = i[p.bit_axis];
      Indices at = i;
      at.erase(at.begin() + static_cast<int64_t>(p.bit_axis));
      // The first element is the highest bit of its word.
      const te::Axis lane = te::MakeAxis("lane", p.width);
      at[p.pack_axis] = at[p.pack_axis] * Int(p.width) + te::AxisValue(lane);
      const Expr element = te::Cast(te::Load(x, at), DType::kInt64);
      const Expr one = te::Binary(te::BinaryOp::kAnd,
                                  te::Binary(te::BinaryOp::kShiftRight, element, bit), Int(1));
      const Expr placed = te::Binary(te::BinaryOp::kShiftLeft, te::Cast(one, p.word),
                                     te::Cast(Int(p.width - 1) - te::AxisValue(lane), p.word));
      return te::Reduce(te::ReduceKind::kSum, placed, {lane}, p.word);
    })};
  };
  return op;
}

// --- Products ---

// Bits of the data and of the weight, by the names of their attributes.
struct BitNames {
  const char* data;
  const char* weight;
};

Status CheckBits(const Attrs& attrs, const BitNames& names) {
  for (const char* name : {names.data, names.weight}) {
    const int64_t bits = attrs.Int(name);
    if (bits < 1 || bits > kMostBits) {
      return Invalid("{} is {}, expected 1 to {}", name, bits, kMostBits);
    }
  }
  return OkStatus();
}

// The lowest `bits` of an integer as a number of `dtype`; as signs, each bit is plus or minus.
Expr LowestOf(const Expr& element, int64_t bits, bool as_signs, DType dtype) {
  const int64_t mask = (int64_t{1} << bits) - 1;
  Expr value =
      te::Cast(te::Binary(te::BinaryOp::kAnd, te::Cast(element, DType::kInt64), Int(mask)), dtype);
  if (!as_signs) return value;
  return value * te::Const(2, dtype) - te::Const(static_cast<double>(mask), dtype);
}

// A term of the sum that is a product's element.
Expr Term(const ComputeContext& c, const BitNames& names, const Expr& data, const Expr& weight) {
  const DType sum = c.outputs[0].dtype;
  return LowestOf(data, c.attrs.Int(names.data), false, sum) *
         LowestOf(weight, c.attrs.Int(names.weight), c.attrs.Bool("unipolar"), sum);
}

// The same in operators.
Value Lowest(CallWriter& w, size_t arg, int64_t bits, bool as_signs, DType dtype) {
  const auto cast = [&](Value value, DType to) {
    Attrs attrs;
    attrs.Set("dtype", std::string(DTypeName(to)));
    return w.Call("cast", {value}, attrs);
  };
  const int64_t mask = (int64_t{1} << bits) - 1;
  const Value low = w.Call("bitwise_and", {cast(w.Arg(arg), DType::kInt64),
                                           w.Scalar(static_cast<double>(mask), DType::kInt64)});
  const Value value = cast(low, dtype);
  if (!as_signs) return value;
  const Value twice = w.Call("multiply", {value, w.Scalar(2, dtype)});
  return w.Call("subtract", {twice, w.Scalar(static_cast<double>(mask), dtype)});
}

std::vector<Value> Operands(CallWriter& w, const BitNames& names) {
  const Attrs& attrs = w.attrs();
  const DType sum = *attrs.OptionalDType("out_dtype");
  return {Lowest(w, 0, attrs.Int(names.data), false, sum),
          Lowest(w, 1, attrs.Int(names.weight), attrs.Bool("unipolar"), sum)};
}

constexpr BitNames kDenseBits{"data_bits", "weight_bits"};
constexpr BitNames kConvBits{"activation_bits", "weight_bits"};

std::vector<AttrField> ProductFields(const BitNames& names) {
  return {{names.data, AttrKind::kInt, false, 1},
          {names.weight, AttrKind::kInt, false, 1},
          {"pack_dtype", AttrKind::kDType, false, ""},
          {"out_dtype", AttrKind::kDType, false, ""},
          {"unipolar", AttrKind::kBool, false, true}};
}

Status CheckOperands(TypeContext& tc, const BitNames& names) {
  RELAYVM_RETURN_IF_ERROR(CheckBits(tc.attrs(), names));
  RELAYVM_RETURN_IF_ERROR(RequireInteger(tc.tensor(0), "data"));
  RELAYVM_RETURN_IF_ERROR(RequireInteger(tc.tensor(1), "weight"));
  RELAYVM_ASSIGN_OR_RETURN(const DType sum, Given(tc.attrs(), "out_dtype"));
  const bool is_wide = IsInt(sum) && DTypeBits(sum) > kMostBits;
  return is_wide
             ? OkStatus()
             : Invalid("out_dtype is {}, expected an integer of 16 bits or more", DTypeName(sum));
}

OpDef BitserialDenseOp() {
  OpDef op;
  op.name = "nn.bitserial_dense";
  op.num_args = 2;
  op.attrs = ProductFields(kDenseBits);
  op.attrs.insert(op.attrs.begin(), {"units", AttrKind::kInt});
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(CheckOperands(tc, kDenseBits));
    const TensorType& data = tc.tensor(0);
    const TensorType& weight = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(weight, 2, "weight"));
    if (data.rank() < 1) return Invalid("data must have rank 1 at least");
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(data.shape.back(), weight.shape[1],
                                            "the reduced dimensions of data and weight"));
    if (tc.attrs().Has("units")) {
      RELAYVM_RETURN_IF_ERROR(
          tc.RequireEqual(tc.attrs().Int("units"), weight.shape[0], "units and weight"));
    }
    std::vector<Dim> shape = data.shape;
    shape.back() = weight.shape[0];
    return OpResult(TensorType{std::move(shape), *tc.attrs().OptionalDType("out_dtype")});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const TensorType& result = c.outputs[0];
    return {te::Compute("bitserial_dense", result.shape, [&](const Indices& i) {
      const te::Axis k = te::MakeAxis("k", c.inputs[1]->shape[1]);
      Indices at = i;
      at.back() = te::AxisValue(k);
      const Expr weight = te::Load(c.inputs[1], {i.back(), te::AxisValue(k)});
      return te::Reduce(te::ReduceKind::kSum,
                        Term(c, kDenseBits, te::Load(c.inputs[0], at), weight), {k}, result.dtype);
    })};
  };
  op.decompose = [](CallWriter& w) -> std::optional<std::vector<Value>> {
    return {{w.Call("nn.dense", Operands(w, kDenseBits))}};
  };
  return op;
}

// Those of nn.conv2d.
Attrs ConvAttrs(const Attrs& attrs) {
  Attrs conv;
  for (const char* name : {"strides", "padding", "channels", "kernel_size", "data_layout"}) {
    if (attrs.Has(name)) conv.Set(name, *attrs.Find(name));
  }
  conv.Set("kernel_layout", attrs.String("kernel_layout"));
  return conv;
}

Result<ConvProblem> ProblemOf(const Attrs& attrs, const TensorType& data,
                              const TensorType& kernel) {
  RELAYVM_ASSIGN_OR_RETURN(Attrs conv,
                           CompleteAttrs(*OpTable::Get().Find("nn.conv2d"), ConvAttrs(attrs)));
  return ReadConv({2}, conv, data, kernel);
}

std::vector<Tensor> ComputeBitserialConv(const ComputeContext& c) {
  constexpr std::string_view kSpatial = "HW";
  const Tensor& data = c.inputs[0];
  const Tensor& kernel = c.inputs[1];
  const ConvProblem p =
      *ProblemOf(c.attrs, {data->shape, data->dtype}, {kernel->shape, kernel->dtype});
  const DType sum = c.outputs[0].dtype;
  return {te::Compute("bitserial_conv2d", c.outputs[0].shape, [&](const Indices& i) {
    std::vector<te::Axis> axes = {te::MakeAxis("ic", p.kernel_in)};
    const Expr channel = te::AxisValue(axes[0]);
    std::vector<Expr> tap, position, inside;
    for (size_t s = 0; s < kSpatial.size(); ++s) {
      axes.push_back(te::MakeAxis(s == 0 ? "ky" : "kx", p.kernel_extent[s]));
      tap.push_back(te::AxisValue(axes.back()));
      position.push_back(p.out.Logical(kSpatial[s], i) * Int(p.strides[s]) + tap[s] -
                         Int(p.padding.before[s]));
      inside.push_back(nn::InRange(position[s], te::DimValue(p.in_extent[s])));
    }
    const Expr x = te::Load(data, p.data.Physical([&](char axis) {
      if (axis == 'N') return p.out.Logical('N', i);
      return axis == 'C' ? channel : position[kSpatial.find(axis)];
    }));
    const Expr w = te::Load(kernel, p.kernel.Physical([&](char axis) {
      if (axis == 'O') return p.out.Logical('C', i);
      return axis == 'I' ? channel : tap[kSpatial.find(axis)];
    }));
    return te::Reduce(te::ReduceKind::kSum,
                      nn::SelectIf(nn::AndAll(inside), Term(c, kConvBits, x, w), te::Const(0, sum)),
                      axes, sum);
  })};
}

OpDef BitserialConvOp() {
  OpDef op;
  op.name = "nn.bitserial_conv2d";
  op.num_args = 2;
  op.attrs = {{"strides", AttrKind::kInts, false, AttrList{1, 1}},
              {"padding", AttrKind::kInts, false, AttrList{0, 0}},
              {"kernel_size", AttrKind::kInts, false, AttrList{3, 3}},
              {"channels", AttrKind::kInt},
              {"data_layout", AttrKind::kString, false, "NCHW"},
              {"kernel_layout", AttrKind::kString, false, "OIHW"}};
  std::vector<AttrField> fields = ProductFields(kConvBits);
  op.attrs.insert(op.attrs.begin() + 4, fields.begin(), fields.begin() + 2);
  op.attrs.insert(op.attrs.end(), fields.begin() + 2, fields.end());
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(CheckOperands(tc, kConvBits));
    RELAYVM_ASSIGN_OR_RETURN(ConvProblem p, ProblemOf(tc.attrs(), tc.tensor(0), tc.tensor(1)));
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(p.in_channels, p.kernel_in, "the channels of data and of the kernel"));
    RELAYVM_RETURN_IF_ERROR(CheckConvAttrs(tc, p.out_channels, p.kernel_extent));
    return OpResult(TensorType{ConvShape(p), *tc.attrs().OptionalDType("out_dtype")});
  };
  op.compute = ComputeBitserialConv;
  op.decompose = [](CallWriter& w) -> std::optional<std::vector<Value>> {
    return {{w.Call("nn.conv2d", Operands(w, kConvBits), ConvAttrs(w.attrs()))}};
  };
  return op;
}

}  // namespace

void DefineBits(OpTable& table) {
  table.Add(BitPackOp());
  table.Add(BitserialDenseOp());
  table.Add(BitserialConvOp());
}

}  // namespace relayvm
