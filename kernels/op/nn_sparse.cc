// Products with sparse matrices: nn.sparse_dense nn.sparse_conv2d nn.sparse_add
// nn.sparse_transpose. A sparse matrix is three arguments: values, (nnz) for CSR or (blocks, rows,
// columns) for BSR; column indices; row starts. Stateless. Tested by nn_sparse_test.cc.
#include <utility>

#include "kernels/op/nn_parts.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

// The rows of the matrix in arguments first..first+2, whose dtype must be that of `like`.
Result<Dim> MatrixRows(TypeContext& tc, size_t first, const TensorType& like) {
  const TensorType &values = tc.tensor(first), &indices = tc.tensor(first + 1);
  const TensorType& indptr = tc.tensor(first + 2);
  if (values.rank() != 1 && values.rank() != 3) {
    return Invalid("the values of a sparse matrix have rank {}, expected 1 (CSR) or 3 (BSR)",
                   values.rank());
  }
  RELAYVM_RETURN_IF_ERROR(RequireSameDType(values, like));
  RELAYVM_RETURN_IF_ERROR(RequireRank(indices, 1, "indices"));
  RELAYVM_RETURN_IF_ERROR(RequireRank(indptr, 1, "the length of indptr"));
  RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "indices"));
  RELAYVM_RETURN_IF_ERROR(RequireInteger(indptr, "indptr"));
  RELAYVM_RETURN_IF_ERROR(
      tc.RequireEqual(values.shape[0], indices.shape[0], "the number of values and of indices"));
  RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(indptr.shape[0], 1, "indptr"));
  const Dim rows = indptr.shape[0] - 1;
  return values.rank() == 3 ? rows * values.shape[1] : rows;
}

// dense * matrix^T or, with sparse_lhs, matrix * dense^T.
OpDef SparseDenseOp() {
  OpDef op;
  op.name = "nn.sparse_dense";
  op.num_args = 4;
  op.attrs = {Optional("sparse_lhs", AttrKind::kBool, false)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& dense = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(dense, 2, "the dense matrix"));
    RELAYVM_ASSIGN_OR_RETURN(Dim rows, MatrixRows(tc, 1, dense));
    if (tc.attrs().Bool("sparse_lhs")) {
      return OpResult(TensorType{{rows, dense.shape[0]}, dense.dtype});
    }
    return OpResult(TensorType{{dense.shape[0], rows}, dense.dtype});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"sparse_dense", {c.attrs.Bool("sparse_lhs") ? 1 : 0}};
  };
  return op;
}

OpDef SparseConv2dOp() {
  OpDef op;
  op.name = "nn.sparse_conv2d";
  op.num_args = 4;
  op.attrs = {Optional("layout", AttrKind::kString, "NHWC"),
              Optional("kernel_size", AttrKind::kInts, AttrList{1, 1})};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    TensorType result = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(result, 4));
    const std::vector<int64_t>& size = tc.attrs().Ints("kernel_size");
    for (int64_t k : size) {
      if ((k != 1 && k != 3) || k != size[0] || size.size() != 2)
        return Unsupported("kernel_size [{}], expected [1, 1] or [3, 3]", fmt::join(size, ", "));
    }
    const std::string& layout = tc.attrs().String("layout");
    if (layout != "NHWC" && layout != "NCHW") {
      return Unsupported("layout {}, expected NHWC or NCHW", layout);
    }
    RELAYVM_ASSIGN_OR_RETURN(Dim rows, MatrixRows(tc, 1, result));
    result.shape[layout == "NHWC" ? 3 : 1] = rows;
    return OpResult(std::move(result));
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    const std::vector<int64_t>& size = c.attrs.Ints("kernel_size");
    return {"sparse_conv2d",
            {c.attrs.String("layout") == "NHWC" ? 1 : 0, size.empty() ? 1 : size[0]}};
  };
  return op;
}

OpDef SparseAddOp() {
  OpDef op;
  op.name = "nn.sparse_add";
  op.num_args = 4;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& dense = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(RequireRank(dense, 2, "the dense matrix"));
    RELAYVM_RETURN_IF_ERROR(MatrixRows(tc, 1, dense).status());
    return OpResult(dense);
  };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"sparse_add", {}}; };
  return op;
}

// Of a square CSR matrix.
OpDef SparseTransposeOp() {
  OpDef op;
  op.name = "nn.sparse_transpose";
  op.num_args = 3;
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(MatrixRows(tc, 0, tc.tensor(0)).status());
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(0), 1, "the values"));
    return OpResult::Tuple({tc.tensor(0), tc.tensor(1), tc.tensor(2)});
  };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"sparse_transpose", {}}; };
  return op;
}

}  // namespace

void DefineNnSparse(OpTable& table) {
  table.Add(SparseDenseOp());
  table.Add(SparseConv2dOp());
  table.Add(SparseAddOp());
  table.Add(SparseTransposeOp());
}

}  // namespace relayvm
