// Operators whose results' sizes or contents follow the data: argwhere unique unique_rows
// sparse_fill_empty_rows sparse_reshape. Stateless. Tested by unique_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

// The positions of the non-zero elements, (n, rank) int32 in row-major order.
OpDef ArgWhereOp() {
  OpDef op;
  op.name = "argwhere";
  op.num_counts = 1;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    for (const Dim& d : tc.tensor(0).shape)
      RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, DType::kInt32, d - 1, "the last index"));
    return OpResult(TensorType{{tc.FreshSymbol("argwhere"), tc.tensor(0).rank()}, DType::kInt32});
  };
  op.upper_bound = [](const ComputeContext& c) -> std::vector<TensorType> {
    const std::vector<Dim>& shape = c.inputs[0]->shape;
    return {TensorType{{ProductOf(shape), c.inputs[0]->rank()}, DType::kInt32}};
  };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"argwhere", {}}; };
  return op;
}

// (values, position of each value's first occurrence, each element's place among values, number of
// values[, counts]). All but the number are as long as the data and padded.
OpDef UniqueOp() {
  OpDef op;
  op.name = "unique";
  op.attrs_class = "UniqueAttrs";
  op.print_attrs_class = true;
  op.attrs = {Optional("sorted", AttrKind::kBool, true),
              Optional("return_counts", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(data, 1));
    RELAYVM_RETURN_IF_ERROR(
        RequireHolds(tc, DType::kInt32, data.shape[0], "the number of elements"));
    const TensorType places{data.shape, DType::kInt32};
    std::vector<TensorType> results = {data, places, places, TensorType{{1}, DType::kInt32}};
    if (tc.attrs().Bool("return_counts")) results.push_back(places);
    return OpResult::Tuple(std::move(results));
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {c.attrs.Bool("return_counts") ? "unique_counts" : "unique",
            {c.attrs.Bool("sorted") ? 1 : 0}};
  };
  return op;
}

// The same of the slices along axis 0, compared element by element: (position of each one's first
// occurrence, each slice's place among the different ones, their number, counts).
OpDef UniqueRowsOp() {
  OpDef op;
  op.name = "unique_rows";
  op.attrs = {Optional("sorted", AttrKind::kBool, true)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    if (data.rank() < 1) return Invalid("expected an axis");
    RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, DType::kInt32, data.shape[0], "the number of slices"));
    const TensorType places{{data.shape[0]}, DType::kInt32};
    return OpResult::Tuple({places, places, TensorType{{1}, DType::kInt32}, places});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"unique_rows", {c.attrs.Bool("sorted") ? 1 : 0}};
  };
  return op;
}

// Arguments: indices (n, rank), values (n), dense_shape (rank), default (1). Results: indices and
// values with an entry for each row that had none, and which rows those are.
OpDef SparseFillEmptyRowsOp() {
  OpDef op;
  op.name = "sparse_fill_empty_rows";
  op.num_args = 4;
  op.num_counts = 1;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& indices = tc.tensor(0);
    const TensorType& values = tc.tensor(1);
    RELAYVM_RETURN_IF_ERROR(RequireRank(indices, 2, "sparse_indices"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "sparse_indices"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(values, 1, "sparse_values"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(2), 1, "dense_shape"));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(values, tc.tensor(3)));
    if (tc.tensor(3).rank() > 1) return Invalid("default_value has rank {}", tc.tensor(3).rank());
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(indices.shape[0], values.shape[0], "the number of indices and values"));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(indices.shape[1], tc.tensor(2).shape[0],
                                            "the rank of indices and dense_shape"));
    RELAYVM_ASSIGN_OR_RETURN(Dim rows, tc.Element(2, 0));
    RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(rows, 0, "the rows of dense_shape"));
    const Dim total = tc.FreshSymbol("rows");
    return OpResult::Tuple({TensorType{{total, indices.shape[1]}, indices.dtype},
                            TensorType{{total}, values.dtype}, TensorType{{rows}, DType::kBool}});
  };
  op.upper_bound = [](const ComputeContext& c) -> std::vector<TensorType> {
    std::vector<TensorType> bounds(c.outputs.begin(), c.outputs.end());
    const Dim most = c.inputs[0]->shape[0] + bounds[2].shape[0];
    bounds[0].shape[0] = bounds[1].shape[0] = most;
    return bounds;
  };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"sparse_fill_empty_rows", {}}; };
  return op;
}

// Arguments: indices (n, rank), the dense shape, the new one (with at most one -1). Results:
// indices, the new shape.
OpDef SparseReshapeOp() {
  OpDef op;
  op.name = "sparse_reshape";
  op.num_args = 3;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& indices = tc.tensor(0);
    const TensorType& new_shape = tc.tensor(2);
    RELAYVM_RETURN_IF_ERROR(RequireRank(indices, 2, "sparse_indices"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "sparse_indices"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(1), 1, "prev_shape"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(new_shape, 1, "new_shape"));
    RELAYVM_RETURN_IF_ERROR(RequireInteger(new_shape, "new_shape"));
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(indices.shape[1], tc.tensor(1).shape[0],
                                            "the rank of indices and prev_shape"));
    return OpResult::Tuple(
        {TensorType{{indices.shape[0], new_shape.shape[0]}, indices.dtype}, new_shape});
  };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"sparse_reshape", {}}; };
  return op;
}

}  // namespace

void DefineUnique(OpTable& table) {
  table.Add(ArgWhereOp());
  table.Add(UniqueOp());
  table.Add(UniqueRowsOp());
  table.Add(SparseFillEmptyRowsOp());
  table.Add(SparseReshapeOp());
}

}  // namespace relayvm
