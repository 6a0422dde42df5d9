// Scatter: scatter_elements (ONNX ScatterElements) and scatter_nd (the index tuple stands along the
// first axis of indices, or the last one, as in ONNX). An index out of range is an error when the
// program runs; a negative one counts from the end. Stateless. Tested by scatter_test.cc.
#include <array>
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

// In the order of the kernels' ScatterMode.
constexpr std::array<std::string_view, 6> kModes = {"update", "add", "mul", "mean", "min", "max"};

Result<int64_t> ModeNumber(const std::string& mode) {
  for (size_t i = 0; i < kModes.size(); ++i) {
    if (kModes[i] == mode) return static_cast<int64_t>(i);
  }
  return Invalid("the reduction is \"{}\", expected update, add, mul, mean, min or max", mode);
}

OpDef ScatterElementsOp() {
  OpDef op;
  op.name = "scatter_elements";
  op.attrs_class = "ScatterElementsAttrs";
  op.print_attrs_class = true;
  op.num_args = 3;
  op.attrs = {Optional("axis", AttrKind::kInt, 0),
              Optional("reduction", AttrKind::kString, "update")};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const TensorType& indices = tc.tensor(1);
    const TensorType& updates = tc.tensor(2);
    RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "indices"));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(data, updates));
    RELAYVM_RETURN_IF_ERROR(RequireRank(indices, data.rank(), "indices"));
    RELAYVM_RETURN_IF_ERROR(RequireRank(updates, data.rank(), "updates"));
    RELAYVM_RETURN_IF_ERROR(NormalizeAxis(tc.attrs().Int("axis"), data.rank()).status());
    RELAYVM_ASSIGN_OR_RETURN(const int64_t mode, ModeNumber(tc.attrs().String("reduction")));
    if (data.dtype == DType::kString && mode != 0) return Unsupported("strings are not reduced");
    for (int d = 0; d < data.rank(); ++d) {
      if (updates.shape[d] == indices.shape[d])
        continue;  // only as many updates as indices are used
      RELAYVM_RETURN_IF_ERROR(tc.RequireAtLeast(updates.shape[d], indices.shape[d],
                                                "an extent of updates beside that of indices"));
    }
    return OpResult(data);
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {"scatter_elements",
            {CanonicalAxis(c.attrs.Int("axis"), c.inputs[0]->rank()),
             *ModeNumber(c.attrs.String("reduction"))}};
  };
  return op;
}

OpDef ScatterNdOp() {
  OpDef op;
  op.name = "scatter_nd";
  op.attrs_class = "ScatterNDAttrs";
  op.print_attrs_class = true;
  op.num_args = 3;
  op.attrs = {Optional("mode", AttrKind::kString, "update"),
              Optional("tuples_last", AttrKind::kBool, false)};  // TVM has none
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    const TensorType& data = tc.tensor(0);
    const TensorType& indices = tc.tensor(1);
    const TensorType& updates = tc.tensor(2);
    RELAYVM_RETURN_IF_ERROR(RequireInteger(indices, "indices"));
    RELAYVM_RETURN_IF_ERROR(RequireSameDType(data, updates));
    RELAYVM_ASSIGN_OR_RETURN(const int64_t mode, ModeNumber(tc.attrs().String("mode")));
    if (data.dtype == DType::kString && mode != 0) return Unsupported("strings are not reduced");
    if (indices.rank() < 1) return Invalid("indices has rank 0, expected at least 1");
    const bool last = tc.attrs().Bool("tuples_last");
    const Dim& length = last ? indices.shape.back() : indices.shape.front();
    // How many axes an index tuple names; where its extent is not known, the ranks tell.
    int64_t depth = indices.rank() - 1 + data.rank() - updates.rank();
    if (length.is_const()) depth = length.value();
    if (depth < 0 || depth > data.rank()) {
      return Invalid("indices name {} axes, data has rank {}", depth, data.rank());
    }
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(length, depth, "the axes that indices and updates name"));
    // updates: the tuples of indices, then the axes of data that they do not name.
    std::vector<Dim> expected(indices.shape.begin() + (last ? 0 : 1),
                              indices.shape.end() - (last ? 1 : 0));
    expected.insert(expected.end(), data.shape.begin() + depth, data.shape.end());
    if (updates.shape.size() > expected.size() && depth == data.rank()) {
      expected.insert(expected.end(), updates.shape.begin() + static_cast<int64_t>(expected.size()),
                      updates.shape.end());  // see the kernel
    }
    RELAYVM_RETURN_IF_ERROR(RequireShapeEqual(tc, updates.shape, expected, "the shape of updates"));
    return OpResult(data);
  };
  op.builtin = [](const ComputeContext& c) -> BuiltinCall {
    return {c.attrs.Bool("tuples_last") ? "scatter_nd_tuples_last" : "scatter_nd",
            {*ModeNumber(c.attrs.String("mode"))}};
  };
  return op;
}

// (values, least, end): integers that must be in least..end-1 when the program runs; importers
// write it where a format says that others are errors. Bounds are vectors of one number, or of one
// for each place of the values' last axis; of range_checked numbers, too.
Result<OpResult> InferCheck(TypeContext& tc, bool gives_values) {
  const TensorType& values = tc.tensor(0);
  RELAYVM_RETURN_IF_ERROR(RequireInteger(values, "values"));
  for (const size_t i : {1, 2}) {
    if (gives_values && tc.tensor(i).rank() == 0 && tc.tensor(i).dtype == DType::kInt64) continue;
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(i), 1, "a bound"));
    if (tc.tensor(i).dtype != DType::kInt64) return Invalid("bounds: expected int64");
  }
  if (tc.tensor(1).rank() != tc.tensor(2).rank()) return Invalid("bounds: expected one rank");
  if (tc.tensor(1).rank() == 0) return OpResult(values);
  const Dim& count = tc.tensor(1).shape[0];
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(count, tc.tensor(2).shape[0], "the number of bounds"));
  if (!count.is_const(1)) {
    if (values.rank() < 1) return Invalid("expected one bound for a value of rank 0");
    RELAYVM_RETURN_IF_ERROR(
        tc.RequireEqual(count, values.shape.back(), "bounds beside the values' last axis"));
  }
  return OpResult(gives_values ? values : TensorType{{count}, DType::kInt64});
}

// Gives `end`, so that what is computed of large values reads them where they are.
OpDef CheckRange() {
  OpDef op;
  op.name = "check_range";
  op.num_args = 3;
  op.infer = [](TypeContext& tc) { return InferCheck(tc, false); };
  op.builtin = [](const ComputeContext&) -> BuiltinCall { return {"check_range", {}}; };
  return op;
}

// Gives the values: whatever reads them checks them as it does.
OpDef RangeChecked() {
  OpDef op;
  op.name = "range_checked";
  op.num_args = 3;
  op.fusion = FusionClass::kBroadcast;
  op.checks = true;
  op.infer = [](TypeContext& tc) { return InferCheck(tc, true); };
  op.compute = [](const ComputeContext& c) -> std::vector<te::Tensor> {
    const te::Tensor& values = c.inputs[0];
    const bool is_number = c.inputs[1]->rank() == 0;
    const bool is_one = is_number || c.inputs[1]->shape[0].is_const(1);
    return {te::Compute("range_checked", values->shape, [&](const ExprList& i) {
      const auto bound = [&](size_t input) {
        if (is_number) return te::Load(c.inputs[input], {});
        return te::Load(c.inputs[input], {is_one ? Int(0) : i.back()});
      };
      te::Expr value = ToIndex(te::Load(values, i));
      return te::Cast(te::Checked(std::move(value), bound(1), bound(2), c.check), values->dtype);
    })};
  };
  return op;
}

}  // namespace

void DefineScatter(OpTable& table) {
  table.Add(CheckRange());
  table.Add(RangeChecked());
  table.Add(ScatterElementsOp());
  table.Add(ScatterNdOp());
}

}  // namespace relayvm
