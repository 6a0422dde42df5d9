// Sorting: sort argsort topk dyn.topk searchsorted. Sorts are stable in both directions: among
// equals the lower index comes first. NaN counts as the largest value. Stateless. Tested by
// sort_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

std::vector<Dim> SortParams(const ComputeContext& c) {
  return {CanonicalAxis(c.attrs.Int("axis"), c.inputs[0]->rank()),
          c.attrs.Bool("is_ascend") ? 1 : 0};
}

OpDef SortOp(const std::string& name, bool indices) {
  OpDef op;
  op.name = name;
  op.attrs = {Optional("axis", AttrKind::kInt, -1), Optional("is_ascend", AttrKind::kBool, true),
              Optional("dtype", AttrKind::kDType, "")};
  op.infer = [indices](TypeContext& tc) -> Result<OpResult> {
    TensorType result = tc.tensor(0);
    RELAYVM_RETURN_IF_ERROR(NormalizeAxis(tc.attrs().Int("axis"), result.rank()).status());
    if (!indices) return OpResult(std::move(result));
    result.dtype = DTypeOr(tc.attrs(), "dtype", DType::kInt32);
    const int axis = CanonicalAxis(tc.attrs().Int("axis"), result.rank());
    RELAYVM_RETURN_IF_ERROR(
        RequireHolds(tc, result.dtype, result.shape[axis] - 1, "the last index"));
    return OpResult(std::move(result));
  };
  op.builtin = [name](const ComputeContext& c) -> BuiltinCall { return {name, SortParams(c)}; };
  return op;
}

// How many of the `extent` elements of a line `k` asks for: all of them when k < 1. Where only
// running tells which, the formula is k + (extent - k) * [k < 1].
Dim TopKExtent(const Dim& k, const Dim& extent) {
  if (k.is_any()) return extent;
  if (k.is_const()) return k.value() < 1 ? extent : k;
  if (k.LowerBound().value_or(0) >= 1) return k;
  return k + (extent - k) * Dim::Max(0, Dim::Min(1, Dim(1) - k));
}

// `below_one_is_none`: then k is the number, whatever it is.
Result<OpResult> InferTopK(TypeContext& tc, const Dim& k, bool below_one_is_none) {
  const TensorType& data = tc.tensor(0);
  RELAYVM_ASSIGN_OR_RETURN(int axis, NormalizeAxis(tc.attrs().Int("axis"), data.rank()));
  const Dim extent = data.shape[axis];
  RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(
      extent, k.is_any() ? Dim(0) : k, "the extent of the axis that k elements are taken from"));
  if (below_one_is_none) RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(k, Dim(0), "k"));
  TensorType values = data;
  values.shape[axis] = below_one_is_none ? k : TopKExtent(k, extent);
  TensorType indices = values;
  indices.dtype = DTypeOr(tc.attrs(), "dtype", DType::kInt32);
  const std::string& type = tc.attrs().String("ret_type");
  if (type == "values") return OpResult(std::move(values));
  RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, indices.dtype, extent - 1, "the last index"));
  if (type == "both") return OpResult::Tuple({std::move(values), std::move(indices)});
  if (type == "indices") return OpResult(std::move(indices));
  return Invalid("ret_type is \"{}\", expected both, values or indices", type);
}

BuiltinCall CallTopK(const ComputeContext& c, const std::string& name) {
  const std::string& type = c.attrs.String("ret_type");
  return {type == "both" ? name : name + "_" + type, SortParams(c)};
}

std::vector<AttrField> TopKFields() {
  return {Optional("axis", AttrKind::kInt, -1), Optional("ret_type", AttrKind::kString, "both"),
          Optional("is_ascend", AttrKind::kBool, false), Optional("dtype", AttrKind::kDType, "")};
}

OpDef TopKOp() {
  OpDef op;
  op.name = "topk";
  op.attrs = TopKFields();
  op.attrs.push_back(Optional("k", AttrKind::kDims, 1));
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const std::vector<Dim> k = tc.attrs().Dims("k");
    if (k.size() != 1) return Invalid("k has {} values, expected one", k.size());
    return InferTopK(tc, k[0], false);
  };
  op.builtin = [](const ComputeContext& c) { return CallTopK(c, "topk"); };
  return op;
}

// k is the second argument.
OpDef DynTopKOp() {
  OpDef op;
  op.name = "dyn.topk";
  op.num_args = 2;
  op.attrs = TopKFields();
  op.attrs.push_back(Optional("k", AttrKind::kAny));
  op.attrs.push_back(Optional("below_one_is_none", AttrKind::kBool, false));
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> k, tc.Elements(1));
    if (k.size() != 1) return Invalid("k has {} elements, expected one", k.size());
    return InferTopK(tc, k[0], tc.attrs().Bool("below_one_is_none"));
  };
  op.builtin = [](const ComputeContext& c) { return CallTopK(c, "dyn_topk"); };
  return op;
}

OpDef SearchSortedOp() {
  OpDef op;
  op.name = "searchsorted";
  op.num_args = 2;
  op.attrs = {Optional("right", AttrKind::kBool, false),
              Optional("dtype", AttrKind::kDType, "int32")};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& sorted = tc.tensor(0);
    const TensorType& values = tc.tensor(1);
    if (sorted.rank() < 1) return Invalid("sorted_sequence has rank 0, expected at least 1");
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(sorted, values));
    if (sorted.rank() > 1) {
      RELAYVM_RETURN_IF_ERROR(RequireRank(values, sorted.rank(), "values"));
      for (int d = 0; d + 1 < sorted.rank(); ++d) {
        RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(sorted.shape[d], values.shape[d],
                                                "the leading dimensions of sequence and values"));
      }
    }
    const DType dtype = DTypeOr(tc.attrs(), "dtype", DType::kInt32);
    RELAYVM_RETURN_IF_ERROR(RequireHolds(tc, dtype, sorted.shape.back(), "the last position"));
    return OpResult(TensorType{values.shape, dtype});
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"searchsorted", {c.attrs.Bool("right") ? 1 : 0}};
  };
  return op;
}

}  // namespace

void DefineSort(OpTable& table) {
  table.Add(SortOp("sort", false));
  table.Add(SortOp("argsort", true));
  table.Add(TopKOp());
  table.Add(DynTopKOp());
  table.Add(SearchSortedOp());
}

}  // namespace relayvm
