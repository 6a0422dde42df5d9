// Matrix products: nn.dense nn.matmul nn.batch_matmul nn.contrib_dense_pack
// nn.contrib_dense_ordered nn.contrib_dense_blocks nn.contrib_dense_nbits. Elements are converted
// to the result's dtype (out_dtype, else the data's) before they are multiplied, and accumulated in
// it. Stateless. Tested by dense_test.cc.
#include "kernels/op/dense.h"

#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/implied_args.h"
#include "kernels/op/nn_helpers.h"
#include "kernels/op/step_order.h"
#include "kernels/op/weight_forms.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

DType ResultDType(TypeContext& tc) {
  return tc.attrs().OptionalDType("out_dtype").value_or(tc.tensor(0).dtype);
}

// Products are defined within a class of dtypes: two floats of one dtype, or two integers.
Status CheckOperands(TypeContext& tc) {
  const DType a = tc.tensor(0).dtype, b = tc.tensor(1).dtype;
  if (a == b || (IsInt(a) && IsInt(b))) return OkStatus();
  return nn::RequireSameDType(a, b, "the dtypes of data and weight");
}

Status CheckUnits(TypeContext& tc, const Dim& columns) {
  if (!tc.attrs().Has("units")) return OkStatus();
  return tc.RequireEqual(tc.attrs().Int("units"), columns, "units and the columns of weight");
}

}  // namespace

Result<OpResult> InferMatmul(TypeContext& tc, bool transpose_a, bool transpose_b) {
  const TensorType& a = tc.tensor(0);
  const TensorType& b = tc.tensor(1);
  if (a.rank() < (transpose_a ? 2 : 1)) return Invalid("data has rank {}, too low", a.rank());
  RELAYVM_RETURN_IF_ERROR(RequireRank(b, 2, "weight"));
  RELAYVM_RETURN_IF_ERROR(CheckOperands(tc));
  std::vector<Dim> shape = a.shape;
  if (transpose_a) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  const Dim& columns = b.shape[transpose_b ? 0 : 1];
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(shape.back(), b.shape[transpose_b ? 1 : 0],
                                          "the reduced dimensions of data and weight"));
  RELAYVM_RETURN_IF_ERROR(CheckUnits(tc, columns));
  shape.back() = columns;
  return OpResult(TensorType{std::move(shape), ResultDType(tc)});
}

namespace {

// sum over k of a(k) * b(k), in the result's dtype.
template <typename A, typename B>
Expr Contract(const Dim& extent, DType dtype, const A& a, const B& b) {
  const te::Axis k = te::MakeAxis("k", extent);
  const Expr at = te::AxisValue(k);
  return te::Reduce(te::ReduceKind::kSum, te::Cast(a(at), dtype) * te::Cast(b(at), dtype), {k},
                    dtype);
}

// The batch index of an operand that is broadcast is 0; where only running tells, it is selected.
Expr BatchIndex(const Tensor& t, const Dim& batch, const Expr& i) {
  if (t->shape[0] == batch) return i;
  if (t->shape[0].is_const(1)) return Int(0);
  return te::Select(te::DimValue(t->shape[0]) == Int(1), Int(0), i);
}

Tensor Hinted(const Tensor& t, te::ScheduleHint hint, const ComputeContext& c, bool transpose_a,
              bool transpose_b, const WeightForm* form = nullptr) {
  auto node = std::make_shared<te::TensorNode>(*t);
  node->hint = hint;
  const auto operands = form != nullptr ? c.inputs : c.inputs.first(2);
  node->hint_inputs.assign(operands.begin(), operands.end());
  node->weight_form = form;
  node->transpose_a = transpose_a;
  node->transpose_b = transpose_b;
  return node;
}

}  // namespace

std::vector<Tensor> ComputeMatmul(const ComputeContext& c, const char* name, bool transpose_a,
                                  bool transpose_b) {
  const Tensor& a = c.inputs[0];
  const Tensor& b = c.inputs[1];
  const size_t rank = a->shape.size();
  const Dim& extent = a->shape[transpose_a ? rank - 2 : rank - 1];
  const Tensor out = te::Compute(name, c.outputs[0].shape, [&](const Indices& i) {
    return Contract(
        extent, c.outputs[0].dtype,
        [&](const Expr& k) {
          Indices at = i;
          at.back() = k;
          if (transpose_a) std::swap(at[rank - 1], at[rank - 2]);
          return te::Load(a, at);
        },
        [&](const Expr& k) {
          return te::Load(b, transpose_b ? Indices{i.back(), k} : Indices{k, i.back()});
        });
  });
  return {Hinted(out, te::ScheduleHint::kDense, c, transpose_a, transpose_b)};
}

Result<OpResult> InferBatchMatmul(TypeContext& tc) {
  const TensorType& a = tc.tensor(0);
  const TensorType& b = tc.tensor(1);
  RELAYVM_RETURN_IF_ERROR(RequireRank(a, 3, "the first argument"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(b, 3, "the second argument"));
  RELAYVM_RETURN_IF_ERROR(CheckOperands(tc));
  const bool ta = tc.attrs().Bool("transpose_a"), tb = tc.attrs().Bool("transpose_b");
  RELAYVM_ASSIGN_OR_RETURN(Dim batch, tc.Broadcast(a.shape[0], b.shape[0], "the batch dimensions"));
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(a.shape[ta ? 1 : 2], b.shape[tb ? 2 : 1], "the reduced dimensions"));
  return OpResult(TensorType{{batch, a.shape[ta ? 2 : 1], b.shape[tb ? 1 : 2]}, ResultDType(tc)});
}

std::vector<Tensor> ComputeBatchMatmul(const ComputeContext& c) {
  const Tensor& a = c.inputs[0];
  const Tensor& b = c.inputs[1];
  const bool ta = c.attrs.Bool("transpose_a"), tb = c.attrs.Bool("transpose_b");
  const std::vector<Dim>& shape = c.outputs[0].shape;
  const Tensor out = te::Compute("batch_matmul", shape, [&](const Indices& i) {
    return Contract(
        a->shape[ta ? 1 : 2], c.outputs[0].dtype,
        [&](const Expr& k) {
          const Expr batch = BatchIndex(a, shape[0], i[0]);
          return te::Load(a, ta ? Indices{batch, k, i[1]} : Indices{batch, i[1], k});
        },
        [&](const Expr& k) {
          const Expr batch = BatchIndex(b, shape[0], i[0]);
          return te::Load(b, tb ? Indices{batch, i[2], k} : Indices{batch, k, i[2]});
        });
  });
  return {Hinted(out, te::ScheduleHint::kBatchMatmul, c, ta, tb)};
}

namespace {

OpDef MatmulOp(std::string name, std::vector<AttrField> fields) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = 2;
  op.attrs = std::move(fields);
  op.attrs.push_back({"out_dtype", AttrKind::kDType, false, ""});
  op.fusion = FusionClass::kOutElementwise;
  return op;
}

// That of a packed weight; null: its numbers are elements of the data's dtype.
const WeightForm* FormOfPanels(const TensorType& weight, DType data, DType sum) {
  const WeightForm* form =
      WeightFormOfPanels(weight.dtype, static_cast<size_t>(weight.rank()), sum);
  return form != nullptr && form->side_by_side() == 1 && data != form->data ? nullptr : form;
}

OpDef DenseOp() {
  OpDef op = MatmulOp("nn.dense", {{"units", AttrKind::kInt}});
  op.implied_args = implied::Dense;
  op.product = ProductClass{};
  op.infer = [](TypeContext& tc) { return InferMatmul(tc, false, true); };
  op.compute = [](const ComputeContext& c) { return ComputeMatmul(c, "dense", false, true); };
  return op;
}

OpDef GeneralMatmulOp() {
  OpDef op = MatmulOp("nn.matmul", {{"units", AttrKind::kInt},
                                    {"transpose_a", AttrKind::kBool, false, false},
                                    {"transpose_b", AttrKind::kBool, false, false}});
  op.implied_args = implied::Matmul;
  op.product = ProductClass{};
  op.infer = [](TypeContext& tc) {
    return InferMatmul(tc, tc.attrs().Bool("transpose_a"), tc.attrs().Bool("transpose_b"));
  };
  op.compute = [](const ComputeContext& c) {
    return ComputeMatmul(c, "matmul", c.attrs.Bool("transpose_a"), c.attrs.Bool("transpose_b"));
  };
  return op;
}

// What a weight with neighbours side by side asks of the rest.
Status RequireForm(TypeContext& tc, const WeightForm& form) {
  const TensorType& data = tc.tensor(0);
  const TensorType& weight = tc.tensor(1);
  if (data.dtype != form.data || ResultDType(tc) != form.sum) {
    return Invalid("a weight packed as {} is for data of {} and results of {}, not {} and {}",
                   form.name, DTypeName(form.data), DTypeName(form.sum), DTypeName(data.dtype),
                   DTypeName(ResultDType(tc)));
  }
  if (form.side_by_side() == 1) return OkStatus();
  if (!tc.attrs().Has("in_units")) {
    return Invalid("a weight packed as {} needs the attribute in_units", form.name);
  }
  if (tc.attrs().Int("in_units") < 0) return Invalid("in_units is {}", tc.attrs().Int("in_units"));
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(weight.shape[3], form.side_by_side(), "the last dimension of weight"));
  return tc.RequireEqual(Dim::CeilDiv(tc.attrs().Int("in_units"), form.side_by_side()),
                         weight.shape[1], "the words of in_units and of weight");
}

// Whether a packed weight has a matrix for each of a batch: panels of elements are of rank 3.
bool IsBatchOfPanels(const TensorType& weight) {
  return weight.rank() == 4 && (weight.dtype == DType::kFloat32 || weight.dtype == DType::kFloat16);
}

// The weight is packed in panels of NR columns (weight_forms.h): (ceil(units / NR), K, NR), or,
// with W neighbours along K side by side, (ceil(units / NR), ceil(K / W), NR, W), K in_units. Of
// float32 and float16 also a batch: data (b, m, K), weight (b, ceil(units / NR), K, NR), either b
// may be 1.
Result<OpResult> InferDensePack(TypeContext& tc) {
  const TensorType& data = tc.tensor(0);
  TensorType weight = tc.tensor(1);
  if (data.rank() < 1) return Invalid("data has rank 0, expected at least 1");
  std::vector<Dim> shape = data.shape;
  if (IsBatchOfPanels(weight)) {
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 3, "data"));
    RELAYVM_ASSIGN_OR_RETURN(shape[0],
                             tc.Broadcast(data.shape[0], weight.shape[0], "the batch dimensions"));
    weight.shape.erase(weight.shape.begin());
  }
  const WeightForm* form = FormOfPanels(weight, data.dtype, ResultDType(tc));
  if (form != nullptr) {
    RELAYVM_RETURN_IF_ERROR(RequireForm(tc, *form));
  } else {
    RELAYVM_RETURN_IF_ERROR(RequireRank(weight, 3, "weight"));
    RELAYVM_RETURN_IF_ERROR(CheckOperands(tc));
  }
  if (tc.num_args() > 2) RELAYVM_RETURN_IF_ERROR(CheckStepOrder(tc));
  const bool has_words = form != nullptr && form->side_by_side() > 1;
  if (!weight.shape[2].is_const() || weight.shape[2].value() < 1) {
    return Invalid("the last dimension of weight is {}, expected a positive constant",
                   weight.shape[2].ToString());
  }
  const Dim depth = has_words ? Dim(tc.attrs().Int("in_units")) : weight.shape[1];
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(data.shape.back(), depth, "the reduced dimensions of data and weight"));
  Dim units = weight.shape[0] * weight.shape[2];
  if (tc.attrs().Has("units")) units = tc.attrs().Int("units");
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::CeilDiv(units, weight.shape[2]), weight.shape[0],
                                          "the panels of units and of weight"));
  shape.back() = units;
  return OpResult(TensorType{std::move(shape), ResultDType(tc)});
}

std::vector<Tensor> ComputeDensePack(const ComputeContext& c) {
  const Tensor& weight = c.inputs[1];
  TensorType type{weight->shape, weight->dtype};
  const bool is_batched = IsBatchOfPanels(type);
  if (is_batched) type.shape.erase(type.shape.begin());
  const Expr width = te::DimValue(type.shape[2]);
  const WeightForm* form = FormOfPanels(type, c.inputs[0]->dtype, c.outputs[0].dtype);
  const int64_t in_word = form != nullptr ? form->side_by_side() : 1;
  const Dim& batch = c.outputs[0].shape[0];
  const Tensor out = te::Compute("dense_pack", c.outputs[0].shape, [&](const Indices& i) {
    return Contract(
        in_word > 1 ? Dim(c.attrs.Int("in_units")) : type.shape[1], c.outputs[0].dtype,
        [&](const Expr& k) {
          Indices at = i;
          at.back() = k;
          if (is_batched) at[0] = BatchIndex(c.inputs[0], batch, i[0]);
          const Expr value = te::Load(c.inputs[0], at);
          // What bfloat16 multiplies is bfloat16.
          const bool rounds = weight->dtype == DType::kBFloat16 && in_word > 1;
          return rounds ? te::Cast(value, DType::kBFloat16) : value;
        },
        [&](const Expr& k) {
          const Expr panel = FloorDivExpr(i.back(), width);
          const Expr column = FloorModExpr(i.back(), width);
          if (is_batched)
            return te::Load(weight, {BatchIndex(weight, batch, i[0]), panel, k, column});
          if (in_word == 1) return te::Load(weight, {panel, k, column});
          return te::Load(weight, {panel, FloorDivExpr(k, Int(in_word)), column,
                                   FloorModExpr(k, Int(in_word))});
        });
  });
  return {Hinted(out, is_batched ? te::ScheduleHint::kBatchMatmul : te::ScheduleHint::kDense, c,
                 false, false, form)};
}

OpDef DensePackOp() {
  OpDef op = MatmulOp("nn.contrib_dense_pack", {{"units", AttrKind::kInt}});
  op.attrs.push_back({"weight_layout", AttrKind::kString, false, "NC"});
  op.attrs.push_back({"in_units", AttrKind::kInt});
  op.infer = InferDensePack;
  op.compute = ComputeDensePack;
  return op;
}

// The same of bytes, with the order of the weight's steps beside it (step_order.h).
OpDef OrderedDenseOp() {
  OpDef op = DensePackOp();
  op.name = "nn.contrib_dense_ordered";
  op.num_args = 3;
  return op;
}

// What a product with a weight in blocks asks of its data, scales and zero points; `of_blocks` is
// the shape of the latter two, `blocks` what the weight has of them for K.
Status CheckBlocked(TypeContext& tc, const Dim& block, const Dim& blocks,
                    const std::vector<Dim>& of_blocks) {
  const int64_t depth = tc.attrs().Int("in_units");
  if (depth < 0) return Invalid("in_units is {}", depth);
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(tc.tensor(0).shape.back(), depth,
                                          "the reduced dimensions of data and weight"));
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(Dim::CeilDiv(depth, block), blocks, "the blocks of in_units and of weight"));
  for (size_t i = 2; i < tc.num_args(); ++i) {
    const char* what = i == 2 ? "scales" : "zero points";
    const TensorType& t = tc.tensor(i);
    if (t.dtype != DType::kFloat32) return Invalid("{} are of {}", what, DTypeName(t.dtype));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, t.shape, of_blocks, what));
  }
  return OkStatus();
}

// The number of arguments, data of float32, the weight's rank and that its dims behind the blocks
// are constants.
Status CheckBlockedForm(TypeContext& tc, int rank) {
  if (tc.num_args() != 3 && tc.num_args() != 4) {
    return Invalid("{} arguments, expected data, weight, scales and perhaps zero points",
                   tc.num_args());
  }
  const TensorType& data = tc.tensor(0);
  const TensorType& weight = tc.tensor(1);
  if (data.rank() < 1) return Invalid("data has rank 0, expected at least 1");
  if (data.dtype != DType::kFloat32 || ResultDType(tc) != DType::kFloat32) {
    return Invalid("a weight in blocks is for data and results of float32, not {} and {}",
                   DTypeName(data.dtype), DTypeName(ResultDType(tc)));
  }
  RELAYVM_RETURN_IF_ERROR(RequireRank(weight, rank, "weight"));
  // Its elements are counted from these.
  constexpr int64_t kMost = 1 << 20;
  for (size_t i = 2; i < weight.shape.size(); ++i) {
    const Dim& d = weight.shape[i];
    if (d.is_const() && d.value() > 0 && d.value() <= kMost) continue;
    return Invalid("dimension {} of weight is {}, expected a constant from 1 to {}", i,
                   d.ToString(), kMost);
  }
  return OkStatus();
}

// data (.., K), float32; weight (P, blocks, rows, NR) in the `form` of that name (weight_forms.h;
// empty: the first of its dtype); scales (P, blocks, NR) and perhaps zero points, float32. Of units
// and K, the last panel and the last block may have fewer.
OpDef DenseBlocksOp() {
  OpDef op = MatmulOp("nn.contrib_dense_blocks", {{"units", AttrKind::kInt, true},
                                                  {"in_units", AttrKind::kInt, true},
                                                  {"form", AttrKind::kString, false, ""}});
  op.num_args = -1;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(CheckBlockedForm(tc, 4));
    const TensorType& data = tc.tensor(0);
    const TensorType& weight = tc.tensor(1);
    const std::string& name = tc.attrs().String("form");
    const WeightForm* form = WeightFormOfBlocks(weight.dtype, name);
    if (form == nullptr) {
      return Invalid("no form{}{} of weights in blocks is stored as {}", name.empty() ? "" : " ",
                     name, DTypeName(weight.dtype));
    }
    if (tc.num_args() > 3 && form->decode != nullptr)
      return Invalid("weights of the form {} have no zero points", form->name);
    const int64_t units = tc.attrs().Int("units");
    if (units < 0) return Invalid("units is {}", units);
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(Dim::CeilDiv(units, weight.shape[3]), weight.shape[0],
                                            "the panels of units and of weight"));
    const int64_t block = form->NumbersOf(weight.shape[2].value());
    if (block == 0) {
      return Invalid("dimension 2 of weight is {}, which no block of {} has",
                     weight.shape[2].ToString(), form->name);
    }
    RELAYVM_RETURN_IF_ERROR(CheckBlocked(tc, block, weight.shape[1],
                                         {weight.shape[0], weight.shape[1], weight.shape[3]}));
    std::vector<Dim> shape = data.shape;
    shape.back() = units;
    return OpResult(TensorType{std::move(shape), DType::kFloat32});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& weight = c.inputs[1];
    const WeightForm* form = WeightFormOfBlocks(weight->dtype, c.attrs.String("form"));
    const int64_t block = form->NumbersOf(weight->shape[2].value());
    const Expr width = te::DimValue(weight->shape[3]);
    const Tensor out = te::Compute("dense_blocks", c.outputs[0].shape, [&](const Indices& i) {
      return Contract(
          c.attrs.Int("in_units"), c.outputs[0].dtype,
          [&](const Expr& k) {
            Indices at = i;
            at.back() = k;
            return te::Load(c.inputs[0], at);
          },
          [&](const Expr& k) {
            const Expr panel = FloorDivExpr(i.back(), width);
            const Expr column = FloorModExpr(i.back(), width);
            const Expr index = FloorDivExpr(k, Int(block));
            const auto of_block = [&](size_t input) {
              return te::Load(c.inputs[input], {panel, index, column});
            };
            const Expr number = NumberOf(
                *form, FloorModExpr(k, Int(block)),
                [&](const Expr& row) { return te::Load(weight, {panel, index, row, column}); },
                c.inputs.size() > 3 ? of_block(3) : nullptr);
            return number * of_block(2);
          });
    });
    return {Hinted(out, te::ScheduleHint::kDense, c, false, false, form)};
  };
  return op;
}

// The same product of weights as models hold them (com.microsoft.MatMulNBits): (units, blocks,
// bytes) of uint8, integers of `bits` bits, lowest first; scales (units, blocks) and perhaps zero
// points, float32. Without zero points they are half of the integers' range.
OpDef DenseNBitsOp() {
  OpDef op = MatmulOp("nn.contrib_dense_nbits",
                      {{"bits", AttrKind::kInt, true}, {"in_units", AttrKind::kInt, true}});
  op.num_args = -1;
  op.product = ProductClass{.has_blocks = true};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(CheckBlockedForm(tc, 3));
    const TensorType& data = tc.tensor(0);
    const TensorType& weight = tc.tensor(1);
    if (weight.dtype != DType::kUInt8) {
      return Invalid("weight is of {}, expected uint8", DTypeName(weight.dtype));
    }
    const int64_t bits = tc.attrs().Int("bits");
    if (bits != 4 && bits != 8) return Invalid("bits is {}, expected 4 or 8", bits);
    RELAYVM_RETURN_IF_ERROR(CheckBlocked(tc, weight.shape[2] * Dim(8 / bits), weight.shape[1],
                                         {weight.shape[0], weight.shape[1]}));
    std::vector<Dim> shape = data.shape;
    shape.back() = weight.shape[0];
    return OpResult(TensorType{std::move(shape), DType::kFloat32});
  };
  op.compute = [](const ComputeContext& c) -> std::vector<Tensor> {
    const Tensor& weight = c.inputs[1];
    const int64_t bits = c.attrs.Int("bits"), in_byte = 8 / bits;
    const int64_t block = weight->shape[2].value() * in_byte;
    return {te::Compute("dense_nbits", c.outputs[0].shape, [&](const Indices& i) {
      return Contract(
          c.attrs.Int("in_units"), c.outputs[0].dtype,
          [&](const Expr& k) {
            Indices at = i;
            at.back() = k;
            return te::Load(c.inputs[0], at);
          },
          [&](const Expr& k) {
            const Expr index = FloorDivExpr(k, Int(block)), in_block = FloorModExpr(k, Int(block));
            const Expr byte =
                te::Load(weight, {i.back(), index, FloorDivExpr(in_block, Int(in_byte))});
            const Expr shift =
                te::Cast(FloorModExpr(in_block, Int(in_byte)) * Int(bits), DType::kUInt8);
            const Expr integer =
                te::Binary(te::BinaryOp::kAnd, te::Binary(te::BinaryOp::kShiftRight, byte, shift),
                           te::IntImm((1 << bits) - 1, DType::kUInt8));
            const Expr zero = c.inputs.size() > 3 ? te::Load(c.inputs[3], {i.back(), index})
                                                  : te::FloatImm(1 << (bits - 1), DType::kFloat32);
            return (te::Cast(integer, DType::kFloat32) - zero) *
                   te::Load(c.inputs[2], {i.back(), index});
          });
    })};
  };
  return op;
}

OpDef BatchMatmulOp() {
  OpDef op = MatmulOp("nn.batch_matmul", {{"transpose_a", AttrKind::kBool, false, false},
                                          {"transpose_b", AttrKind::kBool, false, false}});
  op.product = ProductClass{.is_batched = true};
  op.infer = InferBatchMatmul;
  op.compute = ComputeBatchMatmul;
  return op;
}

}  // namespace

void DefineDense(OpTable& table) {
  table.Add(DenseOp());
  table.Add(GeneralMatmulOp());
  table.Add(DensePackOp());
  table.Add(OrderedDenseOp());
  table.Add(DenseBlocksOp());
  table.Add(DenseNBitsOp());
  table.Add(BatchMatmulOp());
}

}  // namespace relayvm
