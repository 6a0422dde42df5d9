// Masks and diagonals: trilu, matrix_set_diag, sequence_mask.
#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::Expr;

// Keeps the elements on and above (below) diagonal k of each matrix, zero elsewhere. k is an
// integer scalar.
OpDef Trilu() {
  OpDef def;
  def.name = "trilu";
  def.attrs_class = "TriluAttrs";
  def.print_attrs_class = true;
  def.num_args = 2;
  def.attrs = {Optional("upper", AttrKind::kBool, true)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    if (data.rank() < 2) return Invalid("data must have at least 2 dims, not {}", data.rank());
    RELAYVM_RETURN_IF_ERROR(RequireInteger(ctx.tensor(1), "k"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(ctx.tensor(1), 0, "k"));
    return OpResult(data);
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    bool upper = ctx.attrs.Bool("upper");
    // Diagonals beyond the matrix are like those beside it, and no difference to these wraps.
    const Expr k = Clamp(ToIndex(Scalar(ctx.inputs[1])),
                         te::DimValue(Dim(0) - data->shape[data->shape.size() - 2]),
                         te::DimValue(data->shape.back()));
    return {te::Compute("trilu", data->shape, [&](const ExprList& i) {
      const Expr& row = i[i.size() - 2];
      Expr diagonal = i[i.size() - 1] - k;
      Expr keep = upper ? LessEqual(row, diagonal) : row >= diagonal;
      return te::Select(keep, te::Load(data, i), te::Const(0, data->dtype));
    })};
  };
  return def;
}

// The matrices of `input` with diagonals k1 to k2 replaced. Row r of `diagonal` holds diagonal k2 -
// r; one that is shorter than the longest is aligned left or right in its row.
OpDef MatrixSetDiag() {
  OpDef def;
  def.name = "matrix_set_diag";
  def.num_args = 2;
  def.attrs = {Optional("k1", AttrKind::kInt, 0), Optional("k2", AttrKind::kInt, 0),
               Optional("super_diag_right_align", AttrKind::kBool, true),
               Optional("sub_diag_right_align", AttrKind::kBool, false)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& input = ctx.tensor(0);
    const TensorType& diagonal = ctx.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(input, diagonal));
    if (input.rank() < 2) return Invalid("input must have at least 2 dims, not {}", input.rank());
    int64_t k1 = ctx.attrs().Int("k1");
    int64_t k2 = ctx.attrs().Int("k2");
    if (k1 > k2) return Invalid("k1 is {}, above k2, {}", k1, k2);
    const Dim& rows = input.shape[input.shape.size() - 2];
    const Dim& columns = input.shape.back();
    RELAYVM_RETURN_IF_ERROR(
        ctx.RequireAtLeast(columns, Dim(k2 + 1), "the columns for diagonal k2"));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(rows, Dim(1 - k1), "the rows for diagonal k1"));
    std::vector<Dim> expected(input.shape.begin(), input.shape.end() - 2);
    if (k1 != k2) expected.emplace_back(k2 - k1 + 1);
    expected.push_back(
        Dim::Min(rows + Dim(std::min<int64_t>(k2, 0)), columns - Dim(std::max<int64_t>(k1, 0))));
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(ctx, diagonal.shape, expected, "the diagonals"));
    return OpResult(input);
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& input = ctx.inputs[0];
    const te::Tensor& diagonal = ctx.inputs[1];
    int64_t k1 = ctx.attrs.Int("k1");
    int64_t k2 = ctx.attrs.Int("k2");
    bool right_super = ctx.attrs.Bool("super_diag_right_align");
    bool right_sub = ctx.attrs.Bool("sub_diag_right_align");
    Expr rows = te::DimValue(input->shape[input->shape.size() - 2]);
    Expr columns = te::DimValue(input->shape.back());
    Expr width = te::DimValue(diagonal->shape.back());
    return {te::Compute("matrix_set_diag", input->shape, [&](const ExprList& i) {
      const Expr& row = i[i.size() - 2];
      const Expr& column = i[i.size() - 1];
      Expr k = column - row;
      ExprList at(i.begin(), i.end() - 2);
      Expr offset = Int(0);
      if (k1 != k2) {
        at.push_back(Int(k2) - k);
        Expr above = right_super ? width - MinExpr(rows, columns - k) : Int(0);
        Expr below = right_sub ? width - MinExpr(rows + k, columns) : Int(0);
        offset = te::Select(k >= Int(0), above, below);
      }
      at.push_back(te::Select(k >= Int(0), row, column) + offset);
      return te::Select(k >= Int(k1) && LessEqual(k, Int(k2)), te::Load(diagonal, std::move(at)),
                        te::Load(input, i));
    })};
  };
  return def;
}

// data is (sequence, batch, ...) with axis 0, (batch, sequence, ...) with axis 1: positions from
// the valid length on get the mask value.
OpDef SequenceMask() {
  OpDef def;
  def.name = "sequence_mask";
  def.num_args = 2;
  def.attrs = {Optional("mask_value", AttrKind::kFloat, 0.0), Optional("axis", AttrKind::kInt, 0)};
  def.fusion = FusionClass::kInjective;
  def.infer = [](TypeContext& ctx) -> Result<OpResult> {
    const TensorType& data = ctx.tensor(0);
    const TensorType& lengths = ctx.tensor(1);
    int64_t axis = ctx.attrs().Int("axis");
    if (axis != 0 && axis != 1) return Invalid("axis must be 0 or 1, not {}", axis);
    if (data.rank() < 2) return Invalid("data must have at least 2 dims, not {}", data.rank());
    RELAYVM_RETURN_IF_ERROR(RequireRank(lengths, 1, "valid_length"));
    RELAYVM_RETURN_IF_ERROR(RequireNumber(lengths, "valid_length"));
    RELAYVM_RETURN_IF_ERROR(ctx.RequireEqual(lengths.shape[0], data.shape[axis == 0 ? 1 : 0],
                                             "valid_length and the batch axis"));
    return OpResult(data);
  };
  def.compute = [](const ComputeContext& ctx) -> std::vector<te::Tensor> {
    const te::Tensor& data = ctx.inputs[0];
    const te::Tensor& lengths = ctx.inputs[1];
    size_t axis = ctx.attrs.Int("axis") == 0 ? 0 : 1;
    Expr mask = te::Const(ctx.attrs.Float("mask_value"), data->dtype);
    // Compared where both are exact: the dtype of the lengths may be too narrow for positions.
    auto wide = [](Expr e) {
      return IsFloat(e->dtype) ? te::Cast(std::move(e), DType::kFloat64) : ToIndex(std::move(e));
    };
    return {te::Compute("sequence_mask", data->shape, [&](const ExprList& i) {
      Expr length = wide(te::Load(lengths, {i[1 - axis]}));
      Expr position = te::Cast(i[axis], length->dtype);
      return te::Select(position < length, te::Load(data, i), mask);
    })};
  };
  return def;
}

}  // namespace

void DefineMatrix(OpTable& table) {
  table.Add(Trilu());
  table.Add(MatrixSetDiag());
  table.Add(SequenceMask());
}

}  // namespace relayvm
