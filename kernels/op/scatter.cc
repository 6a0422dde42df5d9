// Scatter: scatter_elements (ONNX ScatterElements) and scatter_nd (the index tuple stands along the
// first axis of indices, or the last one, as in ONNX). An index out of range is an error when the
// program runs; a negative one counts from the end. Stateless. Tested by scatter_test.cc.
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "bytecode/base/host_tensor.h"
#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"
#include "kernels/te/scalar.h"

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

// --- scatter_nd of whole slices ---
// Constant indices that name every element of a slice, one after the other, as exports of
// x[..., a:b, :] = y do, name the slices in their place: fewer indices, more elements for each.
//
//   scatter_nd(x: (4, 8, 3), [[0, 0, .. ], [2, 2, 2 ..], [0, 1, 2 ..]], y)
//     ->  scatter_nd(x, [[0, ..], [2, ..]], reshape(y, (.., 3)))
//
// Elements are still written or combined in the order of the indices.

// `depth` rows of `columns` numbers: a column is the index of an element or slice.
struct ScatterIndices {
  std::vector<int64_t> numbers;
  int64_t depth = 0, columns = 0;

  std::span<const int64_t> Row(int64_t m) const {
    return std::span(numbers).subspan(static_cast<size_t>(m * columns),
                                      static_cast<size_t>(columns));
  }
};

ScatterIndices ReadIndices(const HostTensor& t, int64_t depth, bool tuples_last) {
  ScatterIndices out{{}, depth, t.size() / depth};
  const SharedBytes bytes = t.data.Loaded();
  out.numbers.reserve(static_cast<size_t>(t.size()));
  for (int64_t m = 0; m < out.depth; ++m) {
    for (int64_t c = 0; c < out.columns; ++c) {
      const int64_t at = tuples_last ? c * out.depth + m : m * out.columns + c;
      const std::byte* number = bytes.data() + at * DTypeBytes(t.dtype);
      out.numbers.push_back(te::ReadElement(t.dtype, number).i);
    }
  }
  return out;
}

// Whether the last row counts from 0 to extent - 1, over and over, while the others stay as they
// are.
bool CoversLastAxis(const ScatterIndices& indices, int64_t extent) {
  if (extent < 1 || indices.columns % extent != 0) return false;
  for (int64_t m = 0; m < indices.depth; ++m) {
    const auto row = indices.Row(m);
    const bool is_last = m + 1 == indices.depth;
    for (int64_t c = 0; c < indices.columns; ++c) {
      const int64_t in_slice = c % extent;
      const int64_t expected = is_last ? in_slice : row[static_cast<size_t>(c - in_slice)];
      if (row[static_cast<size_t>(c)] != expected) return false;
    }
  }
  return true;
}

// Without the last row, and with a column for each slice.
ScatterIndices WithoutLastAxis(const ScatterIndices& indices, int64_t extent) {
  ScatterIndices out{{}, indices.depth - 1, indices.columns / extent};
  for (int64_t m = 0; m < out.depth; ++m) {
    for (int64_t c = 0; c < out.columns; ++c)
      out.numbers.push_back(indices.Row(m)[static_cast<size_t>(c * extent)]);
  }
  return out;
}

std::optional<std::vector<CallWriter::Value>> ScatterSlices(CallWriter& w) {
  const HostTensor* constant = w.constant(1);
  if (constant == nullptr || constant->shape.size() < 2 || constant->size() == 0)
    return std::nullopt;
  const bool tuples_last = w.attrs().Bool("tuples_last");
  const int64_t depth = tuples_last ? constant->shape.back() : constant->shape.front();
  const std::vector<Dim>& data = w.tensor(0).shape;
  if (depth < 2 || depth > std::ssize(data)) return std::nullopt;
  // An update for each index, of what of the data none names.
  std::vector<Dim> expected = w.tensor(1).shape;
  expected.erase(tuples_last ? expected.end() - 1 : expected.begin());
  expected.insert(expected.end(), data.begin() + depth, data.end());
  if (w.tensor(2).shape != expected) return std::nullopt;
  ScatterIndices indices = ReadIndices(*constant, depth, tuples_last);
  AttrList slice(data.begin() + depth, data.end());
  while (indices.depth > 1) {
    const Dim& extent = data[static_cast<size_t>(indices.depth - 1)];
    if (!extent.is_const() || !CoversLastAxis(indices, extent.value())) break;
    indices = WithoutLastAxis(indices, extent.value());
    slice.insert(slice.begin(), AttrValue(extent));
  }
  if (indices.depth == depth) return std::nullopt;
  slice.insert(slice.begin(), AttrValue(indices.columns));
  const CallWriter::Value updates = w.Reshape(w.Arg(2), std::move(slice));
  Attrs attrs;
  attrs.Set("mode", w.attrs().String("mode"));
  const auto numbers = w.Constant({DType::kInt64,
                                   {indices.depth, indices.columns},
                                   SharedBytes::Copy(std::as_bytes(std::span(indices.numbers)))});
  return {{w.Call("scatter_nd", {w.Arg(0), numbers, updates}, attrs)}};
}

OpDef ScatterNdOp() {
  OpDef op;
  op.name = "scatter_nd";
  op.attrs_class = "ScatterNDAttrs";
  op.print_attrs_class = true;
  op.num_args = 3;
  op.attrs = {Optional("mode", AttrKind::kString, "update"),
              Optional("tuples_last", AttrKind::kBool, false)};  // TVM has none
  op.decompose = ScatterSlices;
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
