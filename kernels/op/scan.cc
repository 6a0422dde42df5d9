// Scans: cumsum cumprod. Without an axis they run over all elements in row-major order and give a
// vector. Computed in the result's dtype. Stateless. Tested by scan_test.cc.
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

OpDef ScanOp(const std::string& name) {
  OpDef op;
  op.name = name;
  op.attrs_class = "ScanopAttrs";
  op.print_attrs_class = true;
  op.attrs = {Optional("axis", AttrKind::kInt), Optional("dtype", AttrKind::kDType, ""),
              Optional("exclusive", AttrKind::kBool, false),
              Optional("reversed", AttrKind::kBool, false)};  // from the end on; TVM has none
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    TensorType result = tc.tensor(0);
    result.dtype = DTypeOr(tc.attrs(), "dtype", result.dtype);
    if (const auto axis = tc.attrs().OptionalInt("axis")) {
      RELAYVM_RETURN_IF_ERROR(NormalizeAxis(*axis, result.rank()).status());
    } else {
      result.shape = {ProductOf(result.shape)};
    }
    return OpResult(std::move(result));
  };
  op.builtin = [name](const ComputeContext& c) -> BuiltinCall {
    const auto axis = c.attrs.OptionalInt("axis");
    const int64_t at = axis ? CanonicalAxis(*axis, c.inputs[0]->rank()) : -1;
    return {c.attrs.Bool("reversed") ? name + "_reversed" : name,
            {at, c.attrs.Bool("exclusive") ? 1 : 0}};
  };
  return op;
}

}  // namespace

void DefineScan(OpTable& table) {
  table.Add(ScanOp("cumsum"));
  table.Add(ScanOp("cumprod"));
}

}  // namespace relayvm
